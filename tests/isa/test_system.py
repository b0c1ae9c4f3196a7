"""System variables, workspaces, masks and the CTRL register."""

from __future__ import annotations

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    PIPE_ALL,
    PIPE_V,
    Add,
    Adds,
    AscendCUtils,
    BinaryRepeatParams,
    GetBlockIdx,
    GetBlockNum,
    GetCtrlSpr,
    GetDataBlockSizeInBytes,
    GetRuntimeUBSize,
    GetSaturationFlag,
    GetSaturationStrategy,
    GetSubBlockIdx,
    GetSubBlockNum,
    GetSystemCycle,
    GetSysWorkSpacePtr,
    GetTaskRatio,
    GetUBSizeInBytes,
    GetUserWorkspace,
    GetVecLen,
    InitSocState,
    MaskMode,
    OverrideStrategy,
    PipeBarrier,
    ResetCtrlSpr,
    ResetMask,
    SaturationMode,
    SetAtomicAdd,
    SetCtrlSpr,
    SetMaskCount,
    SetMaskNorm,
    SetSaturationFlag,
    SetSaturationStrategy,
    SetSysWorkspace,
    SetVectorMask,
    TPipe,
    float32,
    half,
    kernel,
    launch,
)
from simulator.core import current_core
from simulator.errors import ArgumentError, ConfigError, UnsupportedError
from simulator.isa.saturation import KEEP_FP8_NAN, SATURATE_FLOAT, SATURATE_INT, TRUNCATE_CAST

ALL = 2**64 - 1


def returned(body, platform="910b"):
    return on_core(lambda t: body(), platform=platform, x=np.zeros(8, np.float32)).returned


def refused(body, error, platform="910b"):
    with pytest.raises(error) as caught:
        returned(body, platform)
    return str(caught.value)


# -- variables ------------------------------------------------------------------------------------


def test_sizes_of_the_two_architectures():
    assert returned(GetDataBlockSizeInBytes) == 32
    assert returned(GetVecLen, "950") == 256
    assert returned(GetUBSizeInBytes, "950") == 248 * 1024
    assert returned(GetRuntimeUBSize, "950") == 248 * 1024


@pytest.mark.parametrize("call", [GetVecLen, GetUBSizeInBytes, GetRuntimeUBSize])
def test_sizes_that_950_only_can_be_asked_for(call):
    assert "910B" in refused(call, UnsupportedError)


@pytest.mark.parametrize(("ratio", "blocks"), [(1, 3), (2, 3)])
def test_blocks_are_counted_over_the_vector_cores(ratio, blocks):
    seen = []

    @kernel(task_ratio=ratio)
    def body():
        seen.append(
            (GetBlockIdx(), GetBlockNum(), GetSubBlockIdx(), GetSubBlockNum(), GetTaskRatio())
        )

    launch(body, blocks)
    assert seen == [(i, blocks, i % ratio, ratio, ratio) for i in range(blocks * ratio)]


@pytest.mark.parametrize("ratio", [0, 3, "2"])
def test_an_ai_core_has_one_or_two_vector_cores(ratio):
    with pytest.raises(ConfigError, match="1 or 2"):
        kernel(task_ratio=ratio)(lambda: None)


@pytest.mark.parametrize(("platform", "mhz"), [("910b", 50), ("950", 1000)])
def test_the_system_counter_runs_at_its_own_rate(platform, mhz):
    def body(t):
        first = GetSystemCycle()
        for _ in range(50):
            Adds(t.x, t.x, 1, 4096)
        PipeBarrier(PIPE_V)
        PipeBarrier(PIPE_ALL)
        return first, GetSystemCycle()

    done = on_core(body, platform=platform, x=np.zeros(4096, np.float32))
    first, last = done.returned
    counted = [i for i in done.run.instructions if i.name == "GetSystemCycle"]
    cycles = counted[1].end - counted[0].end
    clock = done.run.platform.timing.clock_mhz
    assert last > first
    assert abs((last - first) - cycles * mhz / clock) <= 2


# -- workspaces -----------------------------------------------------------------------------------


def test_workspaces_are_addresses_that_kernels_receive():
    seen = []

    @kernel
    def body(work, other):
        SetSysWorkspace(work)
        SetSysWorkspace(other)
        seen.append(int(GetSysWorkSpacePtr()) == int(work))
        seen.append(int(GetUserWorkspace(work)) == int(work))

    launch(body, 1, np.zeros(64, np.uint8), np.zeros(64, np.uint8))
    assert seen == [True, True]


