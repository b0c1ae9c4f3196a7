"""SetDeqScale and CastDequant, and the scale that Cast from int32_t to half reads."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    Cast,
    CastDeq,
    CastDequant,
    RoundMode,
    SetDeqScale,
    UnaryRepeatParams,
    VdeqInfo,
)
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError, SimulatorError

PLATFORMS = ["910b", "950"]
SCALES = [0.5 + 0.25 * i for i in range(16)]
OFFSETS = [3 * i - 20 for i in range(16)]
SRC = (np.arange(512) * 97 % 241 - 120).astype(np.int16)


def scaled(value, scale, offset, low, high):
    """``clamp(clamp(rint(value * scale), -256, 255) + offset)``."""
    product = max(-256, min(255, round(value * scale)))
    return max(low, min(high, product + offset))


def halves(values, dst, upper):
    """Put 16 results each into the upper or lower half of the 32-byte blocks of ``dst``."""
    out = dst.copy()
    for i, value in enumerate(values):
        out[i // 16 * 32 + 16 * upper + i % 16] = value
    return out


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("dtype", "low", "high"), [(np.int8, -128, 127), (np.uint8, 0, 255)])
def test_one_set_of_parameters_scales_every_lane(platform, upper, dtype, low, high):
    def body(t):
        SetDeqScale(1.5, -7, dtype == np.int8)
        CastDequant(t.dst, t.src, 256, isVecDeq=False, halfBlock=upper)

    dst = np.zeros(512, dtype)
    done = on_core(body, platform=platform, dst=dst, src=SRC)
    expected = [scaled(int(v), 1.5, -7, low, high) for v in SRC[:256]]
    assert done["dst"].tolist() == halves(expected, dst, upper).tolist()
    assert done.changed_outside("dst").size == 0


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_vector_mode_has_a_set_for_each_lane_of_a_block(platform):
    def body(t):
        SetDeqScale(t.table, VdeqInfo(SCALES, OFFSETS, [True] * 16))
        CastDequant(t.dst, t.src, 256)

    dst = np.zeros(512, np.int8)
    done = on_core(body, platform=platform, dst=dst, src=SRC, table=np.zeros(16, np.uint64))
    expected = [
        scaled(int(v), SCALES[i % 16], OFFSETS[i % 16], -128, 127) for i, v in enumerate(SRC[:256])
    ]
    assert done["dst"].tolist() == halves(expected, dst, True).tolist()
    for word, scale, offset in zip(done["table"], SCALES, OFFSETS, strict=True):
        (pattern,) = struct.unpack("<I", struct.pack("<f", scale))
        assert int(word) == pattern | (offset & 0x1FF) << 37 | 1 << 46


def test_the_table_is_read_when_the_call_runs():
    def body(t):
        SetDeqScale(t.table, VdeqInfo([1.0] * 16, [0] * 16, [True] * 16))
        for lane in range(16):
            t.table.SetValue(lane, t.other.GetValue(lane))
        CastDequant(t.dst, t.src, 16)

    (pattern,) = struct.unpack("<I", struct.pack("<f", 2.0))
    other = np.full(16, pattern | 1 << 46, np.uint64)
    done = on_core(
        body, dst=np.zeros(32, np.int8), src=np.arange(16, dtype=np.int16),
        table=np.zeros(16, np.uint64), other=other,
    )  # fmt: skip
    assert done["dst"][16:].tolist() == [2 * i for i in range(16)]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("form", ["mask", "bit mask"])
def test_masks_and_strides_choose_lanes_and_blocks(platform, form):
    mask = 40 if form == "mask" else [0x00FF_8001_0000_0F01, 0x3]
    lanes = list(range(40))
    if form == "bit mask":
        bits = mask[0] | mask[1] << 64
        lanes = [lane for lane in range(128) if bits >> lane & 1]

    def body(t):
        SetDeqScale(0.5, 0, True)
        CastDequant(
            t.dst, t.src, mask, 2, UnaryRepeatParams(2, 1, 17, 9), isVecDeq=False, halfBlock=False
        )

    dst = np.full(2048, 99, np.int8)
    done = on_core(body, platform=platform, dst=dst, src=SRC)
    for r in range(2):
        for lane in lanes:
            value = SRC[16 * (9 * r + lane // 16) + lane % 16]
            dst[32 * (17 * r + 2 * (lane // 16)) + lane % 16] = scaled(
                int(value), 0.5, 0, -128, 127
            )
    assert done["dst"].tolist() == dst.tolist()


def test_what_a_count_leaves_in_the_other_halves():
    def body(t):
        SetDeqScale(1.0, 0, True)
        CastDequant(t.dst, t.src, 20, isVecDeq=False)

    dst = np.full(512, 99, np.int8)
    kept = on_core(body, platform="910b", dst=dst, src=SRC)["dst"]
    assert set(np.flatnonzero(kept != 99).tolist()) <= {*range(16, 32), *range(48, 52)}
    # The 950 stores whole repeats.
    blank = on_core(body, platform="950", dst=dst, src=SRC)["dst"]
    assert blank[:16].tolist() == [0] * 16
    assert not blank[52:256].any()
    assert (blank[256:] == 99).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("call", ["Cast", "CastDequant"])
def test_int32_to_half_is_scaled(platform, call):
    src = np.array([7, -100, 65504, 2**31 - 1, -(2**31), 3, 0, 123456] * 8, np.int32)

    def body(t):
        SetDeqScale(0.1)
        if call == "Cast":
            Cast(t.dst, t.src, RoundMode.CAST_NONE, 64)
        else:
            CastDequant(t.dst, t.src, 64, isVecDeq=False, halfBlock=False)

    done = on_core(body, platform=platform, dst=np.zeros(64, np.float16), src=src)
    scale = np.float32(np.float16(0.1))
    with np.errstate(over="ignore"):
        expected = (src.astype(np.float32) * scale).astype(np.float16)
    assert done["dst"].tolist() == expected.tolist()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_scale_is_one_before_it_is_set_and_holds_for_later_calls_only(platform):
    src = np.arange(64, dtype=np.int32)

    def body(t):
        Cast(t.a, t.src, RoundMode.CAST_NONE, 64)
        SetDeqScale(2.0)
        Cast(t.b, t.src, RoundMode.CAST_NONE, 64)

    zeros = np.zeros(64, np.float16)
    done = on_core(body, platform=platform, a=zeros, b=zeros, src=src)
    assert (done["a"] == src).all()
    assert (done["b"] == 2 * src).all()


def test_the_former_name_is_the_same_call():
    assert CastDeq is CastDequant


def refuse(body, error, match, **tensors):
    given = {
        "dst": np.zeros(512, np.int8),
        "src": SRC,
        "table": np.zeros(16, np.uint64),
    } | tensors
    with pytest.raises(error, match=match):
        on_core(body, **given)


def test_wrong_arguments_are_refused_with_the_legal_ones():
    def after(*scale, **options):
        def body(t):
            if scale:
                SetDeqScale(*scale)
            CastDequant(t.dst, t.src, 16, **options)

        return body

    refuse(after(isVecDeq=False), ArgumentError, "no SetDeqScale")
    refuse(after(1.0, isVecDeq=False), ArgumentError, "the half form")
    refuse(after(1.0, 0, True), ArgumentError, "isVecDeq=True after the tensor form")
    refuse(after(1.0, 0, False, isVecDeq=False), ArgumentError, "signMode")
    refuse(lambda t: SetDeqScale(1.0, 256, True), SimulatorError, "offset")
    refuse(lambda t: SetDeqScale(1.0, 0, "yes"), ArgumentError, "signMode")
    refuse(lambda t: SetDeqScale("1"), SimulatorError, "scale")
    refuse(lambda t: SetDeqScale(t.src, None), ArgumentError, "uint64_t")
    refuse(lambda t: SetDeqScale(t.table, ([1.0], [0], [True])), ArgumentError, "VdeqInfo")
    refuse(
        lambda t: SetDeqScale(t.table, VdeqInfo([1.0] * 16, [0] * 16, [True] * 16)),
        OutOfBoundsError, "vdeq", table=np.zeros(15, np.uint64),
    )  # fmt: skip
    refuse(after(1.0, 0, True, isVecDeq=False), DTypeError, "int8_t", dst=np.zeros(16, np.int32))
    refuse(
        lambda t: CastDequant(t.dst, t.src, 16, 1, (1, 1, 8, 8), isVecDeq=False),
        ArgumentError, "UnaryRepeatParams",
    )  # fmt: skip
