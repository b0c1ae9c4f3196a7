"""The state of a moment as plain text; every pane and every answer is made here."""

from __future__ import annotations

import linecache
import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.debug.order import NEVER
from simulator.enums import PipeID
from simulator.tensor import GlobalTensor, LocalTensor
from simulator.timing.schedule import ALL_PIPES

if TYPE_CHECKING:
    from simulator.debug import Session, Stop
    from simulator.debug.moment import Difference, Moment

AROUND: Final = 4
"""Source lines shown before and behind the current one."""

_SHOWN_VALUES: Final = 64


def short_path(path: str) -> str:
    """Return a path below the current folder relative to it, and any other as it is."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith(os.pardir) else relative


def stop_text(session: Session, stop: Stop) -> str:
    """Return where the session stands in two or three lines."""
    lines = []
    if stop.text and stop.reason != "step":
        lines.append(f"{_reason(stop)}: {stop.text}" if stop.reason == "breakpoint" else stop.text)
    count = len(session.here)
    what = stop.instruction or "end of the block"
    lines.append(
        f"block {stop.block}  instruction {stop.index} of {count}  cycle {stop.cycle}  "
        f"({stop.clock} clock)  next: {what}"
    )
    place = stop.location
    if place is not None:
        lines.append(f"{short_path(place.file)}:{place.line}  {place.function}")
        text = linecache.getline(place.file, place.line).rstrip()
        if text:
            lines.append(f"{place.line:>6} > {text.expandtabs()}")
    return "\n".join(lines)


def _reason(stop: Stop) -> str:
    return f"breakpoint {stop.breakpoint}"


def source(session: Session, around: int = AROUND) -> str:
    """Return the source around the current line, with the busy cycles of each line."""
    place = session.here.location(session.position.event)
    if place is None:
        return "no source line is known"
    cycles = session.here.line_cycles
    first = max(1, place.line - around)
    rows = []
    for number in range(first, place.line + around + 1):
        text = linecache.getline(place.file, number)
        if not text:
            continue
        spent = cycles.get((place.file, number), 0)
        mark = ">" if number == place.line else " "
        rows.append(f"{number:>5} {mark} {spent or '':>8} | {text.rstrip().expandtabs()}".rstrip())
    if not rows:
        return f"the source of {place.file} cannot be read"
    return "\n".join([f"{short_path(place.file)}, in {place.function}; cycles by line", *rows])


def call_text(moment: Moment, index: int) -> str:
    """Return ``#17 Select line 141``."""
    entry = moment.instruction(index)
    return f"#{index} {entry.name} line {entry.location.line}"


def pipes(moment: Moment) -> str:
    """Return one line for each pipe."""
    rows = []
    for pipe in moment.pipes:
        if pipe.busy and pipe.running is not None:
            ends = moment.instruction(pipe.running).end
            state = f"runs {call_text(moment, pipe.running)}, until cycle {ends}"
        elif pipe.waits_for:
            state = f"waits for {pipe.waits_for}"
        elif pipe.running is not None:
            state = f"idle, last {call_text(moment, pipe.running)}"
        else:
            state = "idle"
        queue = ", ".join(call_text(moment, index) for index in pipe.pending[:3])
        more = f" and {len(pipe.pending) - 3} more" if len(pipe.pending) > 3 else ""
        rows.append(f"{pipe.name:<5} {state}" + (f"; queue: {queue}{more}" if queue else ""))
    return "\n".join(rows)


def flags(moment: Moment) -> str:
    """Return the flags that are up, one a line."""
    up = moment.flags
    return "\n".join(f"{event} id {number}" for event, number in up) or "no flag is up"


def queues(moment: Moment) -> str:
    """Return queues and TBufs with the state of every buffer."""
    found = moment.queues
    if not found:
        known = moment.view.has_source
        return "no queue has memory yet" if known else "queue states were not recorded"
    rows = []
    for queue in found:
        depth = "" if queue.depth is None else f" depth {queue.depth}"
        buffers = "  ".join(
            f"{low:#x}+{size}" + ("" if queue.depth is None else f" {state}")
            for low, size, state in queue.buffers
        )
        rows.append(f"{queue.number}  {queue.name}{depth}: {buffers}")
    return "\n".join(rows)


