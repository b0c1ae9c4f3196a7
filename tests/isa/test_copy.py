import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import Copy, SetMaskCount, SetMaskNorm, SetVectorMask
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError
from simulator.isa.rearrange_params import CopyRepeatParams


def reference(src, length, mask_lanes, repeats, params, per):
    out = np.zeros(length, src.dtype)
    dst_blk, src_blk, dst_rep, src_rep = params
    for r in range(repeats):
        for lane in mask_lanes:
            at = per * (dst_rep * r + dst_blk * (lane // per)) + lane % per
            out[at] = src[per * (src_rep * r + src_blk * (lane // per)) + lane % per]
    return out


@pytest.mark.parametrize("mask", [1, 17, 128, [0x8001_0000_0000_00FF, 0x3]])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_copy_moves_masked_lanes_with_strides(arch, mask):
    src = np.arange(1024, dtype=np.uint16)
    params = (2, 1, 17, 9)
    done = on_core(
        lambda t: Copy(t.dst, t.src, mask, 3, CopyRepeatParams(*params)),
        platform=arch, src=src, dst=np.zeros(1024, np.uint16),
    )  # fmt: skip
    lanes = (
        range(mask)
        if isinstance(mask, int)
        else [i for i in range(128) if mask[i // 64] >> (i % 64) & 1]
    )
    assert done["dst"].tolist() == reference(src, 1024, lanes, 3, params, 16).tolist()
    assert done.changed_outside("dst").size == 0


def test_in_counter_mode_the_mask_counts_elements_of_each_repeat():
    src = np.arange(1152, dtype=np.int32)

    def body(t):
        SetMaskCount()
        Copy(t.dst, t.src, 144, 1, (1, 8, 8, 8))
        SetMaskNorm()

    done = on_core(body, src=src, dst=np.zeros(160, np.int32))
    want = [64 * row + k for row in range(18) for k in range(8)] + [0] * 16
    assert done["dst"].tolist() == want


def test_counter_mode_takes_the_count_from_the_register():
    src = np.arange(64, dtype=np.float32)

    def body(t):
        SetMaskCount()
        SetVectorMask(0, 10)
        Copy(t.dst, t.src, 0, 2, (1, 0, 3, 1), False)
        SetMaskNorm()

    done = on_core(body, src=src, dst=np.zeros(64, np.float32))
    want = [0.0] * 64
    for r in range(2):
        for lane in range(10):
            want[8 * (3 * r + lane // 8) + lane % 8] = float(8 * r + lane % 8)
    assert done["dst"].tolist() == want


def test_nan_payloads_survive():
    src = np.array([0x7E01, 0xFE55, 0x7C01] * 8, np.uint16).view(np.float16)
    done = on_core(
        lambda t: Copy(t.dst, t.src, 24, 1, CopyRepeatParams()),
        src=src, dst=np.zeros(128, np.float16),
    )  # fmt: skip
    assert done["dst"].view(np.uint16)[:24].tolist() == src.view(np.uint16).tolist()


def test_the_count_form_exists_on_950_only():
    arrays = {"src": np.arange(100, dtype=np.int8), "dst": np.zeros(128, np.int8)}
    done = on_core(lambda t: Copy(t.dst, t.src, 99), platform="950", **arrays)
    assert done["dst"].tolist() == [*range(99)] + [0] * 29
    with pytest.raises(UnsupportedError, match="count form"):
        on_core(
            lambda t: Copy(t.dst, t.src, 64),
            src=np.zeros(64, np.int32), dst=np.zeros(64, np.int32),
        )  # fmt: skip


def test_wrong_copies_are_refused():
    arrays = {"src": np.zeros(64, np.int32), "dst": np.zeros(64, np.int32)}
    with pytest.raises(ArgumentError, match="dstStride"):
        on_core(lambda t: Copy(t.dst, t.src, 64, 1, (0, 1, 8, 8)), **arrays)
    with pytest.raises(ArgumentError, match="dstRepeatSize"):
        on_core(lambda t: Copy(t.dst, t.src, 64, 1, (1, 1, 4096, 8)), **arrays)
    with pytest.raises(OutOfBoundsError, match="src holds 256 bytes"):
        on_core(lambda t: Copy(t.dst, t.src, 8, 9, (1, 1, 0, 1)), **arrays)
    with pytest.raises(DTypeError):
        on_core(lambda t: Copy(t.a, t.a, 8, 1, ()), a=np.zeros(32, np.int8))
