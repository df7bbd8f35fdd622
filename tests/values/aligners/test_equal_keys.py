"""Aligning by key: what is paired where keys are equal, missing, or no keys at all."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score
from fieldassay.values.aligners.key import Key


def count(
    gold: list[Any], predicted: list[Any], options: dict[str, Any], metric: str = "items_matched"
) -> Any:
    fields = {"k": "text", "a": "text", "b": "text"}
    listed = {
        "items": {"fields": fields},
        "align": {"key": {"fields": "k", **options}},
        "combine": "agreement",
    }
    result = score(
        [{"id": 1, "x": gold}],
        [{"id": 1, "x": predicted}],
        {"fields": {"x": listed}, "metrics": [metric]},
        ScoreOptions(replicates=0),
    )
    return next(estimate.value for estimate in result.estimates if estimate.field is None)


@pytest.mark.parametrize(
    ("gold", "predicted", "keyless", "matched"),
    [
        ({"a": "1"}, {"a": "1"}, "alike", 1),
        ({"a": "1"}, {"a": "2"}, "alike", 0),
        ({"a": "1"}, {"a": "2"}, "equal", 1),
        ({"k": "x", "a": "1"}, {"a": "1"}, "equal", 0),
        ("word", "word", "equal", 1),
        ("word", "other", "equal", 0),
        ("word", {"a": "1"}, "equal", 0),
        ("word", "other", "alike", 0),
    ],
    ids=str,
)
def test_items_without_a_key_pair_as_keyless_says(
    gold: Any, predicted: Any, keyless: str, matched: int
) -> None:
    assert count([gold], [predicted], {"keyless": keyless}) == matched


@pytest.mark.parametrize("seed", range(20))
def test_equal_keys_pair_so_that_most_fields_are_right(seed: int) -> None:
    draw = Random(seed)
    gold, predicted = (
        [{"k": "x", **{name: draw.choice(["1", "2", "3"]) for name in "ab"}} for _ in range(5)]
        for _ in range(2)
    )
    right = [[sum(one[name] == other[name] for name in "ab") for other in predicted] for one in gold]
    best = max(sum(right[at][to] for at, to in enumerate(order)) for order in permutations(range(5)))
    assert count(gold, predicted, {}, 'correct(fields="a|b")') == best


def test_silence_in_a_filled_field_decides_only_among_equally_good_pairings() -> None:
    gold = [{"k": "x", "a": "1"}, {"k": "x", "b": "1"}]
    assert count(gold, [{"k": "x", "b": "1"}], {"filled": ["b"]}, "correct(fields=b)") == 1
    assert count(gold, [{"k": "x", "a": "1"}], {"filled": ["b"]}, "correct(fields=a)") == 1


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="keyless is 'never'"):
        Key(("k",), keyless="never")  # type: ignore[arg-type]
    with pytest.raises(ProblemsError, match="the items have no field 'zzz'"):
        count([], [], {"filled": ["zzz"]})
