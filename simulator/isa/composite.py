"""Calls that the library makes of other calls: where they are recorded, and how pipes hand over."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from simulator.isa.sync import set_flag, wait_flag

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from simulator.core import AICore
    from simulator.enums import HardEvent


@contextmanager
def recorded_at(core: AICore, frame: FrameType) -> Iterator[None]:
    """Record the calls inside at the user's line; an outer composite call keeps its own."""
    outer = core.caller
    if outer is None:
        core.caller = frame
    try:
        yield
    finally:
        core.caller = outer


def hand_over(core: AICore, event: HardEvent, frame: FrameType) -> None:
    """Issue SetFlag and WaitFlag of ``event`` with the id that FetchEventID gives."""
    number = core.pipe.FetchEventID(event) if core.pipe is not None else 0
    set_flag(core, event, number, frame)
    wait_flag(core, event, number, frame)
