"""A result: looked up, pickled, shown in a notebook, and written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, fields, replace
from tests.judging import score_alone

import fieldassay as fa
from fieldassay.errors import ProblemsError
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result, find_headline, metrics_json, read_metrics
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.findings.recommendation import list_standings

# A result answers questions, and is written and read back unchanged

BASE = Estimate(
    "f1",
    "llama",
    None,
    {},
    None,
    0.1 + 0.2,
    7,
    5,
    1,
    "leaf",
    {},
    (0.1, 0.5),
    0.95,
    ("few_documents",),
    "ratio",
    "higher",
)
ESTIMATES = (
    BASE,
    replace(BASE, field="TOTAL", value=None, n=0, interval=None, level=None, marks=()),
    replace(BASE, granularity="slot", value=0.25),
    replace(BASE, slice={"type": "invoice"}, value=0.5),
    replace(BASE, metric="accuracy", regime="filled", value=0.75),
    replace(BASE, metric="accuracy", regime="baseline", value=0.8),
    replace(BASE, metric="perfect_documents", regime="filled", parameters={"threshold": 0.99}, value=0.9),
    replace(BASE, metric="overall_score", granularity=None, value=0.6),
    replace(BASE, system="qwen", value=0.125),
)
RESULT = Result(ESTIMATES, run={"seed": 0, "name": "é"}, counts={"documents": 5})

LOOKUPS = {
    "f1": 0.1 + 0.2,
    "f1[TOTAL]": None,
    "f1(granularity=slot)": 0.25,
    "f1{type=invoice}": 0.5,
    "accuracy": 0.75,
    "accuracy(regime=filled)": 0.75,
    "accuracy(regime=baseline)": 0.8,
    "perfect_documents(threshold=0.99)": 0.9,
    "overall_score": 0.6,
}

KEYS = [
    "metric", "system", "field", "slice", "regime", "value", "n", "documents", "failed", "granularity",
    "parameters", "interval", "level", "marks",
    "unit", "better", "interval_resampled",
]  # fmt: skip
"""The contract of `metrics.json`: names and order."""


@pytest.mark.parametrize("expression", LOOKUPS)
def test_an_expression_names_one_estimate(expression: str) -> None:
    assert RESULT.value(expression, system="llama") == LOOKUPS[expression]


def test_a_field_may_be_given_beside_the_expression_and_one_system_needs_no_name() -> None:
    assert RESULT.estimate("f1", "llama", field="TOTAL").field == "TOTAL"
    assert Result(ESTIMATES[-1:]).value("f1") == 0.125
    assert (RESULT.systems, RESULT.fields) == (("llama", "qwen"), ("TOTAL",))


@pytest.mark.parametrize(
    "expression",
    ["perfect_documents", "accuracy(regime=gold_nonempty)", "f1[NAME]", "f1{type=x}", "recall", "nothing"],
)
def test_what_was_not_estimated_is_a_key_error_and_never_a_neighbor(expression: str) -> None:
    with pytest.raises(KeyError, match="no estimate"):
        RESULT.estimate(expression, "llama")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("f1[TOTL]", "fields: did you mean 'TOTAL'?"),
        ("acuracy", "did you mean 'accuracy'?"),
        ("accuracy(regime=gold_nonempty)", "accuracy was computed otherwise"),
    ],
)
def test_a_key_error_names_the_nearest_field_or_metric(expression: str, said: str) -> None:
    with pytest.raises(KeyError) as caught:
        RESULT.estimate(expression, "llama")
    assert said in str(caught.value) and "recall" not in str(caught.value)


@pytest.mark.parametrize("system", [None, "gpt"])
def test_an_unclear_system_is_refused_with_the_names(system: str | None) -> None:
    with pytest.raises(ValueError, match="llama, qwen"):
        RESULT.value("f1", system)


def test_metrics_json_keeps_the_contract_of_names_and_order() -> None:
    written = json.loads(metrics_json(RESULT))
    assert list(written) == ["format", "schema_version", "run", "estimates", "counts"]
    assert [list(item) for item in written["estimates"]] == [KEYS] * len(ESTIMATES)
    assert [one.name for one in fields(Estimate)] == KEYS
    assert written["estimates"][1]["value"] is None


def test_metrics_json_reads_back_to_the_same_estimates_and_bytes() -> None:
    data = metrics_json(RESULT)
    again = read_metrics(data)
    assert (again.estimates, again.run, again.counts) == (RESULT.estimates, RESULT.run, RESULT.counts)
    assert metrics_json(again) == data


@given(st.text(max_size=10), st.floats(allow_nan=False, allow_infinity=False))
def test_any_field_name_and_number_survive(name: str, number: float) -> None:
    estimate = replace(BASE, field=name, value=number)
    assert read_metrics(metrics_json(Result((estimate,)))).estimates == (estimate,)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_not_a_number_is_never_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        metrics_json(Result((replace(BASE, value=value),)))


BROKEN = {
    b"{": "not JSON",
    b"\xff": "not JSON",
    b"[" * 100_000: "not JSON",
    b'{"schema_version": 2}': "schema version 1",
    b"[]": "schema version 1",
    b'{"schema_version": 1, "run": {}, "counts": {}}': "$: `estimates` is missing",
    b'{"schema_version": 1, "run": {}, "estimates": [{"metric": "f1"}], "counts": {}}': (
        "$.estimates[0]: `system` is missing"
    ),
    b'{"schema_version": 1, "run": {}, "estimates": [NaN], "counts": {}}': "NaN is not a JSON number",
}


@pytest.mark.parametrize("data", BROKEN, ids=lambda data: data[:40].decode("latin-1"))
def test_a_broken_metrics_file_is_a_problem_with_its_place(data: bytes) -> None:
    with pytest.raises(ProblemsError) as raised:
        read_metrics(data, "runs/1/metrics.json")
    assert str(raised.value).startswith("runs/1/metrics.json")
    assert BROKEN[data] in str(raised.value)


# A result, a run and what is made from them come back whole from another process

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
    return fa.score(GOLD, {"old": GOLD[:15], "new": NEW}, spec, bootstrap=200)


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


# The headline: one metric of a result, wherever a result is told in one number

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = {
    "prescription": ("clinical/rx-gold.jsonl", "clinical/rx-v{}.jsonl", "prescription_accuracy"),
    "lab-report": ("clinical/lab-gold.jsonl", "clinical/lab-v{}.jsonl", "lab_accuracy"),
    "engineering-extractor": ("engineering/cases", "engineering/v{}.jsonl", "overall_accuracy"),
}


def score_example(protocol: str, **options: object) -> Result:
    gold, pred, _ = CASES[protocol]
    systems = {f"v{number}": str(EXAMPLES / pred.format(number)) for number in (1, 2)}
    return score_alone(str(EXAMPLES / gold), systems, {"protocol": protocol}, **options)


@pytest.mark.parametrize("protocol", CASES)
def test_the_headline_of_a_protocol_is_the_score_that_systems_are_ranked_by(protocol: str) -> None:
    result, name = score_example(protocol), CASES[protocol][2]
    assert [one.metric for one in find_headline(result)] == [name, name]
    assert summarize(result).headline[0].label == name
    assert [one.main.metric for one in list_standings(result, []) if one.main] == [name, name]
    assert name in {one.metric for one in result.comparisons}
    best = max(find_headline(result), key=lambda one: one.value or 0.0)
    assert list_standings(result, [])[0].system == best.system


def test_metrics_chosen_without_the_score_have_their_first_ratio_for_a_headline() -> None:
    result = score_example("prescription", metrics=("latency_mean", "name_recall", "accuracy"))
    assert {one.metric for one in find_headline(result)} == {"name_recall"}
