import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import TransDataTo5HD, Transpose, TransposeParamsExt, TransposeType
from simulator.dtypes import half
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    UnsupportedError,
)

TO_NHWC = TransposeType.TRANSPOSE_NCHW2NHWC
TO_NCHW = TransposeType.TRANSPOSE_NHWC2NCHW
ND2ND = TransposeType.TRANSPOSE_ND2ND_B16


def numbers(dtype, count):
    """Return elements with every bit pattern that fits, NaN among them."""
    raw = np.arange(count * np.dtype(dtype).itemsize, dtype=np.uint32) * 37 % 251
    return raw.astype(np.uint8).view(dtype)


def bits(values):
    return values.view(f"u{values.itemsize}").tolist()


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.float16])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_a_tile_swaps_rows_and_columns(arch, dtype):
    src = numbers(dtype, 256)
    done = on_core(
        lambda t: Transpose(t.dst, t.src), platform=arch, src=src, dst=np.zeros(256, dtype)
    )
    words = bits(src)
    want = [words[16 * j + i] for i in range(16) for j in range(16)]
    assert bits(done["dst"]) == want
    assert not done.changed_outside("dst").size


def test_a_tile_in_place():
    src = numbers(np.uint16, 256)
    done = on_core(lambda t: Transpose(t.src, t.src), src=src)
    assert done["src"].reshape(16, 16).T.tolist() == src.reshape(16, 16).tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int8])
def test_a_tile_has_16_bit_elements(dtype):
    with pytest.raises(DTypeError):
        on_core(lambda t: Transpose(t.dst, t.dst), dst=np.zeros(256, dtype))
    with pytest.raises(DTypeError):
        on_core(
            lambda t: Transpose(t.dst, t.src),
            src=np.zeros(256, np.int16),
            dst=np.zeros(256, np.uint16),
        )


def test_a_tile_has_256_elements():
    with pytest.raises(OutOfBoundsError):
        on_core(
            lambda t: Transpose(t.dst, t.src),
            src=np.zeros(240, np.int16),
            dst=np.zeros(256, np.int16),
        )


def enhanced(kind, dtype, shape, arch="910b", work=96 * 1024, src=None):
    n, c, h, w = shape
    count = n * c * h * w
    src = numbers(dtype, count) if src is None else src
    return src, on_core(
        lambda t: Transpose(t.dst, t.src, t.work, TransposeParamsExt(n, c, h, w, kind)),
        platform=arch, src=src, dst=np.zeros(count, dtype), work=np.zeros(work, np.uint8),
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1, 4, 8), (3, 5, 4, 16), (2, 33, 2, 64), (1, 16, 1, 32)])
@pytest.mark.parametrize(
    ("arch", "dtype"),
    [("910b", d) for d in (np.int8, np.uint16, np.float16, np.int32, np.float32)]
    + [("950", d) for d in (np.uint8, ml_dtypes.bfloat16, np.float32)],
)
def test_the_channel_axis_moves_to_the_end_and_back(arch, dtype, shape):
    n, c, h, w = shape
    if h * w * np.dtype(dtype).itemsize % 32:
        pytest.skip("an image must fill blocks")
    src, done = enhanced(TO_NHWC, dtype, shape, arch)
    words = bits(src)
    area = h * w
    want = [words[(b * c + k) * area + p] for b in range(n) for p in range(area) for k in range(c)]
    assert bits(done["dst"]) == want
    _, back = enhanced(TO_NCHW, dtype, shape, arch, src=done["dst"])
    assert bits(back["dst"]) == words


def test_the_kind_of_a_tile_is_the_default():
    src = numbers(np.uint16, 256)
    done = on_core(
        lambda t: Transpose(t.dst, t.src, t.work, TransposeParamsExt(1, 1, 16, 16)),
        src=src, dst=np.zeros(256, np.uint16), work=np.zeros(32, np.uint8),
    )  # fmt: skip
    assert done["dst"].reshape(16, 16).T.tolist() == src.reshape(16, 16).tolist()


