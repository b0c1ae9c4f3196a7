"""Where in the user's program a host call was made."""

from __future__ import annotations

import sys

from simulator.errors import SourceLocation

_PACKAGE = __name__.partition(".")[0]
_PROGRAMS = f"{_PACKAGE}.faults."
"""Programs that show what a fault looks like are users of the package."""


def callsite() -> SourceLocation:
    """Return the innermost place on the call stack that is not part of the host package."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        ours = module.partition(".")[0] == _PACKAGE and not module.startswith(_PROGRAMS)
        if not ours and module != "contextlib":
            break
        frame = frame.f_back
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
