"""Adapters of the page examples that move, gather, fill, sort or rearrange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator import enums
from simulator.ascendc import (
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    DataCopyParams,
)
from simulator.errors import UnsupportedError
from tools.isa_cases.arrays import unfold
from tools.isa_cases.calls import api, struct
from tools.isa_cases.page_calls import Outcome, Setup, mask_of, results
from tools.isa_cases.probe import Filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _fill_form(params: Mapping[str, Any]) -> tuple[Any, ...]:
    if "repeatTime" in params:
        return mask_of(params), params["repeatTime"], params["dstBlkStride"], params["dstRepStride"]
    return (params["count"],)


def _duplicate(setup: Setup) -> Outcome:
    def body(t: Any) -> None:
        value = t.src if "src" in setup.tensors else setup.params["scalar"]
        api("Duplicate")(t.dst, value, *_fill_form(setup.params))

    return results(setup, setup.run(body))


def _vec_index(setup: Setup) -> Outcome:
    def body(t: Any) -> None:
        api("CreateVecIndex")(t.dst, setup.params["firstValue"], *_fill_form(setup.params))

    return results(setup, setup.run(body))


def _brcb(setup: Setup) -> Outcome:
    params = setup.params

    def body(t: Any) -> None:
        strides = struct("BrcbRepeatParams")(params["dstBlkStride"], params["dstRepStride"])
        api("Brcb")(t.dst, t.src, params["repeatTime"], strides)

    return results(setup, setup.run(body))


def _indexed(setup: Setup) -> Outcome:
    """Gather and Scatter: offsets in bytes and a base."""
    params = setup.params
    offsets, base = (
        ("srcOffset", "srcBaseAddr")
        if "srcOffset" in setup.tensors or "srcOffset" in setup.example["inputs"]
        else ("dstOffset", "dstBaseAddr")
    )
    if offsets == "dstOffset":
        values = unfold(setup.example["inputs"]["dstOffset"])
        setup.tensors["dstOffset"] = Filled("uint32_t", np.array(values, np.uint32))

    def body(t: Any) -> None:
        if "repeatTime" in params:
            stride = params["dstRepStride" if offsets == "srcOffset" else "srcRepStride"]
            trailing: tuple[Any, ...] = (mask_of(params), params["repeatTime"], stride)
        else:
            trailing = (params["count"],)
        api(setup.example["api"])(t.dst, t.src, getattr(t, offsets), params[base], *trailing)

    return results(setup, setup.run(body))


def _gatherb(setup: Setup) -> Outcome:
    params = setup.params

    def body(t: Any) -> None:
        strides = struct("GatherRepeatParams")(params["dstBlkStride"], params["dstRepStride"])
        api("Gatherb")(t.dst, t.src, t.offset, params["repeatTime"], strides)

    return results(setup, setup.run(body))


def _gather_mask(setup: Setup) -> Outcome:
    params = setup.params

    def body(t: Any) -> Any:
        pattern = t.src1 if "src1" in setup.tensors else params["src1Pattern"]
        strides = struct("GatherMaskParams")(
            params["src0BlockStride"], params["repeatTimes"],
            params["src0RepeatStride"], params["src1RepeatStride"],
        )  # fmt: skip
        return api("GatherMask")(
            t.dst, t.src0, pattern, params["reduceMode"], params["mask"], strides
        )

    done = setup.run(body)
    outcome = results(setup, done)
    outcome.values["rsvdCnt"] = np.atleast_1d(done.returned)
    return outcome


def _copy(setup: Setup) -> Outcome:
    params = setup.params

    def body(t: Any) -> None:
        if "count" in params:
            api("Copy")(t.dst, t.src, params["count"])
            return
        names = ("dstStride", "srcStride", "dstRepeatSize", "srcRepeatSize")
        strides = struct("CopyRepeatParams")(*(params[n] for n in names))
        api("Copy")(t.dst, t.src, mask_of(params), params["repeatTime"], strides)

    return results(setup, setup.run(body))


def _to_global(setup: Setup, *names: str) -> None:
    for name in names:
        setup.gm[name] = setup.tensors.pop(name)


def _data_copy(setup: Setup) -> Outcome:
    """DataCopy in the form that the example's arguments belong to."""
    params, form = setup.params, setup.example["form"]
    if "->GM" in form:
        _to_global(setup, "dst")
    elif "GM->" in form:
        _to_global(setup, "src")

    def body(t: Any) -> None:
        DataCopy(t.dst, t.src, *_copy_arguments(params))

    return results(setup, setup.run(body))


