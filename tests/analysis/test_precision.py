"""Numeric triage: exact values beside the tensors, and where real ones leave them."""

import inspect

import numpy as np
import pytest

from simulator.analysis.precision import precision
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    Adds,
    BinaryRepeatParams,
    Cast,
    CompareScalar,
    CreateVecIndex,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    Div,
    Duplicate,
    Exp,
    Gather,
    GatherMask,
    GatherMaskParams,
    GetBlockIdx,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Mul,
    Muls,
    ReduceMax,
    ReduceSum,
    RoundMode,
    Select,
    SetAtomicAdd,
    SetAtomicNone,
    SetFlag,
    Sub,
    TPosition,
    WaitFlag,
    float32,
    half,
    int32_t,
    kernel,
    launch,
    uint8_t,
    uint32_t,
)

N = 256


def gm(address, dtype=float32):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def tile(number, dtype=float32, count=N):
    return LocalTensor(dtype, TPosition.VECCALC, 4096 * number, count)


def pair(event):
    SetFlag(event, 0)
    WaitFlag(event, 0)


def unary(dtype, body):
    """Return a kernel that runs ``body(out, x)`` on N elements of each block."""

    @kernel
    def one(x, z):
        start = GetBlockIdx() * N
        DataCopy(tile(0, dtype), gm(x, dtype)[start], N)
        pair(HardEvent.MTE2_V)
        body(tile(1, dtype), tile(0, dtype))
        pair(HardEvent.V_MTE3)
        DataCopy(gm(z, dtype)[start], tile(1, dtype), N)

    return one


def measured(x, body, blocks=1, bound=0.01, **options):
    dtype = {np.float16: half, np.float32: float32}[x.dtype.type]
    z = np.zeros_like(x)
    run = launch(unary(dtype, body), blocks, x, z, **options)
    return precision(run, bound), z


def first_line(function):
    return inspect.getsourcelines(function)[1]


def test_exact_arithmetic_has_no_error():
    x = np.arange(N, dtype=np.float32)
    found, z = measured(x, lambda out, a: Adds(out, a, 1.0, N))
    assert found.worst == 0
    assert found.first is None
    assert found.not_carried == {}
    np.testing.assert_array_equal(z, x + 1)
    assert "no element passes 0.01" in str(found)


def test_the_error_of_a_rounding_is_that_of_the_type():
    x = np.full(N, 0.1, np.float16)
    found, _ = measured(x, lambda out, a: Mul(out, a, a, N))
    exact = float(x[0]) ** 2
    assert found.worst == abs(float(np.float16(exact)) - exact) / exact
    assert 0 < found.worst < 2**-11


def test_cancellation_is_named_with_line_element_and_sources():
    # In half 2048 + 1 is 2048; what is left after subtracting 2048 is nothing instead of 1.
    def body(out, a):
        Adds(out, a, 2048.0, N)
        Adds(out, out, -2048.0, N)  # cancels

    x = np.zeros(N, np.float16)
    x[7:] = 1
    found, z = measured(x, body)
    assert z[7] == 0
    loss = found.first
    assert (loss.api, loss.location.line) == ("Adds", first_line(body) + 2)
    assert (loss.block, loss.tensor, loss.element, loss.dtype) == (0, "out", 7, "half")
    assert (loss.actual, loss.exact, loss.error, loss.own_error) == (0, 1, 1, 0)
    assert [tuple(source) for source in loss.sources] == [("out", 2048, 2049)]
    assert loss.count == N - 7
    assert found.worst == 1
    assert "Adds at" in str(found)
    assert found.as_dict()["losses"][0]["element"] == 7


def test_a_bound_below_the_roundings_finds_the_first_of_them():
    x = np.full(N, 0.1, np.float16)

    def body(out, a):
        Muls(out, a, 3.0, N)
        Muls(out, out, 1.0, N)

    found, _ = measured(x, body, bound=1e-9)
    assert found.first.location.line == first_line(body) + 1
    assert [loss.location.line - first_line(body) for loss in found.losses] == [1, 2]


def test_an_overflow_is_an_infinite_error():
    x = np.full(N, 300, np.float16)
    found, z = measured(x, lambda out, a: Mul(out, a, a, N))
    assert np.isinf(z).all()
    assert (found.first.actual, found.first.exact, found.first.error) == (np.inf, 90000, np.inf)
    assert found.first.own_error == np.inf


