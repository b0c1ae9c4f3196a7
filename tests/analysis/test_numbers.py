"""``run.numbers``: what the values in the calls of a kernel tell, kind by kind."""

import linecache
from contextlib import nullcontext

import ml_dtypes
import numpy as np
import pytest

from simulator import ascendc
from simulator.ascendc import (
    CMPMODE,
    Adds,
    And,
    BinaryRepeatParams,
    Cast,
    Compare,
    Compares,
    CompareScalar,
    Copy,
    DataCopy,
    Div,
    Duplicate,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Max,
    Muls,
    ReduceMax,
    ReduceSum,
    RoundMode,
    SaturationMode,
    SetAtomicAdd,
    SetAtomicNone,
    SetCtrlSpr,
    SetFlag,
    SetSaturationFlag,
    ShiftLeft,
    Sigmoid,
    TPosition,
    UnaryRepeatParams,
    WaitFlag,
    bfloat16_t,
    float32,
    half,
    int8_t,
    int16_t,
    int32_t,
    kernel,
    uint8_t,
    uint16_t,
)
from simulator.dtypes import as_dtype
from simulator.errors import ConfigError
from simulator.platforms import load_platform
from simulator.run import Run
from simulator.watching import watched_by
from tools.operators import OPERATORS

UB = TPosition.VECCALC
BOTH = pytest.mark.parametrize("platform", ["910b", "950"])
UNARY = UnaryRepeatParams(1, 1, 8, 8)
BINARY = BinaryRepeatParams(1, 1, 1, 8, 8, 8)


def gm(dtype, address):
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(address)
    return tensor


def load(dtype, address, at=0):
    """Return a tensor of 256 elements at UB byte ``at``, loaded and ready for V."""
    tile = LocalTensor(dtype, TPosition.VECIN, at, 256)
    DataCopy(tile, gm(dtype, address), 256)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    return tile


def local(dtype, at, count=256):
    return LocalTensor(dtype, UB, at, count)


def filled(values, dtype, rest=1):
    """Return an array of 256 elements that starts with ``values``."""
    array = np.full(256, rest).astype(dtype)
    array[: len(values)] = values
    return array


def numbers(function, *arrays, platform="910b", blocks=1):
    return function.launch(blocks, *arrays, platform=platform, check="off").numbers


def line_of(finding):
    return linecache.getline(finding.location.file, finding.location.line).strip()


def facts(findings):
    return [(f.code, f.count, f.elements) for f in findings]


# -- infinities and NaN that are born ------------------------------------------------------------


@kernel
def divide(x, y):
    left = load(float32, x)
    right = load(float32, y, 4096)
    Div(left, left, right, 256)


@BOTH
def test_the_first_infinity_is_named_with_its_operands(platform):
    (found,) = numbers(
        divide, filled([1, 7, 8], np.float32), filled([1, 0, 0], np.float32), platform=platform
    )
    assert (found.code, found.severity, found.elements) == ("num.first_nonfinite", "info", (1, 3))
    assert line_of(found) == "Div(left, left, right, 256)"
    assert found.message == (
        "Div makes the first inf at left[1] of finite operands: left = 7, right = 0; 2 elements in "
        "all"
    )


@pytest.mark.parametrize(("left", "right"), [(np.inf, 1), (np.nan, 0), (1, np.nan)])
def test_what_was_infinite_or_nan_before_is_not_born(left, right):
    assert numbers(divide, filled([left], np.float32), filled([right], np.float32)) == []


@kernel
def overflow_on_the_way(x):
    tile = load(half, x)
    Muls(tile, tile, 300.0, 256)
    Muls(tile, tile, 0.5, 256)


def test_only_the_call_that_makes_it_is_told():
    (found,) = numbers(overflow_on_the_way, filled([1, 300], np.float16))
    assert line_of(found) == "Muls(tile, tile, 300.0, 256)"
    assert "tile = 300, scalar = 300" in found.message


@kernel
def odd_lanes(x):
    tile = load(half, x)
    Muls(tile, tile, 300.0, (0b1010, 0), 2, UNARY)


