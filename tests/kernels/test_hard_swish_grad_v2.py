"""HardSwishGradV2 on 910B against a model of the documented arithmetic order."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernels.hard_swish_grad_v2.kernel_2201 import hard_swish_grad_v2
from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
from simulator.dtypes import as_dtype

TYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
UB_BYTES = 196352
TILE = 4864


def model(grad: Any, x: Any) -> Any:
    """d by compare and select in float, product, one rounding to the output type."""
    g, s = grad.astype(np.float32), x.astype(np.float32)
    with np.errstate(all="ignore"):
        d = (s * np.float32(0.33333334)).astype(np.float32) + np.float32(0.5)
        d = np.where(s > -3, d, np.float32(0))
        d = np.where(s < 3, d, np.float32(1))
        return (g * d).astype(x.dtype)


def launch(grad: Any, x: Any, blocks: int | None = None) -> Any:
    out = np.full_like(x, 7)
    tiles = max(1, -(-x.size // TILE))
    cores = min(48, tiles) if blocks is None else blocks
    tiling = HardSwishGradV2TilingData(
        elementNum=x.size, needCoreNum=cores, ubSize=UB_BYTES, elementNumEachCore=TILE
    )
    run = hard_swish_grad_v2.specialise(as_dtype(x.dtype)).launch(cores, grad, x, out, 0, tiling)
    return out, run


def bits(array: Any) -> Any:
    return array.view({2: np.uint16, 4: np.uint32}[array.itemsize])


def same_bits(got: Any, expected: Any) -> bool:
    nan = np.isnan(expected.astype(np.float32))
    return bool(
        np.array_equal(np.isnan(got.astype(np.float32)), nan)
        and np.array_equal(bits(got)[~nan], bits(expected)[~nan])
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (7,), (64, 512), (1024, 1024)])
def test_result_equals_the_documented_arithmetic(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    grad, x = ((rng.standard_normal(shape) * 4).astype(dtype) for _ in range(2))
    out, _ = launch(grad, x)
    assert same_bits(out, model(grad, x))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_large_result_equals_the_documented_arithmetic(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    grad, x = ((rng.standard_normal((4096, 4096)) * 4).astype(dtype) for _ in range(2))
    out, _ = launch(grad, x)
    assert same_bits(out, model(grad, x))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_pattern_of_self(dtype: Any) -> None:
    x = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(dtype)
    grad = np.ones_like(x)
    out, _ = launch(grad, x)
    assert same_bits(out, model(grad, x))


def test_boundaries_and_special_values() -> None:
    nan, inf = np.nan, np.inf
    x = np.array([-3, 3, nan, inf, -inf, 0.0, -0.0, -4, -4, 2], np.float32)
    grad = np.array([1, 1, 5, 2, 2, 4, 4, inf, -2, nan], np.float32)
    out, _ = launch(grad, x)
    expected = np.array([0, 1, 5, 2, 0, 2, 2, nan, -0.0, nan], np.float32)
    assert same_bits(out, expected)
    assert np.signbit(out[8])


@pytest.mark.parametrize("blocks", [1, 2, 7, 48, 100])
def test_any_number_of_blocks_gives_the_same_bits(blocks: int) -> None:
    rng = np.random.default_rng(3)
    grad, x = (rng.standard_normal(100 * TILE + 17).astype(np.float16) for _ in range(2))
    out, run = launch(grad, x, blocks)
    assert same_bits(out, model(grad, x))
    assert run.block_dim == blocks


def test_elements_next_to_the_output_stay_untouched() -> None:
    whole = np.full(1000, 9, np.float16)
    out = whole[100:733]
    x = np.linspace(-4, 4, out.size).astype(np.float16)
    grad = np.ones_like(x)
    tiling = HardSwishGradV2TilingData(
        elementNum=x.size, needCoreNum=1, ubSize=UB_BYTES, elementNumEachCore=TILE
    )
    hard_swish_grad_v2.specialise(as_dtype(np.float16)).launch(1, grad, x, out, 0, tiling)
    assert same_bits(out, model(grad, x))
    assert (whole[:100] == 9).all()
    assert (whole[733:] == 9).all()


def test_halves_alternate_so_that_copies_run_beside_arithmetic() -> None:
    rng = np.random.default_rng(4)
    grad, x = (rng.standard_normal(4 * TILE).astype(np.float32) for _ in range(2))
    _, run = launch(grad, x, 1)
    copies = [i for i in run.instructions if i.pipe == "MTE2" and i.name == "DataCopyPad"]
    arithmetic = [i for i in run.instructions if i.pipe == "V"]
    first_of_second_tile = copies[2]
    last_of_first_tile = arithmetic[len(arithmetic) // 4 - 1]
    assert first_of_second_tile.start < last_of_first_tile.start
