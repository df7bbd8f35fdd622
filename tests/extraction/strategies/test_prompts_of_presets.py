"""What a model is told of the fields of a preset: nothing of how they are scored, and the same from day to day."""

from __future__ import annotations

import hashlib

import pytest
from tests.extraction.strategies.extraction import document, play

from fieldassay.extraction.endpoints.exchange import Answer
from fieldassay.extraction.strategies.prompted import Prompted
from fieldassay.extraction.strategy import Task
from fieldassay.spec.language.parse import read_spec

PROMPTS = {
    "anls-star": "0fe4e2a4e8610331",
    "business-documents": "736de9252df97fd6",
    "engineering-extractor": "694ad4e40bb4e099",
    "entry-matching": "beca1a4cfd084f4b",
    "entry-matching-mean": "dd2abfdb7d352813",
    "lab-report": "67fe6e67937b5f9e",
    "prescription": "2ee2ba045577f891",
    "slot-filling": "32ab4c704f3b4cef",
    "slot-filling-chamfer": "2cdde2d4d6405998",
}
"""The digest of what is sent for each preset: it changes when its fields do, and only then."""


def prompt(name: str) -> str:
    task = Task(read_spec({"fieldassay": 1, "name": name, "protocol": name}))
    requests, _ = play(Prompted("e", "m", reask=0), document("Total 5"), task, [Answer("{}")])
    return "\n".join(str(message["content"]) for message in requests[0].body["messages"])


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_of_a_preset_changes_with_its_fields_alone(name: str) -> None:
    assert hashlib.sha256(prompt(name).encode()).hexdigest()[:16] == PROMPTS[name]


@pytest.mark.parametrize("name", PROMPTS)
def test_a_model_is_told_nothing_of_the_scoring(name: str) -> None:
    told = prompt(name).casefold()
    assert not [
        word for word in ("score", "credit", "accuracy", "recall", "silence", "counts") if word in told
    ]


def test_a_model_is_told_the_types_of_documents_and_their_fields() -> None:
    told = prompt("business-documents")
    assert "- DOCUMENT_TYPE: one of invoice, receipt, bank_statement" in told
    assert "- INVOICE_DATE: text; only in: invoice, receipt" in told
