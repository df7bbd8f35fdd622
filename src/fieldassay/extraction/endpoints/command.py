"""Programs and Python functions as servers: persistent workers, a line of JSON in, a line of JSON out.

A worker reads a request per line from its standard input and writes `{"result": …}` or `{"error": "…"}` per
line to file descriptor 3, so that its prints cannot spoil an answer. `usage` beside the result is counted.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.errors import problem
from fieldassay.extraction.endpoints.endpoint import remove_secrets
from fieldassay.extraction.endpoints.exchange import (
    ClosedError,
    EndpointCall,
    Failure,
    Journal,
    StopRunError,
    Waits,
)
from fieldassay.extraction.endpoints.outcome import (
    ANSWERED,
    Attempt,
    AttemptVerdict,
    attempt_line,
    send_fields,
    with_attachments,
    write_final,
)
from fieldassay.io.files.code import digest_program
from fieldassay.io.json_value import Json
from fieldassay.io.workers.program import clean_environment, find_program
from fieldassay.records.record import WITHOUT_JSON, to_json

MOST_DEAD_IN_A_ROW = 10
"""Workers that died one after the other without an answer, after which the run stops."""
START_SECONDS = 60.0
"""What a program has in addition for its first answer: it may have models to load."""
_KEPT_OUTPUT = 2000
_LAUNCH = (
    "import os, sys; at = int(sys.argv[1]); os.dup2(at, 3); os.set_inheritable(3, True); "
    "at == 3 or os.close(at); os.execv(sys.argv[2], sys.argv[3:])"
)


class CommandError(Exception):
    """A worker that gave no answer: its kind of failure and what it last printed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class CommandWorker:
    """A running command in a process group of its own; it gets one request at a time."""

    def __init__(self, command: Sequence[str], max_answer_mb: float = 64.0) -> None:
        self._max_answer_mb = max_answer_mb
        self._answers, writing = os.pipe()
        program = find_program(command[0]) or command[0]
        launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(writing), program, *command]
        try:
            self._process = subprocess.Popen(
                launch,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
                env=clean_environment(),
            )
        finally:
            os.close(writing)
        self._printed = bytearray()
        self._rest = b""
        self._is_new = True
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, line: bytes, timeout_s: float) -> Any:
        """Return the parsed answer to a line. Raises `CommandError`; the worker is of no use then."""
        if self._rest or select.select([self._answers], [], [], 0)[0]:
            raise self._death("wrote more than one line for a request")
        timeout_s += START_SECONDS if self._is_new else 0.0
        until = time.monotonic() + timeout_s
        self._is_new = False
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._death("ended before it read the request") from None
        answer = self._read_line(until, timeout_s)
        try:
            return msgspec.json.decode(answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise CommandError("command_answer", f"not a line of JSON: {answer[:200]!r}") from None

    def _read_line(self, until: float, timeout_s: float) -> bytes:
        parts, size, chunk = [self._rest], len(self._rest), self._rest
        while b"\n" not in chunk:
            ready, _, _ = select.select([self._answers], [], [], max(until - time.monotonic(), 0.0))
            if not ready:
                raise CommandError("command_timeout", f"no answer within {timeout_s:g} s")
            chunk = os.read(self._answers, 2**16)
            if not chunk:
                raise self._death("ended without an answer")
            parts.append(chunk)
            size += len(chunk)
            if size > self._max_answer_mb * 2**20:
                raise CommandError(
                    "too_large_answer",
                    f"the answer has more than {self._max_answer_mb:g} MB (`max_answer_mb` of the system)",
                )
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _death(self, said: str) -> CommandError:
        """Return why a command gave no answer, with its last words."""
        try:
            code = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return CommandError("command_answer", f"the command {said}")
        self._listener.join(1)
        end = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        printed = self._printed.decode("utf-8", "replace").strip()
        last = f": {printed[-500:]}" if printed else ""
        return CommandError("command_died", f"the command {said} ({end}){last}")

    def _listen(self) -> None:
        """Keep the end of what the command prints."""
        assert self._process.stdout is not None
        while chunk := os.read(self._process.stdout.fileno(), 2**16):
            self._printed += chunk
            del self._printed[:-_KEPT_OUTPUT]

    def kill(self) -> None:
        """End the command and all that it started."""
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, end)
                self._process.wait(2)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()
        self._listener.join(1)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not (stream is self._process.stdout and self._listener.is_alive()):
                try:
                    stream.close()
                except OSError:
                    continue
        os.close(self._answers)


