"""The driver of requests, and the kinds of failure that it tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from tests.extraction.endpoints.driving import channels, drive, questions
from tests.extraction.endpoints.scripted_server import ScriptedServer

from fieldassay.extraction.endpoints.journal import NAME, lines_of
from fieldassay.extraction.endpoints.outcome import Action


def test_every_document_gets_its_answer_and_the_journal_holds_it(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        found, summary = drive(questions(20), tmp_path, channels(server.url, max_in_flight=4))
    assert {one: found[one].value.text for one in found} == {
        f"doc-{at}": f'{{"echo": "question {at}"}}' for at in range(20)
    }
    assert summary.stop is None and summary.progress.done == 20
    kinds = [line["kind"] for line in lines_of(tmp_path / NAME)]
    assert {kind: kinds.count(kind) for kind in kinds} == {"load": 20, "send": 20, "answer": 20, "end": 1}
    assert server.most_in_flight <= 4 and set(server.billed.values()) == {1}


def test_a_second_run_asks_for_nothing_and_gives_the_same(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        first, _ = drive(questions(5), tmp_path, channels(server.url))
        second, summary = drive(questions(7), tmp_path, channels(server.url))
        assert len(server.hits) == 7
    assert all(second[one].reused for one in first) and not second["doc-6"].reused
    assert [second[one].value.text for one in first] == [first[one].value.text for one in first]
    assert [second[one].timing.model_ms for one in first] == [first[one].timing.model_ms for one in first]
    assert summary.progress.reused == 5


ROOT = Path(__file__).parents[3]
NAMED_FIRST = {"Failure", "CommandError"}


def kinds() -> Iterator[str]:
    """Yield what stands after an action, or first in a failure, in the source of the package."""
    for path in sorted((ROOT / "src/fieldassay/extraction/endpoints").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                parts, name = node.args, getattr(node.func, "id", "")
                if name in NAMED_FIRST and parts and isinstance(parts[0], ast.Constant):
                    yield str(parts[0].value)
            else:
                parts = node.elts if isinstance(node, ast.Tuple) else []
            first = [part.value if isinstance(part, ast.Constant) else None for part in parts[:2]]
            if len(first) == 2 and first[0] in get_args(Action) and isinstance(first[1], str):
                yield first[1]


def test_every_kind_of_failure_is_documented() -> None:
    page = (ROOT / "docs/task-resume-and-cost.md").read_text(encoding="utf-8")
    found = set(kinds()) - {"", *get_args(Action)}
    assert {"auth", "rate_limited", "half_answer", "command_died", "budget", "truncated"} <= found
    assert sorted(kind for kind in found if f"`{kind}`" not in page) == []
