"""``ascsim isa`` shows what the declarations say."""

import json

import pytest

from simulator.enums import Arch
from tools.isa_catalogue import catalogue, names
from tools.isa_command import isa


def printed(capsys, *args, **options):
    assert isa(*args, **options) == 0
    return capsys.readouterr().out


def test_every_topic_and_instruction_is_listed(capsys):
    text = printed(capsys)
    for word in ("CompareScalar", "DataCopyPad", "TQue.EnQue", "910b 950", "arithmetic"):
        assert word in text


def test_an_instruction_shows_forms_types_cost_and_source(capsys):
    text = printed(capsys, "CompareScalar")
    for word in ("Compares", "uint8_t:half", "count", "cycles", "mirror-cann/asc-devkit", "on 950"):
        assert word in text


def test_one_platform_can_be_chosen(capsys):
    text = printed(capsys, "add", platform="950")
    assert "bfloat16_t" in text
    assert "on 910b" not in text


def test_names_are_bare_one_a_line_and_spelled_as_in_ascendc(capsys):
    lines = printed(capsys, only_names=True, platform="910b").splitlines()
    for name in (
        "GlobalTensor.SetGlobalBuffer",
        "GlobalTensor.operator[]",
        "TQue.EnQue",
        "LocalTensor.GetValue",
        "CompareScalar",
        "Compares",
        "printf",
    ):
        assert name in lines
    assert len(lines) == len(set(lines))
    assert not {"kernel", "launch", "half", "TPosition", "UnaryRepeatParams"} & set(lines)


def test_a_call_of_one_architecture_is_listed_there_only():
    entries = catalogue().values()
    for entry in entries:
        for arch in (Arch.DAV_2201, Arch.DAV_3510):
            assert (entry.name in names(arch)) == (not entry.specs or arch in entry.specs)


def test_json_holds_the_same_facts(capsys):
    found = json.loads(printed(capsys, "Add", as_json=True))
    assert found["pipe"] == "V"
    on_910b = next(p for p in found["profiles"] if p["profile"] == "910b")
    assert set(on_910b["dtypes"]) == {"half", "float", "int16_t", "int32_t"}


@pytest.mark.parametrize(
    ("name", "close"), [("CompareScalr", "CompareScalar"), ("EnQueue", "TQue.EnQue"), ("ad", "Add")]
)
def test_an_unknown_name_gets_close_ones(ascsim, name, close):
    result = ascsim("isa", name)
    assert result.exit_code == 2
    assert close in result.stderr


def test_a_method_without_its_class_gets_the_full_names(ascsim):
    result = ascsim("isa", "enque")
    assert result.exit_code == 2
    assert "enque is a method (legal: TQue.EnQue, TQueBind.EnQue)" in result.stderr


def test_an_unknown_platform_is_a_usage_error(ascsim):
    assert ascsim("isa", "--names", "--platform", "911x").exit_code == 2
