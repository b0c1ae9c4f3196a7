"""A user's mistake shown as a compiler shows one: what, where, why, and how to mend it."""

from __future__ import annotations

import linecache
import os
import re
from typing import TYPE_CHECKING, Final

from rich.text import Text

from simulator.errors import SourceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import ConfigError, SimulatorError
    from simulator.sanitizer.finding import Finding

CONTEXT_LINES: Final = 2
"""Source lines shown before the line at fault."""

_FIELDS: Final = ("got", "legal", "fix", "source")
_OUR_PACKAGES: Final = ("simulator", "host", "tools")
_MAX_CALLERS: Final = 6
_STYLES: Final = {"error": "bad", "warning": "warn", "info": "label"}


def one_line(error: ConfigError) -> str:
    """Return message, fix and legal values in one line."""
    fix = f"; {error.fields['fix']}" if "fix" in error.fields else ""
    legal = f" (legal: {error.fields['legal']})" if "legal" in error.fields else ""
    return " ".join(f"{error.message}{fix}{legal}".split())


def diagnostic(error: SimulatorError) -> Text:
    """Return the error with its source line, and the error that caused it before it.

    A host call that reports a fault of the device has the fault as its cause; the cause has the
    kernel's line, so it comes first.
    """
    from simulator.errors import FindingError, SimulatorError

    text = Text()
    if isinstance(error, FindingError) and error.findings:
        for finding in error.findings:
            text.append_text(finding_text(finding))
            text.append("\n\n")
    elif isinstance(error.__cause__, SimulatorError):
        text.append_text(diagnostic(error.__cause__))
        text.append("\n\nreported by the host program as\n", style="faint")
        # The message of the host repeats that of the device; its first line says it all.
        _append_error(text, error, error.message.splitlines()[0])
    else:
        _append_error(text, error, error.message)
    text.rstrip()
    return text


def finding_text(finding: Finding) -> Text:
    """Return a finding with both source lines, as a compiler shows an error."""
    text = Text()
    text.append(f"{finding.severity}[{finding.code}]", style=_STYLES[finding.severity])
    text.append(f": {finding.message}\n", style="label")
    gutter = max(len(str(p.line)) for p in (finding.location, finding.other) if p) + 1
    where = [] if finding.block < 0 else [f"block {finding.block}"]
    where += [f"pipe {finding.pipe}"] if finding.pipe else []
    where += [finding.platform] if finding.platform else []
    _append_place(text, finding.location, "-->", f"({', '.join(where)})", gutter)
    api = finding.api or None
    _append_source(text, finding.location, api, gutter, _STYLES[finding.severity])
    if finding.other is not None and finding.other != finding.location:
        api = finding.details.get("other_api")
        _append_place(text, finding.other, ":::", _other_party(finding), gutter)
        _append_source(text, finding.other, api, gutter, "label", context=0)
    for name, value in _facts(finding):
        text.append(f"{'':>{gutter}}= ", style="faint")
        text.append(f"{name}:", style="ok" if name == "fix" else "label")
        text.append(f"{'':<{8 - len(name)}}{value}\n")
    text.rstrip()
    return text


def _other_party(finding: Finding) -> str:
    block = finding.details.get("other_block")
    pipe = finding.details.get("other_pipe")
    parts = [f"block {block}"] if block is not None else []
    parts += [f"pipe {pipe}"] if pipe else []
    return f"({', '.join(parts)})" if parts else ""


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.tensor:
        parts = [finding.tensor]
        if finding.bytes:
            space = finding.details.get("space", "UB")
            parts.append(f"{space} bytes {finding.bytes[0]}..{finding.bytes[1]}")
        if finding.elements:
            parts.append(f"elements {finding.elements[0]}..{finding.elements[1]}")
        if finding.details.get("buffer"):
            parts.append(str(finding.details["buffer"]))
        yield "tensor", ", ".join(parts)
    if finding.count > 1:
        yield (
            "count",
            f"{finding.count} times, first as instruction {finding.index} of block {finding.block}",
        )
    if finding.fix:
        yield "fix", finding.fix
    yield "source", finding.source
    yield "explain", f"ascsim explain {finding.code}"


