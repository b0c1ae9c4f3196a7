"""Running a user's script as Python runs it, and collecting the launches that it makes."""

from __future__ import annotations

import sys
import types
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, Final

from simulator import blocks, launch
from simulator.errors import ConfigError, SimulatorError
from simulator.launch import collect_runs, default_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import SupportsIndex

    from simulator.platforms import Platform
    from simulator.run import Run

INTERRUPTED: Final = 130
"""What a shell says of a program that Ctrl-C ended."""

_LAUNCH: Final = frozenset({launch.__file__, blocks.__file__})


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

    Notes
    -----
    Arguments that the script never looks at are named on standard error: what was meant for
    ``ascsim`` and is misspelled would have no effect otherwise.
    """
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"the script {path!r} cannot be read: {error.strerror}") from None
    with ExitStack() as stack:
        given = stack.enter_context(_as_main(path, args))
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
        except KeyboardInterrupt as stop:
            _show_traceback(stop)
            return ScriptOutcome(runs, INTERRUPTED)
        except Exception as error:
            _show_traceback(error)
            return ScriptOutcome(runs, 1)
        if args and not given.read:
            sys.stderr.write(f"ascsim: note: {path} does not read its arguments {join(args)}\n")
        return ScriptOutcome(runs, 0)


class _Arguments(list[str]):
    """``sys.argv``, which knows whether anybody looked behind the name of the script."""

    read = False

    def __getitem__(self, index: Any) -> Any:
        self.read = self.read or index != 0
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[str]:
        self.read = True
        return super().__iter__()

    def __len__(self) -> int:
        self.read = True
        return super().__len__()

    def __repr__(self) -> str:
        self.read = True
        return super().__repr__()

    def pop(self, index: SupportsIndex = -1) -> str:
        self.read = True
        return super().pop(index)


@contextmanager
def _as_main(path: str, args: Sequence[str]) -> Iterator[_Arguments]:
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path, __spec__=None, __cached__=None, __builtins__=__builtins__, __loader__=None
    )
    before = sys.modules.get("__main__"), sys.argv, sys.path[:]
    sys.modules["__main__"] = main
    sys.argv = given = _Arguments([path, *args])
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield given
    finally:
        module, sys.argv, sys.path[:] = before
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


def _show_traceback(error: BaseException) -> None:
    """Print a traceback that begins in the script and leaves out how a launch reaches a kernel."""
    error = error.with_traceback(_without_launch(error.__traceback__))
    # Unlike the module traceback, this suggests names that are spelled alike on Python 3.10 too.
    sys.__excepthook__(type(error), error, error.__traceback__)


def _without_launch(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Return the trace without our frames; a launch stays if it is where the error comes from."""
    if trace is None:
        return None
    rest = _without_launch(trace.tb_next)
    file = trace.tb_frame.f_code.co_filename
    if file == __file__ or (rest is not None and file in _LAUNCH):
        return rest
    return types.TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
