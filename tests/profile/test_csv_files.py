"""Counter and simulator CSV files against the header file and the rules of CANN's profiler.

Rules: Ascend/msopprof docs/zh/user_guide/msopprof_performance_data.md and
csrc/op_profiling/profiling/device/data_parse/pmu_calculate.cpp.
"""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

HEADERS = defaultdict(dict)
for _line in (Path(__file__).parent / "headers.txt").read_text().splitlines():
    if not _line.startswith("#"):
        _generation, _file, _header = _line.split(" ", 2)
        HEADERS[_generation][_file] = _header

METRICS = sorted(set(HEADERS["A2"]) - {"OpBasicInfo"})
CEILINGS = {"910b1": (220.06, 186.8), "950pr": (163.13, 131.76)}
"""GM to UB and UB to GM of one core in GiB/s; Ascend/msopprof device_defs.h."""


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counters(written, name):
    return rows_of(written.folder / f"{name}.csv")


def core_files(written, kind):
    return sorted(written.folder.glob(f"simulator/*/*_{kind}.csv"))


def test_headers_are_the_profilers_byte_for_byte(written):
    for name, header in HEADERS[written.generation].items():
        lines = (written.folder / f"{name}.csv").read_bytes().split(b"\n")
        assert lines[0].decode() == header, name
        assert b"\r" not in b"".join(lines)


def test_there_is_one_row_for_each_block_in_every_counter_file(written):
    keys = [(str(i), "vector0") for i in range(written.run.block_dim)]
    totals = [row["aiv_total_cycles"] for row in counters(written, "PipeUtilization")]
    for name in METRICS:
        rows = counters(written, name)
        assert [(row["block_id"], row["sub_block_id"]) for row in rows] == keys
        assert [row["aiv_total_cycles"] for row in rows] == totals


def test_columns_of_the_cube_core_have_no_value(written):
    for name in METRICS:
        for row in counters(written, name):
            assert {v for k, v in row.items() if k.startswith("aic_")} == {"NA"}


def test_floats_have_six_decimals_and_counts_none(written):
    for name in METRICS:
        for row in counters(written, name):
            for column, value in row.items():
                if value == "NA" or column == "sub_block_id":
                    continue
                whole = re.search(r"block_id|total_cycles|instructions|fops", column)
                assert re.fullmatch(r"\d+" if whole else r"\d+\.\d{6}", value), (column, value)


def test_ratios_are_shares_and_percentages_end_at_100(written):
    for name in METRICS:
        for row in counters(written, name):
            for column, value in row.items():
                if value == "NA":
                    continue
                if column.endswith("_ratio"):
                    assert 0 <= float(value) <= 1, column
                if "(%)" in column:
                    assert 0 <= float(value) <= 100, column


def test_times_are_cycles_on_the_platforms_clock(written):
    clock = written.run.platform.timing.clock_mhz
    for row in counters(written, "PipeUtilization"):
        cycles = int(row["aiv_total_cycles"])
        assert float(row["aiv_time(us)"]) * clock == pytest.approx(cycles, rel=1e-3)
        for pipe in ("vec", "scalar", "mte2", "mte3"):
            busy = float(row[f"aiv_{pipe}_time(us)"]) * clock
            assert busy == pytest.approx(float(row[f"aiv_{pipe}_ratio"]) * cycles, abs=0.02)


def test_busy_cycles_are_the_sum_over_the_instructions_of_a_core(written):
    clock = written.run.platform.timing.clock_mhz
    lanes = {"VECTOR": "vec", "MTE2": "mte2", "MTE3": "mte3"}
    expected, found = defaultdict(int), defaultdict(int)
    cores = len(core_files(written, "instr_exe"))
    for number, row in enumerate(counters(written, "PipeUtilization")):
        for lane, pipe in lanes.items():
            busy = round(float(row[f"aiv_{pipe}_time(us)"]) * clock)
            expected[number % cores, lane] += busy
    for path in core_files(written, "instr_exe"):
        core, sub = map(int, re.findall(r"\d+", path.parent.name))
        for row in rows_of(path):
            if row["pipe"] in lanes and row["instr"] not in ("SET_FLAG", "WAIT_FLAG", "BAR"):
                found[2 * core + sub, row["pipe"]] += int(row["cycles"])
    assert found == {key: busy for key, busy in expected.items() if busy}


def test_classes_of_vector_instructions_add_up_to_the_vector_ratio(written):
    if written.generation == "A5":
        pytest.skip("A5 splits by execution path")
    for row in counters(written, "ArithmeticUtilization"):
        classes = ("fp32", "fp16", "int32", "int16", "misc")
        parts = [float(row[f"aiv_vec_{name}_ratio"]) for name in classes]
        assert sum(parts) == pytest.approx(float(row["aiv_vec_ratio"]), abs=5e-6)


