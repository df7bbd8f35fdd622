"""The verdict in words."""

from __future__ import annotations

import pytest

from fieldassay.reports.findings import describe_verdict


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([], "This run has no gates, so there is no verdict"),
        ([("a", "GO")], "GO for a"),
        ([("a", "NO-GO"), ("b", "GO"), ("c", "INCONCLUSIVE")], "GO for b; NO-GO for a; undecided for c"),
        ([(name, "NO-GO") for name in "abcdef"], "NO-GO for a, b, c, d and 2 more"),
        ([("a\u202e", "GO")], "GO for a\\u202e"),
    ],
)
def test_the_verdict_names_every_system(answers: list[tuple[str, str]], sentence: str) -> None:
    assert describe_verdict([{"system": system, "answer": answer} for system, answer in answers]) == sentence
