"""Where a recorded call stands in the user's source, and what the user calls its operands."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator import ascendc
from simulator.instruction import locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.core import Entry
    from simulator.errors import SourceLocation
    from simulator.instruction import Operand, Plan
    from simulator.queues import Buffer, TBuf, TQueBind
    from simulator.run import Block


def place(entry: Entry) -> SourceLocation:
    """Return file and line of a recorded call."""
    return locate(entry[1], entry[2])


def same_site(one: Entry, other: Entry) -> bool:
    """Whether two calls were made by the same instruction of the user's code."""
    return one[1] is other[1] and one[2] == other[2]


def same_line(one: Entry, other: Entry) -> bool:
    """Whether two calls stand in one line; the condition of a loop is compiled twice."""
    return one[1] is other[1] and place(one) == place(other)


def is_written_there(entry: Entry) -> bool:
    """Whether the line of a call names it, as opposed to a library call made of basic ones."""
    location = place(entry)
    name = entry[0].spec.name.rpartition(".")[2]
    if any(True for _ in _calls(location.file, location.line, name)):
        return True
    line = linecache.getline(location.file, location.line)
    return not line or name in line


def tensor_name(entry: Entry, operand: Operand) -> str:
    """Return the expression that the user passed as ``operand``, or the operand's own name."""
    location, plan = place(entry), entry[0]
    owner, _, name = plan.spec.name.rpartition(".")
    for call in _calls(location.file, location.line, name):
        found = _argument(call, plan, operand, method=bool(owner))
        if found is not None:
            return ast.unparse(found)
    return operand.name


def indentation(location: SourceLocation) -> int:
    """Return the width of the white space that a line starts with; -1 without source."""
    line = linecache.getline(location.file, location.line)
    return len(line) - len(line.lstrip()) if line.strip() else -1


def statement_lines(location: SourceLocation) -> tuple[int, int]:
    """Return first and last line of the statement that holds a line."""
    best = (location.line, location.line)
    for first, last in _parsed(location.file).statements:
        if first <= location.line <= last:
            best = (first, last)
    return best


class Branch(NamedTuple):
    """One side of an ``if``: the line of the ``if``, and whether it is that of its ``else``."""

    line: int
    is_else: bool


def branches(location: SourceLocation) -> list[Branch]:
    """Return the sides of ``if`` statements that a line stands in, outermost first."""
    return sorted(
        branch
        for branch, first, last in _parsed(location.file).branches
        if first <= location.line <= last
    )


_READS: Final = frozenset({"GetValue", "ReadGmByPassDCache"})
_POLLS: Final = _READS | {
    "DataCopy", "DataCopyPad", "DataCacheCleanAndInvalid", "GetPhyAddr", "PipeBarrier", "SetFlag",
    "WaitFlag", "SetGlobalBuffer", "ReinterpretCast", "EnQue", "DeQue", "AllocTensor", "FreeTensor",
    "GlobalTensor", "GetBlockIdx", "GetBlockNum", "DataCopyExtParams", "DataCopyPadExtParams",
}  # fmt: skip
"""Calls of a loop that polls: it loads and synchronises, but computes and stores nothing."""


@lru_cache(maxsize=4096)
def is_in_polling_loop(location: SourceLocation, api: str) -> bool:
    """Whether a call is what a ``while`` loop reads again and again until the value is right.

    The read stands in the condition; or it is a copy in the body of a loop whose condition looks at
    what has come, or the same copy in front of such a loop.
    """
    name = api.rpartition(".")[2]
    source = _parsed(location.file)
    mine = {ast.unparse(call) for call in _calls(location.file, location.line, name)}
    for loop in source.loops:
        if not _polls(loop):
            continue
        first, last = loop.lineno, loop.end_lineno or loop.lineno
        if first <= location.line <= last:
            return True
        body = {ast.unparse(n) for n in ast.walk(loop) if isinstance(n, ast.Call)}
        if name.startswith("DataCopy") and first - _NEAR <= location.line < first and mine & body:
            return True
    return False


