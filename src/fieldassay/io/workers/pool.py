"""Runs shards of work in several processes; a shard whose worker died is run once more, alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TypeVar

from fieldassay.errors import FieldassayError
from fieldassay.io.workers.program import NOTHING, Worker, WorkerEndedError

AHEAD = 2
"""Shards per worker that are at work, waiting, or done and not yet taken."""

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class Workers:
    """The workers of one caller's threads: started as they are needed, and ended together.

    `memory` and `environment` are those of each `Worker`.
    """

    def __init__(self, memory: int = 0, environment: Mapping[str, str] = NOTHING) -> None:
        self._memory, self._environment = memory, environment
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._started: list[Worker] = []
        self.is_ended = False
        """Whether they are killed, and so is every new one."""

    @contextmanager
    def worker(self, *modules: str, is_new: bool = False) -> Iterator[Worker]:
        """Yield an idle worker, or a new one with these modules; it is idle again if it outlives this."""
        worker = None
        if not is_new:
            with suppress(Empty):
                worker = self._idle.get_nowait()
        worker = worker or self._start(modules)
        try:
            yield worker
        finally:
            if worker.is_alive():
                self._idle.put(worker)

    def _start(self, modules: tuple[str, ...]) -> Worker:
        worker = Worker(modules, self._memory, self._environment)
        self._started.append(worker)
        if self.is_ended:
            worker.kill()
        return worker

    def kill(self) -> None:
        """End all, and what will be started: threads that wait for one see its end."""
        self.is_ended = True
        for worker in list(self._started):
            worker.kill()

    def stop(self) -> None:
        """Let go of all, once no thread uses one any more."""
        for worker in self._started:
            worker.stop()


class WorkerDiedError(FieldassayError):
    """A worker process was killed twice on the same shard, most often for want of memory."""

    exit_code = 3


def run_pool(function: Callable[[Work], Outcome], shards: Iterable[Work], workers: int) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order, computed by `workers` processes.

    Shards are taken as they are needed, `AHEAD` per worker ahead of what was yielded. An exception of the
    function stops the run and is raised here. A shard whose worker was killed runs again in a worker of its
    own; a second death raises `WorkerDiedError`. An error or an interrupt ends the workers with the shards in
    hand. Raises `WorkerStartError` where workers do not start at all.
    """
    crew = Workers()

    def run(number: int, shard: Work) -> Outcome:
        try:
            with crew.worker(function.__module__) as worker:
                return worker.call(function, shard)
        except WorkerEndedError:
            if crew.is_ended:
                raise
        try:
            with crew.worker(function.__module__, is_new=True) as worker:
                return worker.call(function, shard)
        except WorkerEndedError as error:
            raise WorkerDiedError(
                f"shard {number + 1}: the worker process was killed twice ({error}), most often for want of "
                "memory; use fewer --workers"
            ) from error

    threads = ThreadPoolExecutor(workers, thread_name_prefix="shards")
    try:
        rest, waiting = enumerate(shards), deque[Future[Outcome]]()
        while True:
            for number, shard in islice(rest, AHEAD * workers - len(waiting)):
                waiting.append(threads.submit(run, number, shard))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        crew.kill()
        threads.shutdown()
        crew.stop()
