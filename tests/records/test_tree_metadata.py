"""In a tree without declared fields, possible keys of metadata are data on both sides, if in gold."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judging import score_alone as score

TREE = {"type": "any", "fields": {"**": {"type": "any"}}}
PAIRS: dict[str, tuple[Any, Any]] = {
    "confidence": (0.9, 0.1),
    "variant": ("a", "b"),
    "tags": (["a"], ["b"]),
    "difficulty": ("hard", "easy"),
    "error": ("none", "some"),
    "timing": ({"duration_ms": 5}, {"duration_ms": 6}),
    "usage": ({"model": "a"}, {"model": "b"}),
    "parse_success": (True, False),
    "processing_time": (1.5, 2.5),
    "raw": ("r1", "r2"),
}


@pytest.mark.parametrize("key", PAIRS)
def test_a_key_that_gold_has_as_data_is_judged(key: str) -> None:
    right, wrong = PAIRS[key]
    gold = [{"id": "1", "v": "A", key: right}]
    assert score(gold, [{"id": "1", "v": "A", key: right}], TREE).value("accuracy") == 1.0
    assert score(gold, [{"id": "1", "v": "A", key: wrong}], TREE).value("accuracy") < 1.0


@pytest.mark.parametrize("key", ["error", "raw", "parse_success"])
def test_a_prediction_that_holds_only_a_failure_has_failed(key: str) -> None:
    right, _ = PAIRS[key]
    result = score(
        [{"id": "1", "v": "A", key: right}],
        [{"id": "1", key: False if key == "parse_success" else "timeout"}],
        TREE,
    )
    assert (result.value("accuracy"), result.counts["systems"]["prediction"]["classes"]["scored"]) == (0.0, 0)


@pytest.mark.parametrize("key", sorted(PAIRS.keys() - {"error", "raw", "parse_success"}))
def test_a_tree_of_nothing_else_is_read(key: str) -> None:
    right, _ = PAIRS[key]
    assert score([{"id": "1", key: right}], [{"id": "1", key: right}], TREE).value("accuracy") == 1.0


def test_a_key_that_gold_never_has_stands_beside_the_prediction() -> None:
    rows = [{"id": "1", "v": "A", "confidence": 0.9, "timing": {"duration_ms": 5}}]
    result = score([{"id": "1", "v": "A"}], rows, TREE)
    assert result.value("accuracy") == 1.0
    assert result.documents is not None and result.documents["duration_ms"].to_list() == [5.0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("critical_fields", ["v"]),
        ("illegible_fields", ["w"]),
        ("unreviewed_fields", ["w"]),
        ("acceptable_variations", {"v": ["B"]}),
    ],
    ids=["critical", "illegible", "unreviewed", "accepted"],
)
def test_what_is_taken_as_metadata_of_a_tree_is_said(key: str, value: Any) -> None:
    result = score([{"id": "1", "v": "A", key: value}], [{"id": "1", "v": "A"}], TREE)
    assert [note for note in result.notes if f"{key} is taken as metadata in 1 gold record;" in note]


def test_what_stands_beside_a_keyed_tree_stays_metadata_without_a_note() -> None:
    gold = [
        {
            "test_case_id": "c",
            "expected_extraction": {"v": "A"},
            "critical_fields": ["v"],
            "difficulty": "hard",
        }
    ]
    result = score(gold, [{"id": "c", "extraction": {"v": "A"}}], {"protocol": "engineering-extractor"})
    assert (result.value("overall_accuracy"), result.notes) == (1.0, ())


MIXED = {"flow": {"value": 5}, "confidence": 0.9, "tags": ["a", "b"], "timing": {"duration_ms": 5}}


@pytest.mark.parametrize(
    "row", [{"id": "c", **MIXED}, {"id": "c", "extraction": MIXED}], ids=["bare", "keyed"]
)
@pytest.mark.parametrize("tree", [MIXED, {"confidence": 0.9}], ids=["mixed", "nothing else"])
def test_a_bare_prediction_of_the_engineering_protocol_loses_no_leaf(tree: dict, row: dict) -> None:
    row = {"id": "c", **tree} if "extraction" not in row else {"id": "c", "extraction": tree}
    result = score(
        [{"test_case_id": "c", "expected_extraction": tree}], [row], {"protocol": "engineering-extractor"}
    )
    assert result.value("complete_accuracy") == 1.0


@pytest.mark.parametrize("key", ["critical_fields", "acceptable_variations"])
def test_a_key_of_gold_alone_that_no_gold_tree_has_is_data_in_predictions(key: str) -> None:
    value = ["v"] if key == "critical_fields" else {"v": ["B"]}
    result = score(
        [{"id": "1", "v": "A"}],
        [{"id": "1", "v": "A", key: value}],
        'fields: {"**": {type: any}}',
        replicates=0,
    )
    assert (result.value("accuracy"), result.value("recall")) == (0.5, 1.0)
