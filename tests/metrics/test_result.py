"""A result: estimated, looked up, pickled, shown in a notebook, and written."""

import json
import pickle
import re
import sys
from collections.abc import Callable
from functools import reduce
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, fields, replace
from scipy.stats import binom
from tests.evidence_rows import documents, estimate, evidence, value
from tests.judging import score_alone

import fieldassay as fa
from fieldassay import score
from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.metrics.catalogue.definitions import select_metrics
from fieldassay.metrics.comparisons.pairwise import can_rank
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.fold import FoldPlan, fold, merge
from fieldassay.metrics.result.documents import scan_documents
from fieldassay.metrics.result.result import Result, find_headline, metrics_json, read_metrics
from fieldassay.reports.content.run.parts import render_terminal
from fieldassay.reports.content.run.sections import count_tested
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.findings.recommendation import list_standings
from fieldassay.reports.wording import describe_estimate
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.run import Run, load_run
from fieldassay.scoring.inputs import ScoreOptions

# A result: looked up, pickled, shown in a notebook, and written.

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
def test_an_expression_names_one_estimate(expression):
    assert RESULT.value(expression, system="llama") == LOOKUPS[expression]


@pytest.mark.parametrize(
    "expression",
    ["perfect_documents", "accuracy(regime=gold_nonempty)", "f1[NAME]", "f1{type=x}", "recall", "nothing"],
)
def test_what_was_not_estimated_is_a_key_error_and_never_a_neighbor(expression):
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
def test_a_key_error_names_the_nearest_field_or_metric(expression, said):
    with pytest.raises(KeyError) as caught:
        RESULT.estimate(expression, "llama")
    assert said in str(caught.value) and "recall" not in str(caught.value)


@pytest.mark.parametrize("system", [None, "gpt"])
def test_an_unclear_system_is_refused_with_the_names(system):
    with pytest.raises(ValueError, match="llama, qwen"):
        RESULT.value("f1", system)


def test_metrics_json_keeps_the_contract_of_names_and_order():
    written = json.loads(metrics_json(RESULT))
    assert list(written) == ["format", "schema_version", "run", "estimates", "counts"]
    assert [list(item) for item in written["estimates"]] == [KEYS] * len(ESTIMATES)
    assert [one.name for one in fields(Estimate)] == [*KEYS, "families"]  # only where a cluster is set
    assert written["estimates"][1]["value"] is None


def test_metrics_json_reads_back_to_the_same_estimates_and_bytes():
    data = metrics_json(RESULT)
    again = read_metrics(data)
    assert (again.estimates, again.run, again.counts) == (RESULT.estimates, RESULT.run, RESULT.counts)
    assert metrics_json(again) == data


@given(st.text(max_size=10), st.floats(allow_nan=False, allow_infinity=False))
def test_any_field_name_and_number_survive(name, number):
    estimate = replace(BASE, field=name, value=number)
    assert read_metrics(metrics_json(Result((estimate,)))).estimates == (estimate,)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_not_a_number_is_never_written(value):
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
def test_a_broken_metrics_file_is_a_problem_with_its_place(data):
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


def score_spec(spec):
    return fa.score(GOLD, {"old": GOLD[:15], "new": NEW}, spec, bootstrap=200)


@pytest.fixture(params=SPECS.values(), ids=SPECS)
def result(request):
    return score_spec(request.param)


def test_a_result_that_came_back_is_saved_as_the_same_run(result, tmp_path):
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


def baseline_changes(run):
    fa.set_baseline(run, run.with_name("baseline.json"))
    return fa.check_baseline(run, run.with_name("baseline.json"))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_made_of_runs_comes_back(make, result, tmp_path):
    result.save(tmp_path / "run")
    made = make(tmp_path / "run")
    assert contents(pickle.loads(pickle.dumps(made))) == contents(made)


def contents(made):
    return repr(made if isinstance(made, fa.Result | fa.Run | list) else astuple(made))


# The headline: one metric of a result, wherever a result is told in one number

EXAMPLES = Path(__file__).parents[2] / "examples"
CASES = {
    "prescription": ("clinical/rx-gold.jsonl", "clinical/rx-v{}.jsonl", "prescription_accuracy"),
    "lab-report": ("clinical/lab-gold.jsonl", "clinical/lab-v{}.jsonl", "lab_accuracy"),
    "engineering-extractor": ("engineering/cases", "engineering/v{}.jsonl", "overall_accuracy"),
}


