"""Orders of one block: what they show of a missing flag, and what they leave alone."""

import inspect

import numpy as np
import pytest
from pipeline import BLOCKS, RIGHT, TILE, TILES, arrays, pipeline, whole

from simulator.ascendc import (
    CMPMODE,
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_V,
    SELMODE,
    Adds,
    BinaryRepeatParams,
    Compare,
    DataCopy,
    Duplicate,
    GetCmpMask,
    HardEvent,
    LocalTensor,
    Muls,
    Mutex,
    PipeBarrier,
    ReduceSum,
    Select,
    SetFlag,
    TPosition,
    WaitFlag,
    float32,
    kernel,
    launch,
    uint8_t,
)
from simulator.errors import ConfigError, DeadlockError, FlagError
from simulator.launch import default_options
from simulator.replay import Replayer
from simulator.run import Run

SEEDS = range(20)


def run_of(without="", **options):
    x, z = arrays()
    run = pipeline(without).launch(BLOCKS, x, z, check="report", **options)
    return run, z


def tile(at, count=TILE):
    return LocalTensor(float32, TPosition.VECCALC, at, count)


def line_of(run, name, number=0):
    """Return the line of the ``number``-th call of an instruction in block 0."""
    lines = {i.location.line: None for i in run.instructions if i.name == name}
    return list(lines)[number]


def test_a_synchronised_pipeline_gives_the_same_bits_in_every_order():
    run, z = run_of()
    np.testing.assert_array_equal(z, RIGHT)
    replayer = Replayer(run)
    for order in ("program", "hardware", "latest"):
        assert replayer.replay(order).equal
    assert all(replayer.replay("random", seed).equal for seed in SEEDS)


def test_a_copy_out_reads_when_it_starts():
    # It takes longer than the call that it should have waited for, and ends behind it.
    @kernel
    def unguarded(z):
        Duplicate(tile(0), 1.0, TILE)
        DataCopy(whole(z), tile(0), TILE)

    z = np.zeros(TILE, np.float32)
    run = unguarded.launch(1, z, check="report", platform="950")
    np.testing.assert_array_equal(z, np.ones(TILE, np.float32))
    stored = next(i for i in run.instructions if i.pipe == "MTE3")
    filled = next(i for i in run.instructions if i.name == "Duplicate")
    assert stored.start < filled.end < stored.end
    (difference,) = run.replay("hardware").differences
    assert difference.count == TILE


@pytest.mark.parametrize(
    ("without", "order", "code"),
    [
        ("MTE2_V", "hardware", "race.raw"),
        ("MTE2_V", "latest", "race.raw"),
        ("V_MTE3", "hardware", "race.raw"),
        ("V_MTE3", "latest", "race.raw"),
        ("V", "latest", "race.samepipe"),
    ],
)
def test_a_missing_call_changes_elements_that_its_finding_explains(without, order, code):
    run, z = run_of(without)
    np.testing.assert_array_equal(z, RIGHT)
    replay = run.replay(order)
    assert not replay.equal
    for difference in replay.differences:
        start, stop = difference.elements
        assert difference.argument == "z"
        assert difference.dtype is float32
        np.testing.assert_array_equal(difference.expected, RIGHT[start:stop])
        assert 0 < difference.count <= stop - start
        assert (difference.got != difference.expected).sum() == difference.count
        assert code in [finding.code for finding in difference.findings]
    np.testing.assert_array_equal(z, RIGHT)


@pytest.mark.parametrize("without", ["MTE2_V", "V_MTE3", "V_MTE2", "MTE3_V", "V"])
def test_some_random_order_shows_every_missing_call(without):
    replayer = Replayer(run_of(without)[0])
    assert not all(replayer.replay("random", seed).equal for seed in SEEDS)


def test_latest_order_reads_what_was_there_before_the_copy():
    # Without MTE2_V every tile is computed from the tile before it; nothing but the end of the
    # kernel makes the last copy of a block visible.
    run, _ = run_of("MTE2_V")
    x, z = run.arguments[0][1], run.arguments[1][1]
    run.replay("latest", keep=True)
    for block in range(BLOCKS):
        start = block * TILES * TILE
        assert np.isnan(z[start : start + TILE]).all()
        older = 2 * x[start : start + (TILES - 1) * TILE] + 1
        shown = z[start + TILE : start + TILES * TILE]
        assert (np.isnan(shown) | (shown == older)).all()


def test_outputs_stay_those_of_program_order_unless_they_are_asked_for():
    run, z = run_of("V_MTE3")
    assert not run.replay("hardware").equal
    np.testing.assert_array_equal(z, RIGHT)
    kept = run.replay("hardware", keep=True)
    assert not np.array_equal(z, RIGHT)
    start, stop = kept.differences[0].elements
    np.testing.assert_array_equal(z[start:stop], kept.differences[0].got)


def test_a_launch_in_another_order_leaves_its_outputs():
    run, z = run_of("V_MTE3", order="hardware")
    assert run.replayed.order == "hardware"
    assert not run.replayed.equal
    assert not np.array_equal(z, RIGHT)