class CallChannel:
    """A program or a function that is called with the body of a request, from `capacity` threads.

    `identity` is what makes equal requests the same one.
    """

    def __init__(self, identity: str, capacity: int) -> None:
        self.identity, self.capacity, self.waits = identity, capacity, Waits()
        self._stopped = threading.Event()

    def ask(self, call: EndpointCall, log: Journal) -> dict[str, Any]:
        """Return the line of the journal that answers a request."""
        if self._stopped.is_set():
            raise ClosedError
        log.write("send", send_fields(call))
        started, text, usage = time.monotonic(), None, None
        verdict = answer = self._call(call, log)
        if not isinstance(answer, AttemptVerdict):
            verdict = ANSWERED
            if not isinstance(answer, dict) or not ({"result", "error"} & answer.keys()):
                said = "the answer is not an object with `result` or `error`"
                verdict = AttemptVerdict("document", "command_answer", said)
            elif answer.get("error"):
                said = remove_secrets(str(answer["error"])[:2000], os.environ)
                verdict = AttemptVerdict("answer", "command_error", said)
            else:
                text, usage = msgspec.json.encode(answer.get("result")).decode(), answer.get("usage")
        line = attempt_line(call, Attempt(verdict, started, time.monotonic()), call.attempts + 1, 0)
        if text is not None:
            line |= {"text": text, "usage": usage} if isinstance(usage, dict) else {"text": text}
        return write_final(log, line, verdict)

    def _call(self, call: EndpointCall, log: Journal) -> Any:
        """Return the object of an answer, or what went wrong."""
        raise NotImplementedError

    def stop(self) -> None:
        """Begin nothing new."""
        self._stopped.set()

    def close(self) -> None:
        """Begin nothing new; a running function cannot be broken off."""
        self.stop()


class CommandChannel(CallChannel):
    """A command that answers requests: `workers` copies of it run and stay; the next replaces a dead one.

    Its identity is the digest of the command.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        workers: int = 1,
        timeout_s: float = 120.0,
        max_answer_mb: float = 64.0,
    ) -> None:
        super().__init__("command:" + digest_program(command), workers)
        self._command, self._timeout_s, self._max_answer_mb = tuple(command), timeout_s, max_answer_mb
        self._local = threading.local()
        self._guard = threading.Lock()
        self._running: set[CommandWorker] = set()
        self._dead_in_a_row = 0
        if os.name != "posix":
            raise problem("command", "needs file descriptor 3, which Windows lacks", "", "no_command")
        if not command or find_program(command[0]) is None:
            raise problem(
                "command",
                f"no program {command[0] if command else ''!r} was found",
                "check its name and the absolute folders of PATH",
                "no_command",
            )

    def _call(self, call: EndpointCall, log: Journal) -> Any:  # noqa: ARG002
        try:
            line = with_attachments(call.request)
        except Exception as error:  # pages are rendered here
            said = f"an attachment cannot be made ({type(error).__name__}: {error})"
            return AttemptVerdict("document", "unreadable", said)
        worker: CommandWorker | None = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = CommandWorker(self._command, self._max_answer_mb)
            with self._guard:
                self._running.add(worker)
        try:
            answer = worker.ask(line, self._timeout_s)
        except CommandError as error:
            self._local.worker = None
            with self._guard:
                is_ours = worker in self._running
                self._running.discard(worker)
                self._dead_in_a_row += 1
            if is_ours:
                worker.kill()
            if self._stopped.is_set():
                raise ClosedError from None
            said = remove_secrets(str(error), os.environ)
            if self._dead_in_a_row >= MOST_DEAD_IN_A_ROW:
                raise StopRunError(Failure("unreachable", f"the command never answers: {said}")) from None
            return AttemptVerdict("document", error.kind, said)
        self._dead_in_a_row = 0
        return answer

    def close(self) -> None:
        """End all workers."""
        self.stop()
        with self._guard:
            running, self._running = self._running, set()
        for worker in running:
            worker.kill()


class FunctionChannel(CallChannel):
    """A Python function from the body of a request to its result; the journal has tracebacks."""

    def __init__(
        self, function: Callable[[Mapping[str, Json]], Json], identity: str, *, workers: int = 1
    ) -> None:
        super().__init__("function:" + identity, workers)
        self._function, self._folder = function, Path.cwd()

    def _call(self, call: EndpointCall, log: Journal) -> Any:
        try:
            answer = to_json(self._function(msgspec.json.decode(with_attachments(call.request))))
            if isinstance(answer, dict) and WITHOUT_JSON in answer:
                raise TypeError(f"returned a {answer[WITHOUT_JSON]}, not a record")
            return {"result": answer}
        except (Exception, SystemExit) as error:  # the function is the user's code
            trace = "".join(traceback.format_exception(error))
            trace, said = (
                remove_secrets(text, os.environ) for text in (trace, f"{type(error).__name__}: {error}")
            )
            log.write("fault", {"document": call.document, "traceback": trace})
            return AttemptVerdict("document", "exception", said)
        finally:
            if Path.cwd() != self._folder:  # the paths of the run are relative to it
                os.chdir(self._folder)
