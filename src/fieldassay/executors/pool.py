"""Runs shards of work in several processes; a shard whose worker died is run once more, alone."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from fieldassay.errors import FieldassayError

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class WorkerDiedError(FieldassayError):
    """A worker process was killed twice on the same shard, most often for want of memory."""

    exit_code = 3


def run_pool(function: Callable[[Work], Outcome], shards: Sequence[Work], workers: int) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order, computed by `workers` processes.

    An exception of the function stops the run and is raised here. A killed worker breaks the pool; each lost
    shard then runs again in a pool of its own, and a second death raises `WorkerDiedError`.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=end_with_parent) as pool:
        futures = [_submitted(pool, function, shard) for shard in shards]
        try:
            for position, future in enumerate(futures):
                yield _outcome(future, function, shards[position], position)
        except BaseException:
            # An interrupt must not wait for shards that will not be read.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _outcome(
    future: Future[Outcome] | None, function: Callable[[Work], Outcome], shard: Work, position: int
) -> Outcome:
    try:
        return future.result() if future is not None else _run_alone(function, shard, position)
    except BrokenProcessPool:
        return _run_alone(function, shard, position)


def _submitted(
    pool: ProcessPoolExecutor, function: Callable[[Work], Outcome], shard: Work
) -> Future[Outcome] | None:
    try:
        return pool.submit(function, shard)
    except BrokenProcessPool:
        return None


def _run_alone(function: Callable[[Work], Outcome], shard: Work, position: int) -> Outcome:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=end_with_parent) as pool:
        try:
            return pool.submit(function, shard).result()
        except BrokenProcessPool as error:
            raise WorkerDiedError(
                f"shard {position + 1}: the worker process was killed twice, most often for want of memory; "
                "use fewer --workers"
            ) from error


def end_with_parent() -> None:
    """Make the worker exit with its parent, even a killed one; it would otherwise wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for_end, args=(parent.join,), daemon=True).start()


def _wait_for_end(join: Callable[[], None]) -> None:
    join()
    os._exit(1)