def test_lanes_that_are_masked_off_are_not_looked_at():
    values = np.full(256, 300, np.float16)
    (found,) = numbers(odd_lanes, values)
    assert found.count == 4
    assert found.elements == (1 - 1, 128 + 3 - 1 + 1)
    assert "tile[0] of finite" in found.message


@kernel
def mixed_widths(x):
    tile = load(half, x)
    wide = local(float32, 4096)
    Duplicate(wide, -1.0, 256)
    Cast(wide, tile, RoundMode.CAST_NONE, 36, 2, UnaryRepeatParams(1, 1, 8, 4))
    Cast(tile, wide, RoundMode.CAST_FLOOR, 36, 2, UnaryRepeatParams(1, 1, 4, 8))


def test_lanes_of_operands_of_different_widths_belong_together():
    # 36 lanes are 4 blocks and a half of float, and 2 and a quarter of half.
    values = np.arange(256).astype(np.float16)
    assert numbers(mixed_widths, values) == []


@kernel
def in_bfloat16(x):
    tile = load(bfloat16_t, x)
    Muls(tile, tile, 3.0e38, 256)


@kernel
def half_sum(x):
    tile = load(half, x)
    total = local(half, 1024, 16)
    work = local(half, 2048)
    ReduceSum(total, tile, work, 256)


@BOTH
def test_a_sum_that_leaves_the_range_of_half(platform):
    values = filled([60000, 6000], np.float16, rest=0)
    (found,) = numbers(half_sum, values, platform=platform)
    assert line_of(found) == "ReduceSum(total, tile, work, 256)"
    assert "256 elements of tile, the largest = 60000" in found.message
    assert "add up in float" in found.fix


def test_other_types_are_looked_at_as_well():
    values = filled([1, 2], ml_dtypes.bfloat16)
    (found,) = numbers(in_bfloat16, values, platform="950")
    assert facts([found]) == [("num.first_nonfinite", 1, (1, 2))]


@kernel
def squashed(x):
    tile = load(float32, x)
    out = local(float32, 4096)
    work = local(uint8_t, 8192, 8192)
    Sigmoid(out, tile, work, 256)


@BOTH
def test_infinities_inside_a_library_call_are_its_own_affair(platform):
    # e^100 is no float; 1 / (1 + e^100) is one.
    assert numbers(squashed, filled([-100, 100], np.float32), platform=platform) == []


@kernel
def library_logarithm(x):
    tile = load(float32, x)
    out = local(float32, 4096)
    ascendc.Log2(out, tile, local(uint8_t, 8192, 8192), 256)


@BOTH
def test_a_library_call_is_told_as_one(platform):
    (found,) = numbers(library_logarithm, filled([1, 0], np.float32), platform=platform)
    assert found.message.startswith("Log2 makes the first -inf at")
    assert line_of(found).startswith("ascendc.Log2(")
    assert found.elements == (1, 2)


@kernel
def add_in_memory(x, z):
    tile = load(half, x)
    SetFlag(HardEvent.MTE2_MTE3, 0)
    WaitFlag(HardEvent.MTE2_MTE3, 0)
    SetAtomicAdd(half)
    DataCopy(gm(half, z), tile, 256)
    SetAtomicNone()


def test_an_addition_in_global_memory_can_make_it_too():
    x, z = np.full(256, 40000, np.float16), np.zeros(256, np.float16)
    (found,) = numbers(add_in_memory, x, z, blocks=2)
    assert facts([found]) == [("num.first_nonfinite", 256, (0, 256))]
    assert found.block == 1
    assert "global memory = 40000" in found.message


@kernel
def by_operator(x):
    tile = load(half, x)
    other = local(half, 4096)
    other[:] = tile + tile


def test_an_operator_is_a_call_as_well():
    (found,) = numbers(by_operator, filled([40000], np.float16))
    assert facts([found]) == [("num.first_nonfinite", 1, (0, 1))]
    assert line_of(found) == "other[:] = tile + tile"


def test_blocks_are_counted_together():
    x = filled([7, 8], np.float32)
    (found,) = numbers(divide, x, filled([0, 0], np.float32), blocks=3)
    assert (found.count, found.block) == (6, 0)


# -- NaN -----------------------------------------------------------------------------------------


