"""host.leak_memory: device memory is never freed.

What ``rt.malloc`` gave out belongs to the program until ``rt.free``, also when the tensor that
described it is gone.
"""

from __future__ import annotations

from host import rt
from host.faults.calls import device

CODE = "host.leak_memory"


def broken() -> None:
    """End the program with the allocation left."""
    with device():
        rt.malloc(1024, name="forgotten")


def fixed() -> None:
    """Free it."""
    with device():
        _, pointer = rt.malloc(1024, name="remembered")
        rt.free(pointer)
