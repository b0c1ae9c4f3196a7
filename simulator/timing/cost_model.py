"""Cycles of one prepared instruction on one platform.

Vector calls take head + slope * repeats + tail on 910B and fixed + slope * loops on 950; copies
have a latency, a data phase at the rate that a core gets of the shared bandwidth, and a least
occupancy of their pipe. Laws and figures: ``costs/README.md``, docs/timing.md and the platform
profiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import Arch, HardEvent, PipeID
from simulator.instruction import CopyWork, VectorWork
from simulator.timing.banks import conflicts
from simulator.timing.cost_table import VectorCost910, VectorCost950, load_costs
from simulator.timing.dependencies import conflict, touched
from simulator.timing.global_memory import READ_PIPE, Traits, bypasses_l2, cut_offset
from simulator.timing.polling import POLL

if TYPE_CHECKING:
    from simulator.instruction import Plan
    from simulator.platforms import Platform
    from simulator.timing.dependencies import Touched
    from simulator.timing.global_memory import Demand, Request

VECTOR: Final = 0
COPY: Final = 1
SET: Final = 2
WAIT: Final = 3
BARRIER: Final = 4
SCALAR: Final = 5
CROSS_SET: Final = 6
CROSS_WAIT: Final = 7
LOCK: Final = 8
UNLOCK: Final = 9
POLLING: Final = 10

ROW: Final = 2048
"""Bytes of the bursts that ``partial_row_time_factor`` was measured with."""
BUS_BOUNDARY: Final = 128
"""Smallest piece that the bus to GM moves; bursts that start on it are not cut (2201 and 3510)."""
_SINGLE: Final = 1
MERGED_START: Final = 20.0
"""Cycles before the loops of a call that the 950's compiler has merged with the one before: the
memory barrier inside a vector function (hw-native-sys/pto-isa VfSim, vec_cycle_generated.hpp).
"""
MERGED_SAVING: Final = 0.4
"""Cycles a loop that such a call saves because its operand is still in a register (fitted)."""

_KINDS: Final = {
    "set": SET,
    "wait": WAIT,
    "barrier": BARRIER,
    "cross set": CROSS_SET,
    "cross wait": CROSS_WAIT,
    "lock": LOCK,
    "unlock": UNLOCK,
    POLL: POLLING,
}
_FULL_MASK_WRITES: Final = 4
"""Mask instructions around a count-form call (910B)."""

_FUSED_FAMILIES: Final = frozenset({"unary", "binary", "vector-scalar", "cast", "fill"})
"""Element-wise calls, whose loops the 950's compiler merges.

