"""Every clean kernel of the repository gives the same bits in every legal order."""

import functools
import importlib
import pkgutil

import clean
import numpy as np
import pytest
from clean import clean_launches
from distinct import distinct

import kernels
from kernels.faults import codes, load
from kernels.validation.copy_in import copy_all, copy_in
from kernels.validation.one_call import Call, one_call
from kernels.validation.reduce_sum import pairwise, reduce_only
from kernels.validation.whole_kernels import WHOLE_KERNELS
from simulator.errors import SimulatorError
from simulator.launch import Kernel
from simulator.replay import Replayer

LAUNCHES = clean_launches()
SEEDS = range(20)


def differing_orders(run, seeds=SEEDS):
    replayer = Replayer(run)
    orders = [("hardware", 0), ("latest", 0), *(("random", seed) for seed in seeds)]
    found = [replayer.replay(*order) for order in orders]
    return [str(replay) for replay in found if not replay.equal]


WARNED = {
    # The result of all calls but the last is overwritten: only their time counts.
    **dict.fromkeys((f"validation-V0{row}" for row in (14, 15, 16, 17, 72)), "ub.lost_write"),
    # Two blocks store the same values to the block of 32 bytes that one of them works on twice.
    "hardswish_backward_v2-910-fp16-6409": "core.overlap",
    "hardswish_backward-910-fp16-6409": "core.overlap",
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_clean_kernel_passes_its_checks(name):
    # An error would have ended the launch.
    found = {(f.code, f.severity) for run in LAUNCHES[name]() for f in run.findings}
    assert found == ({(WARNED[name], "warning")} if name in WARNED else set())


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_order_gives_the_bits_of_program_order(name):
    runs = LAUNCHES[name]()
    assert runs
    for run in runs:
        replayer = Replayer(run)
        assert replayer.replay("hardware").equal
        assert replayer.replay("latest").equal
        assert differing_orders(distinct(run)) == []


def kernels_of_the_package():
    """Every kernel under kernels/ that is not one of a pair with a fault, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(kernels.__path__, "kernels."):
        if not module.name.startswith("kernels.faults"):
            for kernel in vars(importlib.import_module(module.name)).values():
                if isinstance(kernel, Kernel):
                    function = kernel.function
                    found[f"{function.__module__}.{function.__name__}"] = kernel
    return found


def test_every_kernel_is_among_the_launches_but_for_those_that_store_nothing(monkeypatch):
    seen = set()

    def noting(name, function):
        @functools.wraps(function)
        def noted(*args):
            seen.add(name)
            return function(*args)

        return noted

    found = kernels_of_the_package()
    for name, kernel in found.items():
        monkeypatch.setattr(kernel, "function", noting(name, kernel.function))
    for launches in LAUNCHES.values():
        launches()
    left_out = {
        f"{k.__module__}.{k.__name__}" for k in (copy_in, copy_all, one_call, pairwise, reduce_only)
    }
    assert {name: name in seen for name in found} == {name: name not in left_out for name in found}


def test_every_row_of_the_validation_kernels_is_launched_or_left_out():
    assert sorted([*clean.MEASURED, *clean.LEFT_OUT]) == sorted(WHOLE_KERNELS)


@pytest.mark.parametrize("row", clean.LEFT_OUT)
def test_a_row_that_is_left_out_stores_nothing(row):
    case = WHOLE_KERNELS[row]
    size = {pairwise: 3000, reduce_only: 3000, copy_all: 128 * case.blocks}.get(case.kernel)
    size = size or (case.blocks if row == "V043" else 64 * case.blocks)
    run = case.kernel.launch(
        case.blocks, *case.arguments(size), platform=case.platform, check="off"
    )
    assert not run.initial


def test_the_kernel_of_a_single_call_stores_nothing():
    call = Call("Add", "float", 1, 1024, 1024)
    assert not one_call.launch(1, call, platform="910b", check="off").initial


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
