"""Options that several commands share; ``ascsim run`` has them with an explanation of its own."""

from __future__ import annotations

from typing import Annotated

import typer

Shape = Annotated[
    str | None, typer.Option(metavar="SIZES", help="As for ascsim run; default 1024,1024.")
]
ElementType = Annotated[
    str | None, typer.Option(metavar="TYPE", help="As for ascsim run; default float16.")
]
PlatformName = Annotated[
    str | None, typer.Option(metavar="NAME", help="As for ascsim run; default 910b.")
]

OperatorShape = Annotated[
    str | None, typer.Option(metavar="SIZES", help="As for ascsim run; operators only.")
]
"""Of commands that also take a saved run or a script."""

OperatorType = Annotated[
    str | None, typer.Option(metavar="TYPE", help="As for ascsim run; operators only.")
]
"""Of commands that also take a saved run or a script."""
