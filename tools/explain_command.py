"""``ascsim explain``: what a code means, why a board cares, and a pair that shows it."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from simulator.errors import ConfigError, SimulatorError
from simulator.sanitizer.catalog import CATALOG, Kind
from tools.console import print_json, show
from tools.diagnostics import diagnostic, finding_text
from tools.faults import codes, load

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tools.faults import Pair

FOUND_BY: Final = {
    "call": "the call that is at fault raises an error",
    "record": "a check of the finished launch",
    "host": "the host program, at the call or in the runtime's findings",
    "values": "a look at the values in the calls of the finished launch: run.numbers",
    "report": "the report of a run",
    "self-test": "the tests of the simulator itself",
    "none": "nobody",
}

NOT_CHECKED: Final = {
    "copy.gap_trunc": "Python computes the gap before the call, so that a lost remainder is not to "
    "be seen; its consequences are: copy.pitch, ub.uninit, core.overlap.",
    "mask.consumed": "The calls that count a predicate down belong to the register interface, "
    "which is not simulated.",
    "ub.mismatch": "A tiling does not say which buffer a number is for; its consequences are "
    "found: ub.capacity, vec.oob, copy.pitch, ub.uninit.",
    "tile.units": "A Python number has no unit; its consequences are found: ub.capacity, vec.oob, "
    "gm.oob, tile.cover.",
}
"""Why the checks of a launch leave a kind out."""


def explain(code: str | None = None, *, as_json: bool = False) -> int:
    """Print the page of a code, or all codes; return the exit code.

    Raises
    ------
    ConfigError
        If there is no such code.
    """
    if code is None:
        _print_list(as_json)
        return 0
    found = [kind for kind in CATALOG.values() if kind.code.startswith(code)]
    exact = CATALOG.get(code)
    if exact is not None:
        found = [exact]
    if not found:
        families = ", ".join(dict.fromkeys(known.partition(".")[0] for known in CATALOG))
        alike = difflib.get_close_matches(code, CATALOG, n=1)
        raise ConfigError(
            f"there is no check {code!r}",
            legal=f"a code of {families}; see ascsim explain",
            fix=f"did you mean {alike[0]}?" if alike else None,
        )
    if len(found) > 1:
        _print_list(as_json, found)
    elif as_json:
        print_json(_facts(found[0]))
    else:
        show(*_page(found[0]), wrap=False)
    return 0


def _print_list(as_json: bool, kinds: list[Kind] | None = None) -> None:
    chosen = list(CATALOG.values()) if kinds is None else kinds
    if as_json:
        print_json([kind._asdict() for kind in chosen])
        return
    table = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1))
    table.add_column("code", style="name", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("found by", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for kind in chosen:
        table.add_row(kind.code, kind.severity, kind.found, kind.title)
    show(
        table, "ascsim explain CODE shows what happens on a board, and a broken and a fixed kernel."
    )


def _facts(kind: Kind) -> dict[str, Any]:
    facts: dict[str, Any] = {
        **kind._asdict(),
        "found_by": FOUND_BY[kind.found],
        "not_checked_because": NOT_CHECKED.get(kind.code),
    }
    if kind.code in codes():
        pair = load(kind.code)
        facts["documentation"] = inspect.getdoc(pair.module)
        facts["broken"], facts["fixed"] = pair.source("broken"), pair.source("fixed")
    return facts


def _page(kind: Kind) -> list[RenderableType]:
    head = Text(kind.code, style="name")
    head.append(f"  {kind.title}", style="label")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="faint", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("severity", kind.severity)
    grid.add_row("found by", FOUND_BY[kind.found])
    grid.add_row("on a board", kind.on_a_board)
    if kind.code in NOT_CHECKED:
        grid.add_row("not checked", NOT_CHECKED[kind.code])
    grid.add_row("source", kind.source)
    parts: list[RenderableType] = [head, "", grid]
    if kind.code in codes():
        parts += _shown(load(kind.code))
    return parts


def differ_in_launch(pair: Pair) -> bool:
    """Whether the two kernels are alike and what differs is how the host launches them."""
    broken, fixed = (pair.source(name).partition(":\n")[2] for name in ("broken", "fixed"))
    return broken == fixed


def _shown(pair: Pair) -> list[RenderableType]:
    _, _, prose = (inspect.getdoc(pair.module) or "").partition(": ")
    if differ_in_launch(pair):
        whole = inspect.getsource(pair.module)
        source = whole.partition("CODE = ")[2].partition("\n")[2].strip()
        return ["", Text(prose), "", _code(source), *said_about(pair)]
    return [
        "",
        Text(prose),
        "",
        Text(f"broken, in {pair.path}", style="label"),
        _code(pair.source("broken")),
        *said_about(pair),
        "",
        Text("fixed", style="label"),
        _code(pair.source("fixed")),
        Text("no findings", style="ok") if not pair.findings("fixed") else "",
    ]


def _code(source: str) -> Syntax:
    return Syntax(source.rstrip(), "python", theme="ansi_dark", background_color="default")


def said_about(pair: Pair) -> list[Text]:
    """Run what is broken and return what is said about it."""
    try:
        return [finding_text(finding) for finding in pair.findings("broken")]
    except SimulatorError as error:
        return [diagnostic(error)]
