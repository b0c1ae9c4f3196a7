"""The report as a file: what it holds, how large it is, and what it refuses."""

import re

import numpy as np
import pytest
from html_kernels import BUFFER, run_racing, run_uneven

from simulator.enums import PipeID
from simulator.errors import ConfigError
from simulator.launch import default_options
from tools.html_report import page, render, write_html
from tools.html_report.occupancy import occupancy
from tools.html_report.roofline import roofline
from tools.html_report.streams import Streams


@pytest.fixture(scope="module")
def run():
    return run_uneven(3, 5)


def test_rows_of_a_pipe_do_not_overlap_and_add_up_to_its_busy_cycles(run):
    streams = Streams(run)
    for pipe in (PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3):
        total = 0
        for rows in streams.rows:
            low, high = rows.lanes[pipe]
            busy = rows.columns["busy"][low:high]
            start, end = (rows.columns[c][low:high][busy > 0] for c in ("start", "end"))
            assert (start[1:] >= end[:-1]).all()
            total += int(busy.sum()) * len(rows.blocks)
        assert total == run.timeline.busy(pipe)


@pytest.mark.parametrize("budget", [100, 40, 1])
def test_thinning_keeps_instructions_busy_cycles_and_waits(run, budget):
    full, thin = Streams(run), Streams(run)
    thin.thin(budget)
    assert thin.size < full.size
    assert thin.resolution > 0
    for name in ("count", "busy", "wait"):
        assert [r.columns[name].sum() for r in thin.rows] == [
            r.columns[name].sum() for r in full.rows
        ]
    for rows in thin.rows:
        assert sum(high - low for low, high in rows.lanes.values()) == len(rows.columns["start"])


def test_a_run_within_the_budget_is_not_thinned(run):
    streams = Streams(run)
    streams.thin(streams.size)
    assert streams.resolution == 0


def test_a_buffer_is_taken_from_its_first_write_to_its_last_read(run):
    found = occupancy(run.blocks[0], run.timeline.blocks[0].stream)
    assert [(b.start, b.length) for b in found.buffers] == [(n * BUFFER, BUFFER) for n in range(4)]
    stream = run.timeline.blocks[0].stream
    copies = [i for i in run.instructions if i.block == 0 and i.name == "DataCopy"]
    adds = [i for i in run.instructions if i.block == 0 and i.name == "Add"]
    into = [c for c in copies if c.pipe == "MTE2"]
    # Five tiles alternate between the two buffers of the queue: 0, 2, 4 in the first of them.
    expected = [(stream.start[into[n].index], stream.end[adds[n].index]) for n in (0, 2, 4)]
    assert found.lives[0] == expected


def test_the_roofline_of_a_copying_kernel_is_known_by_hand(example):
    x = np.ones(8 * 16384, np.float16)
    run = example.vector_add[8](x, x, np.empty_like(x), example.AddTiling(x.size, 16384, 2048))
    line = roofline(Streams(run), run.summary)
    # One addition for two halves read and one written; a core adds 128 halves a cycle at 1.85 GHz.
    assert line.intensity == pytest.approx(1 / 6)
    assert line.peak == pytest.approx(8 * 128 * 1.85)
    # Two thirds of the bytes are read at 84 GB/s a core, which takes longer than the writes.
    assert line.bandwidth == pytest.approx(8 * 84 * 1.5)


def test_the_source_shows_calls_and_bytes_of_every_line(example):
    x = np.ones(16384, np.float16)
    run = example.vector_add[1](x, x, np.empty_like(x), example.AddTiling(x.size, 16384, 2048))
    text = render([run])
    (row,) = re.findall(r"<tr id=[^\n]*DataCopy\(xLocal[^\n]*", text)
    cells = re.findall(r'<td class="n">([^<]*)</td>', row)
    # Eight copies of 2048 halves.
    assert cells[0] == "8"
    assert cells[-1] == f"{8 * 2048 * 2:,}"


def test_a_report_refers_to_nothing_outside(run):
    text = render([run])
    assert re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*", text) == []
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|https?://", text)


def test_names_and_sources_are_escaped(run):
    text = render([run], title="<b>&")
    assert "<title>&lt;b&gt;&amp; · ascsim</title>" in text


def test_findings_are_listed(tmp_path):
    with default_options(check="report"):
        found = run_racing()
    text = render([found])
    assert all(f.code in text for f in found.findings)


def test_launches_beyond_the_limit_are_named(run, monkeypatch):
    monkeypatch.setattr(page, "MAX_LAUNCHES", 1)
    assert "1 further launches are not shown" in render([run, run_uneven(1, 1)])


def test_no_launch_is_no_report(tmp_path):
    with pytest.raises(ConfigError, match="no kernel was launched"):
        write_html([], tmp_path / "report.html")


def test_a_file_that_cannot_be_written_is_a_config_error(run, tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write_html([run], tmp_path / "missing" / "report.html")


@pytest.mark.slow
def test_a_hundred_thousand_different_instructions_stay_below_ten_megabytes(tmp_path):
    with default_options(check="off"):
        run = run_uneven(48, 170)
    assert len(run.instructions) > 90_000
    assert run.timeline.distinct_streams == 48
    run.findings = []
    assert write_html([run], tmp_path / "large.html").stat().st_size < 10_000_000
