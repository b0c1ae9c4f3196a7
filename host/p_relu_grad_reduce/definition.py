"""Definition of PReluGradReduce.

The published operator is registered for ascend950 only: hicann/ops-nn
activation/p_relu_grad_reduce/op_host/p_relu_grad_reduce_def.cpp. The entries of ascend910b and
ascend910_93 stand for an implementation of this simulator: how these devices execute the operator
is not public.
"""

from __future__ import annotations

from typing import Final

from host.datatypes import DataType
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.registry import OP_ADD

_DTYPES: Final = (DataType.BF16, DataType.FLOAT16, DataType.FLOAT)


def _param(name: str) -> ParamDef:
    return ParamDef(name, _DTYPES, auto_contiguous=True)


P_RELU_GRAD_REDUCE: Final = OP_ADD(
    OpDef(
        "PReluGradReduce",
        inputs=tuple(_param(n) for n in ("grads", "features", "weights", "updates")),
        outputs=(_param("da"),),
        ai_core={
            "ascend950": OpAICoreConfig(
                extend_cfg={
                    "opInterface.value": "prelu_grad_reduce",
                    "opFile.value": "p_relu_grad_reduce_apt",
                }
            ),
            "ascend910b": OpAICoreConfig(),
            "ascend910_93": OpAICoreConfig(),
        },
    )
)
