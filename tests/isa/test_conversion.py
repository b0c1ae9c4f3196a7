"""Cast: the forms of every pair, packed types, overlapping operands, masks and refusals.

The arithmetic of each pair is tested in tests/numerics.
"""

from __future__ import annotations

import numpy as np
import pytest
from harness import Filled, on_core

from simulator.ascendc import (
    Cast,
    RoundMode,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    UnaryRepeatParams,
)
from simulator.enums import Arch, MaskMode
from simulator.errors import (
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
    SimulatorError,
    UnsupportedError,
)
from simulator.isa.conversion import PACKED
from simulator.numerics import cast_rules

PLATFORMS = {Arch.DAV_2201: "910b", Arch.DAV_3510: "950"}
PAIRS = [
    (arch, src, dst)
    for arch in PLATFORMS
    for src, dst in sorted(cast_rules(arch), key=lambda pair: (pair[0].name, pair[1].name))
]
COUNT_ONLY = "count form only"


def pair_id(pair):
    return f"{pair[0].family}-{pair[1].name}-{pair[2].name}"


def mode_of(arch, src, dst):
    rule = cast_rules(arch)[src, dst]
    return next(iter(sorted(rule.modes, key=int)))


def raw(dtype, nbytes, seed=3):
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8).view(dtype.numpy)


def stored(dtype, count):
    """Bytes of ``count`` elements."""
    return count // 2 if dtype in PACKED else count * dtype.itemsize


def lanes_of(src, dst):
    return 256 // max(src.itemsize, dst.itemsize)


@pytest.mark.parametrize("pair", PAIRS, ids=pair_id)
def test_the_forms_agree_and_write_nothing_else(pair):
    arch, src, dst = pair
    lanes, mode = lanes_of(src, dst), mode_of(arch, src, dst)
    count = 3 * lanes
    # Dense repeats of both types, in blocks of 32 bytes.
    per_repeat = stored(dst, lanes) // 32, stored(src, lanes) // 32
    masked = not cast_rules(arch)[src, dst].note.startswith(COUNT_ONLY)
    full = (1 << lanes) - 1

    def body(t):
        Cast(t.count, t.src, mode, count)
        if masked:
            params = UnaryRepeatParams(1, 1, *per_repeat)
            Cast(t.mask, t.src, mode, lanes, 3, params)
            Cast(t.bits, t.src, mode, [full & 2**64 - 1, full >> 64], 3, params)

    empty = np.zeros(stored(dst, count), np.uint8)
    outputs = {name: Filled(dst, empty.view(dst.numpy)) for name in ("count", "mask", "bits")}
    done = on_core(
        body, platform=PLATFORMS[arch], src=Filled(src, raw(src, stored(src, count))), **outputs
    )
    assert done.changed_outside(*outputs).size == 0
    if masked:
        count_bytes = done["count"].view(np.uint8)
        assert (done["mask"].view(np.uint8) == count_bytes).all()
        assert (done["bits"].view(np.uint8) == count_bytes).all()


PLAIN = [
    (arch, src, dst)
    for arch, src, dst in PAIRS
    if src.kind in "iu" and dst.kind in "iuf" and min(src.bits, dst.bits) >= 8
    if dst.numpy.kind != "V"
]


@pytest.mark.parametrize("pair", PLAIN, ids=pair_id)
def test_small_integers_keep_their_value(pair):
    arch, src, dst = pair
    values = np.arange(64).astype(src.numpy)
    done = on_core(
        lambda t: Cast(t.dst, t.src, mode_of(arch, src, dst), 64), platform=PLATFORMS[arch],
        dst=Filled(dst, np.zeros(64, dst.numpy)), src=Filled(src, values),
    )  # fmt: skip
    assert [float(v) for v in done["dst"]] == list(range(64))