def comparing(mode, itself=False):
    @kernel
    def compare(x):
        tile = load(float32, x)
        one = local(float32, 4096)
        Duplicate(one, 1.0, 256)
        Compare(local(uint8_t, 8192, 32), tile, tile if itself else one, mode, 256)

    return compare


@pytest.mark.parametrize("mode", list(CMPMODE))
@BOTH
def test_comparisons_are_false_for_nan_except_not_equal_on_950(mode, platform):
    found = numbers(comparing(mode), filled([2, np.nan], np.float32, rest=2), platform=platform)
    falls = not (mode is CMPMODE.NE and platform == "950")
    assert facts(found) == ([("num.nan_branch", 1, (1, 2))] if falls else [])


@BOTH
def test_a_comparison_of_a_tensor_with_itself_is_made_for_nan(platform):
    values = filled([np.nan], np.float32)
    assert numbers(comparing(CMPMODE.EQ, itself=True), values, platform=platform) == []


@kernel
def nan_to_integer(x):
    Cast(local(int32_t, 4096), load(float32, x), RoundMode.CAST_RINT, 256)


@kernel
def keeps_nan(x):
    tile = load(float32, x)
    Max(tile, tile, tile, 256)
    Adds(tile, tile, 1.0, 256)
    ReduceMax(local(float32, 4096, 8), tile, local(float32, 8192), 256)


@kernel
def saturating(x):
    tile = load(half, x)
    SetSaturationFlag(SaturationMode.FLOAT, True)
    Adds(tile, tile, 1.0, 256)


def test_an_integer_has_no_nan():
    (found,) = numbers(nan_to_integer, filled([1, 1, np.nan], np.float32))
    assert facts([found]) == [("num.nan_branch", 1, (2, 3))]
    assert found.message.startswith("Cast makes 0 of NaN in")


@BOTH
def test_calls_that_keep_nan_are_not_reported(platform):
    assert numbers(keeps_nan, filled([np.nan], np.float32), platform=platform) == []


@BOTH
def test_saturation_turns_nan_into_a_number(platform):
    (found,) = numbers(saturating, filled([1, np.nan], np.float16), platform=platform)
    assert facts([found]) == [("num.nan_branch", 1, (1, 2))]
    assert line_of(found) == "Adds(tile, tile, 1.0, 256)"
    assert found.message.startswith("Adds makes 0 of NaN in tile[1]")


# -- signs of zero and subnormals ----------------------------------------------------------------


def against_zero(mode):
    @kernel
    def compare(x):
        tile = load(float32, x)
        CompareScalar(local(uint8_t, 4096, 32), tile, 0.0, mode, 256)

    return compare


@pytest.mark.parametrize(
    ("mode", "tests_sign"),
    [("LT", True), ("GE", True), ("GT", False), ("LE", False), ("EQ", False), ("NE", False)],
)
def test_negative_zero_matters_where_less_than_zero_is_meant(mode, tests_sign):
    found = numbers(against_zero(CMPMODE[mode]), filled([1, 2, -0.0], np.float32))
    assert ("num.zero_sign" in {f.code for f in found}) is tests_sign
    for note in found:
        assert (note.elements, note.count) == ((2, 3), 1)


@kernel
def small_quotients(x):
    tile = load(float32, x)
    two = local(float32, 4096)
    Duplicate(two, 4.0, 256)
    Div(tile, tile, two, 256)


@pytest.mark.parametrize(("platform", "count"), [("910b", 0), ("950", 2)])
def test_subnormal_quotients_are_flushed_on_950(platform, count):
    # A quarter of 2^-126 is subnormal; a quarter of 2^-124 is not; 2^-149 / 4 rounds to 0 anyway.
    values = filled([1, 2**-126, -(2.0**-126), 2**-124, 0, 2**-149], np.float32)
    found = numbers(small_quotients, values, platform=platform)
    assert facts(found) == ([("num.zero_sign", count, (1, 3))] if count else [])
    if found:
        assert "exactly it is 2.93873588e-39" in found[0].message


# -- integers as floating-point numbers ----------------------------------------------------------