def score_example(protocol, **options):
    gold, pred, _ = CASES[protocol]
    systems = {f"v{number}": str(EXAMPLES / pred.format(number)) for number in (1, 2)}
    return score_alone(str(EXAMPLES / gold), systems, {"protocol": protocol}, **options)


@pytest.mark.parametrize("protocol", CASES)
def test_the_headline_of_a_protocol_is_the_score_that_systems_are_ranked_by(protocol):
    result, name = score_example(protocol), CASES[protocol][2]
    assert [one.metric for one in find_headline(result)] == [name, name]
    assert summarize(result).headline[0].label == name
    assert [one.main.metric for one in list_standings(result, []) if one.main] == [name, name]
    assert name in {one.metric for one in result.comparisons}
    best = max(find_headline(result), key=lambda one: one.value or 0.0)
    assert list_standings(result, [])[0].system == best.system


# A result in a notebook: short, and as tables of polars and pandas.

SHOWN_GOLD = [{"id": at, "total": at, "<b>": "x"} for at in range(8)]


@pytest.fixture(scope="module")
def shown():
    wrong = [{**row, "total": 99} if row["id"] == 3 else row for row in SHOWN_GOLD]
    return score(
        SHOWN_GOLD,
        {"right": SHOWN_GOLD, "<wrong>": wrong},
        'fields: {total: number, "<b>": text}',
        ScoreOptions(evidence="all"),
        bootstrap=20,
    )


def test_a_result_is_shown_in_a_line(shown):
    assert repr(shown) == "Result(8 documents: right accuracy 100.0%, <wrong> accuracy 93.8%)"


class _Elements(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found: list[str] = []
        self.attributes: dict[str, set[str]] = {}
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        for name, text in attrs:
            self.attributes.setdefault(name, set()).add(str(text))

    def handle_data(self, data):
        self.text += data


def test_a_notebook_shows_a_small_table_in_which_nothing_is_markup(shown):
    html = shown._repr_html_()
    page = _Elements(html)
    assert {*page.found} <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "span", "div", "code"}
    assert "<wrong>" in page.text and "93.8% (" in page.text and "n = 8" in page.text and len(html) < 6000


def test_many_systems_and_metrics_are_counted_in_a_notebook():
    systems = {f"s{at}": SHOWN_GOLD for at in range(11)}
    options = ScoreOptions(metrics=("default", "presence"))
    page = _Elements(
        score(SHOWN_GOLD, systems, "fields: {total: number}", options, bootstrap=0)._repr_html_()
    )
    assert "s7" in page.text and "s8" not in page.text
    assert re.search(r"\d+ more metrics and 3 more systems in summary\(\)", page.text)


def test_a_saved_run_is_shown_as_its_result_is(shown, tmp_path):
    run = Run.open(shown.save(tmp_path / "run").folder)
    assert repr(run).endswith("8 documents: right accuracy 100.0%, <wrong> accuracy 93.8%)")
    assert run._repr_html_().replace(run._title(), shown._title()) == shown._repr_html_()


def test_a_damaged_run_is_shown_with_its_damage(shown, tmp_path):
    saved = shown.save(tmp_path / "<run>")
    (saved.folder / "metrics.json").write_text("{")
    listed = load_run(saved.folder)
    assert repr(listed).startswith("Run(") and "\n" not in repr(listed)
    for one in (listed, Run.open(saved.folder)):
        assert "metrics.json" in one._repr_html_() and "<run>" not in one._repr_html_()


def test_a_summary_has_a_row_for_each_system_and_metric(shown):
    found = shown.summary()
    assert found["field"].null_count() == len(found) and set(found["system"]) == {"right", "<wrong>"}
    [row] = [row for row in found.to_dicts() if row["system"] == "<wrong>" and row["metric"] == "accuracy"]
    assert (
        row["value"] == pytest.approx(15 / 16)
        and row["low"] <= row["value"] <= row["high"]
        and row["documents"] == 8
    )


ROWS = {
    "a": [{"id": 1, "n": 5, "s": 'Elm "A"', "k": "x"}, {"id": 2, "n": 6, "s": "Oak", "k": "x"}],
    "b": [{"id": 1, "n": 5.5, "s": "Elm", "k": "y"}, {"id": 2, "n": 6, "k": "x", "s": "\ud800"}],
}


