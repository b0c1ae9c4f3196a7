"""Methods of LocalTensor and GlobalTensor."""

from __future__ import annotations

import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    CacheMode,
    CacheRwMode,
    DataCopy,
    GlobalTensor,
    LocalTensor,
    ShapeInfo,
    TPosition,
    float32,
    half,
    int4b_t,
    int8_t,
    uint8_t,
)
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    OutOfBoundsError,
)


def ask(body, **data):
    data = data or {"x": np.arange(64, dtype=np.float32)}
    return on_core(body, **data).returned


def test_an_index_moves_the_start_by_elements():
    assert ask(lambda t: (t.x[24].GetPhyAddr() - t.x.GetPhyAddr(), t.x[24].GetSize())) == (96, 40)
    assert ask(lambda t: (t.x[8:24].GetSize(), t.x[8:24].GetValue(0))) == (16, 8)
    assert ask(lambda t: t.x.GetPhyAddr(3) - t.x.GetPhyAddr()) == 12


def test_another_element_type_sees_the_same_bytes():
    def body(t):
        small = t.x.ReinterpretCast(uint8_t)
        packed = t.x.ReinterpretCast(int4b_t)
        bits = [small.GetValue(i) for i in range(4, 8)]
        return small.GetSize(), packed.GetSize(), t.x.ReinterpretCast(half).GetSize(), bits

    assert ask(body) == (256, 512, 128, [0, 0, 0x80, 0x3F])


def test_sizes_and_lengths_can_be_set():
    def body(t):
        x = t.x[0]
        x.SetSize(8)
        first = x.GetSize(), x.GetLength()
        x.SetBufferLen(128)
        second = x.GetSize(), x.GetLength()
        x.SetAddrWithOffset(t.x, 16)
        return first, second, x.GetPhyAddr() - t.x.GetPhyAddr(), x.GetSize()

    assert ask(body) == ((8, 32), (32, 128), 64, 48)


def test_a_size_past_the_unified_buffer_is_refused():
    with pytest.raises(OutOfBoundsError):
        ask(lambda t: t.x[0].SetSize(2**20))


def test_tags_positions_and_shapes_are_kept():
    def body(t):
        x = t.x[0]
        unset = x.GetUserTag(), x.GetShapeInfo()
        x.SetUserTag(7)
        x.SetShapeInfo(ShapeInfo(2, [4, 16]))
        return unset, x.GetUserTag(), x.GetShapeInfo(), x.GetPosition(), x(5)

    assert ask(body) == (
        (-1, ShapeInfo(1, (64,))), 7, ShapeInfo(2, (4, 16)), TPosition.VECCALC, 5
    )  # fmt: skip


def test_a_shape_with_too_few_lengths_is_refused():
    with pytest.raises(ArgumentError, match="shapeDim"):
        ask(lambda t: t.x.SetShapeInfo(ShapeInfo(3, [4, 16])))


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ((float32, TPosition.VECIN, 0, 192 * 256 + 1), OutOfBoundsError),
        ((float32, TPosition.VECIN, 16, 8), AlignmentError),
        ((float32, TPosition.GM, 0, 8), ArgumentError),
        ((float32, TPosition.VECIN, -32, 8), OutOfBoundsError),
    ],
)
def test_a_tensor_made_by_hand_lies_inside_the_unified_buffer(arguments, kind):
    with pytest.raises(kind):
        ask(lambda t: LocalTensor(*arguments))


def test_an_odd_offset_of_four_bit_elements_is_refused():
    with pytest.raises((ArgumentError, AlignmentError), match="splits a byte"):
        ask(lambda t: t.x.ReinterpretCast(int4b_t)[3])


def outside(body, count=64):
    return on_core(
        body, x=np.zeros(8, np.float32), gm={"g": np.arange(count, dtype=np.float32)}
    ).returned


def test_a_size_is_what_was_declared():
    def body(t):
        declared, open_ = GlobalTensor(float32), GlobalTensor(float32)
        declared.SetGlobalBuffer(t.g.GetPhyAddr(), 40)
        open_.SetGlobalBuffer(t.g.GetPhyAddr())
        return declared.GetSize(), open_.GetSize(), declared[8].GetSize()

    # The manual: 0 when only an address was given; an offset does not change it.
    assert outside(body) == (40, 0, 40)


def test_a_declared_size_is_the_limit_of_copies():
    def body(t):
        short = GlobalTensor(float32)
        short.SetGlobalBuffer(t.g.GetPhyAddr(), 4)
        DataCopy(t.x, short, 8)

    with pytest.raises(OutOfBoundsError, match="16"):
        outside(body)


def test_another_element_type_of_global_memory():
    def body(t):
        small = t.g.ReinterpretCast(int8_t)
        return small.GetPhyAddr(4).address - t.g.GetPhyAddr().address, small[4 * 3 + 3].GetValue(0)

    assert outside(body) == (4, 0x40)


def test_cache_hints_are_kept():
    def body(t):
        g = t.g[0]
        seen = [g.bypass_l2]
        g.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
        seen.append(g.bypass_l2)
        g.SetL2CacheHint(CacheRwMode.RW, CacheMode.CACHE_MODE_NORMAL)
        return [*seen, g.bypass_l2]

    assert outside(body) == [False, True, False]
    with pytest.raises(ArgumentError, match="cache mode"):
        outside(lambda t: t.g.SetL2CacheHint(1))


def test_a_buffer_is_a_gm_address_and_no_number():
    with pytest.raises(ArgumentError, match="GM address"):
        outside(lambda t: t.g.SetGlobalBuffer(4096))
