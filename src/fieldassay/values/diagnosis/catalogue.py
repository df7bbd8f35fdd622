"""The names of the diagnoses, in order of precedence."""

from __future__ import annotations

DIAGNOSES: tuple[str, ...] = (
    "case_only",
    "white_space_or_punctuation",
    "accents_only",
    "unicode_form",
    "other_format",
    "separator",
    "sign",
    "percent",
    "rounding",
    "unit_spelling",
    "unit_conversion",
    "wrong_unit",
    "currency",
    "day_month_exchanged",
    "two_digit_year",
    "other_calendar",
    "value_of_another_field",
    "off_by_one",
    "digits_transposed",
    "one_digit_wrong",
    "ocr_confusion",
    "truncated",
    "extended",
    "word_order",
    "abbreviation",
    "synonym",
    "value_of_another_item",
    "list_split_or_joined",
    "duplicate_item",
    "wrong_kind",
    "near",
    "unreadable",
    "missing",
    "spurious",
    "different",
)
"""Bit i of a set of diagnoses is `DIAGNOSES[i]`. The lowest set bit is the main diagnosis."""

BIT: dict[str, int] = {name: 1 << position for position, name in enumerate(DIAGNOSES)}


def diagnosis_names(bits: int) -> tuple[str, ...]:
    """Return the names of the set bits, the main diagnosis first.

    >>> diagnosis_names(BIT["near"] | BIT["one_digit_wrong"])
    ('one_digit_wrong', 'near')
    """
    return tuple(name for name, bit in BIT.items() if bits & bit)
