"""Every clean kernel of the repository gives the same bits in every legal order."""

import numpy as np
import pytest
from clean import clean_launches
from distinct import distinct

from kernels.faults import codes, load
from simulator.errors import SimulatorError
from simulator.replay import Replayer

LAUNCHES = clean_launches()
SEEDS = range(20)


def differing_orders(run, seeds=SEEDS):
    replayer = Replayer(run)
    orders = [("hardware", 0), ("latest", 0), *(("random", seed) for seed in seeds)]
    found = [replayer.replay(*order) for order in orders]
    return [str(replay) for replay in found if not replay.equal]


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_order_gives_the_bits_of_program_order(name):
    runs = LAUNCHES[name]()
    assert runs
    for run in runs:
        replayer = Replayer(run)
        assert replayer.replay("hardware").equal
        assert replayer.replay("latest").equal
        assert differing_orders(distinct(run)) == []


@pytest.mark.parametrize("name", ["vector_add-910b-depth2", "max_pooling_grad-910b-fp16"])
def test_replayed_program_order_is_what_the_launch_left(name):
    (run,) = LAUNCHES[name]()
    left = {a: a.data.copy() for a in run.initial}
    for allocation in left:
        allocation.data[:] = 0xEE
    Replayer(run).execute("program")
    assert left
    for allocation, data in left.items():
        np.testing.assert_array_equal(allocation.data, data)


@pytest.mark.parametrize("code", codes())
def test_the_mended_twin_of_every_fault_gives_the_same_bits(code):
    pair = load(code)
    assert differing_orders(pair.launch(pair.fixed)) == []


DAMAGED = {
    # code: orders that show it
    "core.init_race": {"latest", "random"},
    "core.overlap": {"latest", "random"},
    "flag.wrong_pipe": {"hardware", "latest", "random"},
    "que.role": {"hardware", "latest", "random"},
    "race.raw": {"hardware", "latest", "random"},
    "race.samepipe": {"latest", "random"},
    "race.scalar": {"hardware", "latest", "random"},
    "race.war": {"hardware", "random"},
    "race.waw": {"latest", "random"},
}


@pytest.mark.parametrize("code", codes())
def test_broken_kernels_show_their_damage_and_name_the_finding(code):
    pair = load(code)
    try:
        run = pair.launch(pair.broken, check="report")
    except SimulatorError:
        assert code not in DAMAGED
        return
    replayer = Replayer(run)
    replays = {order: replayer.replay(order) for order in ("hardware", "latest")}
    seeded = [replayer.replay("random", seed) for seed in SEEDS]
    shown = {order for order, replay in replays.items() if not replay.equal}
    if not all(replay.equal for replay in seeded):
        shown.add("random")
    assert shown == DAMAGED.get(code, set())
    for replay in (*replays.values(), *seeded):
        for difference in replay.differences:
            assert code in [finding.code for finding in difference.findings]
