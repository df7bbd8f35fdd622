"""The words of reports: terms, meanings of metrics, and sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import (
    format_bounds,
    format_difference,
    format_in_unit,
    format_p,
    format_points,
    format_share,
    format_signed_points,
    format_size,
    points_of,
)
from fieldassay.metrics.thresholds import describe_least
from fieldassay.metrics.uncertainty.paired import FEWEST_EFFECTIVE

if TYPE_CHECKING:
    from fieldassay.metrics.catalogue.grammar import MetricCall
    from fieldassay.metrics.estimate import Estimate
    from fieldassay.metrics.result.verdicts import Comparison, Ranking, RankPlace


# Paths as reports show them: without the folders of the machine that made them.

_ABSOLUTE = re.compile(r"(?<![\w./:'\"\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"]+[/\\])+(?=[^\s/\\:'\"])")


def hide_folders(text: str, paths: tuple[str, ...] = ()) -> str:
    r"""Return a sentence or a command with each absolute path cut to its last part.

    `paths` are known ones, which may have spaces. Quoted values are left as they are.

    >>> hide_folders("/home/ann/work/gold.jsonl: 1 of 72 documents (such as '/a/b') is in runs/gold.jsonl")
    "gold.jsonl: 1 of 72 documents (such as '/a/b') is in runs/gold.jsonl"
    >>> hide_folders(r"D:\data\gold.csv: and/or"), hide_folders("/my data/g.csv: x", ("/my data/g.csv",))
    ('gold.csv: and/or', 'g.csv: x')
    """
    for path in sorted(filter(is_absolute, paths), key=len, reverse=True):
        text = text.replace(path, name_of(path))
    return _ABSOLUTE.sub("", text)


def is_absolute(path: str) -> bool:
    r"""Return whether a path of any system begins at a root.

    >>> is_absolute("/a/b"), is_absolute("C:\\a"), is_absolute("a/b")
    (True, True, False)
    """
    return re.match(r"(?:[A-Za-z]:)?[/\\]", path) is not None


def name_of(path: str) -> str:
    """Return the last part of an absolute path; a relative one as it is.

    >>> name_of("/a/b/"), name_of("a/b"), name_of("-")
    ('b', 'a/b', '-')
    """
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path if is_absolute(path) else path


# The place of an extracted value in its document, in words.

_WITHOUT_PLACE = {
    "absent": "nowhere in the document",
    "assembled": "assembled from words of the document",
    "hidden": "only in hidden text of the document",
    "example": "in a shown example, not in the document",
}
_BESIDE = {
    "elsewhere": "not in the given quote",
    "assembled": "the quote is there, the value is not",
    "absent": "the value is not there",
    "hidden": "hidden text",
    "example": "the value is in a shown example",
}
_MOST_PLACES = 3
"""Parts of a list whose places are told; then their number."""


def describe_source(source: Sequence[Mapping[str, Any]], width: int = 100, *, has_place: bool = False) -> str:
    """Return where a value stands, from its evidence or that of its parts: page, quote, class.

    With `has_place`, the characters on the page too.

    >>> describe_source([{"path": "total", "quote": "TOTAL 60.000", "page": 2, "class": "found"}])
    'page 2, “TOTAL 60.000”'
    >>> describe_source([{"path": "total", "quote": "", "class": "absent"}])
    'nowhere in the document'
    """
    places = list(dict.fromkeys(_say(place, width, has_place) for place in source))
    more = len(places) - _MOST_PLACES
    return "; ".join([*places[:_MOST_PLACES], *([f"and {more} more places"] if more > 0 else [])])


def _say(place: Mapping[str, Any], width: int, has_place: bool) -> str:
    kind = str(place.get("class"))
    page, quote = place.get("page"), str(place.get("quote") or "")
    if page is None and not quote:
        return _WITHOUT_PLACE.get(kind, "in the document, its place is unknown")
    parts = [] if page is None else [f"page {page}"]
    if has_place and place.get("start") is not None and place.get("end") is not None:
        parts.append(f"characters {place['start']} to {place['end']}")
    parts += [f"“{clip(quote, width)}”"] if quote else []
    parts += [_BESIDE[kind]] if kind in _BESIDE else []
    return ", ".join(parts)


# Reasons, diagnoses and outcomes in words.

OUTCOMES: dict[str, str] = {
    "match": "right",
    "partial": "partly right",
    "mismatch": "wrong",
    "missing": "only gold has a value",
    "spurious": "only the prediction has a value",
    "absent": "both are empty",
    "failed": "could not be judged, and does not count",
}
"""The meaning of each outcome."""

REASONS: dict[str, str] = {
    "absent": "both are empty",
    "accepted": "the spec also accepts this value",
    "coarser": "the predicted date is less precise",
    "components_exchanged": "the same groups of digits in another order",
    "contained": "one text contains the other",
    "contained_items": "some items match because one contains the other",
    "currency_differs": "the currencies differ",
    "currency_unknown": "one side has no currency",
    "day_month_swapped": "day and month swapped",
    "different": "the values differ",
    "digits_in_place": "some digits are right",
    "equal": "both sides mean the same",
    "equal_ignoring": "equal, apart from what the spec ignores",
    "inside": "the value lies inside the range",
    "items_not_judged": "some items could not be judged",
    "matching_items": "all items match, some only nearly",
    "missing": "the prediction has no value",
    "no_digits": "there are no digits to compare",
    "not_a_date": "one side is not a date",
    "not_numeric": "one side is not a number",
    "other_kind": "the values have different types",
    "other_length": "one has more digits",
    "overlapping": "the ranges overlap",
    "paired": "the two items belong together",
    "parts_agree": "some parts of the date agree",
    "precision_differs": "one date is more precise than the other",
    "present": "both sides have it",
    "same_components": "day, month and year agree",
    "same_digits": "the digits are the same",
    "same_items": "the same items",
    "same_meaning": "two words for the same thing",
    "shared_items": "several predicted items match one gold item",
    "similar": "the texts are similar",
    "some_items": "some items match",
    "spurious": "gold has no value",
    "too_few_parts": "the date has too few parts to compare",
    "too_long": "the texts are too long to compare",
    "too_many_items": "there are too many items to compare",
    "two_components": "one of day, month and year is wrong",
    "unit_differs": "the units differ",
    "unit_missing": "one side has no unit",
    "unknown_word": "one side is a word that this field does not know",
    "unreadable": "the predicted value does not fit the field's type",
    "within_days": "the dates are within the tolerance",
    "within_tolerance": "the numbers are within the tolerance",
    "illegible": "nobody can read the value on the document",
    "words_in_common": "the texts share some words",
    "wrong_kind": "wrong JSON type",
}
"""The meaning of each reason; reasons of plugins are shown by their names."""

DIAGNOSES: dict[str, str] = {
    "case_only": "only upper and lower case differ",
    "white_space_or_punctuation": "only white space or punctuation differs",
    "accents_only": "only accents differ",
    "unicode_form": "the same letters, encoded differently",
    "other_format": "the same value, written differently",
    "separator": "the decimal point moved",
    "sign": "the sign is wrong",
    "percent": "100 times too large or too small",
    "rounding": "the value was rounded",
    "unit_spelling": "the unit is spelled differently",
    "unit_conversion": "the same quantity, in another unit",
    "wrong_unit": "the unit is wrong",
    "currency": "the currency is wrong",
    "day_month_exchanged": "day and month are swapped",
    "two_digit_year": "the century is wrong",
    "other_calendar": "the year is from another calendar",
    "value_of_another_field": "the value belongs to another field",
    "off_by_one": "one day or month off",
    "digits_transposed": "two digits are swapped",
    "one_digit_wrong": "one digit is wrong",
    "ocr_confusion": "characters that look alike were mixed up",
    "truncated": "the value is cut short",
    "extended": "the value has too much text",
    "word_order": "the same words in another order",
    "abbreviation": "one is short for the other",
    "synonym": "another word for the same thing",
    "value_of_another_item": "the value belongs to another item",
    "list_split_or_joined": "items were split or joined",
    "duplicate_item": "an item is repeated",
    "wrong_kind": "wrong JSON type",
    "near": "nearly the same",
    "unreadable": "the value does not fit the field's type",
    "missing": "no value was predicted",
    "spurious": "gold has no value",
    "different": "another value",
    "item_missing": "the whole item is missing",
    "item_spurious": "gold has no such item",
    "answer_missing": "the whole answer is missing",
    "answer_timeout": "the whole answer timed out",
    "answer_error": "the whole answer is an error",
    "answer_unreadable": "the whole answer is unreadable",
    "answer_empty": "the answer has no value",
}

SAID_BY: dict[str, str] = {
    "day_month_swapped": "day_month_exchanged", "currency_differs": "currency", "unit_differs": "wrong_unit",
    "unreadable": "unreadable", "same_meaning": "synonym", "wrong_kind": "wrong_kind",
}  # fmt: skip
"""Reasons that a diagnosis says as well."""

SHORT_DIAGNOSES: dict[str, str] = {
    "separator": "decimal point moved", "different": "another value", "truncated": "cut short",
    "extended": "too much text", "missing": "no value", "spurious": "gold has no value",
    "percent": "100 times off", "sign": "wrong sign", "day_month_exchanged": "day and month swapped",
    "off_by_one": "one day or month off", "digits_transposed": "two digits swapped",
    "ocr_confusion": "look-alike characters", "white_space_or_punctuation": "spacing or punctuation",
    "wrong_kind": "wrong JSON type", "unreadable": "does not fit the type", "near": "nearly the same",
    "item_spurious": "no such item in gold", "other_format": "written differently",
}  # fmt: skip
"""Kinds of errors in as few plain words as a cell of a table has room for."""


"""The meaning of each diagnosis; those of items and answers are of values whose item or answer is wrong."""

PROBLEMS: dict[str, tuple[str, str]] = {
    "answer_missing": ("missing", "missing"),
    "answer_timeout": ("timeout", "timeouts"),
    "answer_error": ("error", "errors"),
    "answer_unreadable": ("unreadable", "unreadable"),
    "answer_empty": ("without a value", "without a value"),
}
"""The problems of whole answers in a list of counts: of one and of several."""

CAUSES: dict[str, tuple[str, str, str]] = {
    "answer_failed": ("answer", "failed", "failed"),
    "answer_missing": ("answer", "is missing", "are missing"),
    "answer_timeout": ("answer", "timed out", "timed out"),
    "answer_error": ("answer", "is an error", "are errors"),
    "answer_unreadable": ("answer", "is unreadable", "are unreadable"),
    "answer_empty": ("answer", "has no value", "have no value"),
    "item_missing": ("item", "is missing", "are missing"),
    "item_spurious": ("item", "is not in gold", "are not in gold"),
}
"""Descriptions of causes of loss larger than a value: the name, the problem of one and of several."""

FLAGS: dict[str, str] = {
    "ambiguous": "the value can be read in two ways",
    "unreadable_gold": "the gold value does not fit the field's type, and was compared as text",
    "unreadable_pred": "the predicted value does not fit the field's type",
    "coerced": "the JSON type was converted to the declared one",
    "repaired": "the answer was repaired before it was parsed",
    "wrong_kind": "wrong JSON type",
    "under_wrong_kind": "inside a part with the wrong JSON type",
    "accepted_variation": "the spec also accepts this value",
    "invalid_checksum": "the check digit is wrong",
    "invalid_phone": "this phone number cannot exist",
    "lone_parent": "the whole object is on one side only",
    "duplicate_item": "an item is repeated",
    "unicode": "invisible or composed characters were cleaned up",
    "calendar": "the year looks wrong: another calendar, or far from today",
    "other_length": "the number was read in its usual length",
    "contradictory": "parts of the value contradict each other, such as the weekday and the date",
}
"""The meaning of each flag."""


def describe(words: dict[str, str], name: str) -> str:
    """Return the meaning of a name, or the name with spaces where the table lacks it.

    >>> describe(REASONS, "within_days"), describe(REASONS, "my_reason")
    ('the dates are within the tolerance', 'my reason')
    """
    return words.get(name, name.replace("_", " "))


# The meaning of each metric of the catalogue, in a sentence, with its formula.

LETTERS: dict[str, str] = {
    "C": "both sides have a value, and its score reaches what the field accepts",
    "W": "both sides have a value, and its score does not reach that",
    "M": "only gold has a value (missing)",
    "S": "only the prediction has a value (spurious)",
    "A": "neither side has a value (absent)",
    "T": "the sum of the scores of C and W",
}
"""The counted quantities."""

NAMES: dict[str, str] = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "item_f1": "item F1",
    "field_accuracy": "accuracy",
    "field_accuracy_strict": "accuracy, strict",
    "accuracy_strict": "accuracy, strict",
    "fda": "fill decision",
    "hr": "hallucination rate",
    "mr": "missing rate",
    "rfa": "accuracy where filled",
    "cost_usd": "cost per document",
    "cost_usd_total": "cost, all documents",
}
"""The names in reports of metrics whose own names need explanation."""


def name_metric(name: str, run: Mapping[str, Any]) -> str:
    """Return the name of a metric in reports: the label that the spec of a run gives it, or its own in words.

    >>> name_metric("imq", {"labels": {"imq": "IMQ"}}), name_metric("perfect_documents", {})
    ('IMQ', 'perfect documents')
    """
    return str(run.get("labels", {}).get(name) or describe(NAMES, name))


def name_call(call: MetricCall, run: Mapping[str, Any]) -> str:
    """Return a metric as a run's reports write it: with the label of its spec, and its parameters.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> name_call(parse_metric("sf1(regime=baseline)"), {"labels": {"sf1": "SF1"}})
    'SF1(regime=baseline)'
    """
    return str(replace(call, name=run.get("labels", {}).get(call.name, call.name)))


MEANINGS: dict[str, tuple[str, str]] = {
    "accuracy": (
        "How much of a document is right, on average over the documents; nearly right values count in part.",
        "mean over documents of T / (C+W+M+S)",
    ),
    "accuracy_strict": ("The same, but a value is right or wrong.", "mean over documents of C / (C+W+M+S)"),
    "accuracy_pooled": (
        "How much of all values together is right; long documents weigh more.",
        "T / (C+W+M+S)",
    ),
    "accuracy_by_field": (
        "How right a field is, on average over the fields; rare fields weigh as much as common ones.",
        "mean over fields of T / (C+W+M+S)",
    ),
    "accuracy_weighted": (
        "Accuracy with fields weighted as in the spec.",
        "mean over documents of the weighted mean of scores",
    ),
    "critical_accuracy": (
        "How many of the critical values are right, on average over the documents.",
        "mean over documents of C / (C+W+M+S), critical values",
    ),
    "field_accuracy": ("How right one field is over all documents.", "T / (C+W+M+S)"),
    "field_accuracy_strict": ("How often one field is right over all documents.", "C / (C+W+M+S)"),
    "pass_hat": (
        "The chance that k runs all get a whole document right.",
        "mean over documents of the share of all choices of k runs that are all perfect",
    ),
    "pass_at": (
        "The chance that at least one of k runs gets a whole document right.",
        "mean over documents of the share of all choices of k runs with a perfect one",
    ),
    "value_pass_hat": (
        "The chance that k runs all get a value right.",
        "mean over gold values of the share of all choices of k runs that are all right",
    ),
    "value_pass_at": (
        "The chance that at least one of k runs gets a value right.",
        "mean over gold values of the share of all choices of k runs with a right one",
    ),
    "majority_accuracy": (
        "How often the majority answer is right; tied answers count in part.",
        "right majorities / gold values",
    ),
    "majority_ties": ("How often the runs' vote on a value is tied.", "tied votes / gold values"),
    "flaky_values": (
        "How often the runs answer a value differently.",
        "gold values with several answers / gold values",
    ),
    "perfect_documents": (
        "The share of documents in which every value is right.",
        "documents with accuracy 1 / documents",
    ),
    "precision": ("Of the values that were predicted, how many are right.", "C / (C+W+S)"),
    "recall": ("Of the values that gold has, how many were found and are right.", "C / (C+W+M)"),
    "f1": ("Precision and recall in one number, their harmonic mean.", "2C / (2C+2W+M+S)"),
    "macro_precision": ("Precision, on average over the fields.", "mean over fields"),
    "macro_recall": ("Recall, on average over the fields.", "mean over fields"),
    "macro_f1": ("F1, on average over the fields.", "mean over fields"),
    "fda": (
        "Fill-decision accuracy: how often filling a field, or leaving it empty, was the right decision.",
        "(C+W+A) / (C+W+M+S+A)",
    ),
    "hr": (
        "Hallucination rate: how often there is a value where gold has none. Lower is better.",
        "S / (S+A)",
    ),
    "mr": ("Missing rate: how often there is no value where gold has one. Lower is better.", "M / (C+W+M)"),
    "rfa": ("Required-fill accuracy: the mean score where both sides have a value.", "T / (C+W)"),
    "correct": ("How many values are right.", "C"),
    "wrong": ("How many values are wrong although both sides have one.", "W"),
    "missing": ("How many values the predictions lack.", "M"),
    "spurious": ("How many values the predictions have where gold has none.", "S"),
    "absent": ("How many values neither side has.", "A"),
    "item_precision": (
        "Of the predicted list items, how many have a partner in gold.",
        "(C+W) / (C+W+S), items",
    ),
    "item_recall": ("Of the gold list items, how many were found.", "(C+W) / (C+W+M), items"),
    "item_f1": ("Item precision and item recall in one number.", "2(C+W) / (2C+2W+M+S), items"),
    "items_matched": ("How many items have a partner.", "C+W, items"),
    "items_missing": ("How many items of gold have no partner.", "M, items"),
    "items_spurious": ("How many predicted items have no partner.", "S, items"),
    "mean": ("The mean of a column of the evidence.", "sum / rows"),
    "total": ("The sum of a column of the evidence.", "sum"),
    "share_at_least": (
        "The share of values for which a column of the evidence reaches a threshold.",
        "rows at or above it / rows",
    ),
    "documents": ("How many documents were scored.", "count"),
    "documents_missing": ("How many documents have no prediction; they count as empty.", "count"),
    "documents_invalid": ("How many answers are unreadable; they count as empty.", "count"),
    "documents_error": ("How many answers are errors; they count as empty.", "count"),
    "documents_timeout": ("How many answers timed out; they count as empty.", "count"),
    "documents_repaired": ("How many answers had to be repaired before they could be read.", "count"),
    "documents_unparsed": ("How many answers could not be read as a record.", "count"),
    "failed": ("How many judgements failed; they count in no other metric.", "count"),
    "structure_errors": ("How often the prediction has the wrong JSON type.", "count"),
    "unreadable_gold": (
        "How many gold values do not fit their type; they are compared as text.",
        "count",
    ),
    "check_violations": ("How often predictions violate a check of the spec.", "count"),
    "documents_with_violations": ("In how many documents a check is violated.", "count"),
    "latency_p50": ("Half of the documents take no longer than this.", "median of the duration"),
    "latency_p90": ("Nine of ten documents take no longer than this.", "90th percentile of the duration"),
    "latency_p95": ("95 of 100 documents take no longer than this.", "95th percentile of the duration"),
    "latency_p99": ("99 of 100 documents take no longer than this.", "99th percentile of the duration"),
    "latency_min": ("The shortest time for a document.", "least duration"),
    "latency_max": ("The longest time for a document.", "greatest duration"),
    "latency_mean": ("The mean time for a document.", "sum of durations / documents"),
    "throughput": ("Documents per minute, one after the other.", "documents / sum of durations"),
    "cost_usd": ("What one document costs on average.", "sum of costs / documents with a known cost"),
    "cost_usd_total": ("What all documents together cost.", "sum of costs"),
    "prompt_tokens": ("The mean prompt tokens of a document.", "mean of usage.prompt_tokens"),
    "prompt_tokens_sum": ("The prompt tokens of all documents together.", "sum of usage.prompt_tokens"),
    "completion_tokens": ("The mean completion tokens of a document.", "mean of usage.completion_tokens"),
    "completion_tokens_sum": (
        "The completion tokens of all documents together.",
        "sum of usage.completion_tokens",
    ),
    "embedding_tokens": ("The mean embedding tokens of a document.", "mean of usage.embedding_tokens"),
    "embedding_tokens_sum": (
        "The embedding tokens of all documents together.",
        "sum of usage.embedding_tokens",
    ),
    "total_tokens": ("The mean tokens of a document.", "mean of usage.total_tokens"),
    "total_tokens_sum": ("The tokens of all documents together.", "sum of usage.total_tokens"),
    "out_of_type": ("How many predicted values do not fit their type.", "count"),
    "out_of_type_rate": (
        "The share of predicted values that do not fit their type.",
        "out of type / (C+W+S)",
    ),
    "weighted_precision": (
        "The mean precision of the fields, each weighted by its support.",
        "sum of precision x support / sum of support",
    ),
    "weighted_recall": (
        "The mean recall of the fields, each weighted by its support.",
        "sum of recall x support / sum of support",
    ),
    "weighted_f1": (
        "The mean F1 of the fields, each weighted by its support.",
        "sum of F1 x support / sum of support",
    ),
    "support": ("How many values gold has.", "C+W+M"),
}
"""Metric -> its meaning, and its formula in the letters above."""


# Sentences about numbers: a value with its interval, and the comparison of two systems.

_NAME = 60
_MOST_NEEDED = 10_000_000


def describe_estimate(estimate: Estimate) -> str:
    """Return a value with its interval, or with its n where it has none.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> more = ((0.8, 0.95), 0.95, ("few_documents",))
    >>> describe_estimate(Estimate("f1", "a", None, {}, None, 0.9, 12, 12, 0, None, {}, *more))
    '90.0% (95% CI 80.0 to 95.0; only 12 documents, so the interval may be too narrow)'
    """
    if estimate.value is None:
        return "undefined (n = 0)"
    interval = describe_interval(estimate.interval, estimate.level, estimate.unit) or f"n = {estimate.n:,}"
    only = f"; only {format_count(estimate.documents, 'document')}"
    reasons = {
        "few_documents": only,
        "few_large_documents": "; a few documents are far larger than the others",
    }
    few = next(
        (
            f"{why}, so the interval may be too narrow"
            for mark, why in reasons.items()
            if mark in estimate.marks
        ),
        "",
    )
    return f"{format_in_unit(estimate.value, estimate.unit)} ({interval}{few})"


def describe_interval(interval: Sequence[float] | None, level: float | None, unit: str = "ratio") -> str:
    """Return an interval of values, shares in percent; the empty text where there is none.

    >>> describe_interval((0.938, 0.958), 0.95), describe_interval(None, None)
    ('95% CI 93.8 to 95.8', '')
    """
    return "" if interval is None else f"{format_share(level or 0.95)} CI {format_bounds(interval, unit)}"


def describe_comparison(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return one comparison as a sentence; `names` are those of metrics in reports.

    >>> from fieldassay.metrics.result.verdicts import Comparison
    >>> comparison = Comparison("accuracy", None, {}, ("llama", "qwen"), (0.8, 0.861), 0.061, (0.02, 0.104),
    ...     0.95, 0.004, 0.004, 0.4, 20, 9, 71, 100, "halves", "better", interval_guarded=(0.01, 0.11))
    >>> describe_comparison(comparison)
    'qwen is better than llama by 6.1 points of accuracy (95% CI 2.0 to 10.4, p = .004)'

    Where the guarded interval includes 0, the sentence is about documents like these.
    """
    first, second = (clip(name, _NAME) for name in comparison.systems)
    metric = describe_metric(comparison, names)
    if comparison.verdict == "undefined" or comparison.difference is None:
        lacking = [
            name for name, value in zip((first, second), comparison.values, strict=True) if value is None
        ]
        which = " and ".join(lacking)
        return f"{second} and {first} cannot be compared in {metric}: it is undefined for {which}"
    if comparison.verdict == "identical":
        counted = format_count(comparison.documents, "document")
        there = f"in this {counted[2:]}" if comparison.documents == 1 else f"in these {counted}"
        bounds = _bounds(comparison, 1.0).removeprefix(", ")
        return f"{second} and {first} are identical in {metric} {there}{f' ({bounds})' if bounds else ''}"
    if comparison.verdict == "no_difference_shown":
        detail = (
            f"{_signed(comparison)}{_bounds(comparison, 1.0)}, {describe_p(comparison)}, "
            f"n = {comparison.documents:,}"
        )
        return f"no clear difference between {first} and {second} in {metric} ({detail})"
    bounds = _bounds(comparison, 1.0 if comparison.difference > 0 else -1.0).removeprefix(", ")
    detail = (
        f"{bounds}, {describe_p(comparison)}"
        if bounds
        else f"{describe_p(comparison)}, n = {comparison.documents:,}"
    )
    scope = "" if comparison.is_guarded else " on documents like these"
    return (
        f"{second} is {comparison.verdict} than {first} by {_size(comparison)} of {metric}{scope} ({detail})"
    )


