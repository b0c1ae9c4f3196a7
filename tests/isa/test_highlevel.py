"""High-level calls: what they compute, and the basic calls that they consist of."""

from __future__ import annotations

import inspect
import itertools
import math

import numpy as np
import pytest
from harness import on_core

from simulator import ascendc
from simulator.ascendc import (
    ClampMax,
    ClampMin,
    Cos,
    Log2,
    Mean,
    MeanParams,
    Power,
    Sigmoid,
    Sign,
    Silu,
    Sin,
    Sum,
    SumParams,
    Swish,
    TBuf,
    TPipe,
    Xor,
    float32,
    kernel,
    launch,
)
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    SimulatorError,
    UnsupportedError,
)

PLATFORMS = ["910b", "950"]
FLOATS = [np.float32, np.float16]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def gelu(x):
    return x * sigmoid(1.5957691216 * (x + 0.044715 * x**3))


# Reference and largest relative error in float; half is within a few units of its last place.
FUNCTIONS = {
    "Sigmoid": (sigmoid, 3e-7),
    "Tanh": (math.tanh, 1e-6),
    "Gelu": (gelu, 2e-6),
    "FasterGelu": (lambda x: x * sigmoid(1.702 * x), 2e-6),
    "Sin": (math.sin, 1e-6),
    "Cos": (math.cos, 1e-6),
    "Sinh": (math.sinh, 3e-6),
    "Cosh": (math.cosh, 3e-6),
    "Atan": (math.atan, 2e-5),
    "Asin": (lambda x: math.asin(x) if abs(x) <= 1 else math.nan, 6e-5),
    "Acos": (lambda x: math.acos(x) if abs(x) <= 1 else math.nan, 6e-5),
    "Erf": (math.erf, 1e-6),
    "Log": (lambda x: math.log(x) if x > 0 else math.nan, 3e-7),
    "Log2": (lambda x: math.log2(x) if x > 0 else math.nan, 3e-7),
    "Log10": (lambda x: math.log10(x) if x > 0 else math.nan, 3e-7),
    "Floor": (math.floor, 0),
    "Ceil": (math.ceil, 0),
    "Round": (round, 0),
    "Trunc": (math.trunc, 0),
    "Frac": (lambda x: math.fmod(x, 1), 0),
}
SAMPLE = np.concatenate([np.linspace(-9, 9, 263), np.linspace(-1, 1, 41), [1.5, 2.5, -2.5, 3.5]])


def run(name, values, platform, *, tmp=8192):
    call = getattr(ascendc, name)
    count = len(values)
    done = on_core(
        lambda t: call(t.dst, t.src, t.tmp, count),
        platform=platform,
        dst=np.full(count + 16, 7, values.dtype),
        src=values,
        tmp=np.zeros(tmp, np.uint8),
    )
    assert (done["dst"][count:] == 7).all()
    assert (done["src"] == values).all()
    assert done.changed_outside("dst", "tmp").size == 0
    return done


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_value_is_that_of_the_function(name, dtype, platform):
    rule, error = FUNCTIONS[name]
    values = SAMPLE.astype(dtype)
    got = run(name, values, platform)["dst"]
    tolerance = error if dtype == np.float32 else max(error, 3e-3)
    for x, y in zip(values, got, strict=False):
        expected = rule(float(x))
        if math.isnan(expected):
            # Beyond ±1 the arc sine is what the series make of it.
            assert name in ("Asin", "Acos") or not np.isfinite(y)
        else:
            assert float(y) == pytest.approx(expected, rel=tolerance, abs=tolerance / 30)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_pieces_give_what_the_whole_gives(name, dtype):
    values = SAMPLE.astype(dtype)
    whole = run(name, values, "910b", tmp=40960)["dst"]
    pieces = run(name, values, "910b", tmp=1600)["dst"]
    assert (whole.view(np.uint8) == pieces.view(np.uint8)).all()


