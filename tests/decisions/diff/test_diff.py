"""What a diff says of changes, and what it refuses."""

import json
import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.decisions.basis import Contestant, NamedRun, join_data
from fieldassay.decisions.diff.diff import (
    COLUMNS,
    Changes,
    Diff,
    DiffOptions,
    FieldLoss,
    diff_runs,
    find_changes,
)
from fieldassay.errors import ProblemsError
from fieldassay.io.files.whole_files import convert
from fieldassay.io.json_value import json_text
from fieldassay.metrics.result.verdicts import Comparison, read_comparisons
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import lay_out_markdown, lay_out_terminal
from fieldassay.runs.files import COMPARISONS
from fieldassay.runs.run import Run

# What a diff says of changes

# Which values are fixed and which are broken, told from the evidence of two runs

SPEC = {
    "fields": {
        "total": {"type": "number", "critical": True},
        "name": "text",
        "tags": {"type": "list", "items": "text", "align": "assignment"},
        "lines": {
            "type": "list",
            "align": "assignment",
            "items": {"type": "object", "fields": {"sku": "id", "price": "number"}},
        },
        "place": {"type": "object", "fields": {"city": "text"}},
    }
}
LINES = [{"sku": "x1", "price": 1}, {"sku": "y2", "price": 2}]
GOLD = {"total": 5, "name": None, "tags": ["p", "q"], "lines": LINES, "place": {"city": "Perth"}}


def evidence(gold: list[Any], pred: list[Any]) -> pl.LazyFrame:
    rows = [[{"id": f"d{at}", **row} for at, row in enumerate(side)] for side in (gold, pred)]
    return score(rows[0], rows[1], SPEC, bootstrap=0).evidence.lazy()


