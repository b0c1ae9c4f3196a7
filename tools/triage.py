"""What ``ascsim run`` can do besides: try another order, measure the loss of precision."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulator.analysis.precision import DEFAULT_BOUND, precision
from simulator.errors import ConfigError
from simulator.launch import default_options
from simulator.run import ORDERS
from simulator.watching import watched_by
from tools.console import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from simulator.analysis.losses import Precision
    from simulator.run import Run


@dataclass(frozen=True)
class TriageRequest:
    """Options as given; None is an option that was left out.

    Attributes
    ----------
    order : str, optional
        Order in which the record of each launch is executed; its outputs are the results.
    order_seed : int, optional
        Seed of a random order.
    precise : bool
        Carry exact values beside every tensor.
    bound : float, optional
        Relative error that counts as lost precision.
    """

    order: str | None = None
    order_seed: int | None = None
    precise: bool = False
    bound: float | None = None


@dataclass
class Triage:
    """What came of it, launch by launch."""

    precisions: list[tuple[str, Precision]] = field(default_factory=list)

    def launching(self, result: Callable[[], Any]) -> AbstractContextManager[None]:
        """Let a launch go on."""
        return nullcontext()

    def started(self, core: Any) -> None:
        """Let a block go on."""


class _Measuring(Triage):
    """Measures each launch as soon as it has finished, while its inputs are still there."""

    def __init__(self, bound: float) -> None:
        super().__init__()
        self._bound = bound

    def finished(self, run: Run) -> None:
        """Measure a launch."""
        self.precisions.append((run.name, precision(run, self._bound)))


@contextmanager
def triage(request: TriageRequest) -> Iterator[Triage]:
    """Let all launches inside the ``with`` block do what is wanted.

    Raises
    ------
    ConfigError
        If the options do not fit together.
    """
    _check(request)
    with ExitStack() as stack:
        if request.order is not None:
            options = default_options(order=request.order, seed=request.order_seed or 0)
            stack.enter_context(options)
        if not request.precise:
            yield Triage()
            return
        measuring = _Measuring(DEFAULT_BOUND if request.bound is None else request.bound)
        stack.enter_context(watched_by(measuring))
        yield measuring


def _check(request: TriageRequest) -> None:
    if request.order is not None and request.order not in ORDERS:
        raise ConfigError(f"there is no order {request.order!r}", legal=", ".join(ORDERS))
    if request.order_seed is not None and request.order != "random":
        raise ConfigError("--order-seed belongs to --order random")
    if request.bound is not None and not request.precise:
        raise ConfigError("--bound belongs to --precise")
    if request.bound is not None and not request.bound > 0:
        raise ConfigError(f"the bound cannot be {request.bound}", legal="a number > 0")


def is_changed(runs: Sequence[Run]) -> bool:
    """Whether a launch gave other values in the order that was asked for."""
    return any(run.replayed is not None and not run.replayed.equal for run in runs)


def print_triage(found: Triage, runs: Sequence[Run]) -> None:
    """Print what the order changed and where precision is lost."""
    for run in runs:
        if run.replayed is not None:
            show("", f"{run.name}, {run.replayed}", wrap=False)
    for name, measured in found.precisions:
        show("", f"{name}, {measured}", wrap=False)


def triage_dict(found: Triage, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the same as plain values; empty when nothing was asked for."""
    replays = [run.replayed.as_dict() for run in runs if run.replayed is not None]
    measured = [precise.as_dict() for _, precise in found.precisions]
    return {
        **({"replays": replays} if replays else {}),
        **({"precision": measured} if measured else {}),
    }
