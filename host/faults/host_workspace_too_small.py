"""host.workspace_too_small: less workspace than phase 1 asked for.

The size of phase 1 is what kernels and intermediate tensors take; the library does not compare it
with the allocation.
"""

from __future__ import annotations

from host import rt
from host.faults.calls import clear, device, plan, start

CODE = "host.workspace_too_small"


def broken() -> None:
    """Allocate a fixed size."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(64)
        start(planned, workspace, stream)
        rt.synchronize_stream(stream)
        clear(planned, workspace)


def fixed() -> None:
    """Allocate what phase 1 returned."""
    with device() as stream:
        planned = plan()
        _, workspace = rt.malloc(planned.size)
        start(planned, workspace, stream)
        rt.synchronize_stream(stream)
        clear(planned, workspace)
