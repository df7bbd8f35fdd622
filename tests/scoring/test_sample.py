"""The shipped sample is what it says: complete, valid, and the same on every run of its generator."""

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from stdnum.au import abn

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "src" / "fieldassay" / "scoring" / "sample"
DATA = ("gold.jsonl", "atlas.jsonl", "birch.jsonl", "cedar.jsonl")
SYSTEMS = ("atlas", "birch", "cedar")
PRINTED = ("documents", "examples", "recorded")
LIMIT_BYTES = 600_000


def load(name):
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def gold():
    return load("gold.jsonl")


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    command = [sys.executable, "-B", str(ROOT / "samples" / "make_sample.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return folder, json.loads(done.stdout)


@pytest.mark.parametrize("name", DATA)
def test_generator_writes_the_shipped_bytes_again(name, regenerated):
    assert (regenerated[0] / name).read_bytes() == (SAMPLE / name).read_bytes()


@pytest.mark.parametrize(("system", "accuracy"), [("atlas", 0.95), ("birch", 0.80), ("cedar", 0.65)])
def test_systems_are_as_good_as_documented(system, accuracy, regenerated):
    assert regenerated[1][system] == pytest.approx(accuracy, abs=0.01)


def test_folder_holds_the_data_and_the_spec_and_stays_small():
    found = {path.name for path in SAMPLE.iterdir()}
    assert found == {*DATA, "spec.yaml", "systems.yaml", *PRINTED}
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < LIMIT_BYTES


def test_the_printed_receipts_and_the_recorded_answers_are_written_again(tmp_path):
    command = [sys.executable, "-B", str(ROOT / "samples" / "make_documents.py"), str(tmp_path)]
    subprocess.run(command, check=True)
    for name in PRINTED:
        made = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        assert made == {path.name: path.read_bytes() for path in (SAMPLE / name).iterdir()}, (
            "the prompt or the schema changed: run samples/make_documents.py src/fieldassay/scoring/sample"
        )


def test_gold_has_the_documented_numbers_of_documents(gold):
    assert Counter(record["document_type"] for record in gold) == {
        "invoice": 28,
        "receipt": 24,
        "bank statement": 20,
    }
    assert len({record["id"] for record in gold}) == 72


def test_every_gold_abn_has_a_right_checksum(gold):
    numbers = {record["business_abn"] for record in gold} - {None}
    assert len(numbers) > 5
    assert all(map(abn.is_valid, numbers))


def test_gold_has_nulls_missing_keys_and_empty_lists(gold):
    invoices = [record for record in gold if record["document_type"] == "invoice"]
    assert any(value is None for record in gold for value in record.values())
    assert {"due_date" in record for record in invoices} == {True, False}
    assert sum(record.get(name) == [] for record in gold for name in ("lines", "tags", "transactions")) == 3


def test_gold_amounts_add_up(gold):
    for record in gold:
        if record.get("lines"):
            total = sum(round(line["amount"] * 100) for line in record["lines"]) + round(
                (record["gst_amount"] or 0) * 100
            )
            assert total == round(record["total_amount"] * 100), record["id"]


def test_balances_follow_from_amounts(gold):
    for record in gold:
        rows = record.get("transactions", [])
        for before, after in pairwise(rows):
            assert round((before["balance"] + after["amount"] - after["balance"]) * 100) == 0, record["id"]


@pytest.mark.parametrize(("system", "lines"), [("atlas", 72), ("birch", 71), ("cedar", 69)])
def test_systems_answer_for_known_documents_once(system, lines, gold):
    ids = [line["id"] for line in load(f"{system}.jsonl")]
    assert len(ids) == len(set(ids)) == lines
    assert set(ids) <= {record["id"] for record in gold}


@pytest.mark.parametrize(
    ("system", "kinds"),
    [
        ("atlas", {"prediction": 63, "raw": 9}),
        ("birch", {"prediction": 71}),
        ("cedar", {"prediction": 62, "raw": 4, "error": 3}),
    ],
)
def test_each_line_is_a_prediction_a_raw_answer_or_an_error(system, kinds):
    found = Counter(
        kind for line in load(f"{system}.jsonl") for kind in ("prediction", "raw", "error") if kind in line
    )
    assert found == kinds


def value_at(tree, path):
    for part in path.replace("[", ".[").split("."):
        tree = tree[int(part[1:-1])] if part.startswith("[") else tree[part]
    return tree


@pytest.mark.parametrize("system", SYSTEMS)
def test_confidence_is_stated_for_values_that_are_there(system):
    for line in load(f"{system}.jsonl"):
        if "prediction" not in line:
            continue
        for path, confidence in line["confidence"].items():
            value_at(line["prediction"], path)
            assert 0 <= confidence <= 1


def stated_confidence(system, gold, is_right):
    by_id = {record["id"]: record for record in gold}
    lines = [line for line in load(f"{system}.jsonl") if "prediction" in line]
    return [
        line["confidence"]["supplier_name"]
        for line in lines
        if "supplier_name" in line["prediction"]
        and (line["prediction"]["supplier_name"] == by_id[line["id"]]["supplier_name"]) is is_right
    ]


@pytest.mark.parametrize("system", ["birch", "cedar"])
def test_confidence_is_higher_for_right_values_on_the_whole(system, gold):
    right, wrong = (stated_confidence(system, gold, is_right) for is_right in (True, False))
    assert sum(right) / len(right) > sum(wrong) / len(wrong)


def test_spec_prices_every_model_that_the_systems_used():
    prices = YAML(typ="safe").load(SAMPLE / "spec.yaml")["prices"]
    used = {
        line["usage"]["model"] for system in SYSTEMS for line in load(f"{system}.jsonl") if "usage" in line
    }
    assert used == set(prices)


def test_spec_declares_every_field_of_gold(gold):
    fields = YAML(typ="safe").load(SAMPLE / "spec.yaml")["fields"]
    assert {key for record in gold for key in record} - {"id"} == set(fields)
    for name in ("lines", "transactions"):
        declared = set(fields[name]["items"]["fields"])
        assert {key for record in gold for item in record.get(name, []) for key in item} == declared
