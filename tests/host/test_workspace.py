"""Placement of intermediates by lifetime."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.workspace import Lifetime, place


def test_a_dead_tensor_gives_its_place_to_a_later_one():
    offsets, size = place([Lifetime(100, 0, 1), Lifetime(100, 1, 2), Lifetime(100, 2, 3)])
    assert offsets == [0, 512, 0]
    assert size == 1024


def test_an_output_never_takes_the_place_of_its_own_input():
    offsets, _ = place([Lifetime(1, 0, 0), Lifetime(1, 1, 1, inputs_of_writer=(0,))])
    assert offsets[0] != offsets[1]


def test_a_shared_place_is_as_large_as_its_largest_tenant():
    offsets, size = place([Lifetime(100, 0, 0), Lifetime(2000, 1, 2), Lifetime(1, 1, 2)])
    assert offsets == [0, 0, 2048]
    assert size == 2048 + 512


lifetimes = st.lists(
    st.tuples(st.integers(1, 5000), st.integers(0, 9), st.integers(0, 4)), max_size=12
).map(lambda rows: [Lifetime(n, a, a + d) for n, a, d in sorted(rows, key=lambda r: r[1])])


@given(lifetimes)
def test_tensors_that_live_at_the_same_time_never_overlap(tensors):
    offsets, size = place(tensors)
    for i, (a, at_a) in enumerate(zip(tensors, offsets, strict=True)):
        assert at_a % 512 == 0
        assert at_a + a.nbytes + 32 <= size
        for b, at_b in list(zip(tensors, offsets, strict=True))[:i]:
            if a.first <= b.last and b.first <= a.last:
                assert at_a + a.nbytes <= at_b or at_b + b.nbytes <= at_a
