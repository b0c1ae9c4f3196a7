"""Definitions of the two copy operators; they move elements of any type unchanged.

Each is told strides and offset of its view by the tiling and gets the storage behind it
(``ignore_contiguous``), so that the offset is applied once.
"""

from __future__ import annotations

from typing import Final

from host.datatypes import DataType
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.registry import OP_ADD

_ALL: Final = tuple(DataType)
_SOCS: Final = {
    soc: OpAICoreConfig() for soc in ("ascend910", "ascend910b", "ascend910_93", "ascend950")
}

CONTIGUOUS: Final = OP_ADD(
    OpDef(
        "Contiguous",
        inputs=(ParamDef("x", _ALL, ignore_contiguous=True),),
        outputs=(ParamDef("y", _ALL),),
        ai_core=_SOCS,
    )
)

VIEW_COPY: Final = OP_ADD(
    OpDef(
        "ViewCopy",
        inputs=(ParamDef("x", _ALL),),
        outputs=(ParamDef("y", _ALL, ignore_contiguous=True),),
        ai_core=_SOCS,
    )
)
