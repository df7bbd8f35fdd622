"""Answers of servers, in whichever protocol they are written: their text, their end and their tokens."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.extraction.endpoints.exchange import TOKENS, Usage
from fieldassay.records.record import decode_json

# The body of a response as JSON, and the parts of a stream as one body.

_PLACES = (
    "message", "delta", "content", "parts", "output", "output_text", "text", "response", "generated_text",
)  # fmt: skip
"""Where the text of an answer stands, from the outside to the inside; at each level the first that is there.

Chat completions and their streams, completions, Anthropic's messages, OpenAI's responses, Gemini, Bedrock,
Cohere, Ollama's `chat` and `generate`, llama.cpp's and Hugging Face's own.
"""
_CALLS = ("tool_calls", "function_call", "functionCall", "toolUse")
_ARGUMENTS = ("arguments", "args", "input", "partial_json")
_NAMES = frozenset({"role", "type", "id", "name", "object", "index", "status", "signature", "call_id"})
"""Texts that are no part of what a model writes."""
_ENDS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "stop_type",
    "incomplete_details", "promptFeedback",
)  # fmt: skip
_ALTERNATIVES = ("choices", "candidates")
_EVENT = re.compile(rb"data:(?:(?<=[\r\n]data:)|(?<=\Adata:))([^\r\n]*)")
_LINE = re.compile(rb"[^\r\n]+")


def parse(raw: bytes) -> Any:
    """Return the JSON of a body. Raises ValueError.

    Numbers that are none are null, halves of surrogate pairs U+FFFD, and bytes that are no UTF-8 are read as
    cp1252: some servers write so, and an answer that is there was paid.

    >>> parse(b'["\\\\ud83d", 1, NaN]')
    ['\ufffd', 1, None]
    """
    row = decode_json(raw)
    if row.problem is not None:
        raise ValueError(row.problem)
    return row.value


def join_events(raw: bytes) -> dict[str, Any] | None:
    """Return the answer, or the error, in a stream of events or of lines; None where it is not whole.

    >>> parts = [b'{"choices": [{"delta": {"content": "a"}}]}', b'{"choices": [{"delta": {"content": "b"}}]}']
    >>> body = join_events(b"\\n".join(b"data: " + part for part in [*parts, b"[DONE]"]))
    >>> body["choices"][0]["message"]["content"]
    'ab'
    """
    lines = [line.strip() for line in _EVENT.findall(raw)]
    is_stream = bool(lines)
    if not is_stream:
        lines = [line for line in _LINE.findall(raw) if not line.isspace()]
    try:
        events = [parse(line) for line in lines if line and line != b"[DONE]"]
    except ValueError:
        return None
    if not all(isinstance(event, dict) for event in events) or not (events or is_stream):
        return None
    body = join_parts(events)
    choice = choice_of(body)
    is_whole = b"[DONE]" in lines or choice.get("finish_reason") or _end_of(body)
    return body if is_whole or body.get("error") else None


def join_parts(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parts of a stream, each a small answer, as one chat completion; an error alone."""
    whole, message, counts = dict[str, Any](), Message(), dict[str, Any]()
    for event in events:
        inner = event.get("response")
        if isinstance(inner, dict) and inner.get("status") != "in_progress":  # of OpenAI, at the end
            return inner
        start = event.get("message") if event.get("type") == "message_start" else None  # of Anthropic
        for part in filter(None, (event, start)):
            whole |= {name: part[name] for name in ("error", "model") if part.get(name)}
            counts |= {name: count for name, count in _flat(part).items() if name in _COUNTED}
        choice = choice_of(event)
        delta = event.get("delta")
        message.end = _end_of(choice) or (_end_of(delta) if isinstance(delta, dict) else "") or message.end
        message.end = message.end or "stop" * (event.get("done") is True)
        if choice.get("error"):
            whole["error"] = choice["error"]
        is_other = choice is not event and choice.get("index")
        if not is_other and not str(event.get("type")).startswith("response."):
            _gather(choice, "", message, is_inside=False, call=event.get("index"))
    if whole.get("error"):
        return whole
    chat_message: dict[str, Any] = {name: "".join(texts) for name, texts in message.others.items()}
    chat_message |= {"content": "".join(message.texts), "refusal": "".join(message.refusals)}
    chat_message["tool_calls"] = [{"arguments": "".join(call)} for call in message.calls.values()]
    return whole | {
        "choices": [{"index": 0, "finish_reason": message.end or None, "message": chat_message}],
        "usage": counts,
    }


# What an answer says.


