"""A call of its own decides the type of a document; the next one asks for the fields of that type alone."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from extraction import answer, document, play
from tests.extraction.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion

from fieldassay.commands.extract import ExtractOptions, extract
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import Answer, Attachment, Failure
from fieldassay.extraction.examples.examples import Shown
from fieldassay.extraction.strategies.detect import Detect
from fieldassay.extraction.strategies.prompted import Decode, Input, Prompted, Split
from fieldassay.extraction.strategies.prompts import Prompt
from fieldassay.extraction.strategies.verify import Verify
from fieldassay.extraction.strategy import Example, Task
from fieldassay.spec.language.parse import read_spec

SPEC: dict[str, Any] = {
    "document_type": {"field": "kind", "aliases": {"invoice": ["tax invoice"], "statement": [], "memo": []}},
    "fields": {
        "kind": "text",
        "total": {"type": "money", "applies_to": ["tax invoice"]},
        "days": {"items": "date", "applies_to": ["statement"]},
        "lines": {
            "applies_to": ["invoice", "statement"],
            "items": {"fields": {"name": "text", "iban": {"applies_to": ["statement"]}}},
        },
    },
    "prices": {"m": {"prompt": 1.0, "completion": 0.0}, "small": {"prompt": 10.0, "completion": 0.0}},
}
PAGES = "Invoice\nTotal 5.00", "Oak"
PICTURES = tuple(Attachment(name, "image/png", bytes) for name in "ab")
EXAMPLES = tuple(
    Example(document(text, name=text), {"kind": kind, "total": total})
    for text, kind, total in [("Tax Invoice 7.00", "TAX INVOICE", "7.00"), ("Bank", "statement", None)]
)
TASK = Task(read_spec(SPEC), EXAMPLES, images=PICTURES)
BASE = Prompted("e", "m", detect=Detect(prompts={"invoice": Prompt("Only invoices.")}))
PART = {"total": "5.00", "lines": [{"name": "Oak"}]}
WHOLE = {"kind": "invoice", "total": "5.00", "days": [], "lines": [{"name": "Oak", "iban": None}]}
NOTHING = {"kind": None, "total": None, "days": [], "lines": []}


def sent(request: Any) -> str:
    return json.dumps([request.body["messages"], [one.sha256 for one in request.attachments]])


def reply(kind: object) -> Any:
    """Answer detections with a type, and extractions with what stands in their part of the document."""
    parts = {"detect": {"kind": kind}, "chunk 1/2": {"total": "5.00"}}
    return lambda request: answer(
        WHOLE if "- kind: " in sent(request) and request.step == "extract" else parts.get(request.step, PART)
    )


VARIANTS: dict[str, tuple[dict[str, Any], list[str], str, str]] = {
    "text": ({}, ["detect", "extract"], "Oak", "Oak"),
    "JSON without a schema": ({"decode": Decode("json_object")}, ["detect", "extract"], '\\"memo', "name"),
    "no format": ({"decode": Decode("text")}, ["detect", "extract"], '\\"memo', "name"),
    "pages": ({"split": Split(1, 0)}, ["detect", "chunk 1/2", "chunk 2/2"], "one of invoice, s", "Oak"),
    "fields": ({"split": Split(fields=1)}, ["detect", "chunk 1/2", "chunk 2/2"], "Oak", "- lines[]: list"),
    "images": ({"input": Input("images")}, ["detect", "extract"], '["a", "b"]', '["a", "b"]'),
    "both": ({"input": Input("both")}, ["detect", "extract"], '["a", "b"]', "Oak"),
    "examples": ({"examples": Shown("x")}, ["detect", "extract"], '\\"statement\\"', "Tax Invoice 7.00"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_second_call_asks_for_the_fields_of_the_type_with_the_prompt_of_the_type(name: str) -> None:
    options, steps, first, last = VARIANTS[name]
    requests, found = play(replace(BASE, **options), document(*PAGES), TASK, reply("invoice"))
    told = [sent(one) for one in requests]
    assert [one.step for one in requests] == steps and first in told[0] and last in told[-1]
    assert ("Oak" in told[0]) is (name not in ("pages", "images")) and "Only invoices" not in told[0]
    assert all("Only invoices." in one and "- days" not in one and "Bank" not in one for one in told[1:])
    assert found.record == WHOLE and list(found.record) == list(WHOLE)
    assert found.evidence == {} if name == "images" else found.evidence["kind"].quote == "Invoice"
    assert len(json.loads(found.raw)) == len(steps) and '"invoice"' in json.loads(found.raw)[0]


def test_the_answer_to_a_detection_is_closed_and_its_model_may_be_another() -> None:
    own = Detect(Prompt("Which?"), "small", "f", {})
    (first, second), _ = play(replace(BASE, detect=own), document(*PAGES), TASK, reply("Tax  Invoice"))
    schema = first.body["response_format"]["json_schema"]["schema"]["properties"]
    assert schema == {"kind": {"type": ["string", "null"], "enum": ["invoice", "statement", "memo", None]}}
    assert (first.endpoint, first.body["model"]) == ("f", "small") and "Which?" in sent(first)
    assert (second.endpoint, second.body["model"]) == ("e", "m") and "- total" in sent(second)


@pytest.mark.parametrize("kind", [None, "letter", "NOT_FOUND"])
def test_an_unknown_type_is_asked_for_all_fields_with_the_one_prompt_and_counted(kind: object) -> None:
    (_, second), found = play(BASE, document(*PAGES), TASK, reply(kind))
    (today,), _ = play(replace(BASE, detect=None), document(*PAGES), TASK, reply(kind))
    assert second == today and found.record == WHOLE and found.notes["unknown_type"] == 1


def test_a_type_that_no_word_of_the_document_bears_stays_and_its_missing_fields_are_not_asked_for() -> None:
    strict = replace(BASE, verify=Verify(quotes="require"))
    requests, found = play(strict, document(*PAGES), TASK, reply("memo"))
    assert len(requests) == 1 and found.record == {**NOTHING, "kind": "memo"}
    assert found.evidence["kind"].kind == "absent"


@pytest.mark.parametrize("bad", [Answer(None, Failure("refused", "", "answer")), answer("no idea")])
def test_a_detection_that_fails_is_the_failure_of_the_document(bad: Answer) -> None:
    requests, found = play(BASE, document(*PAGES), TASK, lambda request: bad)
    assert found.record is None and found.failure.kind == (bad.failure.kind if bad.failure else "not_json")
    assert {one.step for one in requests} <= {"detect", "reask"}


def systems(folder: Path, url: str, detect: object) -> str:
    (folder / "invoice.txt").write_text("Only invoices.")
    base = {"strategy": "prompted", "endpoint": "local", "model": "m", "detect": detect}
    ends = {"local": {"url": url}, "other": {"url": url}}
    (folder / "systems.json").write_text(json.dumps({"endpoints": ends, "systems": {"base": base}}, indent=0))
    return f"{folder / 'systems.json'}#base"


UNTYPED = {"fields": {"total": "money"}}
PROBLEMS: list[tuple[object, dict[str, Any], str]] = [
    (True, UNTYPED, ".detect: the spec names no types of documents; write `document_type: {field: NAME, aliases"),
    ({"prompts": {"invoise": "invoice.txt"}}, SPEC, "prompts.invoise: unknown document type 'invoise'; did you mean 'invoice'"),
    ({"prompts": {"invoice": "invoyce"}}, SPEC, ".detect.prompts.invoice: unknown prompt 'invoyce'"),
    ({"endpoint": "othr"}, SPEC, ".detect.endpoint: no endpoint 'othr'; did you mean 'other'?"),
    ({"promptz": {}}, SPEC, ".detect.promptz: unknown key 'promptz'; did you mean 'prompt'?"),
]  # fmt: skip


@pytest.mark.parametrize(("detect", "spec", "told"), PROBLEMS)
def test_what_cannot_be_detected_is_named_at_its_key(
    detect: object, spec: dict[str, Any], told: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Total 5.00")
    with pytest.raises(ProblemsError) as caught:
        extract(tmp_path, spec, tmp_path / "out", systems(tmp_path, "http://127.0.0.1:1/v1", detect))
    assert told in str(caught.value) and "systems.json:" in str(caught.value)


def test_both_calls_are_billed_once_summed_and_resumed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("\n".join(PAGES))

    def script(hit: Hit) -> Reply:
        return Reply(
            body=completion(json.dumps({"kind": "invoice"} if hit.body["model"] == "small" else PART))
        )

    with ScriptedServer(lambda hit: script(hit) if hit.body["model"] == "small" else Reply(401)) as server:
        detect = {"model": "small", "endpoint": "other", "prompts": {"invoice": "invoice.txt"}}
        system = systems(tmp_path, server.url, detect)
        assert not extract(
            tmp_path / "docs", SPEC, tmp_path / "out", system, ExtractOptions(jobs=0)
        ).is_complete
        server.script = script
        done = extract(tmp_path / "docs", SPEC, tmp_path / "out", system, ExtractOptions(jobs=0))
    assert done.is_complete and sorted(server.billed.values()) == [1, 1]
    row = json.loads(done.predictions.read_text())
    assert row["pred"] == WHOLE and row["usage"]["calls"] == 2
    assert row["usage"]["cost_usd"] == pytest.approx(100 * (10.0 + 1.0) / 1e6)
    first, *_, last = [hit.body for hit in server.hits]
    assert "Only invoices." in last["messages"][0]["content"] and "iban" not in json.dumps(last)
    assert "one of invoice, statement, memo" in first["messages"][0]["content"]
