"""A result, a run and what is made from them come back whole from another process."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

import fieldassay as fa

SPECS = {
    "plain": "fields: {total: number, name: text}",
    "with checks": "{fields: {total: number, name: text}, checks: {total: {one_of: [1, 2]}}}",
    "with metrics of its own": (
        "{fields: {total: number, name: text}, definitions: {twice: accuracy + accuracy}, metrics: [accuracy, twice]}"
    ),
}
GOLD = [{"id": str(at), "total": at, "name": f"name {at}"} for at in range(20)]
NEW = [{**record, "total": int(record["id"]) + (int(record["id"]) % 7 == 0)} for record in GOLD]


def score(spec: str) -> fa.Result:
    return fa.score(GOLD, {"old": GOLD[:15], "new": NEW}, spec, replicates=200)


@pytest.fixture(params=SPECS.values(), ids=SPECS)
def result(request: pytest.FixtureRequest) -> fa.Result:
    return score(request.param)


def test_a_result_comes_back_with_its_tables(result: fa.Result) -> None:
    again = pickle.loads(pickle.dumps(result))
    assert again.estimates == result.estimates and again.comparisons == result.comparisons
    assert again.evidence.equals(result.evidence) and len(again.evidence) > 0
    assert again.documents.equals(result.documents)


def test_a_result_that_came_back_is_saved_as_the_same_run(result: fa.Result, tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(result))
    first, second = result.save(tmp_path / "first"), again.save(tmp_path / "second")
    names = {file.name for file in (tmp_path / "first").iterdir()}
    assert names == {file.name for file in (tmp_path / "second").iterdir()}
    assert all(
        (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
        for name in names - {"run.json"}  # it has the run's own id
    )
    assert second.file.sha256 == first.file.sha256


MADE: dict[str, Callable[[Path], Any]] = {
    "the result of a run": lambda run: fa.open_run(run).result,
    "run": fa.open_run,
    "difference": lambda run: fa.diff(run),
    "changes since a baseline": lambda run: baseline_changes(run),
    "decision": lambda run: fa.gate(run, gates=["accuracy >= 0.5"]),
}


def baseline_changes(run: Path) -> object:
    fa.set_baseline(run, run.with_name("baseline.json"))
    return fa.check_baseline(run, run.with_name("baseline.json"))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_made_of_runs_comes_back(
    make: Callable[[Path], Any], result: fa.Result, tmp_path: Path
) -> None:
    result.save(tmp_path / "run")
    made = make(tmp_path / "run")
    assert contents(pickle.loads(pickle.dumps(made))) == contents(made)


def contents(made: Any) -> str:
    return repr(made if isinstance(made, fa.Result | fa.Run | list) else astuple(made))


def test_a_pool_of_processes_returns_results() -> None:
    """Forked children are not used: Polars' threads do not survive a fork."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(score, SPECS["plain"]).result().estimates == score(SPECS["plain"]).estimates
