"""A changed flag or barrier of a clean kernel is found, cannot be executed, or changes nothing."""

from collections import Counter

import mutation
import pytest
from clean import clean_launches

from simulator.enums import HardEvent, PipeID

LAUNCHES = clean_launches()
SOME = 120
MTE3 = int(PipeID.PIPE_MTE3)


def outcomes(name, most=SOME):
    verdicts = [v for run in LAUNCHES[name]() for v in mutation.examine(run, most)]
    return Counter(v.outcome for v in verdicts), verdicts


@pytest.mark.parametrize(
    "name",
    [
        "vector_add-910b-depth2",
        "vector_add-950-depth1",
        "hardswish_backward_v2-950-fp32",
        "max_pooling_grad-910b-fp16",
    ],
)
def test_no_mutant_survives_that_makes_a_difference(name):
    count, verdicts = outcomes(name)
    assert [str(v) for v in verdicts if v.outcome == mutation.MISSED] == []
    assert min(count[o] for o in (mutation.FOUND, mutation.REFUSED, mutation.EQUIVALENT)) > 0


def test_leaving_out_the_meeting_of_all_blocks_is_found():
    (run,) = (r for r in LAUNCHES["prelu_backward-910b-fp32"]() if r.name == "PReluGradReduce")
    (mutant,) = mutation.meetings(run, 0)
    mutation.Replayer(run).execute("program")
    clean = {a: a.data.tobytes() for a in run.initial}
    verdict = mutation.judge(run, 0, mutant, clean)
    assert (verdict.outcome, verdict.detail) == (mutation.FOUND, "core.overlap")


def test_a_buffer_of_the_sum_on_950_that_nothing_guards_is_overwritten_too_early():
    (run,) = LAUNCHES["reduce-950-fp32-21"]()
    part, index = next(mutation.candidates(run))
    mutation.Replayer(part).execute("program")
    clean = {a: a.data.tobytes() for a in part.initial}
    guards = [
        mutant
        for mutant in mutation.mutants(part.blocks[index].entries)
        if mutant.what.startswith("SetFlag and WaitFlag V_MTE2") and "deleted" in mutant.what
    ]
    verdicts = [mutation.judge(part, index, mutant, clean) for mutant in guards]
    found = Counter((v.outcome, v.detail) for v in verdicts)
    assert found[mutation.FOUND, "race.war"] > len(guards) // 2
    # The last guard of a buffer stands before the end of the kernel.
    assert {outcome for outcome, _ in found} == {mutation.FOUND, mutation.EQUIVALENT}


def test_the_second_pass_over_a_tile_on_910_has_to_wait_for_the_first():
    # The published kernel has no such flag.
    (run,) = LAUNCHES["hardswish_backward_v2-910-fp32-6409"]()
    block = run.blocks[1]
    stores = [i for i, e in enumerate(block.entries) if e[0].pipe == MTE3 and e[0].operands]
    flags = [
        i
        for i, e in enumerate(block.entries)
        if stores[0] < i < stores[1] and e[0].event == HardEvent.MTE3_MTE2
    ]
    assert len(flags) == 2
    entries = [entry for i, entry in enumerate(block.entries) if i not in flags]
    part = mutation.alone(run, block)
    mutation.Replayer(part).execute("program")
    clean = {a: a.data.tobytes() for a in part.initial}
    verdict = mutation.judge(part, 0, mutation.Mutant("no flag", 0, entries), clean)
    assert (verdict.outcome, verdict.detail) == (mutation.FOUND, "race.war")
    changed = mutation.with_mutant(part, 0, mutation.Mutant("no flag", 0, entries))
    assert not changed.replay("hardware").equal


def test_every_kind_of_change_is_made():
    (run,) = LAUNCHES["vector_add-910b-depth2"]()
    block = run.blocks[0]
    made = Counter(
        (name.split(" ")[0], change)
        for name in (mutant.what for mutant in mutation.mutants(block.entries))
        for change in ("deleted", "moved before", "moved behind", "on id")
        if change in name
    )
    # EnQue sets a flag and DeQue waits for it; FreeTensor and AllocTensor do so the other way.
    assert set(made) == {
        (call, change)
        for call in ("SetFlag", "WaitFlag")
        for change in ("deleted", "moved before", "moved behind", "on id")
    } | {("PipeBarrier", change) for change in ("deleted", "moved before")}
    calls = Counter(entry[0].spec.name for entry in block.entries)
    for call in ("WaitFlag", "PipeBarrier"):
        assert made[call, "deleted"] == calls[call]
    # Pairs are named after their SetFlag.
    assert made["SetFlag", "deleted"] == 2 * calls["SetFlag"]


def test_a_blind_check_is_seen_to_miss_mutants(monkeypatch):
    monkeypatch.setattr(mutation.Races, "find", lambda self: [])
    count, _ = outcomes("vector_add-910b-depth2", 60)
    assert count[mutation.FOUND] == 0
    assert count[mutation.MISSED] > 0
