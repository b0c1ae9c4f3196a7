"""Cases of the two phases of an aclnn call: which status comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from host import acl, rt
from host.aclnn import OUT
from host.cases.binding import binding_of
from host.cases.runner import CaseUnsupportedError, Outcome, case_kind, compare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.cases.binding import OperatorBinding

_COMPARED: Final = ("status", "status_name", "workspace_size")
_OTHER_SIDE: Final = {"source_status": "source", "doc_status": "doc"}
"""Where document and source disagree: the key of the second status, and whose it is."""


@case_kind("aclnn_check")
def aclnn_check(case: Mapping[str, Any]) -> Outcome:
    """Status of phase 1, and the workspace size where it is stated.

    Where document and source disagree, both are asked for theirs; ``phase2_source_status`` is what
    phase 2 then returns.
    """
    given, expected = case["input"], case["expect"]
    binding = binding_of(case)
    if given["api"] != f"{binding.api}GetWorkspaceSize":
        raise CaseUnsupportedError(given["api"])
    other = next((key for key in _OTHER_SIDE if key in expected), None)
    main = {"source_status": "doc"}.get(other or "", "source")
    status, size, _ = _phase_one(given, binding, main)
    outcome = _outcome(case, status, size)
    if other is not None:
        second = _phase_one(given, binding, _OTHER_SIDE[other])[0]
        outcome = _add(outcome, expected, other, second)
    if "phase2_source_status" in expected:
        launched = _phase_one(given, binding, "source")[2]
        outcome = _add(outcome, expected, "phase2_source_status", launched)
    return outcome


def _phase_one(
    given: Mapping[str, Any], binding: OperatorBinding, side: str
) -> tuple[int, int, int | None]:
    """Run phase 1 and, after a success, phase 2; return both statuses and the workspace size."""
    # A call without a disagreement has no switch.
    options = {} if side == "source" else {"strict": side}
    with acl.Runtime(given["soc"]):
        acl.init()
        rt.set_device(0)
        args = [_tensor(name, given["args"].get(name)) for name in binding.parameters]
        status, size, executor = binding.plan(
            *args,
            None if given.get("workspaceSize_is_null") else OUT,
            None if given.get("executor_is_null") else OUT,
            **options,
        )
        if executor is None:
            return status, size, None
        workspace = rt.malloc(size)[1] if size else None
        _, stream = rt.create_stream()
        return status, size, binding.launch(workspace, size, executor, stream)


def _add(outcome: Outcome, expected: Mapping[str, Any], key: str, status: int | None) -> Outcome:
    got = {**outcome.got, key: None if status is None else int(status)}
    return Outcome(got, outcome.differences + compare({key: expected[key]}, got))


@case_kind("aclnn_phase2")
def aclnn_phase2(case: Mapping[str, Any]) -> Outcome:
    """Status of phase 2."""
    given = case["input"]
    binding = binding_of(case)
    if given["api"] != binding.api:
        raise CaseUnsupportedError(given["api"])
    with acl.Runtime(given.get("soc", "910b")):
        acl.init()
        rt.set_device(0)
        _, stream = rt.create_stream()
        executor = None if given["executor_is_null"] else _example(binding)
        size = given["workspace_size"]
        no_workspace = given.get("workspace_is_null", True) or size == 0
        workspace = None if no_workspace else rt.malloc(size)[1]
        return _outcome(case, binding.launch(workspace, size, executor, stream), None)


def _example(binding: OperatorBinding) -> Any:
    """Plan the smallest call of an operator."""
    tensors = [acl.Tensor((2, 2), "float32", name=name) for name in binding.parameters]
    return binding.plan(*tensors)[2]


def _tensor(name: str, given: Mapping[str, Any] | None) -> acl.Tensor | None:
    if given is None:
        return None
    return acl.create_tensor(
        given["shape"],
        given["dtype"],
        given.get("strides"),
        given.get("offset", 0),
        given.get("format", "ND"),
        given.get("storage_shape"),
        name=name,
    )


def _outcome(case: Mapping[str, Any], status: int, size: int | None) -> Outcome:
    got = {"status": int(status), "status_name": acl.status_name(status), "workspace_size": size}
    text = acl.get_recent_err_msg()
    if text is not None:
        got["text"] = text
    # What the source leaves undefined has a recommendation instead.
    stated = case["expect"].get("recommended", case["expect"])
    expected = {k: v for k, v in stated.items() if k in _COMPARED}
    if not expected:
        raise CaseUnsupportedError("an expectation in words")
    return Outcome(got, compare(expected, got))
