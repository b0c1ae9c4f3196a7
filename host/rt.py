"""``aclrt`` calls: devices, streams and device memory.

Every function returns its status first; calls with a result return ``(status, result)``. With
``raise_on_error`` set on the runtime, a status other than 0 is raised as an ``AclError`` instead.
Source of the calls and codes: hicann/runtime docs/api_docs and include/external/acl.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.callsite import callsite
from host.errors import AclError
from host.fault_status import fault_status
from host.runtime import Block, Device, DevicePtr, Stream, current, describe
from host.status import Rt
from simulator.errors import MemoryFault, OutOfBoundsError, SimulatorError
from simulator.launch import collect_runs
from simulator.memory import GlobalAddress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from host.runtime import Runtime
    from simulator.memory import Allocation, Bytes

_UNIT: Final = 32
_SLACK: Final = 32


class MemcpyKind(IntEnum):
    """Direction of a copy; kept for compatibility, the pointers decide."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3


class MemMallocPolicy(IntEnum):
    """Page preference of an allocation; without effect in the simulator."""

    HUGE_FIRST = 0
    HUGE_ONLY = 1
    NORMAL_ONLY = 2


# -- devices -----------------------------------------------------------------------------------


def set_device(device_id: int) -> int:
    """Select a device and create its default context (aclrtSetDevice).

    Returns 107001 when there is no such device and 100001 before ``acl.init``.
    """
    runtime = current()
    if not runtime.initialised:
        return runtime.require_device()[0]
    if not 0 <= device_id < runtime.device_count:
        return runtime.fail(
            Rt.INVALID_DEVICEID,
            f"there is no device {device_id}",
            api="aclrtSetDevice",
            argument="deviceId",
            got=device_id,
            legal=f"0 to {runtime.device_count - 1}",
        )
    runtime.device = runtime.open_device(device_id)
    return Rt.SUCCESS


def get_device() -> tuple[int, int]:
    """Return the selected device id (aclrtGetDevice)."""
    status, device = current().require_device()
    return status, device.id if device is not None else -1


def reset_device(device_id: int) -> int:
    """Give up everything on a device (aclrtResetDevice); what is left on it is reported."""
    runtime = current()
    device = runtime.devices.get(device_id)
    if device is None:
        return runtime.fail(
            Rt.INVALID_DEVICEID,
            f"device {device_id} is not set",
            api="aclrtResetDevice",
            argument="deviceId",
            got=device_id,
            legal=", ".join(map(str, runtime.devices)) or "none",
        )
    runtime.close_device(device, f"rt.reset_device({device_id})")
    return Rt.SUCCESS


def get_soc_name() -> str:
    """Name of the simulated SoC, for example ``Ascend910B1`` (aclrtGetSocName)."""
    return current().platform.soc_version


# -- streams -----------------------------------------------------------------------------------


def create_stream() -> tuple[int, Stream | None]:
    """Create an ordered task queue on the current device (aclrtCreateStream)."""
    status, device = current().require_device()
    if device is None:
        return status, None
    stream = Stream(device, callsite())
    device.streams.append(stream)
    return Rt.SUCCESS, stream


def destroy_stream(stream: Stream | None) -> int:
    """Destroy a stream (aclrtDestroyStream); work that it still holds is never executed."""
    runtime = current()
    status = check_stream(runtime, stream, "aclrtDestroyStream")
    if stream is None or status:
        return status
    if stream.tasks:
        names = ", ".join(task.name for task in stream.tasks)
        runtime.report(
            "host.pending_tasks",
            f"the stream is destroyed while it holds work that was never executed: {names}.",
            fix="call rt.synchronize_stream(stream) before rt.destroy_stream(stream)",
        )
        stream.tasks.clear()
    stream.destroyed = True
    stream.device.streams.remove(stream)
    return Rt.SUCCESS


