"""Values of the counter files: one row for each block, by column name.

A column without a value has no entry; the writer prints ``NA`` and the metadata file says why.
Formulas: Ascend/msopprof csrc/op_profiling/profiling/device/data_parse/pmu_calculate.cpp and
device_defs.h (path ceilings).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.analysis.lanes import SYNC_FORMS, executing_pipe, queue_stalls
from simulator.enums import Arch, PipeID
from simulator.instruction import CopyWork, VectorWork
from simulator.timing.schedule import BARRIER_WAIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.analysis.lanes import Shares, SharesOf
    from simulator.core import Entry
    from simulator.platforms import Platform
    from simulator.run import Run
    from simulator.timing.timeline import PlacedBlock

    Row = dict[str, float | int | str]

S: Final = int(PipeID.PIPE_S)
V: Final = int(PipeID.PIPE_V)
MTE2: Final = int(PipeID.PIPE_MTE2)
MTE3: Final = int(PipeID.PIPE_MTE3)

GIB: Final = 2**30
KIB: Final = 1024

_CEILINGS: Final = (
    ("Ascend910B1", 220.06, 186.8),
    ("Ascend910B2", 214.11, 181.75),
    ("Ascend910B3", 214.11, 181.75),
    ("Ascend910B4", 195.27, 176.75),
    ("Ascend910_93", 220.06, 186.8),
    ("Ascend950PR_959", 177.96, 143.74),
    ("Ascend950DT_959", 177.96, 143.74),
    ("Ascend950", 163.13, 131.76),
)
"""SoC version, and the profiler's ceilings of GM to UB and UB to GM of one core in GiB/s."""

_CLASSES: Final = {"float": "fp32", "half": "fp16", "int32_t": "int32", "int16_t": "int16"}

NO_MODEL: Final = "no model"
NOT_APPLICABLE: Final = "not applicable"
NOT_COLLECTED: Final = "not collected"


def reason_for_na(column: str) -> str:
    """Say why a column has no value: no model, not applicable or not collected.

    The process id is not collected so that equal runs give equal files.
    """
    if column.startswith("aic_") or "L0C" in column or "L1" in column or "simt" in column:
        return NOT_APPLICABLE
    if column == "Mix Block Dim" or column.endswith("active_bw(GB/s)"):
        return NOT_APPLICABLE
    return NOT_COLLECTED if column == "Pid" else NO_MODEL


class _Totals(NamedTuple):
    """Figures of one stream that the schedule does not hold; equal streams share them."""

    classes: dict[str, int]
    operations: int
    copies: dict[int, int]
    moved: dict[int, int]
    ub_read: dict[int, int]
    ub_written: dict[int, int]
    stalls: dict[int, int]


def _totals(entries: list[Entry], placed: PlacedBlock, shares: Shares) -> _Totals:
    totals = _Totals({}, 0, {}, {}, {}, {}, queue_stalls(entries, placed.stream))
    operations = 0
    for index, entry in enumerate(entries):
        plan = entry[0]
        if plan.form in SYNC_FORMS:
            continue
        pipe = executing_pipe(plan)
        if isinstance(plan.work, CopyWork):
            _add(totals.copies, pipe, 1)
            _add(totals.moved, pipe, plan.work.nbytes)
        elif isinstance(plan.work, VectorWork):
            name = _CLASSES.get(plan.work.dtype_key.partition(":")[0], "misc")
            totals.classes[name] = (
                totals.classes.get(name, 0) + shares.end[index] - shares.start[index]
            )
            if plan.operands and plan.operands[0].dtype.is_float:
                operations += plan.work.elements
        for operand in plan.operands:
            if operand.space == "UB":
                nbytes = sum(access.nbytes for access in operand.accesses)
                if operand.role != "write":
                    _add(totals.ub_read, pipe, nbytes)
                if operand.role != "read":
                    _add(totals.ub_written, pipe, nbytes)
    return totals._replace(operations=operations)


def _add(into: dict[int, int], key: int, value: int) -> None:
    into[key] = into.get(key, 0) + value


def counter_rows(run: Run, shares: SharesOf) -> list[Row]:
    """Return the row of every block, in block order."""
    return list(_rows(run, shares))


def _rows(run: Run, shares: SharesOf) -> Iterator[Row]:
    known: dict[int, Row] = {}
    for placed in run.timeline.blocks:
        key = id(placed.stream)
        if key not in known:
            entries = run.blocks[placed.block].entries
            totals = _totals(entries, placed, shares(placed))
            known[key] = _row(run, placed, totals)
        number, sub = divmod(placed.block, run.task_ratio)
        yield {"block_id": number, "sub_block_id": f"vector{sub}", **known[key]}


