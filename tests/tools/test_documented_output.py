"""What the documents show as output is what their snippets print.

A ``text`` block that follows a ``python`` block holds its output; ``--rewrite-golden`` writes it
anew.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PROSE = r"\s*(?:[^\n`#][^\n]*\n+)*"
OUTPUT = re.compile(PROSE + r"```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)


def outputs(text, path):
    """Run the python blocks in order; give (start, end, printed) for each text block below one.

    Prose may stand between the two, but no heading and no other block.
    """
    namespace = {"__name__": "snippets"}
    found = []
    for block in PYTHON.finditer(text):
        printed = io.StringIO()
        line = text.count("\n", 0, block.start("body"))
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + block["body"], str(path), "exec"), namespace)
        output = OUTPUT.match(text, block.end())
        if output:
            found.append((output.start("shown"), output.end("shown"), printed.getvalue()))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_output_shown_is_the_output_printed(path, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    found = outputs(text, path)
    if request.config.getoption("rewrite_golden", default=False):
        for start, end, printed in reversed(found):
            text = text[:start] + printed + text[end:]
        path.write_text(text, encoding="utf-8")
        return
    for start, end, printed in found:
        assert text[start:end] == printed


def test_the_report_in_the_readme_begins_as_the_command_prints_it():
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    golden = (ROOT / "tests/golden/run_hardswish_backward_v2.txt").read_text(encoding="utf-8")
    assert "\n".join(golden.splitlines()[:4]) in shown
