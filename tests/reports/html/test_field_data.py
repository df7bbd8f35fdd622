"""What the page of fields is made from adds up to the evidence."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions

SPEC = (
    "{fields: {kind: {type: enum, values: [a, b, c]}, total: money, name: {type: text, compare: "
    "indel}}, locale: en}"
)
GOLD = [
    {"id": str(number), "kind": "abc"[number % 3], "total": 10 + number, "name": f"river stone {number}"}
    for number in range(30)
]
FIRST = [
    {
        **record,
        "kind": "b" if place % 5 == 0 else record["kind"],
        "total": record["total"] * (10 if place % 7 == 0 else 1),
    }
    for place, record in enumerate(GOLD)
]
SECOND = [{"id": record["id"], "name": str(record["name"])[:-3]} for record in GOLD]


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], pl.DataFrame]:
    result = score(GOLD, {"first": FIRST, "second": SECOND}, SPEC, ScoreOptions(replicates=0))
    assert result.evidence is not None
    return read_blocks(fa.report(result)), result.evidence.filter(kind="value")


def test_scores_between_wrong_and_right_are_counted_once(
    made: tuple[dict[str, Any], pl.DataFrame],
) -> None:
    blocks, rows = made
    assert list(blocks["fields"]["scores"]) == ["name"]
    for field, counts in blocks["fields"]["scores"].items():
        for system, bins in zip(("first", "second"), counts, strict=True):
            judged = rows.filter(
                (pl.col("field") == field) & (pl.col("system") == system) & (pl.col("outcome") != "absent")
            )
            assert sum(bins) == len(judged)
            assert bins[-1] == len(judged.filter(pl.col("score") >= 1))


def test_fields_stand_in_the_order_of_the_spec() -> None:
    spec = "{fields: {z: text, account: {type: object, fields: {number: text, b: text}}, lines: {type: list, items: {type: object, fields: {d: text, a: text}}}, a: text}}"
    record = {
        "id": "1",
        "a": "a",
        "z": "z",
        "account": {"b": "b", "number": "1"},
        "lines": [{"a": "a", "d": "d"}],
    }
    blocks = read_blocks(fa.report(score([record], {"one": [record]}, spec, ScoreOptions(replicates=0))))
    wanted = ["z", "account.number", "account.b", "lines[].d", "lines[].a", "a"]
    assert [one["field"] for one in blocks["fields"]["fields"] if one["field"] in wanted] == wanted
    assert [name for name in blocks["core"]["names"]["field"] if name in wanted] == wanted


def test_kinds_of_wrong_add_up_to_the_errors(made: tuple[dict[str, Any], pl.DataFrame]) -> None:
    blocks, rows = made
    wrong = rows.filter(pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"]))
    kinds = blocks["fields"]["mistakes"]
    for field in ("kind", "total", "name"):
        for place, system in enumerate(("first", "second")):
            assert sum(kind["counts"][place] for kind in kinds.get(field, [])) == len(
                wrong.filter(field=field, system=system)
            )
    assert sum(blocks["errors"]["columns"]["count"]) == len(wrong)


def test_confusions_count_every_judged_value(made: tuple[dict[str, Any], pl.DataFrame]) -> None:
    blocks, _ = made
    found = blocks["fields"]["confusions"]["kind"]
    labels = found["labels"]
    first = {(labels[gold], labels[pred]): count for gold, pred, count in found["systems"]["first"]}
    assert first == {("a", "a"): 8, ("a", "b"): 2, ("b", "b"): 10, ("c", "c"): 8, ("c", "b"): 2}
    assert all(pred is None for _, pred, _ in found["systems"]["second"])


def test_numbers_that_differ_are_listed_with_both_sides(made: tuple[dict[str, Any], pl.DataFrame]) -> None:
    blocks, _ = made
    first, second = blocks["fields"]["residuals"]["total"]
    assert (first["equal"], first["other"]) == (25, 5)
    assert sorted(pred / gold for _, gold, pred in first["pairs"]) == [10.0] * 5
    assert second == {"equal": 0, "other": 0, "pairs": []}
