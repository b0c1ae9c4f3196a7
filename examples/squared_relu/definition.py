"""What the operator takes, and on which chips."""

from host.datatypes import DataType
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.registry import OP_ADD

DTYPES = (DataType.FLOAT, DataType.FLOAT16)

SQUARED_RELU = OP_ADD(
    OpDef(
        "SquaredRelu",
        inputs=(ParamDef("self", DTYPES),),
        outputs=(ParamDef("out", DTYPES),),
        ai_core={"ascend910b": OpAICoreConfig(), "ascend950": OpAICoreConfig()},
        kernel_package="squared_relu.kernels",
    )
)