def test_the_order_of_launches_can_be_set_for_a_while():
    with default_options(order="random", seed=5):
        run, z = run_of()
    assert (run.replayed.order, run.replayed.seed) == ("random", 5)
    assert run.replayed.equal
    np.testing.assert_array_equal(z, RIGHT)
    assert run_of()[0].replayed is None


def test_equal_seeds_give_equal_orders_and_others_do_not():
    replayer = Replayer(run_of("V_MTE2")[0])

    def outcome(seed):
        found = replayer.replay("random", seed).differences
        return [(d.elements, d.got.tobytes()) for d in found]

    assert [outcome(seed) for seed in SEEDS] == [outcome(seed) for seed in SEEDS]
    assert len({str(outcome(seed)) for seed in SEEDS}) > 1


def test_a_replay_says_what_differs_in_words_and_as_plain_values():
    run, _ = run_of("V_MTE3")
    replay = run.replay("latest")
    text = str(replay)
    assert text.startswith("latest order: other values than in program order\n  z[0:")
    assert f"because of race.raw at {__file__.replace('test_orders', 'pipeline')}:" in text
    plain = replay.differences[0].as_dict()
    assert plain["argument"] == "z"
    assert plain["expected"] == [1.0, 3.0, 5.0, 7.0]
    assert plain["findings"][0]["code"] == "race.raw"
    assert plain["findings"][0]["line"] == line_of(run, "DataCopy", 1)
    assert str(run_of()[0].replay("random", 3)) == (
        "random order, seed 3: the same bits as in program order"
    )


def test_an_order_that_does_not_exist_is_refused():
    run, _ = run_of()
    with pytest.raises(ConfigError, match="no such order"):
        run.replay("reverse")
    with pytest.raises(ConfigError, match="no such order"):
        run_of(order="reverse")


def test_two_copies_of_one_pipe_to_the_same_place_may_land_in_either_order():
    @kernel
    def twice(z, barrier):
        Duplicate(tile(0), 1.0, TILE)
        Duplicate(tile(8192), 2.0, TILE)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(whole(z), tile(0), TILE)
        if barrier:
            PipeBarrier(PIPE_MTE3)
        DataCopy(whole(z), tile(8192), TILE)

    z = np.zeros(TILE, np.float32)
    assert launch(twice, 1, z, True).replay("latest").equal
    (difference,) = launch(twice, 1, z, False, check="report").replay("latest").differences
    assert difference.elements == (0, TILE)
    assert (difference.expected == 2).all()
    assert (difference.got == 1).all()
    assert "race.samepipe" in [f.code for f in difference.findings]


@pytest.mark.parametrize("auto_sync", [True, False])
def test_steps_of_a_library_call_stay_in_their_order(auto_sync):
    @kernel(auto_sync=auto_sync)
    def total(x, z):
        DataCopy(tile(0), whole(x), TILE)
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        ReduceSum(tile(16384), tile(0), tile(8192), TILE)
        PipeBarrier(PIPE_V)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(whole(z), tile(16384), 8)

    x, z = np.ones(TILE, np.float32), np.zeros(8, np.float32)
    run = launch(total, 1, x, z, check="report")
    replayer = Replayer(run)
    assert z[0] == TILE
    assert replayer.replay("latest").equal
    assert replayer.replay("hardware").equal
    assert all(replayer.replay("random", seed).equal for seed in SEEDS)


@pytest.mark.parametrize("auto_sync", [True, False])
def test_the_compiler_orders_the_scalar_unit_if_it_may(auto_sync):
    @kernel(auto_sync=auto_sync)
    def scalar(z):
        Duplicate(tile(0), 3.0, TILE)
        tile(0).SetValue(5, tile(0).GetValue(4) + 1)
        Muls(tile(8192), tile(0), 2.0, TILE)
        PipeBarrier(PIPE_ALL)
        DataCopy(whole(z), tile(8192), TILE)

    z = np.zeros(TILE, np.float32)
    replayer = Replayer(launch(scalar, 1, z, check="report"))
    assert (z[4], z[5]) == (6, 8)
    replays = [replayer.replay("latest"), *(replayer.replay("random", s) for s in SEEDS)]
    assert all(replay.equal for replay in replays) is auto_sync


