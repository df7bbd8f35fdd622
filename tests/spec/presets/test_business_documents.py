"""The business documents protocol: the guide's rows, its worked figures, and an oracle on random ones."""

import csv
import json
from functools import cache

import polars as pl
import pytest
from tests.spec.presets.business_cases import FIELDS, ROWS, expect, field_score, make_records

from fieldassay import score
from fieldassay.scoring.explain import explain_field
from fieldassay.spec.plan.compile import read_plan

SPEC = {"protocol": "business-documents"}
PLAIN = {"bootstrap": 0}


@cache
def plan():
    return read_plan(SPEC)


def judged(field, gold, pred):
    [step] = explain_field(plan(), field, gold, pred)
    return step


def points(step):
    return 1.0 if step.outcome == "absent" else step.score


def run(gold, pred, spec=SPEC, **options):
    return score(gold, pred if isinstance(pred, dict) else {"model": pred}, spec, bootstrap=0, **options)


@pytest.mark.parametrize("name", ROWS)
def test_values_score_what_the_guide_says_and_so_does_the_oracle(name):
    for field, gold, pred, expected in ROWS[name]:
        assert points(judged(field, gold, pred)) == pytest.approx(expected, abs=1e-12), (field, gold, pred)
        if len(str(pred)) < 1000:
            assert field_score(FIELDS[field][0], gold, pred) == pytest.approx(expected, abs=1e-12), (
                gold,
                pred,
            )


@pytest.mark.parametrize(
    ("field", "gold", "pred", "outcome"),
    [
        ("CONTACT_PHONE", "12345", "12399", "partial"),
        ("CONTACT_PHONE", "12345", "12349", "match"),
        ("LINE_ITEM_DESCRIPTIONS", "a | b", "a", "partial"),
        ("LINE_ITEM_DESCRIPTIONS", "a | b | c", "a | b", "match"),
        ("SUPPLIER_NAME", "Acme Ltd", "Acme", "match"),
    ],
)
def test_a_field_is_correct_above_one_half(field, gold, pred, outcome):
    assert judged(field, gold, pred).outcome == outcome


def test_exchanged_days_and_months_score_one_and_are_diagnosed():
    step = judged("INVOICE_DATE", "04/05/2025", "05/04/2025")
    assert (step.score, step.outcome, step.reason, step.diagnoses) == (
        1.0,
        "match",
        "components_exchanged",
        ("day_month_exchanged",),
    )
    assert judged("INVOICE_DATE", "04/05/2025", "2025-05-04").diagnoses == ()


@pytest.mark.parametrize(
    "change",
    [
        {"fields": {"TRANSACTION_AMOUNTS_PAID": {"tolerance": 0}}},
        {"types": {"transaction_amounts": {"tolerance": 0}}},
        {"types": {"money": {"tolerance": 0}}},
        {"types": {"money": {"tolerance": 5}, "transaction_amounts": {"tolerance": 0}}},
    ],
    ids=str,
)
def test_the_figure_of_the_guide_comes_out_without_a_tolerance(change):
    [step] = explain_field(
        read_plan({**SPEC, **change}),
        "TRANSACTION_AMOUNTS_PAID",
        "$50.00 | $75.25 | $100.00",
        "$50.00 | $75.25 | $99.99",
    )
    assert step.score == pytest.approx(2 / 3, abs=1e-12)


def test_thresholds_can_be_changed_as_the_guide_describes():
    fields = {
        "TOTAL_AMOUNT": {"type": "money", "tolerance": 0.001},
        "SUPPLIER_NAME": {"type": "text", "compare": {"words": {"threshold": 0.7}}},
    }
    strict = read_plan({**SPEC, "fields": fields})
    [money], [name] = (
        explain_field(strict, "TOTAL_AMOUNT", "100", "100.2"),
        explain_field(strict, "SUPPLIER_NAME", "a b c d", "d c b"),
    )
    assert (money.score, name.score) == (0.0, 0.75)


COLUMNS = [name for name, (_, types) in FIELDS.items() if "invoice" in types][:14]


