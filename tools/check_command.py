"""``ascsim check``: what the checks have to say about the launches of an operator or a script."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from host.runtime import collect_findings
from simulator.errors import ConfigError, FindingError, SimulatorError
from simulator.launch import default_options
from simulator.sanitizer.catalog import CATALOG, ERROR, INFO, WARNING
from simulator.sanitizer.refusals import code_of
from simulator.watching import watched_by
from tools.console import print_json, show
from tools.diagnostics import diagnostic, finding_text
from tools.targets import TargetRequest, launches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from simulator.run import Run
    from simulator.sanitizer.finding import Finding
    from tools.targets import Launches

_ORDER: Final = (ERROR, WARNING, INFO)

OK: Final = 0
FAILED: Final = 1


@dataclass(frozen=True)
class Choice:
    """Which findings are wanted: beginnings of codes; all of them when nothing is selected.

    ``info`` adds notes that are no faults; ``numbers`` says whether to look at values as well.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    info: bool = False
    numbers: bool = True

    @classmethod
    def parse(
        cls, select: Sequence[str], ignore: Sequence[str], info: bool, numbers: bool = True
    ) -> Choice:
        """Return a choice from option values, each of which may hold several codes.

        Raises
        ------
        ConfigError
            If no code begins like that.
        """
        return cls(_codes("--select", select), _codes("--ignore", ignore), info, numbers)

    def has(self, code: str) -> bool:
        """Whether findings of a code are wanted."""
        selected = not self.select or any(_begins(code, start) for start in self.select)
        return selected and not any(_begins(code, start) for start in self.ignore)

    @property
    def looks_at_numbers(self) -> bool:
        """Whether a kind that is found in values can be among the wanted ones."""
        kinds = [kind for kind in CATALOG.values() if kind.found == "values"]
        return self.numbers and any(self.has(kind.code) for kind in kinds)

    def of(self, run: Run, numbers: Sequence[Finding] = ()) -> list[Finding]:
        """Return the findings of a run and of its values that have a wanted code."""
        found = [finding for finding in (*run.notes, *numbers) if self.has(finding.code)]
        return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def _codes(option: str, values: Sequence[str]) -> tuple[str, ...]:
    starts = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    for start in starts:
        if not any(_begins(code, start) for code in CATALOG):
            families = ", ".join(dict.fromkeys(code.partition(".")[0] for code in CATALOG))
            raise ConfigError(
                f"{option}: no check begins with {start!r}",
                legal=f"a code or its beginning: {families}; see ascsim explain",
            )
    return starts


def _begins(code: str, start: str) -> bool:
    return code.startswith(start)


class _Numbers:
    """Looks at the values of each launch as soon as it is over, while its inputs are there."""

    def __init__(self) -> None:
        self._found: dict[int, list[Finding]] = {}

    def of(self, run: Run) -> Sequence[Finding]:
        """Return what the values of a launch told; nothing for a saved run."""
        return self._found.get(id(run), ())

    def launching(self, result: Callable[[], Any]) -> AbstractContextManager[None]:
        """Let a launch go on."""
        return nullcontext()

    def started(self, core: Any) -> None:
        """Let a block go on."""

    def finished(self, run: Run) -> None:
        """Look at a launch."""
        self._found[id(run)] = run.numbers


def check(request: TargetRequest, choice: Choice, *, as_json: bool = False) -> int:
    """Run the target and print its findings; return 1 when there are errors.

    Raises
    ------
    ConfigError
        If the request itself is wrong.
    """
    numbers = _Numbers()
    watched = watched_by(numbers) if choice.looks_at_numbers else nullcontext()
    with default_options(check="report"), collect_findings() as reported, watched:
        outcome = launches(request, stdout_to_stderr=as_json)
    host: list[tuple[Run | None, Finding]] = [(None, f) for f in reported if choice.has(f.code)]
    everything = _merged(
        [
            *((run, f) for run in outcome.runs for f in choice.of(run, numbers.of(run))),
            *host,
        ]
    )
    found = [item for item in everything if choice.info or item[1].severity != INFO]
    error = outcome.error
    if as_json:
        print_json(
            {
                "target": request.target,
                "args": list(request.args),
                "exit_code": outcome.exit_code,
                "launches": [{"kernel": r.name, "platform": r.platform.name} for r in outcome.runs],
                "findings": [
                    {**finding.as_dict(), "kernel": run and run.name, "launches": times}
                    for run, finding, times in found
                ],
                "error": None if error is None else error.as_dict(),
            }
        )
    else:
        _print(outcome, found, len(everything) - len(found))
    failed = error is not None or any(finding.is_error for _, finding, _ in found)
    return FAILED if failed else outcome.exit_code


def _merged(
    found: Sequence[tuple[Run | None, Finding]],
) -> list[tuple[Run | None, Finding, int]]:
    """Return findings that launches share once, with the number of these launches.

    The run is None for a finding of the host program.
    """
    merged: dict[tuple[object, ...], list[tuple[Run | None, Finding]]] = {}
    for run, finding in found:
        key = (finding.code, finding.location, finding.other, finding.api, finding.platform)
        merged.setdefault(key, []).append((run, finding))
    return [(*group[0], len({id(run) for run, _ in group})) for group in merged.values()]


def _print(
    outcome: Launches, found: Sequence[tuple[Run | None, Finding, int]], hidden: int
) -> None:
    error = outcome.error
    for run, finding, times in found:
        text = finding_text(finding)
        if times > 1 and run is not None:
            text.append(f"\n  in {times} launches of {run.name}")
        show(text, "", wrap=False)
    if error is not None and not isinstance(error, FindingError):
        show(diagnostic(error), "", wrap=False)
    said = _summary(len(outcome.runs), [finding for _, finding, _ in found], error)
    if hidden:
        said += f"; {hidden} {'note' if hidden == 1 else 'notes'} with --info"
    if error is None and outcome.exit_code:
        said += f"; the script ended with exit code {outcome.exit_code}"
    show(said)


def _summary(launched: int, found: Sequence[Finding], error: SimulatorError | None) -> str:
    counts = Counter(finding.severity for finding in found)
    if error is not None:
        counts["error"] += 1
    kernels = f"{launched} {'launch' if launched == 1 else 'launches'}"
    if error is not None:
        stopped = code_of(error) or error.kind
        kernels += f" before {stopped} stopped the program"
    parts = [
        f"{counts[severity]} {name}{'' if counts[severity] == 1 else 's'}"
        for severity, name in (("error", "error"), ("warning", "warning"), ("info", "note"))
        if counts[severity]
    ]
    return f"{', '.join(parts) or 'no findings'} in {kernels}"