def synchronize_stream(stream: Stream | None) -> int:
    """Execute the stream's tasks and wait for them (aclrtSynchronizeStream).

    A fault of the device surfaces here: 507044 / 507045 for a read / write outside global memory,
    507034 for a deadlock, 507035 for any other fault of a kernel. The tasks behind it are dropped
    and the stream keeps returning the code. The text and the cause of a fault are in
    ``acl.get_recent_err_msg()`` and ``acl.current().last_error``.
    """
    runtime = current()
    status = check_stream(runtime, stream, "aclrtSynchronizeStream")
    if stream is None or status:
        return status
    if stream.fault:
        return runtime.fail(
            stream.fault,
            "an earlier task of this stream made the device fault",
            api="aclrtSynchronizeStream",
            fix="destroy the stream and reset the device",
        )
    while stream.tasks:
        task = stream.tasks.pop(0)
        try:
            with collect_runs() as runs:
                task.execute()
            stream.runs += runs
        except SimulatorError as cause:
            stream.tasks.clear()
            stream.fault = fault_status(cause)
            error = AclError(
                f"{task.name} made the device fault: {cause}",
                status=stream.fault,
                api="aclrtSynchronizeStream",
                kernel_error=cause,
            )
            return runtime.fail_with(error, cause)
    return Rt.SUCCESS


def synchronize_device() -> int:
    """Execute the tasks of all streams of the current device (aclrtSynchronizeDevice)."""
    status, device = current().require_device()
    if device is None:
        return status
    for stream in list(device.streams):
        status = synchronize_stream(stream) or status
    return status


def check_stream(runtime: Runtime, stream: Stream | None, api: str) -> int:
    """Return 0 when ``stream`` is usable by the current context, else the failed status."""
    if not isinstance(stream, Stream):
        return runtime.fail(
            Rt.INVALID_HANDLE, "the stream is null", api=api, argument="stream", got=repr(stream)
        )
    if stream.destroyed:
        return runtime.fail(
            Rt.INVALID_HANDLE, "the stream was destroyed", api=api, argument="stream"
        )
    if stream.device is not runtime.device:
        return runtime.fail(
            Rt.STREAM_CONTEXT,
            "the stream belongs to another device than the current one",
            api=api,
            argument="stream",
            got=f"device {stream.device.id}",
        )
    return Rt.SUCCESS


# -- memory ------------------------------------------------------------------------------------


