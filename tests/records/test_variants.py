"""Predictions of one document in several variants, in one source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.judging import score_alone as score

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.records.sources.memory import hold_records
from fieldassay.records.sources.variants import split_variants
from fieldassay.runs.documents import document_of_run
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs.options import InputOptions, ScoreOptions

SPEC = "fields: {x: integer}"
ROWS = [
    {"id": "a", "variant": "raw", "x": 1},
    {"id": "b", "variant": "raw", "x": 0},
    {"id": "a", "variant": " clean ", "x": 1},
    {"id": "b", "variant": "clean", "x": 2},
]
GOLD = [{"id": "a", "x": 1}, {"id": "b", "x": 2}]


def shape(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {name: list(part.ids()) for name, part in split_variants("m", hold_records(rows)).items()}


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        pytest.param(ROWS, {"m/raw": ["a", "b"], "m/clean": ["a", "b"]}, id="each-id-once-per-variant"),
        pytest.param(ROWS[:3], {"m/raw": ["a", "b"], "m/clean": ["a"]}, id="a-variant-may-lack-documents"),
        pytest.param([ROWS[0], {"id": "a", "x": 3}], {"m": ["a", "a"]}, id="as-many-records-without-variant"),
        pytest.param(ROWS[:2], {"m": ["a", "b"]}, id="ids-that-do-not-repeat"),
        pytest.param([*ROWS, ROWS[0]], {"m": ["a", "b", "a", "b", "a"]}, id="repeated-within-a-variant"),
        pytest.param([{"id": "a"}, {"id": "a"}], {"m": ["a", "a"]}, id="no-variant-at-all"),
        pytest.param([{"x": 1}, {"x": 1}], {"m": ["#1", "#2"]}, id="rows-without-ids"),
        pytest.param(
            [{"id": "a", "variant": 1}, {"id": "a", "variant": 2}],
            {"m": ["a", "a"]},
            id="a-number-is-no-variant",
        ),
        pytest.param(
            [{"id": "a", "variant": "x/y"}, {"id": "a", "variant": "Ü"}],
            {"m/x/y": ["a"], "m/Ü": ["a"]},
            id="any-text",
        ),
    ],
)
def test_a_source_is_taken_apart_by_variant_only_where_that_makes_ids_distinct(
    rows: list[dict[str, Any]], parts: dict[str, list[str]]
) -> None:
    assert shape(rows) == parts


def test_variants_are_scored_as_systems_against_the_same_gold_and_a_note_says_so() -> None:
    result = score(GOLD, {"m": ROWS}, f"slices: [variant]\n{SPEC}")
    assert {name: result.value("accuracy", name) for name in ("m/raw", "m/clean")} == {
        "m/raw": 0.5,
        "m/clean": 1.0,
    }
    assert list(result.notes) == ["m: has ids once per variant, so each variant is a system: m/raw, m/clean"]
    assert result.documents.select("system", "doc", "variant").rows() == [
        ("m/clean", "a", "clean"), ("m/clean", "b", "clean"), ("m/raw", "a", "raw"), ("m/raw", "b", "raw"),
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "missing"), [(ROWS, 0), (ROWS[1:3], 1)], ids=["repeating", "once"])
def test_a_system_named_after_a_variant_has_that_one_alone(rows: list[dict[str, Any]], missing: int) -> None:
    result = score(GOLD, {"m/raw": rows, "m/other": GOLD}, SPEC)
    assert result.systems == ("m/raw", "m/other")
    assert result.counts["systems"]["m/raw"]["missing"] == missing
    assert result.value("accuracy", "m/raw") == (0.5 if not missing else 0.0)
    assert len(result.notes) == missing  # which documents have no prediction


def test_a_record_without_a_variant_among_named_ones_is_the_problem() -> None:
    with pytest.raises(ProblemsError) as told:
        split_variants("m", hold_records([*ROWS, {"id": "a", "x": 3}]))
    assert [str(one) for one in told.value.problems] == [
        "records[4]: names no variant, as most records here do; add `variant`, or leave it out"
    ]


def test_a_line_whose_variant_cannot_be_seen_is_left_out_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join([*map(json.dumps, ROWS[:3]), '{"id": "b", "x": ']), encoding="utf-8")
    result = score(GOLD, path, SPEC)
    assert result.systems == ("m/raw", "m/clean")
    assert any("m.jsonl:4" in note for note in result.notes)
    assert result.counts["systems"]["m/clean"]["missing"] == 1


@pytest.mark.parametrize("evidence", ["all", "errors"])
def test_a_document_of_a_finished_run_is_explained_for_each_variant(tmp_path: Path, evidence: str) -> None:
    for name, rows in (("gold", GOLD), ("m", ROWS)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")
    names = [str(tmp_path / name) for name in ("spec.yaml", "gold.jsonl", "m.jsonl", "run")]
    assert (
        main(
            [
                "score",
                "--spec",
                names[0],
                "--gold",
                names[1],
                "--pred",
                names[2],
                "--out",
                names[3],
                "--evidence",
                evidence,
                "--quiet",
            ]
        )
        == 0
    )
    assert document_of_run(Run.open(tmp_path / "run"), "b").systems == ("m/raw", "m/clean")


def test_a_field_named_variant_is_data_and_takes_nothing_apart() -> None:
    with pytest.raises(ProblemsError, match="duplicate id 'a'"):
        score(GOLD, {"m": ROWS}, "fields: {x: integer, variant: text}")


def test_variants_of_systems_in_one_file_are_taken_apart_too(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "variant": name, "answers": {"p": {"x": 1}, "q": {"x": 2}}} for name in ("raw", "clean")
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = score(GOLD[:1], {"f": path}, SPEC, ScoreOptions(inputs=InputOptions(systems_key="answers")))
    assert sorted(result.documents["system"].to_list()) == ["p/clean", "p/raw", "q/clean", "q/raw"]


@pytest.mark.parametrize(
    ("gold", "predicted", "remedy"),
    [
        pytest.param(
            ROWS,
            GOLD,
            "keep one gold record per document, which serves every variant",
            id="gold-once-per-variant",
        ),
        pytest.param([*GOLD, *GOLD], GOLD, "keep one record per document", id="gold-twice"),
        pytest.param(
            GOLD,
            [*ROWS, *ROWS],
            "keep one record per document and variant",
            id="predictions-twice-in-a-variant",
        ),
        pytest.param(GOLD, [*GOLD, *GOLD], "keep one record per document", id="predictions-twice"),
    ],
)
def test_a_true_duplicate_is_an_error_that_says_what_to_do(
    gold: list[Any], predicted: list[Any], remedy: str
) -> None:
    with pytest.raises(ProblemsError) as refused:
        score(gold, {"m": predicted}, SPEC)
    assert {problem.kind for problem in refused.value.problems} == {"duplicate_id"}
    assert all(problem.remedy.startswith(remedy) for problem in refused.value.problems)


def test_a_variant_that_has_the_name_of_another_system_is_an_error() -> None:
    with pytest.raises(ProblemsError, match="system 'm/raw' is given twice"):
        score(GOLD, {"m/raw": GOLD, "m": ROWS}, SPEC)
