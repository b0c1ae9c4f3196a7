"""One debugging session with an editor: requests in, responses and events out.

Threads are the blocks of the launch. The record stands still, so that every request is answered at
once and a movement is complete when its response is sent; the ``stopped`` event follows it.
"""

from __future__ import annotations

import base64
import os
import sys
from typing import IO, TYPE_CHECKING, Any, Final

from simulator.debug import MACHINE, PROGRAM, Breakpoint, Position
from simulator.errors import ConfigError, SimulatorError
from tools.dap.protocol import read_message, write_message
from tools.dap.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.debug import Session, Stop
    from tools.debugger.commands import Debugger

CAPABILITIES: Final = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsReadMemoryRequest": True,
    "supportsDataBreakpoints": True,
    "supportsGotoTargetsRequest": False,
    "supportsTerminateRequest": True,
    "supportsExceptionInfoRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "finding", "label": "Findings", "default": False},
    ],
}

_MOVES: Final = {
    "next": ("step_over", False),
    "stepIn": ("step_into", False),
    "stepOut": ("step_out", False),
    "stepBack": ("step_over", True),
}

_LEVELS: Final = 1000
"""Frame ids are thread * 1000 + level."""


def serve_stdio() -> int:
    """Serve an editor on standard input and output; return 0 when it has gone.

    What the debugged script prints goes to standard error.
    """
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        return Server(incoming, outgoing).serve()
    finally:
        sys.stdout = sys.__stdout__ or sys.stderr


def _unknown(command: str) -> Callable[[dict[str, Any]], None]:
    def refuse(_: dict[str, Any]) -> None:
        raise ConfigError(f"the request {command!r} is not supported")

    return refuse