def test_a_system_workspace_must_be_set_before_it_is_asked_for():
    assert "SetSysWorkspace" in refused(GetSysWorkSpacePtr, ArgumentError)
    assert "GM address" in refused(lambda: SetSysWorkspace(5), ArgumentError)
    assert "GM address" in refused(lambda: GetUserWorkspace(None), ArgumentError)


# -- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("set_mask", "low", "high"),
    [
        (lambda: SetVectorMask(0x5, 0x3), 0x3, 0x5),
        (lambda: SetVectorMask(float32, MaskMode.NORMAL, 0, 0xFF), 0xFF, 0),
        (lambda: SetVectorMask(10), 0x3FF, 0),
        (lambda: SetVectorMask(64), ALL, 0),
        (lambda: SetVectorMask(65), ALL, 1),
        (lambda: SetVectorMask(128), ALL, ALL),
        (lambda: SetVectorMask(float32, MaskMode.NORMAL, 64), ALL, 0),
        (lambda: SetVectorMask(half, MaskMode.NORMAL, 100), ALL, (1 << 36) - 1),
        (lambda: SetVectorMask(half, MaskMode.COUNTER, 1000), 1000, 0),
        (lambda: AscendCUtils.SetMask(half, 17), (1 << 17) - 1, 0),
        (lambda: AscendCUtils.SetMask(float32, 0, 0xF0), 0xF0, 0),
        (ResetMask, ALL, ALL),
        (AscendCUtils.ResetMask, ALL, ALL),
    ],
)
def test_the_mask_register(set_mask, low, high):
    def body():
        SetVectorMask(0x1, 0x1)
        set_mask()
        return current_core().mask

    assert returned(body) == (low, high)


@pytest.mark.parametrize("count", [SetMaskCount, AscendCUtils.SetMaskCount])
@pytest.mark.parametrize("norm", [SetMaskNorm, AscendCUtils.SetMaskNorm])
def test_counter_mode_makes_the_mask_a_number_of_elements(count, norm):
    def body(t):
        count()
        SetVectorMask(float32, MaskMode.COUNTER, 70)
        Add(t.x, t.y, t.y, [0, 0], 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8), isSetMask=False)
        norm()
        ResetMask()

    done = on_core(body, x=np.zeros(128, np.float32), y=np.ones(128, np.float32))
    assert done["x"].tolist() == [2] * 70 + [0] * 58


@pytest.mark.parametrize(
    "call",
    [
        SetVectorMask,
        lambda: SetVectorMask(1, 2, 3),
        lambda: SetVectorMask(-1),
        lambda: SetVectorMask(2**64, 0),
        lambda: SetVectorMask(1.5),
    ],
)
def test_masks_that_are_none_are_refused(call):
    refused(call, ArgumentError)


@pytest.mark.parametrize("words", [(0, 0), (1, 1)])
def test_950_refuses_masks_without_a_lane_of_the_type(words):
    def body():
        SetVectorMask(float32, MaskMode.NORMAL, *words)

    refused(body, ArgumentError, "950")
    returned(body, "910b")


# -- CTRL -----------------------------------------------------------------------------------------


def mode_after(*calls, platform):
    def body():
        for call in calls:
            call()
        return current_core().numeric_mode

    return returned(body, platform)


def bit(number, value):
    return lambda: SetCtrlSpr(number, number, value)


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_results_keep_infinity_and_integers_wrap_at_first(platform):
    assert mode_after(platform=platform) == 0


@pytest.mark.parametrize(
    ("calls", "platform", "mode"),
    [
        ([bit(48, 0)], "910b", SATURATE_FLOAT),
        ([bit(48, 0), bit(48, 1)], "910b", 0),
        # On 950 the switches of floats and conversions count when CTRL decides (bit 60).
        ([bit(48, 0), bit(60, 0)], "950", 0),
        ([bit(48, 0), bit(60, 1)], "950", SATURATE_FLOAT),
        ([bit(48, 0)], "950", SATURATE_FLOAT),
        ([bit(60, 1), bit(59, 1)], "950", TRUNCATE_CAST),
        ([bit(53, 1)], "950", SATURATE_INT),
        ([bit(50, 1)], "950", KEEP_FP8_NAN),
        ([bit(53, 1), bit(50, 1), bit(60, 1), bit(59, 1), bit(48, 0)], "950",
         SATURATE_FLOAT | SATURATE_INT | TRUNCATE_CAST | KEEP_FP8_NAN),
    ],
)  # fmt: skip
def test_bits_of_ctrl_change_results(calls, platform, mode):
    assert mode_after(*calls, platform=platform) == mode


