"""The ``ascsim`` command: options are read here, the work is done in the modules beside it.

Nothing but typer is imported before a command runs, so that ``ascsim --help`` answers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer
from typer.core import TyperCommand

from tools import cli_debug, cli_timing
from tools.cli_options import ElementType, OperatorShape, OperatorType, PlatformName, Shape

if TYPE_CHECKING:
    from collections.abc import Callable

USAGE_ERROR: Final = 2

app: Final = typer.Typer(
    name="ascsim",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _RunCommand(TyperCommand):
    """``run``, whose script arguments go to the script as they stand.

    For a script, ``--platform``, ``--set``, ``--html``, ``--json``, ``--order`` and ``--precise``
    count before and after its name; everything else after it, and whatever follows ``--``, is the
    script's.
    """

    after_script: ClassVar[tuple[str, ...]] = (
        "--platform", "--set", "--html", "--json", "--order", "--precise",
    )  # fmt: skip

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        taking_value = {o for p in self.params if not getattr(p, "is_flag", False) for o in p.opts}
        known = {o for p in self.params for o in p.opts}
        at = _first_positional(args, taking_value)
        if at is not None and args[at].endswith(".py"):
            own, rest = _split_script_args(
                args[at + 1 :], known.intersection(self.after_script), taking_value
            )
            before = [a for a in args[:at] if a != "--"]
            if args[-1:] == own[-1:] and args[-1] in taking_value:
                # The value is missing; at the end, click says so.
                args = [*before, args[at], *own]
            else:
                args = [*before, *own, "--", args[at], *rest]
        return super().parse_args(ctx, args)


class _ProfileCommand(_RunCommand):
    """``profile``: as ``run``, with ``--output`` and ``--save`` instead of ``--html``."""

    after_script = ("--platform", "--set", "--json", "--output", "--save")


def _first_positional(args: list[str], taking_value: set[str]) -> int | None:
    index = 0
    while index < len(args):
        if args[index] == "--":
            return index + 1 if index + 1 < len(args) else None
        if not args[index].startswith("-"):
            return index
        index += 2 if args[index] in taking_value else 1
    return None


def _split_script_args(
    args: list[str], ours: set[str], taking_value: set[str]
) -> tuple[list[str], list[str]]:
    """Split what follows a script into options of ascsim and arguments of the script."""
    own: list[str] = []
    rest: list[str] = []
    pending = iter(args)
    for arg in pending:
        if arg == "--":
            rest += pending
        elif arg.partition("=")[0] in ours:
            own.append(arg)
            if arg in taking_value:
                own += [value for value in [next(pending, None)] if value is not None]
        else:
            rest.append(arg)
    return own, rest


def _finish(work: Callable[[], int]) -> None:
    """End the command with the exit code of ``work``; a usage error is one line and code 2."""
    from simulator.errors import ConfigError

    try:
        code = work()
    except ConfigError as error:
        from tools.diagnostics import one_line

        typer.echo(f"ascsim: error: {one_line(error)}", err=True)
        code = USAGE_ERROR
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ascsim {version('ascsim')}")
        raise typer.Exit


@app.callback(
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim run hardswish_backward_v2\n\n"
    "ascsim run hardswish_backward_v2 --shape 8,4096 --dtype bfloat16 --platform 910b3\n\n"
    "ascsim run examples/vector_add.py\n\n"
    "ascsim check examples/vector_add.py\n\n"
    "ascsim cases tests/data/ops_cases/host.json\n\n"
    "ascsim platforms 910b"
)
def _root(
    _version_wanted: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Simulate the Ascend AI Core: exact values, cycles, and what limits a kernel."""


