import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    CMPMODE,
    MASK_PLACEHOLDER,
    SELMODE,
    Compare,
    Duplicate,
    GetCmpMask,
    Select,
    SetCmpMask,
    SetVectorMask,
    float32,
)
from simulator.errors import AlignmentError, DTypeError, OutOfBoundsError
from simulator.isa.params import BinaryRepeatParams

DENSE = BinaryRepeatParams()


def bits_of(raw, count):
    return [bool(raw[i // 8] >> (i % 8) & 1) for i in range(count)]


@pytest.mark.parametrize("arch", ["910b", "950"])
@pytest.mark.parametrize(("dtype", "lanes"), [(np.float16, 128), (np.float32, 64)])
def test_compare_without_dst_sets_the_register_under_the_mask(arch, dtype, lanes):
    a = (np.arange(lanes) % 5).astype(dtype)
    b = np.full(lanes, 2, dtype)

    def body(t):
        SetCmpMask(t.ones)
        Compare(t.a, t.b, CMPMODE.LT, [0xFFFF_0000_FFFF_0003], DENSE)
        GetCmpMask(t.out)

    done = on_core(
        body, platform=arch, a=a, b=b, ones=np.full(128, 255, np.uint8), out=np.zeros(128, np.uint8)
    )
    mask = 0xFFFF_0000_FFFF_0003
    want = [i % 5 < 2 and i < 64 and bool(mask >> i & 1) for i in range(lanes)]
    assert bits_of(done["out"], lanes) == want
    rest = done["out"][lanes // 8 : 16].tolist()
    assert rest == ([255] * len(rest) if arch == "910b" else [0] * len(rest))


def test_compare_uses_the_mask_register_when_it_does_not_set_one():
    def body(t):
        SetVectorMask(0, 0b1011)
        Compare(t.a, t.a, CMPMODE.EQ, MASK_PLACEHOLDER, DENSE, False)
        GetCmpMask(t.out)

    done = on_core(body, a=np.zeros(64, np.float32), out=np.zeros(128, np.uint8))
    assert done["out"][:8].tolist() == [0b1011] + [0] * 7


def test_the_register_form_takes_half_and_float_only():
    with pytest.raises(DTypeError, match="int32_t"):
        on_core(lambda t: Compare(t.a, t.a, CMPMODE.EQ, 64, DENSE), a=np.zeros(64, np.int32))


def test_get_and_set_move_16_bytes():
    given = np.arange(16, dtype=np.uint8)

    def body(t):
        SetCmpMask(t.a)
        GetCmpMask(t.out)

    done = on_core(body, a=given, out=np.zeros(128, np.uint8))
    assert done["out"][:16].tolist() == given.tolist()
    assert done.changed_outside("out").size == 0
    assert not done["out"][16:].any()


def test_misaligned_and_short_tensors_are_refused():
    with pytest.raises(AlignmentError, match="16-byte"):
        on_core(lambda t: SetCmpMask(t.a[8]), a=np.zeros(64, np.uint8))
    with pytest.raises(OutOfBoundsError, match="too small"):
        on_core(lambda t: GetCmpMask(t.a[16]), a=np.zeros(24, np.uint8))


# -- Select under the mask register ------------------------------------------------------------


@pytest.mark.parametrize("arch", ["910b", "950"])
@pytest.mark.parametrize(("dtype", "lanes"), [(np.float16, 128), (np.float32, 64)])
def test_mode_0_uses_the_register_for_every_repeat(arch, dtype, lanes):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=3 * lanes).astype(dtype) for _ in range(2))
    sel = rng.integers(0, 256, 16).astype(np.uint8)

    def body(t):
        SetCmpMask(t.sel)
        SetVectorMask(0, 0xFFFF_FFFF)
        Select(t.dst, t.a, t.b, 3, DENSE, selMode=SELMODE.VSEL_CMPMASK_SPR)

    done = on_core(body, platform=arch, dst=np.zeros(3 * lanes, dtype), a=a, b=b, sel=sel)
    want = np.zeros(3 * lanes, dtype)
    for r in range(3):
        for lane in range(32):
            i = r * lanes + lane
            want[i] = a[i] if sel[lane // 8] >> (lane % 8) & 1 else b[i]
    assert done["dst"].tolist() == want.tolist()


@pytest.mark.parametrize("arch", ["910b", "950"])
def test_mode_1_takes_the_scalar_from_the_register(arch):
    rng = np.random.default_rng(2)
    a = rng.normal(size=128).astype(np.float32)
    sel = rng.integers(0, 256, 32).astype(np.uint8)

    def body(t):
        Duplicate(t.scalar, 1.5, 8)
        SetCmpMask(t.scalar)
        SetVectorMask(64)
        Select(t.dst, t.sel, t.a, 2, DENSE)

    done = on_core(
        body, platform=arch, dst=np.zeros(128, np.float32), a=a, sel=sel,
        scalar=np.zeros(8, np.float32),
    )  # fmt: skip
    assert done["dst"].tolist() == [
        float(a[i]) if sel[i // 8] >> (i % 8) & 1 else 1.5 for i in range(128)
    ]


@pytest.mark.parametrize("arch", ["910b", "950"])
def test_mode_2_finds_the_bits_at_the_address_in_the_register(arch):
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=128).astype(np.float32) for _ in range(2))
    sel = rng.integers(0, 256, 32).astype(np.uint8)

    def body(t):
        Duplicate(t.address, t.sel.GetPhyAddr(), 8)
        SetCmpMask(t.address)
        SetVectorMask(64)
        Select(float32, SELMODE.VSEL_TENSOR_TENSOR_MODE, t.dst, t.a, t.b, 2, DENSE)

    done = on_core(
        body, platform=arch, dst=np.zeros(128, np.float32), a=a, b=b, sel=sel,
        address=np.zeros(8, np.uint32),
    )  # fmt: skip
    assert done["dst"].tolist() == [
        float(a[i] if sel[i // 8] >> (i % 8) & 1 else b[i]) for i in range(128)
    ]


def test_mode_2_refuses_a_register_without_an_address():
    def body(t):
        Duplicate(t.address, 0xFFFF_FFFF, 8)
        SetCmpMask(t.address)
        Select(t.a, t.a, t.a, 1, DENSE, selMode=SELMODE.VSEL_TENSOR_TENSOR_MODE)

    with pytest.raises(OutOfBoundsError, match="CMPMASK"):
        on_core(body, a=np.zeros(64, np.float32), address=np.zeros(8, np.uint32))
