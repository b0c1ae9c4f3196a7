"""One pair of kernels for each kind of fault: ``broken`` has it, ``fixed`` does not.

Every module is named after its code (``race.raw`` is ``race_raw``) and has ``CODE``, both kernels
and ``launch(variant, **options)``, which runs one of them on inputs that show the fault.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHARED = "tensors"


def codes() -> list[str]:
    """Return the codes of all pairs."""
    return codes_in(__path__, _SHARED)


def codes_in(folders: Iterable[str], shared: str) -> list[str]:
    """Return the codes that the modules of a package are named after, all but ``shared``."""
    names = [module.name for module in iter_modules(folders) if module.name != shared]
    return sorted(name.replace("_", ".", 1) for name in names)


def load(code: str) -> Any:
    """Return the module of a code.

    Raises
    ------
    ConfigError
        If there is no pair for it.
    """
    if code not in codes():
        raise ConfigError(f"there are no kernels for {code!r}", legal=", ".join(codes()))
    return import_module(f"{__name__}.{code.replace('.', '_')}")
