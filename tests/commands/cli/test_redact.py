"""`fieldassay redact`: a run with the same numbers and nothing of its documents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import Ran

from fieldassay.commands.cli.main import main

Run = Callable[..., Ran]
SPEC = """
name: shop
description: secret words about Zanzibar
null_values: [NOTHING_HERE]
document_type: {field: sort, aliases: {invoice: [Rechnung]}}
slices: [type, region]
fields:
  sort: {type: enum, values: [invoice, Quittung], aliases: {invoice: [Rechnung]}}
  total: {type: money, currency: EUR}
  customer: {type: text, description: the customer's name, normalize: [case], accepted: [Ungenannt]}
  region: text
  lines: {type: list, align: {key: sku}, items: {type: object, fields: {sku: id, price: number}}}
  extra: any
checks:
  customer: {one_of: [Feuerstein, Geroellheimer]}
definitions: {own: {formula: "0.5 * accuracy + 0.5 * f1", description: about Zanzibar}}
metrics: [own, accuracy, f1]
gates: ["accuracy >= 0.01", "accuracy{type=invoice} >= 0.99"]
"""
GOLD = [
    {
        "id": f"doc{at}", "sort": ["Rechnung", "Quittung"][at % 2], "total": f"12{at}4,56",
        "customer": ["Feuerstein", "Geroellheimer"][at % 2],
        "region": ["Nordland", "Suedland"][at % 2], "lines": [{"sku": f"Artikel{at}", "price": 70001 + at}],
        "extra": {"Geheimfeld": "Kopfnote"},
    }
    for at in range(6)
]  # fmt: skip
PRED: list[dict[str, Any]] = [
    {
        "id": "doc0",
        "raw": (
            '```json\n{"sort": "Rechnung", "total": "1204,56", "customer": "Feuerstein", "region": '
            '"Nordland",}\n```'
        ),
    },
    {"id": "doc1", "raw": "Leider unlesbar, sagt Wilma"},
    {"id": "doc2", "error": "Fehler im Dienst Bedrock"},
    {**GOLD[3], "customer": "Feuerstein & Sohn", "Unbekannt": "Fremdwert"},
    {**GOLD[4], "total": "9999,00", "region": "Westland"},
]


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text and number in data, also keys that the spec does not declare."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("Geheimfeld", "Unbekannt"):
                yield key
            if key != "id":
                yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    else:
        yield str(value)


SECRETS = sorted(
    {
        text
        for text in texts_of([GOLD, [{key: one for key, one in row.items() if key != "raw"} for row in PRED]])
        if len(text) >= 4
    }
    | {
        "Zanzibar",
        "NOTHING_HERE",
        "Ungenannt",
        "Leider unlesbar",
        "Wilma",
        "Rechnung",
        "Geroellheimer",
        "gold.jsonl",
        "Bedrock",
    }
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs of one gold, and a secret."""
    folder = tmp_path_factory.mktemp("Ordnername")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("spec.yaml").write_text(SPEC, encoding="utf-8")
        Path("key.txt").write_text("a secret")
        for name, rows in (("gold", GOLD), ("pred", PRED), ("other", GOLD[:4])):
            Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for name in ("pred", "other"):
            data = ("-s", "spec.yaml", "--gold", "gold.jsonl", "--pred", f"m={name}.jsonl")
            assert main(["score", *data, "--out", name, "--bootstrap", "50", "-q"]) in (0, 1)
    return folder


@pytest.fixture
def scored(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder with two runs of one gold, and a secret."""
    copy = shutil.copytree(made, tmp_path / made.name)
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture(scope="module", params=[(), ("--shapes",)], ids=" ".join)
def redacted(request: pytest.FixtureRequest, made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with both runs redacted under one key, with and without shapes."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("redacted") / "work")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, target in (("pred", "shared"), ("other", "shared2")):
            assert main(["redact", name, "--out", target, "--key-file", "key.txt", *request.param]) == 0
    return folder


def read_everything(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every file of a folder as text: as it is, and, of tables, every value."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".parquet":
            yield (
                path.name,
                json.dumps(
                    pl.read_parquet(path).with_columns(pl.col(pl.Binary).cast(pl.String)).to_dicts(),
                    ensure_ascii=False,
                ),
            )


@pytest.mark.parametrize("options", [(), ("--shapes",), ("--ids",), ("--shapes", "--ids")], ids=" ".join)
def test_nothing_of_the_documents_is_left(run: Run, scored: Path, options: tuple[str, ...]) -> None:
    ran = run("redact", "pred", "--out", "shared", *options)
    assert ran.code == 0, ran.err
    secrets = [*SECRETS, *([f"doc{at}" for at in range(6)] if "--ids" in options else []), scored.name]
    for name, text in read_everything(scored / "shared"):
        assert [secret for secret in secrets if secret.lower() in text.lower()] == [], name


@pytest.mark.parametrize("options", [(), ("--shapes", "--ids")], ids=" ".join)
def test_every_number_stays(run: Run, scored: Path, options: tuple[str, ...]) -> None:
    assert run("redact", "pred", "--out", "shared", *options).code == 0
    before, after = (json.loads((scored / name / "metrics.json").read_bytes()) for name in ("pred", "shared"))
    numbers = ("metric", "system", "value", "n", "documents", "failed", "interval", "marks", "unit")
    assert [[one[key] for key in numbers] for one in before["estimates"]] == [
        [one[key] for key in numbers] for one in after["estimates"]
    ]
    for name in ("documents", "evidence", "statistics"):
        tables = [
            pl.read_parquet(scored / folder / f"{name}.parquet").select(pl.col(pl.Float64, pl.Int64))
            for folder in ("pred", "shared")
        ]
        one, other = (
            table.sort(table.columns).rename({old: str(at) for at, old in enumerate(table.columns)})
            for table in tables
        )
        assert one.equals(other)


USES: dict[str, tuple[Any, ...]] = {
    **{
        name: ("report", "shared", "--format", name)
        for name in ("markdown", "junit", "github", "annotations", "comment", "latex")
    },
    "html": ("report", "shared", "--format", "html", "--out", "page.html"),
    "diff": ("diff", "shared", "shared2"),
    "explain": ("explain", "shared", "doc3"),
    "explain a field": ("explain", "shared", "doc3", "customer"),
    "csv": ("export", "shared", "-o", "out.csv"),
    "xlsx": ("export", "shared", "-o", "out.xlsx"),
    "json": ("export", "shared", "-o", "out.json"),
    "errors": ("export", "shared", "-o", "errors.md"),
    "losses": ("export", "shared", "--what", "losses"),
    "runs": ("runs", "show", "shared"),
    "calibrate": ("calibrate", "shared"),
}


@pytest.mark.parametrize("use", USES)
def test_a_redacted_run_is_still_a_run(
    run: Run, redacted: Path, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    monkeypatch.chdir(redacted)
    ran = run(*USES[use])
    assert ran.code == (2 if use == "calibrate" else 0), ran.err
    assert [secret for secret in SECRETS if secret in ran.out and secret != "gold.jsonl"] == []


def test_gates_are_decided_as_before(run: Run, scored: Path) -> None:
    assert run("redact", "pred", "--out", "shared").code == 0
    [before, after] = [run("gate", name, "--json") for name in ("pred", "shared")]
    assert before.code == after.code
    told = [
        [(gate["verdict"], gate["value"]) for gate in json.loads(one.out)["decisions"][0]["gates"]]
        for one in (before, after)
    ]
    assert told[0] == told[1]


def test_a_diff_of_redacted_runs_says_what_that_of_the_runs_says(run: Run, scored: Path) -> None:
    for name in ("pred", "other"):
        assert run("redact", name, "--out", f"{name}2", "--key-file", "key.txt").code == 0
    [one, two] = [
        json.loads(run("diff", first, second, "--format", "json").out)
        for first, second in (("pred", "other"), ("pred2", "other2"))
    ]
    assert [found["changes"]["fixed"] for found in (one, two)] == [one["changes"]["fixed"]] * 2
    assert [line["difference"] for line in one["overall"]] == [line["difference"] for line in two["overall"]]


@pytest.mark.parametrize("key", [(), ("--key-file", "spec.yaml")], ids=["no key", "another key"])
def test_runs_redacted_with_other_keys_are_not_compared(run: Run, scored: Path, key: tuple[str, ...]) -> None:
    assert run("redact", "pred", "--out", "one", "--key-file", "key.txt").code == 0
    assert run("redact", "other", "--out", "two", *key).code == 0
    for other in ("two", "other"):
        ran = run("diff", "one", other)
        assert ran.code == 2 and "redacted" in ran.err


def test_a_run_says_that_it_is_redacted_and_is_not_redacted_twice(run: Run, scored: Path) -> None:
    assert run("redact", "pred", "--out", "shared").code == 0
    assert "this run is redacted" in run("report", "shared", "--format", "markdown").out
    explained = run("explain", "shared", "doc3", "customer")
    assert "is redacted" in explained.err and "could not be read" not in explained.out
    ran = run("redact", "shared", "--out", "again")
    assert ran.code == 2 and "is redacted already" in ran.err
    assert not (scored / "again").exists()


def test_an_empty_secret_is_refused(run: Run, scored: Path) -> None:
    Path("empty").write_text(" \n")
    assert run("redact", "pred", "--out", "shared", "--key-file", "empty").code == 2
    assert not Path("shared").exists()
