"""Definition of MaxPoolingGrad, registered for 910B only.

Neither AutoContiguous nor IgnoreContiguous is set, so the generated call takes dense inputs only.
Source: hicann/ops-nn experimental/pooling/max_pooling_grad/op_host/max_pooling_grad_def.cpp.
"""

from __future__ import annotations

from typing import Final

from host.datatypes import DataType
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.registry import OP_ADD

_TYPES: Final = (DataType.FLOAT16, DataType.FLOAT)

MAX_POOLING_GRAD: Final = OP_ADD(
    OpDef(
        "MaxPoolingGrad",
        inputs=(ParamDef("dy", _TYPES), ParamDef("x", _TYPES), ParamDef("y", _TYPES)),
        outputs=(ParamDef("dx", _TYPES),),
        ai_core={
            "ascend910b": OpAICoreConfig(
                dynamic_rank_support=False, extend_cfg={"opFile.value": "max_pooling_grad"}
            )
        },
    )
)
