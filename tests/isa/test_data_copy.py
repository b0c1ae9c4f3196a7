"""DataCopy of whole blocks: counts, strided bursts, inside the unified buffer, wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Filled, on_core
from hypothesis import given
from hypothesis import strategies as st

from simulator.ascendc import DataCopy, DataCopyParams
from simulator.dtypes import BY_NAME
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    UnsupportedError,
)

BLOCK = 32


def noise(nbytes, seed=0):
    return np.random.default_rng(seed).integers(0, 256, nbytes, dtype=np.uint8)


def moved(source, target, bursts, nbytes, source_gap, target_gap):
    """Return ``target`` after bursts whose ends and starts are gaps apart."""
    out = target.copy()
    for burst in range(bursts):
        a, b = burst * (nbytes + source_gap), burst * (nbytes + target_gap)
        out[b : b + nbytes] = source[a : a + nbytes]
    return out


MOVED = [
    "int8_t", "uint8_t", "int16_t", "uint16_t", "half", "bfloat16_t", "int32_t", "uint32_t",
    "float", "int64_t", "uint64_t",
]  # fmt: skip


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("name", MOVED)
def test_a_count_moves_that_many_elements_both_ways(name, platform):
    dtype = BY_NAME[name]
    raw, count = noise(640), 256 // dtype.itemsize
    source = Filled(dtype, raw.view(dtype.numpy))
    target = Filled(dtype, np.zeros(640, np.uint8).view(dtype.numpy))

    def body(t):
        DataCopy(t.ub, t.source, count)
        DataCopy(t.target, t.ub, count)

    done = on_core(body, platform=platform, ub=target, gm={"source": source, "target": target})
    for found in (done["ub"], done["target"]):
        np.testing.assert_array_equal(found.view(np.uint8), [*raw[:256], *[0] * 384])
    assert done.changed_outside("ub").size == 0


@given(
    bursts=st.integers(0, 9),
    blocks=st.integers(0, 5),
    source_gap=st.integers(0, 4),
    target_gap=st.integers(0, 4),
    way=st.sampled_from(["in", "out", "inside"]),
    platform=st.sampled_from(["910b", "950"]),
)
def test_bursts_leave_out_what_lies_in_the_gaps(
    bursts, blocks, source_gap, target_gap, way, platform
):
    size = 9 * 9 * BLOCK
    given_, before = noise(size), noise(size, 1)
    params = DataCopyParams(bursts, blocks, source_gap, target_gap)
    spaces = {
        "in": ({"dst": before}, {"src": given_}),
        "out": ({"src": given_}, {"dst": before}),
        "inside": ({"dst": before, "src": given_}, {}),
    }
    ub, gm = spaces[way]
    done = on_core(lambda t: DataCopy(t.dst, t.src, params), platform=platform, gm=gm, **ub)
    expected = moved(given_, before, bursts, blocks * BLOCK, source_gap * BLOCK, target_gap * BLOCK)
    np.testing.assert_array_equal(done["dst"], expected)
    np.testing.assert_array_equal(done["src"], given_)
    assert done.changed_outside(*([] if way == "out" else ["dst"])).size == 0


def test_global_memory_needs_no_alignment():
    source = noise(256)

    def body(t):
        DataCopy(t.ub, t.source[13], 64)
        DataCopy(t.target[101], t.ub, 64)

    done = on_core(
        body, ub=np.zeros(64, np.uint8), gm={"source": source, "target": np.zeros(256, np.uint8)}
    )
    expected = np.zeros(256, np.uint8)
    expected[101:165] = source[13:77]
    np.testing.assert_array_equal(done["target"], expected)


def test_a_copy_inside_the_unified_buffer_runs_on_the_vector_pipe():
    done = on_core(lambda t: DataCopy(t.dst, t.src, 64), src=noise(64), dst=np.zeros(64, np.uint8))
    pipes = {i.pipe for i in done.run.instructions if i.location.file == __file__}
    assert pipes == {"V"}


@pytest.mark.parametrize(("count", "kept"), [(1, 0), (7, 0), (8, 8), (15, 8), (17, 16)])
def test_an_odd_length_is_refused_or_rounded_down(count, kept):
    def call(strict):
        return on_core(
            lambda t: DataCopy(t.dst, t.src, count),
            strict=strict,
            dst=np.zeros(24, np.float32),
            gm={"src": np.arange(1, 25, dtype=np.float32)},
        )

    if kept != count:
        with pytest.raises(AlignmentError, match=f"a board copies only {4 * kept}") as caught:
            call(True)
        assert "DataCopyPad" in caught.value.fix
    np.testing.assert_array_equal(call(False)["dst"], [*range(1, kept + 1), *[0] * (24 - kept)])


@pytest.mark.parametrize(
    ("params", "kind", "word"),
    [
        (DataCopyParams(4096, 1, 0, 0), ArgumentError, "blockCount"),
        (DataCopyParams(-1, 1, 0, 0), ArgumentError, "blockCount"),
        (DataCopyParams(1, 65536, 0, 0), ArgumentError, "blockLen"),
        (DataCopyParams(1, 1, 65536, 0), ArgumentError, "srcStride"),
        (DataCopyParams(1, 1, 0, -1), ArgumentError, "dstStride"),
        (-8, ArgumentError, "count"),
        (8.0, ArgumentError, "8.0"),
        (None, ArgumentError, "None"),
        (DataCopyParams(3, 2, 0, 0), OutOfBoundsError, "192"),
        (DataCopyParams(2, 1, 3, 0), OutOfBoundsError, "160"),
        (40, OutOfBoundsError, "160"),
    ],
)
@pytest.mark.parametrize("way", ["in", "inside"])
def test_wrong_arguments_are_refused(params, kind, word, way):
    source = np.zeros(32, np.float32)
    ub, gm = ({}, {"src": source}) if way == "in" else ({"src": source}, {})
    with pytest.raises(kind) as caught:
        on_core(lambda t: DataCopy(t.dst, t.src, params), gm=gm, dst=np.zeros(64, np.float32), **ub)
    assert word in str(caught.value)


def test_a_store_past_the_end_of_global_memory_writes_nothing():
    target = np.zeros(16, np.float32)
    with pytest.raises(OutOfBoundsError):
        on_core(
            lambda t: DataCopy(t.dst, t.src, 24),
            src=np.ones(64, np.float32),
            gm={"dst": target},
        )
    assert not target.any()


def test_both_sides_must_have_one_element_type():
    with pytest.raises(DTypeError):
        on_core(
            lambda t: DataCopy(t.dst, t.src, 8),
            dst=np.zeros(8, np.float32),
            gm={"src": np.zeros(8, np.int32)},
        )


def test_memory_to_memory_needs_the_unified_buffer_between():
    gm = {"a": np.zeros(8, np.float32), "b": np.zeros(8, np.float32)}
    with pytest.raises((ArgumentError, UnsupportedError)):
        on_core(lambda t: DataCopy(t.a, t.b, 8), gm=gm)


@pytest.mark.parametrize("name", ["complex64", "fp8_e4m3fn_t", "hifloat8_t", "bool"])
def test_types_of_950_only_are_refused_on_910b(name):
    dtype = BY_NAME[name]
    target = Filled(dtype, np.zeros(64, np.uint8).view(dtype.numpy))
    source = Filled(dtype, noise(64).view(np.uint8).view(dtype.numpy) if name != "bool" else
                    np.ones(64, np.bool_))  # fmt: skip

    def call(platform):
        count = 64 // dtype.itemsize
        return on_core(
            lambda t: DataCopy(t.dst, t.src, count),
            platform=platform, dst=target, gm={"src": source},
        )["dst"]  # fmt: skip

    np.testing.assert_array_equal(
        call("950").view(np.uint8), np.asarray(source.values).view(np.uint8)
    )
    with pytest.raises(DTypeError):
        call("910b")


def test_the_record_says_which_bytes_a_copy_touches():
    done = on_core(
        lambda t: DataCopy(t.dst, t.src, DataCopyParams(2, 1, 2, 1)),
        dst=np.zeros(128, np.uint8),
        gm={"src": noise(256)},
    )
    (copy,) = [i for i in done.run.instructions if i.location.file == __file__]
    touched = {}
    for operand in copy.operands:
        (access,) = operand.accesses
        starts = list(access.run_starts())
        touched[operand.name] = (
            operand.space,
            access.inner,
            np.subtract(starts, starts[0]).tolist(),
        )
    assert touched == {"dst": ("UB", 32, [0, 64]), "src": ("GM", 32, [0, 96])}
