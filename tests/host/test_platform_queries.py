"""PlatformAscendC on the shipped profiles; expected values from the platform table of the tests."""

from __future__ import annotations

import pytest

from host.platform_ascendc import (
    CoreMemType,
    NpuArch,
    PlatformAscendC,
    PlatformInfo,
    ReservedSize,
    SocVersion,
)
from simulator.errors import ConfigError
from simulator.platforms import load_platform


def queries(name):
    return PlatformAscendC(PlatformInfo.from_platform(load_platform(name)))


@pytest.mark.parametrize(
    ("name", "aic", "aiv", "ub", "l1", "soc", "arch"),
    [
        ("910b1", 24, 48, 196352, 524032, SocVersion.ASCEND910B, NpuArch.DAV_2201),
        ("910b4", 20, 40, 196352, 524032, SocVersion.ASCEND910B, NpuArch.DAV_2201),
        ("910_93", 24, 48, 196352, 524032, SocVersion.ASCEND910B, NpuArch.DAV_2201),
        ("Ascend950PR_9589", 32, 64, 253952, 524288, SocVersion.ASCEND950, NpuArch.DAV_3510),
        ("Ascend950PR_9579", 28, 56, 253952, 524288, SocVersion.ASCEND950, NpuArch.DAV_3510),
    ],
)
def test_queries_of_a_profile(name, aic, aiv, ub, l1, soc, arch):
    platform = queries(name)
    assert (platform.GetCoreNumAic(), platform.GetCoreNumAiv()) == (aic, aiv)
    assert platform.GetCoreMemSize(CoreMemType.UB) == ub
    assert platform.GetCoreMemSize(CoreMemType.L1) == l1
    assert platform.GetSocVersion() is soc
    assert platform.GetCurNpuArch() is arch
    assert platform.GetLibApiWorkSpaceSize() == 16 * 2**20
    assert platform.GetCoreNumVector() == 0


def test_one_kind_of_core_answers_the_ai_core_count():
    info = PlatformInfo(core_types="AiCore", ai_core=32, aic=1, aiv=2)
    assert PlatformAscendC(info).GetCoreNumAiv() == 32
    assert PlatformAscendC(info).GetCoreNumAic() == 32


def test_vector_cores_exist_on_310p_only():
    assert PlatformAscendC(PlatformInfo(vector_core=7)).GetCoreNumVector() == 0
    info = PlatformInfo(short_soc_version="Ascend310P", vector_core=7)
    assert PlatformAscendC(info).GetCoreNumVector() == 7


def test_the_last_reserve_wins():
    platform = queries("950")
    platform.ReserveLocalMemory(ReservedSize.RESERVED_SIZE_32K)
    platform.ReserveLocalMemory(ReservedSize.RESERVED_SIZE_8K)
    assert platform.GetCoreMemSize(CoreMemType.UB) == 253952 - 8192


def test_an_unknown_architecture_answers_all_ones():
    assert PlatformAscendC(PlatformInfo()).GetLibApiWorkSpaceSize() == 2**32 - 1


def test_vector_registers_exist_on_3510_only():
    assert queries("950").GetVecRegLen() == 256
    with pytest.raises(ConfigError, match="no vector registers"):
        queries("910b").GetVecRegLen()


def test_a_unit_test_platform_answers_what_it_was_given():
    info = PlatformInfo.for_tiling(core_num_aiv=3, ub_size=999, short_soc_version="Ascend910B")
    platform = PlatformAscendC(info)
    assert platform.GetCoreMemSize(CoreMemType.UB) == 999
    assert (platform.GetCoreNumAiv(), platform.GetCoreNum()) == (3, 3)


def test_cube_group_workspace_exists_on_the_910b_family_only():
    assert queries("910_93").GetResCubeGroupWorkSpaceSize() == 2**20
    assert queries("950").GetResGroupBarrierWorkSpaceSize() == -1
