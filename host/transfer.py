"""Copies between host arrays and device memory that raise instead of returning a status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from host import rt
from host.runtime import current

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from host.runtime import DevicePtr
    from host.tensor import Tensor


def upload(storage: NDArray[Any], name: str = "") -> DevicePtr | None:
    """Allocate device memory for a flat array and copy it there; ``None`` for an empty array.

    Raises
    ------
    AclError
        If no device is set or its memory is used up.
    """
    if storage.nbytes == 0:
        return None
    flat = np.ascontiguousarray(storage).reshape(-1)
    with current().raising():
        _, ptr = rt.malloc(flat.nbytes, name=name)
        rt.memcpy(ptr, flat.nbytes, flat, flat.nbytes, rt.MemcpyKind.HOST_TO_DEVICE)
    return ptr


def download(tensor: Tensor) -> NDArray[Any]:
    """Copy a tensor's view from the device into a fresh array of the same shape.

    Raises
    ------
    AclError
        If the tensor has no data or its view leaves device memory.
    """
    if tensor.is_empty:
        return np.empty(tensor.view_shape, tensor.dtype.numpy)
    first, end = tensor.span
    flat = np.empty(end - first, tensor.dtype.numpy)
    with current().raising():
        rt.memcpy(flat, flat.nbytes, tensor.first_byte, flat.nbytes, rt.MemcpyKind.DEVICE_TO_HOST)
    strides = [s * flat.itemsize for s in tensor.strides]
    return np.lib.stride_tricks.as_strided(flat, tensor.view_shape, strides).copy()
