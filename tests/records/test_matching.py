"""Which prediction belongs to which gold record, and what the user is told."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.errors import NothingEvaluatedError, ProblemsError
from fieldassay.records.matching import MOST_BYTES, batches, match, suggest
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.memory import hold_records
from fieldassay.records.sources.source import Source, open_source, open_systems

GOLD = SourceOptions(is_gold=True)


def held(*ids: object, gold: bool = False, label: str = "p") -> Source:
    return hold_records([{"id": name, "x": 1} for name in ids], GOLD if gold else None, label)


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


def test_a_numeric_id_equals_its_digits() -> None:
    assert match(held(7, 8.0, gold=True), {"s": held("7", "8")}).missing == {"s": 0}


def test_duplicate_ids_are_problems_with_both_places() -> None:
    with pytest.raises(ProblemsError) as caught:
        match(held("a", "b", "a", gold=True, label="g"), {"s": held("a", "a")})
    assert [(p.where, p.what) for p in caught.value.problems] == [
        ("g[2]", "duplicate id 'a', first in g[0]"),
        ("p[1]", "duplicate id 'a', first in p[0]"),
    ]


def test_many_duplicates_are_twenty_problems_and_a_count() -> None:
    with pytest.raises(ProblemsError) as caught:
        match(held("a", gold=True), {"s": held(*["a"] * 101)})
    assert len(caught.value.problems) == 21 and caught.value.problems[-1].what == "and 80 more"


def test_no_common_id_is_nothing_evaluated_with_samples_and_suggestions() -> None:
    with pytest.raises(NothingEvaluatedError) as caught:
        match(held("a.png", "b.png", gold=True, label="g.csv"), {"s": held("in/A.PNG", "q")})
    assert all(
        part in str(caught.value)
        for part in ("'a.png', 'b.png'", "'in/A.PNG', 'q'", "(folder, case)", "g.csv")
    )


@pytest.mark.parametrize(
    ("name", "gold", "difference"),
    [
        ("A.PNG", "a.png", "case"),
        ("scans/a.png", "a.png", "folder"),
        ("C:\\scans\\a.png", "a.png", "folder"),
        ("a", "a.png", "suffix"),
        ("a.pdf", "a.png", "suffix"),
        ("e\u0301", "\u00e9", "Unicode form"),
        ("x/A", "a.jpeg", "folder, suffix, case"),
        ("12", "012", "number"),
        ("123.0", "123", "number"),
        ("1.23E+11", "123000000000", "number"),
        ("1.23457E+11", "123456789012", "rounded number"),
        ("scan%2001.pdf", "scan 01.pdf", "percent-encoding"),
        ("inv1_page_1.png", "inv1", "suffix, page"),
        ("inv1-p2", "INV1", "page, case"),
    ],
    ids=str,
)
def test_a_near_miss_is_suggested_and_not_taken(name: str, gold: str, difference: str) -> None:
    assert list(suggest([name], [gold])) == [(name, gold, difference)]
    matching = match(held(gold, "both", gold=True), {"s": held(name, "both")})
    assert matching.missing == {"s": 1}
    assert any(note.kind == "near_id" and gold in note.what for note in matching.notes)


@pytest.mark.parametrize(
    ("name", "gold"),
    [("v1.2", "v1.3"), ("a1", "a2"), ("12", "120"), ("1.24E+11", "123456789012"), ("a1", "a01")],
    ids=str,
)
def test_different_ids_are_not_suggested(name: str, gold: str) -> None:
    assert list(suggest([name], [gold])) == []


def test_an_ambiguous_near_miss_is_not_suggested() -> None:
    assert list(suggest(["A"], ["a.png", "a.pdf"])) == []


def test_records_without_ids_match_by_position_with_a_warning() -> None:
    rows = [{"x": 1}, {"x": 2}]
    matching = match(hold_records(rows, GOLD), {"s": hold_records(rows)})
    assert list(matching.ids) == ["#1", "#2"] and [note.kind for note in matching.notes] == ["by_position"]


@pytest.mark.parametrize(
    ("gold", "predictions"),
    [([{"x": 1}], [{"id": "a", "x": 1}]), ([{"id": "a"}], [{"x": 1}]), ([{"x": 1}, {"x": 2}], [{"x": 1}])],
    ids=["gold lacks ids", "predictions lack ids", "other number of rows"],
)
def test_ids_on_one_side_only_are_a_problem(gold: list[dict], predictions: list[dict]) -> None:
    with pytest.raises(ProblemsError) as caught:
        match(hold_records(gold, GOLD), {"s": hold_records(predictions)})
    assert [problem.kind for problem in caught.value.problems] == ["no_id"]


def test_unreadable_gold_stops_with_every_record_that_is_wrong(tmp_path: Path) -> None:
    rows = [{"id": 1, "gold": None}, {"id": 2, "gold": {}}, {"id": 3, "gold": '{"a": 1,}'}]
    source = hold_records(rows, SourceOptions(is_gold=True, data_key="gold"), "g.jsonl")
    with pytest.raises(ProblemsError) as caught:
        list(batches(match(source, {})))
    assert [(problem.where, problem.what[:11]) for problem in caught.value.problems] == [
        ("g.jsonl[0]", "null answer"),
        ("g.jsonl[2]", "the JSON in"),
    ]


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
    matching = pickle.loads(pickle.dumps(match(gold, systems)))
    [batch] = batches(matching)
    told = {name: [r and (r.data, r.invalid) for r in records] for name, records in batch.predictions.items()}
    assert told == {
        MODELS[0]: [({"x": 1}, None), (None, "no JSON in the answer: 'no'")],
        MODELS[1]: [(None, "null answer"), ({"x": 3}, None)],
        MODELS[2]: [({"x": 2}, None), None],
    }
    assert batch.gold[0].data == {"x": 1} and batch.gold[1].meta.attributes == {"kind": "l"}


@pytest.mark.parametrize("model", MODELS)
def test_a_data_key_may_hold_dots_and_slashes(tmp_path: Path, model: str) -> None:
    write_systems(tmp_path / "s.jsonl")
    source = open_source(tmp_path / "s.jsonl", SourceOptions(data_key=f"answers_raw.{model}"))
    assert sum(record.data is not None for record in source.fetch([0, 1])) == 1


def test_a_data_key_that_no_row_has_is_a_problem_with_the_nearest(tmp_path: Path) -> None:
    write_systems(tmp_path / "s.jsonl")
    with pytest.raises(
        ProblemsError, match=r"no data key 'gold_row' in the first 2 rows; did you mean 'gold_raw'\?"
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


def test_an_index_of_lines_is_small(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    path.write_text("".join(f'{{"id": "document-{i}", "text": "{"x" * 1000}"}}\n' for i in range(20_000)))
    tracemalloc.start()
    source = open_source(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(source) == 20_000 and peak < 8_000_000


BY_FORM = {
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


def test_an_unknown_form_of_ids_is_a_problem_with_the_near_one() -> None:
    with pytest.raises(ProblemsError, match=r"unknown form of ids 'stems'; did you mean 'stem'\?"):
        match(held("a", gold=True), {"s": held("a")}, "stems")


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("in/a.png", "--match-ids name"),
        ("a", "--match-ids stem"),
        ("A.png", None),
        ("7", "--match-ids number"),
    ],
    ids=["folder", "suffix", "case", "number"],
)
def test_a_near_miss_names_the_option_that_would_match_it(name: str, option: str | None) -> None:
    matching = match(held("a.png", "007", "both", gold=True), {"s": held(name, "both")})
    [note] = [note for note in matching.notes if note.kind == "near_id"]
    assert (option or "") in note.remedy and ("--match-ids" in note.remedy) == (option is not None)


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
            hold_records(pl.DataFrame(rows) if suffix == "frame" else rows, options, "p")
    [problem] = caught.value.problems
    assert problem.kind == "no_id_key"
    assert str(problem).endswith("no row has the id key 'invoice_no'; did you mean 'invoice_nr'?")


def test_an_id_key_that_nothing_is_near_to_is_told_with_the_keys_on_offer() -> None:
    with pytest.raises(ProblemsError, match="no row has one of the id keys 'x1', 'x2'; its keys: id, total"):
        hold_records([{"id": "a", "total": 1}], SourceOptions(id_names=("x1", "x2")))


def test_one_of_several_id_keys_is_enough() -> None:
    assert list(hold_records([{"doc": "a"}], SourceOptions(id_names=("image_file", "doc"))).ids()) == ["a"]


def test_a_file_in_a_folder_has_its_name_as_id_if_the_key_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"total": 5}')
    assert list(open_source(tmp_path, NAMED).ids()) == ["a"]


def test_ids_of_a_mapping_need_no_key() -> None:
    assert list(hold_records({"a": {"total": 5}}, NAMED).ids()) == ["a"]


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


def test_one_document_that_is_larger_than_what_is_read_at_a_time_is_read_alone(tmp_path: Path) -> None:
    rows = [{"id": "a", "x": ""}, {"id": "b", "x": "y" * (MOST_BYTES + 1)}, {"id": "c", "x": ""}]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    matching = match(open_source(tmp_path / "gold.jsonl", GOLD), {"s": held("a")})
    assert [batch.ids for batch in batches(matching)] == [("a",), ("b",), ("c",)]


def test_large_files_of_a_folder_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(json.dumps({"x": "y" * (MOST_BYTES // 2)}))
    matching = match(open_source(tmp_path, GOLD), {"s": held("a")})
    assert [len(batch.ids) for batch in batches(matching)] == [1, 1, 1]


def test_an_id_key_that_holds_no_text_or_number_is_told_so() -> None:
    with pytest.raises(ProblemsError, match="no row has the id key 'id'; give every record an id: text or"):
        hold_records([{"id": True, "total": 1}], SourceOptions(id_names=("id",)))
