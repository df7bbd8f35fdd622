"""One answer, one score: the same record through every door of the program gives the same evidence."""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from effort import few_examples
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_golden import ENCODER, ROOT

import fieldassay as fa
from fieldassay.commands import pytest_plugin
from fieldassay.scoring.inputs import open_inputs
from fieldassay.spec.plan.compile import compile_plan
from fieldassay.spec.plan.nodes import Plan
from fieldassay.spec.presets.catalogue import preset_names

SHIPPED = Path(fa.sample().spec).parent
BUSINESS = ("business/ground_truth.csv", "business/atlas.csv")
ENTRIES = ("entries/gold.jsonl", "entries/predictions.jsonl")
SLOTS = ("slot-filling/gold.jsonl", "slot-filling/zero-shot.jsonl")
FILES: Mapping[str, tuple[str | Path, str | Path]] = {
    "anls-star": BUSINESS, "business-documents": BUSINESS, "engineering-extractor": ("engineering/cases", "engineering/v1.jsonl"),
    "entry-matching": ENTRIES, "entry-matching-mean": ENTRIES, "slot-filling": SLOTS, "slot-filling-chamfer": SLOTS,
    "lab-report": ("clinical/lab-gold.jsonl", "clinical/lab-v1.jsonl"), "prescription": ("clinical/rx-gold.jsonl", "clinical/rx-v1.jsonl"),
    "sample": (SHIPPED / "gold.jsonl", SHIPPED / "atlas.jsonl"),
}  # fmt: skip
"""Gold and predictions by preset, and those that ship."""

ANSWERS: dict[str, Any] = {}
SYSTEMS = {"systems": {"own": {"strategy": "function", "call": f"{__name__}:answer"}}}
LEFT_OUT = ("system", "doc", "confidence")
Answers = Mapping[str, Mapping[str, Any]]


def answer(document: Mapping[str, Any]) -> Any:
    """Return the answer to a document: a system of the user."""
    return ANSWERS[document["id"].removesuffix(".txt")]


def plan_of(spec: Any) -> Plan:
    """Return the plan of a spec by whose gates no answer fails."""
    return compile_plan(replace(fa.read_spec(spec), gates=()))


def evidence_of(*results: fa.Result | fa.Run, left_out: tuple[str, ...] = LEFT_OUT) -> list[str]:
    """Return the rows of evidence in one order, without names and what stands beside the record."""
    frames = [
        result.evidence.lazy().drop(left_out).collect() for result in results if result.evidence is not None
    ]
    rows = pl.concat(frames, how="diagonal").iter_rows(named=True)
    return sorted(repr([*filter(lambda cell: cell[1] is not None, row.items())]) for row in rows)


def doors(answers: Answers, gold: Mapping[str, Any], plan: Plan, place: Path) -> dict[str, list[str]]:
    """Return the evidence of the answers by the door that they go through."""
    rows = [{"id": name, "pred": record} for name, record in answers.items()]
    frame = pl.DataFrame({"id": list(answers), "pred": [json.dumps(record) for record in answers.values()]})
    (place / "docs").mkdir()
    for name in answers:
        (place / "docs" / f"{name}.txt").write_text("nothing")
    ANSWERS.update(answers)
    (place / "rows.json").write_text(json.dumps(rows))
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame.write_parquet(place / "rows.parquet")
    frame.write_csv(place / "rows.csv")

    def scored(predictions: Any, **options: Any) -> list[str]:
        return evidence_of(fa.score(gold, {"s": predictions}, plan, bootstrap=0, **options))

    options = fa.SweepOptions(fa.ExtractOptions(jobs=0))
    sweep = fa.run(place / "docs", plan, gold, place / "sweep", SYSTEMS, options)
    fa.extract(place / "docs", plan.spec, place / "out", answer, options.extract)
    with patch.object(pytest_plugin, "decide", lambda *_: ()):  # no answer is too bad to be looked at
        asserted = [pytest_plugin._assert_extraction(gold[name], answers[name], plan) for name in answers]
    return {
        "rows": scored(rows),
        "records by id": scored(answers),
        "a frame": scored(frame),
        **{
            f"rows.{ending}": scored(place / f"rows.{ending}")
            for ending in ("json", "jsonl", "parquet", "csv")
        },
        "run": evidence_of(sweep.run),
        "the file of run": scored(place / "sweep" / "own" / "predictions.jsonl"),
        "the folder of run": scored(place / "sweep" / "own"),
        "the file of extract": scored(place / "out" / "predictions.jsonl", match_ids="stem"),
        "pytest": evidence_of(*asserted),
    }


def differing(found: Mapping[str, list[str]]) -> list[str]:
    return [name for name, rows in found.items() if rows != found["rows"]]


