"""The history of gold: one line per value that a label confirmed or changed, beside the gold in git."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.files.typed_json import parse_json
from fieldassay.review.promotion.gold_files import read_gold

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson", ".json")


class Entry(Struct, frozen=True):
    """What a promotion did at one place of one document.

    `before` and `after` are gold's values as JSON, None for no value, `(illegible)` for what nobody can read;
    they are equal where a label confirms gold. `origin` is that of the value from then on. `reviewers` are
    aliases. `review` is the name of the folder of the review it came from.
    """

    at: str
    document: str
    path: str
    before: Any
    after: Any
    origin: str
    reviewers: tuple[str, ...]
    reason: str
    review: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.document, self.path

    def continues(self, last: Mapping[str, Any] | None) -> bool:
        """Return whether the entry says something that the last one of its place did not."""
        if last is None:
            return True
        return [last.get(name) for name in ("after", "origin")] != [self.after, self.origin] or (
            self.before != self.after
        )


def history_of(gold: Path) -> Path:
    """Return the place of the history of a gold file or folder.

    >>> history_of(Path("data/gold.v2.csv")).name, history_of(Path("data/cases")).name
    ('gold.v2.history.jsonl', 'cases.history.jsonl')
    """
    name = gold.stem if gold.suffix.lower() in ENDINGS else gold.name
    return gold.with_name(f"{name}.history.jsonl")


class Extended(Struct, frozen=True, eq=False):
    """A history with more lines: its bytes before and after, and the new lines."""

    before: bytes
    after: bytes
    added: tuple[bytes, ...]


def extend_history(path: Path, entries: Iterable[Entry]) -> Extended:
    """Return a history with the entries that say something new.

    Raises ProblemsError for a line that is no entry.
    """
    data = read_gold(path)
    last = {(row["document"], row["path"]): row for row in read_history(path, data)}
    added = tuple(
        json.dumps(asdict(one), ensure_ascii=False).encode("utf-8", "backslashreplace")
        for one in entries
        if one.continues(last.get(one.key))
    )
    start = b"" if not data or data.endswith(b"\n") else b"\n"
    after = data + (start if added else b"") + b"".join(line + b"\n" for line in added)
    return Extended(data, after, added)


def read_history(path: Path, data: bytes) -> list[dict[str, Any]]:
    """Return what the lines of a history say.

    Raises ProblemsError for a line that is no entry.
    """
    found: list[dict[str, Any]] = []
    problems = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            _ = row["document"], row["path"]
            found.append(row)
        except (ValueError, KeyError, TypeError):
            what = "is no line of a history of gold"
            problems.append(
                Problem(f"{path}:{number}", what, "restore it from version control", "gold_history")
            )
    if problems:
        raise ProblemsError(problems[:20])
    return found
