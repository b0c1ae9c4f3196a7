"""Published figures of the vector instructions, run through real kernels on the simulator."""

from __future__ import annotations

import json
from pathlib import Path

from tools.isa_cases.page_examples import run_page_examples
from tools.isa_cases.results import IsaCaseResult
from tools.isa_cases.special_values import run_special_values

__all__ = [
    "IsaCaseResult",
    "holds_isa_cases",
    "run_cases",
    "run_page_examples",
    "run_special_values",
]


def holds_isa_cases(path: str | Path) -> bool:
    """Whether a file is a table of special values or a list of page examples."""
    if Path(path).suffix == ".csv":
        return True
    try:
        content = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "examples" in content


def run_cases(
    path: str | Path, *, api: str | None = None, arch: str | None = None
) -> list[IsaCaseResult]:
    """Run a file of published figures, all of it or one api and architecture.

    A JSON file holds page examples, any other one is a table of special values.

    Raises
    ------
    ConfigError
        If it is neither.
    """
    if Path(path).suffix == ".json":
        return run_page_examples(path, lambda example: api in (None, example["api"]), arch)
    return run_special_values(
        path, lambda row: api in (None, row["api"]) and arch in (None, row["arch"])
    )
