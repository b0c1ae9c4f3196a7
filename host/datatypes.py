"""Element types and formats of tensors, with CANN's codes.

Source: hicann/runtime include/external/acl/acl_base_rt.h. The codes also go into template tiling
keys, so their values matter.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import ml_dtypes
import numpy as np

from host.errors import AclError
from host.status import Acl
from simulator.dtypes import as_dtype
from simulator.errors import DTypeError


class DataType(IntEnum):
    """aclDataType (``ACL_FLOAT`` …), the same numbers as ge::DataType (``DT_FLOAT`` …)."""

    FLOAT = 0
    FLOAT16 = 1
    INT8 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 6
    UINT16 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    DOUBLE = 11
    BOOL = 12
    BF16 = 27

    @property
    def numpy(self) -> np.dtype[Any]:
        """Dtype of the host array that holds such elements."""
        return _NUMPY[self]

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _NUMPY[self].itemsize


_NUMPY: Final[dict[DataType, np.dtype[Any]]] = {
    DataType.FLOAT: np.dtype(np.float32),
    DataType.FLOAT16: np.dtype(np.float16),
    DataType.INT8: np.dtype(np.int8),
    DataType.INT32: np.dtype(np.int32),
    DataType.UINT8: np.dtype(np.uint8),
    DataType.INT16: np.dtype(np.int16),
    DataType.UINT16: np.dtype(np.uint16),
    DataType.UINT32: np.dtype(np.uint32),
    DataType.INT64: np.dtype(np.int64),
    DataType.UINT64: np.dtype(np.uint64),
    DataType.DOUBLE: np.dtype(np.float64),
    DataType.BOOL: np.dtype(np.bool_),
    DataType.BF16: np.dtype(ml_dtypes.bfloat16),
}

_BY_NUMPY: Final = {storage: code for code, storage in _NUMPY.items()}


class Format(IntEnum):
    """aclFormat: a label on a tensor. It never permutes data."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30


def as_data_type(spec: object) -> DataType:
    """Return the :class:`DataType` that ``spec`` names.

    Accepts a DataType, its code or name (``0``, ``"FLOAT"``, ``"DT_FLOAT"``, ``"ACL_FLOAT"``), a
    numpy or ml_dtypes dtype, and every name that ``simulator.dtypes.as_dtype`` knows.

    Raises
    ------
    AclError
        100026 if no data type fits.
    """
    if isinstance(spec, int) and not isinstance(spec, bool):
        try:
            return DataType(spec)
        except ValueError:
            raise _unsupported(spec) from None
    if isinstance(spec, str):
        name = spec.upper().removeprefix("DT_").removeprefix("ACL_")
        if name in DataType.__members__:
            return DataType[name]
    try:
        return _BY_NUMPY[np.dtype(spec)]  # type: ignore[call-overload]
    except (TypeError, KeyError):
        pass
    try:
        return _BY_NUMPY[as_dtype(spec).numpy]
    except (DTypeError, KeyError):
        raise _unsupported(spec) from None


def as_format(spec: Format | int | str) -> Format:
    """Return the :class:`Format` of a Format, its code or its name.

    Raises
    ------
    AclError
        100000 if there is no such format.
    """
    try:
        return Format[spec.upper()] if isinstance(spec, str) else Format(spec)
    except (KeyError, ValueError):
        raise AclError(
            f"{spec!r} is not a tensor format",
            status=Acl.INVALID_PARAM,
            argument="format",
            legal=", ".join(Format.__members__),
        ) from None


def _unsupported(spec: object) -> AclError:
    return AclError(
        f"{spec!r} is not a data type of the host API",
        status=Acl.UNSUPPORTED_DATA_TYPE,
        argument="dataType",
        legal=", ".join(DataType.__members__),
    )