def test_tables_of_a_result_have_plain_values():
    gold = [{"id": 1, "n": 5, "s": 'Elm "A"', "k": "x"}, {"id": 2, "n": 6, "s": "Oak"}]
    result = score(gold, ROWS, "fields: {n: number, s: text, k: {type: enum, values: [x, y]}}", bootstrap=0)
    wrong = result.wrong().select("system", "doc", "path", "gold", "predicted", "outcome").rows()
    assert wrong == [
        ("a", "2", "k", None, "x", "spurious"),
        ("b", "1", "n", "5", "5.5", "mismatch"),
        ("b", "1", "s", 'Elm "A"', "Elm", "mismatch"),
        ("b", "2", "s", "Oak", "\\ud800", "mismatch"),
        ("b", "1", "k", "x", "y", "mismatch"),
        ("b", "2", "k", None, "x", "spurious"),
    ]
    fields = {(row["system"], row["field"]): row for row in result.by_field().to_dicts()}
    for (system, field), row in fields.items():
        assert row["accuracy"] == result.value("field_accuracy", system, field)
        assert (
            row["values"]
            == sum(row[name] for name in ("match", "partial", "mismatch", "missing", "spurious", "failed"))
            == 2
        )
        assert row["values"] - row["match"] == sum(one[:1] == (system,) and one[2] == field for one in wrong)
    assert fields["a", "k"]["most_often"] == "spurious" and fields["a", "n"]["most_often"] is None
    assert result.confusion("k").rows() == [
        ("a", None, "x", 1, False),
        ("a", "x", "x", 1, True),
        ("b", None, "x", 1, False),
        ("b", "x", "y", 1, False),
    ]
    with pytest.raises(ValueError, match="did you mean 'n'"):
        result.confusion("N")


def test_comparisons_are_a_table():
    gold = [{"id": at, "n": at, "s": "x"} for at in range(12)]
    rows = [{"id": at, "n": at if at % 2 else -1, "s": "x"} for at in range(12)]
    result = score(gold, {"a": gold, "b": rows}, "fields: {n: number, s: text}", seed=1)
    table = result.compare()
    comparisons = (*result.comparisons, *result.field_comparisons)
    assert table.select("metric", "field", "difference", "p", "verdict").rows() == [
        (one.metric, one.field, one.difference, one.p_adjusted, one.verdict) for one in comparisons
    ]
    assert ("n", -0.5) in table.select("field", "difference").rows()


def test_tables_that_need_right_values_are_refused_without_them():
    kept = score([{"id": 1, "n": 5}], [{"id": 1, "n": 6}], "fields: {n: number}", evidence="errors")
    assert kept.wrong()["path"].to_list() == ["n"]
    for table in (kept.by_field, lambda: kept.confusion("n")):
        with pytest.raises(ValueError, match="evidence='all'"):
            table()


