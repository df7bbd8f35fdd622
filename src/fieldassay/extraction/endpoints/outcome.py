"""What came of a request: outcomes, and attempts that are repeated."""

import base64
import email.utils
import hashlib
import html
import re
import time
from collections.abc import Mapping
from datetime import UTC
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.extraction.endpoints.answers import (
    Message,
    choice_of,
    read_message,
    read_own_usage,
    read_usage,
)
from fieldassay.extraction.endpoints.exchange import (
    EndpointCall,
    Failure,
    Journal,
    ModelAnswer,
    Request,
    Timing,
    TokenChoice,
    Usage,
    body_bytes,
)
from fieldassay.records.record import decode_json

# The outcome of an attempt: what a response or a broken connection means, and what to do about it.

Action = Literal["not_sent", "refused", "unknown", "stop", "document", "answer"]
"""`not_sent` and `refused` cost nothing and are tried again until the deadline; `unknown` may have cost
and is tried again twice; `stop` ends the run; `document` and `answer` are the last word."""

MOST_UNKNOWN = 2
"""Attempts again after an unknown outcome."""
SHORTEST_WAIT, _LONGEST_WAIT = 0.25, 86_400
"""Seconds: a server that asks to wait less does not say how long, and the client backs off by itself."""
MOST_CHARACTERS = 1_000_000
"""The longest text that is read as a record: several times what any model writes in one answer."""
SEEN_AT_LEAST = 0.6
"""A server that counts a smaller part of the expected tokens has cut the prompt, or counts in its own way."""
_BLANK_BLOCK = 100
"""A run of white space twice as long has a whole block of it, wherever it begins."""
_ESCAPED_BLANK = re.compile(r"\\[nrt]\\[nrt]\\[nrt]\\[nrt](?:\\[nrt]){96}")

_TOO_LONG = re.compile(
    r"context[ _]?(length|size|window)|maximum context|exceed_context|n_ctx|too many (input )?tokens|"
    r"prompt is too long|input is too long|must be at least 1, got -",
    re.I,
)
_CONTEXT = re.compile(r"context (?:length|window|size)(?: is| of)?(?: only)? (\d{1,12})(?!\d)", re.I)
_PROMPT = re.compile(
    r"(?<!\d)(\d{1,12}+)(?: tokens)? (?:in the (?:messages|prompt)|from the input|(?:of text )?input)", re.I
)
_NO_MONEY = re.compile(
    r"insufficient[ _](quota|funds|balance|credit)|billing|exceeded your current quota|credit balance", re.I
)
_OTHER_FORMAT = "`decode: {format: json_object}`, or `{format: text}`"
_WAYS_OUT = (
    ("image images image_url vision multimodal", "`input: text`, or a `model` that sees images"),
    ("json_object", "`decode: {format: text}`"),
    ("response_format json_schema schema grammar format", _OTHER_FORMAT),
    ("temperature", "`decode: {temperature: null}`"),
    ("logprobs", "`decode: {logprobs: false}`"),
    ("max_tokens max_completion_tokens", "`decode: {max_tokens: …}` with a smaller number, or with null"),
    ("seed", "`decode: {seed: null}`"),
    ("system role roles", "`prompt: FILE`, a template without `[system]`"),
    ("model models model_not_found deployment", "`model: …` with a name that the server knows"),
)  # fmt: skip
"""What to write in the file of systems where a server refuses all requests, by words of its error."""
# what each name of an end means, by the documentation of the services:
# OpenAI, chat completions and responses: https://platform.openai.com/docs/api-reference/chat/object
# Anthropic: https://platform.claude.com/docs/build-with-claude/handling-stop-reasons
# Gemini: https://docs.cloud.google.com/python/docs/reference/vertexai/1.134.0/vertexai.generative_models.FinishReason
# Mistral: https://docs.mistral.ai/api (stop, length, model_length, error, tool_calls)
# DeepSeek: https://api-docs.deepseek.com/api/create-chat-completion
# OpenRouter: https://openrouter.ai/docs/api/reference/errors-and-debugging (OpenAI's, and error)
# watsonx: https://ibm.github.io/watsonx-ai-node-sdk (TextChatResultChoice.Constants.FinishReason)
ENDS: dict[str, str] = {
    "length": "truncated",  # OpenAI, and all that follow it: vLLM, llama.cpp, Ollama, DeepSeek, Mistral
    "max_output_tokens": "truncated",  # OpenAI, responses
    "max_tokens": "truncated",  # Anthropic, Gemini
    "model_context_window_exceeded": "truncated",  # Anthropic
    "model_length": "truncated",  # Mistral
    "time_limit": "truncated",  # watsonx
    "content_filter": "refused",  # OpenAI, Azure, DeepSeek, OpenRouter
    "refusal": "refused",  # Anthropic
    **dict.fromkeys(("safety", "recitation", "blocklist", "prohibited_content", "spii"), "refused"),  # Gemini
    "error": "server_error",  # Mistral, OpenRouter, watsonx
    "insufficient_system_resource": "server_error",  # DeepSeek
}
"""The kind of failure that a server's reason of the end means; other reasons say nothing."""
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|!--)", re.I)
_TAG = re.compile(r"<[^<>]*>?")
_MODERATED = re.compile(r"content[ _](filter|policy|management)|moderation|flagged|safety", re.I)
_BY_TEXT: tuple[tuple[tuple[int, ...], Any, tuple[Action, str]], ...] = (
    ((429,), _NO_MONEY, ("stop", "quota")),
    ((400, 403, 404, 413, 422, 500), _TOO_LONG, ("answer", "context_length")),
    ((400, 403, 422), _MODERATED, ("answer", "refused")),
    ((400, 422), _NO_MONEY, ("stop", "quota")),
)
"""What the text of an error means beyond its status; the first that is in it counts."""


