"""Every example runs on its own and ends well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES, "examples/ holds no script"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_exits_with_zero(example, tmp_path):
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "120", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{example.name} printed\n{done.stdout}\n{done.stderr}"
