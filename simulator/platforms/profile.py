"""The shape of a platform profile: three sections of plain numbers and the figures behind them.

A field's metadata states its unit and whether zero is legal; the loader checks a file against it,
so a profile cannot carry a rate in the wrong unit or lack a figure that some reading needs.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.enums import Arch
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIDENCES: Final = ("measured", "documented", "fitted", "derived", "assumed")
"""How a figure is known; ``derived`` is arithmetic on measured or documented figures."""

LEAST: Final = 1e-9
MOST: Final = 10**15
"""Bounds of every figure but zero, so that products and quotients of them stay finite."""


@dataclass(frozen=True)
class Figure:
    """One value of a profile with its unit, its source and how it is known.

    Parameters
    ----------
    value : int, float or str
    unit : str
    source : str
        ``owner/repository path`` of the evidence; several are separated by `` ; ``.
    confidence : str
        One of :data:`CONFIDENCES`.
    note : str, optional
        How the value follows from the source, or what speaks against it.
    """

    value: int | float | str
    unit: str
    source: str
    confidence: str
    note: str = ""


def _figure(unit: str, *, zero: bool = False, meaning: str = "") -> Any:
    return field(metadata={"unit": unit, "zero": zero, "meaning": meaning})


@dataclass(frozen=True)
class Chip:
    """Identity and core counts."""

    soc_version: str = _figure("name")
    short_soc_version: str = _figure("name")
    npu_arch: str = _figure("name")
    aic: int = _figure("count", meaning="cube cores")
    aiv: int = _figure("count", meaning="vector cores")
    vector_core_count_query: int = _figure("count", zero=True, meaning="GetCoreNumVector")
    core_types: str = _figure("name", meaning="core type list of the platform file")


@dataclass(frozen=True)
class Memory:
    """Capacities, layout of the unified buffer, and the rates of the platform file."""

    ub_bytes: int = _figure("bytes", meaning="unified buffer a kernel can address")
    ub_physical_bytes: int = _figure("bytes", meaning="unified buffer including the reserved part")
    ub_tiling_bytes: int = _figure("bytes", meaning="what GetCoreMemSize(UB) answers")
    ub_reserved_offset: int = _figure("bytes", meaning="start of the scratch of Select and others")
    ub_reserved_bytes: int = _figure("bytes", zero=True)
    l1_bytes: int = _figure("bytes")
    l1_tiling_bytes: int = _figure("bytes", meaning="what GetCoreMemSize(L1) answers")
    l0a_bytes: int = _figure("bytes")
    l0b_bytes: int = _figure("bytes")
    l0c_bytes: int = _figure("bytes")
    bt_bytes: int = _figure("bytes", zero=True, meaning="bias table")
    fb0_bytes: int = _figure("bytes", zero=True, meaning="fix-pipe buffers")
    fb1_bytes: int = _figure("bytes", zero=True)
    fb2_bytes: int = _figure("bytes", zero=True)
    fb3_bytes: int = _figure("bytes", zero=True)
    l2_bytes: int = _figure("bytes")
    l2_line_bytes: int = _figure("bytes")
    hbm_bytes: int = _figure("bytes")
    block_bytes: int = _figure("bytes", meaning="data block, the unit of alignment and stride")
    repeat_bytes: int = _figure("bytes", meaning="one vector repeat")
    vector_register_bytes: int = _figure("bytes", zero=True)
    ub_bank_groups: int = _figure("count")
    ub_banks_per_group: int = _figure("count")
    ub_bank_bytes: int = _figure("bytes")
    ub_group_shift: int = _figure("bit", zero=True, meaning="lowest address bit of the group")
    ub_bank_shift: int = _figure("bit", zero=True, meaning="lowest address bit of the bank")
    ub_group_accesses: int = _figure("count", meaning="accesses a group serves in one cycle")
    lib_api_workspace_bytes: int = _figure("bytes", zero=True, meaning="GetLibApiWorkSpaceSize")
    ddr_rate_bytes_per_cycle: float | None = _figure("bytes/cycle")
    l2_read_rate_bytes_per_cycle: float | None = _figure("bytes/cycle")
    ub_to_l2_rate_bytes_per_cycle: float | None = _figure("bytes/cycle")
    ub_to_ddr_rate_bytes_per_cycle: float | None = _figure("bytes/cycle")

    def bank_group(self, address: int) -> int:
        """Bank group of a UB address in bytes."""
        return (address >> self.ub_group_shift) % self.ub_bank_groups

    def bank(self, address: int) -> int:
        """Bank of a UB address in bytes, within its group."""
        return (address >> self.ub_bank_shift) % self.ub_banks_per_group


@dataclass(frozen=True)
class Timing:
    """Costs that do not belong to one instruction; rates are 10^9 bytes a second."""

    clock_mhz: float = _figure("MHz")
    queue_depth: int = _figure("count", meaning="instructions a pipe's queue holds")
    event_ids: int = _figure("count", meaning="flags of one pipe pair")
    scalar_issue_cycles: float = _figure("cycles", zero=True, meaning="issue of one instruction")
    call_issue_cycles: float = _figure(
        "cycles", zero=True, meaning="scalar work of a vector call or copy, issue included"
    )
    set_flag_cycles: float = _figure("cycles", zero=True)
    wait_flag_cycles: float = _figure("cycles", zero=True)
    flag_hop_cycles: float = _figure("cycles", zero=True, meaning="SetFlag to release of the wait")
    barrier_cycles: float = _figure("cycles", zero=True)
    mask_write_cycles: float = _figure("cycles", zero=True)
    cmp_mask_cycles: float = _figure("cycles", zero=True)
    ctrl_write_cycles: float = _figure("cycles", zero=True)
    cross_core_flag_cycles: float = _figure("cycles", zero=True)
    cross_core_hop_ns: float = _figure(
        "ns", zero=True, meaning="cross-core set to release of the waiting cores"
    )
    get_value_cycles: float = _figure("cycles", zero=True)
    set_value_cycles: float = _figure("cycles", zero=True)
    count_partial_cycles: float = _figure(
        "cycles", zero=True, meaning="count-mode call with a partial row"
    )
    bank_write_conflict_cycles: float = _figure("cycles", zero=True, meaning="per repeat")
    ub_to_ub_bytes_per_cycle: float = _figure("bytes/cycle")
    read_rate_gbps: float = _figure("GB/s", meaning="one core reading GM, no writes")
    read_rate_while_writing_gbps: float = _figure(
        "GB/s",
        meaning="one core that also writes GM, in copies of 8 KiB; the model goes by "
        "read_setup_ns, which explains it",
    )
    write_rate_gbps: float = _figure("GB/s", meaning="one core writing GM")
    read_setup_ns: float = _figure("ns", zero=True, meaning="of a copy of more than a line of L2")
    read_burst_rate_gbps: float = _figure("GB/s", meaning="one copy, behind its set-up")
    write_burst_rate_gbps: float = _figure("GB/s", meaning="one copy, behind its latency")
    l2_hit_rate_gbps: float = _figure("GB/s", meaning="one core reading data that sits in L2")
    read_cap_gbps: float = _figure("GB/s", meaning="all cores reading, L2 missing")
    write_cap_gbps: float = _figure("GB/s", meaning="all cores writing into L2")
    read_write_cap_gbps: float = _figure(
        "GB/s",
        meaning="all cores, two bytes read for one written, both missing L2; the model goes by "
        "write_back_cap_gbps, which follows from it",
    )
    write_back_cap_gbps: float = _figure(
        "GB/s", meaning="what L2 passes on of the bytes written, memory doing nothing else"
    )
    l2_hit_cap_gbps: float = _figure("GB/s", meaning="all cores reading, L2 hitting")
    read_latency_ns: float = _figure("ns", zero=True)
    write_latency_ns: float = _figure("ns", zero=True)
    copy_interval_cycles: float = _figure(
        "cycles", zero=True, meaning="least distance of queued copies"
    )
    full_rate_alignment_bytes: int = _figure("bytes", meaning="GM alignment for the full rate")
    misaligned_rate_factor: float = _figure("ratio", meaning="rate of a badly aligned copy")
    partial_row_time_factor: float = _figure(
        "ratio", meaning="time of bursts of 2048 B that start or end inside 128 B"
    )
    short_burst_bytes: int = _figure("bytes", meaning="bursts up to this are slower")
    short_burst_rate_factor: float = _figure("ratio")
    uncached_burst_rate_factor: float = _figure(
        "ratio", meaning="rate of such bursts when they bypass L2"
    )
    same_address_time_factor: float = _figure("ratio", meaning="all cores read one address")
    launch_ns: float = _figure("ns", zero=True, meaning="task time outside the cores")
    launch_per_block_ns: float = _figure("ns", zero=True)
    block_start_ns: float = _figure("ns", zero=True, meaning="start-up of a core, before its work")

    def cycles(self, nanoseconds: float) -> float:
        """``nanoseconds * clock``: the same time in core cycles."""
        return nanoseconds * self.clock_mhz / 1000.0

    def nanoseconds(self, cycles: float) -> float:
        """``cycles / clock``: the same time in nanoseconds."""
        return cycles * 1000.0 / self.clock_mhz


SECTIONS: Final[dict[str, type[Any]]] = {"chip": Chip, "memory": Memory, "timing": Timing}


class FieldRule(NamedTuple):
    """What a profile may say under one key, and what it means where the name leaves doubt."""

    kind: str
    unit: str
    zero: bool
    optional: bool
    meaning: str


@cache
def field_rules() -> Mapping[str, FieldRule]:
    """Rule of every legal key, such as ``timing.clock_mhz``."""
    rules = {}
    for section, cls in SECTIONS.items():
        for item in fields(cls):
            kind = str(item.type)
            rules[f"{section}.{item.name}"] = FieldRule(
                kind.removesuffix(" | None"),
                item.metadata["unit"],
                item.metadata["zero"],
                kind.endswith(" | None"),
                item.metadata["meaning"],
            )
    return MappingProxyType(rules)


def require_key(key: str, where: str) -> FieldRule:
    """Return the rule of ``key``.

    Raises
    ------
    ConfigError
        If no profile has such a key; names those that are spelled alike.
    """
    rules = field_rules()
    rule = rules.get(key)
    if rule is None:
        section, _, name = key.partition(".")
        alike = difflib.get_close_matches(key, rules, n=4, cutoff=0.6) or [
            k for k in rules if name in (k.partition(".")[2], k)
        ]
        if not alike and section in SECTIONS:
            alike = [k for k in rules if k.startswith(section + ".")]
        raise ConfigError(
            f"{key!r} is not a key of a platform profile",
            got=f"{key} in {where}",
            legal=", ".join(alike or [f"{s}.…" for s in SECTIONS]),
            key=key,
        )
    return rule


def require_value(key: str, value: object, where: str) -> int | float | str:
    """Return ``value`` if ``key`` may have it; whole numbers stand for floats.

    Raises
    ------
    ConfigError
        On a wrong type, a number that is negative or not finite or out of any proportion, zero
        where nothing works with zero, an empty name, or an architecture that the simulator does
        not know.
    """
    rule = require_key(key, where)
    if rule.kind == "str":
        legal = "a non-empty string"
        if isinstance(value, str) and value:
            if key != "chip.npu_arch":
                return value
            legal = ", ".join(a.value for a in Arch)
            if value in {a.value for a in Arch}:
                return value
    else:
        bound = ">= 0" if rule.zero else "> 0"
        legal = f"a whole number {bound}" if rule.kind == "int" else f"a number {bound}"
        types = (int,) if rule.kind == "int" else (int, float)
        if (
            isinstance(value, types)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and (value > 0 or (rule.zero and value == 0))
        ):
            if value == 0 or LEAST <= value <= MOST:
                return value if rule.kind == "int" else float(value)
            legal = f"{LEAST:g} to {MOST:g}"
    raise ConfigError(
        f"{key} cannot be {value!r}",
        got=f"{value!r} ({type(value).__name__}) in {where}",
        legal=f"{legal}, in {rule.unit}" if rule.kind != "str" else legal,
        key=key,
        value=value,
    )


@dataclass(frozen=True)
class Platform:
    """A chip as the simulator sees it.

    Attributes
    ----------
    name : str
        Name of the profile, for example ``"910b1"``.
    description : str
    chip, memory, timing : Chip, Memory, Timing
        Plain numbers, for code that computes.
    provisional_timing : bool
        Whether reports must call the timing of this profile provisional.
    figures : mapping of str to Figure
        The same values under ``section.key`` with unit, source and confidence.
    """

    name: str
    description: str
    chip: Chip
    memory: Memory
    timing: Timing
    provisional_timing: bool
    figures: Mapping[str, Figure] = field(repr=False, compare=False)

    @classmethod
    def from_figures(
        cls, name: str, description: str, provisional_timing: bool, figures: Mapping[str, Figure]
    ) -> Platform:
        """Build the sections from a complete, checked set of figures."""
        sections = {
            section: kind(
                **{
                    item.name: figures[key].value
                    if (key := f"{section}.{item.name}") in figures
                    else None
                    for item in fields(kind)
                }
            )
            for section, kind in SECTIONS.items()
        }
        return cls(
            name=name,
            description=description,
            provisional_timing=provisional_timing,
            figures=MappingProxyType(dict(figures)),
            **sections,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled or deep-copied; the plain figures can.
        return Platform.from_figures, (
            self.name,
            self.description,
            self.provisional_timing,
            dict(self.figures),
        )

    @property
    def arch(self) -> Arch:
        """Architecture of the vector core."""
        return Arch(self.chip.npu_arch)

    @property
    def soc_version(self) -> str:
        """Full SoC name, for example ``"Ascend910B1"``."""
        return self.chip.soc_version

    @property
    def overridden(self) -> tuple[str, ...]:
        """Keys that :meth:`override` changed, in order of the profile."""
        return tuple(key for key, figure in self.figures.items() if figure.source == OVERRIDE)

    def override(self, **changes: object) -> Platform:
        """Return this platform with some figures replaced.

        Parameters
        ----------
        **changes
            Values by key: ``platform.override(**{"timing.read_cap_gbps": 1200})``.

        Raises
        ------
        ConfigError
            On an unknown key or a value the key cannot have; names what is legal.
        """
        figures = dict(self.figures)
        for key, value in changes.items():
            where = f"override of {self.name}"
            plain = require_value(key, value, where)
            was = self.figures[key].value if key in self.figures else "not stated"
            figures[key] = Figure(
                plain, field_rules()[key].unit, OVERRIDE, "assumed", f"profile value: {was}"
            )
        return Platform.from_figures(self.name, self.description, self.provisional_timing, figures)


OVERRIDE: Final = "override by the caller"
"""Source of a figure that :meth:`Platform.override` replaced."""
