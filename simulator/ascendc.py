"""What a kernel imports: ``from simulator.ascendc import *`` or by name.

AscendC's names with AscendC's argument order. Template arguments of C++ come first, as ordinary
arguments: ``SetFlag<HardEvent::MTE2_V>(id)`` is ``SetFlag(HardEvent.MTE2_V, id)``, and
``queue.AllocTensor<half>()`` is ``queue.AllocTensor(half)``.
"""

from __future__ import annotations

from simulator.dtypes import (
    bfloat16_t,
    bool_t,
    complex32,
    complex64,
    double,
    float32,
    fp4x2_e1m2_t,
    fp4x2_e2m1_t,
    fp8_e4m3fn_t,
    fp8_e5m2_t,
    fp8_e8m0_t,
    half,
    hifloat8_t,
    int4b_t,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from simulator.enums import (
    CMPMODE,
    SELMODE,
    HardEvent,
    MaskMode,
    PipeID,
    QuePosition,
    RoundMode,
    TPosition,
)
from simulator.isa.arithmetic import (
    Abs,
    Add,
    Adds,
    Div,
    Exp,
    Ln,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    Muls,
    Relu,
    Sqrt,
    Sub,
)
from simulator.isa.cmpmask import GetCmpMask, SetCmpMask
from simulator.isa.compare import Compare, CompareScalar, Compares
from simulator.isa.conversion import Cast
from simulator.isa.data_copy import DataCopy, DataCopyPad
from simulator.isa.families import MASK_PLACEHOLDER
from simulator.isa.fill import Duplicate
from simulator.isa.params import (
    BinaryRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    UnaryRepeatParams,
)
import simulator.isa.scalar  # noqa: F401 - declares GetValue and SetValue
from simulator.isa.select import Select
from simulator.isa.sync import (
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
    PipeBarrier,
    SetFlag,
    WaitFlag,
)
from simulator.isa.system import (
    DumpTensor,
    GetBlockIdx,
    GetBlockNum,
    ResetMask,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    printf,
)
from simulator.launch import GM_ADDR, collect_runs, kernel, launch
from simulator.queues import GetTPipePtr, TBuf, TPipe, TQue, TQueBind
from simulator.tensor import GlobalTensor, LocalTensor

PIPE_S = PipeID.PIPE_S
PIPE_V = PipeID.PIPE_V
PIPE_MTE2 = PipeID.PIPE_MTE2
PIPE_MTE3 = PipeID.PIPE_MTE3
PIPE_ALL = PipeID.PIPE_ALL

__all__ = [
    "Abs",
    "Add",
    "Adds",
    "BinaryRepeatParams",
    "CMPMODE",
    "Cast",
    "Compare",
    "CompareScalar",
    "Compares",
    "DataCopy",
    "DataCopyExtParams",
    "DataCopyPad",
    "DataCopyPadExtParams",
    "DataCopyPadParams",
    "DataCopyParams",
    "Div",
    "DumpTensor",
    "Duplicate",
    "EVENT_ID0",
    "EVENT_ID1",
    "EVENT_ID2",
    "EVENT_ID3",
    "EVENT_ID4",
    "EVENT_ID5",
    "EVENT_ID6",
    "EVENT_ID7",
    "Exp",
    "GM_ADDR",
    "GetBlockIdx",
    "GetBlockNum",
    "GetCmpMask",
    "GetTPipePtr",
    "GlobalTensor",
    "HardEvent",
    "Ln",
    "LocalTensor",
    "MASK_PLACEHOLDER",
    "MaskMode",
    "Max",
    "Maxs",
    "Min",
    "Mins",
    "Mul",
    "Muls",
    "PIPE_ALL",
    "PIPE_MTE2",
    "PIPE_MTE3",
    "PIPE_S",
    "PIPE_V",
    "PipeBarrier",
    "PipeID",
    "QuePosition",
    "Relu",
    "ResetMask",
    "RoundMode",
    "SELMODE",
    "Select",
    "SetCmpMask",
    "SetFlag",
    "SetMaskCount",
    "SetMaskNorm",
    "SetVectorMask",
    "Sqrt",
    "Sub",
    "TBuf",
    "TPipe",
    "TPosition",
    "TQue",
    "TQueBind",
    "UnaryRepeatParams",
    "WaitFlag",
    "bfloat16_t",
    "bool_t",
    "collect_runs",
    "complex32",
    "complex64",
    "double",
    "float32",
    "fp4x2_e1m2_t",
    "fp4x2_e2m1_t",
    "fp8_e4m3fn_t",
    "fp8_e5m2_t",
    "fp8_e8m0_t",
    "half",
    "hifloat8_t",
    "int16_t",
    "int32_t",
    "int4b_t",
    "int64_t",
    "int8_t",
    "kernel",
    "launch",
    "printf",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
]
