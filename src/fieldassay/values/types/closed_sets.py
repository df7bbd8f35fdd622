"""Types of few values: yes or no, and enums."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar, settle
from fieldassay.values.types.column import Column, Reader, Reading, read_distinct, unreadable
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.text import json_text, whole_number

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
        return self._read(raw, _meanings(self.true, self.false))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        words = _meanings(self.true, self.false)
        return read_distinct(lambda raw: self._read(raw, words), raws)

    def _read(self, raw: Scalar, words: dict[str, bool]) -> Reading:
        text = json_text(raw)
        if isinstance(raw, bool):
            return Reading(text, raw, text)
        number = whole_number(raw)
        flags = () if isinstance(raw, str) else ("coerced",)
        value = (
            words.get(_key(text if number is None else json_text(number)))
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

_LONGEST_HINTED = 200  # no hint for longer texts: the search is slow


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

        if len(key) > _LONGEST_HINTED:
            return ""
        close = process.extractOne(key, list(table), scorer=fuzz.ratio, score_cutoff=60)
        return f"; did you mean {table[close[0]]!r}?" if close else ""
