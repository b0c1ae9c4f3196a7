"""``ascsim run <script.py>``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path("tests/tools/scripts")
WRONG_LINE = 1 + next(
    number
    for number, line in enumerate(
        (Path(__file__).parent / "scripts" / "copy_too_much.py").read_text("utf-8").splitlines()
    )
    if "DataCopy(xLocal" in line
)


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_vector_add_example_is_reported(ascsim, golden):
    result = ascsim("run", "examples/vector_add.py")
    assert result.exit_code == 0, result.stderr
    golden("run_vector_add.txt", result.stdout)


def test_launches_that_are_alike_are_reported_once(ascsim):
    result = ascsim("run", SCRIPTS / "launches.py", "3")
    assert result.exit_code == 0, result.stderr
    headings = [line for line in result.stdout.splitlines() if line.startswith("launch")]
    assert headings == [
        "launches 1 to 3, all alike (of 4): read_only",
        "launch 4 (of 4): read_only",
    ]


def test_a_script_sees_its_arguments_and_its_folder(ascsim):
    result = ascsim("run", SCRIPTS / "launches.py", "1", "--seed", "7", "--", "--json", "-x")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("argv ['1', '--seed', '7', '--json', '-x'] helper\n")


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_platform_counts_before_and_after_the_script(ascsim, place):
    path, option = str(SCRIPTS / "launches.py"), ["--platform=950"]
    args = {
        "before": [*option, path, "0"],
        "between": [path, *option, "0"],
        "after": [path, "0", "--platform", "950"],
    }[place]
    result = ascsim("run", *args)
    assert result.stdout.startswith("argv ['0'] helper\n")
    assert "read_only on 950pr" in result.stdout


@pytest.mark.parametrize("option", ["--platform", "--set", "--order", "--html"])
def test_an_option_without_its_value_is_refused_behind_a_script_too(ascsim, option):
    result = ascsim("run", SCRIPTS / "launches.py", "0", option)
    assert result.exit_code == 2
    assert f"Option '{option}' requires an argument" in result.stderr
    assert result.stdout == ""


def test_json_alone_is_on_standard_output(ascsim):
    result = ascsim("run", SCRIPTS / "launches.py", "1", "--json")
    report = json.loads(result.stdout)
    assert [launch["block_dim"] for launch in report["launches"]] == [1, 2]
    assert report["launches"][0]["structs"] == {"tiling": {"length": 64}}
    assert (report["args"], report["exit_code"], report["error"]) == (["1"], 0, None)
    assert result.stderr.startswith("argv ['1'] helper")


def test_a_mistake_in_a_kernel_is_shown_as_a_compiler_does(ascsim, golden):
    result = ascsim("run", SCRIPTS / "copy_too_much.py")
    assert result.exit_code == 1
    assert result.stdout == ""
    golden("diagnostic.txt", result.stderr)


def test_a_mistake_in_a_kernel_is_told_in_json(ascsim):
    result = ascsim("run", "--json", SCRIPTS / "copy_too_much.py")
    report = json.loads(result.stdout)
    assert report["exit_code"] == result.exit_code == 1
    assert report["error"]["location"].endswith(f"copy_too_much.py:{WRONG_LINE}")
    assert report["error"]["block"] == 0


def test_launches_before_a_mistake_are_reported(ascsim, script):
    path = script(
        "import numpy as np\n"
        "from simulator.ascendc import *\n"
        "@kernel\n"
        "def fine(): PipeBarrier(PIPE_ALL)\n"
        "@kernel\n"
        "def wrong(): PipeBarrier(3.5)\n"
        "fine[1]()\n"
        "wrong[1]()\n"
    )
    result = ascsim("run", path)
    assert result.exit_code == 1
    assert "launch 1: fine" in result.stdout
    assert f"{path}:6" in result.stderr


def test_a_fault_under_a_host_call_shows_device_and_host(ascsim, script, monkeypatch):
    path = script(
        "import numpy as np\n"
        "from host import ops\n"
        "ops.hardswish_backward_v2(np.zeros(4, np.float32), np.zeros(5, np.float32))\n"
    )
    result = ascsim("run", path)
    assert result.exit_code == 1
    assert "161002 ACLNN_ERR_PARAM_INVALID" in result.stderr
    assert "Traceback" not in result.stderr


def test_any_other_exception_is_a_traceback_that_begins_in_the_script(ascsim, script):
    path = script("def f():\n    return 1 / 0\n\nf()\n")
    result = ascsim("run", path)
    assert result.exit_code == 1
    frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert [str(path) in frame for frame in frames] == [True, True]
    assert result.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_an_exception_in_a_kernel_is_a_traceback_without_the_launch(ascsim, script):
    path = script(
        "from simulator.ascendc import TPosition, TQue, kernel\n"
        "@kernel\n"
        "def wrong():\n"
        "    TQue(TPosition.VECIN, 1).Deque()\n"
        "wrong[1]()\n"
    )
    result = ascsim("run", path)
    assert result.exit_code == 1
    places = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert places == [
        f'  File "{path}", line 5, in <module>',
        f'  File "{path}", line 4, in wrong',
    ]
    assert "Did you mean: 'DeQue'?" in result.stderr


def test_a_script_that_is_interrupted_shows_where_it_was(ascsim, script):
    path = script(
        "from simulator.ascendc import kernel\n"
        "@kernel\n"
        "def endless():\n"
        "    raise KeyboardInterrupt\n"
        "endless[1]()\n"
    )
    result = ascsim("run", path)
    assert result.exit_code == 130
    assert f'  File "{path}", line 4, in endless' in result.stderr


def test_a_launch_that_is_not_possible_is_shown_at_its_line(ascsim, script):
    path = script(
        "from simulator.ascendc import kernel\n"
        "@kernel\n"
        "def nothing(x):\n"
        "    pass\n"
        "nothing[1](x=1)\n"
    )
    result = ascsim("run", path)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[:2] == [
        "error[config]: a launch passes arguments by their order, not by name",
        f"  --> {path}:5",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("print('hello')", True),
        ("import sys; print(sys.argv[0])", True),
        ("import sys; print(sys.argv[1:])", False),
        ("import sys; print(*sys.argv)", False),
        ("import sys; len(sys.argv)", False),
        ("import argparse; argparse.ArgumentParser().parse_known_args()", False),
    ],
)
def test_arguments_that_the_script_does_not_read_are_named(ascsim, script, text, told):
    path = script(text)
    result = ascsim("run", path, "--plattform", "950")
    note = f"ascsim: note: {path} does not read its arguments --plattform 950\n"
    assert result.exit_code == 0
    assert result.stderr == (note if told else "")


def test_a_syntax_error_names_the_line(ascsim, script):
    result = ascsim("run", script("x = (\n"))
    assert result.exit_code == 1
    assert "SyntaxError" in result.stderr
    assert "script.py" in result.stderr


@pytest.mark.parametrize(
    ("text", "code", "stderr"),
    [
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("raise SystemExit('the result is wrong')", 1, "the result is wrong\n"),
    ],
)
def test_the_exit_code_of_the_script_is_kept(ascsim, script, text, code, stderr):
    result = ascsim("run", script(text))
    assert (result.exit_code, result.stderr) == (code, stderr)


def test_a_script_without_a_launch_says_so(ascsim, script):
    path = script("x = 1\n")
    assert len(str(path)) > 60
    assert ascsim("run", path).stdout == f"{path} launched no kernel.\n"


def test_the_interpreter_is_left_as_it_was(ascsim, script):
    before = sys.modules["__main__"], sys.argv[:], sys.path[:]
    ascsim("run", script("import sys\nsys.path.append('x')\nsys.argv.append('y')\n"), "a")
    assert (sys.modules["__main__"], sys.argv, sys.path) == before


def test_options_of_operators_are_refused_before_a_script(ascsim):
    result = ascsim("run", "--shape", "64", SCRIPTS / "launches.py", "1")
    assert result.exit_code == 2
    assert "--shape is for operators" in result.stderr


def test_the_command_runs_as_a_process_of_its_own(tmp_path):
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tools.cli", "run", str(root / SCRIPTS / "copy_too_much.py")],
        cwd=root,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 1
    assert f"copy_too_much.py:{WRONG_LINE}" in done.stderr
    assert "Traceback" not in done.stderr