def test_a_document_of_fourteen_fields_scores_as_worked_in_the_guide():
    gold = {
        "image_file": "image_001.png",
        **dict.fromkeys(COLUMNS, "7"),
        "DOCUMENT_TYPE": "invoice",
        "SUPPLIER_NAME": "Liberty Oil Pty",
        "PAYER_NAME": "Ann",
    }
    result = run([gold], [{**gold, "SUPPLIER_NAME": "Liberty Oil", "PAYER_NAME": "Bob"}])
    assert result.estimate("pooled_accuracy").n == 14
    assert result.value("overall_accuracy") == pytest.approx((12 + 0.9 + 0) / 14, abs=1e-9)
    assert round(result.value("overall_accuracy") or 0, 3) == 0.921


GOLD = [
    {
        "image_file": "i.png",
        "DOCUMENT_TYPE": "INVOICE",
        "TOTAL_AMOUNT": "$10.00",
        "PAYER_NAME": "NOT_FOUND",
        "TRANSACTION_DATES": "NOT_FOUND",
    },
    {
        "image_file": "r.png",
        "DOCUMENT_TYPE": "receipt",
        "TOTAL_AMOUNT": "$20.00",
        "PAYER_NAME": "NOT_FOUND",
        "TRANSACTION_DATES": "NOT_FOUND",
    },
    {
        "image_file": "b.png",
        "DOCUMENT_TYPE": "bank statement",
        "TOTAL_AMOUNT": "NOT_FOUND",
        "PAYER_NAME": "NOT_FOUND",
        "TRANSACTION_DATES": "1/5/2025 | 2/5/2025",
    },
]
PRED = [
    {
        "image_file": "i.png",
        "DOCUMENT_TYPE": "Tax invoice",
        "TOTAL_AMOUNT": "$12.00",
        "PAYER_NAME": "Ann",
        "TRANSACTION_DATES": "1/5",
        "processing_time": 2.0,
    },
    {
        "image_file": "r.png",
        "DOCUMENT_TYPE": "invoice",
        "TOTAL_AMOUNT": "NOT_FOUND",
        "PAYER_NAME": "",
        "processing_time": "4",
    },
]


def test_every_figure_of_three_small_documents_is_as_worked_by_hand():
    """Invoice: type 1, amount 0, payer 0 of 3. Receipt: type 0, amount 0, payer 1 (both empty).

    Statement, no prediction: type 0, dates 0.
    """
    result = run(GOLD, PRED)
    expected = {
        "overall_accuracy": (1 / 3 + 1 / 3 + 0) / 3,
        "document_accuracy": (1 / 3 + 1 / 3 + 0) / 3,
        "pooled_accuracy": 2 / 8,
        "perfect_documents": 0,
        "precision": 1 / 4,  # predicted: invoice's type, amount and payer, receipt's type
        "recall": 1 / 6,  # in gold: three types, two amounts, one list of dates
        "f1": 2 * 1 / (4 + 6),
        "latency_mean": 3000,
        "latency_p50": 3000,
        "latency_p90": 3800,
        "latency_min": 2000,
        "latency_max": 4000,
        "throughput": 20,
        "cost_usd": None,
    }
    assert {name: result.value(name) for name in expected} == pytest.approx(expected, abs=1e-9)
    fields = {
        name: result.value("field_accuracy", field=name)
        for name in ("DOCUMENT_TYPE", "TOTAL_AMOUNT", "PAYER_NAME", "TRANSACTION_DATES")
    }
    assert fields == pytest.approx(
        {"DOCUMENT_TYPE": 1 / 3, "TOTAL_AMOUNT": 0, "PAYER_NAME": 1 / 2, "TRANSACTION_DATES": 0}, abs=1e-9
    )
    assert result.counts["systems"]["model"]["missing"] == 1
    kinds = ("invoice", "receipt", "bank_statement")
    assert [result.value(f"overall_accuracy{{type={kind}}}") for kind in kinds] == pytest.approx(
        [1 / 3, 1 / 3, 0], abs=1e-9
    )


