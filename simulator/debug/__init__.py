"""Time travel over a run: any moment of any block, forwards and backwards.

A :class:`Session` reads a recorded launch. Memories are rebuilt from checkpoints by executing the
record again on bytes of the session's own; the launch, its arrays and its record stay as they are.
"""

from simulator.debug.breakpoints import Breakpoint
from simulator.debug.position import MACHINE, PROGRAM, Position, Stop
from simulator.debug.recorder import Launch, Recorder, record_for_debug
from simulator.debug.session import Session

__all__ = [
    "MACHINE", "PROGRAM", "Breakpoint", "Launch", "Position", "Recorder", "Session", "Stop",
    "record_for_debug",
]  # fmt: skip
