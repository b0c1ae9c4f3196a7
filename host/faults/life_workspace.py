"""life.workspace: the workspace is freed before the stream has run.

A call only enqueues its work. The kernel starts later and writes memory that may belong to
something else by then.
"""

from __future__ import annotations

from host import rt
from host.faults.calls import clear, device, plan, start

CODE = "life.workspace"


def broken() -> None:
    """Free the workspace behind phase 2."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.free(workspace)
        rt.synchronize_stream(stream)
        clear(planned)


def fixed() -> None:
    """Synchronise first."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.synchronize_stream(stream)
        rt.free(workspace)
        clear(planned)
