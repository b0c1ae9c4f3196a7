"""``trace.json``: what every pipe of every core did when, as Chrome trace events.

Two files with different identities, as the profiler writes them: one of all cores with names as
process and thread ids, and one for each core with numbers. Conventions: Ascend/msopprof
csrc/op_profiling/parse/data_visualizer/timeline_visualizer (core_timeline_visualizer.cpp,
subcore_timeline_visualizer.cpp, timeline_defs.h) and mte_log_visualizer.cpp.
"""

from __future__ import annotations

import json
from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

from tools.profile_files.program import COLOURS, LANE_ORDER, flag_pipes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tools.profile_files.cores import Core, Event

LANE_PIDS: Final = {
    "SCALAR": 10, "SCALARLDST": 20, "VECTOR": 30, "CUBE": 40, "MTE1": 50, "MTE2": 60, "MTE3": 70,
    "FIXP": 80, "FLOWCTRL": 90, "ALL": 100, "CACHEMISS": 110, "USERMARK": 120,
}  # fmt: skip
"""Process id of each lane in the file of one core."""

_SERIES: Final = (
    "GM_TO_UB", "GM_TO_L1", "GM_TO_TOTAL", "UB_TO_GM", "L1_TO_GM", "TOTAL_TO_GM",
)  # fmt: skip
_FLAGS: Final = ("SET_FLAG", "WAIT_FLAG")


def _document(version: int, events: Iterable[str]) -> str:
    head = f'{{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":{version}'
    return head + ',"traceEvents":[\n' + ",\n".join(events) + "\n]}\n"


class _Flag(NamedTuple):
    """A set or wait with the number of its pair, and the flow between the two pipes.

    ``taken`` is the cycle at which the wait ends; the flow leaves the set no later.
    """

    number: int
    flow: str | None
    taken: int


def _pairs(events: Sequence[Event]) -> dict[int, _Flag]:
    """Pair sets and waits first-in first-out by equal details.

    Returns the flags by position in ``events``. An unpaired one has a number of its own and no
    flow.
    """
    sets: dict[str, deque[int]] = {}
    for position, event in enumerate(events):
        if event.site.name == "SET_FLAG":
            sets.setdefault(event.site.detail, deque()).append(position)
    found: dict[int, _Flag] = {}
    number = 0
    for position, event in enumerate(events):
        detail = event.site.detail
        if event.site.name == "WAIT_FLAG":
            flow = None
            if sets.get(detail) and (pipes := flag_pipes(detail)):
                flow = "To".join(pipes)
                found[sets[detail].popleft()] = _Flag(number, flow, event.end)
            found[position] = _Flag(number, flow, event.end)
            number += 1
    for unpaired in sets.values():
        for position in unpaired:
            found[position] = _Flag(number, None, 0)
            number += 1
    return found


# -- all cores ---------------------------------------------------------------------------------


def trace_of_all(cores: Sequence[Core], clock_mhz: float) -> str:
    """Return the trace of all cores: core names as processes, lanes as threads."""
    parts: list[str] = []
    for core in cores:
        parts += _order_records(core)
    for core in cores:
        parts += _core_events(core, clock_mhz)
    parts += _counters(cores, clock_mhz)
    return _document(2, parts)