def ub_map(moment: Moment) -> str:
    """Return the allocations of UB with their last writers."""
    rows = []
    for area in moment.areas:
        writer = "unwritten" if area.writer is None else f"by {call_text(moment, area.writer)}"
        hot = " *" if area.is_hot else ""
        rows.append(
            f"{area.low:#07x}..{area.high:#07x} {area.owner:<14} {area.state:<9} {writer}{hot}"
        )
    return "\n".join(rows) or "nothing is allocated"


def local_values(moment: Moment, level: int = 0) -> dict[str, str]:
    """Return the locals of a frame as texts."""
    return {name: moment.describe(value) for name, value in moment.locals(level).items()}


def locals_text(moment: Moment) -> str:
    """Return the locals, one a line."""
    if not moment.view.has_source:
        return "locals were not recorded"
    rows = [f"{name} = {text}" for name, text in local_values(moment).items()]
    return "\n".join(rows) or "no locals yet"


def stack(moment: Moment) -> str:
    """Return the frames of the kernel, innermost first."""
    return "\n".join(
        f"#{number} {call.location.function} at {short_path(call.location.file)}:"
        f"{call.location.line}"
        for number, call in enumerate(moment.stack)
    )


def registers(moment: Moment) -> str:
    """Return the registers, one a line."""
    return "\n".join(f"{name:<14} {value}" for name, value in moment.registers.items())


def value_text(moment: Moment, value: Any) -> str:
    """Return a value of the kernel; a tensor with position, address, type, state and values."""
    if not isinstance(value, LocalTensor | GlobalTensor):
        return moment.describe(value)
    shown = np.array2string(
        moment.values(value, _SHOWN_VALUES), separator=", ", max_line_width=96, threshold=10**6
    )
    more = f"\n… {value.length} elements" if value.length > _SHOWN_VALUES else ""
    if isinstance(value, LocalTensor):
        head = f"{value.position.name} {value.dtype}[{value.length}] @UB {value.addr:#x}"
        return f"{head}, {moment.state_of(value)}\n{shown}{more}"
    where = "unset" if value.ptr is None else f"{value.ptr.address:#x}"
    return f"GM {value.dtype}[{value.length}] @{where}\n{shown}{more}"


def hex_dump(data: bytes, address: int) -> str:
    """Return bytes in rows of sixteen."""
    rows = []
    for start in range(0, len(data), 16):
        part = data[start : start + 16]
        rows.append(f"{address + start:#010x}  {part.hex(' ')}")
    return "\n".join(rows)


def mask_bits(moment: Moment, tensor: LocalTensor, first: int, count: int) -> str:
    """Return the bits of a compare mask beside both sides of the comparison that made it.

    Bit ``i`` of the mask belongs to lane ``i``. The sides are as they were when it was computed.
    """
    low = tensor.addr
    writer = moment.view.last_writer(moment.done, low, low + tensor.nbytes)
    bits = np.unpackbits(
        np.frombuffer(moment.read("UB", low, tensor.nbytes), np.uint8), bitorder="little"
    )[first : first + count]
    head, sides = "no instruction has written it", []
    if writer is not None:
        entry = moment.instruction(writer)
        head = f"by {call_text(moment, writer)}"
        session = moment.session
        step = int(moment.view.order.step_of[writer])
        before = session.history.local_at(moment.position.block, step).ub
        for operand in entry.operands:
            if operand.role == "read" and operand.space == "UB" and operand.accesses:
                start, end = operand.accesses[0].span()
                raw = before[start:end].tobytes()
                sides.append(
                    (operand.name, np.frombuffer(raw, operand.dtype.numpy)[first:][:count])
                )
        sides += [
            (f"scalar {number}", np.full(len(bits), param))
            for number, param in enumerate(entry.params)
            if isinstance(param, int | float | np.generic)
        ]
        mode = entry.plan.details.get("cmpMode") or entry.plan.details.get("mode")
        head += f" ({mode})" if mode else ""
    names = "".join(f"{name:>16}" for name, _ in sides)
    rows = [f"{'lane':>6} bit{names}"]
    for number, bit in enumerate(bits):
        values = "".join(
            f"{float(v[number]):>16.8g}" if number < len(v) else f"{'':>16}" for _, v in sides
        )
        rows.append(f"{first + number:>6}   {bit}{values}")
    return "\n".join([head, *rows])


