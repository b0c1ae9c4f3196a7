"""Copies and scalar calls that combine with what global memory holds."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import (
    AtomicAdd,
    AtomicCas,
    AtomicDtype,
    AtomicExch,
    AtomicMax,
    AtomicMin,
    AtomicOp,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyParams,
    DisableDmaAtomic,
    Duplicate,
    GetBlockIdx,
    GetCtrlSpr,
    GetStoreAtomicConfig,
    SaturationMode,
    SetAtomicAdd,
    SetAtomicMax,
    SetAtomicMin,
    SetAtomicNone,
    SetAtomicType,
    SetCtrlSpr,
    SetSaturationFlag,
    SetStoreAtomicConfig,
    bfloat16_t,
    float32,
    half,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint32_t,
)
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, UnsupportedError

INF = np.inf
OLD = {
    "half": [1, -2, 65504, 1024, INF, 0.1, -INF, 2048],
    "float": [1, -2, 3e38, 2**24, INF, 0.1, -INF, 1],
    "bfloat16_t": [1, -2, 256, 3, INF, 0.1, -INF, 1],
    "int8_t": [1, -2, 127, -128, 0, 5, 100, -100],
    "int16_t": [1, -2, 32767, -32768, 0, 5, 100, -100],
    "int32_t": [1, -2, 2**31 - 1, -(2**31), 0, 5, 100, -100],
}
NEW = {
    "half": [2, -3, 65504, 0.5, 1, 0.2, 1, 1],
    "float": [2, -3, 3e38, 1, 1, 0.2, 1, -1],
    "bfloat16_t": [2, -3, 1, 2**-9, 1, 0.2, 1, -1],
    "int8_t": [2, -3, 1, -1, 7, -5, 100, -100],
    "int16_t": [2, -3, 1, -1, 7, -5, 100, -100],
    "int32_t": [2, -3, 1, -1, 7, -5, 100, -100],
}
TYPES = {
    "half": (half, np.float16),
    "float": (float32, np.float32),
    "bfloat16_t": (bfloat16_t, ml_dtypes.bfloat16),
    "int8_t": (int8_t, np.int8),
    "int16_t": (int16_t, np.int16),
    "int32_t": (int32_t, np.int32),
}


def exact_sum(name, old, new):
    """One rounding of the exact sum; integers keep the low bits."""
    storage = TYPES[name][1]
    if name.startswith("int"):
        width = np.dtype(storage).itemsize * 8
        return [(a + b + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
                for a, b in zip(old, new, strict=True)]  # fmt: skip
    values = [np.array(v, storage).astype(np.float64) for v in (old, new)]
    # Sums of two such numbers are exact in float64, but for float, where it rounds the same way:
    # float64 has more than twice the bits of float.
    return (values[0] + values[1]).astype(np.float32 if name == "bfloat16_t" else storage)


def combined(switch, name, platform, old=None, new=None, before=None, strided=False):
    dtype, storage = TYPES[name]
    old, new = (OLD[name] if old is None else old), (NEW[name] if new is None else new)
    count = 32 // np.dtype(storage).itemsize

    def padded(values):
        return Filled(dtype, np.resize(np.array(values), count).astype(storage))

    def body(t):
        if before is not None:
            before()
        switch(dtype)
        DataCopy(t.dst, t.src, DataCopyParams(1, 1, 0, 0) if strided else count)
        SetAtomicNone()

    done = on_core(body, platform=platform, src=padded(new), gm={"dst": padded(old)})
    assert done.changed().size == 0
    return done["dst"][: len(old)]


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("strided", [False, True])
def test_a_copy_adds_with_one_rounding(name, platform, strided):
    found = combined(SetAtomicAdd, name, platform, strided=strided)
    with np.errstate(all="ignore"):
        expected = np.asarray(exact_sum(name, OLD[name], NEW[name])).astype(TYPES[name][1])
    np.testing.assert_array_equal(found[: len(expected)], expected[: len(found)])


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("switch", "choose"), [(SetAtomicMax, max), (SetAtomicMin, min)])
def test_a_copy_keeps_the_larger_or_smaller_value(switch, choose, name, platform):
    found = combined(switch, name, platform)
    storage = TYPES[name][1]
    expected = [
        choose(np.array(a, storage), np.array(b, storage))
        for a, b in zip(OLD[name], NEW[name], strict=True)
    ]
    np.testing.assert_array_equal(found, np.array(expected)[: len(found)])


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_sums_of_half_stop_at_the_largest_number_when_float_results_saturate(platform):
    def saturate():
        if platform == "950":
            SetCtrlSpr(60, 60, 1)
        SetSaturationFlag(SaturationMode.FLOAT, True)

    found = combined(SetAtomicAdd, "half", platform, [65504, -65504], [65504, -1000], saturate)
    assert found.tolist() == [65504, -65504]
    kept = combined(SetAtomicAdd, "half", platform, [65504, -65504], [65504, -1000])
    assert kept.tolist() == [INF, -INF]


def test_blocks_add_one_after_another_in_their_order():
    def body(t):
        SetAtomicAdd(half)
        Duplicate(t.src, 0.5 if GetBlockIdx() else 2048, 16)
        DataCopy(t.dst, t.src, 16)
        SetAtomicNone()

    src = np.zeros(16, np.float16)
    done = on_core(body, blocks=5, src=src, gm={"dst": np.zeros(16, np.float16)})
    # 2048 + 0.5 rounds to 2048 each time, whereas 4 * 0.5 + 2048 would be 2050.
    assert set(done["dst"].tolist()) == {2048}


def test_the_mode_ends_with_set_atomic_none_and_with_its_new_name():
    for end in (SetAtomicNone, DisableDmaAtomic):

        def body(t, end=end):
            SetAtomicAdd(float32)
            DataCopy(t.dst, t.src, 8)
            end()
            DataCopy(t.dst[8], t.src, 8)

        done = on_core(body, src=np.ones(8, np.float32), gm={"dst": np.full(16, 5, np.float32)})
        assert done["dst"].tolist() == [6] * 8 + [1] * 8


def test_unaligned_stores_add_exactly_their_bytes():
    def body(t):
        SetAtomicAdd(int16_t)
        DataCopyPad(t.dst[3], t.src, DataCopyExtParams(2, 6, 0, 4, 0))

    src = np.arange(1, 33, dtype=np.int16)
    done = on_core(body, src=src, gm={"dst": np.full(16, 100, np.int16)})
    expected = [100] * 16
    for burst, start in enumerate((3, 8)):
        for i in range(3):
            expected[start + i] += int(src[16 * burst + i])
    assert done["dst"].tolist() == expected


def test_loads_and_copies_inside_the_unified_buffer_are_not_combined():
    def body(t):
        SetAtomicAdd(float32)
        DataCopy(t.ub, t.src, 8)
        DataCopy(t.ub[8], t.ub, 8)

    done = on_core(body, ub=np.full(16, 3, np.float32), gm={"src": np.ones(8, np.float32)})
    assert done["ub"].tolist() == [1] * 16


def test_a_copy_of_another_width_than_the_mode_is_refused():
    def body(t):
        SetAtomicAdd(half)
        DataCopy(t.dst, t.src, 8)

    with pytest.raises(ArgumentError, match="Add of half is in force") as caught:
        on_core(body, src=np.zeros(8, np.float32), gm={"dst": np.zeros(8, np.float32)})
    assert "SetAtomicNone" in caught.value.fix


def test_the_type_can_be_set_by_itself():
    def body(t):
        SetAtomicMax(float32)
        SetAtomicType(int32_t)
        DataCopy(t.dst, t.src, 8)

    done = on_core(body, src=np.arange(8, dtype=np.int32), gm={"dst": np.full(8, 4, np.int32)})
    assert done["dst"].tolist() == [4, 4, 4, 4, 4, 5, 6, 7]


def test_the_store_configuration_is_ctrl_6_to_8():
    seen = []

    def body(t):
        SetStoreAtomicConfig(AtomicDtype.ATOMIC_F16, AtomicOp.ATOMIC_SUM)
        seen.append(GetStoreAtomicConfig())
        seen.append(GetCtrlSpr(6, 8))
        DataCopy(t.dst, t.src, 16)
        SetStoreAtomicConfig(AtomicDtype.ATOMIC_NONE, AtomicOp.ATOMIC_SUM)
        seen.append(GetStoreAtomicConfig())

    done = on_core(
        body, platform="950", src=np.ones(16, np.float16), gm={"dst": np.ones(16, np.float16)}
    )
    assert seen == [(2, 0), 2, (0, 0)]
    assert set(done["dst"].tolist()) == {2}


def test_atomic_state_does_not_reach_the_next_block():
    def body(t):
        DataCopy(t.dst[8 * GetBlockIdx()], t.src, 8)
        SetAtomicAdd(float32)

    done = on_core(
        body, blocks=3, src=np.ones(8, np.float32), gm={"dst": np.full(24, 5, np.float32)}
    )
    assert set(done["dst"].tolist()) == {1}


@pytest.mark.parametrize("switch", [SetAtomicAdd, SetAtomicMax, SetAtomicMin, SetAtomicType])
@pytest.mark.parametrize("dtype", [int64_t, uint32_t])
def test_other_types_are_refused(switch, dtype):
    with pytest.raises(DTypeError):
        on_core(lambda t: switch(dtype), src=np.zeros(8, np.float32))


# -- scalar atomics -------------------------------------------------------------------------------


def scalar(call, old, storage, platform="950"):
    done = on_core(
        lambda t: call(t.dst.GetPhyAddr(1)),
        platform=platform,
        src=np.zeros(8, np.float32),
        gm={"dst": np.array([0, old, 0, 0], storage)},
    )
    assert done["dst"][[0, 2, 3]].tolist() == [0, 0, 0]
    return done.returned, done["dst"][1].item()


@pytest.mark.parametrize(
    ("call", "old", "storage", "new"),
    [
        (lambda p: AtomicAdd(int32_t, p, 5), 2**31 - 3, np.int32, -(2**31) + 2),
        (lambda p: AtomicAdd(int64_t, p, -5), 3, np.int64, -2),
        (lambda p: AtomicAdd("uint64_t", p, 1), 2**64 - 1, np.uint64, 0),
        (lambda p: AtomicAdd(float32, p, 0.5), 2**24, np.float32, 2**24),
        (lambda p: AtomicMax(int32_t, p, -5), -9, np.int32, -5),
        (lambda p: AtomicMax(uint32_t, p, 5), 9, np.uint32, 9),
        (lambda p: AtomicMin(int64_t, p, -5), -9, np.int64, -9),
        (lambda p: AtomicMin(float32, p, -1.5), 2, np.float32, -1.5),
        (lambda p: AtomicExch(uint32_t, p, 7), 3, np.uint32, 7),
        (lambda p: AtomicCas(uint32_t, p, 3, 7), 3, np.uint32, 7),
        (lambda p: AtomicCas("uint64_t", p, 4, 7), 3, np.uint64, 3),
    ],
)
def test_a_scalar_atomic_returns_what_was_there(call, old, storage, new):
    assert scalar(call, old, storage) == (old, new)


def test_scalar_atomics_exist_on_950_only():
    with pytest.raises(UnsupportedError, match="910B"):
        scalar(lambda p: AtomicAdd(int32_t, p, 5), 0, np.int32, "910b")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda p: AtomicAdd(half, p, 5), DTypeError),
        (lambda p: AtomicExch(int32_t, p, 5), DTypeError),
        (lambda p: AtomicAdd(uint32_t, p, -1), ArgumentError),
        (lambda p: AtomicAdd(int32_t, p + 16, 1), OutOfBoundsError),
        (lambda p: AtomicAdd(int32_t, 12, 1), ArgumentError),
    ],
)
def test_wrong_arguments_of_a_scalar_atomic(call, kind):
    with pytest.raises(kind):
        scalar(call, 0, np.int32)
