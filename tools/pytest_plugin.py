"""pytest plugin: launch kernels with checks on, on several platforms and in several orders.

The fixture ``ascsim`` launches kernels; a mistake fails the test with the diagnostic of the
``ascsim`` command. Nothing of the simulator is imported before a test asks for the fixture.
"""

from __future__ import annotations

import secrets
import zlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import numpy as np

    from simulator.launch import Kernel
    from simulator.run import Run

MARKER: Final = "ascsim_platforms"
ORDERS: Final = ("program", "hardware", "latest", "random")
DEFAULT_PLATFORM: Final = "910b"
_SEEDS: Final = 2**31

_SEED: Final = pytest.StashKey[int]()
_SIMULATOR: Final = pytest.StashKey["Simulator"]()
_ACTIVE: Final = pytest.StashKey["Simulator | None"]()


# -- options -----------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("ascsim", "Ascend AI Core simulator")
    group.addoption(
        "--ascsim-platform",
        action="append",
        metavar="NAME",
        help="profile to launch on (910b, 950, SoC version, .toml file), may be repeated; tests "
        f"marked {MARKER} run on those of their platforms that are named. Default: 910b, or what "
        "the marker says.",
    )
    group.addoption(
        "--ascsim-order",
        choices=ORDERS,
        default="program",
        help="order in which the record is executed, whose outputs the tests see; default program",
    )
    group.addoption(
        "--ascsim-seed",
        type=int,
        metavar="N",
        help="seed of inputs (ascsim.rng) and of random orders; default a new one, which is "
        "printed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and fix the seed."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*names): run a test that uses the fixture ascsim once on each platform",
    )
    given: int | None = getattr(config, "workerinput", {}).get("ascsim_seed")
    if given is None:
        given = config.getoption("--ascsim-seed")
    if given is not None and given < 0:
        raise pytest.UsageError(f"--ascsim-seed cannot be {given}; a whole number >= 0 is needed")
    config.stash[_SEED] = secrets.randbelow(_SEEDS) if given is None else given
    config.stash[_ACTIVE] = None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give the workers of pytest-xdist the seed of the session."""
    node.workerinput["ascsim_seed"] = node.config.stash[_SEED]


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is needed to repeat the session."""
    platforms = config.getoption("--ascsim-platform")
    chosen = f"platform {', '.join(platforms)}, " if platforms else ""
    order = config.getoption("--ascsim-order")
    return f"ascsim: {chosen}order {order}, --ascsim-seed {config.stash[_SEED]}"


# -- platforms -----------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once on each of its platforms."""
    if "ascsim" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(MARKER)
    named: list[str] | None = metafunc.config.getoption("--ascsim-platform")
    wanted = list(marker.args) if marker is not None else []
    if marker is not None and (not wanted or not all(isinstance(n, str) for n in wanted)):
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: {MARKER} needs names of platforms"
        )
    if named and wanted:
        left = pytest.mark.skip(reason=f"not for {', '.join(named)}")
        chosen: list[Any] = [n for n in wanted if n in named]
        chosen = chosen or [pytest.param(wanted[0], marks=left)]
    else:
        chosen = named or wanted
    if chosen:
        metafunc.parametrize("ascsim", chosen, indirect=True)


class Simulator:
    """What the fixture ``ascsim`` is: a launcher that remembers its runs.

    ``ascsim(kernel, block_dim, *args)`` launches and returns the run. Launches that the test makes
    in other ways (``kernel[8](...)``, host programs) take the same platform and order unless they
    name their own.

    Attributes
    ----------
    platform : str
    order : str
    seed : int
        Seed of this test; it depends on the session's seed and the test's name only.
    runs : list of Run
        Launches of the test so far.
    over_budget : Run or None
        The run whose cycles a failed comparison was about.
    """

    def __init__(self, platform: str, order: str, seed: int, runs: list[Run]) -> None:
        self.platform = platform
        self.order = order
        self.seed = seed
        self.runs = runs
        self.over_budget: Run | None = None
        self._rng: np.random.Generator | None = None

    @property
    def rng(self) -> np.random.Generator:
        """A numpy generator with the seed of this test."""
        if self._rng is None:
            from numpy.random import default_rng

            self._rng = default_rng(self.seed)
        return self._rng

    def __call__(self, kernel: Kernel, block_dim: int, *args: Any, **options: Any) -> Run:
        """Launch ``kernel`` on ``block_dim`` blocks; options are those of ``launch``.

        Raises
        ------
        SimulatorError
            For a mistake in the kernel, and for an error that the checks find.
        """
        from simulator.launch import launch

        return launch(kernel, block_dim, *args, **options)

    def __repr__(self) -> str:
        return (
            f"<ascsim on {self.platform}, {self.order} order, seed {self.seed}: "
            f"{len(self.runs)} launches>"
        )


@pytest.fixture
def ascsim(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    """Launch kernels with checks on: ``run = ascsim(kernel, block_dim, *args)``."""
    from simulator.launch import collect_runs, default_options
    from simulator.platforms import load_platform

    platform = getattr(request, "param", DEFAULT_PLATFORM)
    order = request.config.getoption("--ascsim-order")
    seed = (request.config.stash[_SEED] + zlib.crc32(request.node.nodeid.encode())) % _SEEDS
    with ExitStack() as stack:
        stack.enter_context(
            default_options(platform=load_platform(platform), check="raise", order=order, seed=seed)
        )
        runs = stack.enter_context(collect_runs())
        simulator = Simulator(platform, order, seed, runs)
        request.node.stash[_SIMULATOR] = simulator
        request.config.stash[_ACTIVE] = simulator
        stack.callback(request.config.stash.__setitem__, _ACTIVE, None)
        yield simulator


# -- reports -------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the diagnostic of a kernel's mistake, and what is needed to repeat the test."""
    report = yield
    simulator = item.stash.get(_SIMULATOR, None)
    if simulator is None or call.excinfo is None or not report.failed:
        return report
    from simulator.errors import SimulatorError

    error = call.excinfo.value
    if isinstance(error, SimulatorError):
        from tools.diagnostics import diagnostic

        report.longrepr = f"{diagnostic(error).plain}\n"
    lines = [repr(simulator), f"repeat with --ascsim-seed {item.config.stash[_SEED]}"]
    lines += [
        str(run.replayed) for run in simulator.runs if run.replayed and not run.replayed.equal
    ]
    if simulator.over_budget is not None:
        lines += ["", simulator.over_budget.report()]
    report.sections.append(("ascsim", "\n".join(lines)))
    return report


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Point from a broken cycle budget (``assert run.cycles <= n``) to the report of the run.

    The report itself is a section of its own, because pytest cuts long explanations short.
    """
    simulator = config.stash.get(_ACTIVE, None)
    if simulator is None or op not in ("<", "<=", ">", ">=", "=="):
        return None
    for run in reversed(simulator.runs):
        if any(type(side) is int and side == run.cycles for side in (left, right)):
            simulator.over_budget = run
            taken = f"{run.name} takes {run.cycles} cycles on {simulator.platform}"
            return [f"{left} {op} {right}", f"{taken}; its report is below"]
    return None
