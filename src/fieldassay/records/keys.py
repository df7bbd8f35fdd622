"""The keys of a row: where its id and its record are, and the options that name them."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import Problem
from fieldassay.io.json_value import id_text
from fieldassay.records.record import CASE_KEY, PREDICTION_KEY, decode_json, is_prediction
from fieldassay.records.services import ID_KEYS, Scalars, names_of_id
from fieldassay.spec.language.names import ID_NAMES, OtherNames
from fieldassay.spec.plan.nodes import ObjectNode

# Ids of rows, found, trimmed or numbered where a source has none.

_ENDINGS = re.compile(
    r"(?<=[^.])\.(?:jsonl?|csv|tsv|parquet|xls[xm]?|pdf|png|jpe?g|jp2|tiff?|gif|bmp|webp|heic|svg"
    r"|txt|text|md|html?|xml|hocr|ya?ml|toml|docx?|odt|ods|rtf|pptx?"
    r"|eml|msg|gz|gzip|zstd?|zip)$",
    re.IGNORECASE,
)
"""Endings of documents, images, texts, data files and packed files."""

MAX_ID = 1000
MAX_LISTED = 20
_INDEX = re.compile(r"\[?(-?[0-9]{1,9})(?:\](?=[.\[]|$)|(?=\.|$))\.?")

NUMBER = re.compile(r"[+-]?[0-9]{1,25}(?:\.[0-9]{0,25})?(?:[eE][+-]?[0-9]{1,2})?")
"""Numbers as a spreadsheet writes them; longer ones are no amounts, and stay as they are."""

Positions = npt.NDArray[np.int64]


def find_id(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the id of a row under the first of the names that it has; a dotted name may lead into objects.

    >>> find_id({"meta": {"id": 4}}, ["doc_id", "meta.id"])
    '4'
    """
    for name in names_of_id(row, names) if not row.keys().isdisjoint(ID_KEYS) else names:
        text = id_text(row.get(name))
        if text is None and "." in name:
            text = id_text(locate(row, name)[1])
        if text is not None:
            return text
    return id_text(row.get("id")) if PREDICTION_KEY in row else None


def locate(row: Any, key: str) -> tuple[bool, Any]:
    """Return whether a row has a value under an exact key or a path, and the value.

    The longest matching key counts at each level. An item of a list is named by its position, from 0 or
    (negative) from the end: `choices[0].text` or `choices.0.text`. A text that is JSON is what it holds.

    >>> locate({"raw": {"org/model-8.1": "x"}}, "raw.org/model-8.1")
    (True, 'x')
    >>> locate({"choices": [{"text": "x"}]}, "choices[0].text")
    (True, 'x')
    >>> locate({"truth": '{"fields": {"total": 5}}'}, "truth.fields")
    (True, {'total': 5})
    """
    if isinstance(row, str):
        row = decode_json(row.encode("utf-8", "replace")).value
    if isinstance(row, list):
        match = _INDEX.match(key)
        position = int(match[1]) if match else len(row)
        if match is None or not -len(row) <= position < len(row):
            return False, None
        return (True, row[position]) if match.end() == len(key) else locate(row[position], key[match.end() :])
    if not isinstance(row, Mapping):
        return False, None
    if key in row:
        return True, row[key]
    for cut in reversed([match.start() for match in re.finditer(r"[.\[]", key[:1000])]):
        if key[:cut] in row:
            has, value = locate(row[key[:cut]], key[cut:].removeprefix("."))
            if has:
                return has, value
    return False, None


def deepest(row: Any, key: str) -> tuple[str, Any]:
    """Return the longest beginning of a path that a row has, and the value there.

    >>> deepest({"response": {"body": {"id": 1}}}, "response.body.text")
    ('response.body', {'id': 1})
    """
    for cut in reversed([match.start() for match in re.finditer(r"[.\[]", key[:1000])]):
        has, value = locate(row, key[:cut])
        if has:
            return key[:cut], value
    return "", row


def base_name(name: str) -> str:
    """Return an id without the folders before it.

    >>> base_name("scans/2025/a.pdf"), base_name("C:\\\\scans\\\\a.pdf")
    ('a.pdf', 'a.pdf')
    """
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def stem_of(name: str) -> str:
    """Return an id without folders and without endings of documents, images, texts, data and packed files.

    >>> stem_of("out/d2.pdf.json"), stem_of("v1.2"), stem_of("inv.smith.PDF")
    ('d2', 'v1.2', 'inv.smith')
    """
    return drop_endings(base_name(name))


def drop_endings(name: str) -> str:
    """Return an id without the endings of documents and files, however many there are."""
    while (shorter := _ENDINGS.sub("", name)) != name:
        name = shorter
    return name


def number_of(name: str) -> str:
    """Return an id that is a number without leading zeros, zeros behind the point, and exponent.

    >>> number_of("00123"), number_of("123.0"), number_of("1.23E+4"), number_of("v1.0"), number_of("1.50")
    ('123', '123', '12300', 'v1.0', '1.5')
    """
    number = Decimal(name).normalize() if NUMBER.fullmatch(name) else None
    return name if number is None else f"{number or abs(number):f}"


ID_FORMS: Mapping[str, Callable[[str], str]] = {
    "exact": str,
    "name": base_name,
    "stem": stem_of,
    "number": number_of,
}
"""The forms under which the ids of gold and predictions can be compared."""


