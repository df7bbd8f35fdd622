"""Ids, variants and sets of documents."""

import json
import pickle
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most
from tests.judging import score_alone as score

from fieldassay import score as score_fully
from fieldassay.commands.init import spec_from_gold
from fieldassay.errors import FieldassayError, NothingEvaluatedError, ProblemsError
from fieldassay.records.keys import SourceOptions
from fieldassay.records.matching import MOST_BYTES, _parts, batches, join_names, match, suggest
from fieldassay.records.source import Source, open_source, open_systems, split_variants

# Which prediction belongs to which gold record, and what the user is told

GOLD = SourceOptions(is_gold=True)


def held(*ids: object, gold: bool = False, label: str = "p") -> Source:
    return open_source([{"id": name, "x": 1} for name in ids], GOLD if gold else None, label)


def test_predictions_are_matched_by_exact_trimmed_id_in_gold_order() -> None:
    matching = match(held("a", "b", "c", gold=True), {"s": held(" c ", "a", "z"), "t": held("b")})
    assert {system: where.tolist() for system, where in matching.positions.items()} == {
        "s": [1, -1, 0],
        "t": [-1, 0, -1],
    }
    assert (matching.missing, matching.unmatched) == ({"s": 1, "t": 2}, {"s": ("z",), "t": ()})
    [batch] = batches(matching)
    assert batch.ids == ("a", "b", "c")
    assert [record and record.id for record in batch.predictions["s"]] == ["a", None, "c"]
    assert [note.kind for note in matching.notes] == ["unmatched", "missing", "missing"]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_batches_of_any_size_hold_all_documents_in_order(size: int) -> None:
    matching = match(held(*range(5), gold=True), {"s": held(4, 2, 0)})
    assert [name for batch in batches(matching, size) for name in batch.ids] == list("01234")
    assert [batch.ids for batch in batches(matching, 10, [3, 1])] == [("1", "3")]


def test_many_duplicates_are_twenty_problems_and_a_count() -> None:
    with pytest.raises(ProblemsError) as caught:
        match(held("a", gold=True), {"s": held(*["a"] * 101)})
    assert len(caught.value.problems) == 21 and caught.value.problems[-1].what == "and 80 more"


def test_no_common_id_is_nothing_evaluated_with_samples_and_suggestions() -> None:
    with pytest.raises(NothingEvaluatedError) as caught:
        match(held("12", "b.png", gold=True, label="g.csv"), {"s": held("B", "q")}, "number")
    assert all(
        part in str(caught.value)
        for part in ("'12', 'b.png'", "'B', 'q'", "'B' may be gold's 'b.png'", "g.csv")
    )


@pytest.mark.parametrize(
    ("names", "ids", "owners"),
    [
        (("INV-2025_001", "inv 2025.002"), ("INV-2025/001", "INV-2025/002"), {0: 0, 1: 1}),
        (("scans/INV 7.pdf",), ("inv_7",), {0: 0}),
        (("a-1", "a_1", "b-2"), ("a1", "b2"), {2: 1}),  # two are a1: neither is taken
        (("a-1",), ("A/1", "a.1"), {}),  # a1 is two of gold's
        (("123.00", "7.0"), ("00123", "07"), {0: 0, 1: 1}),
        (("doc-11-2", "v10", "10", "-3"), ("doc-1-12", "v1.0", "1.0", "3"), {}),
        (("-", "?"), ("!", "/"), {}),
    ],
)
def test_letters_and_digits_or_numbers_join_what_is_unique_on_both_sides(
    names: tuple[str, ...], ids: tuple[str, ...], owners: dict[int, int]
) -> None:
    joined = join_names(names, ids)
    assert joined.owners == {names[name]: ids[own] for name, own in owners.items()}
    assert bool(joined.note) == bool(owners)


