"""The exact values of a run while it is executed, and the comparison with the real ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.analysis.formulas import FORMULAS, MOVES, SUMS, grouped_sum
from simulator.analysis.losses import Loss, Source
from simulator.analysis.shadows import NONE, Shadows, code_of
from simulator.instruction import locate
from simulator.replay.steps import OPERATION, S, pointer_of
from simulator.sanitizer.place import tensor_name
from simulator.sanitizer.ranges import touched_runs
from simulator.sanitizer.streams import is_atomic_switch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulator.dtypes import DType
    from simulator.instruction import Operand, Plan
    from simulator.memory import Allocation
    from simulator.replay.device import Player
    from simulator.replay.steps import Step
    from simulator.run import Run

    Addresses = NDArray[np.int64]
    Doubles = NDArray[np.float64]

_NO_FIT: Final = 0.05
"""Own error of most lanes beyond which a call is not what its formula says."""


class Elements(NamedTuple):
    """The elements of an operand: where their exact values are, and their addresses."""

    operand: Operand
    shadows: Shadows
    at: Addresses

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.operand.dtype

    def actual(self) -> NDArray[Any]:
        """Return what memory holds."""
        return self.shadows.actual(self.at, self.dtype)

    def exact(self) -> Doubles:
        """Return the exact values."""
        return self.shadows.exact(self.at, self.dtype)


_PLACES: Final = frozenset({"srcOffset", "src1Pattern"})
"""Sources of a move that say which elements go where, and have to keep what they hold."""


class Carrier:
    """Carries exact values through the instructions of a replay.

    Attributes
    ----------
    losses : dict
        First loss of each source line, in the order of execution.
    worst : float
        Largest relative error of an element stored in global memory.
    not_carried : dict of str to int
        Calls on floating-point elements without a formula, and how often they ran.
    """

    def __init__(self, run: Run, bound: float) -> None:
        self.bound = bound
        self.losses: dict[tuple[object, int], Loss] = {}
        self.worst = 0.0
        self.not_carried: dict[str, int] = {}
        self._local: dict[int, Shadows] = {}
        self._global: dict[Allocation, Shadows] = {}
        self._units = _units(run)
        self._offsets: dict[tuple[Plan, str], Addresses] = {}
        self._combines: dict[int, str] = {}
        self._sums: dict[int, tuple[Any, DType, float, float]] = {}

    # -- one instruction -------------------------------------------------------------------------

    def around(self, player: Player, index: int, step: Step, run: Callable[[], None]) -> None:
        """Execute an instruction and bring the exact values of what it writes up to date."""
        plan = step.plan
        if is_atomic_switch(plan):
            operation = plan.details["operation"]
            self._combines[player.index] = "" if operation == "none" else operation
        if step.kind != OPERATION:
            run()
            return
        targets = [self._elements(player, index, op) for op in _of(plan, writes=True)]
        if not targets:
            self._unseen(player, index, plan, run)
            return
        if self._is_sum(player, index, plan):
            self._store_sum(player, index, targets[0], run)
            return
        combines = self._combines.get(player.index, "") if targets[0].operand.space == "GM" else ""
        if combines:
            self._combine(player, index, plan, combines, targets[0], run)
        elif plan.spec.name in MOVES and plan.form != "register":
            self._move(player, index, plan, targets, run)
        else:
            self._compute(player, index, plan, targets, run)

    def _unseen(self, player: Player, index: int, plan: Plan, run: Callable[[], None]) -> None:
        """Execute a call that declares nothing it writes; what it changes counts as exact."""
        if plan.spec.name in SUMS and len(plan.operands) == 1:
            # 910B leaves a total in a register, and the scalar unit stores it.
            (source,) = (self._elements(player, index, op) for op in plan.operands)
            if source.dtype.is_float:
                real, exact = source.actual().astype(np.float64), source.exact()
                site = player.entries[index][1:3]
                total = (site, source.dtype, float(real.sum()), float(exact.sum()))
                self._sums[player.index] = total
        if plan.operands or plan.pipe == S:
            run()
            return
        before = player.ub.copy()
        run()
        changed = np.flatnonzero(before != player.ub)
        if len(changed):
            self._of_block(player).forget(changed, 1)

    def _is_sum(self, player: Player, index: int, plan: Plan) -> bool:
        """Whether the scalar unit stores the total of the reduction it belongs to."""
        if plan.pipe != S or player.index not in self._sums:
            return False
        return bool(self._sums[player.index][0] == player.entries[index][1:3])

    def _store_sum(
        self, player: Player, index: int, stored: Elements, run: Callable[[], None]
    ) -> None:
        _, dtype, real, exact = self._sums.pop(player.index)
        run()
        target = stored._replace(operand=stored.operand._replace(dtype=dtype))
        ideal, own = np.array([exact]), np.array([real])
        target.shadows.put(target.at, dtype.itemsize, ideal, code_of(dtype))
        actual = target.actual().astype(np.float64)
        self._judge(player, index, target, actual, ideal, own, ([], [], []))

    def _elements(self, player: Player, index: int, operand: Operand) -> Elements:
        entry = player.entries[index]
        key = (entry[0], operand.name)
        offsets = self._offsets.get(key)
        if offsets is None:
            starts, stops = touched_runs(operand.accesses)
            size = operand.dtype.itemsize
            offsets = np.concatenate(
                [np.arange(a, b - size + 1, size) for a, b in zip(starts, stops, strict=True)]
                or [np.zeros(0, np.int64)]
            )
            self._offsets[key] = offsets
        if operand.space == "UB":
            return Elements(operand, self._of_block(player), offsets)
        pointer = pointer_of(entry[3])
        if pointer is None:
            return Elements(operand, Shadows(np.zeros(0, np.uint8)), offsets[:0])
        allocation = pointer.allocation
        shadows = self._global.get(allocation)
        if shadows is None:
            unit = self._units.get(allocation, 1)
            shadows = self._global[allocation] = Shadows(allocation.data, unit)
        return Elements(operand, shadows, offsets + pointer.offset)

    def _of_block(self, player: Player) -> Shadows:
        shadows = self._local.get(player.index)
        if shadows is None:
            for index in [i for i in self._local if i not in self._alive(player)]:
                del self._local[index]
            shadows = self._local[player.index] = Shadows(player.ub)
        return shadows

    @staticmethod
    def _alive(player: Player) -> set[int]:
        return {p.index for p in player.device.players if not p.finished}

    # -- kinds of calls --------------------------------------------------------------------------

    def _move(
        self,
        player: Player,
        index: int,
        plan: Plan,
        targets: list[Elements],
        run: Callable[[], None],
    ) -> None:
        """Find out by marked sources which element goes where, and move the exact values."""
        sources = [
            self._elements(player, index, op)
            for op in _of(plan, writes=False)
            if op.dtype.itemsize == targets[0].dtype.itemsize
            and op.name.startswith("src")
            and op.name not in _PLACES
        ]
        total = sum(len(s.at) for s in sources)
        size = targets[0].dtype.itemsize
        if targets[0].dtype.bits < 8 or total >= 1 << (8 * size):
            self._anchor(plan, targets, run)
            return
        before = [t.shadows.raw(t.at, size) for t in targets]
        origins = _origins(player, sources, targets, size, run)
        held = [s.shadows.carried(s.at) for s in sources]
        values = np.concatenate([v for v, _ in held]) if held else np.zeros(0)
        codes = np.concatenate([c for _, c in held]) if held else np.zeros(0, np.uint8)
        run()
        for target, old, origin in zip(targets, before, origins, strict=True):
            old_values, old_codes = target.shadows.carried(target.at)
            kept = (origin < 0) & (target.shadows.raw(target.at, size) == old)
            come = np.maximum(origin, 0)
            new_values = np.where(origin >= 0, values[come] if len(values) else 0.0, old_values)
            new_codes = np.where(
                origin >= 0, codes[come] if len(codes) else NONE, np.where(kept, old_codes, NONE)
            )
            target.shadows.put(target.at, size, new_values, new_codes)
            self._note_stored(target, new_codes)

    def _compute(
        self,
        player: Player,
        index: int,
        plan: Plan,
        targets: list[Elements],
        run: Callable[[], None],
    ) -> None:
        """Compute the exact values by the formula of the call."""
        target = targets[0]
        formula = self._formula(plan, target)
        params = player.entries[index][3]
        if formula is None:
            if plan.spec.name == "Duplicate" and target.dtype.is_float:
                run()
                self._forget(targets)
            else:
                self._anchor(plan, targets, run)
            return
        sources = [
            self._elements(player, index, op)
            for op in _of(plan, writes=False)
            if op.name != target.operand.name and op.dtype.bits >= 8
        ]
        scalars = [np.float64(p) for p in params if isinstance(p, np.number | int | float)]
        real = [s.actual().astype(np.float64) for s in sources]
        exact = [s.exact() for s in sources]
        old_real, old_exact = target.actual().astype(np.float64), target.exact()
        run()
        self._forget(targets)
        with np.errstate(all="ignore"):
            own = _applied(formula, old_real, real, scalars)
            ideal = _applied(formula, old_exact, exact, scalars)
        actual = target.actual().astype(np.float64)
        if own is None or ideal is None or not _fits(own, actual):
            self._note_missing(plan)
            return
        target.shadows.put(target.at, target.dtype.itemsize, ideal, code_of(target.dtype))
        self._judge(player, index, target, actual, ideal, own, (sources, real, exact))

    def _formula(self, plan: Plan, target: Elements) -> Callable[..., Any] | None:
        if not target.dtype.is_float or target.dtype.bits < 8 or plan.form == "register":
            return None
        if len(np.unique(target.at)) != len(target.at):
            return None
        if plan.spec.name in SUMS:
            return partial(_sum_of, len(target.at))
        return FORMULAS.get(plan.spec.name)

    def _combine(
        self,
        player: Player,
        index: int,
        plan: Plan,
        operation: str,
        target: Elements,
        run: Callable[[], None],
    ) -> None:
        """Combine exact values with those in global memory, as an atomic copy does."""
        formula = {"add": np.add, "max": np.maximum, "min": np.minimum}[operation]
        source = self._elements(player, index, _of(plan, writes=False)[0])
        if not target.dtype.is_float or len(source.at) != len(target.at):
            self._anchor(plan, [target], run)
            return
        real, exact = source.actual().astype(np.float64), source.exact()
        own = formula(target.actual().astype(np.float64), real)
        ideal = formula(target.exact(), exact)
        run()
        target.shadows.put(target.at, target.dtype.itemsize, ideal, code_of(target.dtype))
        actual = target.actual().astype(np.float64)
        self._judge(player, index, target, actual, ideal, own, ([source], [real], [exact]))

    def _anchor(self, plan: Plan, targets: list[Elements], run: Callable[[], None]) -> None:
        run()
        self._forget(targets)
        if any(t.dtype.is_float for t in targets) and plan.pipe != S:
            self._note_missing(plan)

    def _note_missing(self, plan: Plan) -> None:
        name = plan.spec.name
        self.not_carried[name] = self.not_carried.get(name, 0) + 1

    @staticmethod
    def _forget(targets: list[Elements]) -> None:
        for target in targets:
            target.shadows.forget(target.at, target.dtype.itemsize)

    # -- judging ---------------------------------------------------------------------------------

    def _note_stored(self, target: Elements, codes: NDArray[np.uint8]) -> None:
        if target.operand.space != "GM" or not target.dtype.is_float:
            return
        carried = codes == code_of(target.dtype)
        if carried.any():
            actual = target.actual().astype(np.float64)[carried]
            error = relative_error(actual, target.exact()[carried], target.dtype)
            self.worst = max(self.worst, float(error.max()))

    def _judge(
        self,
        player: Player,
        index: int,
        target: Elements,
        actual: Doubles,
        ideal: Doubles,
        own: Doubles,
        inputs: tuple[list[Elements], list[Doubles], list[Doubles]],
    ) -> None:
        error = relative_error(actual, ideal, target.dtype)
        if target.operand.space == "GM" and len(error):
            self.worst = max(self.worst, float(error.max()))
        past = np.flatnonzero(error > self.bound)
        if not len(past):
            return
        entry = player.entries[index]
        plan, code, lasti, _ = entry
        known = self.losses.get((code, lasti))
        if known is not None:
            self.losses[code, lasti] = replace(known, count=known.count + len(past))
            return
        at = int(past[0])
        sources = tuple(
            Source(tensor_name(entry, s.operand), float(real[at]), float(exact[at]))
            for s, real, exact in zip(*inputs, strict=True)
            if len(real) == len(actual)
        )
        self.losses[code, lasti] = Loss(
            player.index, index, plan.spec.name, locate(code, lasti),
            tensor_name(entry, target.operand),
            target.dtype.name, int(target.at[at] - target.at[0]) // target.dtype.itemsize,
            float(actual[at]), float(ideal[at]), float(error[at]),
            float(relative_error(actual[at : at + 1], own[at : at + 1], target.dtype)[0]),
            sources, len(past),
        )  # fmt: skip


def relative_error(actual: Doubles, exact: Doubles, dtype: DType) -> Doubles:
    """``|actual - exact| / max(|exact|, least normal number)``; 0 where both are NaN or equal.

    Infinite where only one of the two is finite.
    """
    with np.errstate(all="ignore"):
        floor = _least_normal(dtype)
        error = np.abs(actual - exact) / np.maximum(np.abs(exact), floor)
        same = (actual == exact) | (np.isnan(actual) & np.isnan(exact))
        result: Doubles = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
    return result


_LEAST: Final = {"half": 2.0**-14, "bfloat16_t": 2.0**-126, "float": 2.0**-126}


def _least_normal(dtype: DType) -> float:
    return _LEAST.get(dtype.name, 2.0**-1022 if dtype.bits == 64 else 2.0**-6)


def _of(plan: Plan, *, writes: bool) -> list[Operand]:
    """Return the operands that are written, or those that are read."""
    other = "read" if writes else "write"
    return [op for op in plan.operands if op.role != other and op.space in ("UB", "GM")]


def _units(run: Run) -> dict[Allocation, int]:
    """Return for each allocation the bytes that all element addresses are multiples of."""
    units: dict[Allocation, int] = {}
    for block in run.blocks:
        for plan, _, _, params in block.entries:
            pointer = pointer_of(params)
            if pointer is None:
                continue
            size = min((op.dtype.itemsize for op in plan.operands if op.space == "GM"), default=1)
            while pointer.offset % size:
                size //= 2
            known = units.get(pointer.allocation, size)
            units[pointer.allocation] = min(known, size)
    return units


def _origins(
    player: Player,
    sources: list[Elements],
    targets: list[Elements],
    size: int,
    run: Callable[[], None],
) -> list[NDArray[np.int64]]:
    """Return for each element of each target the number of the source element it comes from.

    The call is executed twice on sources that hold their own numbers, the second time with all bits
    flipped; -1 stands for elements that come from somewhere else. Memory is put back.
    """
    saved = player.local.save()
    stored = [(t, t.shadows.raw(t.at, size)) for t in targets if t.operand.space == "GM"]
    read = [(s, s.shadows.raw(s.at, size)) for s in sources if s.operand.space == "GM"]
    ends = np.cumsum([len(s.at) for s in sources])
    kind = np.dtype(f"u{size}")
    found = []
    for flipped in (False, True):
        for source, end in zip(sources, ends, strict=True):
            marks = np.arange(end - len(source.at), end).astype(kind)
            source.shadows.write_raw(source.at, ~marks if flipped else marks)
        run()
        results = [t.shadows.raw(t.at, size) for t in targets]
        found.append([~bits if flipped else bits for bits in results])
        player.local.restore(saved)
        for elements, bits in (*stored, *read):
            elements.shadows.write_raw(elements.at, bits)
    total = int(ends[-1]) if len(ends) else 0
    return [
        np.where((one == two) & (one < total), one.astype(np.int64), -1)
        for one, two in zip(*found, strict=True)
    ]


def _applied(
    formula: Callable[..., Any], old: Doubles, sources: list[Doubles], scalars: list[Any]
) -> Doubles | None:
    """Return the formula's values, or None if the operands do not go together."""
    try:
        result = formula(old, *sources, *scalars)
    except (TypeError, ValueError):
        return None
    if result is None or np.shape(result) not in (old.shape, ()):
        return None
    return np.broadcast_to(np.asarray(result, np.float64), old.shape)


def _sum_of(count: int, old: Doubles, *sources: Doubles) -> Doubles | None:
    return grouped_sum(sources[0], count) if sources else None


def _fits(own: Doubles, actual: Doubles) -> bool:
    """Whether a formula says what the call does: most finite lanes agree roughly."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(own) & np.isfinite(actual)
        scale = np.maximum(np.abs(own), np.abs(actual))
        off = finite & (np.abs(own - actual) > _NO_FIT * scale) & (scale > 2.0**-14)
    return 2 * int(off.sum()) <= max(1, int(finite.sum()))
