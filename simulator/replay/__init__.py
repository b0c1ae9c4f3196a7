"""Re-execution of a run in another legal order, and what comes out differently.

``run.replay("hardware")`` executes the record as the timeline interleaves it, ``"latest"`` shows
every write as late as flags and barriers allow, ``"random"`` takes a seeded legal order. A kernel
without races gives the same bits under all of them.
"""

from simulator.replay.compare import Difference, ScalarDifference
from simulator.replay.replayer import Replay, Replayer

__all__ = ["Difference", "Replay", "Replayer", "ScalarDifference"]
