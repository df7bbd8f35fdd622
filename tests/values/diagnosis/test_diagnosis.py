"""Diagnoses in their context, and the examples of their page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.doc_tables import rows
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.metrics.evidence import FLAG, Outcome
from fieldassay.scoring.engine.table import TRIVIAL, diagnose_context, diagnose_outcomes
from fieldassay.values.catalogue import BIT, DIAGNOSES, READERS, diagnosis_names
from fieldassay.values.diagnosis.values import ValueRows, diagnose_pairs
from fieldassay.values.types.column import Column, objects

# Diagnoses that need the document agree with a plain loop, and do not depend on the batching

FIELDS = 4
ARE_ITEMS = np.array([False, False, True, False])
TEXTS = st.sampled_from(
    ["red", "green", "blue", "red, green", "x", "7", "true", "100", "\ud800ab", "a\0b", ""]
)
VALUES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, FIELDS - 1), st.integers(-1, 2), TEXTS), max_size=15
)

Value = tuple[int, int, int, str]


def table(values: list[Value]) -> ValueRows:
    doc, field, item = (np.array([value[part] for value in values], dtype=np.int32) for part in range(3))
    return ValueRows(doc, field, item, objects([value[3] for value in values]))


def first_other_field(value: Value, gold: list[Value]) -> int:
    doc, field, _, text = value
    if len(text) < 3 or text in TRIVIAL:
        return -1
    return min(
        (other for where, other, _, found in gold if where == doc and found == text and other != field),
        default=-1,
    )


@given(wrong=VALUES, gold=VALUES)
def test_other_field_is_the_first_that_a_loop_finds(wrong: list[Value], gold: list[Value]) -> None:
    found = diagnose_context(table(wrong), table(gold), ARE_ITEMS)
    expected = [first_other_field(value, gold) for value in wrong]
    assert found.other_field.tolist() == expected
    assert [bool(bits & BIT["value_of_another_field"]) for bits in found.bits.tolist()] == [
        field >= 0 for field in expected
    ]


@given(wrong=VALUES, gold=VALUES)
def test_documents_do_not_depend_on_each_other(wrong: list[Value], gold: list[Value]) -> None:
    together = diagnose_context(table(wrong), table(gold), ARE_ITEMS)
    for doc in {value[0] for value in wrong}:
        rows = [row for row, value in enumerate(wrong) if value[0] == doc]
        alone = diagnose_context(
            table([wrong[row] for row in rows]),
            table([value for value in gold if value[0] == doc]),
            ARE_ITEMS,
        )
        assert alone.bits.tolist() == together.bits[rows].tolist()
        assert alone.other_field.tolist() == together.other_field[rows].tolist()


def test_repeated_values_in_fields_of_objects_are_no_duplicates() -> None:
    gold = [(0, 3, 0, "250.5"), (0, 3, 1, "100")]
    found = diagnose_context(table([(0, 3, 1, "250.5")]), table(gold), ARE_ITEMS)
    assert diagnosis_names(int(found.bits[0])) == ("value_of_another_item",)


def test_other_documents_have_no_say() -> None:
    found = diagnose_context(table([(0, 0, -1, "red")]), table([(1, 1, -1, "red")]), ARE_ITEMS)
    assert found.bits.tolist() == [0]


def test_outcomes_and_flags_are_diagnoses() -> None:
    outcome = np.array(
        [Outcome.MISSING, Outcome.SPURIOUS, Outcome.MISMATCH, Outcome.MATCH, Outcome.SPURIOUS], dtype=np.int8
    )
    flags = np.array([0, 0, FLAG["wrong_kind"], FLAG["wrong_kind"], FLAG["duplicate_item"]], dtype=np.int64)
    names = [diagnosis_names(bits) for bits in diagnose_outcomes(outcome, flags).tolist()]
    assert names == [("missing",), ("spurious",), ("wrong_kind",), (), ("duplicate_item", "spurious")]


# The examples in docs/diagnosis.md hold

PAGE = Path(__file__).parents[3] / "docs" / "diagnosis.md"
PAIRS = rows(PAGE, "Examples") + rows(PAGE, "Units in fields that compare texts")
LISTS = rows(PAGE, "In the document")
OF_OUTCOMES = {"wrong_kind", "missing", "spurious"}


def named(row: dict[str, str]) -> str:
    return f"{row['name']}: {row['why']}"


def read(type_name: str, text: str) -> Column:
    return Column.of([READERS.load(type_name)().read(text)])


@pytest.mark.parametrize("row", PAIRS, ids=named)
def test_pair_has_the_diagnosis_exactly_if_the_page_says_so(row: dict[str, str]) -> None:
    bits = diagnose_pairs(row["type"], read(row["type"], row["gold"]), read(row["type"], row["prediction"]))
    assert (row["name"].lstrip("-") in diagnosis_names(int(bits[0]))) == (row["name"][0] != "-"), (
        diagnosis_names(int(bits[0]))
    )


def items(cell: str) -> list[str]:
    return cell.replace("`", "").split(" / ")


def diagnose_lists(gold: list[str], pred: list[str], other: str) -> tuple[set[str], set[int]]:
    """Compare two lists of field 1 by position, with one value of field 0 beside it."""
    wrong = [
        (place if place < len(gold) else -1, text)
        for place, text in enumerate(pred)
        if gold[place : place + 1] != [text]
    ]
    every = [(0, -1, other), *((1, place, text) for place, text in enumerate(gold))]
    wrong_rows = ValueRows(
        np.zeros(len(wrong), np.int32),
        np.ones(len(wrong), np.int32),
        np.int32([place for place, _ in wrong]),
        objects([text for _, text in wrong]),
    )
    field, place, text = zip(*every, strict=True)
    gold_rows = ValueRows(np.zeros(len(every), np.int32), np.int32(field), np.int32(place), objects(text))
    found = diagnose_context(wrong_rows, gold_rows, np.array([False, True]))
    return {name for bits in found.bits.tolist() for name in diagnosis_names(bits)}, set(
        found.other_field.tolist()
    )


@pytest.mark.parametrize("row", LISTS, ids=named)
def test_document_has_the_diagnosis_exactly_if_the_page_says_so(row: dict[str, str]) -> None:
    names, fields = diagnose_lists(items(row["gold list"]), items(row["predicted list"]), row["other field"])
    assert (row["name"].lstrip("-") in names) == (row["name"][0] != "-"), names
    assert (0 in fields) == ("value_of_another_field" in names)


def test_every_diagnosis_has_three_examples_and_two_that_come_near() -> None:
    counts = Counter(row["name"] for row in PAIRS + LISTS)
    short = [
        name for name in DIAGNOSES if name not in OF_OUTCOMES and (counts[name] < 3 or counts[f"-{name}"] < 2)
    ]
    assert short == []


def test_page_lists_the_diagnoses_in_their_order() -> None:
    assert tuple(row["diagnosis"] for row in rows(PAGE, "Order")) == DIAGNOSES


# Two fields that hold each other's value: the exchange is the main reason, whatever else holds


@pytest.mark.parametrize(
    ("gold", "types"),
    [
        ({"issued": "2025-05-14", "due": "2025-06-14"}, "date"),
        ({"net": "118.00", "gross": "119.00"}, "money"),
        ({"seller": "A1007", "buyer": "A1070"}, "id"),
    ],
    ids=["dates a month apart", "amounts of one digit", "numbers of the same digits"],
)
def test_the_main_reason_of_exchanged_values_is_the_exchange(gold: dict[str, str], types: str) -> None:
    pred = dict(zip(gold, reversed(gold.values()), strict=True))
    result = score([{"id": 1, **gold}], [{"id": 1, **pred}], {"fields": dict.fromkeys(gold, types)})
    assert result.evidence is not None
    assert [names[0] for names in result.evidence["diagnoses"]] == ["value_of_another_field"] * 2
