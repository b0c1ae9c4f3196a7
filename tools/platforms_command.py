"""``ascsim platforms``: the profiles, and every figure of one with unit, source and confidence."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from simulator.platforms import load_platform, platform_names
from simulator.platforms.profile import SECTIONS, field_rules
from simulator.timing.accuracy import WORK_OF_PIPE, accuracy_of, accuracy_sentence
from tools.console import print_json, show
from tools.report import facts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simulator.platforms import Figure, Platform

_SOURCE_SEPARATOR: Final = " ; "
_CONFIDENCE_STYLES: Final = {"assumed": "warn", "fitted": "warn", "derived": "", "measured": "ok"}


def platforms(name: str | None, *, as_json: bool) -> int:
    """Print the list of profiles, or one profile in full; return the exit code.

    Raises
    ------
    ConfigError
        If there is no such platform.
    """
    if name is None:
        profiles = [load_platform(each) for each in platform_names()]
        if as_json:
            print_json([_overview(profile) for profile in profiles])
        else:
            show(
                _list_table(profiles),
                "SoC versions (Ascend910B1), short names (910b, 950) and the paths of own .toml "
                "profiles are taken too.",
                "ascsim platforms NAME shows every figure with its source.",
            )
        return 0
    profile = load_platform(name)
    if as_json:
        figures = {key: asdict(figure) for key, figure in profile.figures.items()}
        print_json({**_overview(profile), "accuracy": _accuracy(profile), "figures": figures})
    else:
        show(*_profile(profile))
    return 0


def _accuracy(profile: Platform) -> dict[str, str]:
    """Errors of measured kernels by what they do most."""
    return {
        work: accuracy_sentence(accuracy_of(profile, pipe), profile)
        for pipe, work in WORK_OF_PIPE.items()
    }


def _overview(profile: Platform) -> dict[str, Any]:
    return {
        "name": profile.name,
        "description": profile.description,
        "soc_version": profile.soc_version,
        "npu_arch": profile.chip.npu_arch,
        "vector_cores": profile.chip.aiv,
        "clock_mhz": profile.timing.clock_mhz,
        "ub_bytes": profile.memory.ub_bytes,
        "provisional_timing": profile.provisional_timing,
    }


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="head", pad_edge=False, padding=0)
    for column in columns:
        number = column in ("vector cores", "MHz", "UB bytes", "value")
        folds = column in ("description", "what it is")
        table.add_column(
            column, justify="right" if number else "left", no_wrap=not folds, overflow="fold"
        )
    return table


def _list_table(profiles: list[Platform]) -> Table:
    table = _table("profile", "arch", "vector cores", "MHz", "UB bytes", "timing", "description")
    for p in profiles:
        table.add_row(
            Text(p.name, style="name"),
            p.chip.npu_arch,
            str(p.chip.aiv),
            f"{p.timing.clock_mhz:g}",
            f"{p.memory.ub_bytes:,}",
            Text("provisional", style="warn") if p.provisional_timing else Text("sourced"),
            p.description,
        )
    return table


def _profile(profile: Platform) -> list[RenderableType]:
    """Return the tables of a profile; sources are numbered and listed once at the end."""
    numbers: dict[str, int] = {}
    parts: list[RenderableType] = [Text(f"{profile.name}: {profile.description}", style="name")]
    if profile.provisional_timing:
        parts.append(Text("Its timing is provisional.", style="warn"))
    parts.append(facts(list(_accuracy(profile).items())))
    for section in SECTIONS:
        table = _table(section, "value", "unit", "confidence", "source", "what it is")
        for key, figure in profile.figures.items():
            if key.startswith(f"{section}."):
                table.add_row(*_figure_row(key, figure, numbers))
        parts.append(table)
    sources = Table.grid(padding=(0, 1))
    sources.add_column(justify="right", no_wrap=True)
    sources.add_column(overflow="fold")
    for source, number in numbers.items():
        sources.add_row(f"[{number}]", Text(source))
    return [*parts, Text("Sources: repository and path", style="head"), sources]


def _figure_row(key: str, figure: Figure, numbers: dict[str, int]) -> list[RenderableType]:
    cited = [
        numbers.setdefault(source, len(numbers) + 1)
        for source in figure.source.split(_SOURCE_SEPARATOR)
    ]
    meaning = "; ".join(text for text in (field_rules()[key].meaning, figure.note) if text)
    return [
        key.partition(".")[2],
        _value(figure.value),
        figure.unit,
        Text(figure.confidence, style=_CONFIDENCE_STYLES.get(figure.confidence, "")),
        Text(" ".join(f"[{number}]" for number in cited)),
        Text(meaning),
    ]


def _value(value: float | str) -> Text:
    if isinstance(value, str):
        return Text(value)
    return Text(f"{value:,}" if isinstance(value, int) else f"{value:,g}")
