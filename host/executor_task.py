"""An executor in a stream: addresses are bound and the kernels launched at synchronise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from host.kernel_binary import find_kernel, specialise
from host.op_def import soc_key
from host.registry import op_def
from host.rt import gm_addr
from host.runtime import DevicePtr, MemoryRange
from simulator.errors import MemoryFault, OutOfBoundsError
from simulator.launch import launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.executor import AclOpExecutor, Node
    from host.runtime import Device
    from host.tensor import Tensor
    from simulator.memory import GlobalAddress


@dataclass(eq=False)
class ExecutorTask:
    """One enqueued run of an executor with the workspace it was given."""

    executor: AclOpExecutor
    workspace: DevicePtr | None
    device: Device

    @property
    def name(self) -> str:
        """Name of the aclnn call."""
        return self.executor.api

    @property
    def tensors(self) -> Sequence[Tensor]:
        """Tensors of the caller."""
        return self.executor.tensors

    def ranges(self) -> list[MemoryRange]:
        """Memory of the caller's tensors that kernels read or write, and the workspace."""
        found: list[MemoryRange] = []
        launched = (node for node in self.executor.nodes if node.tiling is not None)
        for node in launched:
            for tensors, writes in ((node.inputs, False), (node.outputs, True)):
                for tensor in tensors:
                    home = self.executor.home(tensor)
                    if isinstance(home, int) or home.data is None:
                        continue
                    first, end = (e * home.dtype.itemsize for e in home.span)
                    base = home.data.address
                    label = home.name or ("an output" if writes else "an input")
                    found.append(MemoryRange(base + first, base + end, writes, label))
        if self.workspace is not None and self.executor.workspace_size:
            start = self.workspace.address
            end = start + self.executor.workspace_size
            found.append(MemoryRange(start, end, writes=True, label="the workspace"))
        return found

    def execute(self) -> None:
        """Launch the kernels in order and append their runs to ``executor.runs``.

        Raises
        ------
        SimulatorError
            What the simulated device reports.
        """
        for node in self.executor.nodes:
            if node.tiling is not None:
                self._launch(node)

    def _launch(self, node: Node) -> None:
        runtime = self.executor.runtime
        plan = node.tiling
        if plan is None:
            return
        soc = soc_key(runtime.platform_info.short_soc_version)
        kernel = find_kernel(op_def(node.op_type), soc, runtime.platform_info)
        arguments: list[Any] = [self._address(t, "read") for t in node.inputs]
        arguments += [self._address(t, "write") for t in node.outputs]
        arguments.append(self._kernel_workspace(plan.workspace_bytes))
        arguments.append(type(plan.data).unpack(plan.data.pack()))
        run = launch(
            specialise(kernel, node),
            plan.block_dim,
            *arguments,
            platform=runtime.platform,
            memory=self.device.memory,
            name=node.op_type,
        )
        self.executor.runs.append(run)

    def _address(self, tensor: Tensor, access: str) -> GlobalAddress:
        home = self.executor.home(tensor)
        if isinstance(home, int):
            return self._workspace_address(home, tensor.nbytes, access)
        dense = home.is_contiguous
        ptr = home.first_byte if dense else home.data
        size = home.nbytes if dense else home.storage_bytes
        if ptr is None:
            raise MemoryFault(
                f"tensor {home.name or 'without a name'} has a null data address",
                fix="create the tensor with the address that rt.malloc returned",
            )
        return self._global_address(ptr, size, access, home.name)

    def _workspace_address(self, offset: int, nbytes: int, access: str) -> GlobalAddress:
        if self.workspace is None:
            raise OutOfBoundsError(
                "the workspace is null", code="memory.workspace", access=access, space="GM"
            )
        return self._global_address(self.workspace + offset, nbytes, access, "the workspace")

    def _kernel_workspace(self, nbytes: int) -> GlobalAddress | int:
        if nbytes == 0:
            return 0
        offset = self.executor.workspace_size - self.executor.kernel_workspace
        return self._workspace_address(offset, nbytes, "write")

    def _global_address(self, ptr: DevicePtr, nbytes: int, access: str, name: str) -> GlobalAddress:
        """Bind an address; bytes past the caller's allocation are not accessible."""
        try:
            return gm_addr(ptr, nbytes)
        except OutOfBoundsError as error:
            raise error.with_context(
                access=access,
                space="GM",
                fix=f"{name or 'a tensor'} points to memory that was freed or never allocated",
            ) from None


def launch_check(executor: AclOpExecutor) -> None:
    """Raise when a node of the executor has no kernel on this platform.

    Raises
    ------
    AclnnError
        561003, naming the operator and where its kernel is looked for.
    """
    info = executor.runtime.platform_info
    for node in executor.nodes:
        if node.tiling is not None:
            find_kernel(op_def(node.op_type), soc_key(info.short_soc_version), info)
