"""Saved runs: what comes back is what was saved, and other files are refused in words."""

import json
import zipfile

import numpy as np
import pandas
import pytest
from tunable import launch

from host import ops
from simulator.errors import ConfigError
from simulator.platforms import load_platform
from simulator.run import Run


def _operator(platform):
    x = np.linspace(-4, 4, 3000, dtype=np.float16).reshape(3, 1000)
    return ops.hardswish_backward_v2.run(x, x, platform=platform).runs[0]


@pytest.fixture(params=["910b", "950", "910"])
def run(request):
    return _operator(request.param)


def test_a_loaded_run_has_the_same_record_and_timing(run, tmp_path):
    run.save(tmp_path / "a.ascrun")
    loaded = Run.load(tmp_path / "a.ascrun")
    assert loaded.fingerprint() == run.fingerprint()
    assert loaded.report() == run.report()
    assert loaded.platform == run.platform
    assert dict(loaded.platform.figures) == dict(run.platform.figures)
    assert [str(i.location) for i in loaded.instructions] == [
        str(i.location) for i in run.instructions
    ]


def test_memory_before_the_launch_is_kept(run, tmp_path):
    run.save(tmp_path / "a.ascrun")
    loaded = Run.load(tmp_path / "a.ascrun")

    def by_address(one):
        return {a.address: content.tobytes() for a, content in one.initial.items()}

    assert by_address(loaded) == by_address(run)


def test_a_loaded_run_answers_what_if_and_is_saved_again(tmp_path):
    run = launch(buffers=1)
    run.save(tmp_path / "a.ascrun")
    loaded = Run.load(tmp_path / "a.ascrun")
    assert loaded.what_if(buffers=2).after == run.what_if(buffers=2).after
    loaded.save(tmp_path / "b.ascrun")
    assert Run.load(tmp_path / "b.ascrun").fingerprint() == run.fingerprint()


def test_an_overridden_platform_is_part_of_the_file(tmp_path):
    platform = load_platform("910b").override(**{"timing.block_start_ns": 5000})
    run = launch(platform)
    run.save(tmp_path / "a.ascrun")
    loaded = Run.load(tmp_path / "a.ascrun")
    assert loaded.platform.overridden == ("timing.block_start_ns",)
    assert loaded.cycles == run.cycles != launch().cycles


def test_what_a_kernel_printed_is_kept(tmp_path):
    run = launch()
    run.blocks[3].output.append("hello")
    run.save(tmp_path / "a.ascrun")
    assert Run.load(tmp_path / "a.ascrun").output == "hello"


def test_equal_runs_give_equal_files(tmp_path):
    for name in "ab":
        launch(tiles=3).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_files_are_refused_in_words(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        Run.load(tmp_path / "missing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ConfigError, match="is no saved run"):
        Run.load(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("other", "")
    with pytest.raises(ConfigError, match="is no saved run"):
        Run.load(tmp_path / "zip")


def test_a_later_version_is_refused_with_the_one_that_is_known(tmp_path):
    with zipfile.ZipFile(tmp_path / "later", "w") as archive:
        archive.writestr("run.json", json.dumps({"format": "ascsim-run", "version": 99}))
    with pytest.raises(ConfigError, match="does not know") as caught:
        Run.load(tmp_path / "later")
    assert caught.value.got == "ascsim-run version 99"
    assert caught.value.legal == "ascsim-run version 1"


def test_the_instructions_of_a_saved_run_cannot_be_executed(tmp_path):
    launch().save(tmp_path / "a.ascrun")
    plan = Run.load(tmp_path / "a.ascrun").blocks[0].entries[0][0]
    with pytest.raises(ConfigError, match="cannot be executed again"):
        plan.run()


def test_a_data_frame_holds_one_row_for_each_instruction():
    run = launch(tiles=2)
    frame = run.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(run.instructions)
    assert list(frame.columns) == [
        "block", "core", "index", "name", "pipe", "form", "file", "line", "issued", "start", "end",
        "cycles", "wait", "waited_for", "bytes",
    ]  # fmt: skip
    work = frame[frame.form.isin(["count", "one burst"])]
    assert (
        frame["bytes"].sum() == run.summary.traffic.read_bytes + run.summary.traffic.written_bytes
    )
    assert work["start"].min() > 0


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pandas") as caught:
        launch(tiles=1).to_dataframe()
    assert "pip install pandas" in caught.value.fix
