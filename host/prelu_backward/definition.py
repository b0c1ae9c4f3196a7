"""Prototype of PReluGrad: a node of a graph that has no kernel of its own here.

Source: hicann/ops-nn activation/p_relu_grad_update/op_graph/prelu_grad_proto.h.
"""

from __future__ import annotations

from typing import Final

from host.datatypes import DataType
from host.op_def import OpDef, ParamDef
from host.registry import OP_ADD

_DTYPES: Final = (DataType.BF16, DataType.FLOAT16, DataType.FLOAT)

PRELU_GRAD: Final = OP_ADD(
    OpDef(
        "PReluGrad",
        inputs=tuple(ParamDef(name, _DTYPES) for name in ("grads", "features", "weights")),
        outputs=tuple(ParamDef(name, _DTYPES) for name in ("dx", "da")),
        ai_core={},
    )
)
