"""On 950 the scalar may stand first, and may be one element of a tensor."""

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    Adds,
    Ands,
    BinaryConfig,
    Divs,
    HardEvent,
    LeakyRelu,
    Maxs,
    Mins,
    Muls,
    MulsCast,
    Ors,
    SetFlag,
    Subs,
    UnaryRepeatParams,
    WaitFlag,
)
from simulator.errors import ArgumentError, DTypeError, UnsupportedError

RULES = {
    Adds: lambda a, b: a + b,
    Subs: lambda a, b: a - b,
    Muls: lambda a, b: a * b,
    Divs: lambda a, b: a / b,
    Maxs: max,
    Mins: min,
}
VALUES = [8.0, -2.0, 0.5, 4.0]


def on_950(body, **tensors):
    return on_core(body, platform="950", **tensors)


@pytest.mark.parametrize("call", RULES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_scalar_may_stand_on_either_side(call, dtype):
    rule = RULES[call]

    def body(t):
        call(t.last, t.src, 2.0, 4)
        call(t.first, 2.0, t.src, 4)
        call(t.element_last, t.src, t.other, 4)
        call(t.element_first, t.other, t.src, 4, config=BinaryConfig(0))

    blank = np.zeros(4, dtype)
    done = on_950(
        body,
        src=np.array(VALUES, dtype),
        other=np.array([2.0, 9.0], dtype),
        last=blank,
        first=blank,
        element_last=blank,
        element_first=blank,
    )
    assert done["last"].tolist() == [rule(v, 2.0) for v in VALUES]
    assert done["first"].tolist() == [rule(2.0, v) for v in VALUES]
    assert done["element_last"].tolist() == [rule(v, 2.0) for v in VALUES]
    assert done["element_first"].tolist() == [rule(2.0, v) for v in VALUES]


@pytest.mark.parametrize(("call", "rule"), [(Ands, int.__and__), (Ors, int.__or__)])
def test_bits_with_a_scalar(call, rule):
    values = [0, 1, 0x7FFF, -1, -8]

    def body(t):
        call(t.last, t.src, 12, 5)
        call(t.first, 12, t.src, 5)

    blank = np.zeros(5, np.int16)
    done = on_950(body, src=np.array(values, np.int16), last=blank, first=blank)
    assert done["last"].tolist() == [rule(v, 12) for v in values]
    assert done["first"].tolist() == [rule(v, 12) for v in values]


def test_mask_forms_take_the_scalar_first_too():
    def body(t):
        Subs(t.number, 1, t.src, [0b101, 0], 2, UnaryRepeatParams())
        Subs(t.element, t.src, t.one, 3, 2, UnaryRepeatParams())

    blank = np.full(128, 99, np.int32)
    done = on_950(
        body,
        src=np.arange(128, dtype=np.int32),
        one=np.ones(8, np.int32),
        number=blank,
        element=blank,
    )
    assert done["number"].tolist() == [1 - i if i % 64 in (0, 2) else 99 for i in range(128)]
    assert done["element"].tolist() == [i - 1 if i % 64 < 3 else 99 for i in range(128)]


def test_the_element_is_read_when_the_instruction_runs():
    def body(t):
        # The vector pipe waits; the scalar of Adds is written by a call in front of it.
        WaitFlag(HardEvent.S_V, 0)
        Muls(t.one, t.one, 5.0, 8)
        Adds(t.dst, t.src, t.one, 8)
        SetFlag(HardEvent.S_V, 0)

    zeros = np.zeros(8, np.float32)
    done = on_950(body, src=zeros, dst=zeros, one=np.ones(8, np.float32))
    assert done["dst"].tolist() == [5.0] * 8


def test_the_element_need_not_be_aligned_and_is_an_operand():
    done = on_950(
        lambda t: Adds(t.dst, t.src, t.other[3], 8),
        src=np.zeros(8, np.float32),
        other=np.arange(8, dtype=np.float32),
        dst=np.zeros(8, np.float32),
    )
    assert done["dst"].tolist() == [3.0] * 8
    operands = next(i for i in done.run.instructions if i.name == "Adds").operands
    assert [(o.name, o.accesses[0].inner) for o in operands] == [
        ("dst", 32),
        ("src", 32),
        ("scalar", 4),
    ]
    assert operands[2].accesses[0].start == done.places["other"][0] + 12


def test_a_call_repeated_with_another_scalar_uses_it():
    def body(t):
        for value in (1.0, 2.0, 3, np.float32(4)):
            Adds(t.x, value, t.x, 8)

    assert on_950(body, x=np.zeros(8, np.float32))["x"].tolist() == [10.0] * 8


def test_muls_cast_rounds_ties_away_and_takes_either_side():
    # 2049 and 2051 lie between halves with a spacing of 2.
    values = [2049.0, -2051.0, 6.0, 70000.0]

    def body(t):
        MulsCast(t.last, t.src, 1.0, 4)
        MulsCast(t.first, 1.0, t.src, 4)
        MulsCast(t.element, t.src, t.one, 4)

    blank = np.zeros(4, np.float16)
    done = on_950(
        body,
        src=np.array(values, np.float32),
        one=np.ones(1, np.float32),
        last=blank,
        first=blank,
        element=blank,
    )
    for name in ("last", "first", "element"):
        assert done[name].tolist() == [2050.0, -2052.0, 6.0, np.inf]


def test_a_scalar_in_front_is_refused_on_910b():
    zeros = np.zeros(8, np.float32)
    for body in (
        lambda t: Adds(t.x, 1.0, t.x, 8),
        lambda t: Adds(t.x, t.x, t.x, 8),
    ):
        with pytest.raises(UnsupportedError, match="910B"):
            on_core(body, x=zeros)


def test_two_scalars_are_refused():
    with pytest.raises(ArgumentError, match="tensor"):
        on_950(lambda t: Adds(t.x, 1.0, 2.0, 8), x=np.zeros(8, np.float32))


def test_a_scalar_element_of_another_type_is_refused():
    with pytest.raises(DTypeError, match="type of the vector"):
        on_950(
            lambda t: Adds(t.x, t.x, t.y, 8),
            x=np.zeros(8, np.float32),
            y=np.zeros(8, np.float16),
        )


def test_a_wrong_configuration_is_refused():
    for config in (BinaryConfig(2), 0, "left"):
        with pytest.raises(ArgumentError, match="BinaryConfig"):
            on_950(lambda t, c=config: Adds(t.x, t.x, t.x, 8, config=c), x=np.zeros(8, np.float32))


def test_leaky_relu_takes_a_number_behind_the_tensor_only():
    x = np.zeros(8, np.float32)
    with pytest.raises(UnsupportedError):
        on_950(lambda t: LeakyRelu(t.x, t.x, t.x, 8), x=x)
    with pytest.raises(ArgumentError):
        on_950(lambda t: LeakyRelu(t.x, 1.0, t.x, 8), x=x)
    with pytest.raises(ArgumentError):
        on_950(lambda t: LeakyRelu(t.x, t.x, 1.0, 8, config=BinaryConfig(0)), x=x)


@pytest.mark.parametrize("value", ["1", None, [1.0], 1.5, 40000, float("nan"), 1j])
def test_a_scalar_that_is_no_int16_is_refused(value):
    with pytest.raises(ArgumentError, match="scalarValue"):
        on_core(lambda t: Adds(t.x, t.x, value, 8), x=np.zeros(16, np.int16))


def test_scalars_of_numpy_and_python_mean_the_same():
    def body(t):
        for value in (2, 2.0, np.int64(2), np.float32(2), np.float16(2), np.array(2)):
            Adds(t.x, t.x, value, 16)

    assert on_core(body, x=np.zeros(16, np.int16))["x"].tolist() == [12] * 16
