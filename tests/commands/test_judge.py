"""`fieldassay.Judge`: one pair of records, with the numbers of `fieldassay.score`."""

import json
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.judging import result_of, with_ids
from tests.scoring.test_laws import LAWS, WILD, case
from tests.strategies_records import VALUES, Maker, chances

import fieldassay as fa
from fieldassay.errors import ProblemsError
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node
from fieldassay.spec.presets.catalogue import preset_names

SPEC = {
    "fields": {
        "total": {"type": "money", "critical": True},
        "paid": "boolean",
        "lines": {"type": "list", "items": {"type": "object", "fields": {"sku": "id", "note": "text"}}},
    }
}
GOLD = {"total": "5.50", "paid": True, "lines": [{"sku": "a1", "note": "red"}, {"sku": "b2", "note": "blue"}]}


def means_by_field(values: list[tuple[Any, ...]]) -> dict[str, float]:
    scores = {field: [score for _, own, _, score, *_ in values if own == field] for _, field, *_ in values}
    judged = {field: [score for score in own if score is not None] for field, own in scores.items()}
    return {field: sum(own) / len(own) for field, own in judged.items() if own}


def check(spec: Any, gold: list[Any], pred: list[Any], alone: int = 2) -> None:
    """Hold the judgements of pairs, together and each alone, against the documents and rows of `score`."""
    together = fa.Judge(spec).many(zip(gold, pred, strict=True))
    result = result_of(spec, gold, pred)
    documents = {row["doc"]: row for row in result.documents.iter_rows(named=True)}
    rows: dict[str, list[Any]] = {}
    for row in [] if result.evidence is None else result.evidence.iter_rows(named=True):
        if row["kind"] == "value" and row["outcome"] != "absent":
            place = row["gold_path"] or row["pred_path"] or row["field"]
            told = (
                row["field"],
                row["outcome"],
                row["score"],
                row["reason"],
                tuple(row["diagnoses"]),
                row["critical"],
                row["weight"],
            )
            rows.setdefault(row["doc"], []).append((place, *told))
    for judgement, record in zip(together, gold, strict=True):
        document = documents[next(str(value) for value in record.values())]
        assert judgement.score == document["score"]
        assert judgement.is_perfect == (document["perfect"] == 1)
        values = [
            (
                one.path,
                one.field,
                one.outcome,
                one.score,
                one.reason,
                one.diagnoses,
                one.is_critical,
                one.weight,
            )
            for one in judgement.values
        ]
        assert values == rows.get(document["doc"], [])
        assert judgement.by_field() == means_by_field(values)
    judge = fa.Judge(spec)
    assert [judge(*pair) for pair in list(zip(gold, pred, strict=True))[:alone]] == together[:alone]


@LAWS
@given(chances)
@example(random.Random(5663959))  # an item of a list of anything that is a value alone, and a list elsewhere
def test_the_numbers_are_those_of_score_for_every_spec_and_record(chance: random.Random) -> None:
    spec, gold, pred = case(chance, WILD)
    check(spec, with_ids(gold), with_ids(pred))


def made(node: Node, chance: random.Random) -> Any:
    """Return a value for a place of a plan, at times none or one of another kind."""
    if chance.random() < 0.15:
        return chance.choice([None, "", "junk", [], {}, 7])
    if isinstance(node, Leaf):
        return chance.choice(VALUES.get(node.type, VALUES["text"]))
    if isinstance(node, ListNode):
        items = [made(node.items, chance) for _ in range(chance.randint(0, 3))]
        return {f"k{at}": item for at, item in enumerate(items)} if node.is_map else items
    if isinstance(node, AnyNode):
        maker = Maker(chance, WILD)
        return maker.record(maker.spec())
    return {child.name: made(child, chance) for child in node.children}


def record_of(place: Node, chance: random.Random) -> dict[str, Any]:
    """Return a record with something in it."""
    found = made(place, chance)
    return found if isinstance(found, dict) and found else record_of(place, chance)


JUDGING = [name for name in preset_names() if name != "clinical-decision"]
"""The protocols that judge records."""


@pytest.mark.parametrize("protocol", JUDGING)
def test_the_numbers_are_those_of_score_for_every_protocol(protocol: str) -> None:
    chance, root = random.Random(protocol), read_plan({"protocol": protocol}).root
    place = root if root.children[0].path else root.children[0]
    gold, others = ([record_of(place, chance) for _ in range(12)] for _ in "gp")
    pred = [
        {key: other.get(key) if chance.random() < 0.5 else value for key, value in record.items()}
        for record, other in zip(gold, others, strict=True)
    ]
    named = (read_plan({"protocol": protocol}).spec.data.id_key or ("id",))[0]
    gold, pred = ([{named: str(at), **record} for at, record in enumerate(side)] for side in (gold, pred))
    check({"protocol": protocol}, gold, pred)
    assert fa.Judge({"protocol": protocol})(others[0], others[0]).score in (None, 1.0), "without an id"


class Line(BaseModel):
    sku: str
    note: str


class Invoice(BaseModel):
    total: str
    paid: bool
    lines: list[Line]


