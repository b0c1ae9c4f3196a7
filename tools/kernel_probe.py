"""What a planned launch does with its cores and its unified buffer, read from a run of the kernel.

The kernel runs on zeros. Which core works on what is where its stores to global memory go, and the
UB budget is what its own InitBuffer calls have reserved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from host.executor_task import node_kernel
from host.kernel_binary import specialise
from simulator.ascendc import GetTPipePtr
from simulator.errors import QueueError
from simulator.instruction import WRITE
from simulator.launch import Kernel, launch
from simulator.memory import GlobalAddress, GlobalMemory

if TYPE_CHECKING:
    from host.executor import Node
    from host.runtime import Runtime
    from host.tensor import Tensor
    from simulator.run import Run

    Layout = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Share:
    """Elements of the first output that one core writes.

    Attributes
    ----------
    core : int
    first, end : int
        From the first to behind the last; equal for a core that writes nothing.
    count : int
        How many of them it writes.
    tiles : tuple of int
        Elements of each store, in order.
    """

    core: int
    first: int
    end: int
    count: int
    tiles: tuple[int, ...]


@dataclass(frozen=True)
class Buffers:
    """Equal buffers that one InitBuffer call has reserved."""

    name: str
    address: int
    number: int
    nbytes: int

    @property
    def total(self) -> int:
        """Bytes of all of them."""
        return self.number * self.nbytes


@dataclass(frozen=True)
class Probe:
    """What a run of one planned launch shows.

    Attributes
    ----------
    shares : tuple of Share
        One for each block.
    buffers : tuple of Buffers
        In the order of their InitBuffer calls.
    ub_end : int
        One past the highest byte of UB that the kernel's own tensors are accessed at.
    """

    shares: tuple[Share, ...]
    buffers: tuple[Buffers, ...]
    ub_end: int

    @property
    def full_tile(self) -> int:
        """Elements of the longest store of any core."""
        return max((max(share.tiles) for share in self.shares if share.tiles), default=0)


def probe(runtime: Runtime, node: Node) -> Probe:
    """Run a node's kernel on zeros and look at its stores and buffers.

    Raises
    ------
    SimulatorError
        What the kernel runs into.
    """
    if node.tiling is None:
        return Probe((), (), 0)
    kernel = specialise(node_kernel(runtime, node), node)
    layouts: list[Layout] = []
    memory = GlobalMemory()
    arguments: list[Any] = [_zeros(memory, tensor) for tensor in (*node.inputs, *node.outputs)]
    workspace: Any = 0
    if node.tiling.workspace_bytes:
        workspace = GlobalAddress(memory.allocate(node.tiling.workspace_bytes, "workspace"))
    data = node.tiling.data
    run = launch(
        _watched(kernel, layouts),
        node.tiling.block_dim,
        *arguments,
        workspace,
        type(data).unpack(data.pack()),
        platform=runtime.platform,
        memory=memory,
        name=node.op_type,
        strict=node.binary.strict,
    )
    target = arguments[len(node.inputs)]
    size = node.outputs[0].dtype.itemsize
    return Probe(
        tuple(_share(run, core, target, size) for core in range(run.block_dim)),
        _grouped(max(layouts, key=len, default=())),
        _ub_end(run),
    )


def _zeros(memory: GlobalMemory, tensor: Tensor) -> GlobalAddress:
    return GlobalAddress(memory.allocate(tensor.nbytes, tensor.name, poisoned=False))


def _watched(kernel: Kernel, layouts: list[Layout]) -> Kernel:
    """Return the kernel with a look at its TPipe at the end of every block."""

    @wraps(kernel.function)
    def watched(*args: Any) -> None:
        kernel.function(*args)
        try:
            layouts.append(tuple(GetTPipePtr().layout))
        except QueueError:
            # A block without work returns before it makes a TPipe.
            return

    return Kernel(watched, auto_sync=kernel.auto_sync)


def _share(run: Run, core: int, target: GlobalAddress, itemsize: int) -> Share:
    tiles: list[int] = []
    first, end = 0, 0
    for plan, _, _, params in run.blocks[core].entries:
        address = next((p for p in params if isinstance(p, GlobalAddress)), None)
        if address is None or address.allocation is not target.allocation:
            continue
        for operand in plan.operands:
            if operand.space != "GM" or operand.role != WRITE or not operand.accesses:
                continue
            spans = [access.span() for access in operand.accesses]
            low = (min(start for start, _ in spans) + address.offset) // itemsize
            high = -(-(max(stop for _, stop in spans) + address.offset) // itemsize)
            first = min(first, low) if tiles else low
            end = max(end, high)
            tiles.append(sum(access.nbytes for access in operand.accesses) // itemsize)
    return Share(core, first, end, sum(tiles), tuple(tiles))


def _ub_end(run: Run) -> int:
    end = 0
    for block in run.blocks:
        for plan in {entry[0] for entry in block.entries}:
            for operand in plan.operands:
                # What Select and others keep in the reserved area is not the kernel's.
                if operand.space == "UB" and not operand.name.startswith("reserved"):
                    end = max(end, *(access.span()[1] for access in operand.accesses), 0)
    return end


def _grouped(layout: Layout) -> tuple[Buffers, ...]:
    """Join neighbours of one kind and size, as one InitBuffer call lays them out."""
    groups: list[Buffers] = []
    for name, address, nbytes in layout:
        last = groups[-1] if groups else None
        if last is not None and (last.name, last.nbytes) == (name, nbytes):
            groups[-1] = Buffers(name, last.address, last.number + 1, nbytes)
        else:
            groups.append(Buffers(name, address, 1, nbytes))
    return tuple(groups)
