"""``@kernel`` and the launch of a kernel on a simulated device.

``my_kernel[block_dim](x, y, z)`` runs the function once per block. Array arguments are seen by the
kernel as GM addresses of the caller's own memory and are written in place; everything else (tiling
data, numbers) is passed through.
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Final, overload
from weakref import finalize

import numpy as np

from simulator.blocks import Blocks
from simulator.core import AICore, Site, trim_traceback, user_location
from simulator.errors import ConfigError, SimulatorError
from simulator.memory import GlobalAddress, GlobalMemory, LocalMemory
from simulator.platforms import Platform, load_platform
from simulator.run import ORDERS, Block, Run, kind_of_fault
from simulator.watching import WATCHER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.memory import Allocation, Bytes

GM_ADDR = GlobalAddress

DEFAULT_PLATFORM: Final = "910b"
MAX_BLOCK_DIM: Final = 65535
CHECKS: Final = ("raise", "report", "off")


@dataclass(frozen=True)
class Options:
    """How to launch when the launch itself does not say."""

    platform: str | Platform = DEFAULT_PLATFORM
    strict: bool = True
    check: str = "raise"
    order: str = "program"
    seed: int = 0


_STANDARD: Final = Options()
_options: ContextVar[Options] = ContextVar("ascsim_options", default=_STANDARD)
_collected: ContextVar[list[Run] | None] = ContextVar("ascsim_runs", default=None)


@contextmanager
def default_options(**changes: Any) -> Iterator[None]:
    """Set defaults for launches inside the ``with`` block.

    They are ``platform``, ``strict``, ``check``, ``order`` and ``seed``.
    """
    token = _options.set(replace(_options.get(), **changes))
    try:
        yield
    finally:
        _options.reset(token)


@contextmanager
def collect_runs() -> Iterator[list[Run]]:
    """Collect the :class:`Run` of every launch inside the ``with`` block.

    A block inside another one collects for both.
    """
    runs: list[Run] = []
    token = _collected.set(runs)
    try:
        yield runs
    finally:
        _collected.reset(token)
        outer = _collected.get()
        if outer is not None:
            outer += runs


class Kernel:
    """A device function; index it with the number of blocks to launch it."""

    def __init__(
        self,
        function: Callable[..., None],
        *,
        auto_sync: bool = True,
        template: tuple[str, ...] = (),
        task_ratio: int = 1,
    ) -> None:
        if task_ratio not in (1, 2):
            raise ConfigError(
                "an AI core has one or two vector cores", got=repr(task_ratio), legal="1 or 2"
            )
        self.function = function
        self.auto_sync = auto_sync
        self.template = template
        self.task_ratio = task_ratio
        self.name = function.__name__
        update_wrapper(self, function)

    def specialise(self, *template_args: Any) -> Kernel:
        """Bind the template arguments (such as ``DTYPE``), as compiling for them does.

        Raises
        ------
        ConfigError
            If their number is not that of the kernel's template.
        """
        if len(template_args) != len(self.template):
            raise ConfigError(
                f"{self.name} takes {len(self.template)} template arguments",
                got=f"{len(template_args)}: {template_args}",
                legal=", ".join(self.template) or "none",
            )
        bound = partial(self.function, *template_args)
        bound.__name__ = self.name  # type: ignore[attr-defined]
        bound.__code__ = self.function.__code__  # type: ignore[attr-defined]
        return Kernel(bound, auto_sync=self.auto_sync, task_ratio=self.task_ratio)

    def __getitem__(self, launch_config: int | tuple[int, Any]) -> Callable[..., Any]:
        """``kernel[block_dim]`` or ``kernel[block_dim, stream]``: call the result to launch."""
        if isinstance(launch_config, tuple):
            block_dim, stream = launch_config
            return self._starter(block_dim, stream.submit)
        return self._starter(launch_config, lambda work: work())

    def _starter(
        self, block_dim: int, submit: Callable[[Callable[[], Run]], Any]
    ) -> Callable[..., Any]:
        def start(*args: Any, **named: Any) -> Any:
            if named:
                raise ConfigError(
                    "a launch passes arguments by their order, not by name",
                    got=", ".join(named),
                    legal=f"{self.name}[{block_dim}](...) without names",
                    fix=f"for options use {self.name}.launch({block_dim}, ..., platform=...)",
                )
            return submit(lambda: launch(self, block_dim, *args))

        return start

    def launch(self, block_dim: int, *args: Any, **options: Any) -> Run:
        """Run with options, as :func:`launch` does."""
        return launch(self, block_dim, *args, **options)

    def __call__(self, *_: Any) -> None:
        """Raise: a kernel runs on the device."""
        raise ConfigError(
            f"{self.name} is a kernel and runs on the device",
            fix=f"launch it: {self.name}[8](...) runs 8 blocks",
        )

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


@overload
def kernel(function: Callable[..., None]) -> Kernel: ...


@overload
def kernel(
    *, auto_sync: bool = True, template: tuple[str, ...] = (), task_ratio: int = 1
) -> Callable[[Callable[..., None]], Kernel]: ...


def kernel(
    function: Callable[..., None] | None = None,
    *,
    auto_sync: bool = True,
    template: tuple[str, ...] = (),
    task_ratio: int = 1,
) -> Kernel | Callable[[Callable[..., None]], Kernel]:
    """Mark a function as a kernel: ``@kernel`` or ``@kernel(auto_sync=False)``.

    ``auto_sync`` models the compiler's automatic synchronisation (on in the usual build).
    ``template`` names leading parameters that :meth:`Kernel.specialise` binds, as C++ template
    parameters and ``DTYPE`` macros are bound when a kernel is compiled. ``task_ratio`` is the
    number of vector cores of an AI core that take part: 2 as in KERNEL_TYPE_MIX_AIC_1_2, whose
    vector half is what runs here.
    """
    mark = partial(Kernel, auto_sync=auto_sync, template=template, task_ratio=task_ratio)
    return mark if function is None else mark(function)


def launch(
    function: Kernel,
    block_dim: int,
    *args: Any,
    platform: str | Platform | None = None,
    memory: GlobalMemory | None = None,
    name: str | None = None,
    auto_sync: bool | None = None,
    strict: bool | None = None,
    check: str | None = None,
    order: str | None = None,
    seed: int | None = None,
) -> Run:
    """Run ``function`` on ``block_dim`` blocks and return the record.

    Parameters
    ----------
    function : Kernel
        A function marked with ``@kernel``.
    block_dim : int
        Number of blocks, 1..65535; more than there are cores run in rounds.
    *args
        numpy arrays (C-contiguous; seen as GM addresses and written in place), lists of arrays
        (a dynamic input: seen as the address of its tensor list, see ListTensorDesc), GM addresses,
        and anything else as it is.
    platform : str or Platform, optional
        Profile name (``"910b"``, ``"950"``), profile file or a loaded profile.
    memory : GlobalMemory, optional
        Device memory that GM addresses among ``args`` belong to.
    strict : bool, optional
        With False, what a board does silently (such as a DataCopy that rounds down) is reproduced
        instead of refused.
    check : str, optional
        ``"raise"`` (the default) raises the first error that the checks find once all blocks have
        run; ``"report"`` leaves them in ``run.findings``; ``"off"`` checks nothing until
        ``run.findings`` is asked for.
    order : str, optional
        Execute the record once more in this order and leave its outputs: ``"hardware"``,
        ``"latest"`` or ``"random"`` (see ``Run.replay``); what differs is in ``run.replayed``.
    seed : int, optional
        Seed of a random order.

    Raises
    ------
    ConfigError
        If the launch itself is not possible.
    SimulatorError
        For a mistake in the kernel, with the kernel's own line.
    FindingError
        With ``check="raise"``: for an error that a board would suffer from and that program order
        hides, such as a race. All outputs are complete then.
    """
    if not isinstance(function, Kernel):
        raise ConfigError(
            "only a function marked with @kernel can be launched",
            got=repr(function),
            fix="put @kernel above the function",
        )
    if isinstance(block_dim, bool) or not isinstance(block_dim, int | np.integer):
        raise ConfigError(
            "the block dim must be an integer", got=repr(block_dim), legal=f"1..{MAX_BLOCK_DIM}"
        )
    if not 1 <= block_dim <= MAX_BLOCK_DIM:
        raise ConfigError(
            "the block dim is out of range", got=block_dim, legal=f"1..{MAX_BLOCK_DIM}"
        )
    defaults = _options.get()
    checking = defaults.check if check is None else check
    if checking not in CHECKS:
        raise ConfigError(
            "the check option is unknown", got=repr(checking), legal=", ".join(map(repr, CHECKS))
        )
    ordering = defaults.order if order is None else order
    if ordering not in ORDERS:
        raise ConfigError(
            "there is no such order", got=repr(ordering), legal=", ".join(map(repr, ORDERS))
        )
    chosen = platform if platform is not None else defaults.platform
    profile = chosen if isinstance(chosen, Platform) else load_platform(chosen)
    job = _Launch(
        function,
        int(block_dim),
        profile,
        memory or GlobalMemory(),
        auto_sync=function.auto_sync if auto_sync is None else auto_sync,
        strict=defaults.strict if strict is None else strict,
    )
    run = job.run(name or function.name, args)
    if ordering != "program":
        run.replayed = run.replay(ordering, defaults.seed if seed is None else seed, keep=True)
    collected = _collected.get()
    if collected is not None:
        collected.append(run)
    if checking == "raise":
        run.raise_errors()
    elif checking == "report":
        _ = run.findings
    return run


class _Spares:
    """Local memories of runs that are no more; their plans serve the next launch of the same kind.

    A run keeps its local memory, which its plans are bound to, as long as it lives: it can be
    checked and replayed while other launches are under way in this and other threads.
    """

    KINDS: Final = 8
    PLANS: Final = 4096
    LAUNCHES: Final = 1024

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bool, int], list[tuple[LocalMemory, Platform]]] = {}

    def take(self, platform: Platform, strict: bool, task_ratio: int) -> LocalMemory:
        """Return a local memory in its first state."""
        try:
            local, _ = self._kept[id(platform), strict, task_ratio].pop()
        except (KeyError, IndexError):
            return LocalMemory(platform.memory.ub_bytes)
        local.reset()
        return local

    def give(self, local: LocalMemory, platform: Platform, strict: bool, task_ratio: int) -> None:
        """Keep a local memory, unless so many are kept or so much hangs on it already."""
        local.launches += 1
        if len(local.plans) > self.PLANS or local.launches > self.LAUNCHES:
            return
        if len(self._kept) > self.KINDS:
            self._kept.clear()
        kept = self._kept.setdefault((id(platform), strict, task_ratio), [])
        if not kept:
            # The platform is kept so that its identity stays its own.
            kept.append((local, platform))


_spares: Final = _Spares()


class _Launch:
    """One launch under way; everything it needs hangs on it."""

    def __init__(
        self,
        function: Kernel,
        block_dim: int,
        platform: Platform,
        memory: GlobalMemory,
        *,
        auto_sync: bool,
        strict: bool,
    ) -> None:
        self.function = function
        self.block_dim = block_dim
        self.platform = platform
        self.memory = memory
        self.auto_sync = auto_sync
        self.strict = strict
        self.written: dict[Allocation, Bytes] = {}
        self.watcher = WATCHER.get()
        self.cores: list[AICore] = []
        self.site = Site(function.function.__code__, -1)

    def run(self, name: str, args: tuple[Any, ...]) -> Run:
        names = self._names(args)
        seen = [self._adopt(value, label) for value, label in zip(args, names, strict=True)]
        ratio = self.function.task_ratio
        local = _spares.take(self.platform, self.strict, ratio)
        count = self.block_dim * ratio
        finished: list[Block | None] = [None] * count

        def begin(index: int) -> None:
            finished[index] = self._block(index, local, blocks, seen)

        blocks = Blocks(local, count, self.platform.chip.aiv, ratio)
        watcher = self.watcher

        def so_far() -> Run:
            unfinished = [
                Block(c.block_idx, c.record, c.output, local, c.queues) for c in self.cores
            ]
            return self._result(name, unfinished, names, args, blocks.course)

        with (
            local.lock,
            np.errstate(all="ignore"),
            nullcontext() if watcher is None else watcher.launching(so_far),
        ):
            blocks.run(begin)
        done = [block for block in finished if block is not None]
        run = self._result(name, done, names, args, blocks.course)
        back = finalize(run, _spares.give, local, self.platform, self.strict, ratio)
        back.atexit = False
        if watcher is not None:
            watcher.finished(run)
        return run

    def _result(
        self,
        name: str,
        blocks: list[Block],
        names: list[str],
        args: tuple[Any, ...],
        course: list[tuple[int, int]],
    ) -> Run:
        return Run(
            name,
            self.platform,
            blocks,
            arguments=list(zip(names, args, strict=True)),
            initial=self.written,
            auto_sync=self.auto_sync,
            task_ratio=self.function.task_ratio,
            course=course,
        )

    def _names(self, args: tuple[Any, ...]) -> list[str]:
        signature = inspect.signature(self.function.function)
        try:
            bound = signature.bind(*args)
        except TypeError as error:
            raise ConfigError(
                f"{self.function.name} cannot be called with {len(args)} arguments: {error}",
                got=f"{len(args)} arguments",
                legal=f"{self.function.name}{signature}",
            ) from None
        names = []
        for label, value in bound.arguments.items():
            kind = signature.parameters[label].kind
            names += (
                [f"{label}[{i}]" for i in range(len(value))]
                if kind is inspect.Parameter.VAR_POSITIONAL
                else [label]
            )
        return names

    def _adopt(self, value: Any, label: str) -> Any:
        if isinstance(value, np.ndarray):
            return self.memory.adopt(value, label)
        if isinstance(value, np.integer):
            # Products of sizes and offsets must not wrap at the width of a numpy type.
            return int(value)
        if (
            isinstance(value, list | tuple)
            and value
            and all(isinstance(part, np.ndarray) for part in value)
        ):
            return self.memory.adopt_list(value, label)
        return value

    def _block(self, index: int, local: LocalMemory, blocks: Blocks, args: list[Any]) -> Block:
        core = AICore(
            self.platform,
            local,
            index,
            self.block_dim,
            self.written,
            auto_sync=self.auto_sync,
            strict=self.strict,
            blocks=blocks,
            memory=self.memory,
            site=self.site,
            task_ratio=self.function.task_ratio,
        )
        core.clock = self._clock
        blocks.enter(core)
        if self.watcher is not None:
            self.cores.append(core)
            self.watcher.started(core)
        try:
            self.function.function(*args)
            core.finish()
        except SimulatorError as error:
            error.with_context(location=user_location(error), block=index)
            error.with_context(check=kind_of_fault(error) or None)
            raise trim_traceback(error) from None
        finally:
            blocks.leave()
        return Block(index, core.record, core.output, local, core.queues, core.rounded)

    def _clock(self, core: AICore) -> int:
        """Cycles of the block so far, when all blocks have done the same."""
        so_far = [Block(i, core.record, []) for i in range(self.block_dim * core.task_ratio)]
        stream = self._result(self.function.name, so_far, [], (), []).timeline.blocks[0].stream
        return stream.end[-1] if stream.end else 0