def test_the_ids_of_gold_may_stand_under_a_key_of_the_answers() -> None:
    gold = open_source([{"id": f"INV-{at}", "total": at} for at in range(4)], GOLD, "g")
    rows = [{"id": f"scan{at}", "invoice": f"INV-{3 - at}", "total": 3 - at} for at in range(4)]
    matching = match(gold, {"s": open_source(rows, None, "p")})
    assert matching.positions["s"].tolist() == [3, 2, 1, 0]
    assert "INV-3, which is its invoice" in str(matching.notes[-1])
    rows[0]["invoice"] = rows[1]["invoice"]  # a key that repeats is no id
    with pytest.raises(NothingEvaluatedError):
        match(gold, {"s": open_source(rows, None, "p")})


@pytest.mark.parametrize(
    ("name", "gold", "difference", "form"),
    [
        ("A.PNG", "a.png", "letters and digits", None),
        ("scans/a.png", "a.png", "letters and digits", "name"),
        ("C:\\scans\\a.png", "a.png", "letters and digits", "name"),
        ("a", "a.png", "letters and digits", "stem"),
        ("a.pdf", "a.png", "letters and digits", "stem"),
        ("e\u0301", "\u00e9", "letters and digits", None),
        ("x/A", "a.jpeg", "letters and digits", None),
        ("12", "012", "number", "number"),
        ("123.0", "123", "number", "number"),
        ("1.23E+11", "123000000000", "number", "number"),
        ("scan%2001.pdf", "scan 01.pdf", "letters and digits", None),
    ],
    ids=str,
)
def test_a_near_miss_is_suggested_with_the_option_that_would_match_it_and_not_taken(
    name: str, gold: str, difference: str, form: str | None
) -> None:
    assert list(suggest([name], [gold])) == [(name, gold, difference)]
    matching = match(held(gold, "both", gold=True), {"s": held(name, "both")})
    assert matching.missing == {"s": 1}
    [note] = [note for note in matching.notes if note.kind == "near_id"]
    assert gold in note.what and ("match_ids:" in note.remedy) == (form is not None)
    assert f"`data: {{match_ids: {form}}}`" in note.remedy or form is None


@pytest.mark.parametrize(
    ("name", "gold"),
    [
        ("v1.2", ["v1.3"]),
        ("a1", ["a2"]),
        ("12", ["120"]),
        ("1.24E+11", ["123456789012"]),
        ("a1", ["a01"]),
        ("A", ["a.png", "a.pdf"]),
    ],
    ids=str,
)
def test_different_and_ambiguous_ids_are_not_suggested(name: str, gold: list[str]) -> None:
    assert list(suggest([name], gold)) == []


@pytest.mark.parametrize(
    ("gold", "predictions"),
    [([{"x": 1}], [{"id": "a", "x": 1}]), ([{"id": "a"}], [{"x": 1}]), ([{"x": 1}, {"x": 2}], [{"x": 1}])],
    ids=["gold lacks ids", "predictions lack ids", "other number of rows"],
)
def test_ids_on_one_side_only_are_a_problem(gold: list[dict], predictions: list[dict]) -> None:
    with pytest.raises(ProblemsError) as caught:
        match(open_source(gold, GOLD), {"s": open_source(predictions)})
    assert [problem.kind for problem in caught.value.problems] == ["no_id"]


MODELS = ["claude-3-opus-20240229", "mistralai/Mixtral-8x22B-Instruct-v0.1", "gpt.4"]


def write_systems(path: Path) -> None:
    rows = [
        {
            "source_identifier": "a",
            "gold_raw": '{"x": 1}',
            "answers_raw": {MODELS[0]: '{"x": 1}', MODELS[1]: None, MODELS[2]: {"x": 2}},
            "kind": "k",
        },
        {
            "source_identifier": "b",
            "gold_raw": '{"x": 2}',
            "answers_raw": {MODELS[0]: "no", MODELS[1]: '```\n{"x": 3}\n```'},
            "kind": "l",
        },
    ]
    path.write_text("\n".join(map(json.dumps, rows)))


