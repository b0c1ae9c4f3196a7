"""Launches of the kernels that operators are built of, with a shape for every way they go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from host.platform_ascendc import PlatformInfo
from host.tiling import tiling
from kernels.contiguous import kernel_2201 as contiguous_2201
from kernels.contiguous import kernel_3510 as contiguous_3510
from kernels.max_pooling_grad.kernel_2201 import max_pooling_grad_fixed
from kernels.p_relu_grad_reduce import kernel_2201 as reduce_2201
from kernels.p_relu_grad_reduce_apt import kernel_3510 as reduce_3510
from kernels.p_relu_grad_update import kernel_2201 as update_2201
from kernels.p_relu_grad_update_apt import kernel_3510 as update_3510
from kernels.strided.tiling_data import StridedViewTilingData
from kernels.view_copy import kernel_2201 as view_copy_2201
from kernels.view_copy import kernel_3510 as view_copy_3510
from simulator.dtypes import as_dtype
from simulator.launch import collect_runs, launch
from simulator.platforms import load_platform
from tools.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.launch import Kernel
    from simulator.run import Run

    Launches = Iterator[tuple[str, Callable[[], list[Run]]]]

TYPES = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}

CONTIGUOUS = {"910b": contiguous_2201.contiguous, "950": contiguous_3510.contiguous}
VIEW_COPY = {"910b": view_copy_2201.view_copy, "950": view_copy_3510.view_copy}
UPDATE = {"910b": update_2201.p_relu_grad_update, "950": update_3510.prelu_grad_update}
REDUCE = {"910b": reduce_2201.p_relu_grad_reduce, "950": reduce_3510.prelu_grad_reduce}

WHOLE_OPERATORS = {
    **{("hardswish_backward_v2", p): ((700, 1024),) for p in ("910b", "950")},
    **{("hardswish_backward", p): ((700, 1024),) for p in ("910b", "950")},
    # On 910 the last block is done twice, or everything is done element by element.
    ("hardswish_backward_v2", "910"): ((64, 257), (5,), (6409,)),
    ("hardswish_backward", "910"): ((64, 257), (5,), (6409,)),
    ("max_pooling_grad", "910b"): ((700, 1024),),
    ("prelu_backward", "910b"): ((64, 257), (2, 4, 8, 8)),
    ("prelu_backward", "950"): ((4096, 33), (2, 4, 8, 8)),
}

UPDATES = [
    # platform, type, gradOutput, features, weights, cores if not all: one axis or several, few
    # channels or many, a gradient that is broadcast, rows that are cut or taken together.
    ("910b", "fp32", (1000,), (1000,), 1, 0),
    ("910b", "fp16", (1,), (1000,), 1, 0),
    ("910b", "fp16", (3, 1, 70), (3, 5, 70), 5, 2),
    ("910b", "fp32", (5, 40, 300), (5, 40, 300), 40, 3),
    ("910b", "bf16", (300, 3), (300, 3), 3, 2),
    ("910b", "fp16", (9, 2048), (9, 2048), 2048, 1),
    ("910b", "fp32", (2, 9001), (2, 9001), 9001, 2),
    ("910b", "fp16", (2, 1, 3, 1, 2, 1), (2, 3, 3, 2, 2, 20), 3, 2),
    ("910b", "fp32", (2, 3, 20000), (2, 3, 20000), 3, 2),
    ("950", "fp32", (1000,), (1000,), 1, 0),
    ("950", "fp16", (1,), (1000,), 1, 0),
    ("950", "fp32", (30000,), (30000,), 1, 1),
    ("950", "fp32", (5, 40, 300), (5, 40, 300), 40, 2),
    ("950", "fp16", (7, 1, 33), (7, 20, 33), 20, 0),
    ("950", "bf16", (3000, 3), (3000, 3), 3, 1),
    ("950", "fp32", (2, 1, 3, 1, 2, 1, 2, 1), (2, 3, 3, 2, 2, 2, 2, 2), 3, 0),
    ("950", "fp16", (1, 2048), (9, 2048), 2048, 0),
    ("950", "fp32", (3, 1025), (3, 1025), 1025, 0),
    ("950", "bf16", (4, 24, 64), (4, 24, 64), 24, 1),
    ("950", "fp16", (4, 1, 64), (4, 24, 64), 24, 0),
    ("950", "fp16", (2, 4, 1, 32), (2, 4, 3, 32), 4, 0),
    ("950", "fp16", (2, 1, 3, 1, 2, 32), (2, 4, 3, 2, 2, 32), 4, 0),
]

REDUCTIONS = [
    # platform, type, shape, weights, cores if not all
    ("910b", "fp32", (5,), (1,), 0),
    ("910b", "fp16", (3, 5, 7, 3), (5,), 0),
    ("910b", "bf16", (9, 300, 17), (300,), 3),
    ("910b", "fp32", (20, 3, 500), (3,), 2),
    ("910b", "fp16", (2, 3, 70001), (3,), 4),
    ("910b", "fp32", (65, 9, 2000), (9,), 3),
    ("910b", "fp32", (1000, 3), (3,), 3),
    ("910b", "bf16", (200, 1100), (1100,), 2),
    ("910b", "fp16", (123457,), (1,), 4),
    ("910b", "fp32", (64, 7, 1), (7,), 0),
    ("950", "fp32", (5,), (1,), 0),
    ("950", "fp16", (1, 7), (7,), 0),
    ("950", "fp32", (1, 7), (7,), 0),
    ("950", "fp16", (3, 5, 7, 3), (5,), 0),
    ("950", "bf16", (9, 300, 17), (300,), 5),
    ("950", "fp16", (1, 600, 70), (600,), 7),
    ("950", "fp16", (2, 3, 70001), (3,), 4),
    ("950", "fp32", (1000, 3), (3,), 3),
    ("950", "bf16", (200, 1100), (1100,), 4),
    ("950", "fp32", (5000, 40), (40,), 8),
    ("950", "fp16", (123457,), (1,), 4),
    ("950", "fp32", (65, 9, 2000), (9,), 4),
    ("950", "fp32", (3, 4, 5, 6, 7), (1, 4, 1, 6), 3),
    ("950", "fp16", (3, 4, 5, 6, 7), (2, 1, 5, 1), 1),
    ("950", "fp16", (0, 5), (5,), 0),
]

VIEWS = [
    # shape, strides, offset, bytes of an element: transposed, with gaps, rows and elements that
    # repeat, dense.
    ((6, 50, 7), (3, 19, 950), 5, 2),
    ((30, 40), (1, 30), 0, 4),
    ((20, 3, 30), (100, 31, 1), 2, 8),
    ((12, 5, 33), (40, 0, 1), 1, 2),
    ((4, 6, 70), (1, 4, 0), 0, 4),
    ((9, 64), (0, 1), 3, 8),
    ((9, 17), (0, 0), 3, 8),
    ((700, 3), (4, 1), 0, 1),
    ((2000,), (1,), 7, 1),
    ((500,), (3,), 7, 8),
]


def operator_launches() -> Launches:
    """Yield names, and functions that launch the kernels of operators."""
    for (name, platform), shapes in WHOLE_OPERATORS.items():
        for label, dtype in TYPES.items():
            if label == "bf16" and (platform == "910" or name == "max_pooling_grad"):
                continue
            for shape in shapes:
                number = "" if shape == shapes[0] else f"-{'x'.join(map(str, shape))}"
                yield (
                    f"{name}-{platform}-{label}{number}",
                    _bound(_operator, name, platform, shape, dtype),
                )
    for at, (platform, label, *more) in enumerate(UPDATES):
        yield f"update-{platform}-{label}-{at}", _bound(_update, platform, label, *more)
    for at, (platform, label, *more) in enumerate(REDUCTIONS):
        yield f"reduce-{platform}-{label}-{at}", _bound(_reduce, platform, label, *more)
    for label in ("fp32", "fp16"):
        yield f"max_pooling_grad_fixed-910b-{label}", _bound(_max_pooling_fixed, label)
    for platform in ("910b", "950"):
        for at, view in enumerate(VIEWS):
            yield f"contiguous-{platform}-{at}", _bound(_strided, platform, False, *view)
            if 0 not in view[1]:
                yield f"view_copy-{platform}-{at}", _bound(_strided, platform, True, *view)


def _bound(function: Callable[..., list[Run]], *args: Any) -> Callable[[], list[Run]]:
    return lambda: function(*args)


def _operator(name: str, platform: str, shape: tuple[int, ...], dtype: Any) -> list[Run]:
    operator = OPERATORS[name]
    inputs = operator.inputs(np.random.default_rng(5), shape, np.dtype(dtype))
    with collect_runs() as runs:
        operator.run(inputs, load_platform(platform))
    return runs


def _strided(
    platform: str, back: bool, shape: Any, strides: Any, offset: int, size: int
) -> list[Run]:
    total = int(np.prod(shape))
    reach = offset + 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    draw = np.random.default_rng(6)
    storage, dense = (
        draw.integers(0, 256, count * size, np.uint8).view(f"u{size}") for count in (reach, total)
    )
    plan = StridedViewTilingData(
        totalNum=total, blockFactor=-(-total // 4), ubFactor=256 // size, offset=offset,
        shape=shape, strides=strides, rank=len(shape), elementBytes=size,
    )  # fmt: skip
    chosen = VIEW_COPY if back else CONTIGUOUS
    arrays = (dense, storage) if back else (storage, dense)
    return [launch(chosen[platform], 4, *arrays, 0, plan, platform=platform)]


def _plan(op_type: str, platform: str, cores: int, shapes: list[Any], dtype: Any) -> Any:
    device = PlatformInfo.from_platform(load_platform(platform))
    return tiling(op_type, device.replace(aiv=cores) if cores else device, shapes, dtype)


def _chosen(kernel: Kernel, dtype: Any, key: int) -> Kernel:
    values = {"DTYPE": as_dtype(dtype), "TILING_KEY": key}
    return kernel.specialise(*(values[name] for name in kernel.template))


def _update(
    platform: str, label: str, grads: Any, shape: Any, channels: int, cores: int
) -> list[Run]:
    dtype = np.dtype(TYPES[label])
    draw = np.random.default_rng(4)
    arrays = [
        np.asarray(draw.standard_normal(s)).astype(dtype) for s in (grads, shape, (channels,))
    ]
    shapes = [grads, shape, (channels,), shape, shape]
    plan = _plan("PReluGradUpdate", platform, cores, shapes, dtype.name)
    kernel = _chosen(UPDATE[platform], dtype, plan.key)
    out = [np.zeros(shape, dtype) for _ in range(2)]
    run = kernel.launch(plan.block_dim, *arrays, *out, 0, plan.data, platform=platform)
    return [run]


def _reduce(platform: str, label: str, shape: Any, weights: Any, cores: int) -> list[Run]:
    dtype = np.dtype(TYPES[label])
    updates = np.random.default_rng(7).integers(-3, 4, shape).astype(dtype)
    shapes = [shape, shape, weights, shape, weights]
    plan = _plan("PReluGradReduce", platform, cores, shapes, dtype.name)
    kernel = _chosen(REDUCE[platform], dtype, plan.key)
    kept = [
        n for axis, n in enumerate(shape) if axis and weights[axis : axis + 1] not in ((1,), ())
    ]
    kept += shape[len(weights) :]
    da = np.zeros(weights[0] if len(weights) == 1 else int(np.prod(kept)), dtype)
    workspace = np.zeros(max(1, sum(plan.workspace)), np.uint8)
    if not updates.size:
        updates = np.zeros(1, dtype)
    arrays = (updates, updates, da, updates, da, workspace)
    return [kernel.launch(plan.block_dim, *arrays, plan.data, platform=platform)]


def _max_pooling_fixed(label: str) -> list[Run]:
    dtype = np.dtype(TYPES[label])
    draw = np.random.default_rng(8)
    dy, x = (draw.standard_normal(30007).astype(dtype) for _ in range(2))
    y = np.where(draw.random(x.size) < 0.5, x, -x)
    plan = _plan("MaxPoolingGrad", "910b", 2, [x.shape] * 3, dtype)
    kernel = max_pooling_grad_fixed.specialise(as_dtype(dtype))
    arrays = (dy, x, y, np.zeros_like(x))
    return [kernel.launch(plan.block_dim, *arrays, 0, plan.data, platform="910b")]
