"""Reading of option values; every mistake is a :class:`ConfigError` that fits one line."""

from __future__ import annotations

import difflib
import re
from math import prod
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from simulator.platforms import Platform

MAX_RANK: Final = 8
"""Highest rank that aclnn calls take."""

DTYPES: Final = {
    "float32": ("fp32", "f32", "float"),
    "float16": ("fp16", "f16", "half"),
    "bfloat16": ("bf16", "bfloat16_t"),
}
"""Names of element types with their aliases."""


def parse_shape(text: str) -> tuple[int, ...]:
    """Return the shape that ``text`` describes.

    Sizes are separated by commas or by ``x``; an empty text or ``scalar`` is rank 0, and a size
    of 0 makes an empty tensor.

    Raises
    ------
    ConfigError
        If a size is not a whole number >= 0 or there are more than 8.
    """
    plain = text.strip()
    if plain.lower() in ("", "scalar"):
        return ()
    sizes = re.split(r",|(?<=[0-9])x(?=[0-9])", plain.strip("[]()"))
    for size in sizes:
        if not re.fullmatch(r"\s*[0-9]+\s*", size):
            raise ConfigError(
                f"{text!r} is not a shape: {size.strip()!r} is not a whole number >= 0",
                legal="sizes separated by commas, such as 1024,1024; '' or scalar for rank 0",
            )
    if len(sizes) > MAX_RANK:
        raise ConfigError(
            f"{text!r} has rank {len(sizes)}", legal=f"rank 0 to {MAX_RANK}, as for aclnn calls"
        )
    return tuple(int(size) for size in sizes)


def parse_dtype(text: str) -> np.dtype[Any]:
    """Return the numpy (or ml_dtypes) type of an element type's name or alias.

    Raises
    ------
    ConfigError
        If there is no such name.
    """
    import ml_dtypes
    import numpy as np

    wanted = text.strip().lower()
    for name, aliases in DTYPES.items():
        if wanted == name or wanted in aliases:
            return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    known = [name for name, aliases in DTYPES.items() for name in (name, *aliases)]
    alike = difflib.get_close_matches(wanted, known, n=1)
    raise ConfigError(
        f"there is no element type {text!r}",
        legal=", ".join(DTYPES),
        fix=f"did you mean {alike[0]}?" if alike else None,
    )


def check_fits(shape: tuple[int, ...], dtype: np.dtype[Any], tensors: int, chip: Platform) -> None:
    """Refuse tensors that the device could not hold.

    Raises
    ------
    ConfigError
        If ``tensors`` tensors of that shape need more than the memory of the chip.
    """
    needed = prod(shape) * dtype.itemsize * tensors
    if needed > chip.memory.hbm_bytes:
        raise ConfigError(
            f"{tensors} tensors of shape {','.join(map(str, shape))} need "
            f"{needed / 2**30:,.1f} GiB",
            legal=f"{chip.memory.hbm_bytes / 2**30:,.0f} GiB, the memory of {chip.name}",
        )


def parse_setting(text: str) -> tuple[str, Any]:
    """Return key and value of ``key=value``; numbers become numbers.

    Raises
    ------
    ConfigError
        If there is no key or no value.
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise ConfigError(
            f"{text!r} is no setting", legal="key=value, such as buffers=2 or timing.clock_mhz=1500"
        )
    for kind in (int, float):
        try:
            return key.strip(), kind(value)
        except ValueError:
            continue
    return key.strip(), value.strip()


def profile_key(key: str) -> str:
    """Return the key of a platform profile that ``key`` stands for.

    The section may be left out, and a wrong one is mended, where the name says enough: both
    ``read_cap_gbps`` and ``memory.read_cap_gbps`` are ``timing.read_cap_gbps``.

    Raises
    ------
    ConfigError
        If there is no such key; names those that are spelled alike.
    """
    from simulator.platforms.profile import field_rules, require_key

    rules = field_rules()
    if key in rules:
        return key
    section, _, name = key.rpartition(".")
    found = [rule for rule in rules if rule.partition(".")[2] == name]
    if len(found) == 1 and section in ("", "chip", "memory", "timing"):
        return found[0]
    require_key(key, "the options")
    return key


def override_platform(platform: Platform, settings: Sequence[str]) -> Platform:
    """Return ``platform`` with the figures replaced that ``key=value`` texts name.

    Raises
    ------
    ConfigError
        If a text is no setting, there is no such key, or the key cannot have the value; says what
        is legal.
    """
    changes = dict(parse_setting(text) for text in settings)
    if not changes:
        return platform
    return platform.override(**{profile_key(key): value for key, value in changes.items()})