def calls_of(done, body):
    """Names of the vector calls that the record has at the lines of ``body``."""
    lines, first = inspect.getsourcelines(body)
    inside = range(first, first + len(lines))
    return [
        i.name
        for i in done.run.instructions
        if i.location.file == __file__
        and i.location.line in inside
        and i.pipe == "V"
        and i.name != "PipeBarrier"
    ]


@pytest.mark.parametrize(
    ("platform", "steps"),
    [
        ("910b", ["Muls", "Exp", "Adds", "Duplicate", "Div"]),
        ("950", ["Muls", "Exp", "Adds", "Duplicate", "Div"]),
    ],
)
def test_a_call_is_recorded_as_its_basic_calls_at_the_line_of_the_kernel(platform, steps):
    def body(t):
        Sigmoid(t.dst, t.src, t.tmp, 64)

    done = on_core(
        body, platform=platform, dst=np.zeros(64, np.float32), src=np.zeros(64, np.float32),
        tmp=np.zeros(1024, np.uint8),
    )  # fmt: skip
    assert calls_of(done, body) == steps


def test_only_the_first_step_reads_and_only_the_last_writes_on_950():
    def body(t):
        Sigmoid(t.dst, t.src, 64)

    done = on_core(body, platform="950", dst=np.zeros(64, np.float32), src=np.zeros(64, np.float32))
    own = [i for i in done.run.instructions if i.location.file == __file__]
    assert [[op.name for op in i.operands] for i in own] == [["src"], [], [], [], ["dst"]]
    assert [i.form for i in own] == ["register"] * 5


def test_sigmoid_is_its_steps_in_the_element_type():
    values = SAMPLE.astype(np.float16)
    half = np.float16
    expected = []
    for x in values:
        power = half(math.exp(float(half(-x))))
        expected.append(half(1.0 / float(half(float(power) + 1.0))))
    assert (run("Sigmoid", values, "910b")["dst"][: len(values)] == np.array(expected)).all()
    # The 950 rounds once, at the end.
    once = [half(sigmoid(float(x))) for x in values]
    assert (run("Sigmoid", values, "950")["dst"][: len(values)] == np.array(once)).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("call", [Sin, Cos])
def test_the_source_may_serve_as_temporary_space(platform, call):
    values = SAMPLE.astype(np.float32)
    count = len(values)

    def body(t):
        call(t.plain, t.src, t.tmp, count)
        call(t.reused, t.src, t.tmp, count, isReuseSource=True)

    zeros = np.zeros(count, np.float32)
    done = on_core(
        body, platform=platform, plain=zeros, reused=zeros, src=values,
        tmp=np.zeros(8192, np.uint8),
    )  # fmt: skip
    assert (done["plain"] == done["reused"]).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_swish_has_a_factor_and_silu_has_none(platform, dtype):
    values = SAMPLE.astype(dtype)
    count = len(values)

    def body(t):
        Silu(t.silu, t.src, count)
        Swish(t.swish, t.src, count, 1.0)
        Swish(t.twice, t.src, count, 2.0)

    zeros = np.zeros(count, dtype)
    done = on_core(body, platform=platform, silu=zeros, swish=zeros, twice=zeros, src=values)
    assert (done["silu"] == done["swish"]).all()
    tolerance = 2e-6 if dtype == np.float32 else 2e-2
    for x, one, two in zip(values.tolist(), done["silu"], done["twice"], strict=True):
        assert one == pytest.approx(x * sigmoid(x), rel=tolerance, abs=tolerance / 10)
        assert two == pytest.approx(x * sigmoid(2 * x), rel=tolerance, abs=tolerance / 10)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", [*FLOATS, np.int64])
def test_the_sign(platform, dtype):
    if dtype == np.int64 and platform == "910b":
        with pytest.raises(DTypeError, match="half"):
            on_core(lambda t: Sign(t.a, t.a, 4), a=np.zeros(4, np.int64))
        return
    values = (np.arange(333) % 7 - 3).astype(dtype)
    if dtype != np.int64:
        values[:4] = [-0.0, np.nan, np.inf, -np.inf]
    for tmp in (800, 8192):
        got = run_sign(values, platform, tmp)
        expected = [(v > 0) - (v < 0) for v in values.tolist()]
        assert got.tolist() == expected


