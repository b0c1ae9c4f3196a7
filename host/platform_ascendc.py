"""Platform queries of a tiling function (``PlatformAscendC``).

Source: mirror-cann/asc-devkit impl/utils/tiling/platform/platform_ascendc.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError

if TYPE_CHECKING:
    from simulator.platforms import Platform

_KIB: Final = 1024
_MIB: Final = 1024 * 1024

UNKNOWN_WORKSPACE: Final = 0xFFFFFFFF
"""What GetLibApiWorkSpaceSize answers when the architecture is unknown."""


class CoreMemType(Enum):
    """A memory of the core that GetCoreMemSize knows; the value is the PlatformInfo field."""

    UB = "ub_bytes"
    L1 = "l1_bytes"
    L0_A = "l0a_bytes"
    L0_B = "l0b_bytes"
    L0_C = "l0c_bytes"
    BT = "bt_bytes"
    FB = "fb_bytes"
    L2 = "l2_bytes"
    HBM = "hbm_bytes"


class SocVersion(Enum):
    """SoC families as the tiling library tells them apart; 910_93 answers ASCEND910B."""

    ASCEND910 = "Ascend910"
    ASCEND910B = "Ascend910B"
    ASCEND310P = "Ascend310P"
    ASCEND310B = "Ascend310B"
    ASCEND950 = "Ascend950"
    RESERVED_VERSION = "unknown"


class NpuArch(Enum):
    """Architecture of the cores."""

    DAV_1001 = "1001"
    DAV_2002 = "2002"
    DAV_2201 = "2201"
    DAV_3002 = "3002"
    DAV_3510 = "3510"
    DAV_RESV = "unknown"


class ReservedSize(Enum):
    """Amount that ReserveLocalMemory holds back, in bytes."""

    RESERVED_SIZE_8K = 8 * _KIB
    RESERVED_SIZE_16K = 16 * _KIB
    RESERVED_SIZE_32K = 32 * _KIB


@dataclass(frozen=True)
class PlatformInfo:
    """What the framework knows of a device before any rule of the tiling library is applied.

    Sizes are bytes as in the device's configuration file. An empty ``npu_arch`` or
    ``short_soc_version`` mirrors a unit test that leaves it out.
    """

    soc_version: str = ""
    short_soc_version: str = ""
    npu_arch: str = ""
    aic: int = 0
    aiv: int = 0
    ai_core: int = 0
    core_num: int = 0
    vector_core: int = 0
    core_types: str = "CubeCore,VectorCore"
    ub_bytes: int = 0
    l1_bytes: int = 0
    l0a_bytes: int = 0
    l0b_bytes: int = 0
    l0c_bytes: int = 0
    bt_bytes: int = 0
    fb_bytes: int = 0
    l2_bytes: int = 0
    hbm_bytes: int = 0

    @classmethod
    def from_platform(cls, platform: Platform) -> PlatformInfo:
        """Return what a profile of the simulator tells the framework."""
        chip, memory = platform.chip, platform.memory
        info = cls(
            soc_version=chip.soc_version,
            short_soc_version=chip.short_soc_version,
            npu_arch=chip.npu_arch,
            aic=chip.aic,
            aiv=chip.aiv,
            ai_core=chip.aic,
            core_num=chip.aiv,
            vector_core=chip.vector_core_count_query,
            core_types=chip.core_types,
            l0a_bytes=memory.l0a_bytes,
            l0b_bytes=memory.l0b_bytes,
            l0c_bytes=memory.l0c_bytes,
            bt_bytes=memory.bt_bytes,
            fb_bytes=memory.fb0_bytes,
            l2_bytes=memory.l2_bytes,
            hbm_bytes=memory.hbm_bytes,
        )
        held_back = PlatformAscendC(info).held_back
        return replace(
            info,
            ub_bytes=memory.ub_tiling_bytes + held_back,
            l1_bytes=memory.l1_tiling_bytes + held_back,
        )

    @classmethod
    def for_tiling(
        cls,
        *,
        core_num_aiv: int,
        ub_size: int,
        short_soc_version: str = "",
        npu_arch: str = "",
        **others: Any,
    ) -> PlatformInfo:
        """Return a platform whose queries answer the given AIV count and UB size.

        ``ub_size`` is what the tiling function receives, that is after the 256 bytes that the
        910B family holds back.
        """
        info = cls(
            short_soc_version=short_soc_version,
            npu_arch=npu_arch,
            aiv=core_num_aiv,
            core_num=core_num_aiv,
            **others,
        )
        return replace(info, ub_bytes=ub_size + PlatformAscendC(info).held_back)

    def replace(self, **changes: Any) -> PlatformInfo:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


class PlatformAscendC:
    """Answers of the tiling library's platform object for one :class:`PlatformInfo`."""

    def __init__(self, info: PlatformInfo) -> None:
        self.info = info
        self._reserved = 0

    @property
    def held_back(self) -> int:
        """Bytes of UB and L1 that the library keeps for itself on the 910B family."""
        return 256 if self.GetSocVersion() is SocVersion.ASCEND910B else 0

    def GetSocVersion(self) -> SocVersion:
        """SoC family; 910_93 is answered as ASCEND910B."""
        short = self.info.short_soc_version
        if short == "Ascend910_93":
            return SocVersion.ASCEND910B
        try:
            return SocVersion(short)
        except ValueError:
            return SocVersion.RESERVED_VERSION

    def GetCurNpuArch(self) -> NpuArch:
        """Architecture of the cores."""
        try:
            return NpuArch(self.info.npu_arch)
        except ValueError:
            return NpuArch.DAV_RESV

    def GetCoreNumAiv(self) -> int:
        """Vector cores; the AI core count where cube and vector are one core."""
        return self.info.aiv if self._separate_cores else self.info.ai_core

    def GetCoreNumAic(self) -> int:
        """Cube cores; the AI core count where cube and vector are one core."""
        return self.info.aic if self._separate_cores else self.info.ai_core

    def GetCoreNum(self) -> int:
        """The number that the framework put into the platform object."""
        return self.info.core_num

    def GetCoreNumVector(self) -> int:
        """Vector-only cores, which 310P alone has."""
        is_310p = self.GetSocVersion() is SocVersion.ASCEND310P
        return self.info.vector_core if is_310p else 0

    def GetCoreMemSize(self, kind: CoreMemType) -> int:
        """Bytes of a memory that a kernel may plan with."""
        size: int = getattr(self.info, kind.value)
        if kind in (CoreMemType.UB, CoreMemType.L1):
            size -= self.held_back
        if kind is CoreMemType.UB:
            size -= self._reserved
        return size

    def ReserveLocalMemory(self, size: ReservedSize) -> None:
        """Hold back UB for the kernel's own use; the last call wins."""
        self._reserved = size.value

    def GetLibApiWorkSpaceSize(self) -> int:
        """Workspace of the kernel library: 16 MiB on 2201 and 3510, 2 MiB elsewhere."""
        arch = self.GetCurNpuArch()
        if arch is NpuArch.DAV_RESV:
            return UNKNOWN_WORKSPACE
        return 16 * _MIB if arch in (NpuArch.DAV_2201, NpuArch.DAV_3510) else 2 * _MIB

    def GetResCubeGroupWorkSpaceSize(self) -> int:
        """Workspace of a cube group: 1 MiB on the 910B family, -1 elsewhere."""
        return _MIB if self.GetSocVersion() is SocVersion.ASCEND910B else -1

    def GetResGroupBarrierWorkSpaceSize(self) -> int:
        """Workspace of a group barrier: 1 MiB on the 910B family, -1 elsewhere."""
        return _MIB if self.GetSocVersion() is SocVersion.ASCEND910B else -1

    def GetVecRegLen(self) -> int:
        """Bytes of a vector register (3510 only).

        Raises
        ------
        ConfigError
            On an architecture without vector registers.
        """
        if self.GetCurNpuArch() is not NpuArch.DAV_3510:
            raise ConfigError(
                "this architecture has no vector registers",
                api="GetVecRegLen",
                got=self.info.npu_arch or "not set",
                legal="3510",
            )
        return 256

    @staticmethod
    def CalcTschNumBlocks(slice_num: int, aic: int, aiv: int) -> int:
        """Blocks to launch for ``slice_num`` vector slices; 0 means refused.

        ``ceil(slices / (aiv // aic))``, except that the slices stay as they are without cube or
        vector cores, and that two vectors per cube refuse more groups than cubes.
        """
        if aic == 0 or aiv == 0 or aic > aiv:
            return slice_num
        ratio = aiv // aic
        blocks = -(-slice_num // ratio)
        return 0 if ratio == 2 and blocks > aic else blocks

    @property
    def _separate_cores(self) -> bool:
        return self.info.core_types == "CubeCore,VectorCore"
