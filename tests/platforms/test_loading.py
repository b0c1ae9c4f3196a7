"""Names, overrides and bad files."""

import copy
import os
import pickle
import subprocess
import sys

import pytest

from simulator.enums import Arch
from simulator.errors import ConfigError
from simulator.platforms import Figure, load_platform, platform_names

FIGURE = 'unit = "GB/s", source = "me/mine table", confidence = "measured"'


def profile(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(path):
    with pytest.raises(ConfigError) as caught:
        load_platform(path)
    return caught.value


def test_names_are_those_of_the_files():
    assert platform_names() == (
        "910",
        "910_93",
        "910b1",
        "910b2",
        "910b3",
        "910b4",
        "950dt",
        "950dt_957x",
        "950dt_9581",
        "950pr",
        "950pr_957x",
    )


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("910b", "910b1"),
        ("910B3", "910b3"),
        ("Ascend910B", "910b1"),
        ("ASCEND910B4", "910b4"),
        ("Ascend910_93", "910_93"),
        ("Ascend910_9392", "910_93"),
        ("Ascend910", "910"),
        ("Ascend910A", "910"),
        ("950", "950pr"),
        ("Ascend950", "950pr"),
        ("950PR_958x", "950pr"),
        ("Ascend950PR_9589", "950pr"),
        ("Ascend950PR_9579", "950pr_957x"),
        ("Ascend950DT_9572", "950dt_957x"),
        ("Ascend950DT_9581", "950dt_9581"),
        ("Ascend950DT_9582", "950dt"),
    ],
)
def test_aliases_and_soc_versions_name_a_profile(spelling, name):
    assert load_platform(spelling).name == name


def test_every_soc_version_leads_back_to_its_profile():
    for name in platform_names():
        assert load_platform(load_platform(name).soc_version).name == name


def test_a_name_is_read_once_and_a_platform_is_passed_through():
    platform = load_platform("910b1")
    assert load_platform("910B") is platform
    assert load_platform(platform) is platform


def test_an_unknown_name_is_refused_with_the_nearest_and_all_legal_ones():
    error = refused("910b9")
    assert "910b" in error.fix
    assert all(name in error.legal for name in platform_names())


def test_members_whose_core_counts_are_unknown_are_refused():
    assert "950pr" in refused("Ascend950PR_9599").legal
    assert "910_93" in refused("Ascend910_9362").legal