def test_strides_are_in_blocks_of_each_operand():
    src = np.arange(512, dtype=np.float16)
    done = on_core(
        lambda t: Cast(t.dst, t.src, RoundMode.CAST_NONE, 20, 2, UnaryRepeatParams(3, 2, 30, 10)),
        dst=np.full(512, 9, np.float32), src=src,
    )  # fmt: skip
    expected = np.full(512, 9, np.float32)
    for r in range(2):
        for lane in range(20):
            block, inside = divmod(lane, 8)
            from_block, from_inside = divmod(lane, 16)
            expected[8 * (30 * r + 3 * block) + inside] = src[
                16 * (10 * r + 2 * from_block) + from_inside
            ]
    assert done["dst"].tolist() == expected.tolist()


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_counter_mode_counts_elements(platform):
    def body(t):
        SetMaskCount()
        SetVectorMask(0, 100, mode=MaskMode.COUNTER)
        Cast(t.dst, t.src, RoundMode.CAST_NONE, 0, 1, UnaryRepeatParams(1, 1, 8, 4), False)
        SetMaskNorm()

    done = on_core(
        body, platform=platform, dst=np.zeros(128, np.float32), src=np.ones(128, np.float16)
    )
    assert done["dst"].tolist() == [1] * 100 + [0] * 28


# -- two elements in a byte ------------------------------------------------------------------------


def nibbles(values):
    """Pack signed 4-bit integers, the first in the low half of its byte."""
    low, high = (np.array(values[i::2]) & 0xF for i in (0, 1))
    return (low | high << 4).astype(np.uint8)


INT4 = [i % 16 - 8 for i in range(256)]


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_int4_is_counted_in_elements(platform):
    done = on_core(
        lambda t: Cast(t.dst, t.src, RoundMode.CAST_NONE, 100), platform=platform,
        dst=np.full(256, 99, np.float16), src=Filled("int4b_t", nibbles(INT4)),
    )  # fmt: skip
    assert done["dst"].tolist() == INT4[:100] + [99] * 156


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_int4_takes_masks_and_strides(platform):
    bits = 0xF00F_0000_C003_0300
    lanes = [lane for lane in range(64) if bits >> lane & 1]
    src = np.array([i % 31 - 15 for i in range(512)], np.float16)

    def body(t):
        Cast(t.dst, t.src, RoundMode.CAST_RINT, [bits], 2, UnaryRepeatParams(1, 1, 3, 8))

    done = on_core(
        body, platform=platform, dst=Filled("int4b_t", np.full(256, 0x55, np.uint8)), src=src
    )
    expected = [5] * 512
    for r in range(2):
        for lane in lanes:
            value = int(src[128 * r + lane])
            expected[64 * 3 * r + lane] = max(-8, min(7, value))
    assert done["dst"].tolist() == nibbles(expected).tolist()


def test_the_elements_of_a_byte_are_converted_together():
    def cast(*trailing):
        def body(t):
            Cast(t.dst, t.src, RoundMode.CAST_NONE, *trailing)

        return body

    params = UnaryRepeatParams(1, 1, 8, 2)
    for trailing, match in (
        ((7,), "count"),
        ((7, 1, params), "mask"),
        (([0b0110], 1, params), "bits 2k and 2k"),
    ):
        with pytest.raises(ArgumentError, match=match):
            on_core(
                cast(*trailing), dst=np.zeros(128, np.float16),
                src=Filled("int4b_t", np.zeros(64, np.uint8)),
            )  # fmt: skip


@pytest.mark.parametrize(
    "pair", [p for p in PAIRS if p[1] in PACKED or p[2] in PACKED], ids=pair_id
)
def test_packed_pairs_convert_two_elements_a_byte(pair):
    arch, src, dst = pair
    mode = mode_of(arch, src, dst)
    packed = src if src in PACKED else dst
    values = {
        "src": Filled(src, raw(src, stored(src, 256))),
        "dst": Filled(dst, np.zeros(stored(dst, 256), np.uint8).view(dst.numpy)),
    }
    done = on_core(lambda t: Cast(t.dst, t.src, mode, 128), platform=PLATFORMS[arch], **values)
    half_of_dst = stored(dst, 128)
    assert not done["dst"].view(np.uint8)[half_of_dst:].any()
    assert done["dst"].view(np.uint8)[:half_of_dst].any()
    (cast,) = (i for i in done.run.instructions if i.name == "Cast")
    sizes = {op.role: sum(a.inner for a in op.accesses) for op in cast.operands}
    assert 64 in sizes.values(), packed


