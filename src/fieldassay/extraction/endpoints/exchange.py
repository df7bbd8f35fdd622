"""A request to a model or a program, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from fieldassay.io.json_value import Json


@dataclass(frozen=True, slots=True)
class Attachment:
    """Bytes that a request refers to by their digest, made only when they are sent."""

    sha256: str
    media_type: str
    read: Callable[[], bytes] = field(compare=False, repr=False)


class Request(Struct, frozen=True):
    """A question to an endpoint: a value without a clock, a network or a file behind it.

    An image stands in the body as `{"type": "image_url", "image_url": {"url": "sha256:<digest>"}}`; the
    attachment of that digest takes its place when the request is sent. The journal holds the digest.
    """

    kind: Literal["chat", "call"]
    """`chat`: an OpenAI-compatible chat completion. `call`: a program or a Python function."""
    endpoint: str
    """The name of the endpoint, or of the system whose program or function is called."""
    body: Mapping[str, Json]
    attachments: tuple[Attachment, ...] = ()
    repeat: int = 0
    step: str = "extract"
    """What the request is for: `extract`, `omissions`, `recheck`, `reask`, `chunk 3/7`."""
    expected_tokens: int | None = None
    """An estimate of the prompt's tokens, by which a prompt that the server may have cut is noticed."""
    optional: tuple[str, ...] = ()
    """Keys of the body that nobody wrote: a server that refuses one is asked without it."""
    path: str | None = None
    """The file of a call's document, sent as `path`; a document that was moved has the same answer."""


class Usage(Struct, frozen=True):
    """The tokens of one answer with all its attempts; None where the server did not say."""

    model: str = ""
    prompt_tokens: int | None = None
    """All tokens of the prompt, the cached ones among them."""
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    """All generated tokens, the reasoning ones among them."""
    reasoning_tokens: int | None = None
    embedding_tokens: int | None = None
    image_tokens: int | None = None
    """The tokens of images, which are among those of the prompt; few servers tell them apart."""
    calls: int = 0
    attempts: int = 0

    @classmethod
    def total(cls, usages: Sequence[Usage]) -> Usage:
        """Return the tokens of several answers; None stays None only where no answer has a count."""
        if not usages:
            return cls()
        sums: dict[str, int | None] = {}
        for name in TOKENS:
            known = [count for one in usages if (count := getattr(one, name)) is not None]
            sums[name] = sum(known) if known else None
        calls, attempts = sum(one.calls for one in usages), sum(one.attempts for one in usages)
        return cls(usages[-1].model, calls=calls, attempts=attempts, **sums)


TOKENS = tuple(name for name in Usage.__struct_fields__ if name.endswith("_tokens"))
"""The names of the counts in `Usage`."""


class Timing(Struct, frozen=True):
    """The times of an answer in milliseconds: of the attempt that was answered, and all waiting beside it."""

    model_ms: float
    """From sending to the last byte of the attempt that was answered."""
    first_byte_ms: float | None = None
    wait_ms: float = 0.0
    """Waiting for a place, for limits, and for attempts that failed."""


class Failure(Struct, frozen=True):
    """Why there is no usable answer; its kinds are the rows of the table of failures in the documentation."""

    kind: str
    message: str
    stage: Literal["load", "send", "answer", "strategy"] = "send"


class TokenChoice(Struct, frozen=True):
    """A generated token: its bytes and its log-probability."""

    bytes: bytes
    logprob: float


class Answer(Struct, frozen=True):
    """The answer to a request: text and metadata, or the failure; exactly what the journal recorded."""

    text: str | None
    """The content of the message; the JSON text of the result of a call."""
    failure: Failure | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    """The price of all attempts; None where a price is unknown."""
    timing: Timing = Timing(0.0)
    tokens: tuple[TokenChoice, ...] = ()
    """The generated tokens with their log-probabilities, if asked for and given."""
    model: str = ""
    """The model that the server says it served."""
    reused: bool = False
    """Whether the answer is from the journal, another extraction, or the same call of another document."""
    possibly_billed: int = 0
    """Attempts whose outcome is unknown: the server may have billed them."""
    is_prompt_short: bool = False
    """Whether the server counts far fewer tokens of the prompt than expected."""
    beside: str = ""
    """Where the server put text in place of an empty content, in words."""
    left_out: tuple[str, ...] = ()
    """Optional keys of the body that the server refused, and that were not sent."""
