"""Break the synchronisation of clean kernels, one call at a time, and count who notices.

Flags, barriers, mutexes and cross-core flags are deleted and moved past the operation before and
behind them; flags are put on another event id, one that is free and one that is not, alone and
together with their partner. EnQue, DeQue, AllocTensor and FreeTensor are the flags that they set
and wait for. ``python tests/replay/mutation.py [NAME ...]`` prints the score and every mutant that
was neither found nor shown to be equivalent. A mutant is *found* when the order check reports an
error, or when its record cannot be executed (a wait that nothing ends, a flag set twice). It is
*equivalent* when it gives the bits of the clean kernel in program, hardware and latest order and in
50 random ones.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.enums import HardEvent
from simulator.errors import SyncError
from simulator.instruction import Plan, locate
from simulator.replay import Replayer
from simulator.replay.steps import CROSS_SET, CROSS_WAIT, OPERATION, POLL, SET, WAIT, Step
from simulator.run import Run
from simulator.sanitizer.races import Races
from simulator.sanitizer.ranges import Ranges
from simulator.sanitizer.streams import streams_of
from simulator.stalls import CROSS, MUTEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulator.core import Entry
    from simulator.run import Block

IDS = 8
SEEDS = 50

FOUND = "found by the order check"
REFUSED = "cannot be executed"
EQUIVALENT = "equivalent"
MISSED = "missed"


class Mutant(NamedTuple):
    """A changed record of one block, or of all."""

    what: str
    line: int
    entries: list[Entry]
    others: Mapping[int, list[Entry]] = MappingProxyType({})


class Verdict(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    block: int
    outcome: str
    detail: str = ""


def mutants(entries: Sequence[Entry]) -> Iterator[Mutant]:
    """Yield the record with each ordering call deleted, moved, or on another event id."""
    steps = [Step(entry[0]) for entry in entries]
    for at, step in enumerate(steps):
        if step.kind == OPERATION:
            continue
        name = _name(entries[at])
        line = locate(entries[at][1], entries[at][2]).line
        rest = [*entries[:at], *entries[at + 1 :]]
        yield Mutant(f"{name} deleted", line, rest)
        if step.kind == POLL:
            continue
        earlier = _neighbour(steps, at, -1)
        if earlier is not None:
            moved = [*rest[:earlier], entries[at], *rest[earlier:]]
            yield Mutant(f"{name} moved before the operation in front of it", line, moved)
        later = _neighbour(steps, at, 1)
        if later is not None:
            moved = [*rest[:later], entries[at], *rest[later:]]
            yield Mutant(f"{name} moved behind the next operation", line, moved)
        if step.kind in (SET, WAIT):
            for other in _other_ids(steps, step):
                changed = _on_id(entries[at], other)
                yield Mutant(
                    f"{name} on id {other}", line, [*entries[:at], changed, *entries[at + 1 :]]
                )
    yield from _pairs(entries, steps)


def _pairs(entries: Sequence[Entry], steps: Sequence[Step]) -> Iterator[Mutant]:
    """Yield the record without a flag's set and wait, and with both on another id."""
    pending: dict[int, list[int]] = {}
    waiting: dict[int, list[int]] = {}
    for at, step in enumerate(steps):
        if step.kind not in (SET, WAIT):
            continue
        mine, others = (pending, waiting) if step.kind == SET else (waiting, pending)
        if not others.get(step.flag):
            mine.setdefault(step.flag, []).append(at)
            continue
        first, second = sorted((others[step.flag].pop(0), at))
        name = _name(entries[first]).partition(" ")[2]
        line = locate(entries[first][1], entries[first][2]).line
        kept = [entry for i, entry in enumerate(entries) if i not in (first, second)]
        yield Mutant(f"SetFlag and WaitFlag {name} deleted", line, kept)
        for other in _other_ids(steps, step):
            changed = list(entries)
            changed[first] = _on_id(entries[first], other)
            changed[second] = _on_id(entries[second], other)
            yield Mutant(f"SetFlag and WaitFlag {name} on id {other}", line, changed)


def meetings(run: Run, index: int) -> Iterator[Mutant]:
    """Yield the run with its n-th meeting of all blocks left out everywhere."""
    places = [
        [i for i, e in enumerate(b.entries) if Step(e[0]).kind in (CROSS_SET, CROSS_WAIT)]
        for b in run.blocks
    ]
    if len({len(at) for at in places}) > 1:
        return
    for number in range(0, len(places[0]), 2):
        without = {
            block.index: [
                e for i, e in enumerate(block.entries) if i not in at[number : number + 2]
            ]
            for block, at in zip(run.blocks, places, strict=True)
        }
        entry = run.blocks[index].entries[places[index][number]]
        line = locate(entry[1], entry[2]).line
        name = f"{entry[0].spec.name} deleted in all blocks"
        yield Mutant(name, line, without[index], without)


def _name(entry: Entry) -> str:
    plan = entry[0]
    if plan.event in (CROSS, MUTEX) or plan.form == "poll":
        return f"{plan.spec.name} ({plan.form})"
    if plan.event < 0:
        return f"{plan.spec.name} {plan.details['pipe']}"
    return f"{plan.spec.name} {HardEvent(plan.event).name} id {plan.flag % IDS}"


