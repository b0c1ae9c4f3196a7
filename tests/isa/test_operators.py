"""Operators on whole tensors against numpy, and what they refuse."""

import numpy as np
import pytest
from harness import on_core

from simulator.errors import ArgumentError, DTypeError


def assign(operation):
    def body(t):
        t.dst[:] = operation(t.a, t.b)

    return body


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda a, b: a + b, [5, 7, 9, 11]),
        (lambda a, b: a - b, [-3, -3, -3, -3]),
        (lambda a, b: a * b, [4, 10, 18, 28]),
    ],
)
def test_arithmetic_works_on_the_length_of_the_destination(platform, operation, expected):
    a = np.array([1, 2, 3, 4], np.int32)
    b = np.array([4, 5, 6, 7], np.int32)
    done = on_core(assign(operation), a=a, b=b, dst=np.zeros(4, np.int32), platform=platform)
    assert done["dst"].tolist() == expected


def test_division_and_bit_operations():
    a = np.array([1, 9], np.float32)
    b = np.array([4, 3], np.float32)
    done = on_core(assign(lambda a, b: a / b), a=a, b=b, dst=np.zeros(2, np.float32))
    assert done["dst"].tolist() == [0.25, 3.0]
    x = np.array([0b1100, -1], np.int16)
    y = np.array([0b1010, 7], np.int16)
    both = on_core(assign(lambda a, b: a & b), a=x, b=y, dst=np.zeros(2, np.int16))
    either = on_core(assign(lambda a, b: a | b), a=x, b=y, dst=np.zeros(2, np.int16))
    assert both["dst"].tolist() == [0b1000, 7]
    assert either["dst"].tolist() == [0b1110, -1]


@pytest.mark.parametrize(
    ("operation", "byte"),
    [
        (lambda a, b: a < b, 0b0001_0001),
        (lambda a, b: a > b, 0b0100_0100),
        (lambda a, b: a <= b, 0b1011_1011),
        (lambda a, b: a >= b, 0b1110_1110),
    ],
)
def test_a_comparison_writes_one_bit_for_each_element(operation, byte):
    a = np.tile(np.array([1, 2, 3, 2], np.float32), 16)
    b = np.full(64, 2, np.float32)
    done = on_core(assign(operation), a=a, b=b, dst=np.zeros(32, np.uint8))
    assert done["dst"][:8].tolist() == [byte] * 8
    assert done["dst"][8:].tolist() == [0] * 24


def test_the_record_has_the_line_of_the_assignment():
    done = on_core(
        assign(lambda a, b: a + b),
        a=np.ones(16, np.float16),
        b=np.ones(16, np.float16),
        dst=np.zeros(16, np.float16),
    )
    [add] = [i for i in done.run.instructions if i.name == "Add"]
    assert add.location.file == __file__
    assert add.location.function == "body"


def test_an_operator_without_a_destination_has_no_truth_value():
    def body(t):
        if t.a < t.b:
            t.a[:] = t.a + t.b

    with pytest.raises(ArgumentError, match="no truth value"):
        on_core(body, a=np.ones(64, np.float32), b=np.ones(64, np.float32))


def test_other_assignments_are_refused():
    def part(t):
        t.dst[0:4] = t.a + t.b

    def number(t):
        t.dst[:] = 3.0

    ones = {name: np.ones(16, np.float32) for name in ("a", "b", "dst")}
    for body in (part, number):
        with pytest.raises(ArgumentError, match="only a whole tensor"):
            on_core(body, **ones)


def test_short_operands_and_mixed_types_are_refused():
    long, short = np.ones(16, np.float32), np.ones(8, np.float32)
    with pytest.raises(ArgumentError, match="shorter than the destination"):
        on_core(assign(lambda a, b: a + b), a=long, b=short, dst=long)
    with pytest.raises(DTypeError):
        on_core(assign(lambda a, b: a + b), a=long, b=long.astype(np.float16), dst=long)
