"""Two-phase calls that are generated from an operator definition ("individual" operators).

A generated call launches the one operator as it is defined: it checks null arguments, the SoC and
the column of data types and formats, and nothing else. Executors are kept and come back when phase
1 is called again with equal arguments. Source: mirror-cann/asc-devkit
tools/build/opbuild/op_aclnn_generator.cpp and hicann/opbase src/nnopbase/individual_op.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from host.checks import require
from host.errors import AclnnError
from host.executor import DEFAULT_BINARY, AclOpExecutor
from host.executor_task import ExecutorTask
from host.kernel_binary import find_kernel
from host.l0 import Contiguous, ViewCopy
from host.op_def import soc_key
from host.registry import op_def
from host.runtime import current
from host.status import Aclnn
from simulator.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from host.aclnn import OutPointer
    from host.executor import Binary
    from host.op_def import OpDef, ParamDef
    from host.platform_ascendc import PlatformInfo
    from host.runtime import Runtime
    from host.tensor import Tensor

_GENERATOR: Final = "mirror-cann/asc-devkit tools/build/opbuild/op_aclnn_generator.cpp"
_EXECUTOR: Final = "hicann/opbase src/nnopbase/individual_op/executor/indv_executor.cpp"


@dataclass(frozen=True)
class IndividualOp:
    """A generated call.

    Attributes
    ----------
    api : str
        C name, without ``GetWorkspaceSize``.
    op_type : str
        Operator type; the call takes its inputs and outputs in the order of the definition.
    binary : Binary
        Kernel to launch.
    checks : callable, optional
        Further checks of the tensors by name, which the generated code does not have.
    auto_contiguous : bool
        Treat every parameter as if the definition said AutoContiguous.
    """

    api: str
    op_type: str
    binary: Binary = DEFAULT_BINARY
    checks: Callable[[dict[str, Tensor]], None] | None = None
    auto_contiguous: bool = False

    def build(
        self,
        tensors: Sequence[Tensor | None],
        workspace_size: OutPointer | None,
        executor: OutPointer | None,
    ) -> AclOpExecutor:
        """Run phase 1 up to the executor.

        Raises
        ------
        AclnnError
            161001 for a null argument; 561003 when the operator is not registered for the SoC or
            has no kernel there; 161002 for data types or formats that are no registered column;
            561002 when tiling fails.
        """
        definition = op_def(self.op_type)
        params = (*definition.inputs, *definition.outputs)
        named = {
            param.name: require(param.name, tensor, _GENERATOR)
            for param, tensor in zip(params, tensors, strict=True)
        }
        require("executor", executor, _EXECUTOR)
        runtime = current()
        key = (self, *(_description(tensor) for tensor in named.values()))
        kept = _take(runtime, key, tuple(named.values()))
        require("workspaceSize", workspace_size, _EXECUTOR)
        if kept is not None:
            return kept
        _check_registered(definition, tuple(named.values()), runtime.platform_info, self.binary)
        if self.checks is not None:
            self.checks(named)
        made = self._plan(runtime, definition, tuple(named.values()))
        runtime.executor_space[key] = made
        return made

    def _plan(
        self, runtime: Runtime, definition: OpDef, tensors: tuple[Tensor, ...]
    ) -> AclOpExecutor:
        plan = AclOpExecutor(runtime, self.api, tensors)
        plan.checks_workspace_size = True
        cut = len(definition.inputs)
        inputs, outputs = tensors[:cut], tensors[cut:]
        if all(tensor.is_empty for tensor in outputs):
            return plan
        params = [self._seen(param) for param in definition.inputs]
        plan.dense_inputs = tuple(
            tensor
            for tensor, param in zip(inputs, params, strict=True)
            if not param.auto_contiguous and not param.ignore_contiguous
        )
        sources = [
            Contiguous(tensor, plan) if param.auto_contiguous else tensor
            for tensor, param in zip(inputs, params, strict=True)
        ]
        copied = [self._seen(param).auto_contiguous for param in definition.outputs]
        targets = [
            plan.AllocTensor(tensor.view_shape, tensor.dtype, tensor.format) if copy else tensor
            for tensor, copy in zip(outputs, copied, strict=True)
        ]
        plan.launch(self.op_type, sources, targets, binary=self.binary)
        for tensor, target, copy in zip(outputs, targets, copied, strict=True):
            if copy:
                ViewCopy(target, tensor, plan)
        return plan

    def _seen(self, param: ParamDef) -> ParamDef:
        return replace(param, auto_contiguous=True) if self.auto_contiguous else param


def _check_registered(
    definition: OpDef, tensors: tuple[Tensor, ...], info: PlatformInfo, binary: Binary
) -> None:
    soc = soc_key(info.short_soc_version)
    if soc not in definition.ai_core:
        raise AclnnError(
            f"{definition.op_type} is not registered for {info.short_soc_version}",
            status=Aclnn.INNER_FIND_KERNEL_ERROR,
            got=soc,
            legal=", ".join(definition.ai_core),
            source=_EXECUTOR,
        )
    used = [(tensor.dtype, tensor.format) for tensor in tensors]
    if definition.column_of(soc, used) is None:
        names = [param.name for param in definition.params(soc)]
        raise AclnnError(
            "the data types and formats of the tensors are no registered combination",
            status=Aclnn.PARAM_INVALID,
            argument=_first_misfit(definition, soc, used),
            got=_column_text(names, used),
            legal=" or ".join(_column_text(names, column) for column in definition.columns(soc)),
            source=_EXECUTOR,
        )
    find_kernel(definition.with_interface(soc, binary.interface), soc, info)


def _first_misfit(definition: OpDef, soc: str, used: Sequence[Any]) -> str:
    """Name of the first parameter after which no column fits any more."""
    columns = definition.columns(soc)
    for index, param in enumerate(definition.params(soc)):
        columns = [column for column in columns if column[index] == used[index]]
        if not columns:
            return param.name
    raise InternalError(f"every parameter of {definition.op_type} fits a column")


def _column_text(names: Sequence[str], column: Sequence[Any]) -> str:
    return ", ".join(
        f"{name} {dtype.name}/{form.name}"
        for name, (dtype, form) in zip(names, column, strict=True)
    )


# -- the space of executors --------------------------------------------------------------------


def _description(tensor: Tensor) -> tuple[Any, ...]:
    """What has to be equal for a kept executor to fit: everything but the address."""
    return (
        tensor.view_shape,
        tensor.strides,
        tensor.offset,
        tensor.storage_shape,
        tensor.dtype,
        tensor.format,
    )


def _take(runtime: Runtime, key: Any, tensors: tuple[Tensor, ...]) -> AclOpExecutor | None:
    """Return the kept executor for ``key`` on the addresses of ``tensors``, if it can be used.

    One whose run still waits in a stream is left alone, as is one with views of the old addresses.
    """
    kept: AclOpExecutor | None = runtime.executor_space.get(key)
    if kept is None:
        return None
    tasks = [task for device in runtime.devices.values() for task in device.pending()]
    if any(isinstance(task, ExecutorTask) and task.executor is kept for task in tasks):
        return None
    return kept if kept.renew(tensors) else None
