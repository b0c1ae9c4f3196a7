"""Scopes and variables: locals, pipes, flags, queues and registers as an editor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.tensor import GlobalTensor, LocalTensor
from tools.debugger import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.debug import Session
    from simulator.debug.moment import Moment

    Variable = dict[str, Any]

ELEMENTS = 256
"""Elements of a tensor that can be unfolded."""


class Variables:
    """Hands out references that hold until the next movement."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._makers: list[Callable[[], list[Variable]]] = []

    def clear(self) -> None:
        """Forget all references."""
        self._makers.clear()

    def _reference(self, make: Callable[[], list[Variable]]) -> int:
        self._makers.append(make)
        return len(self._makers)

    def children(self, reference: int) -> list[Variable]:
        """Return what unfolds behind a reference."""
        if not 1 <= reference <= len(self._makers):
            return []
        return self._makers[reference - 1]()

    def scopes(self, moment: Moment, level: int) -> list[dict[str, Any]]:
        """Return the scopes of a frame."""
        makers: dict[str, Callable[[], list[Variable]]] = {
            "Locals": lambda: self._locals(moment, level),
            "Pipes": lambda: self._pipes(moment),
            "Flags": lambda: [_plain(f"{event} {number}", "up") for event, number in moment.flags],
            "Queues": lambda: self._queues(moment),
            "Registers": lambda: [_plain(n, v) for n, v in moment.registers.items()],
        }
        return [
            {
                "name": name,
                **({"presentationHint": name.lower()} if name in ("Locals", "Registers") else {}),
                "variablesReference": self._reference(make),
                "expensive": False,
            }
            for name, make in makers.items()
        ]

    def variable(self, moment: Moment, name: str, value: Any) -> Variable:
        """Return one value; the answer of ``evaluate`` as well (``result`` is ``value``)."""
        text = moment.describe(value)
        found: Variable = {
            "name": name,
            "value": text,
            "result": text,
            "type": type(value).__name__,
            "variablesReference": 0,
        }
        if isinstance(value, LocalTensor):
            found["memoryReference"] = f"UB:{value.addr:#x}:{moment.position.block}"
        elif isinstance(value, GlobalTensor) and value.ptr is not None:
            found["memoryReference"] = f"GM:{value.ptr.address:#x}:{moment.position.block}"
        make = self._maker(moment, value)
        if make is not None:
            found["variablesReference"] = self._reference(make)
        return found

    def _maker(self, moment: Moment, value: Any) -> Callable[[], list[Variable]] | None:
        if isinstance(value, LocalTensor | GlobalTensor):
            return lambda: [
                _plain(f"[{n}]", str(v)) for n, v in enumerate(moment.values(value, ELEMENTS))
            ]
        if isinstance(value, list | tuple) and value:
            return lambda: [self.variable(moment, f"[{n}]", v) for n, v in enumerate(value)]
        if isinstance(value, dict) and value:
            return lambda: [self.variable(moment, f"[{k!r}]", v) for k, v in value.items()]
        module = type(value).__module__.partition(".")[0]
        if module not in ("builtins", "simulator", "numpy") and getattr(value, "__dict__", None):
            return lambda: [self.variable(moment, k, v) for k, v in vars(value).items()]
        return None

    def _locals(self, moment: Moment, level: int) -> list[Variable]:
        return [self.variable(moment, name, v) for name, v in moment.locals(level).items()]

    def _pipes(self, moment: Moment) -> list[Variable]:
        rows = [row.partition(" ") for row in show.pipes(moment).splitlines()]
        return [_plain(name, text.strip()) for name, _, text in rows]

    def _queues(self, moment: Moment) -> list[Variable]:
        found = []
        for queue in moment.queues:
            texts = [
                f"{low:#x}+{size}" + ("" if queue.depth is None else f" {state}")
                for low, size, state in queue.buffers
            ]
            made = _plain(f"{queue.number} {queue.name}", ", ".join(texts))
            found.append(made)
        return found


def _plain(name: str, text: str) -> Variable:
    return {"name": name, "value": text, "variablesReference": 0}
