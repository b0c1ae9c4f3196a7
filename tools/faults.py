"""The pairs that show what the checks find: of kernels, and of host programs."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from host import faults as programs
from kernels import faults as kernels
from simulator.errors import ConfigError
from simulator.sanitizer.catalog import CATALOG


class Pair(NamedTuple):
    """A module with a ``broken`` and a ``fixed`` kernel or host program.

    Attributes
    ----------
    module : module
    folder : str
        ``kernels/faults`` or ``host/faults``.
    """

    module: Any
    folder: str

    @property
    def path(self) -> str:
        """Path of its file in the repository."""
        return f"{self.folder}/{self.module.__name__.rpartition('.')[2]}.py"

    def source(self, name: str) -> str:
        """Return the source of ``broken`` or ``fixed``."""
        variant = getattr(self.module, name)
        return inspect.getsource(getattr(variant, "function", variant))

    def findings(self, name: str) -> list[Any]:
        """Run ``broken`` or ``fixed`` and return what is said about it, notes included.

        Raises
        ------
        SimulatorError
            What a call refuses.
        """
        variant = getattr(self.module, name)
        if self.folder.startswith("host"):
            return list(programs.findings(variant))
        run = self.module.launch(variant, check="report")
        in_values = CATALOG[self.module.CODE].found == "values"
        return [*run.notes, *(run.numbers if in_values else ())]


def codes() -> list[str]:
    """Return the codes that have a pair."""
    return sorted({*kernels.codes(), *programs.codes()})


def load(code: str) -> Pair:
    """Return the pair of a code.

    Raises
    ------
    ConfigError
        If there is none.
    """
    if code in programs.codes():
        return Pair(programs.load(code), "host/faults")
    if code in kernels.codes():
        return Pair(kernels.load(code), "kernels/faults")
    raise ConfigError(f"nothing shows {code!r}", legal=", ".join(codes()))
