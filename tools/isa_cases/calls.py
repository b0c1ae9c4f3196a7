"""Access to the calls by name, and the numeric mode of a core."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from simulator import ascendc, enums
from simulator.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable


def is_built(name: str) -> bool:
    """Whether kernels can import ``name``."""
    return callable(getattr(ascendc, name, None))


def api(*names: str) -> Callable[..., Any]:
    """Return the first of ``names`` that kernels can import.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    for name in names:
        if is_built(name):
            return getattr(ascendc, name)  # type: ignore[no-any-return]
    raise UnsupportedError(f"{names[0]} is not built", got=names[0], legal="a name in ascendc")


def struct(name: str) -> Any:
    """Return a parameter struct or enumeration that kernels can import.

    Raises
    ------
    UnsupportedError
        If there is none of that name.
    """
    found = getattr(ascendc, name, getattr(enums, name, None))
    if found is None:
        raise UnsupportedError(f"{name} is not built", got=name)
    return found


def with_template(function: Callable[..., Any], args: tuple[Any, ...], **template: Any) -> Any:
    """Call ``function`` with C++ template arguments as keywords, whatever their position is.

    Arguments are passed in the order of the signature: template parameters that the function names
    by keyword, then ``args``.
    """
    known = inspect.signature(function).parameters
    unknown = [name for name in template if name not in known]
    if unknown:
        raise UnsupportedError(
            f"{function.__name__} has no parameter {unknown[0]}",
            got=unknown[0],
            legal=", ".join(known),
        )
    positional = [name for name in known if name not in template]
    return function(**template, **dict(zip(positional, args, strict=False)))


def set_numeric_mode(arch: str, saturating: bool) -> None:
    """Put the core into saturation mode or into INF/NAN mode, as the tables mean them.

    CTRL[48] chooses it for floating-point results; on 950 CTRL[53] for integer arithmetic and
    CTRL[59] for conversions to integers (mirror-cann/asc-devkit
    docs/zh/api/SIMD-API/基础API/特殊寄存器访问/SetCtrlSpr(ISASI).md).
    """
    write = api("SetCtrlSpr")
    write(48, 48, int(not saturating))
    if arch == "3510":
        write(53, 53, int(saturating))
        write(59, 59, int(not saturating))
