"""Where text goes: coloured on a terminal, plain and of a fixed width elsewhere."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.theme import Theme

PLAIN_WIDTH: Final = 100
"""Columns when the output is not a terminal and COLUMNS is not set."""

if TYPE_CHECKING:
    from rich.console import RenderableType

_THEME: Final = Theme(
    {
        "ok": "green",
        "bad": "bold red",
        "warn": "yellow",
        "label": "bold",
        "faint": "dim",
        "busy": "cyan",
        "head": "bold",
        "name": "bold cyan",
    }
)


def console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or standard error.

    COLUMNS, NO_COLOR and FORCE_COLOR are respected.
    """
    made = Console(stderr=stderr, highlight=False, theme=_THEME, emoji=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = PLAIN_WIDTH
    return made


def show(*parts: RenderableType, stderr: bool = False, wrap: bool = True) -> None:
    """Print renderables one below the other; text without a terminal has no trailing blanks."""
    out = console(stderr=stderr)
    if out.is_terminal:
        out.print(*parts, sep="\n", soft_wrap=not wrap)
        return
    with out.capture() as captured:
        out.print(*parts, sep="\n", soft_wrap=not wrap)
    text = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    # A pipe may be ASCII while sources and paths are not; a report must not end for that.
    out.file.write(text.encode(out.encoding, "replace").decode(out.encoding))


def print_json(value: Any) -> None:
    """Print ``value`` as JSON on standard output.

    Numpy values become plain ones; NaN, infinities and other objects become their text.
    """
    sys.stdout.write(json.dumps(_plain(value), indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    tolist = getattr(value, "tolist", None)
    return _plain(tolist()) if callable(tolist) else str(value)