class Server:
    """Answers the requests of one editor."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sequence = 0
        self._debugger: Debugger | None = None
        self._variables: Variables | None = None
        self._positions: dict[int, Position] = {}
        self._set: dict[str, list[Breakpoint]] = {}
        self._after: list[Callable[[], None]] = []
        self._ends = False
        self._first_line = 1
        self._stops_on_entry = True

    def serve(self) -> int:
        """Answer until the editor disconnects or closes the stream."""
        while not self._ends:
            request = read_message(self._incoming)
            if request is None:
                break
            self._answer(request)
        return 0

    # -- messages ------------------------------------------------------------------------------

    def _send(self, message: dict[str, Any]) -> None:
        self._sequence += 1
        write_message(self._outgoing, {"seq": self._sequence, **message})

    def _event(self, name: str, **body: Any) -> None:
        self._send({"type": "event", "event": name, "body": body})

    def _answer(self, request: dict[str, Any]) -> None:
        command = request.get("command", "")
        answer = {"type": "response", "request_seq": request.get("seq", 0), "command": command}
        handler = getattr(self, f"_on_{command}", None) or _unknown(command)
        try:
            body = handler(request.get("arguments") or {})
            self._send({**answer, "success": True, "body": body or {}})
        except SimulatorError as error:
            self._fail(answer, " ".join(str(error).split()))
        except Exception as error:  # An expression of the user's may raise anything.
            self._fail(answer, f"{type(error).__name__}: {error}")
        pending, self._after = self._after, []
        for step in pending:
            step()

    def _fail(self, answer: dict[str, Any], text: str) -> None:
        body = {"error": {"id": 1, "format": "{text}", "variables": {"text": text}}}
        self._send({**answer, "success": False, "message": text, "body": body})

    @property
    def _session(self) -> Session:
        if self._debugger is None:
            raise ConfigError("nothing has been launched yet", fix="send launch first")
        return self._debugger.session

    # -- starting and ending ---------------------------------------------------------------------

    def _on_initialize(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._first_line = 1 if arguments.get("linesStartAt1", True) else 0
        return dict(CAPABILITIES)

    def _on_launch(self, arguments: dict[str, Any]) -> None:
        from tools.debugger.commands import Debugger
        from tools.debugger.targets import record_target
        from tools.targets import TargetRequest

        program = arguments.get("program")
        if not program:
            raise ConfigError("launch needs a program", legal="a .py script or an operator")
        if arguments.get("cwd"):
            os.chdir(arguments["cwd"])
        shape = arguments.get("shape")
        if isinstance(shape, list):
            shape = ",".join(map(str, shape))
        request = TargetRequest(
            program,
            tuple(map(str, arguments.get("args", ()))),
            shape=shape,
            dtype=arguments.get("dtype"),
            platform=arguments.get("platform"),
            seed=arguments.get("seed"),
        )
        launches = record_target(request, stdout_to_stderr=True)
        self._debugger = Debugger(launches, arguments.get("launch"))
        if arguments.get("clock") == MACHINE:
            self._session.set_clock(MACHINE)
        self._stops_on_entry = bool(arguments.get("stopOnEntry", True))
        self._variables = Variables(self._session)
        self._after.append(lambda: self._event("initialized"))
        self._after.append(self._tell_launch)

    def _tell_launch(self) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        text = f"launch {debugger.number} of {len(debugger.launches)}: {self._session.run!r}\n"
        self._event("output", category="console", output=text)
        if self._session.run.output:
            self._event("output", category="stdout", output=self._session.run.output)
        for number in range(len(self._session.run.blocks)):
            self._event("thread", reason="started", threadId=number + 1)

    def _on_configurationDone(self, _: dict[str, Any]) -> None:
        session = self._session
        if session.error is not None:
            stop = session.failing()
            self._event("output", category="stderr", output=f"{session.error}\n")
        elif self._stops_on_entry:
            stop = session.stop("start")
        else:
            stop = session.run_on()
        self._after.append(lambda: self._stopped(stop, "entry"))

    def _on_disconnect(self, _: dict[str, Any]) -> None:
        self._ends = True

    def _on_terminate(self, _: dict[str, Any]) -> None:
        self._after.append(lambda: self._event("terminated"))

    # -- breakpoints -----------------------------------------------------------------------------

    def _replace(self, key: str) -> None:
        """Forget the breakpoints that an editor set under ``key``; it sends them all again."""
        for point in self._set.pop(key, []):
            self._session.delete_breakpoint(point.number)

    def _add(self, key: str, kind: str, condition: str = "", **where: Any) -> dict[str, Any]:
        session = self._session
        try:
            point = session.add_breakpoint(kind, condition=condition, **where)
        except (SimulatorError, SyntaxError) as error:
            return {"verified": False, "message": str(error)}
        self._set.setdefault(key, []).append(point)
        hits = any(session.hits(point, n) for n in range(len(session.run.blocks)))
        found: dict[str, Any] = {"id": point.number, "verified": hits or kind == "if"}
        if not found["verified"]:
            found["message"] = "no block comes here"
        return found

    def _on_setBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        path = arguments["source"].get("path", "")
        self._replace(path)
        found = []
        for wanted in arguments.get("breakpoints", ()):
            line = wanted["line"] + 1 - self._first_line
            condition = wanted.get("condition") or ""
            added = self._add(path, "line", condition, file=path, line=line)
            found.append({**added, "line": wanted["line"]})
        return {"breakpoints": found}

    def _on_setFunctionBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Set breakpoints by what the command ``break`` takes: ``Select``, ``pipe V``."""
        from tools.debugger.places import parse

        self._replace("function")
        found: list[dict[str, Any]] = []
        for wanted in arguments.get("breakpoints", ()):
            try:
                kind, where, condition = parse(self._session, wanted["name"])
            except SimulatorError as error:
                found.append({"verified": False, "message": error.message})
                continue
            condition = wanted.get("condition") or condition
            found.append(self._add("function", kind, condition, **where))
        return {"breakpoints": found}

    def _on_setExceptionBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._replace("finding")
        found = [self._add("finding", "finding") for _ in arguments.get("filters", ())]
        return {"breakpoints": found}

    def _on_dataBreakpointInfo(self, arguments: dict[str, Any]) -> dict[str, Any]:
        from tools.debugger.places import memory

        try:
            space, low, high = memory(self._session, arguments["name"])
        except SimulatorError as error:
            return {"dataId": None, "description": error.message}
        return {
            "dataId": f"{space}:{low}:{high}",
            "description": f"{arguments['name']}: {space} {low:#x}..{high:#x}",
            "accessTypes": ["read", "write", "readWrite"],
        }

    def _on_setDataBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._replace("data")
        kinds = {"read": "read", "readWrite": "access"}
        found = []
        for wanted in arguments.get("breakpoints", ()):
            space, low, high = wanted["dataId"].split(":")
            kind = kinds.get(wanted.get("accessType", ""), "write")
            condition = wanted.get("condition") or ""
            where = {"space": space, "low": int(low), "high": int(high)}
            found.append(self._add("data", kind, condition, **where))
        return {"breakpoints": found}

    # -- moving ----------------------------------------------------------------------------------

    def _select(self, arguments: dict[str, Any]) -> None:
        """Go on from where the thread of a request stands."""
        session = self._session
        place = int(arguments.get("threadId", session.position.block + 1)) - 1
        if not 0 <= place < len(session.run.blocks):
            raise ConfigError(f"there is no thread {place + 1}")
        if place != session.position.block:
            session.position = self._position_of(place)

    def _position_of(self, place: int) -> Position:
        session = self._session
        if place == session.position.block:
            return session.position
        if session.clock == MACHINE:
            return session.position_at_cycle(place, session.position.cycle)
        return self._positions.get(place) or session.position_in_program(place, 0, 0)

    def _move(self, stop: Stop, reason: str) -> None:
        self._after.append(lambda: self._stopped(stop, reason))

    def _stopped(self, stop: Stop, reason: str) -> None:
        session = self._session
        self._positions[session.position.block] = session.position
        if self._variables is not None:
            self._variables.clear()
        kinds = {"breakpoint": "breakpoint", "error": "exception"}
        body: dict[str, Any] = {
            "reason": kinds.get(stop.reason, reason),
            "description": stop.text or reason,
            "threadId": session.position.block + 1,
            "allThreadsStopped": True,
        }
        if stop.breakpoint:
            body["hitBreakpointIds"] = [stop.breakpoint]
        if stop.reason == "error":
            body["text"] = stop.text
        self._event("stopped", **body)

    def _step(self, command: str, arguments: dict[str, Any]) -> None:
        self._select(arguments)
        session = self._session
        name, back = _MOVES[command]
        if arguments.get("granularity") == "instruction" and name != "step_out":
            stop = session.next_instruction(back=back)
        else:
            stop = getattr(session, name)(back=back)
        self._move(stop, "step")

    def _on_next(self, arguments: dict[str, Any]) -> None:
        self._step("next", arguments)

    def _on_stepIn(self, arguments: dict[str, Any]) -> None:
        self._step("stepIn", arguments)

    def _on_stepOut(self, arguments: dict[str, Any]) -> None:
        self._step("stepOut", arguments)

    def _on_stepBack(self, arguments: dict[str, Any]) -> None:
        self._step("stepBack", arguments)

    def _on_continue(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._select(arguments)
        stop = self._session.run_on()
        if stop.reason == "end":
            self._after.append(lambda: self._event("output", category="console", output=_END))
        self._move(stop, "step")
        return {"allThreadsContinued": True}

    def _on_reverseContinue(self, arguments: dict[str, Any]) -> None:
        self._select(arguments)
        self._move(self._session.run_on(back=True), "step")

    def _on_pause(self, _: dict[str, Any]) -> None:
        self._move(self._session.stop("jump"), "pause")

    # -- looking ---------------------------------------------------------------------------------

    def _on_threads(self, _: dict[str, Any]) -> dict[str, Any]:
        session = self._session
        return {
            "threads": [
                {"id": n + 1, "name": f"block {block.index}"}
                for n, block in enumerate(session.run.blocks)
            ]
        }

    def _on_stackTrace(self, arguments: dict[str, Any]) -> dict[str, Any]:
        place = int(arguments["threadId"]) - 1
        session = self._session
        moment = session.moment_at(self._position_of(place))
        frames = [
            {
                "id": (place + 1) * _LEVELS + level,
                "name": call.location.function,
                "line": call.location.line - 1 + self._first_line,
                "column": 1,
                "source": {
                    "name": os.path.basename(call.location.file),
                    "path": os.path.abspath(call.location.file),
                },
            }
            for level, call in enumerate(moment.stack)
        ]
        first = int(arguments.get("startFrame") or 0)
        count = int(arguments.get("levels") or len(frames))
        return {"stackFrames": frames[first : first + count], "totalFrames": len(frames)}

    def _moment_of(self, frame: int) -> tuple[Any, int]:
        place, level = divmod(frame, _LEVELS)
        return self._session.moment_at(self._position_of(place - 1)), level

    def _shown(self) -> Variables:
        if self._variables is None:
            raise ConfigError("nothing has been launched yet", fix="send launch first")
        return self._variables

    def _on_scopes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"scopes": self._shown().scopes(*self._moment_of(int(arguments["frameId"])))}

    def _on_variables(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"variables": self._shown().children(int(arguments["variablesReference"]))}

    def _on_evaluate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Evaluate an expression; in the console, ``:command`` is one of ``ascsim debug``."""
        text = arguments["expression"]
        if text.startswith(":") and self._debugger is not None:
            before = self._session.position
            answer = self._debugger.execute(text[1:])
            if self._session.position != before:
                self._move(self._session.stop("jump"), "goto")
            return {"result": answer.text, "variablesReference": 0}
        frame = arguments.get("frameId")
        if frame is None:
            moment, level = self._session.moment, 0
        else:
            moment, level = self._moment_of(int(frame))
        return self._shown().variable(moment, text, moment.evaluate(text, level))

    def _on_exceptionInfo(self, _: dict[str, Any]) -> dict[str, Any]:
        error = self._session.error
        return {
            "exceptionId": type(error).__name__ if error is not None else "finding",
            "description": str(error) if error is not None else "",
            "breakMode": "always",
        }

    def _on_readMemory(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Read ``memoryReference`` (``UB:0x100:block`` or ``GM:0x120000000000:block``)."""
        space, address, place = arguments["memoryReference"].split(":")
        low = int(address, 16) + int(arguments.get("offset") or 0)
        moment = self._session.moment_at(self._position_of(int(place)))
        count = int(arguments["count"])
        for _, first, end in moment.ranges(space):
            if first <= low < end:
                data = moment.read(space, low, min(count, end - low))
                return {
                    "address": hex(low),
                    "data": base64.b64encode(data).decode(),
                    "unreadableBytes": count - len(data),
                }
        return {"address": hex(low), "unreadableBytes": count}

    def _on_clock(self, arguments: dict[str, Any]) -> None:
        """Switch the clock: a request of our own, for plug-ins."""
        self._move(self._session.set_clock(arguments.get("clock", PROGRAM)), "goto")


_END: Final = "end of the launch; step back or reverse from here\n"
