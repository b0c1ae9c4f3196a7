"""The fix of a finding, put into the source as it is written, silences the finding.

A kernel with every kind of synchronisation loses one of its statements, or all that belong to it,
and is mended again by what the findings suggest.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import re

import numpy as np
import pytest

from kernels.faults import load
from kernels.faults.tensors import gm
from simulator import ascendc
from simulator.errors import DeadlockError

N = 64
BLOCKS = 3
ROUNDS = 4

KERNEL = """
from kernels.faults.tensors import gm
from simulator.ascendc import *

N = 64


@kernel(auto_sync=False)
def body(*addresses):
    x, y, z, sums = (gm(float32, address) for address in addresses)
    me, count = GetBlockIdx(), GetBlockNum()
    a, b, c, d = (LocalTensor(float32, TPosition.VECCALC, 1024 * i, N) for i in range(4))
    TPipe()
    for i in range(4):
        at = (me * 4 + i) * N
        if i:
            WaitFlag(HardEvent.V_MTE2, 0)  # V_MTE2
        DataCopy(a, x[at], N)
        SetFlag(HardEvent.MTE2_V, 0)  # MTE2_V
        WaitFlag(HardEvent.MTE2_V, 0)  # MTE2_V
        Muls(b, a, 2.0, N)
        if i < 3:
            SetFlag(HardEvent.V_MTE2, 0)  # V_MTE2
        PipeBarrier(PIPE_V)  # V
        if i:
            WaitFlag(HardEvent.MTE3_V, 0)  # MTE3_V
        Adds(c, b, 1.0, N)
        SetFlag(HardEvent.V_MTE3, 0)  # V_MTE3
        WaitFlag(HardEvent.V_MTE3, 0)  # V_MTE3
        DataCopy(y[at], c, N)
        if i < 3:
            SetFlag(HardEvent.MTE3_V, 0)  # MTE3_V
        PipeBarrier(PIPE_V)  # V of the next tile
    SetFlag(HardEvent.MTE3_MTE2, 0)  # MTE3_MTE2
    WaitFlag(HardEvent.MTE3_MTE2, 0)  # MTE3_MTE2
    DataCopy(d, y[(me * 4 + 3) * N], N)
    SetFlag(HardEvent.MTE2_MTE3, 0)  # MTE2_MTE3
    WaitFlag(HardEvent.MTE2_MTE3, 0)  # MTE2_MTE3
    DataCopy(z[me * N], d, N)
    PipeBarrier(PIPE_MTE3)  # MTE3
    DataCopy(z[me * N], d[8], 8)
    SyncAll()  # blocks
    SetFlag(HardEvent.MTE3_MTE2, 1)
    WaitFlag(HardEvent.MTE3_MTE2, 1)
    DataCopy(a, z[(me + 1) % count * N], N)
    SetFlag(HardEvent.MTE2_MTE3, 1)
    WaitFlag(HardEvent.MTE2_MTE3, 1)
    SetAtomicAdd(float32)
    DataCopy(sums[me * N], a, N)
    SetAtomicNone()  # atomic mode
    PipeBarrier(PIPE_ALL)
    Adds(b, a, 1.0, N)
    SetFlag(HardEvent.V_S, 0)  # V_S
    WaitFlag(HardEvent.V_S, 0)  # V_S
    first = b.GetValue(0)
    SetFlag(HardEvent.S_V, 0)  # S_V
    WaitFlag(HardEvent.S_V, 0)  # S_V
    Duplicate(b, first, N)
    CrossCoreSetFlag(0, PIPE_MTE3, 3)
    CrossCoreWaitFlag(3)  # cross-core flag
    SetMaskCount()
    SetVectorMask(float32, MaskMode.COUNTER, 32)
    Adds(a, a, 1.0, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8), isSetMask=False)
    SetMaskNorm()  # mode of the mask
    ResetMask()
    PipeBarrier(PIPE_V)
    Adds(a, a, 1.0, 64, 1, UnaryRepeatParams(1, 1, 8, 8))
