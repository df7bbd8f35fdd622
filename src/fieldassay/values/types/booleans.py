"""Yes and no."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text, whole_number
from fieldassay.values.types.unreadable import unreadable

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
_MOST_CHARACTERS = 60


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
        return self._read(raw, self._words())

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        words = self._words()
        return read_distinct(lambda raw: self._read(raw, words), raws)

    def _words(self) -> dict[str, bool]:
        return {
            _key(word): meaning
            for words, meaning in ((self.true, True), (self.false, False))
            for word in words
        }

    def _read(self, raw: Scalar, words: dict[str, bool]) -> Reading:
        text = json_text(raw)
        if isinstance(raw, bool):
            return Reading(text, raw, text)
        number = whole_number(raw)
        flags = () if isinstance(raw, str) else ("coerced",)
        value = (
            words.get(_key(text if number is None else json_text(number)))
            if len(text) <= _MOST_CHARACTERS
            else None
        )
        if value is None:
            return unreadable(
                text, "is neither a word for yes nor one for no; `true` and `false` name others"
            )
        if self.true == TRUE and text.strip() == _DOUBTFUL:
            flags = ("ambiguous",)
        return Reading(text, value, "true" if value else "false", flags)


def _key(word: object) -> str:
    return "".join(fold(json_text(word) if isinstance(word, str | int | float) else str(word)).split())
