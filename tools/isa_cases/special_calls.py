"""How a group of special-value rows becomes one kernel: rows side by side in the lanes of a call.

A builder turns the rows of a group into a :class:`Batch`. Names of register calls are mapped to the
memory call that is built on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.ascendc import CMPMODE, RoundMode
from simulator.dtypes import half, uint8_t
from simulator.enums import ReduceOrder
from simulator.errors import ArgumentError, SimulatorError, UnsupportedError
from tools.isa_cases.calls import api, with_template
from tools.isa_cases.probe import Filled
from tools.isa_cases.tokens import expand, from_storage, to_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.dtypes import DType
    from tools.isa_cases.probe import Probe

BLOCK: Final = 32
REPEAT: Final = 256

COMPARED: Final = 64
"""Bytes of result bits that one Compares of a group may write."""

MEMORY_NAMES: Final = {
    "MulDstAdd": ("FusedMulAdd",),
    "Log": ("Log", "Ln"),
    "Arange": ("CreateVecIndex",),
}
"""Register calls and the memory call of the same rule; other names are the memory call's own."""

REGISTER_ONLY: Final = frozenset({"AddC", "SubC"})
"""Register calls that no memory call is built on: their carry is a mask register."""


THROUGH_CAST_DEQUANT: Final = frozenset(
    {("Cast", "int16_t", "int8_t"), ("Cast", "int16_t", "uint8_t")}
)
"""Pairs that the 910B table lists under Cast although only CastDequant (scale 1) converts them."""


class Group(NamedTuple):
    """Rows that one call can take: same call, form and types. ``rows`` holds their input tokens."""

    arch: str
    api: str
    form: str
    src_dtypes: tuple[DType, ...]
    dst_dtype: DType
    operands: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class Batch:
    """A kernel for a group: tensors, calls, and the elements of each row afterwards.

    ``errors`` maps rows to the error of the call that should have produced them.
    """

    tensors: dict[str, Any]
    body: Callable[[Any], None]
    read: Callable[[Probe], list[list[int | float]]]
    errors: dict[int, SimulatorError] = field(default_factory=dict)


def batch(group: Group) -> Batch:
    """Return the kernel that computes the rows of ``group``.

    Raises
    ------
    UnsupportedError
        If no memory call computes them.
    """
    pair = (group.api, group.src_dtypes[0].name, group.dst_dtype.name)
    if group.arch == "2201" and pair in THROUGH_CAST_DEQUANT:
        return _cast_dequant(group)
    if group.api in REGISTER_ONLY:
        raise UnsupportedError("no memory API", got=group.api)
    return _BUILDERS.get(group.api, _elementwise)(group)


def _function(group: Group) -> Callable[..., Any]:
    return api(*MEMORY_NAMES.get(group.api, (group.api,)))


def _padded(values: list[int | float], unit: int) -> list[int | float]:
    return values + values[-1:] * (-len(values) % unit)


def _inputs(group: Group, rows: Sequence[int], unit: int) -> dict[str, list[int | float]]:
    """Return the operand values of ``rows``, filled up to a multiple of ``unit``."""
    types = group.src_dtypes + group.src_dtypes[-1:] * len(group.operands)
    return {
        name: _padded([expand(group.rows[r][i], dtype)[0] for r in rows], unit)
        for i, (name, dtype) in enumerate(zip(group.operands, types, strict=False))
    }


