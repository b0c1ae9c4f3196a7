"""An executor in a stream: addresses are bound and the kernels launched at synchronise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from host.errors import AclnnError
from host.kernel_binary import find_kernel, specialise
from host.op_def import soc_key
from host.registry import op_def
from host.rt import gm_addr
from host.runtime import DevicePtr, MemoryRange
from host.status import Aclnn
from host.tensor import dense_strides
from simulator.errors import MemoryFault, OutOfBoundsError
from simulator.launch import launch
from simulator.sanitizer.place import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.executor import AclOpExecutor, Node
    from host.op_def import ParamDef
    from host.runtime import Device, Runtime
    from host.tensor import Tensor
    from simulator.launch import Kernel
    from simulator.memory import GlobalAddress
    from simulator.run import Run


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
        definition = op_def(node.op_type)
        kernel = node_kernel(runtime, node)
        arguments: list[Any] = self._addresses(node.inputs, definition.inputs, "read")
        arguments += self._addresses(node.outputs, definition.outputs, "write")
        arguments.append(self._kernel_workspace(plan.workspace_bytes))
        arguments.append(type(plan.data).unpack(plan.data.pack()))
        run = launch(
            specialise(kernel, node),
            plan.block_dim,
            *arguments,
            platform=runtime.platform,
            memory=self.device.memory,
            name=node.op_type,
            strict=node.binary.strict,
        )
        self.executor.runs.append(run)
        if plan.schedule_mode == 0:
            _report_barriers(runtime, node.op_type, run)

    def _addresses(
        self, tensors: Sequence[Tensor], params: Sequence[ParamDef], access: str
    ) -> list[GlobalAddress]:
        """Bind tensors to addresses; with IgnoreContiguous the kernel applies the offset itself."""
        return [
            self._address(tensor, access, whole=param is not None and param.ignore_contiguous)
            for tensor, param in zip_longest(tensors, params[: len(tensors)])
        ]

    def _address(self, tensor: Tensor, access: str, *, whole: bool) -> GlobalAddress:
        """Bind to the first element of the view, or to the ``whole`` storage behind it."""
        home = self.executor.home(tensor)
        if isinstance(home, int):
            return self._workspace_address(home, tensor.nbytes, access)
        ptr = home.data if whole else home.first_byte
        size = home.nbytes
        if whole or not home.is_contiguous:
            item = home.dtype.itemsize
            end = max(home.storage_bytes, home.span[1] * item)
            size = end if whole else end - home.offset * item
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


def _report_barriers(runtime: Runtime, op_type: str, run: Run) -> None:
    """Report a barrier of all blocks that the tiling has not asked to be scheduled at once."""
    for entry in run.blocks[0].entries:
        if entry[0].spec.name == "SyncAll":
            runtime.report(
                "sync.schedule",
                f"{op_type} calls SyncAll on {run.block_dim} blocks, and its tiling leaves the "
                "schedule mode unset: with work in other streams the device may start some blocks "
                "only when others have ended",
                severity="warning",
                location=place(entry),
                api="SyncAll",
                fix="call context.SetScheduleMode(1) in the tiling function",
            )
            return


def launch_check(executor: AclOpExecutor) -> None:
    """Raise when phase 2 cannot start what was planned.

    Raises
    ------
    AclnnError
        561000 for an input that had to be dense; 561003 for a node without a kernel on this
        platform, naming the operator and where its kernel is looked for.
    """
    for tensor in executor.dense_inputs:
        if not tensor.is_contiguous:
            raise AclnnError(
                f"the view of {tensor.name or 'an input'} is not contiguous, and the operator "
                "definition asks for no Contiguous",
                status=Aclnn.INNER,
                argument=tensor.name or None,
                got=f"shape {list(tensor.view_shape)}, strides {list(tensor.strides)}",
                legal=f"strides {list(dense_strides(tensor.view_shape))}",
                fix="copy the tensor to dense memory before the call",
                source="hicann/opbase src/nnopbase/individual_op",
            )
    for node in executor.nodes:
        if node.tiling is not None:
            node_kernel(executor.runtime, node)


def node_kernel(runtime: Runtime, node: Node) -> Kernel:
    """Return the kernel that a node launches on the runtime's platform.

    Raises
    ------
    AclnnError
        561003 if there is none.
    """
    info = runtime.platform_info
    soc = soc_key(info.short_soc_version)
    return find_kernel(op_def(node.op_type).with_interface(soc, node.binary.interface), soc, info)
