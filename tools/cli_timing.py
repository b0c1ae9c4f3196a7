"""``ascsim validate`` and ``ascsim correlate``: their options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tools.cli_options import OperatorShape, OperatorType, PlatformName

if TYPE_CHECKING:
    from collections.abc import Callable


def register(app: typer.Typer, finish: Callable[[Callable[[], int]], None]) -> None:
    """Add the commands to ``app``."""

    @app.command(
        "validate",
        epilog="[bold]Examples[/bold]\n\n"
        "ascsim validate\n\n"
        "ascsim validate V002 V003 V004 --set timing.read_cap_gbps=1500\n\n"
        "ascsim validate --platform my_chip.toml --plot errors.html",
    )
    def _validate(
        rows: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[ROW]...", help="Rows of the table, such as V002; default all."
            ),
        ] = None,
        platform: Annotated[
            str | None,
            typer.Option(
                metavar="NAME",
                help="Run on this profile or .toml file; only rows measured on its chip.",
            ),
        ] = None,
        settings: Annotated[
            list[str] | None,
            typer.Option(
                "--set",
                metavar="KEY=VALUE",
                help="Override a figure of the profiles; may be repeated.",
            ),
        ] = None,
        plot: Annotated[
            str | None,
            typer.Option(
                metavar="FILE", help="Also draw predicted against measured: .html, or .png."
            ),
        ] = None,
        every: Annotated[
            bool, typer.Option("--all", help="Show every row of the cycle tables.")
        ] = False,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Rebuild published measurements and show predicted against measured time.

        All rows take about half a minute.
        """
        from tools.validate_command import validate_command

        finish(
            lambda: validate_command(
                rows or (), platform=platform, settings=settings or (), plot=plot, every=every,
                as_json=json,
            )
        )  # fmt: skip

    @app.command(
        "correlate",
        epilog="[bold]Examples[/bold]\n\n"
        "ascsim correlate saved.ascrun OPPROF_20250101000000_ABCDEFGHIJKLMNOP\n\n"
        "ascsim correlate hardswish_backward_v2 PipeUtilization.csv --shape 8,4096",
    )
    def _correlate(
        target: Annotated[
            str, typer.Argument(metavar="RUN", help="A saved run, a .py script or an operator.")
        ],
        file: Annotated[
            str,
            typer.Argument(
                metavar="CSV", help="PipeUtilization.csv of msprof op, or the folder it is in."
            ),
        ],
        launch: Annotated[
            int | None,
            typer.Option(metavar="N", min=1, help="Which launch of several; counts from 1."),
        ] = None,
        shape: OperatorShape = None,
        dtype: OperatorType = None,
        platform: PlatformName = None,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Compare a run, column by column, with the counters of a board's profiler."""
        from tools.correlate_command import correlate
        from tools.targets import TargetRequest

        request = TargetRequest(target, shape=shape, dtype=dtype, platform=platform)
        finish(lambda: correlate(request, file, launch, as_json=json))
