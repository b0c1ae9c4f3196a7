"""Definition of PReluGradUpdate.

The published operator is registered for ascend950 only: hicann/ops-nn
activation/p_relu_grad_update/op_host/p_relu_grad_update_def.cpp. The entries of ascend910b and
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


P_RELU_GRAD_UPDATE: Final = OP_ADD(
    OpDef(
        "PReluGradUpdate",
        inputs=(_param("grads"), _param("features"), _param("weights")),
        outputs=(_param("dx"), _param("update")),
        ai_core={
            "ascend950": OpAICoreConfig(
                extend_cfg={
                    "opInterface.value": "prelu_grad_update",
                    "opFile.value": "p_relu_grad_update_apt",
                }
            ),
            "ascend910b": OpAICoreConfig(),
            "ascend910_93": OpAICoreConfig(),
        },
    )
)
