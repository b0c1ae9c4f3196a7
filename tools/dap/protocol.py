"""Messages of the Debug Adapter Protocol: a header with the length, then JSON."""

from __future__ import annotations

import json
from typing import IO, Any, Final

_HEADER: Final = b"content-length:"


def read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    """Return the next message; None at the end of the stream.

    Raises
    ------
    ValueError
        If the stream does not hold a message.
    """
    length = None
    while True:
        line = stream.readline()
        if not line:
            return None
        text = line.strip()
        if not text:
            break
        if text.lower().startswith(_HEADER):
            length = int(text[len(_HEADER) :])
    if length is None:
        raise ValueError("a message without Content-Length")
    body: dict[str, Any] = json.loads(stream.read(length))
    return body


def write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Write one message and flush."""
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()
