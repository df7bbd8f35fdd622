"""What services and evaluations save: responses, lines of batches and logs, values with confidences."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import UnionType
from typing import Any, TypeAlias

from msgspec import Struct, field

from fieldassay.io.json_value import Json
from fieldassay.records.record import read_number
from fieldassay.spec.language.names import ID_NAMES

# Responses of services as they were saved: one alone, or as a line of a batch's output.

BATCH_ID = "custom_id"
"""The key of the id in the output of a batch of OpenAI, Azure and Anthropic."""

ID_KEYS = frozenset({
    BATCH_ID, "object", "role", "key", "request", "recordId", "extractions", "pages", "promptIdx",
    "sample_id", "traceId", "trace_id", "bookmarked",
})  # fmt: skip
"""Keys of which one is in every saved response with an id of its own."""

SERVICE_KEYS = ID_KEYS | {
    "candidates", "promptFeedback", "stopReason", "done", "analyzeResult", "job_id", "output",
    "extraction_metadata", "extract_metadata", "extraction_schema_json",
}  # fmt: skip
"""Keys of which one is in every saved response of a service."""


class Response(Struct, frozen=True):
    """The content of a response: answers (texts or arguments of tool calls), usage, reason for none."""

    kind: str
    answers: tuple[Json, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    confidence: Json = None
    """The confidences that stand beside the record, by its fields."""
    beside: Mapping[str, Json] = {}
    """What else is known of the answer: its duration, its variant, its run."""


class Body(Struct, frozen=True):
    """A kind of response: how to know it, and where answers, reasons for none and tokens stand.

    `signs` are the values or types at its keys, or at paths; those in a batch may lack keys that only name
    the kind. Paths go through every item of a list (`0`: its first); `@text` takes objects of that type.
    """

    kind: str
    signs: Mapping[str, Any]
    texts: tuple[str, ...]
    calls: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    tokens: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    in_batch: Mapping[str, Any] | None = None
    confidence: str = ""
    """The path of confidences in the shape of the record."""
    ids: tuple[str, ...] = ()
    """The paths of the document's id; `*` stands for each of its usual names."""
    beside: Mapping[str, tuple[str, ...]] = {}
    """The paths of what else is known of the answer; of several the values are joined."""
    has_parts: bool = False
    """Whether its answers are the parts of one record."""


