"""MaxPoolingGrad on 910B: division of work, buffers, and what the published kernel does wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.platform_ascendc import PlatformInfo
from host.tiling import tiling
from kernels.max_pooling_grad.core_split import share_of
from kernels.max_pooling_grad.kernel_2201 import max_pooling_grad, max_pooling_grad_fixed
from simulator.ascendc import GetTPipePtr
from simulator.dtypes import as_dtype
from simulator.errors import AlignmentError
from simulator.launch import Kernel
from simulator.platforms import load_platform

INFO = PlatformInfo.from_platform(load_platform("910b"))


def plan(count: int, dtype: Any, cores: int = 48) -> Any:
    info = INFO.replace(aiv=cores)
    return tiling("MaxPoolingGrad", info, [(count,)] * 3, np.dtype(dtype))


def run(kernel: Kernel, arrays: list[Any], cores: int = 48, **options: Any) -> Any:
    dx = np.full_like(arrays[0], 7)
    result = plan(dx.size, dx.dtype, cores)
    record = kernel.specialise(as_dtype(dx.dtype)).launch(
        result.block_dim, *arrays, dx, 0, result.data, platform="910b", **options
    )
    return dx, record


@given(
    st.one_of(st.integers(1, 10**7), st.integers(1, 400).map(lambda n: n * 64)),
    st.integers(1, 64),
    st.sampled_from([np.float32, np.float16]),
)
def test_shares_cover_every_element_once(count: int, cores: int, dtype: Any) -> None:
    result = plan(count, dtype, cores)
    end = 0
    for core in range(result.block_dim):
        share = share_of(result.data, core, result.block_dim)
        assert share.offset == end
        assert share.offset * np.dtype(dtype).itemsize % 256 == 0
        assert 0 < share.tail <= result.data.ubPartDataNum
        assert share.count == (share.loops - 1) * result.data.ubPartDataNum + share.tail
        end += share.count
    assert end == count


@pytest.mark.parametrize("cores", [1, 2, 5, 48])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_any_number_of_cores_gives_the_same_bits(cores: int, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    dy, x = (rng.standard_normal(100_001).astype(dtype) for _ in range(2))
    y = np.where(rng.random(x.size) < 0.5, x, -x)
    dx, _ = run(max_pooling_grad_fixed, [dy, x, y], cores)
    np.testing.assert_array_equal(dx, np.where(x == y, dy, dtype(0)))


@pytest.mark.parametrize(
    ("dtype", "count"), [(np.float32, 3), (np.float16, 50), (np.float32, 6081)]
)
def test_a_launch_with_checks_refuses_the_published_kernel_s_copies(dtype: Any, count: int) -> None:
    arrays = [np.ones(count, dtype) for _ in range(3)]
    with pytest.raises(AlignmentError, match="not a multiple of 32") as caught:
        run(max_pooling_grad, arrays)
    assert caught.value.location.function == "Load"
    run(max_pooling_grad_fixed, arrays)


@pytest.mark.parametrize("kernel", [max_pooling_grad, max_pooling_grad_fixed])
def test_the_pipeline_is_single_buffered_and_serial(kernel: Kernel) -> None:
    arrays = [np.ones(4 * 6080, np.float32) for _ in range(3)]
    _, record = run(kernel, arrays, cores=1)
    copies = [i for i in record.instructions if i.pipe == "MTE2" and i.operands]
    last_of_first_tile = next(i for i in record.instructions if i.name == "Select")
    assert len(copies) == 12
    assert copies[3].start >= last_of_first_tile.end


@pytest.mark.parametrize(
    ("kernel", "dtype", "sizes"),
    [
        (max_pooling_grad, np.float32, [24320] * 7),
        (max_pooling_grad, np.float16, [24320] * 5 + [12160, 24320]),
        (max_pooling_grad_fixed, np.float32, [24320] * 4 + [768]),
        (max_pooling_grad_fixed, np.float16, [24320] * 4 + [1536]),
    ],
)
def test_buffers_in_order(kernel: Kernel, dtype: Any, sizes: list[int]) -> None:
    layouts = []
    bound = kernel.specialise(as_dtype(dtype))

    def watched(*args: Any) -> None:
        bound.function(*args)
        layouts.append([size for _, _, size in GetTPipePtr().layout])

    arrays = [np.ones(64, dtype) for _ in range(4)]
    Kernel(watched).launch(1, *arrays, 0, plan(64, dtype).data)
    assert layouts == [sizes]


def test_zeros_are_filled_anew_for_every_tile_by_the_published_kernel_only() -> None:
    arrays = [np.ones(2 * 6080, np.float32) for _ in range(3)]
    for kernel, fills in ((max_pooling_grad, 2), (max_pooling_grad_fixed, 0)):
        _, record = run(kernel, arrays, cores=1)
        assert sum(i.name == "Duplicate" for i in record.instructions) == fills


def test_the_fixed_kernel_reads_no_lane_that_nothing_has_written() -> None:
    """Each vector call's UB bytes were written before, by a copy or another call."""
    arrays = [np.ones(77, np.float16) for _ in range(3)]
    _, record = run(max_pooling_grad_fixed, arrays)
    written = np.zeros(2**18, bool)
    for call in record.instructions:
        for operand in call.operands:
            if operand.space != "UB":
                continue
            for access in operand.accesses:
                low, high = access.span()
                if operand.role == "read":
                    assert written[low:high].all(), call
                else:
                    written[low:high] = True
