"""Cast: elementwise conversions between AscendC types, bit for bit.

:func:`caster` looks the pair up in the rules of the architecture and returns a function of two
arrays. What that function does depends on the source:

- types of at most 16 bits go through a table with one entry per bit pattern, filled once by the
  exact rule, unless numpy has a faster exact conversion;
- wider types take numpy's conversion where that is exact or nearest-even, behind a range check,
  and integer arithmetic on the bit patterns otherwise.

Source and destination may start at the same byte unless the destination is wider, where the device
gives wrong results too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.dtypes import (
    DType,
    bfloat16_t,
    complex32,
    complex64,
    float32,
    half,
    hifloat8_t,
    int4b_t,
    int32_t,
)
from simulator.enums import Arch, RoundMode
from simulator.errors import ArgumentError, UnsupportedError
from simulator.numerics.dequant import scaled_half
from simulator.numerics.rounding import to_integral
from simulator.numerics.rules import CastRule, Overflow, cast_rules
from simulator.numerics.saturation import narrow_integer, saturate_float
from simulator.numerics.small_floats import (
    FP4_FORMATS,
    encode_fp4,
    encode_fp8,
    encode_hif8,
    fp4_values,
    hif8_values,
    nibble_values,
)
from simulator.numerics.wide import (
    any_float_to_integer,
    convert_copy,
    float_to_bfloat16,
    float_to_half,
    float_to_integer,
    float_to_integral,
    float_to_narrower,
    integer_range,
    integer_to_float,
    word_type,
)

Array = NDArray[Any]
Convert = Callable[[Array, Array], None]

_NEAREST: Final = (RoundMode.CAST_NONE, RoundMode.CAST_RINT)
_PACKED: Final = (int4b_t, *FP4_FORMATS)
_INTEGRAL_MODES: Final = frozenset(
    (
        RoundMode.CAST_RINT,
        RoundMode.CAST_FLOOR,
        RoundMode.CAST_CEIL,
        RoundMode.CAST_ROUND,
        RoundMode.CAST_TRUNC,
    )
)
_TRUNCATE_SOURCE: Final = (
    "mirror-cann/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/类型转换/Truncate(ISASI).md"
)


@dataclass(frozen=True)
class _Switches:
    """Control bits that a conversion depends on; those without effect on it are False."""

    saturate: bool
    low_bits: bool
    keep_nan: bool


def _lookup(table: Array) -> Convert:
    """``out = table[code of src]``; the table has the destination's storage type."""
    storage = table.dtype
    # Types of ml_dtypes are slow in take; their words are not.
    if storage.kind not in "fiu":
        storage = word_type(storage)
    codes = np.dtype(np.uint8 if table.size == 256 else np.uint16)
    take = table.view(storage).take

    def convert(src: Array, out: Array) -> None:
        # Modes other than "raise" write into out directly; no index is out of range.
        take(src.view(codes), out=out.view(storage), mode="clip")

    return convert


def _from_integer(rule: CastRule, mode: RoundMode, switches: _Switches) -> Convert:
    if rule.dst.kind == "f":
        return integer_to_float(rule.dst, mode)
    if rule.overflow is Overflow.EXACT:
        return convert_copy
    low_bits = switches.low_bits

    def convert(src: Array, out: Array) -> None:
        narrow_integer(src, out, low_bits=low_bits)

    return convert


def _to_hif8(mode: RoundMode, saturate: bool) -> Convert:
    def convert(src: Array, out: Array) -> None:
        np.copyto(out, encode_hif8(src, mode, saturate=saturate))

    return convert


def _to_fp8(dst: DType, switches: _Switches) -> Convert:
    def convert(src: Array, out: Array) -> None:
        encode_fp8(src, out, dst, saturate=switches.saturate, keep_nan=switches.keep_nan)

    return convert


def _then_saturate(convert: Convert, dst: DType) -> Convert:
    def saturating(src: Array, out: Array) -> None:
        convert(src, out)
        saturate_float(out, dst)

    return saturating


def _from_wide(src: DType, dst: DType, mode: RoundMode, switches: _Switches) -> Convert:
    """Conversion from float or double, saturation of wider results left out."""
    if dst.kind != "f":
        return float_to_integer(dst, mode, switches.low_bits)
    if dst is hifloat8_t:
        return _to_hif8(mode, switches.saturate)
    if dst.bits == 8:
        return _to_fp8(dst, switches)
    if src is float32:
        return float_to_half(mode) if dst is half else float_to_bfloat16(mode)
    if dst is float32 and mode in _NEAREST:
        return convert_copy
    # numpy and ml_dtypes go from double to bfloat16_t through float, which rounds twice.
    return float_to_narrower(dst, mode)


