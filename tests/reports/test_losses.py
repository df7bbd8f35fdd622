"""Losses: what every kind of wrong costs adds up to what is missing to a perfect score."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.api.options import ScoreOptions
from fieldassay.reports.findings import tell_loss
from fieldassay.reports.losses import find_losses
from fieldassay.result.result import Result

SPEC = "fields: {a: text, b: {type: text, compare: indel}, c: {type: list, items: text, align: assignment}}"
_WORDS = st.sampled_from(["one", "two", "ones", ""])
_RECORD = st.fixed_dictionaries({"a": _WORDS, "b": _WORDS, "c": st.lists(_WORDS, max_size=3)})


def scored(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> Result:
    gold = [{"id": str(place), **first} for place, (first, _) in enumerate(pairs)]
    return score(gold, [{"id": str(place), **second} for place, (_, second) in enumerate(pairs)], SPEC, ScoreOptions(replicates=0))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(_RECORD, _RECORD), min_size=1, max_size=8))
def test_losses_add_up_to_what_accuracy_lacks(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    result = scored(pairs)
    assert result.evidence is not None
    assert result.documents is not None
    accuracy = result.value("accuracy")
    lost = find_losses(result.evidence.lazy(), result.documents, result.systems, most=10_000)["prediction"]
    assert sum(loss.points for loss in lost) == pytest.approx(0 if accuracy is None else 1 - accuracy, abs=1e-9)
    assert [loss.points for loss in lost] == sorted((loss.points for loss in lost), reverse=True)
    for loss in lost:
        assert loss.interval is not None
        low, high = loss.interval
        assert 0 <= low <= high <= 1
        assert 1 <= loss.documents <= loss.of


def test_a_loss_says_what_it_stands_on() -> None:
    gold = {"a": "one", "b": "two", "c": []}
    result = scored([(gold, {**gold, "a": ""} if place < 10 else gold) for place in range(40)])
    assert result.evidence is not None
    assert result.documents is not None
    [loss] = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    assert loss.points == pytest.approx(10 / 40 / 2)
    assert tell_loss(loss).startswith(
        "a: the prediction has no value, in 10 values of 10 documents. It costs 12.5 points of accuracy (95 %: "
    )
    assert loss.interval is not None
    assert loss.interval[0] < loss.points < loss.interval[1]


def test_few_documents_are_said_to_be_few() -> None:
    gold = {"a": "one", "b": "two", "c": []}
    result = scored([(gold, {**gold, "a": ""})] * 3)
    assert result.evidence is not None
    assert result.documents is not None
    [loss] = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    assert "only 3 documents" in tell_loss(loss)
