"""Diagnoses that need the document agree with a plain loop, and do not depend on the batching."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.metrics.evidence import FLAG, Outcome
from fieldassay.scoring.engine.context import TRIVIAL, diagnose_context, diagnose_outcomes
from fieldassay.values.diagnosis.catalogue import BIT, diagnosis_names
from fieldassay.values.diagnosis.value_rows import ValueRows
from fieldassay.values.types.column import objects

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
