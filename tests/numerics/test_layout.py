"""Shapes, strides, shared memory and complex numbers: properties that hold for every pair."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.dtypes import BY_NAME, complex32, complex64
from simulator.enums import Arch, RoundMode
from simulator.numerics import cast_rules, caster

A5 = Arch.DAV_3510
PACKED = ("int4b_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t")
PAIRS = [
    (arch, src.name, dst.name) for arch in (Arch.DAV_2201, A5) for src, dst in cast_rules(arch)
]


def any_mode(arch, src, dst):
    return min(cast_rules(arch)[BY_NAME[src], BY_NAME[dst]].modes)


def random_storage(rng, name, shape):
    storage = BY_NAME[name].numpy
    raw = rng.integers(0, 256, (*shape[:-1], shape[-1] * storage.itemsize)).astype(np.uint8)
    return np.ascontiguousarray(raw).view(storage)


@pytest.mark.parametrize(("arch", "src", "dst"), PAIRS)
def test_a_strided_view_gives_the_elements_of_the_flat_array(arch, src, dst):
    rng = np.random.default_rng(1)
    width = {True: 8, False: 16}
    source = random_storage(rng, src, (6, width[src in PACKED] + 4))
    view = source[1:5:2, 2:-2]
    target = np.zeros((9, width[dst in PACKED] + 2), BY_NAME[dst].numpy)
    hole = target[2:6:3, 1:-1]
    for saturate in (False, True):
        convert = caster(
            arch,
            BY_NAME[src],
            BY_NAME[dst],
            any_mode(arch, src, dst),
            nonsaturating=not saturate,
            cast_truncate=saturate,
        )
        flat = np.zeros(2 * width[dst in PACKED], BY_NAME[dst].numpy)
        with np.errstate(all="ignore"):
            convert(np.ascontiguousarray(view).ravel(), flat)
            convert(view, hole)
        assert np.array_equal(bytes_of(hole), bytes_of(flat))
        hole[...] = 0
        assert not bytes_of(target).any(), "wrote outside its view"


def bytes_of(array):
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


# Into a wider type the device itself gives wrong results when the ranges overlap (Cast page).
NOT_WIDER = [pair for pair in PAIRS if BY_NAME[pair[2]].bits <= BY_NAME[pair[1]].bits]


@pytest.mark.parametrize(("arch", "src", "dst"), NOT_WIDER)
def test_source_and_destination_may_share_their_first_byte(arch, src, dst):
    rng = np.random.default_rng(2)
    source_type, target_type = BY_NAME[src].numpy, BY_NAME[dst].numpy
    counts = {True: 32, False: 64}
    size = 64 * max(source_type.itemsize, target_type.itemsize)
    memory = np.zeros(size, np.uint8)
    source = memory[: counts[src in PACKED] * source_type.itemsize].view(source_type)
    source[...] = random_storage(rng, src, source.shape)
    apart = np.zeros(counts[dst in PACKED], target_type)
    convert = caster(arch, BY_NAME[src], BY_NAME[dst], any_mode(arch, src, dst))
    with np.errstate(all="ignore"):
        convert(source, apart)
        shared = memory[: counts[dst in PACKED] * target_type.itemsize].view(target_type)
        convert(source, shared)
    assert np.array_equal(bytes_of(shared), bytes_of(apart))


@pytest.mark.parametrize(("arch", "src", "dst"), PAIRS)
def test_nothing_happens_to_an_empty_array(arch, src, dst):
    convert = caster(arch, BY_NAME[src], BY_NAME[dst], any_mode(arch, src, dst))
    out = np.empty(0, BY_NAME[dst].numpy)
    convert(np.empty(0, BY_NAME[src].numpy), out)
    assert out.size == 0


def test_complex_parts_convert_like_their_floats():
    values = np.array(
        [1 + 2**-11 + 1e6j, complex(-0.3, np.nan), complex(-np.inf, 2.5)], np.complex64
    )
    words = np.empty(3, np.uint32)
    with np.errstate(over="ignore"):
        caster(A5, complex64, complex32, RoundMode.CAST_NONE)(values, words)
    halves = words.view(np.float16).reshape(3, 2)
    np.testing.assert_array_equal(
        halves, np.array([[1, np.inf], [-0.3, np.nan], [-np.inf, 2.5]], np.float16)
    )
    back = np.empty(3, np.complex64)
    caster(A5, complex32, complex64, RoundMode.CAST_NONE)(words, back)
    np.testing.assert_array_equal(back.real, halves[:, 0].astype(np.float32))
    np.testing.assert_array_equal(back.imag, halves[:, 1].astype(np.float32))
    with np.errstate(over="ignore"):
        caster(A5, complex64, complex32, RoundMode.CAST_CEIL, nonsaturating=False)(values, words)
    halves = words.view(np.float16).reshape(3, 2)
    np.testing.assert_array_equal(halves[0], np.array([1 + 2**-10, 65504], np.float16))
    np.testing.assert_array_equal(halves[2], np.array([-65504, 2.5], np.float16))
    assert halves[1, 1] == 0


def test_complex64_rounds_both_parts_to_integral_values():
    values = np.array([2.5 - 2.5j, -0.4 + 3.6j], np.complex64)
    out = np.empty(2, np.complex64)
    caster(A5, complex64, complex64, RoundMode.CAST_ROUND)(values, out)
    np.testing.assert_array_equal(out, np.array([3 - 3j, 4j], np.complex64))
    caster(A5, complex64, complex64, RoundMode.CAST_FLOOR)(values, out)
    np.testing.assert_array_equal(out, np.array([2 - 3j, -1 + 3j], np.complex64))
