"""Definition of HardSwishGrad.

The published folder has no definition file. Data types are those of the API and its document, which
also lists the devices. Source: hicann/ops-nn
activation/hard_swish_grad/docs/aclnnHardswishBackward.md and op_api/aclnn_hardswish_backward.cpp.
"""

from __future__ import annotations

from typing import Final

from host.hard_swish_grad_v2.definition import HARD_SWISH_GRAD_V2
from host.op_def import OpAICoreConfig, OpDef
from host.registry import OP_ADD

HARD_SWISH_GRAD: Final = OP_ADD(
    OpDef(
        "HardSwishGrad",
        inputs=HARD_SWISH_GRAD_V2.inputs,
        outputs=HARD_SWISH_GRAD_V2.outputs,
        ai_core={
            soc: HARD_SWISH_GRAD_V2.ai_core[soc]
            for soc in ("ascend910b", "ascend910_93", "ascend910")
        }
        | {"ascend950": OpAICoreConfig(extend_cfg={"opFile.value": "hard_swish_grad"})},
    )
)
