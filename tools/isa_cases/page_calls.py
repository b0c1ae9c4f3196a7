"""How an example of a reference page becomes calls of a kernel.

Element-wise calls share one adapter that reads the example's operand names and arguments; calls of
another shape have an adapter of their own, here and in ``page_moves``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.ascendc import (
    CMPMODE,
    MASK_PLACEHOLDER,
    SELMODE,
    BinaryRepeatParams,
    RoundMode,
    UnaryRepeatParams,
)
from simulator.dtypes import BY_NAME, DType, as_dtype
from simulator.enums import ReduceOrder
from simulator.errors import UnsupportedError
from tools.isa_cases.arrays import unfold
from tools.isa_cases.calls import api, struct, with_template
from tools.isa_cases.probe import PLATFORM_OF_ARCH, Filled, Probe, run_probe
from tools.isa_cases.tokens import to_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Example = Mapping[str, Any]

SCRATCH: Final = 4096
"""Elements of the work tensor that reductions get."""


@dataclass
class Outcome:
    """Values that an example left behind, by the names of its expected results.

    ``stray`` lists writes into ranges that the call must leave alone.
    """

    values: dict[str, Any]
    stray: list[str] = field(default_factory=list)


@dataclass
class Setup:
    """An example with its arrays unfolded: tensors of the kernel, and its arguments."""

    example: Example
    arch: str
    tensors: dict[str, Filled]
    params: Mapping[str, Any]
    gm: dict[str, Filled] = field(default_factory=dict)
    blocks: int = 1

    def dtype(self, name: str) -> DType:
        """Element type of an operand of the example."""
        return BY_NAME[self.example["dtypes"][name]]

    def run(self, body: Callable[[Any], Any]) -> Probe:
        """Run the calls and return what they left."""
        return run_probe(
            body,
            self.tensors,
            gm=self.gm,
            platform=PLATFORM_OF_ARCH[self.arch],
            blocks=self.blocks,
        )


def prepare(example: Example, arch: str) -> Setup:
    """Unfold the arrays of an example into tensors; ``dst`` gets its initial content."""
    types = {n: BY_NAME[t] for n, t in example["dtypes"].items() if t in BY_NAME}
    arrays = {name: unfold(value) for name, value in example["inputs"].items()}
    tensors: dict[str, Filled] = {}
    for name, dtype in types.items():
        if name == "scalar":
            continue
        if name.startswith("dst"):
            tensors[name] = _destination(example, name, dtype, arrays)
        elif name in arrays:
            tensors[name] = _tensor(dtype, arrays[name])
    return Setup(example, arch, tensors, example["params"])


def _tensor(dtype: DType, values: list[Any]) -> Filled:
    return Filled(dtype, to_storage([_as(dtype, v) for v in values], dtype))


def _as(dtype: DType, value: Any) -> int | float:
    return float(value) if dtype.kind in "fc" else int(value)


def _destination(example: Example, name: str, dtype: DType, arrays: dict[str, list[Any]]) -> Filled:
    """Initial content of a destination, long enough for all that is expected of it."""
    initial = arrays.get(f"{name}_init")
    if initial is not None:
        return _tensor(dtype, initial)
    expected = example["expected"]
    sizes = [len(unfold(v)) for n, v in expected.items() if n.startswith(name)]
    sizes += [stop for _, stop in example.get("unwritten", [])]
    sizes += [stop for _, stop in example.get("undefined", [])]
    sizes += [example["params"].get("count", 0)]
    wanted = -(-max(sizes, default=0) // 32) * 32 * (2 if "pairs" in str(list(expected)) else 1)
    storage = np.dtype(dtype.numpy)
    nbytes = dtype.bytes_for(max(wanted, 32))
    raw = np.full(-(-nbytes // storage.itemsize) * storage.itemsize, 0xA5, np.uint8)
    return Filled(dtype, raw.view(storage))


def mask_of(params: Mapping[str, Any]) -> Any:
    """Return a mask argument: a number of lanes, or words with the low one first."""
    mask = params["mask"]
    return [int(word, 16) for word in mask] if isinstance(mask, list) else mask


def repeat_params(params: Mapping[str, Any]) -> Any:
    """Return the strides of an element-wise call."""
    strides = (*params["blkStrides"], *params["repStrides"])
    return BinaryRepeatParams(*strides) if len(strides) == 6 else UnaryRepeatParams(*strides)


def set_mask_state(params: Mapping[str, Any]) -> None:
    """Issue the mask calls that come before the call of an example."""
    if params.get("maskMode") == "COUNTER":
        api("SetMaskCount")()
    register = params.get("maskRegister")
    if register is None:
        return
    set_mask = api("SetVectorMask")
    if isinstance(register, list):
        low, high = (int(word, 16) for word in register)
        set_mask(high, low)
    else:
        set_mask(register)


def form_arguments(params: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what follows the operands: a count, or mask, repeats and strides."""
    options = {} if params.get("isSetMask", "maskRegister" not in params) else {"isSetMask": False}
    if "repeatTime" in params:
        mask = mask_of(params) if "mask" in params else MASK_PLACEHOLDER
        return (mask, params["repeatTime"], repeat_params(params)), options
    return (params["count"],), options


