"""Both versions of HardSwishGrad on 910: whole blocks, the block done twice, the scalar path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.ops import hardswish_backward, hardswish_backward_v2
from kernels.hard_swish_grad_v2.kernel_1001 import hard_swish_grad_v2
from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
from simulator.ascendc import (
    CMPMODE,
    SELMODE,
    CompareScalar,
    Select,
    TBuf,
    TPipe,
    TPosition,
    float32,
    kernel,
    launch,
    uint8_t,
)
from simulator.dtypes import as_dtype
from simulator.errors import UnsupportedError

TYPES = [np.float32, np.float16]
UB_BYTES = 262144
TILE = 6400


def model(grad: Any, x: Any, version: int = 2) -> Any:
    """The documented order of float operations, then one rounding."""
    g, s = grad.astype(np.float32), x.astype(np.float32)
    with np.errstate(all="ignore"):
        d = s * np.float32(0.33333334) + np.float32(0.5)
        d = np.where(s > -3 if version == 2 else s >= -3, d, np.float32(0))
        d = np.where(s < 3 if version == 2 else s <= 3, d, np.float32(1))
        return (g * d).astype(x.dtype)


def same(got: Any, expected: Any) -> bool:
    word = f"u{got.itemsize}"
    nan = np.isnan(expected)
    return bool(
        np.array_equal(np.isnan(got), nan)
        and np.array_equal(got.view(word)[~nan], expected.view(word)[~nan])
    )


def operands(count: int, dtype: Any, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    grad, x = ((rng.standard_normal(count) * 3).astype(dtype) for _ in range(2))
    x[::7], x[1::11], x[2::13] = 3, -3, np.nan
    return [grad, x]


@given(st.integers(1, 3 * TILE), st.sampled_from(TYPES), st.sampled_from([1, 2]))
def test_the_call_equals_the_model(count: int, dtype: Any, version: int) -> None:
    grad, x = operands(count, dtype, count)
    call = hardswish_backward_v2 if version == 2 else hardswish_backward
    assert same(call(grad, x, platform="910"), model(grad, x, version))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 6399, 6401, 12807])
def test_lengths_around_a_block_and_a_tile(count: int, dtype: Any) -> None:
    grad, x = operands(count, dtype)
    assert same(hardswish_backward_v2(grad, x, platform="910"), model(grad, x))


def test_every_half_pattern_of_self() -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    grad = np.ones_like(x)
    assert same(hardswish_backward_v2(grad, x, platform="910"), model(grad, x))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_a_large_call_equals_the_model(dtype: Any) -> None:
    grad, x = operands(2**22 + 5, dtype)
    assert same(hardswish_backward_v2(grad, x, platform="910"), model(grad, x))


def run(grad: Any, x: Any, out: Any, cores: int = 1) -> Any:
    tiling = HardSwishGradV2TilingData(
        elementNum=x.size, needCoreNum=cores, ubSize=UB_BYTES, elementNumEachCore=TILE
    )
    kernel = hard_swish_grad_v2.specialise(as_dtype(x.dtype))
    return kernel.launch(cores, grad, x, out, 0, tiling, platform="910")


@pytest.mark.parametrize("cores", [1, 2, 5, 32])
def test_any_number_of_cores_gives_the_same_bits(cores: int) -> None:
    grad, x = operands(40 * TILE + 3, np.float32)
    out = np.full_like(x, 7)
    run(grad, x, out, cores)
    assert same(out, model(grad, x))


def test_copies_move_whole_blocks_and_the_last_block_twice() -> None:
    grad, x = operands(100, np.float16)
    record = run(grad, x, np.empty_like(x))
    stores = [i for i in record.instructions if i.pipe == "MTE3" and i.operands]
    sizes = [op.accesses[0].nbytes for i in stores for op in i.operands if op.space == "GM"]
    # 100 elements: 96 in six blocks, then elements 84 to 99.
    assert sizes == [192, 32]


def test_neighbours_of_the_output_stay_untouched() -> None:
    whole = np.full(300, 9, np.float16)
    grad, x = operands(101, np.float16)
    run(grad, x, whole[100:201])
    assert same(whole[100:201], model(grad, x))
    assert (whole[:100] == 9).all()
    assert (whole[201:] == 9).all()


def test_an_output_over_an_input_is_read_again_by_the_second_pass() -> None:
    grad, x = operands(101, np.float16)
    expected = model(grad, x)
    out = grad.copy()
    run(out, x, out)
    # Elements 85 to 95 were stored by the first pass when the second one reads them as gradients.
    assert same(out[:85], expected[:85])
    assert same(out[96:], expected[96:])
    assert same(out[85:96], model(expected, x)[85:96])


def test_calls_that_910_does_not_have_are_refused() -> None:
    def tensors() -> tuple[Any, Any]:
        buf = TBuf(TPosition.VECCALC)
        TPipe().InitBuffer(buf, 1024)
        return buf.GetWithOffset(64, 0, float32), buf.GetWithOffset(256, 512, uint8_t)

    @kernel
    def scalar_select() -> None:
        x, mask = tensors()
        Select(x, mask, x, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 64)

    @kernel
    def scalar_compare() -> None:
        x, mask = tensors()
        CompareScalar(mask, x, 0.0, CMPMODE.EQ, 64)

    with pytest.raises(UnsupportedError, match="VSEL_TENSOR_SCALAR_MODE does not exist on 910"):
        launch(scalar_select, 1, platform="910")
    with pytest.raises(UnsupportedError, match="does not exist on 910"):
        launch(scalar_compare, 1, platform="910")