_CHAT, _PARTS, _BLOCKS = "choices.0.message", "candidates.0.content.parts", "output.message.content"
_NEVER = {"": list}
"""The signs of a body that is known in a batch only."""
_MODELS = ("model", "modelVersion", "provider.id", "provided_model_name", "output.model")
_BODIES = (
    # platform.openai.com/docs/api-reference/chat/object
    Body("OpenAI chat completion", {"object": "chat.completion", "choices": list},
        (f"{_CHAT}.content", f"{_CHAT}.content.@text.text"),
        (f"{_CHAT}.tool_calls.function.arguments", f"{_CHAT}.function_call.arguments"), (f"{_CHAT}.refusal",),
        (("usage.prompt_tokens",), ("usage.completion_tokens",)), {"choices": list}),
    # platform.openai.com/docs/api-reference/responses/object
    Body("OpenAI response", {"object": "response", "output": list},
        ("output.@message.content.@output_text.text", "output.@message.content.@text.text"),
        ("output.@function_call.arguments",), ("error", "output.@message.content.@refusal.refusal"),
        (("usage.input_tokens",), ("usage.output_tokens",))),
    # docs.anthropic.com/en/api/messages
    Body("Anthropic message", {"type": "message", "role": "assistant", "content": list},
        ("content.@text.text",), ("content.@tool_use.input",), (),
        (("usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"),
         ("usage.output_tokens",)), {"content": list}),
    # ai.google.dev/api/generate-content
    *(Body("Gemini response", signs, (f"{_PARTS}.text",),
        (f"{_PARTS}.functionCall.args", f"{_PARTS}.function_call.args"),
        ("promptFeedback.blockReason", "candidates.0.finishMessage"),
        (("usageMetadata.promptTokenCount", "usage_metadata.prompt_token_count"),
         ("usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount",
          "usage_metadata.candidates_token_count", "usage_metadata.thoughts_token_count")))
      for signs in ({"candidates": list}, {"promptFeedback": dict})),
    # docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    Body("Bedrock Converse response", {"output": dict, "stopReason": str}, (f"{_BLOCKS}.text",),
        (f"{_BLOCKS}.toolUse.input",), (), (("usage.inputTokens",), ("usage.outputTokens",)),
        {"output": dict}),
    # docs.ollama.com/api
    Body("Ollama response", {"message": dict, "done": bool}, ("message.content",),
        ("message.tool_calls.function.arguments",), (), (("prompt_eval_count",), ("eval_count",))),
    Body("Ollama response", {"response": str, "done": bool}, ("response",), (), (),
        (("prompt_eval_count",), ("eval_count",))),
    # docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html: Llama, Titan, Mistral
    *(Body("Bedrock response", _NEVER, (text,), (), (), tokens, {text.partition(".")[0]: kind})
      for text, kind, tokens in (
          ("generation", str, (("prompt_token_count",), ("generation_token_count",))),
          ("results.outputText", list, (("inputTextTokenCount",), ("results.tokenCount",))),
          ("outputs.text", list, ((), ())))),
    # developers.llamaindex.ai/python/cloud/llamaextract/features/extensions
    Body("LlamaExtract", {"extraction_metadata": dict, "data": dict | list}, (), ("data",),
        confidence="extraction_metadata.field_metadata"),
    Body("LlamaExtract", {"extract_metadata": dict, "extract_result": dict | list}, (), ("extract_result",),
        confidence="extract_metadata.field_metadata"),
    # docs.reducto.ai/extract/response-format
    Body("Reducto", {"job_id": str, "result": dict | list}, (), ("result",)),
    # documentation.datalab.to/docs/recipes/structured-extraction
    Body("Datalab", {"extraction_schema_json": dict | str}, (), ("extraction_schema_json",)),
    # learn.microsoft.com/rest/api/aiservices/document-models/get-analyze-result; 2.1: documentResults
    *(Body("Azure", {f"analyzeResult.{name}.fields": dict}, (), (f"analyzeResult.{name}.fields",))
      for name in ("documents", "documentResults")),
    # github.com/google/langextract: data_lib.py, annotated_document_to_dict
    Body("LangExtract", {"extractions.extraction_class": str, "extractions.extraction_text": str}, (),
        ("extractions",), ids=("document_id",)),
    Body("LangExtract", {"extractions": list, "text": str, "document_id": str}, (), ("extractions",),
        ids=("document_id",)),
    # github.com/docling-project/docling: datamodel/extraction.py, ExtractionResult
    *(Body("Docling extraction", signs, (), (answer,), ("errors.error_message", "pages.errors.0"),
        ids=("input.file",), has_parts=True)
      for answer, signs in (
          ("pages.extracted_data", {"pages.extracted_data": dict, "pages.page_no": int}),
          ("pages.raw_text", {"pages": list, "input.document_hash": str}))),
    # github.com/promptfoo/promptfoo: types/index.ts, EvaluateResult
    Body("promptfoo result", {"promptIdx": int, "testCase": dict}, (), ("response.output",),
        ("error", "response.error"),
        (("response.tokenUsage.prompt",), ("response.tokenUsage.completion",)),
        ids=("vars.*", "testCase.metadata.*", "metadata.*"),
        beside={"latency_ms": ("latencyMs",), "variant": ("provider.id", "promptIdx")}),
    # github.com/openai/evals: record.py, Event
    *(Body("OpenAI Evals sample", {"type": "sampling", "sample_id": str, "data.sampled": kind}, (), (answer,),
        ids=("sample_id",))
      for answer, kind in (("data.sampled.0", list), ("data.sampled", str))),
    # langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; in camel case: of the page
    *(Body(f"Langfuse {kind}", signs, (), ("output",), ("status_message", "statusMessage"),
        (("usage_details.input", "usageDetails.input"), ("usage_details.output", "usageDetails.output")),
        ids=("metadata.*", "input.*", "id"), beside={"latency_s": ("latency",)})
      for kind, signs in (
          ("trace", {"id": str, "bookmarked": bool, "public": bool}),
          ("observation", {"id": str, "trace_id": str, "type": str}),
          ("observation", {"id": str, "traceId": str, "type": str}))),
    # inspect.aisi.org.uk/eval-logs.html: EvalSample
    Body("Inspect sample", {"epoch": int, "output": dict, "messages": list}, (), ("output.completion",),
        ("error",), (("output.usage.input_tokens",), ("output.usage.output_tokens",)),
        beside={"run": ("epoch",), "duration_s": ("total_time",)}),
    # docs.extend.ai/extraction/response-format
    Body("Extend", {"output.metadata": dict, "output.value": dict | list}, (), ("output.value",),
        confidence="output.metadata"),
)  # fmt: skip


