"""The strategies `command` and `function`: a program or a Python function makes the record in one call."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fieldassay.documents.text import transcript_text
from fieldassay.endpoints.exchange import Answer, Failure, Request
from fieldassay.extractors.schema import AnswerShape
from fieldassay.extractors.strategy import Extracted, Task
from fieldassay.json_value import Json

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript

CALL = "call"
"""The name under which a system's program or function is asked."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program of the user: a line of JSON in, a line of JSON out; `workers` copies of it run and stay.

    It reads `{"id", "pages", "schema", "repeat"}` from standard input, and writes `{"result": {…}}` or
    `{"error": "…"}` to file descriptor 3; `confidence` beside the result, by path, is kept.
    """

    run: tuple[str, ...]
    workers: int = 1
    timeout_s: float = 120.0

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
        """Yield one call with the text of the document, and return its record."""
        return (yield from _call(document, task))


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function of the user, `module:name`: from the same object to the record."""

    call: str
    workers: int = 1

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
        """Yield one call with the text of the document, and return its record."""
        return (yield from _call(document, task))


def _call(document: Transcript, task: Task) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
    pages: list[Json] = [transcript_text(document, page.number).text for page in document.pages]
    schema: dict[str, Json] = AnswerShape().schema(task.spec.fields)
    body: dict[str, Json] = {"id": document.id, "pages": pages, "schema": schema, "repeat": task.repeat}
    (answer,) = yield (Request("call", CALL, body, repeat=task.repeat),)
    return read_called(answer)


def read_called(answer: Answer) -> Extracted:
    """Return what a call made: a record, or an object with `record` and `confidence`.

    >>> read_called(Answer('{"total": "5"}')).record
    {'total': '5'}
    >>> found = read_called(Answer('{"record": {"total": "5"}, "confidence": {"total": 0.9}}'))
    >>> found.record, found.confidence
    ({'total': '5'}, {'total': 0.9})
    >>> read_called(Answer('"five"')).failure.kind
    'not_json'
    """
    if answer.failure is not None or answer.text is None:
        return Extracted(None, answer.text, failure=answer.failure or Failure("empty", "no answer", "answer"))
    found: Any = json.loads(answer.text)
    confidence: Any = {}
    if (
        isinstance(found, dict)
        and isinstance(found.get("record"), dict)
        and found.keys() <= {"record", "confidence"}
    ):
        found, confidence = found["record"], found.get("confidence") or {}
    if not isinstance(found, dict):
        message = f"the result is no object: {answer.text[:80]}"
        return Extracted(None, answer.text, failure=Failure("not_json", message, "answer"))
    return Extracted(found, None, _confidences(confidence))


def _confidences(given: Any) -> Mapping[str, float]:
    if not isinstance(given, dict):
        return {}
    return {
        str(path): float(value)
        for path, value in given.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    }
