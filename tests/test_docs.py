"""Every snippet of the README and of docs/ runs, and so does every docstring example.

The blocks of a document run in reading order in one folder: ``python`` blocks in one namespace,
and in ``sh``, ``bash``, ``shell`` or ``console`` blocks the commands that start with ``ascsim``.
A block whose fence ends in ``no-run`` is left out and shows up among the skipped tests.
"""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = ("simulator", "kernels", "host", "tools")
SHELLS = {"sh", "bash", "shell", "console"}
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,}) *(?P<info>[^`]*)$")


class Block(NamedTuple):
    """One fenced block: language, further words of the fence, number of its first line, text."""

    language: str
    marks: tuple[str, ...]
    line: int
    text: str


def fenced_blocks(text):
    blocks, opened, body = [], None, []
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                language, *marks = fence["info"].split() or [""]
                opened, body = (fence, language, tuple(marks), number + 1), []
        elif fence and fence["ticks"].startswith(opened[0]["ticks"]) and not fence["info"].strip():
            blocks.append(Block(*opened[1:], "\n".join(body) + "\n"))
            opened = None
        else:
            body.append(line.removeprefix(opened[0]["indent"]))
    if opened is not None:
        raise ValueError(f"the fence before line {opened[3]} is never closed")
    return blocks


def commands(block):
    """Give (line, command) for each ascsim command, joined over trailing backslashes."""
    found, pending, start = [], "", 0
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if not pending:
            start = number
        pending += line.removeprefix("$ ") if not pending else line
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        if re.match(r"ascsim(\s|$)", pending):
            found.append((start, pending))
        pending = ""
    return found


def runnable(block):
    return (block.language == "python" or block.language in SHELLS) and "no-run" not in block.marks


def run_command(command, where):
    script = Path(sys.executable).parent
    assert (script / "ascsim").exists(), "ascsim is not installed here: pip install -e '.[test]'"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env={
            **os.environ,
            "PATH": f"{script}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "120",
            "PYTHONIOENCODING": "utf-8",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{where}: {command}\n{done.stdout}\n{done.stderr}"


def run_blocks(blocks, path, monkeypatch):
    # A real module, since dataclasses and pickle look their module up by name.
    module = ModuleType(re.sub(r"\W", "_", f"snippets_{path.stem}"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in filter(runnable, blocks):
        if block.language == "python":
            # Blank lines first, so that tracebacks and findings point at the line of the document.
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, str(path), "exec"), module.__dict__)
        else:
            for line, command in commands(block):
                run_command(command, f"{path.name}:{line}")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets_of_the_document_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(fenced_blocks(path.read_text(encoding="utf-8")), path, monkeypatch)


NOT_RUN = [
    pytest.param(path, block, id=f"{path.relative_to(ROOT)}:{block.line}")
    for path in DOCUMENTS
    if path.exists()
    for block in fenced_blocks(path.read_text(encoding="utf-8"))
    if "no-run" in block.marks
]


@pytest.mark.skipif(not NOT_RUN, reason="no block is marked no-run")
@pytest.mark.parametrize(("path", "block"), NOT_RUN)
def test_block_marked_no_run_is_at_least_valid(path, block):
    if block.language == "python":
        compile("\n" * (block.line - 1) + block.text, str(path), "exec")
    pytest.skip(f"{path.name}:{block.line} is marked no-run")


def modules_with_examples():
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if ">>> " in file.read_text(encoding="utf-8"):
                name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
                yield name.removesuffix(".__init__")


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstring_examples_are_true(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.failed == 0


SAMPLE = """\
# Title

```python
x = 1
```

~~~text
```python
raise SystemExit
```
~~~

  ```python
  y = x + 1
  ```

```python no-run
raise SystemExit
```

```console
$ ascsim run \\
    --shape 64
output
$ ls
```
"""


def test_fences_are_read_with_language_marks_and_line():
    assert [(b.language, b.marks, b.line) for b in fenced_blocks(SAMPLE)] == [
        ("python", (), 4),
        ("text", (), 8),
        ("python", (), 14),
        ("python", ("no-run",), 18),
        ("console", (), 22),
    ]
    assert fenced_blocks(SAMPLE)[2].text == "y = x + 1\n"


def test_only_ascsim_commands_are_taken_from_a_shell_block():
    assert commands(fenced_blocks(SAMPLE)[-1]) == [(22, "ascsim run     --shape 64")]


def test_an_open_fence_is_refused():
    with pytest.raises(ValueError, match="before line 2 is never closed"):
        fenced_blocks("```python\nx = 1\n")


def test_blocks_share_a_namespace_and_a_failure_names_its_line(monkeypatch):
    sample = "```python\nx = 1\n```\n\n```python\nassert x == 1\n1 / 0\n```\n"
    with pytest.raises(ZeroDivisionError) as caught:
        run_blocks(fenced_blocks(sample), Path("sample.md"), monkeypatch)
    frame = caught.traceback[-1]
    assert (str(frame.path), frame.lineno + 1) == ("sample.md", 7)