def _copy_arguments(params: Mapping[str, Any]) -> tuple[Any, ...]:
    if "count" in params:
        return (params["count"],)
    if "srcSliceInfo" in params:
        info = struct("SliceInfo")
        slices = [[info(*part) for part in params[n]] for n in ("dstSliceInfo", "srcSliceInfo")]
        return (*slices, params["dimValue"])
    if "nValue" in params:
        matrix = (
            "ndNum", "nValue", "dValue", "srcNdMatrixStride", "srcDValue", "dstNzC0Stride",
            "dstNzNStride", "dstNzMatrixStride",
        )  # fmt: skip
        return (struct("Nd2NzParams")(*(params[f] for f in matrix)),)
    if "loopSize" in params:
        fields = ("loopSrcStride", "loopDstStride", "loopSize", "loopLpSize", "loopRpSize")
        loops = struct("NdDmaLoopInfo")(*(params[f] for f in fields))
        return (struct("NdDmaParams")(loops, params["constantValue"]),)
    gaps = [
        params.get(a, params.get(b, 0))
        for a, b in (("srcGap", "srcStride"), ("dstGap", "dstStride"))
    ]
    return (DataCopyParams(params["blockCount"], params["blockLen"], *gaps),)


def _data_copy_pad(setup: Setup) -> Outcome:
    params, form = setup.params, setup.example["form"]
    outward = "->GM" in form
    _to_global(setup, "dst" if outward else "src")
    bursts = DataCopyExtParams(
        params["blockCount"], params["blockLen"], params["srcStride"], params["dstStride"], 0
    )
    padding = DataCopyPadExtParams(
        params.get("isPad", False), params.get("leftPadding", 0),
        params.get("rightPadding", 0), params.get("paddingValue", 0),
    )  # fmt: skip
    mode = {"mode": enums.PaddingMode[params["mode"]]} if "mode" in params else {}

    def body(t: Any) -> None:
        direction = None
        if "loop1Size" in params:
            names = ("loop1Size", "loop2Size", "loop1SrcStride", "loop1DstStride",
                     "loop2SrcStride", "loop2DstStride")  # fmt: skip
            direction = struct("DataCopyMVType")[("UB_TO_OUT" if outward else "OUT_TO_UB")]
            api("SetLoopModePara")(struct("LoopModeParams")(*(params[n] for n in names)), direction)
        DataCopyPad(t.dst, t.src, bursts, *(() if outward else (padding,)), **mode)
        if direction is not None:
            api("ResetLoopModePara")(direction)

    return results(setup, setup.run(body))


