"""`score --only` and `--fields`: a part of the documents, a part of the spec; and ids that are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.scoring.inputs.options import ScoreOptions

Run = Callable[..., Ran]
SPEC = "name: r\nfields: {shop: text, total: money}\n"
GOLD = [
    {"id": "a", "shop": "Oak", "total": 1},
    {"id": "b", "shop": "Elm", "total": 2},
    {"id": "c", "shop": "Ash", "total": 3},
]
PRED = [
    {"id": "a", "shop": "Oak", "total": 1},
    {"id": "b", "shop": "Elm", "total": 9},
    {"id": "c", "shop": "X", "total": 9},
]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    (tmp_path / "spec.yaml").write_text(SPEC)
    for name, rows in (("gold", GOLD), ("m", PRED)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return [
        "--spec",
        str(tmp_path / "spec.yaml"),
        "--gold",
        str(tmp_path / "gold.jsonl"),
        "--pred",
        str(tmp_path / "m.jsonl"),
        "--bootstrap",
        "0",
    ]


def accuracy(
    only: tuple[str, ...] | None = None, fields: tuple[str, ...] | None = None, spec: str = SPEC
) -> float | None:
    return score(GOLD, PRED, spec, ScoreOptions(replicates=0, only=only, fields=fields)).value("accuracy")


def test_only_the_documents_that_are_named_are_scored() -> None:
    assert (accuracy(), accuracy(("a",)), accuracy(("c", "a", "c"))) == (0.5, 1.0, 0.5)
    assert score(GOLD, PRED, SPEC, ScoreOptions(only=("b",))).counts["documents"] == 1


def test_only_the_fields_that_are_named_are_scored_and_the_others_are_not_undeclared() -> None:
    result = score(GOLD, PRED, SPEC, ScoreOptions(replicates=0, fields=("shop",)))
    assert result.value("accuracy") == pytest.approx(2 / 3)
    assert result.warnings == ()
    assert (
        result.run["spec"]["digest"]
        == score(GOLD, PRED, "name: r\nfields: {shop: text}").run["spec"]["digest"]
    )
    assert accuracy(fields=("shop",), spec=SPEC + "extra: spurious\n") == pytest.approx(2 / 3)


UNKNOWN = {
    "document": (ScoreOptions(only=("a", "aa")), SPEC, "no document has the id 'aa'; did you mean 'a'?"),
    "field": (ScoreOptions(fields=("totl",)), SPEC, "no top-level field 'totl'; did you mean 'total'?"),
    "gate": (ScoreOptions(fields=("shop",)), SPEC + "gates: ['field_accuracy[total] >= 0.9']\n", "total"),
    "type": (
        ScoreOptions(fields=("shop",)),
        "document_type: kind\nfields: {kind: text, shop: {type: text, applies_to: [x]}}\n",
        "add 'kind', which holds the type",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_choice_that_cannot_be_meant_is_an_error(name: str) -> None:
    options, spec, told = UNKNOWN[name]
    with pytest.raises(ProblemsError) as caught:
        score(GOLD, PRED, spec, options)
    assert told in str(caught.value)


@pytest.mark.parametrize("choice", [["--only", "a"], ["--fields", "shop"]], ids=["only", "fields"])
def test_a_run_of_a_part_is_never_compared_in_silence_with_a_whole_one(
    run: Run, data: list[str], tmp_path: Path, choice: list[str]
) -> None:
    assert run("score", *data, "--out", tmp_path / "whole", "--quiet").code == 0
    assert run("score", *data, "--out", tmp_path / "part", "--quiet", *choice).code == 0
    assert run("diff", tmp_path / "whole", tmp_path / "part").code == 2
    recorded = json.loads((tmp_path / "part" / "run.json").read_text())["options"]
    assert recorded[choice[0][2:]] == [choice[1]]
    again = run("score", "--run", tmp_path / "part", "--out", tmp_path / "again", "--quiet")
    assert again.code == 0
    numbers = [
        json.loads((tmp_path / name / "metrics.json").read_text())["estimates"] for name in ("part", "again")
    ]
    assert numbers[0] == numbers[1]


def test_a_run_of_chosen_documents_is_no_baseline(run: Run, data: list[str], tmp_path: Path) -> None:
    assert run("score", *data, "--out", tmp_path / "part", "--quiet", "--only", "a").code == 0
    found = run("baseline", "set", tmp_path / "part", "--out", tmp_path / "b.json")
    assert found.code == 2 and "score again without --only" in found.err


@pytest.mark.parametrize("how", ["option", "spec", "gold only"])
def test_an_id_key_that_a_side_lacks_stops_the_run_even_where_rows_are_equally_many(
    run: Run, data: list[str], tmp_path: Path, how: str
) -> None:
    if how == "spec":
        (tmp_path / "spec.yaml").write_text("id: invoice_no\n" + SPEC)
    if how == "gold only":
        (tmp_path / "gold.jsonl").write_text(
            "\n".join(json.dumps({"invoice_no": row["id"], **row}) for row in GOLD)
        )
    found = run("score", *data, *([] if how == "spec" else ["--id-key", "invoice_no"]), "--quiet")
    assert found.code == 2
    sides = ["m.jsonl"] if how == "gold only" else ["gold.jsonl", "m.jsonl"]
    assert [line.split(":")[0].rpartition("/")[2] for line in found.err.splitlines()] == sides
    assert "no row has the id key 'invoice_no'; its keys: id, shop, total" in found.err
    if how == "gold only":
        assert run("score", *data, "--id-key", "invoice_no", "--id-key", "id", "--quiet").code == 0


def test_ids_matched_by_stem_give_the_same_numbers_and_the_run_says_so(
    run: Run, data: list[str], tmp_path: Path
) -> None:
    assert run("score", *data, "--out", tmp_path / "exact", "--quiet").code == 0
    (tmp_path / "m.jsonl").write_text(
        "\n".join(json.dumps({**row, "id": f"out/{row['id']}.pdf.json"}) for row in PRED)
    )
    refused = run("score", *data, "--quiet")
    assert refused.code == 5 and "--match-ids stem would match them" in refused.err
    assert run("score", *data, "--match-ids", "stem", "--out", tmp_path / "stem", "--quiet").code == 0
    numbers = [
        json.loads((tmp_path / name / "metrics.json").read_text())["estimates"] for name in ("exact", "stem")
    ]
    assert numbers[0] == numbers[1]
    assert (
        json.loads((tmp_path / "stem" / "run.json").read_text())["inputs"]["options"]["match_ids"] == "stem"
    )


def test_rows_of_a_long_table_are_grouped_by_the_option_and_by_the_spec(run: Run, tmp_path: Path) -> None:
    spec = (
        "name: r\nfields: {lines: {type: list, items: {type: object, fields: {sku: id, amount: number}}}}\n"
    )
    (tmp_path / "spec.yaml").write_text(spec)
    (tmp_path / "gold.csv").write_text("id,sku,amount\na,X,1\na,Y,2\n")
    (tmp_path / "m.jsonl").write_text(
        json.dumps({"id": "a", "lines": [{"sku": "X", "amount": 1}, {"sku": "Y", "amount": 2}]})
    )
    data = [
        "--spec",
        tmp_path / "spec.yaml",
        "--gold",
        tmp_path / "gold.csv",
        "--pred",
        tmp_path / "m.jsonl",
        "--quiet",
        "--fail-under",
        "accuracy=1",
    ]
    refused = run("score", *data)
    assert refused.code == 2 and "or give --group" in refused.err
    assert run("score", *data, "--group").code == 0
    (tmp_path / "spec.yaml").write_text(spec + "data: {group: true}\n")
    assert run("score", *data).code == 0
