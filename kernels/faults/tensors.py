"""What the kernels of this folder share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.ascendc import GlobalTensor

if TYPE_CHECKING:
    from simulator.ascendc import GM_ADDR
    from simulator.dtypes import DType


def gm(dtype: DType, address: GM_ADDR) -> GlobalTensor:
    """Return all of the memory at ``address`` as a tensor."""
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor
