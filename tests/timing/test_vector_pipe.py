"""Vector calls of 910B and 950: streams, mask writes, automatic barriers, banks, merged calls."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.ascendc import (
    PIPE_V,
    Add,
    Adds,
    BinaryRepeatParams,
    Div,
    LocalTensor,
    Mul,
    Muls,
    PipeBarrier,
    ReduceMax,
    TPosition,
    UnaryRepeatParams,
    float32,
    half,
    kernel,
)


def at(place: int, count: int, dtype: Any = float32) -> LocalTensor:
    return LocalTensor(dtype, TPosition.VECCALC, place, count)


def calls(run: Any) -> list[tuple[int, int]]:
    return [(i.start, i.end) for i in run.instructions if i.pipe == "V"]


def run_calls(
    body: Any, platform: str = "910b1", *, auto_sync: bool = True
) -> list[tuple[int, int]]:
    return calls(kernel(auto_sync=auto_sync)(body).launch(1, platform=platform))


# -- 910B ----------------------------------------------------------------------------------------


def independent_adds() -> None:
    for k in (0, 1):
        z = at(0x20000 + 0x2000 * k, 2048)
        Add(z, at(0, 2048), at(0x10100, 2048), 64, 32, BinaryRepeatParams())


def chained_adds() -> None:
    z = at(0x20000, 2048)
    for _ in (0, 1):
        Add(z, z, at(0x10100, 2048), 64, 32, BinaryRepeatParams())


def test_independent_mask_calls_stream() -> None:
    (first, _), (second, _) = run_calls(independent_adds)
    assert second - first == 32


def test_automatic_barriers_stand_between_dependent_calls_only() -> None:
    (_, end), (second, _) = run_calls(chained_adds)
    assert second == end
    (first, _), (second, _) = run_calls(chained_adds, auto_sync=False)
    assert second - first == 32


def test_calls_on_interleaved_columns_are_independent() -> None:
    def body() -> None:
        # Rows of 512 bytes, of which the calls take the left and the right half.
        for k in range(2):
            strides = UnaryRepeatParams(1, 1, 16, 16)
            Adds(at(0x10000, 4096)[64 * k], at(0, 4096)[64 * k], 1.0, 64, 30, strides)

    def overlapping() -> None:
        for k in range(2):
            strides = UnaryRepeatParams(1, 1, 16, 16)
            Adds(at(0x10000, 4096)[56 * k], at(0, 4096)[56 * k], 1.0, 64, 30, strides)

    (first, _), (second, _) = run_calls(body)
    assert second - first == 30
    (_, end), (second, _) = run_calls(overlapping)
    assert second == end


# A 2-source call under a mask that leaves lanes of every repeat out starts 15 to 19 cycles later
# (hw-native-sys/pto-isa EstimateCountModeFloor: 16). 64 rows of 64 halves: Add and Div of
# tests/costmodel take 167 and 304 cycles with their operands in one bank group.
@pytest.mark.parametrize(("call", "profiled"), [(Add, 167), (Div, 304)])
def test_a_call_of_two_sources_under_a_mask_pays_the_floor(call: Any, profiled: int) -> None:
    def body(mask: int) -> None:
        operands = (at(place, 8192, half) for place in (0x8000, 0, 0x4000))
        call(*operands, mask, 64, BinaryRepeatParams(1, 1, 1, 4, 4, 4))

    [(start, end)] = run_calls(lambda: body(64))
    assert end - start == pytest.approx(profiled, rel=0.01)
    [(start, full)] = run_calls(lambda: body(128))
    assert end - start == full - start + 16


def test_a_mask_costs_a_call_of_one_source_nothing() -> None:
    def body(mask: int) -> None:
        Adds(at(0x8000, 8192), at(0, 8192), 1.0, mask, 64, UnaryRepeatParams())

    [partial], [whole] = run_calls(lambda: body(30)), run_calls(lambda: body(64))
    assert partial == whole


def test_count_calls_write_the_mask_and_never_stream() -> None:
    def body() -> None:
        for k in (0, 1):
            Adds(at(0x10000 + 0x2000 * k, 2048), at(0, 2048), 1.0, 2048)

    (first, end), (second, _) = run_calls(body)
    # Adds float: 10 + 32 + 15 cycles.
    assert end - first == 57
    assert second == end


def test_a_count_call_with_a_partial_repeat_pays_the_floor_of_16_cycles() -> None:
    def body() -> None:
        Adds(at(0x10000, 2048), at(0, 2048), 1.0, 2047)

    [(start, end)] = run_calls(body)
    assert end - start == 57 + 16


# 64 repeats of Add on a board: 88.4 cycles without conflict, 154.2 with both sources in one bank
# group, 138.8 when the write meets a read in a bank, 88.4 when all blocks line up (asc-devkit
# bank_conflict_ub).
@pytest.mark.parametrize(
    ("x", "y", "z", "measured"),
    [
        (0x0000, 0x10100, 0x20000, 88.4),
        (0x0000, 0x4000, 0x10000, 154.2),
        (0x0000, 0x10000, 0x14100, 154.2),
        (0x0000, 0x10100, 0x4000, 88.4),
        (0x0000, 0x10100, 0x4020, 138.8),
        (0x0000, 0x10100, 0x10100, 88.4),
    ],
)
@pytest.mark.parametrize("by_count", [True, False])
def test_bank_conflicts_of_an_add(x: int, y: int, z: int, measured: float, by_count: bool) -> None:
    def body() -> None:
        operands = at(z, 4096), at(x, 4096), at(y, 4096)
        if by_count:
            Add(*operands, 4096)
        else:
            Add(*operands, 64, 64, BinaryRepeatParams())

    [(start, end)] = run_calls(body)
    assert end - start == pytest.approx(measured, rel=0.015)


def test_a_block_that_is_read_eight_times_is_one_access() -> None:
    def body() -> None:
        params = BinaryRepeatParams(1, 0, 1, 8, 8, 8)
        Add(at(0x10100, 4096), at(0, 4096), at(0x10100, 4096), 64, 64, params)

    [(start, end)] = run_calls(body)
    assert end - start == 88


def test_a_slow_instruction_hides_the_conflict_of_its_sources() -> None:
    def body() -> None:
        Div(at(0x10000, 2048), at(0, 2048), at(0x4000, 2048), 2048)

    [(start, end)] = run_calls(body)
    # Div float: 11 + 4 * 32 + 19 cycles, with sources in one group or not.
    assert end - start == 158


def test_one_tensor_as_both_sources_is_read_once() -> None:
    def body() -> None:
        Mul(at(0x10000, 2048), at(0, 2048), at(0, 2048), 2048)

    [(start, end)] = run_calls(body)
    assert end - start == 10 + 32 + 15


def test_strides_decide_the_banks_of_a_mask_call() -> None:
    def body(second: int) -> Any:
        def call() -> None:
            params = BinaryRepeatParams(1, 1, 1, 8, 16, 16)
            Add(at(0x20000, 1024), at(0, 4096), at(second, 4096), 64, 16, params)

        return call

    # Repeats 512 bytes apart always start in group 0; 0x10100 starts in group 8.
    [(start, end)] = run_calls(body(0x10000))
    assert end - start == 24 + 2 * 16
    [(start, end)] = run_calls(body(0x10100))
    assert end - start == 24 + 16


# -- 950 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("repeats", "cycles"), [(32, 95.0), (170, 364.1)])
def test_a_950_call_has_two_slopes(repeats: int, cycles: float) -> None:
    def body() -> None:
        n = repeats * 128
        Add(at(0x20000, n, half), at(0, n, half), at(0x10000, n, half), n)

    [(start, end)] = run_calls(body, "950")
    assert end - start == pytest.approx(cycles, abs=0.6)


def test_950_calls_do_not_overlap() -> None:
    def body() -> None:
        for k in (0, 1):
            Adds(
                at(0x10000 * (k + 1), 2048), at(0, 2048), 1.0, 64, 32, UnaryRepeatParams(1, 1, 8, 8)
            )

    (_, end), (second, _) = run_calls(body, "950")
    assert second == end


def chain(barrier: bool, between: bool = False) -> Any:
    def body() -> None:
        x = at(0, 8192)
        Muls(x, x, 2.0, 8192)
        if barrier:
            PipeBarrier(PIPE_V)
        if between:
            ReduceMax(at(0x10000, 8192), x, at(0x18000, 8192), 8192)
        Adds(x, x, 1.0, 8192)

    return body


def test_count_calls_that_follow_each_other_are_merged_on_950() -> None:
    (first, _), (second, end) = run_calls(chain(barrier=False), "950")
    assert second > first
    # 20 cycles for the barrier inside the function, 1.059 - 0.4 a loop of 128.
    assert end - second == round(20 + 0.659 * 128)


@pytest.mark.parametrize("options", [{"barrier": True}, {"barrier": False, "between": True}])
def test_a_barrier_or_a_reduction_keeps_950_calls_apart(options: dict[str, bool]) -> None:
    spans = [(s, e) for s, e in run_calls(chain(**options), "950") if e > s]
    start, end = spans[-1]
    # Adds float: 54 + 1.059 * 128.
    assert end - start == round(54 + 1.059 * 128)
