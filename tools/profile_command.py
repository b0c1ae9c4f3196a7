"""``ascsim profile``: reports of a run as files for other tools, and the short of it here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import ConfigError
from tools.console import print_json, show
from tools.progress import progress
from tools.targets import launches, tell_unreached

if TYPE_CHECKING:
    from simulator.run import Run
    from tools.targets import TargetRequest

FAILED = 1


def profile(request: TargetRequest, output: str, *, save: str | None, as_json: bool) -> int:
    """Run the target, write its profile below ``output``, report it; return the exit code.

    Raises
    ------
    ConfigError
        If the request is wrong or the files cannot be written.
    """
    from tools.profile_report import profile_dict, profile_report

    _check_targets(Path(output), None if save is None else Path(save))
    with progress(f"running {request.target}") as say:
        found = launches(request, stdout_to_stderr=as_json)
        folder = None
        if found.runs:
            say("writing the profile")
            folder = _write(found.runs, request, output)
            if save is not None:
                _save(found.runs, Path(save))
    tell_unreached(request, found.runs)
    if as_json:
        print_json(
            {
                "target": request.target,
                "folder": None if folder is None else str(folder),
                "launches": [profile_dict(run) for run in found.runs],
                "error": None if found.error is None else found.error.as_dict(),
            }
        )
    else:
        for number, run in enumerate(found.runs, 1):
            of = f" (of {len(found.runs)})" if len(found.runs) > 1 else ""
            show("", profile_report(run, f"launch {number}{of}: {run.name}"))
        if folder is not None:
            show("", f"profile written to {folder}", wrap=False)
        elif found.error is None:
            show(f"{request.target} launched no kernel.", wrap=False)
    if found.error is not None:
        from tools.diagnostics import diagnostic

        show(diagnostic(found.error), stderr=True, wrap=False)
        return FAILED
    return found.exit_code


def _check_targets(output: Path, save: Path | None) -> None:
    """Refuse files that could not be written before anything runs."""
    if output.exists() and not output.is_dir():
        raise ConfigError(
            f"the profile cannot be written to {str(output)!r}: it is a file", legal="a folder"
        )
    if save is not None and (save.is_dir() or not save.absolute().parent.is_dir()):
        raise ConfigError(
            f"the run cannot be saved to {str(save)!r}", legal="a file in a folder that exists"
        )


def _save(runs: list[Run], path: Path) -> None:
    """Save the runs; of several the files are numbered."""
    for number, run in enumerate(runs, 1):
        own = path if len(runs) == 1 else path.with_stem(f"{path.stem}_{number}")
        try:
            run.save(own)
        except OSError as error:
            raise ConfigError(
                f"the run cannot be saved to {str(own)!r}: {error.strerror or error}"
            ) from None


def _write(runs: list[Run], request: TargetRequest, output: str) -> Path:
    from tools.profile_files.folder import write_profile

    try:
        return write_profile(runs, Path(output), seed=request.seed, command=sys.argv)
    except OSError as error:
        raise ConfigError(
            f"the profile cannot be written to {output!r}: {error.strerror or error}"
        ) from None
