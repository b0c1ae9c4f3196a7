import ml_dtypes
import numpy as np
import pytest
from harness import on_core

from simulator.ascendc import (
    BroadCast,
    Broadcast,
    BroadcastTiling,
    DataCopy,
    GetBroadcastTilingInfo,
    GlobalTensor,
    PipeBarrier,
    PipeID,
    TBuf,
    TPipe,
    TPosition,
    kernel,
    launch,
)
from simulator.dtypes import float32
from simulator.errors import ArgumentError, DTypeError, OutOfBoundsError

TYPES = [np.int8, np.uint8, np.float16, np.float32]


def numbers(dtype, count):
    """Return elements with every bit pattern; half and float NaN among them."""
    raw = (np.arange(count * np.dtype(dtype).itemsize, dtype=np.uint32) * 37 + 11) % 256
    return raw.astype(np.uint8).view(dtype)


def run(dtype, to, of, arch="910b", work=None, src=None, room=32, **keys):
    """Broadcast, and return the probe; the tensors have some elements behind them."""
    count, given = int(np.prod(to)), int(np.prod(of))
    src = numbers(dtype, given + 32) if src is None else src
    tmp = np.zeros(48 * 1024 if work is None else work, np.uint8)
    done = on_core(
        lambda t: Broadcast(t.dst, t.src, to, of, *([t.tmp] if arch == "910b" else []), **keys),
        platform=arch, src=src, dst=np.zeros(count + room, dtype), tmp=tmp,
    )  # fmt: skip
    return src[:given], done


def bits(values):
    return values.view(f"u{values.itemsize}").tolist()


def repeated(src, to, of):
    """Return the elements of ``src`` by index arithmetic."""
    words = bits(src)
    out = []
    for index in np.ndindex(*to):
        at = 0
        for k, length in zip(index, of, strict=True):
            at = at * length + (k if length > 1 else 0)
        out.append(words[at])
    return out


SHAPES = [
    ((16, 16), (16, 1)),
    ((5, 64), (5, 1)),
    ((300, 32), (300, 1)),
    ((7, 5), (7, 1)),
    ((40, 33), (40, 1)),
    ((4, 64), (1, 64)),
    ((8, 96), (1, 96)),
    ((19, 32), (1, 32)),
    ((3, 40), (1, 1)),
    ((1, 77), (1, 1)),
    ((6, 12), (6, 12)),
    ((90,), (1,)),
    ((90,), (90,)),
]


