"""Instructions as the profiler names them: device name, program counter, lane and detail text.

Names: Ascend/msopprof docs/zh/user_guide/msopprof_simulator_performance_data.md and the compiler
instructions of the cost tables. A call without a published instruction keeps AscendC's name.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.analysis.lanes import executing_pipe
from simulator.enums import Arch, HardEvent, PipeID
from simulator.instruction import CopyWork, VectorWork, locate
from simulator.timing.cost_table import VectorCost910, load_costs

if TYPE_CHECKING:
    from types import CodeType

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.platforms import Platform

FIRST_PC: Final = 0x1000_0000
"""Program counter of the first call site; a Python kernel has no addresses of its own."""

LANES: Final = {
    int(PipeID.PIPE_S): "SCALAR",
    int(PipeID.PIPE_V): "VECTOR",
    int(PipeID.PIPE_MTE2): "MTE2",
    int(PipeID.PIPE_MTE3): "MTE3",
}
"""Lane of each pipe."""

ALL: Final = "ALL"
"""Lane of what acts on every pipe."""

LANE_ORDER: Final = {"SCALAR": 1, "MTE2": 6, "VECTOR": 7, "MTE3": 8, "ALL": 11}
"""Sort index of the lanes that a vector core uses."""

COLOURS: Final = {
    "SCALAR": "startup",
    "MTE2": "thread_state_iowait",
    "VECTOR": "cq_build_failed",
    "MTE3": "rail_response",
    "ALL": "good",
    "SET_FLAG": "black",
    "WAIT_FLAG": "yellow",
}
"""Colour names of lanes and flags."""

_TYPES: Final = {
    "half": "F16", "float": "F32", "bfloat16_t": "BF16", "int32_t": "S32", "int16_t": "S16",
    "int8_t": "S8", "uint32_t": "U32", "uint16_t": "U16", "uint8_t": "U8", "int64_t": "S64",
    "uint64_t": "U64",
}  # fmt: skip
_MEMORIES: Final = {"GM": "OUT", "UB": "UB"}
_BETWEEN_CORES: Final = frozenset({"cross set", "cross wait", "lock", "unlock"})


class Site(NamedTuple):
    """One program counter and what stands there.

    Attributes
    ----------
    detail : str
        Operands; of flags the pipes and the id, which may differ between executions.
    code : str
        ``path:line`` of the call.
    moved : int
        Bytes moved to or from global memory.
    args : str
        The ``args`` of a trace event as JSON.
    """

    pc: int
    name: str
    lane: str
    form: str
    detail: str
    code: str
    moved: int
    args: str


class Program:
    """Sites of a run by plan and call position, numbered in the order of their first execution."""

    def __init__(self, platform: Platform) -> None:
        self._counters: dict[tuple[CodeType, int, str, str], int] = {}
        self._sites: dict[tuple[Plan, CodeType, int], Site] = {}
        self._places: dict[tuple[CodeType, int], str] = {}
        known = platform.arch is not Arch.DAV_3510
        self._names = {
            (row.api, row.dtype): row.cce_name.rstrip("*").upper()
            for row in (load_costs(platform.arch) if known else ())
            if isinstance(row, VectorCost910) and row.cce_name.rstrip("*").isidentifier()
        }

    def __call__(self, entry: Entry) -> Site:
        """Return the site of a recorded call."""
        key = entry[:3]
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = self._make(*key)
        return site

    def _make(self, plan: Plan, code: CodeType, lasti: int) -> Site:
        name, lane = self._name(plan), _lane(plan)
        pc = self._counters.setdefault(
            (code, lasti, name, lane), FIRST_PC + 4 * len(self._counters)
        )
        place = self._places.get((code, lasti))
        if place is None:
            location = locate(code, lasti)
            place = self._places[code, lasti] = f"{location.file}:{location.line}"
        detail, moved = _detail(plan), _moved(plan)
        args = {"pc_addr": hex(pc), "code": place, "detail": detail}
        if moved:
            args["process_bytes"] = str(moved)
        return Site(
            pc, name, lane, plan.form, detail, place, moved,
            json.dumps(args, ensure_ascii=False, separators=(",", ":")),
        )  # fmt: skip

    def _name(self, plan: Plan) -> str:
        fixed = {"set": "SET_FLAG", "wait": "WAIT_FLAG", "barrier": "BAR"}.get(plan.form)
        if fixed is not None:
            return fixed
        work = plan.work
        if isinstance(work, CopyWork):
            source, _, target = work.direction.partition("->")
            align = "_ALIGN" if plan.spec.name == "DataCopyPad" else ""
            return f"MOV_{_MEMORIES.get(source, source)}_TO_{_MEMORIES.get(target, target)}{align}"
        if isinstance(work, VectorWork):
            api = plan.spec.cost_key or plan.spec.name
            return self._names.get((api, work.dtype_key), plan.spec.name)
        return plan.spec.name


def _lane(plan: Plan) -> str:
    if plan.form == "barrier" and plan.pipe == PipeID.PIPE_S:
        return ALL
    return LANES[executing_pipe(plan)]


def _moved(plan: Plan) -> int:
    if isinstance(plan.work, CopyWork):
        return plan.work.nbytes
    return sum(a.nbytes for op in plan.operands if op.space == "GM" for a in op.accesses)


def _pipe_name(label: str) -> str:
    return {"S": "SCALAR", "V": "VECTOR"}.get(label, label)


def flag_pipes(detail: str) -> tuple[str, str] | None:
    """Return the lanes of the setting and the waiting pipe of a flag; None between cores."""
    fields = dict(part.split(":", 1) for part in detail.split(",") if part)
    if "TRIGGERPIPE" not in fields:
        return None
    return fields["PIPE"], fields["TRIGGERPIPE"]


def _detail(plan: Plan) -> str:
    if plan.form in ("set", "wait"):
        source, target = HardEvent(plan.event).name.split("_")
        return (
            f"PIPE:{_pipe_name(source)},TRIGGERPIPE:{_pipe_name(target)},"
            f"FLAGID:{plan.details.get('eventID', 0)},"
        )
    if plan.form in _BETWEEN_CORES:
        number = plan.details.get("flagId", plan.flag)
        return f"PIPE:{_pipe_name(PipeID(plan.pipe).label)},FLAGID:{number},"
    if plan.form == "barrier":
        return f"PIPE:{_pipe_name(PipeID(plan.pipe).label) if plan.pipe else ALL},"
    work, parts = plan.work, []
    if isinstance(work, CopyWork):
        source, _, target = work.direction.partition("->")
        parts += [f"Src:{_MEMORIES.get(source, source)}", f"Dst:{_MEMORIES.get(target, target)}"]
    dtype = plan.operands[0].dtype.name if plan.operands else ""
    if isinstance(work, VectorWork):
        dtype = work.dtype_key.partition(":")[0]
    if dtype in _TYPES:
        parts.append(f"Dtype:{_TYPES[dtype]}")
    if isinstance(work, CopyWork):
        parts += [f"shape:{work.bursts}x{work.burst_bytes}B", f"dtype:{dtype}"]
        parts.append(f"repeat:{work.bursts}")
    elif isinstance(work, VectorWork):
        parts += [f"shape:{work.elements}", f"dtype:{dtype}", f"repeat:{work.repeats}"]
    elif dtype:
        parts.append(f"dtype:{dtype}")
    return "".join(f"{part}," for part in parts)
