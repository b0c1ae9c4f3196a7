"""aclnnMaxPoolingGrad: the generated call, its order of checks, its executors and its faults."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from host import acl, registry, rt
from host.cases import run_case
from host.max_pooling_grad.api import aclnn_max_pooling_grad as launch
from host.max_pooling_grad.api import aclnn_max_pooling_grad_get_workspace_size as plan
from host.tensor import Tensor

LIBRARY_WORKSPACE = 16 * 2**20
CASES = Path(__file__).parents[2] / "data" / "ops_cases" / "max_pooling_grad.json"


def published_cases():
    return json.loads(CASES.read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", published_cases(), ids=lambda case: case["id"])
def test_published_case_holds(case):
    assert run_case(case).message == ""


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("mpg-hazard-054", lambda e: e["unwritten_flat_indices"].pop()),
        ("mpg-hazard-065", lambda e: e.update(rule="datacopy_count_not_32B")),
        ("mpg-kernel-067", lambda e: e.update(dx_padding="elements 48..127 were written")),
        ("mpg-aclnn_check-082", lambda e: e.update(status=0)),
        ("mpg-aclnn_check-082", lambda e: e.update(source_status=161002)),
        ("mpg-aclnn_check-089", lambda e: e.update(phase2_source_status=0)),
        ("mpg-numeric-096", lambda e: e["formula_dx"]["bits"].__setitem__(0, "0x00000000")),
        ("mpg-core_split-052", lambda e: e["cores"][0].update(tail=0)),
    ],
)
def test_a_wrong_expectation_is_noticed(name, spoil):
    (case,) = (c for c in published_cases() if c["id"] == name)
    spoil(case["expect"])
    assert not run_case(case).passed


def tensor(shape=(2, 3), dtype="float32", **more):
    return Tensor(shape, dtype, **more)


def four(**changes):
    return {name: tensor() for name in ("dy", "x", "y", "dx")} | changes


@pytest.mark.parametrize(
    ("args", "argument", "status"),
    [
        # Everything is wrong at once: the first check decides.
        (four(dy=None, x=None, dx=tensor(dtype="int8")), "dy", 161001),
        (four(x=None, y=None, dy=tensor(dtype="int8")), "x", 161001),
        (four(y=None, dx=None), "y", 161001),
        (four(dx=None, dy=tensor(dtype="int8")), "dx", 161001),
        (four(dy=tensor(dtype="bfloat16")), "dy", 161002),
        (four(x=tensor(dtype="float16")), "x", 161002),
        (four(dx=tensor(dtype="float16")), "dx", 161002),
        (four(y=tensor(format="NCHW")), "y", 161002),
    ],
)
def test_the_first_failing_check_decides(runtime, args, argument, status):
    assert plan(**args)[:2] == (status, 0)
    assert runtime.last_error.argument == argument
    text = acl.get_recent_err_msg()
    assert text.startswith("[host.aclnn] aclnnMaxPoolingGradGetWorkspaceSize: ")


def test_out_pointers_are_tested_after_the_tensors_and_before_the_column(runtime):
    wrong = four(dy=tensor(dtype="int8"))
    assert plan(**four(dx=None), executor=None)[0] == 161001
    assert runtime.last_error.argument == "dx"
    for null in ("executor", "workspace_size"):
        assert plan(**wrong, **{null: None})[0] == 161001
    assert runtime.last_error.argument == "workspaceSize"
    assert plan(**wrong)[0] == 161002


@pytest.mark.parametrize("platform", ["910", "910_93", "950"])
def test_the_operator_is_registered_for_910b_only(platform):
    with acl.Runtime(platform):
        acl.init()
        # The SoC is tested before the data types.
        assert plan(**four(dy=tensor(dtype="int8")))[0] == 561003
        assert "ascend910b" in acl.get_recent_err_msg()


def test_float16_and_float32_are_the_two_columns(runtime):
    assert plan(**dict.fromkeys(four(), tensor(dtype="float16")))[0] == 0
    assert plan(**four())[0] == 0
    plan(**four(y=tensor(dtype="float16")))
    legal = runtime.last_error.legal
    assert legal.startswith("dy FLOAT16/ND, x FLOAT16/ND, y FLOAT16/ND, dx FLOAT16/ND or dy FLOAT/")


@pytest.mark.parametrize(
    ("args", "argument"),
    [
        (four(x=tensor((3, 2))), "x"),
        (four(y=tensor((6,))), "y"),
        (four(dx=tensor((2, 4))), "dx"),
        (dict.fromkeys(four(), tensor((1,) * 9)), "dy"),
        (dict.fromkeys(four(), tensor(())), "dy"),
    ],
)
def test_shape_and_rank_are_checked_by_the_document_only(runtime, args, argument):
    assert plan(**args)[0] == 0
    assert plan(**args, strict="doc")[0] == 161002
    assert runtime.last_error.argument == argument
    assert "docs/aclnnMaxPoolingGrad.md" in acl.get_recent_err_msg()


def test_the_graph_is_one_launch_with_the_library_s_workspace(runtime):
    status, size, executor = plan(**four())
    assert (status, size) == (0, LIBRARY_WORKSPACE)
    assert [node.op_type for node in executor.nodes] == ["MaxPoolingGrad"]
    assert "kernel max_pooling_grad" in executor.graph()


def test_the_document_s_strided_tensors_are_copied(runtime):
    strided = tensor(strides=(1, 2))
    _, size, executor = plan(**dict.fromkeys(four(), strided), strict="doc")
    ops = [node.op_type for node in executor.nodes if node.tiling is not None]
    assert ops == ["Contiguous", "Contiguous", "Contiguous", "MaxPoolingGrad", "ViewCopy"]
    assert size == LIBRARY_WORKSPACE + 4 * 512


def test_empty_tensors_need_no_launch(runtime):
    status, size, executor = plan(**dict.fromkeys(four(), tensor((4, 0))))
    assert (status, size, executor.nodes) == (0, 0, [])
    _, stream = rt.create_stream()
    assert launch(None, 0, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    assert executor.runs == []


def test_an_unknown_variant_is_refused(runtime):
    assert plan(**four(), variant="newest")[0] == 161002
    assert runtime.last_error.argument == "variant"


# -- phase 2 -----------------------------------------------------------------------------------


def uploaded(dtype=np.float32, count=64, **changes):
    ramp = np.arange(count, dtype=dtype)
    arrays = {"dy": ramp + 1, "x": ramp, "y": ramp, "dx": np.full(count, 7, dtype)}
    return {name: Tensor.from_numpy(a, name=name) for name, a in (arrays | changes).items()}


def run(tensors, **options):
    """Plan and launch; returns the statuses of phase 2 and synchronise, and the executor."""
    _, stream = rt.create_stream()
    status, size, executor = plan(**tensors, **options)
    assert status == 0
    _, workspace = rt.malloc(size)
    status = launch(workspace, size, executor, stream)
    return status, rt.synchronize_stream(stream) if status == 0 else None, executor


def test_statuses_of_phase_two(runtime):
    _, stream = rt.create_stream()
    _, size, executor = plan(**uploaded())
    _, workspace = rt.malloc(size)
    assert launch(workspace, size, None, stream) == 161001
    assert launch(None, size, executor, stream) == 161001
    assert launch(workspace, size - 1, executor, stream) == 161002
    assert launch(workspace, size, executor, stream) == 0
    with pytest.warns(acl.HostProgramWarning, match="used up"):
        assert launch(workspace, size, executor, stream) == 561000


@pytest.mark.parametrize("name", ["dy", "x", "y"])
def test_a_strided_input_fails_in_phase_two(runtime, name):
    tensors = uploaded(**{name: np.arange(128, dtype=np.float32)[::2]})
    assert run(tensors)[:2] == (561000, None)
    assert runtime.last_error.argument == name


def test_the_document_s_strided_input_and_output_work(runtime):
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    storage = np.full((3, 2), -7, np.float32)
    tensors = uploaded(dy=grid + 1, x=grid.T.copy().T, y=grid, dx=storage.T)
    assert run(tensors, strict="doc", variant="fixed")[:2] == (0, 0)
    np.testing.assert_array_equal(tensors["dx"].to_numpy(), grid + 1)


def test_strides_of_the_output_are_not_looked_at(runtime):
    storage = np.full(130, -7, np.float32)
    tensors = uploaded()
    tensors["dx"] = Tensor.from_numpy(storage, view_shape=(64,), strides=(2,), offset=1)
    assert run(tensors)[:2] == (0, 0)
    whole = Tensor((130,), "float32", data=tensors["dx"].data).to_numpy()
    expected = storage.copy()
    expected[1:65] = np.arange(64) + 1
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize(
    ("name", "status"), [("x", 507044), ("y", 507044), ("dx", 507045)], ids=["x", "y", "dx"]
)
def test_a_tensor_smaller_than_dy_is_left_at_its_end(runtime, name, status):
    tensors = uploaded(**{name: np.zeros(32, np.float32)})
    assert run(tensors)[:2] == (0, status)


def test_the_published_kernel_does_not_write_what_is_no_whole_block(runtime):
    tensors = uploaded(np.float16, 50)
    assert run(tensors)[:2] == (0, 0)
    expected = np.r_[np.arange(48) + 1, 7, 7].astype(np.float16)
    np.testing.assert_array_equal(tensors["dx"].to_numpy(), expected)


def test_the_published_kernel_s_float_selector_is_a_finding(runtime):
    plan(**four())
    (finding,) = runtime.findings
    assert (finding.code, finding.severity) == ("host.selector_type", "warning")
    assert finding.details["got"] == "float"
    runtime.findings.clear()
    plan(**dict.fromkeys(four(), tensor(dtype="float16")))
    plan(**four(), variant="fixed")
    assert runtime.findings == []


# -- kept executors ----------------------------------------------------------------------------


@pytest.fixture
def tilings(monkeypatch):
    """Count how often tiling runs."""
    calls = []
    impl = registry.tiling_impl("MaxPoolingGrad", "arch22")

    def counted(context):
        calls.append(context)
        return impl.tiling(context)

    counting = registry.TilingImpl(counted, impl.tiling_parse)
    monkeypatch.setitem(registry._TILING, ("MaxPoolingGrad", "arch22"), counting)
    return calls


def test_equal_arguments_get_the_kept_executor_on_the_new_addresses(runtime, tilings):
    first, second = uploaded(), uploaded(dy=np.full(64, 3, np.float32))
    _, _, one = run(first)
    status, synchronised, two = run(second)
    assert (status, synchronised) == (0, 0)
    assert two is one
    assert len(tilings) == 1
    np.testing.assert_array_equal(second["dx"].to_numpy(), np.full(64, 3, np.float32))
    np.testing.assert_array_equal(first["dx"].to_numpy(), np.arange(64) + 1)


def test_other_arguments_get_another_executor(runtime, tilings):
    plans = [
        plan(**four())[2],
        plan(**dict.fromkeys(four(), tensor((3, 2))))[2],
        plan(**dict.fromkeys(four(), tensor(dtype="float16")))[2],
        plan(**four(x=tensor(strides=(1, 2))))[2],
        plan(**four(), variant="fixed")[2],
    ]
    assert len({id(executor) for executor in plans}) == len(tilings) == 5


def test_an_executor_whose_run_is_pending_is_not_taken_again(runtime):
    first, second = uploaded(), uploaded(dy=np.full(64, 3, np.float32))
    _, stream = rt.create_stream()
    _, size, one = plan(**first)
    _, workspace = rt.malloc(size)
    launch(workspace, size, one, stream)
    _, _, two = plan(**second)
    assert two is not one
    launch(workspace, size, two, stream)
    assert rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(first["dx"].to_numpy(), np.arange(64) + 1)
    np.testing.assert_array_equal(second["dx"].to_numpy(), np.full(64, 3, np.float32))
