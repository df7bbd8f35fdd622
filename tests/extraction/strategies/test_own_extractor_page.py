"""The programs on the page about extractors of one's own work."""

import hashlib
import importlib
import json
from pathlib import Path

import pytest
from tests.doc_pages import blocks
from tests.extraction.strategies import extraction

import fieldassay
from fieldassay.extraction.strategies.calls import Function
from fieldassay.extraction.strategy import Task
from fieldassay.extraction.systems import read_systems
from fieldassay.registry import _plugins
from fieldassay.spec.language.parse import read_spec

FUNCTION, AGENT, STRATEGY = blocks("docs/task-own-extractor.md", "python")
FUNCTION_FILE, AGENT_FILE, PLUGIN_FILE = blocks("docs/task-own-extractor.md", "yaml")
DOCUMENT = extraction.document("ACME\nTotal EUR 264.00")
TASK = Task(read_spec({"fields": {"total": "money"}}))


def test_the_function_extracts():
    held: dict = {}
    exec(FUNCTION, held)
    _, found = extraction.play(
        Function("mine:extract"), DOCUMENT, TASK, lambda asked: extraction.answer(held["extract"](asked.body))
    )
    assert found.record == {"total": "264.00"} and found.evidence["total"].quote == "264.00"
    assert list(read_systems(FUNCTION_FILE).systems) == ["rules", "mine"]


@pytest.mark.parametrize("name", ["a.txt", "deep/b.csv", "broken.pdf"])
def test_an_agent_opens_its_file_and_nothing_is_read_for_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"ACME Ltd\nTotal EUR 264.00"
    for folder in ("docs", "moved"):
        (tmp_path / folder / name).parent.mkdir(parents=True)
        (tmp_path / folder / name).write_bytes(content)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "systems.yaml").write_text(AGENT_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("fieldassay.documents.load.DocumentPool.load_all", None)
    spec, out = "fields: {supplier: text}", tmp_path / "out"
    for folder in ("docs", "moved"):
        extraction = fieldassay.extract(tmp_path / folder, spec, out, str(tmp_path / "systems.yaml"))
        [row] = map(json.loads, extraction.predictions.read_text().splitlines())
        assert row["pred"] == {"supplier": None if name.endswith("pdf") else "ACME Ltd"}
        assert (row["id"], row.get("evidence"), row.get("reused")) == (name, None, folder == "moved" or None)
    journal = (out / "journal.jsonl").read_text()
    assert hashlib.sha256(content).hexdigest() in journal and str(tmp_path / "docs") not in journal


def test_the_strategy_of_at_most_twenty_lines_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "acme_extractors.py").write_text(STRATEGY)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    plugins = {"acme.twice": "acme_extractors:Twice"}
    monkeypatch.setattr(
        "fieldassay.registry._plugins",
        lambda group: plugins if group == "fieldassay.extractors" else _plugins(group),
    )
    strategy = read_systems(PLUGIN_FILE).systems["twice"].strategy
    assert len(STRATEGY.split("class Twice")[1].splitlines()) <= 20
    for second, total in (("264.00", "264.00"), ("9", None)):
        answers = [extraction.answer({"total": "264.00"}), extraction.answer({"total": second})]
        requests, found = extraction.play(strategy, DOCUMENT, TASK, answers)
        assert len(requests) == 2 and found.record == {"total": total}
