"""AscendC enumerations with the device's own values.

Source of every value: mirror-cann/asc-devkit impl/basic_api (common_types.h, kernel_event.h,
utils/kernel_utils_mode.h) and, for the numbers of ``PipeID``, hicann/pyasc
python/asc/language/core/enums.py.
"""

from __future__ import annotations

from enum import Enum, IntEnum


class Arch(Enum):
    """Architecture of a vector core, by its NPU arch number."""

    DAV_1001 = "1001"
    DAV_2201 = "2201"
    DAV_3510 = "3510"

    @property
    def family(self) -> str:
        """Everyday name of the products with this architecture."""
        return {"1001": "910", "2201": "910B", "3510": "950"}[self.value]


class PipeID(IntEnum):
    """A pipe of the AI Core, or all of them (``PIPE_ALL``)."""

    PIPE_S = 0
    PIPE_V = 1
    PIPE_M = 2
    PIPE_MTE1 = 3
    PIPE_MTE2 = 4
    PIPE_MTE3 = 5
    PIPE_ALL = 6
    PIPE_MTE4 = 7
    PIPE_MTE5 = 8
    PIPE_V2 = 9
    PIPE_FIX = 10

    @property
    def label(self) -> str:
        """Short name used in reports, for example ``MTE2``."""
        return self.name.removeprefix("PIPE_")


class TPosition(IntEnum):
    """Logical position of a tensor (``QuePosition`` is the same enum)."""

    GM = 0
    A1 = 1
    A2 = 2
    B1 = 3
    B2 = 4
    C1 = 5
    C2 = 6
    CO1 = 7
    CO2 = 8
    VECIN = 9
    VECOUT = 10
    VECCALC = 11
    SPM = 12
    TSCM = 13
    C2PIPE2GM = 14
    C2PIPE2LOCAL = 15
    LCM = 11
    SHM = 12


class HardEvent(IntEnum):
    """A pipe pair ``SRC_DST``: the source pipe sets, the destination pipe waits."""

    MTE2_MTE1 = 0
    MTE1_MTE2 = 1
    MTE1_M = 2
    M_MTE1 = 3
    MTE2_V = 4
    V_MTE2 = 5
    MTE3_V = 6
    V_MTE3 = 7
    M_V = 8
    V_M = 9
    V_V = 10
    MTE3_MTE1 = 11
    MTE1_MTE3 = 12
    MTE1_V = 13
    MTE2_M = 14
    M_MTE2 = 15
    V_MTE1 = 16
    M_FIX = 17
    FIX_M = 18
    MTE3_MTE2 = 19
    MTE2_MTE3 = 20
    S_V = 21
    V_S = 22
    S_MTE2 = 23
    MTE2_S = 24
    S_MTE3 = 25
    MTE3_S = 26
    MTE2_FIX = 27
    FIX_MTE2 = 28
    FIX_S = 29
    M_S = 30
    FIX_MTE3 = 31
    MTE1_FIX = 32
    FIX_MTE1 = 33
    FIX_FIX = 34


class CMPMODE(IntEnum):
    """Comparison of Compare and CompareScalar."""

    LT = 0
    GT = 1
    EQ = 2
    LE = 3
    GE = 4
    NE = 5


class SELMODE(IntEnum):
    """Where Select takes its bits from."""

    VSEL_CMPMASK_SPR = 0
    VSEL_TENSOR_SCALAR_MODE = 1
    VSEL_TENSOR_TENSOR_MODE = 2


class RoundMode(IntEnum):
    """Rounding of Cast."""

    CAST_NONE = 0
    CAST_RINT = 1
    CAST_FLOOR = 2
    CAST_CEIL = 3
    CAST_ROUND = 4
    CAST_TRUNC = 5
    CAST_ODD = 6
    CAST_HYBRID = 7
    CAST_EVEN = 8
    CAST_ZERO = 9


class ReduceMode(IntEnum):
    """Kind of a reduction."""

    REDUCE_MAX = 0
    REDUCE_MIN = 1
    REDUCE_SUM = 2


class ReduceType(IntEnum):
    """Kind of ReduceRepeat, ReduceDataBlock and ReducePairElem (a template argument)."""

    NONE = -1
    SUM = 0
    MAX = 1
    MIN = 2


class ReduceOrder(IntEnum):
    """What WholeReduceMax and WholeReduceMin store."""

    ORDER_VALUE_INDEX = 0
    ORDER_INDEX_VALUE = 1
    ORDER_ONLY_VALUE = 2
    ORDER_ONLY_INDEX = 3


class MaskMode(IntEnum):
    """How the vector mask register is read."""

    NORMAL = 0
    COUNTER = 1


class SaturationMode(IntEnum):
    """Which saturation switch SetSaturationFlag writes."""

    FLOAT = 0
    FLOAT8 = 1
    INT = 2
    CAST = 3


