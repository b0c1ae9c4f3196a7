"""Cases that compare results bit by bit, or large results by their digest."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from host.cases.binding import binding_of
from host.cases.runner import CaseUnsupportedError, Outcome, case_kind
from simulator.dtypes import as_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_SHOWN: Final = 8
_LINSPACE: Final = re.compile(r"numpy\.linspace\(([^,]+),([^,]+),([^)]+)\)")
_ROLLED: Final = re.compile(r"(\w+) rolled right by one")
_SAME: Final = re.compile(r"same as (\w+)")
_DIGEST: Final = "sha256_le_bytes"


@case_kind("numeric")
def numeric(case: Mapping[str, Any]) -> Outcome:
    """Every expected tensor, bit by bit; ``nan`` matches any NaN."""
    given = case["input"]
    tensors = {k: decode(v) for k, v in given.items() if isinstance(v, dict) and "bits" in v}
    outputs = binding_of(case).numeric(given, tensors)
    differences: list[str] = []
    for name, expected in case["expect"].items():
        if not (isinstance(expected, dict) and "bits" in expected):
            continue
        if name not in outputs:
            differences.append(f"{name}: no such output")
        else:
            differences += _differences(name, expected, outputs[name])
    return Outcome({name: encode(array) for name, array in outputs.items()}, differences)


@case_kind("numeric_digest")
def numeric_digest(case: Mapping[str, Any]) -> Outcome:
    """SHA-256 of an output's little-endian bytes with every NaN made canonical."""
    given, expected = case["input"], case["expect"]
    tensors = recipe(given)
    outputs = binding_of(case).numeric(given, tensors)
    canonical = int(expected["nan_canonical"], 16)
    got: dict[str, str] = {}
    differences: list[str] = []
    for key in (k for k in expected if k.endswith(_DIGEST)):
        name = key.removesuffix(_DIGEST).rstrip("_") or next(iter(outputs))
        if name not in outputs:
            differences.append(f"{name}: no such output")
            continue
        got[key] = digest(outputs[name], canonical)
        if got[key] != expected[key]:
            differences.append(f"{key}: expected {expected[key]}, got {got[key]}")
    return Outcome(got, differences)


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    unsigned = np.dtype(f"u{array.dtype.itemsize}")
    return np.ascontiguousarray(array).reshape(-1).view(unsigned)


def decode(tensor: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array that a case writes as shape, dtype and bits."""
    dtype = as_dtype(tensor["dtype"]).numpy
    unsigned = np.dtype(f"u{dtype.itemsize}")
    nan = int(_bits(np.array([math.nan], dtype))[0])
    words = [nan if word == "nan" else int(word, 16) for word in tensor["bits"]]
    return np.array(words, unsigned).view(dtype).reshape(tensor["shape"])


def encode(array: NDArray[Any]) -> dict[str, Any]:
    """Write an array as a case does."""
    digits = array.dtype.itemsize * 2
    words = [
        "nan" if is_nan else f"0x{int(word):0{digits}x}"
        for word, is_nan in zip(_bits(array), np.isnan(array).reshape(-1), strict=True)
    ]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "bits": words}


def _differences(name: str, expected: Mapping[str, Any], array: NDArray[Any]) -> list[str]:
    got = encode(array)
    for key in ("dtype", "shape"):
        if got[key] != expected[key]:
            return [f"{name}: expected {key} {expected[key]}, got {got[key]}"]
    wrong = [
        f"{name}[{i}]: expected {want}, got {have}"
        for i, (want, have) in enumerate(zip(expected["bits"], got["bits"], strict=True))
        if want.lower() != have
    ]
    more = [f"and {len(wrong) - _SHOWN} more of {name}"] if len(wrong) > _SHOWN else []
    return wrong[:_SHOWN] + more


def recipe(given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Build the tensors that a digest case describes in words.

    Raises
    ------
    CaseUnsupportedError
        If a description is not understood.
    """
    dtype, count = as_dtype(given["dtype"]).numpy, given["n"]
    tensors: dict[str, NDArray[Any]] = {}
    words = {k: v for k, v in given.items() if k not in ("dtype", "n", "variant")}
    while words:
        # A description may refer to a tensor that stands behind it.
        ready = {
            k: a for k, v in words.items() if (a := _build(v, dtype, count, tensors)) is not None
        }
        if not ready:
            raise CaseUnsupportedError(f"recipe {words}")
        tensors |= ready
        words = {k: v for k, v in words.items() if k not in ready}
    return {k: tensors[k] for k in given if k in tensors}


def _build(
    text: Any, dtype: np.dtype[Any], count: int, known: Mapping[str, NDArray[Any]]
) -> NDArray[Any] | None:
    if isinstance(text, list):
        return np.array(text, dtype)
    if text == "all ones":
        return np.ones(count, dtype)
    if text.startswith("bit patterns 0x0000..0xffff"):
        return np.arange(count, dtype=np.uint16).view(dtype)
    if match := _LINSPACE.match(text):
        low, high, points = (float(group) for group in match.groups())
        return np.linspace(low, high, int(points)).astype(dtype)
    if (match := _ROLLED.match(text)) and match[1] in known:
        return np.roll(known[match[1]], 1)
    if (match := _SAME.match(text)) and match[1] in known:
        return known[match[1]].copy()
    return None


def digest(array: NDArray[Any], nan_canonical: int) -> str:
    """SHA-256 of the little-endian bytes after every NaN became ``nan_canonical``."""
    words = _bits(array).copy()
    words[np.isnan(array).reshape(-1)] = nan_canonical
    return hashlib.sha256(words.astype(words.dtype.newbyteorder("<")).tobytes()).hexdigest()
