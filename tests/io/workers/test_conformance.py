"""Every executor does the same: outcomes in order, shards taken as needed, errors as they were raised."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fieldassay.errors import MissingExtraError, Problem, ProblemsError
from fieldassay.io.workers.pool import WorkerDiedError, run_pool, run_ray

Executor: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
)


def run_on_one_ray(function: Callable[[Any], Any], shards: Iterable[Any]) -> Iterator[Any]:
    """Run on a Ray that is started once for all tests of this file."""
    import ray

    if not ray.is_initialized():
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    return run_ray(function, shards, 2)


@pytest.fixture(scope="module", autouse=True)
def end_ray() -> Iterator[None]:
    yield
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()


EXECUTORS = [
    pytest.param(map, id="this process"),
    pytest.param(partial(run_pool, workers=2), id="processes", marks=pytest.mark.slow),
    pytest.param(run_on_one_ray, id="ray", marks=[pytest.mark.slow, needs_ray]),
]
APART = EXECUTORS[1:]
"""The executors whose workers are processes of their own."""


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    if number == 2:
        raise ProblemsError([Problem("gold.jsonl:3", "is wrong", "correct it", "bad_gold")])
    return number


def die_once(place: str) -> str:
    if place.endswith("2") and not Path(place).exists():
        Path(place).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return place


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("execute", EXECUTORS)
def test_outcomes_come_in_the_order_of_shards(execute: Executor) -> None:
    assert list(execute(double, range(12))) == list(range(0, 24, 2))
    assert list(execute(double, [])) == []


@pytest.mark.parametrize("execute", EXECUTORS)
def test_shards_are_taken_as_they_are_needed(execute: Executor) -> None:
    taken: list[int] = []
    outcomes = execute(double, (taken.append(number) or number for number in range(50)))
    assert next(outcomes) == 0 and len(taken) <= 4
    assert next(outcomes) == 2 and len(taken) <= 5
    del outcomes


@pytest.mark.parametrize("execute", EXECUTORS)
def test_an_error_is_raised_as_it_was(execute: Executor) -> None:
    with pytest.raises(ProblemsError) as raised:
        list(execute(refuse, range(5)))
    assert raised.value.problems == (Problem("gold.jsonl:3", "is wrong", "correct it", "bad_gold"),)


@pytest.mark.parametrize("execute", APART)
def test_a_worker_that_is_killed_changes_no_outcome(execute: Executor, tmp_path: Path) -> None:
    shards = [str(tmp_path / f"{number}") for number in range(6)]
    assert list(execute(die_once, shards)) == shards
    assert Path(shards[2]).exists()


@pytest.mark.parametrize("execute", APART)
def test_a_shard_that_always_kills_its_worker_ends_the_run(execute: Executor) -> None:
    with pytest.raises(WorkerDiedError, match=r"^shard 2: ") as raised:
        list(execute(die, range(3)))
    assert raised.value.exit_code == 3


def test_without_the_extra_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[ray\]'"):
        list(run_ray(double, [1], 2))
