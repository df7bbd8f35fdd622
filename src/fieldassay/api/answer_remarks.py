"""What a user should know of how the answers that were scored could be read."""

from __future__ import annotations

from collections.abc import Mapping

_REMARKS: Mapping[str, str] = {
    "several_blocks": "held several objects; the one with most declared keys was taken, the last of equals",
    "inside_thinking": "had their record in a thought that is never closed; it was taken, since there was nothing else",
    "value_object": "gave values as objects with a confidence; the values were judged, and the confidences are theirs",
    "confidence_beside": "had keys FIELD_confidence; they were taken as the confidences of those fields",
    "confidence_in_words": "had confidences in words, such as 'high'; they were not taken, since no number belongs to them",
}
"""What is said of repairs that decide which object is the answer, or where a confidence comes from."""


def remark_repairs(system: str, answers: int, repairs: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of repair that a reader should know of.

    >>> remark_repairs("m", 60, {"several_blocks": 50, "trailing_comma": 3})
    ['m: 50 of 60 answers held several objects; the one with most declared keys was taken, the last of equals']
    """
    return [f"{system}: {repairs[name]:,} of {answers:,} answers {told}" for name, told in _REMARKS.items() if repairs.get(name)]
