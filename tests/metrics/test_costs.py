"""What a wrong value costs: the score of its document without the error, less the score as it is."""

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay import score
from fieldassay.decisions.losses import find_losses
from fieldassay.metrics.result.result import Result


def list_losses(result: Result) -> dict[tuple[str, str], float]:
    """Return the points that a system would gain, by field and cause."""
    [losses] = find_losses(result.evidence.lazy(), result, most=99).values()
    return {(loss.field, loss.diagnosis): round(100 * loss.points, 4) for loss in losses}


def medication(name: str, **others: Any) -> dict[str, Any]:
    return {
        "nombre_medicamento": name,
        **dict.fromkeys(("dosis", "frecuencia", "duracion", "instrucciones"), "x"),
        **others,
    }


PAIR = [medication("A"), medication("B")]
# of two medications one is missed: .7 x 1/2 of the document; one of eight attributes is wrong: .3 x 1/8
PRESCRIPTIONS = {
    "a missed medication": (PAIR[:1], {("medications[]", "item_missing"): 35.0}),
    "an invented one, which the score never counts": ([*PAIR, medication("Z", duracion="")], {}),
    "an invented one beside a wrong attribute": (
        [medication("A", dosis="9"), PAIR[1], medication("Z", duracion="", dosis=None)],
        {("medications[].dosis", "different"): 3.75},
    ),
    "a wrong attribute": (
        [medication("A", dosis="9"), PAIR[1]],
        {("medications[].dosis", "different"): 3.75},
    ),
    "both, which share the attributes of what is matched": (
        [medication("A", dosis="9")],
        {("medications[]", "item_missing"): 38.75, ("medications[].dosis", "different"): 7.5},
    ),
    "no answer": (None, {("", "answer_missing"): 100.0}),
    "nothing in an answer, to which the first match brings 30 points of attributes": (
        [],
        {("", "answer_empty"): 100.0},
    ),
}


@pytest.mark.parametrize(("answer", "wanted"), PRESCRIPTIONS.values(), ids=PRESCRIPTIONS)
def test_the_losses_of_a_prescription_are_points_of_its_score(answer: Any, wanted: Any) -> None:
    rows = [] if answer is None else [{"doc_id": "1", "medications": answer}]
    gold = [{"doc_id": "1", "medications": PAIR}, {"doc_id": "2", "medications": PAIR}]
    result = score(gold, [*rows, gold[1]], {"protocol": "prescription"}, bootstrap=0)
    assert list_losses(result) == {cause: points / 2 for cause, points in wanted.items()}