def test_the_kind_none_does_nothing():
    _, done = enhanced(TransposeType.TRANSPOSE_TYPE_NONE, np.uint16, (1, 1, 16, 16))
    assert not done.changed().size


@pytest.mark.parametrize(
    ("kind", "shape", "work", "error"),
    [
        (ND2ND, (1, 1, 16, 32), 32, ArgumentError),
        (TransposeType.TRANSPOSE_ND2ND_ONLY, (1, 1, 16, 16), 32, ArgumentError),
        (TO_NHWC, (1, 2, 3, 5), 4096, ArgumentError),
        (TO_NHWC, (1, 2, 64, 64), 4096, ArgumentError),
        (TO_NHWC, (1, 4096, 1, 1), 4096, ArgumentError),
        (TO_NHWC, (1, 2, 4, 16), 4 * 512 - 32, OutOfBoundsError),
        (TO_NCHW, (1, 2, 4, 16), 5 * 512 - 32, OutOfBoundsError),
    ],
)
def test_sizes_the_call_does_not_take(kind, shape, work, error):
    with pytest.raises(error):
        enhanced(kind, np.uint16, shape, work=work)


def test_the_temporary_buffer_holds_bytes():
    params = TransposeParamsExt(1, 2, 4, 16, TO_NHWC)
    with pytest.raises(DTypeError):
        on_core(
            lambda t: Transpose(t.dst, t.src, t.src, params),
            src=np.zeros(2048, np.uint16),
            dst=np.zeros(128, np.uint16),
        )


def test_what_only_one_part_has():
    params = TransposeParamsExt(1, 2, 4, 16, TO_NHWC)
    zeros = np.zeros(128, ml_dtypes.bfloat16)
    with pytest.raises(DTypeError):
        on_core(
            lambda t: Transpose(t.dst, t.src, t.work, params),
            src=zeros, dst=zeros, work=np.zeros(4096, np.uint8),
        )  # fmt: skip


# -- TransDataTo5HD ----------------------------------------------------------------------------


def blocks(tensor, step=1):
    """Return 16 tensors, one for every ``step``-th block."""
    per = 32 // tensor.dtype.itemsize
    return [tensor[k * step * per] for k in range(16)]


@pytest.mark.parametrize("dtype", [np.int16, np.float16])
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_16_bit_blocks(arch, dtype):
    src = numbers(dtype, 16 * 16 * 3)
    done = on_core(
        lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src, 3), (False, False, 1, 0, 0)),
        platform=arch, src=src, dst=np.zeros(256, dtype),
    )  # fmt: skip
    words = bits(src)
    assert bits(done["dst"]) == [words[48 * j + i] for i in range(16) for j in range(16)]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
def test_32_bit_blocks(dtype):
    src = numbers(dtype, 128)
    done = on_core(
        lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src), (False, False, 1, 0, 0)),
        src=src, dst=np.zeros(128, dtype),
    )  # fmt: skip
    words = bits(src)
    assert bits(done["dst"]) == [words[8 * j + i] for i in range(8) for j in range(16)]


@pytest.mark.parametrize("dst_high", [False, True])
@pytest.mark.parametrize("src_high", [False, True])
def test_8_bit_halves(dst_high, src_high):
    src = numbers(np.uint8, 512)
    dst = np.full(512, 255, np.uint8)
    done = on_core(
        lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src), (dst_high, src_high, 1, 0, 0)),
        src=src, dst=dst,
    )  # fmt: skip
    want = dst.tolist()
    for i in range(16):
        for j in range(16):
            want[32 * i + 16 * dst_high + j] = int(src[32 * j + 16 * src_high + i])
    assert done["dst"].tolist() == want


def test_halves_do_not_count_for_wider_types():
    src = numbers(np.uint16, 256)
    done = on_core(
        lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src), (True, True, 1, 0, 0)),
        src=src, dst=np.zeros(256, np.uint16),
    )  # fmt: skip
    assert done["dst"].reshape(16, 16).T.tolist() == src.reshape(16, 16).tolist()