def _lanes(group: Group) -> int:
    widest = max(d.itemsize for d in (*group.src_dtypes, group.dst_dtype))
    return max(REPEAT // widest, REPEAT // min(d.itemsize for d in group.src_dtypes))


def _elementwise(group: Group) -> Batch:
    """One call for all rows, or one for each value of a scalar operand."""
    if "scalar" in group.operands:
        return _with_scalar(group)
    rows = range(len(group.rows))
    types = dict(zip(group.operands, group.src_dtypes * len(group.operands), strict=False))
    values = _inputs(group, rows, _lanes(group))
    count = len(next(iter(values.values())))
    tensors = {
        "dst" if name == "dst_in" else name: Filled(
            group.dst_dtype if name == "dst_in" else types[name],
            to_storage(column, group.dst_dtype if name == "dst_in" else types[name]),
        )
        for name, column in values.items()
    }
    tensors.setdefault("dst", _blank(group.dst_dtype, count))
    sources = [name for name in group.operands if name != "dst_in"]

    def body(t: Any) -> None:
        _call(group, t.dst, [getattr(t, name) for name in sources], count)

    return Batch(tensors, body, lambda done: _column(group, done["dst"], len(group.rows)))


def _with_scalar(group: Group) -> Batch:
    """Rows of equal scalar side by side, one call for each scalar value."""
    position = group.operands.index("scalar")
    by_scalar: dict[str, list[int]] = {}
    for index, row in enumerate(group.rows):
        by_scalar.setdefault(row[position], []).append(index)
    lanes = _lanes(group)
    columns: dict[str, list[int | float]] = {name: [] for name in group.operands}
    segments = []
    for members in by_scalar.values():
        values = _inputs(group, members, lanes)
        start = len(columns["scalar"])
        for name in group.operands:
            columns[name] += values[name]
        segments.append((start, len(values["scalar"]), members, values["scalar"][0]))
    names = [n for n in group.operands if n not in ("scalar", "dst_in")]
    tensors = {
        n: Filled(group.src_dtypes[0], to_storage(columns[n], group.src_dtypes[0])) for n in names
    }
    if "dst_in" in columns:
        tensors["dst"] = Filled(group.dst_dtype, to_storage(columns["dst_in"], group.dst_dtype))
    else:
        tensors["dst"] = _blank(group.dst_dtype, len(columns["scalar"]))
    compares = group.api == "Compares"
    result = Batch(tensors, lambda t: None, lambda done: [])

    def body(t: Any) -> None:
        for number, (start, count, members, scalar) in enumerate(segments):
            dst = t.dst[number * COMPARED if compares else start]
            try:
                _call(group, dst, [getattr(t, n)[start] for n in names], count, scalar)
            except SimulatorError as error:
                result.errors.update(dict.fromkeys(members, error))

    def read(done: Probe) -> list[list[int | float]]:
        out: list[list[int | float]] = [[] for _ in group.rows]
        for number, (start, count, members, _) in enumerate(segments):
            first = number * COMPARED if compares else start
            raw = done["dst"][first : first + count]
            for member, value in zip(members, _column(group, raw, len(members)), strict=True):
                out[member] = value
        return out

    result.body, result.read = body, read
    if compares:
        tensors["dst"] = _blank(group.dst_dtype, len(segments) * COMPARED)
    return result


def _blank(dtype: DType, count: int) -> Filled:
    return Filled(dtype, np.zeros(-(-count // 2) if dtype.bits < 8 else count, dtype.numpy))


def _column(group: Group, raw: Any, rows: int) -> list[list[int | float]]:
    if group.api in ("Compare", "Compares"):
        bits = np.unpackbits(raw.view(np.uint8), bitorder="little")
        return [[int(bit)] for bit in bits[:rows]]
    return [[value] for value in from_storage(raw, group.dst_dtype)[:rows]]


def _call(
    group: Group, dst: Any, sources: list[Any], count: int, scalar: int | float | None = None
) -> None:
    function = _function(group)
    scalars = () if scalar is None else (scalar,)
    if group.api in ("Compare", "Compares"):
        function(dst, *sources, *scalars, CMPMODE[group.form], count)
    elif group.api == "Truncate":
        with_template(function, (dst, *sources, count), roundMode=RoundMode.CAST_TRUNC)
    elif group.api == "Cast":
        _cast(function, dst, sources[0], count)
    else:
        function(dst, *sources, *scalars, count)


def _cast(function: Callable[..., Any], dst: Any, src: Any, count: int) -> None:
    """Cast to nearest even where the pair rounds: the tables do not state the mode."""
    last: SimulatorError | None = None
    for mode in (
        RoundMode.CAST_RINT,
        RoundMode.CAST_NONE,
        RoundMode.CAST_ROUND,
        RoundMode.CAST_TRUNC,
    ):
        try:
            function(dst, src, mode, count)
            return
        except ArgumentError as error:
            last = last or error
    if last is not None:
        raise last


def _cast_dequant(group: Group) -> Batch:
    plain = _elementwise(group)

    def body(t: Any) -> None:
        scale = api("SetDeqScale")
        function = api("CastDequant", "CastDeq")
        count = t.src.GetSize()
        if group.dst_dtype is half:
            scale(1.0)
            function(t.dst, t.src, count)
        else:
            scale(1.0, 0, group.dst_dtype is not uint8_t)
            with_template(function, (t.dst, t.src, count), isVecDeq=False, halfBlock=False)

    plain.body = body
    return plain


def _mull(group: Group) -> Batch:
    plain = _elementwise(group)
    count = len(plain.tensors["dst"].values)
    plain.tensors["low"] = plain.tensors.pop("dst")
    plain.tensors["high"] = _blank(group.dst_dtype, count)

    def body(t: Any) -> None:
        api("Mull")(t.low, t.high, t.src0, t.src1, count)

    def read(done: Probe) -> list[list[int | float]]:
        low, high = (from_storage(done[name], group.dst_dtype) for name in ("low", "high"))
        return [[low[i], high[i]] for i in range(len(group.rows))]

    plain.body, plain.read = body, read
    return plain


def _index(group: Group) -> Batch:
    """One register of consecutive values for each start value."""
    size = REPEAT // group.dst_dtype.itemsize
    starts = [expand(row[0], group.src_dtypes[0])[0] for row in group.rows]

    def body(t: Any) -> None:
        for index, start in enumerate(starts):
            _function(group)(t.dst[index * size], start, size)

    return Batch(
        {"dst": _blank(group.dst_dtype, size * len(starts))},
        body,
        lambda done: _slices(group, done["dst"], size),
    )


def _slices(group: Group, raw: Any, size: int) -> list[list[int | float]]:
    values = from_storage(raw, group.dst_dtype)
    return [values[i * size : (i + 1) * size] for i in range(len(group.rows))]


_REDUCED: Final = {"MAX": "Max", "MIN": "Min", "SUM": "Sum"}


def _reduction_rows(group: Group, size: int) -> Any:
    """Return the rows one behind another, each ``size`` elements long.

    Raises
    ------
    UnsupportedError
        If a row has another length.
    """
    values: list[int | float] = []
    for row in group.rows:
        elements = expand(row[0], group.src_dtypes[0])
        if len(elements) != size:
            raise UnsupportedError(f"the pattern has {len(elements)} elements", legal=size)
        values += elements
    return to_storage(_padded(values, REPEAT // group.src_dtypes[0].itemsize), group.src_dtypes[0])


def _per_part(group: Group, name: str, part: int, *, mask_first: bool) -> Batch:
    """Rows side by side: one result for each ``part`` of a repeat."""
    src, size = group.src_dtypes[0], REPEAT // group.src_dtypes[0].itemsize
    values = _reduction_rows(group, part)
    repeats = len(values) // size

    def body(t: Any) -> None:
        function = api(name)
        order = (size, repeats) if mask_first else (repeats, size)
        function(t.dst, t.src, *order, 1, 1, 8, *_only_value(name))

    return Batch(
        {"src": Filled(src, values), "dst": _blank(group.dst_dtype, max(len(values) // part, 32))},
        body,
        lambda done: _column(group, done["dst"], len(group.rows)),
    )


def _only_value(name: str) -> tuple[Any, ...]:
    if name in ("WholeReduceMax", "WholeReduceMin"):
        return (ReduceOrder.ORDER_ONLY_VALUE,)
    return ()


def _block_reduce(group: Group) -> Batch:
    part = BLOCK // group.src_dtypes[0].itemsize
    return _per_part(group, f"BlockReduce{_REDUCED[group.form]}", part, mask_first=False)


def _repeat_reduce(group: Group) -> Batch:
    part = REPEAT // group.src_dtypes[0].itemsize
    return _per_part(group, f"WholeReduce{_REDUCED[group.form]}", part, mask_first=True)


def _pair_reduce(group: Group) -> Batch:
    return _per_part(group, "PairReduceSum", 2, mask_first=False)


def _reduce_all(group: Group) -> Batch:
    """One ReduceMax, ReduceMin or ReduceSum for each row."""
    src = group.src_dtypes[0]
    rows = [to_storage(expand(row[0], src), src) for row in group.rows]
    step = BLOCK // src.itemsize
    starts = np.cumsum([0] + [-(-len(row) // step) * step for row in rows])
    values = np.zeros(int(starts[-1]), src.numpy)
    for start, row in zip(starts, rows, strict=False):
        values[start : start + len(row)] = row
    extra = () if group.api == "ReduceSum" else (False,)

    def body(t: Any) -> None:
        function = api(group.api)
        for index, row in enumerate(rows):
            function(t.dst[index * step], t.src[int(starts[index])], t.work, len(row), *extra)

    return Batch(
        {
            "src": Filled(src, values),
            "dst": _blank(group.dst_dtype, step * len(rows)),
            "work": _blank(group.dst_dtype, 1024),
        },
        body,
        lambda done: [[v] for v in from_storage(done["dst"], group.dst_dtype)[::step]],
    )


_BUILDERS: Final[dict[str, Callable[[Group], Batch]]] = {
    "CastDequant": _cast_dequant,
    "Mull": _mull,
    "Arange": _index,
    "ReduceDataBlock": _block_reduce,
    "ReduceRepeat": _repeat_reduce,
    "Reduce": _repeat_reduce,
    "PairReduceElem": _pair_reduce,
    "ReduceMax": _reduce_all,
    "ReduceMin": _reduce_all,
    "ReduceSum": _reduce_all,
}
