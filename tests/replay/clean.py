"""Launches of every clean kernel of the repository, small but with several tiles a block."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from kernels.contiguous import kernel_2201 as contiguous_2201
from kernels.contiguous import kernel_3510 as contiguous_3510
from kernels.strided.tiling_data import StridedViewTilingData
from kernels.validation.whole_kernels import WHOLE_KERNELS
from kernels.view_copy import kernel_2201 as view_copy_2201
from kernels.view_copy import kernel_3510 as view_copy_3510
from simulator.launch import collect_runs, launch
from simulator.platforms import load_platform
from tools.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.run import Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

CONTIGUOUS = {"910b": contiguous_2201.contiguous, "950": contiguous_3510.contiguous}
VIEW_COPY = {"910b": view_copy_2201.view_copy, "950": view_copy_3510.view_copy}


MEASURED = {
    # Row of the validation kernels, a size at which every block has a few tiles, and the blocks.
    "V002": (4, 1), "V005": (48, 48), "V013": (64, 64), "V015": (4, 1), "V055": (512, 4),
    "V062": (16, 1), "V070": (163840, 8), "V074": (5120, 1), "V081": (2, 1), "V082": (128, 64),
    "V097": (512, 56),
}  # fmt: skip


def _operator(name: str, platform: str, shape: tuple[int, ...], dtype: Any) -> list[Run]:
    operator = OPERATORS[name]
    inputs = operator.inputs(np.random.default_rng(5), shape, np.dtype(dtype))
    with collect_runs() as runs:
        operator.run(inputs, load_platform(platform))
    return runs


def _strided(platform: str, *, back: bool) -> list[Run]:
    shape, strides = (6, 50, 7), (3, 19, 950)
    storage = np.random.default_rng(6).integers(0, 9999, 7000).astype(np.uint16)
    total = int(np.prod(shape))
    tiling = StridedViewTilingData(
        totalNum=total, blockFactor=total // 4, ubFactor=128, offset=5, shape=shape,
        strides=strides, rank=3, elementBytes=2,
    )  # fmt: skip
    dense = np.arange(total, dtype=np.uint16)
    chosen = VIEW_COPY if back else CONTIGUOUS
    arrays = (dense, storage) if back else (storage, dense)
    return [launch(chosen[platform], 4, *arrays, 0, tiling, platform=platform)]


def _vector_add(platform: str, depth: int) -> list[Run]:
    example = _example("vector_add")
    example.BUFFER_NUM = depth
    x, y = (np.random.default_rng(s).standard_normal(2 * 6144).astype(np.float16) for s in (0, 1))
    tiling = example.AddTiling(x.size, x.size // 2, 1024)
    return [example.vector_add.launch(2, x, y, np.empty_like(x), tiling, platform=platform)]


def _measured(row: str, size: int, blocks: int) -> list[Run]:
    case = WHOLE_KERNELS[row]
    generator = np.random.default_rng(7)
    arguments = case.arguments(size)
    for array in arguments:
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            array[...] = generator.standard_normal(array.shape)
    return [case.kernel.launch(blocks, *arguments, platform=case.platform)]


def _example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _script(name: str) -> list[Run]:
    sys.path.insert(0, str(EXAMPLES))
    try:
        with collect_runs() as runs:
            _example(name)
        return runs
    finally:
        sys.path.remove(str(EXAMPLES))


def clean_launches() -> dict[str, Callable[[], list[Run]]]:
    """Return functions that launch clean kernels, by name."""
    found: dict[str, Callable[[], list[Run]]] = {}
    types = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}
    sized = {
        **{("hardswish_backward_v2", p): (700, 1024) for p in ("910b", "950")},
        **{("hardswish_backward", p): (700, 1024) for p in ("910b", "950")},
        ("hardswish_backward_v2", "910"): (64, 257),
        ("hardswish_backward", "910"): (64, 257),
        ("max_pooling_grad", "910b"): (700, 1024),
        ("prelu_backward", "910b"): (64, 257),
        ("prelu_backward", "950"): (4096, 33),
    }
    for (name, platform), shape in sized.items():
        for label, dtype in types.items():
            if label == "bf16" and (platform == "910" or name == "max_pooling_grad"):
                continue
            found[f"{name}-{platform}-{label}"] = _bound(_operator, name, platform, shape, dtype)
    for platform in ("910b", "950"):
        for back in (False, True):
            label = "view_copy" if back else "contiguous"
            found[f"{label}-{platform}"] = _bound(_strided, platform, back=back)
        for depth in (1, 2, 4):
            found[f"vector_add-{platform}-depth{depth}"] = _bound(_vector_add, platform, depth)
    for row, sizes in MEASURED.items():
        found[f"validation-{row}"] = _bound(_measured, row, *sizes)
    found["own_operator"] = _bound(_script, "own_operator")
    return found


def _bound(function: Any, *args: Any, **options: Any) -> Callable[[], list[Run]]:
    return lambda: function(*args, **options)
