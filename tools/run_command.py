"""``ascsim run``: an operator against its reference, or a script with all its launches."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError, SimulatorError
from tools.console import print_json, show
from tools.targets import TargetRequest, operator_call, run_target_script, tell_unreached
from tools.triage import TriageRequest, is_changed, print_triage, triage, triage_dict

if TYPE_CHECKING:
    from simulator.run import Run
    from tools.accuracy import Agreement
    from tools.operators import RunnableOperator

OK: Final = 0
FAILED: Final = 1


@dataclass(frozen=True)
class RunRequest:
    """Arguments of ``ascsim run``."""

    what: TargetRequest
    html: str | None = None
    json: bool = False
    triage: TriageRequest = field(default_factory=TriageRequest)


def run(request: RunRequest) -> int:
    """Run the target and print its report; return the exit code.

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    if request.html is not None:
        _check_target(Path(request.html))
    if request.what.is_script:
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

    path = write_html(runs, request.html, title=Path(request.what.target).name)
    show(f"report written to {path} ({path.stat().st_size / 1e6:.1f} MB)", stderr=True, wrap=False)


# -- scripts -----------------------------------------------------------------------------------


def _run_script(request: RunRequest) -> int:
    with triage(request.triage) as found:
        outcome = run_target_script(request.what, stdout_to_stderr=request.json)
    if request.json:
        print_json(
            {
                "target": request.what.target,
                "args": list(request.what.args),
                "exit_code": outcome.exit_code,
                "launches": [run.summary.as_dict() for run in outcome.runs],
                **triage_dict(found, outcome.runs),
                "error": None if outcome.error is None else outcome.error.as_dict(),
            }
        )
    else:
        _print_launches(outcome.runs)
        if not outcome.runs and outcome.error is None and outcome.exit_code == 0:
            show(f"{request.what.target} launched no kernel.", wrap=False)
        print_triage(found, outcome.runs)
    tell_unreached(request.what, outcome.runs)
    _write_html(request, outcome.runs)
    if outcome.error is not None:
        _print_error(outcome.error)
    return outcome.exit_code or (FAILED if is_changed(outcome.runs) else OK)


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
    call = operator_call(request.what)
    facts: dict[str, Any] = {
        "target": call.operator.name,
        "shape": list(call.shape),
        "dtype": call.dtype.name,
        "platform": call.platform.name,
        "seed": call.seed,
    }
    with triage(request.triage) as found:
        try:
            result = call.run()
        except SimulatorError as error:
            if request.json:
                print_json({**facts, "launches": [], "results": {}, "error": error.as_dict()})
            _print_error(error)
            return FAILED
    agreements = _compare(call.operator, list(call.inputs.values()), result.outputs)
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
