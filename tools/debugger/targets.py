"""What is debugged: an operator or a script, run once while everything is recorded."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING

from simulator.debug import record_for_debug
from simulator.errors import ConfigError
from simulator.launch import default_options
from tools.console import show
from tools.diagnostics import diagnostic
from tools.targets import launches

if TYPE_CHECKING:
    from simulator.debug import Launch
    from tools.targets import TargetRequest


def record_target(request: TargetRequest, *, stdout_to_stderr: bool = False) -> list[Launch]:
    """Run the target and return its launches; a launch that failed is the last one.

    An error outside the launches, such as one of the host program, is shown on standard error.

    Raises
    ------
    ConfigError
        If the target cannot be run or launches nothing.
    SimulatorError
        If it fails before it launches anything.
    """
    free = redirect_stdout(sys.stderr) if stdout_to_stderr else nullcontext()
    # Findings are computed when the debugger is asked for them.
    with free, record_for_debug() as recorder, default_options(check="off"):
        outcome = launches(request, stdout_to_stderr=stdout_to_stderr, saved=False)
    found = [launch for launch in recorder.launches if launch.run.blocks]
    if outcome.error is not None and not any(launch.error for launch in found):
        if not found:
            raise outcome.error
        show(diagnostic(outcome.error), stderr=True, wrap=False)
    if not found:
        raise ConfigError(
            f"{request.target} launched no kernel, so there is nothing to debug",
            legal="an operator or a script that launches kernels",
        )
    return found
