"""An attempt at a request: what leaves, what came of it, and the lines of the journal that say so."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from fieldassay.extraction.endpoints.channel import Call, Log, body_bytes
from fieldassay.extraction.endpoints.exchange import Request
from fieldassay.extraction.endpoints.outcome import ANSWERED, Verdict


class Attempt(Struct, frozen=True):
    """What one attempt came to."""

    verdict: Verdict
    started: float
    ended: float
    status: int | None = None
    body: Any = None
    first_byte: float | None = None
    request_id: str = ""
    names: Mapping[str, str | None] = {}
    """Keys of the body that were sent under another name, or, with None, not at all."""


def attempt_line(call: Call, attempt: Attempt, attempts: int, maybe: int) -> dict[str, Any]:
    """Return the fields of the line that tells what an attempt came to."""
    model_ms = (attempt.ended - attempt.started) * 1000
    wait_ms = max((attempt.started - call.queued_at) * 1000, 0.0)
    found: dict[str, Any] = {
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
        found["left_out"] = [name for name, key in attempt.names.items() if key is None]
    if attempt.status is not None:
        found |= {"status": attempt.status, "request_id": attempt.request_id}
        found["body"] = without_alternatives(attempt.body)
    return found


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


def write_final(log: Log, line: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Write the last word on a request, and return it."""
    if verdict is not ANSWERED:
        line["failure"] = msgspec.to_builtins(verdict.failure)
        line["billed"] = "maybe" if verdict.action == "unknown" else "no"
    log.write("answer" if "body" in line or "text" in line else "outcome", line)
    return line


def send_fields(call: Call) -> dict[str, Any]:
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
    for one in request.attachments:
        raw = one.read()
        if hashlib.sha256(raw).hexdigest() != one.sha256:
            raise ValueError(f"the attachment {one.sha256} changed after it was named")
        url = f"data:{one.media_type};base64,{base64.b64encode(raw).decode('ascii')}"
        body = body.replace(b'"sha256:%s"' % one.sha256.encode(), b'"%s"' % url.encode("ascii"))
    return body
