"""Pools of workers, on this machine and on Ray."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from fieldassay.errors import FieldassayError, MissingExtraError, install_line, problem
from fieldassay.io.workers.program import NOTHING, Worker, WorkerEndedError

# Runs shards of work in several processes; a shard whose worker died is run once more, alone.

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


# Runs shards of work as tasks of Ray, on this machine or on a cluster.

RETRIES = 3
"""How often the task of a worker that died is run again."""

_ATTEMPTS = 3
"""Starts of Ray on this machine: it gives up after 30 seconds, which a busy machine may need."""

_STORE = 1 << 28
"""Bytes of shared memory for the outcomes that wait, where Ray is started here."""


def run_ray(
    function: Callable[[Work], Outcome], shards: Iterable[Work], workers: int, address: str | None = None
) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order, computed by the workers of a Ray cluster.

    Without an address, Ray is started on this machine with `workers` processors, and ended with the run.
    Shards are taken as they are needed. An exception of the function stops the run and is raised here. The
    task of a worker that died runs again; after `RETRIES` deaths `WorkerDiedError` is raised. The module of
    the function must be installed wherever it runs.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            f"--engine ray needs Ray, which is not installed: {install_line('ray')}"
        ) from None
    with _connected(ray, workers, address) as processors:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        rest, waiting = enumerate(shards), deque[tuple[int, Any]]()
        try:
            while True:
                for position, shard in islice(rest, AHEAD * processors - len(waiting)):
                    waiting.append((position, task.remote(shard)))
                if not waiting:
                    return
                yield _outcome(ray, *waiting.popleft())
        finally:
            for _, reference in waiting:
                ray.cancel(reference, force=True)


@contextmanager
def _connected(ray: Any, workers: int, address: str | None) -> Iterator[int]:
    """Yield the number of processors of a cluster that the program is connected to meanwhile."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report its use to its makers
    quiet = {"logging_level": "error", "log_to_driver": False}
    local = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _STORE}
    is_ours = not ray.is_initialized()
    if is_ours and address:
        _start(ray, f"ray={address}", {"address": address, **quiet}, 1)
    elif is_ours:
        _start(ray, "ray", {"address": "local", **quiet, **local}, _ATTEMPTS)
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", workers)))
    finally:
        if is_ours:
            ray.shutdown()


def _start(ray: Any, named: str, settings: dict[str, Any], attempts: int) -> None:
    for attempt in range(attempts):
        try:
            ray.init(**settings)
            return
        except Exception as error:  # Ray raises many kinds, and a bare one where a start takes over 30 s
            ray.shutdown()
            if attempt == attempts - 1:
                what = f"cannot be reached ({' '.join(str(error).split())[:200]})"
                remedy = "give the address of a running cluster, or use --engine local"
                raise problem(named, what, remedy, "ray") from None


def _outcome(ray: Any, position: int, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (
        ray.exceptions.LocalRayletDiedError,
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    ) as error:
        raise WorkerDiedError(
            f"shard {position + 1}: its Ray worker died {RETRIES + 1} times, most often for want of memory; "
            "use a smaller --batch"
        ) from error