@pytest.mark.parametrize(
    ("kind", "on", "bit_number", "value"),
    [
        (SaturationMode.FLOAT, True, 48, 0),
        (SaturationMode.FLOAT, False, 48, 1),
        (SaturationMode.INT, True, 53, 1),
        (SaturationMode.INT, False, 53, 0),
        (SaturationMode.CAST, True, 59, 0),
        (SaturationMode.CAST, False, 59, 1),
        (SaturationMode.FLOAT8, True, 50, 0),
        (SaturationMode.FLOAT8, False, 50, 1),
    ],
)
def test_a_saturation_flag_is_one_bit(kind, on, bit_number, value):
    def body():
        SetSaturationFlag(kind, on)
        return GetSaturationFlag(kind), GetCtrlSpr(bit_number, bit_number)

    assert returned(body, "950") == (on, value)


def test_saturation_of_sums_can_be_seen():
    def body(t):
        SetSaturationFlag(SaturationMode.FLOAT, True)
        Adds(t.x, t.x, 65504, 16)
        SetSaturationFlag(SaturationMode.FLOAT, False)
        Adds(t.y, t.y, 65504, 16)

    x = np.full(16, 65504, np.float16)
    done = on_core(body, x=x, y=x)
    assert set(done["x"].tolist()) == {65504}
    assert set(done["y"].tolist()) == {np.inf}


def test_the_strategy_is_bit_60():
    def body():
        first = GetSaturationStrategy()
        SetSaturationStrategy(OverrideStrategy.USE_API)
        second = GetSaturationStrategy(), GetCtrlSpr(60, 60)
        SetSaturationStrategy(OverrideStrategy.USE_GLOBAL)
        return first, second, GetCtrlSpr(60, 60)

    ctrl, call = OverrideStrategy.USE_GLOBAL, OverrideStrategy.USE_API
    assert returned(body, "950") == (ctrl, (call, 0), 1)
    refused(lambda: SetSaturationStrategy(OverrideStrategy.USE_GLOBAL), UnsupportedError)
    refused(lambda: SetSaturationStrategy(5), ArgumentError, "950")


def test_ctrl_keeps_what_was_written_until_it_is_reset():
    def body():
        SetCtrlSpr(53, 53, 1)
        SetCtrlSpr(6, 10, 0b00011)
        kept = GetCtrlSpr(53, 53), GetCtrlSpr(6, 10), GetCtrlSpr(0, 63) >> 53 & 1
        ResetCtrlSpr(53, 53)
        ResetCtrlSpr(6, 10)
        return kept, GetCtrlSpr(53, 53), GetCtrlSpr(6, 10)

    assert returned(body, "950") == ((1, 3, 1), 0, 0)


@pytest.mark.parametrize(
    ("call", "platform"),
    [
        (lambda: SetCtrlSpr(47, 47, 1), "910b"),
        (lambda: SetCtrlSpr(6, 8, 1), "910b"),
        (lambda: SetCtrlSpr(53, 53, 1), "910b"),
        (lambda: SetCtrlSpr(48, 48, 2), "910b"),
        (lambda: SetCtrlSpr(48, 50, 1), "950"),
        (lambda: SetCtrlSpr(5, 8, 1), "950"),
        (lambda: GetCtrlSpr(8, 6), "950"),
        (lambda: SetSaturationFlag(SaturationMode.FLOAT8, True), "910b"),
        (lambda: SetSaturationFlag(9, True), "950"),
    ],
)
def test_bits_that_cannot_be_reached_are_refused(call, platform):
    refused(call, ArgumentError, platform)


@pytest.mark.parametrize("again", [InitSocState, TPipe])
def test_a_pipe_and_init_soc_state_bring_the_defaults_back(again):
    def body():
        SetVectorMask(0, 1)
        SetMaskCount()
        SetAtomicAdd(float32)
        again()
        core = current_core()
        return core.mask, core.counter_mode, core.atomic

    assert returned(body) == ((ALL, ALL), False, None)
