"""Declaring an instruction and publishing its API function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.dtypes import BY_NAME
from simulator.enums import Arch, PipeID
from simulator.instruction import REGISTRY, InstructionSpec, describe_dtypes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORMS: Final = ("count", "mask", "bit mask")


def dtype_table(table: Mapping[Arch, str]) -> dict[Arch, frozenset[Any]]:
    """Turn ``{arch: "half float half:float"}`` into sets of types or tuples of types.

    A plain name means that all operands have that type; ``a:b`` lists them in operand order.
    """
    parsed: dict[Arch, frozenset[Any]] = {}
    for arch, text in table.items():
        entries: list[Any] = []
        for word in text.split():
            names = [BY_NAME[name] for name in word.split(":")]
            entries.append(names[0] if len(names) == 1 else tuple(names))
        parsed[arch] = frozenset(entries)
    return parsed


def declare(
    rule: Callable[..., Any],
    family: str,
    operands: tuple[tuple[str, str], ...],
    dtypes: Mapping[Arch, str],
    source: str,
    *,
    pipe: PipeID = PipeID.PIPE_V,
    forms: tuple[str, ...] = FORMS,
    count_only: Mapping[Arch, str] | None = None,
    constraints: str = "",
    cost: str = "",
    name: str = "",
) -> InstructionSpec:
    """Register the declaration of an instruction whose element rule is ``rule``."""
    only = frozenset(
        (arch, type_name.replace(":", ", "))
        for arch, names in (count_only or {}).items()
        for type_name in names.split()
    )
    return REGISTRY.add(
        InstructionSpec(
            name=name or rule.__name__,
            family=family,
            pipe=pipe,
            dtypes=dtype_table(dtypes),
            operands=operands,
            source=source,
            rule=rule,
            forms=forms,
            count_only=only,
            constraints=constraints,
            doc=rule.__doc__ or "",
            cost_key=cost or name or rule.__name__,
        )
    )


def publish(call: Any, spec: InstructionSpec) -> None:
    """Give the API function of ``spec`` its name and the documentation of all its declarations."""
    call.__name__ = call.__qualname__ = spec.name
    call.__module__ = spec.rule.__module__ if spec.rule else __name__
    by_arch = REGISTRY[spec.name]
    texts = list(dict.fromkeys(s.doc.strip() for s in by_arch.values() if s.doc.strip()))
    legal = "\n".join(
        f"    {arch.family}: " + "; ".join(sorted(describe_dtypes(d) for d in s.dtypes[arch]))
        for arch, s in by_arch.items()
    )
    call.__doc__ = (
        "\n\n".join(texts) + f"\n\nForms: {', '.join(spec.forms)}. Pipe: {spec.pipe.label}.\n\n"
        f"Element types\n-------------\n{legal}\n\nSource: {spec.source}\n"
    )
    call.spec = spec