def test_systems_in_one_file_are_told_apart_by_their_keys(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_systems(path)
    gold = open_source(path, SourceOptions(is_gold=True, data_key="gold_raw"))
    systems = open_systems(path, SourceOptions(systems_key="answers_raw"))
    assert list(systems) == MODELS
    [batch] = batches(pickle.loads(pickle.dumps(match(gold, systems))))
    told = {name: [r and (r.data, r.invalid) for r in records] for name, records in batch.predictions.items()}
    assert told == {
        MODELS[0]: [({"x": 1}, None), (None, "no JSON in the answer: 'no'")],
        MODELS[1]: [(None, "null answer"), ({"x": 3}, None)],
        MODELS[2]: [({"x": 2}, None), None],
    }
    assert batch.gold[0].data == {"x": 1} and batch.gold[1].meta.attributes == {"kind": "l"}


def test_a_data_key_that_no_row_has_is_a_problem_with_the_nearest(tmp_path: Path) -> None:
    write_systems(tmp_path / "s.jsonl")
    with pytest.raises(
        ProblemsError,
        match=r"no key 'gold_row' \(the data key\) in the first 2 rows; did you mean 'gold_raw'\?",
    ):
        open_source(tmp_path / "s.jsonl", SourceOptions(data_key="gold_row"))


@given(
    st.lists(st.integers(0, 30), unique=True, min_size=1),
    st.lists(st.integers(0, 30), unique=True, min_size=1),
    st.data(),
)
def test_parts_of_a_matching_hold_what_the_whole_holds(
    gold: list[int], predicted: list[int], data: st.DataObject
) -> None:
    if not set(gold) & set(predicted):
        return
    matching = match(held(*gold, gold=True), {"s": held(*predicted)})
    chosen = sorted(data.draw(st.sets(st.integers(0, len(gold) - 1), min_size=1)))
    part = pickle.loads(pickle.dumps(matching.take(np.array(chosen, dtype=np.int64))))
    assert list(batches(part)) == list(batches(matching, 1000, chosen))


BY_FORM: dict[str, tuple[str, list[str], list[Any]]] = {
    "a number is its digits": ("exact", ["7", "8"], [7, 8.0]),
    "stem": ("stem", ["d1", "scans/d2.pdf"], ["out/d1.pdf.json", "d2.TXT"]),
    "name": ("name", ["a/d1.pdf", "d2"], ["d1.pdf", "C:\\out\\d2"]),
    "number": ("number", ["00123", "7", "123000000000", "a1"], ["123", "7.0", "1.23E+11", "a1"]),
    "stem keeps what is no ending": ("stem", ["v1.2", "inv.smith"], ["v1.2.json", "inv.smith.pdf"]),
}


@pytest.mark.parametrize("name", BY_FORM)
def test_ids_match_in_the_form_that_was_named(name: str) -> None:
    form, ours, theirs = BY_FORM[name]
    matching = match(held(*ours, gold=True), {"s": held(*theirs)}, form)
    assert (matching.missing, list(matching.ids), matching.unmatched) == ({"s": 0}, ours, {"s": ()})


@pytest.mark.parametrize(
    ("gold", "pred", "form"),
    [
        (["a/d1", "b/d1"], ["d1"], "stem"),
        (["d1"], ["d1.pdf", "d1.json"], "stem"),
        (["01", "1"], ["1"], "number"),
        (["1"], ["1", "1.0"], "number"),
    ],
    ids=str,
)
def test_two_ids_of_one_side_that_are_one_in_that_form_are_a_problem_with_both(
    gold: list[str], pred: list[str], form: str
) -> None:
    with pytest.raises(ProblemsError) as caught:
        match(held(*gold, gold=True, label="g"), {"s": held(*pred)}, form)
    [problem] = caught.value.problems
    first, second = gold if len(gold) > 1 else pred
    assert problem.kind == "duplicate_id" and f"{first!r}" in problem.what and f"{second!r}" in problem.what


NAMED = SourceOptions(id_names=("invoice_no",))


@pytest.mark.parametrize("is_gold", [True, False], ids=["gold", "predictions"])
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "list", "frame"])
def test_an_id_key_that_was_named_and_that_no_row_has_is_an_error_and_never_a_match_by_position(
    tmp_path: Path, suffix: str, is_gold: bool
) -> None:
    rows = [{"id": "a", "invoice_nr": "1"}, {"id": "b", "invoice_nr": "2"}]
    options = SourceOptions(id_names=("invoice_no",), is_gold=is_gold)
    texts = {
        "jsonl": "\n".join(map(json.dumps, rows)),
        "json": json.dumps(rows),
        "csv": "id,invoice_nr\na,1\nb,2\n",
    }
    with pytest.raises(ProblemsError) as caught:
        if suffix in texts:
            (tmp_path / f"p.{suffix}").write_text(texts[suffix])
            open_source(tmp_path / f"p.{suffix}", options)
        else:
            open_source(pl.DataFrame(rows) if suffix == "frame" else rows, options, "p")
    [problem] = caught.value.problems
    assert problem.kind == "no_id_key"
    assert str(problem).partition(": ")[2] == (
        "no row has the id key 'invoice_no'; if 'id' is the id there: --id-key invoice_no --id-key id; "
        "did you mean 'invoice_nr'?"
    )


