import struct

import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    Concat,
    Extract,
    GetMrgSortResult,
    GetSortLen,
    GetSortOffset,
    MrgSort,
    MrgSort4Info,
    MrgSortSrcList,
    Sort,
    Sort32,
)
from simulator.dtypes import as_dtype, float32, half
from simulator.errors import (
    AlignmentError,
    ArgumentError,
    DTypeError,
    OutOfBoundsError,
)

ANYWHERE = pytest.mark.parametrize("arch", ["910b", "950"])
SCORES = pytest.mark.parametrize("dtype", [np.float16, np.float32])


def pack(records, dtype):
    """Return the bytes of (score, index) records."""
    if dtype is np.float16:
        return b"".join(struct.pack("<eHI", score, 0, index) for score, index in records)
    return b"".join(struct.pack("<fI", score, index) for score, index in records)


def unpack(tensor):
    raw = np.ascontiguousarray(tensor).tobytes()
    form = "<exxI" if tensor.dtype == np.float16 else "<fI"
    return list(struct.iter_unpack(form, raw))


def as_tensor(records, dtype, pad=0):
    return np.frombuffer(pack(records, dtype) + bytes(8 * pad), dtype)


def scores_with_ties(count, dtype, seed=3):
    rng = np.random.default_rng(seed)
    values = rng.integers(-20, 20, count).astype(dtype) / 4
    values[rng.integers(0, count, 3)] = [np.inf, -np.inf, 0.0]
    return values.astype(dtype)


def best_first(records):
    """Sort records by score, largest first; earlier records first among equal scores."""
    return sorted(records, key=lambda record: -record[0])


# -- Sort32 ------------------------------------------------------------------------------------


