"""aclnnPreluBackward: published cases, order of checks, executor graph, workspace, fusion pass."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from host import acl, rt
from host.cases import run_case
from host.errors import TilingError
from host.fusion import Graph, PassStatus, registered_passes, run_pass
from host.infershape import infer
from host.platform_ascendc import PlatformInfo
from host.prelu_backward.api import aclnn_prelu_backward as launch
from host.prelu_backward.api import aclnn_prelu_backward_get_workspace_size as plan
from host.tensor import Tensor
from host.tiling import tiling
from simulator.errors import ConfigError, OutOfBoundsError

ROOT = Path(__file__).parents[3]
LIBRARY_WORKSPACE = 16 * 2**20


def published_cases():
    path = ROOT / "tests" / "data" / "ops_cases" / "prelu_backward.json"
    return json.loads(path.read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", published_cases(), ids=lambda case: case["id"])
def test_published_case_holds(case):
    assert run_case(case).message == ""


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("prelu-infershape-003", lambda e: e["outputs"]["dx"].update(shape=[])),
        ("prelu-fusion-010", lambda e: e["nodes_after"].reverse()),
        ("prelu-fusion-012", lambda e: e.update(status="SUCCESS")),
        ("prelu-tiling-014", lambda e: e["tiling_data"].update(ubFormer=37)),
        ("prelu-tiling-016", lambda e: e["collapsed_strides"]["out"].reverse()),
        ("prelu-tiling-017", lambda e: e["tiling_data"].update(ubTail=384)),
        ("prelu-tiling-035", lambda e: e.update(sch_mode=1)),
        ("prelu-tiling-041", lambda e: e.update(ub_buffer_count=13)),
        ("prelu-tiling-048", lambda e: e.update(pattern="AR")),
        ("prelu-tiling-054", lambda e: e.update(hazard=None)),
        ("prelu-aclnn_check-092", lambda e: e.update(doc_status=161002)),
        ("prelu-aclnn_check-108", lambda e: e["recommended"].update(status=0)),
        ("prelu-numeric-120", lambda e: e["update"]["bits"].__setitem__(2, "0x40400000")),
        ("prelu-numeric-128", lambda e: e["gradWeight"]["bits"].__setitem__(0, "0xe801")),
        ("prelu-numeric_digest-136", lambda e: e.update(update_sha256_le_bytes="0" * 64)),
    ],
)
def test_a_wrong_expectation_is_noticed(name, spoil):
    (case,) = (c for c in published_cases() if c["id"] == name)
    spoil(case["expect"])
    assert not run_case(case).passed


def tensor(shape=(2, 4, 3), dtype="float32", **more):
    return Tensor(shape, dtype, **more)


def five(**changes):
    names = ("grad_output", "self_", "weight", "grad_input", "grad_weight")
    made = {name: tensor() for name in names}
    return made | {"weight": tensor((4,)), "grad_weight": tensor((4,))} | changes


RANK_9 = tensor((1,) * 9)


@pytest.mark.parametrize(
    ("changes", "argument", "status"),
    [
        # In the order of the source; what follows in the list is wrong as well.
        ({"grad_output": None, "self_": None, "weight": None}, "gradOutput", 161001),
        ({"self_": None, "weight": None}, "self", 161001),
        ({"weight": None, "grad_input": None}, "weight", 161001),
        ({"grad_input": None, "grad_weight": None}, "gradInput", 161001),
        ({"grad_weight": None, "self_": tensor(dtype="int8")}, "gradWeight", 161001),
        ({"self_": tensor(dtype="float64"), "weight": tensor((5,), "int8")}, "self", 161002),
        ({"grad_output": tensor(dtype="float16"), "weight": RANK_9}, "gradOutput", 161002),
        ({"weight": tensor((4,), "float16"), "grad_output": RANK_9}, "weight", 161002),
        ({"grad_input": tensor(dtype="float16"), "self_": RANK_9}, "gradInput", 161002),
        ({"grad_weight": tensor((4,), "float16"), "weight": RANK_9}, "gradWeight", 161002),
        ({"grad_output": RANK_9, "self_": RANK_9}, "gradOutput", 161002),
        ({"self_": RANK_9, "weight": RANK_9}, "self", 161002),
        ({"weight": RANK_9, "grad_input": RANK_9}, "weight", 161002),
        ({"grad_input": RANK_9, "grad_weight": RANK_9}, "gradInput", 161002),
        ({"grad_weight": RANK_9, "grad_input": tensor((2,))}, "gradWeight", 161002),
        ({"grad_input": tensor((2, 4)), "weight": tensor((3,))}, "gradInput", 161002),
        ({"weight": tensor((3,)), "grad_weight": tensor((9,))}, "weight", 161002),
        ({"grad_weight": tensor((4, 1)), "grad_output": tensor((5,))}, "gradWeight", 161002),
        ({"weight": tensor((1, 1)), "grad_weight": tensor((1,))}, "gradWeight", 161002),
        ({"grad_output": tensor((2, 4, 2))}, "gradOutput", 161002),
        ({"grad_output": tensor((1, 2, 4, 3))}, "gradOutput", 161002),
    ],
)
def test_the_first_failing_check_decides(runtime, changes, argument, status):
    assert plan(**five(**changes)) == (status, 0, None)
    assert runtime.last_error.argument == argument
    text = acl.get_recent_err_msg()
    assert text.startswith("[host.aclnn] aclnnPreluBackwardGetWorkspaceSize: ")
    assert "aclnn_prelu_backward.cpp" in text


def test_rank_zero_self_needs_one_weight(runtime):
    scalar = tensor(())
    assert plan(scalar, scalar, scalar, scalar, scalar)[0] == 0
    assert plan(scalar, scalar, tensor((2,)), scalar, tensor((2,)))[0] == 161002
    assert runtime.last_error.argument == "self"


@pytest.mark.parametrize("null", ["workspace_size", "executor"])
def test_null_out_pointers_are_refused(runtime, null):
    assert plan(**five(), **{null: None})[0] == 161001


def test_the_document_wants_grad_weight_like_weight(runtime):
    full = five(weight=tensor((1, 4, 1)), grad_weight=tensor((1, 4, 1)))
    assert plan(**full)[0] == 161002
    assert plan(**full, strict="doc")[0] == 0
    flat = five(weight=tensor((1, 4, 1)))
    assert plan(**flat)[0] == 0
    assert plan(**flat, strict="doc")[0] == 161002
    assert "docs/aclnnPreluBackward.md" in acl.get_recent_err_msg()


def test_only_the_source_takes_weights_of_any_shape(runtime):
    square = five(weight=tensor((2, 2)))
    assert plan(**square)[0] == 0
    assert plan(**square, strict="doc")[0] == 161002
    assert runtime.last_error.argument == "weight"


@pytest.mark.parametrize(
    ("platform", "status"), [("910b", 0), ("910_93", 0), ("950", 0), ("910", 161002)]
)
def test_bf16_is_refused_on_910_only(platform, status):
    with acl.Runtime(platform):
        acl.init()
        args = [tensor(t.view_shape, "bfloat16") for t in five().values()]
        assert plan(*args)[0] == status


def test_910_has_no_kernel():
    with acl.Runtime("910"):
        acl.init()
        assert plan(**five())[0] == 561003
        assert "PReluGradUpdate is not registered for Ascend910" in acl.get_recent_err_msg()


def test_a_failing_tiling_has_the_status_of_a_null_result():
    with acl.Runtime("910b") as runtime:
        acl.init()
        runtime.platform_info = replace(runtime.platform_info, ub_bytes=512)
        assert plan(**five())[0] == 561103
        assert "PReluGradUpdate" in acl.get_recent_err_msg()


def launched(executor):
    return [node.op_type for node in executor.nodes if node.tiling is not None]


def test_dense_tensors_need_two_kernels_and_room_for_the_update(runtime):
    _, size, executor = plan(**five())
    assert launched(executor) == ["PReluGradUpdate", "PReluGradReduce"]
    # 24 floats of update, rounded up with 32 bytes of slack; the outputs are written in place.
    assert size == 512 + LIBRARY_WORKSPACE


def test_strided_tensors_are_copied_and_one_axis_is_lifted(runtime):
    strided = {"shape": (6,), "strides": (2,), "storage_shape": (12,)}
    one = {"shape": (1, 1)}
    _, size, executor = plan(
        tensor(**strided), tensor(**strided), tensor(**one), tensor(**strided), tensor(**one)
    )
    assert [node.op_type for node in executor.nodes] == [
        "Contiguous",
        "Contiguous",
        "Reshape",
        "Contiguous",
        "Reshape",
        "PReluGradUpdate",
        "PReluGradReduce",
        "Reshape",
        "ViewCopy",
        "Reshape",
        "ViewCopy",
    ]
    assert launched(executor) == [
        "Contiguous",
        "Contiguous",
        "PReluGradUpdate",
        "PReluGradReduce",
        "ViewCopy",
    ]
    # Two copies, the product and the update of 24 bytes each; grad_weight is written in place.
    assert size == 4 * 512 + LIBRARY_WORKSPACE
    assert "[1, 6]" in executor.graph()


def test_the_workspace_of_a_shared_sum_comes_on_top():
    with acl.Runtime("950"):
        acl.init()
        big, weight = tensor((1024, 1024)), tensor((1024,))
        _, size, executor = plan(big, big, weight, big, weight)
        reduce = executor.nodes[-3].tiling
        assert reduce.data.groupR > 1
        assert reduce.schedule_mode == 1
        update = -(-(2**22 + 32) // 512) * 512
        assert size == update + LIBRARY_WORKSPACE + 64 * 4096


@pytest.mark.parametrize(
    "changes",
    [
        {"self_": tensor((0, 4)), "grad_output": tensor((0, 4)), "grad_input": tensor((0, 4))},
        {"self_": tensor((0, 4)), "grad_output": tensor((1, 4)), "grad_input": tensor((0, 4))},
    ],
)
def test_an_empty_input_leaves_grad_weight_alone(runtime, changes):
    _, stream = rt.create_stream()
    held = np.full(4, 7, np.float32)
    da = Tensor.from_numpy(held, name="gradWeight")
    status, size, executor = plan(**five(**changes, grad_weight=da))
    assert (status, size, executor.nodes) == (0, 0, [])
    (finding,) = runtime.findings
    assert finding.code == "host.output_not_written"
    assert launch(None, 0, executor, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(da.to_numpy(), held)


def test_zero_channels_leave_nothing_unwritten(runtime):
    empty, weight = tensor((2, 0)), tensor((0,))
    assert plan(empty, empty, weight, empty, weight)[:2] == (0, 0)
    assert runtime.findings == []


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_the_published_program_prints_the_published_numbers(platform, capsys):
    with acl.Runtime(platform):
        runpy.run_path(str(ROOT / "examples" / "aclnn_prelu_backward.py"), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        "gradInput[0] is: 0.500000",
        *(f"gradInput[{k}] is: 1.000000" for k in range(1, 8)),
        "gradWeight[0] is: 0.000000",
        "gradWeight[1] is: 0.000000",
    ]


# -- graph mode ------------------------------------------------------------------------------------


def small_graph(shape=(2, 3, 4), weight=(3,), dtype="float32"):
    graph = Graph()
    inputs = [graph.input(name, shape, dtype) for name in ("grads", "features")]
    node = graph.add("PReluGrad", *inputs, graph.input("weights", weight, dtype))
    graph.set_outputs(*node.outputs)
    return graph


def the_pass():
    (found,) = (p for p in registered_passes() if p.name == "PReluGradFusionPass")
    return found


def test_infershape_passes_unknown_dims_and_rank_through():
    assert [shape for shape, _ in infer("PReluGrad", [(-2,), (-1, 4), (-2,)], [0, 0, 0])] == [
        (-1, 4),
        (-2,),
    ]


def test_on_950_the_node_is_split_and_its_users_follow():
    graph = small_graph()
    before = [value.desc for value in graph.outputs]
    assert run_pass(the_pass(), graph, PlatformInfo(short_soc_version="Ascend950")) == (
        PassStatus.SUCCESS
    )
    assert graph.op_types() == ["PReluGradUpdate", "PReluGradReduce"]
    update, reduce = graph.nodes
    assert graph.outputs == [update.outputs[0], reduce.outputs[0]]
    assert [value.desc for value in graph.outputs] == before
    assert reduce.inputs == [*update.inputs, update.outputs[1]]


@pytest.mark.parametrize("soc", ["Ascend910B", "Ascend910_93", "Ascend910", ""])
def test_elsewhere_the_graph_stays_as_it_is(soc):
    graph = small_graph()
    (node,) = graph.nodes
    status = run_pass(the_pass(), graph, PlatformInfo(short_soc_version=soc))
    assert status == PassStatus.GRAPH_NOT_CHANGED
    assert graph.nodes == [node]


def test_every_node_of_the_type_is_split_in_place():
    graph = small_graph()
    first = graph.nodes[0]
    second = graph.add("PReluGrad", first.outputs[0], *first.inputs[1:])
    graph.set_outputs(*second.outputs)
    run_pass(the_pass(), graph, PlatformInfo(short_soc_version="Ascend950"))
    assert graph.op_types() == ["PReluGradUpdate", "PReluGradReduce"] * 2
    assert graph.nodes[2].inputs[0] is graph.nodes[0].outputs[0]
    assert [node.name for node in graph.nodes] == [
        "PReluGradUpdate",
        "PReluGradReduce",
        "PReluGradUpdate_1",
        "PReluGradReduce_1",
    ]
    assert "PReluGradReduce_1:da [3] FLOAT" in graph.text()


def arrays(graph, seed=0):
    rng = np.random.default_rng(seed)
    return {
        value.name: rng.integers(-3, 4, value.desc.shape).astype(value.desc.dtype.numpy)
        for value in graph.inputs
    }


def test_a_graph_runs_on_950():
    graph = small_graph((2, 3, 4), (3,))
    given = arrays(graph)
    dx, da = graph.run(given, "950")
    x, g = given["features"], given["grads"]
    w = given["weights"].reshape(1, 3, 1)
    np.testing.assert_array_equal(dx, np.where(x > 0, g, w * g))
    np.testing.assert_array_equal(da, np.where(x > 0, 0, x * g).sum(axis=(0, 2)))


def test_a_graph_with_prelu_grad_has_no_kernel_on_910b():
    graph = small_graph()
    with pytest.raises(acl.AclnnError) as caught:
        graph.run(arrays(graph), "910b")
    assert caught.value.status == 561003


def test_a_weight_of_full_rank_gives_every_channel_the_first_weight_on_950():
    graph = small_graph((2, 3, 4), (1, 3, 1))
    given = arrays(graph)
    given["features"][...] = -1
    given["grads"][...] = 1
    given["weights"][...] = np.array([5, 6, 7]).reshape(1, 3, 1)
    dx, _ = graph.run(given, "950")
    np.testing.assert_array_equal(dx, np.full((2, 3, 4), 5))


def test_a_weight_of_one_rank_less_sums_the_wrong_axes_on_950():
    graph = small_graph((2, 4, 3, 5), (4, 1, 1))
    with pytest.raises(acl.AclError) as caught:
        graph.run(arrays(graph), "950")
    cause = caught.value.__cause__
    assert isinstance(cause, OutOfBoundsError)
    assert "writes 4 bytes" in str(cause)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"weights": None}, "missing"),
        ({"weights": np.zeros(4, np.float32)}, "different"),
        ({"grads": np.zeros((2, 3, 4), np.float16)}, "different"),
    ],
)
def test_a_graph_refuses_arrays_that_do_not_fit(change, text):
    graph = small_graph()
    given = {k: v for k, v in (arrays(graph) | change).items() if v is not None}
    with pytest.raises(ConfigError, match=text):
        graph.run(given, "950")


def test_a_graph_refuses_what_does_not_belong_to_it():
    graph, other = small_graph(), small_graph()
    with pytest.raises(ConfigError, match="does not belong"):
        graph.add("PReluGrad", *other.inputs)
    with pytest.raises(ConfigError, match="takes 3 inputs"):
        graph.add("PReluGrad", graph.inputs[0])
    with pytest.raises(ConfigError, match="already"):
        graph.input("grads", (1,), "float32")


# -- tiling ----------------------------------------------------------------------------------------


def reduce_tiling(shape, weight, dtype="float32", platform="950"):
    return tiling("PReluGradReduce", platform, [shape, shape, weight, shape, weight], dtype)


def test_a_sum_over_many_rows_is_shared_between_the_cores():
    result = reduce_tiling((1000000, 3), (3,))
    data = result.data
    # 549 tiles of 1824 rows of 8 floats (14784 fit the buffer), nine for each of 61 cores.
    assert (data.ubFactorR, data.factorRTotalCnt, data.factorRCntPerCore) == (1824, 549, 9)
    assert (data.groupR, result.block_dim, result.schedule_mode) == (61, 61, 1)
    assert data.basicBlock == (253952 - 16384 - 2 * 512) // 4 // 256 * 256
    assert result.workspace == (LIBRARY_WORKSPACE + 64 * 256,)


def test_a_sum_that_needs_no_sharing_gives_each_core_a_channel():
    result = reduce_tiling((64, 64, 56, 56), (64,))
    data = result.data
    assert (data.groupR, data.factorATotalCnt, result.block_dim) == (1, 64, 64)
    # Four images of 3136 floats fit 14784.
    assert (data.ubFactorR, data.factorRTotalCnt) == (4, 16)
    assert data.shape[:4] == (1, 64, 64, 3136)
    assert data.stride[:4] == (64 * 64 * 3136, 64 * 3136, 3136, 1)
    assert data.dstStride[:4] == (64, 64, 1, 1)


def test_seven_axes_are_padded_to_nine():
    result = reduce_tiling((2, 3, 4, 5), (3, 1, 5))
    # Weight [3, 1, 5] of one rank less: axes 0 and 1 are summed.
    assert result.data.shape[:3] == (1, 6, 20)
    longer = reduce_tiling((2, 3, 4, 5, 6, 7), (3, 3, 1, 5, 1))
    # Axes 0, 2 and 4 are summed, so nothing merges: seven axes with the leading one.
    assert longer.data.shape == (1, 1, 1, 2, 3, 4, 5, 6, 7)
    assert longer.data.stride == (5040, 5040, 5040, 2520, 840, 210, 42, 7, 1)
    assert longer.data.dstStride[2::2] == (105, 35, 7, 1)


def test_an_empty_sum_is_cut_along_its_output():
    result = reduce_tiling((0, 5), (5,))
    assert result.key == 1
    assert (result.data.outSize, result.data.groupR) == (5, 1)
    assert reduce_tiling((2, 0), (0,)).data.outSize == 0


@pytest.mark.parametrize(
    ("op", "shapes", "dtype", "platform", "text"),
    [
        ("PReluGradUpdate", [(2, 3)] * 2 + [(3,)], "int32", "950", "data type"),
        (
            "PReluGradUpdate",
            [(2, 3)] * 2 + [(3,)],
            ["float32", "float16", "float32"],
            "950",
            "diff",
        ),
        ("PReluGradUpdate", [(0, 3)] * 2 + [(3,)], "float32", "950", "must be positive"),
        ("PReluGradUpdate", [(4,), (4,), (4,)], "float32", "950", "4 elements"),
        ("PReluGradUpdate", [(2, 3)] * 2 + [(4,)], "float32", "910b", "3 channels"),
        ("PReluGradUpdate", [(2, 2), (2, 3), (3,)], "float32", "910b", "axis 1"),
        ("PReluGradReduce", [(2, 3)] * 2 + [(3,), (2, 3)], "int8", "950", "data type"),
        ("PReluGradReduce", [(1,) * 9] * 2 + [(1,), (1,) * 9], "float32", "950", "rank 9"),
        ("PReluGradReduce", [(2, 3)] * 2 + [(3,), (2,)], "float32", "910b", "3 elements"),
        ("PReluGradReduce", [(2, 0)] * 2 + [(0,), (2, 0)], "float32", "910b", "empty"),
    ],
)
def test_tiling_refuses_what_does_not_fit(op, shapes, dtype, platform, text):
    with pytest.raises(TilingError, match=text):
        tiling(op, platform, shapes, dtype)


@pytest.mark.parametrize("op", ["PReluGradUpdate", "PReluGradReduce"])
@pytest.mark.parametrize("platform", ["910b", "950"])
@pytest.mark.parametrize("change", [{"ub_bytes": 600}, {"aiv": 0}])
def test_tiling_refuses_a_device_that_is_too_small(op, platform, change):
    from simulator.platforms import load_platform

    info = replace(PlatformInfo.from_platform(load_platform(platform)), **change)
    shapes = [(2, 3), (2, 3), (3,), *([(2, 3)] if op == "PReluGradReduce" else [])]
    with pytest.raises(TilingError):
        tiling(op, info, shapes, "float32")
