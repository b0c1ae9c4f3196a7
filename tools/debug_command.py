"""``ascsim debug``: record an operator or a script once and step through it in both directions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ConfigError, SimulatorError
from tools.console import show

if TYPE_CHECKING:
    from tools.targets import TargetRequest

FAILED = 1


def debug(
    target: TargetRequest,
    *,
    commands: str | None,
    batch: bool,
    as_json: bool,
    line_mode: bool,
    launch: int | None,
) -> int:
    """Record the target and open the debugger on it; return the exit code.

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    from tools.debugger.commands import Debugger
    from tools.debugger.targets import record_target

    lines = None if commands is None else _read(commands)
    unattended = batch or as_json or lines is not None
    try:
        launches = record_target(target, stdout_to_stderr=as_json)
    except ConfigError:
        raise
    except SimulatorError as error:
        from tools.diagnostics import diagnostic

        show(diagnostic(error), stderr=True, wrap=False)
        return FAILED
    debugger = Debugger(launches, launch)
    if unattended:
        from tools.debugger.line_mode import batch as run_batch

        return run_batch(
            debugger, sys.stdin if lines is None else lines, sys.stdout, as_json=as_json
        )
    if line_mode or not (sys.stdin.isatty() and sys.stdout.isatty()):
        from tools.debugger.line_mode import interact

        return interact(debugger)
    from tools.debugger.app import DebuggerApp

    DebuggerApp(debugger).run()
    return 0


def _read(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"the commands {path!r} cannot be read: {error.strerror}") from None
