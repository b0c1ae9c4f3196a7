"""Definition of HardSwishGradV2.

Source: hicann/ops-nn activation/hard_swish_grad_v2/op_host/hard_swish_grad_v2_def.cpp and
op_host/CMakeLists.txt.
"""

from __future__ import annotations

from typing import Final

from host.datatypes import DataType
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.registry import OP_ADD

_ALL: Final = (DataType.FLOAT, DataType.FLOAT16, DataType.BF16)
_NO_BF16: Final = (DataType.FLOAT, DataType.FLOAT16)


def _params(dtypes: tuple[DataType, ...]) -> tuple[tuple[ParamDef, ...], tuple[ParamDef, ...]]:
    return (ParamDef("gradOutput", dtypes), ParamDef("self", dtypes)), (ParamDef("out", dtypes),)


_INPUTS, _OUTPUTS = _params(_ALL)
_INPUTS_910, _OUTPUTS_910 = _params(_NO_BF16)

HARD_SWISH_GRAD_V2: Final = OP_ADD(
    OpDef(
        "HardSwishGradV2",
        inputs=_INPUTS,
        outputs=_OUTPUTS,
        ai_core={
            "ascend910b": OpAICoreConfig(),
            "ascend910_93": OpAICoreConfig(),
            "ascend910": OpAICoreConfig(inputs=_INPUTS_910, outputs=_OUTPUTS_910),
            "ascend950": OpAICoreConfig(extend_cfg={"opFile.value": "hard_swish_grad_v2"}),
        },
    )
)
