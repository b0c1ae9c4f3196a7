"""Names and layout of the folder, and that equal runs give equal files."""

import re
from datetime import datetime

from profile_kernels import NOON, launch_add

from tools.profile_files.folder import write_profile

COUNTERS = {
    "ArithmeticUtilization", "L2Cache", "Memory", "MemoryL0", "MemoryUB", "OpBasicInfo",
    "PipeUtilization", "ResourceConflictRatio",
}  # fmt: skip


def test_the_folder_is_named_after_time_and_seed(tmp_path):
    folder = write_profile([launch_add("910b")], tmp_path, seed=5, now=NOON)
    assert re.fullmatch(r"OPPROF_20260301120000_[A-Z]{16}", folder.name)
    again = write_profile([launch_add("910b")], tmp_path / "again", seed=5, now=NOON)
    assert again.name == folder.name
    other = write_profile([launch_add("910b")], tmp_path, now=NOON)
    assert other.name != folder.name


def test_one_launch_has_both_layouts_in_one_folder(tmp_path):
    folder = write_profile([launch_add("910b", blocks=3)], tmp_path, seed=1, now=NOON)
    assert {p.stem for p in folder.glob("*.csv")} == COUNTERS
    cores = ["core0.veccore0", "core0.veccore1", "core1.veccore0"]
    assert sorted(p.name for p in (folder / "simulator").iterdir()) == [*cores, "trace.json"]
    for core in cores:
        assert sorted(p.name for p in (folder / "simulator" / core).iterdir()) == [
            f"{core}_code_exe.csv",
            f"{core}_instr_exe.csv",
            "trace.json",
        ]


def test_several_launches_are_numbered_and_stamped(tmp_path):
    runs = [launch_add("910b", blocks=1) for _ in range(2)]
    folder = write_profile(runs, tmp_path, seed=1, now=NOON)
    for number in "01":
        own = folder / "add_tiles" / number
        assert {p.name for p in own.glob("*.csv")} == {
            f"{name}_20260301120000007.csv" for name in COUNTERS
        }
        core = own / "simulator" / "core0.veccore0"
        assert (core / "core0.veccore0_instr_exe_20260301120000007.csv").is_file()
        assert (core / "trace.json").is_file()


def test_more_blocks_than_cores_share_the_cores(tmp_path):
    folder = write_profile([launch_add("910b", blocks=50, tiles=1)], tmp_path, seed=1, now=NOON)
    assert len(list((folder / "simulator").glob("core*"))) == 48


def test_equal_runs_give_equal_files(tmp_path):
    def contents(name, now):
        folder = write_profile([launch_add("950")], tmp_path / name, seed=1, now=now)
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        return {str(p.relative_to(folder)): p.read_bytes() for p in files}

    assert contents("first", NOON) == contents("second", datetime(2027, 1, 1))
