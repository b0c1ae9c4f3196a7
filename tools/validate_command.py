"""``ascsim validate``: predicted against measured time for published kernels and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernels.validation.predict import BOARD, KINDS, WHOLE, errors, validate
from kernels.validation.rows import measured_rows
from simulator.errors import ConfigError
from simulator.platforms import load_platform
from tools.console import print_json, show
from tools.options import override_platform
from tools.progress import progress
from tools.report import title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from kernels.validation.predict import PairPrediction, Prediction, Validation
    from simulator.platforms import Platform

WORST: Final = 10
"""Rows of a cycle table that the report shows without ``--all``."""
_FAR: Final = 0.15
_NEAR: Final = 0.06
_IDS: Final = 6


def run_validation(
    rows: Sequence[str], platform: str | None, settings: Sequence[str], *, quiet: bool = False
) -> Validation:
    """Rebuild rows of the table and run them.

    Parameters
    ----------
    rows : sequence of str
        Ids; all rows if empty.
    platform : str, optional
        Run on this platform instead of the profile of the measured chip; rows that were measured
        on another chip are then left out.
    settings : sequence of str
        ``key=value`` texts that override figures of the profiles.
    quiet : bool
        Show no progress.

    Raises
    ------
    ConfigError
        If there is no such row, platform or key, or no row was measured on the platform's chip.
    """
    known = measured_rows()
    rows = [row.upper() for row in rows]
    for row in rows:
        if row not in known:
            raise ConfigError(
                f"there is no row {row!r}", legal=f"{next(iter(known))} to {[*known][-1]}"
            )
    chosen = None if platform is None else load_platform(platform)

    def profile(name: str) -> Platform:
        return override_platform(load_platform(name) if chosen is None else chosen, settings)

    # A mistake in a setting is told before anything runs.
    profile("910b1")
    soc_version = "" if chosen is None else chosen.soc_version
    with progress("rebuilding measured kernels") as say:

        def watch(row: str, number: int, of: int) -> None:
            if not quiet:
                say(f"row {row}, {number} of {of}")

        found = validate(profile, only=rows, soc_version=soc_version, watch=watch)
    if chosen is not None and not found.predictions:
        raise ConfigError(
            f"no row was measured on {soc_version}",
            legal=", ".join(_measured_chips()),
            fix="leave --platform out to run every row on its own chip",
        )
    return found


def _measured_chips() -> list[str]:
    from kernels.validation.predict import platform_of_row

    names = {platform_of_row(row) for row in measured_rows().values()} - {""}
    return sorted({load_platform(name).soc_version for name in names})


def validate_command(
    rows: Sequence[str],
    *,
    platform: str | None,
    settings: Sequence[str],
    plot: str | None,
    every: bool,
    as_json: bool,
) -> int:
    """Print predictions beside measurements; return the exit code.

    Raises
    ------
    ConfigError
        As :func:`run_validation`, and if the plot cannot be written.
    """
    from tools.validation_plot import check_plot, write_plot

    if plot is not None:
        check_plot(plot)
    found = run_validation(rows, platform, settings)
    if as_json:
        print_json(_as_dict(found))
    else:
        show(*_report(found, every))
    if plot is not None:
        path = write_plot(found.compared, plot)
        show(f"plot written to {path}", stderr=True, wrap=False)
    return 0


def _as_dict(found: Validation) -> dict[str, Any]:
    return {
        "rows": [p.as_dict() for p in found.predictions],
        "summary": [
            {
                "arch": arch,
                "kind": kind,
                "work": work,
                "fitted": None if fitted is None else fitted.as_dict(),
                "held_out": None if held is None else held.as_dict(),
            }
            for (arch, kind, work), members in (found.groups() | found.totals()).items()
            for fitted, held in [(errors(members, held_out=False), errors(members, held_out=True))]
        ],
        "pairs": [pair.as_dict() for pair in found.pairs()],
        "not_built": found.not_built,
    }


# -- report ----------------------------------------------------------------------------------------


def _report(found: Validation, every: bool) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for kind in KINDS:
        for arch in sorted({p.arch for p in found.compared}):
            members = [p for p in found.compared if (p.arch, p.kind) == (arch, kind)]
            if not members:
                continue
            heading = f"{arch}: {kind}"
            shown = members
            if kind not in (WHOLE, BOARD) and not every and len(members) > WORST:
                shown = sorted(members, key=lambda p: -abs(p.error))[:WORST]
                heading += f", the worst {WORST} of {len(members)} (--all shows every one)"
            parts += [title(heading), _padded(_rows_table(shown))]
    if not found.predictions:
        parts.append(Text("none of these rows can be rebuilt"))
    else:
        parts += [title("errors"), _padded(_summary_table(found))]
    if pairs := found.pairs():
        parts += [title("changes of one kernel"), _padded(_pairs_table(pairs))]
    if found.not_built:
        parts += [title("not rebuilt"), _padded(_reasons_table(found.not_built))]
    parts.append(
        Text(
            "Held-back rows (h) were chosen before any figure was fitted. Sampled rows (s) ran "
            "smaller and were carried on along a straight line.",
            style="faint",
        )
    )
    return parts


def _padded(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, 1))


def _table(*columns: tuple[str, str]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=(0, 1, 0, 0))
    for name, side in columns:
        made.add_column(
            name, justify="right" if side == "right" else "left", no_wrap=side != "fold",
            overflow="fold",
        )  # fmt: skip
    return made


def _rows_table(rows: Sequence[Prediction]) -> Table:
    made = _table(
        ("row", "left"), ("", "left"), ("kernel", "fold"), ("variant", "fold"), ("size", "fold"),
        ("measured", "right"), ("predicted", "right"), ("", "left"), ("error", "right"),
    )  # fmt: skip
    for p in rows:
        mark = ("h" if p.row.held_out else "") + ("s" if p.sampled else "")
        made.add_row(
            p.row.id, mark, p.row.kernel, p.row.variant, f"{p.row.shape} {p.row.dtype}",
            _number(p.measured), _number(p.predicted), p.unit, signed_share(p.error),
        )  # fmt: skip
    return made


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def signed_share(error: float) -> Text:
    """Return an error with its sign, coloured by its size."""
    size = abs(error)
    style = "ok" if size <= _NEAR else "bad" if size > _FAR else ""
    return Text(f"{error:+.1%}", style=style)


def _summary_table(found: Validation) -> Table:
    made = _table(
        ("arch", "left"), ("kind", "left"), ("busiest with", "left"), ("", "left"),
        ("rows", "right"), ("mean", "right"), ("median", "right"), ("worst", "right"),
    )  # fmt: skip

    def line(first: tuple[str, str, str], members: Sequence[Prediction], held_out: bool) -> None:
        one = errors(members, held_out=held_out)
        if one is not None:
            made.add_row(
                *first, "held back" if held_out else "fitted", f"{one.rows}", f"{one.mean:.1%}",
                f"{one.median:.1%}", f"{one.worst:.1%}",
            )  # fmt: skip

    for key, members in (found.groups() | found.totals()).items():
        line(key, members, False)
        line(key, members, True)
    return made


def _pairs_table(pairs: Sequence[PairPrediction]) -> Table:
    made = _table(
        ("change", "fold"), ("rows", "left"), ("measured", "right"), ("predicted", "right"),
        ("points", "right"), ("", "left"),
    )  # fmt: skip
    for one in pairs:
        made.add_row(
            one.pair.change, f"{one.pair.before} > {one.pair.after}",
            f"{one.measured:+.1%}", f"{one.predicted:+.1%}", f"{one.points:+.1f}",
            Text("ok", style="ok") if one.agrees else Text("off", style="bad"),
        )  # fmt: skip
    return made


def _reasons_table(reasons: dict[str, str]) -> Table:
    made = _table(("rows", "right"), ("reason", "fold"), ("which", "fold"))
    by_reason: dict[str, list[str]] = {}
    for row, reason in reasons.items():
        by_reason.setdefault(reason, []).append(row)
    for reason, rows in sorted(by_reason.items(), key=lambda kv: -len(kv[1])):
        more = ", …" if len(rows) > _IDS else ""
        made.add_row(f"{len(rows)}", reason, ", ".join(rows[:_IDS]) + more)
    return made
