"""Collapsing of axes for element-wise operators with broadcasting inputs.

Source: hicann/opbase src/op_common/atvoss/broadcast/broadcast_tiling.cpp (dense inputs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Sequence


class CollapseError(HostError):
    """Shapes that do not broadcast to the output, or an empty one."""

    code = "host.tiling"


class Collapsed(NamedTuple):
    """Dims and strides of every input, then of the output; all lists are of one length.

    A stride is in elements and 0 where an input repeats along an axis.
    """

    dims: list[list[int]]
    strides: list[list[int]]


def collapse(inputs: Sequence[Sequence[int]], out: Sequence[int]) -> Collapsed:
    """Join neighbouring axes along which the same inputs repeat.

    Raises
    ------
    CollapseError
        If an input does not broadcast to ``out`` or has a dim that is not positive.
    """
    shapes = [_padded(shape, out, number) for number, shape in enumerate(inputs)]
    flags = [_repeating(shapes, out, axis) for axis in range(len(out))]
    all_repeat = (1 << len(shapes)) - 1
    dims = [_merged(shape, flags, out, all_repeat) for shape in (*shapes, list(out))]
    last = dims[-1]
    strides = [_strides(d, last, is_output=d is last) for d in dims]
    return Collapsed(dims, strides)


def _padded(shape: Sequence[int], out: Sequence[int], number: int) -> list[int]:
    if len(shape) > len(out):
        raise CollapseError(f"input {number} has rank {len(shape)}, the output {len(out)}")
    return [1] * (len(out) - len(shape)) + list(shape)


def _repeating(shapes: Sequence[Sequence[int]], out: Sequence[int], axis: int) -> int:
    """Bit set of the inputs whose dim is 1 on this axis, the first input in the highest bit."""
    flag = 0
    for number, shape in enumerate(shapes):
        dim = shape[axis]
        if dim not in (1, out[axis]):
            raise CollapseError(
                f"input {number} has dim {dim} on axis {axis}, the output {out[axis]}"
            )
        if dim <= 0:
            raise CollapseError(f"input {number} has dim {dim} on axis {axis}, it must be positive")
        flag = flag << 1 | (dim == 1)
    return flag


def _merged(
    shape: Sequence[int], flags: Sequence[int], out: Sequence[int], all_repeat: int
) -> list[int]:
    merged, before = [shape[0]], flags[0]
    for axis in range(1, len(shape)):
        flag = flags[axis]
        if flag == before or (before == all_repeat and out[axis - 1] == 1):
            merged[-1] *= shape[axis]
        elif flag == all_repeat and out[axis] == 1:
            continue
        else:
            merged.append(shape[axis])
        before = flag
    return merged


def _strides(dims: Sequence[int], out: Sequence[int], *, is_output: bool) -> list[int]:
    strides, step = [], 1
    for dim, whole in zip(reversed(dims), reversed(out), strict=True):
        if dim == 1 and whole != 1 and not is_output:
            strides.append(0)
        else:
            strides.append(step)
            step *= dim
    return strides[::-1]