def test_data_over_a_path_is_what_the_copies_moved(written):
    trace = json.loads((written.folder / "simulator/trace.json").read_text())
    moved = defaultdict(int)
    for event in trace["traceEvents"]:
        moved[event.get("tid")] += int(event.get("args", {}).get("process_bytes", 0))
    rows = counters(written, "Memory")
    for column, lane in (("GM_to_UB_datas(KB)", "MTE2"), ("UB_to_GM_datas(KB)", "MTE3")):
        total = sum(float(row[column]) for row in rows)
        assert total == pytest.approx(moved[lane] / 1024, abs=1e-6 * len(rows))


def test_bandwidths_follow_from_bytes_and_time(written):
    ceilings = CEILINGS[written.run.platform.name]
    pipes = counters(written, "PipeUtilization")
    paths = (("GM_to_UB", "gm_to_ub", "mte2"), ("UB_to_GM", "ub_to_gm", "mte3"))
    for row, times in zip(counters(written, "Memory"), pipes, strict=True):
        for (path, column, pipe), ceiling in zip(paths, ceilings, strict=True):
            gib = float(row[f"{path}_datas(KB)"]) / 2**20
            rate = gib / (float(row["aiv_time(us)"]) * 1e-6)
            assert float(row[f"aiv_{column}_bw(GB/s)"]) == pytest.approx(rate, rel=1e-4)
            usage = float(row[f"{path}_bw_usage_rate(%)"])
            assert usage == pytest.approx(100 * rate / ceiling, rel=1e-4)
            active = gib / (float(times[f"aiv_{pipe}_time(us)"]) * 1e-6)
            assert float(times[f"aiv_{pipe}_active_bw(GB/s)"]) == pytest.approx(active, rel=1e-4)


def test_scalar_stalls_before_full_queues_add_up(written):
    if written.generation == "A5":
        pytest.skip("A5 has no stall columns")
    clock = written.run.platform.timing.clock_mhz
    stalls = sum(
        float(row[f"aiv_scalar_{pipe}_stall_time(us)"]) * clock
        for row in counters(written, "PipeUtilization")
        for pipe in ("mte2", "mte3", "vector")
    )
    waits = next(p for p in written.run.summary.pipes if p.name == "S").waits
    assert stalls == pytest.approx(waits.get("queue full", 0), abs=0.02 * written.run.block_dim)


def test_what_the_model_does_not_know_is_na_with_a_reason(written):
    for row in counters(written, "L2Cache"):
        known = {"block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles"}
        assert {k for k, v in row.items() if v != "NA"} == known
    meta = json.loads((written.folder / "dump/sim_meta.json").read_text())
    for name in (*METRICS, "OpBasicInfo"):
        rows = counters(written, name)
        unknown = {k for k in rows[0] if all(row[k] == "NA" for row in rows)}
        assert set(meta["not_available"].get(name, {})) == unknown
    reasons = {r for columns in meta["not_available"].values() for r in columns.values()}
    assert reasons <= {"no model", "not applicable", "not collected"}


def test_basic_info_describes_the_launch(written):
    [row] = counters(written, "OpBasicInfo")
    assert row["Op Name"] == written.run.name
    assert row["Op Type"] == "vector"
    assert row["Block Dim"] == str(written.run.block_dim)
    assert (
        row["Current Freq"] == row["Rated Freq"] == {"A2": "1850", "A5": "1650"}[written.generation]
    )


def test_lines_and_instructions_are_sorted_by_cycles_and_counted(written):
    issued = 0
    for path in core_files(written, "instr_exe"):
        text = path.read_text().splitlines()
        assert text[0] == "instr,addr,pipe,call_count,cycles,running_time(us),detail"
        assert all(line.endswith('"') for line in text[1:])
        rows = rows_of(path)
        cycles = [int(row["cycles"]) for row in rows]
        assert cycles == sorted(cycles, reverse=True)
        assert len({row["addr"] for row in rows}) == len(rows)
        assert all(re.fullmatch("0x[0-9a-f]+", row["addr"]) for row in rows)
        issued += sum(int(row["call_count"]) for row in rows)
    assert issued == len(written.run.instructions)


def test_running_times_never_exceed_the_cycles_they_come_from(written):
    clock = written.run.platform.timing.clock_mhz
    for kind, rounding in (("instr_exe", 0.005), ("code_exe", 1e-6)):
        for path in core_files(written, kind):
            for row in rows_of(path):
                assert float(row["running_time(us)"]) <= int(row["cycles"]) / clock + rounding


def test_source_lines_count_every_instruction(written):
    counted = 0
    for path in core_files(written, "code_exe"):
        assert path.read_text().splitlines()[0] == "code,call_count,cycles,running_time(us)"
        rows = rows_of(path)
        assert all(re.fullmatch(r"\S+\.py:\d+", row["code"]) for row in rows)
        counted += sum(int(row["call_count"]) for row in rows)
    assert counted == len(written.run.instructions)
