"""Numbers in text: characters folded to one spelling, then numerals with any separators and scripts."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal

from msgspec import Struct

from fieldassay.regex import lazy_regex
from fieldassay.values.types.numbers.amounts import AmountValue, NumberRange, looks_like_fraction
from fieldassay.values.types.numbers.groups import resolve, shown
from fieldassay.values.types.numbers.locales import Convention
from fieldassay.values.types.unreadable import UnreadableError

LENGTH_LIMIT = 200
"""The maximum of characters in a number."""
EXPONENT_LIMIT = 6144
"""The largest power of ten, either way (the range of IEEE decimal128)."""

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032`\u00b4\uff07"
_INVISIBLE = "\u200b\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_SPELLED = {
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _INVISIBLE)),
    **{
        ord("\uff0c"): ",",
        ord("\uff0e"): ".",
        ord("\uff0b"): "+",
        ord("\uff05"): "%",
        ord("\u066a"): "%",
        ord("\u2044"): "/",
        ord("\u2215"): "/",
    },
}

_POWER = r"(?:\^|\*\*)[ ]?(?P<{0}>[+-]?\d{{1,9}})|(?P<{1}>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,9}})"
_NUMERAL = lazy_regex(
    rf"10(?:{_POWER.format('bare_caret', 'bare_super')})"
    r"|(?P<run>(?:[.,٫](?=\d))?\d+(?:[.,'٫٬]\d+|[ ]\d{3}(?!\d))*)"
    r"(?:(?P<dash>[.,:]-{1,2}(?!\d))|(?P<point>\.(?![.\d]))?)"
    rf"(?:[eE](?P<e>[+-]?\d{{1,9}})(?!\d)|[ ]?[x×*·⋅✕][ ]?10(?:{_POWER.format('caret', 'super')}))?"
)
_FRACTION = lazy_regex(
    r"(?:(?P<whole>\d{1,9})[ ]+)?(?P<top>\d{1,3})(?P<stroke>⁄|[ ]?/[ ]?)(?P<bottom>\d{1,3})(?![\d/.,⁄])"
)
STROKE = lazy_regex(r"(?<=[^ /])[ ]*/[ ]*(?=[+-]?[.,٫]?\d)")
"""The stroke between two values."""
_RANGE = lazy_regex(
    r"[ ]*(?:-|\.{2,3}|…|~|〜|(?:to|bis|à|a|hasta|until)(?= ))[ ]*(?=[+-]?[.,٫]?\d)", re.IGNORECASE
)
_TOLERANCE = lazy_regex(r"[ ]*(?:±|\+/-|\+-)[ ]*(?=[.,٫]?\d)")
_SIGN = lazy_regex(r"[+-][ ]?")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_THIRDS = Context(prec=28)
_EXACT = Context(prec=LENGTH_LIMIT, traps=[])


class Numeral(Struct, frozen=True):
    """A number found in a text, and its end.

    `is_ambiguous` means that only a convention decided the meaning of its separator.
    """

    value: Decimal
    end: int
    is_ambiguous: bool = False


class Amount(Struct, frozen=True):
    """A number or a range at the start of a text, or several numbers, and the trimmed rest."""

    value: AmountValue
    rest: str
    is_ambiguous: bool = False


def fold(text: str) -> str:
    """Return a short text with one spelling of digits, spaces, dashes and apostrophes.

    Invisible marks are removed, and vulgar fractions written out: no other text has their stroke (U+2044).

    >>> fold("−١٬٢٣٤٫٥"), fold("1½ kg")
    ('-1٬234٫5', '1 1⁄2 kg')
    """
    if len(text) > LENGTH_LIMIT:
        raise UnreadableError(f"longer than {LENGTH_LIMIT} characters")
    if text.isascii():
        return text.strip(" ")
    return "".join(map(_folded, text.translate(_SPELLED))).strip(" ")


def _folded(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if unicodedata.category(char) == "Zs":
        return " "
    if unicodedata.decomposition(char).startswith("<fraction>"):
        return " " + unicodedata.normalize("NFKC", char)
    return char


def signed_at(text: str, start: int, convention: Convention) -> Numeral:
    """Return the numeral, signed or not, at a position of a folded text; raises `UnreadableError`."""
    sign = _SIGN.match(text, start)
    found = numeral_at(text, sign.end() if sign else start, convention)
    if sign and sign[0][0] == "-":
        return Numeral(found.value.copy_negate(), found.end, found.is_ambiguous)
    return found


def numeral_at(text: str, start: int, convention: Convention) -> Numeral:
    """Return the unsigned numeral at a position of a folded text; raises `UnreadableError`."""
    fraction = _fraction(text, start)
    if fraction is not None:
        return fraction
    match = _NUMERAL.match(text, start)
    if match is None:
        raise UnreadableError(
            f"does not start with a number: {shown(text[start:])}" if text[start:] else "there is no number"
        )
    if not match["run"]:
        return Numeral(
            _scaled(Decimal(1), _exponent(match["bare_caret"] or match["bare_super"])), match.end()
        )
    exponent = match["e"] or match["caret"] or match["super"]
    run = match["run"] + (
        f"{match['dash'][0]}00".replace(":", ",") if match["dash"] else match["point"] or ""
    )
    value, is_ambiguous = resolve(run, Convention(run_decimal(run)) if exponent else convention)
    is_ambiguous |= match["e"] is not None and not match["e"].strip("0")  # an `e` that changes nothing
    return Numeral(_scaled(value, _exponent(exponent)) if exponent else value, match.end(), is_ambiguous)


def run_decimal(run: str) -> str:
    """Return the decimal separator of a mantissa.

    The only separator before an exponent is decimal in every locale.
    """
    return "," if "," in run and "." not in run else "."


def check_single(text: str, start: int = 0) -> None:
    """Raise `UnreadableError` for a folded text of several values with strokes between them."""
    if "/" in text and STROKE.search(text, start):
        raise UnreadableError(f"several values where one is expected: {shown(text)}")


def amount(text: str, convention: Convention) -> Amount:
    """Return the number, range or tolerance at the start of a folded text.

    Ranges are `100-500` and `100 to 500`, a tolerance is `20±5`. Raises `UnreadableError`.
    """
    first = signed_at(text, 0, convention)
    if margin := _TOLERANCE.match(text, first.end):
        second = numeral_at(text, margin.end(), convention)
        value = around(first.value, second.value)
    elif to := _RANGE.match(text, first.end):
        second = signed_at(text, to.end(), convention)
        value = ordered(first.value, second.value)
    else:
        return Amount(first.value, text[first.end :].strip(" "), first.is_ambiguous)
    return Amount(value, text[second.end :].strip(" "), first.is_ambiguous or second.is_ambiguous)


def around(middle: Decimal, margin: Decimal) -> NumberRange:
    """Return the range of a tolerance; raises `UnreadableError` for a negative margin."""
    return ordered(_EXACT.subtract(middle, margin), _EXACT.add(middle, margin), is_tolerance=True)


def ordered(low: Decimal, high: Decimal, *, is_tolerance: bool = False) -> NumberRange:
    """Return the range; raises `UnreadableError` if `low` is above `high`."""
    if low > high:
        raise UnreadableError(f"a range from {low} down to {high}")
    return NumberRange(low, high, is_tolerance)


def _fraction(text: str, start: int) -> Numeral | None:
    match = _FRACTION.match(text, start) if "/" in text or "⁄" in text else None
    if match is None:
        return None
    whole, top, bottom = (int(match[name] or 0) for name in ("whole", "top", "bottom"))
    if match["stroke"] != "⁄" and not looks_like_fraction(top, bottom):
        return None
    return Numeral(_THIRDS.divide(Decimal(whole * bottom + top), Decimal(bottom)), match.end())


def _exponent(text: str) -> int:
    exponent = int(text.translate(_SUPERSCRIPTS))
    if abs(exponent) > EXPONENT_LIMIT:
        raise UnreadableError(f"a power of ten beyond {EXPONENT_LIMIT}")
    return exponent


def _scaled(value: Decimal, exponent: int) -> Decimal:
    sign, digits, power = value.as_tuple()
    return Decimal((sign, digits, int(power) + exponent))