def test_repeats_step_from_the_lists_and_one_repeat_steps_once():
    src = numbers(np.uint16, 16 * 16 * 4)
    words = src.reshape(-1, 16).tolist()

    def run(repeats):
        done = on_core(
            lambda t: TransDataTo5HD(
                blocks(t.dst), blocks(t.src, 2), (False, False, repeats, 16, 1)
            ),
            src=src, dst=np.zeros(16 * 16 * 2, np.uint16),
        )  # fmt: skip
        return done["dst"].reshape(2, 16, 16)

    def column(step):
        return [[words[2 * j + step][i] for j in range(16)] for i in range(16)]

    twice = run(2)
    assert twice[0].tolist() == column(0)
    assert twice[1].tolist() == column(1)
    once = run(1)
    assert not once[0].any()
    assert once[1].tolist() == column(1)
    assert not run(0).any()


def test_lists_of_addresses_and_tensors_of_addresses():
    src = numbers(np.float16, 256)
    want = [word for row in src.view(np.uint16).reshape(16, 16).T.tolist() for word in row]

    def with_addresses(t):
        to = [entry.GetPhyAddr() for entry in blocks(t.dst)]
        of = [entry.GetPhyAddr() for entry in blocks(t.src)]
        TransDataTo5HD(half, to, of, (False, False, 1, 0, 0))

    def with_tensors(t):
        for k in range(16):
            t.to.SetValue(k, blocks(t.dst)[k].GetPhyAddr())
            t.of.SetValue(k, blocks(t.src)[k].GetPhyAddr())
        TransDataTo5HD(t.to, t.of, (False, False, 1, 0, 0), T=half)

    for body in (with_addresses, with_tensors):
        done = on_core(
            body, src=src, dst=np.zeros(256, np.float16),
            to=np.zeros(16, np.uint64), of=np.zeros(16, np.uint64),
        )  # fmt: skip
        assert bits(done["dst"]) == want


def test_lists_the_call_does_not_take():
    src = np.zeros(512, np.float16)

    def run(change):
        params = (False, False, 1, 0, 0)
        on_core(lambda t: TransDataTo5HD(*change(t), params), src=src, dst=src)

    with pytest.raises(ArgumentError, match="16 entries"):
        run(lambda t: (blocks(t.dst)[:8], blocks(t.src)))
    with pytest.raises(AlignmentError, match="entry 3"):
        run(lambda t: (blocks(t.dst), [*blocks(t.src)[:3], t.src[8], *blocks(t.src)[4:]]))
    with pytest.raises(ArgumentError, match="no element type"):
        run(lambda t: ([32 * k for k in range(16)], [32 * k for k in range(16)]))
    with pytest.raises(OutOfBoundsError):
        on_core(
            lambda t: TransDataTo5HD(
                blocks(t.dst), blocks(t.src), (False, False, 255, 65535, 0)
            ),
            src=src, dst=src,
        )  # fmt: skip
    with pytest.raises(DTypeError):
        on_core(
            lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src), (False, False, 1, 0, 0)),
            src=src, dst=np.zeros(512, np.int16),
        )  # fmt: skip


def test_bfloat16_only_on_950():
    src = numbers(ml_dtypes.bfloat16, 256)

    def run(arch):
        return on_core(
            lambda t: TransDataTo5HD(blocks(t.dst), blocks(t.src), (False, False, 1, 0, 0)),
            platform=arch, src=src, dst=np.zeros(256, ml_dtypes.bfloat16),
        )  # fmt: skip

    assert bits(run("950")["dst"].reshape(16, 16).T.reshape(-1)) == bits(src)
    with pytest.raises((DTypeError, UnsupportedError)):
        run("910b")


def test_fp8_moves_as_bytes():
    src = numbers(ml_dtypes.float8_e5m2, 64)
    params = TransposeParamsExt(1, 2, 1, 32, TO_NHWC)
    done = on_core(
        lambda t: Transpose(t.dst, t.src, t.work, params),
        platform="950",
        src=src,
        dst=np.zeros(64, ml_dtypes.float8_e5m2),
        work=np.zeros(8192, np.uint8),
    )
    want = src.view(np.uint8).reshape(2, 32).T.reshape(-1)
    assert done["dst"].view(np.uint8).tolist() == want.tolist()
