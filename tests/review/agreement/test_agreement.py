"""Agreement of reviewers: definitions, coefficients, and what is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay import agreement
from fieldassay.commands.cli.main import main
from fieldassay.errors import NothingEvaluatedError, ProblemsError
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.records.labels_file import Label, Sheet, labels_lines
from fieldassay.review import agreement as agreement_module
from fieldassay.review.agreement import (
    FAILED,
    NO_PAIRS,
    NO_VARIATION,
    STAND_INS,
    Answers,
    Chance,
    Ratings,
    agree,
    differ,
    draw_weights,
)

# Agreement by a spec: both directions, states, lists, what was seen before, and the command

SPEC = """
fields:
  total: {type: money, tolerance: {relative: 0.01}}
  date: {type: date, order: dmy}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: money}}}
  tags: {type: list, items: text}
  place: {type: object, fields: {city: text}}
"""


def of_records(ada, bob, **options):
    numbered = [[{"id": str(at), **row} for at, row in enumerate(rows)] for rows in (ada, bob)]
    return agreement(dict(zip(("ada", "bob"), numbered, strict=True)), SPEC, bootstrap=0, **options)


def of_sheets(tmp_path, sheets, spec=SPEC):
    (tmp_path / "labels.jsonl").write_text("".join(labels_lines(sheets)))
    return agreement([tmp_path / "labels.jsonl"], spec, bootstrap=0)


@pytest.mark.parametrize(
    ("ada", "bob", "field", "measure", "expected"),
    [
        pytest.param({"total": "1,250.00"}, {"total": 1250}, "total", "observed", 1.0, id="two writings"),
        pytest.param(
            {"total": "100"}, {"total": "101.005"}, "total", "observed", 0.0, id="right one way only"
        ),
        pytest.param(
            {"total": "101.005"}, {"total": "100"}, "total", "observed", 0.0, id="the other way round"
        ),
        pytest.param({"total": "100"}, {"total": "100.5"}, "total", "observed", 1.0, id="right both ways"),
        pytest.param({"date": "15/03/2025"}, {"date": "2025-03-15"}, "date", "observed", 1.0, id="dates"),
        pytest.param({}, {"total": None}, "total", "observed", 1.0, id="both absent"),
        pytest.param({"total": ""}, {"total": "5"}, "total", "observed", 0.0, id="absent and a value"),
        pytest.param(
            {"place": {"city": "Rome"}}, {}, "place.city", "observed", 0.0, id="a field of an object"
        ),
        pytest.param(
            {"lines": [{"sku": "A", "amount": "5.00"}, {"sku": "B"}]},
            {"lines": [{"sku": "B"}, {"sku": "A", "amount": "5"}]},
            "lines[].amount",
            "observed",
            1.0,
            id="items in another order",
        ),
        pytest.param(
            {"lines": [{"sku": "A", "amount": "5"}, {"sku": "B", "amount": "7"}]},
            {
                "lines": [
                    {"sku": "A", "amount": "5"},
                    {"sku": "B", "amount": "8"},
                    {"sku": "C", "amount": "1"},
                ]
            },
            "lines[].amount",
            "observed",
            1 / 3,
            id="one of two values, and one that one side has",
        ),
        pytest.param(
            {"lines": [{"sku": "A", "amount": "5"}]},
            {"lines": [{"sku": "A", "amount": "6"}]},
            "lines[].sku",
            "observed",
            1.0,
            id="a value in a list",
        ),
        pytest.param({"tags": ["x", "y"]}, {"tags": ["y"]}, "tags[]", "observed", 0.5, id="texts of a list"),
    ],
)
def test_answers_are_compared_by_the_spec(ada, bob, field, measure, expected):
    assert of_records([ada], [bob]).value(measure, field) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ada", "bob", "field", "observed"),
    [
        pytest.param(
            {"illegible_fields": ["total"]}, {"illegible_fields": ["total"]}, "total", 1.0, id="both"
        ),
        pytest.param({"illegible_fields": ["total"]}, {}, "total", 0.0, id="illegible and absent"),
        pytest.param(
            {"illegible_fields": ["place"]}, {"place": {"city": "x"}}, "place.city", 0.0, id="an object"
        ),
        pytest.param(
            {"lines": [{"sku": "A"}], "illegible_fields": ["lines[0].amount"]},
            {"lines": [{"sku": "A"}], "illegible_fields": ["lines[0].amount"]},
            "lines[].amount",
            1.0,
            id="in an item",
        ),
        pytest.param(
            {"lines": [{"sku": "A"}], "illegible_fields": ["lines[0].amount"]},
            {"lines": [{"sku": "A", "amount": "5"}]},
            "lines[].amount",
            0.0,
            id="in an item, and a value",
        ),
    ],
)
def test_plain_records_name_what_is_illegible(ada, bob, field, observed):
    assert of_records([ada], [bob]).value("observed", field) == observed


def sheet(reviewer, document="a", **labels):
    return Sheet(document, reviewer, labels=labels)


ABSENT, ILLEGIBLE, SKIPPED = Label("absent"), Label("illegible"), Label("skipped")
FIVE = Label("value", "5")


@pytest.mark.parametrize(
    ("ada", "bob", "observed", "n"),
    [
        pytest.param(ILLEGIBLE, ILLEGIBLE, 1.0, 1, id="both cannot read it"),
        pytest.param(ILLEGIBLE, ABSENT, 0.0, 1, id="illegible is not absent"),
        pytest.param(ILLEGIBLE, FIVE, 0.0, 1, id="illegible is no value"),
        pytest.param(ABSENT, ABSENT, 1.0, 1, id="both say absent"),
        pytest.param(SKIPPED, FIVE, None, 0, id="skipped is no answer"),
        pytest.param(None, FIVE, None, 0, id="not asked is no answer"),
    ],
)
def test_states_are_answers_and_what_was_not_answered_is_missing(tmp_path, ada, bob, observed, n):
    place = {"place.city": Label("value", "Rome")}
    given = place if ada is None else {"total": ada, **place}
    sheets = [Sheet("a", "ada", labels=given), Sheet("a", "bob", labels={"total": bob, **place})]
    found = of_sheets(tmp_path, sheets).field("total")
    assert (found.measures["observed"].value, found.measures["observed"].n) == (observed, n)


@pytest.mark.parametrize(
    ("ada", "bob", "observed", "n"),
    [
        pytest.param(ILLEGIBLE, ILLEGIBLE, 1.0, 1, id="both cannot read it"),
        pytest.param(ILLEGIBLE, FIVE, 0.0, 1, id="illegible is no value"),
        pytest.param(SKIPPED, FIVE, None, 0, id="skipped is no answer"),
        pytest.param(FIVE, FIVE, 1.0, 1, id="both read it"),
    ],
)
def test_states_in_items_are_answers_too(tmp_path, ada, bob, observed, n):
    sheets = [
        Sheet(
            "a",
            name,
            labels={"lines": Label("value"), "lines[0].sku": Label("value", "A"), "lines[0].amount": one},
        )
        for name, one in (("ada", ada), ("bob", bob))
    ]
    found = of_sheets(tmp_path, sheets)
    measures = [one.measures["observed"] for one in found.fields if one.field == "lines[].amount"]
    assert [(one.value, one.n) for one in measures if one.n] == ([(observed, n)] if n else [])
    assert found.value("observed", "lines[].sku") == 1.0


def test_a_list_of_which_single_values_were_asked_is_left_out_and_told(tmp_path):
    part = Sheet("a", "ada", labels={"tags[0]": Label("value", "x"), "total": FIVE})
    whole = Sheet("a", "bob", labels={"tags": Label("value"), "tags[0]": Label("value", "x"), "total": FIVE})
    found = of_sheets(tmp_path, [part, whole])
    assert [one.field for one in found.fields if one.field.startswith("tags")] == []
    assert found.notes == ("tags: 1 sheet with single items only, left out: a list is compared as a whole",)


def test_answers_after_a_prediction_was_shown_do_not_count(tmp_path):
    seen = Label("value", "5", shown="prediction")
    sheets = [
        sheet("ada", "a", total=seen), sheet("bob", "a", total=FIVE),
        sheet("ada", "b", total=FIVE), sheet("bob", "b", total=Label("value", "6")),
        Sheet("c", "ada", is_blind=True, labels={"total": seen}), sheet("bob", "c", total=FIVE),
    ]  # fmt: skip
    found = of_sheets(tmp_path, sheets)
    measures = found.field("total").measures
    assert (measures["observed"].value, measures["observed"].n) == (0.5, 2)
    assert (found.documents, found.independent) == (3, 2)


def test_more_than_two_reviewers_and_documents_labeled_once(tmp_path):
    sheets = [sheet(name, total=FIVE) for name in ("ada", "bob", "cid")]
    sheets += [sheet("ada", "b", total=FIVE), sheet("ada", "c", total=FIVE), sheet("cid", "c", total=ABSENT)]
    found = of_sheets(tmp_path, sheets)
    assert found.reviewers == {"ada": 2, "bob": 1, "cid": 2}
    assert (found.documents, found.single) == (2, 1)
    assert found.value("observed", "total") == 0.5
    assert [(one.first, one.second, one.count) for one in found.field("total").confusions] == [
        ("5", "(absent)", 1)
    ]


def test_fields_of_another_document_type_are_no_answers():
    spec = """
