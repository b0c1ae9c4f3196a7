"""host.executor_reused: an executor is run a second time.

Phase 2 uses an executor up, unless it was made repeatable before.
"""

from __future__ import annotations

from host import acl, rt
from host.faults.calls import clear, device, plan, start

CODE = "host.executor_reused"


def broken() -> None:
    """Call phase 2 twice."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        for _ in range(2):
            start(planned, workspace, stream)
            rt.synchronize_stream(stream)
        clear(planned, workspace)


def fixed() -> None:
    """Keep the executor, and destroy it at the end."""
    with device() as stream:
        planned = plan()
        acl.set_acl_op_executor_repeatable(planned.executor)
        _, workspace = rt.malloc(planned.size)
        for _ in range(2):
            start(planned, workspace, stream)
            rt.synchronize_stream(stream)
        acl.destroy_acl_op_executor(planned.executor)
        clear(planned, workspace)
