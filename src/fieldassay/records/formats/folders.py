"""A directory with one file per document: JSON, or (predictions) a raw answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from fieldassay.errors import Problem, problem
from fieldassay.io.files.whole_files import WRITTEN_FILE, Listing, list_folder, note_left_out
from fieldassay.io.json_value import is_written
from fieldassay.io.text.shown import format_count
from fieldassay.records.envelope import holds_tree
from fieldassay.records.formats.rows import FolderRows, read_json_files
from fieldassay.records.ids import find_id
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import CASE_KEY, Row

SUFFIXES = (".json",)
TEXTS = (".txt",)
"""Endings of gold files in a folder without any of the others; beside them they are texts of documents."""
ANSWERS = (".json", ".txt", ".md")
"""Endings of the names of prediction files; content that is not JSON is a raw answer."""

_PACKED = ("", ".gz", ".zst")
CHUNK = 500
"""Files whose ids are read together."""


def read_folder(
    folder: Path | str, options: SourceOptions, listing: Listing | None = None
) -> tuple[FolderRows, tuple[Problem, ...], tuple[Problem, ...]]:
    """Return the files under a directory as rows, sorted by name, their problems, and what is left out.

    `listing` are its files, for one that no file system has.

    Gold is JSON; predictions may be texts. The id is the record's value under one of `id_names` if they were
    given; otherwise, and where it has none, the path in the directory without its suffix.
    """
    stems: list[str] = []
    paths: list[str] = []
    others = Counter[str]()
    listing = listing or list_folder(folder)
    files = listing.files
    has_json = any(_stem(inner, SUFFIXES) is not None for inner, _ in files)
    read = ANSWERS if not options.is_gold else SUFFIXES if has_json else TEXTS
    for inner, place in files:
        stem = _stem(inner, read)
        if stem is None:
            others[PurePosixPath(inner).suffix.lower() or "no ending"] += 1
            continue
        stems.append(stem)
        paths.append(place)
    heads = _read_heads(paths, options)
    written = [path for path, head in zip(paths, heads, strict=True) if head.is_written]
    files_read = [
        (head.name or stem, path, head.problem)
        for stem, path, head in zip(stems, paths, heads, strict=True)
        if not head.is_written
    ]
    names = [name for name, _, _ in files_read]
    problems = [
        Problem(path, what, "correct or remove the file", "not_json")
        for _, path, what in files_read
        if what is not None and options.is_gold
    ]
    if not names:
        what, endings = (
            ("JSON files", ".json")
            if options.is_gold
            else ("files of answers", " or ".join((", ".join(ANSWERS[:-1]), ANSWERS[-1])))
        )
        raise problem(
            folder, f"has no {what}", f"give a directory with one {endings} file per document", "empty_input"
        )
    if others and not options.is_gold:
        problems.append(_other_files(folder, others))
    read_paths = tuple(path for _, path, _ in files_read)
    rows = FolderRows(tuple(names), read_paths, options.encoding, takes_text=not options.is_gold)
    notes = (*listing.notes, note_left_out(folder, written, WRITTEN_FILE)) if written else listing.notes
    return rows, tuple(problems), notes


def _other_files(folder: Path | str, others: Counter[str]) -> Problem:
    """Return the note on files with other endings than those of answers."""
    count = others.total()
    ranked = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{ending[:20]} ({each:,})" for ending, each in ranked[:5]) + (
        ", …" if len(ranked) > 5 else ""
    )
    what = (
        f"{format_count(count, 'file')} with other endings "
        f"{'was' if count == 1 else 'were'} not read: {named}"
    )
    return Problem(
        str(folder),
        what,
        f"answers end in {' or '.join((', '.join(ANSWERS[:-1]), ANSWERS[-1]))}",
        "other_files",
    )


def _stem(inner: str, suffixes: Sequence[str]) -> str | None:
    name = inner.rpartition("/")[2].lower()
    for suffix in suffixes:
        for packed in _PACKED:
            if name.endswith(suffix + packed):
                stem = inner[: -len(suffix + packed)]
                plain = stem if stem.isascii() else stem.encode("utf-8", "replace").decode("utf-8")
                return plain.strip() or None
    return None


class _Head(NamedTuple):
    """What a file tells before its record is read: its id, if it has one, and why it cannot be read."""

    name: str | None = None
    problem: str | None = None
    is_written: bool = False


def _read_heads(paths: Sequence[str], options: SourceOptions) -> list[_Head]:
    if options.id_names is None and not options.is_gold:
        return [_Head()] * len(paths)
    return [
        _read_head(row, options)
        for start in range(0, len(paths), CHUNK)
        for row in read_json_files(paths[start : start + CHUNK], options.encoding)
    ]


def _read_head(row: Row, options: SourceOptions) -> _Head:
    if options.is_gold and is_written(row.value):
        return _Head(is_written=True)
    is_named = options.id_names is not None or (isinstance(row.value, dict) and CASE_KEY in row.value)
    if not is_named or not isinstance(row.value, dict):
        return _Head(None, row.problem)
    if (
        options.data_keys
        and options.is_tree
        and not options.is_gold
        and options.key_of(row.value) is None
        and holds_tree(row.value, options)
    ):
        return _Head(None, row.problem)  # the file is the tree itself: what a tree calls its id is a value
    return _Head(find_id(row.value, options.names), row.problem)
