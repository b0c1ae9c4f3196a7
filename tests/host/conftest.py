"""A fresh runtime per test, so that nothing of one host program reaches the next."""

from __future__ import annotations

import pytest

from host import acl, rt


@pytest.fixture
def runtime():
    """A 910B program after acl.init and rt.set_device, in C style."""
    with acl.Runtime("910b") as made:
        acl.init()
        rt.set_device(0)
        yield made