def changed(
    before: dict[str, Any], after: dict[str, Any], gold: dict[str, Any] = GOLD
) -> list[tuple[str, str, str | None, str | None]]:
    found = find_changes(*(evidence([gold], [{**gold, **pred}]) for pred in (before, after)))
    return [
        (row.change, row.path, row.before, row.after)
        for change in ("fixed", "broken")
        for row in found.rows(change)
    ]


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str | None, str | None]]]] = {
    "nothing": ({}, {}, []),
    "wrong, now right": ({"total": 6}, {}, [("fixed", "total", "6", "5")]),
    "missing, now right": ({"total": None}, {}, [("fixed", "total", None, "5")]),
    "right, now wrong": ({}, {"total": 6}, [("broken", "total", "5", "6")]),
    "right, now missing": ({}, {"total": None}, [("broken", "total", "5", None)]),
    "wrong in two ways": ({"total": 6}, {"total": None}, []),
    "silent, now spurious": ({}, {"name": "Bo"}, [("broken", "name", None, '"Bo"')]),
    "spurious, now silent": ({"name": "Bo"}, {}, [("fixed", "name", '"Bo"', None)]),
    "spurious with another value": ({"name": "Bo"}, {"name": "Cy"}, []),
    "an item more": ({}, {"tags": ["p", "q", "r"]}, [("broken", "— ↔ tags[2]", None, '"r"')]),
    "the same wrong item at another place": ({"tags": ["r", "p", "q"]}, {"tags": ["p", "q", "r"]}, []),
    "a wrong item instead of another": (
        {"tags": ["r", "p", "q"]},
        {"tags": ["p", "q", "s"]},
        [("fixed", "— ↔ tags[0]", '"r"', None), ("broken", "— ↔ tags[2]", None, '"s"')],
    ),
    "the same wrong item twice, then once": (
        {"tags": ["p", "q", "r", "r"]},
        {"tags": ["p", "q", "r"]},
        [("fixed", "— ↔ tags[3]", '"r"', None)],
    ),
    "items in another order": ({}, {"lines": LINES[::-1]}, []),
    "a value of an item in another order": (
        {},
        {"lines": [LINES[1], {"sku": "x1", "price": 7}]},
        [("broken", "lines[0].price", "1", "7")],
    ),
    "an object that became a text": (
        {},
        {"place": "Perth"},
        [("broken", "place.city", '"Perth"', None), ("broken", "place", None, '"Perth"')],
    ),
}


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_values_are_the_same_values_by_their_place_in_gold(before: Any, after: Any, wanted: Any) -> None:
    assert sorted(changed(before, after), key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(("before", "after", "wanted"), CASES.values(), ids=CASES)
def test_evidence_of_errors_alone_tells_the_same_changes(before: Any, after: Any, wanted: Any) -> None:
    frames = [
        evidence([GOLD], [{**GOLD, **pred}]).filter(~pl.col("outcome").is_in(["match", "absent"]))
        for pred in (before, after)
    ]
    found = find_changes(*frames)
    assert sorted(
        (row.change, row.path) for change in ("fixed", "broken") for row in found.rows(change)
    ) == sorted((change, path) for change, path, _, _ in wanted)


def test_what_a_run_of_errors_does_not_have_is_called_right_or_absent() -> None:
    good, bad = evidence([GOLD], [GOLD]), evidence([GOLD], [{**GOLD, "total": 6, "name": "Bo"}])
    found = find_changes(good.filter(pl.col("outcome") == "mismatch"), bad)
    assert {row.path: (row.outcome_before, row.before) for row in found.rows("broken")} == {
        "total": ("right", None),
        "name": ("absent", None),
    }


def test_diagnoses_and_critical_values_come_with_the_change() -> None:
    found = find_changes(evidence([GOLD], [{**GOLD, "total": 50}]), evidence([GOLD], [GOLD]))
    [row] = found.rows("fixed")
    assert (row.critical, row.diagnoses_after, row.gold) == (True, (), "5")
    assert row.diagnoses_before[:1] == ("separator",)
    assert [(one.name, one.fixed) for one in found.by_diagnosis()] == [("separator", 1)]


def test_a_match_that_scores_more_is_fixed_and_one_that_scores_less_is_broken() -> None:
    spec = {"fields": {"shop": {"compare": "indel", "accept": 0.5}}}
    frames = [score([{"id": 1, "shop": "Oak Street"}], [{"id": 1, "shop": shop}], spec, bootstrap=0).evidence.lazy()
              for shop in ("Oak Stret", "Oak Street", "x")]  # fmt: skip
    better, worse, wrong = (
        find_changes(*pair) for pair in (frames[:2], frames[1::-1], (frames[0], frames[2]))
    )
    assert [totals(one) for one in (better, worse, wrong)] == [[1, 0], [0, 1], [0, 1]]


def test_what_could_not_be_judged_in_one_run_is_neither_fixed_nor_broken() -> None:
    wrong = evidence([GOLD], [{**GOLD, "total": 6}])
    failed = evidence([GOLD], [GOLD]).with_columns(
        pl.when(pl.col("field") == "total")
        .then(pl.lit("failed"))
        .otherwise(pl.col("outcome"))
        .alias("outcome")
    )
    found = find_changes(wrong, failed)
    assert (found.table.height, found.undecided, found.still_wrong) == (0, 1, 0)


VALUES = st.one_of(
    st.none(), st.sampled_from(["p", "q", 5, "5", True, [], ["p"], {"city": "x"}, {"sku": "x1"}])
)
PREDICTIONS = st.fixed_dictionaries(
    {
        "total": VALUES,
        "name": VALUES,
        "tags": st.one_of(VALUES, st.lists(VALUES, max_size=4)),
        "lines": st.one_of(
            VALUES,
            st.lists(st.one_of(VALUES, st.fixed_dictionaries({"sku": VALUES, "price": VALUES})), max_size=3),
        ),
        "place": VALUES,
    }
)


@given(before=PREDICTIONS, after=PREDICTIONS)
def test_no_prediction_adds_or_takes_gold_values(before: dict[str, Any], after: dict[str, Any]) -> None:
    one, other = (evidence([GOLD], [pred]) for pred in (before, after))
    there, back = find_changes(one, other), find_changes(other, one)
    assert totals(there) == totals(back)[::-1]
    assert there.still_wrong == back.still_wrong
    rows = one.filter((pl.col("kind") == "value") & pl.col("gold_path").is_not_null()).collect()
    assert rows["gold_path"].is_unique().all()
    assert (
        count_wrong(one) - there.count("fixed")
        == there.still_wrong
        == count_wrong(other) - there.count("broken")
    )


def totals(found: Changes) -> list[int]:
    return [found.count("fixed"), found.count("broken")]


def count_wrong(frame: pl.LazyFrame) -> int:
    is_wrong = (pl.col("kind") == "value") & ~pl.col("outcome").is_in(["match", "absent", "failed"])
    return frame.filter(is_wrong).collect().height


def test_the_order_of_rows_does_not_matter() -> None:
    good, bad = (
        evidence([GOLD] * 4, [GOLD] * 4),
        evidence([GOLD] * 4, [{**GOLD, "total": 6, "tags": ["r", "r"]}] * 4),
    )
    shuffled = bad.collect().sample(fraction=1.0, shuffle=True, seed=1).lazy()
    assert find_changes(good, shuffled).table.equals(find_changes(good, bad).table)


# What the reports of a diff say, and what hostile documents can do to them: nothing

Make = Callable[..., Path]

HOSTILE = [
    "</section><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "| a | b |\n# head",
    "[click](javascript:alert(1)) `code` **bold** @everyone",
    '=HYPERLINK("http://x")',
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe\u2066",
    "\ud800 lone",
    "a\0b",
    "y" * 100_000,
    "&amp; &lt;",
]


@pytest.fixture(scope="module")
def hostile(make_run: Make) -> Diff:
    names = [f"{at} {text[:100]}" for at, text in enumerate(HOSTILE)]
    spec = {"data": {"id_key": "id"}, "fields": {"<b>f</b>|x": "text", "ok": "text"}}
    gold = [{"id": name, "<b>f</b>|x": text, "ok": "v"} for name, text in zip(names, HOSTILE, strict=True)]
    worse = [
        {**row, "<b>f</b>|x": f"{row['<b>f</b>|x']}!", "ok": text}
        for row, text in zip(gold, HOSTILE[::-1], strict=True)
    ]
    return diff_runs(
        make_run(spec, gold, {"<script>s</script>|": gold, "b\x1b[1m": worse}, "--bootstrap", 50)
    )


def test_json_is_complete_and_plain(hostile: Diff) -> None:
    data = json.loads(json_text(hostile.to_dict()))
    assert data["changes"]["broken"] == len(data["changes"]["broken_values"]) == 2 * len(HOSTILE)
    assert max(len(row["gold"]) for row in data["changes"]["broken_values"]) > 100_000
    assert list(data["changes"]["broken_values"][0]) == list(COLUMNS)
    for one, other in zip(data["overall"], hostile.overall, strict=True):
        assert convert(one, Comparison) == other


REPORTS_SPEC = {"fields": {"total": {"type": "number", "critical": True}, "name": "text"}}
REPORTS_GOLD = [{"id": f"d{at}", "total": at, "name": "x"} for at in range(12)]


def rendered(make_run: Make, change: Callable[[int, dict[str, Any]], dict[str, Any]], **options: Any) -> str:
    runs = [
        make_run(REPORTS_SPEC, REPORTS_GOLD, {name: rows})
        for name, rows in (
            ("old", REPORTS_GOLD),
            ("new", [change(at, row) for at, row in enumerate(REPORTS_GOLD)]),
        )
    ]
    return lay_out_terminal(describe_diff(diff_runs(*runs, options=DiffOptions(**options)), 3), Screen(200))


def test_a_real_loss_is_called_worse_with_its_values(make_run: Make) -> None:
    text = rendered(make_run, lambda at, row: {**row, "total": at + 1})
    assert "new is worse than old by 50.0 points of accuracy" in text
    assert "0 values fixed, 12 broken, 0 wrong in both" in text
    assert "3 of 12" in text
    assert re.search(r"d0 +total +0 +0 +1 .*\(critical\)", text)
    assert re.search(r"points of the score lost by field.*total +0\.0 +50\.0 +−50\.0", text, re.DOTALL)


def spoiled(documents: range) -> list[dict[str, Any]]:
    """Return gold with a wrong name in some documents."""
    return [{**row, "name": "y"} if at in documents else row for at, row in enumerate(REPORTS_GOLD)]


def test_no_shown_difference_is_given_the_difference_that_would_be_found(make_run: Make) -> None:
    gold = [{**row, "id": f"{row['id']}-{part}"} for part in range(5) for row in REPORTS_GOLD]
    sides = [
        [{**row, "name": "y"} if at in wrong else row for at, row in enumerate(gold)]
        for wrong in (range(8), range(8, 18))
    ]
    runs = [make_run(REPORTS_SPEC, gold, {name: rows}) for name, rows in zip("ab", sides, strict=True)]
    diff = diff_runs(*runs)
    text = lay_out_terminal(describe_diff(diff, 3), Screen(200))
    assert "no clear difference between a and b in accuracy (−1.7 points" in text
    [one] = [one for one in diff.overall if one.metric == "accuracy"]
    said = f"60 documents are likely to show only differences above about {100 * one.detectable:.1f} points"
    assert said in " ".join(text.split())
    needed = re.search(r"To show 1.7 points you need about ([\d,]+) documents", " ".join(text.split()))
    assert int(needed[1].replace(",", "")) == pytest.approx(one.documents_needed, rel=0.1)
    assert "in fields marked “not shown”, only changes above about" in text


def test_the_same_answers_are_called_identical(make_run: Make) -> None:
    text = rendered(make_run, lambda _, row: row)
    assert "identical in every document" in text
    assert "0 values fixed, 0 broken, 0 wrong in both" in text


def test_more_systems_are_told_by_their_places(make_run: Make) -> None:
    systems = {
        "good": REPORTS_GOLD,
        "same": REPORTS_GOLD,
        "bad": [{**row, "total": 99, "name": "z"} for row in REPORTS_GOLD],
    }
    found = diff_runs(make_run(REPORTS_SPEC, REPORTS_GOLD, systems, "--reference", "good"))
    text = lay_out_terminal(describe_diff(found), Screen(160))
    assert "accuracy: 2 of 3 pairs of systems differ by more than chance" in text
    assert re.search(r"^1 to 2 +good .* reference$", text, re.MULTILINE)
    assert re.search(r"^1 to 2 +same .* identical$", text, re.MULTILINE)
    assert re.search(r"^3 +bad .* worse$", text, re.MULTILINE)


@pytest.mark.parametrize("key", ["field", "metric", "n", "<b>|"])
def test_a_slice_may_be_called_anything(make_run: Make, key: str) -> None:
    gold = [{**row, key: "left" if at % 2 else "right"} for at, row in enumerate(REPORTS_GOLD)]
    spec = {"fields": {**REPORTS_SPEC["fields"], key: "text"}, "slices": [key]}
    systems = {"a": gold, "b": [{**row, "total": 99} for row in gold], "c": gold}
    run = make_run(spec, gold, systems, "--bootstrap", 0)
    two = lay_out_terminal(describe_diff(diff_runs(f"{run}:a", f"{run}:b"), 0), Screen(160))
    assert [
        len(re.findall(rf"^{value} +6 .* worse here$", two, re.MULTILINE)) for value in ("left", "right")
    ] == [
        1,
        1,
    ]
    three = lay_out_markdown(describe_diff(diff_runs(run), 0))
    assert three.count(": left, n = 6:") == three.count(": right, n = 6:") == 1


# Which runs and systems are meant, and which runs are not compared

REFUSALS_SPEC = {"fields": {"total": "number", "name": "text"}}
REFUSALS_GOLD = [{"id": f"d{at}", "total": at, "name": "x"} for at in range(8)]
WORSE = [{**row, "total": 100} for row in REFUSALS_GOLD]


@pytest.fixture(scope="module")
def one(make_run: Make) -> Path:
    return make_run(REFUSALS_SPEC, REFUSALS_GOLD, {"m": WORSE}, "--bootstrap", 100, name="one")


@pytest.fixture(scope="module")
def other(make_run: Make) -> Path:
    return make_run(REFUSALS_SPEC, REFUSALS_GOLD, {"m": REFUSALS_GOLD}, "--bootstrap", 100, name="other")


@pytest.fixture(scope="module")
def three(make_run: Make) -> Path:
    return make_run(
        REFUSALS_SPEC,
        REFUSALS_GOLD,
        {"a": WORSE, "b": REFUSALS_GOLD, "c:d": REFUSALS_GOLD},
        "--bootstrap",
        100,
        name="three",
    )


def refusal(*references: Any, **options: Any) -> str:
    with pytest.raises(ProblemsError) as caught:
        diff_runs(*references, options=DiffOptions(**options))
    return str(caught.value)


def labels(*references: Any, **options: Any) -> list[str]:
    return [side.label for side in diff_runs(*references, options=DiffOptions(**options)).sides]


def test_systems_are_called_by_what_tells_them_apart(one: Path, other: Path, three: Path) -> None:
    assert labels(f"{three}:a", f"{three}:c:d") == ["a", "c:d"]
    assert labels(three) == ["a", "b", "c:d"]
    assert labels(one, other) == ["one", "other"]
    assert labels(f"{one}:m", f"{three}:b") == ["m", "b"]
    assert labels(one, other, three) == ["one:m", "other:m", "three:a", "three:b", "three:c:d"]


def test_the_reference_of_a_run_comes_first_unless_systems_are_named(make_run: Make) -> None:
    run = make_run(REPORTS_SPEC, REPORTS_GOLD, dict.fromkeys("abc", REPORTS_GOLD), "--reference", "b")
    assert labels(run) == ["b", "a", "c"]
    assert {comparison.systems for comparison in diff_runs(run).overall} == {("b", "a"), ("b", "c")}
    assert labels(f"{run}:a", f"{run}:b") == ["a", "b"]


def test_runs_are_found_in_a_store_by_name(one: Path, other: Path, tmp_path: Path) -> None:
    for run in (one, other):
        shutil.copytree(run, tmp_path / "store" / run.name)
    assert labels("one:m", "other", runs=tmp_path / "store") == ["one", "other"]


NOT_THERE: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "no such run": (("nowhere",), {}, "no store of runs"),
    "no such system": (("THREE:x",), {}, "has no system 'x'; one of: a, b, c:d"),
    "a near name": (("THREE:c:e", "THREE:a"), {}, "did you mean 'c:d'?"),
    "one system of one run": (("THREE:a",), {}, "a comparison needs two"),
    "a run of one system": (("ONE",), {}, "has one system, 'm'"),
    "twice the same": (("ONE", "ONE"), {}, "given twice"),
    "twice the same system": (("THREE:a", "THREE"), {}, "given twice"),
    "an unknown metric": (("ONE", "OTHER"), {"metrics": ("acuracy",)}, "accuracy"),
    "a metric of fields": (("ONE", "OTHER"), {"metrics": ("field_accuracy",)}, "field_accuracy[FIELD]"),
    "a metric of another field": (("ONE", "OTHER"), {"metrics": ("recall[totl]",)}, "did you mean 'total'?"),
    "a metric that was not kept": (("ONE", "OTHER"), {"metrics": ("latency_p50",)}, "lack the statistics of"),
    "an unknown slice": (("ONE", "OTHER"), {"slices": ("type",)}, "no slice 'type'"),
    "no run": ((), {}, "no run is named"),
    "an empty name": (("",), {}, "is not a run"),
    "a very long name": (("x:" * 50_000,), {}, "is not a run"),
    "a name with NUL": (("a\0b:c",), {}, "is not a run"),
}