def _pairs(setup: Setup, raw: Any) -> dict[str, Any]:
    """Split 8-byte records into scores and indices."""
    dtype = setup.dtype("dst")
    records = raw.view(np.uint8)
    records = records[: len(records) // 8 * 8].reshape(-1, 8)
    scores = np.ascontiguousarray(records[:, : dtype.itemsize]).view(dtype.numpy)
    return {
        "dst_pairs_score": scores.reshape(-1),
        "dst_pairs_index": np.ascontiguousarray(records[:, 4:]).view(np.uint32).reshape(-1),
    }


def _records(setup: Setup, scores: list[Any], index: list[Any]) -> Any:
    dtype = setup.dtype("src")
    raw = np.zeros((len(scores), 8), np.uint8)
    raw[:, : dtype.itemsize] = np.array(scores, dtype.numpy).view(np.uint8).reshape(len(scores), -1)
    raw[:, 4:] = np.array(index, np.uint32).view(np.uint8).reshape(len(scores), 4)
    return raw.reshape(-1).view(dtype.numpy)


def _sized_for_pairs(setup: Setup) -> None:
    count = len(unfold(setup.example["expected"]["dst_pairs_score"]))
    dtype = setup.dtype("dst")
    setup.tensors["dst"] = Filled(dtype, np.zeros(count * 8 // dtype.itemsize, dtype.numpy))


def _sort32(setup: Setup) -> Outcome:
    _sized_for_pairs(setup)

    def body(t: Any) -> None:
        api("Sort32")(t.dst, t.src0, t.src1, setup.params["repeatTime"])

    return Outcome(_pairs(setup, setup.run(body)["dst"]))


def _mrg_sort(setup: Setup) -> Outcome:
    params, inputs = setup.params, setup.example["inputs"]
    _sized_for_pairs(setup)
    dtype = setup.dtype("src")
    records = _records(setup, unfold(inputs["scores_per_queue"]), unfold(inputs["index"]))
    setup.tensors["src"] = Filled(dtype, records)
    per_record = 8 // dtype.itemsize

    def body(t: Any) -> None:
        queues, start = [], 0
        for length in params["elementLengths"]:
            queues.append(t.src[start * per_record])
            start += length
        info = struct("MrgSort4Info")(
            params["elementLengths"], params["ifExhaustedSuspension"], params["validBit"],
            params["repeatTimes"],
        )  # fmt: skip
        api("MrgSort")(t.dst, struct("MrgSortSrcList")(*queues), info)

    return Outcome(_pairs(setup, setup.run(body)["dst"]))


def _to_5hd(setup: Setup) -> Outcome:
    params = setup.params
    step = int(params["srcBlocks"].rpartition("element ")[2].split("*")[0])
    to = int(params["dstBlocks"].rpartition("element ")[2].split("*")[0])

    def body(t: Any) -> None:
        info = struct("TransDataTo5HDParams")(
            params.get("dstHighHalf", False), params.get("srcHighHalf", False),
            params["repeatTimes"], params["dstRepStride"], params["srcRepStride"],
        )  # fmt: skip
        dst, src = [t.dst[i * to] for i in range(16)], [t.src[i * step] for i in range(16)]
        api("TransDataTo5HD")(dst, src, info)

    return results(setup, setup.run(body))


def _transpose(setup: Setup) -> Outcome:
    params = setup.params
    setup.tensors["work"] = Filled("uint8_t", np.zeros(16384, np.uint8))

    def body(t: Any) -> None:
        if "nSize" not in params:
            api("Transpose")(t.dst, t.src)
            return
        kinds = struct("TransposeType")
        wanted = params["transposeType"].replace("2", "_TO_").upper()
        kind = next((k for k in kinds if wanted in k.name.replace("2", "_TO_")), None)
        if kind is None:
            raise UnsupportedError(
                f"{wanted} is no transpose", legal=", ".join(k.name for k in kinds)
            )
        sizes = (params[n] for n in ("nSize", "cSize", "hSize", "wSize"))
        api("Transpose")(t.dst, t.src, t.work, struct("TransposeParamsExt")(*sizes, kind))

    return results(setup, setup.run(body))


def _atomic(setup: Setup) -> Outcome:
    """Every core copies its own source to the same place in global memory."""
    params, inputs = setup.params, setup.example["inputs"]
    dtype = setup.dtype("src")
    setup.blocks = params["cores"]
    for core in range(params["cores"]):
        values = unfold(inputs[f"core{core}_src"])
        setup.tensors[f"core{core}_src"] = Filled(dtype, np.array(values, dtype.numpy))
    _to_global(setup, "dst")

    def body(t: Any) -> None:
        source = getattr(t, f"core{api('GetBlockIdx')()}_src")
        api(setup.example["api"])(dtype)
        DataCopy(t.dst, source, params["count"])
        api("SetAtomicNone")()

    return results(setup, setup.run(body))


MOVES: Final[dict[str, Callable[[Setup], Outcome]]] = {
    "Duplicate": _duplicate,
    "CreateVecIndex": _vec_index,
    "Brcb": _brcb,
    "Gather": _indexed,
    "Scatter": _indexed,
    "Gatherb": _gatherb,
    "GatherMask": _gather_mask,
    "Copy": _copy,
    "DataCopy": _data_copy,
    "DataCopyPad": _data_copy_pad,
    "Sort32": _sort32,
    "MrgSort": _mrg_sort,
    "TransDataTo5HD": _to_5hd,
    "Transpose": _transpose,
    "SetAtomicAdd": _atomic,
    "SetAtomicMax": _atomic,
    "SetAtomicMin": _atomic,
}
