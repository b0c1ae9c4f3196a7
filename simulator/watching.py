"""Who watches launches: a recorder for the debugger hears of every launch, core and outcome.

Nothing is called and nothing is kept as long as nobody watches.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


class Watcher(Protocol):
    """What hears of launches."""

    def launching(self, result: Callable[[], Any]) -> AbstractContextManager[None]:
        """Surround the execution of all blocks; ``result()`` is the run as far as it has come."""
        ...

    def started(self, core: Any) -> None:
        """Take note of a core whose block is about to run."""
        ...

    def finished(self, run: Any) -> None:
        """Take note of the run that the launch returns."""
        ...


WATCHER: Final[ContextVar[Watcher | None]] = ContextVar("ascsim_watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let ``watcher`` hear of all launches inside the ``with`` block."""
    token = WATCHER.set(watcher)
    try:
        yield
    finally:
        WATCHER.reset(token)
