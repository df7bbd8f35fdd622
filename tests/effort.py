"""The work of a test run by its profile (`dev`, `ci` or `full`; see `conftest.py`), and of one test."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from hypothesis import settings

_FULL = 100


def is_full() -> bool:
    """Return whether everything runs at its full size."""
    return settings.default.max_examples >= _FULL


def trials(number: int, part: int = 20) -> int:
    """Return the number of trials of a simulation: a twentieth of it, or another part, unless the run is full."""
    return number if is_full() else number // part


def characters(number: int) -> int:
    """Return the length of a hostile text: a twentieth unless the run is full.

    That is still far too long for anything not linear.
    """
    return number if is_full() else number // 20


def few_examples(part: int = 4, least: int = 10) -> settings:
    """Return the settings of a property with costly examples: a quarter of them or another part, and the least."""
    return settings(max_examples=max(settings.default.max_examples // part, least))


def cost(work: Callable[[], object]) -> float:
    """Return the processor time of some work in units of a loop of a million additions, about 0.03 s.

    A slow or a busy machine takes longer for both, so that a bound means the same on each.
    """
    start = time.process_time()
    work()
    return (time.process_time() - start) / _unit()


@contextmanager
def costs_at_most(bound: float) -> Iterator[Callable[[], bool]]:
    """Assert that the block takes at most so many units of `cost`; yields a function: is it over already?"""
    unit, start = max(_unit(), loop_time()), time.process_time()

    def is_over() -> bool:
        return (time.process_time() - start) / unit > bound

    yield is_over
    took = time.process_time() - start  # the machine may have become slower meanwhile
    assert took / max(unit, loop_time()) <= bound, f"more than {bound:g} times a million additions"


@cache
def _unit() -> float:
    return sorted(loop_time() for _ in range(5))[2]


def loop_time() -> float:
    """Return the processor time of a loop of a million additions."""
    start, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - start


_watched: list[list[str]] = []


def opened_files(work: Callable[[], object]) -> list[str]:
    """Return the paths of the files that some work opens."""
    _watch()
    _watched.append([])
    try:
        work()
    finally:
        opened = _watched.pop()
    return opened


@cache
def _watch() -> None:
    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and _watched:
            _watched[-1].append(str(arguments[0]))

    sys.addaudithook(note)  # stays to the end of the process
