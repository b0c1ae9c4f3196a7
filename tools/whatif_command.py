"""``ascsim whatif``: what a run would take with changes of the kernel or the chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from tools.console import print_json, show
from tools.diff_command import runs_of
from tools.options import parse_setting
from tools.progress import progress
from tools.report import facts, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from simulator.analysis.what_if import WhatIf
    from tools.targets import TargetRequest


def whatif(request: TargetRequest, settings: Sequence[str], *, as_json: bool) -> int:
    """Schedule the launches of the target with ``settings``; return the exit code.

    Raises
    ------
    ConfigError
        If the target does not run, or a setting is unknown or does not fit.
    """
    changes = dict(parse_setting(text) for text in settings)
    with progress(f"running {request.target}"):
        answers = [run.what_if(**changes) for run in runs_of(request)]
    if as_json:
        print_json({"launches": [answer.as_dict() for answer in answers]})
        return 0
    for number, answer in enumerate(answers, 1):
        of = f" (launch {number} of {len(answers)})" if len(answers) > 1 else ""
        show("", _report(answer, f"{answer.run.name}{of}"))
    return 0


def _report(answer: WhatIf, heading: str) -> RenderableType:
    asked = ", ".join(f"{k}={v}" for k, v in answer.changes.items())
    run = answer.run
    style = "ok" if answer.after < answer.before else "bad" if answer.after > answer.before else ""
    change = "no change"
    if answer.after != answer.before:
        faster = "faster" if answer.gain > 0 else "slower"
        change = f"{abs(answer.gain):.1%} {faster}, {answer.speedup:.2f} x"
    return Group(
        title(f"{heading} with {asked}"),
        facts(
            [
                ("before", f"{answer.before:,} cycles"),
                ("after", f"{answer.after:,} cycles = {run.microseconds:.2f} us"),
                ("result", Text(change, style=style)),
                ("bottleneck", run.summary.bottleneck),
            ]
        ),
    )
