"""Runs shards of work as tasks of Ray, on this machine or on a cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from fieldassay.errors import MissingExtraError, problem
from fieldassay.io.workers.pool import AHEAD, WorkerDiedError

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")

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
            "--engine ray needs Ray, which is not installed: pip install 'fieldassay[ray]'"
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
