"""Regions of byte ranges against sets of bytes, worked out one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.instruction import Access
from simulator.sanitizer.ranges import Ranges
from simulator.sanitizer.regions import Regions

RUNS = st.builds(lambda start, size: (Access(start, size),), st.integers(0, 90), st.integers(1, 30))
ROWS = st.builds(
    lambda start, size, count, stride: (Access(start, size, ((count, stride),)),),
    st.integers(0, 60), st.integers(1, 4), st.integers(1, 6), st.integers(1, 9),
)  # fmt: skip
LANES = st.builds(
    lambda start, lanes: (Access(start, 2, (), tuple(sorted(lanes))),),
    st.integers(0, 60), st.sets(st.integers(0, 40), min_size=1, max_size=6),
)  # fmt: skip
MANY = st.lists(st.one_of(RUNS, ROWS, LANES), min_size=1, max_size=12)
SLACK = 4


def members(accesses):
    """All bytes of a pattern."""
    found = set()
    for start, inner, dims, lanes in accesses:
        starts = [start] if lanes is None else [start + lane for lane in lanes]
        for count, stride in dims:
            starts = [at + step * stride for at in starts for step in range(count)]
        found |= {at + i for at in starts for i in range(inner)}
    return found


def of(patterns):
    ranges = Ranges()
    rids = [ranges.intern(pattern) for pattern in patterns]
    return rids, {rid: members(p) for rid, p in zip(rids, patterns, strict=True)}, ranges


@given(MANY)
def test_ranges_overlap_when_they_share_a_byte(patterns):
    rids, found, ranges = of(patterns)
    regions = Regions(ranges, rids)
    for rid in rids:
        expected = sorted(other for other in found if found[rid] & found[other])
        assert regions.overlapping(rid) == expected


@given(MANY)
def test_ranges_of_different_regions_share_no_byte(patterns):
    rids, found, ranges = of(patterns)
    regions = Regions(ranges, rids)
    assert {regions.of[rid] for rid in rids} == set(range(regions.count))
    for one in rids:
        for other in rids:
            assert regions.of[one] == regions.of[other] or not found[one] & found[other]


@given(st.lists(RUNS, min_size=1, max_size=12))
def test_a_range_crosses_another_when_both_have_bytes_of_their_own(patterns):
    rids, found, ranges = of(patterns)
    regions = Regions(ranges, rids)
    for rid in rids:
        mine = found[rid]
        expected = []
        for other in sorted(found):
            theirs = found[other]
            shared, beyond = mine & theirs, theirs - mine
            is_tail = min(theirs) >= min(mine) and len(beyond) < SLACK
            if shared and beyond and mine - theirs and not is_tail:
                expected.append(other)
        assert regions.crossing(rid, SLACK) == expected


def test_ranges_of_different_address_spaces_share_nothing():
    ranges = Ranges()
    local, far = (ranges.intern((Access(0, 64),), space) for space in ("UB", "GM"))
    regions = Regions(ranges, [local, far])
    assert regions.count == 2
    assert regions.overlapping(local) == [local]


def test_ranges_of_other_streams_do_not_count():
    ranges = Ranges()
    mine, theirs = ranges.intern((Access(0, 64),)), ranges.intern((Access(32, 64),))
    assert Regions(ranges, [mine]).overlapping(mine) == [mine]
    assert Regions(ranges, [mine, theirs]).overlapping(mine) == [mine, theirs]


def test_an_unbroken_run_is_one_range_however_it_is_described():
    ranges = Ranges()
    described = [(Access(0, 64),), (Access(0, 16, ((4, 16),)),), (Access(0, 64, ((1, 999),)),)]
    assert {ranges.intern(accesses) for accesses in described} == {0}
