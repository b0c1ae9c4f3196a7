"""Which kind of fault an error of a call is: from what the call says to a code of the catalog."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DeadlockError,
    DTypeError,
    FindingError,
    FlagError,
    OutOfBoundsError,
    UbExhaustedError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from simulator.errors import SimulatorError

_BY_KIND: Final = {
    "copy.len": "copy.len",
    "queue.empty": "que.order",
    "queue.alloctensor_state": "que.order",
    "queue.enque_state": "que.order",
    "queue.deque_state": "que.order",
    "queue.freetensor_state": "que.order",
    "queue.freeallevent_state": "que.order",
    "queue.foreign_tensor": "que.order",
    "queue.positions": "que.order",
    "queue.depth0": "que.order",
    "queue.not_initialised": "que.order",
    "queue.no_pipe": "que.order",
    "queue.full": "que.depth",
    "queue.no_free_buffer": "que.depth",
    "queue.too_many_buffers": "que.slots",
    "queue.event_ids": "que.slots",
    "queue.mutex_ids": "flag.range",
    "sync.double_set": "flag.reset",
    "sync.cross_overflow": "sync.balance",
    "sync.mutex": "flag.pair",
    "memory.ub_exhausted": "ub.capacity",
    "memory.workspace": "ub.scratch",
    "host.tiling_field": "tile.wrap",
    "host.tiling_zero": "tile.zero",
    "kernel.trap": "",
}
"""Codes of errors that name one kind of fault."""

_STRIDES: Final = re.compile(r"(blk|block|rep|repeat)(Stride|Str)|Str(id)?e?$|RepStride|BlkStride")
_COPY_FIELDS: Final = frozenset({"blockCount", "blockLen", "srcStride", "dstStride"})
_PADDING: Final = frozenset({"leftPadding", "rightPadding", "paddingValue"})
_SCRATCH: Final = frozenset({"workLocal", "sharedTmpBuffer", "tmp", "tmpLocal", "workspace"})
_COMPARES: Final = frozenset({"Compare", "CompareScalar", "Compares"})


def code_of(error: SimulatorError) -> str:
    """Return the code of the catalog that an error belongs to; empty if it belongs to none."""
    if isinstance(error, FindingError):
        return error.kind
    known = _BY_KIND.get(error.kind)
    if known is not None:
        return known
    fields = error.fields
    argument, api = str(fields.get("argument", "")), str(fields.get("api", ""))
    for kind, judge in _BY_CLASS:
        if isinstance(error, kind):
            return str(judge(error, api, argument))
    return ""


def _deadlock(error: Any, api: str, argument: str) -> str:
    waits = " ".join(map(str, error.fields.get("waits", ())))
    if "get no core" in str(error.fields.get("fix", "")):
        return "sync.schedule"
    return "sync.arrivals" if "SyncAll" in waits else "deadlock"


def _flag(error: Any, api: str, argument: str) -> str:
    out_of_range = argument in ("eventID", "flagId")
    return "flag.range" if out_of_range else "flag.wrong_pipe"


def _dtype(error: Any, api: str, argument: str) -> str:
    return "cast.pair"


def _unsupported(error: Any, api: str, argument: str) -> str:
    return "cast.pair" if "->" in str(error.fields.get("got", "")) else "platform.missing"


def _bounds(error: Any, api: str, argument: str) -> str:
    if error.kind == "memory.gm_bounds":
        if "workspace" in error.message.lower():
            return "tile.workspace"
        return "copy.gap_unit" if error.fields.get("pitch_as_gap") else "gm.oob"
    return "ub.scratch" if argument in _SCRATCH else "vec.oob"


def _alignment(error: Any, api: str, argument: str) -> str:
    if argument == "count" and api in _COMPARES:
        return "cmp.count"
    return "copy.field" if argument in _COPY_FIELDS else "copy.ub_align"


def _argument(error: Any, api: str, argument: str) -> str:
    got = error.fields.get("got")
    if argument == "count" and api in _COMPARES and not _is_negative(got):
        return "cmp.count"
    if argument == "count" and _is_negative(got):
        return "tile.negative"
    if argument in _PADDING:
        return "copy.pad_args"
    if argument == "repeatTime":
        return "vec.repeat"
    if api.startswith("DataCopy") and argument in _COPY_FIELDS:
        return "copy.field"
    if argument and _STRIDES.search(argument):
        return "vec.stride"
    if "slice has no step" in error.message or "not C-contiguous" in error.message:
        return "vec.noncontig"
    if argument == "pipe" and api == "PipeBarrier":
        return "flag.wrong_pipe"
    if api == "Select" and "src1" in (argument, error.message.split(" ")[0]):
        return "sel.mode"
    return ""


def _is_negative(got: Any) -> bool:
    return isinstance(got, int) and got < 0


_BY_CLASS: Final[tuple[tuple[type[Any], Any], ...]] = (
    (DeadlockError, _deadlock),
    (FlagError, _flag),
    (DTypeError, _dtype),
    (UnsupportedError, _unsupported),
    (UbExhaustedError, lambda *_: "ub.capacity"),
    (OutOfBoundsError, _bounds),
    (AlignmentError, _alignment),
    (ArgumentError, _argument),
)
