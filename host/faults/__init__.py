"""One pair of programs for each fault of a host program: ``broken`` has it, ``fixed`` does not.

Every module is named after its code (``life.workspace`` is ``life_workspace``) and has ``CODE`` and
both programs. They run on whatever runtime is current; :func:`findings` gives them one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from host.runtime import Runtime, collect_findings
from kernels.faults import codes_in
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.sanitizer.finding import Finding

_SHARED = "calls"


def codes() -> list[str]:
    """Return the codes of all pairs."""
    return codes_in(__path__, _SHARED)


def load(code: str) -> Any:
    """Return the module of a code.

    Raises
    ------
    ConfigError
        If there is no pair for it.
    """
    if code not in codes():
        raise ConfigError(f"there are no programs for {code!r}", legal=", ".join(codes()))
    return import_module(f"{__name__}.{code.replace('.', '_', 1)}")


def findings(program: Callable[[], None]) -> list[Finding]:
    """Run a program on a runtime of its own and return what the runtime has to say.

    Raises
    ------
    SimulatorError
        What the program itself raises.
    """
    with Runtime("910b") as runtime, collect_findings():
        program()
        return list(runtime.findings)