XYZ = {"fields": {"x": "text", "y": "text", "z": "text"}}
GOLD_XYZ = [{"id": "a", "x": "1", "y": "2", "z": "3"}, {"id": "b", "x": "1", "y": "2"}]
LIST = {"fields": {"lines": {"align": "key: sku", "items": {"fields": {"sku": "id", "note": "text"}}}}}
TREE = {"id": "c", "expected_extraction": {"a": {"x": 1, "y": 2, "z": 3}, "b": 1, "c": 2, "d": 3}}
GAINS = {
    # F1 is 2 / 7: b mended 6 / 9, y 4 / 7, z 4 / 8
    "all documents together": (
        {**XYZ, "score": "f1"},
        GOLD_XYZ,
        [{"id": "a", "x": "1", "y": "x"}],
        {("", "answer_missing"): 38.0952, ("y", "different"): 28.5714, ("z", "missing"): 21.4286},
    ),
    # right / values is 1 / 3 in a: without z 1 / 2, with y 2 / 3
    "an invented value is one value less": (
        XYZ,
        [{"id": "a", "x": "1", "y": "2"}],
        [{"id": "a", "x": "1", "y": "x", "z": "3"}],
        {("y", "different"): 33.3333, ("z", "spurious"): 16.6667},
    ),
    "a count has no highest value: points of the accuracy": (
        {**XYZ, "score": "e", "definitions": {"e": {"formula": "wrong", "better": "lower", "unit": "count"}}},
        GOLD_XYZ[1:],
        [{"id": "b", "x": "1", "y": "x"}],
        {("y", "different"): 50.0},
    ),
    # right / (right + wrong + errors of structure) is 3 / 4; mended 6 / 6
    "an object of another kind": (
        {"protocol": "engineering-extractor"},
        [TREE],
        [{"id": "c", "extraction": {"a": "flat", "b": 1, "c": 2, "d": 3}}],
        {("a", "wrong_kind"): 25.0},
    ),
    # one of four entries, all that its document has: by itself it is 50 points of a mean over documents
    "a missed entry is its share of all": (
        {"protocol": "entry-matching"},
        [
            {"id": "1", "entries": [{"name": name, "pages": [1]} for name in "ABC"]},
            {"id": "2", "entries": [{"name": "D"}]},
        ],
        [
            {"id": "1", "entries": [{"name": name, "pages": [1]} for name in "ABC"]},
            {"id": "2", "entries": []},
        ],
        {("entries[]", "item_missing"): 25.0},
    ),
    # 2 of 6 values are right, and 2 of 2 without both items; each by itself would cost 2 / 4 - 2 / 6
    "two invented items cost what both cost together": (
        LIST,
        [{"id": "a", "lines": [{"sku": "A", "note": "x"}]}],
        [{"id": "a", "lines": [{"sku": sku, "note": "x"} for sku in "AYZ"]}],
        {("lines[]", "item_spurious"): 66.6667},
    ),
    # 2 of 6 values of all documents: with the missed item 4 of 6, without the invented one 2 of 4
    "a missed and an invented item at one place": (
        {**LIST, "score": "accuracy_pooled"},
        [{"id": name, "lines": [{"sku": name, "note": "x"}]} for name in "AB"],
        [
            {"id": "A", "lines": [{"sku": "A", "note": "x"}]},
            {"id": "B", "lines": [{"sku": "Z", "note": "y"}]},
        ],
        {("lines[]", "item_missing"): 33.3333, ("lines[]", "item_spurious"): 16.6667},
    ),
    # one of two equal pages is 2 x 1 / (2 + 1) of the highest score; with the other it is all
    "a page without an answer costs what its entries would bring to the pooled score": (
        {"protocol": "entry-matching", "score": "imq_f1"},
        [{"id": name, "entries": [{"name": name, "pages": [1]}]} for name in "ab"],
        [{"id": "a", "entries": [{"name": "a", "pages": [1]}]}],
        {("", "answer_missing"): 33.3333},
    ),
    "a record beside an error is judged": (
        XYZ,
        GOLD_XYZ[1:],
        [{"id": "b", "prediction": {"x": "1", "y": "x"}, "error": "late"}],
        {("y", "different"): 50.0},
    ),
}


@pytest.mark.parametrize(("spec", "gold", "pred", "gains"), GAINS.values(), ids=GAINS)
def test_a_cause_costs_what_the_score_gains_without_it(spec: Any, gold: Any, pred: Any, gains: Any) -> None:
    for batch in (1, 2):
        assert list_losses(score(gold, pred, spec, bootstrap=0, batch=batch)) == pytest.approx(
            gains, abs=1e-3
        )


def test_a_spurious_slot_costs_its_share_of_the_observed_slots() -> None:
    slots = {
        "incident_type": "bombing",
        "perp_individual": ["x"],
        "perp_organization": ["y"],
        "target": ["z"],
    }
    gold = [{"id": at, **slots, "weapon": []} for at in range(3)]
    pred = [{**gold[0], "weapon": ["rifle"]}, *gold[1:]]
    result = score(gold, pred, {"protocol": "slot-filling"}, bootstrap=0)
    [points] = list_losses(result).values()
    assert points == pytest.approx(100 * (1 - result.value("obs")), abs=1e-3) and 4 < points < 5


