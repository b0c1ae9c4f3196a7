"""Runner of case files: one handler per kind, one result per case."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from simulator.errors import ConfigError

SCHEMA: Final = "ops-cases-1"

Handler = Callable[[Mapping[str, Any]], "Outcome"]

_HANDLERS: Final[dict[str, Handler]] = {}
_KIND_MODULES: Final = (
    "host.cases.host_kinds",
    "host.cases.operator_kinds",
    "host.cases.aclnn_kinds",
    "host.cases.numeric_kinds",
    "host.cases.hazard_kinds",
    "host.cases.fusion_kinds",
)


class CaseUnsupportedError(Exception):
    """A case asks for something that is not built; its text says what."""


@dataclass(frozen=True)
class Outcome:
    """What a handler found: the value got, and every difference from what is expected."""

    got: Any
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CaseResult:
    """Result of one case.

    Attributes
    ----------
    id : str
        The case's identifier.
    passed : bool
    input, expected, got : object
        As in the file, and what came out.
    message : str
        Why it failed; empty when it passed.
    """

    id: str
    passed: bool
    input: Any
    expected: Any
    got: Any
    message: str


def case_kind(kind: str) -> Callable[[Handler], Handler]:
    """Register the decorated function as the handler of a case kind.

    It gets the whole case and returns an :class:`Outcome`.
    """

    def register(handler: Handler) -> Handler:
        if kind in _HANDLERS:
            raise ConfigError(f"case kind {kind!r} has two handlers")
        _HANDLERS[kind] = handler
        return handler

    return register


def run_case(case: Mapping[str, Any]) -> CaseResult:
    """Run one case. Whatever cannot be run is a failure with its reason, never skipped."""
    for module in _KIND_MODULES:
        import_module(module)
    kind = case.get("kind", "")
    handler = _HANDLERS.get(kind)
    got: Any = None
    if handler is None:
        message = f"no handler for cases of kind {kind!r}"
    else:
        try:
            outcome = handler(case)
            got, message = outcome.got, "; ".join(outcome.differences)
        except CaseUnsupportedError as reason:
            message = f"not built: {reason}"
        except Exception as error:
            message = f"raised {type(error).__name__}: {error}"
    return CaseResult(
        str(case.get("id", "")), not message, case.get("input"), case.get("expect"), got, message
    )


def run_file(path: str | Path) -> list[CaseResult]:
    """Run all cases of a file, in order.

    Raises
    ------
    ConfigError
        If the file is not a case file of schema ``ops-cases-1``.
    """
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        schema, cases = content["schema"], content["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is not a case file: {error}", legal=f"JSON of schema {SCHEMA}"
        ) from error
    if schema != SCHEMA:
        raise ConfigError(f"{path} has another schema", got=schema, legal=SCHEMA)
    return [run_case(case) for case in cases]


def compare(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """Return one line per key of ``expected`` whose value ``got`` does not have."""
    return [
        f"{key}: expected {value!r}, got {got.get(key)!r}"
        for key, value in expected.items()
        if got.get(key) != value
    ]
