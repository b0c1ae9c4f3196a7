"""The vector mask: from the mask argument and the mask state to the lanes that take part.

In Normal mode the register holds one bit a lane, in Counter mode the number of elements of the
whole call. Source: mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/SIMD计算说明/
掩码.md and impl/basic_api/kernel_utils_base.h.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from simulator.errors import ArgumentError
from simulator.isa.lanes import Active
from simulator.isa.params import check_range

if TYPE_CHECKING:
    from simulator.core import AICore
    from simulator.instruction import InstructionSpec

MASK_PLACEHOLDER: Final = 0
"""Mask argument of a call with ``isSetMask=False``: the register set by SetVectorMask is used."""

_WORD: Final = 0xFFFF_FFFF_FFFF_FFFF


class Asked(NamedTuple):
    """What a mask form was called with, kept where the mask state decides what it means.

    ``sets_mask`` is its isSetMask; without it the register is used as it is. In Counter mode
    ``mask`` is a number of elements and ``repeats`` has no effect.
    """

    mask: int
    repeats: int
    sets_mask: bool


def asked_for(core: AICore, mask: Any, repeat_time: Any, sets_mask: bool) -> Asked | None:
    """Return the arguments of a mask form if its lanes do not follow from them alone."""
    if sets_mask and not core.counter_mode:
        return None
    lanes = int(mask) if isinstance(mask, int | np.integer) else 0
    return Asked(lanes, int(repeat_time), sets_mask)


def resolve_mask(
    core: AICore, spec: InstructionSpec, mask: Any, repeat_time: Any, is_set_mask: bool, lanes: int
) -> Active:
    """Turn the mask argument and the mask state into the lanes that take part.

    Sets the mask register as the device does; the register outlives the call.

    Raises
    ------
    ArgumentError
    """
    check_range(spec.name, "repeatTime", repeat_time, 0, 255, spec.source)
    if is_set_mask:
        if isinstance(mask, int | np.integer):
            value = int(mask)
            if value < 0:
                check_range(spec.name, "mask", value, 0, lanes, spec.source)
            core.mask = (value, 0) if core.counter_mode else prefix_mask(min(value, lanes))
        else:
            core.mask = _mask_words(spec, mask)
    return active_lanes(core, int(repeat_time), lanes)


def _mask_words(spec: InstructionSpec, mask: Any) -> tuple[int, int]:
    words = list(mask) if isinstance(mask, Iterable) and not isinstance(mask, str | bytes) else []
    if len(words) not in (1, 2) or any(
        not isinstance(word, int | np.integer) or not 0 <= int(word) <= _WORD for word in words
    ):
        raise ArgumentError(
            "the mask is a number of leading lanes, or one or two unsigned 64-bit words",
            api=spec.name,
            argument="mask",
            got=repr(mask),
            legal="an integer, [low] or [low, high]",
            source=spec.source,
        )
    return int(words[0]), int(words[1]) if len(words) == 2 else 0


def active_lanes(core: AICore, repeats: int, lanes: int) -> Active:
    """Return the lanes that the present mask state selects for ``repeats`` repeats."""
    low, high = core.mask
    if core.counter_mode:
        return counted(low & 0xFFFF_FFFF, lanes)
    return _selected(low | high << 64, repeats, lanes)


@lru_cache(maxsize=4096)
def counted(elements: int, lanes: int) -> Active:
    """Return the lanes of ``elements`` elements: full repeats and one partial repeat."""
    full, rest = divmod(elements, lanes)
    segments = ((0, full, lanes),) if full else ()
    return Active((*segments, (full, 1, rest)) if rest else segments)


@lru_cache(maxsize=4096)
def _selected(bits: int, repeats: int, lanes: int) -> Active:
    bits &= (1 << lanes) - 1
    width = bits.bit_length()
    if not bits or not repeats:
        return Active(())
    if bits == (1 << width) - 1:
        return Active(((0, repeats, width),))
    chosen = tuple(lane for lane in range(lanes) if bits >> lane & 1)
    return Active(((0, repeats, width),), chosen)


def prefix_mask(width: int) -> tuple[int, int]:
    """Return the register words that enable the first ``width`` lanes."""
    bits = (1 << width) - 1
    return bits & _WORD, bits >> 64