class AttemptVerdict(Struct, frozen=True):
    """What an attempt came to: the kind of failure, what to do, and how long the server asks to wait."""

    action: Action
    kind: str = ""
    message: str = ""
    retry_after_s: float | None = None

    @property
    def failure(self) -> Failure:
        """The verdict as the failure of an answer."""
        return Failure(self.kind, self.message, "answer" if self.action == "answer" else "send")


ANSWERED = AttemptVerdict("answer")


def judge_response(status: int, headers: Mapping[str, str], body: Any) -> AttemptVerdict:
    """Return what a response means; `body` is parsed JSON, or text where it is none.

    >>> judge_response(429, {"retry-after": "7"}, {"error": {"message": "slow down"}})
    AttemptVerdict(action='refused', kind='rate_limited', message='429: slow down', retry_after_s=7.0)
    >>> judge_response(429, {}, {"error": {"code": "insufficient_quota", "message": "no money"}}).action
    'stop'
    >>> judge_response(200, {}, '{"choices": [{"mess').kind
    'half_answer'
    """
    wait = _retry_after(headers)
    if status == 200:
        return _judge_success(headers, body, wait)
    code, message = _error_of(body)
    said = f"{status}: {message}" if message else str(status)
    action, kind = _judge_status(status, f"{code} {message}")
    line = way_out(f"{code} {message}") if kind == "bad_request" else ""
    if line.startswith("`decode"):
        kind, said = "unsupported_parameter", f"{said}; write {line}"
    elif line:
        said += f"; where all documents meet this, write {line}"
    if kind == "redirected" and headers.get("location"):
        said += f": the server points to {headers['location']}; write the `url` of the one that answers"
    return AttemptVerdict(action, kind, said, wait if action in ("refused", "unknown") else None)


def _judge_success(headers: Mapping[str, str], body: Any, wait: float | None) -> AttemptVerdict:
    if not isinstance(body, dict):
        return _judge_other(headers, body)
    choice = choice_of(body)
    message = read_message(body)
    failed = choice.get("error") or (body.get("error") if not body.get("choices") else None)
    if not failed and message is not None and ENDS.get(message.end.lower()) == "server_error":
        failed = {"message": f"the answer ended with {message.end}"}
    if failed:
        code, said = _error_of({"error": failed})
        number = code.partition(" ")[0]
        status = int(number) if number.isdecimal() and 400 <= int(number) < 600 else 500
        action, kind = _judge_status(status, f"{code} {said}")
        return AttemptVerdict(action, kind, f"an error with status 200: {said or code}", wait)
    if body.get("done") is False:  # a part of a stream of Ollama
        return AttemptVerdict("unknown", "half_answer", "the stream breaks off")
    if message is None:
        content = (
            "no choices" if "choices" in body else f"no text at a known place, but {', '.join(body)[:200]}"
        )
        return AttemptVerdict("answer", "wrong_content", f"the answer has {content or 'nothing'}")
    return ANSWERED


