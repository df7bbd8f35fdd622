"""Requests reach the server, answers reach the journal first, and a second run asks for nothing."""

from __future__ import annotations

from pathlib import Path

from tests.extraction.endpoints.driving import channels, drive, questions
from tests.extraction.endpoints.scripted_server import ScriptedServer

from fieldassay.extraction.endpoints.journal import NAME, lines_of


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
