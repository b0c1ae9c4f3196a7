"""host.view_outside_storage: a view that leaves its storage.

Strides and offset of a tensor are not checked against the buffer by the library; the kernel reads
what lies behind it.
"""

from __future__ import annotations

from host import acl
from host.faults.calls import device

CODE = "host.view_outside_storage"


def broken() -> None:
    """Describe 8 elements at a stride of 2 in a buffer of 8."""
    with device():
        tensor = acl.create_tensor(
            (8,), acl.DataType.FLOAT, strides=(2,), storage_dims=(8,), name="wide"
        )
        acl.destroy_tensor(tensor)


def fixed() -> None:
    """Say how large the buffer is."""
    with device():
        tensor = acl.create_tensor(
            (8,), acl.DataType.FLOAT, strides=(2,), storage_dims=(16,), name="wide"
        )
        acl.destroy_tensor(tensor)