def timeline(moment: Moment, width: int = 60) -> str:
    """Return the pipes over the cycles around the cursor; ``^`` is the cursor.

    A column is as many cycles as it takes for the instructions in the neighbourhood to be seen.
    """
    view, cycle = moment.view, moment.position.cycle
    pipes_ = view.pipes
    done = pipes_.start < NEVER
    near = np.sort(pipes_.cycles)
    at = int(np.searchsorted(near, cycle))
    around = near[max(0, at - 12) : at + 12]
    extent = int(around[-1] - around[0]) if len(around) else 0
    scale = max(1, -(-extent // width))
    first = max(view.placed.start, cycle - width // 3 * scale)
    rows = []
    for pipe in ALL_PIPES:
        row = [" "] * width
        for index in np.flatnonzero(done & (pipes_.pipe == pipe)):
            start, end = int(pipes_.start[index]), int(pipes_.end[index])
            left, right = (start - first) // scale, -(-(end - first) // scale)
            if right <= 0 or left >= width:
                continue
            name = view.entries[index][0].spec.name.rpartition(".")[2]
            size = max(1, right - left)
            waiting = view.entries[index][0].form == "wait"
            text = ("." * size) if waiting else (f"[{name}"[: max(1, size - 1)].ljust(size, "="))
            for offset, letter in enumerate(text[:size]):
                if 0 <= left + offset < width:
                    row[left + offset] = letter
        rows.append(f"{PipeID(pipe).label:<5}{''.join(row)}".rstrip())
    cursor = (cycle - first) // scale
    rows.append(f"{'':<5}{'':>{cursor}}^ {cycle}")
    rows.append(f"{'':<5}{first} … {first + width * scale}, {scale} cycles a column")
    return "\n".join(rows)


def findings(session: Session) -> str:
    """Return what the checks found."""
    if session.error is not None:
        return f"the launch failed: {session.error}"
    return "\n".join(str(finding) for finding in session.findings) or "no findings"


def difference_rows(
    moments: tuple[Moment, Moment], found: list[Difference], limit: int = 12
) -> list[str]:
    """Return one line for each range that differs, with values in the type of their writer."""
    rows = []
    for number, one in enumerate(found):
        if number == limit:
            rows.append(f"… {len(found) - limit} more ranges")
            break
        size = one.high - one.low
        where = f"{one.space} {one.low:#x}..{one.high:#x}"
        name = "" if one.space == "UB" else f" of {one.name}"
        rows.append(f"{where}{name}: {size} bytes")
        dtype = _type_of(moments, one)
        item = dtype.itemsize
        skip = -one.low % item
        whole = (size - skip) // item * item
        if whole:
            before, after = (
                np.frombuffer(data[skip : skip + whole], dtype)[:6]
                for data in (one.before, one.after)
            )
            rows.append(f"    {_row(before)} -> {_row(after)}  ({dtype.name})")
    return rows


def _row(values: Any) -> str:
    return np.array2string(values, separator=", ", max_line_width=200)


def _type_of(moments: tuple[Moment, Moment], one: Difference) -> np.dtype[Any]:
    """Return the element type in which a range was written last; bytes if nobody wrote it."""
    for moment in moments:
        view = moment.view
        if one.space == "UB":
            writer = view.last_writer(moment.done, one.low, one.high)
        else:
            writers = view.global_writers(moment.done, one.low, one.high)
            writer = writers[-1] if writers else None
        if writer is not None:
            for operand in moment.instruction(writer).operands:
                if operand.role != "read" and operand.space == one.space:
                    return np.dtype(operand.dtype.numpy)
    return np.dtype(np.uint8)