def _append_place(
    text: Text, location: SourceLocation, arrow: str, remark: str, gutter: int
) -> None:
    text.append(f"{'':>{gutter}}{arrow} ", style="faint")
    text.append(f"{_shown_path(location.file)}:{location.line}", style="name")
    text.append(f"  {remark}\n" if remark else "\n")


def _append_error(text: Text, error: SimulatorError, message: str) -> None:
    fields = error.fields
    text.append(f"error[{error.kind}]", style="bad")
    api = f"{fields['api']}: " if "api" in fields and not message.startswith(fields["api"]) else ""
    text.append(f": {api}{message}\n", style="label")
    location = fields.get("location") or next(_callers(error), None)
    gutter = 3
    if isinstance(location, SourceLocation):
        gutter = len(str(location.line)) + 1
        where = ", ".join(f"{k} {fields[k]}" for k in ("block", "pipe", "cycle") if k in fields)
        text.append(f"{'':>{gutter}}--> ", style="faint")
        text.append(f"{_shown_path(location.file)}:{location.line}", style="name")
        text.append(f"  ({where})\n" if where else "\n")
        _append_source(text, location, fields.get("api"), gutter)
        for caller in _callers(error, location):
            text.append(f"{'':>{gutter}}called from ", style="faint")
            text.append(f"{_shown_path(caller.file)}:{caller.line}, in {caller.function}\n")
    for name in _FIELDS:
        if name in fields:
            text.append(f"{'':>{gutter}}= ", style="faint")
            style = "ok" if name == "fix" else "label"
            text.append(f"{name}:", style=style)
            text.append(f"{'':<{7 - len(name)}}{fields[name]}\n")
    if "status_name" in fields:
        text.append(f"{'':>{gutter}}= ", style="faint")
        text.append("status:", style="label")
        text.append(f" {fields['status']} {fields['status_name']}\n")
    if "check" in fields:
        text.append(f"{'':>{gutter}}= ", style="faint")
        text.append("explain:", style="label")
        text.append(f" ascsim explain {fields['check']}\n")


def _append_source(
    text: Text,
    location: SourceLocation,
    api: object,
    gutter: int,
    style: str = "bad",
    context: int = CONTEXT_LINES,
) -> None:
    first = max(1, location.line - context)
    lines = [linecache.getline(location.file, n) for n in range(first, location.line + 1)]
    if not lines[-1].strip():
        return
    text.append(f"{'':>{gutter}}|\n", style="faint")
    for number, line in enumerate(lines, start=first):
        text.append(f"{number:>{gutter - 1}} | ", style="faint")
        text.append(f"{line.expandtabs().rstrip()}\n")
    start, length = _underlined(lines[-1].expandtabs().rstrip(), api)
    text.append(f"{'':>{gutter}}| ", style="faint")
    text.append(f"{'':>{start}}{'^' * length}\n", style=style)


def _underlined(line: str, api: object) -> tuple[int, int]:
    """Return start and length of the call at fault, or of the whole line."""
    if api is not None:
        name = str(api).rpartition(".")[2]
        found = re.search(rf"\b{re.escape(name)}\b", line)
        if found:
            return found.start(), len(name)
    stripped = line.lstrip()
    return len(line) - len(stripped), len(stripped)


def _callers(
    error: SimulatorError, location: SourceLocation | None = None
) -> Iterator[SourceLocation]:
    """Yield the user's frames that led to the error, innermost first, without the location."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _OUR_PACKAGES:
            code = frame.f_code
            found.append(SourceLocation(code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    place = location and (location.file, location.line)
    frames = [f for f in reversed(found) if (f.file, f.line) != place]
    yield from frames[:_MAX_CALLERS]


def _shown_path(path: str) -> str:
    """Return a path below the current folder relative to it, and any other as it is."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith(os.pardir) else relative
