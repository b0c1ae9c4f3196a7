"""host.pending_tasks: a stream is destroyed with work that was never executed.

What was enqueued and not waited for is dropped, and the output keeps what it held.
"""

from __future__ import annotations

from host import rt
from host.faults.calls import clear, device, plan, start

CODE = "host.pending_tasks"


def broken() -> None:
    """Destroy the stream behind phase 2."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.destroy_stream(stream)
        clear(planned, workspace)


def fixed() -> None:
    """Synchronise first."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.synchronize_stream(stream)
        rt.destroy_stream(stream)
        clear(planned, workspace)
