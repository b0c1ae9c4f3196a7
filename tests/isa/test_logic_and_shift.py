"""Bitwise calls and shifts, lane widths and shift amounts included."""

import numpy as np
import pytest
from exact import wrap
from harness import on_core

from simulator.ascendc import (
    And,
    BinaryRepeatParams,
    BitwiseAnd,
    Not,
    Or,
    ShiftLeft,
    ShiftRight,
    UnaryRepeatParams,
)
from simulator.errors import ArgumentError, DTypeError, UnsupportedError

EVERY = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = {"910b": EVERY[2:4], "950": EVERY}
SHIFTED = {"910b": EVERY[2:6], "950": EVERY}


def matrix(types):
    return [(platform, dtype) for platform, dtypes in types.items() for dtype in dtypes]


def patterns(dtype):
    bits = np.iinfo(dtype).bits
    words = [0, 1, (1 << bits) - 1, 1 << (bits - 1), 0xAAAA_AAAA_AAAA_AAAA, 0x0123_4567_89AB_CDEF]
    return [wrap(word & ((1 << bits) - 1), dtype) for word in words]


@pytest.mark.parametrize(("platform", "dtype"), matrix(TYPES))
def test_bitwise_calls_take_every_bit(platform, dtype):
    values = patterns(dtype)
    left, right = np.array(values, dtype), np.array(values[::-1], dtype)
    n = len(values)

    def body(t):
        And(t.both, t.left, t.right, n)
        Or(t.either, t.left, t.right, n)
        Not(t.neither, t.left, n)

    blank = np.zeros(n, dtype)
    done = on_core(
        body, left=left, right=right, both=blank, either=blank, neither=blank, platform=platform
    )
    pairs = list(zip(values, values[::-1], strict=True))
    assert done["both"].tolist() == [a & b for a, b in pairs]
    assert done["either"].tolist() == [a | b for a, b in pairs]
    assert done["neither"].tolist() == [wrap(~a, dtype) for a in values]


@pytest.mark.parametrize("dtype", EVERY)
def test_bitwise_and_takes_every_bit_on_950(dtype):
    values = patterns(dtype)
    done = on_core(
        lambda t: BitwiseAnd(t.dst, t.left, t.right, len(values)),
        left=np.array(values, dtype),
        right=np.array(values[::-1], dtype),
        dst=np.zeros(len(values), dtype),
        platform="950",
    )
    assert done["dst"].tolist() == [a & b for a, b in zip(values, values[::-1], strict=True)]


def test_bitwise_and_gives_the_figures_of_its_page():
    left = np.array([93, 87, 99, 1, 87, 58, 6, 16, 85, 66, 56, 65], np.uint16)
    right = np.array([81, 12, 33, 47, 47, 18, 82, 44, 91, 34, 17, 99], np.uint16)
    blank = np.zeros(12, np.uint16)
    done = on_core(
        lambda t: BitwiseAnd(t.dst, t.left, t.right, 12),
        left=left,
        right=right,
        dst=blank,
        platform="950",
    )
    assert done["dst"].tolist() == [81, 4, 33, 1, 7, 18, 2, 0, 81, 2, 16, 65]


def test_bitwise_and_is_on_950_only_and_has_the_count_form_only():
    words = np.zeros(64, np.int16)
    with pytest.raises(UnsupportedError, match="950"):
        on_core(lambda t: BitwiseAnd(t.x, t.x, t.x, 16), x=words)
    params = BinaryRepeatParams()
    with pytest.raises(UnsupportedError, match="has no mask form"):
        on_core(lambda t: BitwiseAnd(t.x, t.x, t.x, 16, 1, params), x=words, platform="950")


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_not_of_floats_inverts_their_bits_on_950(dtype):
    values = np.array([0.0, 1.0, np.nan, -np.inf], dtype)
    word = f"u{values.itemsize}"
    for nan_mode in (0, 1):

        def body(t, mode=nan_mode):
            from simulator.core import current_core

            current_core().numeric_mode = mode
            Not(t.x, t.x, 4)

        done = on_core(body, x=values, platform="950")
        assert done["x"].view(word).tolist() == (~values.view(word)).tolist()


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("call", [And, Or, Not])
def test_a_count_of_a_32_bit_tensor_counts_16_bit_lanes_on_910b(call, dtype):
    left = np.arange(1, 9).astype(dtype) * 0x1_0003
    right = np.full(8, 0x7FFF_00F0, dtype)
    operands = 1 if call is Not else 2
    done = on_core(
        lambda t: call(t.dst, *(t.left, t.right)[:operands], 5),
        left=left,
        right=right,
        dst=np.full(8, 77, dtype),
    )
    lanes = np.full(8, 77, dtype).view(np.uint16)
    a, b = left.view(np.uint16), right.view(np.uint16)
    whole = {And: a & b, Or: a | b, Not: ~a}[call]
    lanes[:5] = whole[:5]
    assert done["dst"].view(np.uint16).tolist() == lanes.tolist()


