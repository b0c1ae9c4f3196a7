"""host.leak_stream: a stream is never destroyed.

Every ``rt.create_stream`` needs its ``rt.destroy_stream``; the runtime has a limited number of
streams.
"""

from __future__ import annotations

from host import rt
from host.faults.calls import device

CODE = "host.leak_stream"


def broken() -> None:
    """Create a second stream and forget it."""
    with device():
        rt.create_stream()


def fixed() -> None:
    """Destroy it."""
    with device():
        _, stream = rt.create_stream()
        rt.destroy_stream(stream)
