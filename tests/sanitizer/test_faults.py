"""Every broken kernel shows exactly its fault, its fixed twin none, and the suggested fix works."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import itertools
import linecache

import pytest

from kernels.faults import codes, load
from simulator import ascendc
from simulator.errors import (
    DataRaceError,
    FindingError,
    FlagError,
    LeftoverFlagError,
    SimulatorError,
    StaleDataError,
    SyncError,
)
from simulator.run import Run
from simulator.sanitizer.catalog import CATALOG
from simulator.sanitizer.refusals import code_of

FOUND_IN_THE_RECORD = {
    # code: line at fault, line of the other party, bytes, elements, how often
    "atomic.left_on": ("SetAtomicAdd(float32)", None, None, None, 1),
    "atomic.order": (
        "DataCopy(gm(float32, z), tile, N)", "DataCopy(gm(float32, z), tile, N)", (0, 4), None, 1,
    ),
    "cache.flush": ("DataCopy(tile, table, 8)", "table.SetValue(0, 1.0)", (0, 4), (0, 1), 1),
    "cache.line": (
        "results.SetValue(GetBlockIdx(), 1.0)", "results.SetValue(GetBlockIdx(), 1.0)",
        (0, 64), (0, 16), 1,
    ),
    "copy.dummy": (
        "ReduceSum(total, tile, work, 64)",
        "DataCopyPad(tile, gm(half, x), DataCopyExtParams(2, 24 * 2), NO_PADDING)",
        (48, 128), (24, 64), 1,
    ),
    "copy.pitch": (
        "DataCopy(gm(half, z), out, 4 * 24)", "Adds(out, tile, 1.0, 4 * 24)",
        (1024 + 48, 1024 + 64 + 64 + 64), (24, 96), 1,
    ),
    "core.init_race": (
        "DataCopy(total, tile, N)", "DataCopy(total, tile, N)", (0, 4096), (0, 1024), 3,
    ),
    "core.overlap": (
        "DataCopy(gm(half, z)[start], tile, 32)", "DataCopy(gm(half, z)[start], tile, 32)",
        (48, 64), (24, 32), 3,
    ),
    "flag.pair": ("SetFlag(HardEvent.MTE3_MTE2, 0)", None, None, None, 1),
    "flag.wrong_pipe": (
        "Adds(out, tile, 1.0, N)", "DataCopy(tile, gm(half, x), N)", (0, 2048), (0, 1024), 1,
    ),
    "gm.misdeclared": ("DataCopy(tile, gm(half, x), N)", None, (0, 4), None, 1),
    "mask.stale": ("Adds(tile, tile, 1.0, 64, 8, UNIT)", "SetMaskCount()", (0, 256), None, 1),
    "que.role": (
        "DataCopy(gm(half, z), tile, N)", "DataCopy(tile, gm(half, x), N)",
        (0, 2048), (0, 1024), 1,
    ),
    "race.raw": (
        "Adds(out, tile, 1.0, N)", "DataCopy(tile, gm(half, x), N)", (0, 2048), (0, 1024), 1,
    ),
    "race.samepipe": (
        "Muls(tile, tile, 2.0, N)", "Adds(tile, tile, 1.0, N)", (0, 2048), (0, 1024), 1,
    ),
    "race.scalar": (
        "first = tile.GetValue(0)", "DataCopy(tile, gm(half, x), N)", (0, 2), (0, 1), 1,
    ),
    "race.war": (
        "DataCopy(tile, source[start], N)", "Adds(out, tile, 1.0, N)", (0, 512), (0, 256), 1,
    ),
    "race.waw": (
        "DataCopy(tile, gm(half, x), N // 2)", "Duplicate(tile, 0.0, N)", (0, 1024), (0, 512), 1,
    ),
    "sel.mask_unit": (
        "Select(out, mask[256], tile[256], 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)",
        "CompareScalar(mask, tile, 100.0, CMPMODE.GT, 512)",
        (4096 + 256, 4096 + 256 + 32), (0, 32), 1,
    ),
    "sel.mode": (
        "Select(out, mask, tile, zero, SELMODE.VSEL_CMPMASK_SPR, 512)", None, None, None, 1,
    ),
    "sel.reserve": (
        "DataCopy(tile, gm(float32, x), 256)",
        "Select(tile, mask, tile, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)",
        (196608 - 1024, 196608), None, 1,
    ),
    "sync.balance": ("CrossCoreSetFlag(0, PIPE_MTE3, 5)", None, None, None, 2),
    "tile.cover": ("DataCopy(gm(half, z)[start], tile, 256)", None, (512, 544), (256, 272), 1),
    "tile.stale": ("start = tiling.offset % N", None, None, None, 1),
    "ub.alias": (
        "DataCopy(second, source[N], N)", "DataCopy(first, source, N)",
        (1024, 2048), (512, 1024), 1,
    ),
    "ub.lost_write": (
        "DataCopy(first, source, N)", "DataCopy(second, source[N], N)", (0, 2048), (0, 1024), 1,
    ),
    "ub.uninit": ("DataCopy(gm(half, z), tile, N)", None, (1024, 2048), (512, 1024), 1),
    "vec.overlap": (
        "Cast(wide, narrow, RoundMode.CAST_NONE, N)", None, (128, 256), (32, 64), 1,
    ),
    "vec.tail_lanes": ("ReduceSum(total, tile, work, 128)", None, (384, 512), (96, 128), 1),
    "vec.zero_count": ("Adds(tile[N - 16], tile[N - 16], 1.0, rest)", None, None, None, 1),
}  # fmt: skip

FOUND_IN_THE_VALUES = {
    # code: line at fault, bytes, elements, how many elements
    "cast.double": (  # elements 3 and 5
        "Cast(out, between, RoundMode.CAST_RINT, N)", (1536 + 3, 1536 + 6), (3, 6), 2,
    ),
    "cast.mode": (  # 0.5, 2.5, ... 126.5: every fourth of 256
        "Cast(out, tile, RoundMode.CAST_ROUND, N)", (1024 + 4, 1024 + 254 * 4), (1, 254), 64,
    ),
    "cast.sat": (  # 128, the first beyond int8_t, is element 178
        "Cast(out, tile, RoundMode.CAST_RINT, N)", (356, 512), (178, 256), 78,
    ),
    "cmp.boundary": (  # 6 is element 96 of sixteenths
        "CompareScalar(mask, tile, 6.0, CMPMODE.GT, N)", (192, 194), (96, 97), 1,
    ),
    "num.bits_as_other": (
        "Muls(out.ReinterpretCast(half), tile.ReinterpretCast(half), 1.0, N)",
        (0, 512), (0, 256), 256,
    ),
    "num.first_nonfinite": (  # 218 * 300 = 65400 is a half, 219 * 300 = 65700 is none
        "Mul(out, left, right, N)", (2048 + 438, 3072), (219, 512), 512 - 219,
    ),
    "num.int_via_float": (  # 2^24 + 1, + 3, ... + 155
        "Cast(wide, tile, RoundMode.CAST_RINT, N)", (404, 1024), (101, 256), 78,
    ),
    "num.nan_branch": (
        "Compare(mask, tile, zero, CMPMODE.GT, N)", (34, 82), (17, 41), 2,
    ),
    "num.zero_sign": (
        "Compare(mask, signed, zero, CMPMODE.LT, N)", (512 + 60, 512 + 182), (30, 91), 3,
    ),
}  # fmt: skip

REFUSED_BY_THE_CALL = {
    # code: line at fault
    "cast.pair": "Cast(target, source, RoundMode.CAST_RINT, N)",
    "cmp.count": "CompareScalar(mask, tile, 0.0, CMPMODE.GT, 1000)",
    "copy.field": "DataCopy(tile, gm(half, x), DataCopyParams(4096, 1, 0, 0))",
    "copy.gap_unit": "DataCopyPad(tile, gm(half, x), DataCopyExtParams(8, 64, 128), NO_PADDING)",
    "copy.len": "DataCopy(tile, gm(half, x), 1000)",
    "copy.pad_args": "DataCopyPad(tile, gm(half, x), DataCopyExtParams(1, 48), "
    "DataCopyPadExtParams(True, 0, 24, 0))",
    "copy.ub_align": "DataCopy(tile[8], gm(half, x), 16)",
    "deadlock": "WaitFlag(HardEvent.MTE2_MTE3, 0)",
    "flag.range": "SetFlag(HardEvent.MTE2_MTE3, 8)",
    "flag.reset": "SetFlag(HardEvent.MTE2_MTE3, 0)",
    "gm.oob": "DataCopy(tile, source[start], N)",
    "platform.missing": "Mutex.Lock(PIPE_V, 0)",
    "que.depth": "tile = queue.AllocTensor(half)",
    "que.order": "queue.FreeTensor(tile)",
    "que.slots": "queue.EnQue(tile)",
    "sync.arrivals": "SyncAll()",
    "sync.schedule": "SyncAll()",
    "tile.negative": "Duplicate(tile, 0.0, count)",
    "tile.workspace": "DataCopy(gm(half, workspace)[GetBlockIdx() * N], tile, N)",
    "ub.capacity": "pipe.InitBuffer(queue, 2, 100 * 1024)",
    "ub.scratch": "ReduceMax(total, tile, work, 4096)",
    "vec.noncontig": "Adds(tile[::2], tile[::2], 1.0, N // 2)",
    "vec.oob": "Cast(wide, narrow, RoundMode.CAST_NONE, N)",
    "vec.repeat": "Adds(tile, tile, 1.0, 128, 256, UnaryRepeatParams(1, 1, 8, 8))",
    "vec.stride": "Adds(tile, tile, 1.0, 128, 2, UnaryRepeatParams(1, 1, 256, 256))",
}

MENDED_BY_STATEMENTS = {
    "atomic.left_on": ["SetAtomicNone()"],
    "cache.flush": [
        "DataCacheCleanAndInvalid(CacheLine.ENTIRE_DATA_CACHE, DcciDst.CACHELINE_OUT, table)"
    ],
    "flag.pair": ["WaitFlag(HardEvent.MTE3_MTE2, 0)"],
    "flag.wrong_pipe": ["SetFlag(HardEvent.MTE2_V, 0)", "WaitFlag(HardEvent.MTE2_V, 0)"],
    "mask.stale": ["SetMaskNorm()"],
    "que.role": ["SetFlag(HardEvent.MTE2_MTE3, 0)", "WaitFlag(HardEvent.MTE2_MTE3, 0)"],
    "race.raw": ["SetFlag(HardEvent.MTE2_V, 0)", "WaitFlag(HardEvent.MTE2_V, 0)"],
    "race.samepipe": ["PipeBarrier(PIPE_V)"],
    "race.scalar": ["SetFlag(HardEvent.MTE2_S, 0)", "WaitFlag(HardEvent.MTE2_S, 0)"],
    "race.war": ["SetFlag(HardEvent.V_MTE2, 0)", "WaitFlag(HardEvent.V_MTE2, 0)"],
    "race.waw": ["SetFlag(HardEvent.V_MTE2, 0)", "WaitFlag(HardEvent.V_MTE2, 0)"],
    "sync.balance": ["CrossCoreWaitFlag(5)"],
}

SAID_IN_WORDS = {
    # code: what the fix has to name
    "cache.line": "16 elements apart",
    "copy.dummy": "DataCopyPadExtParams(True, 0, elements, value)",
    "copy.pitch": "r*32 elements",
    "core.init_race": "SyncAll()",
    "core.overlap": "block 0 goes up to byte 64 of z, and block 1 starts at 48",
    "gm.misdeclared": "GlobalTensor(float)",
    "sel.mask_unit": "byte 32, mask[32]",
    "sel.mode": "VSEL_TENSOR_TENSOR_MODE",
    "sel.reserve": "byte 188416: 2048 elements less",
    "tile.cover": "block 1 has to start at element 256",
    "ub.alias": "start second at byte 2048",
    "ub.uninit": "Duplicate(tile, 0, 1024)",
    "vec.overlap": "byte 4096",
    "vec.tail_lanes": "reduce 96 elements only",
}


def source_line(location):
    return linecache.getline(location.file, location.line).strip()


def notes(code, which="broken"):
    fault = load(code)
    run = fault.launch(getattr(fault, which), check="report")
    return [*run.notes, *(run.numbers if CATALOG[code].found == "values" else ())]


def test_every_pair_of_kernels_is_in_one_of_the_tables():
    tables = (FOUND_IN_THE_RECORD, FOUND_IN_THE_VALUES, REFUSED_BY_THE_CALL)
    assert sorted({*(code for table in tables for code in table), "tile.wrap"}) == codes()
    assert all(code in CATALOG for code in codes())


@pytest.mark.parametrize("code", FOUND_IN_THE_RECORD)
def test_a_broken_kernel_has_its_finding_and_no_other(code):
    line, other, in_bytes, in_elements, count = FOUND_IN_THE_RECORD[code]
    (finding,) = notes(code)
    assert finding.code == code
    assert finding.severity == CATALOG[code].severity
    assert source_line(finding.location) == line
    assert (finding.other and source_line(finding.other)) == other
    assert (finding.bytes, finding.elements, finding.count) == (in_bytes, in_elements, count)


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("code", FOUND_IN_THE_VALUES)
def test_a_kernel_with_a_fault_in_its_values_has_this_finding_and_no_other(code, platform):
    fault = load(code)
    line, in_bytes, in_elements, count = FOUND_IN_THE_VALUES[code]
    run = fault.launch(fault.broken, platform=platform)
    (finding,) = [*run.notes, *run.numbers]
    assert finding.code == code
    assert finding.severity == CATALOG[code].severity
    assert source_line(finding.location) == line
    assert (finding.bytes, finding.elements, finding.count) == (in_bytes, in_elements, count)
    assert (finding.block, finding.pipe) == (0, "V")


@pytest.mark.parametrize("code", FOUND_IN_THE_VALUES)
def test_a_kernel_without_the_fault_in_its_values_has_none_on_950_either(code):
    fault = load(code)
    run = fault.launch(fault.fixed, platform="950")
    assert [*run.notes, *run.numbers] == []


@pytest.mark.parametrize("code", REFUSED_BY_THE_CALL)
def test_a_refused_call_names_its_kind_and_its_line(code):
    fault = load(code)
    with pytest.raises(SimulatorError) as caught:
        fault.launch(fault.broken)
    assert code_of(caught.value) == code
    assert caught.value.check == code
    assert source_line(caught.value.location) == REFUSED_BY_THE_CALL[code]


def test_a_tiling_value_that_does_not_fit_is_refused_before_the_launch():
    fault = load("tile.wrap")
    with pytest.raises(SimulatorError) as caught:
        fault.launch(fault.broken)
    assert code_of(caught.value) == "tile.wrap"
    assert caught.value.got == "5000000000"


@pytest.mark.parametrize("code", codes())
def test_a_fixed_kernel_has_no_finding(code):
    assert notes(code, "fixed") == []


@pytest.mark.parametrize("code", SAID_IN_WORDS)
def test_a_fix_says_what_to_do(code):
    (finding,) = notes(code)
    assert SAID_IN_WORDS[code] in finding.fix


def mended(module, insertions, folder):
    """Load the module again with statements put into its source."""
    lines = inspect.getsource(module).splitlines()
    order = itertools.count()
    for insertion in sorted(insertions, key=lambda i: (-i.line, i.where, -next(order))):
        at = insertion.line - (insertion.where == "before")
        neighbour = lines[insertion.line - 1]
        indent = neighbour[: len(neighbour) - len(neighbour.lstrip())]
        lines.insert(at, indent + insertion.statement)
    path = folder / f"{module.CODE.replace('.', '_')}_mended.py"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    # A statement may need a name that the broken kernel does not import.
    for name in ascendc.__all__:
        again.__dict__.setdefault(name, getattr(ascendc, name))
    return again


@pytest.mark.parametrize("code", MENDED_BY_STATEMENTS)
def test_applying_the_suggested_statements_silences_the_finding(code, tmp_path):
    fault = load(code)
    (finding,) = notes(code)
    assert [i.statement for i in finding.insert] == MENDED_BY_STATEMENTS[code]
    again = mended(fault, finding.insert, tmp_path)
    assert again.launch(again.broken, check="report").notes == []


def body_of(module, name):
    tree = ast.parse(inspect.getsource(module))
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    return [ast.dump(statement) for statement in function.body]


@pytest.mark.parametrize(
    "code",
    sorted({*MENDED_BY_STATEMENTS} - {"flag.wrong_pipe", "mask.stale", "que.role", "sync.balance"}),
)
def test_the_fixed_kernel_is_the_broken_one_with_the_suggested_statements(code, tmp_path):
    # The others are mended by replacing what is wrong rather than by adding what is missing.
    fault = load(code)
    (finding,) = notes(code)
    again = mended(fault, finding.insert, tmp_path)
    assert body_of(again, "broken") == body_of(fault, "fixed")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("race.raw", DataRaceError),
        ("race.samepipe", DataRaceError),
        ("que.role", DataRaceError),
        ("core.overlap", DataRaceError),
        ("flag.pair", LeftoverFlagError),
        ("sync.balance", LeftoverFlagError),
        ("ub.uninit", StaleDataError),
        ("cache.line", StaleDataError),
        ("gm.misdeclared", FindingError),
    ],
)
def test_a_launch_raises_its_first_error_by_default(code, kind):
    fault = load(code)
    with pytest.raises(kind) as caught:
        fault.launch(fault.broken)
    error = caught.value
    assert type(error) is kind
    assert error.kind == code
    assert [f.code for f in error.findings] == [code]
    assert source_line(error.location) == FOUND_IN_THE_RECORD[code][0]


def test_races_and_flags_are_errors_of_synchronisation():
    assert issubclass(DataRaceError, SyncError)
    assert issubclass(LeftoverFlagError, FlagError)


@pytest.mark.parametrize("code", ["ub.lost_write", "sel.mode", "tile.cover", "mask.stale"])
def test_a_warning_does_not_fail_a_launch(code):
    fault = load(code)
    run = fault.launch(fault.broken)
    assert [(f.code, f.severity) for f in run.findings] == [(code, "warning")]


def test_notes_of_severity_info_are_no_findings():
    fault = load("atomic.order")
    run = fault.launch(fault.broken)
    assert (run.findings, [note.code for note in run.notes]) == ([], ["atomic.order"])


def test_outputs_are_complete_when_a_launch_raises():
    fault = load("ub.uninit")
    seen = {}

    class Spy:
        name = "broken"

        @staticmethod
        def launch(blocks, x, z, **options):
            seen.update(x=x, z=z)
            return fault.broken.launch(blocks, x, z, **options)

    with pytest.raises(StaleDataError):
        fault.launch(Spy)
    assert (seen["z"][:512] == seen["x"][:512]).all()


def test_the_check_can_be_put_off_and_asked_for_later():
    fault = load("race.raw")
    run = fault.launch(fault.broken, check="off")
    assert [f.code for f in run.findings] == ["race.raw"]


@pytest.mark.parametrize("code", sorted({*FOUND_IN_THE_RECORD} - {"gm.misdeclared", "tile.stale"}))
def test_a_saved_run_has_the_same_findings(code, tmp_path):
    # The array behind global memory and the host's tiling object are not saved, nor are queues.
    fault = load(code)
    run = fault.launch(fault.broken, check="off")
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    facts = [
        [(f.code if f.code != "que.role" else "race.raw", f.location, f.count) for f in r.notes]
        for r in (run, again)
    ]
    assert facts[0] == facts[1]
