"""Every mistake is raised at the kernel's own line, with what was given and what is legal."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from simulator.ascendc import (
    Add,
    DataCopy,
    DataCopyParams,
    Duplicate,
    GlobalTensor,
    LocalTensor,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    float32,
    half,
    int64_t,
    kernel,
    launch,
)
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    ConfigError,
    DTypeError,
    OutOfBoundsError,
    QueueError,
    SimulatorError,
    UbExhaustedError,
)

pytestmark = pytest.mark.usefixtures("machine_still_right")

UB_910B = 192 * 1024


def local(dtype=float32, addr=0, count=64):
    return LocalTensor(dtype, TPosition.VECCALC, addr, count)


def gm(array, dtype=float32, size=None):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(array, size)
    return tensor


def ub_overflow(x):
    pipe, queue = TPipe(), TQue(TPosition.VECIN, 2)
    pipe.InitBuffer(queue, 2, UB_910B // 2 + 32)  # fault


def vector_call_past_the_tensor(x):
    Add(local(), local(), local(count=32), 64)  # fault


def vector_call_past_ub(x):
    tail = local(addr=UB_910B - 256)
    Duplicate(tail[32], 1, 64)  # fault


def misaligned_vector_operand(x):
    tile = local()
    Add(tile[1], tile, tile, 8)  # fault


def misaligned_copy(x):
    tile = local()
    DataCopy(tile[3], gm(x), 8)  # fault


def copy_of_half_a_block(x):
    DataCopy(local(), gm(x), 12)  # fault


def type_without_instruction(x):
    Add(local(int64_t), local(int64_t), local(int64_t), 8)  # fault


def mixed_types(x):
    Add(local(), local(half), local(), 8)  # fault


def gm_read_past_the_array(x):
    DataCopy(local(count=128), gm(x), 72)  # fault


def gm_write_past_the_array(x):
    DataCopy(gm(x)[56], local(), 16)  # fault


def gm_read_before_the_array(x):
    DataCopy(local(), gm(x + -32), 8)  # fault


def gm_burst_past_the_array(x):
    DataCopy(local(count=256), gm(x), DataCopyParams(3, 2, 2, 0))  # fault


def scalar_read_past_the_array(x):
    gm(x).GetValue(64)  # fault


def scalar_read_past_the_tensor(x):
    local().GetValue(64)  # fault


def value_that_does_not_fit(x):
    local("int8_t").SetValue(0, 200)  # fault


def tensor_past_ub(x):
    LocalTensor(float32, TPosition.VECCALC, UB_910B - 32, 16)  # fault


def tensor_at_an_odd_address(x):
    LocalTensor(float32, TPosition.VECCALC, 20, 16)  # fault


def no_global_buffer(x):
    DataCopy(local(), GlobalTensor(float32), 8)  # fault


def unknown_type(x):
    GlobalTensor("float31")  # fault


def count_that_is_no_number(x):
    Duplicate(local(), 1, "64")  # fault


def buffer_before_its_pipe(x):
    TBuf(TPosition.VECCALC).Get(float32)  # fault


FAULTS = [
    (ub_overflow, UbExhaustedError, "196", "<= 196608"),
    (vector_call_past_the_tensor, OutOfBoundsError, "256", "128"),
    (vector_call_past_ub, OutOfBoundsError, "256", "128"),
    (misaligned_vector_operand, AlignmentError, "0x4", "32"),
    (misaligned_copy, AlignmentError, "0xc", "32"),
    (copy_of_half_a_block, AlignmentError, "48", "32"),
    (type_without_instruction, DTypeError, "int64_t", "float"),
    (mixed_types, DTypeError, "half", ""),
    (gm_read_past_the_array, OutOfBoundsError, "288", "256"),
    (gm_write_past_the_array, OutOfBoundsError, "288", "256"),
    (gm_read_before_the_array, OutOfBoundsError, "-32", "256"),
    (gm_burst_past_the_array, OutOfBoundsError, "", "256"),
    (scalar_read_past_the_array, OutOfBoundsError, "64", "0..63"),
    (scalar_read_past_the_tensor, OutOfBoundsError, "64", "0..63"),
    (value_that_does_not_fit, ArgumentError, "200", "127"),
    (tensor_past_ub, OutOfBoundsError, str(UB_910B + 32), str(UB_910B)),
    (tensor_at_an_odd_address, AlignmentError, "20", "32"),
    (no_global_buffer, ArgumentError, "SetGlobalBuffer", ""),
    (unknown_type, (DTypeError, ConfigError), "float31", ""),
    (count_that_is_no_number, ArgumentError, "'64'", ""),
    (buffer_before_its_pipe, QueueError, "InitBuffer", ""),
]


@pytest.mark.parametrize(
    ("body", "kind", "got", "legal"), FAULTS, ids=lambda v: getattr(v, "__name__", "")
)
@pytest.mark.parametrize("blocks", [1, 3])
def test_the_error_is_at_the_kernel_s_line(body, kind, got, legal, blocks, line_of):
    function = kernel(body)
    with pytest.raises(kind) as caught:
        launch(function, blocks, np.zeros(64, np.float32))
    error = caught.value
    assert isinstance(error, SimulatorError)
    assert error.location.file == __file__
    assert error.location.line == line_of(function, "# fault")
    assert error.block == 0
    assert got in str(error)
    assert legal in str(error)


@pytest.mark.parametrize("body", [row[0] for row in FAULTS], ids=lambda v: v.__name__)
def test_the_traceback_ends_in_the_kernel(body):
    with pytest.raises(SimulatorError) as caught:
        launch(kernel(body), 1, np.zeros(64, np.float32))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == __file__


@pytest.mark.parametrize(("target", "check"), [(None, ""), ("local", "vec.oob")])
def test_an_error_names_the_check_that_it_has_a_page_of(target, check):
    @kernel
    def wrong(x):
        Add(local() if target else target, local(), local(count=32), 64)

    with pytest.raises(SimulatorError) as caught:
        launch(wrong, 1, np.zeros(64, np.float32))
    assert caught.value.check == check


def test_the_block_that_fails_is_named():
    @kernel
    def third(x):
        from simulator.ascendc import GetBlockIdx

        DataCopy(local(), gm(x)[GetBlockIdx() * 24], 16)

    with pytest.raises(OutOfBoundsError) as caught:
        launch(third, 4, np.zeros(64, np.float32))
    assert caught.value.block == 3


def test_an_exception_of_the_kernel_itself_passes_through():
    @kernel
    def body(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        launch(body, 2, np.zeros(64, np.float32))


def test_calls_outside_a_kernel_are_refused():
    with pytest.raises(ConfigError, match="inside a running kernel"):
        TPipe()


def test_the_length_rule_rounds_down_when_the_launch_is_not_strict():
    @kernel
    def body(x, y):
        tile = local()
        Duplicate(tile, 7, 64)
        DataCopy(tile, gm(x), 12)
        DataCopy(gm(y), tile, 60)

    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with pytest.raises(AlignmentError):
        launch(body, 1, x, y)
    launch(body, 1, x, y, strict=False)
    np.testing.assert_array_equal(y, [*range(8), *[7] * 48, *[0] * 8])
    with pytest.raises(AlignmentError):
        launch(body, 1, x, y)