@pytest.mark.parametrize("what", ["estimates", "documents", "evidence"])
def test_tables_are_pandas_tables_without_pyarrow(shown, what, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = shown.to_pandas(what)
    wanted = {"estimates": shown.estimates, "documents": shown.documents, "evidence": shown.evidence}[what]
    assert wanted is not None and len(table) == len(wanted) and "system" in table.columns


def test_the_absence_of_pandas_is_one_sentence(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[pandas\]'"):
        shown.to_pandas()


def test_a_table_that_was_not_kept_is_told():
    bare = score(
        SHOWN_GOLD, SHOWN_GOLD, "fields: {total: number}", ScoreOptions(evidence="none"), bootstrap=0
    )
    with pytest.raises(ValueError, match="evidence='all'"):
        bare.to_pandas("evidence")
    with pytest.raises(ValueError, match="did you mean 'evidence'"):
        bare.to_pandas("evidense")  # type: ignore[arg-type]


# Estimates and p values of a result.

# Marks and intervals of estimates, and the table of documents


@pytest.mark.parametrize(
    "metric", ["perfect_documents", "accuracy(regime=baseline)", "recall", "f1", "macro_f1"]
)
@pytest.mark.parametrize("n", [1, 3, 50])
def test_perfect_documents_do_not_look_certain(metric, n):
    """With many documents up to 3 / n of others could be bad; the documents alone show nothing else than perfection."""
    judged = evidence([(f"d{number}", "x", "match") for number in range(n)], [value("x")])
    found = estimate(metric, judged, replicates=2000)
    assert found.value == 1.0 and found.interval is not None and found.marks == ()
    least = n / (n + 3.0)
    assert found.interval[1] == 1.0 and found.interval[0] < least + 0.01
    assert n < 50 or found.interval[0] > least - 0.01
    assert n > 1 or found.interval[0] == pytest.approx(0.05, abs=0.02)  # Clopper and Pearson, mid-p
    assert found.interval_resampled == (1.0, 1.0)


@pytest.mark.parametrize(("n", "wrong"), [(10, 3), (10, 1), (50, 3), (3, 3), (120, 1), (120, 60)])
def test_right_and_wrong_documents_have_the_bounds_of_clopper_and_pearson_by_mid_p_values(n, wrong):
    """Three wrong of ten cannot be a perfect system: the upper bound is .917, and 1.000 under Poisson weights."""
    judged = evidence(
        [(f"d{at}", "x", "mismatch" if at < wrong else "match") for at in range(n)], [value("x")]
    )
    found = estimate("accuracy", judged, replicates=8000)
    share = np.linspace(0.0, 1.0, 20_001)
    below = (binom.cdf(n - wrong, n, share) + binom.cdf(n - wrong - 1, n, share)) / 2
    held = share[(below >= 0.025) & (below <= 0.975)]
    assert found.interval == pytest.approx((held[0], held[-1]), abs=0.012 if n < 100 else 0.006)


@pytest.mark.parametrize(
    ("metric", "factor"), [("latency_mean", 1.0), ("cost_usd", 1.0), ("throughput", 60_000.0)]
)
def test_a_mean_of_times_leaves_room_for_a_document_twice_as_long_as_the_longest(metric, factor):
    names = [f"d{at}" for at in range(30)]
    judged = evidence([(name, "x", "match") for name in names], [value("x")])
    column = "cost_usd" if metric == "cost_usd" else "duration_ms"
    found = estimate(metric, judged, documents(names, {column: [2.0] * 30}), replicates=2000)
    assert found.marks == () and found.interval_resampled == pytest.approx([found.value] * 2)
    longest = 2.0 * (30 + 2 * 3.0) / (30 + 3.0)  # 3.0 is the upper 2.5% of what the unseen document weighs
    ends = (2.0, longest) if metric != "throughput" else (factor / longest, factor / 2.0)
    assert found.interval == pytest.approx(ends, rel=0.02)


def test_a_ratio_of_sums_is_marked_where_a_few_documents_are_far_larger():
    rows = [
        (f"d{at:02}", "x", "match" if at % 9 else "mismatch")
        for at in range(40)
        for _ in range(40 if at < 3 else 1)
    ]
    judged = evidence(rows, [value("x")])
    pooled, mean = (estimate(name, judged, replicates=1000) for name in ("accuracy_pooled", "accuracy"))
    assert (pooled.marks, mean.marks) == (("few_large_documents",), ())
    assert "far larger than the others" in describe_estimate(pooled)


def test_the_interval_of_a_percentile_comes_from_order_statistics():
    names = [f"d{number}" for number in range(100)]
    judged = evidence([(name, "x", "match") for name in names], [value("x")])
    table = documents(names, {"duration_ms": [float(number + 1) for number in range(100)]})
    found = estimate("latency_p50", judged, table, replicates=10)
    assert (found.value, found.interval, found.marks) == (50.5, (40.0, 61.0), ("order_statistics",))
    assert estimate("latency_max", judged, table, replicates=10).interval is None


@pytest.mark.parametrize("rows_at_once", [1, 2, 1000])
def test_the_table_of_documents_has_one_row_per_document_sorted_with_its_values(rows_at_once, monkeypatch):
    monkeypatch.setattr("fieldassay.metrics.result.documents.ROWS", rows_at_once)
    plan = FoldPlan(select_metrics(["accuracy(regime=baseline)", "critical_accuracy"]), (), 0)
    rows = [
        ("b", "x", "match"),
        ("b", "y", "mismatch"),
        ("a", "x", "match"),
        ("a", "y", "absent"),
        ("c", "x", "absent"),
        ("c", "y", "absent"),
    ]
    known = {"b": (1.0, ["k"], ["p", "q"]), "a": (np.nan, [], []), "c": (2.0, ["k"], [])}
    parts = []
    for at, (name, (cost, kind, tags)) in enumerate(known.items()):
        judged = evidence(rows[2 * at : 2 * at + 2], [value("x", 0, critical=True), value("y", 1)])
        table = documents([name], {"cost_usd": [cost]}, groups={"type": [kind], "tag": [tags]})
        parts.append(fold(plan, judged, table))
    frame = scan_documents([("s", reduce(merge, parts).documents)]).collect()
    assert frame.columns[:6] == [
        "system",
        "doc",
        "score",
        "accuracy",
        "accuracy_strict",
        "accuracy(regime=baseline)",
    ]
    wanted = {
        "doc": ["a", "b", "c"],
        "score": [1.0, 0.5, 1.0],
        "accuracy": [1.0, 0.5, None],
        "critical_accuracy": [1.0, 1.0, None],
        "leaves": [1.0, 2.0, 0.0],
        "matches": [1.0, 1.0, 0.0],
        "perfect": [1.0, 0.0, None],
        "cost_usd": [None, 1.0, 2.0],
        "has_prediction": [True, True, True],
        "type": [None, "k", "k"],
        "tag": [[], ["p", "q"], []],
    }
    assert {name: frame[name].to_list() for name in wanted} == wanted
    assert scan_documents([]).collect().height == 0


# Two systems have one p value in a metric, wherever it stands, and nothing that is said contradicts it

FIELDS = tuple("abcdef")
SPEC = "fields: {" + ", ".join(f"{name}: text" for name in FIELDS) + "}"
WRONG = {
    "seven documents": {
        "model-a": [0] * 7,
        "model-b": [1, 0, 1, 0, 0, 1, 0],
        "model-c": [1, 1, 2, 1, 1, 0, 1],
    },
    "one is the same": {"model-a": [1, 2, 0] * 8, "model-b": [1, 2, 0] * 8, "model-c": [2, 3, 2] * 8},
    "many documents": {
        "model-a": [0, 1, 0] * 12,
        "model-b": [1, 0, 1] * 12,
        "model-c": [3, 2, 3] * 12,
        "model-d": [0, 1, 1] * 12,
    },
}


def _scored(wrong, **options):
    gold = [{"id": f"d{at}", **dict.fromkeys(FIELDS, "x")} for at in range(len(next(iter(wrong.values()))))]
    systems = {
        name: [{**row, **dict.fromkeys(FIELDS[:count], "y")} for row, count in zip(gold, counts, strict=True)]
        for name, counts in wrong.items()
    }
    return score(gold, systems, SPEC, bootstrap=50, **options)  # type: ignore[arg-type]


@pytest.fixture(params=WRONG.values(), ids=list(WRONG), scope="module")
def contested(request):
    return _scored(request.param)


def test_pairs_of_a_ranking_have_the_p_value_of_their_comparison(contested):
    ranked = {
        (ranking.metric, frozenset(pair.systems)): pair.p_adjusted
        for ranking in contested.rankings
        for pair in ranking.pairs
    }
    assert len(ranked) == len(contested.rankings) * len(list(combinations(contested.systems, 2))) > 0
    for one in contested.comparisons:
        assert one.p_adjusted == ranked[one.metric, frozenset(one.systems)]


def test_places_follow_from_the_verdicts(contested):
    for ranking in contested.rankings:
        apart = {pair.systems for pair in ranking.pairs if pair.is_shown}
        assert all(pair.p_adjusted <= 0.05 and pair.difference for pair in ranking.pairs if pair.is_shown)
        for place in ranking.places:
            assert place.first == 1 + sum(worse == place.system for _, worse in apart)
            assert place.last == len(ranking.places) - sum(better == place.system for better, _ in apart)
        verdicts = {
            frozenset(one.systems): one.verdict
            for one in contested.comparisons
            if one.metric == ranking.metric
        }
        assert all(
            (verdict in ("better", "worse")) == any(set(pair) == names for pair in apart)
            for names, verdict in verdicts.items()
        )


def test_every_report_says_how_many_tests_there_were(contested):
    tests = len(contested.rankings) * len(list(combinations(contested.systems, 2)))
    assert count_tested(contested.comparisons, contested.rankings) == tests
    assert f"corrected for {tests} tests" in render_terminal(summarize(contested, None), Screen(160))


def test_metrics_that_agree_in_every_document_count_once():
    chosen = {name: WRONG["seven documents"][name] for name in ("model-a", "model-c")}
    result = _scored(chosen)
    assert [(one.p, one.p_adjusted) for one in result.comparisons] == [(0.015625, 0.015625)] * 2
    assert not result.rankings
    assert [one.p_adjusted for one in _scored(chosen, correction="holm").comparisons] == [0.03125, 0.03125]


@pytest.mark.parametrize(
    ("systems", "metrics", "is_ranked"),
    [(3, 2, True), (32, 2, True), (32, 1, True), (33, 1, False)],
)
def test_systems_are_ranked_only_where_a_difference_could_be_shown(systems, metrics, is_ranked):
    assert can_rank(systems, metrics, 0.95) is is_ranked


def test_a_ranking_that_is_not_made_is_told():
    result = _scored({f"m{at:02}": [at % 3, 1] for at in range(33)})
    assert not result.rankings and any("33 systems are not ranked" in warning for warning in result.warnings)
