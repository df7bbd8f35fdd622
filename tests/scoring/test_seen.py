"""Documents that a system was tuned on are told of."""

import json
from pathlib import Path
from typing import Any

import fieldassay as fa
from fieldassay.extraction.systems import ExtractionInput, open_system
from fieldassay.records.files import MANIFEST, PREDICTIONS
from fieldassay.spec.language.parse import read_spec

SPEC: dict[str, Any] = {"fields": {"total": "integer"}}
GOLD = [{"id": f"d{at}", "total": at} for at in range(10)]


def extraction(folder: Path, *seen: str) -> Path:
    """Write what `extract` writes, of a system that was tuned on some documents."""
    folder.mkdir()
    (folder / MANIFEST).write_text(json.dumps({"schema_version": 1, "status": "complete", "seen": seen}))
    (folder / PREDICTIONS).write_text("\n".join(json.dumps(row) for row in GOLD))
    return folder


def test_a_system_tuned_on_scored_documents_is_told_of(tmp_path: Path) -> None:
    systems = {"a": extraction(tmp_path / "a", "d1.pdf", "d2", "other"), "b": extraction(tmp_path / "b")}
    [warning] = [one for one in fa.score(GOLD, systems, SPEC).warnings if "tuned on" in one]
    assert warning.startswith("a was tuned on 2 of 10 documents")


def test_a_file_of_systems_says_what_a_prompt_was_tuned_on(tmp_path: Path) -> None:
    (tmp_path / "dev.jsonl").write_text('{"id": "d1", "total": 1}\n{"id": "d7", "total": 7}\n')
    (tmp_path / "systems.yaml").write_text("systems: {a: {strategy: rules, tuned_on: dev.jsonl}}")
    with open_system(tmp_path / "systems.yaml", read_spec(SPEC), ExtractionInput()) as system:
        assert system.seen == ("d1", "d7")
