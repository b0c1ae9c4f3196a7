"""Operators that ``ascsim run`` knows by name; a new one is one entry in :data:`OPERATORS`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError
from tools import references

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from host.op_call import OpResult
    from simulator.platforms import Platform

    Arrays = dict[str, NDArray[Any]]
    Shape = tuple[int, ...]


@dataclass(frozen=True)
class RunnableOperator:
    """One operator of :mod:`host.ops` and what is needed to try it.

    Attributes
    ----------
    name : str
        Name in :mod:`host.ops`.
    inputs : callable
        From a generator, a shape and an element type to the input arrays by name, in call order.
    outputs : tuple of str
        Names of the outputs.
    reference : callable
        From the input arrays to the outputs, independent of the simulator.
    default_shape, default_dtype
        What is run when nothing else is asked for.
    op_type : str
        Operator type whose infershape the call would use in graph mode; empty for none.
    """

    name: str
    inputs: Callable[[np.random.Generator, Shape, np.dtype[Any]], Arrays]
    outputs: tuple[str, ...]
    reference: Callable[..., tuple[NDArray[Any], ...]]
    default_shape: Shape = (1024, 1024)
    default_dtype: str = "float16"
    op_type: str = ""

    def run(self, inputs: Mapping[str, NDArray[Any]], platform: Platform) -> OpResult:
        """Run the whole host program on ``platform``."""
        from host import ops

        result: OpResult = getattr(ops, self.name).run(*inputs.values(), platform=platform)
        return result


def _hardswish_inputs(generator: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> Arrays:
    import numpy as np

    # Three standard deviations: all branches of the formula get a fair share of the elements.
    draw = {
        "grad_output": generator.standard_normal(shape),
        "self_": 3.0 * generator.standard_normal(shape),
    }
    return {name: np.asarray(values).astype(dtype) for name, values in draw.items()}


def _max_pooling_inputs(
    generator: np.random.Generator, shape: Shape, dtype: np.dtype[Any]
) -> Arrays:
    import numpy as np

    # y is x in three of four places, and above it elsewhere, as the maximum of a window is.
    x = generator.standard_normal(shape)
    above = generator.random(shape) < 0.25
    draw = {"dy": generator.standard_normal(shape), "x": x, "y": x + above}
    return {name: np.asarray(values).astype(dtype) for name, values in draw.items()}


def _prelu_inputs(generator: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> Arrays:
    import numpy as np

    # Eighths between -2 and 2, so that float holds the sums of their products exactly and the order
    # of additions does not show.
    channels = shape[1] if len(shape) > 1 else 1
    sizes = {"grad_output": shape, "self_": shape, "weight": (channels,)}
    draw = {name: generator.integers(-16, 17, size) / 8 for name, size in sizes.items()}
    return {name: np.asarray(values).astype(dtype) for name, values in draw.items()}


OPERATORS: Final = {
    operator.name: operator
    for operator in (
        RunnableOperator(
            "hardswish_backward_v2",
            _hardswish_inputs,
            ("out",),
            references.hardswish_backward_v2,
            op_type="HardSwishGradV2",
        ),
        RunnableOperator(
            "hardswish_backward",
            _hardswish_inputs,
            ("out",),
            references.hardswish_backward,
            op_type="HardSwishGrad",
        ),
        RunnableOperator(
            "max_pooling_grad",
            _max_pooling_inputs,
            ("dx",),
            references.max_pooling_grad,
            op_type="MaxPoolingGrad",
        ),
        RunnableOperator(
            "prelu_backward",
            _prelu_inputs,
            ("grad_input", "grad_weight"),
            references.prelu_backward,
            op_type="PReluGrad",
        ),
    )
}


def find_operator(name: str) -> RunnableOperator:
    """Return the operator called ``name``.

    Raises
    ------
    ConfigError
        If there is none; names operators that are spelled alike.
    """
    if name in OPERATORS:
        return OPERATORS[name]
    raise ConfigError(
        f"there is no operator {name!r}",
        legal=", ".join(OPERATORS),
        fix=_did_you_mean(_alike(name)),
    )


def unknown_target(name: str, *, saved: bool = False) -> ConfigError:
    """Return the error for a target that is neither an operator nor a script.

    ``saved`` says that the file of a saved run would have been right as well.
    """
    path = Path(name)
    if path.is_file():
        if saved:
            return ConfigError(
                f"{name!r} is neither a saved run nor a .py script",
                legal="a file that ascsim profile --save wrote, a Python script or an operator",
            )
        return ConfigError(f"{name!r} is not a .py script", legal="an operator or a Python script")
    files = {found.name: str(found) for found in path.parent.glob("*.py")}
    if saved:
        files |= {found.name: str(found) for found in path.parent.glob("*.ascrun")}
    alike = [files[match] for match in difflib.get_close_matches(path.name, files, n=2)]
    kinds = "operator, script or saved run" if saved else "operator or script"
    file = "the path of a .py script or of a saved run" if saved else "the path of a .py script"
    return ConfigError(
        f"there is no {kinds} {name!r}",
        legal=f"{', '.join(OPERATORS)}, or {file}",
        fix=_did_you_mean([*_alike(name), *alike]),
    )


def _alike(name: str) -> list[str]:
    plain = {_plain(known): known for known in OPERATORS}
    return [plain[match] for match in difflib.get_close_matches(_plain(name), plain, n=1)]


def _did_you_mean(names: list[str]) -> str | None:
    return f"did you mean {' or '.join(names)}?" if names else None


def _plain(name: str) -> str:
    """Drop what differs between the spellings of one operator: case, underscores, ``aclnn``."""
    return name.lower().replace("_", "").removeprefix("aclnn")
