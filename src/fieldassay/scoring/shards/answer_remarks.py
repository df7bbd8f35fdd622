"""Remarks for the user on how readable the scored answers were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fieldassay.io.text.shown import clip

_LONGEST = 60

_REMARKS: Mapping[str, str] = {
    "several_blocks": (
        "held several objects; the one with most declared keys was taken, of equals that with most "
        "readable values, or the last"
    ),
    "fields_apart": (
        "held their fields in several objects, of which only one was taken; put the fields of a "
        "document into one object"
    ),
    "truncated": "were cut off; they were judged as far as they go",
    "wrapped": "had their record in another object, which was taken off",
    "several_wrapped": (
        "had no declared key and several objects inside that have some, of which none was taken; name its "
        "key: `data: {pred_key: KEY}`"
    ),
    "json_in_text": "had texts in place of lists or objects; what stands in the texts was taken",
    "one_text": (
        "gave a text in place of a list of texts, which counts as one item; give a list, or set `separator`"
    ),
    "inside_thinking": (
        "had their record in a thought that is never closed; it was taken, since there was nothing else"
    ),
    "value_object": (
        "gave values as objects with a confidence; the values were judged, and the confidences are theirs"
    ),
    "without_json": (
        "hold values that JSON cannot, such as bytes; in a declared field each is of the wrong kind"
    ),
    "confidence_beside": "had keys FIELD_confidence; they were taken as the confidences of those fields",
    "confidence_in_words": (
        "had confidences in words, such as 'high'; they were not taken, since no number belongs to them"
    ),
}
"""The remarks on repairs that choose the answer object or provide a confidence."""


MOST_NAMED = 3
NAMED = (
    "fields_apart",
    "truncated",
    "without_json",
    "json_in_text",
    "one_text",
    "wrapped",
    "several_wrapped",
)
"""Repairs whose first documents are named, since their answers need a look or a new extraction."""


def remark_repairs(
    system: str,
    answers: int,
    repairs: Mapping[str, int],
    first: Mapping[str, Sequence[str]],
    noun: str = "answers",
) -> list[str]:
    """Return a sentence for each noteworthy kind of repair; `first` has the first documents of `NAMED`.

    >>> remark_repairs("m", 60, {"truncated": 2, "trailing_comma": 3}, {"truncated": ["a", "b"]})
    ['m: 2 of 60 answers were cut off; they were judged as far as they go (a, b)']
    """
    return [
        f"{system}: {repairs[name]:,} of {answers:,} {noun} "
        f"{told}{_listed(first.get(name, ()), repairs[name])}"
        for name, told in _REMARKS.items()
        if repairs.get(name)
    ]


def _listed(documents: Sequence[str], count: int) -> str:
    more = f" and {count - MOST_NAMED:,} more" if count > MOST_NAMED else ""
    return (
        f" ({', '.join(clip(name, _LONGEST) for name in documents[:MOST_NAMED])}{more})" if documents else ""
    )
