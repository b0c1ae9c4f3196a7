"""The ``OPPROF_…`` folder of one or several launches.

Layout: Ascend/msopprof docs/zh/user_guide/msopprof_user_guide.md and
msopprof_simulator_performance_data.md; both layouts stand in one folder, as no names collide.
"""

from __future__ import annotations

import json
import random
import string
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.lanes import SharesOf
from tools.profile_files.columns import BASIC_INFO, counter_files
from tools.profile_files.cores import cores_of
from tools.profile_files.counters import basic_info, counter_rows, reason_for_na
from tools.profile_files.csv_files import code_exe, instr_exe, missing, table
from tools.profile_files.program import Program
from tools.profile_files.trace import trace_of_all, trace_of_core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from simulator.run import Run

    Row = dict[str, float | int | str]

SUFFIX_LETTERS: Final = 16


def folder_name(now: datetime, seed: int | None) -> str:
    """``OPPROF_<YYYYMMDDHHMMSS>_<16 letters>``; the letters follow from ``seed`` if given."""
    source = random.SystemRandom() if seed is None else random.Random(seed)
    letters = "".join(source.choice(string.ascii_uppercase) for _ in range(SUFFIX_LETTERS))
    return f"OPPROF_{now:%Y%m%d%H%M%S}_{letters}"


def write_profile(
    runs: Sequence[Run],
    output: Path,
    *,
    seed: int | None = None,
    now: datetime | None = None,
    command: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write the profile of ``runs`` into a new folder under ``output`` and return it.

    Equal runs give equal files; only ``dump/sim_meta.json`` names the command line.

    Parameters
    ----------
    seed : int, optional
        Makes the folder's letters reproducible.
    now : datetime, optional
        Time in the names; the current time when left out.
    progress : callable, optional
        Called with the name of every launch before it is written.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    moment = now or datetime.now()
    folder = output / folder_name(moment, seed)
    folder.mkdir(parents=True)
    numbers: dict[str, int] = {}
    for run in runs:
        if progress is not None:
            progress(run.name)
        if len(runs) == 1:
            _write_run(run, folder, "", seed, command)
        else:
            number = numbers.get(run.name, 0)
            numbers[run.name] = number + 1
            stamp = f"_{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"
            _write_run(run, folder / run.name / str(number), stamp, seed, command)
    return folder


def _write_run(
    run: Run, folder: Path, stamp: str, seed: int | None, command: Sequence[str]
) -> None:
    shares = SharesOf(run)
    rows = counter_rows(run, shares)
    folder.mkdir(parents=True, exist_ok=True)
    unknown: dict[str, dict[str, str]] = {}

    def counters(name: str, columns: tuple[str, ...], values: list[Row]) -> None:
        _write(folder / f"{name}{stamp}.csv", table(columns, values))
        unknown[name] = {column: reason_for_na(column) for column in missing(columns, values)}

    counters("OpBasicInfo", BASIC_INFO, [basic_info(run)])
    for name, columns in counter_files(run.platform.arch).items():
        counters(name, columns, rows)
    _write_simulator(run, folder / "simulator", stamp, shares)
    _write_meta(run, folder / "dump", seed, command, unknown)


def _write_simulator(run: Run, folder: Path, stamp: str, shares: SharesOf) -> None:
    clock = run.platform.timing.clock_mhz
    cores = cores_of(run, Program(run.platform), shares)
    for core in cores:
        own = folder / core.name
        own.mkdir(parents=True)
        _write(own / f"{core.name}_code_exe{stamp}.csv", code_exe(core, clock))
        _write(own / f"{core.name}_instr_exe{stamp}.csv", instr_exe(core, clock))
        _write(own / "trace.json", trace_of_core(core, clock))
    _write(folder / "trace.json", trace_of_all(cores, clock))


def _write_meta(
    run: Run,
    folder: Path,
    seed: int | None,
    command: Sequence[str],
    unknown: dict[str, dict[str, str]],
) -> None:
    from importlib.metadata import version

    folder.mkdir(parents=True)
    meta: dict[str, Any] = {
        "simulator": f"ascsim {version('ascsim')}",
        "platform": run.platform.name,
        "soc_version": run.platform.soc_version,
        "clock_mhz": run.platform.timing.clock_mhz,
        "overridden": list(run.platform.overridden),
        "provisional_timing": run.platform.provisional_timing,
        "unmeasured": list(run.timeline.unmeasured),
        "seed": seed,
        "command": list(command),
        "not_available": {name: columns for name, columns in unknown.items() if columns},
    }
    _write(folder / "sim_meta.json", json.dumps(meta, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
