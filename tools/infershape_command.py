"""``ascsim infershape``: output shapes and data types of an operator, as graph mode infers them."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError
from tools.console import print_json, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.datatypes import DataType

OK: Final = 0
FAILED: Final = 1

DEFAULT_DTYPE: Final = "float16"


def infershape(name: str, shapes: Sequence[str], dtypes: Sequence[str], *, as_json: bool) -> int:
    """Print what an operator type infers from its input shapes; return the exit code.

    Parameters
    ----------
    name : str
        Operator type (``MaxPoolingGrad``) or the name of an operator that ``ascsim run`` knows.
    shapes, dtypes : sequence of str
        One for all inputs, or one for each. A size may be -1 (unknown), a shape -2 (unknown rank).

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    from host.datatypes import as_data_type
    from host.errors import InferShapeError
    from host.infershape import infer
    from host.registry import op_def
    from tools.options import parse_dtype

    op_type = _op_type(name)
    definition = op_def(op_type)
    names = [param.name for param in definition.inputs]
    given = [_parse(text) for text in _one_each(shapes, names, "--shape")]
    types = [
        as_data_type(parse_dtype(text))
        for text in _one_each(dtypes or [DEFAULT_DTYPE], names, "--dtype")
    ]
    inputs = dict(zip(names, zip(given, types, strict=True), strict=True))
    result: dict[str, Any] = {
        "op_type": op_type,
        "inputs": {key: _plain(*value) for key, value in inputs.items()},
    }
    try:
        outputs = infer(op_type, given, types)
    except InferShapeError as error:
        result |= {"graph_status": "GRAPH_FAILED", "reason": error.message, "outputs": {}}
    else:
        named = zip((param.name for param in definition.outputs), outputs, strict=True)
        result |= {
            "graph_status": "GRAPH_SUCCESS",
            "outputs": {key: _plain(*value) for key, value in named},
        }
    if as_json:
        print_json(result)
    else:
        _print(result)
    return OK if result["graph_status"] == "GRAPH_SUCCESS" else FAILED


def _op_type(name: str) -> str:
    from host.registry import op_types
    from tools.operators import OPERATORS

    known = op_types()
    if name in known:
        return name
    if name in OPERATORS and OPERATORS[name].op_type:
        return OPERATORS[name].op_type
    names = [*known, *(key for key, operator in OPERATORS.items() if operator.op_type)]
    alike = difflib.get_close_matches(name, names, n=2)
    raise ConfigError(
        f"there is no operator type {name!r}",
        legal=", ".join(names),
        fix=f"did you mean {' or '.join(alike)}?" if alike else None,
    )


def _one_each(texts: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    if len(texts) == 1:
        return list(texts) * len(names)
    if len(texts) != len(names):
        raise ConfigError(
            f"{option} is given {len(texts)} times, the operator has {len(names)} inputs",
            legal=f"once for all, or once for each of {', '.join(names)}",
        )
    return list(texts)


def _parse(text: str) -> tuple[int, ...]:
    plain = text.strip().strip("[]()")
    if plain.lower() in ("", "scalar"):
        return ()
    sizes = re.split(r",|(?<=[0-9])x(?=[0-9-])", plain)
    if not all(re.fullmatch(r"\s*(-[12]|[0-9]+)\s*", size) for size in sizes):
        raise ConfigError(
            f"{text!r} is not a shape",
            legal="sizes separated by commas, -1 for an unknown one; -2 alone for an unknown rank",
        )
    shape = tuple(int(size) for size in sizes)
    if -2 in shape and len(shape) > 1:
        raise ConfigError(f"{text!r} is not a shape: -2 stands alone for an unknown rank")
    return shape


def _plain(shape: Sequence[int], dtype: DataType) -> dict[str, Any]:
    return {"shape": list(shape), "dtype": str(dtype.numpy)}


def _print(result: dict[str, Any]) -> None:
    from rich.console import Group
    from rich.text import Text

    from tools.report import facts, title

    failed = result["graph_status"] != "GRAPH_SUCCESS"
    rows: list[tuple[str, str | Text]] = [
        (key, f"{value['dtype']}{value['shape']}") for key, value in result["inputs"].items()
    ]
    rows.append(("status", Text(result["graph_status"], style="bad" if failed else "ok")))
    if failed:
        rows.append(("reason", result["reason"]))
    rows += [(key, f"{v['dtype']}{v['shape']}") for key, v in result["outputs"].items()]
    show(Group(title(f"infershape of {result['op_type']}"), facts(rows)))
