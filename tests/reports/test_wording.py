"""Everything that evidence can say has words."""

from __future__ import annotations

import pytest

from fieldassay.metrics.evidence import FLAGS as BITS
from fieldassay.metrics.evidence import Outcome
from fieldassay.reports.wording.terms import DIAGNOSES, FLAGS, OUTCOMES, REASONS
from fieldassay.runs.tables import ANSWERS
from fieldassay.values.comparators.catalogue import COMPARATORS
from fieldassay.values.diagnosis.catalogue import DIAGNOSES as NAMES


def test_diagnoses_flags_and_outcomes_all_have_words() -> None:
    assert list(DIAGNOSES) == [*NAMES, "item_missing", "item_spurious", *ANSWERS]
    assert list(FLAGS) == list(BITS)
    assert list(OUTCOMES) == [outcome.name.lower() for outcome in Outcome]


@pytest.mark.parametrize("name", COMPARATORS.entries)
def test_every_reason_of_a_comparator_has_words(name: str) -> None:
    assert set(COMPARATORS.load(name).reasons) <= set(REASONS)


def test_reasons_of_the_engine_have_words() -> None:
    assert {
        "missing",
        "spurious",
        "absent",
        "accepted",
        "unreadable",
        "wrong_kind",
        "present",
        "paired",
    } <= set(REASONS)
