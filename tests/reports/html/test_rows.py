"""Evidence in a page: every row as it was judged, whatever the texts, cut only where that is said."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.unpacked_rows import read_blocks, read_rows

import fieldassay as fa
from fieldassay import score
from fieldassay.metrics.result.result import Result
from fieldassay.reports.html import chunks
from fieldassay.reports.html.packing import encode_texts, pack, unpack
from fieldassay.runs.tables import mark_failed_answers
from fieldassay.scoring.inputs.options import ScoreOptions

SAME_COLUMNS = (
    "system", "doc", "field", "kind", "outcome", "reason", "type", "gold_path", "pred_path", "gold", "pred",
    "gold_value", "pred_value",
    "other_field", "critical",
)  # fmt: skip
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


def rows_of(result: Result) -> list[dict[str, Any]]:
    return read_rows(read_blocks(fa.report(result)))


def sorted_rows(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(str(row[name]) for name in SAME_COLUMNS) for row in rows)


def evidence_of(result: Result) -> pl.LazyFrame:
    assert result.evidence is not None
    return result.evidence.lazy()


def check(result: Result) -> None:
    marked = mark_failed_answers(evidence_of(result), result.documents)
    assert marked is not None
    evidence = marked.collect()
    given, carried = evidence.to_dicts(), rows_of(result)
    assert sorted_rows(carried) == sorted_rows(given)
    assert sum(row["score"] or 0 for row in carried) == pytest.approx(
        sum(row["score"] or 0 for row in given), abs=1e-3 * len(given) + 1e-9
    )
    assert sorted(row["diagnoses"] for row in carried) == sorted("|".join(row["diagnoses"]) for row in given)


def test_a_page_carries_every_row() -> None:
    gold = [{**record, "note": "short"} for record in gold_records()]
    answers = {
        system: [{**record, "note": str(record.get("note", ""))[:100]} for record in records]
        for system, records in predictions().items()
    }
    check(score(gold, answers, SPEC, ScoreOptions(replicates=0)))


@given(st.lists(st.tuples(_TEXTS, _TEXTS), min_size=1, max_size=6))
def test_a_page_carries_any_text(pairs: list[tuple[str, str]]) -> None:
    gold = [{"id": str(place), "note": first} for place, (first, _) in enumerate(pairs)]
    answer = [{"id": str(place), "note": second} for place, (_, second) in enumerate(pairs)]
    check(score(gold, answer, "fields: {note: text}", ScoreOptions(replicates=0)))


def test_rows_in_many_chunks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "ROWS", 3)
    gold = [{"id": str(number), "a": number, "b": f"text {number}"} for number in range(40)]
    result = score(
        gold, {"one": gold, "two": gold[::2]}, "fields: {a: number, b: text}", ScoreOptions(replicates=0)
    )
    assert len(read_blocks(fa.report(result))["core"]["spans"]) > 10
    check(result)


def test_the_worst_documents_are_kept_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST_ROWS", 5)
    gold = [{"id": str(number), "a": number} for number in range(20)]
    answer = [{"id": str(number), "a": number if number % 5 else -1} for number in range(20)]
    result = score(gold, answer, "fields: {a: number}", ScoreOptions(replicates=0))
    assert [row["outcome"] for row in rows_of(result)] == ["mismatch"] * 4 + ["match"]


def test_a_long_value_is_cut_and_its_length_is_said() -> None:
    whole = "y" * 50_000
    result = score(
        [{"id": "1", "a": "x"}], [{"id": "1", "a": whole}], "fields: {a: text}", ScoreOptions(replicates=0)
    )
    chunk = read_blocks(fa.report(result))["rows-0"]
    assert max(len(text) for text in chunk["texts"]) == chunks.LONGEST
    assert sorted(chunk["cut"].values()) == [len(whole), len(whole) + 2]


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_what_is_packed_can_be_unpacked(data: Any) -> None:
    packed = pack(data)
    assert "<" not in packed
    assert unpack(packed) == data


@given(
    st.lists(
        st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=4), max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_codes_stand_for_texts(columns: list[list[str | None]]) -> None:
    texts, codes = encode_texts([pl.Series(column, dtype=pl.String) for column in columns])
    assert len(set(texts)) == len(texts)
    assert [[None if code < 0 else texts[code] for code in part.to_list()] for part in codes] == columns