@kernel
def short_to_half(x):
    Cast(local(half, 4096), load(int16_t, x), RoundMode.CAST_RINT, 256)


@kernel
def scalar_too_long(x):
    tile = load(float32, x)
    Adds(tile, tile, 16777217, 256)
    Adds(tile, tile, 16777218, 256)


def test_halves_hold_integers_up_to_2048():
    (found,) = numbers(short_to_half, filled([2048, -2048, 2049, 2050, 4098], np.int16))
    assert facts([found]) == [("num.int_via_float", 2, (2, 5))]
    assert found.severity == "warning"
    assert "[2] = 2049 becomes 2048" in found.message


@BOTH
def test_an_integer_scalar_that_is_no_float(platform):
    (found,) = numbers(scalar_too_long, np.zeros(256, np.float32), platform=platform, blocks=2)
    assert line_of(found) == "Adds(tile, tile, 16777217, 256)"
    assert (found.code, found.count) == ("num.int_via_float", 2)
    assert "16777217 as a scalar of float, where it is 16777216" in found.message


# -- bits of another type ------------------------------------------------------------------------


@kernel
def integers_as_float(x):
    tile = load(float32, x)
    whole = local(int32_t, 4096)
    Cast(whole, tile, RoundMode.CAST_RINT, 256)
    Muls(tile, whole.ReinterpretCast(float32), 1.0, 256)


@BOTH
def test_integers_whose_bits_are_taken_for_floats(platform):
    # 3 is a subnormal, -1 NaN; 0 is 0 in either view, and 2^30 is 2.0.
    values = filled([0, 3, -1, 2**30], np.float32, rest=0)
    found = numbers(integers_as_float, values, platform=platform)
    assert facts(found) == [("num.bits_as_other", 2, (1, 3))]
    assert "written as int32_t" in found[0].message
    assert found[0].details["special"] == 1


@kernel
def power_of_two(x):
    tile = load(float32, x)
    whole = local(int32_t, 4096)
    Cast(whole, tile, RoundMode.CAST_RINT, 256)
    Adds(whole, whole, 127, 256)
    ShiftLeft(whole, whole, 23, 256)
    Muls(tile, whole.ReinterpretCast(float32), 1.0, 256)


@kernel
def absolute_by_bits(x):
    tile = load(half, x)
    bits = local(uint16_t, 4096)
    Duplicate(bits, 0x7FFF, 256)
    And(bits, bits, tile.ReinterpretCast(uint16_t), 256)
    Muls(tile, bits.ReinterpretCast(half), 2.0, 256)


@kernel
def loaded_as_words(x):
    tile = load(int16_t, x)
    Muls(tile.ReinterpretCast(half), tile.ReinterpretCast(half), 2.0, 256)


@kernel
def moved_as_words(x):
    tile = load(half, x)
    other = local(half, 4096)
    Copy(
        other.ReinterpretCast(int16_t),
        tile.ReinterpretCast(int16_t),
        128,
        2,
        ascendc.CopyRepeatParams(1, 1, 8, 8),
    )
    Muls(other, other, 2.0, 256)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (power_of_two, np.float32), (absolute_by_bits, np.float16), (loaded_as_words, np.float16),
        (moved_as_words, np.float16),
    ],
)  # fmt: skip
@BOTH
def test_bits_that_are_made_for_a_view_are_not_reported(function, dtype, platform):
    assert numbers(function, filled([1, 5, 9], dtype), platform=platform) == []


@kernel
def moved_and_misread(x):
    tile = load(bfloat16_t, x)
    other = local(bfloat16_t, 4096)
    DataCopy(other, tile, 256)
    Adds(other.ReinterpretCast(half), other.ReinterpretCast(half), 1.0, 256)


def test_a_move_passes_the_type_on():
    found = numbers(moved_and_misread, filled([1], ml_dtypes.bfloat16))
    assert facts(found) == [("num.bits_as_other", 256, (0, 256))]


# -- Cast ----------------------------------------------------------------------------------------


def casting(source, target, mode, at=4096):
    @kernel
    def convert(x):
        Cast(local(target, at), load(source, x), mode, 256)

    return convert


