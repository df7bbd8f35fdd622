"""Values of a fixed set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar
from fieldassay.io.text.settled import settle
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text, whole_number
from fieldassay.values.types.unreadable import unreadable

_MOST_CHARACTERS = 200  # no hint for longer texts: the search is slow


class EnumReader(Reader, Struct, frozen=True):
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
        known = {self.key(json_text(value)) for value in self.values}
        owners: dict[str, str] = {}
        for value, others in self.aliases:
            name = json_text(value)
            if self.values and self.key(name) not in known:
                raise ValueError(
                    f"aliases are given for {name!r}, which is not one of the values; "
                    f"{nearest(name, map(json_text, self.values))}"
                )
            for other in (value, *others):
                owner = owners.setdefault(self.key(json_text(other)), name)
                if owner != name:
                    raise ValueError(f"{json_text(other)!r} cannot stand for both {owner!r} and {name!r}")

    def read(self, raw: Scalar) -> Reading:
        return self._read(raw, self._table())

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        table = self._table()
        return read_distinct(lambda raw: self._read(raw, table), raws)

    @property
    def keys(self) -> frozenset[str] | None:
        """Return the keys of the texts that it reads; None where it reads any text."""
        return frozenset(self._table()) if self.values else None

    def texts(self, canonical: str) -> tuple[str, ...]:
        """Return the keys of all texts that it reads as a value, aliases included.

        >>> EnumReader(("EUR", "USD"), (("EUR", ("€",)),)).texts("EUR")
        ('eur', '€')
        """
        return tuple(key for key, value in self._table().items() if value == canonical)

    def key(self, text: str) -> str:
        """Return a text as it is compared: runs of white space as one blank, and case as the options say."""
        plain = " ".join(settle(text).split())
        return plain if self.case_sensitive else plain.casefold()

    def _table(self) -> dict[str, str]:
        table: dict[str, str] = {}
        for value, others in self.aliases:
            name = next(
                (
                    json_text(known)
                    for known in self.values
                    if self.key(json_text(known)) == self.key(json_text(value))
                ),
                json_text(value),
            )
            table.update({self.key(json_text(other)): name for other in (value, *others)})
        table.update({self.key(json_text(value)): json_text(value) for value in reversed(self.values)})
        return table

    def _read(self, raw: Scalar, table: Mapping[str, str]) -> Reading:
        text = json_text(raw)
        number = whole_number(raw)
        key = self.key(text if number is None else json_text(number))
        flags = () if isinstance(raw, str) or type(raw) in set(map(type, self.values)) else ("coerced",)
        value = table.get(key) if self.values else table.get(key, key)
        if value is not None:
            return Reading(text, value, value, flags)
        return unreadable(
            text, f"is not one of the {len(self.values)} values" + self._hint(key, table), flags
        )

    def _hint(self, key: str, table: Mapping[str, str]) -> str:
        from rapidfuzz import fuzz, process

        if len(key) > _MOST_CHARACTERS:
            return ""
        close = process.extractOne(key, list(table), scorer=fuzz.ratio, score_cutoff=60)
        return f"; did you mean {table[close[0]]!r}?" if close else ""
