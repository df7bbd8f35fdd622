"""Which runs and systems are meant, and which runs are not compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldassay.decisions.diff.diff import DiffOptions, diff_runs
from fieldassay.decisions.diff.join import Contestant, join_data
from fieldassay.errors import ProblemsError
from fieldassay.runs.run import Run

Make = Callable[..., Path]
SPEC = {"fields": {"total": "number", "name": "text"}}
GOLD = [{"id": f"d{at}", "total": at, "name": "x"} for at in range(8)]
WORSE = [{**row, "total": 100} for row in GOLD]


@pytest.fixture(scope="module")
def one(make_run: Make) -> Path:
    return make_run(SPEC, GOLD, {"m": WORSE}, "--bootstrap", 100, name="one")


@pytest.fixture(scope="module")
def other(make_run: Make) -> Path:
    return make_run(SPEC, GOLD, {"m": GOLD}, "--bootstrap", 100, name="other")


@pytest.fixture(scope="module")
def three(make_run: Make) -> Path:
    return make_run(SPEC, GOLD, {"a": WORSE, "b": GOLD, "c:d": GOLD}, "--bootstrap", 100, name="three")


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


def test_options_choose_systems_of_one_run_and_of_two(one: Path, three: Path) -> None:
    assert labels(three, systems=("b", "a")) == ["b", "a"]
    assert labels(one, three, systems=(None, "c:d")) == ["m", "c:d"]


def test_the_reference_comes_first(three: Path) -> None:
    found = diff_runs(three, options=DiffOptions(reference="b"))
    assert [side.label for side in found.sides] == ["b", "a", "c:d"]
    assert {comparison.systems for comparison in found.overall} == {("b", "a"), ("b", "c:d")}


def test_runs_are_found_in_a_store_by_name(one: Path, other: Path, tmp_path: Path) -> None:
    for run in (one, other):
        shutil.copytree(run, tmp_path / "store" / run.name)
    assert labels("one:m", "other", runs=tmp_path / "store") == ["one", "other"]


NOT_THERE: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "no such run": (("nowhere",), {}, "no store of runs"),
    "no such system": (("THREE:x",), {}, "has no system 'x'; one of: a, b, c:d"),
    "a near name": (("THREE:c:e", "THREE:a"), {}, "did you mean 'c:d'?"),
    "one system of one run": (("THREE:a",), {}, "two are needed"),
    "a run of one system": (("ONE",), {}, "has one system, 'm'"),
    "twice the same": (("ONE", "ONE"), {}, "given twice"),
    "twice the same system": (("THREE:a", "THREE"), {}, "given twice"),
    "an unknown reference": (("THREE",), {"reference": "z"}, "there is no system 'z'"),
    "an ambiguous reference": (("ONE", "OTHER"), {"reference": "m"}, "2 systems are called 'm'"),
    "only one of two options": (("THREE",), {"systems": ("a", None)}, "--system-b"),
    "options for three runs": (("ONE", "OTHER", "THREE"), {"systems": ("m", "m")}, "RUN:SYSTEM"),
    "options that contradict": (("THREE:a", "ONE"), {"systems": ("b", None)}, "says 'b'"),
    "an unknown metric": (("ONE", "OTHER"), {"metrics": ("acuracy",)}, "accuracy"),
    "a metric of fields": (("ONE", "OTHER"), {"metrics": ("field_accuracy",)}, "field_accuracy[FIELD]"),
    "a metric of another field": (("ONE", "OTHER"), {"metrics": ("recall[totl]",)}, "did you mean 'total'?"),
    "a metric that was not kept": (("ONE", "OTHER"), {"metrics": ("latency_p50",)}, "did not keep"),
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
    assert found.changes is not None
    assert (found.changes.table.height, found.changes.still_wrong) == (0, 8)


def test_a_different_run_is_not_identical(one: Path, other: Path) -> None:
    assert not diff_runs(one, other).is_identical


OTHER_SPECS = {
    "another type": (
        {"fields": {"total": "text", "name": "text"}},
        "the specs differ",
        'fields.total.type was "number", is now "text"',
    ),
    "another field": ({"fields": {"total": "number"}}, "the specs differ", "fields.name was removed"),
    "another metric": ({**SPEC, "metrics": ["accuracy"]}, "the metrics' formulas differ", "metrics was"),
}


@pytest.mark.parametrize(("spec", "part", "told"), OTHER_SPECS.values(), ids=OTHER_SPECS)
def test_another_spec_is_refused_in_words_with_a_remedy(
    make_run: Make, one: Path, spec: Any, part: str, told: str
) -> None:
    said = refusal(one, make_run(spec, GOLD, {"m": GOLD}, "--bootstrap", 0, name="new"), is_common=True)
    assert part in said
    assert told in said
    assert f"fieldassay score --run {one}" in said
    assert "--spec" in said
    assert len(said.splitlines()) == 1


def test_other_models_are_refused(one: Path, tmp_path: Path) -> None:
    def change(facts: dict[str, Any]) -> None:
        facts["models"] = [{"name": "tiny", "digest": "abc"}]
        facts["digests"]["models"] = "f" * 64

    assert "the models differ" in refusal(one, edited(one, tmp_path / "models", change))


def test_every_part_that_differs_is_said(make_run: Make, one: Path) -> None:
    changed = make_run(
        {"fields": {"total": "text", "name": "text"}, "metrics": ["f1"]},
        GOLD[:5],
        {"m": GOLD},
        "--bootstrap",
        0,
    )
    said = refusal(one, changed)
    assert [part in said for part in ("specs", "formulas", "gold")] == [True, True, True]
    assert len(said.splitlines()) == 3


@pytest.mark.parametrize("part", ["spec", "formulas", "models", "gold"])
def test_a_run_that_does_not_say_what_it_stands_on_is_refused(one: Path, tmp_path: Path, part: str) -> None:
    silent = edited(one, tmp_path / "silent", lambda facts: facts["digests"].pop(part))
    for runs in ((one, silent), (silent, one)):
        assert f"does not say what it stands on ({part})" in refusal(*runs, is_common=True)


def test_other_labels_are_refused_or_left_out_loudly(make_run: Make, one: Path) -> None:
    relabeled = make_run(
        SPEC, [{**GOLD[0], "total": 77}, *GOLD[1:]], {"m": GOLD}, "--bootstrap", 100, name="relabeled"
    )
    assert "the same 8 documents, labeled differently" in refusal(one, relabeled)
    found = diff_runs(one, relabeled, options=DiffOptions(is_common=True))
    [warning] = found.warnings
    assert "only the 7 documents that all runs have with the same gold are compared" in warning
    assert "1 document in common left out" in warning
    assert (found.documents, found.overall[0].documents) == (7, 7)
    assert found.changes is not None
    assert {row.doc for row in found.changes.rows("fixed")} == {f"d{at}" for at in range(1, 8)}


def test_a_limited_run_is_compared_on_what_it_has(make_run: Make, one: Path) -> None:
    limited = make_run(
        SPEC, GOLD, {"m": GOLD}, "--bootstrap", 100, "--limit", 3, "--evidence", "errors", name="limited"
    )
    said = refusal(one, limited)
    assert "5 documents only in" in said
    assert "has the first 3 documents only" in said
    assert "--common" in said
    found = diff_runs(one, limited, options=DiffOptions(is_common=True))
    assert "only the 3 documents" in found.warnings[0]
    whole = diff_runs(one, make_run(SPEC, GOLD, {"m": GOLD}, "--bootstrap", 100, name="whole"))
    assert whole.documents == 8
    small = diff_runs(
        make_run(SPEC, GOLD[:3], {"m": WORSE}, "--bootstrap", 100, name="a"),
        make_run(SPEC, GOLD[:3], {"m": GOLD}, "--bootstrap", 100, name="b"),
    )
    for left, right in zip(found.overall, small.overall, strict=True):
        assert {**left.to_dict(), "systems": None} == {**right.to_dict(), "systems": None}


def test_common_documents_need_no_evidence(make_run: Make, one: Path) -> None:
    gold = [{**GOLD[0], "acceptable_variations": {"total": [77]}}, *GOLD[1:4]]
    few = make_run(SPEC, gold, {"m": GOLD}, "--bootstrap", 0, "--evidence", "none", name="few")
    found = diff_runs(one, few, options=DiffOptions(is_common=True))
    assert found.documents == 3
    assert "1 document in common left out" in found.warnings[0]


def test_runs_without_a_common_document_are_not_offered_to_be_compared(make_run: Make, one: Path) -> None:
    strange = [{**row, "id": f"x{row['id']}"} for row in GOLD]
    apart = make_run(SPEC, strange, {"m": strange}, "--bootstrap", 0, name="apart")
    assert "--common" not in refusal(one, apart)
    assert "no document in common" in refusal(one, apart, is_common=True)


def test_runs_that_were_drawn_differently_are_compared_and_it_is_said(make_run: Make, one: Path) -> None:
    drawn = make_run(SPEC, GOLD, {"m": GOLD}, "--bootstrap", 50, "--seed", 3, "--level", 0.9, name="drawn")
    found = diff_runs(one, drawn)
    assert (found.replicates, found.seed, found.level) == (100, 0, 0.95)
    assert "this comparison draws 100 replicates, seed 0, level 0.95" in " ".join(found.notes)
    asked = diff_runs(one, drawn, options=DiffOptions(replicates=0, seed=5, level=0.8))
    assert (asked.replicates, asked.seed, asked.overall[0].level, asked.overall[0].interval) == (
        0,
        5,
        0.8,
        None,
    )


def test_another_version_is_remarked(one: Path, tmp_path: Path) -> None:
    older = edited(one, tmp_path / "older", lambda facts: facts["versions"].update(fieldassay="0.0.1"))
    assert "different versions of fieldassay" in " ".join(diff_runs(older, one).notes)


def test_runs_without_evidence_are_compared_without_values(make_run: Make, one: Path) -> None:
    bare = make_run(SPEC, GOLD, {"m": GOLD}, "--bootstrap", 0, "--evidence", "none", name="bare")
    found = diff_runs(one, bare)
    assert found.changes is None
    assert "kept no judged values" in found.reason
    assert found.overall[0].difference is not None
    assert found.overall[0].difference > 0.4


def test_answers_that_failed_are_remarked(make_run: Make, one: Path) -> None:
    lacking = make_run(SPEC, GOLD, {"m": GOLD[:5]}, "--bootstrap", 0, name="lacking")
    assert "3 missing" in " ".join(diff_runs(one, lacking).notes)


DAMAGED = {
    "statistics.parquet": "statistics.parquet is not as the run wrote it",
    "evidence.parquet": "evidence.parquet is not as the run wrote it",
    "run.json": "is not a run folder",
}


@pytest.mark.parametrize(("file", "said"), DAMAGED.items())
def test_a_damaged_run_is_said_to_be_damaged(
    one: Path, other: Path, tmp_path: Path, file: str, said: str
) -> None:
    shutil.copytree(one, tmp_path / "bad")
    (tmp_path / "bad" / file).write_bytes(b"PAR1 nonsense")
    assert said in refusal(other, tmp_path / "bad")


@pytest.mark.parametrize("key", ["bootstrap", "inputs", "versions", "spec", "kept", "models"])
def test_facts_that_are_missing_are_said_to_be(one: Path, other: Path, tmp_path: Path, key: str) -> None:
    for value in (None, 5, {}, []):
        broken = edited(one, tmp_path / f"{value}", lambda facts, value=value: facts.update({key: value}))  # type: ignore[misc]
        try:
            diff_runs(other, broken)
        except ProblemsError as error:
            assert str(broken) in str(error)


def test_systems_are_joined_by_their_labels_and_never_twice_under_one(one: Path) -> None:
    data = Run.open(one).paired
    with pytest.raises(ValueError, match="same label"):
        join_data([Contestant("a", "m", data), Contestant("a", "m", data)])
    joined = join_data([Contestant("a", "m", data), Contestant("b", "m", data)], ["d3", "d1", "zz"])
    assert [(system.system, system.documents) for system in joined.systems] == [
        ("a", ("d1", "d3")),
        ("b", ("d1", "d3")),
    ]
