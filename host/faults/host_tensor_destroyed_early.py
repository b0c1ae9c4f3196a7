"""host.tensor_destroyed_early: a tensor is destroyed before the call that uses it has run.

The executor keeps a pointer to the description until its work has been executed.
"""

from __future__ import annotations

from host import acl, rt
from host.faults.calls import clear, device, plan, start

CODE = "host.tensor_destroyed_early"


def broken() -> None:
    """Destroy a tensor behind phase 2."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        acl.destroy_tensor(planned.tensors[0])
        rt.synchronize_stream(stream)
        clear(planned, workspace)


def fixed() -> None:
    """Synchronise first."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.synchronize_stream(stream)
        acl.destroy_tensor(planned.tensors[0])
        clear(planned, workspace)
