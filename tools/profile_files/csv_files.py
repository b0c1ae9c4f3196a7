"""CSV files of the profiler: counters of every block, and cycles by source line and instruction.

Conventions: Ascend/msopprof csrc/utils/cpputils/csv_parser.cpp and docs/zh/user_guide
/msopprof_simulator_performance_data.md. No quoting except ``detail``; ``NA`` for no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.analysis.lanes import union
from tools.profile_files.columns import CODE_EXE, INSTR_EXE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tools.profile_files.cores import Core
    from tools.profile_files.program import Site

    Row = dict[str, float | int | str]


def cell(value: float | int | str | None) -> str:
    """Return a value as the profiler prints it: six decimals for floats, ``NA`` for none."""
    if value is None:
        return "NA"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def table(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a counter file as text."""
    lines = [",".join(columns)]
    lines += [",".join(cell(row.get(column)) for column in columns) for row in rows]
    return "\n".join(lines) + "\n"


def missing(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return the columns without a value in every row."""
    return [column for column in columns if all(row.get(column) is None for row in rows)]


class _Sum:
    """What one line or program counter adds up to."""

    __slots__ = ("cycles", "intervals")

    def __init__(self) -> None:
        self.cycles = 0
        self.intervals: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> None:
        self.cycles += end - start
        self.intervals.append((start, end))


def code_exe(core: Core, clock_mhz: float) -> str:
    """Return ``<core>_code_exe.csv``: calls, cycles and time of every source line."""
    sums: dict[str, _Sum] = {}
    for event in core.events:
        key = event.site.code
        if key not in sums:
            sums[key] = _Sum()
        sums[key].add(event.start, event.end)
    rows = [
        (s.cycles, code, len(s.intervals), union(s.intervals) / clock_mhz)
        for code, s in sums.items()
    ]
    rows.sort(key=lambda row: (-row[0], row[1]))
    lines = [",".join(CODE_EXE)]
    lines += [
        f"{code.replace(',', '_')},{calls},{cycles},{_plain(time)}"
        for cycles, code, calls, time in rows
    ]
    return "\n".join(lines) + "\n"


def instr_exe(core: Core, clock_mhz: float) -> str:
    """Return ``<core>_instr_exe.csv``: calls, cycles and time of every program counter."""
    sums: dict[int, _Sum] = {}
    sites: dict[int, Site] = {}
    for event in core.events:
        pc = event.site.pc
        if pc not in sums:
            sums[pc], sites[pc] = _Sum(), event.site
        sums[pc].add(event.start, event.end)
    lines = [",".join(INSTR_EXE)]
    for pc, found in sorted(sums.items(), key=lambda kv: (-kv[1].cycles, kv[0])):
        site = sites[pc]
        time = round(union(found.intervals) / clock_mhz, 2)
        lines.append(
            f"{site.name},{hex(pc)},{site.lane},{len(found.intervals)},{found.cycles},"
            f'{_plain(time)},"{site.detail}"'
        )
    return "\n".join(lines) + "\n"


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.6f}"