def test_infinities_and_nans_of_the_input_are_no_loss():
    x = np.array([np.inf, -np.inf, np.nan, 1] * (N // 4), np.float32)
    found, _ = measured(x, lambda out, a: Muls(out, a, 2.0, N))
    assert found.worst == 0
    assert found.losses == []


def test_below_the_least_normal_number_the_error_is_relative_to_it():
    x = np.full(N, 2.0**-24, np.float16)
    found, z = measured(x, lambda out, a: Muls(out, a, 0.25, N))
    assert z[0] == 0
    assert found.worst == 2.0**-26 / 2.0**-14


def test_the_first_loss_is_that_of_the_lowest_block_and_all_are_counted():
    x = np.zeros(3 * N, np.float16)
    x[N + 5] = x[2 * N + 9] = 1

    def body(out, a):
        Adds(out, a, 2048.0, N)
        Adds(out, out, -2048.0, N)

    found, _ = measured(x, body, blocks=3)
    assert (found.first.block, found.first.element, found.first.count) == (1, 5, 2)


def test_values_go_through_casts_and_back():
    # The detour through half costs 11 bits; float carries them on.
    def body(out, a):
        Cast(tile(2, half), a, RoundMode.CAST_RINT, N)
        Cast(out, tile(2, half), RoundMode.CAST_NONE, N)

    x = np.full(N, 1 + 2.0**-12, np.float32)
    found, z = measured(x, body, bound=1e-5)
    assert z[0] == 1
    assert found.first.location.line == first_line(body) + 1
    assert found.worst == 2.0**-12 / (1 + 2.0**-12)


def test_integers_count_as_exact():
    def body(out, a):
        Cast(tile(2, int32_t), a, RoundMode.CAST_TRUNC, N)
        Cast(out, tile(2, int32_t), RoundMode.CAST_NONE, N)

    found, z = measured(np.full(N, 1.75, np.float32), body)
    assert z[0] == 1
    assert found.worst == 0


def test_a_selection_follows_the_real_mask():
    # Where the real value is above 0, x + 1 is taken, else 5; the exact values go with it.
    def body(out, a):
        Adds(out, a, 2048.0, N)
        Adds(tile(2, half), out, -2048.0, N)
        CompareScalar(tile(3, uint8_t), a, 0.0, CMPMODE.GT, N)
        Select(
            out, tile(3, uint8_t), tile(2, half), 5.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, N
        )  # fmt: skip
        Adds(out, out, 1.0, N)

    x = np.zeros(N, np.float16)
    x[3] = 1
    found, z = measured(x, body)
    assert (z[3], z[4]) == (1, 6)
    last = found.losses[-1]
    assert (last.element, last.actual, last.exact, last.count) == (3, 1, 2, 1)


def test_a_sum_is_compared_with_the_sum_of_exact_values():
    @kernel
    def total(x, z):
        DataCopy(tile(0, half), gm(x, half), N)
        pair(HardEvent.MTE2_V)
        Adds(tile(0, half), tile(0, half), 2048.0, N)
        Adds(tile(0, half), tile(0, half), -2048.0, N)
        ReduceSum(tile(1, half), tile(0, half), tile(2, half), N)
        pair(HardEvent.V_MTE3)
        DataCopy(gm(z, half), tile(1, half, 16), 16)

    z = np.zeros(16, np.float16)
    run = launch(total, 1, np.ones(N, np.float16), z)
    found = precision(run)
    assert z[0] == 0
    last = found.losses[-1]
    assert (last.actual, last.exact) == (0, N)
    assert found.worst == 1


def test_calls_without_a_formula_are_listed():
    def body(out, a):
        ReduceMax(out, a, tile(2), N, True)

    found, _ = measured(np.arange(N, dtype=np.float32), body)
    assert set(found.not_carried) == {"ReduceMax"}
    assert "results taken as exact, for want of a formula: ReduceMax (2 times)" in str(found)


def test_padded_and_strided_copies_carry_their_values():
    @kernel
    def padded(x, z):
        params = DataCopyExtParams(2, 24 * 2, 8 * 2, 0)
        DataCopyPad(tile(0, half), gm(x, half), params, DataCopyPadExtParams(True, 0, 8, 0))
        pair(HardEvent.MTE2_V)
        Adds(tile(0, half), tile(0, half), 2048.0, 64)
        Adds(tile(0, half), tile(0, half), -2048.0, 64)
        pair(HardEvent.V_MTE3)
        DataCopyPad(gm(z, half), tile(0, half), DataCopyExtParams(2, 24 * 2, 0, 8 * 2))

    x, z = np.arange(64, dtype=np.float16) % 2, np.zeros(64, np.float16)
    found = precision(launch(padded, 1, x, z))
    assert found.first.element == 1
    assert found.worst == 1
    # Odd elements are lost: 12 in each row of 24; the padding is not.
    assert found.first.count == 24


def test_gathered_elements_bring_their_values_and_offsets_stay():
    # Offsets as wide as the elements say where to look; they are no elements themselves.
    def body(out, a):
        Adds(tile(2), a, 2.0**24, N)
        Adds(tile(2), tile(2), -(2.0**24), N)
        CreateVecIndex(tile(3, int32_t), 0, N)
        Muls(tile(3, int32_t), tile(3, int32_t), -4, N)
        Adds(tile(3, int32_t), tile(3, int32_t), 4 * (N - 1), N)
        Gather(out, tile(2), tile(3, uint32_t), 0, N)
        Muls(out, out, 2.0, N)

    x = np.zeros(N, np.float32)
    x[:3] = 1
    found, z = measured(x, body)
    assert not z.any()
    last = found.losses[-1]
    assert (last.element, last.actual, last.exact, last.count) == (N - 3, 0, 2, 3)


def test_elements_that_a_pattern_keeps_bring_their_values():
    def body(out, a):
        CompareScalar(tile(3, uint8_t), a, 0.0, CMPMODE.GT, N)
        Adds(tile(2), a, 2.0**24, N)
        Adds(tile(2), tile(2), -(2.0**24), N)
        Duplicate(out, 0.0, N)
        pattern = tile(3, uint32_t)
        GatherMask(out, tile(2), pattern, True, N, GatherMaskParams(1, 1, 32, 1))
        Muls(out, out, 2.0, N)

    x = np.zeros(N, np.float32)
    x[50:53] = 1
    found, z = measured(x, body)
    assert not z.any()
    last = found.losses[-1]
    assert (last.element, last.actual, last.exact, last.count) == (0, 0, 2, 3)


def test_atomic_sums_of_blocks_add_exact_values():
    @kernel
    def add(x, z):
        DataCopy(tile(0, half), gm(x, half), N)
        pair(HardEvent.MTE2_MTE3)
        SetAtomicAdd(half)
        DataCopy(gm(z, half), tile(0, half), N)
        SetAtomicNone()

    z = np.full(N, 2048, np.float16)
    run = launch(add, 4, np.ones(N, np.float16), z, check="off")
    assert z[0] == 2048
    found = precision(run, bound=1e-3)
    assert (found.first.actual, found.first.exact) == (2048, 2051)
    assert found.worst == 4 / 2052


def test_masked_lanes_only_are_carried():
    def body(out, a):
        Duplicate(out, 0.0, N)
        Mul(out, a, a, 3, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8))

    x = np.full(N, 0.1, np.float16)
    found, z = measured(x, body, bound=1e-9)
    assert np.flatnonzero(z).tolist() == [0, 1, 2, 128, 129, 130]
    assert found.first.count == 6


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_division_and_exponential_follow_their_definitions(platform):
    def body(out, a):
        Exp(out, a, N)
        Duplicate(tile(2), 3.0, N)
        Div(out, out, tile(2), N)
        Sub(out, out, a, N)

    x = np.linspace(-2, 2, N, dtype=np.float32)
    found, z = measured(x, body, bound=1e-3, platform=platform)
    assert found.losses == []
    exact = np.exp(x.astype(np.float64)) / 3 - x
    assert found.worst == pytest.approx(np.max(np.abs(z - exact) / np.abs(exact)), rel=1e-6)


def test_memory_is_left_as_it_was():
    x = np.ones(N, np.float32)
    z = np.zeros(N, np.float32)
    run = launch(unary(float32, lambda out, a: Adds(out, a, 1.0, N)), 1, x, z)
    z[:] = 77
    precision(run)
    assert (z == 77).all()
    assert (x == 1).all()
