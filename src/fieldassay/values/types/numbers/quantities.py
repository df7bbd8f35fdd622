"""The readers of quantities (amount and unit) and of units."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Reading
from fieldassay.values.types.numbers.amounts import (
    WIDE,
    NumberRange,
    Quantity,
    canonical_quantity,
    map_amount,
)
from fieldassay.values.types.numbers.groups import shown
from fieldassay.values.types.numbers.locales import Convention, convention
from fieldassay.values.types.numbers.readings import json_number
from fieldassay.values.types.numbers.text import STROKE, Amount, amount, around, fold, ordered
from fieldassay.values.types.numbers.tokens import text_tokens, unit_rule
from fieldassay.values.types.numbers.unit_conversion import conversion, convert
from fieldassay.values.types.numbers.unit_parsing import without_ten
from fieldassay.values.types.numbers.units import canonical_unit, unit_flags
from fieldassay.values.types.unreadable import UnreadableError, unreadable

_SECOND = lazy_regex(
    r"(?P<unit>[^±]{1,64}?)"
    r"(?:[ ]+(?P<to>-|to|bis|à|a|hasta|until)[ ]+|[ ]*(?P<margin>±|\+/-)[ ]*|(?<=[%CFK])-)"
    r"(?P<second>[+-]?[.,٫]?\d.*)\Z"
)
_ENCLOSED = lazy_regex(r"\((?P<amount>[^()]*)\)(?P<unit>.*)\Z")


class QuantityReader(Reader, Struct, frozen=True):
    """Reads amounts with a unit: `5000m3/h`, `20±5 °C`, `100 to 500 mg/Nm³`, `120/80 mmHg`.

    `unit` is the unit of an amount without one. `canonical` is the unit to convert to; units of another
    dimension are unreadable. `ranges: false` refuses ranges, tolerances and several values. `locale` and
    `decimal` are as for numbers.

    >>> reader = QuantityReader(canonical="m3/h")
    >>> [reader.read(raw).canonical for raw in ("5.000,5 m³/h", "1000 L/min", "20±5 m3 per hour")]
    ['5000.5 m3/h', '60 m3/h', '15 to 25 m3/h']
    """

    unit: str | None = None
    canonical: str | None = None
    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    ranges: bool = True

    def __post_init__(self) -> None:
        convention(self.locale, self.decimal)
        for option, unit in (("unit", self.unit), ("canonical", self.canonical)):
            if unit is not None and canonical_unit(str(unit)) is None:
                raise problem(
                    option, f"unknown unit {unit!r}", "give a unit such as 'm3/h' or 'degC'", "invalid_option"
                )

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            number = json_number(raw)
            return number if number.value is None else self._reading(number.text, Amount(number.value, ""))
        text = raw.strip()
        try:
            return self._reading(text, self._amount(text))
        except UnreadableError as error:
            return unreadable(text, str(error))

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        return text_tokens(raw, ((), ()), convention(self.locale, self.decimal), unit_rule)

    def _amount(self, text: str) -> Amount:
        """Return the amount and its unit's text; in a range the unit stands once or at both ends."""
        options, folded = convention(self.locale, self.decimal), fold(text)
        enclosed = _ENCLOSED.match(folded)
        if enclosed:
            found = amount(enclosed["amount"].strip(" "), options)
            if found.rest or not isinstance(found.value, NumberRange):
                raise UnreadableError("parentheses around something other than a range")
            return Amount(found.value, enclosed["unit"].strip(" "), found.is_ambiguous)
        found = amount(folded, options)
        second = _SECOND.match(found.rest)
        if STROKE.search(folded, len(folded) - len(found.rest) - 1) and canonical_unit(found.rest) is None:
            return _several(folded, options)
        if second is None or not isinstance(found.value, Decimal):
            return found
        other = amount(second["second"], options)
        if not isinstance(other.value, Decimal) or canonical_unit(second["unit"]) != canonical_unit(
            other.rest
        ):
            raise UnreadableError(f"two amounts: {shown(folded)}")
        value = other.value
        both = around(found.value, value) if second["margin"] else ordered(found.value, value)
        return Amount(both, other.rest, found.is_ambiguous or other.is_ambiguous)

    def _reading(self, text: str, found: Amount) -> Reading:
        if not isinstance(found.value, Decimal) and not self.ranges:
            what = "a range" if isinstance(found.value, NumberRange) else "several values"
            return unreadable(text, f"{what} where one amount is expected (`ranges: false`)")
        written = canonical_unit(found.rest or self.unit or "")
        if written is None and found.rest:
            return unreadable(text, f"unknown unit {shown(found.rest)}")
        value = Quantity(found.value, written)
        if written is not None and (tens := without_ten(written)) != (0, written):
            value = Quantity(map_amount(lambda number: number.scaleb(tens[0], WIDE), found.value), tens[1])
        if self.canonical is not None and written is not None:
            steps = conversion(written, self.canonical)
            if steps is None:
                return unreadable(text, f"{written} does not convert to {self.canonical}")
            value = Quantity(convert(found.value, steps), canonical_unit(self.canonical))
        flags = ("ambiguous",) if found.is_ambiguous else unit_flags(found.rest)
        return Reading(text, value, canonical_quantity(value), flags)


def _several(text: str, options: Convention) -> Amount:
    """Return the values between strokes, in their order; they share the unit of the last."""
    parts = [amount(part, options) for part in STROKE.split(text)]
    unit = parts[-1].rest
    if any(part.rest and canonical_unit(part.rest) != canonical_unit(unit) for part in parts):
        raise UnreadableError(f"several values with different units: {shown(text)}")
    values = [part.value for part in parts if isinstance(part.value, Decimal)]
    if len(values) < len(parts):
        raise UnreadableError(f"several values, one of them a range: {shown(text)}")
    return Amount(tuple(values), unit, any(part.is_ambiguous for part in parts))


class UnitReader(Reader, Struct, frozen=True):
    """Reads units as their canonical text (`m³ h⁻¹` is `m3/h`).

    With `spelling: canonical` only that text is the unit, whatever its letter case and white space: another
    spelling is another value.

    >>> UnitReader().read("m³ h⁻¹").canonical, UnitReader().read("boxes").problem
    ('m3/h', "unknown unit 'boxes'")
    >>> [UnitReader(spelling="canonical").read(text).canonical for text in ("M3 / h", "m³/h")]
    ['m3/h', 'm³/h']
    """

    spelling: Literal["any", "canonical"] = "any"

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            number = json_number(raw)
            return unreadable(number.text, "not a unit")
        text = raw.strip()
        unit = canonical_unit(text)
        if unit is None:
            return unreadable(text, f"unknown unit {shown(text)}")
        written = "".join(text.split())
        is_other = self.spelling == "canonical" and written.lower() != unit.lower()
        return Reading(text, unit, written if is_other else unit, unit_flags(text))
