"""Cycles of one prepared instruction on one platform.

Vector calls take head + slope * repeats + tail on 910B and fixed + slope * loops on 950; copies
take a latency and a data phase at the rate that one core gets. Laws and figures:
``costs/README.md`` and the platform profiles.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.enums import Arch, PipeID
from simulator.instruction import CopyWork, VectorWork
from simulator.timing.cost_table import load_costs

if TYPE_CHECKING:
    from simulator.instruction import Plan
    from simulator.platforms import Platform

VECTOR: Final = 0
COPY: Final = 1
SET: Final = 2
WAIT: Final = 3
BARRIER: Final = 4
SCALAR: Final = 5


class Cost(NamedTuple):
    """Cycles of one instruction on its pipe.

    Attributes
    ----------
    kind : int
        VECTOR, COPY, SET, WAIT, BARRIER or SCALAR.
    occupy : int
        Cycles until the next instruction of the pipe may start.
    latency : int
        Cycles from start to the first byte of data (copies from GM), else 0.
    duration : int
        Cycles from start to completion, without ``latency``.
    """

    kind: int
    pipe: int
    occupy: int
    latency: int
    duration: int


class CostModel:
    """Costs on ``platform`` when ``active`` cores share the memory.

    ``unmeasured`` lists (call, element type) pairs that were charged by the stated default.
    """

    def __init__(self, platform: Platform, active: int, *, auto_sync: bool) -> None:
        self.platform = platform
        self.active = max(1, active)
        self.auto_sync = auto_sync
        self.unmeasured: set[tuple[str, str]] = set()
        self._table = load_costs(platform.arch)
        timing = platform.timing
        self.issue = ceil(timing.scalar_issue_cycles)
        self.hop = ceil(timing.flag_hop_cycles)
        self._read_latency = ceil(timing.cycles(timing.read_latency_ns))
        self._read_rate = self._rate(timing.read_rate_gbps, timing.read_cap_gbps)
        self._write_rate = self._rate(timing.write_rate_gbps, timing.write_cap_gbps)
        self._costs: dict[Plan, Cost] = {}

    def _rate(self, own_gbps: float, cap_gbps: float) -> float:
        """Bytes per cycle that one core gets of its own rate and its share of the cap."""
        return min(own_gbps, cap_gbps / self.active) * 1000.0 / self.platform.timing.clock_mhz

    def __call__(self, plan: Plan) -> Cost:
        """Return the cost of ``plan``; equal plans are costed once."""
        cost = self._costs.get(plan)
        if cost is None:
            cost = self._costs[plan] = self._compute(plan)
        return cost

    def _compute(self, plan: Plan) -> Cost:
        timing = self.platform.timing
        if plan.form == "set":
            return Cost(
                SET, plan.pipe, ceil(timing.set_flag_cycles), 0, ceil(timing.set_flag_cycles)
            )
        if plan.form == "wait":
            return Cost(WAIT, plan.pipe, ceil(timing.wait_flag_cycles), 0, 0)
        if plan.form == "barrier":
            return Cost(BARRIER, plan.pipe, ceil(timing.barrier_cycles), 0, 0)
        if isinstance(plan.work, CopyWork):
            return self._copy(plan.work, plan.pipe)
        if isinstance(plan.work, VectorWork):
            return self._vector(plan, plan.work)
        return self._scalar(plan)

    def _scalar(self, plan: Plan) -> Cost:
        timing = self.platform.timing
        name = plan.spec.name
        cycles = self.issue
        if name.endswith(".GetValue"):
            cycles = ceil(timing.get_value_cycles)
        elif name.endswith(".SetValue"):
            cycles = ceil(timing.set_value_cycles)
        return Cost(SCALAR, PipeID.PIPE_S, cycles, 0, cycles)

    def _copy(self, work: CopyWork, pipe: int) -> Cost:
        reading = pipe == PipeID.PIPE_MTE2
        rate = self._read_rate if reading else self._write_rate
        moved = work.bursts * -(-work.burst_bytes // 32) * 32
        interval = ceil(self.platform.timing.copy_interval_cycles)
        data = max(interval, ceil(moved / rate)) if moved else interval
        return Cost(COPY, pipe, interval if reading else data, self._read_latency * reading, data)

    def _vector(self, plan: Plan, work: VectorWork) -> Cost:
        name = plan.spec.cost_key or plan.spec.name
        if plan.form == "UB to UB":
            moved = work.repeats * 256
            cycles = ceil(moved / self.platform.timing.ub_to_ub_bytes_per_cycle)
            return Cost(VECTOR, plan.pipe, cycles, 0, cycles)
        row = self._table.find(name, work.dtype_key)
        if row is None:
            self.unmeasured.add((name, work.dtype_key))
            row = self._table.default
        if self.platform.arch is Arch.DAV_3510:
            cycles = ceil(row.cycles(work.repeats))  # type: ignore[union-attr]
            return Cost(VECTOR, plan.pipe, cycles, 0, cycles)
        duration = ceil(row.isolated(work.repeats))  # type: ignore[union-attr]
        if work.partial:
            duration += ceil(self.platform.timing.count_partial_cycles)
        serial = work.writes_mask or self.auto_sync
        occupy = duration if serial else ceil(row.streamed(work.repeats))  # type: ignore[union-attr]
        return Cost(VECTOR, plan.pipe, occupy, 0, duration)
