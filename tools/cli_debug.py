"""``ascsim debug`` and ``ascsim dap``: their options; the work is done in the modules they call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


def register(
    app: typer.Typer, base: type[Any], finish: Callable[[Callable[[], int]], None]
) -> None:
    """Add the commands to ``app``; ``base`` leaves a script its own arguments."""

    class _DebugCommand(base):  # type: ignore[misc]
        """``debug``: what controls the debugger counts behind a script, too."""

        after_script = ("--platform", "--json", "--batch", "--line", "--launch", "-x", "--commands")

    @app.command(
        "debug",
        cls=_DebugCommand,
        epilog="[bold]Examples[/bold]\n\n"
        "ascsim debug hardswish_backward_v2 --shape 8,4096\n\n"
        "ascsim debug my_kernel.py\n\n"
        "ascsim debug my_kernel.py --batch -x script.dbg",
    )
    def _debug(
        target: Annotated[
            str, typer.Argument(metavar="TARGET", help="An operator, or a path to a .py script.")
        ],
        args: Annotated[
            list[str] | None, typer.Argument(metavar="ARGS", help="Arguments of the script.")
        ] = None,
        commands: Annotated[
            str | None,
            typer.Option("-x", "--commands", metavar="FILE", help="Do the commands of a file."),
        ] = None,
        batch: Annotated[
            bool,
            typer.Option(
                "--batch", help="No prompt and no screen; commands from -x or standard input."
            ),
        ] = False,
        line: Annotated[
            bool, typer.Option("--line", help="Line by line instead of full screen.")
        ] = False,
        launch: Annotated[
            int | None,
            typer.Option(
                metavar="N", min=1, help="Open launch N; default the one that fails, or 1."
            ),
        ] = None,
        shape: Annotated[
            str | None, typer.Option(metavar="SIZES", help="As for ascsim run.")
        ] = None,
        dtype: Annotated[
            str | None, typer.Option(metavar="TYPE", help="As for ascsim run.")
        ] = None,
        platform: Annotated[
            str | None, typer.Option(metavar="NAME", help="As for ascsim run.")
        ] = None,
        seed: Annotated[int | None, typer.Option(metavar="N", help="As for ascsim run.")] = None,
        json: Annotated[
            bool, typer.Option("--json", help="Answer every command with one line of JSON.")
        ] = False,
    ) -> None:
        """Step through a kernel by line, instruction or cycle, forwards and backwards."""

        def work() -> int:
            from tools.debug_command import debug
            from tools.targets import TargetRequest

            request = TargetRequest(
                target, tuple(args or ()), shape=shape, dtype=dtype, platform=platform, seed=seed
            )
            return debug(
                request, commands=commands, batch=batch, as_json=json, line_mode=line, launch=launch
            )

        finish(work)

    @app.command("dap")
    def _dap() -> None:
        """Serve an editor over standard input and output (Debug Adapter Protocol)."""

        def work() -> int:
            from tools.dap.server import serve_stdio

            return serve_stdio()

        finish(work)
