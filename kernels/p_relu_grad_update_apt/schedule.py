"""What the schedules of PReluGradUpdate on 950 share: buffers, order of the pipes, copies out.

Two sets of buffers take turns, so that the copies of one tile run beside the arithmetic of the
other. Source: hicann/opbase pkg_inc/op_common/atvoss/broadcast (broadcast_sch_base.h and the
schedules beside it); the locks on buffers there are event flags here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from kernels.p_relu_grad_update_apt.dag import compute
from kernels.p_relu_grad_update_apt.tiling_data import INPUTS
from simulator.ascendc import (
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    GlobalTensor,
    HardEvent,
    SetFlag,
    TBuf,
    TPipe,
    TPosition,
    WaitFlag,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.ascendc import GM_ADDR, LocalTensor
    from simulator.dtypes import DType

NO_PADDING: Final = DataCopyPadExtParams()
SETS: Final = 2
OUTPUTS: Final = 2
FEATURES: Final = 1


class Schedule(ABC):
    """Base of the schedules: a subclass says which tiles there are and how inputs are fetched."""

    def __init__(
        self, dtype: DType, addresses: Sequence[GM_ADDR], elements: int, extra: int = 0
    ) -> None:
        self.dtype = dtype
        self.gm = []
        for address in addresses:
            tensor = GlobalTensor(dtype)
            tensor.SetGlobalBuffer(address)
            self.gm.append(tensor)
        buffers = SETS * (INPUTS + OUTPUTS) + extra
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, buffers * elements * dtype.itemsize)
        pool = [
            buf.GetWithOffset(elements, k * elements * dtype.itemsize, dtype)
            for k in range(buffers)
        ]
        self.extra = pool[INPUTS + OUTPUTS :][:extra]
        pong = INPUTS + OUTPUTS + extra
        self.inputs = [pool[:INPUTS], pool[pong:][:INPUTS]]
        self.outputs = [pool[INPUTS:][:OUTPUTS], pool[pong + INPUTS :]]

    def Process(self) -> None:
        """Fetch, compute and store tile after tile."""
        for which in range(SETS):
            SetFlag(HardEvent.V_MTE2, which)
            SetFlag(HardEvent.MTE3_V, which)
        for number, (start, count) in enumerate(self.tiles()):
            self._tile(number, number % SETS, start, count)
        for which in range(SETS):
            WaitFlag(HardEvent.V_MTE2, which)
            WaitFlag(HardEvent.MTE3_V, which)

    @abstractmethod
    def tiles(self) -> Iterator[tuple[int, int]]:
        """First element and count of this block's tiles, in the output."""

    @abstractmethod
    def fetch(self, number: int, which: int, count: int) -> None:
        """Issue the copies of a tile's inputs into buffer set ``which``."""

    def prepare(self, number: int, which: int, count: int) -> list[LocalTensor]:
        """Do the vector work on what was fetched; return gradient, features and weight in full."""
        return self.inputs[which]

    def _tile(self, number: int, which: int, start: int, count: int) -> None:
        dx, update = self.outputs[which]
        WaitFlag(HardEvent.V_MTE2, which)
        self.fetch(number, which, count)
        SetFlag(HardEvent.MTE2_V, which)
        WaitFlag(HardEvent.MTE2_V, which)
        WaitFlag(HardEvent.MTE3_V, which)
        grad, features, weight = self.prepare(number, which, count)
        compute(dx, update, grad, features, weight, count)
        SetFlag(HardEvent.V_MTE2, which)
        SetFlag(HardEvent.V_MTE3, which)
        WaitFlag(HardEvent.V_MTE3, which)
        params = DataCopyExtParams(1, count * self.dtype.itemsize)
        for gm, local in zip(self.gm[INPUTS:], (dx, update), strict=True):
            DataCopyPad(gm[start], local, params)
        SetFlag(HardEvent.MTE3_V, which)

    def copy_in(self, index: int, local: LocalTensor, offset: int, count: int) -> None:
        """Fetch ``count`` dense elements of an input."""
        params = DataCopyExtParams(1, count * self.dtype.itemsize)
        DataCopyPad(local, self.gm[index][offset], params, NO_PADDING)