def run_sign(values, platform, tmp):
    done = on_core(
        lambda t: Sign(t.dst, t.src, t.tmp, len(values)), platform=platform,
        dst=np.full(len(values), 9, values.dtype), src=values, tmp=np.zeros(tmp, np.uint8),
    )  # fmt: skip
    assert done.changed_outside("dst", "tmp").size == 0
    return done["dst"]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_one_bound(platform, dtype):
    values = SAMPLE.astype(dtype)
    count = len(values)

    def body(t):
        ClampMax(t.high, t.src, t.tmp, 2.5, count)
        ClampMin(t.low, t.src, -1.5, count)

    zeros = np.zeros(count, dtype)
    done = on_core(
        body, platform=platform, high=zeros, low=zeros, src=values, tmp=np.zeros(64, np.uint8)
    )
    assert done["high"].tolist() == [min(float(v), 2.5) for v in values]
    assert done["low"].tolist() == [max(float(v), -1.5) for v in values]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_the_exclusive_or(platform, dtype):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 65536, 300).astype(np.uint16).view(dtype) for _ in range(2))
    for tmp in (256, 1024):
        done = on_core(
            lambda t: Xor(t.dst, t.a, t.b, t.tmp, 300), platform=platform,
            dst=np.full(304, 9, dtype), a=a, b=b, tmp=np.zeros(tmp, np.uint8),
        )  # fmt: skip
        assert done["dst"].tolist() == [*(a ^ b).tolist(), 9, 9, 9, 9]
        assert done.changed_outside("dst", "tmp").size == 0


def test_rint_is_round_on_950_only():
    values = SAMPLE.astype(np.float16)
    assert run("Rint", values, "950")["dst"].tolist() == run("Round", values, "950")["dst"].tolist()
    with pytest.raises(UnsupportedError, match="910B"):
        run("Rint", values, "910b")


# -- Power -----------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, np.inf, -np.inf, 10.0, -7.0]


def power_of(base, exponent, platform, *, tmp=8192):
    """Raise tensors or scalars; returns the result."""
    tensors = {
        name: side
        for name, side in (("base", base), ("exponent", exponent))
        if isinstance(side, np.ndarray)
    }
    some = next(iter(tensors.values()))

    def body(t):
        sides = [getattr(t, n, s) for n, s in (("base", base), ("exponent", exponent))]
        Power(t.dst, *sides, t.tmp, some.size)

    done = on_core(
        body, platform=platform, dst=np.full(some.size + 16, 7, some.dtype),
        tmp=np.zeros(tmp, np.uint8), **tensors,
    )  # fmt: skip
    assert (done["dst"][some.size :] == 7).all()
    return done["dst"][: some.size]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_power_has_the_special_cases_of_c(platform, dtype):
    nan = [np.nan] if platform == "950" else []
    pairs = np.array(list(itertools.product(SPECIAL + nan, repeat=2)), dtype)
    base, exponent = pairs.T.copy()
    got = power_of(base, exponent, platform)
    with np.errstate(all="ignore"):
        expected = np.power(base.astype(float), exponent.astype(float)).astype(dtype)
    assert (np.isnan(got) == np.isnan(expected)).all()
    assert (np.isinf(got) == np.isinf(expected)).all()
    finite = np.isfinite(expected)
    np.testing.assert_allclose(
        got[finite].astype(float), expected[finite].astype(float),
        rtol=3e-6 if dtype == np.float32 else 2e-3,
    )  # fmt: skip
    assert (np.signbit(got)[~np.isnan(got)] == np.signbit(expected)[~np.isnan(expected)]).all()


