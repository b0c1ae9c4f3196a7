"""One call on numpy arrays that goes the whole way of a host program.

Upload, phase 1, workspace, phase 2, synchronise, download, on a runtime of its own, so nothing is
left behind.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host import acl, rt
from host.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from host.executor import AclOpExecutor
    from simulator.platforms import Platform
    from simulator.run import Run


@dataclass(frozen=True, eq=False)
class OpResult:
    """Outputs of a call, and how they came about.

    Attributes
    ----------
    outputs : tuple of numpy.ndarray
        In the order of the operator's outputs.
    executor : AclOpExecutor
        Its ``graph()`` shows the nodes, its ``runs`` what was launched.
    """

    outputs: tuple[NDArray[Any], ...]
    executor: AclOpExecutor

    @property
    def runs(self) -> list[Run]:
        """One Run per launched kernel, in order."""
        return self.executor.runs


_PLAN_ONLY: Final[ContextVar[bool]] = ContextVar("host_plan_only", default=False)


@contextmanager
def plan_only() -> Iterator[None]:
    """Let operator calls inside the block stop after phase 1.

    Their results hold the planned executor, no runs, and outputs that nothing has written (zeros).
    """
    token = _PLAN_ONLY.set(True)
    try:
        yield
    finally:
        _PLAN_ONLY.reset(token)


def call_operator(
    plan: Callable[..., tuple[int, int, AclOpExecutor | None]],
    launch: Callable[..., int],
    inputs: Mapping[str, NDArray[Any]],
    outputs: Mapping[str, tuple[Sequence[int], Any]],
    platform: str | Platform,
    **options: Any,
) -> OpResult:
    """Run a two-phase call on arrays.

    Parameters
    ----------
    plan, launch : callable
        Phase 1, called with the input tensors, the output tensors and ``options``; and phase 2.
    inputs : mapping of str to numpy.ndarray
        Any strides. They become the tensors' strides; only an array that an aclTensor cannot
        express (negative strides, or strides that split an element) is made dense first.
    outputs : mapping of str to (shape, dtype)
        Outputs to allocate, dense.
    platform : str or Platform
        Device to simulate.

    Raises
    ------
    AclnnError
        With status, status name and argument, when an argument check fails.
    AclError
        When the device faults; its cause is the simulator's error at the kernel's line.
    """
    with acl.Runtime(platform, raise_on_error=True):
        acl.init()
        rt.set_device(0)
        _, stream = rt.create_stream()
        given = [Tensor.from_numpy(_expressible(a), name=name) for name, a in inputs.items()]
        made = [
            Tensor.from_numpy(np.zeros(tuple(shape), dtype), name=name)
            for name, (shape, dtype) in outputs.items()
        ]
        _, size, executor = plan(*given, *made, **options)
        if executor is None:
            raise acl.AclnnError("phase 1 made no executor", status=acl.Aclnn.INNER_NULLPTR)
        if not _PLAN_ONLY.get():
            workspace = rt.malloc(size, name="workspace")[1] if size else None
            launch(workspace, size, executor, stream)
            rt.synchronize_stream(stream)
        return OpResult(tuple(tensor.to_numpy() for tensor in made), executor)


def _expressible(array: NDArray[Any]) -> NDArray[Any]:
    size = array.dtype.itemsize
    steps = [s for s, d in zip(array.strides, array.shape, strict=True) if d > 1]
    return np.ascontiguousarray(array) if any(s < 0 or s % size for s in steps) else array