# -- operands that overlap -------------------------------------------------------------------------


@pytest.mark.parametrize("platform", ["910b", "950"])
def test_narrowing_in_place_reads_before_it_writes(platform):
    src = np.arange(256, dtype=np.float32)

    def body(t):
        Cast(t.a.ReinterpretCast(t.h.dtype), t.a, RoundMode.CAST_NONE, 256)

    done = on_core(body, platform=platform, a=src, h=np.zeros(16, np.float16))
    assert done["a"].view(np.float16)[:256].tolist() == src.tolist()


def test_widening_onto_its_own_source_runs_repeat_by_repeat():
    src = np.arange(1, 257, dtype=np.float16)
    whole = np.zeros(512, np.float16)
    whole[:256] = src

    def body(t):
        Cast(t.a.ReinterpretCast(t.f.dtype), t.a, RoundMode.CAST_NONE, 256)

    done = on_core(body, a=whole, f=np.zeros(16, np.float32), strict=False)
    memory = whole.copy()
    for r in range(4):
        memory.view(np.float32)[64 * r : 64 * r + 64] = memory[64 * r : 64 * r + 64].copy()
    assert done["a"].view(np.uint16).tolist() == memory.view(np.uint16).tolist()


# -- refusals --------------------------------------------------------------------------------------


def refuse(body, error, match, platform="910b", **tensors):
    given = {"dst": np.zeros(64, np.float32), "src": np.zeros(64, np.float16)} | tensors
    with pytest.raises(error, match=match):
        on_core(body, platform=platform, **given)


def test_wrong_arguments_are_refused_with_the_legal_ones():
    none = RoundMode.CAST_NONE
    refuse(lambda t: Cast(t.dst, t.src, 99, 64), ArgumentError, "RoundMode")
    refuse(lambda t: Cast(t.dst, t.src, RoundMode.CAST_ODD, 64), SimulatorError, "CAST_NONE")
    refuse(lambda t: Cast(t.dst, t.src, none, 65), OutOfBoundsError, "Cast")
    refuse(lambda t: Cast(t.dst, t.src, none, -1), SimulatorError, "count")
    refuse(
        lambda t: Cast(t.dst, t.src, none, 64, 1, (1, 1, 8, 4)), ArgumentError, "UnaryRepeatParams"
    )
    refuse(
        lambda t: Cast(t.dst, t.src, none, 64, 1, UnaryRepeatParams(0, 1, 8, 4)),
        ArgumentError, "dstBlkStride",
    )  # fmt: skip
    refuse(
        lambda t: Cast(t.dst, t.src, none, 64), (DTypeError, UnsupportedError), "uint32_t",
        src=np.zeros(64, np.uint32),
    )  # fmt: skip
    refuse(lambda t: Cast(1, t.src, none, 64), SimulatorError, "Cast")


@pytest.mark.parametrize(
    "pair",
    [p for p in PAIRS if cast_rules(p[0])[p[1], p[2]].note.startswith(COUNT_ONLY)],
    ids=pair_id,
)
def test_pairs_of_the_count_form_have_no_mask_form(pair):
    arch, src, dst = pair
    refuse(
        lambda t: Cast(t.dst, t.src, mode_of(arch, src, dst), 16, 1, UnaryRepeatParams()),
        UnsupportedError, "count form", PLATFORMS[arch],
        dst=Filled(dst, np.zeros(64, dst.numpy)), src=Filled(src, np.zeros(64, src.numpy)),
    )  # fmt: skip