def test_910b_finds_no_nan_with_not_equal():
    # Its comparison says that NaN is not different from 0 or 1, so the library takes the 1.
    got = power_of(np.array([2.0, -2.0] * 8, np.float32), np.float32(np.nan), "910b")
    assert got[0] == 1
    assert np.isnan(got[1])


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32])
def test_power_with_a_scalar_is_power_with_equal_elements(platform, dtype):
    values = np.array([1, 2, 3, 4, 5, 6, 7, 8] * 40, dtype)
    for scalar in (2, 3):
        other = np.full(values.size, scalar, dtype)
        for small in (1600, 8192):
            assert (
                power_of(values, scalar, platform, tmp=small) == power_of(values, other, platform)
            ).all()
            assert (
                power_of(scalar, values, platform, tmp=small) == power_of(other, values, platform)
            ).all()


@pytest.mark.parametrize(
    ("platform", "dtype"),
    [("910b", np.int32)]
    + [("950", d) for d in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)],
)
def test_integer_powers_wrap_around(platform, dtype):
    info = np.iinfo(dtype)
    bases = [v for v in (-3, -2, -1, 0, 1, 2, 3, 5, 7, 11, 100) if info.min <= v]
    exponents = [v for v in (-3, -2, -1, 0, 1, 2, 3, 5, 7, 9, 10) if info.min <= v]
    pairs = list(itertools.product(bases, exponents))
    base, exponent = np.array(pairs, dtype).T.copy()
    got = power_of(base, exponent, platform)
    for (x, y), value in zip(pairs, got.tolist(), strict=True):
        unit = (1 if y % 2 == 0 else x) if abs(x) == 1 else 0
        expected = x**y if y >= 0 else unit
        assert (value - expected) % 2**info.bits == 0, (x, y)


