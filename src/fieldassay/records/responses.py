"""Responses of LLM services as they were saved: one alone, or as a row of a batch's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Json

BATCH_ID = "custom_id"
"""The key of the id in the output of a batch."""


class Response(Struct, frozen=True):
    """The content of a response: answers (texts or arguments of tool calls), usage, reason for none."""

    kind: str
    answers: tuple[Json, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


def read_response(row: Any) -> Response | None:
    """Return the content of a row in the shape of an OpenAI or Anthropic response, otherwise None.

    The response stands alone or in the output of a batch.

    >>> read_response({"custom_id": "r1", "result": {"type": "expired"}})
    Response(kind='Anthropic batch', answers=(), usage={}, error='expired')
    """
    if not isinstance(row, dict):
        return None
    if is_batch_row(row):
        return _of_anthropic_batch(row["result"]) if "result" in row else _of_openai_batch(row)
    if row.get("object") == "chat.completion" and _objects(row.get("choices")):
        return _of_chat(row)
    if row.get("object") == "response" and _objects(row.get("output")) is not None:
        return _of_response(row)
    if row.get("type") == "message" and row.get("role") == "assistant" and _objects(row.get("content")):
        return _of_message(row)
    return None


def is_batch_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the shape of a line in the output of a batch."""
    if not isinstance(row.get(BATCH_ID), str):
        return False
    result, response = row.get("result"), row.get("response")
    if isinstance(result, dict):
        return row.keys() == {BATCH_ID, "result"} and result.get("type") in (
            "succeeded",
            "errored",
            "expired",
            "canceled",
        )
    is_answered = isinstance(response, dict) and isinstance(response.get("body"), dict)
    return row.keys() <= {BATCH_ID, "id", "response", "error"} and (
        is_answered or (response is None and isinstance(row.get("error"), dict))
    )


def names_of_id(row: Mapping[str, Any], names: Sequence[str]) -> Sequence[str]:
    """Return the possible names of a row's document id; an `id` of a service is the service's own.

    >>> names_of_id({"custom_id": "r1", "result": {"type": "expired"}}, ["id"])
    ('custom_id',)
    """
    if is_batch_row(row):
        return (BATCH_ID,)
    return [name for name in names if name != "id"] if read_response(row) is not None else names


def _of_openai_batch(row: Mapping[str, Any]) -> Response:
    body = (row.get("response") or {}).get("body") or {}
    found = read_response(body) or (_of_chat(body) if _objects(body.get("choices")) else None)
    if found is None:
        error = row.get("error") or body.get("error")
        return Response(
            "OpenAI batch",
            error=_message(error) or ("its body is no response that is known" if body else "no response"),
        )
    return Response("OpenAI batch", found.answers, found.usage, found.error)


def _of_anthropic_batch(result: Mapping[str, Any]) -> Response:
    message = result.get("message")
    has_content = isinstance(message, dict) and _objects(message.get("content")) is not None
    if result["type"] == "succeeded" and not has_content:
        return Response("Anthropic batch", error="succeeded, but holds no message")
    if result["type"] != "succeeded":
        return Response("Anthropic batch", error=_message(result.get("error")) or str(result["type"]))
    found = _of_message(result["message"])
    return Response("Anthropic batch", found.answers, found.usage, found.error)


def _of_chat(body: Mapping[str, Any]) -> Response:
    """Return the first choice of a chat completion."""
    message = body["choices"][0].get("message")
    message = message if isinstance(message, dict) else {}
    calls = [call.get("function") for call in _objects(message.get("tool_calls")) or ()] + [
        message.get("function_call")
    ]
    given = [
        call["arguments"] for call in calls if isinstance(call, dict) and call.get("arguments") is not None
    ]
    return _answered(
        "OpenAI chat completion", [*given, _text(message.get("content"))], body, message.get("refusal")
    )


def _of_response(body: Mapping[str, Any]) -> Response:
    items = _objects(body["output"]) or []
    given = [
        item["arguments"]
        for item in items
        if item.get("type") == "function_call" and item.get("arguments") is not None
    ]
    parts = [
        part
        for item in items
        if item.get("type") == "message"
        for part in _objects(item.get("content")) or ()
    ]
    refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]
    error = _message(body.get("error")) or (refusals[0] if refusals else None)
    return _answered("OpenAI response", [*given, _text(parts)], body, error)


def _of_message(body: Mapping[str, Any]) -> Response:
    given = [
        block["input"]
        for block in _objects(body["content"]) or ()
        if block.get("type") == "tool_use" and block.get("input") is not None
    ]
    return _answered("Anthropic message", [*given, _text(body["content"])], body, None)


def _answered(kind: str, answers: Sequence[Json], body: Mapping[str, Any], error: Any) -> Response:
    kept = tuple(answer for answer in answers if answer not in (None, ""))
    why = error.strip() if isinstance(error, str) and error.strip() and not kept else None
    return Response(kind, kept, _usage(body), why)


def _text(content: Any) -> str | None:
    """Return the text of a content: a text, or the text blocks of a list; thoughts have other types."""
    if isinstance(content, str):
        return content
    blocks = _objects(content) or ()
    texts = [
        block["text"]
        for block in blocks
        if block.get("type") in ("text", "output_text") and isinstance(block.get("text"), str)
    ]
    return "".join(texts) or None


def _usage(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return model and tokens; prompt tokens are all of them, whether or not they came from a cache."""
    used = body.get("usage")
    used = used if isinstance(used, dict) else {}
    usage = {"model": body["model"]} if isinstance(body.get("model"), str) else {}
    cached = [used.get(f"cache_{kind}_input_tokens") for kind in ("creation", "read")]
    prompt, completion = (
        used.get("prompt_tokens", used.get("input_tokens")),
        used.get("completion_tokens", used.get("output_tokens")),
    )
    if isinstance(prompt, int):
        usage["prompt_tokens"] = prompt + sum(count for count in cached if isinstance(count, int))
    if isinstance(completion, int):
        usage["completion_tokens"] = completion
    return usage


def _message(error: Any) -> str | None:
    """Return the message of an error, possibly an object in an object."""
    for _ in range(3):
        if not isinstance(error, dict):
            break
        error = error.get("message") or error.get("error") or error.get("code") or error.get("type")
    return error.strip() or None if isinstance(error, str) else None


def _objects(value: Any) -> list[dict[str, Any]] | None:
    """Return a list of objects, None for any other value."""
    return value if isinstance(value, list) and all(isinstance(item, dict) for item in value) else None