def describe_power(comparison: Comparison) -> str:
    r"""Return the detectable difference where none was shown, and the documents needed for this one.

    >>> from fieldassay.metrics.result.verdicts import Comparison
    >>> comparison = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.81), 0.01, (-0.01, 0.03), 0.95, 0.4, 0.4,
    ...     0.1, 3, 4, 93, 100, "halves", "no_difference_shown", 0.05, 0.03, 0.09, 840)
    >>> print(describe_power(comparison).replace(". ", ".\n"))
    100 documents are likely to show only differences above about 3.0 points.
    To show 1.0 points you need about 840 documents
    """
    if comparison.verdict != "no_difference_shown" or comparison.interval is None:
        return ""
    if comparison.detectable is None:
        return describe_least(
            comparison.documents, comparison.p_needed or 1.0 - comparison.level, comparison.families
        )
    least, count = (
        format_size(comparison.detectable, comparison.unit),
        format_count(comparison.documents, "document"),
    )
    sentence = f"{count} are likely to show only differences above about {least}"
    smaller, needed = (
        format_points(comparison.difference or 0.0, comparison.unit),
        comparison.documents_needed or 0,
    )
    if comparison.documents < needed < _MOST_NEEDED and smaller.strip("0.,"):
        sentence += (
            f". To show {_size(comparison)} you need about {format_count(_round_up(needed), 'document')}"
        )
    elif not needed and comparison.documents < FEWEST_EFFECTIVE:
        sentence += f". Score {FEWEST_EFFECTIVE} or more to learn how many you need"
    return sentence