class BatchLine(Struct, frozen=True):
    """A kind of line of a batch's output: the keys of its id, and where body, error and status stand."""

    kind: str
    key: str
    """A key of every such line: that of its id, or of the request."""
    keys: frozenset[str]
    """The keys that such a line may have."""
    body: str
    errors: tuple[str, ...]
    status: str = ""
    signs: tuple[str, ...] = ()
    """Paths of which one has a value in every such line."""
    kind_of_key: type = str
    id_keys: tuple[str, ...] = ()
    """The keys of the id, where it is not `key`."""


_LINES = (
    # platform.openai.com/docs/guides/batch, learn.microsoft.com/azure/ai-services/openai/how-to/batch
    BatchLine("OpenAI batch", BATCH_ID, frozenset({BATCH_ID, "id", "response", "error", "model"}),
        "response.body", ("error", "response.error", "response.body.error"), "response.status_code",
        ("response.body", "response.status_code", "error")),
    # docs.anthropic.com/en/docs/build-with-claude/batch-processing
    BatchLine("Anthropic batch", BATCH_ID, frozenset({BATCH_ID, "result"}), "result.message",
        ("result.error", "result.@expired.type", "result.@canceled.type", "result.@errored.type"), "",
        ("result.@succeeded.type", "result.@expired.type", "result.@canceled.type", "result.@errored.type")),
    # cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
    BatchLine("Vertex batch", "request",
        frozenset({"key", "id", BATCH_ID, "request", "response", "status", "processed_time", "error"}),
        "response", ("status", "error"), "",
        ("response.candidates", "response.promptFeedback", "status", "error"), dict, ("key", "id", BATCH_ID)),
    # ai.google.dev/gemini-api/docs/batch-api
    BatchLine("Gemini batch with ids under 'key'", "key", frozenset({"key", "response", "error", "metadata"}),
        "response", ("error",), "error.code", ("response.candidates", "response.promptFeedback", "error")),
    # docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html
    BatchLine("Bedrock batch with ids under 'recordId'", "recordId",
        frozenset({"recordId", "modelInput", "modelOutput", "error"}), "modelOutput", ("error",), "",
        ("modelOutput", "error")),
)  # fmt: skip

CONFIDENCES = ("confidence", "logprobsConfidence", "ocrConfidence")


def read_response(row: Any) -> Response | None:
    """Return the content of a row in the shape of a response of a service, otherwise None.

    The response stands alone or in the output of a batch.

    >>> read_response({"custom_id": "r1", "result": {"type": "expired"}})
    Response(kind='Anthropic batch', answers=(), usage={}, error='expired', confidence=None, beside={})
    """
    if not isinstance(row, dict):
        return None
    line = _line_of(row)
    if line is not None:
        return _of_line(row, line)
    body = _body_of(row)
    return None if body is None else _of_body(row, body)


def names_of_id(row: Mapping[str, Any], names: Sequence[str]) -> Sequence[str]:
    """Return the possible names of a row's document id; an `id` of a service is the service's own.

    >>> names_of_id({"custom_id": "r1", "result": {"type": "expired"}}, ["id"])
    ('custom_id',)
    """
    line = _line_of(row)
    if line is not None:
        return line.id_keys or (line.key,)
    body = _body_of(row)
    if body is None or not (body.ids or "object" in row or "role" in row):
        return names
    others = [name for name in names if name != "id"]
    usual = dict.fromkeys((*names, *ID_NAMES))
    return [*others, *dict.fromkeys(place.replace("*", name) for place in body.ids for name in usual)]


def is_log(row: Any) -> bool:
    """Return whether a row is the head of a log of OpenAI Evals, whose other lines are events."""
    return isinstance(row, dict) and row.keys() == {"spec"} and _has(row, {"spec.run_id": str})


def _body_of(row: Mapping[str, Any]) -> Body | None:
    return next((body for body in _BODIES if _has(row, body.signs)), None)


def _line_of(row: Mapping[str, Any]) -> BatchLine | None:
    """Return the kind of batch that a row is a line of."""
    for line in _LINES:
        is_line = row.keys() <= line.keys or {"response", "error"} <= row.keys() or any(_find(row, line.body))
        has_sign = any(True for sign in line.signs for _ in _find(row, sign))
        if is_line and has_sign and isinstance(row.get(line.key), line.kind_of_key):
            return line
    return None


def _of_line(row: Mapping[str, Any], line: BatchLine) -> Response:
    error = next((error for path in line.errors for error in _find(row, path)), None)
    content = next(_find(row, line.body), None)
    status = next(_find(row, line.status), None) if line.status else None
    if error is not None or (isinstance(status, int) and status >= 400):
        return Response(line.kind, error=_message(error) or f"status {status}")
    if not isinstance(content, dict):
        return Response(line.kind, error="no response")
    body = next((body for body in _BODIES if _has(content, body.in_batch or body.signs)), None)
    if body is None:
        return Response(line.kind, error="its body is not a known kind of response")
    response = _of_body(content, body)
    return Response(line.kind, response.answers, response.usage, response.error)


