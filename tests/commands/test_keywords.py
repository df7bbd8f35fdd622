"""Options of `score` as keywords: the same as in the options objects."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import fields

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.scoring.inputs.options import InputOptions, ScoreOptions, with_keywords

SPEC = "fields: {shop: text, total: money}"
GOLD = [
    {"id": "a", "gold": {"shop": "Oak", "total": 1}, "kind": "x"},
    {"id": "b", "gold": {"shop": "Elm", "total": 2}, "kind": "y"},
]
PRED = [
    {"id": "a", "answer": {"shop": "Oak", "total": 9}},
    {"id": "b", "answer": {"shop": "Elm", "total": 2}},
]

KEYWORDS: dict[str, tuple[dict[str, Any], ScoreOptions]] = {
    "keys": ({"pred_key": "answer", "gold_key": "gold"}, ScoreOptions(inputs=InputOptions("gold", "answer"))),
    "a list": ({"only": ["a", "b"]}, ScoreOptions(only=("a", "b"))),
    "a text for a list": (
        {"metrics": "f1", "where": "kind=x"},
        ScoreOptions(metrics=("f1",), inputs=InputOptions(where=("kind=x",))),
    ),
    "inputs and one of them": (
        {"inputs": InputOptions(gold_key="g"), "pred_key": "p"},
        ScoreOptions(inputs=InputOptions("g", "p")),
    ),
    "nothing": ({}, ScoreOptions()),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_are_the_options_of_their_names(name: str) -> None:
    given, wanted = KEYWORDS[name]
    assert with_keywords(ScoreOptions(), given) == wanted


def test_no_name_is_an_option_of_both_classes() -> None:
    names = [part.name for kind in (ScoreOptions, InputOptions) for part in fields(kind)]
    assert len(names) == len(set(names))


def test_score_takes_keywords_with_and_without_options() -> None:
    keys = {"pred_key": "answer", "gold_key": "gold"}
    assert score(GOLD, PRED, SPEC, replicates=0, **keys).value("accuracy") == 0.75
    assert score(GOLD, PRED, SPEC, ScoreOptions(replicates=0), limit=1, **keys).value("accuracy") == 0.5
    assert score(GOLD, PRED, SPEC, replicates=0, fields="shop", **keys).value("accuracy") == 1.0


def test_every_keyword_that_is_no_option_is_named_with_the_nearest() -> None:
    with pytest.raises(ProblemsError) as caught:
        score(GOLD, PRED, SPEC, predkey="answer", metrcs=["f1"])
    assert str(caught.value).splitlines() == [
        "score: no option 'predkey'; did you mean 'pred_key'?",
        "score: no option 'metrcs'; did you mean 'metrics'?",
    ]