def results(setup: Setup, done: Probe) -> Outcome:
    """Return the destinations of an example and the stray writes."""
    example = setup.example
    values: dict[str, Any] = {}
    for name in example["expected"]:
        if name in done.places or name in done.gm:
            values[name] = done[name]
        elif name == "dst_bytes_int8":
            values[name] = done["dst"].view(np.int8)
    stray = []
    if "dst" in done.places and example.get("unwritten"):
        start, _ = done.places["dst"]
        bits = setup.dtype("dst").bits
        for first, stop in example["unwritten"]:
            place = slice(start + first * bits // 8, start + stop * bits // 8)
            if not np.array_equal(done.before[place], done.after[place]):
                stray.append(f"dst[{first}:{stop}] must stay as it was")
    return Outcome(values, stray)


def _sources(setup: Setup) -> list[str]:
    return [n for n in setup.example["dtypes"] if n.startswith("src")]


def elementwise(setup: Setup) -> Outcome:
    """Run a call whose operands are its tensors in order, with a scalar where the example says."""
    params = setup.params
    trailing, options = form_arguments(params)
    scalars = _scalar_arguments(setup)

    def body(t: Any) -> None:
        set_mask_state(params)
        if "deqScale" in params:
            api("SetDeqScale")(params["deqScale"])
        function = api(setup.example["api"])
        dst = [getattr(t, n) for n in setup.example["dtypes"] if n.startswith("dst")]
        sources = [getattr(t, n) for n in _sources(setup)]
        operands = (
            scalars + sources if params.get("scalarPosition") == "first" else sources + scalars
        )
        if "scalarPosition" in params and not scalars:
            options["config"] = struct("BinaryConfig")(int(params["scalarPosition"] != "first"))
        arguments = (*dst, *operands, *trailing)
        if "roundMode" in params and setup.example["api"] == "Truncate":
            with_template(function, arguments, roundMode=RoundMode[params["roundMode"]])
        else:
            function(*arguments, **options)

    return results(setup, setup.run(body))


def _scalar_arguments(setup: Setup) -> list[Any]:
    params = setup.params
    extra: list[Any] = []
    if "scalar" in params:
        extra.append(params["scalar"])
    if "roundMode" in params and setup.example["api"] == "Cast":
        extra.append(RoundMode[params["roundMode"]])
    if "cmpMode" in params:
        extra.append(CMPMODE[params["cmpMode"]])
    return extra


def _compare(setup: Setup) -> Outcome:
    """Compare and GetCmpMask: to a tensor, or to the CMPMASK register and from there to one."""
    params = setup.params
    if "repeatTime" in params or "count" in params:
        return elementwise(setup)
    if "dst" not in setup.tensors:
        setup.tensors["cmpmask_bytes"] = Filled("uint8_t", np.zeros(32, np.uint8))
    target = "dst" if "dst" in setup.tensors else "cmpmask_bytes"
    strides = {"blkStrides": [1, 1, 1], "repStrides": [8, 8, 8], **params}

    def body(t: Any) -> None:
        compare = api("Compare")
        compare(t.src0, t.src1, CMPMODE[params["cmpMode"]], mask_of(params), repeat_params(strides))
        api("GetCmpMask")(getattr(t, target))

    return results(setup, setup.run(body))


def _select(setup: Setup) -> Outcome:
    params = setup.params
    trailing, _ = form_arguments(params)
    mode = SELMODE[params["selMode"]]

    def body(t: Any) -> None:
        other = (params["scalar"],) if "src1" not in setup.tensors else (t.src1,)
        api("Select")(t.dst, t.selMask, t.src0, *other, mode, *trailing)

    return results(setup, setup.run(body))


_CALL: Final = re.compile(r"(\w+)\(([^)]*)\)")


def _chain(setup: Setup) -> Outcome:
    """Several calls one after another with the arguments of the example."""
    params = setup.params
    trailing, options = form_arguments(params)

    def body(t: Any) -> None:
        set_mask_state(params)
        for text in params["calls"]:
            found = _CALL.fullmatch(text.replace(" ", ""))
            if found is None:
                raise UnsupportedError(f"{text} is no call", got=text)
            operands = [getattr(t, name) for name in found[2].split(",")]
            api(found[1])(*operands, *trailing, **options)

    return results(setup, setup.run(body))


def _cast_dequant(setup: Setup) -> Outcome:
    params = setup.params
    trailing, options = form_arguments(params)
    scale, offset = params["deqScale"], params.get("offset", 0)
    signed = setup.dtype("dst").name == "int8_t"
    if params.get("isVecDeq"):
        setup.tensors["vdeq"] = Filled("uint64_t", np.zeros(16, np.uint64))

    def body(t: Any) -> None:
        if t.src.dtype.name == "int32_t":
            api("SetDeqScale")(scale)
        elif params.get("isVecDeq"):
            sets = api("VdeqInfo")([scale] * 16, [offset] * 16, [signed] * 16)
            api("SetDeqScale")(t.vdeq, sets)
        else:
            api("SetDeqScale")(scale, offset, signed)
        template = {n: params[n] for n in ("isVecDeq", "halfBlock") if n in params}
        with_template(api("CastDequant"), (t.dst, t.src, *trailing), **template, **options)

    return results(setup, setup.run(body))


def _whole_reduction(setup: Setup) -> Outcome:
    """ReduceSum, ReduceMax, ReduceMin, and the register that a ReduceSum leaves."""
    params = setup.params
    setup.tensors["work"] = Filled(setup.dtype("src"), np.zeros(SCRATCH, setup.dtype("src").numpy))
    setup.tensors.setdefault(
        "dst", Filled(setup.dtype("src"), np.zeros(32, setup.dtype("src").numpy))
    )
    name = setup.example["api"]
    index = (params["calIndex"],) if "calIndex" in params else ()

    def body(t: Any) -> Any:
        function = api("ReduceSum" if name.startswith("GetReduce") else name)
        if "repeatTime" in params:
            trailing: tuple[Any, ...] = (
                mask_of(params),
                params["repeatTime"],
                params["srcRepStride"],
            )
        else:
            trailing = (params["count"],)
        function(t.dst, t.src, t.work, *trailing, *index)
        return api(name)(as_dtype(t.src.dtype)) if name.startswith("GetReduce") else None

    done = setup.run(body)
    outcome = results(setup, done)
    if "register" in setup.example["expected"]:
        outcome.values["register"] = np.atleast_1d(np.float64(done.returned))
    return outcome


def _repeat_reduction(setup: Setup) -> Outcome:
    """ReduceRepeat, ReduceDataBlock, ReducePairElem with the kind as template argument."""
    params = setup.params

    def body(t: Any) -> None:
        function = api(setup.example["api"])
        kind = next(k for k in struct("ReduceType") if k.name.endswith(params["reduceType"]))
        order = (ReduceOrder[params["order"]],) if "order" in params else ()
        function(
            kind, t.dst, t.src, mask_of(params), params["repeatTime"], params["dstRepStride"],
            params["srcBlkStride"], params["srcRepStride"], *order,
        )  # fmt: skip

    return results(setup, setup.run(body))


def _scalar_call(setup: Setup) -> Outcome:
    """Bit counting of scalar values; a second input is the template argument."""
    names = {
        "GetBitCount": "ScalarGetCountOfValue",
        "CountLeadingZero": "ScalarCountLeadingZero",
        "GetSFFValue": "ScalarGetSFFValue",
    }
    name = str(setup.example["api"])
    inputs = {n: unfold(v) for n, v in setup.example["inputs"].items()}
    templates: list[Any] = inputs.get("template", [None] * len(inputs["value"]))

    def body(_: Any) -> list[int]:
        function = api(name, names.get(name, name))
        return [
            int(function(value) if which is None else function(which, value))
            for value, which in zip(inputs["value"], templates, strict=True)
        ]

    setup.tensors.clear()
    setup.tensors["unused"] = Filled("uint8_t", np.zeros(32, np.uint8))
    return Outcome({"ret": np.array(setup.run(body).returned)})


ADAPTERS: Final[dict[str, Callable[[Setup], Outcome]]] = {
    "Compare": _compare,
    "GetCmpMask": _compare,
    "Select": _select,
    "Add,Sub,Mul": _chain,
    "CastDequant": _cast_dequant,
    "ReduceSum": _whole_reduction,
    "ReduceMax": _whole_reduction,
    "ReduceMin": _whole_reduction,
    "GetReduceRepeatSumSpr": _whole_reduction,
    "ReduceRepeat": _repeat_reduction,
    "ReduceDataBlock": _repeat_reduction,
    "ReducePairElem": _repeat_reduction,
    "GetBitCount": _scalar_call,
    "CountLeadingZero": _scalar_call,
    "GetSFFValue": _scalar_call,
    "CountBitsCntSameAsSignBit": _scalar_call,
}
