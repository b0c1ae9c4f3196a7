"""``OpDef``: what an operator declares about its parameters and the devices it runs on.

The dtype and format lists of all parameters are read by column: entry ``k`` of every list together
is one legal combination. Source: mirror-cann/asc-devkit docs/zh/guide (operator prototype).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from host.datatypes import DataType, Format
from host.errors import RegistrationError
from host.naming import snake_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ParamType(Enum):
    """Whether a parameter must be given."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    DYNAMIC = "dynamic"


@dataclass(frozen=True)
class ParamDef:
    """One input or output.

    ``formats`` may be left out when every column is ND. ``auto_contiguous`` asks a generated API
    to insert Contiguous and ViewCopy. With ``ignore_contiguous`` the operator takes any view: its
    kernel gets the address of the storage and must apply strides and offset itself.
    """

    name: str
    dtypes: tuple[DataType, ...]
    formats: tuple[Format, ...] = ()
    param_type: ParamType = ParamType.REQUIRED
    auto_contiguous: bool = False
    ignore_contiguous: bool = False

    def __post_init__(self) -> None:
        formats = self.formats or (Format.ND,) * len(self.dtypes)
        if len(formats) != len(self.dtypes):
            raise RegistrationError(
                f"parameter {self.name} lists {len(self.dtypes)} dtypes and {len(formats)} formats",
                fix="give every column a dtype and a format",
            )
        object.__setattr__(self, "formats", formats)


@dataclass(frozen=True)
class OpAICoreConfig:
    """Settings of one SoC; ``inputs`` and ``outputs`` replace the operator's lists there."""

    dynamic_compile_static: bool = True
    dynamic_format: bool = False
    dynamic_rank_support: bool = True
    dynamic_shape_support: bool = True
    need_check_support: bool = False
    precision_reduce: bool = True
    extend_cfg: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[ParamDef, ...] = ()
    outputs: tuple[ParamDef, ...] = ()


@dataclass(frozen=True)
class OpDef:
    """Declaration of one operator type.

    Parameters
    ----------
    op_type : str
        For example ``"HardSwishGradV2"``.
    inputs, outputs : tuple of ParamDef
        In the order of the kernel's arguments.
    ai_core : mapping of str to OpAICoreConfig
        One entry per SoC key (``ascend910b`` …) on which the operator is registered.
    attrs : tuple of str
        Names of attributes, in order.
    kernel_package : str
        Package that holds the kernel folders; an operator outside this project names its own.
    """

    op_type: str
    inputs: tuple[ParamDef, ...]
    outputs: tuple[ParamDef, ...]
    ai_core: Mapping[str, OpAICoreConfig]
    attrs: tuple[str, ...] = ()
    kernel_package: str = "kernels"

    def __post_init__(self) -> None:
        for soc in self.ai_core:
            lengths = {len(p.dtypes) for p in self.params(soc)}
            if len(lengths) > 1:
                raise RegistrationError(
                    f"{self.op_type}: the parameters list {sorted(lengths)} columns on {soc}",
                    fix="dtype lists are read by column, so all must have the same length",
                )

    def params(self, soc: str) -> tuple[ParamDef, ...]:
        """Inputs then outputs as declared for one SoC key."""
        config = self.ai_core[soc]
        return (config.inputs or self.inputs) + (config.outputs or self.outputs)

    def columns(self, soc: str) -> list[tuple[tuple[DataType, Format], ...]]:
        """Legal combinations of (dtype, format), one per column, inputs then outputs."""
        params = self.params(soc)
        return [
            tuple((p.dtypes[k], p.formats[k]) for p in params) for k in range(len(params[0].dtypes))
        ]

    def column_of(self, soc: str, used: Sequence[tuple[DataType, Format]]) -> int | None:
        """Index of the column that equals ``used``, or None when there is none."""
        columns = self.columns(soc)
        wanted = tuple(used)
        return columns.index(wanted) if wanted in columns else None

    def op_file(self, soc: str) -> str:
        """Name of the kernel file: ``opFile.value`` or the op type in snake case."""
        return self._configured(soc, "opFile.value")

    def op_interface(self, soc: str) -> str:
        """Name of the kernel entry: ``opInterface.value`` or the op type in snake case."""
        return self._configured(soc, "opInterface.value")

    def with_interface(self, soc: str, entry: str) -> OpDef:
        """Return the definition with another kernel entry on one SoC; ``""`` changes nothing."""
        config = self.ai_core.get(soc)
        if not entry or config is None:
            return self
        changed = replace(config, extend_cfg={**config.extend_cfg, "opInterface.value": entry})
        return replace(self, ai_core={**self.ai_core, soc: changed})

    def _configured(self, soc: str, key: str) -> str:
        config = self.ai_core.get(soc)
        extend = config.extend_cfg if config is not None else {}
        return extend.get(key, snake_case(self.op_type))


def soc_key(short_soc_version: str) -> str:
    """Registration key of a SoC: ``Ascend910B`` → ``ascend910b``."""
    return short_soc_version.lower()
