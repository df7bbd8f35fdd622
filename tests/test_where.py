"""`where`: the documents whose gold has a value are judged, and the run says which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.inputs.options import InputOptions, ScoreOptions

SPEC = (
    "name: r\nfields: {kind: text, shop: text, total: money}\ndocument_type: {field: kind, aliases: "
    "{invoice: [tax invoice], receipt: [slip]}}\n"
)
GOLD: list[dict[str, Any]] = [
    {"id": "a", "kind": "invoice", "difficulty": "easy", "tags": ["scan"], "shop": "Oak", "total": 1},
    {
        "id": "b",
        "kind": "tax invoice",
        "difficulty": "hard",
        "tags": ["scan", "fax"],
        "shop": "Elm",
        "total": 2,
    },
    {"id": "c", "kind": "receipt", "difficulty": "hard", "shop": "Ash", "total": 3},
    {"id": "d", "kind": "receipt", "difficulty": "easy", "shop": "Fir", "total": 4},
]
PRED = [
    {"id": row["id"], "kind": "invoice", "difficulty": "odd", "shop": row["shop"], "total": 1} for row in GOLD
]


def scored(*where: str, spec: str = SPEC, predictions: Any = PRED, **options: Any) -> Result:
    return score(
        GOLD,
        {"m": predictions},
        spec,
        ScoreOptions(replicates=0, inputs=InputOptions(where=where), **options),
    )


CHOICES = {
    "a gold value, as it is written": (["kind=invoice"], "a"),
    "the type, by its aliases": (["type=invoice"], "ab"),
    "or within a key": (["kind=invoice", "kind=receipt"], "acd"),
    "and between keys": (["type=invoice", "difficulty=hard"], "b"),
    "metadata": (["difficulty=hard"], "bc"),
    "a tag among several": (["tag=scan"], "ab"),
    "a number": (["total=3"], "c"),
    "blanks around": ([" kind = receipt "], "cd"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_documents_are_those_whose_gold_has_the_values(name: str) -> None:
    where, ids = CHOICES[name]
    found = scored(*where)
    assert "".join(found.documents["doc"]) == ids
    assert found.counts["documents"] == len(ids)
    assert f"gold: {len(ids)} of 4 documents: " in found.notes[0]


def test_the_numbers_are_those_of_the_slice() -> None:
    whole = score(GOLD, {"m": PRED}, SPEC, ScoreOptions(replicates=0, slices=("type",)))
    in_slice = next(
        one for one in whole.estimates if one.metric == "accuracy" and one.slice == {"type": "receipt"}
    )
    assert scored("type=receipt").value("accuracy") == in_slice.value


def test_predictions_of_documents_left_out_are_not_unmatched_and_strangers_still_are() -> None:
    found = scored("type=receipt", predictions=[*PRED[:3], {"id": "z", "shop": "Yew"}])
    assert found.counts["systems"]["m"]["unmatched"] == 1
    assert found.counts["systems"]["m"]["missing"] == 1
    assert [note for note in found.notes if "no gold" in note] == [
        "m: 1 of 4 predictions have no gold (such as 'z') and are left out"
    ]
    assert any("1 of 2 documents have no prediction by m (such as 'd')" in note for note in found.notes)


def test_a_system_without_any_prediction_of_the_chosen_documents_is_judged_as_empty() -> None:
    assert scored("type=receipt", predictions=PRED[:1]).counts["systems"]["m"]["missing"] == 2


def test_a_field_that_is_not_scored_can_choose_and_limit_takes_the_first_chosen() -> None:
    assert "".join(scored("kind=receipt", fields=("shop",)).documents["doc"]) == "cd"
    assert "".join(scored("kind=receipt", limit=1).documents["doc"]) == "c"


WRONG = {
    "no equals sign": (["kind"], "'kind' is no condition; write KEY=VALUE"),
    "no value": (["kind="], "'kind=' is no condition"),
    "key": (
        ["knd=x"],
        "no document has the key 'knd' of where; its keys: type, tag, difficulty, kind, shop, total",
    ),
    "value": (["difficulty=harder"], "no document has difficulty=harder; its values: easy (2), hard (2)"),
    "both": (
        ["kind=invoice", "total=3"],
        "no document has kind=invoice and total=3; leave out one of these conditions",
    ),
    "value of predictions only": (["difficulty=odd"], "no document has difficulty=odd"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_condition_that_no_document_meets_is_an_error_that_lists_what_there_is(name: str) -> None:
    where, told = WRONG[name]
    with pytest.raises(ProblemsError) as caught:
        scored(*where)
    assert told in str(caught.value)
    assert {problem.kind for problem in caught.value.problems} == {"where"}


def test_a_gold_record_that_cannot_be_read_is_never_left_out_in_silence(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "kind": "x"}\n{"id": "b", "kind"\n')
    with pytest.raises(ProblemsError, match="not JSON"):
        score(
            str(tmp_path / "gold.jsonl"),
            {"m": PRED},
            SPEC,
            ScoreOptions(inputs=InputOptions(where=("kind=x",))),
        )
