"""The strategies `command` and `function`: a program or a Python function makes the record in one call."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from fieldassay.documents.sources import find_media_type
from fieldassay.documents.transcript import page_text
from fieldassay.extraction.endpoints.exchange import Failure, ModelAnswer, Request
from fieldassay.extraction.evidence import as_evidence, locator, plan_of_spec
from fieldassay.extraction.places import Search
from fieldassay.extraction.strategy import AnswerShape, Extracted, Task, read_data
from fieldassay.io.json_value import Json, is_blank
from fieldassay.options import AboveZero, Filled, Positive
from fieldassay.paths import join_path, plain_path

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript

CALL = "call"
"""The name under which a system's program or function is asked."""


Arguments = Annotated[
    tuple[str, ...],
    Meta(min_length=1, description="a list of one text or more", examples=['["python", "agent.py"]']),
]
CallInput = Literal["text", "file"]
"""What is made ready for a call: the text of the document's pages, or nothing beside its file."""


class _Called:
    """A system that is called once for each document: with its file, and its text unless it opens that."""

    __slots__ = ()
    input: CallInput

    @property
    def uses_text(self) -> bool:
        """Return whether the text of documents is loaded."""
        return self.input == "text"

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Yield one call with the document, and return its record."""
        name = PurePath(task.path or document.id).name
        body: dict[str, Json] = {
            "id": document.id,
            "name": name,
            "media_type": find_media_type(task.path or name),
            "sha256": document.sha256,
            "pages": [page_text(page).text for page in document.pages],
            "schema": AnswerShape().schema(task.spec.fields),
            "repeat": task.repeat,
        }
        (answer,) = yield (Request("call", CALL, body, repeat=task.repeat, path=task.path),)
        return read_called(answer, document, task)


@dataclass(frozen=True, slots=True)
class Command(_Called):
    """A program of the user: a line of JSON in, a line of JSON out; `workers` copies of it run and stay.

    It reads an object with the keys `id`, `path`, `name`, `media_type`, `sha256`, `pages`, `schema` and
    `repeat` from standard input, and writes `{"result": {…}}` or `{"error": "…"}` to file descriptor 3.
    """

    run: Arguments
    workers: Positive = 1
    timeout_s: AboveZero = 120.0
    max_answer_mb: AboveZero = 64.0
    input: CallInput = "text"


@dataclass(frozen=True, slots=True)
class Function(_Called):
    """A Python function of the user, `module:name`: from the same object to the record."""

    call: Filled
    workers: Positive = 1
    input: CallInput = "text"


def read_called(answer: ModelAnswer, document: Transcript, task: Task) -> Extracted:
    """Return what a call made: a record, or an object with `record`, `confidence` and `quotes`, by path.

    The record stays as it is; one in a text, as a model answers, is read as `score` reads it. Each value of a
    declared field is searched in the text of the document, where that is loaded.

    >>> from fieldassay.documents.transcript import Line, Page, Transcript, Word
    >>> from fieldassay.spec.language.parse import read_spec
    >>> page = Page(1, (Line((Word("Total"), Word("5"))),))
    >>> task = Task(read_spec("fields: {total: money, note: text}"))
    >>> answer = ModelAnswer('{"record": {"total": "5", "x": 1}, "confidence": {"total": 0.9}}')
    >>> found = read_called(answer, Transcript("a", "", "text", (page,)), task)
    >>> found.record, found.confidence, found.evidence["total"].start
    ({'total': '5', 'x': 1}, {'total': 0.9}, 6)
    """
    if answer.failure is not None or answer.text is None:
        return Extracted(None, answer.text, failure=answer.failure or Failure("empty", "no answer", "answer"))
    from fieldassay.records.answers.answer import parse_answer

    given: Any = json.loads(answer.text)
    beside: Mapping[str, Any] = {}
    if isinstance(given, dict) and isinstance(given.get("record"), dict) and given.keys() <= _RESULT:
        given, beside = given["record"], given
    if isinstance(given, str):
        declared = frozenset(one.name for one in task.spec.fields)
        given = parse_answer(given, declared=declared, fields=plan_of_spec(task.spec).root).data
    if not isinstance(given, dict):
        message = f"the result is not an object: {answer.text[:80]}"
        return Extracted(None, answer.text, failure=Failure("not_json", message, "answer"))
    reading = read_data(given, task.spec.fields, AnswerShape(), {})
    quotes = _by_path(beside.get("quotes"))
    values = {
        steps: replace(one, quote=_text(quotes.get(join_path(steps))))
        for steps, one in reading.values.items()
    }
    search = Search.of(document.pages)
    found = locator(search, task.spec).locate(values, {})
    sure = {
        path: float(value)
        for path, value in _by_path(beside.get("confidence")).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    }
    paths = {join_path(steps): one for steps, one in found.items()}
    return Extracted(
        given,
        None,
        {path: sure[path] for path in paths if path in sure},
        {
            path: as_evidence(one, search)
            for path, one in paths.items()
            if document.pages and not is_blank(one.value)
        },
        notes=reading.notes,
    )


_RESULT = frozenset({"record", "confidence", "quotes"})


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) and given.strip() else None


def _by_path(given: Any) -> dict[str, Any]:
    return {plain_path(str(path)): value for path, value in given.items()} if isinstance(given, dict) else {}
