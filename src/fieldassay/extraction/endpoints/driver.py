"""The driver: sends jobs, and yields documents as they finish."""

import os
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.extraction.endpoints.endpoint import remove_secrets
from fieldassay.extraction.endpoints.exchange import (
    Channel,
    ClosedError,
    DocumentTiming,
    EndpointCall,
    Failure,
    Finished,
    Job,
    Journal,
    ModelAnswer,
    Progress,
    ReadJournal,
    Request,
    RunSummary,
    Steps,
    StopRunError,
    Usage,
    Waiting,
    expected_usage,
    request_key,
)
from fieldassay.extraction.endpoints.outcome import read_answer
from fieldassay.io.effort import OvertimeError, at_most

# The threads that send requests, and what they tell the driver.


Event = Callable[["Drive[Any]"], None]
"""What a thread leaves to the driver, which it does not know: a driver without references ends at once."""


class Senders:
    """The threads that send the requests of one channel, those of earlier documents first."""

    def __init__(self, channel: Channel, journal: Journal, events: queue.SimpleQueue[Event]) -> None:
        self._channel, self._journal, self._events = channel, journal, events
        self._waiting: queue.PriorityQueue[tuple[float, int, EndpointCall | None]] = queue.PriorityQueue()
        self._threads: list[threading.Thread] = []
        self._count = 0

    def submit(self, number: int, call: EndpointCall) -> None:
        """Send a request as soon as a thread is free."""
        self._count += 1
        self._waiting.put((number, self._count, call))
        if len(self._threads) < min(self._channel.capacity, self._count):
            thread = threading.Thread(target=self._work, daemon=True, name="requests")
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while (call := self._waiting.get()[2]) is not None:
            try:
                line = self._channel.ask(call, self._journal)
                self._events.put(partial(Drive._receive, key=call.key, line=line))
            except BaseException as error:  # told to whoever iterates
                if isinstance(error, StopRunError):  # before the next request of this thread
                    self._channel.stop()
                self._events.put(partial(Drive._receive, key=call.key, line=error))

    def close(self, until: float) -> None:
        """Wait until the threads are done, or until a time."""
        for at in range(len(self._threads)):
            self._waiting.put((float("inf"), at, None))
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))


# The driver: sends what strategies ask for, records every answer before it is used, and resumes.

T = TypeVar("T")
Price = Callable[[str, Usage], float | None]
"""From the name of an endpoint and tokens to USD, None where that is unknown."""
_TICK_SECONDS = 0.5
_MOST_SECONDS = 120.0
"""The processor time of a strategy for one document, in all of its steps together."""


class DriveOptions(Struct, frozen=True):
    """How a run is driven."""

    price: Price = lambda endpoint, usage: None  # noqa: ARG005
    reuse: Sequence[ReadJournal] = ()
    """Journals of other extractions whose answers are taken."""
    retry: frozenset[str] = frozenset()
    """Kinds of failures that are asked for again; the old answers stay in the journal."""
    failure_of: Callable[[Any], Failure | None] = lambda value: getattr(value, "failure", None)
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    on_progress: Callable[[Progress], None] = lambda progress: None  # noqa: ARG005
    grace_s: float = 10.0
    """How long an interrupted run waits for the answers in flight."""


class _Active(Struct, Generic[T]):
    """A document that has begun."""

    number: int
    job: Job[T]
    steps: Steps[T] | None = None
    is_fresh: bool = False
    requests: tuple[Request, ...] = ()
    answers: list[ModelAnswer | None] = field(default_factory=list)
    past: list[ModelAnswer] = field(default_factory=list)
    model_ms: float = 0.0
    wait_ms: float = 0.0
    post_ms: float = 0.0
    retried: bool = False


