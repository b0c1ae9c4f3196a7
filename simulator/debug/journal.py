"""Every write to global memory in the order in which it took effect.

The bytes are kept in memory up to a limit and in a temporary file beyond it.
"""

from __future__ import annotations

import tempfile
import weakref
from bisect import bisect_left
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from simulator.debug.effects import moved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simulator.debug.effects import Where
    from simulator.memory import Allocation, Bytes

IN_MEMORY: Final = 64 << 20
"""Bytes of writes that are kept in memory."""


class Journal:
    """Writes to global memory, oldest first.

    Attributes
    ----------
    block, step : list of int
        Who wrote: place of the block, and its step.
    turn : list of int
        Turn in which it happened.
    """

    def __init__(self) -> None:
        self.block: list[int] = []
        self.step: list[int] = []
        self.turn: list[int] = []
        self._places: list[int] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._targets: list[tuple[Allocation, Where]] = []
        self._bytes: list[Bytes | int] = []
        self._held = 0
        self._spilled = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return len(self.block)

    def note(
        self, turn: int, block: int, step: int, allocation: Allocation, where: Where, offset: int
    ) -> None:
        """Keep what ``allocation`` holds at a place that has just been written."""
        place = moved(where, offset)
        new = allocation.data[place]
        self.turn.append(turn)
        self.block.append(block)
        self.step.append(step)
        self._targets.append((allocation, place))
        self._places.append(self._number(allocation, place))
        if self._held + new.size <= IN_MEMORY:
            self._held += new.size
            self._bytes.append(new.copy())
            return
        file = self._overflow()
        file.seek(self._spilled)
        file.write(new.tobytes())
        self._bytes.append(self._spilled)
        self._spilled += new.size

    def count_before(self, turn: int, step: int) -> int:
        """Return how many writes happened before ``step`` of the block whose turn ``turn`` is."""
        low, high = bisect_left(self.turn, turn), bisect_left(self.turn, turn + 1)
        return bisect_left(self.step, step, low, high)

    def _number(self, allocation: Allocation, place: Where) -> int:
        """Return one number for equal places."""
        part = (place.start, place.stop) if isinstance(place, slice) else (place.tobytes(),)
        return self._known.setdefault((allocation, *part), len(self._known))

    def apply(self, memory: Mapping[Allocation, Bytes], entries: NDArray[np.int64]) -> None:
        """Make writes visible in ``memory``; ``entries`` are their numbers in ascending order.

        Of several writes to exactly the same bytes only the last one counts.
        """
        if not len(entries):
            return
        places = np.array(self._places, np.int64)[entries]
        _, last = np.unique(places[::-1], return_index=True)
        for number in np.sort(entries[len(entries) - 1 - last]):
            allocation, place = self._targets[number]
            memory[allocation][place] = self._content(number, place)

    def _content(self, number: int, place: Where) -> NDArray[Any]:
        kept = self._bytes[number]
        if not isinstance(kept, int):
            return kept
        size = place.stop - place.start if isinstance(place, slice) else place.size
        file = self._overflow()
        file.seek(kept)
        return np.frombuffer(file.read(size), np.uint8)

    def _overflow(self) -> IO[bytes]:
        if self._file is None:
            # The system removes it when it is closed.
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        return self._file