_NEAR: Final = 8
"""Lines between a copy and the loop that repeats it."""


def _polls(loop: ast.While) -> bool:
    """Whether a loop looks at a value and does nothing but fetch it again."""
    looked = {_called(node) for node in ast.walk(loop.test)}
    names = {name for node in ast.walk(loop) if (name := _called(node))}
    works = {name for name in names if hasattr(ascendc, name) and name not in _POLLS}
    return bool(looked & _READS) and not works


def _called(node: ast.AST) -> str:
    func: Any = node.func if isinstance(node, ast.Call) else None
    name = getattr(func, "id", getattr(func, "attr", None))
    return name if isinstance(name, str) else ""


class _Source:
    """A file: calls by the name that is called, loops, and lines of statements and of branches."""

    def __init__(self, file: str) -> None:
        self.calls: dict[str, list[ast.Call]] = {}
        self.statements: list[tuple[int, int]] = []
        self.branches: list[tuple[Branch, int, int]] = []
        self.loops: list[ast.While] = []
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except SyntaxError:
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                if name := _called(node):
                    self.calls.setdefault(name, []).append(node)
            elif isinstance(node, ast.While):
                self.loops.append(node)
            elif isinstance(node, _STATEMENTS):
                self.statements.append((node.lineno, node.end_lineno or node.lineno))
            elif isinstance(node, ast.If):
                for is_else, body in ((False, node.body), (True, node.orelse)):
                    if body:
                        last = body[-1].end_lineno or body[-1].lineno
                        branch = Branch(node.lineno, is_else)
                        self.branches.append((branch, body[0].lineno, last))


_STATEMENTS: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.AnnAssign)


@lru_cache(maxsize=64)
def _parsed(file: str) -> _Source:
    return _Source(file)


def _calls(file: str, line: int, name: str) -> Iterator[ast.Call]:
    for call in _parsed(file).calls.get(name, ()):
        if call.lineno <= line <= (call.end_lineno or call.lineno):
            yield call


@lru_cache(maxsize=4096)
def called_in(location: SourceLocation) -> tuple[str, ...] | None:
    """Return the names that are called in a line, outer calls first; None without source."""
    if not linecache.getline(location.file, location.line):
        return None
    found = [
        (call.lineno, call.col_offset, name)
        for name in _parsed(location.file).calls
        for call in _calls(location.file, location.line, name)
    ]
    return tuple(name for _, _, name in sorted(found))


def _argument(call: ast.Call, plan: Plan, operand: Operand, *, method: bool) -> ast.expr | None:
    if method:
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    for keyword in call.keywords:
        if keyword.arg == operand.name:
            return keyword.value
    names = [name for name, _ in plan.spec.operands]
    at = names.index(operand.name) if operand.name in names else -1
    if at < 0 and operand.name == "src1":
        at = len(names)
    return call.args[at] if 0 <= at < len(call.args) else None


def buffer_at(block: Block, low: int, high: int) -> tuple[TQueBind | TBuf, Buffer] | None:
    """Return the queue or TBuf, and its buffer, that holds bytes ``low..high`` of UB."""
    for owner in block.queues:
        buffers = getattr(owner, "buffers", None)
        held = buffers if buffers is not None else [owner.buffer]
        for buffer in held:
            if buffer.addr <= low and high <= buffer.addr + buffer.length:
                return owner, buffer
    return None


def buffer_name(block: Block, low: int, high: int) -> str:
    """Return the name of the buffer that holds bytes ``low..high`` of UB; empty for none."""
    found = buffer_at(block, low, high)
    if found is None:
        return ""
    owner, buffer = found
    buffers = getattr(owner, "buffers", [buffer])
    name = getattr(owner, "name", f"{owner.position.name} TBuf")
    return f"{name}, buffer {buffers.index(buffer)}" if len(buffers) > 1 else name