@pytest.mark.parametrize(
    ("row", "names", "told"),
    [
        (
            {"id": "a", "total": 1},
            ("x1", "x2"),
            "no row has one of the id keys 'x1', 'x2'; if 'id' is the id there: --id-key x1 --id-key x2 --id-key id",
        ),
        ({"id": True, "total": 1}, ("id",), "no row has the id key 'id'; give every record an id: text or"),
    ],
    ids=["nothing near", "no text or number"],
)
def test_an_id_key_that_no_row_can_have_is_told_with_what_would_do(
    row: dict[str, Any], names: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ProblemsError, match=told):
        open_source([row], SourceOptions(id_names=names))


@pytest.mark.parametrize(
    ("records", "names"),
    [([{"doc": "a"}], ("image_file", "doc")), ({"a": {"total": 5}}, ("invoice_no",))],
    ids=["one of several id keys is enough", "ids of a mapping need no key"],
)
def test_id_keys_that_do(records: Any, names: tuple[str, ...]) -> None:
    assert list(open_source(records, SourceOptions(id_names=names)).ids) == ["a"]


def test_large_documents_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    for name in ("gold", "pred"):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            file.writelines(
                json.dumps({"id": f"d{number}", "body": "x" * 1_000_000}) + "\n" for number in range(60)
            )
    matching = match(open_source(tmp_path / "gold.jsonl", GOLD), {"s": open_source(tmp_path / "pred.jsonl")})
    tracemalloc.start()
    sizes = [len(batch.ids) for batch in batches(matching, 2000)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(sizes) == 60 and max(sizes) * 2_000_000 <= MOST_BYTES
    assert peak < 5 * MOST_BYTES


# Predictions of one document in several variants, in one source

SPEC = "fields: {x: integer}"
ROWS = [
    {"id": "a", "variant": "raw", "x": 1},
    {"id": "b", "variant": "raw", "x": 0},
    {"id": "a", "variant": " clean ", "x": 1},
    {"id": "b", "variant": "clean", "x": 2},
]
VARIANTS_GOLD = [{"id": "a", "x": 1}, {"id": "b", "x": 2}]


def shape(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {name: list(part.ids) for name, part in split_variants("m", open_source(rows)).items()}


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        pytest.param(ROWS, {"m/raw": ["a", "b"], "m/clean": ["a", "b"]}, id="each-id-once-per-variant"),
        pytest.param(ROWS[:3], {"m/raw": ["a", "b"], "m/clean": ["a"]}, id="a-variant-may-lack-documents"),
        pytest.param([ROWS[0], {"id": "a", "x": 3}], {"m": ["a", "a"]}, id="as-many-records-without-variant"),
        pytest.param(ROWS[:2], {"m": ["a", "b"]}, id="ids-that-do-not-repeat"),
        pytest.param([*ROWS, ROWS[0]], {"m": ["a", "b", "a", "b", "a"]}, id="repeated-within-a-variant"),
        pytest.param([{"id": "a"}, {"id": "a"}], {"m": ["a", "a"]}, id="no-variant-at-all"),
        pytest.param([{"x": 1}, {"x": 1}], {"m": ["#1", "#2"]}, id="rows-without-ids"),
        pytest.param(
            [{"id": "a", "variant": 1}, {"id": "a", "variant": 2}],
            {"m": ["a", "a"]},
            id="a-number-is-no-variant",
        ),
        pytest.param(
            [{"id": "a", "variant": "x/y"}, {"id": "a", "variant": "Ü"}],
            {"m/x/y": ["a"], "m/Ü": ["a"]},
            id="any-text",
        ),
    ],
)
def test_a_source_is_taken_apart_by_variant_only_where_that_makes_ids_distinct(
    rows: list[dict[str, Any]], parts: dict[str, list[str]]
) -> None:
    assert shape(rows) == parts


