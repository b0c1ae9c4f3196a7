"""A progress bar for what takes longer than a second, on a terminal's standard error only."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tools.console import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE: Final = 1.0
"""Seconds without a bar."""


@contextmanager
def progress(task: str) -> Iterator[Callable[[str], None]]:
    """Show a moving bar with ``task`` and the elapsed time while the block runs.

    Yields a function that changes the text. Nothing appears in a pipe or within the first second.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=out, transient=True,
    )  # fmt: skip
    number = bar.add_task(task, total=None)
    later = threading.Timer(PATIENCE, bar.start)
    later.daemon = True
    later.start()
    try:
        yield lambda text: bar.update(number, description=text)
    finally:
        later.cancel()
        later.join()
        bar.stop()
