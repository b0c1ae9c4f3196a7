"""host.leak_tensor: a tensor description is never destroyed.

``acl.create_tensor`` allocates a description on the host. Freeing the device memory behind it does
not free the description.
"""

from __future__ import annotations

from host import acl
from host.faults.calls import device

CODE = "host.leak_tensor"


def broken() -> None:
    """Create a tensor and forget it."""
    with device():
        acl.create_tensor((8,), acl.DataType.FLOAT, name="forgotten")


def fixed() -> None:
    """Destroy it."""
    with device():
        tensor = acl.create_tensor((8,), acl.DataType.FLOAT, name="remembered")
        acl.destroy_tensor(tensor)
