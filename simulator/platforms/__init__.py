"""Platform profiles: what a chip is and how fast, with a source for every figure.

One TOML file per profile stands beside this module; :func:`load_platform` reads one on demand.
A user's own profile is a file of the same form, most simply a ``base`` and the figures that differ.
"""

from __future__ import annotations

from simulator.platforms.loader import load_platform, platform_names
from simulator.platforms.profile import CONFIDENCES, Chip, Figure, Memory, Platform, Timing

__all__ = [
    "CONFIDENCES",
    "Chip",
    "Figure",
    "Memory",
    "Platform",
    "Timing",
    "load_platform",
    "platform_names",
]
