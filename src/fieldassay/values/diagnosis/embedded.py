"""Numbers written inside texts, without a locale: all possible values."""

from __future__ import annotations

from decimal import Decimal

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.catalogue import BIT

MAX_WRITTEN = 200
"""The maximum of characters in a text searched for numbers."""

_POINT_FIRST = r"(?:(?<![\w.,])[.,])?"
"""The decimal sign of a number without a whole part, such as `.5`; that of `No.5` is none."""
_DIGIT_RUN = lazy_regex(rf"{_POINT_FIRST}[0-9]+")
_NUMBER = lazy_regex(rf"{_POINT_FIRST}[0-9]+(?:[.,][0-9]+)*")
_WHOLE = lazy_regex(
    r"([-+\N{MINUS SIGN}]?)\s?([0-9]+(?:[.,' \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}][0-9]+)*)\s?(%?)"
)
_SCIENTIFIC = lazy_regex(r"[-+\N{MINUS SIGN}]?[0-9]+(?:[.,][0-9]+)?[eE][-+\N{MINUS SIGN}]?[0-9]{1,3}")
_GROUPED = lazy_regex(r"[0-9]{1,3}(?:(.)[0-9]{3})(?:\1[0-9]{3})*")


def find_digit_runs(text: str) -> list[str]:
    """Return the runs of digits, in order; a decimal sign that begins a number belongs to it.

    >>> find_digit_runs("1-2 of 30.5"), find_digit_runs("No.5, .5 mg")
    (['1', '2', '30', '5'], ['5', '.5'])
    """
    return _DIGIT_RUN.findall(text)


def number_candidates(written: str) -> tuple[Decimal, ...]:
    """Return the possible values of digits with separators, the likelier first; none if not a number.

    The separators are points, commas, spaces and apostrophes.

    >>> number_candidates("1,500.5"), number_candidates("1,500")
    ((Decimal('1500.5'),), (Decimal('1500'), Decimal('1.500')))
    >>> number_candidates("1.2.3"), number_candidates("007"), number_candidates(".5")
    ((), (), (Decimal('0.5'),))
    """
    whole, sign, fraction = _split_at_last_sign(written)
    if not sign:
        return _whole_number(written)
    if sign not in ".,":
        return _whole_number(written)
    as_fraction = tuple(Decimal(f"{value}.{fraction}") for value in _whole_number(whole or "0", sign))
    as_whole = _whole_number(written)
    return as_whole + as_fraction if sign == "," else as_fraction + as_whole


def whole_candidates(text: str) -> tuple[Decimal, ...]:
    """Return the possible values of a text that is one number; none if it is no plain number.

    A percent sign divides by 100.

    >>> whole_candidates("-12.5"), whole_candidates("5%"), whole_candidates("5 kg"), whole_candidates("1,5e3")
    ((Decimal('-12.5'),), (Decimal('0.05'),), (), (Decimal('1.5E+3'),))
    """
    if len(text) > MAX_WRITTEN:
        return ()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        return (Decimal(text.replace(",", ".").replace("\N{MINUS SIGN}", "-")),)
    found = _WHOLE.fullmatch(text)
    if found is None:
        return ()
    sign, written, percent = found.groups()
    values = number_candidates(written)
    if percent:
        values = tuple(value.scaleb(-2) for value in values)
    return tuple(value.copy_negate() for value in values) if sign not in ("", "+") else values


def judge_embedded(gold: str, pred: str) -> int:
    """Return the difference of the numbers in two texts with equal match keys.

    0: they differ only in white space, or not in numbers; the bit of `other_format`: the same numbers,
    written differently; the bit of `separator`: a number times a power of ten; -1: the digits are split into
    different numbers.
    """
    if "".join(gold.split()).casefold() == "".join(pred.split()).casefold():
        return 0
    if max(len(gold), len(pred)) > MAX_WRITTEN:
        return -1
    pairs = list(zip(_NUMBER.findall(gold), _NUMBER.findall(pred), strict=False))
    if len(pairs) != len(_NUMBER.findall(gold)) or len(pairs) != len(_NUMBER.findall(pred)):
        return -1
    verdicts = {
        _judge_pair(number_candidates(left), number_candidates(right), left == right) for left, right in pairs
    }
    if -1 in verdicts:
        return -1
    return BIT["separator"] if BIT["separator"] in verdicts else BIT["other_format"]


def is_power_of_ten_apart(left: Decimal, right: Decimal) -> bool:
    """Return True if left is right times a power of ten other than 1, exactly.

    >>> is_power_of_ten_apart(Decimal("12.50"), Decimal(1250)), is_power_of_ten_apart(Decimal(1), Decimal(13))
    (True, False)
    """
    return left != right and bool(left) and bool(right) and _significant(left) == _significant(right)


def _significant(value: Decimal) -> tuple[int, str]:
    sign, digits, _ = value.as_tuple()
    return sign, "".join(map(str, digits)).strip("0")


def _judge_pair(left: tuple[Decimal, ...], right: tuple[Decimal, ...], is_same: bool) -> int:
    if is_same or set(left) & set(right):
        return BIT["other_format"]
    if left and right and is_power_of_ten_apart(left[0], right[0]):
        return BIT["separator"]
    return -1


def _split_at_last_sign(written: str) -> tuple[str, str, str]:
    last = max((index for index, character in enumerate(written) if not character.isdigit()), default=-1)
    return (written, "", "") if last < 0 else (written[:last], written[last], written[last + 1 :])


def _whole_number(written: str, decimal_sign: str = "") -> tuple[Decimal, ...]:
    """Return the integer of plain or grouped digits, else None; leading zeros make a code."""
    if len(written) > 1 and written[0] == "0":
        return ()
    if written.isdecimal():
        return (Decimal(written),)
    grouped = _GROUPED.fullmatch(written)
    if grouped is None or grouped[1] == decimal_sign:
        return ()
    return (Decimal(written.replace(grouped[1], "")),)