def _judge_other(headers: Mapping[str, str], body: Any) -> AttemptVerdict:
    """Return what a success means whose body is no object: one that came whole is never asked for again."""
    kind = headers.get("content-type", "").partition(";")[0].strip()
    text = body.strip() if isinstance(body, str) else None
    if kind == "text/event-stream":
        return AttemptVerdict("unknown", "half_answer", "the server streams, and the stream breaks off")
    if text and text[0] in "{[" and text[-1] not in "}]":
        return AttemptVerdict("unknown", "half_answer", "the answer is not whole JSON")
    if text and kind not in ("", "application/json"):  # a page of something between, which nobody bills
        return AttemptVerdict("unknown", "wrong_content", f"the server answered with {kind}, not with JSON")
    what = "the body of the answer is empty" if text == "" else "the answer is not a JSON object"
    return AttemptVerdict("answer", "wrong_content", what)


def _judge_status(status: int, said: str) -> tuple[Action, str]:
    """Return what to do about a status and the text of its error, and the kind of failure."""
    by_text = next((verdict for on, text, verdict in _BY_TEXT if status in on and text.search(said)), None)
    if by_text is not None:
        return by_text
    by_status: dict[int, tuple[Action, str]] = {
        401: ("stop", "auth"),
        402: ("stop", "quota"),
        403: ("stop", "auth"),
        404: ("stop", "no_such_model"),
        405: ("stop", "no_such_model"),
        408: ("unknown", "read_timeout"),
        409: ("refused", "rate_limited"),
        413: ("document", "too_large"),
        425: ("refused", "rate_limited"),
        429: ("refused", "rate_limited"),
        503: ("refused", "overloaded"),
        529: ("refused", "overloaded"),
    }
    if status in by_status:
        return by_status[status]
    if 300 <= status < 400:
        return "stop", "redirected"
    return ("unknown", "server_error") if status >= 500 else ("document", "bad_request")


def room_left(message: str) -> int | None:
    """Return how many tokens a context leaves for the answer, None where an error does not say it.

    It is a thirty-second of the context less than the message says: some servers count "about" so many.

    >>> room_left("maximum context length is 4096 tokens and your request has 300 input tokens")
    3668
    >>> room_left("context length is " + "9" * 5000 + ", your request has 300 input tokens")
    """
    context, prompt = _CONTEXT.search(message), _PROMPT.search(message)
    room = int(context[1]) * 31 // 32 - int(prompt[1]) if context is not None and prompt is not None else 0
    return room if room > 0 else None


def way_out(error: str) -> str:
    """Return the line of the file of systems that an error is about; empty where that cannot be known.

    >>> way_out("Model Not Exist")
    '`model: …` with a name that the server knows'
    """
    said = {*re.findall(r"\w+", error.casefold())}
    return next((line for words, line in _WAYS_OUT if said & {*words.split()}), "")


def _error_of(body: Any) -> tuple[str, str]:
    """Return the code and the message of an error, as servers write it in half a dozen ways."""
    if not isinstance(body, dict):
        return "", _plain(str(body or ""))[:300]
    error = body.get("error", body)
    if not isinstance(error, dict):
        return "", _plain(str(error))[:500]
    code = " ".join(str(error[name]) for name in ("code", "type", "param") if error.get(name))
    return code, _plain(str(error.get("message") or error.get("detail") or ""))[:500]


