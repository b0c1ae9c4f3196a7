import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import Gather, Gatherb, Scatter
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    UnsupportedError,
)
from simulator.isa.rearrange_params import GatherRepeatParams

BOTH = [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.uint32, np.float32]
ONLY_950 = [np.int8, np.uint8, np.int64, np.uint64]


def case(dtype, count, seed=0):
    size = np.dtype(dtype).itemsize
    rng = np.random.default_rng(seed)
    index = rng.permutation(300)[:count]
    src = np.arange(300).astype(f"u{size}")
    return src, index, (index * size).astype(np.uint32)


@pytest.mark.parametrize(
    ("arch", "dtype"), [("910b", d) for d in BOTH] + [("950", d) for d in BOTH + ONLY_950]
)
def test_gather_collects_elements_at_byte_offsets(arch, dtype):
    src, index, _ = case(dtype, 201)
    size = src.itemsize
    index = index % 250
    done = on_core(
        lambda t: Gather(t.dst, t.src, t.offset, 7 * size, 201),
        platform=arch, src=src.view(dtype), offset=(index * size).astype(np.uint32),
        dst=np.zeros(256, src.dtype).view(dtype),
    )  # fmt: skip
    want = [int(src[7 + i]) for i in index] + [0] * 55
    assert done["dst"].view(src.dtype).tolist() == want
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("mask", [3, 64, [0x8000_0000_0000_0007]])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_gather_mask_form_takes_offsets_of_all_lanes_in_order(arch, mask):
    src, index, offset = case(np.float32, 192)
    done = on_core(
        lambda t: Gather(t.dst, t.src, t.offset, 0, mask, 3, 9),
        platform=arch, src=src.view(np.float32), offset=offset, dst=np.zeros(256, np.float32),
    )  # fmt: skip
    lanes = range(mask) if isinstance(mask, int) else [i for i in range(64) if mask[0] >> i & 1]
    want = [0] * 256
    for r in range(3):
        for lane in lanes:
            want[72 * r + lane] = int(src[index[64 * r + lane]])
    assert done["dst"].view(np.uint32).tolist() == want


def test_8_bit_types_have_no_mask_form():
    with pytest.raises(UnsupportedError, match="count form only"):
        on_core(
            lambda t: Gather(t.a, t.a, t.o, 0, 8, 1, 8),
            platform="950", a=np.zeros(256, np.int8), o=np.zeros(256, np.uint32),
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [*BOTH, np.int64, np.int8])
def test_scatter_spreads_elements_on_950(dtype):
    src, index, offset = case(dtype, 201)
    done = on_core(
        lambda t: Scatter(t.dst, t.src, t.offset, 0, 201),
        platform="950", src=src.view(dtype), offset=offset,
        dst=np.zeros(300, src.dtype).view(dtype),
    )  # fmt: skip
    want = np.zeros(300, src.dtype)
    for i, at in enumerate(index):
        want[at] = src[i]
    assert done["dst"].view(src.dtype).tolist() == want.tolist()
    with pytest.raises(UnsupportedError, match="910B"):
        on_core(
            lambda t: Scatter(t.a, t.a, t.o, 0, 8), a=np.zeros(64, dtype), o=np.zeros(64, np.uint32)
        )


def test_scatter_mask_form_follows_the_source_stride():
    src, index, offset = case(np.float16, 256)
    done = on_core(
        lambda t: Scatter(t.dst, t.src, t.offset, 4, 5, 2, 3),
        platform="950", src=src.view(np.float16), offset=offset, dst=np.zeros(320, np.float16),
    )  # fmt: skip
    want = np.zeros(320, np.uint16)
    for r in range(2):
        for lane in range(5):
            want[2 + index[128 * r + lane]] = src[48 * r + lane]
    assert done["dst"].view(np.uint16).tolist() == want.tolist()


def test_equal_scatter_offsets_are_refused():
    with pytest.raises(ArgumentError, match="same place"):
        on_core(
            lambda t: Scatter(t.a, t.b, t.o, 0, 8),
            platform="950", a=np.zeros(64, np.int32), b=np.zeros(64, np.int32),
            o=np.zeros(64, np.uint32),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "dtype"), [("910b", np.uint16), ("910b", np.uint32), ("950", np.int8)]
)
def test_gatherb_collects_blocks(arch, dtype):
    size = np.dtype(dtype).itemsize
    src = np.random.default_rng(5).integers(0, 100, 512 // size * 2).astype(dtype)
    blocks = np.random.default_rng(6).permutation(32)[:16]
    per = 32 // size
    done = on_core(
        lambda t: Gatherb(t.dst, t.src, t.offset, 2, GatherRepeatParams(2, 17)),
        platform=arch, src=src, offset=(blocks * 32).astype(np.uint32),
        dst=np.zeros(34 * per, dtype),
    )  # fmt: skip
    want = np.zeros(34 * per, dtype)
    for i, block in enumerate(blocks):
        start = per * (17 * (i // 8) + 2 * (i % 8))
        want[start : start + per] = src[per * block : per * (block + 1)]
    assert done["dst"].tolist() == want.tolist()


def test_910b_gatherb_takes_a_block_stride_of_0_as_1():
    src = np.arange(128, dtype=np.uint16)
    done = on_core(
        lambda t: Gatherb(t.dst, t.src, t.offset, 1, (0, 8)),
        src=src, offset=np.arange(224, -32, -32).astype(np.uint32), dst=np.zeros(128, np.uint16),
    )  # fmt: skip
    assert done["dst"].tolist() == src.reshape(8, 16)[::-1].reshape(-1).tolist()


def test_the_910b_count_form_counts_repeats_in_8_bits():
    count = 64 * 257 + 3
    arrays = {
        "src": np.ones(64, np.float32), "offset": np.zeros(count, np.uint32),
        "dst": np.zeros(count, np.float32),
    }  # fmt: skip
    with pytest.raises(ArgumentError, match="256 repeats"):
        on_core(lambda t: Gather(t.dst, t.src, t.offset, 0, count), **arrays)
    done = on_core(lambda t: Gather(t.dst, t.src, t.offset, 0, count), strict=False, **arrays)
    assert np.flatnonzero(done["dst"]).tolist() == [*range(64), *range(64 * 257, count)]


def test_bad_offsets_are_refused_where_they_are_used():
    arrays = {"a": np.zeros(64, np.float32), "dst": np.zeros(64, np.float32)}

    def gather(offsets, base=0, arch="910b", **kw):
        values = np.array(offsets, kw.get("kind", np.uint32))
        return on_core(
            lambda t: Gather(t.dst, t.a, t.o, base, len(values)), platform=arch, o=values, **arrays
        )

    with pytest.raises(AlignmentError, match=r"srcOffset\[1\]"):
        gather([0, 2])
    with pytest.raises(OutOfBoundsError, match=r"srcOffset\[0\]"):
        gather([1 << 20])
    with pytest.raises(ArgumentError, match="srcBaseAddr"):
        gather([0], base=256)
    with pytest.raises(DTypeError, match="byte offsets"):
        gather([0], kind=np.int32)
    with pytest.raises(OutOfBoundsError, match="offset limit"):
        on_core(
            lambda t: Gather(t.dst, t.a, t.o, 0, 1),
            platform="950", a=np.zeros(64, np.int8), o=np.array([1 << 16], np.uint32),
            dst=np.zeros(64, np.int8),
        )  # fmt: skip
