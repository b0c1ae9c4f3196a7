"""Findings about single calls and the registers they depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.enums import Arch, PipeID
from simulator.instruction import VectorWork
from simulator.isa.masks import Asked
from simulator.sanitizer.catalog import INFO
from simulator.sanitizer.finding import Finding, Insertion
from simulator.sanitizer.overlap import overlaps
from simulator.sanitizer.place import buffer_name, place, statement_lines, tensor_name
from simulator.sanitizer.ranges import span
from simulator.sanitizer.streams import is_atomic_switch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.instruction import Operand, Plan
    from simulator.run import Run
    from simulator.sanitizer.overlap import Overlap
    from simulator.sanitizer.ranges import Ranges
    from simulator.sanitizer.streams import Stream

_FIXED_BITS: Final = "VSEL_CMPMASK_SPR"
_RESERVED: Final = "reserved UB"
_MASK_FORMS: Final = ("mask", "bit mask")
_MASK_SETTERS: Final = frozenset({"SetVectorMask", "ResetMask", "SetMaskCount", "SetMaskNorm"})


def find_calls(run: Run, streams: Sequence[Stream], ranges: Ranges) -> Iterator[Finding]:
    """Yield the findings about single calls; each plan is looked at once."""
    checked: set[Plan] = set()
    for stream in streams:
        if stream.is_clean("calls"):
            continue
        fresh = [p for p in stream.distinct if p not in checked]
        checked.update(fresh)
        found = [
            finding
            for plan in fresh
            if isinstance(plan.work, VectorWork)
            for finding in _vector_call(run, stream, plan)
        ]
        found += [*_reserved(run, stream, ranges), *_masks(run, stream), *_atomics(run, stream)]
        if not found and len(fresh) == len(stream.distinct):
            stream.note_clean("calls")
        yield from found


def _vector_call(run: Run, stream: Stream, plan: Plan) -> Iterator[Finding]:
    found = overlaps(plan)
    if found:
        yield _overlap(run, stream, plan, found)
    work = plan.work
    if run.platform.arch is Arch.DAV_3510 and work.elements == 0:
        yield _finding(
            run, stream, plan, "vec.zero_count",
            f"{plan.spec.name} with nothing to do is not promised to do nothing on "
            f"{run.platform.name}",
            "guard the call: if count > 0",
        )  # fmt: skip
    repeats = work.repeats
    if plan.details.get("selMode") == _FIXED_BITS and repeats > 1:
        lanes = work.elements // repeats
        yield _finding(
            run, stream, plan, "sel.mode",
            f"mode 0 takes the same first {lanes} mask bits for each of the {repeats} repeats",
            "use SELMODE.VSEL_TENSOR_TENSOR_MODE, which takes the next bits for each repeat, "
            "unless the pattern is meant to repeat",
        )  # fmt: skip


def _overlap(run: Run, stream: Stream, plan: Plan, found: list[Overlap]) -> Finding:
    first = next((o for o in found if not o.order_safe), found[0])
    (low, high), (start, stop) = first.written, first.read
    target = plan.operands[0]
    index = stream.plans.index(plan)
    name = tensor_name(stream.entries[index], target)
    behind = -(-span(target.accesses)[1] // 32) * 32
    shared = (max(low, start), min(high, stop))
    finding = _finding(
        run, stream, plan, "vec.overlap",
        f"{plan.spec.name} writes {name} (UB {low}..{high} in repeat {first.writer}) over the "
        f"source {first.operand}, which repeat {first.repeat} reads at UB {start}..{stop}",
        f"use the same bytes for both, or put {first.operand} behind the destination, at byte "
        f"{behind} or later",
        target,
    )  # fmt: skip
    finding.bytes = shared
    if first.order_safe:
        # Published kernels cast in place this way: each repeat has read before it writes.
        finding.severity = INFO
    size = max(1, target.dtype.bits)
    begin = span(target.accesses)[0]
    finding.elements = ((shared[0] - begin) * 8 // size, -(-(shared[1] - begin) * 8 // size))
    return finding


def _finding(
    run: Run,
    stream: Stream,
    plan: Plan,
    code: str,
    message: str,
    fix: str,
    operand: Operand | None = None,
    index: int | None = None,
) -> Finding:
    """Return a finding for the first call of a plan in a stream."""
    at = stream.plans.index(plan) if index is None else index
    entry = stream.entries[at]
    low, high = span(operand.accesses) if operand is not None else (0, 0)
    return Finding(
        code,
        message,
        place(entry),
        fix=fix,
        block=stream.first.index,
        pipe=PipeID(plan.pipe).label,
        api=plan.spec.name,
        tensor=tensor_name(entry, operand) if operand is not None else "",
        bytes=(low, high) if operand is not None else None,
        index=at,
        count=stream.plans.count(plan) * len(stream.blocks),
        platform=run.platform.name,
        details={"space": "UB", "buffer": buffer_name(stream.first, low, high)}
        if operand is not None and operand.space == "UB"
        else {},
    )


def _reserved(run: Run, stream: Stream, ranges: Ranges) -> Iterator[Finding]:
    """Find operands in the area at the top of UB that the library writes."""
    writers = [
        plan
        for plan in stream.distinct
        if any(touch.operand.name == _RESERVED for touch in ranges.touches(plan))
    ]
    if not writers:
        return
    plan = writers[0]
    top = run.platform.memory.ub_reserved_offset
    for other in stream.distinct:
        for mine in ranges.touches(other):
            if mine.operand.name != _RESERVED and span(mine.operand.accesses)[1] > top:
                over = span(mine.operand.accesses)[1] - top
                finding = _finding(
                    run, stream, other, "sel.reserve",
                    f"{other.spec.name} uses {over} bytes above UB {top}, where {plan.spec.name} "
                    f"in line {place(stream.entries[stream.plans.index(plan)]).line} keeps values "
                    "of its own",
                    f"end the buffers at byte {top}: {over * 8 // mine.operand.dtype.bits} "
                    "elements less",
                    mine.operand,
                )  # fmt: skip
                finding.other = place(stream.entries[stream.plans.index(plan)])
                yield finding
                return


# -- registers -------------------------------------------------------------------------------------


def _masks(run: Run, stream: Stream) -> Iterator[Finding]:
    """Find calls that compute other lanes than they ask for, by a mask or mode left behind."""
    asking = {p for p in stream.distinct if "asked" in p.details}
    if not asking:
        return
    left_by: int | None = None
    counting: int | None = None
    told: set[Plan] = set()
    for index in stream.places({p for p in stream.distinct if p in asking or _sets_mask(p)}):
        plan = stream.plans[index]
        name = plan.spec.name
        if name in ("SetMaskCount", "SetMaskNorm"):
            counting = index if name == "SetMaskCount" else None
        elif plan not in asking:
            left_by = index if plan.form in _MASK_FORMS and _is_partial(plan) else None
        elif plan not in told:
            asked, does = Asked(*plan.details["asked"]), plan.work.elements
            since = counting if asked.sets_mask else left_by
            wanted = asked.mask * asked.repeats if asked.sets_mask else _lanes(plan)
            if since is not None and wanted != does and (asked.repeats > 1 or not asked.sets_mask):
                told.add(plan)
                yield _stale_mask(run, stream, index, since, wanted, does)


def _sets_mask(plan: Plan) -> bool:
    if plan.spec.name in _MASK_SETTERS:
        return True
    return isinstance(plan.work, VectorWork) and (plan.work.writes_mask or plan.form in _MASK_FORMS)


def _lanes(plan: Plan) -> int:
    """Return the lanes of all repeats of a call."""
    return int(plan.work.repeats) * 256 // max(op.dtype.itemsize for op in plan.operands)


def _is_partial(plan: Plan) -> bool:
    return bool(plan.work.elements != _lanes(plan))


def _stale_mask(run: Run, stream: Stream, index: int, since: int, asked: int, does: int) -> Finding:
    plan, setter = stream.plans[index], stream.entries[since]
    counted = setter[0].spec.name == "SetMaskCount"
    line = place(setter).line
    if counted:
        message = (
            f"{plan.spec.name} asks for {asked} lanes and computes {does}: Counter mode, set in "
            f"line {line}, is still on"
        )
        statement = "SetMaskNorm()"
    else:
        message = (
            f"{plan.spec.name} with isSetMask off computes {does} lanes under the mask that "
            f"{setter[0].spec.name} of line {line} left behind"
        )
        statement = "ResetMask()"
    here = place(stream.entries[index])
    top = statement_lines(here)[0]
    finding = _finding(
        run, stream, plan, "mask.stale", message, f"put {statement} in front of line {top}",
        plan.operands[0], index,
    )  # fmt: skip
    finding.other = place(setter)
    finding.insert = (Insertion(here.file, top, "before", statement),)
    finding.details["lanes"] = does
    return finding


def _atomics(run: Run, stream: Stream) -> Iterator[Finding]:
    """Find an atomic mode that is on when the kernel ends."""
    switches = stream.places({p for p in stream.distinct if is_atomic_switch(p)})
    if not switches or stream.plans[switches[-1]].details["operation"] == "none":
        return
    index = switches[-1]
    plan = stream.plans[index]
    stores = [a for a in stream.global_accesses if a.at > index and a.plan.pipe == PipeID.PIPE_MTE3]
    here = place(stream.entries[index])
    last = place(stream.entries[stores[-1].at]) if stores else here
    where = statement_lines(last)[1]
    finding = _finding(
        run, stream, plan, "atomic.left_on",
        f"{plan.spec.name} of line {here.line} is still in force when the kernel ends; "
        f"{len(stores)} stores to global memory combine with what is there",
        f"put SetAtomicNone() behind line {where}, the last store that is meant to combine",
        None, index,
    )  # fmt: skip
    finding.insert = (Insertion(last.file, where, "after", "SetAtomicNone()"),)
    finding.count = len(stream.blocks)
    yield finding
