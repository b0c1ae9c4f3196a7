"""The catalogue of what kernels can call, read from the declarations and the classes themselves.

A name is an instruction (``Add``), another name of one (``Compares``), a plain function
(``GetTPipePtr``), a method of a class that kernels use (``TQue.EnQue``) or a form with a name of
its own (``DataCopy[NDDMA]``).
"""

from __future__ import annotations

import difflib
import enum
import inspect
import sys
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator import ascendc
from simulator.dtypes import DType
from simulator.enums import Arch
from simulator.errors import ConfigError
from simulator.instruction import REGISTRY, InstructionSpec, describe_dtypes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROFILES: Final = MappingProxyType({Arch.DAV_2201: "910b", Arch.DAV_3510: "950"})
"""Architectures of the reference and the profile that stands for each."""

_OPERATORS: Final = MappingProxyType({"__getitem__": "operator[]", "__call__": "operator()"})

_FORM_NAMES: Final = MappingProxyType({"slice": "SliceInfo"})
"""Forms that are counted as a call of their own under the name of their parameter struct."""

_NOT_CALLS: Final = frozenset({"kernel", "launch", "collect_runs"})
"""Names beside the kernel surface: how a kernel is made and launched."""


@dataclass(frozen=True)
class Entry:
    """One name that a kernel can use.

    Attributes
    ----------
    name : str
        As AscendC spells it.
    module : str
        Module that declares it, without the package.
    group : str
        Topic: the first line of that module's documentation.
    function : object
        The Python function.
    specs : mapping
        Declarations by architecture; empty for what is not an instruction.
    canonical : str
        Name of the declaration; differs from ``name`` for a second name.
    """

    name: str
    module: str
    group: str
    function: Any
    specs: Mapping[Arch, InstructionSpec] = field(default_factory=dict)
    canonical: str = ""

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        spec = next(iter(self.specs.values()), None)
        text = spec.doc if spec is not None and spec.doc else self.function.__doc__ or ""
        return text.strip().splitlines()[0] if text.strip() else ""

    def variants(self, arch: Arch) -> dict[str, InstructionSpec]:
        """Further declarations of the same call for other operands (``ShiftLeft@tensor``)."""
        start = f"{self.canonical}@"
        return {
            name.removeprefix(start): REGISTRY[name][arch]
            for name in REGISTRY
            if name.startswith(start) and arch in REGISTRY[name]
        }

    @property
    def pipe(self) -> str:
        """Pipe that executes it; empty for what is not an instruction."""
        return " ".join(dict.fromkeys(spec.pipe.label for spec in self.specs.values()))

    def exists_on(self, arch: Arch) -> bool:
        """Whether the architecture has it."""
        return not self.specs or arch in self.specs

    @property
    def profiles(self) -> list[str]:
        """Profiles that have it."""
        return [name for arch, name in PROFILES.items() if self.exists_on(arch)]


@cache
def catalogue() -> Mapping[str, Entry]:
    """Return every name by itself, sorted."""
    entries = {entry.name: entry for entry in (*_functions(), *_methods())}
    return MappingProxyType(dict(sorted(entries.items(), key=lambda item: item[0].lower())))


def _functions() -> Iterator[Entry]:
    for name in ascendc.__all__:
        found = getattr(ascendc, name)
        if inspect.isclass(found) or not callable(found) or name in _NOT_CALLS:
            continue
        if isinstance(found, DType):
            continue
        spec = getattr(found, "spec", None)
        canonical = spec.name if spec is not None else name
        specs = _declared(canonical)
        yield Entry(name, *_topic(found, spec), found, specs, canonical)
        for form, label in _FORM_NAMES.items():
            on_arch = {a: s for a, s in specs.items() if form in s.forms}
            if on_arch:
                yield Entry(f"{name}[{label}]", *_topic(found, spec), found, on_arch, canonical)
        for form in REGISTRY:
            if form.startswith(f"{name}["):
                yield Entry(form, *_topic(found, spec), found, REGISTRY[form], form)


