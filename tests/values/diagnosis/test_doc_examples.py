"""The examples in docs/diagnosis.md hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from doc_tables import rows

from fieldassay.scoring.engine.context import diagnose_context
from fieldassay.values.diagnosis.catalogue import DIAGNOSES, diagnosis_names
from fieldassay.values.diagnosis.value_rows import ValueRows
from fieldassay.values.diagnosis.values import diagnose_pairs
from fieldassay.values.types.catalogue import READERS
from fieldassay.values.types.column import Column, objects

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
