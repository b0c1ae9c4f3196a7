"""Every broken host program shows its fault and no other, and its fixed twin none."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from host import rt
from host.contexts import TensorDesc, TilingContext
from host.datatypes import DataType
from host.errors import TilingError
from host.faults import codes, findings, load
from host.ops import prelu_backward
from host.platform_ascendc import PlatformInfo
from host.runtime import collect_findings
from host.status import GRAPH_SUCCESS
from host.tensor import Tensor
from host.tiling import decide
from kernels.faults import codes as kernel_codes
from simulator.errors import ConfigError
from simulator.platforms import load_platform
from simulator.sanitizer.catalog import CATALOG

FOUND = {
    # code: line at fault, what the fix has to name
    "host.executor_reused": ("return aclnn_hardswish_backward_v2(", "repeatable"),
    "host.leak_executor": (
        "_, size, executor = aclnn_hardswish_backward_v2_get_workspace_size(",
        "acl.destroy_acl_op_executor(executor)",
    ),
    "host.leak_memory": ('rt.malloc(1024, name="forgotten")', "rt.free(ptr)"),
    "host.leak_stream": ("rt.create_stream()", "rt.destroy_stream(stream)"),
    "host.leak_tensor": ("acl.create_tensor((8,)", "acl.destroy_tensor(tensor)"),
    "host.output_not_written": (
        "_, _, executor = aclnn_prelu_backward_get_workspace_size(", "fill gradWeight with zeros",
    ),
    "host.pending_tasks": ("rt.destroy_stream(stream)", "rt.synchronize_stream(stream)"),
    "host.selector_type": (
        "_, _, executor = aclnn_max_pooling_grad_get_workspace_size(",
        "declare the selector uint8_t",
    ),
    "host.tensor_destroyed_early": (
        "acl.destroy_tensor(planned.tensors[0])", "rt.synchronize_stream(stream)",
    ),
    "host.view_outside_storage": ("tensor = acl.create_tensor(", "storageDims"),
    "host.workspace_too_small": ("return aclnn_hardswish_backward_v2(", "that phase 1 returned"),
    "infer.shape": ("_, _, executor = aclnn_max_pooling_grad_get_workspace_size(", "[4, 16]"),
    "life.workspace": ("rt.free(workspace)", "rt.synchronize_stream(stream)"),
}  # fmt: skip


def test_every_pair_is_tested_and_in_the_catalogue():
    assert sorted([*FOUND, "tile.zero"]) == codes()
    assert all(code in CATALOG for code in codes())
    assert not set(codes()) & set(kernel_codes())
    with pytest.raises(ConfigError, match=r"no programs for 'race\.raw'"):
        load("race.raw")


def test_every_report_of_the_host_has_a_pair():
    assert {kind.code for kind in CATALOG.values() if kind.found == "host"} <= set(codes())


@pytest.mark.parametrize("code", FOUND)
def test_a_broken_program_has_its_finding_and_no_other(code):
    line, fix = FOUND[code]
    (finding,) = findings(load(code).broken)
    assert (finding.code, finding.severity) == (code, CATALOG[code].severity)
    assert line in linecache.getline(finding.location.file, finding.location.line)
    assert fix in finding.fix


@pytest.mark.parametrize("code", codes())
def test_a_fixed_program_has_no_finding(code):
    assert findings(load(code).fixed) == []


def test_a_tiling_function_that_divides_by_zero_is_blamed_at_its_line():
    with pytest.raises(TilingError, match="divides by a value that came out as 0") as caught:
        findings(load("tile.zero").broken)
    error = caught.value
    assert (error.check, error.status) == ("tile.zero", 561002)
    assert "-(-rows // tile)" in linecache.getline(error.location.file, error.location.line)
    assert error.got == "inputs of shape [4, 100000]"


def test_the_inputs_of_a_tiling_that_divides_by_zero_are_named():
    info = PlatformInfo.from_platform(load_platform("950"))
    desc = TensorDesc((0, 3), DataType.FLOAT)
    context = TilingContext("Own", [desc], [desc], info)
    with pytest.raises(TilingError) as caught:
        decide(lambda c: GRAPH_SUCCESS if 1 // c.inputs[0].shape[0] else 1, context)
    assert caught.value.got == "inputs of shape [0, 3]"


def test_an_inferred_shape_names_the_output_and_both_shapes(runtime):
    def rows(n, name):
        return Tensor.from_numpy(np.ones((n, 3), np.float32), name=name)

    from host.max_pooling_grad.api import aclnn_max_pooling_grad_get_workspace_size as plan

    status, *_ = plan(rows(2, "dy"), rows(2, "x"), rows(2, "y"), rows(1, "dx"), variant="fixed")
    assert status == 0
    (finding,) = runtime.findings
    assert "output dx of MaxPoolingGrad has the shape [1, 3]" in finding.message
    assert "[2, 3]" in finding.message
    assert (finding.tensor, finding.as_dict()["block"]) == ("dx", None)
    assert rt.get_soc_name() == "Ascend910B1"


@pytest.mark.parametrize("tells", [True, False])
def test_a_barrier_without_the_schedule_mode_is_a_warning(tells, monkeypatch):
    if not tells:
        monkeypatch.setattr(TilingContext, "SetScheduleMode", lambda self, mode: GRAPH_SUCCESS)
    x = np.ones((2000, 16), np.float32)
    with collect_findings() as found:
        prelu_backward(x, x, np.ones(16, np.float32))
    if tells:
        assert found == []
        return
    assert {f.code for f in found} == {"sync.schedule"}
    (finding,) = found
    assert finding.severity == "warning"
    assert "SyncAll" in linecache.getline(finding.location.file, finding.location.line)
    assert "SetScheduleMode(1)" in finding.fix
