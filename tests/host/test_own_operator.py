"""The operator of the worked example against its formula, and the statuses of its checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from host import acl, rt
from host.datatypes import DataType
from host.errors import AclnnError
from host.infershape import infer

EXAMPLES = str(Path(__file__).parents[2] / "examples")


@pytest.fixture
def squared_relu(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    import squared_relu

    return squared_relu


@pytest.mark.parametrize("platform", ["910b", "910b3", "950"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(), (1,), (255,), (257, 3), (0, 4), (3, 50_001)])
def test_result_is_the_square_of_the_positive_part(
    squared_relu: Any, platform: str, dtype: Any, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(5).standard_normal(shape).astype(dtype)
    out = squared_relu.squared_relu(np.asarray(x), platform=platform)
    positive = np.where(x > 0, x.astype(np.float64), 0.0)
    assert np.array_equal(out, (positive * positive).astype(dtype))


def test_a_transposed_view_needs_no_copy_by_the_caller(squared_relu: Any) -> None:
    x = np.arange(-30, 30, dtype=np.float32).reshape(6, 10)
    assert np.array_equal(squared_relu.squared_relu(x.T), np.maximum(x.T, 0) ** 2)


def test_integers_and_rank_nine_are_refused_with_the_argument_named(squared_relu: Any) -> None:
    with pytest.raises(AclnnError) as integers:
        squared_relu.squared_relu(np.arange(4))
    assert integers.value.status == 161002
    assert integers.value.argument == "self"
    with pytest.raises(AclnnError) as rank:
        squared_relu.squared_relu(np.zeros((1,) * 9, np.float32))
    assert rank.value.status == 161002


def test_a_null_tensor_is_status_161001(squared_relu: Any) -> None:
    from squared_relu.api import aclnn_squared_relu_get_workspace_size

    with acl.Runtime("910b"):
        acl.init()
        rt.set_device(0)
        status, *_ = aclnn_squared_relu_get_workspace_size(None, None)
    assert squared_relu is not None
    assert status == 161001


def test_infershape_copies_the_shape(squared_relu: Any) -> None:
    outputs = infer("SquaredRelu", [(2, -1, 7)], [DataType.FLOAT16])
    assert squared_relu is not None
    assert outputs == [((2, -1, 7), DataType.FLOAT16)]
