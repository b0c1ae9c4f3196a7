"""Exact numeric conversions of the vector unit, as functions of numpy arrays."""

from simulator.numerics.convert import caster, truncator
from simulator.numerics.dequant import dequantizer
from simulator.numerics.rules import CastRule, Overflow, cast_rules
from simulator.numerics.saturation import integer_arithmetic, narrow_integer, saturate_float
from simulator.numerics.small_floats import hif8_values

__all__ = [
    "CastRule",
    "Overflow",
    "cast_rules",
    "caster",
    "dequantizer",
    "hif8_values",
    "integer_arithmetic",
    "narrow_integer",
    "saturate_float",
    "truncator",
]
