"""``ascsim run``: an operator against its reference, or a script with all its launches."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError, SimulatorError
from simulator.platforms import load_platform
from tools.console import print_json, show
from tools.triage import TriageRequest, is_changed, print_triage, triage, triage_dict

if TYPE_CHECKING:
    from simulator.platforms import Platform
    from simulator.run import Run
    from tools.accuracy import Agreement
    from tools.operators import RunnableOperator

OK: Final = 0
FAILED: Final = 1

DEFAULT_PLATFORM: Final = "910b"


@dataclass(frozen=True)
class RunRequest:
    """Arguments of ``ascsim run`` as given; None is an option that was left out."""

    target: str
    args: tuple[str, ...] = ()
    shape: str | None = None
    dtype: str | None = None
    platform: str | None = None
    seed: int | None = None
    html: str | None = None
    json: bool = False
    triage: TriageRequest = field(default_factory=TriageRequest)
    settings: tuple[str, ...] = ()


def run(request: RunRequest) -> int:
    """Run the target and print its report; return the exit code.

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    if request.html is not None:
        _check_target(Path(request.html))
    if request.target.endswith(".py"):
        return _run_script(request)
    return _run_operator(request)


def _check_target(path: Path) -> None:
    """Refuse a report that could not be written before anything runs."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError(
            f"the report cannot be written to {str(path)!r}",
            legal="a file in a folder that exists",
        )  # fmt: skip


def _write_html(request: RunRequest, runs: list[Run]) -> None:
    """Write the report in HTML if it is wanted; what became of it goes to standard error."""
    if request.html is None:
        return
    if not runs:
        show(f"{request.html} was not written: no kernel was launched.", stderr=True, wrap=False)
        return
    from tools.html_report import write_html

    path = write_html(runs, request.html, title=Path(request.target).name)
    show(f"report written to {path} ({path.stat().st_size / 1e6:.1f} MB)", stderr=True, wrap=False)


def _platform(request: RunRequest) -> Platform:
    from tools.options import override_platform

    chosen = load_platform(request.platform or DEFAULT_PLATFORM)
    return override_platform(chosen, request.settings)


# -- scripts -----------------------------------------------------------------------------------


def _run_script(request: RunRequest) -> int:
    from tools.operators import unknown_target
    from tools.script import run_script

    if not Path(request.target).exists():
        raise unknown_target(request.target)
    for option in ("shape", "dtype", "seed"):
        if getattr(request, option) is not None:
            raise ConfigError(
                f"--{option} is for operators; a script makes its own inputs",
                fix="put it behind the script if it is an option of the script",
            )
    platform = _platform(request) if request.platform or request.settings else None
    with triage(request.triage) as found:
        outcome = run_script(request.target, request.args, platform, stdout_to_stderr=request.json)
    if request.json:
        print_json(
            {
                "target": request.target,
                "args": list(request.args),
                "exit_code": outcome.exit_code,
                "launches": [run.summary.as_dict() for run in outcome.runs],
                **triage_dict(found, outcome.runs),
                "error": None if outcome.error is None else outcome.error.as_dict(),
            }
        )
    else:
        _print_launches(outcome.runs)
        if not outcome.runs and outcome.error is None and outcome.exit_code == 0:
            show(f"{request.target} launched no kernel.")
        print_triage(found, outcome.runs)
    _tell_unreached(request, outcome.runs)
    _write_html(request, outcome.runs)
    if outcome.error is not None:
        _print_error(outcome.error)
    return outcome.exit_code or (FAILED if is_changed(outcome.runs) else OK)


def _tell_unreached(request: RunRequest, runs: list[Run]) -> None:
    """Say which launches ``--set`` did not reach, for their script names a platform."""
    if not request.settings:
        return
    named = sorted({run.platform.name for run in runs if not run.platform.overridden})
    if named:
        show(
            f"--set did not reach launches whose platform the script names ({', '.join(named)})",
            stderr=True,
        )


def _print_launches(runs: list[Run]) -> None:
    from tools.report import launch_report

    number = 1
    for summary, alike in groupby([run.summary for run in runs]):
        count = len(list(alike))
        which = f"launch {number}"
        if count > 1:
            which = f"launches {number} to {number + count - 1}, all alike"
        of = f" (of {len(runs)})" if len(runs) > 1 else ""
        show("", launch_report(summary, f"{which}{of}: {summary.kernel}"))
        number += count


def _print_error(error: SimulatorError) -> None:
    from tools.diagnostics import diagnostic

    show(diagnostic(error), stderr=True, wrap=False)


# -- operators ---------------------------------------------------------------------------------


def _run_operator(request: RunRequest) -> int:
    import numpy as np

    from tools.operators import find_operator
    from tools.options import check_fits, parse_dtype, parse_shape

    operator = find_operator(request.target)
    if request.args:
        raise ConfigError(
            f"{operator.name} takes no arguments, got {' '.join(request.args)}",
            fix="its inputs are set with --shape, --dtype and --seed",
        )
    shape = operator.default_shape if request.shape is None else parse_shape(request.shape)
    dtype = parse_dtype(request.dtype or operator.default_dtype)
    platform = _platform(request)
    seed = 0 if request.seed is None else request.seed
    if seed < 0:
        raise ConfigError(f"the seed cannot be {seed}", legal="a whole number >= 0")
    check_fits(shape, dtype, 2 + len(operator.outputs), platform)
    inputs = operator.inputs(np.random.default_rng(seed), shape, dtype)
    facts: dict[str, Any] = {
        "target": operator.name,
        "shape": list(shape),
        "dtype": dtype.name,
        "platform": platform.name,
        "seed": seed,
    }
    try:
        with triage(request.triage) as found:
            result = operator.run(inputs, platform)
    except SimulatorError as error:
        if request.json:
            print_json({**facts, "launches": [], "results": {}, "error": error.as_dict()})
        _print_error(error)
        return FAILED
    agreements = _compare(operator, list(inputs.values()), result.outputs)
    if request.json:
        print_json(
            {
                **facts,
                "launches": [run.summary.as_dict() for run in result.runs],
                **triage_dict(found, result.runs),
                "results": {name: a.as_dict() for name, a in agreements.items()},
                "error": None,
            }
        )
    else:
        _print_operator(facts, result.runs, agreements)
        print_triage(found, result.runs)
    _write_html(request, list(result.runs))
    right = all(a.equal for a in agreements.values()) and not is_changed(result.runs)
    return OK if right else FAILED


def _compare(
    operator: RunnableOperator, inputs: list[Any], outputs: tuple[Any, ...]
) -> dict[str, Agreement]:
    from tools.accuracy import compare

    expected = operator.reference(*inputs)
    return {
        name: compare(got, want)
        for name, got, want in zip(operator.outputs, outputs, expected, strict=True)
    }


def _print_operator(
    given: dict[str, Any], runs: list[Run], agreements: dict[str, Agreement]
) -> None:
    from tools.report import operator_report

    shape = ", ".join(map(str, given["shape"]))
    rank_0 = "" if given["shape"] else " (rank 0)"
    inputs = f"{given['dtype']}[{shape}]{rank_0}, seed {given['seed']}"
    name = f"{given['target']} on {given['platform']}"
    show(operator_report(name, inputs, agreements, [run.summary for run in runs]))
