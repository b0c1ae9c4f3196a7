"""The frame of a hand-written two-phase aclnn call.

Phase 1 checks, plans and returns ``(status, workspace size, executor)``; phase 2 enqueues the
executor in a stream and returns a status. Source: hicann/opbase
src/nnopbase/composite_op/aclnn_engine/op_executor.cpp.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Final, ParamSpec

from host.callsite import callsite
from host.errors import AclError, AclnnError
from host.executor_task import ExecutorTask, launch_check
from host.rt import accessible_bytes, check_stream
from host.runtime import current
from host.status import Aclnn

if TYPE_CHECKING:
    from collections.abc import Callable

    from host.executor import AclOpExecutor
    from host.runtime import DevicePtr, Runtime, Stream

_P = ParamSpec("_P")

_EXECUTOR_SOURCE: Final = "hicann/opbase src/nnopbase/composite_op/aclnn_engine/op_executor.cpp"


class OutPointer:
    """Stands for a C out-pointer: :data:`OUT` is a valid one, ``None`` is null."""

    def __repr__(self) -> str:
        return "OUT"


OUT: Final = OutPointer()
"""Default of the out-parameters; pass ``None`` to see what a null pointer does."""


def get_workspace_size(
    api: str,
) -> Callable[[Callable[_P, AclOpExecutor]], Callable[_P, tuple[int, int, AclOpExecutor | None]]]:
    """Turn a function that builds an executor, or raises ``AclnnError``, into phase 1 of ``api``.

    The result returns ``(status, workspace size, executor)``; a failure is recorded with its text
    (``acl.get_recent_err_msg``), and raised in ``raise_on_error`` mode.
    """

    def wrap(
        build: Callable[_P, AclOpExecutor],
    ) -> Callable[_P, tuple[int, int, AclOpExecutor | None]]:
        @wraps(build)
        def phase_one(*args: _P.args, **kwargs: _P.kwargs) -> tuple[int, int, AclOpExecutor | None]:
            runtime = current()
            try:
                executor = build(*args, **kwargs)
                executor.plan()
            except AclnnError as error:
                error.with_context(api=f"{api}GetWorkspaceSize", location=callsite())
                return runtime.fail_with(error), 0, None
            runtime.executors[id(executor)] = (executor, callsite())
            return Aclnn.SUCCESS, executor.workspace_size, executor

        return phase_one

    return wrap


def run_executor(
    api: str,
    workspace: DevicePtr | None,
    workspace_size: int,
    executor: AclOpExecutor | None,
    stream: Stream | None,
) -> int:
    """Phase 2 of ``api``: enqueue the executor's tasks.

    Returns 161001 for a null executor, or a null workspace where one is needed; 161002 for a
    workspace that is too small, if the API looks at it; 561000 for an executor that was used up;
    561003 when a kernel is missing; 361001 when the stream cannot take work.
    """
    runtime = current()
    try:
        ready = _ready_executor(runtime, workspace, workspace_size, executor)
        target = _ready_stream(runtime, api, stream)
        launch_check(ready)
    except AclnnError as error:
        error.with_context(api=api, location=callsite())
        return runtime.fail_with(error)
    if not ready.repeatable:
        ready.consumed = True
        runtime.executors.pop(id(ready), None)
    if ready.nodes:
        target.tasks.append(ExecutorTask(ready, workspace, target.device))
    return Aclnn.SUCCESS


def _ready_executor(
    runtime: Runtime,
    workspace: DevicePtr | None,
    workspace_size: int,
    executor: AclOpExecutor | None,
) -> AclOpExecutor:
    if executor is None:
        raise AclnnError(
            "the executor is null",
            status=Aclnn.PARAM_NULLPTR,
            argument="executor",
            fix="pass the executor that phase 1 returned, and check the status of phase 1",
            source=_EXECUTOR_SOURCE,
        )
    if executor.consumed:
        fix = "call phase 1 again, or make the executor repeatable before its first run"
        runtime.report(
            "host.executor_reused", f"the executor of {executor.api} was used up already.", fix=fix
        )
        raise AclnnError(
            "the executor was used up by an earlier run or destroyed",
            status=Aclnn.INNER,
            argument="executor",
            fix=fix,
            source=_EXECUTOR_SOURCE,
        )
    needed = executor.workspace_size
    if workspace is None and max(needed, workspace_size) > 0:
        raise AclnnError(
            "the workspace is null although its size is not 0",
            status=Aclnn.PARAM_NULLPTR,
            argument="workspace",
            got=f"null, size {workspace_size}",
            legal=f"device memory of {needed} bytes",
            source=_EXECUTOR_SOURCE,
        )
    if workspace is not None:
        _check_workspace(runtime, workspace, workspace_size, executor)
    return executor


def _check_workspace(
    runtime: Runtime, workspace: DevicePtr, workspace_size: int, executor: AclOpExecutor
) -> None:
    """Report a workspace that is too small; only some APIs turn that into a status."""
    needed = executor.workspace_size
    usable = min(workspace_size, accessible_bytes(runtime, workspace))
    if usable >= needed:
        return
    if executor.checks_workspace_size and workspace_size < needed:
        raise AclnnError(
            f"the workspace has {workspace_size} bytes, {needed} are needed",
            status=Aclnn.PARAM_INVALID,
            argument="workspaceSize",
            got=workspace_size,
            legal=f">= {needed}",
        )
    runtime.report(
        "host.workspace_too_small",
        f"the workspace of {executor.api} has {usable} usable bytes, {needed} are needed; "
        "the library does not detect this.",
        fix="allocate the size that phase 1 returned and pass it on unchanged",
        needed=needed,
        usable=usable,
    )


def _ready_stream(runtime: Runtime, api: str, stream: Stream | None) -> Stream:
    try:
        with runtime.raising():
            check_stream(runtime, stream, api)
            runtime.require_device()
    except AclError as error:
        raise AclnnError(
            error.message,
            status=Aclnn.RUNTIME_ERROR,
            argument="stream",
            fix=error.fields.get("fix"),
        ) from error
    if stream is None or stream.fault:
        raise AclnnError(
            "an earlier task of the stream made the device fault",
            status=Aclnn.RUNTIME_ERROR,
            argument="stream",
        )
    return stream