@app.command(
    "run",
    cls=_RunCommand,
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim run hardswish_backward_v2 --shape 1024,1024 --dtype float16 --platform 910b\n\n"
    "ascsim run examples/vector_add.py --platform 910b3 --html report.html\n\n"
    "ascsim run my_kernel.py --platform my_chip.toml --set timing.read_cap_gbps=1200\n\n"
    "ascsim run my_kernel.py --order latest\n\n"
    "ascsim run my_kernel.py --length 4096 -- --json   (--json goes to the script)",
)
def _run(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="An operator, or a path to a .py script.")
    ],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="Arguments of the script.")
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES",
            help="Sizes separated by commas; '' or scalar for rank 0; a 0 makes an empty tensor. "
            "Operators only; default 1024,1024.",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="float32, float16 or bfloat16; also fp32, half, bf16. Operators only; "
            "default float16.",
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Profile (910b, 910b1, 950), SoC version or .toml file; see ascsim platforms. "
            "Default 910b.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a figure of the platform, such as timing.read_cap_gbps; may be "
            "repeated. ascsim platforms NAME lists them.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the input values. Operators only; default 0."),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also write a report with timelines for a browser, in one file."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER",
            help="Execute the record in this order, too, and use its outputs: hardware, latest or "
            "random. Elements that differ from program order are listed.",
        ),
    ] = None,
    order_seed: Annotated[
        int | None,
        typer.Option("--order-seed", metavar="N", help="Seed of --order random; default 0."),
    ] = None,
    precise: Annotated[
        bool,
        typer.Option(
            "--precise",
            help="Carry float64 values beside every tensor and name the first element that is "
            "off by more than a bound.",
        ),
    ] = False,
    bound: Annotated[
        float | None,
        typer.Option(metavar="X", help="Relative error for --precise; default 0.01."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a script's own output goes to stderr.")
    ] = False,
) -> None:
    """Run an operator or a script and report cycles, pipes and the bottleneck.

    An operator is compared with an independent reference.

    A script is run as Python runs it, and every launch that it makes is reported.
    """
    from tools.run_command import RunRequest, run
    from tools.targets import TargetRequest
    from tools.triage import TriageRequest

    what = TargetRequest(
        target, tuple(args or ()), shape, dtype, platform, seed, tuple(settings or ())
    )
    request = RunRequest(what, html, json, TriageRequest(order, order_seed, precise, bound))
    _finish(lambda: run(request))


@app.command(
    "profile",
    cls=_ProfileCommand,
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim profile hardswish_backward_v2 --output profiles\n\n"
    "ascsim profile examples/vector_add.py --output profiles --platform 950",
)
def _profile(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="An operator, a path to a .py script, or a saved run."
        ),
    ],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="Arguments of the script.")
    ] = None,
    output: Annotated[
        str, typer.Option(metavar="DIR", help="Folder that gets the OPPROF_… folder.")
    ] = ".",
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also save the run, for diff and whatif.")
    ] = None,
    shape: Shape = None,
    dtype: ElementType = None,
    platform: PlatformName = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="As for ascsim run; may be repeated."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="As for ascsim run; also fixes the folder's letters."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a script's own output goes to stderr.")
    ] = False,
) -> None:
    """Write the files of CANN's profiler for a run, and report where its time went."""
    from tools.profile_command import profile
    from tools.targets import TargetRequest

    request = TargetRequest(
        target, tuple(args or ()), shape, dtype, platform, seed, tuple(settings or ())
    )
    _finish(lambda: profile(request, output, save=save, as_json=json))


@app.command(
    "diff",
    epilog="[bold]Example[/bold]\n\nascsim diff before.ascrun after.ascrun",
)
def _diff(
    before: Annotated[
        str, typer.Argument(metavar="A", help="A saved run, a .py script or an operator.")
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="What to compare with it.")],
    shape: OperatorShape = None,
    dtype: OperatorType = None,
    platform: PlatformName = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what changed from run A to run B, by pipe and source line, and what caused it."""
    from tools.diff_command import diff
    from tools.targets import TargetRequest

    sides = [
        TargetRequest(target, shape=shape, dtype=dtype, platform=platform)
        for target in (before, after)
    ]
    _finish(lambda: diff(sides[0], sides[1], as_json=json))


@app.command(
    "compare",
    epilog="[bold]Example[/bold]\n\nascsim compare hardswish_backward_v2 --platform 910b,950",
)
def _compare(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="An operator, or a path to a .py script.")
    ],
    platform: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Two platforms or more, separated by commas, or one at a time; default 910b,950.",
        ),
    ] = None,
    shape: OperatorShape = None,
    dtype: OperatorType = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the same kernel on several platforms and show them side by side."""
    from tools.compare_command import compare
    from tools.targets import TargetRequest

    request = TargetRequest(target, shape=shape, dtype=dtype)
    _finish(lambda: compare(request, platform or ["910b,950"], as_json=json))


