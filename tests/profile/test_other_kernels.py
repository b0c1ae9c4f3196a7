"""Profiles of unusual kernels: no work, two vector cores an AI core, and all operators."""

import csv

import numpy as np
import pytest
from profile_kernels import NOON

from simulator.ascendc import (
    DataCopy,
    GetBlockIdx,
    GlobalTensor,
    TPipe,
    TPosition,
    TQueBind,
    half,
    kernel,
)
from simulator.platforms import load_platform
from tools.operators import OPERATORS
from tools.profile_files.folder import write_profile
from tools.profile_report import profile_dict


@kernel
def nothing(x):
    """Issues no instruction."""


@kernel(task_ratio=2)
def both_vector_cores(x, z, length):
    """Copies one tile on each vector core of an AI core."""
    source, target = GlobalTensor(half), GlobalTensor(half)
    offset = GetBlockIdx() * length * half.itemsize
    source.SetGlobalBuffer(x + offset, length)
    target.SetGlobalBuffer(z + offset, length)
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    TPipe().InitBuffer(queue, 1, length * half.itemsize)
    local = queue.AllocTensor(half)
    DataCopy(local, source, length)
    queue.EnQue(local)
    local = queue.DeQue(half)
    DataCopy(target, local, length)
    queue.FreeTensor(local)


def rows(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_kernel_that_does_nothing_has_a_profile(tmp_path):
    run = nothing.launch(3, np.zeros(8, np.float16))
    folder = write_profile([run], tmp_path, seed=1, now=NOON)
    found = rows(folder, "PipeUtilization")
    assert [row["aiv_vec_ratio"] for row in found] == ["0.000000"] * 3
    assert [row["aiv_mte2_active_bw(GB/s)"] for row in found] == ["NA"] * 3
    assert profile_dict(run)["critical_path"]["kinds"] == {"start-up": run.cycles}


def test_two_vector_cores_of_an_ai_core_are_sub_blocks_of_a_mix_kernel(tmp_path):
    x = np.ones(4 * 256, np.float16)
    run = both_vector_cores.launch(2, x, np.zeros_like(x), 256)
    folder = write_profile([run], tmp_path, seed=1, now=NOON)
    [info] = rows(folder, "OpBasicInfo")
    assert (info["Op Type"], info["Block Dim"], info["Mix Block Dim"]) == ("mix", "2", "4")
    keys = [(row["block_id"], row["sub_block_id"]) for row in rows(folder, "Memory")]
    assert keys == [("0", "vector0"), ("0", "vector1"), ("1", "vector0"), ("1", "vector1")]


@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_profile_and_a_path_that_explains_it(name, platform, tmp_path):
    from host.errors import AclnnError

    operator = OPERATORS[name]
    inputs = operator.inputs(np.random.default_rng(0), (64, 300), np.dtype(np.float16))
    try:
        runs = operator.run(inputs, load_platform(platform)).runs
    except AclnnError:
        assert (name, platform) == ("max_pooling_grad", "950")
        return
    folder = write_profile(runs, tmp_path, seed=1, now=NOON)
    assert len(list(folder.rglob("PipeUtilization*.csv"))) == len(runs)
    for run in runs:
        assert sum(step.cycles for step in run.critical_path.steps) == run.cycles
        assert profile_dict(run)["lines"]