class Drive(Generic[T]):
    """Finished documents of lazily drawn jobs, in the order in which they end.

    Iterate within `with`: leaving it waits briefly for answers in flight, and writes them down. The
    strategies run in the thread that iterates; requests are sent by as many threads as the channels have
    places.
    """

    def __init__(
        self,
        jobs: Iterable[Job[T]],
        journal: Journal,
        channels: Mapping[str, Channel],
        options: DriveOptions | None = None,
    ) -> None:
        self._jobs, self._journal, self._channels = jobs, journal, channels
        self._options = options or DriveOptions()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._pools = {name: Senders(channel, journal, self._events) for name, channel in channels.items()}
        self._room = threading.Semaphore(max(4, sum(channel.capacity for channel in channels.values())))
        self._halt = threading.Event()
        self._active: dict[int, _Active[T]] = {}
        self._in_flight: dict[str, list[tuple[int, int]]] = {}
        self._ready: list[Finished[T]] = []
        self._over_budget: list[tuple[int, int]] = []
        """Requests (document, place) that wait until others free their reserve."""
        self._reserved: dict[str, float] = {}
        """What each request in flight may cost at most."""
        self._spent = 0.0
        """The cost of all answers, those among them that may have been billed."""
        self._progress = Progress()
        self._stop: Failure | None = None
        self._job_count, self._is_drained, self._is_closed = 0, False, False

    def __enter__(self) -> "Drive[T]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("interrupted" if kind is not None else "")

    def __iter__(self) -> Iterator[Finished[T]]:
        threading.Thread(target=self._draw, daemon=True, name="jobs").start()
        started, last_report = time.monotonic(), 0.0
        try:
            while not self._is_over():
                with suppress(queue.Empty):
                    event = self._events.get(timeout=_TICK_SECONDS)
                    event(self)
                ready, self._ready = self._ready, []
                yield from ready
                now = time.monotonic()
                if now - last_report >= _TICK_SECONDS:
                    last_report = now
                    self._options.on_progress(self.progress)
                limit = self._options.max_time_s
                if limit is not None and now - started >= limit and self._stop is None:
                    self._stop_run(Failure("time", f"the limit of {limit:g} s was reached"))
            self.close("stopped" if self._stop else "done")
        except BaseException:
            self.close("interrupted")
            raise

    @property
    def progress(self) -> Progress:
        """How far the run is."""
        waiting = [wait for channel in self._channels.values() for wait in channel.waits.now()]
        if self._over_budget:
            waiting.append(Waiting("budget", len(self._over_budget)))
        now = replace(self._progress, active=len(self._active), in_flight=len(self._in_flight))
        return replace(now, waiting=tuple(waiting))

    @property
    def summary(self) -> RunSummary:
        """How the run ended."""
        return RunSummary(self.progress, self._stop)

    def _is_over(self) -> bool:
        if self._stop is not None:
            return not self._in_flight
        return self._is_drained and not self._active

    def _draw(self) -> None:
        """Draw jobs while there is room; runs in its own thread, as drawing may wait for a loader."""
        source = iter(self._jobs)
        try:
            while True:
                while not self._room.acquire(timeout=_TICK_SECONDS):
                    if self._halt.is_set():
                        return
                if self._halt.is_set():
                    return
                job = next(source, None)
                if job is None:
                    return
                self._events.put(partial(Drive._begin, job=job))
        except BaseException as error:  # told to whoever iterates
            self._events.put(partial(Drive._end_drawing, error=error))
        finally:
            close = getattr(source, "close", None)
            if close is not None:
                close()
            self._events.put(Drive._end_drawing)

    def _end_drawing(self, error: BaseException | None = None) -> None:
        self._is_drained = True
        if error is not None:
            raise error

    def _begin(self, job: Job[T]) -> None:
        if self._stop is not None:
            return
        self._job_count += 1
        failure = None if job.failure is None else f"{job.failure.kind}: {job.failure.message}"
        self._journal.write_load(job.id, {**job.facts, "failure": failure})
        if job.start is None:
            timing = DocumentTiming(job.load_ms, 0.0, 0.0, 0.0)
            missing = job.failure or Failure("unreadable", "the document was not loaded", "load")
            self._finish(Finished(job.id, None, missing, timing, Usage(), 0.0))
            return
        self._start(_Active(self._job_count, job))

    def _start(self, active: _Active[T]) -> None:
        self._active[active.number] = active
        self._advance(active, None)

    def _advance(self, active: _Active[T], answers: tuple[ModelAnswer, ...] | None) -> None:
        """Run a strategy until it waits for an answer or ends."""
        while True:
            try:
                requests = self._step(active, answers)
            except StopIteration as end:
                self._end(active, end.value)
                return
            except OvertimeError:
                said = f"the answers took longer than {_MOST_SECONDS:g} s to read and to find in the document"
                self._finish(self._result(active, None, Failure("loader_timeout", said, "strategy")))
                return
            except Exception as error:  # a strategy is the user's code
                self._fail(active, error)
                return
            active.requests, active.answers = requests, [None] * len(requests)
            for place, request in enumerate(active.requests):
                self._ask(active, place, request)
            if any(answer is None for answer in active.answers):
                return
            answers = self._collect(active)

    def _step(self, active: _Active[T], answers: tuple[ModelAnswer, ...] | None) -> tuple[Request, ...]:
        """Return the next requests of a strategy, and count its processor time. Raises what it raises."""
        begun = time.thread_time()
        try:
            if active.steps is None:
                assert active.job.start is not None
                active.steps = active.job.start()
            with at_most(_MOST_SECONDS - active.post_ms / 1000):
                requests = next(active.steps) if answers is None else active.steps.send(answers)
        finally:
            active.post_ms += (time.thread_time() - begun) * 1000
        for request in requests:
            if request.endpoint not in self._channels:
                raise ValueError(
                    f"a request to {request.endpoint!r}, which is none of {list(self._channels)}"
                )
        return tuple(requests)

    def _ask(self, active: _Active[T], place: int, request: Request) -> None:
        """Take an answer from a journal, wait for the same call of another document, or send the request."""
        channel = self._channels[request.endpoint]
        key = request_key(channel.identity, request)
        waiting = self._in_flight.get(key)
        if waiting is not None:
            waiting.append((active.number, place))
            return
        if not active.is_fresh:
            line = self._recorded(key)
            answer = None if line is None else read_answer(line, request, reused=True)
            if answer is not None and not self._is_to_retry(answer.failure):
                active.answers[place] = self._priced(answer, request)
                active.retried |= self._journal.index.answered_before(key) > 1
                return
        estimate = self._options.price(request.endpoint, expected_usage(request))
        if self._is_admitted(key, request, estimate):
            self._submit(active, place, key, estimate)
        else:
            self._over_budget.append((active.number, place))

    def _is_to_retry(self, failure: Failure | None) -> bool:
        return failure is not None and failure.kind in self._options.retry

    def _submit(self, active: _Active[T], place: int, key: str, reserved: float | None) -> None:
        request = active.requests[place]
        attempts, maybe = self._journal.index.unsettled(key)
        before = self._journal.index.answered_before(key)
        active.retried |= before > 0
        self._in_flight[key] = [(active.number, place)]
        call = EndpointCall(request, key, active.job.id, time.monotonic(), reserved, attempts, maybe, before)
        self._pools[request.endpoint].submit(active.number, call)

    def _is_admitted(self, key: str, request: Request, estimate: float | None) -> bool:
        """Return whether the limit of cost admits a request; the run stops if no reserve can become free."""
        limit = self._options.max_cost_usd
        if limit is None:
            return True
        if estimate is None:
            said = f"the price of {request.body.get('model')} is unknown, so no limit can be kept"
        elif self._spent + sum(self._reserved.values()) + estimate <= limit:
            self._reserved[key] = estimate
            return True
        elif self._in_flight:
            return False
        else:
            said = (
                f"{self._spent:.4f} of {limit:g} USD are spent, and the next request may cost up to "
                f"{estimate:.4f}; raise the limit, or lower max_tokens of the strategy"
            )
        self._stop_run(Failure("budget", said))
        return False

    def _retry_over_budget(self) -> None:
        """Try again what waits for the budget."""
        over_budget, self._over_budget = self._over_budget, []
        for number, place in over_budget:
            active = self._active.get(number)
            if active is not None and self._stop is None:
                self._ask(active, place, active.requests[place])
                if all(answer is not None for answer in active.answers):
                    self._advance(active, self._collect(active))

    def _recorded(self, key: str) -> dict[str, Any] | None:
        line = self._journal.find(key)
        if line is not None:
            return line
        for other in self._options.reuse:
            line = other.find(key)
            if line is not None:
                kind = line.pop("kind")
                self._journal.write(kind, {**line, "from": str(other.path.parent.name)})
                return line
        return None

    def _priced(self, answer: ModelAnswer, request: Request) -> ModelAnswer:
        """Return an answer with its cost: unknown where a count of its tokens was dropped."""
        if answer.is_usage_implausible:
            return answer
        return replace(answer, cost_usd=self._options.price(request.endpoint, answer.usage))

    def _receive(self, key: str, line: dict[str, Any] | BaseException) -> None:
        """Give an answer to every document that asked for it, or leave them unfinished after an error."""
        waiting = self._in_flight.pop(key)
        self._reserved.pop(key, None)
        if isinstance(line, BaseException):
            self._give_up(line, [number for number, _ in waiting])
            return
        for position, (number, place) in enumerate(waiting):
            active = self._active.get(number)
            if active is None:  # left unfinished by another of its requests
                continue
            request = active.requests[place]
            answer = self._priced(read_answer(line, request, reused=position > 0), request)
            if position == 0:
                self._spend(active, answer)
            active.answers[place] = answer
            if all(answer is not None for answer in active.answers):
                self._advance(active, self._collect(active))
        if self._over_budget:
            self._retry_over_budget()

    def _spend(self, active: _Active[T], answer: ModelAnswer) -> None:
        """Count the cost of an answer of this run; where it is unknown, or may be, its expected cost."""
        now = self._progress
        self._spent += answer.cost_usd or 0.0
        unknown = answer.possibly_billed + answer.is_usage_implausible
        if unknown:
            each = self._options.price(active.requests[0].endpoint, expected_usage(active.requests[0]))
            self._spent += (each or 0.0) * unknown
        self._progress = replace(
            now,
            spent_usd=now.spent_usd + (answer.cost_usd or 0.0),
            unpriced=now.unpriced + (answer.cost_usd is None and answer.usage.prompt_tokens is not None),
            possibly_billed=now.possibly_billed + answer.possibly_billed,
        )

    def _give_up(self, error: BaseException, numbers: list[int]) -> None:
        """Leave documents unfinished whose request was not answered because the run stops."""
        if isinstance(error, StopRunError):
            self._stop_run(error.failure)
        elif not isinstance(error, ClosedError):
            raise error
        for number in numbers:
            active = self._active.pop(number, None)
            if active is not None and active.steps is not None:
                active.steps.close()

    def _collect(self, active: _Active[T]) -> tuple[ModelAnswer, ...]:
        """Return the answers of a step, and add its longest path to the times."""
        answers = tuple(answer for answer in active.answers if answer is not None)
        model = max((answer.timing.model_ms for answer in answers), default=0.0)
        whole = max((answer.timing.model_ms + answer.timing.wait_ms for answer in answers), default=0.0)
        active.model_ms += model
        active.wait_ms += whole - model
        active.past.extend(answers)
        return answers

    def _end(self, active: _Active[T], value: T) -> None:
        failure = self._options.failure_of(value)
        is_reused = bool(active.past) and all(answer.reused for answer in active.past)
        if self._is_to_retry(failure) and is_reused and not active.is_fresh:
            # ask again for everything of a document whose strategy failed with recorded answers
            self._start(_Active(active.number, active.job, is_fresh=True, retried=True))
            return
        self._finish(self._result(active, value, failure))

    def _fail(self, active: _Active[T], error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        trace, said = (
            remove_secrets(text, os.environ) for text in (trace, f"{type(error).__name__}: {error}")
        )
        self._journal.write("fault", {"document": active.job.id, "traceback": trace})
        self._finish(self._result(active, None, Failure("exception", said, "strategy")))

    def _result(self, active: _Active[T], value: T | None, failure: Failure | None) -> Finished[T]:
        self._active.pop(active.number, None)
        answers = active.past
        costs = [answer.cost_usd for answer in answers]
        timing = DocumentTiming(active.job.load_ms, active.model_ms, active.post_ms, active.wait_ms)
        return Finished(
            active.job.id,
            value,
            failure,
            timing,
            Usage.total([answer.usage for answer in answers]),
            None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None),
            sum(answer.possibly_billed for answer in answers),
            bool(answers) and all(answer.reused for answer in answers),
            active.retried,
            answers[-1].model if answers else "",
        )

    def _finish(self, finished: Finished[T]) -> None:
        self._ready.append(finished)
        now = self._progress
        self._progress = replace(
            now,
            done=now.done + (finished.failure is None),
            failed=now.failed + (finished.failure is not None),
            reused=now.reused + finished.reused,
        )
        self._room.release()

    def _stop_run(self, failure: Failure) -> None:
        """Send nothing new; what is in flight may still end."""
        if self._stop is None:
            self._stop = failure
        self._halt.set()
        for channel in self._channels.values():
            channel.stop()

    def close(self, reason: str = "") -> None:
        """Wait briefly for the answers in flight, and end the journal."""
        if self._is_closed:
            return
        self._is_closed = True
        self._halt.set()
        try:
            for channel in self._channels.values():
                channel.stop()
            until = time.monotonic() + self._options.grace_s
            for pool in self._pools.values():
                pool.close(until)
        finally:
            for channel in self._channels.values():
                channel.close()
            progress = self._progress
            self._journal.write(
                "end",
                {
                    "reason": reason or "closed",
                    "stop": None if self._stop is None else self._stop.kind,
                    "done": progress.done,
                    "failed": progress.failed,
                    "spent_usd": progress.spent_usd,
                    "unpriced": progress.unpriced,
                },
            )