class Message(Struct):
    """What a model wrote, and where: its texts, the arguments of its calls, its thoughts, its refusals."""

    end: str = ""
    """Why it ended, by the server."""
    place: str = ""
    """Where the text stands, or where it would stand."""
    texts: list[str] = field(default_factory=list)
    calls: dict[Any, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The arguments of calls, each in as many pieces as it came in."""
    refusals: list[str] = field(default_factory=list)
    others: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Texts at other places, such as thoughts, by their name."""

    @property
    def text(self) -> str | None:
        """The text; of a message without JSON in it, that of its calls."""
        text = "".join(self.texts)
        if self.calls and "{" not in text:
            return _join_calls(["".join(call) for call in self.calls.values()])
        return text if self.texts else None

    @property
    def beside(self) -> str:
        """Where the server put text in place of the content, in words; empty where there is content."""
        if not self.others or (self.text or "").strip():
            return ""
        lengths = {name: sum(map(len, texts)) for name, texts in self.others.items()}
        name = max(lengths, key=lambda name: lengths[name])
        return f"; the server put {lengths[name]:,} characters into {name}"


def read_message(body: Mapping[str, Any]) -> Message | None:
    """Return what an answer says: of several choices the first by its index; None for no known place.

    >>> read_message({"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}).text
    'hi'
    >>> read_message({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}).place
    'candidates[0].content.parts'
    """
    choice = choice_of(body)
    name = next((name for name in _ALTERNATIVES if body.get(name)), "")
    if choice is body and (name or not any(key in body for key in (*_PLACES, *_CALLS, "promptFeedback"))):
        return None
    message = Message(end=_end_of(choice) or _end_of(body), place=f"{name}[0]" if name else "")
    _gather(choice, message.place, message, is_inside=False)
    return message


def choice_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the choice of an answer with the least index; the answer itself where it has none."""
    for name in _ALTERNATIVES:
        listed = body.get(name)
        choices = (
            [choice for choice in listed if isinstance(choice, dict)] if isinstance(listed, list) else []
        )
        if choices:
            return min(
                choices, key=lambda choice: choice["index"] if isinstance(choice.get("index"), int) else 0
            )
    return body


def _end_of(part: Mapping[str, Any]) -> str:
    for name in _ENDS:
        end = part.get(name)
        if isinstance(end, dict):
            end = end.get("reason") or end.get("blockReason")
        if end and isinstance(end, str):
            return end
    return "completed" if part.get("status") == "completed" else ""


def _gather(node: Any, place: str, message: Message, *, is_inside: bool, call: Any = None) -> None:
    """Add what a part of an answer says to the message; `call` is the number of the call that it is of."""
    if isinstance(node, str):
        message.texts.append(node)
    for item in node if isinstance(node, list) else ():
        _gather(item, place, message, is_inside=True)
    if not isinstance(node, dict):
        return
    kind = str(node.get("type") or "")
    if node.get("refusal"):
        message.refusals.append(str(node["refusal"]))
    if kind in ("tool_use", "function_call", "input_json_delta"):
        _gather_calls([node], message, call)
    for name in _CALLS:
        if name in node:
            _gather_calls(node[name] if isinstance(node[name], list) else [node[name]], message, None)
    here = [name for name in _PLACES if name in node]
    where = next((name for name in here if node[name]), here[0] if here else None)
    is_thought = node.get("thought") is True or kind in ("thinking", "reasoning", "redacted_thinking")
    for other, text in node.items() if is_inside else ():
        if not is_thought and (other == where or other == "refusal" or other in _ARGUMENTS):
            continue
        if isinstance(text, str) and text.strip() and other not in _NAMES:
            message.others["thought" if other in _PLACES else other].append(text)
    if where is not None and not is_thought:
        inner = f"{place}.{where}".lstrip(".")
        message.place = inner if len(inner) > len(message.place) and not message.texts else message.place
        _gather(node[where], inner, message, is_inside=True, call=call)


def _gather_calls(calls: list[Any], message: Message, number: Any) -> None:
    """Add the arguments of calls: a piece without number and name belongs to the call before it."""
    for call in calls:
        if not isinstance(call, dict):
            continue
        inner = call["function"] if isinstance(call.get("function"), dict) else call
        arguments = next((inner[name] for name in reversed(_ARGUMENTS) if inner.get(name)), "")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        key = next(
            (
                identifier
                for identifier in (number, call.get("index"), call.get("id"))
                if identifier is not None
            ),
            None,
        )
        if key is None:
            key = (
                len(message.calls)
                if inner.get("name") or not message.calls
                else next(reversed(message.calls))
            )
        if isinstance(key, str | int):
            message.calls[key].append(text)


def _join_calls(arguments: list[str]) -> str:
    """Return the arguments of calls as one record where their keys differ; else one after the other.

    >>> _join_calls(['{"a": 1}', '{"b": 2}']), _join_calls(['{"a": 1}', '{"a": 2}'])
    ('{"a": 1, "b": 2}', '{"a": 1}\\n{"a": 2}')
    """
    if len(arguments) == 1:
        return arguments[0]
    records = [decode_json(text.encode("utf-8", "replace")).value for text in arguments]
    members = [member for record in records if isinstance(record, dict) for member in record.items()]
    are_objects = all(isinstance(record, dict) for record in records)
    if are_objects and len(members) == len(dict(members)):
        return json.dumps(dict(members), ensure_ascii=False)
    return "\n".join(arguments)


# The tokens of an answer.

MOST_TOKENS = 10_000_000
"""As many as the largest context of any model holds."""
_PROMPT = (
    "prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "prompt_eval_count",
    "tokens_evaluated",
)  # fmt: skip
_COMPLETION = (
    "completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "eval_count",
    "tokens_predicted", "generated_tokens",
)  # fmt: skip
_CACHED = (
    "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cacheReadInputTokens",
    "cachedContentTokenCount",
)  # fmt: skip
_REASONING = ("reasoning_tokens", "thoughtsTokenCount")
_TOTAL = ("total_tokens", "totalTokenCount", "totalTokens")
_COUNTED = frozenset({
    *_PROMPT, *_COMPLETION, *_CACHED, *_REASONING, *_TOTAL, "image_tokens", "cache_creation_input_tokens",
})  # fmt: skip


class TokenCounts(Struct):
    """Counts of tokens as a server writes them, checked where they come in."""

    by_name: Mapping[str, Any]
    are_plausible: bool = True
    """Whether all that were read are whole numbers from 0 up to their most."""

    def read(self, *names: str, most: int = MOST_TOKENS) -> int | None:
        """Return the first count that is there; None for none, and for one that cannot be.

        >>> counts = TokenCounts({"a": 300.0, "b": "300", "c": 10**30, "d": -1})
        >>> [counts.read(name) for name in "abcde"], counts.are_plausible
        ([300, 300, None, None, None], False)
        """
        count = next((self.by_name[name] for name in names if self.by_name.get(name) is not None), None)
        if count is None:
            return None
        text = str(count).strip().removesuffix(".0")
        is_count = text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= most
        self.are_plausible &= is_count
        return int(text) if is_count else None


def read_usage(body: Mapping[str, Any], basic: Usage, prompt_bytes: int, limit: Any) -> tuple[Usage, bool]:
    """Return the tokens of an answer under any of their names, and whether all counts are plausible.

    Cached tokens are made part of the prompt, reasoning of the completion: where a server counts them
    beside, their number, the total, or their name shows it. `prompt_bytes` are those of a prompt without
    images, else 0; `limit` is that of the completion.

    >>> usage = {"prompt_tokens": 40, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 120}}
    >>> read_usage({"usage": usage}, Usage(), 0, None)[0].prompt_tokens
    160
    """
    counts = TokenCounts(_flat(body))
    most = min(4 * prompt_bytes + 100_000 if prompt_bytes else MOST_TOKENS, MOST_TOKENS)
    prompt = counts.read(*_PROMPT, most=most)
    is_limited = isinstance(limit, int | float) and limit > 0
    completion = counts.read(*_COMPLETION, most=int(4 * limit) if is_limited else MOST_TOKENS)
    cached, reasoning = counts.read(*_CACHED), counts.read(*_REASONING)
    total, written = counts.read(*_TOTAL), counts.read("cache_creation_input_tokens")
    whole = replace(
        basic,
        prompt_tokens=prompt,
        cached_prompt_tokens=cached,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        image_tokens=counts.read("image_tokens"),
    )
    if prompt is None or completion is None:
        return whole, counts.are_plausible
    if reasoning and total == prompt + completion + reasoning:
        whole = replace(whole, completion_tokens=completion + reasoning)
    is_anthropic = "input_tokens" in counts.by_name and "cache_read_input_tokens" in counts.by_name
    if is_anthropic:
        whole = replace(whole, prompt_tokens=prompt + (cached or 0) + (written or 0))
    elif cached and (cached > prompt or total == prompt + cached + completion):
        whole = replace(whole, prompt_tokens=prompt + cached)
    return whole, counts.are_plausible


def _flat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of an answer by name: those of the usage, then of its details, then beside it."""
    counts: dict[str, Any] = {}
    usages = [body[name] for name in ("usage", "usageMetadata") if isinstance(body.get(name), dict)]
    details = [inner for usage in usages for inner in usage.values() if isinstance(inner, dict)]
    for level in (*usages, *details, body):
        for name, value in level.items():
            if not isinstance(value, dict | list) and counts.get(name) is None:
                counts[name] = value
    return counts


def read_own_usage(counted: Mapping[str, Any], basic: Usage) -> tuple[Usage, bool]:
    """Return the tokens that a program or a function says it used, and whether all are plausible."""
    counts = TokenCounts(counted)
    tokens = {name: counts.read(name) for name in TOKENS}
    model = str(counted.get("model") or basic.model)
    return Usage(model, calls=basic.calls, attempts=basic.attempts, **tokens), counts.are_plausible