@pytest.mark.parametrize(
    ("mode", "changed"), [("RINT", 0), ("FLOOR", 1), ("CEIL", 3), ("TRUNC", 2), ("ROUND", 1)]
)
@BOTH
def test_results_that_another_rounding_mode_changes(mode, changed, platform):
    # To nearest -1, 1, 2, 2, 5. Down: 1 of 1.75; up: 0 of -0.75, 2 of 1.25, 3 of 2.5; towards 0:
    # 0 of -0.75 and 1 of 1.75; away from it: 3 of 2.5.
    values = filled([-0.75, 1.25, 1.75, 2.5, 5], np.float32)
    found = numbers(casting(float32, int32_t, RoundMode[f"CAST_{mode}"]), values, platform=platform)
    assert [(f.code, f.count) for f in found] == ([("cast.mode", changed)] if changed else [])
    assert all(f"{changed} of 256 results" in f.message for f in found)


@kernel
def floor(x):
    tile = load(float32, x)
    Cast(tile, tile, RoundMode.CAST_FLOOR, 256)


@BOTH
def test_rounding_to_whole_floats_is_meant_so(platform):
    assert numbers(floor, filled([0.5, 1.5], np.float32), platform=platform) == []


@BOTH
def test_floats_beyond_half_become_infinite_and_are_told_once(platform):
    values = filled([65504, 65519, 65520, -1e6, np.inf], np.float32)
    (found,) = numbers(casting(float32, half, RoundMode.CAST_RINT), values, platform=platform)
    assert facts([found]) == [("cast.sat", 2, (2, 4))]
    assert found.message.endswith(
        "saturation gives 65504, without saturation it is inf; the Cast does not saturate, "
        "by default"
    )


@kernel
def saturated_cast(x):
    tile = load(float32, x)
    SetSaturationFlag(SaturationMode.FLOAT, True)
    Cast(local(half, 4096), tile, RoundMode.CAST_FLOOR, 256)


@BOTH
def test_who_has_switched_saturation_on(platform):
    values = filled([1e6], np.float32)
    (found,) = numbers(saturated_cast, values, platform=platform)
    line = found.location.line - 1
    assert found.message.endswith(f"the Cast saturates, as line {line} sets it")


@kernel
def low_bits(x):
    tile = load(float32, x)
    SetCtrlSpr(59, 59, 1)
    Cast(local(int16_t, 4096), tile, RoundMode.CAST_TRUNC, 256)


def test_wrap_around_on_950():
    (found,) = numbers(low_bits, filled([65537, 3], np.float32), platform="950")
    assert "saturation gives 32767, wrap-around 1; the Cast wraps, as line" in found.message


@pytest.mark.parametrize(
    ("source", "target", "values", "count"),
    [
        (half, uint8_t, [255, 256, -1, -0.25], 2),
        (half, int8_t, [127.5, -128.5, -129, np.inf], 3),
        (float32, int16_t, [32767, 32768, -32769], 2),
        (int32_t, int16_t, [32767, 32768, -32769], 2),
    ],
)
@BOTH
def test_values_out_of_range_of_an_integer(source, target, values, count, platform):
    # To nearest: 127.5 -> 128 is out, -128.5 -> -128 is in, -0.25 -> 0 is in.
    mode = RoundMode.CAST_NONE if source is int32_t else RoundMode.CAST_RINT
    array = filled(values, source.numpy)
    (found,) = numbers(casting(source, target, mode), array, platform=platform)
    assert (found.code, found.count) == ("cast.sat", count)


@kernel
def two_steps(x):
    tile = load(float32, x)
    middle = local(half, 4096)
    Cast(middle, tile, RoundMode.CAST_RINT, 256)
    Adds(middle, middle, 1.0, 256)
    Cast(local(int8_t, 8192), middle, RoundMode.CAST_RINT, 256)


def test_values_that_were_changed_in_between_are_not_rounded_twice():
    assert numbers(two_steps, filled([3.4999], np.float32)) == []


# -- thresholds ----------------------------------------------------------------------------------


def threshold(dtype, value, mode=CMPMODE.GT):
    @kernel
    def compare(x):
        Compares(local(uint8_t, 4096, 32), load(dtype, x), value, mode, 256)

    return compare