def test_the_compare_mask_is_read_behind_the_comparison_in_every_order():
    @kernel(auto_sync=False)
    def choose(x, y, z):
        bits = LocalTensor(uint8_t, TPosition.VECCALC, 4096, 32)
        DataCopy(tile(0, 64), whole(x), 64)
        DataCopy(tile(1024, 64), whole(y), 64)
        PipeBarrier(PIPE_ALL)
        Compare(tile(0, 64), tile(1024, 64), CMPMODE.LT, 64, BinaryRepeatParams())
        GetCmpMask(bits)
        PipeBarrier(PIPE_ALL)
        less, more = tile(0, 64), tile(1024, 64)
        Select(tile(8192, 64), bits, less, more, SELMODE.VSEL_CMPMASK_SPR, 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(whole(z), tile(8192, 64), 64)

    x, y = np.arange(64, dtype=np.float32), np.arange(64, dtype=np.float32)[::-1].copy()
    z = np.zeros(64, np.float32)
    run = launch(choose, 1, x, y, z, platform="910b")
    np.testing.assert_array_equal(z, np.minimum(x, y))
    replayer = Replayer(run)
    assert replayer.replay("hardware").equal
    assert replayer.replay("latest").equal
    assert all(replayer.replay("random", seed).equal for seed in SEEDS)


def test_another_value_for_the_scalar_unit_is_reported_with_its_line():
    @kernel(auto_sync=False)
    def scalar(x):
        DataCopy(tile(0, 8), whole(x), 8)
        tile(0, 8).GetValue(1)  # reads

    x = np.arange(8, dtype=np.float32)
    run = launch(scalar, 1, x, check="report")
    (found,) = run.replay("latest").scalars
    first = inspect.getsourcelines(scalar.function)[1]
    assert (found.api, found.location.line) == ("LocalTensor.GetValue", first + 3)
    assert found.expected == np.float32(1).tobytes()
    assert np.isnan(np.frombuffer(found.got, np.float32)[0])
    assert found.as_dict()["expected"] == "0000803f"


def test_mutexes_order_their_pipes():
    @kernel
    def turns(x, z, locked):
        for step in range(4):
            if locked:
                Mutex.Lock(PIPE_MTE2, 0)
            DataCopy(tile(0), whole(x)[step * TILE], TILE)
            if locked:
                Mutex.Unlock(PIPE_MTE2, 0)
                Mutex.Lock(PIPE_V, 0)
            Adds(tile(8192), tile(0), 1.0, TILE)
            if locked:
                Mutex.Unlock(PIPE_V, 0)
            SetFlag(HardEvent.V_MTE3, 0)
            WaitFlag(HardEvent.V_MTE3, 0)
            DataCopy(whole(z)[step * TILE], tile(8192), TILE)
            SetFlag(HardEvent.MTE3_V, 0)
            WaitFlag(HardEvent.MTE3_V, 0)

    x, z = np.arange(4 * TILE, dtype=np.float32), np.zeros(4 * TILE, np.float32)
    replayer = Replayer(launch(turns, 1, x, z, True, platform="950"))
    np.testing.assert_array_equal(z, x + 1)
    for order in ("program", "hardware", "latest"):
        assert replayer.replay(order).equal
    assert all(replayer.replay("random", seed).equal for seed in SEEDS)
    racy = launch(turns, 1, x, z, False, platform="950", check="report")
    assert not racy.replay("latest").equal


def test_a_block_without_instructions_is_replayed():
    @kernel
    def some(z):
        return

    run = launch(some, 3, np.zeros(8, np.float32))
    for order in ("program", "hardware", "latest", "random"):
        assert run.replay(order).equal


def changed(run, *, drop=None, double=None):
    """Return the run with the entry of one call left out or issued twice."""
    from distinct import with_blocks

    (block,) = run.blocks
    entries = []
    for entry in block.entries:
        name = entry[0].spec.name
        entries += [entry] * (0 if name == drop else 2 if name == double else 1)
    return with_blocks(run, [type(block)(0, entries, [], block.local)])


def one_flag():
    @kernel
    def flag(z):
        Duplicate(tile(0), 1.0, TILE)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(whole(z), tile(0), TILE)

    return launch(flag, 1, np.zeros(TILE, np.float32))


@pytest.mark.parametrize("order", ["program", "latest"])
def test_a_record_whose_wait_nothing_ends_cannot_be_executed(order):
    broken = changed(one_flag(), drop="SetFlag")
    assert isinstance(broken, Run)
    with pytest.raises(DeadlockError):
        Replayer(broken).execute(order)


def test_a_record_that_sets_a_flag_twice_cannot_be_executed():
    with pytest.raises(FlagError, match="set again before anything waited"):
        Replayer(changed(one_flag(), double="SetFlag")).execute("program")


def test_the_scalar_unit_can_wait_for_a_flag():
    @kernel(auto_sync=False)
    def scalar(x, z):
        DataCopy(tile(0, 8), whole(x), 8)
        SetFlag(HardEvent.MTE2_S, 0)
        WaitFlag(HardEvent.MTE2_S, 0)
        value = tile(0, 8).GetValue(1)
        tile(1024, 8).SetValue(0, value)
        SetFlag(HardEvent.S_MTE3, 0)
        WaitFlag(HardEvent.S_MTE3, 0)
        DataCopy(whole(z), tile(1024, 8), 8)

    x, z = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    replayer = Replayer(launch(scalar, 1, x, z, check="report"))
    assert z[0] == 1
    assert replayer.replay("latest").scalars == []
    assert all(replayer.replay("random", seed).scalars == [] for seed in SEEDS)
