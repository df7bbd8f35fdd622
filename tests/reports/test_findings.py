"""Sentences: each claim comes with the interval that carries it, and nobody leads by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.reports.findings import (
    join_names,
    say_difference,
    say_estimate,
    say_number,
    tell_comparison,
    tell_verdict,
)
from fieldassay.result.comparison import VERDICTS, Comparison
from fieldassay.result.estimate import Estimate

QWEN = Comparison(
    metric="accuracy", field=None, slice={}, systems=("llama", "qwen"), values=(0.8, 0.861), difference=0.061,
    interval=(0.02, 0.104),
    level=0.95, p=0.004, p_adjusted=0.008, effect_size=0.4, wins=20, losses=9, ties=71, documents=100,
    method="sign_flip", verdict="better",
    detectable=0.05,
)  # fmt: skip
FOUND = "+6.1 points (95 %: 2.0 to 10.4, p = .008)"
IN_TIME: dict[str, Any] = {"unit": "ms", "difference": 250.0, "interval": (100.0, 400.0)}
LATER: dict[str, Any] = {"difference": -0.061, "interval": (-0.104, -0.02), "verdict": "worse"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param({}, f"qwen leads llama in accuracy: {FOUND}", id="better"),
        pytest.param(LATER, f"llama leads qwen in accuracy: {FOUND}", id="worse: the other leads"),
        pytest.param({"slice": {"type": "invoice"}},
            f"qwen leads llama on invoice (type) in accuracy: {FOUND}", id="slice"),
        pytest.param({"field": "total"}, f"qwen leads llama in accuracy of total: {FOUND}", id="field"),
        pytest.param(
            {"verdict": "no_difference_shown", "difference": 0.003, "interval": (-0.01, 0.016),
             "p_adjusted": 0.6},
            "No difference could be shown between llama and qwen in accuracy: qwen stands at +0.3 points "
            "(95 %: −1.0 to 1.6, p = .60);"
            " with 100 documents a difference of 5.0 points would have been found four times out of five",
            id="no difference shown",
        ),
        pytest.param(
            {"verdict": "no_difference_shown", "marks": ("few_documents",), "documents": 6},
            "No difference could be shown between llama and qwen in accuracy: qwen stands at"
            " +6.1 points (95 %: 2.0 to 10.4, p = .008, only 6 documents)",
            id="few documents: no word on what would have been found",
        ),
        pytest.param({"verdict": "identical", "difference": 0.0},
            "llama and qwen are the same in accuracy in all 100 documents", id="identical"),
        pytest.param({"verdict": "undefined"},
            "llama and qwen cannot be compared in accuracy: a value is undefined", id="undefined"),
        pytest.param({"interval": None}, "qwen leads llama in accuracy: +6.1 points (n = 100, p = .008)",
            id="no interval"),
        pytest.param(IN_TIME, "qwen leads llama in accuracy: +250 ms (95 %: 100 to 400, p = .008)",
            id="unit"),
    ],
)  # fmt: skip
def test_comparisons_in_words(changes: dict[str, Any], sentence: str) -> None:
    assert tell_comparison(replace(QWEN, **changes), {}) == sentence


@given(st.sampled_from(VERDICTS), st.floats(-1, 1), st.floats(0, 1))
def test_nobody_leads_without_a_verdict(verdict: Any, difference: float, p: float) -> None:
    sentence = tell_comparison(replace(QWEN, verdict=verdict, difference=difference, p_adjusted=p), {})
    assert ("leads" in sentence) == (verdict in ("better", "worse"))
    assert "leads" not in sentence or "95 %" in sentence


ONE = Estimate(
    "accuracy", "a", None, {}, "filled", 0.9, 120, 40, 0, "leaf", interval=(0.85, 0.94), level=0.95
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "90.0 % (95 %: 85.0 to 94.0)"),
        ({"interval": None}, "90.0 % (n = 120)"),
        ({"value": None, "n": 0}, "undefined (n = 0)"),
        (
            {"documents": 7, "marks": ("few_documents",)},
            "90.0 % (95 %: 85.0 to 94.0; only 7 documents, so the interval is too narrow)",
        ),
        ({"value": 1234.0, "unit": "ms", "interval": (1000.0, 1500.0)}, "1,234 ms (95 %: 1,000 to 1,500)"),
        ({"value": 90.0, "unit": "percent", "interval": (85.0, 94.0)}, "90.0 % (95 %: 85.0 to 94.0)"),
    ],
)
def test_a_value_comes_with_what_it_stands_on(changes: dict[str, Any], text: str) -> None:
    assert say_estimate(replace(ONE, **changes)) == text


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
    assert tell_verdict([{"system": system, "answer": answer} for system, answer in answers]) == sentence


def test_zero_has_no_sign() -> None:
    assert (say_difference(0.0, "ratio"), say_difference(-0.0001, "ratio"), say_number(0.0, "usd")) == (
        "0.0 points",
        "0.0 points",
        "0 USD",
    )


def test_names_are_joined_as_people_do() -> None:
    assert [join_names(list("abcdef")[:count]) for count in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
