"""``ascsim isa``: the instruction set, from the declarations."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from simulator.errors import ConfigError
from simulator.platforms import load_platform
from tools.console import print_json, show
from tools.isa_catalogue import PROFILES, groups, lookup, names
from tools.isa_page import Page, ProfileFacts, page

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simulator.enums import Arch


def isa(
    name: str | None = None,
    *,
    only_names: bool = False,
    platform: str | None = None,
    as_json: bool = False,
) -> int:
    """Print the instructions by topic, one of them in full, or bare names; return the exit code.

    Raises
    ------
    ConfigError
        If there is no such instruction or platform, or the platform does not have it.
    """
    arch = load_platform(platform).arch if platform is not None else None
    if arch is not None and arch not in PROFILES:
        raise ConfigError(
            f"the instruction set of {arch.family} is not described",
            got=platform,
            legal=", ".join(PROFILES.values()),
        )
    if only_names:
        _print_names(name, arch, as_json)
    elif name is None:
        _print_list(arch, as_json)
    else:
        _print_page(name, arch, as_json)
    return 0


def _print_names(name: str | None, arch: Arch | None, as_json: bool) -> None:
    if name is not None:
        raise ConfigError("--names lists all names and takes none", got=name)
    archs = [arch] if arch is not None else list(PROFILES)
    found = list(dict.fromkeys(n for one in archs for n in names(one)))
    if as_json:
        print_json(found)
    else:
        sys.stdout.write("".join(f"{n}\n" for n in found))


def _print_list(arch: Arch | None, as_json: bool) -> None:
    listed = {
        module: [e for e in entries if arch is None or e.exists_on(arch)]
        for module, entries in groups().items()
    }
    if as_json:
        print_json(
            {
                module: [
                    {"name": e.name, "pipe": e.pipe, "profiles": e.profiles, "summary": e.summary}
                    for e in entries
                ]
                for module, entries in listed.items()
            }
        )
        return
    parts: list[RenderableType] = []
    for entries in listed.values():
        if not entries:
            continue
        table = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=0)
        table.add_column(no_wrap=True)
        table.add_column("pipe", no_wrap=True)
        table.add_column("profiles", no_wrap=True)
        table.add_column("what it does", overflow="fold")
        for e in entries:
            table.add_row(
                Text(e.name, style="name"), e.pipe, " ".join(e.profiles), _text(e.summary)
            )
        parts += [Text(entries[0].group, style="label"), table]
    show(*parts, "ascsim isa NAME shows forms, element types, constraints, cost and source.")


def _print_page(name: str, arch: Arch | None, as_json: bool) -> None:
    entry = lookup(name)
    if arch is not None and not entry.exists_on(arch):
        raise ConfigError(
            f"{entry.name} does not exist on {PROFILES[arch]}", legal=", ".join(entry.profiles)
        )
    found = page(entry)
    chosen = [f for f in found.profiles if arch is None or f.profile == PROFILES[arch]]
    if as_json:
        print_json({**asdict(found), "profiles": [asdict(f) for f in chosen]})
    else:
        show(*_rendered(found, chosen))


def _rendered(found: Page, chosen: list[ProfileFacts]) -> list[RenderableType]:
    title = Text(found.name, style="name")
    if found.other_names:
        title.append(f"  (also {', '.join(found.other_names)})", style="faint")
    parts: list[RenderableType] = [title, Text(found.signature), "", _text(found.documentation), ""]
    common = _grid()
    if found.pipe:
        common.add_row("pipe", found.pipe)
    if found.operands:
        common.add_row("operands", Text(", ".join(f"{n} ({role})" for n, role in found.operands)))
    parts.append(common)
    for facts in chosen:
        parts += ["", Text(f"on {facts.profile}", style="label"), _profile_grid(facts)]
    return parts


def _text(documentation: str) -> Text:
    return Text(documentation.replace("``", ""))


def _grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="faint", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _profile_grid(facts: ProfileFacts) -> RenderableType:
    if not facts.exists:
        return Text("does not exist")
    table = _grid()
    for label, text in profile_rows(facts):
        table.add_row(label, _text(text))
    return table


def profile_rows(facts: ProfileFacts) -> list[tuple[str, str]]:
    """Return (label, text) pairs of what a profile accepts and charges."""
    rows = []
    if facts.forms:
        rows.append(("forms", ", ".join(facts.forms)))
    if facts.dtypes:
        rows.append(("element types", ", ".join(facts.dtypes)))
    rows += [(f"{name} form", text) for name, text in facts.variants]
    if facts.constraints:
        rows.append(("constraints", facts.constraints))
    for cost in facts.costs:
        types = ", ".join(cost.dtypes)
        rows.append(("cycles", f"{types}: {cost.formula} [{cost.status}]"))
    if facts.source:
        rows.append(("source", facts.source))
    return rows or [("", "no restriction")]
