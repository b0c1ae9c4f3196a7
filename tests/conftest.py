"""Settings that all tests share."""

import os

from hypothesis import settings

# No deadline: the time of a test says nothing about the device. In CI the same examples every time,
# so that a red run is about the change under test.
settings.register_profile("ascsim", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ascsim")