# -- Sum and Mean ----------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 5, 64, 128, 129, 700])
def test_rows_are_added_up(platform, dtype, n):
    per_block = 32 // np.dtype(dtype).itemsize
    inner = -(-n // per_block) * per_block
    # Small integers, whose sums are exact in half as well; the padding must not count.
    rows = (np.arange(3 * inner) % 5 - 1).astype(dtype).reshape(3, inner)
    rows[:, n:] = 1000

    def body(t):
        Sum(t.total, t.src, t.tmp, SumParams(3, inner, n))
        Mean(t.mean, t.src, t.tmp, MeanParams(3, inner, n))
        Mean(t.wide, t.src, t.tmp, MeanParams(3, inner, n), accType=float32)

    nines = np.full(32, 9, dtype)
    done = on_core(
        body, platform=platform, total=nines, mean=nines, wide=nines, src=rows.reshape(-1),
        tmp=np.zeros(8192, np.uint8),
    )  # fmt: skip
    sums = rows[:, :n].astype(float).sum(axis=1)
    assert done["total"].tolist() == [*sums.tolist(), *[9] * 29]
    factor = np.float32(1) / np.float32(n)
    assert done["wide"][:3].tolist() == [float(dtype(np.float32(s) * factor)) for s in sums]
    assert done["mean"][:3].tolist() == [float(dtype(dtype(s) * dtype(factor))) for s in sums]


# -- temporary space -------------------------------------------------------------------------------


def test_without_a_temporary_buffer_the_rest_of_ub_is_used():
    def body(x):
        pipe, source, result = TPipe(), TBuf(), TBuf()
        pipe.InitBuffer(source, 1024)
        pipe.InitBuffer(result, 1024)
        gm = ascendc.GlobalTensor(float32)
        gm.SetGlobalBuffer(x, 256)
        src, dst = source.Get(float32), result.Get(float32)
        ascendc.DataCopy(src, gm, 256)
        ascendc.PipeBarrier(ascendc.PIPE_ALL)
        Log2(dst, src, 256)
        Sin(src, dst)
        ascendc.PipeBarrier(ascendc.PIPE_ALL)
        ascendc.DataCopy(gm, src, 256)

    x = np.full(256, 8, np.float32)
    launch(kernel(body), 1, x, platform="910b")
    assert x[0] == pytest.approx(math.sin(3), rel=1e-6)
    assert (x == x[0]).all()


def test_a_full_ub_leaves_no_temporary_space():
    def body(x):
        pipe, whole = TPipe(), TBuf()
        pipe.InitBuffer(whole, 196608)
        tensor = whole.Get(float32)
        Sin(tensor[4096], tensor, 64)

    with pytest.raises(ArgumentError, match="sharedTmpBuffer"):
        launch(kernel(body), 1, np.zeros(8, np.float32), platform="910b")


def refuse(call, error, match, **tensors):
    given = {
        "dst": np.zeros(256, np.float32),
        "src": np.zeros(256, np.float32),
        "tmp": np.zeros(1024, np.uint8),
    } | tensors
    with pytest.raises(error, match=match):
        on_core(call, **given)


def test_wrong_arguments_are_refused_with_the_legal_ones():
    refuse(lambda t: Sin(t.dst, t.src, t.tmp, 257), OutOfBoundsError, "Sin")
    refuse(lambda t: Sin(t.dst, t.src, t.tmp, -1), SimulatorError, "calCount|count")
    refuse(lambda t: Sin(t.dst, t.src, t.src, 64), ArgumentError, "uint8_t")
    refuse(
        lambda t: Sin(t.dst, t.src, t.tmp, 64), OutOfBoundsError, "384 bytes",
        tmp=np.zeros(352, np.uint8),
    )  # fmt: skip
    refuse(lambda t: Sin(t.dst, t.src, t.tmp, 64, 3), ArgumentError, "at most 4")
    refuse(
        lambda t: Sin(t.dst, t.src, t.tmp, 64), DTypeError, "half; float|float; half",
        src=np.zeros(256, np.int32), dst=np.zeros(256, np.int32),
    )  # fmt: skip
    refuse(lambda t: Sin(t.dst, t.src, t.tmp, 64), DTypeError, "Sin", src=np.zeros(256, np.float16))
    refuse(lambda t: Power(t.dst, 2.0, 3.0, t.tmp, 64), ArgumentError, "LocalTensor")
    refuse(lambda t: ClampMax(t.dst, t.src, 1.0), ArgumentError, "4 or 5")
    refuse(lambda t: Sum(t.dst, t.src, t.tmp, (1, 8, 8)), ArgumentError, "SumParams")
    refuse(lambda t: Sum(t.dst, t.src, t.tmp, SumParams(1, 9, 9)), AlignmentError, "multiple of 8")
    refuse(lambda t: Sum(t.dst, t.src, t.tmp, SumParams(1, 8, 9)), SimulatorError, "n")
    refuse(
        lambda t: Mean(t.dst, t.src, t.tmp, MeanParams(1, 8, 8), accType=ascendc.half),
        ArgumentError, "accType",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args", "sizes"),
    [
        ("Sin", ((100,), 4), (1200, 768)),
        ("Sin", ((100,), 4, True), (800, 512)),
        ("Sin", ((10, 300), 2), (48000, 2048)),
        ("Tanh", ((8,), 4), (256, 256)),
        ("Floor", ((100,), 4), (0, 0)),
        ("Log2", ((100,), 2), (400, 256)),
        ("Gelu", ((100,), 2), (1200, 768)),
        ("Clamp", ((100,), 4), (100, 64)),
        ("Sum", (1000, 4), (64, 64)),
        ("Mean", (1000, 2, 4), (4064, 4064)),
        ("Power", ((1000,), (1000,), False, 4), (16256, 1280)),
        ("Power", ((1000,), (1,), False, 2), (28256, 2048)),
        ("Power", ((1000,), (1,), True, 4), (28000, 1792)),
    ],
)
def test_the_host_asks_for_the_size_of_the_temporary_buffer(name, args, sizes):
    assert getattr(ascendc, f"Get{name}MaxMinTmpSize")(*args) == sizes


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_least_temporary_buffer_is_enough(name, dtype):
    ask = "Gelu" if name == "FasterGelu" else name
    size = getattr(ascendc, f"Get{ask}MaxMinTmpSize")((300,), np.dtype(dtype).itemsize).minValue
    values = np.abs(SAMPLE).astype(dtype)
    run(name, values, "910b", tmp=max(size, 32))