document_type: {field: kind}
fields: {kind: {type: enum, values: [invoice, statement]}, total: {type: money, applies_to: [invoice]}}
"""
    ada = [{"id": "a", "kind": "invoice", "total": "5"}, {"id": "b", "kind": "statement"}]
    bob = [{"id": "a", "kind": "invoice", "total": "5"}, {"id": "b", "kind": "invoice", "total": "6"}]
    found = agreement({"ada": ada, "bob": bob}, spec, bootstrap=0)
    assert found.field("total").measures["observed"].n == 1
    assert found.field("kind").measures["observed"].n == 2


amounts = st.sampled_from([None, "100", "100.5", "101.005", "102", "7"])
rows = st.fixed_dictionaries(
    {
        "total": amounts,
        "lines": st.lists(
            st.fixed_dictionaries({"sku": st.sampled_from("ABC"), "amount": amounts}), max_size=3
        ),
        "tags": st.lists(st.sampled_from("xyz"), max_size=3),
    }
)
documents = st.lists(st.tuples(rows, rows), min_size=1, max_size=4)


def told(found):
    data = found.to_dict()
    return {name: data[name] for name in ("overall", "fields")}


@few_examples()
@given(documents)
def test_neither_the_order_of_reviewers_nor_of_documents_matters(pairs):
    named = [(f"d{at}", *pair) for at, pair in enumerate(pairs)]
    ada, bob = ([{"id": name, **row[side]} for name, *row in named] for side in (0, 1))
    one = agreement({"ada": ada, "bob": bob}, SPEC, bootstrap=50)
    two = agreement({"bob": bob[::-1], "ada": ada[::-1]}, SPEC, bootstrap=50)
    other = agreement({"ada": bob, "bob": ada}, SPEC, bootstrap=50)
    assert told(one) == told(two) == told(other)


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        pytest.param([], ProblemsError, "cannot be read", id="a file that is not there"),
        pytest.param([{"id": "a", "total": 1}], NothingEvaluatedError, "labeled twice", id="one reviewer"),
    ],
)
def test_what_cannot_be_compared_is_told(tmp_path, labels, error, words):
    path = tmp_path / "ada.jsonl"
    if labels:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in labels))
    with pytest.raises(error, match=words):
        agreement([path], SPEC)


GOOD_LINE = b'{"id": "a", "reviewer": "bob", "labels": {"total": {"state": "value", "text": "5"}}}\n'


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        pytest.param(GOOD_LINE.replace(b'"5"', b"NaN"), "not JSON .NaN", id="NaN"),
        pytest.param(GOOD_LINE.decode().encode("utf-16"), "not UTF-8; save the file as UTF-8", id="UTF-16"),
        pytest.param(
            (GOOD_LINE + GOOD_LINE.replace(b"bob", b"cy")).decode().encode("utf-16"),
            "not UTF-8",
            id="UTF-16, two sheets",
        ),
        pytest.param(
            b'{"id": "b"}\n' + GOOD_LINE, "is not a line of a labels file", id="another line before"
        ),
    ],
)
def test_a_damaged_labels_file_is_never_compared_as_plain_records(tmp_path, damaged, words):
    (tmp_path / "ada.jsonl").write_text("".join(labels_lines([sheet("ada", total=FIVE)])))
    (tmp_path / "bob.jsonl").write_bytes(damaged)
    with pytest.raises(ProblemsError, match=words):
        agreement([tmp_path / "ada.jsonl", tmp_path / "bob.jsonl"], SPEC)


def test_a_file_that_is_given_twice_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(labels_lines([sheet("ada", total=FIVE)])))
    (tmp_path / "b.jsonl").write_text("".join(labels_lines([sheet("ada", total=FIVE)])))
    with pytest.raises(ProblemsError, match=r"b\.jsonl.*in .*a\.jsonl already"):
        agreement([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], SPEC)


def test_plain_records_that_are_given_twice_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "total": 5}\n')
    with pytest.raises(ProblemsError, match=r"a\.jsonl: is given twice"):
        agreement([tmp_path / "a.jsonl", tmp_path / "." / "a.jsonl"], SPEC)


@pytest.mark.parametrize("path", ["total", "lines[0].amount", "place.city"])
def test_a_value_without_its_text_is_refused(tmp_path, path):
    bad = Sheet("d", "ada", is_blind=True, labels={path: Label("value")})
    with pytest.raises(ProblemsError) as caught:
        of_sheets(tmp_path, [bad, Sheet("d", "bob", is_blind=True)])
    assert [one.where.rpartition(": ")[2] for one in caught.value.problems] == [path]


@pytest.fixture
def command(tmp_path, capsys):
    (tmp_path / "spec.yaml").write_text(SPEC)
    rows = [{"id": str(at), "total": str(at % 3), "tags": ["x"]} for at in range(25)]
    for name, changed in (("ada", rows), ("bob", [{**rows[0], "total": "9"}, *rows[1:]])):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in changed))

    def run(*more):
        paths = [word for name in ("ada", "bob") for word in ("--labels", str(tmp_path / f"{name}.jsonl"))]
        code = main(["review", "agreement", "--spec", str(tmp_path / "spec.yaml"), *paths, *more])
        return code, *capsys.readouterr()

    return run


def test_the_command_prints_json(command):
    code, out, _ = command("--json")
    found = json.loads(out)
    assert code == 0
    assert found["reviewers"] == {"ada": 25, "bob": 25}
    total = next(one for one in found["fields"] if one["field"] == "total")
    assert total["measures"]["observed"]["value"] == 24 / 25
    low, high = total["measures"]["observed"]["interval"]
    assert low < 24 / 25 < high
    assert total["measures"]["observed"]["marks"] == []


def test_what_gold_names_as_unreviewed_is_no_answer():
    one = Answers.of_record("a", "ada", {"lines": [{"sku": "A"}]}, (), ["total", "lines[0].note"])
    assert (one.state("total"), one.state("date")) == (None, "value")
    assert one.data["lines"] == [{"sku": "A", "note": STAND_INS["skipped"]}]


# Coefficients: published values as fractions, laws, and what has no value

_ = -1
KRIPPENDORFF = [
    [0, 0, _, 0], [1, 1, 2, 1], [2, 2, 2, 2], [2, 2, 2, 2], [1, 1, 1, 1], [0, 1, 2, 3],
    [3, 3, 3, 3], [0, 0, 1, 0], [1, 1, 1, 1], [_, 4, 4, 4], [_, _, 0, 0], [_, _, 2, _],
]  # fmt: skip
"""Four raters, 12 units, 7 answers missing: Krippendorff (2019), and Gwet (2014)."""

PARADOX = [[0, 0]] * 118 + [[0, 1]] * 5 + [[1, 0]] * 2


def interval(first, second):
    return (first - second) ** 2 / 16.0


def ratio_scale(first, second):
    return ((first - second) / (first + second + 2.0)) ** 2


def ordinal(first, second):
    """The distance of ranks by the counts of the 40 pairable answers of KRIPPENDORFF."""
    counts = np.array([9.0, 13.0, 10.0, 5.0, 3.0])
    ends = np.cumsum(counts) - counts / 2.0
    return ((ends[first] - ends[second]) / 40.0) ** 2


def coefficients(codes, distance=differ):
    table = np.array(codes)
    texts = tuple(str(code) for code in range(max(int(table.max()) + 1, 2)))
    ratings = Ratings.of(np.arange(len(table)), table, distance, texts, len(table))
    return agree(ratings, ratings.pairs(), draw_weights([""] * len(table), BootstrapSettings(0)))


def values(found):
    return [float(replicates[0]) for replicates in found[:3]]


@pytest.mark.parametrize(
    ("codes", "measure", "coefficient", "expected"),
    [
        pytest.param(KRIPPENDORFF, differ, "alpha", Fraction(113, 152), id="alpha, nominal"),
        pytest.param(KRIPPENDORFF, interval, "alpha", Fraction(951, 1120), id="alpha, interval"),
        pytest.param(KRIPPENDORFF, ordinal, "alpha", 0.8153875038, id="alpha, ordinal"),
        pytest.param(KRIPPENDORFF, ratio_scale, "alpha", 0.7974027747, id="alpha, ratio"),
        pytest.param(
            KRIPPENDORFF, differ, "observed", Fraction(9, 11), id="observed, units with two answers"
        ),
        pytest.param(KRIPPENDORFF, differ, "ac1", Fraction(31825, 41041), id="AC1"),
        pytest.param(KRIPPENDORFF, interval, "ac1", 0.91400, id="AC2, quadratic weights"),
        pytest.param(PARADOX, differ, "observed", Fraction(118, 125), id="observed, the paradox"),
        pytest.param(PARADOX, differ, "alpha", Fraction(-2, 81), id="alpha, the paradox"),
        pytest.param(PARADOX, differ, "ac1", Fraction(27799, 29549), id="AC1, the paradox"),
    ],
)
def test_published_values_come_out(codes, measure, coefficient, expected):
    digits = 1e-12 if isinstance(expected, Fraction) else 6e-6 if expected == 0.914 else 6e-11
    assert getattr(coefficients(codes, measure), coefficient)[0] == pytest.approx(float(expected), abs=digits)


@pytest.mark.parametrize(
    ("codes", "coefficient", "reason"),
    [
        pytest.param([[0, 0], [0, 0]], "alpha", NO_VARIATION, id="alpha of one answer"),
        pytest.param([[0, 0], [0, 0]], "ac1", NO_VARIATION, id="AC1 of one answer"),
        pytest.param([[0, _], [_, 1]], "observed", NO_PAIRS, id="no value with two answers"),
        pytest.param([[0, _], [_, 1]], "alpha", NO_PAIRS, id="alpha without pairs"),
    ],
)
def test_what_is_undefined_has_a_reason_and_no_value(codes, coefficient, reason):
    found = coefficients(codes)
    assert (np.isnan(getattr(found, coefficient)[0]), found.reason) == (True, reason)


def test_a_pair_that_cannot_be_compared_leaves_nothing_that_could_be_wrong():
    def fails(first, _second):
        return np.full(len(first), np.nan)

    found = coefficients([[0, 1], [1, 1]], fails)
    assert (np.isnan(values(found)).all(), found.reason) == (True, FAILED)


def test_a_sample_of_pairs_estimates_the_chance_and_says_so(monkeypatch):
    random = np.random.default_rng(5)
    codes = random.integers(0, 40, (300, 2))
    codes[:150, 1] = codes[:150, 0]
    whole = {distance: coefficients(codes, distance) for distance in (differ, near_by)}
    monkeypatch.setattr(agreement_module, "MOST_COMPARED", 20)
    monkeypatch.setattr(agreement_module, "SAMPLED_PAIRS", 200)
    sampled = {distance: coefficients(codes, distance) for distance in whole}
    assert [one.is_sampled for one in (*whole.values(), *sampled.values())] == [False, False, True, True]
    assert sampled[differ].alpha[0] == pytest.approx(whole[differ].alpha[0], abs=1e-12)
    assert sampled[near_by].alpha[0] == pytest.approx(whole[near_by].alpha[0], abs=0.02)


def near_by(first, second):
    return (np.abs(first - second) > 8).astype(np.float64)


def test_a_sample_does_not_depend_on_the_order_of_the_answers(monkeypatch):
    monkeypatch.setattr(agreement_module, "MOST_COMPARED", 5)
    codes = np.array([[0, 1]])
    orders = []
    for texts in ("abcdefgh", "hgfedcba"):
        order = Chance.of(Ratings.of(np.array([0]), codes, differ, tuple(texts), 1)).order
        orders.append([texts[at] for at in order])
    assert orders[0] == orders[1]
