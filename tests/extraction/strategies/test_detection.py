"""A call of its own decides the type of a document; the next one asks for the fields of that type alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from extraction import answer, document, play

from fieldassay.extraction.strategies.detect import Detect
from fieldassay.extraction.strategies.prompted import Prompted
from fieldassay.extraction.strategies.prompts import Prompt
from fieldassay.extraction.strategy import Task
from fieldassay.spec.language.parse import read_spec

SPEC: dict[str, Any] = {
    "document_type": {"field": "kind", "aliases": {"invoice": ["tax invoice"], "statement": []}},
    "fields": {
        "kind": "text",
        "total": {"type": "money", "applies_to": ["tax invoice"]},
        "days": {"items": "date", "applies_to": ["statement"]},
        "shop": {"fields": {"name": "text", "iban": {"applies_to": ["statement"]}}},
    },
    "prices": {"m": {"prompt": 1.0, "completion": 0.0}, "small": {"prompt": 10.0, "completion": 0.0}},
}
TASK = Task(read_spec(SPEC))
OWN = Prompt("Only invoices. {{ fields }} {{ document }}", "own")
BASE = Prompted("e", "m", detect=Detect(prompts={"invoice": OWN}))
PAGES = "Invoice\nOak\nTotal 5.00", "Total 5.00"
WHOLE = {"kind": "invoice", "total": "5.00", "days": [], "shop": {"name": "Oak", "iban": None}}


def asked(request: Any) -> str:
    return json.dumps(request.body["messages"])


def reply(kind: Any) -> Any:
    """Answer detections with a type, and extractions with what their schema has of the record."""

    def answered(request: Any) -> Any:
        keys = request.body["response_format"]["json_schema"]["schema"]["properties"]
        record = WHOLE if "kind" in keys else {**WHOLE, "shop": {"name": "Oak"}}
        return answer({"kind": kind} if list(keys) == ["kind"] else {key: record[key] for key in keys})

    return answered


def test_the_second_call_asks_for_the_fields_of_the_type_with_the_prompt_of_the_type() -> None:
    (first, second), found = play(BASE, document(*PAGES), TASK, reply("invoice"))
    schema = first.body["response_format"]["json_schema"]["schema"]["properties"]
    assert schema == {"kind": {"type": ["string", "null"], "enum": ["invoice", "statement", None]}}
    assert [first.step, second.step] == ["detect", "extract"] and "one of invoice, statement" in asked(first)
    assert asked(second).count("Only invoices. - total: money\\n- shop: object\\n- shop.name: text ") == 1
    assert found.record == WHOLE and list(found.record) == list(WHOLE) and found.notes == {}
    assert found.evidence["kind"].quote == "Invoice" and json.loads(found.raw)[0] == '{"kind": "invoice"}'
