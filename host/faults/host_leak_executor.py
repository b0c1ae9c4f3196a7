"""host.leak_executor: an executor is planned and neither run nor destroyed.

Phase 1 returns an executor that phase 2 uses up. A program that asks for the workspace size only
has to destroy it.
"""

from __future__ import annotations

from host import acl
from host.faults.calls import clear, device, plan

CODE = "host.leak_executor"


def broken() -> None:
    """Call phase 1 for the workspace size alone."""
    with device():
        clear(plan())


def fixed() -> None:
    """Destroy the executor."""
    with device():
        planned = plan()
        acl.destroy_acl_op_executor(planned.executor)
        clear(planned)