def describe_power_of_fields(family: Sequence[Comparison]) -> str:
    """Return the change that is found in any field without a shown one; empty if all are shown."""
    open_ = [
        comparison
        for comparison in family
        if comparison.verdict == "no_difference_shown" and comparison.detectable is not None
    ]
    if not open_:
        return ""
    least = format_size(max(comparison.detectable or 0.0 for comparison in open_), open_[0].unit)
    return f"in fields marked “not shown”, only changes above about {least} are likely to show"


def describe_metric(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the metric of a comparison with its field and its slice."""
    metric = clip((names or {}).get(comparison.metric, comparison.metric), 80)
    field = f" of {clip(comparison.field, 40)}" if comparison.field is not None else ""
    where = "".join(f" where {clip(key, 30)} is {clip(value, 40)}" for key, value in comparison.slice.items())
    return f"{metric}{field}{where}"


def describe_places(place: RankPlace) -> str:
    """Return the places that a system may have.

    >>> from fieldassay.metrics.result.verdicts import RankPlace
    >>> describe_places(RankPlace("a", 0.5, 1, 3)), describe_places(RankPlace("a", 0.5, 2, 2))
    ('1 to 3', '2')
    """
    return str(place.first) if place.first == place.last else f"{place.first} to {place.last}"


def describe_first(ranking: Ranking) -> str:
    """Return the value of the first of a ranking on new documents, and its chance to be first; else empty.

    >>> from fieldassay.metrics.result.verdicts import RankPlace, Ranking
    >>> places = (RankPlace("qwen", 0.92, 1, 2, 0.55), RankPlace("llama", 0.9, 1, 2, 0.45))
    >>> describe_first(Ranking("accuracy", places, (), 0.95, 100, on_new_documents=0.884))
    'In 55% of resamples qwen comes first. Expect about 88.4% on new documents'
    """
    first = ranking.places[0] if ranking.places else None
    if first is None or first.value is None or first.chance_first is None or ranking.on_new_documents is None:
        return ""
    there, often = format_in_unit(ranking.on_new_documents, ranking.unit), f"{100 * first.chance_first:.0f}%"
    name = clip(first.system, _NAME)
    return f"In {often} of resamples {name} comes first. Expect about {there} on new documents"


def describe_p(comparison: Comparison) -> str:
    """Return the adjusted p value."""
    return format_p(1.0 if comparison.p_adjusted is None else comparison.p_adjusted)


def _bounds(comparison: Comparison, sign: float) -> str:
    if comparison.interval_shown is None:
        return ""
    low, high = (
        format_signed_points(sign * bound, comparison.unit).removeprefix("+")
        for bound in sorted(comparison.interval_shown, key=lambda bound: sign * bound)
    )
    few = ", few documents" if "few_documents" in comparison.marks else ""
    return f", {format_share(comparison.level)} CI {low} to {high}{few}"


def _signed(comparison: Comparison) -> str:
    return f"{format_difference(comparison.difference or 0.0, comparison.unit)}{_other_unit(comparison.unit)}"


def _size(comparison: Comparison) -> str:
    return f"{format_size(comparison.difference or 0.0, comparison.unit)}{_other_unit(comparison.unit)}"


def _other_unit(unit: str) -> str:
    """Return the name of a unit that no metric of the catalogue has."""
    return "" if points_of(unit) or unit == "count" else f" {clip(unit, 30)}"


def _round_up(count: int) -> int:
    """Return a count that comes from an estimate with two significant digits.

    >>> _round_up(15053), _round_up(43)
    (16000, 43)
    """
    unit = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // unit) * unit
