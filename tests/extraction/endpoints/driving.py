"""Small runs: documents that ask a scripted server one question each."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

from fieldassay.extraction.endpoints.client import ChatChannel
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.endpoint import Endpoint, SecretKey
from fieldassay.extraction.endpoints.exchange import Channel, Finished, Job, ModelAnswer, Request, RunSummary
from fieldassay.extraction.endpoints.journal import Journal

CANARY = "sk-canary-31415926535-Tau+2/x"


def ask(text: str, **fields: Any) -> Request:
    """Return a chat request."""
    return Request(
        "chat", "scripted", {"model": "m", "messages": [{"role": "user", "content": text}]}, **fields
    )


def one_question(text: str) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
    """Ask one question; the answer is the value."""
    (answer,) = yield (ask(text),)
    return answer


def questions(count: int) -> list[Job[ModelAnswer]]:
    """Return documents that ask one different question each."""
    return [Job(f"doc-{at}", lambda at=at: one_question(f"question {at}")) for at in range(count)]


def channels(url: str, key: str = CANARY, **options: Any) -> dict[str, Channel]:
    """Return a channel to a scripted server."""
    return {"scripted": ChatChannel(Endpoint("scripted", url, **options), SecretKey(key))}


def drive(
    jobs: Iterable[Job[Any]], folder: Path, to: Mapping[str, Channel], options: DriveOptions | None = None
) -> tuple[dict[str, Finished[Any]], RunSummary]:
    """Return what a run finished, by document, and its summary."""
    with Journal(folder) as journal, Drive(jobs, journal, to, options) as run:
        found = {one.id: one for one in run}
    return found, run.summary