def malloc(
    size: int, policy: MemMallocPolicy = MemMallocPolicy.HUGE_FIRST, *, name: str = ""
) -> tuple[int, DevicePtr | None]:
    """Allocate ``size`` bytes of device memory (aclrtMalloc).

    The size is rounded up to 32 bytes and 32 more are added, as the runtime does. The content is
    undefined; here it is a poison pattern that reads as NaN. Size 0 is refused with 107000.
    ``name`` is shown in messages.
    """
    del policy
    runtime = current()
    status, device = runtime.require_device()
    if device is None:
        return status, None
    if size <= 0:
        return runtime.fail(
            Rt.PARAM_INVALID,
            f"cannot allocate {size} bytes",
            api="aclrtMalloc",
            argument="size",
            got=size,
            legal="> 0",
            fix="do not allocate a workspace when its size is 0",
        ), None
    try:
        allocation = device.memory.allocate(-(-size // _UNIT) * _UNIT + _SLACK, name)
    except MemoryFault as fault:
        return runtime.fail(Rt.DEVICE_OOM, fault.message, api="aclrtMalloc", argument="size"), None
    device.blocks[allocation.address] = Block(allocation, size, callsite())
    return Rt.SUCCESS, DevicePtr(allocation.address, device.id)


def free(ptr: DevicePtr | None) -> int:
    """Free device memory (aclrtFree); the pointer must be one that ``malloc`` returned.

    Returns 107000 for a null pointer and 207002 for one that is not the start of live memory.
    """
    runtime = current()
    status, _ = runtime.require_device()
    if status:
        return status
    if ptr is None:
        return runtime.fail(
            Rt.PARAM_INVALID, "the pointer is null", api="aclrtFree", argument="devPtr"
        )
    device = runtime.devices.get(ptr.device_id)
    block = device.blocks.get(ptr.address) if device is not None else None
    if device is None or block is None:
        return runtime.fail(
            Rt.MEMORY_FREE,
            f"{ptr} is not the start of live device memory",
            api="aclrtFree",
            argument="devPtr",
            fix="free every pointer once, and only pointers that rt.malloc returned",
        )
    start = ptr.address
    _report_pending(runtime, device, start, start + len(block.allocation.data), "frees", reads=True)
    del device.blocks[ptr.address]
    device.memory.free(block.allocation)
    return Rt.SUCCESS


def memcpy(
    dst: DevicePtr | NDArray[Any] | None,
    dest_max: int,
    src: DevicePtr | NDArray[Any] | None,
    count: int,
    kind: MemcpyKind,
) -> int:
    """Copy ``count`` bytes at once, without waiting for any stream (aclrtMemcpy).

    Host memory is a C-contiguous numpy array, device memory a :class:`DevicePtr`. The pointers
    decide the direction. Returns 107000 when ``count`` exceeds ``dest_max`` or either memory.
    """
    del kind
    runtime = current()
    status, device = runtime.require_device()
    if device is None:
        return status
    if count > dest_max:
        return _bad_copy(runtime, "count", f"{count} bytes into {dest_max}", f"<= {dest_max}")
    sides: list[Bytes] = []
    for argument, place in (("dst", dst), ("src", src)):
        memory = _bytes_at(runtime, place, argument)
        if memory is None:
            return Rt.PARAM_INVALID
        if count > len(memory):
            return _bad_copy(
                runtime,
                argument,
                f"{count} bytes, but the memory ends after {len(memory)}",
                f"<= {len(memory)}",
            )
        sides.append(memory[:count])
    for place, writing in ((src, False), (dst, True)):
        if isinstance(place, DevicePtr):
            what = "overwrites" if writing else "reads"
            start = place.address
            owner = runtime.devices[place.device_id]
            _report_pending(runtime, owner, start, start + count, what, reads=writing)
    np.copyto(sides[0], sides[1])
    return Rt.SUCCESS


def find_allocation(runtime: Runtime, ptr: DevicePtr) -> tuple[Allocation, int]:
    """Return the live allocation that holds ``ptr`` and the byte offset in it.

    Raises
    ------
    OutOfBoundsError
        If no live allocation holds it.
    """
    return runtime.open_device(ptr.device_id).memory.find(ptr.address)


def accessible_bytes(runtime: Runtime, ptr: DevicePtr) -> int:
    """Bytes from ``ptr`` to the end of the memory that the program asked for; 0 when it is freed.

    The slack that the runtime adds to an allocation does not count.
    """
    try:
        allocation, offset = find_allocation(runtime, ptr)
    except OutOfBoundsError:
        return 0
    block = runtime.open_device(ptr.device_id).blocks.get(allocation.address)
    limit = len(allocation.data) if block is None else block.requested
    return max(0, limit - offset)


def gm_addr(ptr: DevicePtr, nbytes: int | None = None) -> GlobalAddress:
    """Return the GM address that a kernel launched directly gets for a device pointer.

    It ends after ``nbytes``, or with the memory that the program asked for.

    Raises
    ------
    OutOfBoundsError
        If the pointer is not live device memory.
    """
    runtime = current()
    allocation, offset = find_allocation(runtime, ptr)
    usable = accessible_bytes(runtime, ptr)
    return GlobalAddress(allocation, offset, usable if nbytes is None else min(nbytes, usable))


def _bytes_at(
    runtime: Runtime, place: DevicePtr | NDArray[Any] | None, argument: str
) -> Bytes | None:
    if isinstance(place, DevicePtr):
        try:
            allocation, offset = find_allocation(runtime, place)
        except MemoryFault:
            _bad_copy(runtime, argument, f"{place} is not live device memory", "a live address")
            return None
        return allocation.data[offset:]
    if isinstance(place, np.ndarray) and place.flags.c_contiguous:
        return place.reshape(-1).view(np.uint8)
    _bad_copy(
        runtime,
        argument,
        "null" if place is None else f"{type(place).__name__} that is not flat memory",
        "a DevicePtr or a C-contiguous numpy array",
    )
    return None


def _bad_copy(runtime: Runtime, argument: str, got: str, legal: str) -> int:
    return runtime.fail(
        Rt.PARAM_INVALID,
        f"{argument}: {got} ({describe(Rt.PARAM_INVALID)})",
        api="aclrtMemcpy",
        argument=argument,
        legal=legal,
    )


def _report_pending(
    runtime: Runtime, device: Device, start: int, end: int, what: str, *, reads: bool
) -> None:
    """Report device memory that a task still needs: written by it, or with ``reads`` also read."""
    for task in device.pending():
        for used in task.ranges():
            if used.overlaps(start, end) and (used.writes or reads):
                runtime.report(
                    "life.workspace",
                    f"this call {what} device memory that the pending {task.name} still "
                    f"{'writes' if used.writes else 'reads'} ({used.label}).",
                    fix="call rt.synchronize_stream(stream) before",
                    address=start,
                )
                return
