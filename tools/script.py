"""Running a user's script as Python runs it, and collecting the launches that it makes."""

from __future__ import annotations

import sys
import traceback
import types
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ConfigError, SimulatorError
from simulator.launch import collect_runs, default_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.platforms import Platform
    from simulator.run import Run


@dataclass(frozen=True)
class ScriptOutcome:
    """How a script ended.

    Attributes
    ----------
    runs : list of Run
        Launches in order, those before an error included.
    exit_code : int
        What Python would have exited with.
    error : SimulatorError, optional
        The mistake that ended it; not yet shown to the user.
    """

    runs: list[Run]
    exit_code: int
    error: SimulatorError | None = None


def run_script(
    path: str, args: Sequence[str], platform: Platform | None, *, stdout_to_stderr: bool = False
) -> ScriptOutcome:
    """Run a Python file as ``__main__`` with ``sys.argv`` set and its folder on ``sys.path``.

    Parameters
    ----------
    platform : Platform, optional
        Default of its launches that do not name one themselves.
    stdout_to_stderr : bool
        Keep standard output free for the caller.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    """
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"the script {path!r} cannot be read: {error.strerror}") from None
    with ExitStack() as stack:
        stack.enter_context(_as_main(path, args))
        if stdout_to_stderr:
            stack.enter_context(redirect_stdout(sys.stderr))
        if platform is not None:
            stack.enter_context(default_options(platform=platform))
        runs = stack.enter_context(collect_runs())
        try:
            exec(compile(source, path, "exec"), sys.modules["__main__"].__dict__)
        except SystemExit as end:
            return ScriptOutcome(runs, _exit_code(end))
        except SimulatorError as error:
            return ScriptOutcome(runs, 1, error)
        except Exception as error:
            _show_traceback(error)
            return ScriptOutcome(runs, 1)
        return ScriptOutcome(runs, 0)


@contextmanager
def _as_main(path: str, args: Sequence[str]) -> Iterator[None]:
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path, __spec__=None, __cached__=None, __builtins__=__builtins__, __loader__=None
    )
    before = sys.modules.get("__main__"), sys.argv[:], sys.path[:]
    sys.modules["__main__"] = main
    sys.argv[:] = [path, *args]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield
    finally:
        module, sys.argv[:], sys.path[:] = before
        if module is not None:
            sys.modules["__main__"] = module


def _exit_code(end: SystemExit) -> int:
    """Return the code that Python would exit with, and print a text as Python would."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    sys.stderr.write(f"{end.code}\n")
    return 1


def _show_traceback(error: Exception) -> None:
    """Print a traceback that begins in the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)
