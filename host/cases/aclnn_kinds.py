"""Cases of the two phases of an aclnn call: which status comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from host import acl, rt
from host.aclnn import OUT
from host.cases.binding import binding_of
from host.cases.runner import CaseUnsupportedError, Outcome, case_kind, compare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.cases.binding import OperatorBinding

_COMPARED = ("status", "status_name", "workspace_size")


@case_kind("aclnn_check")
def aclnn_check(case: Mapping[str, Any]) -> Outcome:
    """Status of phase 1, and the workspace size where it is stated."""
    given = case["input"]
    binding = binding_of(case)
    if given["api"] != f"{binding.api}GetWorkspaceSize":
        raise CaseUnsupportedError(given["api"])
    with acl.Runtime(given["soc"]):
        acl.init()
        rt.set_device(0)
        args = [_tensor(name, given["args"].get(name)) for name in binding.parameters]
        status, size, _ = binding.plan(
            *args,
            None if given.get("workspaceSize_is_null") else OUT,
            None if given.get("executor_is_null") else OUT,
        )
        return _outcome(case, status, size)


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
    expected = {k: v for k, v in case["expect"].items() if k in _COMPARED}
    if not expected:
        raise CaseUnsupportedError("an expectation in words")
    return Outcome(got, compare(expected, got))
