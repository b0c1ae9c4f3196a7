"""Both kinds of trace against the profiler's conventions and the rules of trace viewers.

Conventions: Ascend/msopprof csrc/op_profiling/parse/data_visualizer/timeline_visualizer. Viewer
rules: the Trace Event Format as chrome://tracing and Perfetto import it (a thread's slices nest).
"""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

BUSY_LANES = {"VECTOR": "V", "MTE2": "MTE2", "MTE3": "MTE3"}
SYNC = ("SET_FLAG", "WAIT_FLAG", "BAR")
FIELDS = {
    "M": {"name", "ph", "pid", "tid", "args"},
    "X": {"name", "cname", "ph", "ts", "dur", "pid", "tid", "args"},
    "B": {"name", "cname", "ph", "ts", "pid", "tid", "id", "args"},
    "E": {"name", "cname", "ph", "ts", "pid", "tid", "id", "args"},
    "s": {"name", "id", "ph", "ts", "pid", "tid", "cat"},
    "t": {"name", "id", "ph", "ts", "pid", "tid", "cat"},
    "C": {"name", "ph", "ts", "pid", "tid", "args"},
}


def all_cores(written):
    return written.folder / "simulator/trace.json"


def single_cores(written):
    return sorted(written.folder.glob("simulator/*/trace.json"))


def events(path, *phases):
    found = json.loads(path.read_text())["traceEvents"]
    return [e for e in found if e["ph"] in phases] if phases else found


def slices(path):
    """Give (track, start, end, name) of every slice, in microseconds."""
    opened, found = {}, []
    for event in events(path, "X", "B", "E"):
        track = event["pid"], event["tid"]
        if event["ph"] == "X":
            found.append((track, event["ts"], event["ts"] + event["dur"], event["name"]))
        elif event["ph"] == "B":
            opened[track] = event["ts"]
        else:
            found.append((track, opened.pop(track), event["ts"], event["name"]))
    assert not opened, "a flag begins and never ends"
    return found


def test_files_start_with_the_keys_that_importers_look_for(written):
    for path, version in [(all_cores(written), 2), *((p, 1) for p in single_cores(written))]:
        text = path.read_text()
        assert '"profilingType":"op"' in text[: text.index("[")]
        top = json.loads(text)
        assert (top["schemaVersion"], top["displayTimeUnit"]) == (version, "ns")


def test_every_event_has_the_fields_of_its_phase(written):
    for path in (all_cores(written), *single_cores(written)):
        for event in events(path):
            assert set(event) == FIELDS[event["ph"]], event
            assert event.get("dur", 0) >= 0
            if event["ph"] in ("X", "B"):
                assert all(isinstance(v, str) for v in event["args"].values())
                assert {"pc_addr", "code", "detail"} <= set(event["args"])


def test_all_cores_are_named_and_single_cores_numbered(written):
    for event in events(all_cores(written), "X", "B", "E", "s", "t"):
        assert isinstance(event["pid"], str)
        assert isinstance(event["tid"], str)
    for path in single_cores(written):
        assert all(isinstance(e["pid"], int) for e in events(path, "X"))
        assert all(isinstance(e["pid"], str) for e in events(path, "s", "t"))
        assert not events(path, "B", "E", "C")


def test_every_instruction_is_one_slice(written):
    issued = len(written.run.instructions)
    assert len(slices(all_cores(written))) == issued
    assert sum(len(slices(path)) for path in single_cores(written)) == issued


def test_slices_of_a_track_never_overlap(written):
    clock = written.run.platform.timing.clock_mhz
    for path in (all_cores(written), *single_cores(written)):
        tracks = defaultdict(list)
        for track, start, end, name in slices(path):
            tracks[track].append((round(start * clock), round(end * clock), name))
        for track, found in tracks.items():
            found.sort()
            for (_, end, before), (start, _, after) in pairwise(found):
                assert end <= start, (path.parent.name, track, before, after)


def test_slices_add_up_to_the_busy_cycles_of_the_report(written):
    clock = written.run.platform.timing.clock_mhz
    busy = Counter()
    for (_, lane), start, end, name in slices(all_cores(written)):
        if name not in SYNC and lane in BUSY_LANES:
            busy[BUSY_LANES[lane]] += (end - start) * clock
    for pipe in written.run.summary.pipes:
        if pipe.name != "S":
            assert busy[pipe.name] == pytest.approx(pipe.busy, rel=1e-9)


def test_full_durations_stand_in_the_files_of_single_cores(written):
    clock = written.run.platform.timing.clock_mhz
    expected = Counter(
        i.end - i.start
        for i in written.run.instructions
        if i.form not in ("set", "wait", "barrier")
    )
    found = Counter(
        round((end - start) * clock)
        for path in single_cores(written)
        for _, start, end, name in slices(path)
        if name not in SYNC
    )
    assert found == expected


def test_events_come_in_order_of_their_end(written):
    ends = defaultdict(list)
    for event in events(all_cores(written), "X", "E"):
        ends[event["pid"]].append(event["ts"] + event.get("dur", 0))
    clock = written.run.platform.timing.clock_mhz
    for found in ends.values():
        ticks = [round(end * clock) for end in found]
        assert ticks == sorted(ticks)


def test_nothing_happens_after_the_end_of_a_core(written):
    timeline = written.run.timeline
    last = {}
    for placed in timeline.blocks:
        last[placed.core] = placed.end
    clock = timeline.platform.timing.clock_mhz
    for (name, _), _, end, _ in slices(all_cores(written)):
        core, sub = (int(part) for part in name[4:].replace("veccore", "").split("."))
        assert round(end * clock) <= last[2 * core + sub] + 1


def test_a_set_and_its_wait_are_joined_by_one_flow(written):
    for path in (all_cores(written), *single_cores(written)):
        flows = defaultdict(list)
        for event in events(path, "s", "t"):
            flows[event["id"], event["cat"]].append((event["ts"], event["ph"]))
        for pair in flows.values():
            assert [phase for _, phase in sorted(pair)] == ["s", "t"]


def test_every_wait_of_a_finished_kernel_has_its_set(written):
    waits = sum(e["name"] == "WAIT_FLAG" for e in events(all_cores(written), "B"))
    assert len(events(all_cores(written), "t")) == waits


def test_bandwidth_counters_hold_every_byte(written):
    totals = Counter()
    last = {}
    for event in events(all_cores(written), "C"):
        value = event["args"]["throughput(MB/s)"]
        totals[event["name"]] += value * 2**20 / 10**6
        last[event["name"]] = value
    inward, outward = (
        ["GM_TO_UB", "GM_TO_L1", "GM_TO_TOTAL"],
        ["UB_TO_GM", "L1_TO_GM", "TOTAL_TO_GM"],
    )
    assert list(last) == inward + outward
    assert set(last.values()) == {0}
    moved = written.run.summary.traffic
    assert totals["GM_TO_UB"] == totals["GM_TO_TOTAL"] == pytest.approx(moved.read_bytes)
    assert totals["UB_TO_GM"] == totals["TOTAL_TO_GM"] == pytest.approx(moved.written_bytes)


def test_lanes_and_cores_have_the_profilers_order(written):
    order = {"SCALAR": 1, "MTE2": 6, "VECTOR": 7, "MTE3": 8, "ALL": 11}
    for event in events(all_cores(written), "M"):
        index = event["args"]["sort_index"]
        if event["name"] == "thread_sort_index":
            assert index == order[event["tid"]]
        else:
            core, sub = (int(p) for p in event["pid"][4:].replace("veccore", "").split("."))
            assert index == 3 * core + 2 + sub