def test_variants_are_scored_as_systems_against_the_same_gold_and_a_note_says_so() -> None:
    result = score(VARIANTS_GOLD, {"m": ROWS}, f"slices: [variant]\n{SPEC}")
    assert {name: result.value("accuracy", name) for name in ("m/raw", "m/clean")} == {
        "m/raw": 0.5,
        "m/clean": 1.0,
    }
    assert list(result.notes) == ["m: has ids once per variant, so each variant is a system: m/raw, m/clean"]
    assert result.documents.select("system", "doc", "variant").rows() == [
        ("m/clean", "a", "clean"), ("m/clean", "b", "clean"), ("m/raw", "a", "raw"), ("m/raw", "b", "raw"),
    ]  # fmt: skip


def test_a_record_without_a_variant_among_named_ones_is_the_problem() -> None:
    with pytest.raises(ProblemsError) as told:
        split_variants("m", open_source([*ROWS, {"id": "a", "x": 3}]))
    assert [str(one) for one in told.value.problems] == [
        "records[4]: names no variant, as most records here do; add `variant`, or leave it out"
    ]


def test_a_line_whose_variant_cannot_be_seen_is_left_out_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join([*map(json.dumps, ROWS[:3]), '{"id": "b", "x": ']), encoding="utf-8")
    result = score(VARIANTS_GOLD, path, SPEC)
    assert result.systems == ("m/raw", "m/clean")
    assert any("m.jsonl:4" in note for note in result.notes)
    assert result.counts["systems"]["m/clean"]["missing"] == 1


def test_variants_of_systems_in_one_file_are_taken_apart_too(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "variant": name, "answers": {"p": {"x": 1}, "q": {"x": 2}}} for name in ("raw", "clean")
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = score(VARIANTS_GOLD[:1], {"f": path}, SPEC, systems_key="answers")
    assert sorted(result.documents["system"].to_list()) == ["p/clean", "p/raw", "q/clean", "q/raw"]


@pytest.mark.parametrize(
    ("gold", "predicted", "remedy"),
    [
        pytest.param(
            ROWS,
            VARIANTS_GOLD,
            "keep one gold record per document, which serves every variant",
            id="gold-once-per-variant",
        ),
        pytest.param(
            [*VARIANTS_GOLD, *VARIANTS_GOLD], VARIANTS_GOLD, "keep one record per document", id="gold-twice"
        ),
        pytest.param(
            VARIANTS_GOLD,
            [*ROWS, *ROWS],
            "keep one record per document and variant",
            id="predictions-twice-in-a-variant",
        ),
        pytest.param(
            VARIANTS_GOLD,
            [*VARIANTS_GOLD, *VARIANTS_GOLD],
            "keep one record per document",
            id="predictions-twice",
        ),
    ],
)
def test_a_true_duplicate_is_an_error_that_says_what_to_do(
    gold: list[Any], predicted: list[Any], remedy: str
) -> None:
    with pytest.raises(ProblemsError) as refused:
        score(gold, {"m": predicted}, SPEC)
    assert {problem.kind for problem in refused.value.problems} == {"duplicate_id"}
    assert all(problem.remedy.startswith(remedy) for problem in refused.value.problems)