def _methods() -> Iterator[Entry]:
    for class_name in ascendc.__all__:
        found = getattr(ascendc, class_name)
        if not inspect.isclass(found) or issubclass(found, enum.Enum | tuple):
            continue
        for attribute in dir(found):
            label = attribute if attribute[0].isupper() else _OPERATORS.get(attribute)
            method = getattr(found, attribute)
            if label is None or not inspect.isroutine(method):
                continue
            name = f"{class_name}.{label}"
            yield Entry(name, *_topic(found, None), method, _declared(name), name)


def _declared(name: str) -> Mapping[Arch, InstructionSpec]:
    # The registry is no mapping: an unknown name has no default.
    return REGISTRY[name] if name in REGISTRY else {}  # noqa: SIM401


def _topic(function: Any, spec: InstructionSpec | None) -> tuple[str, str]:
    """Return the module that declares a call and the first line of its documentation."""
    rule = spec.rule if spec is not None else None
    name = (rule or function).__module__
    text = (sys.modules[name].__doc__ or "").strip()
    return name.rpartition(".")[2], text.splitlines()[0].rstrip(".")


def groups() -> dict[str, list[Entry]]:
    """Return the entries by the module that declares them."""
    found: dict[str, list[Entry]] = {}
    for entry in catalogue().values():
        found.setdefault(entry.module, []).append(entry)
    return dict(sorted(found.items()))


def names(arch: Arch) -> list[str]:
    """Return every name that an architecture has, as AscendC spells it.

    Intrinsics and the internal helpers of AscendC are listed a second time with the word (``intr``,
    ``internal``) that counts of their use put in front.
    """
    found = []
    for entry in catalogue().values():
        if entry.exists_on(arch):
            found.append(entry.name)
            prefix = _prefix(entry.name)
            found += [f"{prefix} {entry.name}"] if prefix else []
    return found


def _prefix(name: str) -> str:
    if name.startswith("AscendCUtils."):
        return "internal"
    return "intr" if name.islower() and "_" in name else ""


def lookup(name: str) -> Entry:
    """Return the entry of a name; upper and lower case do not matter.

    Raises
    ------
    ConfigError
        If there is none, with close matches.
    """
    entries = catalogue()
    if name in entries:
        return entries[name]
    by_lower = {known.lower(): known for known in entries}
    if name.lower() in by_lower:
        return entries[by_lower[name.lower()]]
    bare = [known for known in entries if known.lower().endswith(f".{name.lower()}")]
    if bare:
        raise ConfigError(f"{name} is a method", got=name, legal=", ".join(bare))
    methods = {known.rpartition(".")[2].lower() for known in entries if "." in known}
    close = [by_lower[m] for m in difflib.get_close_matches(name.lower(), by_lower, 5, 0.6)]
    for method in difflib.get_close_matches(name.lower(), methods, 3, 0.75):
        close += [known for known in entries if known.lower().endswith(f".{method}")]
    raise ConfigError(
        f"there is no instruction {name}",
        got=name,
        legal=", ".join(dict.fromkeys(close)) or "see ascsim isa for all names",
    )


def dtypes_of(spec: InstructionSpec, arch: Arch) -> list[str]:
    """Return the legal element types on an architecture, mixed ones in operand order."""
    legal = sorted(spec.dtypes[arch], key=lambda d: [x.code for x in _each(d)])
    return [_described(d, (arch, describe_dtypes(d)) in spec.count_only) for d in legal]


def _each(dtypes: Any) -> tuple[DType, ...]:
    return dtypes if isinstance(dtypes, tuple) else (dtypes,)


def _described(dtypes: Any, count_only: bool) -> str:
    text = ":".join(d.name for d in _each(dtypes))
    return f"{text} (count form only)" if count_only else text