def test_32_bit_masks_do_not_exist_on_910b():
    with pytest.raises(UnsupportedError, match="count form only"):
        on_core(lambda t: And(t.x, t.x, t.x, 64, 1, BinaryRepeatParams()), x=np.zeros(64, np.int32))


def shifted_left(value, amount, dtype):
    """Unsigned: low bits; signed: the sign stays, the bits below move up."""
    info = np.iinfo(dtype)
    if info.min == 0:
        return value << amount & int(info.max)
    if amount > info.bits:
        return 0
    below = value << amount & int(info.max)
    return below + (int(info.min) if value < 0 else 0)


@pytest.mark.parametrize(("platform", "dtype"), matrix(SHIFTED))
def test_shifts_by_a_scalar(platform, dtype):
    values, bits = patterns(dtype), np.iinfo(dtype).bits
    amounts = [0, 1, 3, bits - 1, bits]
    if platform == "950":
        amounts.append(bits + 1)
    source = np.array(values, dtype)

    def body(t):
        for i, amount in enumerate(amounts):
            ShiftLeft(t.left[64 * i], t.src, amount, len(values))
            ShiftRight(t.right[64 * i], t.src, amount, len(values))

    blank = np.zeros(64 * len(amounts), dtype)
    done = on_core(body, src=source, left=blank, right=blank, platform=platform)
    for i, amount in enumerate(amounts):
        row = slice(64 * i, 64 * i + len(values))
        assert done["left"][row].tolist() == [shifted_left(v, amount, dtype) for v in values]
        assert done["right"][row].tolist() == [v >> amount for v in values]


@pytest.mark.parametrize("dtype", EVERY)
def test_shifts_by_a_tensor_of_amounts(dtype):
    values, bits = patterns(dtype), np.iinfo(dtype).bits
    pairs = [(v, a) for v in values for a in (0, 1, bits - 1, bits, bits + 1)]
    source = np.array([v for v, _ in pairs], dtype)
    amounts = np.array([a for _, a in pairs], dtype.removeprefix("u"))

    def body(t):
        ShiftLeft(t.left, t.src, t.amounts, len(pairs))
        ShiftRight(t.right, t.src, t.amounts, len(pairs))

    blank = np.zeros(len(pairs), dtype)
    done = on_core(body, src=source, amounts=amounts, left=blank, right=blank, platform="950")
    assert done["left"].tolist() == [shifted_left(v, a, dtype) for v, a in pairs]
    assert done["right"].tolist() == [v >> a for v, a in pairs]


def test_the_manual_shifts_1010_to_the_left():
    source = np.array([0b1010_1010_1010_1010], np.uint16)
    for dtype, one, three in (
        (np.uint16, 0b0101_0101_0101_0100, 0b0101_0101_0101_0000),
        (np.int16, 0b1101_0101_0101_0100, 0b1101_0101_0101_0000),
    ):
        for amount, expected in ((1, one), (3, three)):
            done = on_core(
                lambda t, a=amount: ShiftLeft(t.x, t.x, a, 1), x=source.view(dtype).copy()
            )
            assert done["x"].view(np.uint16).tolist() == [expected]


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_roundEn_adds_the_last_bit_shifted_out_on_910b(dtype):
    values = [17, 16, 15, -1, -17, 48, 0]

    def body(t):
        ShiftRight(t.x, t.x, 5, len(values), 1, UnaryRepeatParams(), True)

    expected = [(v >> 5) + (v >> 4 & 1) for v in values]
    assert on_core(body, x=np.array(values, dtype))["x"].tolist() == expected
    done = on_core(body, x=np.array(values, dtype), platform="950")
    assert done["x"].tolist() == [v >> 5 for v in values]


def test_roundEn_of_a_shift_by_nothing_adds_nothing():
    done = on_core(
        lambda t: ShiftRight(t.x, t.x, 0, 8, 1, UnaryRepeatParams(), True),
        x=np.arange(8, dtype=np.int16),
    )
    assert done["x"].tolist() == list(range(8))


@pytest.mark.parametrize(("platform", "amount"), [("910b", 17), ("910b", -1), ("950", -1)])
def test_amounts_out_of_range_are_refused(platform, amount):
    with pytest.raises(ArgumentError, match="shift amount"):
        on_core(
            lambda t: ShiftLeft(t.x, t.x, amount, 8), x=np.zeros(16, np.int16), platform=platform
        )


def test_amounts_in_a_tensor_exist_on_950_in_the_count_form_with_signed_amounts():
    zeros = np.zeros(64, np.int32)
    with pytest.raises(UnsupportedError, match="950"):
        on_core(lambda t: ShiftLeft(t.x, t.x, t.x, 8), x=zeros)
    with pytest.raises(UnsupportedError, match="count form"):
        on_core(
            lambda t: ShiftLeft(t.x, t.x, t.x, 64, 1, UnaryRepeatParams()),
            x=zeros,
            platform="950",
        )
    with pytest.raises(DTypeError):
        on_core(lambda t: ShiftLeft(t.x, t.x, t.x, 8), x=zeros.astype(np.uint32), platform="950")
