"""The critical path: it explains the whole time, and what is on it has no slack."""

from copy import copy
from dataclasses import replace
from itertools import pairwise

import pytest
from tunable import launch

from simulator.run import Run

CASES = {
    "double-buffered": {},
    "single-buffered": {"buffers": 1},
    "barriers": {"barriers": True, "work": 4},
    "much arithmetic": {"work": 40},
    "two rounds": {"blocks": 130, "tiles": 2},
    "short": {"tiles": 1, "length": 16},
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_the_steps_cover_the_whole_time_without_gaps(case, platform):
    run = launch(platform, **case)
    steps = run.critical_path.steps
    assert steps[0].start == 0
    assert steps[-1].end == run.cycles
    assert all(a.end == b.start for a, b in pairwise(steps))
    assert sum(run.critical_path.kinds().values()) == run.cycles


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_the_work_of_the_path_has_no_slack(case, platform):
    run = launch(platform, **case)
    path = run.critical_path
    for step in path.steps:
        if step.kind == "work" and step.block == path.steps[-1].block:
            assert path.slack(step.block)[step.number] == 0


def test_lines_add_up_to_the_path_without_start_up(case):
    path = launch(**case).critical_path
    kinds = path.kinds()
    assert sum(line.cycles for line in path.lines()) == sum(kinds.values()) - kinds["start-up"]
    cycles = [line.cycles for line in path.lines()]
    assert cycles == sorted(cycles, reverse=True)


def test_with_one_buffer_copy_add_and_copy_alternate_on_the_path():
    run = launch(buffers=1, tiles=5, blocks=1)
    names = [
        run.instructions.of_block(0, s.number).name
        for s in run.critical_path.steps
        if s.kind == "work"
    ]
    assert names.count("Add") == 5
    # The next copy in needs the buffer that Add has read; the copy out is off the path but at last.
    assert [n for n in names if n != "DataCopy"] == ["Add"] * 5
    assert names[0] == names[-1] == "DataCopy"


def test_arithmetic_that_is_hidden_behind_copies_is_off_the_path():
    run = launch(blocks=48, tiles=8, length=8192)
    on_path = [s.number for s in run.critical_path.steps if s.kind == "work" and s.number >= 0]
    adds = [i.index for i in run.instructions if i.block == 0 and i.name == "Add"]
    assert len(set(adds) & set(on_path)) <= 1
    slack = run.critical_path.slack(0)
    assert all(slack[index] > 0 for index in adds[:-1])


def test_slack_is_the_time_until_the_end_for_what_nobody_waits_for():
    run = launch(blocks=1, tiles=2)
    placed = run.timeline.blocks[0]
    slack = run.critical_path.slack(0)
    # Nothing but the end of the kernel waits for the copies out.
    for i in run.instructions:
        if i.pipe == "MTE3" and i.name == "DataCopy":
            assert slack[i.index] <= placed.end - i.end


def test_a_core_that_ends_early_has_slack_in_all_it_does():
    run = launch(blocks=49, tiles=1)
    last = run.timeline.cycles
    for placed in run.timeline.blocks[1:48]:
        spare = last - placed.end
        assert spare > 0
        assert min(run.critical_path.slack(placed.block)) >= spare


def lengthened(run, number, cycles):
    """The run with one Add of block 0 longer.

    Its two sources lie in the same bank groups, so each of its repeats takes two cycles. With one
    source it takes one.
    """
    entries = list(run.blocks[0].entries)
    plan, *rest = entries[number]
    longer = copy(plan)
    longer.operands = plan.operands[:2]
    longer.work = plan.work._replace(repeats=2 * plan.work.repeats + cycles)
    entries[number] = (longer, *rest)
    blocks = [replace(run.blocks[0], entries=entries), *run.blocks[1:]]
    return Run(
        run.name, run.platform, blocks,
        arguments=run.arguments, initial=run.initial, auto_sync=run.auto_sync,
    )  # fmt: skip


@pytest.mark.parametrize(
    "case", [{}, {"buffers": 1}, {"work": 3}, {"barriers": True}, {"length": 8192}], ids=str
)
def test_an_instruction_may_take_longer_by_its_slack_and_not_by_more(case):
    run = launch(blocks=1, tiles=6, **case)
    slack = run.critical_path.slack(0)
    adds = [i for i in run.instructions if i.name == "Add"]
    for add in adds:
        spare = slack[add.index]
        assert lengthened(run, add.index, spare).cycles == run.cycles
        assert lengthened(run, add.index, spare + 1).cycles == run.cycles + 1
