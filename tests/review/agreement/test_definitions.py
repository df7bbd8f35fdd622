"""The figures of sheets are the published definitions, however a value without an answer is written."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay import agreement
from fieldassay.errors import NothingEvaluatedError
from fieldassay.records.labels_file import Label, Sheet, labels_lines
from fieldassay.reports.content.agreement import render_agreement
from fieldassay.reports.writers.page import Screen

SPEC = "fields: {f: text, tags: {type: list, items: text}}"
Answer = str | None
"""A value, "" for absent, None without an answer."""
Table = list[tuple[Answer, ...]]


def observed(units):
    pairs = [list(combinations(row, 2)) for row in units if len(row) > 1]
    return sum((Fraction(sum(a == b for a, b in unit), len(unit)) for unit in pairs), Fraction()) / len(pairs)


def alpha(units):
    """Krippendorff (2019): the coincidences of pairable answers, each unit weighing its answers."""
    units = [row for row in units if len(row) > 1]
    answers = [one for row in units for one in row]
    n = len(answers)
    expected = Fraction(sum(a != b for a in answers for b in answers), n * (n - 1))
    apart = sum((Fraction(sum(a != b for a in row for b in row), len(row) - 1) for row in units), Fraction())
    return 1 - apart / n / expected if expected else None


def ac1(units):
    """Gwet (2008), with missing answers: the shares are means over all units with an answer."""
    rated = [row for row in units if row]
    answers = sorted({one for row in rated for one in row})
    shares = [
        sum((Fraction(row.count(k), len(row)) for row in rated), Fraction()) / len(rated) for k in answers
    ]
    if len(answers) < 2:
        return None
    chance = sum((share * (1 - share) for share in shares), Fraction()) / (len(answers) - 1)
    return (observed(units) - chance) / (1 - chance)


def sheets_of(table, missing):
    sheets = []
    for at, row in enumerate(table):
        for name, answer in zip("abcd", row, strict=False):
            label = (
                Label("skipped") if answer is None else Label("value", answer) if answer else Label("absent")
            )
            if answer is not None or missing == "skipped":
                sheets.append(Sheet(f"d{at}", name, is_blind=True, labels={"f": label}))
    return sheets


def measure(folder, sheets, replicates=0):
    (folder / "labels.jsonl").write_text("".join(labels_lines(sheets)))
    return agreement([folder / "labels.jsonl"], SPEC, bootstrap=replicates)


tables = st.integers(2, 4).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.sampled_from([None, None, "", "x", "y", "z"])] * columns), min_size=1, max_size=8
    )
)


@few_examples()
@given(tables)
def test_alpha_and_ac1_of_sheets_are_their_definitions_in_both_notations(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("labels")
    units = [[answer for answer in row if answer is not None] for row in table]
    if not any(len(row) > 1 for row in units):
        for missing in ("no row", "skipped"):
            with pytest.raises(NothingEvaluatedError):
                measure(folder, [*sheets_of(table, missing), Sheet("z", "a", labels={"f": Label("absent")})])
        return
    one, other = (measure(folder, sheets_of(table, missing), 50) for missing in ("no row", "skipped"))
    assert one.to_dict() == other.to_dict()
    assert one.documents == sum(len(row) > 1 for row in units)
    assert one.single == sum(len(row) == 1 for row in units)
    for name, expected in (("observed", observed(units)), ("alpha", alpha(units)), ("ac1", ac1(units))):
        value = one.value(name, "f")
        assert (value is None) == (expected is None)
        assert value is None or value == pytest.approx(float(expected or 0), abs=1e-12)


BOTH: Table = [("yes", "yes"), ("yes", "yes"), ("yes", "no")]
ALONE: Table = [("no", None)] * 3


@pytest.mark.parametrize("missing", ["no row", "skipped"])
def test_documents_of_one_reviewer_count_in_the_chance_agreement_and_are_not_labeled_twice(tmp_path, missing):
    found = measure(tmp_path, sheets_of(BOTH + ALONE, missing))
    expected = ac1([["yes"] * 2] * 2 + [["yes", "no"]] + [["no"]] * 3)
    assert expected == Fraction(13, 37)
    assert found.value("ac1", "f") == pytest.approx(float(expected))
    assert (found.documents, found.single, found.reviewers) == (3, 3, {"a": 3, "b": 3})
    text = render_agreement(found, Screen(200))
    assert "3 documents labeled twice or more, by a (3) and b (3)" in text
    assert "3 documents labeled once, which only the chance agreement of AC1 counts." in text


def test_an_empty_cell_of_plain_records_is_an_answer():
    rows = [{"id": at, "f": "x" if at else ""} for at in range(3)]
    found = agreement({"a": rows, "b": [{**row, "f": "x"} for row in rows]}, SPEC, bootstrap=0)
    assert (found.documents, found.value("observed", "f")) == (3, 2 / 3)


def test_a_disagreement_names_its_documents(tmp_path):
    table: Table = [("x", "y"), ("x", "x"), ("y", "x"), ("z", "")]
    found = measure(tmp_path, sheets_of(table, "no row"))
    assert [(one.first, one.second, one.documents) for one in found.field("f").confusions] == [
        ("x", "y", ("d0", "d2")),
        ("z", "(absent)", ("d3",)),
    ]
    text = render_agreement(found, Screen(120))
    assert "d0 and 1 more" in text
    assert found.to_dict()["fields"][0]["confusions"][0]["documents"] == ("d0", "d2")
