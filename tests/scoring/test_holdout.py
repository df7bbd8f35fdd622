"""A part of gold kept apart for the verdict, and documents that a system was tuned on."""

import json
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa
from fieldassay.errors import ProblemsError
from fieldassay.extraction.systems import ExtractionInput, open_system
from fieldassay.metrics.uncertainty.bootstrap import document_keys
from fieldassay.records.files import MANIFEST, PREDICTIONS
from fieldassay.spec.language.parse import read_spec

SPEC: dict[str, Any] = {"fields": {"total": "integer"}}


def rows(count: int, total: int = 1) -> list[dict[str, Any]]:
    return [{"id": f"d{at:03}", "total": total, "vendor": f"v{at // 5}"} for at in range(count)]


def documents(count: int = 200, *, gold: list[dict[str, Any]] | None = None, **options: Any) -> set[str]:
    known = rows(count) if gold is None else gold
    return set(fa.score(known, rows(len(known)), SPEC, **options).documents["doc"])


def test_each_document_is_in_one_part_by_a_digest_of_seed_and_id() -> None:
    choosing, verdict = documents(holdout=0.3), documents(holdout=0.3, verdict=True)
    assert choosing | verdict == documents() and not choosing & verdict
    names = [row["id"] for row in rows(200)]
    keys = document_keys([f"holdout {name}" for name in names], 0).tolist()
    assert verdict == {name for name, key in zip(names, keys, strict=True) if key < 0.3 * 2**64}
    assert 40 <= len(verdict) <= 80 and verdict != documents(holdout=0.3, verdict=True, seed=1)


def test_a_family_is_in_one_part_as_a_whole() -> None:
    verdict = documents(holdout=0.5, verdict=True, cluster="vendor")
    assert len({(row["vendor"], row["id"] in verdict) for row in rows(200)}) == 40
    assert 50 < len(verdict) < 150


def test_results_of_unlike_parts_are_not_compared_in_silence(tmp_path: Path) -> None:
    runs = {
        name: fa.score(rows(60), rows(60, total), SPEC, holdout=0.5, verdict=verdict).save(tmp_path / name)
        for name, total, verdict in (("a", 1, False), ("b", 1, True), ("c", 2, True))
    }
    with pytest.raises(ProblemsError, match="the part for the verdict only"):
        fa.diff(runs["a"], runs["b"])
    assert fa.diff(runs["b"], runs["c"]).changes.count("broken") > 0
    page = fa.gate(runs["b"], gates=["accuracy >= 0.9"])
    assert any("the part for the verdict" in remark for remark in page.remarks)


def test_a_part_can_be_a_baseline_of_the_same_part_alone(tmp_path: Path) -> None:
    options = {"holdout": 0.5, "verdict": True}
    run = fa.score(rows(60), rows(60), SPEC, **options).save(tmp_path / "run")
    fa.set_baseline(run, tmp_path / "baseline.json")
    same = fa.score(rows(60), rows(60), SPEC, **options).save(tmp_path / "same")
    [line, *_] = fa.check_baseline(same, tmp_path / "baseline.json", ["accuracy"])
    assert line.change is not None and line.change.difference == 0.0
    other = fa.score(rows(60), rows(60), SPEC, holdout=0.5, gates=["regression(accuracy) >= 0"])
    [decision] = fa.gate(
        other, gates=["regression(accuracy) >= 0"], baseline=tmp_path / "baseline.json"
    ).decisions
    assert decision.answer.value == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"verdict": True}, "write --holdout 0.5 --verdict"),
        ({"holdout": 1.0}, "holdout: must be a number above 0 and below 1"),
        ({"holdout": 0.001, "verdict": True}, "none of 10 documents is in the part for the verdict"),
    ],
)
def test_what_is_no_part_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ProblemsError, match=said):
        documents(10, **options)


# Documents that a system was tuned on are told of.


def extraction(folder: Path, *seen: str) -> Path:
    """Write what `extract` writes, of a system that was tuned on some documents."""
    folder.mkdir()
    (folder / MANIFEST).write_text(json.dumps({"schema_version": 1, "status": "complete", "seen": seen}))
    (folder / PREDICTIONS).write_text("\n".join(json.dumps(row) for row in rows(10)))
    return folder


def test_a_system_tuned_on_scored_documents_is_told_of(tmp_path: Path) -> None:
    systems = {"a": extraction(tmp_path / "a", "d001.pdf", "d002", "other"), "b": extraction(tmp_path / "b")}
    [warning] = [one for one in fa.score(rows(10), systems, SPEC).warnings if "tuned on" in one]
    assert warning.startswith("a was tuned on 2 of 10 documents")


def test_a_file_of_systems_says_what_a_prompt_was_tuned_on(tmp_path: Path) -> None:
    (tmp_path / "dev.jsonl").write_text('{"id": "d1", "total": 1}\n{"id": "d7", "total": 7}\n')
    (tmp_path / "systems.yaml").write_text("systems: {a: {strategy: rules, tuned_on: dev.jsonl}}")
    with open_system(tmp_path / "systems.yaml", read_spec(SPEC), ExtractionInput()) as system:
        assert system.seen == ("d1", "d7")
