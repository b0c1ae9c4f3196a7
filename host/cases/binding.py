"""What the case runner must know of an operator; its ``cases`` module says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from host.cases.runner import CaseUnsupportedError
from host.registry import load_operators

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from host.executor import AclOpExecutor
    from host.tiling import TilingResult

    PhaseOne = Callable[..., tuple[int, int, AclOpExecutor | None]]
    PhaseTwo = Callable[..., int]
    Numeric = Callable[[Mapping[str, Any], dict[str, NDArray[Any]]], dict[str, NDArray[Any]]]
    CoreSplit = Callable[[Mapping[str, Any], int], dict[str, Any]]
    TilingExtras = Callable[[TilingResult, Mapping[str, Any]], Mapping[str, Any]]
    Observation = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class OperatorBinding:
    """How cases of one operator are run.

    Attributes
    ----------
    op : str
        Name in case files.
    op_type : str
        Operator type of cases that do not name one.
    api : str
        C name of the call, without ``GetWorkspaceSize``.
    parameters : tuple of str
        Tensor parameters of phase 1, in order.
    plan, launch : callable
        Phases 1 and 2.
    numeric : callable
        From the case input and the decoded tensors to the outputs by name.
    core_split : callable, optional
        From the case input and a block index to that block's record.
    hazard : callable, optional
        From the case input to what the record of a run says about the fault.
    kernel : callable, optional
        From the case input, with tiling data, to what the launched kernel left behind.
    tiling_extras : callable, optional
        From a tiling and the case input to what cases of this operator expect beyond the common
        values, or in their place.
    """

    op: str
    op_type: str
    api: str
    parameters: tuple[str, ...]
    plan: PhaseOne
    launch: PhaseTwo
    numeric: Numeric
    core_split: CoreSplit | None = None
    hazard: Observation | None = None
    kernel: Observation | None = None
    tiling_extras: TilingExtras = field(default=lambda result, given: {})


_BINDINGS: Final[dict[str, OperatorBinding]] = {}


def bind(binding: OperatorBinding) -> None:
    """Register a binding under its case-file name."""
    _BINDINGS[binding.op] = binding


def binding_of(case: Mapping[str, Any]) -> OperatorBinding:
    """Return the binding of the operator that a case is about.

    Raises
    ------
    CaseUnsupportedError
        If there is none.
    """
    for name in load_operators():
        module = f"host.{name}.cases"
        if find_spec(module) is not None:
            import_module(module)
    try:
        return _BINDINGS[case["op"]]
    except KeyError:
        raise CaseUnsupportedError(f"operator {case.get('op')!r}") from None