@pytest.mark.parametrize(("to", "of"), SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arch", ["910b", "950"])
def test_elements_repeat(arch, dtype, to, of):
    src, done = run(dtype, to, of, arch)
    count = int(np.prod(to))
    assert bits(done["dst"][:count]) == repeated(src, to, of)
    if arch == "950" and to == of:
        count += -count % (32 // done["dst"].itemsize)
    assert not done["dst"][count:].view(np.uint8).any()
    assert not done.changed_outside("dst", "tmp").size


@pytest.mark.parametrize("work", [None, 1024, 4096])
def test_rows_in_pieces_of_the_temporary_buffer(work):
    for to, of, least in (((100, 24), (100, 1), 256), ((100, 20), (100, 1), 1024)):
        src, done = run(np.float32, to, of, work=work or least)
        assert bits(done["dst"][: to[0] * to[1]]) == repeated(src, to, of)


def test_long_rows():
    to, of = (3, 4080), (1, 4080)
    src, done = run(np.float16, to, of)
    assert bits(done["dst"][: 3 * 4080]) == repeated(src, to, of)
    src, done = run(np.float32, (2, 2048), (1, 2048))
    assert bits(done["dst"][:4096]) == repeated(src, (2, 2048), (1, 2048))


def test_more_rows_than_one_call_takes():
    src, done = run(np.float32, (2100, 8), (2100, 1), work=100 * 1024)
    assert bits(done["dst"][:16800]) == repeated(src, (2100, 8), (2100, 1))


def test_source_tensors_shorter_than_a_repeat():
    src = numbers(np.float32, 3)
    _, done = run(np.float32, (3, 8), (3, 1), src=src)
    assert bits(done["dst"][:24]) == repeated(src, (3, 8), (3, 1))


def test_template_arguments_come_first_or_as_keywords():
    src = numbers(np.float32, 32)
    shapes = ([16, 8], [16, 1])
    calls = [
        lambda t: BroadCast(t.dst, t.src, *shapes, t.tmp, T=float32, dim=2, axis=1),
        lambda t: Broadcast(float32, 2, 1, t.dst, t.src, *shapes, t.tmp),
        lambda t: Broadcast(float32, 2, 1, False, t.dst, t.src, *shapes, t.tmp),
    ]
    for arch in ("910b", "950"):
        for call in calls:
            done = on_core(
                call, platform=arch, src=src, dst=np.zeros(128, np.float32),
                tmp=np.zeros(2048, np.uint8),
            )  # fmt: skip
            assert bits(done["dst"]) == repeated(src[:16], (16, 8), (16, 1))


def test_the_space_that_the_pipe_has_left():
    @kernel
    def repeat(x, z):
        source, target = GlobalTensor(float32), GlobalTensor(float32)
        source.SetGlobalBuffer(x, 16)
        target.SetGlobalBuffer(z, 16 * 12)
        pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(buffer, 2048)
        src, dst = buffer.Get(float32), buffer.GetWithOffset(256, 1024, float32)
        DataCopy(src, source, 16)
        PipeBarrier(PipeID.PIPE_ALL)
        Broadcast(float32, 2, 1, dst, src, [16, 12], [16, 1])
        PipeBarrier(PipeID.PIPE_ALL)
        DataCopy(target, dst, 16 * 12)

    x, z = np.arange(16, dtype=np.float32), np.zeros(192, np.float32)
    launch(repeat, 1, x, z)
    assert z.reshape(16, 12).tolist() == [[k] * 12 for k in range(16)]


def test_the_steps_are_recorded_at_the_line_of_the_call():
    _, done = run(np.int8, (16, 24), (16, 1))
    entries = [(entry[0].spec.name, entry[1]) for entry in done.run.blocks[0].entries]
    names = [name for name, _ in entries]
    assert [names.count(name) for name in ("Cast", "Brcb", "Copy", "GatherMask")] == [2, 1, 1, 1]
    assert {code.co_filename for name, code in entries if name == "Brcb"} == {__file__}


@pytest.mark.parametrize(
    ("to", "of"),
    [
        ((2, 3, 4), (2, 1, 4)),
        ((2, 3, 4), (1, 3, 1)),
        ((2, 1, 3, 1, 4, 2), (1, 1, 3, 1, 1, 2)),
        ((2, 2, 2, 2, 2, 1, 2, 2, 2), (1, 2, 1, 2, 1, 1, 1, 2, 1)),
        ((3, 5, 2), (1, 1, 1)),
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, ml_dtypes.bfloat16, np.int32, np.int64])
def test_up_to_nine_axes_on_950(dtype, to, of):
    src, done = run(dtype, to, of, "950")
    assert bits(done["dst"][: int(np.prod(to))]) == repeated(src, to, of)


def test_a_tiling():
    to, of = (4, 3, 8), (4, 1, 8)
    src = numbers(np.int64, 32)

    def body(t):
        tiling = BroadcastTiling()
        GetBroadcastTilingInfo(3, to, of, False, tiling)
        Broadcast(t.dst, t.src, to, of, tiling)
        with pytest.raises(ArgumentError, match="tiling"):
            Broadcast(t.dst, t.src, (4, 3, 4), (4, 1, 4), tiling)
        with pytest.raises(ArgumentError):
            GetBroadcastTilingInfo(10, to, of, False, tiling)
        with pytest.raises(ArgumentError):
            GetBroadcastTilingInfo(3, to, of, True, tiling)

    done = on_core(body, platform="950", src=src, dst=np.zeros(96, np.int64))
    assert bits(done["dst"]) == repeated(src, to, of)


@pytest.mark.parametrize(
    ("arch", "to", "of", "keys"),
    [
        ("910b", (2, 3, 4), (2, 1, 4), {}),
        ("950", (2, 3, 4), (2, 1, 4), {"dim": 2}),
        ("910b", (4, 8), (2, 8), {}),
        ("950", (4, 8), (2, 8), {}),
        ("910b", (4, 8), (1, 8), {"axis": 1}),
        ("910b", (4, 8), (8,), {}),
        ("910b", (4, 7), (1, 7), {}),
        ("910b", (8,), (1,), {"dim": 2}),
        ("950", (0, 8), (1, 8), {}),
        ("950", (70000, 1, 2), (1, 1, 2), {}),
    ],
)
def test_shapes_the_call_does_not_take(arch, to, of, keys):
    with pytest.raises(ArgumentError):
        on_core(
            lambda t: Broadcast(t.dst, t.src, to, of, **keys), platform=arch,
            src=np.zeros(64, np.uint8), dst=np.zeros(140032, np.uint8),
        )  # fmt: skip


def test_broadcast_refuses():
    with pytest.raises(OutOfBoundsError, match="temporary buffer"):
        run(np.float32, (16, 8), (16, 1), work=224)
    with pytest.raises(OutOfBoundsError, match="temporary buffer"):
        run(np.int8, (16, 32), (16, 1), work=1024)
    with pytest.raises(DTypeError):
        run(np.int32, (16, 8), (16, 1))
    with pytest.raises(DTypeError):
        run(np.float32, (16, 8), (16, 1), T="half")
    with pytest.raises(DTypeError, match="four bytes"):
        run(np.int64, (16, 8), (16, 1), "950", dim=2, axis=1)
    with pytest.raises(OutOfBoundsError, match="dst"):
        run(np.float32, (16, 8), (16, 1), room=-8)
    with pytest.raises(ArgumentError, match="overlap"):
        on_core(lambda t: Broadcast(t.a, t.a, (8, 8), (8, 1)), a=np.zeros(64, np.float32))
    with pytest.raises(DTypeError, match="bytes"):
        on_core(
            lambda t: Broadcast(t.dst, t.src, (8, 8), (8, 1), t.src),
            src=np.zeros(8, np.float32), dst=np.zeros(64, np.float32),
        )  # fmt: skip