"""

FOUND = {
    # what is left out: first error that is found then
    "V_MTE2": "race.war", "MTE2_V": "race.raw", "V": "race.samepipe", "MTE3_V": "race.war",
    "V_MTE3": "race.raw", "V_S": "race.scalar", "S_V": "race.scalar",
    "V of the next tile": "race.samepipe", "MTE3_MTE2": "race.raw", "MTE2_MTE3": "race.raw",
    "MTE3": "race.samepipe", "blocks": "core.overlap", "atomic mode": "atomic.left_on",
    "cross-core flag": "sync.balance",
}  # fmt: skip


def indent(line):
    return len(line) - len(line.lstrip())


def without(key):
    """Lines of the kernel without those that end with a remark, nor what they leave empty."""
    lines = KERNEL.splitlines()
    kept = [line for line in lines if not line.endswith(f"  # {key}")]
    assert len(kept) < len(lines)
    return [
        line
        for line, after in itertools.zip_longest(kept, kept[1:], fillvalue="")
        if not (line.lstrip().startswith("if ") and indent(after) <= indent(line))
    ]


def loaded(lines, path):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # A statement may need a name that the kernel does not import.
    for name in ascendc.__all__:
        module.__dict__.setdefault(name, getattr(ascendc, name))
    return module


def with_statements(lines, insertions):
    """Lines with statements put in where the insertions say."""
    lines = list(lines)
    order = itertools.count()
    for at in sorted(insertions, key=lambda i: (-i.line, i.where, -next(order))):
        space = " " * indent(lines[at.line - 1])
        lines.insert(at.line - (at.where == "before"), space + at.statement)
    return lines


def findings(module):
    x = np.random.default_rng(0).standard_normal(4 * N * BLOCKS).astype(np.float32)
    y, z, sums = (
        np.zeros_like(x),
        np.zeros(N * BLOCKS, np.float32),
        np.zeros(N * BLOCKS, np.float32),
    )
    return module.body.launch(BLOCKS, x, y, z, sums, platform="910b", check="report").findings


def test_the_whole_kernel_is_clean(tmp_path):
    assert findings(loaded(KERNEL.splitlines(), tmp_path / "whole.py")) == []


@pytest.mark.parametrize("key", FOUND)
def test_a_statement_that_is_left_out_is_put_back_by_the_fixes(key, tmp_path):
    lines = without(key)
    found = findings(loaded(lines, tmp_path / "broken.py"))
    assert found[0].code == FOUND[key]
    for number in range(ROUNDS):
        first = found[0]
        assert first.insert
        text = (
            [lines[i - 1] for i in (first.location.line, first.other.line)] if first.other else []
        )
        lines = with_statements(lines, first.insert)
        found = findings(loaded(lines, tmp_path / f"mended_{number}.py"))
        gone = [
            f for f in found if f.other and f.code == first.code
            and [lines[i - 1] for i in (f.location.line, f.other.line)] == text
        ]  # fmt: skip
        assert gone == []
        if not found:
            break
    assert found == []


def source_of(code):
    module = load(code)
    return module, inspect.getsource(module).splitlines()


@pytest.mark.parametrize("code", ["core.init_race"])
def test_blocks_of_two_branches_meet_where_the_fix_says(code, tmp_path):
    module, lines = source_of(code)
    (finding,) = module.launch(module.broken, check="report").findings
    again = loaded(with_statements(lines, finding.insert), tmp_path / "mended.py")
    assert again.launch(again.broken, check="report").notes == []


def test_the_flag_that_a_deadlock_names_lets_the_kernel_go_on(tmp_path):
    module, lines = source_of("deadlock")
    with pytest.raises(DeadlockError) as caught:
        module.launch(module.broken)
    statement = re.search(r"SetFlag\(.*?\)", caught.value.fix).group()
    at = caught.value.location.line - 1
    lines.insert(at, " " * indent(lines[at]) + statement)
    again = loaded(lines, tmp_path / "mended.py")
    assert again.launch(again.broken, check="report").notes == []


NAMED_IN_WORDS = {
    # code: call in the fix, what stands for a value left open, and the line it goes in front of
    "ub.uninit": (r"Duplicate\(tile, 0, 1024\)", "", "DataCopy(tile, gm(half, x), N // 2)"),
    "vec.tail_lanes": (
        r"Duplicate\(tile\[96:\], neutral, 32\)", "neutral", "DataCopy(tile, gm(float32, x), 96)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", NAMED_IN_WORDS)
def test_writing_what_is_read_as_the_fix_says_silences_the_finding(code, tmp_path):
    pattern, neutral, anchor = NAMED_IN_WORDS[code]
    module, lines = source_of(code)
    (finding,) = module.launch(module.broken, check="report").findings
    statement = re.search(pattern, finding.fix).group()
    if neutral:
        statement = statement.replace(neutral, "0")
    at = next(i for i, line in enumerate(lines) if line.strip() == anchor)
    lines.insert(at, " " * indent(lines[at]) + statement)
    again = loaded(lines, tmp_path / "mended.py")
    left = again.launch(again.broken, check="report").findings
    assert code not in [f.code for f in left]


def test_calls_of_one_line_are_parted_and_not_preceded():
    @ascendc.kernel
    def body(x, z):
        tile = ascendc.LocalTensor(ascendc.float32, ascendc.TPosition.VECCALC, 0, N)
        source, target = (gm(ascendc.float32, address) for address in (x, z))
        steps = lambda: (ascendc.DataCopy(tile, source, N), ascendc.DataCopy(target, tile, N))  # noqa: E731
        steps()

    x, z = (np.zeros(N, np.float32) for _ in range(2))
    (finding,) = body.launch(1, x, z, check="report").findings
    line = finding.location.line
    assert f"WaitFlag(HardEvent.MTE2_MTE3, 0) between DataCopy and DataCopy in line {line}" in (
        finding.fix
    )
    assert finding.insert == ()
