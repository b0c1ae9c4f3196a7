"""printf, DumpTensor and Trap."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import (
    DumpTensor,
    Duplicate,
    ShapeInfo,
    Trap,
    bfloat16_t,
    printf,
)
from simulator.errors import (
    ArgumentError,
    OutOfBoundsError,
    SimulatorError,
)


def ask(body, **data):
    data = data or {"x": np.arange(64, dtype=np.float32)}
    return on_core(body, **data).returned


def printed(body, **data):
    done = on_core(lambda t: body(t) and None, **(data or {"x": np.zeros(8, np.float32)}))
    return done.run.output


@pytest.mark.parametrize(
    ("fmt", "values", "text"),
    [
        ("%d|%i|%u|%x", (-5, 7, 9, 255), "-5|7|9|ff"),
        ("%ld %lld", (2**40, -(2**40)), "1099511627776 -1099511627776"),
        ("%lu", (2**63,), "9223372036854775808"),
        ("%f %F", (1.5, 2.25), "1.500000 2.250000"),
        ("%5d|%.2f|%s|%%", (42, 3.14159, "tile"), "   42|3.14|tile|%"),
        ("%p", (255,), "0xff"),
    ],
)  # fmt: skip
def test_printf_formats_as_c_does(fmt, values, text):
    assert printed(lambda t: printf(fmt + "\n", *values)) == f"[AIV Block 0/1] {text}\n"


@pytest.mark.parametrize(
    ("fmt", "values"), [("%d", ()), ("%d", (1, 2)), ("%q", (1,)), ("%c", (1,))]
)
def test_a_format_that_the_device_has_not_is_refused(fmt, values):
    with pytest.raises(ArgumentError):
        printed(lambda t: printf(fmt, *values))


def test_a_dump_is_a_header_and_the_values():
    def body(t):
        DumpTensor(t.x, 17, 4)
        DumpTensor(t.g, 18, 6, ShapeInfo(2, [2, 4]))

    done = on_core(
        body, x=np.array([1, -2.5, 3, 4], np.float32), gm={"g": np.arange(8, dtype=np.int32)}
    )
    address = done.places["x"][0]
    lines = done.run.output.splitlines()
    assert lines[0] == (
        f"DumpTensor: desc=17, addr={address:#x}, data_type=float32, position=UB, dump_size=4"
    )
    assert lines[1] == "[1.000000, -2.500000, 3.000000, 4.000000]"
    assert lines[2].startswith("DumpTensor: desc=18, addr=0x")
    assert lines[2].endswith("data_type=int32, position=GM, dump_size=6")
    assert lines[3] == "shape is [2, 4], dumpSize is 6, data is not enough."
    assert lines[4:] == ["[[0,1,2,3],", "[4,5,-,-]]"]


def test_a_dump_of_bfloat16_shows_numbers():
    text = printed(
        lambda t: DumpTensor(t.x, 0, 2), x=Filled(bfloat16_t, np.array([1.5, -2], np.float32))
    )
    assert text.splitlines()[1] == "[1.500000, -2.000000]"


def test_a_dump_past_the_tensor_is_refused():
    with pytest.raises(OutOfBoundsError):
        ask(lambda t: DumpTensor(t.x, 0, 65))


def test_trap_stops_the_kernel():
    left = []

    def body(t):
        Duplicate(t.x, 1, 64)
        Trap()
        left.append(1)

    with pytest.raises(SimulatorError, match="Trap") as caught:
        ask(body)
    assert caught.value.kind == "kernel.trap"
    assert left == []