@app.command(
    "whatif",
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim whatif saved.ascrun --set buffers=2\n\n"
    "ascsim whatif hardswish_backward_v2 --set timing.read_cap_gbps=2000 --set tile=2",
)
def _whatif(
    target: Annotated[
        str, typer.Argument(metavar="RUN", help="A saved run, a .py script or an operator.")
    ],
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="buffers, tile, blocks, barriers, aligned, or a key of the platform profile.",
        ),
    ],
    shape: OperatorShape = None,
    dtype: OperatorType = None,
    platform: PlatformName = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a run would take with other buffers, tiles, blocks, or another chip."""
    from tools.targets import TargetRequest
    from tools.whatif_command import whatif

    request = TargetRequest(target, shape=shape, dtype=dtype, platform=platform)
    _finish(lambda: whatif(request, settings, as_json=json))


class _CheckCommand(_RunCommand):
    """``check``: as ``run``, and ``--select`` and ``--ignore`` after a script are its own."""

    after_script = (*_RunCommand.after_script, "--select", "--ignore", "--info", "--no-numbers")


@app.command(
    "check",
    cls=_CheckCommand,
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim check my_kernel.py\n\n"
    "ascsim check hardswish_backward_v2 --shape 1000 --dtype float32\n\n"
    "ascsim check my_kernel.py --select race,flag --ignore race.samepipe",
)
def _check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="An operator, a path to a .py script, or a saved run."
        ),
    ],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="Arguments of the script.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODES", help="Only these codes, or codes that begin so; may be repeated."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Leave these codes out; may be repeated."),
    ] = None,
    info: Annotated[
        bool, typer.Option("--info", help="Show notes that are no faults, too.")
    ] = False,
    no_numbers: Annotated[
        bool,
        typer.Option(
            "--no-numbers", help="Do not execute the launches once more to look at values."
        ),
    ] = False,
    shape: Shape = None,
    dtype: ElementType = None,
    platform: PlatformName = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="As for ascsim run; default 0.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a script's own output goes to stderr.")
    ] = False,
) -> None:
    """Find races, unwritten data, flags left up and other faults that program order hides.

    The values in the calls are looked at as well: integers that lose bits, casts out of range,
    arithmetic on bits of another type; with --info also infinities, NaN, rounding and thresholds.
    The exit status is 1 when there are errors.
    """
    from tools.check_command import Choice, check
    from tools.targets import TargetRequest

    def work() -> int:
        choice = Choice.parse(select or (), ignore or (), info, not no_numbers)
        request = TargetRequest(
            target, tuple(args or ()), shape=shape, dtype=dtype, platform=platform, seed=seed
        )
        return check(request, choice, as_json=json)

    _finish(work)


@app.command("explain", epilog="[bold]Example[/bold]\n\nascsim explain race.raw")
def _explain(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="Code of a finding, or its beginning.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the checks, or explain one with a broken and a fixed kernel that are really run."""
    from tools.explain_command import explain

    _finish(lambda: explain(code, as_json=json))


@app.command("cases")
def _cases(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Case files in JSON.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run operator case files and show every case that fails."""
    from tools.cases_command import cases

    _finish(lambda: cases(files, as_json=json))


@app.command(
    "tiling",
    epilog="[bold]Example[/bold]\n\n"
    "ascsim tiling max_pooling_grad --shape 3,5,7,11 --dtype float32 --platform 910b4",
)
def _tiling(
    operator: Annotated[str, typer.Argument(metavar="OP", help="An operator.")],
    shape: Shape = None,
    dtype: ElementType = None,
    platform: PlatformName = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the tiling of an operator: data, key, workspace, cores and their elements, UB budget."""
    from tools.tiling_command import tiling

    _finish(lambda: tiling(operator, shape=shape, dtype=dtype, platform=platform, as_json=json))


@app.command(
    "infershape",
    epilog="[bold]Examples[/bold]\n\n"
    "ascsim infershape MaxPoolingGrad --shape 2,-1,4\n\n"
    "ascsim infershape max_pooling_grad --shape 2,3 --shape 2,4 --shape 2,3",
)
def _infershape(
    operator: Annotated[
        str, typer.Argument(metavar="OP", help="An operator type, or an operator.")
    ],
    shape: Annotated[
        list[str],
        typer.Option(
            metavar="SIZES",
            help="Input shape: once for all inputs, or once for each. -1 is an unknown size, "
            "-2 an unknown rank.",
        ),
    ],
    dtype: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE", help="Once for all inputs, or once for each; default float16."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Infer shapes and data types of an operator's outputs, as graph mode does."""
    from tools.infershape_command import infershape

    _finish(lambda: infershape(operator, shape, dtype or [], as_json=json))


@app.command("platforms")
def _platforms(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Profile, SoC version or .toml file to show."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the platform profiles, or show every figure of one with its source."""
    from tools.platforms_command import platforms

    _finish(lambda: platforms(name, as_json=json))


@app.command("isa")
def _isa(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Instruction, method or function.")
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Print the bare names, one a line.")
    ] = False,
    platform: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what this platform has.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the instructions, or show forms, element types, cost and source of one."""
    from tools.isa_command import isa

    _finish(lambda: isa(name, only_names=names, platform=platform, as_json=json))


cli_debug.register(app, _RunCommand, _finish)
cli_timing.register(app, _finish)


def main() -> None:
    """Entry point of the ``ascsim`` command."""
    app(prog_name="ascsim")


if __name__ == "__main__":
    main()
