"""Worked examples of the vendor's reference pages, as kernels.

The file is JSON: for each example the call, its arguments, the inputs and the printed results, in a
compact array notation. An example runs once on every architecture it names.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.errors import ConfigError
from tools.isa_cases.arrays import unfold
from tools.isa_cases.page_calls import ADAPTERS, elementwise, prepare
from tools.isa_cases.page_moves import MOVES
from tools.isa_cases.probe import PLATFORM_OF_ARCH
from tools.isa_cases.results import PAGE_EXAMPLE, IsaCaseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Example = Mapping[str, Any]

_ADAPTERS: Final = {**ADAPTERS, **MOVES}


def read_examples(path: str | Path) -> list[Example]:
    """Return the examples of a file.

    Raises
    ------
    ConfigError
        If the file holds none.
    """
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        examples = content["examples"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} holds no page examples: {error}", legal='JSON with a list "examples"'
        ) from error
    return list(examples)


def run_page_examples(
    path: str | Path, keep: Callable[[Example], bool] | None = None, arch: str | None = None
) -> list[IsaCaseResult]:
    """Run every example of a file on every architecture that it names, or on ``arch`` alone.

    Returns
    -------
    list of IsaCaseResult
        One an example, in the order of the file; it passes when it does on every architecture.
    """
    results = []
    for example in read_examples(path):
        archs = [one for one in example["arch"] if arch in (None, one)]
        if archs and (keep is None or keep(example)):
            results.append(_run(example, archs))
    return results


def _run(example: Example, archs: Sequence[str]) -> IsaCaseResult:
    got: dict[str, Any] = {}
    wrong = []
    for arch in archs:
        found, differences = _run_on(example, arch)
        got.update({arch: found} if found else {})
        wrong += [f"on {PLATFORM_OF_ARCH[arch]}, {text}" for text in differences]
    return IsaCaseResult(
        example["id"],
        not wrong,
        {"form": example["form"], "dtypes": example["dtypes"], "params": example["params"]},
        {name: _short(unfold(wanted)) for name, wanted in example["expected"].items()},
        got or None,
        "; ".join(wrong),
        PAGE_EXAMPLE,
        example["api"],
        ", ".join(archs),
    )


def _run_on(example: Example, arch: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values got and the differences from the expected ones."""
    try:
        adapter = _ADAPTERS.get(example["api"], elementwise)
        outcome = adapter(prepare(example, arch))
        wrong = [
            f"{name}: {text}"
            for name, wanted in example["expected"].items()
            for text in _differences(example, arch, name, wanted, outcome)
        ]
        got = {name: _short(outcome.values.get(name)) for name in example["expected"]}
        return got, wrong + outcome.stray
    except Exception as error:
        first = (str(error) or repr(error)).splitlines()[0]
        return {}, [f"{type(error).__name__}: {first}"]


def _short(values: Any) -> Any:
    if values is None:
        return None
    listed = np.asarray(values).reshape(-1).tolist() if not isinstance(values, list) else values
    return listed if len(listed) <= 16 else [*listed[:16], f"… {len(listed)}"]


def _differences(example: Example, arch: str, name: str, wanted: Any, outcome: Any) -> list[str]:
    expected = unfold(wanted)
    if name not in outcome.values:
        raise KeyError(name)
    got: NDArray[Any] = np.asarray(outcome.values[name]).reshape(-1)
    if len(got) < len(expected):
        return [f"{len(expected)} elements expected, got {len(got)}"]
    skipped = _ranges(example.get("undefined", [])) | _ranges(example.get("unwritten", []))
    tol = {**example.get("tol", {}), **example.get("tol_by_arch", {}).get(arch, {})}
    bad = []
    for index, value in enumerate(expected):
        if value is None or (name == "dst" and index in skipped):
            continue
        if not _close(got[index], value, got.dtype, tol, index):
            bad.append(f"[{index}] expected {value}, got {got[index]}")
    if not bad:
        return []
    return [
        "; ".join(bad[:3]) + (f"; {len(bad)} of {len(expected)} differ" if len(bad) > 3 else "")
    ]


def _ranges(pairs: Sequence[Sequence[int]]) -> set[int]:
    return {i for start, stop in pairs for i in range(start, stop)}


def _close(got: Any, value: Any, dtype: np.dtype[Any], tol: Mapping[str, Any], index: int) -> bool:
    if dtype.kind in "iu" and isinstance(value, int):
        return int(got) == value
    wanted, actual = float(np.asarray(value, np.float64).astype(dtype)), float(got)
    if math.isnan(wanted) or math.isnan(actual):
        return math.isnan(wanted) and math.isnan(actual)
    if wanted == actual:
        negative = isinstance(value, float) and value == 0 and math.copysign(1, value) < 0
        return not negative or math.copysign(1, actual) < 0
    if math.isinf(wanted) or math.isinf(actual):
        return False
    slack: float = tol.get("abs", 0.0) + tol.get("rel", 0.0) * abs(float(value))
    if "abs_per_element" in tol:
        slack = tol["abs_per_element"][index]
    return abs(actual - float(value)) <= slack
