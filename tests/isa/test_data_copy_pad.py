"""DataCopyPad: bursts of any length, what fills the rest of their blocks, loops around copies."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Filled, on_core
from hypothesis import given
from hypothesis import strategies as st

from simulator.ascendc import (
    DataCopyExtParams,
    DataCopyMVType,
    DataCopyPad,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    LoopModeParams,
    PaddingMode,
    ResetLoopModePara,
    SetAtomicAdd,
    SetAtomicNone,
    SetLoopModePara,
    SetPadValue,
    half,
    int32_t,
)
from simulator.dtypes import BY_NAME
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    OutOfBoundsError,
    UnsupportedError,
)

BLOCK = 32


def noise(nbytes, seed=0):
    return np.random.default_rng(seed).integers(0, 256, nbytes, dtype=np.uint8)


def up(nbytes):
    return -(-nbytes // BLOCK) * BLOCK


def loaded(source, before, params, unit=1, left=0, right=0, value=None, compact=False):
    """The unified buffer after a padded load, burst by burst, byte by byte.

    ``left`` and ``right`` are bytes. ``value`` fills if given, else the first ``unit`` bytes of the
    burst.
    """
    out = before.copy()
    at = 0
    for burst in range(params.blockCount):
        start = burst * (params.blockLen + params.srcStride)
        data = source[start : start + params.blockLen]
        if compact:
            out[at : at + len(data)] = data
            at += len(data)
            continue
        filler = value if value is not None else data[:unit]
        whole = up(left + len(data) + right)
        burst_ = np.resize(filler, left).tolist() + data.tolist()
        burst_ += np.resize(filler, whole - len(burst_)).tolist()
        out[at : at + whole] = burst_
        at += whole + params.dstStride * BLOCK
    if compact and params.blockCount and params.blockLen:
        filler = value if value is not None else source[:unit]
        out[at : up(at)] = np.resize(filler, up(at) - at)
    return out


def load(source, before, params, pad=None, platform="910b", dtype="uint8_t", mode=None, first=None):
    dtype = BY_NAME[dtype]

    def body(t):
        if first is not None:
            first(t)
        arguments = [t.dst, t.src, params] + ([] if pad is None else [pad])
        DataCopyPad(*arguments, **({} if mode is None else {"mode": mode}))

    done = on_core(
        body,
        platform=platform,
        dst=Filled(dtype, before.view(dtype.numpy)),
        gm={"src": Filled(dtype, source.view(dtype.numpy))},
    )
    assert done.changed_outside("dst").size == 0
    return done, done["dst"].view(np.uint8)


@given(
    bursts=st.integers(0, 6),
    nbytes=st.integers(0, 100),
    source_gap=st.integers(0, 40),
    target_gap=st.integers(0, 3),
    platform=st.sampled_from(["910b", "950"]),
)
def test_without_padding_the_first_element_fills_the_block(
    bursts, nbytes, source_gap, target_gap, platform
):
    source, before = noise(1024), noise(2048, 1)
    params = DataCopyExtParams(bursts, nbytes, source_gap, target_gap, 0)
    _, found = load(source, before, params, platform=platform)
    expected = before if not nbytes else loaded(source, before, params)
    np.testing.assert_array_equal(found, expected)


@given(
    nbytes=st.integers(1, 100),
    left=st.integers(0, 32),
    right=st.integers(0, 32),
    value=st.integers(0, 255),
    platform=st.sampled_from(["910b", "950"]),
)
def test_padding_of_a_given_width_and_value(nbytes, left, right, value, platform):
    source, before = noise(512), noise(1024, 1)
    params = DataCopyExtParams(3, nbytes, 5, 1, 0)
    pad = DataCopyPadExtParams(True, left, right, value)
    _, found = load(source, before, params, pad, platform)
    # Without a width 910B has nothing that takes the value.
    filled = [value] if left or right or platform == "950" else None
    expected = loaded(source, before, params, left=left, right=right, value=filled)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize(
    ("name", "unit"),
    [("uint8_t", 1), ("half", 2), ("float", 4), ("int64_t", 4), ("uint64_t", 4)],
)
def test_the_first_element_is_one_of_the_element_type(name, unit, platform):
    # Elements of 64 bits move as pairs of 32 bits.
    source, before = noise(256), np.zeros(256, np.uint8)
    params = DataCopyExtParams(2, 40, 0, 0, 0)
    _, found = load(source, before, params, platform=platform, dtype=name)
    np.testing.assert_array_equal(found, loaded(source, before, params, unit=unit))


def test_padding_elements_are_counted_in_elements():
    source, before = np.arange(1, 65, dtype=np.float32).view(np.uint8), np.zeros(64, np.uint8)
    params = DataCopyExtParams(1, 12, 0, 0, 0)
    _, found = load(source, before, params, DataCopyPadExtParams(True, 2, 3, -0.5), dtype="float")
    assert found.view(np.float32).tolist() == [-0.5, -0.5, 1, 2, 3, -0.5, -0.5, -0.5] + [0] * 8


def test_the_old_padding_struct_takes_the_bit_pattern():
    source, before = np.ones(16, np.float32).view(np.uint8), np.zeros(64, np.uint8)
    pad = DataCopyPadParams(True, 0, 2, 0x40000000)
    _, found = load(source, before, DataCopyParams(1, 24, 0, 0), pad, dtype="float")
    assert found.view(np.float32).tolist() == [1] * 6 + [2, 2] + [0] * 8


def test_padding_without_a_value_takes_the_pad_register():
    source, before = np.full(64, 9, np.uint8), np.zeros(64, np.uint8)
    params, pad = DataCopyExtParams(1, 30, 0, 0, 0), DataCopyPadExtParams(False, 0, 2, 0)
    done, found = load(
        source, before, params, pad, first=lambda t: SetPadValue(BY_NAME["uint8_t"], 7)
    )
    assert found[28:34].tolist() == [9, 9, 7, 7, 0, 0]
    assert kinds(done) == [("pad register", (30, 32))]


def test_a_padded_copy_leaves_its_value_in_the_pad_register():
    source, before = np.full(64, 9, np.uint8), np.zeros(128, np.uint8)

    def earlier(t):
        DataCopyPad(
            t.dst[64], t.src, DataCopyExtParams(1, 31, 0, 0, 0), DataCopyPadExtParams(True, 0, 1, 5)
        )

    params, pad = DataCopyExtParams(1, 31, 0, 0, 0), DataCopyPadExtParams(False, 0, 1, 0)
    _, found = load(source, before, params, pad, first=earlier)
    assert found[31] == found[95] == 5


def kinds(done):
    """The filler bytes that the last copy records, as (kind, first byte, one past the last)."""
    copies = [e[0] for e in done.run.blocks[0].entries if e[0].spec.name == "DataCopyPad"]
    return [
        (filler.kind, (start, start + filler.access.inner))
        for filler in copies[-1].details.get("filler", ())
        for start in filler.access.run_starts()
    ]


@pytest.mark.parametrize(
    ("platform", "pad", "expected"),
    [
        ("910b", None, [("first element", (40, 64)), ("first element", (104, 128))]),
        ("910b", DataCopyPadExtParams(True, 0, 0, 3),
         [("first element", (40, 64)), ("first element", (104, 128))]),
        ("950", DataCopyPadExtParams(True, 0, 0, 3),
         [("padding value", (40, 64)), ("padding value", (104, 128))]),
        ("910b", DataCopyPadExtParams(True, 8, 0, 3),
         [("padding value", (0, 8)), ("padding value", (64, 72)),
          ("padding value", (48, 64)), ("padding value", (112, 128))]),
        ("910b", DataCopyPadExtParams(False, 0, 1, 0),
         [("undefined", (40, 64)), ("undefined", (104, 128))]),
    ],
)  # fmt: skip
def test_the_record_lists_filler_bytes_and_their_kind(platform, pad, expected):
    params = DataCopyExtParams(2, 40, 0, 0, 0)
    done, _ = load(noise(128), np.zeros(256, np.uint8), params, pad, platform)
    assert sorted(kinds(done)) == sorted(expected)


def test_a_copy_of_whole_blocks_has_no_filler():
    done, _ = load(noise(128), np.zeros(256, np.uint8), DataCopyExtParams(2, 64, 0, 0, 0))
    assert kinds(done) == []


@given(
    bursts=st.integers(1, 6),
    nbytes=st.integers(1, 100),
    source_gap=st.integers(0, 3),
    target_gap=st.integers(0, 40),
    platform=st.sampled_from(["910b", "950"]),
)
def test_a_store_writes_exactly_its_bytes(bursts, nbytes, source_gap, target_gap, platform):
    ub, before = noise(2048), noise(1024, 1)
    params = DataCopyExtParams(bursts, nbytes, source_gap, target_gap, 0)
    done = on_core(
        lambda t: DataCopyPad(t.dst, t.src, params), platform=platform, src=ub, gm={"dst": before}
    )
    expected = before.copy()
    for burst in range(bursts):
        a = burst * (up(nbytes) + source_gap * BLOCK)
        b = burst * (nbytes + target_gap)
        expected[b : b + nbytes] = ub[a : a + nbytes]
    np.testing.assert_array_equal(done["dst"], expected)
    assert done.changed().size == 0


@given(bursts=st.integers(1, 6), nbytes=st.integers(1, 70), gap=st.integers(0, 20))
def test_compact_bursts_follow_each_other_without_gaps(bursts, nbytes, gap):
    source, before = noise(1024), noise(1024, 1)
    params = DataCopyExtParams(bursts, nbytes, gap, 0, 0)
    _, found = load(source, before, params, platform="950", mode=PaddingMode.Compact)
    np.testing.assert_array_equal(found, loaded(source, before, params, compact=True))


def test_compact_stores_read_packed_bursts():
    ub = noise(256)
    done = on_core(
        lambda t: DataCopyPad(
            t.dst, t.src, DataCopyExtParams(3, 10, 0, 6, 0), mode=PaddingMode.Compact
        ),
        platform="950", src=ub, gm={"dst": np.zeros(64, np.uint8)},
    )  # fmt: skip
    expected = np.zeros(64, np.uint8)
    for burst in range(3):
        expected[burst * 16 : burst * 16 + 10] = ub[burst * 10 : burst * 10 + 10]
    np.testing.assert_array_equal(done["dst"], expected)


@pytest.mark.parametrize("gap", [-48, -40, -8])
def test_a_negative_gap_of_950_reads_bytes_again(gap):
    source, before = noise(256), np.zeros(512, np.uint8)
    params = DataCopyExtParams(4, 48, gap, 0, 0)
    _, found = load(source, before, params, platform="950")
    np.testing.assert_array_equal(found, loaded(source, before, params))


def test_loops_around_a_load():
    source, before = noise(2048), np.zeros(2048, np.uint8)
    loops = LoopModeParams(2, 3, 300, 128, 700, 512)

    def set_loops(t):
        SetLoopModePara(loops, DataCopyMVType.OUT_TO_UB)

    _, found = load(
        source, before, DataCopyExtParams(2, 40, 10, 0, 0), platform="950", first=set_loops
    )
    expected = before.copy()
    for outer in range(3):
        for inner in range(2):
            for burst in range(2):
                a = outer * 700 + inner * 300 + burst * 50
                b = outer * 512 + inner * 128 + burst * 64
                expected[b : b + 40] = source[a : a + 40]
                expected[b + 40 : b + 64] = source[a]
    np.testing.assert_array_equal(found, expected)


def test_loops_around_a_store_until_they_are_reset():
    ub = noise(512)

    def body(t):
        SetLoopModePara(LoopModeParams(2, 1, 64, 100, 0, 0), DataCopyMVType.UB_TO_OUT)
        DataCopyPad(t.dst, t.src, DataCopyExtParams(1, 20, 0, 0, 0))
        ResetLoopModePara(DataCopyMVType.UB_TO_OUT)
        DataCopyPad(t.dst[200], t.src, DataCopyExtParams(1, 20, 0, 0, 0))

    done = on_core(body, platform="950", src=ub, gm={"dst": np.zeros(512, np.uint8)})
    expected = np.zeros(512, np.uint8)
    expected[0:20] = expected[200:220] = ub[:20]
    expected[100:120] = ub[64:84]
    np.testing.assert_array_equal(done["dst"], expected)


def test_bursts_that_overlap_in_global_memory_are_written_in_order():
    ub = noise(256)

    def body(t):
        SetLoopModePara(LoopModeParams(3, 1, 32, 8, 0, 0), DataCopyMVType.UB_TO_OUT)
        DataCopyPad(t.dst, t.src, DataCopyExtParams(1, 20, 0, 0, 0))

    done = on_core(body, platform="950", src=ub, gm={"dst": np.zeros(64, np.uint8)})
    expected = np.zeros(64, np.uint8)
    for turn in range(3):
        expected[8 * turn : 8 * turn + 20] = ub[32 * turn : 32 * turn + 20]
    np.testing.assert_array_equal(done["dst"], expected)


def test_sums_of_bursts_that_fall_on_each_other_keep_every_burst():
    def body(t):
        SetLoopModePara(LoopModeParams(4, 2, 32, 0, 0, 0), DataCopyMVType.UB_TO_OUT)
        SetAtomicAdd(int32_t)
        DataCopyPad(t.dst, t.src, DataCopyExtParams(1, 12, 0, 0, 0))
        SetAtomicNone()

    src = np.arange(32, dtype=np.int32)
    done = on_core(body, platform="950", src=src, gm={"dst": np.full(8, 100, np.int32)})
    # Rows 0, 8, 16, 24 of the source, each twice.
    assert done["dst"].tolist() == [100 + 2 * (4 * k + 48) for k in range(3)] + [100] * 5


@pytest.mark.parametrize(
    "call",
    [
        lambda t: SetLoopModePara(LoopModeParams(1, 1, 0, 0, 0, 0), DataCopyMVType.OUT_TO_UB),
        lambda t: ResetLoopModePara(DataCopyMVType.OUT_TO_UB),
        lambda t: DataCopyPad(
            t.dst, t.src, DataCopyExtParams(1, 8, 0, 0, 0), mode=PaddingMode.Compact
        ),
    ],
)
def test_loop_and_compact_mode_exist_on_950_only(call):
    data = {"dst": np.zeros(64, np.uint8), "gm": {"src": np.zeros(64, np.uint8)}}
    on_core(call, platform="950", **data)
    with pytest.raises(UnsupportedError, match="910B"):
        on_core(call, platform="910b", **data)


WRONG = [
    (DataCopyExtParams(4096, 1, 0, 0, 0), None, ArgumentError, "blockCount"),
    (DataCopyExtParams(1, 2097152, 0, 0, 0), None, ArgumentError, "blockLen"),
    (DataCopyExtParams(1, 8, -1, 0, 0), None, ArgumentError, "srcStride"),
    (DataCopyExtParams(1, 6, 0, 0, 0), None, AlignmentError, "splits an element"),
    (DataCopyParams(1, 65536, 0, 0), None, ArgumentError, "blockLen"),
    (16, None, ArgumentError, "DataCopyExtParams"),
    (DataCopyExtParams(1, 8, 0, 0, 0), DataCopyPadExtParams(True, 9, 0, 0), ArgumentError, "left"),
    (
        DataCopyExtParams(1, 8, 0, 0, 0),
        DataCopyPadExtParams(True, 0, -1, 0),
        ArgumentError,
        "right",
    ),
    (DataCopyExtParams(1, 8, 0, 0, 0), (True, 0, 0, 0), ArgumentError, "padParams"),
    (DataCopyExtParams(1, 512, 0, 0, 0), None, OutOfBoundsError, "512"),
    (DataCopyExtParams(5, 8, 60, 0, 0), None, OutOfBoundsError, "280"),
]


@pytest.mark.parametrize(("params", "pad", "kind", "word"), WRONG)
def test_wrong_arguments_are_refused(params, pad, kind, word):
    with pytest.raises(kind) as caught:
        load(np.zeros(256, np.uint8), np.zeros(256, np.uint8), params, pad, dtype="float")
    assert word in str(caught.value)


def test_64_bit_types_pad_with_zero_only():
    params = DataCopyExtParams(1, 8, 0, 0, 0)
    for value, fine in ((0, True), (1, False)):
        pad = DataCopyPadExtParams(True, 0, 1, value)
        arguments = (np.full(64, 1, np.uint8), np.full(64, 2, np.uint8), params, pad)
        if fine:
            _, found = load(*arguments, dtype="int64_t")
            assert found[8:32].tolist() == [0] * 24
        else:
            with pytest.raises(ArgumentError, match="zero only"):
                load(*arguments, dtype="int64_t")


def test_a_store_takes_no_padding():
    with pytest.raises(ArgumentError, match="no padding"):
        on_core(
            lambda t: DataCopyPad(
                t.dst, t.src, DataCopyExtParams(1, 8, 0, 0, 0), DataCopyPadExtParams()
            ),
            src=np.zeros(64, np.uint8),
            gm={"dst": np.zeros(64, np.uint8)},
        )


def test_inside_the_unified_buffer_there_is_no_padded_copy():
    with pytest.raises(ArgumentError, match="GM and UB"):
        on_core(
            lambda t: DataCopyPad(t.dst, t.src, DataCopyExtParams(1, 8, 0, 0, 0)),
            src=np.zeros(64, np.uint8),
            dst=np.zeros(64, np.uint8),
        )


@pytest.mark.parametrize(("dtype", "value"), [(half, "x"), (int32_t, 2**31), (int32_t, 0.5)])
def test_a_pad_value_must_fit_its_type(dtype, value):
    with pytest.raises(ArgumentError, match="paddingValue"):
        on_core(lambda t: SetPadValue(dtype, value), dst=np.zeros(64, np.uint8))
