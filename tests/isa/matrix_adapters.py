"""Calls of the instructions whose shape is their own, for the test of the whole matrix."""

from __future__ import annotations

import inspect

from matrix_calls import BLOCK, COUNT, LANES, REPEATS, adapter, binary_params, family, unary_params

from simulator import ascendc
from simulator.enums import CMPMODE, SELMODE, CacheLine, HardEvent, MemDsbT, PipeID, RoundMode
from simulator.errors import ArgumentError


@adapter("Cast")
def cast(case):
    refused = None
    for mode in RoundMode:
        try:
            case.call(*case.tensors, mode, *case.trailing(unary_params()))
            return
        except ArgumentError as error:
            refused = error
    raise refused


@adapter("Compare")
def compare(case):
    case.call(*case.tensors, CMPMODE.EQ, *case.trailing(binary_params()))


@adapter("CompareScalar")
def compare_scalar(case):
    case.call(*case.tensors, 1, CMPMODE.EQ, *case.trailing(unary_params()))


@adapter("Select")
def select(case):
    # The second source may be a scalar, so that it is no operand of the declaration.
    mode = SELMODE.VSEL_TENSOR_TENSOR_MODE
    case.call(*case.tensors[:3], case.t.src0, mode, *case.trailing(binary_params()))


@adapter("GetCmpMask", "SetCmpMask")
def one_tensor(case):
    case.call(*case.tensors)


@adapter("Duplicate")
def duplicate(case):
    if case.form == "count":
        case.call(*case.tensors, 1, COUNT)
    else:
        case.call(*case.tensors, 1, *case.trailing(1)[:2], 1, 8)


@adapter("DataCopy")
def data_copy(case):
    params = COUNT if case.form == "count" else ascendc.DataCopyParams(2, 1, 0, 0)
    case.call(*case.tensors, params)


@adapter("DataCopyPad", gm=("src",))
def data_copy_pad(case):
    case.call(
        *case.tensors, ascendc.DataCopyExtParams(2, 48, 0, 0, 0), ascendc.DataCopyPadExtParams()
    )


@adapter("Truncate")
def truncate(case):
    case.call(*case.tensors, *case.trailing(unary_params()), roundMode=RoundMode.CAST_TRUNC)


@adapter("PipeBarrier")
def pipe_barrier(case):
    case.call(PipeID.PIPE_V)


@adapter("SetFlag", "WaitFlag")
def flags(case):
    ascendc.SetFlag(HardEvent.V_MTE3, 0)
    ascendc.WaitFlag(HardEvent.V_MTE3, 0)


@adapter("printf")
def printf(case):
    case.call("%d\n", 1)


@adapter("DumpTensor")
def dump_tensor(case):
    case.call(*case.tensors, 0, LANES)


@adapter("SetVectorMask")
def set_vector_mask(case):
    case.call(0, 0xFF)


@adapter("GetBlockIdx", "GetBlockNum", "ResetMask", "SetMaskCount", "SetMaskNorm")
def no_arguments(case):
    case.call()
    ascendc.SetMaskNorm()
    ascendc.ResetMask()


def value(case):
    (tensor,) = case.tensors
    tensor.SetValue(REPEATS, tensor.GetValue(1))


adapter("LocalTensor.GetValue", "LocalTensor.SetValue")(value)
adapter("GlobalTensor.GetValue", gm=("GlobalTensor",))(value)
adapter("GlobalTensor.SetValue", gm=("GlobalTensor",))(value)


def masked(case):
    return LANES if case.form == "mask" else [0x3333]


@adapter("WholeReduceSum", "WholeReduceMax", "WholeReduceMin")
def whole_reduce(case):
    case.call(*case.tensors, masked(case), REPEATS, 1, 1, 8)


@adapter("BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum")
def part_reduce(case):
    case.call(*case.tensors, REPEATS, masked(case), 1, 1, 8)


@adapter("RepeatReduceSum")
def repeat_reduce(case):
    case.call(*case.tensors, REPEATS, masked(case), 1, 1, 1, 8)


@adapter("ReduceSum", "ReduceMax", "ReduceMin")
def reduce_all(case):
    trailing = (COUNT,) if case.form == "count" else (masked(case), REPEATS, 8)
    case.call(*case.tensors, *trailing)


@adapter("GetReduceRepeatSumSpr")
def reduction_register(case):
    case.call(ascendc.half)


@adapter("GetReduceRepeatMaxMinSpr")
def extreme_register(case):
    case.call(ascendc.half)


@adapter("CastDequant")
def cast_dequant(case):
    if case.dtypes[0] is ascendc.half:
        ascendc.SetDeqScale(1.0)
    else:
        ascendc.SetDeqScale(1.0, 0, case.dtypes[0] is ascendc.int8_t)
    case.call(*case.tensors, *case.trailing(unary_params()), isVecDeq=False)


@adapter("SetDeqScale")
def set_deq_scale(case):
    case.call(1.0) if case.form == "half" else case.call(1.0, 0, True)


@adapter("DataSyncBarrier")
def data_sync_barrier(case):
    case.call(MemDsbT.ALL)


@family("high-level")
def high_level(case):
    """Name what follows the tensors: the number of elements and, where there is one, a scalar."""
    later = list(inspect.signature(case.call).parameters)[len(case.tensors) :]
    named = {name: COUNT for name in later if name in ("calCount", "dataSize", "count")}
    named |= {name: 1 for name in later if "scalar" in name.lower()}
    case.call(*case.tensors, **named)


@adapter("Sum")
def row_sum(case):
    case.call(*case.tensors, ascendc.SumParams(2, 64, 50))


@adapter("Mean")
def row_mean(case):
    case.call(*case.tensors, ascendc.MeanParams(2, 64, 50))


