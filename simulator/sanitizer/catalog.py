"""The kinds of fault: severity, what finds them, what happens on a board, and the source.

``catalog.csv`` holds one row a kind. ``found`` says who reports it: ``call`` the call that is at
fault, with an exception; ``record`` a reading of the run; ``host`` the host program; ``values`` a
look at the values in the calls, ``run.numbers``; ``report`` the report of a run; ``self-test`` the
tests of the simulator itself; ``none`` nobody, for the reason in ``docs/checks.md``.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"
PERF: Final = "perf"


class Kind(NamedTuple):
    """One kind of fault."""

    code: str
    severity: str
    found: str
    title: str
    on_a_board: str
    source: str


def _read() -> dict[str, Kind]:
    text = files("simulator.sanitizer").joinpath("catalog.csv").read_text(encoding="utf-8")
    return {row["code"]: Kind(**row) for row in csv.DictReader(text.splitlines())}


CATALOG: Final = MappingProxyType(_read())
