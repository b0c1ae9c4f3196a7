"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

Run as ``python .ci/lowest.py > constraints.txt`` with Python 3.11 or newer. Requirements with an
environment marker keep it, so that one list serves every Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tomllib
from packaging.requirements import Requirement

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(requirement: str) -> str:
    """Turn ``name>=1.2; marker`` into ``name==1.2; marker``.

    Parameters
    ----------
    requirement : str
        A requirement with exactly one lower bound, written ``>=`` or ``~=``.

    Returns
    -------
    str
        The constraint that allows the bound alone.

    Raises
    ------
    ValueError
        The requirement has no lower bound, or more than one.
    """
    parsed = Requirement(requirement)
    bounds = [spec.version for spec in parsed.specifier if spec.operator in {">=", "~="}]
    if len(bounds) != 1:
        raise ValueError(f"{requirement!r} has {len(bounds)} lower bounds, not one")
    marker = f"; {parsed.marker}" if parsed.marker else ""
    return f"{parsed.name}=={bounds[0]}{marker}"


def constraints(pyproject: Path = PYPROJECT) -> list[str]:
    """Give the constraints for the run-time dependencies and the ``test`` extra."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return [lowest(requirement) for requirement in requirements]


if __name__ == "__main__":
    sys.stdout.write("\n".join(constraints()) + "\n")
