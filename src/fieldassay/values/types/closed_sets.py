"""Types of few values (yes or no, enums), and lists."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar, fold_null_values, is_empty_text, settle
from fieldassay.values.types.column import Column, Reader, Reading, json_text, objects, unreadable
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.numbers.numbers import DASHES
from fieldassay.values.types.text import whole_number

# Types of few values: yes or no, and enums.

# Yes and no.

TRUE = (
    "true", "t", "yes", "y", "1", "on", "x", "ja", "j", "oui", "vrai", "v", "si", "s", "sim", "verdadero",
    "verdadeiro", "vero", "wahr", "tak", "ano", "evet", "ya", "da", "да", "так", "ναι", "kylla", "是", "はい",
    "예", "نعم", "checked", "[x]", "✓", "✔", "√", "☑", "✅",
    "selected", ":selected:", "checkbox_selected", "filled_checkbox", "(x)", "☒", "●", "◉", "■",
)  # fmt: skip
FALSE = (
    "false", "f", "no", "n", "0", "off", "nein", "non", "faux", "nao", "falso", "falsch", "nej", "nei", "nie",
    "ne", "hayir", "tidak", "нет", "ні", "οχι", "ei", "否", "いいえ", "아니요", "لا", "unchecked", "[]",
    "☐", "✗", "✘", "❌",
    "unselected", ":unselected:", "not_selected", "checkbox_unselected", "unfilled_checkbox", "()", "□",
)  # fmt: skip
# The last line of each: Azure Document Intelligence, Amazon Textract, Google Document AI, Docling; boxes.
_DOUBTFUL = "☒"  # a chosen box in Word and at these services, a refused one on some forms
_LONGEST_ANSWER = 60


class BooleanReader(Reader, Struct, frozen=True):
    """Reads JSON booleans and words or signs for yes and no in many languages, ignoring case and accents.

    `true` and `false` each replace the words of their side.

    >>> reader = BooleanReader(true=("paid",))
    >>> BooleanReader().read("Sí").value, BooleanReader().read("0").value, reader.read("PAID").value
    (True, False, True)
    """

    true: tuple[str, ...] = TRUE
    false: tuple[str, ...] = FALSE

    def __post_init__(self) -> None:
        both = sorted({_key(word) for word in self.true} & {_key(word) for word in self.false})
        if both:
            raise ValueError(f"{both[0]!r} cannot mean both true and false")

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, bool):
            return Reading(text, raw, text)
        number = whole_number(raw)
        flags = () if isinstance(raw, str) else ("coerced",)
        value = (
            _meanings(self.true, self.false).get(_key(text if number is None else json_text(number)))
            if len(text) <= _LONGEST_ANSWER
            else None
        )
        if value is None:
            return unreadable(
                text, "is neither a word for yes nor one for no; `true` and `false` name others"
            )
        if self.true == TRUE and text.strip() == _DOUBTFUL:
            flags = ("ambiguous",)
        return Reading(text, value, "true" if value else "false", flags)


@lru_cache(64)
def _meanings(true: tuple[str, ...], false: tuple[str, ...]) -> dict[str, bool]:
    sides = ((true, True), (false, False))
    return {_key(word): meaning for words, meaning in sides for word in words}


def _key(word: object) -> str:
    return "".join(fold(json_text(word) if isinstance(word, str | int | float) else str(word)).split())


# Values of a fixed set.

_DASHES = dict.fromkeys(map(ord, DASHES), "-")
_LONGEST_HINTED = 200  # no hint for longer texts: the search is slow


class EnumReader(Reader, Struct, frozen=True, dict=True):
    """Reads one of `values`, or an alias of one, as the value written in the spec.

    Runs of white space are ignored. `aliases` are pairs of a value and its other names. A text outside the
    list is unreadable. Without `values` any text is its own value (casefolded unless `case_sensitive`), and
    aliases still apply.

    >>> EnumReader(("paid", "open"), (("open", ("unpaid", "due")),)).read("Unpaid").canonical
    'open'
    >>> EnumReader(("paid", "open")).read("payd").problem
    "is not one of the 2 values; did you mean 'paid'?"
    """

    values: tuple[Scalar, ...] = ()
    aliases: tuple[tuple[Scalar, tuple[Scalar, ...]], ...] = ()
    case_sensitive: bool = False

    def __post_init__(self) -> None:
        keys = {self.key(json_text(value)) for value in self.values}
        owners: dict[str, str] = {}
        for value, others in self.aliases:
            name = json_text(value)
            if self.values and self.key(name) not in keys:
                raise ValueError(
                    f"aliases are given for {name!r}, which is not one of the values; "
                    f"{nearest(name, map(json_text, self.values))}"
                )
            for other in (value, *others):
                owner = owners.setdefault(self.key(json_text(other)), name)
                if owner != name:
                    raise ValueError(f"{json_text(other)!r} cannot stand for both {owner!r} and {name!r}")

    def read(self, raw: Scalar) -> Reading:
        text, table = json_text(raw), self._table
        number = whole_number(raw)
        key = self.key(text if number is None else json_text(number))
        flags = () if isinstance(raw, str) or type(raw) in set(map(type, self.values)) else ("coerced",)
        value = table.get(key) if self.values else table.get(key, key)
        if value is not None:
            return Reading(text, value, value, flags)
        why = f"is not one of the {len(self.values)} values" + self._hint(key, table)
        return unreadable(text, why, flags)

    @property
    def keys(self) -> frozenset[str] | None:
        """Return the keys of the texts that it reads; None where it reads any text."""
        return frozenset(self._table) if self.values else None

    def texts(self, canonical: str) -> tuple[str, ...]:
        """Return the keys of all texts that it reads as a value, aliases included.

        >>> EnumReader(("EUR", "USD"), (("EUR", ("€",)),)).texts("EUR")
        ('eur', '€')
        """
        return tuple(key for key, value in self._table.items() if value == canonical)

    def key(self, text: str) -> str:
        """Return a text as it is compared: one kind of blank and dash, and case as the options say."""
        plain = " ".join(settle(text).translate(_DASHES).split())
        return plain if self.case_sensitive else plain.casefold()

    @cached_property
    def _table(self) -> dict[str, str]:
        table: dict[str, str] = {}
        for value, others in self.aliases:
            name = next(
                (
                    json_text(allowed)
                    for allowed in self.values
                    if self.key(json_text(allowed)) == self.key(json_text(value))
                ),
                json_text(value),
            )
            table.update({self.key(json_text(other)): name for other in (value, *others)})
        table.update({self.key(json_text(value)): json_text(value) for value in reversed(self.values)})
        return table

    def _hint(self, key: str, table: Mapping[str, str]) -> str:
        from rapidfuzz import fuzz, process

        if len(key) > _LONGEST_HINTED:
            return ""
        close = process.extractOne(key, list(table), scorer=fuzz.ratio, score_cutoff=60)
        return f"; did you mean {table[close[0]]!r}?" if close else ""


# Lists judged as one value.

_NO_SCALAR = (list, dict)


class ListReader(Reader, Struct, frozen=True):
    """Reads a list of values of one type as the `Column` of its items' readings, in order.

    A text is split at `separator` if there is one; any other scalar is a list of one item, flagged `coerced`.
    Empty items (null, white space, one of the field's `null_values`) are dropped; with `keep_empty` they stay
    as unreadable ones. An unreadable item leaves the list readable: its position is in the problems of the
    value. The canonical text is the JSON array of the items' canonical texts.

    >>> from fieldassay.values.types.text import TextReader
    >>> ListReader(TextReader(), separator="|").read("a | b || ç").canonical
    '["a", "b", "ç"]'
    """

    items: Reader
    separator: str | None = None
    keep_empty: bool = False
    null_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.separator == "":
            raise ValueError("separator cannot be empty")

    def read(self, raw: Any) -> Reading:
        return self.read_column([raw]).reading(0)

    def read_settled(self, raws: Sequence[Any]) -> Column:
        lists = [self.split(raw) for raw in raws]
        ends: list[int] = []
        flat: list[Any] = []
        for items in lists:
            flat.extend(items)
            ends.append(len(flat))
        column = _read_items(self.items, self._without_nulls(flat))
        values = _cut(column, ends)
        texts = objects([_text(raw) for raw in raws])
        canonical = objects([json.dumps(list(value.canonical), ensure_ascii=False) for value in values])
        flags = {
            index: ("coerced",)
            for index, raw in enumerate(raws)
            if not isinstance(raw, list) and not (isinstance(raw, str) and self.separator is not None)
        }
        return Column(texts, objects(values), canonical, flags)

    def split(self, raw: Any) -> list[Any]:
        """Return the items of a list, or of a text of several items."""
        return list(self.numbered(raw).values())

    def numbered(self, raw: Any) -> dict[int, Any]:
        """Return the same by their positions, which count empty items too."""
        if isinstance(raw, str) and self.separator is not None:
            items: list[Any] = [item.strip() for item in raw.split(self.separator)]
        else:
            items = raw if isinstance(raw, list) else [raw]
        if self.keep_empty:
            return dict(enumerate(items))
        return {at: item for at, item in enumerate(self._without_nulls(items)) if not _is_empty(item)}

    def _without_nulls(self, items: list[Any]) -> list[Any]:
        """Return the items with null values replaced by null, whatever their letter case."""
        if not self.null_values:
            return items
        nulls = fold_null_values(self.null_values)
        return [None if isinstance(item, str) and is_empty_text(item, nulls) else item for item in items]


def _is_empty(item: Any) -> bool:
    return item is None or (isinstance(item, str) and is_empty_text(item)) or item in ([], {})


def _read_items(reader: Reader, items: list[Any]) -> Column:
    """Return the readings of the items in one call; each distinct readable item is read once."""
    positions: dict[Any, int] = {}
    distinct: list[Any] = []
    codes: list[int] = []
    odd: list[Reading] = []
    for item in items:
        if _is_empty(item) or isinstance(item, _NO_SCALAR):
            odd.append(_unfit(item))
            codes.append(-len(odd))
            continue
        key = (item.__class__, repr(item) if item.__class__ is float else item)
        if key not in positions:
            positions[key] = len(distinct)
            distinct.append(item)
        codes.append(positions[key])
    return _joined(reader.read_column(distinct), odd, codes)


def _unfit(item: Any) -> Reading:
    if _is_empty(item):
        return Reading("", None, "", problem="is empty")
    text = _text(item)
    return Reading(
        text, None, text, problem=f"is {'a list' if isinstance(item, list) else 'an object'}, not one value"
    )


def _joined(column: Column, odd: list[Reading], codes: list[int]) -> Column:
    import numpy as np

    if odd:
        column = Column.of([*map(column.reading, range(len(column))), *reversed(odd)])
    return column.take(np.array([code % len(column) for code in codes], dtype=np.int64))


def _cut(column: Column, ends: list[int]) -> list[Column]:
    flagged, problematic = sorted(column.flags), sorted(column.problems)
    pieces = []
    start = 0
    for end in ends:
        part = slice(start, end)
        flags = _between(column.flags, flagged, start, end)
        problems = _between(column.problems, problematic, start, end)
        pieces.append(
            Column(column.texts[part], column.values[part], column.canonical[part], flags, problems)
        )
        start = end
    return pieces


def _between(sparse: Mapping[int, Any], positions: list[int], start: int, end: int) -> dict[int, Any]:
    return {
        position - start: sparse[position]
        for position in positions[bisect_left(positions, start) : bisect_left(positions, end)]
    }


def _text(raw: Any) -> str:
    if not isinstance(raw, _NO_SCALAR):
        return json_text(raw)
    try:
        return json.dumps(raw, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return "[…]" if isinstance(raw, list) else "{…}"