def test_import_reads_no_profile():
    code = (
        "import sys, simulator.platforms; sys.exit(bool({'tomllib', 'tomli'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_override_makes_a_new_platform_and_records_it():
    platform = load_platform("910b1")
    changed = platform.override(**{"timing.read_cap_gbps": 1200, "memory.ub_bytes": 131072})
    assert (changed.timing.read_cap_gbps, changed.memory.ub_bytes) == (1200, 131072)
    assert isinstance(changed.timing.read_cap_gbps, float)
    assert changed.overridden == ("memory.ub_bytes", "timing.read_cap_gbps")
    assert changed.figures["timing.read_cap_gbps"] == Figure(
        1200.0, "GB/s", "override by the caller", "assumed", "profile value: 1540.0"
    )
    assert changed != platform
    assert (platform.timing.read_cap_gbps, platform.overridden) == (1540, ())


def test_override_of_an_unknown_key_names_those_spelled_alike():
    with pytest.raises(ConfigError) as caught:
        load_platform("910b1").override(**{"timing.read_cap": 1200})
    assert caught.value.key == "timing.read_cap"
    assert "timing.read_cap_gbps" in caught.value.legal


def test_override_without_section_finds_the_key():
    with pytest.raises(ConfigError) as caught:
        load_platform("910b1").override(clock_mhz=1000)
    assert "timing.clock_mhz" in caught.value.legal


@pytest.mark.parametrize(
    ("key", "value", "legal"),
    [
        ("timing.read_cap_gbps", "fast", "a number > 0"),
        ("timing.read_cap_gbps", -1, "a number > 0"),
        ("timing.clock_mhz", 0, "a number > 0"),
        ("timing.clock_mhz", float("nan"), "a number > 0"),
        ("timing.clock_mhz", float("inf"), "a number > 0"),
        ("timing.read_cap_gbps", 1e-300, "1e-09 to 1e+15"),
        ("timing.read_latency_ns", 1e308, "1e-09 to 1e+15"),
        ("timing.queue_depth", 10**20, "1e-09 to 1e+15"),
        ("timing.flag_hop_cycles", -0.5, "a number >= 0"),
        ("timing.queue_depth", 2.5, "a whole number > 0"),
        ("memory.ub_bytes", True, "a whole number > 0"),
        ("memory.ub_bytes", None, "a whole number > 0"),
        ("chip.npu_arch", "9999", "1001, 2201, 3510"),
        ("chip.soc_version", "", "a non-empty string"),
    ],
)
def test_override_with_a_value_the_key_cannot_have_is_refused(key, value, legal):
    with pytest.raises(ConfigError) as caught:
        load_platform("910b1").override(**{key: value})
    error = caught.value
    assert error.key == key
    assert repr(value) in error.got
    assert error.legal.startswith(legal)


def test_zero_is_legal_where_something_can_take_no_time():
    assert (
        load_platform("910b1").override(**{"timing.flag_hop_cycles": 0}).timing.flag_hop_cycles == 0
    )


def test_an_own_profile_states_only_what_differs_from_its_base(tmp_path):
    path = profile(
        tmp_path,
        f'base = "910B3"\n[timing]\nread_cap_gbps = {{ value = 900, {FIGURE} }}\n',
    )
    platform = load_platform(str(path))
    assert (platform.name, platform.arch, platform.chip.aiv) == ("mine", Arch.DAV_2201, 40)
    assert platform.timing.read_cap_gbps == 900
    assert platform.figures["timing.read_cap_gbps"].source == "me/mine table"
    assert platform.provisional_timing is False


def test_a_base_may_be_a_file_beside_the_profile(tmp_path):
    profile(
        tmp_path, f'base = "950"\n[timing]\nwrite_rate_gbps = {{ value = 70, {FIGURE} }}', "a.toml"
    )
    path = profile(tmp_path, 'base = "a.toml"\nprovisional_timing = false', "b.toml")
    platform = load_platform(path)
    assert (platform.timing.write_rate_gbps, platform.provisional_timing) == (70, False)
    assert platform.arch is Arch.DAV_3510


def test_an_edited_file_is_read_again(tmp_path):
    text = 'base = "910b1"\n[timing]\nwrite_rate_gbps = {{ value = {}, ' + FIGURE + " }}"
    path = profile(tmp_path, text.format(70))
    os.utime(path, ns=(1, 1))
    first = load_platform(path)
    assert load_platform(path) is first
    profile(tmp_path, text.format(71))
    os.utime(path, ns=(2, 2))
    assert (first.timing.write_rate_gbps, load_platform(path).timing.write_rate_gbps) == (70, 71)


def test_a_missing_key_is_refused_by_name(tmp_path):
    error = refused(profile(tmp_path, "provisional_timing = true"))
    assert error.key == "chip.soc_version"
    assert "timing.clock_mhz" in error.got


@pytest.mark.parametrize(
    ("text", "key", "legal"),
    [
        ("[timing]\nread_cap = 3", "timing.read_cap", "timing.read_cap_gbps"),
        ("[timings]\nx = 3", "timings", "timing"),
        ("[timing]\nread_cap_gbps = 3", "timing.read_cap_gbps", "{ value ="),
        ("timing = 3", "timing", "a table"),
        ('provisional_timing = "yes"', "provisional_timing", "true or false"),
        (
            f"[timing]\nread_cap_gbps = {{ value = -3, {FIGURE} }}",
            "timing.read_cap_gbps",
            "a number > 0, in GB/s",
        ),
        (
            f'[timing]\nread_cap_gbps = {{ value = "3", {FIGURE} }}',
            "timing.read_cap_gbps",
            "a number > 0, in GB/s",
        ),
        (
            f"[timing]\nread_cap_gbps = {{ value = 3, why = 1, {FIGURE} }}",
            "timing.read_cap_gbps.why",
            "value, unit, source, confidence, note",
        ),
        (
            '[timing]\nread_cap_gbps = { value = 3, unit = "GB/s", confidence = "measured" }',
            "timing.read_cap_gbps.source",
            "value, unit, source, confidence",
        ),
        (
            f"[timing]\nread_cap_gbps = {{ value = 3, {FIGURE} }}".replace("GB/s", "TB/s"),
            "timing.read_cap_gbps.unit",
            "GB/s",
        ),
        (
            f"[timing]\nread_cap_gbps = {{ value = 3, {FIGURE} }}".replace("measured", "sure"),
            "timing.read_cap_gbps.confidence",
            "measured, documented, fitted, derived, assumed",
        ),
        (
            f"[timing]\nread_cap_gbps = {{ value = 3, {FIGURE} }}".replace("me/mine table", ""),
            "timing.read_cap_gbps.source",
            "a non-empty string",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_key_and_what_is_legal(tmp_path, text, key, legal):
    head = "" if text.startswith("provisional") else "provisional_timing = true\n"
    error = refused(profile(tmp_path, f'base = "910b1"\n{head}{text}'))
    assert error.key == key
    assert legal in error.legal
    assert "mine.toml" in error.got


def test_bases_that_lead_in_a_circle_are_refused(tmp_path):
    profile(tmp_path, 'base = "b.toml"', "a.toml")
    error = refused(profile(tmp_path, 'base = "a.toml"', "b.toml"))
    assert (error.key, error.got) == ("base", "b.toml -> a.toml -> b.toml")


def test_text_that_is_not_toml_is_refused_with_the_place(tmp_path):
    assert "line 1" in refused(profile(tmp_path, "base = 910b1")).got


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    assert "910b1" in refused(tmp_path / "none.toml").fix


def test_a_platform_survives_pickle_and_deep_copy():
    platform = load_platform("950dt").override(**{"timing.clock_mhz": 1000})
    for other in (pickle.loads(pickle.dumps(platform)), copy.deepcopy(platform)):
        assert other == platform
        assert dict(other.figures) == dict(platform.figures)


def test_figures_cannot_be_changed_in_place():
    platform = load_platform("910b1")
    with pytest.raises(TypeError):
        platform.figures["timing.clock_mhz"] = None
    with pytest.raises(AttributeError):
        platform.timing.clock_mhz = 1
