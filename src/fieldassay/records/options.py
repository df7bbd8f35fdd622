"""How a source is to be read."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fieldassay.io.json_value import id_text
from fieldassay.records.ids import locate
from fieldassay.records.record import CASE_KEY, PREDICTION_KEY, is_prediction
from fieldassay.records.value_objects import Scalars
from fieldassay.spec.language.names import ID_NAMES, OtherNames
from fieldassay.spec.plan.nodes import ObjectNode

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
