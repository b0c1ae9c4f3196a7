"""Writes the reference pages ``docs/isa/*.md`` from the declarations: ``python -m tools.isa_docs``.

With ``--check`` it writes nothing and fails when a page is not up to date.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from tools.isa_catalogue import PROFILES, Entry, groups
from tools.isa_command import profile_rows
from tools.isa_page import page

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "isa"

_HEADER: Final = (
    "<!-- Written by `python -m tools.isa_docs` from the declarations; do not edit. -->\n\n"
)


def pages() -> dict[str, str]:
    """Return the text of every page by file name."""
    found = groups()
    texts = {"README.md": _index(found)}
    for module, entries in found.items():
        texts[f"{module}.md"] = _topic(entries)
    return texts


def _index(found: dict[str, list[Entry]]) -> str:
    profiles = " | ".join(PROFILES.values())
    rule = " | ".join("---" for _ in PROFILES)
    lines = [
        "# Instruction reference",
        "",
        "Every call that a kernel can make, by the module that declares it. `ascsim isa NAME`",
        "shows the same facts.",
        "",
        f"| call | pipe | {profiles} | what it does |",
        f"| --- | --- | {rule} | --- |",
    ]
    for module, entries in found.items():
        for entry in entries:
            marks = " | ".join("yes" if p in entry.profiles else "no" for p in PROFILES.values())
            link = f"[{_code(entry.name)}]({module}.md#{anchor(entry.name)})"
            lines.append(f"| {link} | {entry.pipe} | {marks} | {_cell(entry.summary)} |")
    return _HEADER + "\n".join(lines) + "\n"


def _topic(entries: list[Entry]) -> str:
    lines = [f"# {_prose(entries[0].group)}"]
    for entry in entries:
        lines += ["", *_section(entry)]
    return _HEADER + "\n".join(lines) + "\n"


def _section(entry: Entry) -> list[str]:
    facts = page(entry)
    lines = [f"## {entry.name}", ""]
    if entry.name != entry.canonical and "[" not in entry.name:
        return [*lines, f"Another name of [`{entry.canonical}`](#{anchor(entry.canonical)})."]
    lines.append(f"`{facts.signature}`")
    if facts.other_names:
        lines.append(f"(also {', '.join(f'`{n}`' for n in facts.other_names)})")
    lines += ["", _prose(facts.documentation), ""]
    rows = []
    if facts.pipe:
        rows.append(("", "pipe", facts.pipe))
    if facts.operands:
        rows.append(("", "operands", ", ".join(f"{n} ({role})" for n, role in facts.operands)))
    for profile in facts.profiles:
        if not profile.exists:
            rows.append((profile.profile, "", "does not exist"))
        elif entry.specs:
            rows += [(profile.profile, label, text) for label, text in profile_rows(profile)]
    if rows:
        lines += ["| profile | | |", "| --- | --- | --- |"]
        lines += [f"| {a} | {b} | {_cell(c)} |" for a, b, c in rows]
    return lines


def anchor(name: str) -> str:
    """Return the fragment that Markdown renderers give the heading of a name."""
    return re.sub(r"[^\w-]", "", name.lower())


def _code(name: str) -> str:
    return f"`{name}`"


def _prose(text: str) -> str:
    """Turn the double backticks of docstrings into Markdown's and keep brackets plain."""
    return text.replace("``", "`")


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|").replace("\n", " ")


def write() -> list[str]:
    """Write all pages, remove those of topics that are gone; return the names of changed files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    changed = []
    wanted = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in wanted:
            file.unlink()
            changed.append(file.name)
    for name, text in wanted.items():
        path = FOLDER / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            changed.append(name)
    return changed


def outdated() -> list[str]:
    """Return the names of pages that are missing, too many or not as they would be written."""
    wanted = pages()
    present = {file.name: file.read_text("utf-8") for file in FOLDER.glob("*.md")}
    return sorted(n for n in wanted.keys() | present.keys() if wanted.get(n) != present.get(n))


def main(argv: list[str] | None = None) -> int:
    """Write the pages, or check them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.isa_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is not up to date")
    if not parser.parse_args(argv).check:
        print(f"{len(write())} pages written to {FOLDER}")
        return 0
    late = outdated()
    for name in late:
        print(f"{name} is not up to date; run python -m tools.isa_docs")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
