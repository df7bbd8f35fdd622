"""The client of an endpoint, and the limits of its rate."""

from __future__ import annotations

import random
import re
import socket
import ssl
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import MissingExtraError, install_line
from fieldassay.extraction.endpoints.answers import join_events, join_parts, parse
from fieldassay.extraction.endpoints.endpoint import Endpoint, SecretKey
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
    MOST_UNKNOWN,
    SHORTEST_WAIT,
    Attempt,
    AttemptVerdict,
    attempt_line,
    judge_response,
    send_fields,
    way_out,
    with_attachments,
    write_final,
)

if TYPE_CHECKING:
    import httpx2


# How many requests may be in flight: places given in order of arrival.

Clock = Callable[[], float]


class FairQueue:
    """Lets in what fits, in order of arrival, so that nobody starves."""

    def __init__(self, room: Window, clock: Clock = time.monotonic) -> None:
        self._room, self._clock = room, clock
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._inside = 0
        self._is_closed = False

    def enters_now(self, weight: int) -> bool:
        """Take a place if nobody waits and it fits; return whether it was taken."""
        with self._guard:
            is_free = not self._waiting and not self._is_closed
            if not is_free or self._room.wait(self._clock(), weight, self._inside) > 0:
                return False
            self._inside += weight
            return True

    def enter(self, weight: int, until: float) -> bool:
        """Wait for a place; return whether there is one, False at `until` and when the gate closes."""
        if self.enters_now(weight):
            return True
        me = threading.Event()
        with self._guard:
            self._waiting.append(me)
        while True:
            me.clear()
            with self._guard:
                now = self._clock()
                wait = float("inf")
                if self._waiting[0] is me:
                    wait = self._room.wait(now, weight, self._inside)
                if self._is_closed or now >= until or wait <= 0:
                    has_place = not self._is_closed and wait <= 0
                    self._waiting.remove(me)
                    self._inside += weight if has_place else 0
                    self._wake()
                    return has_place
            me.wait(min(wait, until - now, threading.TIMEOUT_MAX))

    @property
    def inside(self) -> int:
        """What is inside now."""
        return self._inside

    def leave(self, weight: int) -> None:
        """Give a place back."""
        with self._guard:
            self._inside -= weight
            self._wake()

    def close(self) -> None:
        """Let nobody in any more."""
        with self._guard:
            self._is_closed = True
            for event in self._waiting:
                event.set()

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].set()


class Window:
    """The number of requests in flight that a server bears: grown while it answers, cut when it refuses.

    It starts at `start` and doubles per round of answers without a refusal. An episode of refusals cuts it to
    0.8; from then on it grows fast to 0.9 of where it was refused, slowly beyond, and fast again where that
    was clearly too low. It grows only while at least 80 % of it are in use, for answers to requests sent
    since the cut.
    """

    def __init__(self, most: int, start: int = 20) -> None:
        self.most = most
        self.limit = float(min(start, most))
        self.blocked_until = 0.0
        self._refused_at = float("inf")
        """The window at which the server refused last."""
        self._cut_at = float("-inf")
        self._clean = 0

    def wait(self, now: float, weight: int, inside: int) -> float:
        """Return 0 if a request fits or is alone, the seconds of the server's pause, or infinity."""
        if now < self.blocked_until:
            return self.blocked_until - now
        return 0.0 if inside == 0 or inside + weight <= int(self.limit) else float("inf")

    def succeeded(self, sent_at: float, inside: int) -> None:
        """Count an answer; `inside` is the number in flight on arrival. A round of them grows the window."""
        if sent_at < self._cut_at or inside < 0.8 * int(self.limit):
            return
        self._clean += 1
        if self._clean >= int(self.limit):
            self._clean = 0
            self.limit = min(self._grown(), self.most)

    def _grown(self) -> float:
        if self._refused_at == float("inf"):
            return self.limit * 2
        if self.limit < 0.9 * self._refused_at:
            return min(self.limit * 1.25 + 0.5, 0.95 * self._refused_at + 0.5)
        if self.limit > 1.1 * self._refused_at + 1:  # the limit has moved
            return self.limit * 1.5
        return self.limit + max(0.34, 0.02 * self.limit)

    def refused(self, now: float, sent_at: float, retry_after_s: float | None) -> None:
        """Cut once for all the refusals of requests that were in flight together."""
        self._clean = 0
        if sent_at <= self._cut_at:
            return
        if retry_after_s is not None:
            self.blocked_until = max(self.blocked_until, now + retry_after_s)
        self._cut_at = now
        self._refused_at = self.limit
        self.limit = max(self.limit * 0.8, 1.0)


