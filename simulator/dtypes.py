"""AscendC element types and their numpy / ml_dtypes storage.

A :class:`DType` carries AscendC's own name (``half``, ``int16_t``) and the numpy dtype whose
memory layout is the device's. Sub-byte types are stored packed: ``int4b_t`` holds two elements a
byte, so its ``numpy`` storage is ``uint8`` and ``bits`` is 4.

Source of names and widths: mirror-cann/asc-devkit docs/zh/api (data structures) and
hw-native-sys/pto-isa for the 950 formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np

from simulator.errors import DTypeError


@dataclass(frozen=True, eq=False)
class DType:
    """One AscendC element type.

    Parameters
    ----------
    name : str
        AscendC's name, for example ``"half"``.
    numpy : numpy.dtype
        Storage dtype of one element (of one byte for sub-byte types).
    bits : int
        Width of one element in bits.
    kind : str
        ``"f"`` floating, ``"i"`` signed, ``"u"`` unsigned, ``"b"`` bool, ``"c"`` complex.
    code : int
        Small number that is unique per type; part of every tensor key.
    """

    name: str
    numpy: np.dtype[Any]
    bits: int
    kind: str
    code: int

    @property
    def itemsize(self) -> int:
        """Bytes of one storage element (1 for the packed 4-bit types)."""
        return self.numpy.itemsize

    @property
    def is_float(self) -> bool:
        """Whether the type is a floating-point format."""
        return self.kind == "f"

    def bytes_for(self, count: int) -> int:
        """Bytes that ``count`` elements occupy; ``int4b_t`` packs two a byte."""
        return (count * self.bits + 7) // 8

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _declare(*rows: tuple[str, Any, int, str]) -> dict[str, DType]:
    return {
        name: DType(name, np.dtype(storage), bits, kind, code)
        for code, (name, storage, bits, kind) in enumerate(rows)
    }


BY_NAME: Final = _declare(
    ("half", np.float16, 16, "f"),
    ("float", np.float32, 32, "f"),
    ("bfloat16_t", ml_dtypes.bfloat16, 16, "f"),
    ("double", np.float64, 64, "f"),
    ("int8_t", np.int8, 8, "i"),
    ("uint8_t", np.uint8, 8, "u"),
    ("int16_t", np.int16, 16, "i"),
    ("uint16_t", np.uint16, 16, "u"),
    ("int32_t", np.int32, 32, "i"),
    ("uint32_t", np.uint32, 32, "u"),
    ("int64_t", np.int64, 64, "i"),
    ("uint64_t", np.uint64, 64, "u"),
    ("bool", np.uint8, 8, "b"),
    ("int4b_t", np.uint8, 4, "i"),
    ("fp8_e4m3fn_t", ml_dtypes.float8_e4m3fn, 8, "f"),
    ("fp8_e5m2_t", ml_dtypes.float8_e5m2, 8, "f"),
    ("fp8_e8m0_t", ml_dtypes.float8_e8m0fnu, 8, "f"),
    ("hifloat8_t", np.uint8, 8, "f"),
    ("fp4x2_e2m1_t", np.uint8, 8, "f"),
    ("fp4x2_e1m2_t", np.uint8, 8, "f"),
    ("complex32", np.uint32, 32, "c"),
    ("complex64", np.complex64, 64, "c"),
)

half: Final = BY_NAME["half"]
float32: Final = BY_NAME["float"]
bfloat16_t: Final = BY_NAME["bfloat16_t"]
double: Final = BY_NAME["double"]
int8_t: Final = BY_NAME["int8_t"]
uint8_t: Final = BY_NAME["uint8_t"]
int16_t: Final = BY_NAME["int16_t"]
uint16_t: Final = BY_NAME["uint16_t"]
int32_t: Final = BY_NAME["int32_t"]
uint32_t: Final = BY_NAME["uint32_t"]
int64_t: Final = BY_NAME["int64_t"]
uint64_t: Final = BY_NAME["uint64_t"]
bool_t: Final = BY_NAME["bool"]
int4b_t: Final = BY_NAME["int4b_t"]
fp8_e4m3fn_t: Final = BY_NAME["fp8_e4m3fn_t"]
fp8_e5m2_t: Final = BY_NAME["fp8_e5m2_t"]
fp8_e8m0_t: Final = BY_NAME["fp8_e8m0_t"]
hifloat8_t: Final = BY_NAME["hifloat8_t"]
fp4x2_e2m1_t: Final = BY_NAME["fp4x2_e2m1_t"]
fp4x2_e1m2_t: Final = BY_NAME["fp4x2_e1m2_t"]
complex32: Final = BY_NAME["complex32"]
complex64: Final = BY_NAME["complex64"]

_ALIASES: Final[dict[Any, DType]] = {
    **BY_NAME,
    float: float32,
    int: int32_t,
    bool: bool_t,
    "float16": half,
    "fp16": half,
    "float32": float32,
    "fp32": float32,
    "bfloat16": bfloat16_t,
    "bf16": bfloat16_t,
    "float64": double,
    "fp8_e4m3": fp8_e4m3fn_t,
    "fp8_e5m2": fp8_e5m2_t,
    "fp8_e8m0": fp8_e8m0_t,
    "hifloat8": hifloat8_t,
    **{
        f"{sign}int{width}": BY_NAME[f"{sign}int{width}_t"]
        for sign in ("", "u")
        for width in (8, 16, 32, 64)
    },
}

_BY_NUMPY: Final = {
    dtype.numpy: dtype
    for name, dtype in BY_NAME.items()
    if name not in ("bool", "int4b_t", "hifloat8_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t", "complex32")
} | {np.dtype(np.bool_): bool_t}


def as_dtype(spec: object) -> DType:
    """Return the :class:`DType` that ``spec`` names.

    Accepts a DType, AscendC's name, a short name (``"fp16"``), a numpy or ml_dtypes dtype or
    scalar type, or the builtins ``float`` (AscendC ``float``), ``int`` and ``bool``.

    Raises
    ------
    DTypeError
        If ``spec`` names no AscendC element type.
    """
    if isinstance(spec, DType):
        return spec
    try:
        found = _ALIASES.get(spec)
    except TypeError:
        found = None
    if found is not None:
        return found
    try:
        found = _BY_NUMPY.get(np.dtype(spec))  # type: ignore[call-overload]
    except TypeError:
        found = None
    if found is None:
        raise DTypeError(
            f"{spec!r} is not an AscendC element type",
            legal=", ".join(BY_NAME),
            fix="pass a type from simulator.ascendc such as half, float32 or int32_t",
        )
    return found


def lanes(names: str) -> tuple[DType, ...]:
    """Turn a blank-separated list of type names into a tuple of types."""
    return tuple(BY_NAME[name] for name in names.split())
