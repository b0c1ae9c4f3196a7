"""Kernel arguments in words, for reports and saved runs."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from simulator.memory import GlobalAddress


def describe_argument(value: Any) -> str:
    """Return a short text for a kernel argument."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, GlobalAddress):
        return f"{value.size:,} B"
    return str(value)


def struct_fields(value: Any) -> dict[str, Any] | None:
    """Return the fields of a struct argument by name, or None if it is not a struct.

    Structs are dataclass instances and objects with an ``as_dict`` method.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    as_dict = getattr(value, "as_dict", None)
    return dict(as_dict()) if callable(as_dict) else None
