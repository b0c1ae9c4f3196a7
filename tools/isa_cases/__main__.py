"""``python -m tools.isa_cases FILE [--api Add] [--arch 2201]``: failures by api, and the counts."""

from __future__ import annotations

import argparse
from typing import Any

from tools.isa_cases import run_cases
from tools.isa_cases.results import listing, summary


def main(argv: list[str] | None = None) -> int:
    """Print what fails; return 1 when something does."""
    parser = argparse.ArgumentParser(prog="python -m tools.isa_cases", description=__doc__)
    parser.add_argument("file", help="special values (CSV) or page examples (JSON)")
    parser.add_argument("--api", help="only the cases of this call")
    parser.add_argument("--arch", help="only one architecture: 2201 (910B) or 3510 (950)")
    parser.add_argument("--each", type=int, default=5, help="lines for each call and reason")
    chosen: Any = parser.parse_args(argv)
    results = run_cases(chosen.file, api=chosen.api, arch=chosen.arch)
    for line in listing(results, each=chosen.each):
        print(line)
    print(summary(results))
    return int(any(not r.passed and not r.skipped for r in results))


if __name__ == "__main__":
    raise SystemExit(main())
