"""A scatter of predicted against measured time, as an HTML page with an SVG drawing, or as PNG.

Both axes are logarithmic; a point on the diagonal is an exact prediction, and the band around it is
an error of 15 %.
"""

from __future__ import annotations

import math
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kernels.validation.predict import KINDS
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernels.validation.predict import Prediction

SIZE: Final = 460
_MARGIN: Final = 62
_BAND: Final = 0.15
_COLOURS: Final = {
    "copies": "#16956f",
    "vector": "#2f7fd8",
    "scalar": "#7c6bb8",
}
_SUFFIXES: Final = (".html", ".png")

_PAGE: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Predicted against measured time</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark;
  --ink: #1c2024; --faint: #69727d; --line: #d5d9de; --page: #fff }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e7eaee; --faint: #98a2ad; --line: #3a424b; --page: #15191d }}
}}
body {{ font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  margin: 24px auto; max-width: 1040px; padding: 0 16px }}
h1 {{ font-size: 22px }} h2 {{ font-size: 15px; margin: 0 }}
.charts {{ display: flex; flex-wrap: wrap; gap: 24px }}
figure {{ margin: 0 }}
svg {{ max-width: 100%; height: auto }}
svg text {{ fill: var(--faint); font: 11px system-ui, sans-serif }}
.grid {{ stroke: var(--line) }} .exact {{ stroke: var(--faint) }}
.band {{ fill: var(--line); opacity: .45 }}
.held {{ fill: none; stroke-width: 1.6 }}
p {{ color: var(--faint) }} i {{ display: inline-block; width: 10px; height: 10px;
  border-radius: 50%; margin: 0 4px 0 12px }}