def cap_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first `MAX_LISTED` problems, and one with the number of the rest."""
    listed = list(problems[:MAX_LISTED])
    if len(problems) > MAX_LISTED:
        last = problems[MAX_LISTED]
        listed.append(
            Problem(
                last.where.rpartition(":")[0] or last.where,
                f"and {len(problems) - MAX_LISTED:,} more",
                kind=last.kind,
            )
        )
    return listed


# How a source is to be read.

UNPACKED = 2 * 1024**3
"""Default for the unpacked bytes of a packed input: this, or `RATIO` times its size if that is more."""

RATIO = 100


def place_of(key: str | tuple[str, ...]) -> dict[str, Any]:
    """Return the options for a record under one key, or under the first of several that a row has."""
    return {
        "data_key": key if isinstance(key, str) else None,
        "data_keys": () if isinstance(key, str) else key,
    }


class SourceOptions(Struct, frozen=True):
    """The options for reading a source.

    `id_names` are the accepted names of the id, in order of preference; None means `ID_NAMES`, and the file
    name for a directory. `data_key` is the place of the record in a row, as an exact key or a dotted path;
    None: the row is the record. `data_keys` are possible names of the record where no `data_key` is given:
    the first that a row has counts, and a row without any of them is the record itself (of a tree: all of it
    but its id). `systems_key` names an object whose keys are systems. `encoding` overrides detection.
    A top-level list is put under the key `wrap`; None: a list is an invalid
    answer. `declared` are the top-level names of the spec, which are always data and never meta; `nested`
    those of them that are lists, objects or trees: text in them that is a JSON list or object is decoded in
    tables. Gold (`is_gold`) must be readable without repairs, which are errors there.
    """

    id_names: tuple[str, ...] | None = None
    data_key: str | None = None
    data_keys: tuple[str, ...] = ()
    systems_key: str | None = None
    encoding: str | None = None
    wrap: str | None = None
    declared: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    is_gold: bool = False
    answer_keys: frozenset[str] = frozenset()
    """Keys allowed at the top of an answer where `declared` is empty: of a tree those that its spec names."""
    scalars: Scalars = {}
    """The fields of the spec with single values; a prediction may give there a value with its confidence."""
    unpacked: int | None = None
    """Most bytes to unpack from a packed file; None: `UNPACKED`, or `RATIO` times its size if more."""
    item_lists: tuple[tuple[str, frozenset[str]], ...] = ()
    """The spec's lists of objects: their paths, and the names of their items' fields."""
    left_out: frozenset[str] = frozenset()
    """Top-level keys of records that are not looked at."""
    group: bool = False
    """Whether the rows of one id in a table are the items of one record."""
    other_names: OtherNames = ()
    """Other keys of a record for the spec's fields; on opening, each is renamed to the field's own name."""

    fields: ObjectNode | None = None
    """The fields of the spec: they tell the record among several objects, and what a text stands for."""

    has_loose_names: bool = False
    """True: keys that differ from declared ones by case or separators only are taken for them."""

    @property
    def is_tree(self) -> bool:
        """Return whether the record is a tree without declared fields."""
        return "" in self.declared

    @property
    def expected_keys(self) -> frozenset[str]:
        """Return the keys that distinguish the record among several objects in a raw answer."""
        return self.answer_keys | frozenset(self.data_keys) | (frozenset() if self.is_tree else self.declared)

    @property
    def read_keys(self) -> frozenset[str]:
        """Return the top-level keys of a record whose values are read; empty for all."""
        is_open = self.is_tree or not self.declared
        if is_open or self.data_key is not None or self.data_keys or self.systems_key is not None:
            return frozenset()
        return self.declared.union((PREDICTION_KEY, CASE_KEY), *(names for _, names in self.other_names))

    def key_of(self, row: Any) -> str | None:
        """Return the key or dotted path under which a row holds its record, None if the row is the record.

        A prediction as fieldassay writes it has its record under `pred`, whatever is named. Any other has it
        there, and a case file under `expected_extraction`, where no key of the row is declared.

        >>> options = SourceOptions(data_keys=("answer", "extraction"))
        >>> options.key_of({"id": 1, "extraction": {}}), options.key_of({"id": 1, "total": 5})
        ('extraction', None)
        """
        is_written = isinstance(row, dict) and is_prediction(row)
        if self.data_key is not None and not (is_written and not locate(row, self.data_key)[0]):
            return self.data_key
        if is_written:
            return PREDICTION_KEY
        named = (key for key in self.data_keys if locate(row, key)[0])
        usual = (CASE_KEY,) if self.is_gold else (PREDICTION_KEY, CASE_KEY)
        return next(named, None) or next((key for key in usual if self._holds_record(row, key)), None)

    def _holds_record(self, row: Any, key: str) -> bool:
        """Return whether a row holds its record under a key that nobody has named, and is none itself."""
        if not isinstance(row, dict) or key not in row or key in self.declared:
            return False
        if self.is_tree:
            has_id = any(id_text(row.get(name)) is not None for name in ("id", *self.names))
            is_record = isinstance(row[key], dict | None) or (isinstance(row[key], str) and "{" in row[key])
            return is_record and (has_id or len(row) == 1 or key == CASE_KEY)
        return self.declared.difference(self.names).isdisjoint(row)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the id to look for, in order."""
        return ID_NAMES if self.id_names is None else self.id_names