class OverrideStrategy(IntEnum):
    """Who decides about saturation on 950."""

    USE_API = 0
    USE_GLOBAL = 1


class TBufState(IntEnum):
    """State of a queue's buffer."""

    FREE = 0
    OCCUPIED = 1
    ENQUE = 2
    DEQUE = 3


class PaddingMode(IntEnum):
    """How DataCopyPad lays out blocks in UB (950)."""

    Normal = 0
    Compact = 1


class CacheLine(IntEnum):
    """Extent of DataCacheCleanAndInvalid."""

    SINGLE_CACHE_LINE = 0
    ENTIRE_DATA_CACHE = 1


class DcciDst(IntEnum):
    """Which part of the cache DataCacheCleanAndInvalid works on."""

    CACHELINE_ALL = 0
    CACHELINE_UB = 1
    CACHELINE_OUT = 2
    CACHELINE_ATOMIC = 3


class MemDsbT(IntEnum):
    """Scope of a data synchronisation barrier."""

    ALL = 0
    DDR = 1
    UB = 2
    SEQ = 3


class GatherMaskMode(IntEnum):
    """Version of the GatherMask form."""

    VERSION_V1 = 0
    VERSION_V2 = 1


class ExpAlgo(IntEnum):
    """Algorithm of Exp (950)."""

    INTRINSIC = 0
    PRECISION_1ULP_FTZ_TRUE = 1
    PRECISION_1ULP_FTZ_FALSE = 2


class LnAlgo(IntEnum):
    """Algorithm of Ln (950)."""

    INTRINSIC = 0
    PRECISION_1ULP_FTZ_TRUE = 1
    PRECISION_1ULP_FTZ_FALSE = 2


class ReciprocalAlgo(IntEnum):
    """Algorithm of Reciprocal (950)."""

    INTRINSIC = 0
    PRECISION_1ULP_FTZ_TRUE = 1
    PRECISION_1ULP_FTZ_FALSE = 2


class DivAlgo(IntEnum):
    """Algorithm of Div (950)."""

    INTRINSIC = 0
    DIFF_COMPENSATION = 1
    PRECISION_1ULP_FTZ_TRUE = 2
    PRECISION_0ULP_FTZ_TRUE = 3
    PRECISION_0ULP_FTZ_FALSE = 4
    PRECISION_1ULP_FTZ_FALSE = 5


class SqrtAlgo(IntEnum):
    """Algorithm of Sqrt (950)."""

    INTRINSIC = 0
    FAST_INVERSE = 1
    PRECISION_1ULP_FTZ_TRUE = 2
    PRECISION_0ULP_FTZ_FALSE = 3
    PRECISION_1ULP_FTZ_FALSE = 4


class RsqrtAlgo(IntEnum):
    """Algorithm of Rsqrt (950)."""

    INTRINSIC = 0
    FAST_INVERSE = 1
    PRECISION_1ULP_FTZ_TRUE = 2
    PRECISION_0ULP_FTZ_FALSE = 3
    PRECISION_1ULP_FTZ_FALSE = 4


class DeqScale(IntEnum):
    """Kind of dequantisation."""

    DEQ_NONE = 0
    DEQ = 1
    VDEQ = 2
    DEQ8 = 3
    VDEQ8 = 4
    DEQ16 = 5
    VDEQ16 = 6


class AtomicDtype(IntEnum):
    """Element type of an atomic write."""

    ATOMIC_NONE = 0
    ATOMIC_F32 = 1
    ATOMIC_F16 = 2
    ATOMIC_S16 = 3
    ATOMIC_S32 = 4
    ATOMIC_S8 = 5
    ATOMIC_BF16 = 6


class AtomicOp(IntEnum):
    """Operation of SetStoreAtomicConfig."""

    ATOMIC_SUM = 0


class DataCopyMVType(IntEnum):
    """Direction that SetLoopModePara works on (950)."""

    UB_TO_OUT = 0
    OUT_TO_UB = 1


class CacheMode(IntEnum):
    """How copies of a GlobalTensor use the L2 cache."""

    CACHE_MODE_DISABLE = 0
    CACHE_MODE_NORMAL = 1
    CACHE_MODE_LAST = 2
    CACHE_MODE_PERSISTENT = 4


class CacheRwMode(IntEnum):
    """Which accesses SetL2CacheHint is about."""

    READ = 1
    WRITE = 2
    RW = 3


class Hardware(IntEnum):
    """Physical memory of a LocalMemAllocator."""

    GM = 0
    UB = 1
    L1 = 2
    L0A = 3
    L0B = 4
    L0C = 5
    BIAS = 6
    FIXBUF = 7


QuePosition = TPosition
