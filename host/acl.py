"""``acl`` calls: start and end of a host program, tensors, executors, error text.

::

    from host import acl, rt

    acl.init()
    rt.set_device(0)
    status, stream = rt.create_stream()

Functions return status codes as in C; ``acl.current().raise_on_error = True``, or
``acl.init({"raise_on_error": True})``, makes them raise instead. State lives in a
:class:`~host.runtime.Runtime`; ``with acl.Runtime("950") as runtime:`` gives a block its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host import rt
from host.callsite import callsite
from host.datatypes import DataType, Format
from host.errors import AclError, AclnnError, HostProgramWarning
from host.runtime import DevicePtr, Runtime, Stream, current
from host.status import Acl, Aclnn, Rt, status_name
from host.tensor import Tensor
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.executor import AclOpExecutor

__all__ = [
    "Acl",
    "AclError",
    "Aclnn",
    "AclnnError",
    "DataType",
    "DevicePtr",
    "Format",
    "HostProgramWarning",
    "Rt",
    "Runtime",
    "Stream",
    "Tensor",
    "create_tensor",
    "current",
    "destroy_acl_op_executor",
    "destroy_tensor",
    "finalize",
    "get_recent_err_msg",
    "init",
    "rt",
    "set_acl_op_executor_repeatable",
    "status_name",
]

_CONFIG_KEYS = ("platform", "device_count", "raise_on_error")


def init(config: Mapping[str, Any] | str | Path | None = None) -> int:
    """Start the program (aclInit).

    Parameters
    ----------
    config : mapping or path of a JSON file, optional
        ``platform`` (name of a profile), ``device_count`` and ``raise_on_error``; whatever is left
        out stays as the current runtime has it.

    Returns
    -------
    int
        100002 when called a second time, which programs may ignore; 100003 for a configuration
        that cannot be read or understood.
    """
    runtime = current()
    if runtime.initialised:
        return runtime.fail(
            Acl.REPEAT_INITIALIZE, "acl.init was called before", api="aclInit", fix="ignore it"
        )
    try:
        settings = _settings(config)
        if "platform" in settings or "device_count" in settings:
            runtime.configure(
                settings.get("platform", runtime.platform),
                settings.get("device_count", runtime.device_count),
            )
    except (OSError, ValueError) as error:
        return runtime.fail(
            Acl.INVALID_FILE,
            f"the configuration is not usable: {error}",
            api="aclInit",
            argument="configPath",
            got=repr(config),
            legal=", ".join(_CONFIG_KEYS),
        )
    runtime.raise_on_error = settings.get("raise_on_error", runtime.raise_on_error)
    runtime.initialised = True
    runtime.finalised = False
    return Acl.SUCCESS


def _settings(config: Mapping[str, Any] | str | Path | None) -> dict[str, Any]:
    if config is None:
        return {}
    read = config if isinstance(config, Mapping) else json.loads(Path(config).read_text("utf-8"))
    if not isinstance(read, Mapping):
        raise ConfigError("the configuration is not a JSON object")
    for key in read:
        if key not in _CONFIG_KEYS:
            raise ConfigError(f"there is no setting {key!r}", legal=", ".join(_CONFIG_KEYS))
    return dict(read)


def finalize() -> int:
    """End the program (aclFinalize) and report everything that it left behind.

    Leaks are findings (``acl.current().findings``) and warnings, not a status. Returns 100037 when
    called a second time and 100001 without ``acl.init``.
    """
    runtime = current()
    if not runtime.initialised:
        status = Acl.REPEAT_FINALIZE if runtime.finalised else Acl.UNINITIALIZE
        what = "acl.finalize was called before" if runtime.finalised else "acl.init was not called"
        return runtime.fail(status, what, api="aclFinalize")
    for tensor, where in runtime.tensors.values():
        runtime.report(
            "host.leak_tensor",
            f"acl.finalize() with {tensor!r} left, created at {where}.",
            fix="call acl.destroy_tensor(tensor)",
            location=where,
            other=callsite(),
        )
    for executor, where in runtime.executors.values():
        runtime.report(
            "host.leak_executor",
            f"acl.finalize() with the executor of {executor.api} left, planned at {where}.",
            fix="run it in phase 2, or call acl.destroy_acl_op_executor(executor)",
            location=where,
            other=callsite(),
        )
    for device in list(runtime.devices.values()):
        runtime.close_device(device, "acl.finalize()")
    runtime.tensors.clear()
    runtime.executors.clear()
    runtime.initialised = False
    runtime.finalised = True
    return Acl.SUCCESS


def create_tensor(
    view_dims: Sequence[int],
    data_type: DataType,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    format: Format = Format.ND,
    storage_dims: Sequence[int] | None = None,
    data: DevicePtr | None = None,
    *,
    name: str = "",
) -> Tensor | None:
    """Describe device memory as a tensor (aclCreateTensor); the memory is borrowed.

    Returns ``None`` when the description is not valid, which the next aclnn call reports as
    161001; the reason is in ``get_recent_err_msg``. A view that leaves its storage is reported.
    """
    runtime = current()
    try:
        tensor = Tensor(
            view_dims, data_type, strides, offset, format, storage_dims, data, name=name
        )
    except AclError as error:
        error.with_context(location=callsite())
        runtime.fail_with(error)
        return None
    elements = tensor.storage_bytes // tensor.dtype.itemsize
    if tensor.span[1] > elements and not tensor.is_empty:
        runtime.report(
            "host.view_outside_storage",
            f"{tensor!r} reaches element {tensor.span[1] - 1} of a storage of {elements}.",
            fix="give storageDims the size of the buffer behind the view",
        )
    runtime.tensors[id(tensor)] = (tensor, callsite())
    return tensor


def destroy_tensor(tensor: Tensor | None) -> int:
    """Destroy a tensor's description (aclDestroyTensor); its memory is not freed.

    Destroying it while an executor or a pending task still uses it is reported.
    """
    runtime = current()
    if tensor is None or tensor.destroyed:
        return runtime.fail(
            Acl.INVALID_PARAM,
            "the tensor is null" if tensor is None else f"{tensor!r} was destroyed before",
            api="aclDestroyTensor",
            argument="tensor",
        )
    pending = [task for device in runtime.devices.values() for task in device.pending()]
    users = [task.name for task in pending if any(t is tensor for t in task.tensors)]
    users += [e.api for e, _ in runtime.executors.values() if any(t is tensor for t in e.tensors)]
    if users:
        runtime.report(
            "host.tensor_destroyed_early",
            f"{tensor!r} is destroyed while {users[0]} has not run yet.",
            fix="destroy tensors after rt.synchronize_stream(stream)",
        )
    tensor.destroyed = True
    runtime.tensors.pop(id(tensor), None)
    return Acl.SUCCESS


def set_acl_op_executor_repeatable(executor: AclOpExecutor | None) -> int:
    """Keep an executor after its run (aclSetAclOpExecutorRepeatable).

    It must be ended with :func:`destroy_acl_op_executor`.
    """
    if executor is None or executor.consumed:
        return _bad_executor("aclSetAclOpExecutorRepeatable", executor)
    executor.repeatable = True
    return Aclnn.SUCCESS


def destroy_acl_op_executor(executor: AclOpExecutor | None) -> int:
    """End an executor that was not run or is repeatable (aclDestroyAclOpExecutor)."""
    if executor is None or executor.consumed:
        return _bad_executor("aclDestroyAclOpExecutor", executor)
    executor.consumed = True
    executor.repeatable = False
    current().executors.pop(id(executor), None)
    return Aclnn.SUCCESS


def get_recent_err_msg() -> str | None:
    """Return the text of the latest failed call and forget it (aclGetRecentErrMsg)."""
    runtime = current()
    error, runtime.last_error = runtime.last_error, None
    return None if error is None else str(error)


def _bad_executor(api: str, executor: AclOpExecutor | None) -> int:
    missing = executor is None
    error = AclnnError(
        "the executor is null" if missing else "the executor was used up or destroyed",
        status=Aclnn.PARAM_NULLPTR if missing else Aclnn.INNER,
        argument="executor",
        api=api,
        location=callsite(),
    )
    return current().fail_with(error)