Source: mirror-cann/asc-devkit docs/zh/guide/算子实践参考/SIMD算子性能优化/矢量计算/VF性能优化/
VF融合优化.md: count forms that follow each other directly become one vector function.
"""


class Cost:
    """Cycles of one instruction on its pipe.

    Attributes
    ----------
    kind : int
        VECTOR, COPY, SET, …
    pipe : int
    plan : Plan
    issue : int
        Cycles of the scalar unit.
    occupy : int
        Cycles until the next instruction of the pipe may start.
    duration : int
        Cycles from start to completion; of a copy, its data phase when nobody else is there.
    latency : int
        Cycles from start to the first byte of a copy.
    own : int
        Least cycles that a copy keeps its pipe's engine.
    shared : int
        Cycles of a copy's data at the core's share of the memory.
    fused : int
        Cycles of the loops of a call that the compiler can merge with its neighbours (950), else 0.
    alone : bool
        Whether the call starts only when the pipe is empty: it writes the mask first.
    flag : int
        Flag, counter or mutex of a synchronisation.
    reason : str
        What a pipe that stops at it waits for.
    """

    __slots__ = (
        "_touched", "alone", "duration", "flag", "fused", "issue", "kind", "latency", "occupy",
        "own", "pipe", "plan", "reason", "shared", "ticket",
    )  # fmt: skip

    def __init__(self, kind: int, plan: Plan, issue: int) -> None:
        self.kind = kind
        self.pipe = plan.pipe
        self.plan = plan
        self.issue = issue
        self.occupy = self.duration = self.latency = self.own = self.shared = 0
        self.alone = False
        self.fused = 0
        self.flag = plan.flag
        self.reason = ""
        self.ticket = 0
        self._touched: Touched | None = None

    @property
    def touched(self) -> Touched:
        """The UB accesses of the call."""
        if self._touched is None:
            self._touched = touched(self.plan)
        return self._touched

    def depends_on(self, earlier: Cost) -> bool:
        """Whether the two calls touch a byte that one of them writes."""
        return conflict(self.touched, earlier.touched)


class Shares(NamedTuple):
    """Cores that share the memory, itself included, while a core reads and while it writes."""

    reading: float
    writing: float


class CostModel:
    """Costs on ``platform`` under the memory traffic of a run.

    ``unmeasured`` lists (call, element type) pairs that were charged by the stated default.
    """

    def __init__(self, platform: Platform, demand: Demand, *, auto_sync: bool) -> None:
        self.platform = platform
        self.demand = demand
        self.auto_sync = auto_sync
        self.unmeasured: set[tuple[str, str]] = set()
        self._table = load_costs(platform.arch)
        timing = platform.timing
        self._issue = whole(timing.scalar_issue_cycles)
        self._call_issue = whole(timing.call_issue_cycles)
        self.hop = whole(timing.flag_hop_cycles)
        self.cross_hop = whole(timing.cycles(timing.cross_core_hop_ns))
        self._per_ns = timing.clock_mhz / 1000.0
        self.interference = self._interference()
        self.fuses = platform.arch is Arch.DAV_3510
        self._copies: dict[Shares, CopyCosts] = {}
        self._followers: dict[Cost, Cost] = {}
        self._tickets: dict[tuple[Plan, int], Cost] = {}

    def _interference(self) -> float:
        """Share by which write-backs slow the reads that miss; a read waits for one at the most."""
        demand = self.demand
        reading = demand.read_missing / self.platform.timing.read_cap_gbps
        writing = demand.write_back * demand.written / self.platform.timing.write_back_cap_gbps
        return min(1.0, writing / reading) if reading else 0.0

    # -- everything but copies ---------------------------------------------------------------------

    def instruction(self, plan: Plan) -> Cost:
        """Return the cost of an instruction that is no copy from or to GM."""
        timing = self.platform.timing
        kind = _KINDS.get(plan.form)
        if kind is None:
            if isinstance(plan.work, VectorWork):
                return self._vector(plan, plan.work)
            return self._scalar(plan)
        cost = Cost(kind, plan, self._issue)
        if kind in (SET, WAIT):
            cost.reason = f"flag {HardEvent(plan.event).name}"
        elif kind in (CROSS_SET, CROSS_WAIT):
            cost.reason = "other cores"
            cost.issue = max(self._issue, whole(timing.cross_core_flag_cycles))
        elif kind in (LOCK, UNLOCK):
            cost.reason = "mutex"
        elif kind == POLLING:
            cost.pipe = int(PipeID.PIPE_S)
        if kind in (SET, UNLOCK, CROSS_SET):
            cost.occupy = whole(timing.set_flag_cycles)
        return cost

    def ticket(self, plan: Plan, number: int) -> Cost:
        """Return the cost of a mutex Lock that waits for unlock ``number``."""
        key = (plan, number)
        cost = self._tickets.get(key)
        if cost is None:
            cost = self._tickets[key] = self.instruction(plan)
            cost.ticket = number
        return cost

    def _scalar(self, plan: Plan) -> Cost:
        timing = self.platform.timing
        name = plan.spec.name
        cost = Cost(SCALAR, plan, self._issue)
        # Writes of vector state are declared on the vector pipe; the scalar unit makes them.
        cost.pipe = int(PipeID.PIPE_S)
        cycles = float(self._issue)
        if name.endswith(".GetValue"):
            cycles = timing.get_value_cycles
        elif name.endswith(".SetValue"):
            cycles = timing.set_value_cycles
        cost.occupy = cost.duration = whole(cycles)
        return cost

    def _vector(self, plan: Plan, work: VectorWork) -> Cost:
        timing = self.platform.timing
        cost = Cost(VECTOR, plan, self._call_issue)
        name = plan.spec.cost_key or plan.spec.name
        if plan.form == "UB to UB":
            cycles = work.repeats * self.platform.memory.repeat_bytes
            cost.occupy = cost.duration = whole(cycles / timing.ub_to_ub_bytes_per_cycle)
            return cost
        row = self._table.find(name, work.dtype_key)
        if row is None:
            self.unmeasured.add((name, work.dtype_key))
            row = self._table.default
        if isinstance(row, VectorCost950):
            # Calls do not overlap: the next vector function starts when this one has ended.
            cost.occupy = cost.duration = whole(row.cycles(work.repeats))
            if plan.form == "count" and plan.spec.family in _FUSED_FAMILIES:
                cost.fused = whole(MERGED_START + max(0.0, row.s1 - MERGED_SAVING) * work.repeats)
            return cost
        self._vector_910(cost, row, work)
        return cost

    def _vector_910(self, cost: Cost, row: VectorCost910, work: VectorWork) -> None:
        timing = self.platform.timing
        found = conflicts(cost.plan, self.platform.memory)
        body = found.cycles(row.slope, timing.bank_write_conflict_cycles)
        cost.duration = whole(row.head + body + row.tail)
        if work.partial or self._is_masked(cost.plan, work):
            cost.duration += whole(timing.count_partial_cycles)
        cost.occupy = whole(max(row.stream_min, body))
        if work.writes_mask:
            cost.alone = True
            cost.issue += whole(_FULL_MASK_WRITES * timing.mask_write_cycles)
            # The mask is written back behind the call, so nothing can stream on it.
            cost.occupy = cost.duration

    def _is_masked(self, plan: Plan, work: VectorWork) -> bool:
        """Whether a two-source call works under a mask that leaves lanes of every repeat out.

        It starts as late as one by a count that is no multiple of a repeat (hw-native-sys/pto-isa
        include/pto/costmodel/a2a3/cce_costmodel/cce_costmodel_core.hpp, EstimateCountModeFloor).
        """
        mask = plan.details.get("mask")
        if plan.spec.family != "binary" or not mask:
            return False
        lanes = self.platform.memory.repeat_bytes // max(op.dtype.itemsize for op in plan.operands)
        width = mask if isinstance(mask, int) else len(mask)
        return width < lanes and work.elements == width * work.repeats

    def fuse(self, costs: list[Cost]) -> None:
        """Charge calls that the compiler merges with the call before for their loops only (950)."""
        merging = False
        for position, cost in enumerate(costs):
            if cost.fused:
                if merging:
                    costs[position] = self._follower(cost)
                merging = True
            else:
                merging = False

    def _follower(self, cost: Cost) -> Cost:
        found = self._followers.get(cost)
        if found is None:
            found = self._followers[cost] = Cost(VECTOR, cost.plan, cost.issue)
            found.occupy = found.duration = cost.fused
        return found

    # -- copies ------------------------------------------------------------------------------------

    def copy(self, plan: Plan, traits: Traits, shares: Shares) -> Cost:
        """Return the cost of a copy between GM and UB; :class:`CopyCosts` remembers it."""
        work: CopyWork = plan.work
        cost = Cost(COPY, plan, self._call_issue)
        if not work.nbytes:
            cost.occupy = cost.duration = cost.own = cost.shared = self._issue
        elif plan.pipe == READ_PIPE:
            self._read(cost, work, traits, shares.reading)
        else:
            self._write(cost, work, traits, shares.writing)
        return cost

    def copies(self, shares: Shares) -> CopyCosts:
        """Return the costs of copies of a core that shares the memory so."""
        found = self._copies.get(shares)
        if found is None:
            found = self._copies[shares] = CopyCosts(self, shares)
        return found

    def _moved(self, work: CopyWork, traits: Traits) -> float:
        """Bytes on the bus: whole pieces, and one more where a burst does not start on one."""
        timing = self.platform.timing
        burst = -(-work.burst_bytes // BUS_BOUNDARY) * BUS_BOUNDARY
        moved = float(burst)
        if not traits.aligned:
            cut = (timing.partial_row_time_factor - 1.0) * ROW
            moved += min(cut, burst * (1.0 / timing.misaligned_rate_factor - 1.0))
        return work.bursts * moved

    def _read(self, cost: Cost, work: CopyWork, traits: Traits, cores: float) -> None:
        timing = self.platform.timing
        moved = self._moved(work, traits)
        if traits.hit:
            own, burst, cap = (
                timing.l2_hit_rate_gbps,
                timing.l2_hit_rate_gbps,
                timing.l2_hit_cap_gbps,
            )
            shared = moved * cores / cap
        else:
            own, burst, cap = (
                timing.read_rate_gbps,
                timing.read_burst_rate_gbps,
                timing.read_cap_gbps,
            )
            shared = moved * cores / cap * (1.0 + self.interference)
        if work.bursts > _SINGLE and work.burst_bytes <= timing.short_burst_bytes:
            around = bypasses_l2(cost.plan)
            shared /= (
                timing.uncached_burst_rate_factor if around else timing.short_burst_rate_factor
            )
        if traits.sharers > 1:
            crowd = min(1.0, (traits.sharers - 1) / max(1.0, cores - 1.0))
            shared *= 1.0 + (timing.same_address_time_factor - 1.0) * crowd
        interval = timing.copy_interval_cycles
        # Copies of 128 B follow each other at the interval; from 1 KiB on each pays its set-up.
        small = work.nbytes <= self.platform.memory.l2_line_bytes
        setup = 0.0 if small else timing.read_setup_ns
        engine = max(setup + moved / burst, moved / own)
        cost.latency = whole(timing.cycles(timing.read_latency_ns))
        cost.occupy = whole(interval)
        cost.duration = whole(max(interval, timing.cycles(moved / burst)))
        cost.shared = whole(timing.cycles(shared))
        cost.own = whole(max(interval, timing.cycles(engine)))

    def _write(self, cost: Cost, work: CopyWork, traits: Traits, cores: float) -> None:
        timing = self.platform.timing
        moved = self._moved(work, traits)
        back = 1.0 if bypasses_l2(cost.plan) else self.demand.write_back
        engine = max(
            timing.write_latency_ns + moved / timing.write_burst_rate_gbps,
            moved / timing.write_rate_gbps,
        )
        shared = moved * cores * max(1.0 / timing.write_cap_gbps, back / timing.write_back_cap_gbps)
        cost.shared = whole(timing.cycles(shared))
        cost.occupy = cost.duration = cost.own = whole(
            max(timing.copy_interval_cycles, timing.cycles(engine))
        )


class CopyCosts:
    """Costs of copies under one sharing of the memory; equal copies are costed once."""

    def __init__(self, model: CostModel, shares: Shares) -> None:
        self.model = model
        self.shares = shares
        self._plain: dict[Plan, tuple[int, Cost, Cost]] = {}
        self._special: dict[tuple[Plan, Traits], Cost] = {}

    def cost(self, request: Request, special: tuple[bool, int] | None) -> Cost:
        """Return the cost of a copy; ``special`` is (hit in L2, cores that make it together)."""
        plan = request.plan
        plain = self._plain.get(plan)
        if plain is None:
            plain = self._plain[plan] = (
                cut_offset(plan, BUS_BOUNDARY),
                self.model.copy(plan, Traits(aligned=True), self.shares),
                self.model.copy(plan, Traits(aligned=False), self.shares),
            )
        # What-if questions leave addresses out, or state an alignment that they do not have.
        astray = request.address >= 0 and plan.work.gm_alignment < BUS_BOUNDARY
        cut = plain[0] > 0 or (astray and request.address % BUS_BOUNDARY > 0)
        if special is None:
            return plain[2] if cut else plain[1]
        key = (plan, Traits(not cut, *special))
        found = self._special.get(key)
        if found is None:
            found = self._special[key] = self.model.copy(*key, self.shares)
        return found


def whole(cycles: float) -> int:
    """Nearest whole number of cycles, at least one for anything that takes time."""
    return max(1, int(cycles + 0.5)) if cycles > 0 else 0
