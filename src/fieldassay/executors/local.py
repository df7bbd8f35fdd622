"""Runs shards of work sequentially, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


def run_local(function: Callable[[Work], Outcome], shards: Iterable[Work]) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order.

    >>> list(run_local(len, ["ab", "c"]))
    [2, 1]
    """
    yield from map(function, shards)
