"""Telephone numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates.names import locale_data
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text, whole_number
from fieldassay.values.types.unreadable import UnreadableError, unreadable

_MOST_CHARACTERS = 100
_EXTENSION = lazy_regex(
    r"[\s,;]*(?:ext(?:ension)?|extn|x|#|durchwahl|dw|poste|int)\.?[\s:=]*(\d{1,8})$", re.IGNORECASE
)
_PREFIX = lazy_regex(r"^(?:tel|phone|fax|mobile|mob|cell|ph|t|m|p|f)[.:]+\s*(?=[\d+(])", re.IGNORECASE)


class PhoneReader(Reader, Struct, frozen=True):
    """Reads phone numbers in international form (E.164), with `;ext=` before an extension.

    `region` (AU, US, or that of the locale) is the country of numbers without a country code. Without a
    region such numbers are compared by their digits and flagged `ambiguous`. A number outside its country's
    plan stays comparable and is flagged `invalid_phone`.

    >>> [PhoneReader("AU").read(text).canonical for text in ("(02) 9374 4000 ext. 12", "+61 2 9374 4000")]
    ['+61293744000;ext=12', '+61293744000']
    """

    region: str | None = None
    locale: str | None = None

    def __post_init__(self) -> None:
        if self.locale is not None:
            locale_data(self.locale)
        if self.region is not None:
            from phonenumbers import SUPPORTED_REGIONS

            if self.region not in SUPPORTED_REGIONS:
                raise ValueError(f"unknown region {self.region!r}; write two capital letters, such as AU")

    def read(self, raw: Scalar) -> Reading:
        number = whole_number(raw)
        text = json_text(raw)
        flags = () if isinstance(raw, str) else ("coerced",)
        if isinstance(raw, bool) or (number is None and isinstance(raw, float)):
            return unreadable(text, "is not a phone number")
        if len(text) > _MOST_CHARACTERS:
            return unreadable(text, "is too long for a phone number")
        try:
            canonical, remarks = self._number(_PREFIX.sub("", text if number is None else str(number)))
        except UnreadableError as why:
            return unreadable(text, why, flags)
        return Reading(text, canonical, canonical, (*remarks, *flags))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)

    def _number(self, text: str) -> tuple[str, tuple[str, ...]]:
        from phonenumbers import (
            NumberParseException,
            PhoneNumberFormat,
            format_number,
            is_valid_number,
            parse,
        )

        region = self.region or (locale_data(self.locale).territory if self.locale else None)
        if region is None and not text.lstrip("(").startswith(("+", "＋", "tel:")):
            return _digits(text), ("ambiguous",)
        try:
            number = parse(text.removeprefix("tel:"), region)
        except NumberParseException:
            raise UnreadableError("is not a phone number") from None
        extension = f";ext={number.extension}" if number.extension else ""
        canonical = format_number(number, PhoneNumberFormat.E164) + extension
        return canonical, () if is_valid_number(number) else ("invalid_phone",)


def _digits(text: str) -> str:
    extension = _EXTENSION.search(text)
    main = text[: extension.start()] if extension else text
    digits = "".join(str(unicodedata.decimal(char)) for char in main if char.isdecimal())
    letters = sum(map(str.isalpha, main))
    if len(digits) < 3 or letters > len(digits):
        raise UnreadableError("is not a phone number")
    return digits + (f";ext={extension[1]}" if extension else "")
