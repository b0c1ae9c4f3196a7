"""Tiling structs: layout, range checks, poison."""

from __future__ import annotations

import struct

import pytest

from kernels.hard_swish_grad_v2.tiling_data import HardSwishGradV2TilingData
from kernels.strided.tiling_data import StridedViewTilingData
from kernels.tiling_struct import Float, Int, IntArray, TilingData
from simulator.errors import ArgumentError


class Mixed(TilingData):
    flag = Int("uint8_t")
    count = Int("int64_t")
    scale = Float("float")
    dims = IntArray("int32_t", 3)


def test_pack_has_c_alignment_and_is_little_endian():
    # struct's native layout is the C compiler's on this machine; "0q" pads to the struct's size.
    expected = bytearray(struct.pack("@Bqf3i0q", 7, -2, 0.5, 1, 2, 3))
    packed = bytearray(Mixed(flag=7, count=-2, scale=0.5, dims=[1, 2, 3]).pack())
    assert len(packed) == len(expected)
    packed[1:8] = expected[1:8] = bytes(7)
    assert packed == expected


def test_hardswish_struct_has_the_c_layout():
    data = HardSwishGradV2TilingData(
        elementNum=2**40, needCoreNum=48, ubSize=196352, elementNumEachCore=4864
    )
    assert len(data.pack()) == 32
    fields = struct.unpack("<qI4xQq", data.pack())
    assert fields == (2**40, 48, 196352, 4864)


def test_unpack_restores_what_was_packed():
    data = Mixed(flag=1, count=2**62, scale=1.5, dims=[-1, 0, 9])
    assert Mixed.unpack(data.pack()) == data


def test_unpack_refuses_another_length():
    with pytest.raises(ArgumentError, match="has 32 bytes, got 31"):
        HardSwishGradV2TilingData.unpack(bytes(31))


@pytest.mark.parametrize(
    ("name", "value"),
    [("flag", -1), ("flag", 256), ("count", 2**63), ("count", 1.5), ("dims", [0, 2**31])],
)
def test_a_value_outside_the_field_is_refused(name, value):
    with pytest.raises(ArgumentError, match=f"Mixed.{name}"):
        setattr(Mixed(), name, value)


def test_a_negative_value_in_an_unsigned_field_names_the_legal_range():
    with pytest.raises(ArgumentError, match="18446744073709551615"):
        HardSwishGradV2TilingData().ubSize = -1


def test_a_field_that_was_never_assigned_holds_poison_and_is_listed():
    data = HardSwishGradV2TilingData(elementNum=1)
    assert data.unassigned == ("needCoreNum", "ubSize", "elementNumEachCore")
    assert data.needCoreNum == 0xA5A5A5A5
    assert "needCoreNum=unassigned" in repr(data)


def test_clear_zeroes_every_field():
    data = Mixed(count=5)
    data.clear()
    assert data.as_dict() == {"flag": 0, "count": 0, "scale": 0.0, "dims": (0, 0, 0)}
    assert data.unassigned == ()


def test_an_unknown_field_name_is_refused():
    with pytest.raises(ArgumentError, match="no field 'elementnum'"):
        HardSwishGradV2TilingData(elementnum=1)


def test_strided_view_struct_describes_eight_axes():
    data = StridedViewTilingData(shape=range(1, 9), strides=[0] * 8)
    assert data.shape == (1, 2, 3, 4, 5, 6, 7, 8)
    with pytest.raises(ArgumentError, match="longer than 8"):
        data.shape = range(9)
