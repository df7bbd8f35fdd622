"""Gold that all systems contradict in the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldassay import score
from fieldassay.attribution.suspicious_gold import SuspiciousGold, find_suspicious_gold
from fieldassay.commands.cli.main import main
from fieldassay.scoring.inputs.options import ScoreOptions

SPEC = "fields: {total: money, name: text, tags: {type: list, align: assignment, items: text}}"
GOLD = {"total": "12.00", "name": "Elm", "tags": ["x"]}
CORD = Path(__file__).parents[3] / "shared" / "data" / "cord-100"


def found_in(*answers: dict[str, Any] | None, gold: dict[str, Any] = GOLD) -> SuspiciousGold:
    systems = {
        f"s{at}": [{"id": "d", **answer}] if answer is not None else [{"id": "other"}]
        for at, answer in enumerate(answers)
    }
    result = score([{"id": "d", **gold}, {"id": "other"}], systems, SPEC, ScoreOptions(replicates=0))
    assert result.evidence is not None and result.documents is not None
    return find_suspicious_gold(result.evidence.lazy(), result.documents, result.systems)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([{"total": "21.00"}, {"total": "21.00"}], [("total", '"12.00"', '"21.00"', 2, True)]),
        ([{"total": "21.00"}, {"total": "21"}], [("total", '"12.00"', '"21.00"', 2, False)]),
        ([{"total": "21.00"}, {"total": "22.00"}], []),
        ([{"total": "21.00"}], []),
        ([{"total": "21.00"}, {}], []),
        ([{"total": "21.00"}, {"total": "21.00"}, {"total": None}], []),
        ([{"total": None}, {"total": None}], [("total", '"12.00"', None, 2, True)]),
        ([{"tags": ["x", "y"]}, {"tags": ["y", "x"]}], [("tags[1]", None, '"y"', 2, True)]),
        ([{"total": "21.00"}, None], []),
        ([{"total": "21.00"}, None, {"total": "21.00"}], [("total", '"12.00"', '"21.00"', 2, True)]),
        ([{"total": "21.00"}] * 3 + [{}], [("total", '"12.00"', '"21.00"', 3, True)]),
        ([{"total": "21.00"}] * 2 + [{}], []),
        ([{"total": None}] * 3 + [{}], []),
        ([{"total": "21.00"}] * 3 + [{}] * 3, []),
    ],
    ids=[
        "same text",
        "same value",
        "other values",
        "one system",
        "one is right",
        "one has none",
        "none has it",
        "gold lacks it",
        "no answer",
        "no answer of a third",
        "most agree",
        "two of three agree",
        "most have none",
        "half agree",
    ],
)
def test_gold_is_suspicious_where_all_systems_agree_on_another_value(
    answers: list[Any], expected: list[Any]
) -> None:
    found = found_in(*({**GOLD, **answer} if answer is not None else None for answer in answers))
    assert [
        (one.path, one.gold, one.agreed, one.systems, one.is_identical) for one in found.values
    ] == expected


def test_what_all_say_comes_before_what_most_say() -> None:
    told = [{**GOLD, "total": "21.00", "name": "Oak"}] * 3 + [{**GOLD, "name": "Oak"}]
    assert [(one.path, one.systems, one.of) for one in found_in(*told).values] == [
        ("name", 4, 4),
        ("total", 3, 4),
    ]


def test_a_system_that_failed_everywhere_hides_nothing_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.csv").write_text("id,total\n1,5\n2,9\n")
    (tmp_path / "spec.yaml").write_text("fields: {total: money}")
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "1", "total": 5}\n{"id": "2", "total": 6}\n')
    (tmp_path / "c.jsonl").write_text('{"id": "1", "error": "down"}\n{"id": "2", "error": "down"}\n')
    inputs = [text for name in "abc" for text in ("-p", str(tmp_path / f"{name}.jsonl"))]
    scored = ["-s", str(tmp_path / "spec.yaml"), "-g", str(tmp_path / "gold.csv"), *inputs]
    assert main(["score", *scored, "-o", str(tmp_path / "run"), "-q"]) == 0
    assert main(["export", str(tmp_path / "run"), "--what", "suspicious-gold"]) == 0
    printed = capsys.readouterr().out
    assert "Suspicious gold: 1" in printed
    assert "all 2 documents were looked at; c has no answer" in printed


def test_nothing_suspicious_says_how_many_documents_were_looked_at() -> None:
    found = found_in({"total": "21.00"}, None)
    assert (found.values, found.looked, found.documents) == ((), 0, 2)
    assert found.extent == "0 of 2 documents were looked at: in the others fewer than two systems answered"


def test_identical_texts_come_first_and_absences_last() -> None:
    told = [{"total": "21.00", "name": "Oak", "tags": []}, {"total": "21", "name": "Oak", "tags": []}]
    assert [one.path for one in found_in(*told).values] == ["name", "tags[0]", "total"]


@pytest.mark.parametrize("ending", ["json", "csv", "md"])
def test_the_list_is_exported_and_printed(
    tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "receipt_00029", **GOLD}))
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "receipt_00029", **GOLD, "name": "=Oak"}))
    spec, gold, a, b, folder = (
        str(tmp_path / name) for name in ("spec.yaml", "gold.jsonl", "a.jsonl", "b.jsonl", "run")
    )
    assert (
        main(["score", "-s", spec, "-g", gold, "-p", a, "-p", b, "-o", folder, "-q", "--bootstrap", "0"]) == 0
    )
    target = tmp_path / f"suspicious.{ending}"
    assert main(["export", folder, "--what", "suspicious-gold", "-o", str(target)]) == 0
    assert "Oak" in target.read_text()
    if ending == "json":
        [row] = json.loads(target.read_text())
        assert row["doc"] == "receipt_00029" and row["agreed"] == '"=Oak"' and row["systems"] == 2
    capsys.readouterr()
    assert main(["export", folder, "--what", "suspicious-gold"]) == 0
    printed = capsys.readouterr().out
    assert "receipt_00029" in printed and "=Oak" in printed
    assert main(["report", folder, "--format", "markdown"]) == 0
    assert "Suspicious gold" in capsys.readouterr().out


@pytest.mark.skipif(not CORD.exists(), reason="the data are not here")
def test_receipts_with_doubtful_gold_are_found() -> None:
    spec = Path(__file__).parents[2] / "examples" / "cord" / "spec.yaml"
    rows = [json.loads(line) for line in (CORD / "pred_deepcpcfg.jsonl").read_text().splitlines()]
    again = [{"id": row["id"], "pred": row["pred"]} for row in rows]
    gold = [
        {"id": row["id"], **row["gold"]}
        for row in map(json.loads, (CORD / "gold.jsonl").read_text().splitlines())
    ]
    result = score(
        gold,
        {name: [{"id": row["id"], **row["pred"]} for row in again] for name in ("a", "b")},
        spec,
        ScoreOptions(replicates=0),
    )
    assert result.evidence is not None and result.documents is not None
    found = find_suspicious_gold(result.evidence.lazy(), result.documents, result.systems)
    assert ("test_receipt_00084", "TotalPrice", '"Rp"', '"39.600"') in {
        (one.doc, one.path, one.gold, one.agreed) for one in found.values
    }
    assert any(one.doc == "test_receipt_00099" and one.gold is None for one in found.values)
