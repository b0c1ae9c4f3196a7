"""Makes ``profile_kernels`` importable and writes one profile of each kind and generation."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from profile_kernels import NOON, launch_add, launch_rows

from host import ops
from simulator.platforms import load_platform
from simulator.run import Run
from tools.profile_files.folder import write_profile


class Written(NamedTuple):
    generation: str
    run: Run
    folder: Path


def _operator(platform):
    import numpy as np

    x = np.ones((64, 1024), np.float16)
    return ops.hardswish_backward_v2.run(x, x, platform=platform).runs[0]


MAKERS = {
    "queues": launch_add,
    "odd rows": launch_rows,
    "two rounds": lambda platform: launch_add(platform, blocks=70, tiles=1),
    "operator": _operator,
    "flags without delay": lambda platform: launch_add(
        load_platform(platform).override(**{"timing.flag_hop_cycles": 0})
    ),
}


@pytest.fixture(scope="session", params=["A2", "A5"])
def generation(request):
    return request.param


@pytest.fixture(scope="session", params=MAKERS)
def written(request, generation, tmp_path_factory):
    """A run and the folder of its profile."""
    run = MAKERS[request.param]("910b" if generation == "A2" else "950")
    folder = write_profile([run], tmp_path_factory.mktemp("profile"), seed=1, now=NOON)
    return Written(generation, run, folder)
