"""The report of ``ascsim profile``: where the time of one launch went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.report import launch_report

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simulator.run import Run


def profile_report(run: Run, heading: str) -> RenderableType:
    """Return the report of one launch."""
    return launch_report(run.summary, heading)


def profile_dict(run: Run) -> dict[str, Any]:
    """Return the same as plain values for JSON."""
    return run.summary.as_dict()
