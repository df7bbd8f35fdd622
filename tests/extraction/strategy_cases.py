"""Documents, specs and recorded answers for tests of strategies."""

import json
from collections.abc import Callable, Sequence

from fieldassay.documents.transcript import Line, Page, Transcript, Word
from fieldassay.extraction.endpoints.exchange import ModelAnswer, Request
from fieldassay.extraction.strategy import Extracted, Strategy, Task

INVOICE = """\
ACME Pumps Ltd
Invoice No: 2024-117   Date: 31 March 2024
Pump P-1 2 60.00 120.00
Seal kit 1 60.00 60.00
Seal kit 1 60.00 60.00
Subtotal 240.00
Total EUR 264.00
"""

SPEC = {
    "name": "invoices",
    "fields": {
        "supplier": "text",
        "number": {"type": "id", "labels": ["Invoice No"]},
        "date": "date",
        "total": {"type": "money", "labels": ["Total"]},
        "status": {"type": "enum", "values": ["paid", "open"]},
        "lines": {"items": {"fields": {"item": "text", "count": "integer", "amount": "money"}}},
    },
}

RECORD = {
    "supplier": "ACME Pumps Ltd",
    "number": "2024-117",
    "date": "31 March 2024",
    "total": "EUR 264.00",
    "status": None,
    "lines": [
        {"item": "Pump P-1", "count": "2", "amount": "120.00"},
        {"item": "Seal kit", "count": "1", "amount": "60.00"},
        {"item": "Seal kit", "count": "1", "amount": "60.00"},
    ],
}


def document(*pages: str, name: str = "a.pdf") -> Transcript:
    """Return a transcript of pages of text."""
    made = [
        Page(
            number, tuple(Line(tuple(map(Word, line.split()))) for line in text.splitlines() if line.strip())
        )
        for number, text in enumerate(pages, 1)
    ]
    return Transcript(name, f"sha-{name}", "pdf", tuple(made))


def answer(content: object, **facts: object) -> ModelAnswer:
    """Return an answer with a text, or with JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return ModelAnswer(text, **{"finish_reason": "stop", **facts})


def play(
    strategy: Strategy,
    transcript: Transcript,
    task: Task,
    answers: Sequence[ModelAnswer] | Callable[[Request], ModelAnswer] = (),
) -> tuple[list[Request], Extracted]:
    """Return the requests of a strategy that gets these answers, and what it extracted."""
    requests: list[Request] = []
    remaining = iter(answers) if not callable(answers) else None
    run = strategy.extract(transcript, task)
    given: tuple[ModelAnswer, ...] | None = None
    while True:
        try:
            asked = next(run) if given is None else run.send(given)
        except StopIteration as end:
            return requests, end.value
        requests += asked
        given = tuple(answers(one) if callable(answers) else next(remaining) for one in asked)