@BOTH
def test_a_threshold_that_nothing_came_near(platform):
    (found,) = numbers(threshold(float32, 3.0), filled([2, 4], np.float32), platform=platform)
    assert (found.code, found.severity, found.count) == ("cmp.boundary", "info", 1)
    assert found.fix == "add 2.99999976, 3 and 3.00000024 to the test inputs"


@pytest.mark.parametrize(
    ("dtype", "value", "near"),
    [
        (float32, -3.0, -3.0000002384185791015625),
        (half, 3.0, 2.998046875),
        (half, 0.0, -(2.0**-24)),
        (half, 0.0, 2.0**-24),
    ],
)
def test_an_element_next_to_it_is_enough(dtype, value, near):
    assert numbers(threshold(dtype, value), filled([near], dtype.numpy)) == []


@pytest.mark.parametrize("value", [0.0, 1.5, -2.0])
@BOTH
def test_elements_on_the_threshold_are_counted(value, platform):
    values = filled([9, value, 9, value], np.float16, rest=9)
    (found,) = numbers(threshold(half, value), values, platform=platform)
    assert facts([found]) == [("cmp.boundary", 2, (1, 4))]
    assert "> is false there, >= would take the other branch" in found.message


def test_integers_have_thresholds_too():
    found = numbers(threshold(int32_t, 5, CMPMODE.LE), filled([4, 5], np.int32, 1), platform="950")
    assert facts(found) == [("cmp.boundary", 1, (1, 2))]
    found = numbers(threshold(int32_t, 5, CMPMODE.LE), filled([6], np.int32, 1), platform="950")
    assert found == []


@pytest.mark.parametrize("mode", [CMPMODE.EQ, CMPMODE.NE])
def test_equality_has_no_other_side(mode):
    assert numbers(threshold(float32, 3.0, mode), filled([3], np.float32)) == []


# -- the run itself ------------------------------------------------------------------------------


def test_outputs_and_inputs_stay_as_they_are_and_the_answer_is_kept():
    x, z = np.full(256, 40000, np.float16), np.ones(256, np.float16)
    run = add_in_memory.launch(2, x, z, check="off")
    left = z.copy()
    found = run.numbers
    assert (z == left).all()
    assert (x == 40000).all()
    assert run.numbers is found
    assert run.findings == []


def test_a_saved_run_has_no_values(tmp_path):
    run = divide.launch(1, np.ones(256, np.float32), np.ones(256, np.float32))
    run.save(tmp_path / "run")
    with pytest.raises(ConfigError, match="a saved run cannot be executed again"):
        _ = Run.load(tmp_path / "run").numbers


# -- the operators -------------------------------------------------------------------------------


LAUNCHES = [
    (operator, platform, dtype)
    for operator, platform in (
        ("hardswish_backward_v2", "910b"), ("hardswish_backward_v2", "950"),
        ("prelu_backward", "910b"), ("prelu_backward", "950"),
    )
    for dtype in ("float16", "float32", "bfloat16")
] + [("max_pooling_grad", "910b", "float32")]  # fmt: skip


@pytest.mark.parametrize(("operator", "platform", "dtype"), LAUNCHES)
def test_the_operators_have_no_warning_for_ordinary_inputs(operator, platform, dtype):
    known = OPERATORS[operator]
    inputs = known.inputs(np.random.default_rng(3), (4, 3, 5, 50), as_dtype(dtype).numpy)
    seen = []

    class Compared:
        """Asks each launch for its numbers as soon as it is over."""

        def launching(self, result):
            return nullcontext()

        def started(self, core):
            pass

        def finished(self, run):
            left = {allocation: allocation.data.copy() for allocation in run.initial}
            seen.extend(run.numbers)
            assert all((allocation.data == data).all() for allocation, data in left.items())

    with watched_by(Compared()):
        outputs = known.run(inputs, load_platform(platform)).outputs
    again = known.run(inputs, load_platform(platform)).outputs
    assert [f.code for f in seen if f.severity != "info"] == []
    assert all(a.tobytes() == b.tobytes() for a, b in zip(outputs, again, strict=True))