def _table(rule: CastRule, mode: RoundMode, switches: _Switches) -> Array:
    """Destination of every code of a 16-bit source; codes below 16 for a packed destination."""
    src, dst = rule.src, rule.dst
    words = np.arange(1 << 16).astype(np.uint16)
    codes = words.view(src.numpy)
    if src.kind != "f":
        if dst.kind != "f":
            if not switches.low_bits:
                codes = np.clip(codes, *integer_range(dst))
            return np.asarray(codes.astype(np.uint8) & np.uint8((1 << dst.bits) - 1))
        out = np.empty(codes.shape, dst.numpy)
        integer_to_float(dst, mode)(codes, out)
        return out
    values = codes.astype(np.float32)
    if dst in FP4_FORMATS:
        return encode_fp4(values, dst, mode)
    if dst.kind != "f":
        integers = any_float_to_integer(values, dst, mode, switches.low_bits)
        if dst in _PACKED:
            return np.asarray(integers.astype(np.uint8) & np.uint8(15))
        return integers.astype(dst.numpy)
    if dst is hifloat8_t:
        raw = words if src is half else None
        return encode_hif8(values, mode, saturate=switches.saturate, raw=raw)
    out = np.empty(codes.shape, dst.numpy)
    if src is dst:
        np.copyto(out, to_integral(values, mode), casting="unsafe")
        return out
    convert = _from_wide(float32, dst, mode, switches)
    (_then_saturate(convert, dst) if switches.saturate else convert)(values, out)
    return out


def _pack(table: Array) -> Convert:
    low = table.take
    high = (table << np.uint8(4)).take

    def convert(src: Array, out: Array) -> None:
        _check_even(src)
        codes = src.view(np.uint16)
        np.bitwise_or(
            low(codes[..., 0::2], mode="clip"), high(codes[..., 1::2], mode="clip"), out=out
        )

    return convert


def _unpack(src: DType, dst: DType) -> Convert:
    if src in FP4_FORMATS:
        values = fp4_values(src)
        codes = np.arange(256)
        low, high = values[codes & 15], values[codes >> 4]
    else:
        low, high = (values.astype(np.float32) for values in nibble_values())
    first, second = low.astype(dst.numpy).take, high.astype(dst.numpy).take

    def convert(src: Array, out: Array) -> None:
        _check_even(out)
        even, odd = first(src, mode="clip"), second(src, mode="clip")
        out[..., 0::2] = even
        out[..., 1::2] = odd

    return convert


def _check_even(elements: Array) -> None:
    if elements.shape[-1] & 1:
        raise ArgumentError(
            "two 4-bit elements share a byte",
            got=f"{elements.shape[-1]} elements",
            legal="an even number",
        )


def _complex(rule: CastRule, mode: RoundMode, switches: _Switches) -> Convert:
    """Real and imaginary parts one by one; complex32 is a word with the real half below."""
    if rule.src is complex32:
        widen = _widen_half()

        def from_words(src: Array, out: Array) -> None:
            real = src.astype(np.uint16)
            imaginary = (src >> np.uint32(16)).astype(np.uint16)
            widen(real, out.real)
            widen(imaginary, out.imag)

        return from_words
    if rule.dst is complex64:

        def to_integral_parts(src: Array, out: Array) -> None:
            real, imaginary = to_integral(src.real, mode), to_integral(src.imag, mode)
            np.copyto(out.real, real)
            np.copyto(out.imag, imaginary)

        return to_integral_parts
    narrow = float_to_half(mode)
    if switches.saturate:
        narrow = _then_saturate(narrow, half)

    def to_words(src: Array, out: Array) -> None:
        real = np.empty(src.shape, np.float16)
        imaginary = np.empty(src.shape, np.float16)
        narrow(src.real, real)
        narrow(src.imag, imaginary)
        upper = imaginary.view(np.uint16).astype(np.uint32) << np.uint32(16)
        np.bitwise_or(real.view(np.uint16), upper, out=out)

    return to_words


def _widen_half() -> Convert:
    return _lookup(np.arange(1 << 16).astype(np.uint16).view(np.float16).astype(np.float32))


def _widen_byte(src: DType, dst: DType) -> Convert:
    codes = np.arange(256).astype(np.uint8)
    values = hif8_values() if src is hifloat8_t else codes.view(src.numpy)
    return _lookup(values.astype(dst.numpy))


def _build(rule: CastRule, mode: RoundMode, switches: _Switches, scale: float) -> Convert:
    src, dst = rule.src, rule.dst
    if src.kind == "c":
        return _complex(rule, mode, switches)
    if src is int32_t and dst is half:
        convert = scaled_half(scale)
        return _then_saturate(convert, dst) if switches.saturate else convert
    if src in _PACKED:
        return _unpack(src, dst)
    if dst in _PACKED:
        return _pack(_table(rule, mode, switches))
    if src is dst and src is float32:
        return float_to_integral(mode, rule.overflow is Overflow.INTEGRAL_POSITIVE_ZERO)
    if src.bits == 8:
        # numpy widens integers fast; from 8 bits to a float a table is faster.
        return convert_copy if dst.kind != "f" else _widen_byte(src, dst)
    if src is half and dst is float32:
        return _widen_half()
    if src.bits == 16 and (src.kind == "f" or dst is half):
        if src is bfloat16_t and dst is float32:
            return convert_copy
        return _lookup(_table(rule, mode, switches))
    if src.kind != "f":
        return _from_integer(rule, mode, switches)
    convert = _from_wide(src, dst, mode, switches)
    if switches.saturate and rule.overflow is Overflow.FLOAT and dst is not hifloat8_t:
        return _then_saturate(convert, dst)
    return convert