</style></head><body>
<h1>Predicted against measured time</h1>
<p>A point on the line is exact; the band is an error of 15 %. Rings were held back when the model
was fitted. Point at a mark for its row.</p>
<p>Busiest with{legend}</p>
<div class="charts">
{charts}
</div></body></html>
"""


def check_plot(path: str) -> None:
    """Refuse a plot that could not be written before anything runs.

    Raises
    ------
    ConfigError
        If the name ends in neither .html nor .png, the folder does not exist, or a PNG is wanted
        and matplotlib is not installed.
    """
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"the plot {path!r} has no known format", legal=" or ".join(_SUFFIXES))
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise ConfigError(
            f"the plot cannot be written to {path!r}", legal="a file in a folder that exists"
        )
    if target.suffix.lower() == ".png":
        _pyplot()


def write_plot(rows: Sequence[Prediction], path: str) -> Path:
    """Write the scatter in the format that the name ends in; return its path."""
    target = Path(path)
    groups = _groups(rows)
    if target.suffix.lower() == ".png":
        _write_png(groups, target)
    else:
        target.write_text(_html(groups), encoding="utf-8")
    return target


def _groups(rows: Sequence[Prediction]) -> dict[str, list[Prediction]]:
    """Return the rows by what one axis can hold: a kind, in one unit."""
    groups: dict[str, list[Prediction]] = {}
    for kind in KINDS:
        for row in rows:
            if row.kind == kind:
                groups.setdefault(f"{kind}, {row.unit}", []).append(row)
    return groups


# -- HTML ------------------------------------------------------------------------------------------


def _html(groups: dict[str, list[Prediction]]) -> str:
    legend = "".join(
        f'<i style="background:{colour}"></i>{work}' for work, colour in _COLOURS.items()
    )
    charts = "\n".join(
        f"<figure><h2>{escape(name)}</h2>{_svg(rows)}</figure>" for name, rows in groups.items()
    )
    return _PAGE.format(legend=legend, charts=charts)


class _Axis:
    """A logarithmic axis over whole decades."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)

    def at(self, value: float) -> float:
        """Distance from the low end in pixels."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share)) * (SIZE - 2 * _MARGIN)

    def ticks(self) -> list[int]:
        """Powers of ten."""
        return list(range(self.low, self.high + 1))


def _svg(rows: Sequence[Prediction]) -> str:
    axis = _Axis([v for p in rows for v in (p.measured, p.predicted)])

    def x(value: float) -> float:
        return _MARGIN + axis.at(value)

    def y(value: float) -> float:
        return SIZE - _MARGIN - axis.at(value)

    low, high = 10.0**axis.low, 10.0**axis.high
    wide = 1.0 + _BAND
    band = [(low, low * wide), (high / wide, high), (high, high), (high, high / wide),
            (low * wide, low), (low, low)]  # fmt: skip
    parts = [
        f'<polygon class="band" points="{" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in band)}"/>',
        f'<line class="exact" x1="{x(low):.1f}" y1="{y(low):.1f}" x2="{x(high):.1f}" '
        f'y2="{y(high):.1f}"/>',
    ]
    for power in axis.ticks():
        value = 10.0**power
        name = f"{value:g}" if power < 6 else f"1e{power}"
        parts += [
            f'<line class="grid" x1="{x(value):.1f}" y1="{y(low):.1f}" x2="{x(value):.1f}" '
            f'y2="{y(high):.1f}"/>',
            f'<line class="grid" x1="{x(low):.1f}" y1="{y(value):.1f}" x2="{x(high):.1f}" '
            f'y2="{y(value):.1f}"/>',
            f'<text x="{x(value):.1f}" y="{y(low) + 16:.1f}" text-anchor="middle">{name}</text>',
            f'<text x="{x(low) - 6:.1f}" y="{y(value) + 4:.1f}" text-anchor="end">{name}</text>',
        ]
    unit = rows[0].unit
    middle = SIZE / 2
    parts += [
        f'<text x="{middle:.0f}" y="{SIZE - 16}" text-anchor="middle">measured, {unit}</text>',
        f'<text transform="translate(11 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"predicted, {unit}</text>",
        *(_mark(p, x(p.measured), y(p.predicted)) for p in rows),
    ]
    return (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" width="{SIZE}" height="{SIZE}" role="img" '
        f'aria-label="{len(rows)} points">{"".join(parts)}</svg>'
    )


def _mark(p: Prediction, x: float, y: float) -> str:
    colour = _COLOURS[p.work]
    look = f'class="held" stroke="{colour}"' if p.row.held_out else f'fill="{colour}" opacity=".75"'
    name = (
        f"{p.row.id} {p.row.kernel} {p.row.variant} {p.row.shape} {p.row.dtype}: "
        f"measured {p.measured:,.6g}, predicted {p.predicted:,.6g} {p.unit} ({p.error:+.1%})"
    )
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" {look}><title>{escape(name)}</title></circle>'
    )


# -- PNG -------------------------------------------------------------------------------------------


def _pyplot() -> Any:
    try:
        # By name: only the tests depend on it, and it brings no types.
        mpl = import_module("matplotlib")
    except ImportError as error:
        raise ConfigError(
            "a plot in PNG needs matplotlib, which is not installed",
            legal=".html, which needs nothing",
            fix="pip install matplotlib, or --plot FILE.html",
        ) from error
    mpl.use("Agg")
    return import_module("matplotlib.pyplot")


def _write_png(groups: dict[str, list[Prediction]], target: Path) -> None:
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(
        1, len(groups), figsize=(5.0 * len(groups), 5.0), squeeze=False, layout="constrained"
    )
    for axis, (name, rows) in zip(axes[0], groups.items(), strict=True):
        values = [v for p in rows for v in (p.measured, p.predicted)]
        ends = min(values) / 2, max(values) * 2
        axis.plot(ends, ends, color="#98a2ad", linewidth=1)
        axis.fill_between(
            ends, [e / (1 + _BAND) for e in ends], [e * (1 + _BAND) for e in ends],
            color="#d5d9de", alpha=0.5,
        )  # fmt: skip
        for held_out in (False, True):
            chosen = [p for p in rows if p.row.held_out == held_out]
            colours = [_COLOURS[p.work] for p in chosen]
            axis.scatter(
                [p.measured for p in chosen], [p.predicted for p in chosen], s=18,
                facecolors="none" if held_out else colours, edgecolors=colours,
            )  # fmt: skip
        axis.set(xscale="log", yscale="log", title=name, xlabel="measured", ylabel="predicted")
    figure.savefig(target, dpi=150)
    pyplot.close(figure)
