"""Published figures of the vector instructions, run through real kernels on the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.isa_cases.results import CaseResult
from tools.isa_cases.special_values import run_special_values

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CaseResult", "run_cases", "run_special_values"]


def run_cases(
    path: str | Path, *, api: str | None = None, arch: str | None = None
) -> list[CaseResult]:
    """Run a file of published figures, all of it or one api and architecture."""
    return run_special_values(
        path, lambda row: api in (None, row["api"]) and arch in (None, row["arch"])
    )
