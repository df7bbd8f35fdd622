"""The shipped sample is the same on every run of its generator, and its spec fits it."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "src" / "fieldassay" / "scoring" / "sample"
DATA = ("gold.jsonl", "atlas.jsonl", "birch.jsonl", "cedar.jsonl")
SYSTEMS = ("atlas", "birch", "cedar")
PRINTED = ("documents", "examples", "recorded")


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