_CASTERS: Final[dict[tuple[Any, ...], Convert]] = {}
_CASTER_LIMIT: Final = 1024


def caster(
    arch: Arch,
    src: DType,
    dst: DType,
    mode: RoundMode,
    *,
    nonsaturating: bool = True,
    cast_truncate: bool = False,
    fp8_nan: bool = False,
    scale: float = 1.0,
) -> Convert:
    """Return ``convert(src, out)``, which writes Cast of every element of ``src`` into ``out``.

    Parameters
    ----------
    arch : Arch
        Architecture whose rules apply.
    src, dst : DType
        Element types; the arrays have ``src.numpy`` and ``dst.numpy`` as dtype.
    mode : RoundMode
        Round mode of the call.
    nonsaturating : bool
        CTRL[48]: floats keep inf and NaN instead of clamping.
    cast_truncate : bool
        CTRL[59], 950 only: integers out of range keep their low bits instead of clamping.
    fp8_nan : bool
        CTRL[50], 950 only: NaN stays NaN in a saturating cast to fp8.
    scale : float
        DEQSCALE; counts for int32_t to half only.

    Returns
    -------
    callable
        The arrays have one shape, any number of axes and strides, except that a packed 4-bit type
        has half as many entries along the last axis. Floating-point warnings are the caller's to
        silence.

    Raises
    ------
    UnsupportedError
        If the architecture has no such pair.
    ArgumentError
        If the pair does not accept ``mode``.
    """
    key = (arch, src, dst, mode, nonsaturating, cast_truncate, fp8_nan, scale)
    if found := _CASTERS.get(key):
        return found
    rule = _legal_rule(arch, src, dst, mode)
    saturate = not nonsaturating and rule.overflow in (Overflow.FLOAT, Overflow.FP8)
    low_bits = cast_truncate and rule.overflow is Overflow.CLAMP_OR_LOW_BITS
    switches = _Switches(saturate, low_bits, fp8_nan and rule.overflow is Overflow.FP8)
    return _remember(key, lambda: _build(rule, mode, switches, scale))


def _remember(key: tuple[Any, ...], build: Callable[[], Convert]) -> Convert:
    if len(_CASTERS) >= _CASTER_LIMIT:
        _CASTERS.clear()
    with np.errstate(all="ignore"):
        built = _CASTERS[key] = build()
    return built


def truncator(arch: Arch, dtype: DType, mode: RoundMode) -> Convert:
    """Return ``convert(src, out)`` of the 950 call Truncate: floats rounded to integral floats.

    Parameters
    ----------
    arch : Arch
        Architecture; only 950 has the call.
    dtype : DType
        half, float or bfloat16_t, of source and destination.
    mode : RoundMode
        ``CAST_RINT``, ``CAST_FLOOR``, ``CAST_CEIL``, ``CAST_ROUND`` or ``CAST_TRUNC``.

    Raises
    ------
    UnsupportedError
        If the architecture or the type has no Truncate.
    ArgumentError
        If the round mode is not one of the five.
    """
    key = ("Truncate", arch, dtype, mode)
    if found := _CASTERS.get(key):
        return found
    legal = (half, float32, bfloat16_t)
    if arch is not Arch.DAV_3510 or dtype not in legal:
        raise UnsupportedError(
            f"Truncate of {dtype} does not exist on {arch.family}",
            got=f"{dtype} on {arch.family}",
            legal="half, float, bfloat16_t on 950",
            source=_TRUNCATE_SOURCE,
        )
    rule = CastRule(
        dtype, dtype, _INTEGRAL_MODES, False, "", Overflow.INTEGRAL, "", _TRUNCATE_SOURCE
    )
    _check_mode("Truncate", rule, mode)
    return _remember(key, lambda: _build(rule, mode, _Switches(False, False, False), 1.0))


def _legal_rule(arch: Arch, src: DType, dst: DType, mode: RoundMode) -> CastRule:
    rules = cast_rules(arch)
    rule = rules.get((src, dst))
    if rule is None:
        to = ", ".join(b.name for a, b in rules if a is src)
        of = ", ".join(a.name for a, b in rules if b is dst)
        raise UnsupportedError(
            f"Cast from {src} to {dst} does not exist on {arch.family}",
            api="Cast",
            got=f"{src} -> {dst}",
            legal=f"{src} -> {to or 'nothing'}; {of or 'nothing'} -> {dst}",
            source=next(iter(rules.values())).source if rules else None,
        )
    _check_mode("Cast", rule, mode)
    return rule


def _check_mode(api: str, rule: CastRule, mode: RoundMode) -> None:
    if mode not in rule.modes and not rule.ignores_mode:
        raise ArgumentError(
            f"{getattr(mode, 'name', mode)} is not a round mode of {rule.src} to {rule.dst}",
            api=api,
            got=getattr(mode, "name", mode),
            legal=", ".join(legal.name for legal in sorted(rule.modes)),
            source=rule.source,
        )