def test_a_variant_that_has_the_name_of_another_system_is_an_error() -> None:
    with pytest.raises(ProblemsError, match="system 'm/raw' is given twice"):
        score(VARIANTS_GOLD, {"m/raw": VARIANTS_GOLD, "m": ROWS}, SPEC)


# All documents in one file: every form gives the records of plain lines, and what is no set stays one record

DOCUMENT_SETS_SPEC = "fields: {vendor: text, total: number}"
RECORDS: dict[str, Any] = {f"r{at}": {"vendor": f"Oak {at}", "total": at} for at in (1, 2, 3)}
DOCUMENT_SETS_ROWS = [{"id": name, **record} for name, record in RECORDS.items()]
FRAME = pd.DataFrame(DOCUMENT_SETS_ROWS)
ORIENTS = ("columns", "index", "split", "records", "table")
SETS = {
    "by id": json.dumps(RECORDS),
    "by id, over lines": json.dumps(RECORDS, indent=1),
    "by id, in lines": "\n".join(json.dumps({name: record}) for name, record in RECORDS.items()),
    "by id, in a list": json.dumps([{name: record} for name, record in RECORDS.items()]),
    "pairs": json.dumps(list(RECORDS.items())),
    "a list": json.dumps({"version": 1, "usage": {}, "results": DOCUMENT_SETS_ROWS}),
    "a list, any name": json.dumps({"whatever": DOCUMENT_SETS_ROWS}),
    "by id, under a name": json.dumps({"model": "x", "predictions": RECORDS}),
    "by id, under two": json.dumps({"output": {"documents": RECORDS}}),
    "columns of lists": json.dumps(FRAME.to_dict("list")),
    "behind one another": "".join(map(json.dumps, DOCUMENT_SETS_ROWS)),
    "behind one another, over lines": "\n".join(json.dumps(row, indent=2) for row in DOCUMENT_SETS_ROWS),
    "with commas between": ",\n".join(json.dumps(row, indent=2) for row in DOCUMENT_SETS_ROWS),
    "an array": json.dumps(DOCUMENT_SETS_ROWS),
    "an array over lines": json.dumps(DOCUMENT_SETS_ROWS, indent=1),
    **{f"pandas {orient}": FRAME.to_json(orient=orient) for orient in ORIENTS},
    **{
        f"pandas {orient}, ids as index": FRAME.set_index("id").to_json(orient=orient)
        for orient in ORIENTS
        if orient != "records"
    },
}


@pytest.mark.parametrize("ending", ["json", "jsonl", "txt"])
@pytest.mark.parametrize("form", SETS)
def test_every_form_of_one_file_gives_the_records_of_lines(tmp_path: Path, form: str, ending: str) -> None:
    path = tmp_path / f"all.{ending}"
    path.write_text(SETS[form])
    for gold, pred in ((path, path), (DOCUMENT_SETS_ROWS, str(path)), (str(path), DOCUMENT_SETS_ROWS)):
        result = score_fully(gold, {"m": pred}, DOCUMENT_SETS_SPEC, bootstrap=0)
        assert (result.value("accuracy"), result.counts["documents"]) == (1.0, 3)
        assert not any("position" in note for note in result.notes)
    draft = spec_from_gold(str(path))
    assert "  vendor:" in draft.text and "3 of 3 documents" in draft.text
    is_plain = "array" in form or "records" in form
    assert any("was read as" in remark for remark in draft.remarks) or is_plain


LONE: dict[str, Any] = {
    "a record": {"vendor": "Oak", "total": 5},
    "a record with parts": {"vendor": "Oak", "lines": [{"id": 1}, {"id": 2}], "party": {"name": "x"}},
    "a record with items": {"customer": "Oak", "items": [{"id": 1, "total": 2}], "party": {"name": "x"}},
    "a wrapped record": {"output": {"vendor": "Oak", "total": 5}},
    "values with confidences": {
        name: {"value": value, "confidence": 0.5} for name, value in RECORDS["r1"].items()
    },
    "two parts": {"head": {"vendor": "Oak"}, "foot": {"total": 5}},
    "a record under its key": {"raw": {"a-1": {"total": 5}, "a-2": {"total": 5}}},
}


