"""The reference entry of one name: forms, element types, constraints, pipe, cost and source."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.timing.cost_table import VectorCost910, load_costs
from tools.isa_catalogue import PROFILES, Entry, catalogue, dtypes_of

if TYPE_CHECKING:
    from simulator.enums import Arch


@dataclass(frozen=True)
class Cost:
    """Cycles of a call on one profile: element types that share a formula, and how it is known."""

    dtypes: tuple[str, ...]
    formula: str
    status: str


@dataclass(frozen=True)
class ProfileFacts:
    """What one profile accepts and charges. ``forms`` is empty where the call does not exist."""

    profile: str
    exists: bool
    forms: tuple[str, ...]
    dtypes: tuple[str, ...]
    variants: tuple[tuple[str, str], ...]
    constraints: str
    costs: tuple[Cost, ...]
    source: str


@dataclass(frozen=True)
class Page:
    """Everything about one name."""

    name: str
    other_names: tuple[str, ...]
    signature: str
    documentation: str
    pipe: str
    operands: tuple[tuple[str, str], ...]
    profiles: tuple[ProfileFacts, ...]


def page(entry: Entry) -> Page:
    """Collect the facts about a name."""
    spec = next(iter(entry.specs.values()), None)
    return Page(
        entry.name,
        tuple(
            other.name
            for other in catalogue().values()
            if other.canonical == entry.canonical and other.name != entry.name
        ),
        _signature(entry),
        _documentation(entry),
        entry.pipe,
        spec.operands if spec is not None else (),
        tuple(_facts(entry, arch) for arch in PROFILES),
    )


def _facts(entry: Entry, arch: Arch) -> ProfileFacts:
    spec = entry.specs.get(arch)
    if spec is None:
        return ProfileFacts(PROFILES[arch], entry.exists_on(arch), (), (), (), "", (), "")
    return ProfileFacts(
        PROFILES[arch],
        True,
        spec.forms,
        tuple(dtypes_of(spec, arch)),
        tuple(
            (
                name,
                f"{', '.join(n for n, _ in other.operands)}: {', '.join(dtypes_of(other, arch))}",
            )
            for name, other in entry.variants(arch).items()
        ),
        spec.constraints,
        costs(spec.cost_key or spec.name, arch),
        spec.source,
    )


def costs(key: str, arch: Arch) -> tuple[Cost, ...]:
    """Return the cost rows of a call, element types with equal figures together."""
    found: dict[tuple[str, str], list[str]] = {}
    table: Any = load_costs(arch)
    for row in table:
        api, _, form = row.api.partition("@")
        if api == key:
            label = f"{row.dtype} ({form})" if form else row.dtype
            found.setdefault((_formula(row), row.status), []).append(label)
    return tuple(Cost(tuple(types), *figures) for figures, types in found.items())


def _formula(row: Any) -> str:
    if isinstance(row, VectorCost910):
        alone = f"{row.fixed:g} + {row.slope:g} x repeats"
        return f"{alone}; queued: max({row.stream_min:g}, {row.slope:g} x repeats)"
    return f"{row.fixed:g} + {row.s1:g} x loops up to 32, {row.s2:g} x loops beyond"


def _signature(entry: Entry) -> str:
    try:
        found = inspect.signature(entry.function)
    except (TypeError, ValueError):
        return entry.name
    parts = []
    star = False
    for parameter in found.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        stars = 1 if parameter.kind is parameter.VAR_POSITIONAL else 0
        stars = 2 if parameter.kind is parameter.VAR_KEYWORD else stars
        text = "*" * stars + parameter.name
        if parameter.default is not parameter.empty:
            text += f"={_default(parameter.default)}"
        parts.append(text)
    arguments = ", ".join(parts)
    base, _, operator = entry.name.partition(".operator")
    if operator:
        return f"{base}{operator[0]}{arguments}{operator[1]}"
    return f"{entry.name.partition('[')[0]}({arguments})"


def _default(value: Any) -> str:
    name = getattr(value, "name", None)
    return f"{type(value).__name__}.{name}" if isinstance(name, str) else repr(value)


def _documentation(entry: Entry) -> str:
    spec = next(iter(entry.specs.values()), None)
    own = inspect.cleandoc(spec.doc) if spec is not None and spec.doc else ""
    text = own or inspect.cleandoc(entry.function.__doc__ or "")
    return text.partition("\n\nElement types\n")[0].strip()
