"""Runs shards of work in several processes; a shard whose worker died is run once more, alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Generic, TypeVar

from msgspec import Struct

from fieldassay.errors import FieldassayError

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
    function stops the run and is raised here. A killed worker breaks the pool; each lost shard then runs
    again in a pool of its own, and a second death raises `WorkerDiedError`.
    """
    with _pool(workers) as pool:
        rest, waiting = enumerate(shards), deque[_Submitted[Work, Outcome]]()
        while True:
            for position, shard in islice(rest, AHEAD * workers - len(waiting)):
                waiting.append(_Submitted(_submit(pool, function, shard), shard, position))
            if not waiting:
                return
            yield _outcome(waiting.popleft(), function)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; an error or an interrupt ends them with the shards in hand."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            processes = [*(pool._processes or {}).values()]
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            raise


class _Submitted(Struct, Generic[Work, Outcome], frozen=True, eq=False):
    future: Future[Outcome] | None
    shard: Work
    position: int


def _outcome(submitted: _Submitted[Work, Outcome], function: Callable[[Work], Outcome]) -> Outcome:
    try:
        if submitted.future is not None:
            return submitted.future.result()
    except BrokenProcessPool:
        pass
    return _run_alone(function, submitted.shard, submitted.position)


def _submit(
    pool: ProcessPoolExecutor, function: Callable[[Work], Outcome], shard: Work
) -> Future[Outcome] | None:
    try:
        with interrupts_blocked():  # a submitted shard may start a worker
            return pool.submit(function, shard)
    except BrokenProcessPool:
        return None


def _run_alone(function: Callable[[Work], Outcome], shard: Work, position: int) -> Outcome:
    with _pool(1) as pool:
        try:
            with interrupts_blocked():
                submitted = pool.submit(function, shard)
            return submitted.result()
        except BrokenProcessPool as error:
            raise WorkerDiedError(
                f"shard {position + 1}: the worker process was killed twice, most often for want of memory; "
                "use fewer --workers"
            ) from error


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Return a context in which started processes never see Ctrl-C: their parent decides what it means.

    A terminal sends it to all processes of a command, a worker that has just begun included. Where threads
    have no signal mask (Windows), nothing is done. An interrupt of this thread comes after the context.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its own start would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Make the worker exit with its parent, even a killed one; it would otherwise wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for_end, args=(parent.join,), daemon=True).start()


def _wait_for_end(join: Callable[[], None]) -> None:
    join()
    os._exit(1)
