"""``ascsim tiling``: what the host decides about a launch before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from host.registry import op_def
from simulator.errors import SimulatorError
from simulator.platforms import load_platform
from tools.console import print_json, show
from tools.diagnostics import diagnostic
from tools.report import facts, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from host.executor import Node
    from simulator.platforms import Platform
    from tools.kernel_probe import Buffers, Probe

OK: Final = 0
FAILED: Final = 1

DEFAULT_PLATFORM: Final = "910b"
SEED: Final = 0


def tiling(
    name: str,
    *,
    shape: str | None,
    dtype: str | None,
    platform: str | None,
    as_json: bool,
) -> int:
    """Plan an operator call and print every launch that it makes; return the exit code.

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    import numpy as np

    from host.op_call import plan_only
    from tools.operators import find_operator
    from tools.options import check_fits, parse_dtype, parse_shape

    operator = find_operator(name)
    sizes = operator.default_shape if shape is None else parse_shape(shape)
    element = parse_dtype(dtype or operator.default_dtype)
    chip = load_platform(platform or DEFAULT_PLATFORM)
    check_fits(sizes, element, 2 + len(operator.outputs), chip)
    inputs = operator.inputs(np.random.default_rng(SEED), sizes, element)
    try:
        with plan_only():
            executor = operator.run(inputs, chip).executor
    except SimulatorError as error:
        show(diagnostic(error), stderr=True, wrap=False)
        return FAILED
    launches = [node for node in executor.nodes if node.tiling is not None]
    found = [_look(executor.runtime, node) for node in launches]
    if as_json:
        print_json(
            {
                "operator": operator.name,
                "shape": list(sizes),
                "dtype": element.name,
                "platform": chip.name,
                "workspace_bytes": executor.workspace_size,
                "launches": [
                    _as_dict(node, seen, chip) for node, seen in zip(launches, found, strict=True)
                ],
            }
        )
        return OK
    heading = f"tiling of {operator.name} on {chip.name}: {element.name}{list(sizes)}"
    parts: list[RenderableType] = [title(heading)]
    parts.append(facts([("workspace", f"{executor.workspace_size:,} bytes for the whole call")]))
    if not launches:
        parts.append(facts([("launch", "none: the tensors are empty")]))
    for node, seen in zip(launches, found, strict=True):
        parts += ["", *_launch_parts(node, seen, chip)]
    show(Group(*parts))
    return OK


def _look(runtime: Any, node: Node) -> Probe | SimulatorError:
    from tools.kernel_probe import probe

    try:
        return probe(runtime, node)
    except SimulatorError as error:
        return error


# -- text --------------------------------------------------------------------------------------


def _launch_parts(
    node: Node, seen: Probe | SimulatorError, chip: Platform
) -> Iterable[RenderableType]:
    plan = node.tiling
    if plan is None:
        return
    entry = node.binary.interface
    yield title(node.op_type + (f" (kernel {entry})" if entry else ""))
    slots = ", ".join(f"slot {i}: {n:,} bytes" for i, n in enumerate(plan.workspace)) or "none"
    mode = "all blocks resident at once" if plan.schedule_mode else "any order"
    yield facts(
        [
            ("block dim", f"{plan.block_dim} of {chip.chip.aiv} vector cores"),
            ("tiling key", f"{plan.key} ({plan.key:#x})"),
            ("workspace", slots),
            ("schedule", mode),
            ("tiling data", f"{type(plan.data).__name__}, {type(plan.data).size} bytes"),
        ]
    )
    yield _indented(_fields_table(node))
    if isinstance(seen, SimulatorError):
        yield facts([("run", Text(f"the kernel does not run: {seen.message}", style="warn"))])
        return
    yield facts([("cores", f"elements of {op_def(node.op_type).outputs[0].name} they write")])
    yield _indented(_shares_table(seen))
    yield facts([("UB budget", _budget_line(seen, chip))])
    yield _indented(_buffers_table(seen.buffers, chip))
    yield facts([("reserved", _reserved_line(seen, chip))])


def _indented(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, 2))


def _table(*columns: str, numbers: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1))
    right = set(numbers)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=True)
    return table


def _fields_table(node: Node) -> Table:
    table = _table("field", "type", "offset", "value", numbers=("offset", "value"))
    data = node.tiling.data if node.tiling is not None else None
    if data is not None:
        for info in type(data).layout.values():
            c_type = info.c_type + (f"[{info.count}]" if info.count > 1 else "")
            table.add_row(info.name, c_type, str(info.offset), str(getattr(data, info.name)))
    return table