def test_two_entries_are_alike_where_either_of_their_values_is_mended() -> None:
    """1 - q is the product of the distances of names and pages: without one of them it is 0."""
    gold = {"id": "1", "entries": [{"name": "Wilson", "pages": [1, 2]}, {"name": "Adams", "pages": [3]}]}
    pred = {"id": "1", "entries": [{"name": "Wilsn", "pages": [1]}, {"name": "Adams", "pages": [3]}]}
    result = score([gold], [pred], {"protocol": "entry-matching"}, bootstrap=0)
    lacked = pytest.approx(100 * (1 - result.value("imq")), abs=1e-3)
    assert list_losses(result) == {
        ("entries[].pages", "different"): lacked,
        ("entries[].name", "accepted"): lacked,
    }


FORMULAS = {
    "recall": "recall",
    "f1": "f1",
    "slots": "accuracy(granularity=slot, regime=baseline)",
    "items": "0.5 * otherwise(item_recall, 0) + 0.5 * otherwise(accuracy_pooled(fields=total), 0)",
    "lower": "1 - accuracy_pooled",
}
WORD = st.sampled_from(["one", "two", "three"])
ITEMS = st.lists(
    st.fixed_dictionaries({"sku": st.sampled_from("ABCD"), "note": WORD}),
    max_size=3,
    unique_by=lambda one: one["sku"],
)
RECORD = st.fixed_dictionaries({"total": WORD, "place": WORD, "lines": ITEMS})


def spec_of(formula: str) -> dict[str, Any]:
    items = {"type": "list", "align": "key: sku", "items": {"fields": {"sku": "id", "note": "text"}}}
    fields: dict[str, Any] = {"total": "text", "place": "text", "lines": items}
    better = "lower" if formula.startswith("1 -") else "higher"
    return {
        "fields": fields,
        "score": "own",
        "definitions": {"own": {"formula": f"document_mean({formula})", "better": better}},
    }


def mend(row: dict[str, Any], gold: dict[str, Any], pred: dict[str, Any]) -> dict[str, Any]:
    """Return the prediction with one error less: a value, or the whole item that one side lacks."""
    mended = copy.deepcopy(pred)
    path = row["gold_path"] or row["pred_path"]
    if "[" not in path:
        return {**mended, path: gold[path]}
    place, field = int(path.split("[")[1].split("]")[0]), path.rsplit(".", 1)[-1]
    if row["outcome"] == "spurious":
        del mended["lines"][place]
    elif row["outcome"] == "missing":
        mended["lines"].append(gold["lines"][place])
    else:
        own = gold["lines"][place]
        next(one for one in mended["lines"] if one["sku"] == own["sku"])[field] = own[field]
    return mended


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@few_examples()
@example(
    gold={"total": "one", "place": "one", "lines": []},
    pred={"total": "one", "place": "two", "lines": [{"sku": "A", "note": "one"}]},
)
@given(gold=RECORD, pred=RECORD)
def test_an_error_costs_what_its_document_scores_without_it(
    formula: str, gold: dict[str, Any], pred: dict[str, Any]
) -> None:
    """The costs of an error's values add up to what scoring the mended record again gains."""
    spec, gold, pred = spec_of(formula), {"id": "d", **gold}, {"id": "d", **pred}

    def score_again(answer: dict[str, Any]) -> float | None:
        found: float | None = score([gold], [answer], spec, bootstrap=0).documents["score"][0]
        return found

    result = score([gold], [pred], spec, bootstrap=0)
    before, sign = result.documents["score"][0], -1 if formula == FORMULAS["lower"] else 1
    costs: dict[str, float] = {}
    wanted: dict[str, float] = {}
    for row in result.evidence.filter(result.evidence["cost"].is_not_null()).to_dicts():
        path = row["gold_path"] or row["pred_path"]
        error = path.split(".")[0] + row["outcome"] if row["outcome"] in ("missing", "spurious") else path
        costs[error] = costs.get(error, 0.0) + row["cost"]
        after = score_again(mend(row, gold, pred))
        if before is not None and after is not None:
            wanted[error] = sign * (after - before)
    assert {error: costs[error] for error in wanted} == pytest.approx(wanted, abs=1e-8)
