"""Option values: shapes, element types, sizes."""

import ml_dtypes
import numpy as np
import pytest

from simulator.errors import ConfigError
from simulator.platforms import load_platform
from tools.options import (
    check_fits,
    override_platform,
    parse_dtype,
    parse_shape,
    profile_key,
)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("1024,1024", (1024, 1024)),
        ("64", (64,)),
        ("", ()),
        ("scalar", ()),
        ("Scalar", ()),
        ("0,4", (0, 4)),
        ("8x16", (8, 16)),
        ("[2, 3]", (2, 3)),
        ("1,1,1,1,1,1,1,2", (1, 1, 1, 1, 1, 1, 1, 2)),
    ],
)
def test_a_shape_is_read_from_text(text, shape):
    assert parse_shape(text) == shape


@pytest.mark.parametrize("text", ["-1", "3,x", "3,", "a", "1.5", "1,,2", "٣"])
def test_a_shape_that_is_none_names_the_size_at_fault(text):
    with pytest.raises(ConfigError, match="is not a whole number"):
        parse_shape(text)


def test_a_ninth_dimension_is_refused():
    with pytest.raises(ConfigError, match="rank 9"):
        parse_shape("1,1,1,1,1,1,1,1,1")


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (("float32", "fp32", "float", "FP32"), np.float32),
        (("float16", "fp16", "half"), np.float16),
        (("bfloat16", "bf16", "bfloat16_t"), ml_dtypes.bfloat16),
    ],
)
def test_an_element_type_has_aliases(names, dtype):
    assert {parse_dtype(name) for name in names} == {np.dtype(dtype)}


def test_an_unknown_element_type_suggests_a_known_one():
    with pytest.raises(ConfigError) as caught:
        parse_dtype("flaot16")
    assert caught.value.fix == "did you mean float16?"


def test_tensors_must_fit_the_memory_of_the_chip():
    chip = load_platform("910b")
    check_fits((2**30,), np.dtype(np.float16), 3, chip)
    with pytest.raises(ConfigError, match=r"need 96\.0 GiB"):
        check_fits((2**34,), np.dtype(np.float16), 3, chip)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("timing.read_cap_gbps", "timing.read_cap_gbps"),
        ("memory.read_cap_gbps", "timing.read_cap_gbps"),
        ("read_cap_gbps", "timing.read_cap_gbps"),
        ("timing.l2_bytes", "memory.l2_bytes"),
        ("aiv", "chip.aiv"),
    ],
)
def test_a_figure_of_the_profile_is_found_by_name(text, key):
    assert profile_key(text) == key


@pytest.mark.parametrize("text", ["timing.nothing", "speed.read_cap_gbps", "read_cap"])
def test_an_unknown_figure_is_refused(text):
    with pytest.raises(ConfigError, match="not a key of a platform profile"):
        profile_key(text)


def test_settings_change_figures_and_nothing_else():
    plain = load_platform("910b1")
    changed = override_platform(plain, ["memory.read_cap_gbps=1200", "clock_mhz = 1500"])
    assert (changed.timing.read_cap_gbps, changed.timing.clock_mhz) == (1200, 1500)
    assert changed.overridden == ("timing.clock_mhz", "timing.read_cap_gbps")
    assert changed.memory == plain.memory
    assert override_platform(plain, []) is plain


@pytest.mark.parametrize("text", ["clock_mhz", "=3", "clock_mhz="])
def test_a_setting_needs_key_and_value(text):
    with pytest.raises(ConfigError, match="no setting"):
        override_platform(load_platform("910b1"), [text])


def test_a_value_that_the_figure_cannot_have_is_refused():
    with pytest.raises(ConfigError, match="cannot be 'fast'"):
        override_platform(load_platform("910b1"), ["clock_mhz=fast"])
