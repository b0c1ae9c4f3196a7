"""Writes ``docs/checks.md`` from the catalogue of checks: ``python -m tools.check_docs``.

With ``--check`` it writes nothing and fails when the page is not up to date.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from simulator.sanitizer.catalog import CATALOG, Kind
from tools.explain_command import NOT_CHECKED
from tools.faults import codes, load

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "checks.md"

_HEADER: Final = "<!-- Written by `python -m tools.check_docs`; do not edit. -->\n\n"

_INTRODUCTION: Final = """\
# Checks

A launch runs its instructions in program order, which hides what a board would do to a kernel
that forgets a flag. So every launch is checked when it has finished: who could have overtaken
whom, which bytes nobody had written, what is left behind. What a single call can know is refused
at the call.

```python
import numpy as np

from kernels.faults.race_raw import broken
from simulator.errors import DataRaceError

x, z = np.ones(1024, np.float16), np.zeros(1024, np.float16)
try:
    broken[1](x, z)
except DataRaceError as error:
    print(error.kind, error.location.line, error.fix)

run = broken.launch(1, x, z, check="report")
print([finding.code for finding in run.findings])
```

- `check="raise"`, the default, raises the first error behind the launch. The exception carries all
  findings, and the outputs are complete.
- `check="report"` leaves the findings in `run.findings` and raises nothing.
- `check="off"` checks nothing until `run.findings` is asked for.

`launch(…)`, `kernel.launch(…)` and `default_options(…)` take the option. `run.findings` holds
errors and warnings, `run.notes` also what is no fault.

```sh
ascsim check hardswish_backward_v2 --shape 1000
ascsim check prelu_backward --shape 100,30 --select race,flag
ascsim explain race.raw
```

`ascsim check` shows every finding with both source lines and the statements that mend it; its
exit status is 1 when there are errors. `--select` and `--ignore` take codes or their beginnings,
`--info` adds notes, `--no-numbers` leaves out [what the values tell](#found-in-the-values),
`--json` prints everything as data. `ascsim explain CODE` shows what happens
on a board, and runs a broken and a fixed kernel.

What the hardware or the compiler orders by itself is not reported: with `auto_sync` on (the
default, as in the usual build) V after V and everything between the scalar unit and another pipe;
on 950 V after V in any case. Copies and vector calls, and two copies of one pipe, have to be
ordered by the kernel on every platform.
"""

_GROUPS: Final = (
    ("record", "Found behind the launch", "A reading of the record, in `run.findings`."),
    ("call", "Refused by the call", "The call raises an error, whose `check` is the code."),
    (
        "values",
        "Found in the values",
        """\
In `run.numbers`, for which the record is executed once more when it is first asked for. Every
instruction's operands and results are looked at; a finding names the first element with its values,
and how many there are. None of it fails a launch.

```python
from kernels.faults.num_first_nonfinite import broken

x, y, z = (np.full(512, value, np.float16) for value in (300, 300, 0))
for finding in broken.launch(1, x, y, z).numbers:
    print(finding.code, finding.location.line, finding.message)
```

`ascsim check` does it for every launch and shows the warnings, with `--info` the notes as well;
`--no-numbers` leaves it out. Notes are facts that an operator may want so: a comparison with a
threshold has one when elements equal the threshold, and when no element came near it. What a
library call does between its inputs and its result is its own affair. How far values drift from the
exact ones is another question: see `ascsim run --precise` in
[testing-kernels.md](testing-kernels.md).""",
    ),
    (
        "host",
        "Found by the host runtime",
        "In `findings` of the host program's runtime (`acl.current().findings`), and a warning at\n"
        "the line; `ascsim check SCRIPT.py` shows them with those of the kernels.",
    ),
    (
        "report",
        "A matter of time",
        "These cost time and are no fault: the report of a run is where time is accounted for.",
    ),
)

_LEFT_OUT: Final = """\
## Not checked

A check that guesses is switched off soon. These kinds are known, and left out for the reason given.
"""

_SELF: Final = """\
Faults of a simulator rather than of a kernel, which the tests of this one look for: {}.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [_HEADER + _INTRODUCTION]
    shown = set(codes())
    for found, title, remark in _GROUPS:
        kinds = [kind for kind in CATALOG.values() if kind.found == found]
        rows = ["| code | severity | what it is | on a board |", "| --- | --- | --- | --- |"]
        rows += [_row(kind, shown) for kind in kinds]
        parts.append(f"## {title}\n\n{remark}\n\n" + "\n".join(rows) + "\n")
    rows = ["| code | what it is | why it is left out |", "| --- | --- | --- |"]
    for kind in CATALOG.values():
        if kind.code in NOT_CHECKED:
            rows.append(f"| `{kind.code}` | {kind.title} | {NOT_CHECKED[kind.code]} |")
    parts.append(_LEFT_OUT + "\n" + "\n".join(rows) + "\n")
    own = [f"`{kind.code}`" for kind in CATALOG.values() if kind.found == "self-test"]
    parts.append(_SELF.format(", ".join(own)))
    return "\n".join(parts)


def _row(kind: Kind, shown: set[str]) -> str:
    name = f"`{kind.code}`"
    if kind.code in shown:
        name = f"[{name}](../{load(kind.code).path})"
    return f"| {name} | {kind.severity} | {kind.title} | {kind.on_a_board} |"


def main(argv: list[str] | None = None) -> int:
    """Write the page, or check it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    if not parser.parse_args(argv).check:
        PAGE.write_text(page(), "utf-8")
        print(f"written: {PAGE}")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == page():
        return 0
    print("docs/checks.md is not up to date; run python -m tools.check_docs")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
