"""Kernels can import every call of the reference tables under the name that AscendC gives it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from simulator.enums import Arch
from tools.isa_catalogue import names

TABLE = Path(__file__).parents[1] / "data" / "isa_names.csv"

MISSING: dict[str, str] = {}
"""Names that are left out, with the reason."""


def rows():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("column", "arch"), [("on_910b", Arch.DAV_2201), ("on_950", Arch.DAV_3510)]
)
def test_every_documented_call_is_there(column, arch):
    there = set(names(arch))
    wanted = {row["name"] for row in rows() if row[column] == "yes"}
    assert sorted(wanted - there - set(MISSING)) == []


def test_a_call_of_950_only_is_not_on_910b():
    there = set(names(Arch.DAV_2201))
    only = {row["name"] for row in rows() if row["on_910b"] == "no"}
    assert sorted(only & there) == []


def test_the_exceptions_are_really_missing():
    there = set(names(Arch.DAV_2201)) | set(names(Arch.DAV_3510))
    assert sorted(there & set(MISSING)) == []
