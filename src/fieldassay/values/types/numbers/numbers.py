"""The readers of numbers and of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.numbers.amounts import NumberRange, canonical_amount, map_amount
from fieldassay.values.types.numbers.columns import number_column
from fieldassay.values.types.numbers.groups import shown
from fieldassay.values.types.numbers.locales import Convention, convention
from fieldassay.values.types.numbers.readings import (
    Signs,
    check_choice,
    check_signs,
    doubts,
    json_number,
    read_plain,
    remedy,
    stripped,
)
from fieldassay.values.types.numbers.text import Amount, amount, check_single, fold
from fieldassay.values.types.numbers.tokens import text_tokens
from fieldassay.values.types.unreadable import UnreadableError, unreadable


def whole_amount(text: str, options: Convention) -> tuple[Amount, bool]:
    """Return the number of the folded text, and whether it is a percentage.

    Besides the forms of `amount` it accepts accounting parentheses and a trailing minus. Raises
    `UnreadableError` if anything is left over.
    """
    is_negative = text[:1] == "(" and text[-1:] == ")"
    found = amount(text[1:-1].strip(" ") if is_negative else text, options)
    rest, value, is_percent = found.rest, found.value, False
    if rest[:1] == "-" and text[0] not in "+-(":
        is_negative, rest = True, rest[1:].strip(" ")
    if rest == "%":
        is_percent, rest = True, ""
    if rest:
        check_single(text)
        raise UnreadableError(f"left over after the number: {shown(rest)}{remedy(rest)}")
    if is_negative:
        if not isinstance(value, Decimal) or (text[0] == "(" and text[1:].strip(" ")[0] in "+-"):
            raise UnreadableError("two signs, or a sign around a range")
        value = value.copy_negate()
    return Amount(value, "", found.is_ambiguous), is_percent


class NumberReader(Reader, Struct, frozen=True):
    """Reads whole texts as numbers; digits are never extracted from other text.

    `locale` or `decimal` decide the meaning of `1.234`; the default is English. With `percent: fraction`,
    `12%` is 0.12, else 12. `ranges` reads `100-500` and `20±5`. `strip` are texts to drop before or behind
    the number (`@`, `x`).

    >>> NumberReader(locale="de_DE").read("1.234,50").canonical
    '1234.5'
    >>> NumberReader().read("12 pcs").problem
    "left over after the number: 'pcs'; `strip` drops it"
    """

    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    percent: Literal["as_is", "fraction"] = "as_is"
    ranges: bool = False
    strip: tuple[str, ...] = ()
    signs: Signs = ()

    def __post_init__(self) -> None:
        check_signs(self.signs)
        check_choice("percent", self.percent, ("as_is", "fraction"))
        convention(self.locale, self.decimal)

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            return json_number(raw)
        text = raw.strip()
        try:
            found, is_percent = whole_amount(
                stripped(fold(text), self.strip, self.signs), convention(self.locale, self.decimal)
            )
            if isinstance(found.value, NumberRange) and not self.ranges:
                raise UnreadableError(
                    "a range where one number is expected (set `ranges: true` to read ranges)"
                )
        except UnreadableError as error:
            return unreadable(text, str(error))
        is_fraction = is_percent and self.percent == "fraction"
        value = map_amount(hundredth, found.value) if is_fraction else found.value
        return Reading(
            text,
            value,
            canonical_amount(value),
            doubts(self, text, found.is_ambiguous),
        )

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        return text_tokens(raw, (self.strip, self.signs), convention(self.locale, self.decimal))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        numbers = number_column(raws)
        if numbers is not None:
            return numbers
        return Column.of(list(map(self.read, raws))) if self.strip or self.signs else read_plain(self, raws)


def hundredth(value: Decimal) -> Decimal:
    """Return a number divided by 100, exactly."""
    sign, digits, power = value.as_tuple()
    return Decimal((sign, digits, int(power) - 2))


class IntegerReader(Reader, Struct, frozen=True):
    """Reads whole numbers; `5.0` is whole, `5.5` is not.

    Without `locale` or `decimal` a separator before exactly three digits groups: `5.000` is 5000.

    >>> IntegerReader().read("1.234").canonical, IntegerReader().read("5.5").problem
    ('1234', 'not a whole number')
    """

    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    strip: tuple[str, ...] = ()
    signs: Signs = ()

    def __post_init__(self) -> None:
        check_signs(self.signs)
        convention(self.locale, self.decimal)

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            return self._whole(json_number(raw))
        text = raw.strip()
        try:
            folded = stripped(fold(text), self.strip, self.signs)
            check_single(folded)
            found, is_percent = whole_amount(folded, convention(self.locale, self.decimal, groups_first=True))
        except UnreadableError as error:
            return unreadable(text, str(error))
        if is_percent or isinstance(found.value, NumberRange):
            return unreadable(text, "a percentage or a range where a whole number is expected")
        return self._whole(
            Reading(
                text,
                found.value,
                canonical_amount(found.value),
                doubts(self, text, found.is_ambiguous),
            )
        )

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        return text_tokens(
            raw, (self.strip, self.signs), convention(self.locale, self.decimal, groups_first=True)
        )

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        if set(map(type, raws)) == {int} and (numbers := number_column(raws)) is not None:
            return numbers
        return (
            Column.of(list(map(self.read, raws)))
            if self.strip or self.signs
            else read_plain(self, raws, whole_only=True)
        )

    def _whole(self, reading: Reading) -> Reading:
        value: Any = reading.value
        if value is None or value == value.to_integral_value():
            return reading
        return unreadable(reading.text, "not a whole number")
