"""``ascsim platforms``."""

import json

from simulator.platforms import platform_names


def test_the_list_has_every_profile(ascsim, golden):
    result = ascsim("platforms")
    assert result.exit_code == 0
    golden("platforms.txt", result.stdout)
    for name in platform_names():
        assert f"\n {name} " in result.stdout


def test_one_profile_shows_every_figure_with_unit_confidence_and_source(ascsim):
    text = ascsim("platforms", "Ascend910B").stdout
    assert text.startswith("910b1: ")
    (clock,) = (line for line in text.splitlines() if line.startswith(" clock_mhz"))
    assert clock.split()[:4] == ["clock_mhz", "1,850", "MHz", "documented"]
    assert "Sources: repository and path" in text
    # Every source number that a row cites is listed below.
    tables, _, listed = text.partition("Sources:")
    cited = {word for word in tables.split() if word.startswith("[") and word.endswith("]")}
    assert cited
    assert all(f"{number} " in listed for number in cited)


def test_a_provisional_profile_says_so(ascsim):
    assert "Its timing is provisional." in ascsim("platforms", "950").stdout
    assert "provisional" not in ascsim("platforms", "910b1").stdout


def test_json_has_the_figures(ascsim):
    listed = json.loads(ascsim("platforms", "--json").stdout)
    assert [profile["name"] for profile in listed] == list(platform_names())
    one = json.loads(ascsim("platforms", "910b", "--json").stdout)
    assert one["figures"]["chip.aiv"] == {
        "value": 48,
        "unit": "count",
        "source": one["figures"]["chip.aiv"]["source"],
        "confidence": "documented",
        "note": "",
    }


def test_an_unknown_platform_is_one_line_and_code_2(ascsim):
    result = ascsim("platforms", "920")
    assert result.exit_code == 2
    assert result.stderr.startswith("ascsim: error: there is no platform '920'")
    assert len(result.stderr.splitlines()) == 1
