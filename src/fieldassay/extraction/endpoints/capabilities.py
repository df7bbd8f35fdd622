"""The quirks of an endpoint, found by a few short requests: supported options, and silently ignored ones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.extraction.endpoints.channel import Call, Channel, StopRunError, request_key
from fieldassay.extraction.endpoints.exchange import Answer, Failure, Request
from fieldassay.extraction.endpoints.outcome import read_answer
from fieldassay.io.json_value import Json, record_data

Support = Literal["yes", "ignored", "refused", "unknown"]
"""Whether an option works, is taken without effect, is refused, or could not be found out."""

_SCHEMA: Json = {
    "type": "object",
    "properties": {"word": {"type": "string"}, "count": {"type": ["integer", "null"]}},
    "required": ["word", "count"],
    "additionalProperties": False,
}
_OBJECT: Json = {"type": "json_object"}
_QUESTION = "Describe the color blue in one sentence."
_QUESTION_JSON = "Describe the color blue in one sentence, as JSON."  # servers want to read the word
_TOKENS = 100


class Capabilities(Struct, frozen=True):
    """What an endpoint does with the options of a chat completion, for one model."""

    model: str
    url: str = ""
    served_model: str = ""
    limit: str = ""
    """The option that limits the tokens: `max_tokens` or `max_completion_tokens`; empty if neither works."""
    usage: Support = "unknown"
    json_schema: Support = "unknown"
    json_object: Support = "unknown"
    logprobs: Support = "unknown"
    seed: Support = "unknown"
    temperature: Support = "unknown"
    failure: Failure | None = None
    """Why nothing more could be found out."""

    def as_json(self) -> dict[str, Json]:
        """Return the findings by name."""
        found: dict[str, Json] = record_data(self)
        return found


class _NoLog:
    """Nothing is written: the questions belong to no extraction."""

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Do nothing."""


def probe(channel: Channel, model: str, url: str = "") -> Capabilities:
    """Return an endpoint's treatment of options for a model, at the cost of six to eight short requests."""
    found = Capabilities(model, url)
    for limit in ("max_tokens", "max_completion_tokens"):
        answer = _ask(channel, model, {limit: _TOKENS})
        if not _is_refused(answer):
            break
    else:
        return replace(found, failure=answer.failure)
    if answer.text is None:
        return replace(found, failure=answer.failure)
    has_usage = answer.usage.prompt_tokens is not None and answer.usage.completion_tokens is not None
    found = replace(found, limit=limit, usage="yes" if has_usage else "ignored", served_model=answer.model)
    schema: Json = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA},
    }

    def ask(options: Mapping[str, Json]) -> Answer:
        return _ask(channel, model, {limit: _TOKENS, **options})

    return replace(
        found,
        json_schema=_judge(ask({"response_format": schema}), _is_record),
        json_object=_judge(ask({"response_format": _OBJECT}), _is_object),
        logprobs=_judge(ask({"logprobs": True}), lambda answer: bool(answer.tokens)),
        seed=_judge(ask({"seed": 1}), lambda answer: True),  # noqa: ARG005
        temperature=_judge(ask({"temperature": 0}), lambda answer: True),  # noqa: ARG005
    )


def _ask(channel: Channel, model: str, options: Mapping[str, Json]) -> Answer:
    """Return the answer to the question, or the failure that stops other runs."""
    question = _QUESTION_JSON if options.get("response_format") == _OBJECT else _QUESTION
    body: dict[str, Json] = {"model": model, "messages": [{"role": "user", "content": question}], **options}
    request = Request("chat", "probe", body, step="probe")
    call = Call(request, request_key(channel.identity, request), "probe", time.monotonic())
    try:
        return read_answer(channel.ask(call, _NoLog()), request, reused=False)
    except StopRunError as error:
        return Answer(None, failure=error.failure)


def _is_refused(answer: Answer) -> bool:
    return answer.failure is not None and answer.failure.kind in ("unsupported_parameter", "bad_request")


def _judge(answer: Answer, works: Callable[[Answer], bool]) -> Support:
    if _is_refused(answer):
        return "refused"
    if answer.text is None:
        return "unknown"
    return "yes" if works(answer) else "ignored"


def _is_object(answer: Answer) -> bool:
    """Return whether an answer is a JSON object and nothing else."""
    try:
        return isinstance(json.loads(answer.text or ""), dict)
    except ValueError:
        return False


def _is_record(answer: Answer) -> bool:
    """Return whether an answer keeps to the schema."""
    return _is_object(answer) and set(json.loads(answer.text or "")) == {"word", "count"}
