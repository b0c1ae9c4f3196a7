"""ListTensorDesc and TensorDesc: the tensors of a dynamic input."""

from __future__ import annotations

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    GlobalTensor,
    ListTensorDesc,
    TensorDesc,
    float32,
    kernel,
    launch,
)
from simulator.errors import (
    ArgumentError,
    SimulatorError,
)


def ask(body, **data):
    data = data or {"x": np.arange(64, dtype=np.float32)}
    return on_core(body, **data).returned


def test_a_list_of_arrays_tells_its_shapes_and_addresses():
    seen = []

    @kernel
    def body(inputs):
        tensors = ListTensorDesc(inputs)
        for index in range(tensors.GetSize()):
            desc = TensorDesc(float32)
            shape = [0] * 4
            desc.SetShapeAddr(shape)
            tensors.GetDesc(desc, index)
            data = desc.GetDataObj()
            seen.append(
                (desc.GetIndex(), desc.GetDim(), [desc.GetShape(i) for i in range(desc.GetDim())],
                 data.GetSize(), data.GetValue(1),
                 tensors.GetDataPtr(float32, index).address == desc.GetDataPtr().address)
            )  # fmt: skip

    arrays = [np.full((2, 3), 5, np.float32), np.full((4, 8), 6, np.float32)]
    launch(body, 1, arrays)
    assert seen == [(0, 2, [2, 3], 6, 5, True), (1, 2, [4, 8], 32, 6, True)]


def test_arrays_of_different_ranks_have_addresses_only():
    seen = []

    @kernel
    def body(inputs):
        tensors = ListTensorDesc()
        tensors.Init(inputs)
        for index in range(tensors.GetSize()):
            data = GlobalTensor(float32)
            data.SetGlobalBuffer(tensors.GetDataPtr(float32, index))
            seen.append(data.GetValue(0))
        desc = TensorDesc(float32)
        desc.SetShapeAddr([0] * 4)
        with pytest.raises(ArgumentError, match="no shapes"):
            tensors.GetDesc(desc, 0)

    launch(body, 1, [np.full(6, 5, np.float32), np.full((4, 8), 6, np.float32)])
    assert seen == [5, 6]


def test_memory_that_is_no_list_is_refused():
    @kernel
    def body(x):
        ListTensorDesc(x)

    with pytest.raises(SimulatorError):
        launch(body, 1, np.full(64, 3, np.uint64))
    with pytest.raises(ArgumentError, match="GM address"):
        ask(lambda t: ListTensorDesc(7))


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_outside_the_list_is_refused(index):
    @kernel
    def body(inputs):
        ListTensorDesc(inputs).GetDataPtr(float32, index)

    with pytest.raises(ArgumentError, match=r"0\.\.1"):
        launch(body, 1, [np.zeros(8, np.float32)] * 2)