@pytest.mark.parametrize(
    "pred",
    [
        pytest.param(Invoice(**GOLD), id="pydantic"),
        pytest.param(json.dumps(GOLD), id="text"),
        pytest.param(f"Here it is:\n```json\n{json.dumps(GOLD)}\n```\nAnything else?", id="fenced"),
        pytest.param({"id": 7, "pred": json.dumps(GOLD)}, id="row"),
    ],
)
def test_a_prediction_is_read_as_score_reads_an_answer(pred: Any) -> None:
    for gold in (GOLD, Invoice(**GOLD)):
        judgement = fa.Judge(SPEC)(gold, pred)
        assert (judgement.score, judgement.passed, judgement.is_perfect, judgement.feedback) == (
            1.0,
            True,
            True,
            (),
        )


def test_an_answer_that_cannot_be_read_is_an_empty_one_and_says_why() -> None:
    judge = fa.Judge(SPEC)
    unread, nothing = judge(GOLD, "I cannot help with that."), judge(GOLD, None)
    assert unread.values == nothing.values and unread.score == 0.0 and nothing.problem is None
    assert unread.feedback[0].startswith("the answer could not be read: ")
    with pytest.raises(ProblemsError, match="gold"):
        judge("no record", GOLD)


def test_feedback_names_what_is_wrong_the_critical_and_costly_first() -> None:
    pred = {
        "total": "5.60",
        "paid": True,
        "lines": [{"sku": "b2", "note": "blue."}, {"sku": "c3", "note": "x"}],
        "more": 1,
    }
    assert fa.Judge(SPEC)(GOLD, pred).feedback == (
        "total: gold 5.50, predicted 5.60 (one digit is wrong)",
        'lines[0]: the item is missing from the prediction ("a1", "red")',
        'lines[1]: the predicted item has no counterpart in gold ("c3", "x")',
        "lines[1].note: gold blue, predicted blue. (only white space or punctuation differs)",
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(None, ("match", ("case_only",)), id="guessed"),
        pytest.param("fields: {a: text}", ("match", ("case_only",)), id="written"),
        pytest.param("fields: {a: {type: text, compare: levenshtein}}", ("match", ("case_only",)), id="near"),
        pytest.param("fields: {a: {type: text, case: exact}}", ("mismatch", ("case_only",)), id="exact"),
        pytest.param("fields: {a: {type: text, case: exact, normalize: [case]}}", ("match", ()), id="folded"),
    ],
)
def test_a_text_forgives_letter_case_and_says_so(spec: Any, expected: tuple[str, tuple[str, ...]]) -> None:
    [value] = fa.Judge(spec)({"a": "Oak and Elm Ltd"}, {"a": "OAK and Elm Ltd"}).values
    assert (value.outcome, value.diagnoses[:1]) == expected
    [same] = fa.Judge(spec)({"a": "Oak and Elm Ltd"}, {"a": "Oak  and Elm Ltd"}).values
    assert (same.outcome, same.diagnoses) == ("match", ())


@given(st.integers(0, 60))
def test_feedback_names_all_wrong_values_or_counts_the_rest(wrong: int) -> None:
    gold = {f"f{at:02}": at for at in range(60)}
    pred = {name: value + (value < wrong) * 1000 for name, value in gold.items()}
    said = fa.Judge({"fields": dict.fromkeys(gold, "integer")})(gold, pred).feedback
    named = sum(one.startswith("f") for one in said)
    assert len(said) <= 12 and wrong == named + (int(said[-1].split()[0]) if named < len(said) else 0)


def test_a_judge_pickles_and_threads_share_it() -> None:
    judge = pickle.loads(pickle.dumps(fa.Judge(SPEC)))
    answers = [{**GOLD, "total": f"{at}.50", "lines": GOLD["lines"][: at % 3]} for at in range(40)]
    expected = [judge(GOLD, answer) for answer in answers]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda answer: judge(GOLD, answer), answers)) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_without_a_spec_the_first_pair_tells_how_values_are_read() -> None:
    judge, pred = fa.Judge(), {**GOLD, "total": 5.5, "paid": "yes"}
    assert judge.spec is None
    assert judge(GOLD, pred).score == fa.score([GOLD], [pred]).value("accuracy")
    spec = judge.spec
    assert spec is not None and judge(GOLD, GOLD).is_perfect and judge.spec is spec


@pytest.mark.parametrize(
    "pred",
    [{"total": "6"}, '{"total": 6}', Invoice(total="6", paid=True, lines=[])],
    ids=["dict", "text", "pydantic"],
)
@pytest.mark.parametrize("gold", [{"total": "5.50", "paid": True}, Invoice(**GOLD)], ids=["dict", "pydantic"])
def test_score_takes_two_single_records(gold: Any, pred: Any) -> None:
    result = fa.score(gold, pred, SPEC)
    assert result.counts["documents"] == 1
    assert result.value("accuracy") == pytest.approx(fa.Judge(SPEC)(gold, pred).score, abs=1e-9)
    assert fa.score(gold, {"a": pred, "b": gold}, SPEC).systems == ("a", "b")
    assert fa.score(gold, pred).counts["documents"] == 1


@pytest.mark.slow
def test_a_judgement_loads_neither_tables_nor_the_optimizer() -> None:
    code = (
        f"import sys, fieldassay as fa; gold = {GOLD!r}; gold['lines'] *= 2; fa.Judge({SPEC!r})(gold, gold).feedback;"
        "print(*[name for name in ('polars', 'scipy.optimize', 'scipy.special', 'jinja2') if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "\n"
    )
