"""Tensor descriptions: contiguity, validation, upload and download."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from host import acl, rt
from host.datatypes import DataType, Format, as_data_type
from host.errors import AclError
from host.tensor import Tensor


@pytest.mark.parametrize(
    ("shape", "strides", "contiguous"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 3), (4, 1), False),
        ((2, 3), (0, 1), False),
        ((1, 3), (99, 1), True),
        ((2, 1, 3), (3, 77, 1), True),
        ((4,), (2,), False),
        ((), (), True),
        ((0, 3), (5, 7), True),
    ],
)
def test_contiguity_follows_row_major_strides(shape, strides, contiguous):
    assert Tensor(shape, "float32", strides).is_contiguous is contiguous


@pytest.mark.parametrize(
    "bad",
    [
        {"view_shape": (-1,)},
        {"view_shape": (2,), "strides": (-1,)},
        {"view_shape": (2, 2), "strides": (1,)},
        {"view_shape": (2,), "offset": -1},
    ],
)
def test_an_impossible_description_is_invalid_param(bad):
    with pytest.raises(AclError) as caught:
        Tensor(**{"dtype": "float32", **bad})
    assert caught.value.status == 100000


def test_create_tensor_returns_none_and_says_why(runtime):
    assert acl.create_tensor((2,), DataType.FLOAT, (-3,)) is None
    assert "negative" in acl.get_recent_err_msg()


def test_a_view_past_its_storage_is_reported(runtime):
    with pytest.warns(acl.HostProgramWarning, match="reaches element 5 of a storage of 4"):
        acl.create_tensor((3,), DataType.FLOAT, (2,), 1, storage_dims=(4,))


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("float32", 0),
        (np.float16, 1),
        ("int8", 2),
        (np.dtype("int32"), 3),
        ("uint8", 4),
        ("int16", 6),
        ("int64", 9),
        (np.float64, 11),
        (np.bool_, 12),
        (ml_dtypes.bfloat16, 27),
        ("bf16", 27),
        ("DT_FLOAT16", 1),
        (27, 27),
    ],
)
def test_data_types_have_the_codes_of_the_public_header(spec, code):
    assert as_data_type(spec) == code


def test_an_unsupported_data_type_has_its_own_code():
    with pytest.raises(AclError) as caught:
        as_data_type(np.complex128)
    assert caught.value.status == 100026


def test_formats_have_the_codes_of_the_public_header():
    named = {f.name: int(f) for f in Format}
    assert named == {
        "UNDEFINED": -1,
        "NCHW": 0,
        "NHWC": 1,
        "ND": 2,
        "HWCN": 16,
        "NDHWC": 27,
        "FRACTAL_NZ": 29,
        "NCDHW": 30,
    }


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[1:, ::2],
        lambda a: a[:, 3],
        lambda a: np.broadcast_to(a[0], (4, 6)),
        lambda a: a[2, 3],
        lambda a: a[:0],
    ],
)
def test_a_numpy_view_keeps_its_strides_and_comes_back_unchanged(runtime, view):
    array = np.asarray(view(np.arange(24, dtype=np.float32).reshape(4, 6)))
    tensor = Tensor.from_numpy(array)
    for axis, dim in enumerate(array.shape):
        if dim > 1 and array.size:
            assert tensor.strides[axis] * 4 == array.strides[axis]
    np.testing.assert_array_equal(tensor.to_numpy(), array)


def test_from_numpy_uploads_only_what_the_view_spans(runtime):
    array = np.arange(100, dtype=np.float32)[10:40:3]
    assert Tensor.from_numpy(array).storage_shape == (28,)


def test_from_numpy_with_strides_reads_the_array_as_storage(runtime):
    tensor = Tensor.from_numpy(
        np.arange(12, dtype=np.float16), view_shape=(2, 3), strides=(1, 4), offset=1
    )
    np.testing.assert_array_equal(tensor.to_numpy(), np.array([[1, 5, 9], [2, 6, 10]]))


def test_negative_numpy_strides_are_refused_with_the_remedy(runtime):
    with pytest.raises(AclError, match="ascontiguousarray") as caught:
        Tensor.from_numpy(np.arange(4, dtype=np.float32)[::-1])
    assert caught.value.argument == "strides"


def test_fresh_device_memory_reads_as_nan(runtime):
    _, ptr = rt.malloc(64)
    assert np.isnan(Tensor((16,), "float32", data=ptr).to_numpy()).all()
    assert np.isnan(Tensor((32,), "float16", data=ptr).to_numpy()).all()
