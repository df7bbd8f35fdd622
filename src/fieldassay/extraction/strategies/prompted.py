"""The strategies `prompted`, `command` and `function`: a model, a program or a function makes the record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_options
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from fieldassay.documents.sources import find_media_type
from fieldassay.documents.transcript import page_text
from fieldassay.extraction.endpoints.exchange import Attachment, Failure, ModelAnswer, Request
from fieldassay.extraction.endpoints.outcome import room_left
from fieldassay.extraction.evidence import (
    PlacedValue,
    as_evidence,
    canonical_text,
    field_steps,
    leaf_fields,
    locator,
    mark_leaks,
    plan_leaves,
    plan_of_spec,
    without_value,
)
from fieldassay.extraction.places import Search, surface_forms
from fieldassay.extraction.strategies.prompts import (
    Detect,
    DocumentTypes,
    Prompt,
    ShownExamples,
    ShownPassages,
    choose_examples,
    choose_passages,
    describe_fields,
    fence,
    merge,
    null_texts,
    reask_request,
    schema_text,
    unsupported,
    value_confidences,
    without_copies,
)
from fieldassay.extraction.strategy import (
    QUOTE,
    VALUE,
    AnswerReading,
    AnswerShape,
    Example,
    Extracted,
    Steps,
    Task,
    Values,
    build_record,
    is_tree,
    quote_key,
    read_answer,
    read_data,
    split_fields,
)
from fieldassay.io.json_value import Json, is_blank
from fieldassay.options import AboveZero, Filled, Positive, Whole
from fieldassay.paths import join_path, leaves_of, plain_path
from fieldassay.spec.presets.catalogue import describes_protocol

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.spec.language.model import Field


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
    >>> extracted = read_called(answer, Transcript("a", "", "text", (page,)), task)
    >>> extracted.record, extracted.confidence, extracted.evidence["total"].start
    ({'total': '5', 'x': 1}, {'total': 0.9}, 6)
    """
    if answer.failure is not None or answer.text is None:
        return Extracted(None, answer.text, failure=answer.failure or Failure("empty", "no answer", "answer"))
    from fieldassay.records.answers.answer import parse_answer

    data: Any = json.loads(answer.text)
    beside: Mapping[str, Any] = {}
    if isinstance(data, dict) and isinstance(data.get("record"), dict) and data.keys() <= _RESULT:
        data, beside = data["record"], data
    if isinstance(data, str):
        declared = frozenset(field.name for field in task.spec.fields)
        data = parse_answer(data, declared=declared, fields=plan_of_spec(task.spec).root).data
    if not isinstance(data, dict):
        message = f"the result is not an object: {answer.text[:80]}"
        return Extracted(None, answer.text, failure=Failure("not_json", message, "answer"))
    reading = read_data(data, task.spec.fields, AnswerShape(), {})
    quotes = _by_path(beside.get("quotes"))
    values = {
        steps: replace(answer_value, quote=_text(quotes.get(join_path(steps))))
        for steps, answer_value in reading.values.items()
    }
    search = Search.of(document.pages)
    placed_values = locator(search, task.spec).locate(values, {})
    sure = {
        path: float(value)
        for path, value in _by_path(beside.get("confidence")).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    }
    paths = {join_path(steps): placed_value for steps, placed_value in placed_values.items()}
    return Extracted(
        data,
        None,
        {path: sure[path] for path in paths if path in sure},
        {
            path: as_evidence(placed_value, search)
            for path, placed_value in paths.items()
            if document.pages and not is_blank(placed_value.value)
        },
        notes=reading.notes,
    )


_RESULT = frozenset({"record", "confidence", "quotes"})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _by_path(mapping: Any) -> dict[str, Any]:
    return (
        {plain_path(str(path)): value for path, value in mapping.items()} if isinstance(mapping, dict) else {}
    )


@dataclass(frozen=True, slots=True)
class Split:
    """The division of a document: at most so many pages and fields a request, with overlapping pages."""

    pages: Positive | None = None
    overlap: Whole = 1
    fields: Positive | None = 100

    def page_ranges(self, count: int) -> tuple[range, ...]:
        """Return the pages of each request, as positions from 0; a document without pages is one part.

        >>> Split(pages=3, overlap=1).page_ranges(6)
        (range(0, 3), range(2, 5), range(4, 6))
        """
        if self.pages is None or count <= self.pages:
            return (range(count),)
        overlap = min(self.overlap, self.pages - 1)
        step, last = self.pages - overlap, count - overlap
        return tuple(range(start, min(start + self.pages, count)) for start in range(0, last, step))

    def groups(self, fields: tuple[Field, ...]) -> tuple[tuple[Field, ...], ...]:
        """Return the fields of each request."""
        return (fields,) if self.fields is None else split_fields(fields, self.fields)