@pytest.mark.parametrize("kind", ["letter", "NOT_FOUND", None])
def test_all_fields_count_where_the_type_is_not_known_and_a_warning_says_so(kind):
    result = run([{**GOLD[0], "DOCUMENT_TYPE": kind}], [PRED[0]])
    assert result.estimate("pooled_accuracy").n == 4
    assert any("no known document type" in warning for warning in result.warnings)


def test_columns_that_gold_lacks_are_not_scored():
    gold, pred = (
        [{"image_file": "a.png", "TOTAL_AMOUNT": "5"}],
        [{"image_file": "a.png", "TOTAL_AMOUNT": "5", "SUPPLIER_NAME": "Acme"}],
    )
    result = run(gold, pred)
    assert (result.fields, result.value("overall_accuracy"), result.value("precision")) == (
        ("TOTAL_AMOUNT",),
        1.0,
        1.0,
    )


def test_a_document_is_perfect_from_ninety_nine_percent_on():
    spec = {**SPEC, "fields": {f"F{number}": "phone" for number in range(20)}}
    gold = [
        {"image_file": name, **{f"F{number}": "12345" for number in range(20)}} for name in ("a.png", "b.png")
    ]
    result = run(gold, [{**gold[0], "F0": "12349"}, {**gold[1], "F0": "12349", "F1": "12349"}], spec)
    assert result.value("perfect_documents") == 1
    assert result.value("overall_accuracy") == pytest.approx((0.99 + 0.98) / 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_an_independent_oracle_agrees_on_every_field_and_every_metric(seed):
    gold, pred = make_records(seed, 200)
    result, expected = run(gold, pred), expect(gold, pred)
    rows = result.evidence.filter(pl.col("kind") == "value").to_dicts()
    found = {(row["doc"], row["field"]): 1.0 if row["outcome"] == "absent" else row["score"] for row in rows}
    wanted = {
        (doc, field): points for doc, scores in expected.scores.items() for field, points in scores.items()
    }
    assert {
        key: (found.get(key), points)
        for key, points in wanted.items()
        if abs(found.get(key, 9) - points) > 1e-9
    } == {}
    assert found.keys() == wanted.keys()
    assert len(set(wanted.values())) > 10
    assert {name: result.value(name) for name in expected.metrics()} == pytest.approx(
        expected.metrics(), abs=1e-9
    )
    assert {name: result.value("field_accuracy", field=name) for name in result.fields} == pytest.approx(
        expected.fields(), abs=1e-9
    )
    assert dict(zip(result.documents["doc"], result.documents["score"], strict=True)) == pytest.approx(
        expected.documents(), abs=1e-9
    )


def is_cell(value):
    """Whether a cell of a table can hold the value; no table holds NUL."""
    return not isinstance(value, list | dict) and value != "\x00"


def as_cell(value):
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def write_files(folder, name, records, shape):
    path = folder / f"{name}.{shape}"
    if shape == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path
    columns = list(dict.fromkeys(key for record in records for key in record))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [columns, *([as_cell(record.get(column)) for column in columns] for record in records)]
        )
    return path


@pytest.mark.parametrize("name", ["image_file", "filename", "image_name", "file"])
def test_csv_and_jsonl_files_give_the_same_under_every_name_of_the_id(name, tmp_path):
    gold, pred = make_records(11, 60)
    texts = [
        [
            {name if key == "image_file" else key: value for key, value in record.items() if is_cell(value)}
            for record in records
        ]
        for records in (gold, pred)
    ]
    values = []
    for shape in ("csv", "jsonl"):
        files = [
            write_files(tmp_path, side, records, shape)
            for side, records in zip(("gold", "pred"), texts, strict=True)
        ]
        result = run(files[0], {"model": files[1]})
        values.append(
            [
                (estimate.metric, estimate.field, dict(estimate.slice), estimate.value, estimate.n)
                for estimate in result.estimates
            ]
        )
    assert values[0] == values[1]
    assert values[0][0][3] is not None


def test_every_field_of_the_guide_is_there_with_the_types_it_applies_to():
    everything = {"invoice", "receipt", "bank_statement"}
    found = {child.name: set(child.applies_to) or everything for child in plan().root.children}
    assert found == {name: set(types) for name, (_, types) in FIELDS.items()}
