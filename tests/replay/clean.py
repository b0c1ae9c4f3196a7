"""Launches of every clean kernel of the repository, small but with several tiles a block."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from clean_operators import operator_launches

from kernels.validation.add import AddTiling, add_scalar
from kernels.validation.whole_kernels import WHOLE_KERNELS
from simulator.launch import collect_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.run import Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SCRIPTS = (
    "aclnn_hardswish_backward_v2",
    "aclnn_max_pooling_grad",
    "aclnn_prelu_backward",
    "own_operator",
)
"""Examples that launch when they are run; ``vector_add`` is launched with several depths."""

MEASURED = {
    # Row of the validation kernels, a size at which every block has a few tiles, and the blocks.
    "V001": (2, 1), "V002": (4, 1), "V003": (48, 48), "V004": (48, 48), "V005": (48, 48),
    "V006": (48, 48), "V007": (48, 48), "V009": (4, 1), "V010": (64, 64), "V011": (64, 64),
    "V013": (64, 64), "V014": (4, 1), "V015": (4, 1), "V016": (4, 1), "V017": (4, 1),
    "V019": (4, 1), "V020": (4, 1), "V021": (4, 1), "V055": (256, 2), "V062": (16, 1),
    "V068": (20480, 1), "V069": (163840, 8), "V070": (163840, 8), "V072": (327680, 8),
    "V074": (5120, 1), "V075": (5120, 1), "V076": (64, 64), "V080": (2, 1), "V081": (2, 1),
    "V082": (128, 64), "V087": (128, 32), "V097": (1024, 56),
}  # fmt: skip

LEFT_OUT = {
    **dict.fromkeys(
        (
            "V036", "V037", "V038", "V039", "V040", "V041", "V042", "V043", "V044", "V045", "V046",
            "V047", "V048", "V049", "V050", "V078", "V079",
        ),
        "reads only: the tiles are copied over each other, and nothing is stored",
    ),
    **dict.fromkeys(("V101", "V102"), "sums what nothing has written, and stores nothing"),
}  # fmt: skip
"""Rows whose kernels leave nothing in global memory that an order could change, and why."""


SHORT_ROWS = AddTiling(rows=2, columns=512, tile=256, buffer=256)


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
    if case.kernel is add_scalar:
        # Rows of the measured length are thousands of calls.
        arguments = (*(np.zeros((size, 512), np.float16) for _ in range(3)), SHORT_ROWS, blocks)
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
            module = _example(name)
            if hasattr(module, "main"):
                module.main()
        return runs
    finally:
        sys.path.remove(str(EXAMPLES))


def clean_launches() -> dict[str, Callable[[], list[Run]]]:
    """Return functions that launch clean kernels, by name."""
    found = dict(operator_launches())
    for platform in ("910b", "950"):
        for depth in (1, 2, 4):
            found[f"vector_add-{platform}-depth{depth}"] = _bound(_vector_add, platform, depth)
    for row, sizes in MEASURED.items():
        found[f"validation-{row}"] = _bound(_measured, row, *sizes)
    for script in SCRIPTS:
        found[script] = _bound(_script, script)
    return found


def _bound(function: Any, *args: Any) -> Callable[[], list[Run]]:
    return lambda: function(*args)