_REPEATED = ("not_json", "schema_violation", "truncated", "whitespace_loop")


@dataclass(frozen=True, slots=True)
class PromptInput:
    """What the model sees: the text of the document, images of its pages, or both."""

    form: Literal["text", "images", "both"] = "text"
    dpi: Positive = 150
    max_side: Positive = 2000
    """The longest side of an image in pixels."""


@dataclass(frozen=True, slots=True)
class Decode:
    """How the model answers, and what is sent beside the messages."""

    format: Literal["json_schema", "json_object", "text"] = "json_schema"
    values: Values = "as_written"
    logprobs: bool = False
    max_tokens: Positive | None = 4000
    temperature: Annotated[float, Meta(ge=0)] | Literal["lowest"] | None = "lowest"
    """`lowest` is 0, and not sent to a server that refuses it; None: never sent."""
    seed: int | None = None
    """Sent with the number of the repeat added to it; None: not sent."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """Asks a model behind an OpenAI-compatible endpoint for the record; its options are its configuration."""

    endpoint: Filled
    model: Filled
    input: PromptInput = PromptInput()
    examples: ShownExamples | None = None
    passages: ShownPassages | None = None
    """The part of a long document that is shown; None: all of its text."""
    prompt: Prompt = Prompt()
    decode: Decode = Decode()
    quotes: Literal["none", "flag", "require"] = "none"
    """`flag`: each value is asked for with the text that it stands in. `require`: a value whose text is not
    in the document becomes null."""
    split: Split = Split()
    reask: Whole = 1
    """How often an answer that cannot be used is asked for again."""
    detect: Detect | None = None
    """A first call for the type of the document; None: one prompt has the fields of all types."""

    @property
    def uses_text(self) -> bool:
        """Whether it looks at the text: sends it, chooses examples by it, or tells items apart by it."""
        return self.input.form != "images" or self.examples is not None or self.split.pages is not None

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Yield the requests of a document, all parts at once, and return its record."""
        if self.detect is None:
            return (yield from _PromptedRun(self, document, task, task.spec.fields).extract())
        return (yield from self._extract_by_type(self.detect, document, task))

    def _extract_by_type(
        self, detect: Detect, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Ask for the type of a document, and then for the fields of that type; for all if it is unknown."""
        types = DocumentTypes.of(task.spec)
        asking = with_options(
            self,
            prompt=detect.prompt,
            model=detect.model or self.model,
            endpoint=detect.endpoint or self.endpoint,
            quotes="none",
            passages=None,
            split=Split(),
        )
        start = replace(document, pages=document.pages[: self.split.pages])
        shown = replace(task, examples=types.examples(task.examples))
        run = _PromptedRun(asking, start, shown, (types.choice,), "detect")
        failure = (yield from run.ask(run.parts)) if run.has_input() else None
        if failure is not None:
            return Extracted(None, run.raw(), failure=failure, notes=run.counts())
        type_value = run.parts[0].values.get((types.choice.name,))
        kind = types.read(type_value and type_value.value)
        if type_value is None or kind is None:
            run.notes["unknown_type"] += 1
            whole = _PromptedRun(self, document, task, task.spec.fields, answers=run.answers, notes=run.notes)
            return (yield from whole.extract())
        alike = tuple(example for example in task.examples if types.type_of(example.record) == kind)
        part = _PromptedRun(
            with_options(self, prompt=detect.prompts.get(kind, self.prompt)),
            document,
            replace(task, examples=alike),
            types.fields_of(kind, task.spec.fields),
            detected={types.steps: replace(type_value, value=kind)}
            if types.steps in leaf_fields(task.spec)
            else {},
            answers=run.answers,
            notes=run.notes,
        )
        return (yield from part.extract())


class _Part(Struct):
    """One part of a document and of the fields, with its conversation and its answer."""

    fields: tuple[Field, ...]
    pages: range
    messages: list[dict[str, Json]]
    step: str
    text: str = ""
    reading: AnswerReading = msgspec.field(default_factory=AnswerReading)
    values: dict[Steps, PlacedValue] = {}
    max_tokens: int | None = None
    format: str = ""


@dataclass(slots=True)
class _PromptedRun:
    """The extraction of one document: its parts, and what happened."""

    strategy: Prompted
    document: Transcript
    task: Task
    fields: tuple[Field, ...]
    """The fields that are asked for: those of the spec, or some of them."""
    step: str = "extract"
    detected: Mapping[Steps, PlacedValue] = field(default_factory=dict)
    """The type of the document, if a call of its own decided it."""
    search: Search = field(init=False)
    parts: list[_Part] = field(init=False)
    shown: tuple[Example, ...] = ()
    shape: AnswerShape = field(init=False)
    answers: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        strategy = self.strategy
        self.search = Search.of(self.document.pages)
        self.shape = AnswerShape(strategy.decode.values, strategy.quotes != "none")
        if strategy.examples is not None:
            examples = without_copies(self.document, self.task.examples)
            copies = len(self.task.examples) - len(examples)
            self.notes["near_copies"] = max(self.notes["near_copies"], copies)
            self.shown = choose_examples(self.document, examples, strategy.examples)
        groups = strategy.split.groups(self.fields)
        ranges = strategy.split.page_ranges(len(self.document.pages))
        count = len(groups) * len(ranges)
        self.parts = [
            _Part(
                fields, pages, self._messages(fields, pages),
                f"chunk {at + 1}/{count}" if count > 1 else self.step,
                max_tokens=strategy.decode.max_tokens, format=strategy.decode.format,
            )
            for at, (pages, fields) in enumerate((pages, fields) for pages in ranges for fields in groups)
            if fields
        ]  # fmt: skip

    def extract(self) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Ask for all parts at once, and return the record."""
        if not self.has_input():
            kind = "no_text" if self.strategy.input.form == "text" else "no_images"
            return Extracted(None, failure=Failure(kind, "the document has nothing to send", "strategy"))
        failure = yield from self.ask(self.parts)
        if failure is not None:
            return Extracted(None, self.raw(), failure=failure, notes=self.counts())
        return self.extracted()

    def has_input(self) -> bool:
        """Return whether there is anything to send."""
        has_text = any(page.text for page in self.search.pages)
        return (self.strategy.input.form != "images" and has_text) or (
            self.strategy.input.form != "text" and bool(self.task.images)
        )

    def _messages(self, fields: tuple[Field, ...], pages: range) -> list[dict[str, Json]]:
        shape, spec = self.shape, self.task.spec
        schema = shape.schema(fields)
        # a protocol describes how answers are scored, which no model may be told
        description = "" if describes_protocol(spec.description) else spec.description
        variables = {
            "name": spec.name, "description": description, "typed": shape.is_typed,
            "quotes": shape.has_quotes, "fields": describe_fields(fields, spec.document_type),
            "schema": "" if self.strategy.decode.format == "json_schema" else schema_text(schema),
        }  # fmt: skip

        def render(text: str) -> list[dict[str, Json]]:
            return self.strategy.prompt.messages({**variables, "document": text})

        messages = render(
            fence(self._text(fields, pages)) if self.strategy.input.form != "images" else "(see the images)"
        )
        before = [
            message
            for example in self.shown
            for message in _example_messages(example, render, example_answer(example, fields, shape))
        ]
        at = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=0)
        messages = [*messages[:at], *before, *messages[at:]]
        images = self._images(pages)
        if images:
            text: Json = {"type": "text", "text": messages[-1]["content"]}
            shown: list[Json] = [
                {"type": "image_url", "image_url": {"url": f"sha256:{image.sha256}"}} for image in images
            ]
            messages[-1] = {**messages[-1], "content": [text, *shown]}
        return messages

    def _text(self, fields: tuple[Field, ...], pages: range) -> str:
        chosen, passages = [self.search.pages[at] for at in pages], self.strategy.passages
        texts = [page.text for page in chosen]
        if passages is not None:
            texts, left_out = choose_passages(texts, fields, passages)
            self.notes.update({"passages_left_out": left_out} if left_out else {})
        if len(self.document.pages) == 1:
            return texts[0]
        shown = zip(chosen, texts, strict=True)
        return "\n\n".join(
            f"[page {page.number}]\n{text}" for page, text in shown if text or passages is None
        )

    def _images(self, pages: range) -> tuple[Attachment, ...]:
        return () if self.strategy.input.form == "text" else self.task.images[pages.start : pages.stop]

    def request(self, part: _Part, messages: Sequence[dict[str, Json]], step: str) -> Request:
        """Return the request of a part with these messages."""
        decode, body = self.strategy.decode, dict[str, Json]()
        body |= {"model": self.strategy.model, "messages": list(messages)}
        options = {
            "temperature": 0.0 if decode.temperature == "lowest" else decode.temperature,
            "max_tokens": part.max_tokens,
            "seed": None if decode.seed is None else decode.seed + self.task.repeat,
            "logprobs": True if decode.logprobs else None,
        }
        body |= {key: value for key, value in options.items() if value is not None}
        if part.format == "json_object" or (part.format == "json_schema" and is_tree(part.fields)):
            body["response_format"] = {"type": "json_object"}
        elif part.format == "json_schema":
            schema: Json = {"name": "record", "strict": True, "schema": self.shape.schema(part.fields)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        size = sum(len(str(message["content"]).encode("utf-8", "replace")) for message in messages)
        images = self._images(part.pages)
        expected = None if images else size // 4
        optional = ("temperature",) if decode.temperature == "lowest" else ()
        return Request(
            "chat", self.strategy.endpoint, body, images, self.task.repeat, step, expected, optional
        )

    def ask(
        self, parts: Sequence[_Part]
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Failure | None]:
        """Ask for parts, again after an unusable answer; return the failure of the first without one."""
        open_parts = [(part, part.messages, part.step, 0) for part in parts]
        while open_parts:
            answers = yield tuple(self.request(*open_part[:3]) for open_part in open_parts)
            again = []
            for (part, messages, step, round_), answer in zip(open_parts, answers, strict=True):
                failure = self.take(part, answer)
                if failure is None:
                    continue
                room = room_left(failure.message) if failure.kind == "context_length" else None
                if room is not None and room < (part.max_tokens or 0):  # a refusal is free, and no answer
                    part.max_tokens = room
                    self.notes["fewer_tokens"] += 1
                    again.append((part, messages, step, round_))
                    continue
                if failure.kind not in _REPEATED or round_ >= self.strategy.reask:
                    return failure
                self.notes["reask"] += 1
                self.notes[f"reask_{failure.kind}"] += 1
                again.append((part, self._again(part, messages, failure), "reask", round_ + 1))
            open_parts = again
        return None

    def _again(self, part: _Part, messages: list[dict[str, Json]], failure: Failure) -> list[dict[str, Json]]:
        """Return the messages that ask again, after a change of what made the answer unusable."""
        if failure.kind == "truncated":
            part.max_tokens = part.max_tokens * 2 if part.max_tokens is not None else None
            return messages
        if failure.kind == "whitespace_loop":
            part.format = "text"
            return messages
        wrong: dict[str, Json] = {"role": "assistant", "content": part.text}
        text = reask_request(failure.kind, part.reading.violations)
        return [*messages, wrong, {"role": "user", "content": text}]

    def take(self, part: _Part, answer: ModelAnswer) -> Failure | None:
        """Read an answer into its part; return why it cannot be used."""
        self.notes.update({"few_prompt_tokens": 1} if answer.is_prompt_short else {})
        self.notes.update({"implausible_usage": 1} if answer.is_usage_implausible else {})
        self.notes.update({f"without_{name}": 1 for name in answer.left_out})
        if answer.failure is not None:
            return answer.failure
        part.text = answer.text or ""
        self.answers.append(part.text)
        plan = plan_of_spec(self.task.spec)
        part.reading = reading = read_answer(part.text, part.fields, self.shape, plan.root)
        if reading.problem is not None:
            return Failure(reading.problem, "; ".join(reading.violations) or "no answer", "answer")
        if "repaired_truncated" in reading.notes:
            ending = f"the answer ends within its JSON, after {len(part.text):,} characters"
            return Failure("truncated", ending, "answer")
        if reading.violations:
            return Failure("schema_violation", "; ".join(reading.violations[:3]), "answer")
        self.notes.update(reading.notes)
        self.notes.update({"outside_enum": len(reading.remarks)} if reading.remarks else {})
        part.values = self.located(part, answer)
        return None

    def located(self, part: _Part, answer: ModelAnswer) -> dict[Steps, PlacedValue]:
        """Return the values of a part with their places and confidences."""
        leaves = leaf_fields(self.task.spec)
        placed_values = locator(self.search, self.task.spec, part.pages).locate(
            part.reading.values, part.reading.rows
        )
        texts = [
            answer_value.at
            for steps, answer_value in part.reading.values.items()
            if (leaf := leaves.get(field_steps(steps, leaves))) is None or leaf.type == "text"
        ]
        sure = value_confidences(part.text, answer.tokens, texts) if answer.tokens else {}
        located = {
            steps: replace(placed_value, confidence=sure.get(part.reading.values[steps].at))
            for steps, placed_value in placed_values.items()
        }
        dropped = null_texts(located)
        self.notes.update({"null_text": len(dropped)} if dropped else {})
        return without_value(located, dropped)

    def extracted(self) -> Extracted:
        """Return the record of all parts with its evidence, without the values that lack a required quote."""
        plan = plan_of_spec(self.task.spec)

        def canonical(steps: Steps, placed_value: PlacedValue) -> str:
            return canonical_text(plan, field_steps(steps, leaf_fields(plan.spec)), placed_value.value)

        answers = [self.detected, *(part.values for part in self.parts)]
        merged = merge(answers, self.search.line_of, canonical)
        self.notes.update(merged.notes)
        values = dict(merged.values)
        if self.strategy.input.form != "images":
            hidden = Search.of(self.document.pages, hidden=True)
            leaves = plan_leaves(plan)
            values = mark_leaks(
                values, leaves, self.search, hidden, [example.document for example in self.shown]
            )
            leaked = sum(placed_value.kind == "example" for placed_value in values.values())
            self.notes.update({"leaked_example": leaked} if leaked else {})
            if self.strategy.quotes == "require":
                dropped = unsupported(values) - self.detected.keys()
                self.notes.update({"unquoted": len(dropped)} if dropped else {})
                values = without_value(values, dropped)
        values = renumbered(values)
        has_places = self.strategy.input.form != "images"
        return Extracted(
            build_record(self.task.spec.fields, values, lambda placed_value: placed_value.value),
            self.raw(),
            {
                join_path(steps): placed_value.confidence
                for steps, placed_value in values.items()
                if placed_value.confidence is not None
            },
            {
                join_path(steps): as_evidence(placed_value, self.search)
                for steps, placed_value in values.items()
                if not is_blank(placed_value.value)
            }
            if has_places
            else {},
            notes=self.counts(),
        )

    def raw(self) -> str | None:
        """Return the raw answers: the text of the only one, or a JSON list of their texts."""
        if len(self.answers) <= 1:
            return self.answers[0] if self.answers else None
        return json.dumps(self.answers, ensure_ascii=False)

    def counts(self) -> dict[str, int]:
        """Return the counted events."""
        return {name: count for name, count in sorted(self.notes.items()) if count}


def renumbered(values: Mapping[Steps, PlacedValue]) -> dict[Steps, PlacedValue]:
    """Return the values with the items of each list numbered from 0 without a gap."""
    indices: dict[Steps, dict[int, int]] = {}
    for steps in sorted(values, key=lambda steps: [step if isinstance(step, int) else -1 for step in steps]):
        for at, step in enumerate(steps):
            if isinstance(step, int):
                numbers = indices.setdefault(steps[:at], {})
                numbers.setdefault(step, len(numbers))
    return {
        tuple(
            indices[steps[:at]][step] if isinstance(step, int) else step for at, step in enumerate(steps)
        ): placed_value
        for steps, placed_value in values.items()
    }


def _example_messages(
    example: Example, render: Callable[[str], list[dict[str, Json]]], answer: str
) -> list[dict[str, Json]]:
    """Return an example as the question of a user and the answer to it."""
    messages = render(fence("\n\n".join(page.text for page in Search.of(example.document.pages).pages)))
    user = next((message for message in reversed(messages) if message["role"] == "user"), messages[-1])
    return [user, {"role": "assistant", "content": answer}]


def example_answer(example: Example, fields: tuple[Field, ...], shape: AnswerShape) -> str:
    """Return the JSON text that answers an example: declared fields only, quotes where they are asked for."""
    names = {field.name for field in fields}
    leaves = {
        steps: leaf
        for steps, leaf in leaves_of(dict(example.record))
        if is_tree(fields) or (steps[0] in names and not is_blank(leaf))
    }
    record = build_record(fields, leaves, lambda leaf: leaf)
    if shape.has_quotes and not is_tree(fields):
        search = Search.of(example.document.pages)
        record = {field.name: _quoted(field, record[field.name], search) for field in fields}
    return json.dumps(record, ensure_ascii=False)


def _quoted(field: Field, value: Json, search: Search) -> Json:
    if field.items is not None and isinstance(value, list):
        if not field.items.fields:
            return [_quoted(field.items, item, search) for item in value]
        key = quote_key(field.items)
        return [{**item, key: _row(item, search)} for item in value if isinstance(item, dict)]
    if field.fields and isinstance(value, dict):
        return {inner.name: _quoted(inner, value.get(inner.name), search) for inner in field.fields}
    return {VALUE: value, QUOTE: None if value is None else _line(value, search)}


def _line(value: Any, search: Search) -> str | None:
    """Return the line that a value stands in."""
    for text in surface_forms(value):
        for place in search.find(text):
            page = search.pages[place.page]
            start, end = page.line_span(page.line_at(place.start))
            return page.text[start:end]
    return None


def _row(item: Mapping[str, Json], search: Search) -> str | None:
    longest = max((text for text in map(str, filter(None, item.values()))), key=len, default="")
    return _line(longest, search) if longest else None
