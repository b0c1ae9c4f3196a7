import ml_dtypes
import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import SELMODE, GetCmpMask, Select, SetVectorMask
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError
from simulator.isa.params import BinaryRepeatParams

SPR, SCALAR, TENSOR = SELMODE
RESERVED = 184 * 1024
"""Reserved area of the 910B (mirror-cann/asc-devkit kernel_utils_constants.h, TMP_UB_OFFSET)."""


def patterns(dtype, count, seed):
    """Random bit patterns: NaNs with payloads, infinities and subnormals included."""
    size = np.dtype(dtype).itemsize
    raw = np.random.default_rng(seed).integers(0, 256, count * size, dtype=np.uint8)
    return raw.view(f"u{size}")


def bit(mask, i):
    return mask[i // 8] >> (i % 8) & 1


@pytest.mark.parametrize("count", [1, 7, 64, 129, 300])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("arch", ["910b", "950"])
@pytest.mark.parametrize("place", ["apart", "on src0", "on src1"])
def test_mode_2_copies_bit_patterns(arch, dtype, count, place):
    a, b = patterns(dtype, count, 1), patterns(dtype, count, 2)
    sel = patterns(np.uint8, -(-count // 8), 3)
    dst = {"apart": "dst", "on src0": "a", "on src1": "b"}[place]
    done = on_core(
        lambda t: Select(getattr(t, dst), t.sel, t.a, t.b, TENSOR, count),
        platform=arch, a=a.view(dtype), b=b.view(dtype), sel=sel, dst=np.zeros(count, dtype),
    )  # fmt: skip
    assert done[dst].view(a.dtype).tolist() == [
        int(a[i] if bit(sel, i) else b[i]) for i in range(count)
    ]
    outside = done.changed_outside(dst)
    if arch == "910b":
        assert ((outside >= RESERVED) & (outside < RESERVED + 128)).all()
    else:
        assert outside.size == 0


@pytest.mark.parametrize("scalar", [0.0, -0.0, 2.5, float("nan")])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_mode_1_takes_a_scalar(dtype, scalar):
    a, sel = patterns(dtype, 200, 4), patterns(np.uint8, 32, 5)
    done = on_core(
        lambda t: Select(t.dst, t.sel, t.a, scalar, SCALAR, 200),
        a=a.view(dtype), sel=sel, dst=np.zeros(256, dtype),
    )  # fmt: skip
    pattern = int(np.array(scalar, dtype).view(a.dtype))
    want = [int(a[i]) if bit(sel, i) else pattern for i in range(200)] + [0] * 56
    assert done["dst"].view(a.dtype).tolist() == want


@pytest.mark.parametrize(("dtype", "lanes"), [(np.float16, 128), (np.float32, 64)])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_mode_0_repeats_the_first_bits(arch, dtype, lanes):
    count = 3 * lanes + 5
    a, b, sel = patterns(dtype, count, 6), patterns(dtype, count, 7), patterns(np.uint8, 64, 8)
    done = on_core(
        lambda t: Select(t.dst, t.sel, t.a, t.b, SPR, count),
        platform=arch, a=a.view(dtype), b=b.view(dtype), sel=sel, dst=np.zeros(count, dtype),
    )  # fmt: skip
    want = [int(a[i] if bit(sel, i % lanes) else b[i]) for i in range(count)]
    assert done["dst"].view(a.dtype).tolist() == want
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("mask", [3, 64, [0x8000_0000_0000_0FF1]])
@pytest.mark.parametrize("mode", [SPR, SCALAR, TENSOR])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_mask_forms_protect_lanes_and_follow_the_strides(arch, mode, mask):
    a, b = patterns(np.float32, 512, 9), patterns(np.float32, 512, 10)
    sel = patterns(np.uint8, 32, 11)
    params = BinaryRepeatParams(2, 1, 1, 17, 9, 8)
    done = on_core(
        lambda t: Select(t.dst, t.sel, t.a, 1.5 if mode is SCALAR else t.b, mode, mask, 3, params),
        platform=arch, a=a.view(np.float32), b=b.view(np.float32), sel=sel,
        dst=np.zeros(512, np.float32),
    )  # fmt: skip
    want = [0] * 512
    lanes = range(mask) if isinstance(mask, int) else [i for i in range(64) if mask[0] >> i & 1]
    for r in range(3):
        for lane in lanes:

            def at(blk, rep, r=r, lane=lane):
                return 8 * (r * rep + lane // 8 * blk) + lane % 8

            other = 0x3FC0_0000 if mode is SCALAR else int(b[at(1, 8)])
            chosen = bit(sel, lane if mode is SPR else 64 * r + lane)
            want[at(2, 17)] = int(a[at(1, 9)]) if chosen else other
    assert done["dst"].view(np.uint32).tolist() == want


def test_mask_form_in_place_on_either_source():
    a, b, sel = (
        patterns(np.float16, 256, 1),
        patterns(np.float16, 256, 2),
        patterns(np.uint8, 32, 3),
    )
    want = [int(a[i] if bit(sel, i) else b[i]) for i in range(256)]
    for name in ("a", "b"):
        done = on_core(
            lambda t, name=name: Select(
                getattr(t, name), t.sel, t.a, t.b, TENSOR, 128, 2, BinaryRepeatParams()
            ),
            a=a.view(np.float16), b=b.view(np.float16), sel=sel,
        )  # fmt: skip
        assert done[name].view(np.uint16).tolist() == want


@pytest.mark.parametrize(("dtype", "bits"), [(np.float16, 0x3E00), (np.float32, 0x3FC0_0000)])
def test_910b_mode_1_leaves_the_scalar_in_reserved_ub_and_in_cmpmask(dtype, bits):
    def body(t):
        Select(t.dst, t.sel, t.a, 1.5, SCALAR, 64)
        GetCmpMask(t.register)

    done = on_core(
        body, a=np.zeros(64, dtype), dst=np.zeros(64, dtype), sel=np.zeros(32, np.uint8),
        register=np.zeros(128, np.uint8),
    )  # fmt: skip
    size = np.dtype(dtype).itemsize
    block = done.after[RESERVED : RESERVED + 32 * size].view(f"u{size}")
    assert block.tolist() == [bits] * 32
    assert done["register"][:16].view(f"u{size}").tolist() == [bits] * (16 // size)
    assert done.changed_outside("dst", "register").max() < RESERVED + 32 * size


def test_910b_mode_2_leaves_the_mask_address_and_mode_0_the_bits_in_cmpmask():
    sel = patterns(np.uint8, 64, 12)

    def body(t):
        Select(t.dst, t.sel, t.a, t.a, TENSOR, 64)
        GetCmpMask(t.address)
        Select(t.dst, t.sel, t.a, t.a, SPR, 64)
        GetCmpMask(t.bits)
        return t.sel.GetPhyAddr()

    done = on_core(
        body, a=np.zeros(64, np.float32), dst=np.zeros(64, np.float32), sel=sel,
        address=np.zeros(128, np.uint8), bits=np.zeros(128, np.uint8),
    )  # fmt: skip
    assert done["address"][:16].view(np.uint32).tolist() == [done.returned] * 4
    assert done.after[RESERVED : RESERVED + 128].view(np.uint32).tolist() == [done.returned] * 32
    assert done["bits"][:16].tolist() == sel[:16].tolist()


@pytest.mark.parametrize("mode", [SPR, SCALAR, TENSOR])
def test_950_count_and_mask_forms_touch_neither_cmpmask_nor_reserved_ub(mode):
    def body(t):
        other = 1.0 if mode is SCALAR else t.a
        Select(t.dst, t.sel, t.a, other, mode, 64)
        Select(t.dst, t.sel, t.a, other, mode, 64, 1, BinaryRepeatParams())
        GetCmpMask(t.register)

    done = on_core(
        body, platform="950", a=np.zeros(64, np.float32), dst=np.zeros(64, np.float32),
        sel=np.zeros(32, np.uint8), register=np.full(128, 7, np.uint8),
    )  # fmt: skip
    assert not done["register"][:16].any()
    assert done.changed_outside("dst", "register").size == 0


def test_a_count_form_resets_the_mask_on_910b():
    def body(t):
        SetVectorMask(0, 1)
        Select(t.dst, t.sel, t.a, t.a, TENSOR, 64)
        return t.dst._core.mask

    arrays = {
        "a": np.zeros(64, np.float32),
        "dst": np.zeros(64, np.float32),
        "sel": np.zeros(8, np.uint8),
    }
    assert on_core(body, **arrays).returned == (2**64 - 1, 2**64 - 1)
    assert on_core(body, platform="950", **arrays).returned == (1, 0)


@pytest.mark.parametrize(
    "dtype",
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "half", "bfloat16_t", "int32_t", "uint32_t",
     "float", "complex32", "int64_t", "uint64_t", "complex64"],
)  # fmt: skip
@pytest.mark.parametrize("mask_type", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_950_selects_every_type(dtype, mask_type):
    from simulator.dtypes import as_dtype

    storage = as_dtype(dtype).numpy
    a, b, sel = patterns(storage, 96, 1), patterns(storage, 96, 2), patterns(np.uint8, 16, 3)
    done = on_core(
        lambda t: Select(t.dst, t.sel, t.a, t.b, TENSOR, 96),
        platform="950", a=Filled(dtype, a.view(storage)), b=Filled(dtype, b.view(storage)),
        sel=sel.view(mask_type), dst=Filled(dtype, np.zeros(96, storage)),
    )  # fmt: skip
    assert done["dst"].view(a.dtype).tolist() == [
        int(a[i] if bit(sel, i) else b[i]) for i in range(96)
    ]


def test_950_takes_the_scalar_on_the_left_and_from_a_tensor():
    a, sel = patterns(np.uint16, 130, 1), patterns(np.uint8, 32, 2)
    element = np.array([3.0, -2.0], ml_dtypes.bfloat16)

    def body(t):
        Select(t.left, t.sel, 2.0, t.a, SCALAR, 130)
        Select(t.right, t.sel, t.a, t.e[1], SCALAR, 130)
        Select(t.index, t.sel, t.e[1], t.a, SCALAR, 130, config=0)
        Select(t.masked, t.sel, 2.0, t.a, SCALAR, 9, 1, BinaryRepeatParams())

    names = ("left", "right", "index", "masked")
    done = on_core(
        body, platform="950", a=a.view(ml_dtypes.bfloat16), sel=sel, e=element,
        **{n: np.zeros(130, ml_dtypes.bfloat16) for n in names},
    )  # fmt: skip
    two, minus = 0x4000, 0xC000
    left, right, index, masked = (done[n].view(np.uint16).tolist() for n in names)
    assert left == [two if bit(sel, i) else int(a[i]) for i in range(130)]
    assert right == [int(a[i]) if bit(sel, i) else minus for i in range(130)]
    assert index == [minus if bit(sel, i) else int(a[i]) for i in range(130)]
    assert masked == left[:9] + [0] * 121


def test_wrong_calls_are_refused():
    a, sel = np.zeros(64, np.float32), np.zeros(8, np.uint8)
    with pytest.raises(ArgumentError, match="selMode"):
        on_core(lambda t: Select(t.a, t.sel, t.a, t.a, 9, 64), a=a, sel=sel)
    with pytest.raises(ArgumentError, match="LocalTensor"):
        on_core(lambda t: Select(t.a, t.sel, t.a, 1.0, TENSOR, 64), a=a, sel=sel)
    with pytest.raises(OutOfBoundsError, match="selMask holds 4 bytes"):
        on_core(
            lambda t: Select(t.a, t.sel[32], t.a, t.a, TENSOR, 64), a=a, sel=np.zeros(36, np.uint8)
        )
    with pytest.raises(DTypeError, match="int32_t"):
        on_core(
            lambda t: Select(t.a, t.sel, t.a, t.a, TENSOR, 64), a=np.zeros(64, np.int32), sel=sel
        )
    with pytest.raises(UnsupportedError, match="950 only"):
        on_core(lambda t: Select(t.a, t.sel, 1.0, t.a, SCALAR, 64), a=a, sel=sel)