@pytest.mark.parametrize(
    ("declared", "form"),
    [
        *((("customer", "vendor", "total"), form) for form in LONE),
        *(((), form) for form in LONE),
        *((("",), form) for form in LONE),
    ],
)
def test_one_record_stays_one_record(tmp_path: Path, form: str, declared: tuple[str, ...]) -> None:
    options = SourceOptions(declared=frozenset(declared))
    path = tmp_path / "one.json"
    path.write_text(json.dumps(LONE[form]))
    source = open_source(path, options)
    assert (source.is_numbered, source.rows.read([0])[0].value) == (True, LONE[form])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"head": {"vendor": "Oak"}, "foot": {"total": 5}}',
            "holds one object with the keys 'head', 'foot'; it has no ids",
        ),
        ('[["Oak 1", 1, 2], ["Oak 2", 2, 3]]', "holds lists in place of objects; it has no ids"),
        ('["Oak", "Elm"]', "holds plain values in place of objects; it has no ids"),
    ],
)
def test_what_is_not_read_is_named_by_its_form(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(FieldassayError, match=told):
        score_fully(DOCUMENT_SETS_ROWS, {"m": str(tmp_path / "p.json")}, DOCUMENT_SETS_SPEC)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("sep=;\nid;vendor;total\nr1;Oak 1;1\n", []),
        (",id,vendor,total\n0,r1,Oak 1,1\n", ["index_column"]),
        ("Unnamed: 0,id,vendor,total\n0,r1,Oak 1,1\n", ["index_column"]),
        (",vendor,total\nr1,Oak 1,1\n", ["index_column"]),
    ],
)
def test_tables_of_excel_and_pandas_are_read(tmp_path: Path, text: str, kinds: list[str]) -> None:
    (tmp_path / "t.csv").write_text(text)
    source = open_source(tmp_path / "t.csv")
    assert [*source.ids, source.fetch([0])[0].data] == ["r1", {"vendor": "Oak 1", "total": "1"}]
    assert [note.kind for note in source.notes] == kinds
    assert source.place(0).endswith(f":{text.count(chr(10))}")


@given(st.lists(st.text("ab_1.", max_size=6), unique=True, max_size=6), st.data())
def test_an_id_stands_in_a_name_where_words_begin_and_end(ids: list[str], data: st.DataObject) -> None:
    name = data.draw(st.text("ab_1. ", max_size=9))
    parts = [own for own in ids if own and re.search(rf"(?<![^\W_]){re.escape(own)}(?![^\W_])", name)]
    assert {*_parts(name, sorted({*map(len, ids)} - {0}))} & {*ids} == {*parts}


def test_names_that_have_nothing_in_common_are_told_apart_at_once() -> None:
    with costs_at_most(60):
        assert not join_names(
            [f"file{at}.pdf" for at in range(10_000)], [f"doc-{at}" for at in range(10_000)]
        ).owners


ID_FIELD = "{data: {id_key: [no, doc]}, fields: {no: {type: id, names: [doc]}, total: number}}"
OF_IDS = {
    "the id of all answers": (
        [{"doc": "a", "total": 1}, {"doc": "b", "total": 2}],
        ["the field 'no' holds the id of the document in gold and in all answers"],
    ),
    "extracted, once wrong": ({"a": {"doc": "a", "total": 1}, "b": {"doc": "d", "total": 2}}, []),
    "none in one record": (
        [{"doc": "a", "total": 1}, {"total": 2}],
        ["m: 1 of 2 records have no id that can be read"],
    ),
}


@pytest.mark.parametrize("name", OF_IDS)
def test_ids_that_are_scored_or_lacking_are_warned_of(name: str) -> None:
    answers, told = OF_IDS[name]
    warnings = score([{"no": "a", "total": 1}, {"no": "b", "total": 2}], {"m": answers}, ID_FIELD).warnings
    assert [text.partition(",")[0] for text in warnings if text.startswith(("the field", "m:"))] == told
