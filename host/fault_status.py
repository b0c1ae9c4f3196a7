"""Status code that a fault of the simulated device shows as at synchronise.

The mapping is a choice of this simulator: the public documents name the codes but do not say which
fault of a kernel yields which.
"""

from __future__ import annotations

from host.status import Rt
from simulator.errors import DeadlockError, OutOfBoundsError, SimulatorError


def fault_status(error: SimulatorError) -> int:
    """Return the runtime code of a fault.

    A read or write outside global memory is 507044 or 507045, a deadlock 507034, anything else
    507035. An access whose direction is not known counts as a read.
    """
    if isinstance(error, DeadlockError):
        return Rt.VECTOR_CORE_TIMEOUT
    if isinstance(error, OutOfBoundsError) and _in_global_memory(error):
        wrote = error.fields.get("access") == "write" or error.fields.get("pipe") == "MTE3"
        return Rt.VECTOR_CORE_TRAP_WRITE_OVERFLOW if wrote else Rt.VECTOR_CORE_TRAP_READ_OVERFLOW
    return Rt.VECTOR_CORE_EXCEPTION


def _in_global_memory(error: OutOfBoundsError) -> bool:
    return error.kind == "memory.gm_bounds" or error.fields.get("space") == "GM"