def _order_records(core: Core) -> list[str]:
    pid = json.dumps(core.name)
    index = 3 * (core.number // 2) + 2 + core.number % 2
    used = {event.site.lane for event in core.events}
    records = [
        f'{{"name":"process_sort_index","ph":"M","pid":{pid},"tid":"NA",'
        f'"args":{{"sort_index":{index}}}}}'
    ]
    records += [
        f'{{"name":"thread_sort_index","ph":"M","pid":{pid},"tid":"{lane}",'
        f'"args":{{"sort_index":{order}}}}}'
        for lane, order in LANE_ORDER.items()
        if lane in used
    ]
    return records


def _core_events(core: Core, clock_mhz: float) -> list[str]:
    parts: list[str] = []
    flags = _pairs(core.events)
    pid = json.dumps(core.name)
    for position, (end, start, site, _, _) in enumerate(core.events):
        if site.name in _FLAGS:
            parts += _flag_events(core, position, flags[position], clock_mhz)
            continue
        parts.append(
            f'{{"name":"{site.name}","cname":"{COLOURS[site.lane]}","ph":"X",'
            f'"ts":{start / clock_mhz!r},"dur":{(end - start) / clock_mhz!r},"pid":{pid},'
            f'"tid":"{site.lane}","args":{site.args}}}'
        )
    return parts


def _flag_events(core: Core, position: int, flag: _Flag, clock_mhz: float) -> list[str]:
    end, start, site, *_ = core.events[position]
    who = f'"pid":"{core.name}","tid":"{site.lane}"'
    key = f'"id":"{core.name}_{flag.number}"'
    head = f'{{"name":"{site.name}","cname":"{COLOURS[site.name]}"'
    parts = [
        f'{head},"ph":"B","ts":{start / clock_mhz!r},{who},{key},"args":{site.args}}}',
        f'{head},"ph":"E","ts":{end / clock_mhz!r},{who},{key},"args":{{}}}}',
    ]
    if flag.flow is not None:
        phase = "s" if site.name == "SET_FLAG" else "t"
        at = min(end, flag.taken) / clock_mhz
        parts.append(
            f'{{"name":"flow",{key},"ph":"{phase}","ts":{at!r},{who},"cat":"{flag.flow}"}}'
        )
    return parts


def _counters(cores: Sequence[Core], clock_mhz: float) -> list[str]:
    """Return the bandwidth series: bytes booked in the microsecond in which a copy ends."""
    moved: dict[int, list[int]] = {}
    for core in cores:
        for event in core.events:
            site = event.site
            if site.moved and site.lane in ("MTE2", "MTE3"):
                bucket = moved.setdefault(int(event.end / clock_mhz), [0, 0])
                bucket[site.lane == "MTE3"] += site.moved
    if not moved:
        return []
    last = max(moved) + 1
    parts = []
    for at in range(min(moved), last + 1):
        read, written = (n * 10**6 / 2**20 for n in moved.get(at, (0, 0)))
        values = (read, 0.0, read, written, 0.0, written)
        parts += [
            f'{{"name":"{name}","ph":"C","ts":{at},"pid":"MTE Throughput","tid":0,'
            f'"args":{{"throughput(MB/s)":{value!r}}}}}'
            for name, value in zip(_SERIES, values, strict=True)
        ]
    return parts


# -- one core ----------------------------------------------------------------------------------


class _Slice(NamedTuple):
    start: int
    end: int
    position: int


def trace_of_core(core: Core, clock_mhz: float) -> str:
    """Return the trace of one core: full durations, overlapping ones on threads of their own."""
    by_lane: dict[str, list[_Slice]] = {}
    for position, event in enumerate(core.events):
        start, end = _drawn(event)
        by_lane.setdefault(event.site.lane, []).append(_Slice(start, end, position))
    threads: dict[int, int] = {}
    records: list[str] = []
    for lane in sorted(by_lane, key=LANE_PIDS.__getitem__):
        count = _assign_threads(by_lane[lane], threads)
        records += _names(lane, count)
    flags = _pairs(core.events)
    parts: list[str] = []
    for position, event in enumerate(core.events):
        parts += _slice_events(event, threads[position], flags.get(position), clock_mhz)
    return _document(1, records + parts)


def _drawn(event: Event) -> tuple[int, int]:
    name = event.site.name
    if name in ("SET_FLAG", "BAR"):
        return event.full_end - 1, event.full_end
    if name == "WAIT_FLAG":
        return event.start, event.end
    return event.full_start, event.full_end


def _assign_threads(slices: list[_Slice], threads: dict[int, int]) -> int:
    """Give every slice the first thread (from 1) that is free; return their number."""
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    count = 0
    for start, end, position in sorted(slices):
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        if free:
            thread = heappop(free)
        else:
            count += 1
            thread = count
        heappush(busy, (end, thread))
        threads[position] = thread
    return count


def _names(lane: str, count: int) -> list[str]:
    pid = LANE_PIDS[lane]
    records = [
        f'{{"name":"process_name","ph":"M","pid":{pid},"tid":0,"args":{{"name":"{lane}"}}}}',
        f'{{"name":"process_sort_index","ph":"M","pid":{pid},"tid":0,'
        f'"args":{{"sort_index":{pid}}}}}',
    ]
    for thread in range(1, count + 1):
        records += [
            f'{{"name":"thread_name","ph":"M","pid":{pid},"tid":{thread},'
            f'"args":{{"name":"{lane}_{thread}"}}}}',
            f'{{"name":"thread_sort_index","ph":"M","pid":{pid},"tid":{thread},'
            f'"args":{{"sort_index":{thread}}}}}',
        ]
    return records


def _slice_events(event: Event, thread: int, flag: _Flag | None, clock_mhz: float) -> list[str]:
    site = event.site
    start, end = _drawn(event)
    pid = LANE_PIDS[site.lane]
    colour = COLOURS.get(site.name, COLOURS[site.lane])
    parts = [
        f'{{"name":"{site.name}","cname":"{colour}","ph":"X","ts":{start / clock_mhz!r},'
        f'"dur":{(end - start) / clock_mhz!r},"pid":{pid},"tid":{thread},"args":{site.args}}}'
    ]
    if flag is not None and flag.flow is not None:
        sets = site.name == "SET_FLAG"
        at = min((start + end) / 2, flag.taken) if sets else end
        parts.append(
            f'{{"name":"flow","id":"{flag.number}","ph":"{"s" if sets else "t"}",'
            f'"ts":{at / clock_mhz!r},"pid":"{pid}","tid":"{thread}","cat":"{flag.flow}"}}'
        )
    return parts
