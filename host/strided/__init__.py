"""Contiguous and ViewCopy: copies between dense memory and strided views."""

from __future__ import annotations

from host.strided import definition, tiling

__all__ = ["definition", "tiling"]
