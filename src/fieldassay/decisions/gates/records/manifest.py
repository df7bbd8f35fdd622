"""The manifest: which documents there are, so that a proof can only point at one of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest, problem
from fieldassay.io.files.whole_files import open_file
from fieldassay.io.text.delimited import find_delimiter
from fieldassay.records.ids import id_text
from fieldassay.spec.language.cursor import kind_of

COLUMN = "doc_id"
_LARGEST = 64 * 1024 * 1024


class Manifest(Struct, frozen=True):
    """The ids of all documents. `label` names where they come from; None: no manifest was given."""

    ids: frozenset[str] = frozenset()
    label: str | None = None

    def refusal(self, doc: str) -> str:
        """Return why a document cannot be referred to, or the empty text."""
        if self.label is None:
            return "there is no manifest that it could be in"
        return "" if doc in self.ids else f"{doc[:80]!r} is not in the manifest"

    def remedy(self, doc: str) -> str:
        """Return the remedy."""
        if self.label is None:
            return "add `manifest:` with the path of a CSV file, or a list of ids"
        near = nearest(doc[:100], sorted(self.ids)[:5000]) if self.ids else ""
        return near if near.startswith("did you mean") else f"take an id of {self.label}"


def read_manifest(value: Any, where: str, folder: Path) -> Manifest:
    """Return the manifest from a list of ids, or from a CSV file with a column `doc_id`.

    A relative path is resolved against the folder.

    Raises `ProblemsError` for anything else.
    """
    if value is None:
        return Manifest()
    if isinstance(value, list):
        ids = [id_text(item) for item in value]
        if None in ids or not ids:
            raise problem(
                where, "must be a list of ids, or the path of a CSV file", "write texts", "wrong_kind"
            )
        return Manifest(frozenset(name for name in ids if name is not None), "the list in the records file")
    if not isinstance(value, str):
        raise problem(
            where,
            f"must be a list of ids, or the path of a CSV file, not {kind_of(value)}",
            "write the path",
            "wrong_kind",
        )
    return Manifest(_read_csv(folder / value, where), value)


def read_text(path: Path, where: str) -> str:
    """Return the text of a plain file in UTF-8; raises `ProblemsError` for an unreadable one."""
    try:
        with open_file(path) as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise problem(
                where, f"{path}: is larger than {_LARGEST >> 20} MB", "give the part that counts", "too_large"
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(
            where, f"{path}: is not UTF-8 text (byte {error.start})", "save it as UTF-8", "encoding"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise problem(
            where,
            f"{path}: cannot be read ({reason})",
            "check the path; it is relative to the records file",
            "unreadable_file",
        ) from None


def _read_csv(path: Path, where: str) -> frozenset[str]:
    text = read_text(path, where).replace("\0", "")
    try:
        rows: list[Mapping[str, Any]] = list(
            csv.DictReader(io.StringIO(text, newline=""), delimiter=find_delimiter(text))
        )
    except csv.Error as error:
        raise problem(where, f"{path}: is not CSV ({error})", "correct the file", "bad_manifest") from None
    names = {str(name).strip(): name for name in (rows[0] if rows else {}) if name is not None}
    if COLUMN not in names:
        known = nearest(COLUMN, names) if names else "write a header and one row per document"
        raise problem(where, f"{path}: has no column {COLUMN!r} with rows below it", known, "bad_manifest")
    found = (id_text(row.get(names[COLUMN])) for row in rows)
    return frozenset(name for name in found if name is not None)
