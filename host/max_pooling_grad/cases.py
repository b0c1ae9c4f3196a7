"""How case files of max_pooling_grad are run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.cases.binding import OperatorBinding, bind
from host.cases.hazard_kinds import unwritten_elements
from host.cases.operator_kinds import platform_of
from host.contexts import TensorDesc
from host.datatypes import as_data_type
from host.max_pooling_grad.api import (
    API,
    aclnn_max_pooling_grad,
    aclnn_max_pooling_grad_get_workspace_size,
)
from host.max_pooling_grad.call import max_pooling_grad
from host.tiling import run_tiling
from kernels.max_pooling_grad.core_split import share_of
from kernels.max_pooling_grad.kernel_2201 import max_pooling_grad as published
from kernels.max_pooling_grad.tiling_data import MaxPoolingGradTilingData
from simulator.dtypes import as_dtype
from simulator.errors import AlignmentError
from simulator.memory import GlobalMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from host.tiling import TilingResult

_BLOCK_BYTES: Final = 32
_LEFT_ALONE: Final = 7


def _numeric(given: Mapping[str, Any], tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Results of the published kernel (dx) and of the fixed one (formula_dx).

    The cases are about values, so the published kernel gets whole blocks of 32 bytes.
    """
    dy, x, y = (tensors[name] for name in ("dy", "x", "y"))
    missing = -dy.nbytes % _BLOCK_BYTES // dy.itemsize
    whole = (np.pad(array.reshape(-1), (0, missing)) for array in (dy, x, y))
    dx = max_pooling_grad(*whole, variant="source")[: dy.size].reshape(dy.shape)
    return {"dx": dx, "formula_dx": max_pooling_grad(dy, x, y)}


def _core_split(given: Mapping[str, Any], core: int) -> dict[str, Any]:
    tiling = MaxPoolingGradTilingData(**given["tiling_data"])
    return asdict(share_of(tiling, core, given["block_dim"]))


def _hazard(given: Mapping[str, Any]) -> dict[str, Any]:
    """Launch the published kernel with checks, and as on a board, and see what dx lacks."""
    dtype = as_dtype(given["dtype"]).numpy
    info = platform_of(given["platform"])
    desc = TensorDesc(tuple(given["shape"]), as_data_type(dtype))
    tiling = run_tiling("MaxPoolingGrad", given["arch"], info, [desc] * 3, [desc])
    platform = given["platform"]["soc_version"]
    rule, severity = None, "none"
    inputs = [np.ones(given["shape"], dtype) for _ in range(3)]
    dx = np.full(given["shape"], _LEFT_ALONE, dtype)
    try:
        _launch(tiling, inputs, dx, platform, strict=True)
    except AlignmentError as error:
        if error.fields["api"] == "DataCopy" and error.fields["argument"] == "count":
            rule = "datacopy_count_not_32B"
    dx[...] = _LEFT_ALONE
    unwritten = _launch(tiling, inputs, dx, platform, strict=False)
    if len(unwritten) and (dx.reshape(-1)[unwritten] == _LEFT_ALONE).all():
        severity = "output elements keep their previous GM contents"
    return {"unwritten_flat_indices": unwritten.tolist(), "rule": rule, "severity": severity}


def _launch(
    tiling: TilingResult,
    inputs: list[NDArray[Any]],
    dx: NDArray[Any],
    platform: str,
    *,
    strict: bool,
) -> NDArray[np.int64]:
    """Run the published kernel and return the elements of dx that it did not write."""
    memory = GlobalMemory()
    addresses = [memory.adopt(array) for array in (*inputs, dx)]
    run = published.specialise(as_dtype(dx.dtype)).launch(
        tiling.block_dim,
        *addresses,
        0,
        tiling.data,
        platform=platform,
        memory=memory,
        strict=strict,
    )
    return unwritten_elements(run, "dx", dx.itemsize)


def _kernel(given: Mapping[str, Any]) -> dict[str, Any]:
    """Launch the published kernel on a buffer that is longer than the valid elements."""
    dtype, count, valid = as_dtype(given["dtype"]), given["buffer_elements"], given["valid"]
    dy, x = (_drawn(dtype.numpy, count, step) for step in (1, 5))
    dx = np.full(count, given["dx_prefill"], dtype.numpy)
    tiling = MaxPoolingGradTilingData(**given["tiling_data"])
    published.specialise(dtype).launch(given["block_dim"], dy, x, x.copy(), dx, 0, tiling)
    same = np.array_equal(dx[:valid], dy[:valid])
    kept = (dx[valid:] == given["dx_prefill"]).all()
    return {
        "dx_valid": "equals dy" if same else "differs from dy",
        "dx_padding": f"elements {valid}..{count - 1} "
        + (f"untouched (stay {given['dx_prefill']})" if kept else "were written"),
    }


def _drawn(dtype: np.dtype[Any], count: int, step: int) -> NDArray[Any]:
    """Walk through the six values of the kernel's unit test."""
    return np.array([-2, -0.5, 0, 0.5, 1, 2], dtype)[np.arange(count) * step % 6]


bind(
    OperatorBinding(
        op="max_pooling_grad",
        op_type="MaxPoolingGrad",
        api=API,
        parameters=("dy", "x", "y", "dx"),
        plan=aclnn_max_pooling_grad_get_workspace_size,
        launch=aclnn_max_pooling_grad,
        numeric=_numeric,
        core_split=_core_split,
        hazard=_hazard,
        kernel=_kernel,
    )
)
