"""A run as a small HTML table for notebooks; needs nothing but the standard library."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulator.analysis.summary import PipeSummary, Summary

_COLOURS: Final = {"S": "#7c6bb8", "V": "#2f7fd8", "MTE2": "#16956f", "MTE3": "#dd7a1a"}
_CELL: Final = "text-align:left;padding:2px 12px 2px 0"
_NUMBER: Final = "text-align:right;padding:2px 12px 2px 0;font-variant-numeric:tabular-nums"


def notebook_html(summary: Summary) -> str:
    """Return headline, time, pipes and bottleneck as HTML that fits light and dark pages."""
    heads = ("pipe", "busy", "", "cycles a core", "instructions", "waits, mean cycles a core")
    lines = [
        summary.time_line(),
        summary.traffic_line(),
        summary.bottleneck,
        f"accuracy: {summary.accuracy}",
        *summary.notes(),
    ]
    return "".join(
        [
            '<div class="ascsim-run">',
            f"<strong>{escape(summary.headline())}</strong>",
            '<table style="border-collapse:collapse;margin:6px 0"><thead><tr>',
            *(f'<th scope="col" style="{_CELL}">{head}</th>' for head in heads),
            "</tr></thead><tbody>",
            *(_row(summary, pipe) for pipe in summary.pipes),
            "</tbody></table>",
            *(f"<div>{escape(line)}</div>" for line in lines),
            "</div>",
        ]
    )


def _row(summary: Summary, pipe: PipeSummary) -> str:
    share = 100 * pipe.utilisation
    bar = (
        '<div style="width:120px;height:10px;background:#8884;border-radius:3px">'
        f'<div style="width:{share:.1f}%;height:10px;background:{_COLOURS[pipe.name]};'
        'border-radius:3px"></div></div>'
    )
    return (
        f'<tr><th scope="row" style="{_CELL}">{pipe.name}</th>'
        f'<td style="{_NUMBER}">{share:.1f}%</td><td style="{_CELL}">{bar}</td>'
        f'<td style="{_NUMBER}">{pipe.busy / summary.cores:,.0f}</td>'
        f'<td style="{_NUMBER}">{pipe.instructions:,}</td>'
        f'<td style="{_CELL}">{escape(summary.waits_text(pipe))}</td></tr>'
    )