def _of_body(row: Mapping[str, Any], body: Body) -> Response:
    calls = [call for path in body.calls for call in _find(row, path)]
    text = "".join(part for path in body.texts for part in _find(row, path) if isinstance(part, str))
    answers = (*(_join(calls) if body.has_parts else calls), *([text] if text else []))
    error = next((error for path in body.errors for error in _find(row, path)), None)
    models = (model for path in _MODELS for model in _find(row, path) if isinstance(model, str))
    usage: dict[str, Any] = dict(zip(["model"], models, strict=False))
    for name, paths in zip(("prompt_tokens", "completion_tokens"), body.tokens, strict=True):
        counts = [count for path in paths for count in _find(row, path) if isinstance(count, int)]
        usage |= {name: sum(counts)} if counts else {}
    confidence = _confidences(next(_find(row, body.confidence), None)) if body.confidence else None
    beside: dict[str, Json] = {}
    for name, paths in body.beside.items():
        values = [value for path in paths for value in _find(row, path)]
        beside |= {name: values[0] if len(paths) == 1 else " ".join(map(str, values))} if values else {}
    return Response(body.kind, answers, usage, None if answers else _message(error), confidence, beside)


def _join(parts: list[Any]) -> list[Any]:
    """Return the record of parts that tell of different fields; parts that disagree stay apart.

    >>> _join([{"shop": "Oak", "total": None}, {"shop": None, "total": 5}])
    [{'shop': 'Oak', 'total': 5}]
    >>> _join([{"total": 4}, {"total": 5}])
    [{'total': 4}, {'total': 5}]
    """
    record: dict[str, Any] = {}
    for part in parts:
        filled = (
            [(key, value) for key, value in part.items() if value not in (None, "", [], {})]
            if isinstance(part, dict)
            else None
        )
        if filled is None or any(record.setdefault(key, value) != value for key, value in filled):
            return parts
    return [record] if parts else []


def _has(row: Mapping[str, Any], signs: Mapping[str, Any]) -> bool:
    """Return whether a row has a value of each sign: at a key of its own, or anywhere at a path."""
    return all(
        any(
            isinstance(value, sign) if isinstance(sign, type | UnionType) else value == sign
            for value in (_find(row, key) if "." in key else (row.get(key),))
        )
        for key, sign in signs.items()
    )