def _plain(text: str) -> str:
    """Return a text on one line, a page without its tags, the beginning at most.

    >>> _plain("<html><title>502 Bad Gateway</title><h1>502 Bad Gateway</h1><hr>nginx")
    '502 Bad Gateway 502 Bad Gateway nginx'
    """
    text = text[:20_000]
    if _PAGE.match(text):
        text = html.unescape(_TAG.sub(" ", text))
    return " ".join(text.split())


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a server asks to wait, at most a day; None for less than `SHORTEST_WAIT`.

    >>> _retry_after({"retry-after-ms": "1500"}), _retry_after({"retry-after": "1" + "0" * 400})
    (1.5, 86400.0)
    >>> [_retry_after({"retry-after": text}) for text in ("soon", "0", "-5", "nan", "inf", "1e-9")]
    [None, None, None, None, None, None]
    >>> dates = [f"Fri, 31 Dec {year} 23:59:59 {zone}" for year in (1999, 9999) for zone in ("GMT", "-0000")]
    >>> [_retry_after({"retry-after": date}) for date in dates]
    [None, None, 86400.0, 86400.0]
    """
    for name, unit in (("retry-after-ms", "0.001"), ("retry-after", "1")):
        text = headers.get(name, "").strip()
        if not text:
            continue
        try:
            number = Decimal(text)
            wait = (
                float(min(number, Decimal(_LONGEST_WAIT * 1000)) * Decimal(unit))
                if number.is_finite()
                else 0.0
            )
        except ArithmeticError:
            try:
                date = email.utils.parsedate_to_datetime(text)
                wait = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        return min(wait, float(_LONGEST_WAIT)) if wait >= SHORTEST_WAIT else None
    return None


def read_answer(line: Mapping[str, Any], request: Request, *, reused: bool) -> ModelAnswer:
    """Return the answer in a recorded line of the journal: the same on arrival and on replay."""
    attempts = int(line.get("attempts", 1))
    maybe = int(line.get("possibly_billed", 0))
    timing = Timing(line.get("model_ms") or 0.0, line.get("first_byte_ms"), line.get("wait_ms") or 0.0)
    usage = Usage(str(request.body.get("model") or ""), calls=1, attempts=attempts)
    left_out = tuple(line.get("left_out", ()))
    basic = ModelAnswer(
        None, usage=usage, timing=timing, reused=reused, possibly_billed=maybe, left_out=left_out
    )
    own = line.get("usage") if request.kind == "call" else None
    body = line.get("body")
    is_plausible = True
    if own:
        usage, is_plausible = read_own_usage(own, usage)
    elif isinstance(body, dict):
        limit = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
        size = 0 if request.attachments else len(str(request.body).encode("utf-8", "replace"))
        usage, is_plausible = read_usage(body, usage, size, limit)
    basic = replace(basic, usage=usage, is_usage_implausible=not is_plausible)
    if line.get("failure"):
        return replace(basic, failure=Failure(**line["failure"]))
    if request.kind == "call":
        return replace(basic, text=line["text"])
    verdict = judge_response(line["status"], {}, body)
    message = read_message(body) if isinstance(body, dict) else None
    if verdict is not ANSWERED or message is None:
        return replace(basic, failure=verdict.failure)
    return _read_completion(line["body"], message, request, basic)


def _read_completion(
    body: Mapping[str, Any], message: Message, request: Request, basic: ModelAnswer
) -> ModelAnswer:
    answer = replace(
        basic,
        text=message.text,
        beside=message.beside,
        finish_reason=message.end or None,
        tokens=_tokens(choice_of(body).get("logprobs")),
        model=str(body.get("model") or body.get("modelVersion") or ""),
    )
    failure, short = _failure_of(answer, message), _describe_short_prompt(basic.usage, request)
    if failure is not None and short and failure.kind not in ("refused", "too_large_answer"):
        kind = failure.kind if failure.kind == "truncated" else "input_truncated"
        failure = Failure(kind, f"{failure.message}; {short}", "answer")
    elif failure is not None and failure.kind == "empty" and not message.beside:
        failure = replace(failure, message=f"{failure.message}: there is no text at {message.place}")
    return replace(answer, failure=failure, is_prompt_short=bool(short))


def _describe_short_prompt(usage: Usage, request: Request) -> str:
    """Return that the server counts far fewer tokens of the prompt than were sent; empty if it does not.

    Some servers leave cached tokens out: only an answer that is of no use shows that the prompt was cut.
    """
    seen, expected = usage.prompt_tokens, request.expected_tokens
    if not seen or not expected or seen + (usage.cached_prompt_tokens or 0) >= SEEN_AT_LEAST * expected:
        return ""
    return f"the server counts {seen:,} tokens of about {expected:,} in the prompt, and may have cut it"


def _failure_of(answer: ModelAnswer, message: Message) -> Failure | None:
    """Return why a completion is of no use, None if it is."""
    text, end = answer.text or "", ENDS.get(str(answer.finish_reason).lower())
    if len(text) > MOST_CHARACTERS:
        said = f"the text of the answer has more than {MOST_CHARACTERS:,} characters"
        return Failure("too_large_answer", said, "answer")
    if message.refusals or end == "refused":
        return Failure("refused", " ".join(message.refusals) or "the content filter refused", "answer")
    if _has_blank_run(text):
        return Failure("whitespace_loop", "the answer is mostly white space", "answer")
    if end == "truncated" and not isinstance(decode_json(text.encode("utf-8", "replace")).value, dict):
        count = answer.usage.completion_tokens
        said = f"the answer ended at the limit of {'its' if count is None else f'{count:,}'} tokens"
        return Failure("truncated", said + answer.beside, "answer")
    return None if text.strip() else Failure("empty", f"the answer is empty{answer.beside}", "answer")


def _has_blank_run(text: str) -> bool:
    """Return whether a text has 200 characters of white space in a row, or escapes of so many.

    >>> _has_blank_run("x" + " \\n" * 100), _has_blank_run("a " * 500), _has_blank_run(r"\\n" * 100)
    (True, False, True)
    """
    blocks = [text[at : at + _BLANK_BLOCK] for at in range(0, len(text) - _BLANK_BLOCK + 1, _BLANK_BLOCK)]
    return any(map(str.isspace, blocks)) or _ESCAPED_BLANK.search(text) is not None


def _tokens(logprobs: Any) -> tuple[TokenChoice, ...]:
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list):
        return ()
    return tuple(
        TokenChoice(
            bytes(token["bytes"])
            if isinstance(token.get("bytes"), list)
            else str(token.get("token", "")).encode(),
            float(token["logprob"]),
        )
        for token in tokens
        if isinstance(token, dict) and isinstance(token.get("logprob"), int | float)
    )


# An attempt at a request: what leaves, what came of it, and the lines of the journal that say so.


class Attempt(Struct, frozen=True):
    """What one attempt came to."""

    verdict: AttemptVerdict
    started: float
    ended: float
    status: int | None = None
    body: Any = None
    first_byte: float | None = None
    request_id: str = ""
    names: Mapping[str, str | None] = {}
    """Keys of the body that were sent under another name, or, with None, not at all."""


def attempt_line(call: EndpointCall, attempt: Attempt, attempts: int, maybe: int) -> dict[str, Any]:
    """Return the fields of the line that tells what an attempt came to."""
    model_ms = (attempt.ended - attempt.started) * 1000
    wait_ms = max((attempt.started - call.queued_at) * 1000, 0.0)
    line: dict[str, Any] = {
        "key": call.key,
        "document": call.document,
        "attempts": attempts,
        "possibly_billed": maybe,
        "model_ms": round(model_ms, 3),
        "first_byte_ms": None if attempt.first_byte is None else round(attempt.first_byte, 3),
        "wait_ms": round(wait_ms, 3),
        "ended": round(time.time(), 3),
    }
    if None in attempt.names.values():
        line["left_out"] = [name for name, key in attempt.names.items() if key is None]
    if attempt.status is not None:
        line |= {"status": attempt.status, "request_id": attempt.request_id}
        line["body"] = without_alternatives(attempt.body)
    return line


def without_alternatives(body: Any) -> Any:
    """Return a completion, changed in place, without the tokens not chosen: some servers list 20 for each.

    >>> token = {"token": "a", "top_logprobs": [1, 2]}
    >>> without_alternatives({"choices": [{"logprobs": {"content": [token]}}]})
    {'choices': [{'logprobs': {'content': [{'token': 'a'}]}}]}
    """
    choices = body.get("choices") if isinstance(body, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        listed = choice.get("logprobs") if isinstance(choice, dict) else None
        tokens = listed.get("content") if isinstance(listed, dict) else None
        for token in tokens if isinstance(tokens, list) else ():
            if isinstance(token, dict):
                token.pop("top_logprobs", None)
    return body


def write_final(log: Journal, line: dict[str, Any], verdict: AttemptVerdict) -> dict[str, Any]:
    """Write the last word on a request, and return it."""
    if verdict is not ANSWERED:
        line["failure"] = msgspec.to_builtins(verdict.failure)
        line["billed"] = "maybe" if verdict.action == "unknown" else "no"
    log.write("answer" if "body" in line or "text" in line else "outcome", line)
    return line


def send_fields(call: EndpointCall) -> dict[str, Any]:
    """Return the fields of the line that a request leaves; the body only the first time."""
    fields: dict[str, Any] = {"key": call.key, "document": call.document, "step": call.request.step}
    fields |= {"endpoint": call.request.endpoint, "reserved_usd": call.reserved_usd}
    return fields if call.attempts or call.answered_before else {**fields, "body": call.request.body}


def with_attachments(request: Request, names: Mapping[str, str | None] = MappingProxyType({})) -> bytes:
    """Return the body to send: attachments as data URLs, keys under the server's `names`, or left out.

    A call has the path of its document beside the keys of its body.

    Raises ValueError for an attachment of other bytes than were named.
    """
    named = {names.get(name, name): value for name, value in request.body.items()}
    if request.kind == "call":
        named["path"] = request.path
    body = body_bytes({name: value for name, value in named.items() if name is not None})
    for attachment in request.attachments:
        raw = attachment.read()
        if hashlib.sha256(raw).hexdigest() != attachment.sha256:
            raise ValueError(f"the attachment {attachment.sha256} changed after it was named")
        url = f"data:{attachment.media_type};base64,{base64.b64encode(raw).decode('ascii')}"
        body = body.replace(b'"sha256:%s"' % attachment.sha256.encode(), b'"%s"' % url.encode("ascii"))
    return body
