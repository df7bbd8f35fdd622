"""Reasons, diagnoses and outcomes in words."""

from __future__ import annotations

OUTCOMES: dict[str, str] = {
    "match": "right: the score reaches what the field accepts",
    "partial": "partly right: the score is below what the field accepts",
    "mismatch": "wrong",
    "missing": "gold has a value, the prediction has none",
    "spurious": "the prediction has a value, gold has none",
    "absent": "neither side has a value",
    "failed": "could not be judged; left out of every denominator",
}
"""The meaning of each outcome."""

REASONS: dict[str, str] = {
    "absent": "neither side has a value",
    "accepted": "the prediction is one of the values accepted beside gold",
    "coarser": "the prediction says the date less precisely",
    "components_exchanged": "the same runs of digits in another order",
    "contained": "one text is contained in the other",
    "contained_items": "some items match only because one contains the other",
    "currency_differs": "the currencies differ",
    "currency_unknown": "one side does not say the currency",
    "day_month_swapped": "day and month are exchanged",
    "different": "the values differ",
    "digits_in_place": "some digits agree in their places",
    "equal": "both sides mean the same",
    "equal_ignoring": "equal, apart from what the comparison leaves out",
    "inside": "the value lies inside the range",
    "items_not_judged": "some items could not be judged",
    "matching_items": "all items match, though not all are the same",
    "missing": "the prediction has no value",
    "no_digits": "there are no digits to compare",
    "not_a_date": "one side is not a date",
    "not_numeric": "one side is not a number",
    "other_kind": "the values are of different kinds",
    "other_length": "the numbers of digits differ",
    "overlapping": "the ranges overlap",
    "paired": "the items were paired with each other",
    "parts_agree": "some parts of the date agree",
    "precision_differs": "one date is more precise than the other",
    "present": "both sides have it",
    "same_components": "day, month and year agree",
    "same_digits": "the digits are the same",
    "same_items": "the same items",
    "same_meaning": "two words for the same thing",
    "shared_items": "one item of gold stands for several predicted ones",
    "similar": "the texts are similar",
    "some_items": "some items agree",
    "spurious": "gold has no value",
    "too_few_parts": "too few parts of the date can be compared",
    "too_long": "the texts are too long to be compared; longer than any value should be",
    "too_many_items": "there are too many items to be compared",
    "two_components": "two of day, month and year agree",
    "unit_differs": "the units differ",
    "unit_missing": "one side has no unit",
    "unknown_word": "a text is none of the words that are known here",
    "unreadable": "the prediction cannot be read as the field's type",
    "within_days": "the dates are within the tolerance",
    "within_tolerance": "the numbers are within the tolerance",
    "illegible": "nobody can read the value on the document",
    "words_in_common": "some words are in both texts",
    "wrong_kind": "the prediction has another kind of JSON here",
}
"""The meaning of each reason; reasons of plugins are shown by their names."""

DIAGNOSES: dict[str, str] = {
    "case_only": "only upper and lower case differ",
    "white_space_or_punctuation": "only white space or punctuation differs",
    "accents_only": "only accents differ",
    "unicode_form": "the same letters, encoded in another way",
    "other_format": "the same value, written in another way",
    "separator": "a decimal or thousands separator was misread",
    "sign": "the sign is wrong",
    "percent": "a factor of 100, as between a percentage and a fraction",
    "rounding": "the value was rounded",
    "unit_spelling": "the unit is spelled in another way",
    "unit_conversion": "the same quantity, in another unit",
    "wrong_unit": "the number agrees, the unit does not",
    "currency": "the amount agrees, the currency does not",
    "day_month_exchanged": "day and month are exchanged",
    "two_digit_year": "the century is wrong, as with a year of two digits",
    "other_calendar": "the years differ as those of two calendars do",
    "value_of_another_field": "the value belongs to another field",
    "off_by_one": "off by one",
    "digits_transposed": "two digits are exchanged",
    "one_digit_wrong": "one digit is wrong",
    "ocr_confusion": "characters that look alike were taken for each other",
    "truncated": "the prediction is cut short",
    "extended": "the prediction has more text than gold",
    "word_order": "the same words in another order",
    "abbreviation": "one side abbreviates the other",
    "synonym": "another word for the same thing",
    "value_of_another_item": "the value belongs to another item",
    "list_split_or_joined": "items were split or joined",
    "duplicate_item": "the prediction repeats an item",
    "wrong_kind": "another kind of JSON",
    "near": "nearly the same",
    "unreadable": "the prediction cannot be read as the field's type",
    "missing": "the prediction has no value",
    "spurious": "gold has no value",
    "different": "no rule names the difference",
    "item_missing": "its item of the list is missing",
    "item_spurious": "its item of the list has no counterpart in gold",
    "answer_missing": "there is no answer for the whole document",
    "answer_timeout": "the answer for the whole document timed out",
    "answer_error": "the answer for the whole document ended in an error",
    "answer_unreadable": "the answer for the whole document could not be read",
}
"""The meaning of each diagnosis; those of items and answers are of values whose item or answer is wrong."""

PROBLEMS: dict[str, tuple[str, str]] = {
    "answer_missing": ("missing", "missing"),
    "answer_timeout": ("timeout", "timeouts"),
    "answer_error": ("error", "errors"),
    "answer_unreadable": ("unreadable", "unreadable"),
}
"""The problems of whole answers in a list of counts: of one and of several."""

CAUSES: dict[str, tuple[str, str, str]] = {
    "answer_failed": ("answer", "failed", "failed"),
    "answer_missing": ("answer", "is missing", "are missing"),
    "answer_timeout": ("answer", "timed out", "timed out"),
    "answer_error": ("answer", "ended in an error", "ended in an error"),
    "answer_unreadable": ("answer", "could not be read", "could not be read"),
    "item_missing": ("item", "is missing", "are missing"),
    "item_spurious": ("item", "has no counterpart in gold", "have no counterpart in gold"),
}
"""Descriptions of causes of loss larger than a value: the name, the problem of one and of several."""

FLAGS: dict[str, str] = {
    "ambiguous": "the value can be read in two ways; the locale, or English without one, decided",
    "unreadable_gold": "the gold value cannot be read as its type and was compared as text",
    "unreadable_pred": "the prediction cannot be read as the field's type",
    "coerced": "the value was of another kind of JSON and was taken as the declared one",
    "repaired": "the raw answer had to be repaired before it could be parsed",
    "wrong_kind": "the prediction has another kind of JSON here",
    "under_wrong_kind": "something above this value has another kind of JSON in the prediction",
    "accepted_variation": "the prediction is one of the values accepted beside gold",
    "invalid_checksum": "the checksum of the number is wrong",
    "invalid_phone": "no such phone number can exist",
    "lone_parent": "something above this value has no partner on the other side",
    "duplicate_item": "the prediction repeats an item",
    "unicode": "the text was composed, or had characters that nobody can see; they do not count",
    "calendar": "the year is before 1600 or after 2200, or of another calendar than the field's",
    "other_length": "a number that is written in several lengths was read in its usual one",
}
"""The meaning of each flag."""


def describe(words: dict[str, str], name: str) -> str:
    """Return the meaning of a name, or the name with spaces where the table lacks it.

    >>> describe(REASONS, "within_days"), describe(REASONS, "my_reason")
    ('the dates are within the tolerance', 'my reason')
    """
    return words.get(name, name.replace("_", " "))
