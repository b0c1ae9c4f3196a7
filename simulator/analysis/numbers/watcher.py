"""Looks on while the record of a run is executed, and passes each call to what looks at its kind.

The calls that compute:

- unary, binary and scalar calls and reductions: ``arithmetic``; Compare: ``comparing``; Cast:
  ``casting``;
- steps of a library call: ``library``, as one call;
- all others move bits, and are followed for the types of the bytes that they leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.analysis.formulas import MOVES, SUMS
from simulator.analysis.numbers.arithmetic import EXTREMES, Arithmetic, births, say_born
from simulator.analysis.numbers.casting import Conversion
from simulator.analysis.numbers.comparing import Comparison
from simulator.analysis.numbers.fields import Field, peak
from simulator.analysis.numbers.library import finish, step
from simulator.analysis.numbers.scene import Context, Look, Scene
from simulator.instruction import REGISTRY
from simulator.replay.steps import OPERATION, pointer_of
from simulator.sanitizer.place import called_in, place
from simulator.sanitizer.streams import is_atomic_switch

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from numpy.typing import NDArray

    from simulator.core import Entry
    from simulator.instruction import Plan
    from simulator.memory import Bytes
    from simulator.replay.device import Player
    from simulator.replay.steps import Step

_LOGIC: Final = frozenset(
    {
        "And", "Ands", "BitwiseAnd", "Not", "Or", "Ors", "ShiftLeft", "ShiftLeft@tensor",
        "ShiftRight", "ShiftRight@tensor",
    }
)  # fmt: skip
_COMPUTES: Final = frozenset({"unary", "binary", "vector-scalar"})
_COUNTERS: Final = frozenset({"CreateVecIndex", "Arange"})
_OTHER_NAMES: Final = {"CompareScalar": "Compares", "MulAddRelu": "FusedMulAddRelu",
                       "AbsSub": "FusedAbsSub", "ExpSub": "FusedExpSub",
                       "MulsCast": "FusedMulsCast"}  # fmt: skip
"""Calls that the interface knows by a second name."""


class Move(Look):
    """A call that moves elements inside the unified buffer, or from or to global memory."""

    def __init__(self, plan: Plan, ub: Bytes) -> None:
        super().__init__(plan, ub)
        self.stored = [op for op in plan.operands if op.space == "GM" and op.role != "read"]
        self.is_load = any(op.space == "GM" and op.role == "read" for op in plan.operands)
        names = ("src", "src0", "src1", "scalar")
        self.moved = [source for source in self.sources if source.operand.name in names]

    def around(self, scene: Scene, run: Callable[[], None]) -> None:
        """Execute the call; watch an addition to global memory."""
        if self.stored and scene.combines == "add" and self.sources:
            self._add_to_global(scene, run)
        else:
            run()
        self.wrote(scene)

    def wrote(self, scene: Scene) -> None:
        """Pass the types of what is moved on."""
        for target in self.targets:
            if self.is_load:
                pointer = pointer_of(scene.params)
                if pointer is not None:
                    scene.origins.loaded(target, pointer.allocation)
            elif self.moved and all(s.size == target.size for s in self.moved):
                scene.origins.moved(target, self.moved)
            else:
                scene.origins.wrote_bits(target)

    def _add_to_global(self, scene: Scene, run: Callable[[], None]) -> None:
        pointer, source = pointer_of(scene.params), self.sources[0]
        target = None
        if pointer is not None:
            target = Field(self.stored[0], pointer.allocation.data[pointer.offset :])
        if target is None or target.form is None or source.form is None:
            run()
            return
        old = target.copied()
        run()
        bits = target.copied()
        if peak(bits, target.form) < target.form.exponent or len(source) != len(bits):
            return
        held: list[NDArray[Any] | None] = [source.bits(), old]
        where = births(target, bits, [source, target], held, [])
        if len(where):
            name = source.operand.name
            scene.notes.add(
                "num.first_nonfinite", scene.spot, target, where, say_born,
                lambda at: {
                    "result": target.one(bits, at),
                    "operands": {
                        name: source.one(source.bits(), at), "global memory": target.one(old, at)
                    },
                },
            )  # fmt: skip


class Filled(Look):
    """Duplicate and what else writes without reading."""

    def wrote(self, scene: Scene) -> None:
        """Take integers as numbers where they are counted up only."""
        for target in self.targets:
            if target.dtype.is_float or self.name in _COUNTERS:
                scene.origins.wrote(target)
            else:
                scene.origins.wrote_bits(target)


class Sightings:
    """The observer of a replay; its notes are complete after ``finish``."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.notes = context.notes
        self._looks: dict[Plan, Look | None] = {}
        self._scenes: dict[int, Scene] = {}
        self._own: dict[tuple[CodeType, int, str], bool] = {}

    def around(self, player: Player, index: int, of: Step, run: Callable[[], None]) -> None:
        """Execute an instruction and look at it."""
        plan = of.plan
        try:
            look = self._looks[plan]
        except KeyError:
            look = self._looks[plan] = self._look(plan, player.ub, of)
        if look is None:
            if is_atomic_switch(plan):
                operation = plan.details["operation"]
                self._scene(player).combines = "" if operation == "none" else operation
            run()
            return
        scene = self._scene(player)
        entry = player.entries[index]
        whole = scene.composite
        if whole is not None:
            first = whole.spot.entry
            if first[1] is not entry[1] or first[2] != entry[2] or first[0] is plan:
                finish(scene)
        scene.index = index
        if self._is_own(entry):
            look.around(scene, run)
        else:
            step(scene, look, run)

    def finish(self) -> None:
        """Look at library calls that nothing came behind."""
        for scene in self._scenes.values():
            finish(scene)
        self._scenes.clear()

    def _scene(self, player: Player) -> Scene:
        scene = self._scenes.get(player.index)
        if scene is None:
            over = {p.index for p in player.device.players if p.finished}
            for index in [i for i in self._scenes if i in over]:
                finish(self._scenes.pop(index))
            scene = self._scenes[player.index] = Scene(self.context, player.block, player.ub)
        return scene

    def _look(self, plan: Plan, ub: Bytes, of: Step) -> Look | None:
        """Return what looks at a plan; None for one that touches no vector data."""
        if of.kind != OPERATION or not any(op.space == "UB" for op in plan.operands):
            return None
        name, family = plan.spec.name, plan.spec.family
        switched = self.context.switched
        if name in _LOGIC or family in ("register", "debug"):
            return Look(plan, ub)
        if family in _COMPUTES or name in SUMS or name in EXTREMES:
            return Arithmetic(plan, ub, self.context.arch, switched)
        if family in ("compare", "compare-scalar"):
            return Comparison(plan, ub, self.context.arch)
        if name == "Cast":
            return Conversion(plan, ub, self.context.arch)
        if name in MOVES or family in ("copy", "move"):
            return Move(plan, ub)
        if family in ("fill", "index"):
            return Filled(plan, ub)
        return Look(plan, ub)

    def _is_own(self, entry: Entry) -> bool:
        """Whether the source names this call, as opposed to a library call made of it."""
        name = entry[0].spec.name
        key = (entry[1], entry[2], name)
        known = self._own.get(key)
        if known is None:
            short = name.rpartition(".")[2].partition("[")[0].partition("@")[0]
            calls = set(called_in(place(entry)) or ())
            mine = {short, _OTHER_NAMES.get(short, short)}
            # An operator such as + is the call of a line that names none.
            known = self._own[key] = bool(mine & calls) or not any(c in REGISTRY for c in calls)
        return known
