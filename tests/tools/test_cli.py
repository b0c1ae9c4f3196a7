"""The command as a whole."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_that_of_the_distribution(ascsim):
    assert ascsim("--version").stdout == f"ascsim {version('ascsim')}\n"


@pytest.mark.parametrize("args", [("--help",), ("-h",)])
def test_help_shows_commands_and_examples(ascsim, args):
    result = ascsim(*args)
    assert result.exit_code == 0
    for word in ("run", "cases", "platforms", "Examples", "ascsim run hardswish_backward_v2"):
        assert word in result.stdout


@pytest.mark.parametrize("command", ["run", "cases", "platforms"])
def test_every_command_has_help(ascsim, command):
    result = ascsim(command, "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout


def test_an_unknown_option_or_command_is_code_2(ascsim):
    assert ascsim("run", "--nothing").exit_code == 2
    assert ascsim("nothing").exit_code == 2


def test_the_command_line_is_read_without_numpy():
    code = "import sys, tools.cli; sys.exit('numpy' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