def _row(run: Run, placed: PlacedBlock, totals: _Totals) -> Row:
    stream, platform = placed.stream, run.platform
    own = stream.total + run.timeline.start_cycles
    clock = platform.timing.clock_mhz
    microseconds = own / clock
    row: Row = {"aiv_time(us)": microseconds, "aiv_total_cycles": own}
    # The profiler takes the ratios of a mix kernel over the duration of the whole task.
    cycles = run.timeline.cycles if run.task_ratio > 1 else own
    for name, pipe in (("scalar", S), ("vec", V), ("mte2", MTE2), ("mte3", MTE3)):
        row[f"aiv_{name}_time(us)"] = stream.busy[pipe] / clock
        row[f"aiv_{name}_ratio"] = _ratio(stream.busy[pipe], cycles)
        waits = stream.waits[pipe]
        flags = sum(n for reason, n in waits.items() if reason.startswith("flag "))
        if pipe != S:
            row[f"aiv_{name}_wait_ratio"] = _ratio(flags, cycles)
        else:
            row["aiv_scalar_wait_time(us)"] = (flags + waits.get(BARRIER_WAIT, 0)) / clock
    for name, pipe in (("vector", V), ("mte2", MTE2), ("mte3", MTE3)):
        row[f"aiv_scalar_{name}_stall_time(us)"] = totals.stalls.get(pipe, 0) / clock
    for name in ("fp32", "fp16", "int32", "int16", "misc"):
        row[f"aiv_vec_{name}_ratio"] = _ratio(totals.classes.get(name, 0), cycles)
    row["aiv_vec_fops"] = totals.operations
    if platform.arch is Arch.DAV_3510:
        row["aiv_vec_vf_ratio"] = _ratio(stream.busy[V], cycles)
    _memory(row, placed, totals, platform, microseconds)
    return row


def _memory(
    row: Row, placed: PlacedBlock, totals: _Totals, platform: Platform, microseconds: float
) -> None:
    clock = platform.timing.clock_mhz
    ceilings = next((c for c in _CEILINGS if platform.soc_version.startswith(c[0])), None)
    for name, path, pipe in (("mte2", "GM_to_UB", MTE2), ("mte3", "UB_to_GM", MTE3)):
        moved = totals.moved.get(pipe, 0)
        rate = _rate(moved, microseconds)
        if busy := placed.stream.busy[pipe]:
            row[f"aiv_{name}_active_bw(GB/s)"] = _rate(moved, busy / clock)
        row[f"aiv_{name}_instructions"] = totals.copies.get(pipe, 0)
        row[f"aiv_{path.lower()}_bw(GB/s)"] = rate
        row[f"{path}_datas(KB)"] = moved / KIB
        if ceilings is not None:
            ceiling = ceilings[1] if pipe == MTE2 else ceilings[2]
            row[f"{path}_bw_usage_rate(%)"] = min(100.0, 100.0 * rate / ceiling)
    for unit, read, write in (("vector", V, V), ("scalar", S, S), ("gm", MTE3, MTE2)):
        row[f"aiv_ub_read_bw_{unit}(GB/s)"] = _rate(totals.ub_read.get(read, 0), microseconds)
        row[f"aiv_ub_write_bw_{unit}(GB/s)"] = _rate(totals.ub_written.get(write, 0), microseconds)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _rate(nbytes: int, microseconds: float) -> float:
    """Return GiB/s, the unit that the profiler calls GB/s; 0 for a block that takes no time."""
    return nbytes / GIB / (microseconds * 1e-6) if microseconds else 0.0


_RATED_MHZ: Final = (
    ("Ascend910B2", 1800), ("Ascend910B3", 1800), ("Ascend910B4", 1650),
    ("Ascend950PR_959", 1800), ("Ascend950DT_959", 1800), ("Ascend950PR_95A", 1800),
    ("Ascend950DT_95A", 1800), ("Ascend950", 1650), ("Ascend310P5", 800), ("Ascend310P7", 550),
    ("Ascend310P", 1060), ("", 1850),
)  # fmt: skip
"""Nominal clock by SoC; Ascend/msopprof csrc/op_profiling/profiling/simulator sim_defs.h."""


def basic_info(run: Run) -> Row:
    """Return the row of OpBasicInfo.csv."""
    soc = run.platform.soc_version
    mix = run.task_ratio > 1
    return {
        "Op Name": run.name.replace(",", "_"),
        "Op Type": "mix" if mix else "vector",
        "Task Duration(us)": run.timeline.task_microseconds,
        "Block Dim": run.block_dim // run.task_ratio,
        **({"Mix Block Dim": run.block_dim} if mix else {}),
        "Device Id": 0,
        "Current Freq": _whole(run.platform.timing.clock_mhz),
        "Rated Freq": next(mhz for prefix, mhz in _RATED_MHZ if soc.startswith(prefix)),
    }


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value