def test_every_preset_that_judges_has_an_example_here() -> None:
    assert {*preset_names()} - {"clinical-decision"} == {*FILES} - {"sample"}


LIKE_OTHERS = {"entry-matching-mean", "slot-filling-chamfer", "lab-report"}
"""Presets that take the way of another one."""


@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=pytest.mark.full) if one in LIKE_OTHERS else one for one in FILES]
)
def test_an_answer_has_the_same_evidence_through_every_door(case: str, tmp_path: Path) -> None:
    if case.startswith("slot-filling") and find_spec(ENCODER) is None:
        pytest.skip("the encoder is not installed")
    plan = plan_of(SHIPPED / "spec.yaml" if case == "sample" else {"protocol": case})
    of_gold, of_pred = (ROOT / "examples" / name for name in FILES[case])
    matching = open_inputs(plan, of_gold, {"s": of_pred})
    source = next(iter(matching.predictions.values()))
    records = source.fetch(range(len(source)))
    answers = {
        record.id: record.data
        for record in records[:3]
        if record.data is not None and record.id in matching.ids
    }
    rows = matching.gold.rows.read(range(len(matching)))
    gold = {name: row.value for name, row in zip(matching.ids, rows, strict=True) if name in answers}
    assert answers and differing(doors(answers, gold, plan, tmp_path)) == []


LEAVES = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from(["", " ", "m3/h", "5.000", "null"])
)
SHARED = {"site": "north"}
"""What gold and answers have in common: those with nothing are refused."""
KEYS = st.sampled_from(["flow", "unit", "value", "usage_m3", "id", "name", "system"])


def trees() -> st.SearchStrategy[dict[str, Any]]:
    def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)

    return st.dictionaries(KEYS, st.recursive(LEAVES, grow, max_leaves=6), min_size=1, max_size=4)


@few_examples(10, 3)
@example(
    [
        ({"usage_m3": None}, {}),
        ({"name": {"b": ["m3/h"]}, "usage_m3": ["m3/h"]}, {"unit": {"a": ["1", "m3/h"]}}),
    ]
)
@given(st.lists(st.tuples(trees(), trees()), min_size=1, max_size=4))
def test_a_drawn_tree_has_the_same_evidence_through_every_door(pairs: list[tuple[Any, Any]]) -> None:
    gold = {
        f"case_{at}": {
            "test_case_id": f"case_{at}",
            "difficulty": "easy",
            "expected_extraction": tree | SHARED,
        }
        for at, (tree, _) in enumerate(pairs)
    }
    answers = {f"case_{at}": tree | SHARED for at, (_, tree) in enumerate(pairs)}
    with TemporaryDirectory() as place:
        found = doors(answers, gold, plan_of({"protocol": "engineering-extractor"}), Path(place))
    assert differing(found) == []


COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "shop": st.sampled_from(["Oak", " Elm, Ltd ", "null", 'a "b"', "5.000", "Ü"]),
    "total": st.sampled_from([5.0, 1250.5, -0.01]),
    "count": st.integers(-99, 99),
    "share": st.floats(0, 1, width=16),
    "paid": st.booleans(),
    "day": st.sampled_from(["2025-03-04", "4 March 2025", "n/a"]),
}
TYPES = "fields: {shop: text, total: money, count: integer, share: number, paid: boolean, day: date}"
FLAT = st.fixed_dictionaries({}, optional={name: st.none() | values for name, values in COLUMNS.items()})


@few_examples()
@given(st.lists(st.tuples(FLAT, FLAT), min_size=1, max_size=4))
def test_a_flat_record_has_the_same_evidence_as_a_row_of_a_table(pairs: list[tuple[Any, Any]]) -> None:
    """The text of a cell is judged as the value that it was written from; `pred` has it as it stands."""
    gold, answers = (
        [{"id": f"case_{at}", **one, "shop": "Oak"} for at, one in enumerate(side)]
        for side in zip(*pairs, strict=True)
    )
    frame = pl.DataFrame(answers, schema_overrides={"total": pl.Float64}, infer_schema_length=None)
    with TemporaryDirectory() as place:
        frame.write_parquet(f"{place}/rows.parquet")
        frame.write_csv(f"{place}/rows.csv")
        tables = {"rows": answers, "a frame": frame} | {
            one: f"{place}/rows.{one}" for one in ("parquet", "csv")
        }
        found = {
            name: evidence_of(
                fa.score(gold, {"s": rows}, plan_of(TYPES), bootstrap=0), left_out=(*LEFT_OUT, "pred")
            )
            for name, rows in tables.items()
        }
    assert differing(found) == []