def _find(value: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path that are not null or blank, without those of thoughts."""
    step, _, rest = path.partition(".")
    if not path:
        if value not in (None, ""):
            yield value
    elif isinstance(value, list):
        for item in value[:1] if step == "0" else value:
            yield from _find(item, rest if step == "0" else path)
    elif isinstance(value, dict) and value.get("thought") is not True:
        if step.startswith("@"):
            yield from _find(value, rest) if value.get("type") == step[1:] else ()
        else:
            yield from _find(value.get(step), rest)


def _message(error: Any) -> str | None:
    """Return the message of an error, possibly an object in an object."""
    for _ in range(3):
        if not isinstance(error, dict):
            break
        names = ("message", "errorMessage", "error", "code", "errorCode", "type")
        error = next((error[name] for name in names if error.get(name)), None)
    return str(error).strip() or None if isinstance(error, str | int) else None


def _confidences(value: Any) -> Any:
    """Return the numbers in metadata that mirror a record."""
    if isinstance(value, list):
        return [_confidences(item) for item in value]
    if not isinstance(value, dict):
        return None
    number = next((value[name] for name in CONFIDENCES if isinstance(value.get(name), int | float)), None)
    return {key: _confidences(inner) for key, inner in value.items()} if number is None else number


# Values predicted as objects with a confidence, or with a confidence in a column beside them.

Scalars: TypeAlias = Mapping[str, Any]
"""The fields of an object by name: None for values and lists of values, else the fields of its objects."""

SUFFIX = "_confidence"
_PERCENTAGE = re.compile(r"\s*(\d{1,3}(?:[.,]\d{1,15})?)\s?%\s*", re.ASCII)
_TYPED = tuple(f"value{letter}" for letter in "ABCDINOPST")
"""The beginnings of Azure's keys of values by type: `valueString`, `valueNumber`, `valueDate`."""
_VALUES = ("value", "content")
_MARKS = frozenset({"confidence", "citations"})
"""Keys of which a value object has one; `citations` are Reducto's, with a confidence each."""
_BESIDE = frozenset({
    *_VALUES, *_MARKS, "text", "elements", "type", "page", "pages", "page_number", "pageNumber", "bbox",
    "box",    "bounding_box", "boundingBox", "polygon",
    "bounding_regions", "boundingRegions", "spans", "span", "source", "source_text",
})  # fmt: skip
"""The keys of an object with only a value, its confidence and the place where the value was found."""


class ValueObjects(Struct):
    """The yield of the value objects of one record: confidences by path, and the names of the steps."""

    confidences: dict[str, float] = field(default_factory=dict)
    repairs: set[str] = field(default_factory=set)


def take_values(
    data: dict[str, Json], scalars: Scalars, value_objects: ValueObjects, path: str = ""
) -> dict[str, Json]:
    """Return a record with plain values in place of objects such as `{"value": 5, "confidence": 0.9}`.

    Only at fields that have a single value in the spec.

    >>> value_objects = ValueObjects()
    >>> take_values({"total": {"value": 5, "confidence": 0.9}}, {"total": None}, value_objects)
    {'total': 5}
    >>> value_objects.confidences
    {'total': 0.9}
    """
    record = data
    for name, value in data.items():
        here = f"{path}.{name}" if path else name
        kind = value.__class__
        if (
            name.endswith(SUFFIX)
            and name not in scalars
            and scalars.get(name.removesuffix(SUFFIX), "") is None
        ):
            if _note_confidence(value, here.removesuffix(SUFFIX), value_objects):
                value_objects.repairs.add("confidence_beside")
                record = {key: member for key, member in record.items() if key != name}
        elif (kind is dict or kind is list) and name in scalars:
            inner = _take(value, scalars[name], value_objects, here)
            if inner is not value:
                record = {**record, name: inner}
    return record


def _take(value: Any, scalars: Scalars | None, value_objects: ValueObjects, path: str) -> Json:
    if isinstance(value, list):
        items = [_take(item, scalars, value_objects, f"{path}[{at}]") for at, item in enumerate(value)]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    key = _value_key(value, scalars)
    if key is None:
        return value if scalars is None else take_values(value, scalars, value_objects, path)
    inner: Json = value[key]
    value_objects.repairs.add("value_object")
    _note_confidence(_confidence_of(value), path, value_objects)
    return inner if scalars is None else _take(inner, scalars, value_objects, path)


def _confidence_of(value: Mapping[str, Any]) -> Any:
    """Return the confidence of a value object, or that of the first place that it cites."""
    if "citations" not in value:
        return value.get("confidence")
    first = next((cited for cited in value["citations"] or () if isinstance(cited, dict)), {})
    granular = first.get("granular_confidence")
    number = granular.get("extract_confidence") if isinstance(granular, dict) else None
    return first.get("confidence") if number is None else number


def _value_key(value: Mapping[str, Json], scalars: Scalars | None) -> str | None:
    """Return the key of the value in an object of only a value, its confidence and its place; else None.

    A typed value that is itself an object (`valueCurrency`) gives way to the text that it was read from.
    """
    typed = [key for key in value if key.startswith(_TYPED)]
    keys = typed or [key for key in _VALUES if key in value] or [key for key in ("text",) if key in value]
    has_mark = not _MARKS.isdisjoint(value) or (bool(typed) and "type" in value)
    if not has_mark or len(keys) != 1 or not value.keys() <= {*_BESIDE, *typed}:
        return None
    is_container = isinstance(value[keys[0]], dict | list)
    if scalars is not None:  # not if a key of the object itself is declared
        return keys[0] if is_container and scalars.keys().isdisjoint(value) else None
    if typed and is_container:
        return next((key for key in ("content", "text") if isinstance(value.get(key), str)), None)
    return None if isinstance(value[keys[0]], dict) else keys[0]


def _note_confidence(value: Json, path: str, value_objects: ValueObjects) -> bool:
    """Return whether a value is a confidence in numbers, which is then kept; one in words is only noted."""
    number = read_confidence(value)
    if number is not None:
        value_objects.confidences[path] = number
    elif isinstance(value, str) and value.strip():
        value_objects.repairs.add("confidence_in_words")
    return number is not None


def read_confidence(value: Json) -> float | None:
    """Return the number that a confidence is, of a percentage its fraction; None if it is none.

    >>> read_confidence("95 %"), read_confidence("0.95"), read_confidence(95), read_confidence("high")
    (0.95, 0.95, 95.0, None)
    """
    percentage = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
    if percentage is None:
        return read_number(value)
    return float(Decimal(percentage[1].replace(",", ".")) / 100)
