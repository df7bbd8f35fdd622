"""A call of its own decides the type of a document; the next one asks for the fields of that type alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, completion
from tests.extraction.strategies.extraction import answer, document, play

from fieldassay.commands.extract import ExtractOptions, estimate_extraction, extract
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import Attachment, Failure, ModelAnswer
from fieldassay.extraction.strategies.merge import Verify
from fieldassay.extraction.strategies.prompted import Decode, Prompted, PromptInput, Split
from fieldassay.extraction.strategies.prompts import Detect, Prompt, ShownExamples
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
TASK = Task(
    read_spec(SPEC),
    tuple(
        Example(document(text, name=text), {"kind": kind})
        for text, kind in [("Tax Invoice 7.00", "TAX INVOICE"), ("Bank", "statement")]
    ),
    images=tuple(Attachment(name, "image/png", bytes) for name in "ab"),
)
BASE = Prompted("e", "m", detect=Detect(prompts={"invoice": Prompt("Only invoices.")}))
PART = {"total": "5.00", "lines": [{"name": "Oak"}]}
WHOLE = {"kind": "invoice", "total": "5.00", "days": [], "lines": [{"name": "Oak", "iban": None}]}


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
    "images": ({"input": PromptInput("images")}, ["detect", "extract"], '["a", "b"]', '["a", "b"]'),
    "both": ({"input": PromptInput("both")}, ["detect", "extract"], '["a", "b"]', "Oak"),
    "examples": (
        {"examples": ShownExamples("x")},
        ["detect", "extract"],
        '\\"statement\\"',
        "Tax Invoice 7.00",
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_second_call_asks_for_the_fields_of_the_type_with_the_prompt_of_the_type(name: str) -> None:
    options, steps, first, last = VARIANTS[name]
    requests, found = play(replace(BASE, **options), document(*PAGES), TASK, reply("invoice"))
    told = [sent(one) for one in requests]
    assert [one.step for one in requests] == steps and first in told[0] and last in told[-1]
    assert ("Oak" in told[0]) is (name not in ("pages", "images")) and "Only invoices" not in told[0]
    assert all("Only invoices." in one and "- days" not in one and "Bank" not in one for one in told[1:])
    assert found.evidence == {} if name == "images" else found.evidence["kind"].quote == "Invoice"
    assert list(found.record.items()) == list(WHOLE.items()) and len(json.loads(found.raw)) == len(steps)


def test_the_answer_to_a_detection_is_closed_and_its_model_may_be_another() -> None:
    strategy = replace(BASE, detect=Detect(Prompt("Which?"), "small", "f"))
    (first, second), found = play(strategy, document(*PAGES), TASK, reply("Tax  Invoice"))
    (told,) = first.body["response_format"]["json_schema"]["schema"]["properties"].values()
    assert told == {"type": ["string", "null"], "enum": ["invoice", "statement", "memo", None]}
    assert ("Which?" in sent(first), first.endpoint, first.body["model"]) == (True, "f", "small")
    assert ("- total" in sent(second), second.endpoint, second.body["model"]) == (True, "e", "m")
    assert found.record == WHOLE  # the type itself, not the alias that was answered


def test_omissions_are_asked_for_among_the_fields_that_were_asked_for() -> None:
    kinds: dict[str, Any] = {"kind": "text", "note": "text", "iban": {"applies_to": ["letter"]}}
    spec = {"document_type": {"field": "head.kind", "aliases": {"invoice": [], "letter": []}}}
    task = Task(read_spec(spec | {"fields": {"head": {"fields": kinds}}}))
    said = iter(({"kind": "invoice"}, {"head": {"note": None}}, {"head": {"note": "Oak"}}))
    asking = replace(BASE, verify=Verify(omissions="ask"))
    requests, found = play(asking, document(*PAGES), task, lambda _: answer(next(said)))
    asked = str(requests[-1].body["messages"][-1])  # type: ignore[index]
    assert (
        "- head.note" in asked
        and "kind" not in asked
        and "iban" not in asked
        and found.record == {"head": {"kind": "invoice", "note": "Oak", "iban": None}}
    )


@pytest.mark.parametrize("kind", [None, "letter", "NOT_FOUND"])
def test_an_unknown_type_is_asked_for_all_fields_with_the_one_prompt_and_counted(kind: object) -> None:
    (_, second), found = play(BASE, document(*PAGES), TASK, reply(kind))
    (today,), _ = play(replace(BASE, detect=None), document(*PAGES), TASK, reply(kind))
    assert second == today and found.record == WHOLE and found.notes["unknown_type"] == 1


def test_a_type_that_no_word_of_the_document_bears_stays_and_its_missing_fields_are_not_asked_for() -> None:
    requests, found = play(replace(BASE, verify=Verify("require")), document(*PAGES), TASK, reply("memo"))
    assert len(requests) == 1 and found.evidence["kind"].kind == "absent"
    assert found.record == {**WHOLE, "kind": "memo", "total": None, "lines": []}


@pytest.mark.parametrize("bad", [ModelAnswer(None, Failure("refused", "", "answer")), answer("no idea")])
def test_a_detection_that_fails_is_the_failure_of_the_document(bad: ModelAnswer) -> None:
    requests, found = play(BASE, document(*PAGES), TASK, lambda request: bad)
    steps, kind = [one.step for one in requests], found.failure.kind
    assert (steps, kind) in ((["detect"], "refused"), (["detect", "reask"], "not_json")) and not found.record


def given(folder: Path, url: str, detect: object, spec: object = SPEC) -> tuple[Any, ...]:
    """Return what `extract` is given for one document and a system of a file."""
    base = {"strategy": "prompted", "endpoint": "local", "model": "m", "detect": detect}
    file = {"endpoints": {"local": {"url": url}, "other": {"url": url}}, "systems": {"base": base}}
    texts = {"a.txt": "\n".join(PAGES), "invoice.txt": "Only invoices.", "systems.json": json.dumps(file)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder / "a.txt", spec, folder / "out", folder / "systems.json", ExtractOptions(jobs=0)


PROBLEMS: list[tuple[object, dict[str, Any], str]] = [
    (True, {"fields": {"total": "money"}}, ".detect: the spec names no types of documents; write `document_type: {field: NAME, aliases"),
    (True, SPEC | {"document_type": {**SPEC["document_type"], "field": "lines[].name"}}, ".detect: the type of a document is one value, not a list or an object; write `document_type: {field"),
    (True, SPEC | {"document_type": {**SPEC["document_type"], "field": "lines"}}, ".detect: the type of a document is one value, not a list or an object; write `document_type: {field"),
    ({"prompts": {"invoise": "invoice.txt"}}, SPEC, "prompts.invoise: unknown document type 'invoise'; did you mean 'invoice'"),
    ({"prompts": {"invoice": "invoyce"}}, SPEC, ".detect.prompts.invoice: unknown prompt 'invoyce'"),
    ({"endpoint": "othr"}, SPEC, ".detect.endpoint: no endpoint 'othr'; did you mean 'other'?"),
    ({"promptz": {}}, SPEC, ".detect.promptz: unknown key 'promptz'; did you mean 'prompt'?"),
]  # fmt: skip


@pytest.mark.parametrize(("detect", "spec", "told"), PROBLEMS)
def test_what_cannot_be_detected_is_named_at_its_key(
    detect: object, spec: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ProblemsError) as caught:
        extract(*given(tmp_path, "http://127.0.0.1:1/v1", detect, spec))
    assert told in str(caught.value) and "systems.json:" in str(caught.value)


def test_the_second_call_is_estimated_as_that_of_one_prompt(tmp_path: Path) -> None:
    cases = (given(tmp_path, "http://127.0.0.1:1/v1", detect) for detect in ({"model": "small"}, None))
    two, one = (estimate_extraction(*case[:2], *case[3:]) for case in cases)
    first = (two.prompt_tokens - one.prompt_tokens) * 10 / 1e6
    assert (two.calls, two.completion_tokens, one.calls) == (2, 2 * one.completion_tokens, 1)
    assert (two.least_usd, two.most_usd) == (pytest.approx(first), pytest.approx(first + one.most_usd))


def test_the_second_call_is_estimated_as_that_of_the_type_with_the_longest_prompt(tmp_path: Path) -> None:
    docs, spec, _, file, options = given(
        tmp_path, "http://127.0.0.1:1/v1", {"prompts": {"invoice": "long.txt"}}
    )
    (tmp_path / "long.txt").write_text("Read. " * 2000 + "{{ fields }}")
    long = estimate_extraction(docs, spec, file, options)
    assert long.calls == 2 and 3000 < long.prompt_tokens < 3500 and long.most_usd > 3000 / 1e6


def test_both_calls_are_billed_once_summed_and_resumed(tmp_path: Path) -> None:
    says = {"small": {"kind": "invoice"}, "m": PART}
    with ScriptedServer() as server:
        for status in (401, 200):
            server.script = lambda hit, status=status: Reply(  # type: ignore[misc]
                status if hit.body["model"] == "m" else 200, completion(json.dumps(says[hit.body["model"]]))
            )
            own = {"model": "small", "endpoint": "other", "prompts": {"invoice": "invoice.txt"}}
            done = extract(*given(tmp_path, server.url, own))
    row = json.loads(done.predictions.read_text())
    assert ([hit.body["model"] for hit in server.hits], [*server.billed.values()]) == (
        ["small", "m", "m"],
        [1, 1],
    )
    assert (row["pred"], row["usage"]["calls"], row["usage"]["cost_usd"]) == (WHOLE, 2, pytest.approx(0.0011))
    assert "Only invoices.\\n\\n- total: money\\n- lines[]" in json.dumps(server.hits[-1].body)
