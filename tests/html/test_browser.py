"""A report in a real browser: it loads without a network, zooms, filters and explains itself."""

import json

import numpy as np
import pytest
from html_kernels import run_racing, run_uneven
from selenium.webdriver.common.keys import Keys

from simulator.launch import default_options
from tools.html_report import write_html

LIGHT = {"S": (124, 107, 184), "V": (47, 127, 216), "MTE2": (22, 149, 111), "MTE3": (221, 122, 26)}
LANES = list(LIGHT)


@pytest.fixture(scope="module")
def added(example):
    """A run of the example on two cores, eight tiles each."""
    x = np.ones(2 * 16384, np.float16)
    tiling = example.AddTiling(x.size, 16384, 2048)
    return example.vector_add[2](x, x, np.empty_like(x), tiling)


@pytest.fixture(scope="module")
def report(added, tmp_path_factory):
    return write_html([added], tmp_path_factory.mktemp("report") / "report.html")


def work(run, block, pipe):
    return [
        i for i in run.instructions if (i.block, i.pipe) == (block, pipe) and "Flag" not in i.name
    ]


def test_a_report_loads_without_errors_and_asks_for_nothing_but_itself(page, report):
    page.open(report)
    asked = [
        message["params"]["request"]["url"]
        for entry in page.driver.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert page.driver.get_log("browser") == []


def test_every_instruction_is_in_the_page(page, report, added):
    page.open(report)
    assert page.found == len(added.instructions)
    assert page.range == (0, added.cycles)


@pytest.mark.parametrize(("core", "pipe"), [(0, "V"), (1, "MTE2"), (1, "MTE3")])
def test_work_is_drawn_in_its_pipes_colour_where_it_happens(page, report, added, core, pipe):
    page.open(report)
    page.click("input.path")
    # Copies begin while earlier ones are under way; what is surely their own is their end.
    for cycle in [i.end - min(20, i.cycles / 2) for i in work(added, core, pipe)]:
        x, y = page.place(core, LANES.index(pipe), cycle, added.cycles)
        # Below the text of the box.
        assert page.colour(x, y + 6) == LIGHT[pipe]


def test_hovering_tells_what_an_instruction_is_and_where_it_comes_from(page, report, added):
    page.open(report)
    (first, *_) = work(added, 1, "V")
    text = page.hover(*page.place(1, LANES.index("V"), (first.start + first.end) / 2, added.cycles))
    assert "Add (count) on V, core 1, block 1" in text
    assert f"cycles {first.start:,} to {first.end:,} = {first.cycles:,}" in text
    assert f"vector_add.py:{first.location.line}" in text
    assert "2,048 elements" in text


def test_zooming_keeps_the_middle_and_fit_shows_everything(page, report, added):
    page.open(report)
    page.click("button.in")
    low, high = page.range
    assert high - low == pytest.approx(added.cycles / 2, abs=1)
    assert low + high == pytest.approx(added.cycles, abs=2)
    page.click("button.out")
    page.click("button.in")
    page.click("button.fit")
    assert page.range == (0, added.cycles)


def test_keys_zoom_pan_and_fit(page, report, added):
    page.open(report)
    page.keys("+")
    low, high = page.range
    assert high - low == pytest.approx(0.6 * added.cycles, abs=1)
    page.keys(Keys.ARROW_RIGHT)
    assert page.range[0] == pytest.approx(low + 0.15 * (high - low), abs=2)
    page.keys(Keys.ARROW_LEFT, "-")
    assert page.range == (0, added.cycles)
    page.keys("+", "0")
    assert page.range == (0, added.cycles)


def test_keys_walk_from_instruction_to_instruction_and_to_the_source(page, report, added):
    page.open(report)
    page.type(".filter", "Add")
    adds = work(added, 0, "V")
    for expected in adds[:2]:
        page.keys(".")
        assert f"instruction {expected.index}" in page.one(".detail").text
    page.keys(",")
    assert f"instruction {adds[0].index}" in page.one(".detail").text
    page.keys(Keys.ENTER)
    assert page.driver.current_url.endswith(f"#s0-0-{adds[0].location.line}")
    assert "Add(zLocal" in page.one(".source tr.now").text


def test_a_name_filters_instructions_and_greys_the_others(page, report, added):
    page.open(report)
    page.click("input.path")
    page.type(".filter", "add")
    assert page.found == len([i for i in added.instructions if i.name == "Add"])
    copy, add = work(added, 0, "MTE2")[0], work(added, 0, "V")[0]
    x, y = page.place(0, LANES.index("MTE2"), copy.end - 20, added.cycles)
    assert page.colour(x, y + 6) == (195, 202, 212)
    x, y = page.place(0, LANES.index("V"), (add.start + add.end) / 2, added.cycles)
    assert page.colour(x, y + 6) == LIGHT["V"]


def test_a_source_line_filters_its_own_instructions(page, report, added):
    page.open(report)
    line = work(added, 0, "V")[0].location.line
    page.click(f"a.line[data-find='vector_add.py:{line}']")
    assert page.one(".filter").get_attribute("value") == f"vector_add.py:{line}"
    assert page.found == sum(i.location.line == line for i in added.instructions)


def test_pipes_and_cores_can_be_chosen(page, report, added):
    page.open(report)
    page.click(".pipes input[value=MTE2]")
    assert page.found == sum(i.pipe != "MTE2" for i in added.instructions)
    page.type("input.cores", "1")
    assert page.found == sum(i.pipe != "MTE2" and i.block == 1 for i in added.instructions)
    page.type("input.cores", "no core")
    assert page.one("input.cores").get_attribute("aria-invalid") == "true"


def test_the_page_follows_the_system_and_the_button_between_light_and_dark(page, report):
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    page.open(report)
    background = "return getComputedStyle(document.body).backgroundColor"
    assert page.js(background) == "rgb(17, 21, 28)"
    page.js("document.querySelector('button.theme').click()")
    assert page.js(background) == "rgb(246, 247, 249)"
    page.js("localStorage.clear()")


def test_the_critical_path_is_marked_above_its_lanes(page, report, added):
    page.open(report)
    busiest = max(added.timeline.blocks, key=lambda placed: placed.end).core
    # Everything starts with the start-up of the block, which the scalar unit waits for.
    x, y = page.place(busiest, 0, added.timeline.start_cycles / 2, added.cycles)
    assert page.colour(x, y - 8) == (212, 20, 90)


def test_a_finding_leads_to_its_moment_and_its_line(page, tmp_path):
    with default_options(check="report"):
        run = run_racing()
    (first, *_) = run.findings
    page.open(write_html([run], tmp_path / "racing.html"))
    assert first.code in page.one("section#findings").text
    page.click("button.goto")
    low, high = page.range
    ends = run.instructions.of_block(first.block, first.index).end
    assert low <= ends <= high
    assert high - low <= 2000
    link = page.one("section#findings a")
    target = link.get_attribute("href").partition("#")[2]
    assert page.one(f"[id='{target}'] code").text.strip().endswith("256)")


def test_launches_are_chosen_from_a_list(page, added, tmp_path):
    other = run_uneven(1, 3)
    page.open(write_html([added, added, other], tmp_path / "two.html"))
    names = [
        option.text for option in page.driver.find_elements("css selector", ".launches option")
    ]
    assert names == ["launches 1 to 2, all alike: vector_add", "launch 3: uneven"]
    page.driver.find_elements("css selector", ".launches option")[1].click()
    page.until(lambda: page.js("return document.documentElement.dataset.ready") == "1")
    page.settle()
    assert page.found == len(other.instructions)
    assert page.driver.get_log("browser") == []


def test_a_run_with_blocks_one_after_another_shows_them_all(page, tmp_path):
    run = run_uneven(50, 2)
    assert run.timeline.cores < 50
    page.open(write_html([run], tmp_path / "rounds.html"))
    assert page.found == len(run.instructions)
    assert page.driver.get_log("browser") == []
