"""``ascsim correlate``: a run beside the counters of a board."""

import json

import pytest

OPERATOR = ("hardswish_backward_v2", "--shape", "64,1024")
HEADER = "block_id,sub_block_id,aic_time(us),aiv_time(us),aiv_vec_ratio,aiv_icache_miss_rate"


@pytest.fixture
def folder(ascsim, tmp_path):
    """Counters of the operator, written by the simulator itself."""
    result = ascsim("profile", *OPERATOR, "--output", tmp_path, "--save", tmp_path / "own.ascrun")
    assert result.exit_code == 0
    return tmp_path


def written(tmp_path, *lines, name="PipeUtilization.csv"):
    path = tmp_path / name
    path.write_text("\n".join((HEADER, *lines)) + "\n")
    return path


def test_a_run_agrees_with_its_own_counters(ascsim, folder):
    found = json.loads(ascsim("correlate", *OPERATOR, folder, "--json").stdout)
    assert "aiv_total_cycles" in found["columns"]
    for column in found["columns"].values():
        assert column["error"] == pytest.approx(0, abs=2e-5)
        assert column["worst_block_error"] == pytest.approx(0, abs=2e-5)


def test_a_saved_run_is_compared_as_well(ascsim, folder):
    [file] = folder.rglob("PipeUtilization*.csv")
    result = ascsim("correlate", folder / "own.ascrun", file)
    assert result.exit_code == 0
    assert "aiv_time(us)" in result.stdout
    assert all(len(line) <= 100 for line in result.stdout.splitlines())


def test_means_of_other_blocks_and_shares_are_compared(ascsim, tmp_path):
    name = "PipeUtilization_20240603022812284.csv"
    path = written(
        tmp_path, "0,vector0,NA,10.0,0.5,0.1", "0,cube0,7,NA,NA,NA", "1,vector0,NA,30.0,0.7,0.3",
        name=name,
    )  # fmt: skip
    found = json.loads(ascsim("correlate", *OPERATOR, tmp_path, "--json").stdout)
    assert found["file"].endswith(name)
    assert found["blocks"]["measured"] == 2
    time, share = found["columns"]["aiv_time(us)"], found["columns"]["aiv_vec_ratio"]
    assert (time["measured"], time["measured_least"], time["measured_greatest"]) == (20, 10, 30)
    assert time["error"] == pytest.approx(time["simulated"] / 20 - 1)
    assert share["error"] == pytest.approx(share["simulated"] - 0.6)
    assert share["error_is"] == "difference"
    assert time["worst_block_error"] is None
    assert found["left_out"] == {
        "aic_time(us)": "no value in the file",
        "aiv_icache_miss_rate": "no model",
    }
    assert "not the same on both sides" in ascsim("correlate", *OPERATOR, path).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "block_id, sub_block_id"),
        (HEADER + "\n0,vector0,NA\n", "line 2"),
        (HEADER + "\n0,vector0,NA,fast,0.5,NA\n", "'fast' in line 2"),
        (HEADER + "\n0,vector0,NA,nan,0.5,NA\n", "'nan' in line 2"),
        (HEADER + "\n0,cube0,1,NA,NA,NA\n", "no row of a vector block"),
        (HEADER + "\n0,vector0,NA,NA,NA,0.5\n", "no value that the simulator has"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(ascsim, tmp_path, text, said):
    path = tmp_path / "counters.csv"
    path.write_text(text)
    result = ascsim("correlate", *OPERATOR, path)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_missing_file_and_a_folder_without_one_are_refused(ascsim, tmp_path):
    assert "No such file" in ascsim("correlate", *OPERATOR, tmp_path / "none.csv").stderr
    assert "0 files PipeUtilization.csv" in ascsim("correlate", *OPERATOR, tmp_path).stderr


def test_one_launch_of_several_must_be_chosen(ascsim, tmp_path):
    script = tmp_path / "twice.py"
    script.write_text(
        "import numpy as np\n"
        "from simulator.ascendc import PIPE_ALL, PipeBarrier, kernel\n"
        "@kernel\n"
        "def nothing(x):\n"
        "    PipeBarrier(PIPE_ALL)\n"
        "for blocks in (1, 2):\n"
        "    nothing.launch(blocks, np.zeros(8, np.float16))\n"
    )
    path = written(tmp_path, "0,vector0,NA,10.0,0.5,NA")
    refused = ascsim("correlate", script, path)
    assert refused.exit_code == 2
    assert "--launch 1 to 2" in refused.stderr
    found = json.loads(ascsim("correlate", script, path, "--launch", 2, "--json").stdout)
    assert found["blocks"] == {"measured": 1, "simulated": 2}
