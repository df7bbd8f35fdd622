"""Text, and the text of other values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading, objects
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.normalizers import Normalizer

_RUN = lazy_regex(r"\s\s|[^\S ]")
_ASCII_RUNS = ("  ", *"\t\n\v\f\r\x1c\x1d\x1e\x1f")
_MOST_BITS = 10_000  # Python refuses str() of integers above 4300 digits; Decimal does not


def json_text(raw: Scalar | None) -> str:
    """Return a string trimmed, any other scalar as JSON.

    >>> json_text(" a "), json_text(True), json_text(1.0), json_text(12)
    ('a', 'true', '1.0', '12')
    """
    if isinstance(raw, str):
        return raw.strip()
    if raw is None:
        return "null"
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int):
        return str(raw) if raw.bit_length() < _MOST_BITS else str(Decimal(raw))
    if math.isfinite(raw):
        return repr(float(raw))
    return "NaN" if math.isnan(raw) else "Infinity" if raw > 0 else "-Infinity"


def whole_number(raw: Scalar) -> int | None:
    """Return the integer of a JSON number; None for text, booleans and fractions.

    A float counts only below 2^53, where it is exact: spreadsheets and data frames turn integers into floats.

    >>> whole_number(7), whole_number(7.0), whole_number(7.5), whole_number(True)
    (7, 7, None, None)
    """
    if isinstance(raw, bool | str):
        return None
    if isinstance(raw, int):
        return raw
    return int(raw) if math.isfinite(raw) and raw == int(raw) and abs(raw) < 2**53 else None


def coerced(raw: Any) -> tuple[str, ...]:
    """Return the flag of a value other than text that was read as text."""
    return () if isinstance(raw, str) else ("coerced",)


def _has_runs(text: str) -> bool:
    return any(run in text for run in _ASCII_RUNS) if text.isascii() else _RUN.search(text) is not None


class TextReader(Reader, Struct, frozen=True):
    """Reads text: trimmed, each run of white space as one blank, then normalized in the given order.

    Case and accents count unless a normalizer removes them; so does white space inside of the text with
    `white_space: exact`, and Unicode form with `unicode: exact`. A text of which the normalizers
    leave nothing is a value, no value (`nothing_left: empty`), or unreadable (`nothing_left: unreadable`).

    >>> from fieldassay.values.types.normalizers import Accents, Case
    >>> TextReader((Accents(), Case("upper"))).read(" Losartán \\n 50 mg").canonical
    'LOSARTAN 50 MG'
    """

    normalize: tuple[Normalizer, ...] = ()
    nothing_left: Literal["value", "empty", "unreadable"] = "value"
    white_space: Literal["collapse", "exact"] = "collapse"
    unicode: Literal["settled", "exact"] = "settled"

    @property
    def is_exact(self) -> bool:
        return self.unicode == "exact"

    def __post_init__(self) -> None:
        if self.white_space not in ("collapse", "exact"):
            raise ValueError(f"white_space is {self.white_space!r}; write `collapse` or `exact`")
        if self.unicode not in ("settled", "exact"):
            raise ValueError(f"unicode is {self.unicode!r}; write `settled` or `exact`")
        if self.nothing_left not in ("value", "empty", "unreadable"):
            raise ValueError(f"nothing_left is {self.nothing_left!r}; write `value`, `empty` or `unreadable`")

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:
        return None if self.nothing_left != "empty" else np.asarray(column.canonical == "", dtype=np.bool_)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        value = self._normalized(text)
        if not value and self.nothing_left == "unreadable":
            return Reading(text, None, value, coerced(raw), "says nothing")
        return Reading(text, value, value, coerced(raw))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        if self.normalize or self.nothing_left == "unreadable":
            return read_distinct(self.read, raws)
        if set(map(type, raws)) <= {str}:
            plain, flags = [raw.strip() for raw in raws], {}  # type: ignore[union-attr]
        else:
            plain = [json_text(raw) for raw in raws]
            flags = {index: ("coerced",) for index, raw in enumerate(raws) if not isinstance(raw, str)}
        texts = values = objects(plain)
        if self.white_space == "collapse" and _has_runs("\0".join(plain)):
            values = objects([" ".join(text.split()) for text in plain])
        return Column(texts, values, values, flags)

    def _normalized(self, text: str) -> str:
        text = text if self.white_space == "exact" else " ".join(text.split())
        for normalizer in self.normalize:
            text = normalizer.apply(text)
        return text
