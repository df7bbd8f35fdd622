"""The programs on the page about extractors of one's own work."""

import importlib
from pathlib import Path

import pytest
from tests.doc_pages import blocks
from tests.extraction.strategies import extraction

from fieldassay.extraction.strategies.calls import Function
from fieldassay.extraction.strategy import Task
from fieldassay.extraction.systems.systems_file import read_systems
from fieldassay.registry import _plugins
from fieldassay.spec.language.parse import read_spec

FUNCTION, STRATEGY = blocks("docs/task-own-extractor.md", "python")
FUNCTION_FILE, PLUGIN_FILE = blocks("docs/task-own-extractor.md", "yaml")
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
