"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

from simulator.launch import default_options

# No deadline: the time of a test says nothing about the device. In CI the same examples every time,
# so that a red run is about the change under test.
settings.register_profile("ascsim", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ascsim")

MACHINE = ("analysis", "core", "isa", "numerics", "platforms", "timing")
"""Folders whose kernels are as short as an instruction or a pipe needs; most would race."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Launch without checks in the tests of the machine, with checks everywhere else."""
    with default_options(check="off" if item.path.parent.name in MACHINE else "raise"):
        return (yield)
