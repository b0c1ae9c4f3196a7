"""Which kernel, on which chip and with which sizes, stands for a row of whole-kernel time."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kernels.validation.add import (
    AddTiling,
    add_double_buffer,
    add_scalar,
    add_single_buffer,
)
from kernels.validation.add_queue import QueueTiling, add_queue
from kernels.validation.bank_conflict import LENGTH, Places, bank_conflict
from kernels.validation.copy_in import CopyTiling, copy_all, copy_in
from kernels.validation.gelu import GeluTiling, gelu
from kernels.validation.reduce_sum import pairwise, reduce_only
from kernels.validation.relu_tiles import ReluTiling, relu_tiles
from kernels.validation.rms_norm_quant import RmsTiling, rms_norm_quant
from kernels.validation.softmax import SoftmaxTiling, softmax_in_ub, softmax_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.launch import Kernel

TASK: Final = "task time"
VECTOR: Final = "cycles of the vector pipe"
CALL: Final = "cycles of a call"
RATIO: Final = "work in units that the source does not state"

ADD_ROWS: Final = 8192
COPY_SIZE: Final = 12288


@dataclass(frozen=True)
class Case:
    """A launch that rebuilds a row.

    Attributes
    ----------
    kernel : Kernel
    platform : str
        Profile of the chip that was measured.
    blocks : int
    arguments : callable
        ``arguments(size)`` makes the kernel's arguments.
    size : int
        Size of the measured launch.
    sample : tuple of two int or None
        Sizes that are run instead, when the measured one would take long; the time is carried on
        along the straight line through them.
    reading : str
        What was measured: TASK, VECTOR, CALL or RATIO.
    calls : int
        Calls that a CALL figure is the mean of.
    """

    kernel: Kernel
    platform: str
    blocks: int
    arguments: Callable[[int], tuple[Any, ...]]
    size: int
    sample: tuple[int, int] | None = None
    reading: str = TASK
    calls: int = 1


def _half(*shape: int) -> Any:
    return np.zeros(shape, np.float16)


def _add(
    kernel: Kernel,
    platform: str,
    blocks: int,
    tile: int,
    *,
    sample: tuple[int, int] | None = None,
    **more: Any,
) -> Case:
    def arguments(rows: int) -> tuple[Any, ...]:
        tiling = AddTiling(rows, ADD_ROWS, tile, **{"buffer": tile, **more})
        return (*(_half(rows, ADD_ROWS) for _ in range(3)), tiling, blocks)

    return Case(kernel, platform, blocks, arguments, ADD_ROWS, sample)


def _queue(blocks: int, tile: int, *, elements: int = 80 << 20, **more: int) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        tiling = QueueTiling(size // blocks, tile, **more)
        return (*(_half(size) for _ in range(3)), tiling)

    return Case(add_queue, "910b4", blocks, arguments, elements)


def _copy(
    platform: str,
    blocks: int,
    rows: int,
    columns: int,
    cut: int = COPY_SIZE,
    *,
    sample: tuple[int, int] | None = None,
    **more: int,
) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        return _half(size, cut), CopyTiling(size, cut, rows, columns, **more)

    return Case(copy_in, platform, blocks, arguments, COPY_SIZE, sample)


def _copy_all(platform: str, blocks: int, *, rotate: bool) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        return _half(size, 512), CopyTiling(size, 512, 128, 64), rotate

    return Case(copy_all, platform, blocks, arguments, 128 * blocks)


def _bank(**places: int) -> Case:
    def arguments(calls: int) -> tuple[Any, ...]:
        zeros = (np.zeros(LENGTH, np.float32) for _ in range(3))
        return (*zeros, Places(**places), calls)

    return Case(bank_conflict, "910b1", 1, arguments, 1000, reading=CALL, calls=1000)


def _gelu(platform: str) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        x, y = (np.zeros((size, 8192), np.float32) for _ in range(2))
        return x, y, GeluTiling(8192, 256, 4096, 2), size

    return Case(gelu, platform, 64, arguments, 8192)


def _softmax(kernel: Kernel, rows: int, width: int, blocks: int, **more: Any) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        x, y = (np.zeros((size, width), np.float32) for _ in range(2))
        tile_rows = more.get("tile_rows", size)
        return x, y, SoftmaxTiling(size // blocks, width, tile_rows)

    return Case(kernel, "950pr", blocks, arguments, rows, reading=more.get("reading", TASK))


def _rms(blocks: int, *, preload: bool) -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        x, gamma, scale = np.ones((size, 8192), np.float16), _half(8192) + 1, _half(1) + 1
        offset, y = np.zeros(1, np.int8), np.zeros((size, 8192), np.int8)
        return x, gamma, scale, offset, y, RmsTiling(size // blocks, 8192, preload)

    return Case(rms_norm_quant, "950pr", blocks, arguments, 4096)


def _sum(kernel: Kernel) -> Case:
    return Case(kernel, "910b1", 1, lambda length: (length,), 30000, reading=RATIO)


def _relu() -> Case:
    def arguments(size: int) -> tuple[Any, ...]:
        return np.zeros((size, size), np.float32), ReluTiling(size, 1024, 256)

    return Case(relu_tiles, "950pr_957x", 56, arguments, 8192)


WHOLE_KERNELS: Final[Mapping[str, Case]] = MappingProxyType(
    {
        "V001": _add(add_scalar, "910b1", 1, 4096, buffer=16384, sample=(2, 3)),
        "V002": _add(add_single_buffer, "910b1", 1, 4096, buffer=16384),
        "V003": _add(add_single_buffer, "910b1", 48, 4096, buffer=16384),
        "V004": _add(add_single_buffer, "910b1", 48, 16384),
        "V005": _add(add_double_buffer, "910b1", 48, 16384),
        "V006": _add(add_double_buffer, "910b1", 48, 16384, bypass=True),
        "V007": _add(add_double_buffer, "910b1", 48, 16256, buffer=16384, shift=128, bypass=True),
        "V009": _add(add_single_buffer, "950pr", 1, 4096, buffer=20480),
        "V010": _add(add_single_buffer, "950pr", 64, 4096, buffer=20480),
        "V011": _add(add_single_buffer, "950pr", 64, 21760, buffer=21760),
        # Two sets of three such buffers leave no room in the 248 KiB that a kernel may address;
        # the profiler's kernel used the reserved 8 KiB too. The tile is what counts.
        "V013": _add(add_double_buffer, "950pr", 64, 21120, bypass=True),
        "V014": _bank(x=0x0000, y=0x10100, z=0x20000),
        "V015": _bank(x=0x0000, y=0x4000, z=0x10000),
        "V016": _bank(x=0x0000, y=0x10000, z=0x14100),
        "V017": _bank(x=0x0000, y=0x10100, z=0x4000),
        "V019": _bank(x=0x0000, y=0x10100, z=0x10100),
        "V020": _bank(x=0x0000, y=0x10100, z=0x10100, block_stride=0, repeat_stride=1),
        "V021": _bank(x=0x0000, y=0x10100, z=0x10100, block_stride=0, repeat_stride=8),
        "V036": _copy("910b1", 48, 64, 64),
        "V037": _copy("910b1", 48, 64, 1024),
        "V038": _copy("910b1", 48, 64, 1024, 12287),
        "V039": _copy("910b1", 48, 64, 1024, repeats=4),
        "V040": _copy("910b1", 48, 64, 1024, slices=4, repeats=4),
        "V041": _copy_all("910b1", 48, rotate=False),
        "V042": _copy_all("910b1", 48, rotate=True),
        "V043": _copy("950pr", 64, 1, 64, sample=(512, 1024)),
        "V044": _copy("950pr", 64, 64, 64),
        "V045": _copy("950pr", 64, 64, 1024),
        "V046": _copy("950pr", 64, 64, 1024, 12287),
        "V047": _copy("950pr", 64, 64, 1024, repeats=4),
        "V048": _copy("950pr", 64, 64, 1024, slices=4, repeats=4),
        "V049": _copy_all("950pr", 64, rotate=False),
        "V050": _copy_all("950pr", 64, rotate=True),
        "V055": _gelu("950pr"),
        "V062": _softmax(softmax_in_ub, 128, 128, 1, reading=VECTOR),
        "V068": _queue(1, 2048),
        "V069": _queue(8, 2048),
        "V070": _queue(8, 2048),
        "V072": _queue(8, 20480, adds=8),
        "V074": _queue(1, 512, elements=5120),
        "V075": _queue(1, 512, elements=5120),
        "V076": _add(add_double_buffer, "950pr", 64, 20992),
        "V078": _copy("950pr", 64, 64, 1024, repeats=4),
        "V079": _copy("950pr", 64, 64, 1024, slices=4, repeats=4),
        "V080": _rms(1, preload=False),
        "V081": _rms(1, preload=True),
        "V082": _rms(64, preload=True),
        "V087": _softmax(softmax_scalar, 256, 2048, 32, tile_rows=2),
        "V097": _relu(),
        "V101": _sum(pairwise),
        "V102": _sum(reduce_only),
    }
)
"""Rows by id."""