@adapter("Brcb")
def brcb(case):
    case.call(*case.tensors, REPEATS, ascendc.BrcbRepeatParams(1, 8))


@adapter("Gatherb")
def gatherb(case):
    case.call(*case.tensors, case.t.offsets, REPEATS, ascendc.GatherRepeatParams(1, 8))


@adapter("Gather", "Scatter")
def indexed(case):
    trailing = (COUNT,) if case.form == "count" else (masked(case), REPEATS, 8)
    case.call(*case.tensors, case.t.offsets, 0, *trailing)


@adapter("GatherMask")
def gather_mask(case):
    params = ascendc.GatherMaskParams(1, REPEATS, 8, 0)
    pattern = 1
    if case.form == "user pattern":
        width = case.dtypes[0].bits
        pattern = case.t.offsets.ReinterpretCast(f"uint{width}_t")
    case.call(*case.tensors, pattern, False, 0, params)


@adapter("Copy")
def copy(case):
    if case.form == "count":
        case.call(*case.tensors, COUNT)
    else:
        case.call(*case.tensors, masked(case), REPEATS, ascendc.CopyRepeatParams(1, 1, 8, 8))


@adapter("Interleave", "DeInterleave")
def interleave(case):
    case.call(*case.tensors, COUNT)


@adapter("DataCopy[ND2NZ]", gm=("src",))
def nd_to_nz(case):
    lanes = 32 // case.dtypes[0].itemsize
    case.call(*case.tensors, ascendc.Nd2NzParams(1, 4, lanes, 0, lanes, 4, 1, 0))


@adapter("DataCopy[NZ2ND]", gm=("dst",))
def nz_to_nd(case):
    case.call(*case.tensors, ascendc.Nz2NdParamsFull(1, 16, 32, 1, 16, 32, 1))


@adapter("DataCopy[SliceInfo]", gm=("src",))
def slices(case):
    lanes = 32 // case.dtypes[0].itemsize
    whole = ascendc.SliceInfo(0, 4 * lanes - 1, lanes, 1, 4 * lanes)
    case.call(*case.tensors, [whole], [whole], 1)


@adapter("DataCopy[NDDMA]", gm=("src",))
def multi_dimensional(case):
    loops = ascendc.NdDmaLoopInfo([1, 16], [1, 16], [16, 2], [0, 0], [0, 0])
    case.call(*case.tensors, ascendc.NdDmaParams(loops, 0))


@adapter("DataCacheCleanAndInvalid", gm=("dst",))
def clean_cache(case):
    line = CacheLine.SINGLE_CACHE_LINE if case.form == "line" else CacheLine.ENTIRE_DATA_CACHE
    case.call(line, *case.tensors)


@adapter("AtomicAdd", "AtomicMax", "AtomicMin", "AtomicExch", gm=("address",))
def atomic(case):
    case.call(case.dtypes[0], case.t.address.GetPhyAddr(), 1)


@adapter("AtomicCas", gm=("address",))
def atomic_compare(case):
    case.call(case.dtypes[0], case.t.address.GetPhyAddr(), 1, 2)


@adapter("ReadGmByPassDCache", gm=("addr",))
def read_past_cache(case):
    case.call(case.dtypes[0], case.t.addr.GetPhyAddr())


@adapter("WriteGmByPassDCache", gm=("addr",))
def write_past_cache(case):
    case.call(case.dtypes[0], case.t.addr.GetPhyAddr(), 1)


@adapter("CreateVecIndex")
def vector_index(case):
    trailing = (COUNT,) if case.form == "count" else (masked(case), REPEATS, 1, 8)
    case.call(*case.tensors, 0, *trailing)


@adapter("Arange")
def arange(case):
    case.call(*case.tensors, 0, 1, 100)


@adapter("Sort32")
def sort32(case):
    case.call(*case.tensors, case.t.offsets, REPEATS)


@adapter("MrgSort")
def merge_sort(case):
    dst, src = case.tensors
    record = 8 // case.dtypes[0].itemsize
    queues = [src[32 * record * i] for i in range(4)]
    info = ascendc.MrgSort4Info([32] * 4, False, 15, 1)
    case.call(dst, ascendc.MrgSortSrcList(*queues), info)


@adapter("Concat")
def concat(case):
    case.call(*case.tensors, case.t.src, REPEATS)


@adapter("Extract")
def extract(case):
    case.call(case.t.dstValue, case.t.offsets, case.t.sorted, REPEATS)


@adapter("Sort")
def sort(case):
    case.call(*case.tensors, case.t.offsets, case.t.concat, REPEATS)


@adapter("TransDataTo5HD")
def to_5hd(case):
    dst, src = ([tensor[i * BLOCK] for i in range(16)] for tensor in case.tensors)
    case.call(dst, src, ascendc.TransDataTo5HDParams(False, False, 1, 0, 0))


@adapter("Transpose")
def transpose(case):
    # The 16 x 16 tile is for 16-bit types that are no bfloat16_t.
    if case.form == "tile" and case.dtypes[0].name in ("int16_t", "uint16_t", "half"):
        case.call(*case.tensors)
    else:
        kind = ascendc.TransposeType.TRANSPOSE_NCHW2NHWC
        work = case.t.offsets.ReinterpretCast(ascendc.uint8_t)
        case.call(*case.tensors, work, ascendc.TransposeParamsExt(1, 3, 4, 8, kind))


@adapter("Broadcast")
def broadcast(case):
    case.call(*case.tensors, (16, 32), (16, 1), case.t.offsets.ReinterpretCast(ascendc.uint8_t))


@adapter("ClampMax", "ClampMin")
def clamp(case):
    case.call(*case.tensors, 1, COUNT)