def _marks(seen: Probe) -> dict[int, list[str]]:
    """Return what is special about each core: a short last tile, and being the last that works."""
    working = [share for share in seen.shares if share.tiles]
    return {
        share.core: ["tail"] * (share.tiles[-1] < seen.full_tile)
        + ["last"] * (share is working[-1])
        for share in working
    }


def _shares_table(seen: Probe) -> Table:
    numbers = ("core", "first", "end", "elements", "tiles", "tile", "last tile")
    table = _table(*numbers, "", numbers=numbers)
    marks = _marks(seen)
    for share in seen.shares:
        if not share.tiles:
            table.add_row(str(share.core), "", "", "0", "0", "", "", "writes nothing")
            continue
        table.add_row(
            str(share.core),
            f"{share.first:,}",
            f"{share.end:,}",
            f"{share.count:,}",
            str(len(share.tiles)),
            f"{share.tiles[0]:,}",
            f"{share.tiles[-1]:,}",
            ", ".join(marks[share.core]),
        )
    return table


def _buffers_table(buffers: Iterable[Buffers], chip: Platform) -> Table:
    numbers = ("number", "bytes each", "bytes", "of UB")
    table = _table("buffer", "at", *numbers, numbers=(*numbers, "at"))
    for buffer in buffers:
        table.add_row(
            buffer.name,
            str(buffer.address),
            str(buffer.number),
            f"{buffer.nbytes:,}",
            f"{buffer.total:,}",
            f"{buffer.total / chip.memory.ub_bytes:.1%}",
        )
    return table


def _budget_line(seen: Probe, chip: Platform) -> str:
    used, whole = _used(seen.buffers), chip.memory.ub_bytes
    return (
        f"{used:,} of {whole:,} bytes ({used / whole:.1%}), accessed up to byte {seen.ub_end:,}; "
        f"tiling may plan with {chip.memory.ub_tiling_bytes:,}"
    )


def _reserved_line(seen: Probe, chip: Platform) -> Text:
    nbytes, start = chip.memory.ub_reserved_bytes, chip.memory.ub_reserved_offset
    if nbytes == 0:
        return Text("no area that vector calls use by themselves")
    where = f"{nbytes:,} bytes from {start:,} on, which Select and others use by themselves"
    reach = max((buffer.address + buffer.total for buffer in seen.buffers), default=0)
    if reach <= start:
        return Text(f"{where}; {start - reach:,} bytes below are free")
    if seen.ub_end <= start:
        return Text(
            f"{where}; the buffers reach {reach - start:,} bytes into it, but the kernel accesses "
            "none of them"
        )
    return Text(f"{where}; the kernel accesses {seen.ub_end - start:,} of them", style="warn")


def _used(buffers: Iterable[Buffers]) -> int:
    return sum(buffer.total for buffer in buffers)


# -- JSON --------------------------------------------------------------------------------------


def _as_dict(node: Node, seen: Probe | SimulatorError, chip: Platform) -> dict[str, Any]:
    plan = node.tiling
    if plan is None:
        return {}
    known: dict[str, Any] = {
        "op_type": node.op_type,
        "kernel": node.binary.interface or None,
        "block_dim": plan.block_dim,
        "tiling_key": plan.key,
        "workspace": list(plan.workspace),
        "schedule_mode": plan.schedule_mode,
        "tiling_data": plan.data.as_dict(),
        "tiling_data_bytes": plan.data.pack().hex(),
    }
    if isinstance(seen, SimulatorError):
        return {**known, "error": seen.as_dict()}
    marks = _marks(seen)
    return {
        **known,
        "cores": [
            {
                "core": share.core,
                "first": share.first,
                "end": share.end,
                "elements": share.count,
                "tiles": list(share.tiles),
                "marks": marks.get(share.core, []),
            }
            for share in seen.shares
        ],
        "ub": {
            "bytes": chip.memory.ub_bytes,
            "tiling_bytes": chip.memory.ub_tiling_bytes,
            "used": _used(seen.buffers),
            "accessed_end": seen.ub_end,
            "reserved_offset": chip.memory.ub_reserved_offset,
            "reserved_bytes": chip.memory.ub_reserved_bytes,
            "buffers": [
                {
                    "name": buffer.name,
                    "address": buffer.address,
                    "number": buffer.number,
                    "bytes": buffer.nbytes,
                    "share": buffer.total / chip.memory.ub_bytes,
                }
                for buffer in seen.buffers
            ],
        },
    }
