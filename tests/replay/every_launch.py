"""Replay every launch of a test session: what the checks find right must not depend on the order.

``PYTHONPATH=tests/replay python -m pytest -p every_launch tests/isa tests/core`` executes the
record of each launch again in program order, which must leave the same bytes, and, when the checks
have no error to report, in hardware, latest and three random orders. What disagrees is listed at
the end of the session and fails it. Large launches are left out. A test that compares a chain of
calls with a stored one sees the plugin's own call in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import launch as launching
from simulator.replay import Replayer

MOST_CALLS = 4000
MOST_BLOCKS = 64
ORDERS = (("hardware", 0), ("latest", 0), ("random", 0), ("random", 1), ("random", 2))


class EveryLaunch:
    """Hears of every launch by taking the place of what executes it."""

    def __init__(self) -> None:
        self.test = ""
        self.count = 0
        self.problems: dict[tuple[str, str], str] = {}
        self._run = launching._Launch.run
        every = self

        def run(job: Any, name: str, args: Any) -> Any:
            made = every._run(job, name, args)
            every.look(made)
            return made

        launching._Launch.run = run  # type: ignore[method-assign]

    def look(self, run: Any) -> None:
        """Replay a run and note what is not as it should be."""
        calls = sum(len(block.entries) for block in run.blocks)
        if len(run.blocks) > MOST_BLOCKS or calls > MOST_CALLS:
            return
        self.count += 1
        left = {allocation: allocation.data.copy() for allocation in run.initial}
        replayer = Replayer(run)
        try:
            replayer.execute("program")
            same = all(np.array_equal(a.data, data) for a, data in left.items())
        finally:
            for allocation, data in left.items():
                allocation.data[:] = data
        if not same:
            self.note("program order leaves other bytes")
        if any(finding.severity == "error" for finding in run.findings):
            return
        for order in ORDERS:
            replay = replayer.replay(*order)
            if not replay.equal:
                self.note(f"no error is found, but {replay}")

    def note(self, problem: str) -> None:
        """Keep one problem of a kind for each test function."""
        self.problems.setdefault((self.test.partition("[")[0], problem[:40]), problem)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Remember the test that launches."""
        self.test = item.nodeid

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session if anything disagrees."""
        if self.problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List what disagrees."""
        terminalreporter.write_line(f"{self.count} launches replayed")
        for (test, _), problem in self.problems.items():
            terminalreporter.write_line(f"{test}: {problem}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin."""
    config.pluginmanager.register(EveryLaunch(), "every launch")