# Chat completions of an OpenAI-compatible server, over synchronous connections, one per thread.

MOST_PARTS = 2_000_000
"""Lists, objects and commas of an answer, which take memory."""
FIRST_CONTACT_SECONDS = 30.0
"""How long a server that was never reached is tried: a wrong address should not take ten minutes."""
MOST_FAILED_IN_A_ROW = 10
"""Requests in a row without any answer that stop the run: the server is down, not the documents bad."""
SAME_REFUSALS = 3
"""Documents in a row that meet the same refusal, before any is answered, that stop the run."""
_DIGIT = re.compile(r"\d")
_CONNECT_SECONDS = 15.0
_FIRST_BACKOFF, _LONGEST_BACKOFF = 2 * SHORTEST_WAIT, 30.0


class ChatChannel:
    """A server of chat completions: limits, attempts, and the words that it says about them."""

    def __init__(self, endpoint: Endpoint, key: SecretKey) -> None:
        self.endpoint, self._key = endpoint, key
        self.waits = Waits()
        self._httpx = import_client()
        self._window = Window(endpoint.max_in_flight)
        self._places = FairQueue(self._window)
        self._local = threading.local()
        self._guard = threading.Lock()
        self._clients: list[httpx2.Client] = []
        self._stopped = threading.Event()
        is_plain = endpoint.url.startswith("http:")  # loading the system's certificates takes a while
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else self._httpx.create_ssl_context()
        self._url = self._httpx.URL(endpoint.chat_url)
        self._body = _body_class()
        self._names: dict[Any, dict[str, str | None]] = {}
        """By model: keys that it refuses, with the name that it wants, or None for none."""
        self._was_reached = False
        self._failed_in_a_row = 0
        self._refusals: dict[Any, _Refusals] = defaultdict(_Refusals)
        """By model."""

    @property
    def capacity(self) -> int:
        """The most requests in flight."""
        return self.endpoint.max_in_flight

    @property
    def identity(self) -> str:
        """The address."""
        return self.endpoint.chat_url

    def ask(self, call: EndpointCall, log: Journal) -> dict[str, Any]:
        """Return the line that answers a request, after as many attempts as its failures allow."""
        deadline = time.monotonic() + self.endpoint.deadline_s
        tries = _Tries(call.key, call.attempts, call.possibly_billed)
        while True:
            attempt = self._attempt(call, deadline, log)
            verdict = attempt.verdict
            tries.count(verdict)
            line = attempt_line(call, attempt, tries.attempts, tries.possibly_billed)
            if verdict.action in ("answer", "document"):
                self._note_contact(True)
                if self._learns(call, attempt):
                    continue
                stop = self._is_setup_refused(call, attempt)
                if stop is None:
                    return write_final(log, line, verdict)
                self._note(log, line, verdict, final=False)
                raise StopRunError(stop)
            pause = tries.pause(verdict)
            stop = self._why_to_stop(attempt)
            is_last = tries.unknown > MOST_UNKNOWN or time.monotonic() + pause >= self._limit(
                deadline, verdict
            )
            if stop is None and is_last:
                self._note_failed(log, line, verdict)
                return write_final(log, line, verdict)
            self._note(log, line, verdict, final=False)
            if stop is not None:
                raise StopRunError(stop)
            with self.waits.noted(verdict.kind, time.monotonic() + pause):
                if self._stopped.wait(pause):
                    raise ClosedError

    def _why_to_stop(self, attempt: Attempt) -> Failure | None:
        """Return why the run stops after an attempt, None if it goes on."""
        verdict = attempt.verdict
        if verdict.action == "stop":
            said = verdict.message
            if verdict.kind == "no_such_model" and not way_out(said).startswith("`model"):
                said += f" (POST {self.endpoint.chat_url})"
                has_version = re.search(r"/v\d", self._url.path) is not None
                said += "" if has_version else "; most servers want /v1 at the end of the `url`"
            return Failure(verdict.kind, said)
        wait = verdict.retry_after_s or 0.0
        if verdict.action == "refused" and wait >= self.endpoint.deadline_s:
            said = f"the server asks to wait {wait:,.0f} s ({verdict.message}); run the command again later"
            return Failure(verdict.kind, said)
        return None

    def _is_setup_refused(self, call: EndpointCall, attempt: Attempt) -> Failure | None:
        """Return why the run stops after the last word on a request, None if it goes on."""
        verdict = attempt.verdict
        if attempt.status is None or verdict.kind == "context_length":  # the strategy asks for less
            return None
        with self._guard:
            refusals = self._refusals[call.request.body.get("model")]
            if verdict is ANSWERED:
                refusals.has_success = True
                return None
            count = refusals.add(call, f"{verdict.kind} {verdict.message}")
        if count < SAME_REFUSALS:
            return None
        said = (
            f"{count} documents in a row met the same, and none was answered; what failed so is asked again"
        )
        return Failure(verdict.kind, f"{verdict.message}; {said} with --retry {verdict.kind}")

    def _learns(self, call: EndpointCall, attempt: Attempt) -> bool:
        """Return whether the request goes again under other names or without an option; a refusal is free."""
        message, body = attempt.verdict.message, call.request.body
        if attempt.verdict.action != "document":
            return False
        wanted: dict[str, str | None] = {name: None for name in call.request.optional if name in message}
        if all(name in message for name in ("max_tokens", "max_completion_tokens")):
            wanted["max_tokens"] = "max_completion_tokens"
        news = {name: key for name, key in wanted.items() if name in body and name not in attempt.names}
        self._names.setdefault(body.get("model"), {}).update(news)
        return bool(news)

    def _limit(self, deadline: float, verdict: AttemptVerdict) -> float:
        """Return when to give up: early if the server was never reached."""
        if verdict.action != "not_sent" or self._was_reached:
            return deadline
        return deadline - self.endpoint.deadline_s + min(FIRST_CONTACT_SECONDS, self.endpoint.deadline_s)

    def _note(self, log: Journal, line: Mapping[str, Any], verdict: AttemptVerdict, *, final: bool) -> None:
        billed = "maybe" if verdict.action == "unknown" else "no"
        fields = {name: line[name] for name in ("key", "document", "status", "model_ms") if name in line}
        failure = msgspec.to_builtins(verdict.failure)
        log.write("outcome", {**fields, "billed": billed, "final": final, "failure": failure})

    def _note_failed(self, log: Journal, line: Mapping[str, Any], verdict: AttemptVerdict) -> None:
        """Count a request without an answer. Raises `StopRunError` when the server seems away."""
        self._note_contact(False)
        self._was_reached |= verdict.action in ("refused", "unknown")
        never = verdict.action == "not_sent" and not self._was_reached
        if never or self._failed_in_a_row >= MOST_FAILED_IN_A_ROW:
            self._note(log, line, verdict, final=False)
            said = f"{self.endpoint.name}: no answer ({verdict.kind}: {verdict.message})"
            if not never:
                said += f"; what failed before it is asked again with --retry {verdict.kind}"
            raise StopRunError(Failure("unreachable", said))

    def _note_contact(self, has_answered: bool) -> None:
        with self._guard:
            self._was_reached |= has_answered
            self._failed_in_a_row = 0 if has_answered else self._failed_in_a_row + 1

    def _attempt(self, call: EndpointCall, deadline: float, log: Journal) -> Attempt:
        """Wait for places, one for each picture, as they take memory; send, and return what came of it."""
        weight = max(len(call.request.attachments), 1)
        if not self._places.enters_now(weight):
            with self.waits.noted("a place"):
                if not self._places.enter(weight, deadline):
                    return self._too_late()
        attempt = None
        try:
            attempt = self._made_and_sent(call, deadline, log)
            return attempt
        finally:
            if attempt is not None:
                with self._guard:
                    if attempt.verdict.action == "refused":
                        self._window.refused(attempt.ended, attempt.started, attempt.verdict.retry_after_s)
                    elif attempt.verdict is ANSWERED:
                        self._window.succeeded(attempt.started, self._places.inside)
            self._places.leave(weight)

    def _made_and_sent(self, call: EndpointCall, deadline: float, log: Journal) -> Attempt:
        """Make the body, and send it."""
        self._raise_if_stopped()
        server_names = self._names.get(call.request.body.get("model"), {})
        names = {name: key for name, key in server_names.items() if key or name in call.request.optional}
        try:
            body = with_attachments(call.request, names)
        except Exception as error:  # pages are rendered here
            now = time.monotonic()
            said = f"an attachment cannot be made ({type(error).__name__}: {error})"
            return Attempt(AttemptVerdict("document", "unreadable", said), now, now)
        log.write("send", send_fields(call))
        return replace(self._send(call, body, deadline, names), names=names)

    def _too_late(self) -> Attempt:
        """Return that a request was not sent before its deadline. Raises `ClosedError` if the run stops."""
        self._raise_if_stopped()
        now = time.monotonic()
        return Attempt(AttemptVerdict("not_sent", "rate_limited", "no place before the deadline"), now, now)

    def _send(self, call: EndpointCall, body: bytes, deadline: float, names: Mapping[str, Any]) -> Attempt:
        """Send once. What fails before the last byte of the body has left is not sent."""
        started = time.monotonic()
        limit = min(self.endpoint.timeout_s, deadline - started)
        self._local.arrived, self._local.until = 0, started + limit
        first: float | None = None
        sending = self._body(body)
        try:
            client = self._client()
            request = self._request(client, call, sending, limit, len(names))
            with closing(client.send(request, stream=True)) as response:
                first = (time.monotonic() - started) * 1000
                raw = self._read(response)
                ended = time.monotonic()
                parsed = self._clean(raw)
                headers = {name: self._key.removed_from(text) for name, text in response.headers.items()}
                verdict = judge_response(response.status_code, headers, parsed)
                if verdict is ANSWERED and time.monotonic() > self._local.until:
                    said = f"an answer of {len(raw):,} bytes was read and parsed for longer than {limit:g} s"
                    verdict, parsed = AttemptVerdict("document", "read_timeout", said), None
                request_id = headers.get("x-request-id", "")
                return Attempt(verdict, started, ended, response.status_code, parsed, first, request_id)
        except self._httpx.HTTPError as error:
            if sending.is_sent and isinstance(error, self._httpx.TimeoutException):
                verdict = self._judge_slow("no byte of an answer", limit)
            else:
                verdict = self._judge_error(error, is_sent=sending.is_sent)
        except _TooSlow:
            verdict = self._judge_slow("no whole answer", limit)
        except _TooLarge as error:
            verdict = AttemptVerdict("document", "too_large_answer", f"the answer has {error}")
        except RuntimeError:  # the client was closed under the request
            raise ClosedError from None
        if verdict.action in ("unknown", "not_sent"):  # a run that stops breaks its connections
            self._raise_if_stopped()
        return Attempt(verdict, started, time.monotonic(), first_byte=first)

    def _request(
        self, client: httpx2.Client, call: EndpointCall, body: Any, limit: float, changes: int
    ) -> httpx2.Request:
        """Return a request with all its headers: a client that merges them for each one takes long."""
        timeout = {"connect": min(limit, _CONNECT_SECONDS), "read": limit, "write": limit, "pool": limit}
        again = f"-{call.answered_before}" * bool(call.answered_before) + f"-c{changes}" * bool(changes)
        headers = [
            *client.headers.raw,
            (b"Content-Length", b"%d" % body.length),
            (b"Idempotency-Key", (call.key + again).encode()),
        ]
        extensions = {"timeout": timeout, "trace": self._bound_connection}
        more = {"cookies": client.cookies, "stream": body, "extensions": extensions}
        request: httpx2.Request = self._httpx.Request("POST", self._url, headers=headers, **more)
        return request

    def _bound_connection(self, event: str, about: Mapping[str, Any]) -> None:
        """Count all that a new connection receives, headers and interim responses too, which `read` hides."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            stream = about["return_value"]
            stream.read = partial(self._receive, stream.read)

    def _receive(self, read: Callable[..., bytes], most: int, timeout: float | None = None) -> bytes:
        chunk = read(most, timeout)
        self._local.arrived += len(chunk)
        self._check_size(self._local.arrived)
        if time.monotonic() > self._local.until:
            raise _TooSlow
        return chunk

    def _check_size(self, size: int) -> None:
        if size > self.endpoint.max_answer_mb * 2**20:
            raise _TooLarge(f"more than {self.endpoint.max_answer_mb:g} MB (`max_answer_mb` of the endpoint)")

    def _read(self, response: httpx2.Response) -> bytes:
        parts, size = [], 0
        for chunk in response.iter_bytes():
            parts.append(chunk)
            size += len(chunk)
            self._check_size(size)
            if time.monotonic() > self._local.until:
                raise _TooSlow
        raw = b"".join(parts)
        if sum(map(raw.count, (b"{", b"[", b","))) > MOST_PARTS:
            raise _TooLarge(f"more than {MOST_PARTS:,} lists, objects and commas")
        return raw

    def _clean(self, raw: bytes) -> Any:
        """Return a body as JSON, that of a stream as one, or as text: without the key."""
        try:
            body = parse(raw)
            if isinstance(body, list) and body and all(isinstance(part, dict) for part in body):
                body = join_parts(body)
        except ValueError:
            body = join_events(raw)
            if body is None:
                text = raw if len(raw) < 2**20 else raw[: 2**19] + raw[-(2**19) :]
                return self._key.removed_from(text.decode("utf-8", "replace"))
        return self._key.removed_from_json(body)

    def _judge_slow(self, what: str, limit: float) -> AttemptVerdict:
        name = "timeout_s" if limit == self.endpoint.timeout_s else "deadline_s"
        return AttemptVerdict(
            "unknown", "read_timeout", f"{what} within {limit:g} s (`{name}` of the endpoint)"
        )

    def _judge_error(self, error: Exception, *, is_sent: bool) -> AttemptVerdict:
        """Return what a broken connection means: whether the whole request had left decides."""
        said = self._key.removed_from(f"{type(error).__name__}: {error}".rstrip(": "))
        if is_sent:
            return AttemptVerdict("unknown", "reset", said)
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, socket.gaierror):
                return AttemptVerdict("not_sent", "dns", said)
            if isinstance(cause, ssl.SSLCertVerificationError):
                said += "; to trust its certificate, name the PEM file of it: export SSL_CERT_FILE=…"
            if isinstance(cause, ssl.SSLError):
                return AttemptVerdict("not_sent", "tls", said)
            cause = cause.__cause__ or cause.__context__
        return AttemptVerdict("not_sent", "connect", said)

    def _client(self) -> httpx2.Client:
        """Return the client of this thread: a pool shared by many threads costs more than it saves."""
        client: httpx2.Client | None = getattr(self._local, "client", None)
        if client is None:
            headers = {"Host": self._url.netloc.decode(), "Content-Type": "application/json"}
            if self._key.value:
                headers["Authorization"] = f"Bearer {self._key.value}"
            client = self._httpx.Client(
                headers=headers,
                verify=self._tls,
                trust_env=not self.endpoint.is_local,
                limits=self._httpx.Limits(max_connections=1, max_keepalive_connections=1),
            )
            with self._guard:
                self._clients.append(client)
            self._local.client = client
        return client

    def _raise_if_stopped(self) -> None:
        if self._stopped.is_set():
            raise ClosedError

    def stop(self) -> None:
        """Begin nothing new; what waits raises `ClosedError`."""
        self._stopped.set()
        self._places.close()

    def close(self) -> None:
        """Close the connections."""
        self.stop()
        with self._guard:
            for client in self._clients:
                client.close()


class _Refusals(Struct):
    """Refusals in a row that say the same of different documents: then not the documents are at fault.

    Two say the same if all words in which they differ have digits or stand in what was asked.
    """

    has_success: bool = False
    words: frozenset[str] = frozenset()
    messages: str = ""
    documents: frozenset[str] = frozenset()

    def add(self, call: EndpointCall, said: str) -> int:
        """Count a refusal; return how many documents met the same, 0 once a document had an answer."""
        if self.has_success:
            return 0
        words = frozenset(word for word in re.findall(r"\w+", said.casefold()) if not _DIGIT.search(word))
        messages = str(call.request.body.get("messages")).casefold()
        if not all(word in messages or word in self.messages for word in words ^ self.words):
            self.documents = frozenset()
        self.words, self.messages = words, messages
        self.documents |= {call.document.partition("\t")[0]}
        return len(self.documents)


class _Tries(Struct):
    """The attempts at a request, those of earlier runs among them."""

    seed: str
    attempts: int
    possibly_billed: int
    unknown: int = 0
    """Attempts of this run with an unknown outcome."""
    _failed: int = 0

    def count(self, verdict: AttemptVerdict) -> None:
        """Count an attempt."""
        is_unknown = verdict.action == "unknown"
        self.attempts += 1
        self.unknown += is_unknown
        self.possibly_billed += is_unknown
        self._failed += 1

    def pause(self, verdict: AttemptVerdict) -> float:
        """Return the seconds until the next attempt."""
        if verdict.retry_after_s is not None:
            return verdict.retry_after_s
        longest = min(_FIRST_BACKOFF * 2.0 ** min(self._failed - 1, 10), _LONGEST_BACKOFF)
        return longest * random.Random(f"{self.seed} {self._failed}").uniform(0.5, 1.0)


def _body_class() -> Any:
    """Return the class of bodies that know whether they were sent."""
    import httpx2

    class SentBody(httpx2.SyncByteStream):
        def __init__(self, data: bytes) -> None:
            self.length, self._data, self.is_sent = len(data), data, False

        def __iter__(self) -> Iterator[bytes]:
            yield self._data
            self.is_sent = True  # the next part is asked for once this one has left

    return SentBody


class _TooSlow(Exception):
    """The whole answer did not come in time."""


class _TooLarge(Exception):
    """The answer is larger than answers may be."""


def import_client() -> Any:
    """Return the HTTP library. Raises `MissingExtraError`."""
    try:
        import httpx2
    except ImportError:
        raise MissingExtraError(f"endpoints need the HTTP client; run: {install_line('llm')}") from None
    return httpx2
