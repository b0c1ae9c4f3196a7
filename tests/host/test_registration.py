"""Definitions, lookups, tiling keys and the tiling function that needs no device."""

from __future__ import annotations

import pytest

from host.contexts import TensorDesc
from host.datatypes import DataType, Format
from host.errors import InferShapeError, RegistrationError, TilingError
from host.infershape import infer
from host.op_def import OpAICoreConfig, OpDef, ParamDef
from host.platform_ascendc import PlatformInfo
from host.registry import (
    IMPL_OP_INFERSHAPE,
    IMPL_OP_OPTILING,
    OP_ADD,
    arch_of,
    op_def,
    op_types,
    tiling_impl,
)
from host.status import GRAPH_FAILED, GRAPH_SUCCESS, Acl, Aclnn, Rt, status_name
from host.tiling import run_tiling, tiling
from host.tiling_key import TemplateParam, encode_tiling_key
from kernels.tiling_struct import Int, TilingData
from simulator.errors import ArgumentError


def test_columns_pair_dtype_and_format_by_index():
    definition = OpDef(
        "Two",
        inputs=(ParamDef("x", (DataType.FLOAT, DataType.INT32), (Format.ND, Format.NCHW)),),
        outputs=(ParamDef("y", (DataType.FLOAT16, DataType.BOOL)),),
        ai_core={"ascend910b": OpAICoreConfig()},
    )
    fits = [(DataType.INT32, Format.NCHW), (DataType.BOOL, Format.ND)]
    assert definition.column_of("ascend910b", fits) == 1
    mixed = [(DataType.FLOAT, Format.ND), (DataType.BOOL, Format.ND)]
    assert definition.column_of("ascend910b", mixed) is None


def test_columns_of_different_length_are_refused():
    with pytest.raises(RegistrationError, match="columns"):
        OpDef(
            "Uneven",
            inputs=(ParamDef("x", (DataType.FLOAT,)),),
            outputs=(ParamDef("y", (DataType.FLOAT, DataType.FLOAT16)),),
            ai_core={"ascend910b": OpAICoreConfig()},
        )


def test_hardswish_is_registered_with_its_dtypes_per_soc():
    definition = op_def("HardSwishGradV2")
    assert set(definition.ai_core) == {"ascend910", "ascend910b", "ascend910_93", "ascend950"}
    assert [c[0][0] for c in definition.columns("ascend910b")] == [0, 1, 27]
    assert [c[0][0] for c in definition.columns("ascend910")] == [0, 1]
    assert definition.op_file("ascend950") == "hard_swish_grad_v2"
    assert definition.op_interface("ascend910b") == "hard_swish_grad_v2"


def test_file_and_entry_may_be_named_apart_from_the_operator():
    config = OpAICoreConfig(
        extend_cfg={
            "opFile.value": "p_relu_grad_update_apt",
            "opInterface.value": "prelu_grad_update",
        }
    )
    definition = OpDef("PReluGradUpdate", (), (ParamDef("y", ()),), {"ascend950": config})
    assert definition.op_file("ascend950") == "p_relu_grad_update_apt"
    assert definition.op_interface("ascend950") == "prelu_grad_update"
    assert definition.op_file("ascend910b") == "p_relu_grad_update"


def test_a_second_registration_is_refused():
    known = op_types()
    assert "HardSwishGradV2" in known
    with pytest.raises(RegistrationError, match="twice"):
        OP_ADD(op_def("HardSwishGradV2"))
    with pytest.raises(RegistrationError, match="twice"):
        IMPL_OP_INFERSHAPE("HardSwishGradV2")(lambda _: GRAPH_SUCCESS)
    with pytest.raises(RegistrationError, match="twice"):
        IMPL_OP_OPTILING("HardSwishGradV2", "arch22")(lambda _: GRAPH_SUCCESS)


def test_what_is_not_registered_is_named():
    with pytest.raises(RegistrationError, match="no operator NoSuchOp"):
        op_def("NoSuchOp")
    with pytest.raises(RegistrationError, match="NoSuchOp on arch35"):
        tiling_impl("NoSuchOp", "arch35")
    with pytest.raises(RegistrationError, match="arch21"):
        IMPL_OP_OPTILING("HardSwishGradV2", "arch21")


def test_generation_follows_from_the_npu_arch():
    assert [arch_of(n) for n in ("1001", "2201", "3510")] == ["arch22", "arch22", "arch35"]
    with pytest.raises(RegistrationError, match="not set"):
        arch_of("not set")


def test_tiling_can_be_swept_without_a_device():
    # Tiles of 4864 elements: ceil(N / 4864) blocks until the 48 cores of a 910B1 are used up.
    dims = {4864: 1, 4865: 2, 48 * 4864: 48, 10**7: 48}
    for count, blocks in dims.items():
        assert tiling("HardSwishGradV2", "910b", [(count,)], "fp16").block_dim == blocks