@pytest.mark.parametrize(("references", "options", "said"), NOT_THERE.values(), ids=NOT_THERE)
def test_what_is_not_there_is_said(
    references: Any, options: Any, said: str, one: Path, other: Path, three: Path
) -> None:
    places = {"ONE": one, "OTHER": other, "THREE": three}
    named = [
        reference if not reference[:3].isupper() else _placed(reference, places) for reference in references
    ]
    assert said in refusal(*named, **options)


def _placed(reference: str, places: dict[str, Path]) -> str:
    name, colon, system = reference.partition(":")
    return f"{places[name]}{colon}{system}"


def test_all_references_are_complained_of_at_once(one: Path) -> None:
    assert refusal("nowhere", one, "elsewhere").count("no store of runs") == 2


def edited(run: Path, target: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    shutil.copytree(run, target)
    facts = json.loads((run / "run.json").read_text(encoding="utf-8"))
    change(facts)
    (target / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    return target


def test_an_identical_run_is_identical(one: Path, tmp_path: Path) -> None:
    found = diff_runs(one, edited(one, tmp_path / "same", lambda facts: None))
    assert found.is_identical
    assert {(each.difference, each.p, each.verdict) for each in (*found.overall, *found.by_field)} == {
        (0.0, 1.0, "identical")
    }
    assert (found.changes.table.height, found.changes.still_wrong) == (0, 8)


OTHER_SPECS = {
    "another type": (
        {"fields": {"total": "text", "name": "text"}},
        "another spec",
        'fields.total.type was "number", is now "text"',
    ),
    "another field": ({"fields": {"total": "number"}}, "another spec", "fields.name was removed"),
    "another metric": (
        {**REFUSALS_SPEC, "metrics": ["accuracy"]},
        "other formulas",
        "metrics was",
    ),
}


@pytest.mark.parametrize(("spec", "part", "told"), OTHER_SPECS.values(), ids=OTHER_SPECS)
def test_another_spec_is_refused_in_words_with_a_remedy(
    make_run: Make, one: Path, spec: Any, part: str, told: str
) -> None:
    said = refusal(
        one, make_run(spec, REFUSALS_GOLD, {"m": REFUSALS_GOLD}, "--bootstrap", 0, name="new"), is_common=True
    )
    assert part in said
    assert told in said
    assert f"fieldassay runs show {one}" in said
    assert len(said.splitlines()) == 1


def test_other_models_are_refused(one: Path, tmp_path: Path) -> None:
    def change(facts: dict[str, Any]) -> None:
        facts["models"] = [{"name": "tiny", "digest": "abc"}]
        facts["digests"]["models"] = "f" * 64

    assert "other models" in refusal(one, edited(one, tmp_path / "models", change))


@pytest.mark.parametrize("part", ["spec", "formulas", "models", "gold"])
def test_a_run_that_does_not_say_what_it_stands_on_is_refused(one: Path, tmp_path: Path, part: str) -> None:
    silent = edited(one, tmp_path / "silent", lambda facts: facts["digests"].pop(part))
    for runs in ((one, silent), (silent, one)):
        assert f"lacks the digest of its {part}" in refusal(*runs, is_common=True)


def test_other_labels_are_refused_or_left_out_loudly(make_run: Make, one: Path) -> None:
    relabeled = make_run(
        REFUSALS_SPEC,
        [{**REFUSALS_GOLD[0], "total": 77}, *REFUSALS_GOLD[1:]],
        {"m": REFUSALS_GOLD},
        "--bootstrap",
        100,
        name="relabeled",
    )
    assert "1 document changed (d0)" in refusal(one, relabeled)
    found = diff_runs(one, relabeled, options=DiffOptions(is_common=True))
    [warning] = found.warnings
    assert "only on the 7 documents that all runs share with equal gold" in warning
    assert "1 document in common left out" in warning
    assert (found.documents, found.overall[0].documents) == (7, 7)
    assert {row.doc for row in found.changes.rows("fixed")} == {f"d{at}" for at in range(1, 8)}
    assert found.losses == (FieldLoss("total", 0.5, 0.0),)


def test_common_documents_need_no_evidence(make_run: Make, one: Path) -> None:
    gold = [{**REFUSALS_GOLD[0], "acceptable_variations": {"total": [77]}}, *REFUSALS_GOLD[1:4]]
    few = make_run(
        REFUSALS_SPEC, gold, {"m": REFUSALS_GOLD}, "--bootstrap", 0, "--evidence", "none", name="few"
    )
    found = diff_runs(one, few, options=DiffOptions(is_common=True))
    assert found.documents == 3
    assert "1 document in common left out" in found.warnings[0]


def test_runs_without_a_common_document_are_not_offered_to_be_compared(make_run: Make, one: Path) -> None:
    strange = [{**row, "id": f"x{row['id']}"} for row in REFUSALS_GOLD]
    apart = make_run(REFUSALS_SPEC, strange, {"m": strange}, "--bootstrap", 0, name="apart")
    assert "--common" not in refusal(one, apart)
    assert "no document in common" in refusal(one, apart, is_common=True)


def test_another_version_is_remarked(one: Path, tmp_path: Path) -> None:
    older = edited(one, tmp_path / "older", lambda facts: facts["versions"].update(fieldassay="0.0.1"))
    assert "different versions of fieldassay" in " ".join(diff_runs(older, one).notes)


def test_runs_without_evidence_are_compared_without_values(make_run: Make, one: Path) -> None:
    bare = make_run(
        REFUSALS_SPEC,
        REFUSALS_GOLD,
        {"m": REFUSALS_GOLD},
        "--bootstrap",
        0,
        "--evidence",
        "none",
        name="bare",
    )
    found = diff_runs(one, bare)
    assert found.changes is None
    assert "kept no judged values" in found.reason
    assert found.overall[0].difference > 0.4


@pytest.mark.parametrize("key", ["bootstrap", "inputs", "versions", "spec", "kept", "models"])
def test_facts_that_are_missing_are_said_to_be(one: Path, other: Path, tmp_path: Path, key: str) -> None:
    for value in (None, 5, {}, []):
        broken = edited(one, tmp_path / f"{value}", lambda facts, value=value: facts.update({key: value}))  # type: ignore[misc]
        try:
            diff_runs(other, broken)
        except ProblemsError as error:
            assert str(broken) in str(error)


def test_systems_are_joined_by_their_labels_and_never_twice_under_one(one: Path) -> None:
    run = NamedRun("one", Run.open(one))
    with pytest.raises(ValueError, match="same label"):
        join_data([Contestant("a", "m", run), Contestant("a", "m", run)])
    joined = join_data([Contestant("a", "m", run), Contestant("b", "m", run)], ["d3", "d1", "zz"])
    assert [(system.system, system.documents) for system in joined.systems] == [
        ("a", ("d1", "d3")),
        ("b", ("d1", "d3")),
    ]


# The numbers of a diff against plain computations without shared code, and against one run

FIELDS = ("a", "b", "c", "d")
ORACLE_SPEC = {
    "fields": {**dict.fromkeys(FIELDS, "text"), "kind": "text"},
    "slices": ["kind"],
    "metrics": ["accuracy", "f1", "recall"],
}
WRONG = {"wrong": "no", "missing": None}

Row = dict[str, Any]


def make_data(seed: int, documents: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Return gold and two predictions; some values are missing, wrong or spurious."""
    draw = random.Random(seed)
    gold = [
        {
            "id": f"d{at}",
            "kind": draw.choice("xy"),
            **{field: draw.choice(["v", "w", None]) for field in FIELDS},
        }
        for at in range(documents)
    ]
    return gold, *([_answer(row, draw, quality) for row in gold] for quality in (0.75, 0.9))


def _answer(row: Row, draw: random.Random, quality: float) -> Row:
    others = ["v", "w", "other", None]
    return {
        key: value if key in ("id", "kind") or draw.random() < quality else draw.choice(others)
        for key, value in row.items()
    }


def is_right(gold: Row, pred: Row, field: str) -> bool:
    return gold[field] == pred[field]


Case = tuple[list[Row], list[Row], list[Row], Diff]


@pytest.fixture(scope="module", params=[1, 2, 3])
def case(request: pytest.FixtureRequest, make_run: Callable[..., Path]) -> Case:
    gold, before, after = make_data(request.param, 13)
    runs = [
        make_run(ORACLE_SPEC, gold, {"m": rows}, "--bootstrap", 200, name=name)
        for name, rows in (("before", before), ("after", after))
    ]
    return gold, before, after, diff_runs(*runs, options=DiffOptions(metrics=("accuracy", "f1")))


def test_fixed_and_broken_are_found_by_a_plain_loop_too(case: Case) -> None:
    gold, before, after, found = case
    wanted: dict[str, set[tuple[str, str]]] = {"fixed": set(), "broken": set()}
    still = 0
    for row, one, other in zip(gold, before, after, strict=True):
        for field in FIELDS:
            was, now = is_right(row, one, field), is_right(row, other, field)
            still += not was and not now
            if was != now:
                wanted["fixed" if now else "broken"].add((row["id"], field))
    assert {
        change: {(row.doc, row.path) for row in found.changes.rows(change)} for change in wanted
    } == wanted
    assert {change: found.changes.count(change) for change in wanted} == {
        change: len(places) for change, places in wanted.items()
    }
    assert found.changes.still_wrong == still
    for name in ("by_field", "by_document", "by_diagnosis"):
        tallies = getattr(found.changes, name)()
        assert (sum(one.fixed for one in tallies), sum(one.broken for one in tallies)) == (
            len(wanted["fixed"]),
            len(wanted["broken"]),
        )


@pytest.mark.parametrize("documents", [9, 40])
def test_two_runs_compare_as_the_same_systems_in_one_run(
    make_run: Callable[..., Path], documents: int
) -> None:
    gold, before, after = make_data(7, documents)
    one, other = (
        make_run(ORACLE_SPEC, gold, {name: rows}, name=name) for name, rows in (("a", before), ("b", after))
    )
    both = make_run(ORACLE_SPEC, gold, {"a": before, "b": after})
    apart, together = diff_runs(one, other), diff_runs(both)
    assert [side.label for side in apart.sides] == [side.label for side in together.sides] == ["a", "b"]
    for name in ("overall", "by_field", "by_slice"):
        assert [found.to_dict() for found in getattr(apart, name)] == [
            found.to_dict() for found in getattr(together, name)
        ]
        assert getattr(apart, name)
    written = read_comparisons((both / COMPARISONS).read_bytes()).comparisons
    assert list(written) == [*apart.overall, *apart.by_slice]
    assert apart.changes.table.equals(together.changes.table)


def test_after_and_before_exchanged_turn_everything_around(make_run: Callable[..., Path]) -> None:
    gold, before, after = make_data(5, 12)
    one, other = (make_run(ORACLE_SPEC, gold, {name: rows}) for name, rows in (("a", before), ("b", after)))
    there, back = diff_runs(one, other), diff_runs(other, one)
    for first, second in zip((*there.overall, *there.by_field), (*back.overall, *back.by_field), strict=True):
        assert second.difference is not None
        assert (first.p, first.wins, first.losses) == (second.p, second.losses, second.wins)
        assert math.isclose(first.difference, -second.difference, abs_tol=1e-12)
    assert (there.changes.count("fixed"), there.changes.count("broken")) == (
        back.changes.count("broken"),
        back.changes.count("fixed"),
    )
