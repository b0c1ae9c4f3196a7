"""Running operator case files (schema ``ops-cases-1``): ``run_file(path)``, ``run_case(case)``."""

from __future__ import annotations

from host.cases.runner import CaseResult, case_kind, run_case, run_file

__all__ = ["CaseResult", "case_kind", "run_case", "run_file"]