def test_tiling_takes_tensors_by_name_and_a_changed_platform():
    info = PlatformInfo.for_tiling(core_num_aiv=4, ub_size=40960, npu_arch="2201")
    shapes = {"self": (5000,), "gradOutput": (5000,)}
    result = tiling("HardSwishGradV2", info, shapes, "float32")
    assert (result.data.elementNumEachCore, result.block_dim) == (1024, 4)
    assert result.workspace == (16 * 2**20,)


def test_a_failing_tiling_says_why():
    with pytest.raises(TilingError, match=r"self has shape \[4\], gradOutput \[3\]") as caught:
        tiling("HardSwishGradV2", "950", [(3,), (4,)], "float32")
    assert caught.value.status == 561002
    with pytest.raises(TilingError, match="no room for a tile"):
        tiling(
            "HardSwishGradV2",
            PlatformInfo.for_tiling(core_num_aiv=4, ub_size=10239, npu_arch="2201"),
            [(3,)],
            "float32",
        )
    with pytest.raises(TilingError, match="no tensor 'weight'"):
        tiling("HardSwishGradV2", "950", {"weight": (3,)}, "float32")


class _Half(TilingData):
    first = Int("int32_t")
    second = Int("int32_t")


@IMPL_OP_OPTILING("TestForgetsAField", "arch22")
def _forgets_a_field(context):
    context.GetTilingData(_Half).first = 1
    return context.SetBlockDim(1)


@IMPL_OP_OPTILING("TestParse", "arch22", tiling_parse=lambda context: context.GetNodeName() + "!")
def _reads_compile_info(context):
    data = context.GetTilingData(_Half)
    data.first, data.second = len(context.GetCompileInfo()), 0
    context.SetScheduleMode(1)
    context.GetWorkspaceSizes(2)[1] = 7
    return context.SetBlockDim(3)


@IMPL_OP_INFERSHAPE("TestInfer")
def _refuses(context):
    return context.Fail("on purpose") if context.GetInputShape(0) is None else GRAPH_FAILED


def test_an_unassigned_field_fails_the_tiling():
    with pytest.raises(TilingError, match="without setting second"):
        run_tiling("TestForgetsAField", "arch22", PlatformInfo(), [], [])


def test_tiling_parse_feeds_the_compile_info():
    result = run_tiling(
        "TestParse", "arch22", PlatformInfo(), [TensorDesc((1,), DataType.FLOAT)], []
    )
    assert result.data.first == len("TestParse!")
    assert (result.block_dim, result.schedule_mode, result.workspace) == (3, 1, (0, 7))
    assert result.workspace_bytes == 7


def test_infershape_failure_carries_its_reason(monkeypatch):
    definition = OpDef("TestInfer", (), (ParamDef("y", ()),), {})
    monkeypatch.setattr("host.infershape.op_def", lambda _: definition)
    with pytest.raises(InferShapeError, match="on purpose") as caught:
        infer("TestInfer", [None], [])
    assert caught.value.status == 561001
    with pytest.raises(InferShapeError, match="no reason given"):
        infer("TestInfer", [(1,)], [])


def test_a_tiling_key_refuses_what_is_not_declared():
    params = [TemplateParam("T", "DTYPE", 8, (0, 1)), TemplateParam("M", "UINT", 2, (5, 9))]
    assert encode_tiling_key(params, (1, 9)) == 1 + (1 << 8)
    with pytest.raises(ArgumentError, match="M cannot be 1"):
        encode_tiling_key(params, (0, 1))
    with pytest.raises(ArgumentError, match="2 template parameters"):
        encode_tiling_key(params, (0,))
    with pytest.raises(RegistrationError, match="cannot have 4 bits"):
        TemplateParam("B", "BOOL", 4, (0, 1))
    with pytest.raises(ArgumentError, match="72 bits"):
        encode_tiling_key([TemplateParam("T", "DTYPE", 8, (0,))] * 9, (0,) * 9)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (Aclnn.SUCCESS, "ACLNN_SUCCESS"),
        (161001, "ACLNN_ERR_PARAM_NULLPTR"),
        (561103, "ACLNN_ERR_INNER_NULLPTR"),
        (Acl.SUCCESS, "ACL_SUCCESS"),
        (100002, "ACL_ERROR_REPEAT_INITIALIZE"),
        (Rt.DEVICE_OOM, "ACL_ERROR_RT_DEVICE_OOM"),
        (123, "123"),
    ],
)
def test_status_codes_have_their_public_names(status, name):
    assert status_name(status) == name
