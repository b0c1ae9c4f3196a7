"""What the programs share: a started runtime, tensors with values, and one operator."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from host import acl, rt
from host.hard_swish_grad_v2.api import (
    aclnn_hardswish_backward_v2,
    aclnn_hardswish_backward_v2_get_workspace_size,
)
from host.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from host.executor import AclOpExecutor
    from host.runtime import DevicePtr, Stream

N = 64


@contextmanager
def device() -> Iterator[Stream]:
    """Start the runtime, and end it again without anything left by this function."""
    acl.init()
    rt.set_device(0)
    _, stream = rt.create_stream()
    assert stream is not None
    yield stream
    if not stream.destroyed:
        rt.destroy_stream(stream)
    acl.finalize()


def upload(name: str, shape: tuple[int, ...] = (N,)) -> Tensor:
    """Return a tensor of ones on the device."""
    return Tensor.from_numpy(np.ones(shape, np.float32), name=name)


class Planned(NamedTuple):
    """Phase 1 of aclnnHardswishBackwardV2 on new tensors."""

    tensors: tuple[Tensor, Tensor, Tensor]
    size: int
    executor: AclOpExecutor


def plan() -> Planned:
    """Call phase 1."""
    tensors = upload("gradOutput"), upload("self"), upload("out")
    _, size, executor = aclnn_hardswish_backward_v2_get_workspace_size(*tensors)
    assert executor is not None
    return Planned(tensors, size, executor)


def start(planned: Planned, workspace: DevicePtr | None, stream: Stream) -> int:
    """Call phase 2."""
    return aclnn_hardswish_backward_v2(workspace, planned.size, planned.executor, stream)


def clear(planned: Planned, *pointers: DevicePtr | None) -> None:
    """Free the tensors' memory and more."""
    for pointer in (*(tensor.data for tensor in planned.tensors), *pointers):
        rt.free(pointer)