@SCORES
@ANYWHERE
def test_sort32_sorts_every_32(arch, dtype):
    scores = scores_with_ties(96, dtype)
    index = np.arange(1000, 1096, dtype=np.uint32)
    index[5] = 0xFFFF_FFFF
    done = on_core(
        lambda t: Sort32(t.dst, t.scores, t.index, 3), platform=arch, scores=scores, index=index,
        dst=np.zeros(96 * 8 // scores.itemsize, dtype),
    )  # fmt: skip
    pairs = list(zip(scores.tolist(), index.tolist(), strict=True))
    want = [record for k in (0, 32, 64) for record in best_first(pairs[k : k + 32])]
    assert unpack(done["dst"]) == want
    assert not done.changed_outside("dst").size


def test_sort32_keeps_the_sign_of_zero_and_the_order_of_equal_scores():
    scores = np.array([0.0, -0.0] * 16, np.float32)
    done = on_core(
        lambda t: Sort32(t.dst, t.scores, t.index, 1),
        scores=scores,
        index=np.arange(32, dtype=np.uint32),
        dst=np.zeros(64, np.float32),
    )
    assert done["dst"].view(np.uint32)[1::2].tolist() == list(range(32))
    assert done["dst"].view(np.uint32)[::2].tolist() == scores.view(np.uint32).tolist()


def test_sort32_without_repeats_changes_nothing():
    zeros = np.zeros(64, np.float32)
    done = on_core(
        lambda t: Sort32(t.dst, t.dst, t.index, 0), dst=zeros, index=np.zeros(64, np.uint32)
    )
    assert not done.changed().size


def test_sort32_refuses():
    scores, index = np.zeros(64, np.float32), np.zeros(64, np.uint32)

    def run(dst=256, scores=scores, index=index, repeats=2, dtype=np.float32):
        on_core(
            lambda t: Sort32(t.dst, t.scores, t.index, repeats),
            scores=scores, index=index, dst=np.zeros(dst, dtype),
        )  # fmt: skip

    with pytest.raises(DTypeError):
        run(index=np.zeros(64, np.int32))
    with pytest.raises(DTypeError):
        run(scores=np.zeros(64, np.int32), dtype=np.int32)
    with pytest.raises(DTypeError):
        run(dtype=np.float16)
    with pytest.raises(DTypeError):
        run(scores=scores.astype(ml_dtypes.bfloat16), dtype=ml_dtypes.bfloat16)
    with pytest.raises(OutOfBoundsError):
        run(dst=120)
    with pytest.raises(OutOfBoundsError):
        run(scores=scores[:32])
    with pytest.raises(ArgumentError):
        run(repeats=256)


# -- MrgSort -----------------------------------------------------------------------------------


def queue(length, dtype, seed):
    scores = scores_with_ties(max(length, 1), dtype, seed)[:length].tolist()
    return best_first([(score, 100 * seed + k) for k, score in enumerate(scores)])


def merged(queues):
    """Take the largest head; of equal heads the one of the earlier queue."""
    heads, out, taken = [list(q) for q in queues], [], [0] * len(queues)
    while any(heads):
        best = max(
            (k for k, q in enumerate(heads) if q), key=lambda k: (heads[k][0][0], -k)
        )  # fmt: skip
        out.append(heads[best].pop(0))
        taken[best] += 1
        yield list(out), list(taken), not heads[best]


def run_merge(queues, dtype, info, arch="910b", room=None):
    total = sum(len(q) for q in queues)
    tensors = {f"q{k}": as_tensor(q, dtype, pad=4) for k, q in enumerate(queues)}
    dst = np.zeros(8 * (total if room is None else room) // np.dtype(dtype).itemsize + 16, dtype)

    def body(t):
        given = MrgSortSrcList(*(getattr(t, f"q{k}") for k in range(len(queues))))
        MrgSort(t.dst, given, info)
        return GetMrgSortResult()

    return on_core(body, platform=arch, dst=dst, **tensors)


@pytest.mark.parametrize(
    ("lengths", "valid"),
    [((5, 9, 3, 7), 15), ((32, 32, 32, 32), 15), ((4, 8, 6), 7), ((10, 1), 3), ((0, 6, 0, 2), 15)],
)
@SCORES
@ANYWHERE
def test_a_merge_takes_the_largest_head(arch, dtype, lengths, valid):
    queues = [queue(n, dtype, k + 1) for k, n in enumerate(lengths)]
    info = MrgSort4Info((*lengths, 0, 0, 0)[:4], False, valid, 1)
    done = run_merge(queues, dtype, info, arch)
    *_, (want, taken, _) = merged(queues)
    assert unpack(done["dst"])[: len(want)] == want
    assert not done["dst"][8 * len(want) // done["dst"].itemsize :].any()
    assert done.returned == (*taken, 0, 0, 0)[:4]
    assert not done.changed_outside("dst").size


@SCORES
def test_a_suspended_merge_stops_when_a_queue_is_empty(dtype):
    queues = [queue(n, dtype, k + 4) for k, n in enumerate((5, 9, 3, 7))]
    info = MrgSort4Info((5, 9, 3, 7), True, 15, 1)
    done = run_merge(queues, dtype, info)
    want, taken, _ = next(step for step in merged(queues) if step[2])
    assert unpack(done["dst"])[: len(want)] == want
    assert not done["dst"][8 * len(want) // done["dst"].itemsize :].any()
    assert done.returned == tuple(taken)


def test_repeats_of_four_equal_queues_in_a_row():
    dtype = np.float32
    runs = [queue(8, dtype, k + 1) for k in range(12)]
    src = as_tensor([record for run in runs for record in run], dtype)

    def body(t, length=8):
        queues = MrgSortSrcList(*(t.src[2 * k * length] for k in range(4)))
        MrgSort(t.dst, queues, MrgSort4Info((length,) * 4, False, 15, 3))

    done = on_core(body, src=src, dst=np.zeros_like(src))
    want = []
    for k in (0, 4, 8):
        *_, (records, _, _) = merged(runs[k : k + 4])
        want += records
    assert unpack(done["dst"]) == want


@pytest.mark.parametrize(
    ("lengths", "valid", "suspends"), [((8, 8, 8), 7, False), ((8, 8, 8, 8), 15, True)]
)
def test_repeats_are_ignored_otherwise(lengths, valid, suspends):
    queues = [queue(n, np.float32, k + 1) for k, n in enumerate(lengths)]
    info = MrgSort4Info((*lengths, 0)[:4], suspends, valid, 3)
    once = MrgSort4Info((*lengths, 0)[:4], suspends, valid, 1)
    many = run_merge(queues, np.float32, info)
    assert many["dst"].tolist() == run_merge(queues, np.float32, once)["dst"].tolist()


def test_queues_out_of_order_are_merged_head_by_head():
    queues = [[(1.0, 0), (9.0, 1), (2.0, 2)], [(3.0, 3), (0.5, 4), (8.0, 5)]]
    done = run_merge(queues, np.float32, MrgSort4Info((3, 3, 0, 0), False, 3, 1))
    *_, (want, _, _) = merged(queues)
    assert unpack(done["dst"])[:6] == want


def test_the_form_with_counts():
    dtype = np.float16
    queues = [queue(n, dtype, k + 1) for k, n in enumerate((6, 4, 5, 5))]
    tensors = {f"q{k}": as_tensor(q, dtype, pad=4) for k, q in enumerate(queues)}

    def run(suspends):
        taken = [7, 7, 7, 7]

        def body(t):
            given = (t.q0, t.q1, t.q2, t.q3)
            MrgSort(
                t.dst, given, [6, 4, 5, 5], taken, 15, 1, isExhaustedSuspension=suspends
            )  # fmt: skip

        return on_core(body, dst=np.zeros(96, dtype), **tensors), taken

    steps = list(merged(queues))
    done, taken = run(False)
    assert unpack(done["dst"])[:20] == steps[-1][0]
    assert taken == [7, 7, 7, 7]
    done, taken = run(True)
    want = next(step for step in steps if step[2])
    assert unpack(done["dst"])[: len(want[0])] == want[0]
    assert taken == want[1]


def test_mrgsort_refuses():
    queues = [queue(4, np.float32, k + 1) for k in range(4)]

    def run(info, given=queues, **keys):
        run_merge(given, np.float32, info, **keys)

    with pytest.raises(ArgumentError, match="validBit"):
        run(MrgSort4Info((4, 4, 4, 4), False, 5, 1))
    with pytest.raises(ArgumentError, match="src3"):
        run(MrgSort4Info((4, 4, 4, 4), False, 15, 1), queues[:2])
    with pytest.raises(ArgumentError):
        run(MrgSort4Info((4096, 4, 4, 4), False, 15, 1))
    with pytest.raises(ArgumentError):
        run(MrgSort4Info((4, 4), False, 3, 1))
    with pytest.raises(OutOfBoundsError, match="shorter"):
        run(MrgSort4Info((40, 4, 4, 4), False, 15, 1))
    with pytest.raises(OutOfBoundsError):
        run(MrgSort4Info((4, 4, 4, 4), False, 15, 1), room=4)
    with pytest.raises(AlignmentError, match="start a record"):
        on_core(
            lambda t: MrgSort(
                t.dst, MrgSortSrcList(t.src[1], t.src[16]), MrgSort4Info((2, 2, 0, 0), False, 3)
            ),
            src=np.zeros(64, np.float32), dst=np.zeros(64, np.float32),
        )  # fmt: skip


# -- sizes, Concat, Sort, Extract --------------------------------------------------------------


def test_sizes_of_sorted_data():
    assert [GetSortLen(half, 32), GetSortLen(float32, 32)] == [128, 64]
    assert [GetSortOffset("half", 3), GetSortOffset(as_dtype("float"), 3)] == [12, 6]
    with pytest.raises(DTypeError):
        GetSortLen(as_dtype("int32_t"), 32)


def top(arch, dtype, repeats, full, scores, index):
    """Concat, Sort and Extract as a kernel calls them."""
    number = 32 * repeats
    per = 8 // np.dtype(dtype).itemsize

    def body(t):
        Concat(t.concat, t.scores, t.tmp, 2 * repeats)
        Sort(t.records, t.concat, t.index, t.tmp, repeats, isFullSort=full)
        Extract(t.values, t.places, t.records, repeats)

    return on_core(
        body, platform=arch, scores=scores, index=index, concat=np.zeros(number, dtype),
        tmp=np.zeros(number * per, dtype), records=np.zeros(number * per, dtype),
        values=np.zeros(number, dtype), places=np.zeros(number, np.uint32),
    )  # fmt: skip


@pytest.mark.parametrize("repeats", [1, 2, 3, 4, 5, 7, 16, 23])
@SCORES
@ANYWHERE
def test_a_full_sort(arch, dtype, repeats):
    number = 32 * repeats
    scores = scores_with_ties(number, dtype, repeats)
    index = np.arange(number, dtype=np.uint32) + 7
    done = top(arch, dtype, repeats, True, scores, index)
    want = best_first(list(zip(scores.tolist(), index.tolist(), strict=True)))
    assert unpack(done["records"]) == want
    assert done["values"].tolist() == [score for score, _ in want]
    assert done["places"].tolist() == [place for _, place in want]


@SCORES
@ANYWHERE
def test_a_sort_of_every_32(arch, dtype):
    scores = scores_with_ties(160, dtype)
    index = np.arange(160, dtype=np.uint32)
    done = top(arch, dtype, 5, False, scores, index)
    pairs = list(zip(scores.tolist(), index.tolist(), strict=True))
    want = [record for k in range(0, 160, 32) for record in best_first(pairs[k : k + 32])]
    assert unpack(done["records"]) == want
    assert not done["tmp"].any()
    assert done["places"].tolist() == [place for _, place in want]


def test_template_arguments_first():
    scores = scores_with_ties(64, np.float32)
    index = np.arange(64, dtype=np.uint32)
    done = on_core(
        lambda t: Sort(float32, True, t.dst, t.scores, t.index, t.tmp, 2),
        scores=scores, index=index, dst=np.zeros(128, np.float32), tmp=np.zeros(128, np.float32),
    )  # fmt: skip
    assert unpack(done["dst"]) == best_first(
        list(zip(scores.tolist(), index.tolist(), strict=True))
    )


def test_sort_refuses():
    scores, index = np.zeros(64, np.float32), np.zeros(64, np.uint32)

    def run(repeats=2, tmp=128, full=True, index=index, **keys):
        on_core(
            lambda t: Sort(
                t.dst, t.scores, t.index, t.tmp, repeats, isFullSort=full, **keys
            ),
            scores=scores, index=index, dst=np.zeros(128, np.float32),
            tmp=np.zeros(tmp, np.float32),
        )  # fmt: skip

    run(tmp=8, full=False)
    with pytest.raises(OutOfBoundsError, match="tmp"):
        run(tmp=120)
    with pytest.raises(DTypeError, match="indices"):
        run(index=index.astype(np.int32))
    with pytest.raises(DTypeError):
        run(T=half)
    with pytest.raises(ArgumentError):
        run(repeats=-1)
    with pytest.raises(OutOfBoundsError):
        on_core(
            lambda t: Extract(t.values, t.places, t.records, 2),
            records=np.zeros(128, np.float32), values=np.zeros(32, np.float32),
            places=np.zeros(64, np.uint32),
        )  # fmt: skip