def _neighbour(steps: Sequence[Step], at: int, towards: int) -> int | None:
    """Return where a call goes that moves past the next operation of its pipe."""
    step = steps[at]
    index = at + towards
    while 0 <= index < len(steps):
        other = steps[index]
        if other.kind == OPERATION and (other.pipe == step.pipe or step.waits_for_all):
            return index
        index += towards
    return None


def _other_ids(steps: Sequence[Step], step: Step) -> list[int]:
    """Return an id that nothing of the event uses, and one that something else uses."""
    used = sorted({s.flag % IDS for s in steps if s.event == step.event} - {step.flag % IDS})
    free = [i for i in range(IDS) if i != step.flag % IDS and i not in used]
    return [*free[:1], *used[:1]]


def _on_id(entry: Entry, number: int) -> Entry:
    plan = entry[0]
    changed = Plan(plan.spec, plan.form, details={**plan.details, "eventID": number})
    changed.pipe = plan.pipe
    changed.event = plan.event
    changed.flag = plan.flag // IDS * IDS + number
    return (changed, *entry[1:])


def with_mutant(run: Run, index: int, mutant: Mutant) -> Run:
    """Return the run with the record of a mutant."""
    changed = {**mutant.others, index: mutant.entries}
    blocks = [replace(b, entries=changed.get(b.index, b.entries)) for b in run.blocks]
    return Run(
        run.name, run.platform, blocks, arguments=run.arguments, initial=run.initial,
        auto_sync=run.auto_sync, task_ratio=run.task_ratio,
    )  # fmt: skip


def alone(run: Run, block: Block) -> Run:
    """Return the run with one block only."""
    return Run(
        run.name, run.platform, [replace(block, index=0)], arguments=run.arguments,
        initial=run.initial, auto_sync=run.auto_sync, task_ratio=run.task_ratio,
    )  # fmt: skip


def candidates(run: Run) -> Iterator[tuple[Run, int]]:
    """Yield runs and the block to mutate: the first block of each distinct stream."""
    related = Replayer(run).blocks_meet
    for stream in streams_of(run):
        yield (run, stream.first.index) if related else (alone(run, stream.first), 0)


def judge(run: Run, index: int, mutant: Mutant, clean: dict[Any, bytes]) -> Verdict:
    """Return what becomes of a mutant."""
    changed = with_mutant(run, index, mutant)
    errors = [
        f for f in Races(changed, streams_of(changed), Ranges()).find() if f.severity == "error"
    ]
    if errors:
        return Verdict(mutant, index, FOUND, errors[0].code)
    replayer = Replayer(changed)
    orders = [
        ("program", 0),
        ("latest", 0),
        ("hardware", 0),
        *(("random", s) for s in range(SEEDS)),
    ]
    for order, seed in orders:
        try:
            replayer.execute(order, seed)
        except SyncError as error:
            return Verdict(mutant, index, REFUSED, error.kind)
        if any(a.data.tobytes() != data for a, data in clean.items()):
            return Verdict(mutant, index, MISSED, f"{order} order, seed {seed}")
    return Verdict(mutant, index, EQUIVALENT)


def examine(run: Run, most: int | None = None) -> list[Verdict]:
    """Return the verdicts on the mutants of a run; ``most`` limits them by taking every n-th."""
    verdicts = []
    for part, index in candidates(run):
        Replayer(part).execute("program")
        clean = {a: a.data.tobytes() for a in part.initial}
        found = [*meetings(part, index), *mutants(part.blocks[index].entries)]
        step = 1 if most is None else max(1, len(found) // most)
        verdicts += [judge(part, index, mutant, clean) for mutant in found[::step]]
    return verdicts


def main() -> None:
    """Examine the clean kernels and print the score."""
    from clean import clean_launches

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="clean kernels; default all")
    parser.add_argument("--most", type=int, help="mutants of one stream at most")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    missed: list[str] = []
    for name, launch in clean_launches().items():
        if args.names and not any(wanted in name for wanted in args.names):
            continue
        begin = time.perf_counter()
        count: Counter[str] = Counter()
        for run in launch():
            for verdict in examine(run, args.most):
                count[verdict.outcome] += 1
                if verdict.outcome == MISSED:
                    where = f"{name}, block {verdict.block}, line {verdict.mutant.line}"
                    missed.append(f"{where}: {verdict.mutant.what} ({verdict.detail})")
        total += count
        print(f"{name:40} {_counts(count)}  {time.perf_counter() - begin:.1f} s", flush=True)
    print(f"{'all':40} {_counts(total)}")
    killed = sum(total.values()) - total[MISSED]
    print(f"score: {killed} of {sum(total.values())} ({100 * killed / sum(total.values()):.2f} %)")
    for text in missed:
        print(f"missed: {text}")


def _counts(count: Counter[str]) -> str:
    return ", ".join(f"{count[o]} {o}" for o in (FOUND, REFUSED, EQUIVALENT, MISSED))


if __name__ == "__main__":
    main()
