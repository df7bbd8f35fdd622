"""Runs shards of work in several processes; a shard whose worker died is run once more, alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

from fieldassay.errors import FieldassayError
from fieldassay.io.workers.program import Worker, WorkerEndedError

AHEAD = 2
"""Shards per worker that are at work, waiting, or done and not yet taken."""

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


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
    idle: SimpleQueue[Worker] = SimpleQueue()
    started: list[Worker] = []
    is_stopped = Event()

    def start() -> Worker:
        worker = Worker((function.__module__,))
        started.append(worker)
        if is_stopped.is_set():
            worker.kill()
        return worker

    def run(number: int, shard: Work) -> Outcome:
        try:
            worker = idle.get_nowait()
        except Empty:
            worker = start()
        try:
            return worker.call(function, shard)
        except WorkerEndedError:
            if is_stopped.is_set():
                raise
            worker = start()
            return _run_again(worker, function, number, shard)
        finally:
            if worker.is_alive():
                idle.put(worker)

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
        is_stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(started):
            worker.kill()
        threads.shutdown()
        for worker in started:
            worker.stop()


def _run_again(worker: Worker, function: Callable[[Work], Outcome], number: int, shard: Work) -> Outcome:
    try:
        return worker.call(function, shard)
    except WorkerEndedError as error:
        raise WorkerDiedError(
            f"shard {number + 1}: the worker process was killed twice ({error}), most often for want of "
            "memory; use fewer --workers"
        ) from error
