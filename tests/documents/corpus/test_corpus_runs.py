"""`fieldassay run --corpus`: every task scored by its own spec, and all of them in one table."""

import json
from pathlib import Path

import pytest
from tests.documents.corpus.short_corpus import shorten_corpus

from fieldassay import ExtractOptions, SweepOptions, run, score
from fieldassay.commands.cli.main import main
from fieldassay.commands.run import run_corpus
from fieldassay.metrics.estimate import Estimate
from fieldassay.reports.content.sweeps import render_corpus
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.sweep import CorpusRun

FEW = (
    "case_csv_002_tab",
    "case_unit_002_superscript",
    "case_value_006_thousands",
    "valves_csv",
    "order_plain",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "corpus"
    return shorten_corpus(folder, lambda one: one["id"] in FEW or one["twin_of"] in FEW)


@pytest.fixture(scope="module")
def made(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> CorpusRun:
    options = SweepOptions(ExtractOptions(jobs=0, ocr="off"))
    return run_corpus(tmp_path_factory.mktemp("out"), options=options, corpus=corpus)


def values(made: CorpusRun, metric: str = "accuracy") -> dict[tuple, tuple[float | None, int]]:
    return {
        tuple(one.slice.items()): (one.value, one.documents) for one in made.estimates if one.metric == metric
    }


def test_each_task_is_scored_by_its_own_spec_and_the_figures_agree(made: CorpusRun) -> None:
    found = values(made)
    for name, sweep in made.sweeps.items():
        frame = sweep.run.documents
        scores = (
            [
                value
                for one, value in zip(frame["doc"], frame["accuracy"], strict=True)
                if not one.endswith("_low_resolution")
            ]
            if "accuracy" in frame.columns
            else None
        )
        if scores is not None:
            value, documents = found[(("task", name),)]
            assert documents == len(scores)
            assert value == pytest.approx(sum(scores) / len(scores))
    value, documents = found[()]
    parts = [found[(("task", name),)] for name in made.sweeps]
    assert documents == sum(count for _, count in parts) == 5
    assert value == pytest.approx(sum(one * count for one, count in parts) / documents)
    assert {key[0][1] for key in found if key and key[0][0] == "difficulty"} == {"easy", "medium", "hard"}


def test_a_twin_that_cannot_be_read_counts_as_empty_and_is_named(made: CorpusRun) -> None:
    assert {one.slice["degradation"] for one in made.twins} == {"low_resolution"}
    assert all(one.values[1] == 0.0 and one.documents == 2 for one in made.twins if one.metric == "accuracy")
    text = render_corpus(made, Screen(width=160))
    assert (
        "rules: 2 failed and count as empty (no_text), such as case_unit_002_superscript_low_resolution"
        in text
    )
    assert "accuracy by difficulty" in text and "rules, low_resolution, accuracy" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.9499999999999, "95.0% PASS"), (0.95, "95.0% PASS"), (0.9496, "94.96% FAIL"), (0.97, "97.0% PASS")],
    ids=["rounded", "equal", "just below", "above"],
)
def test_a_value_is_held_to_a_threshold_and_shown_beside_it_as_by_gates(value: float, shown: str) -> None:
    whole, easy = (
        Estimate("accuracy", "rules", None, where, "filled", value, 10, 10, 0, "leaf")
        for where in ({}, {"difficulty": "easy"})
    )
    text = render_corpus(CorpusRun(Path("out"), {}, (whole, easy)), Screen(width=160))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert f"easy 95% 10 {shown}" in lines


def test_the_summary_holds_all_figures(made: CorpusRun) -> None:
    told = json.loads((made.folder / "corpus-run.json").read_text())
    assert told["schema_version"] == 1 and set(told["tasks"]) == set(made.sweeps)
    assert len(told["estimates"]) == len(made.estimates) and len(told["twins"]) == len(made.twins)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--spec", "s.yaml"], "--corpus has its own specs and gold; leave out --spec."),
        (["--gold", "g", "--protocol", "p"], "leave out --protocol, --gold."),
        (["--dry-run"], "do not go with --corpus"),
        ([], "--out DIR"),
    ],
)
def test_what_does_not_go_with_the_corpus_is_refused(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--corpus", *more]) == 2
    assert message in capsys.readouterr().err


def test_an_interrupted_run_says_how_to_go_on_and_then_does(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "interrupting.py").write_text(
        "import os, signal, pathlib\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it\n"
        "def extract(document):\n"
        "    if not pathlib.Path(__file__).with_name('second').exists():\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return {}\n"
    )
    (tmp_path / "systems.yaml").write_text(
        "fieldassay_extract: 1\n"
        "systems: {mine: {strategy: function, call: 'interrupting:extract'}, rules: {strategy: rules}}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    command = ["run", str(tmp_path / "systems.yaml"), "--corpus", "--docs", str(corpus), "--ocr", "off"]
    command += ["--out", str(tmp_path / "out")]
    assert main(command) == 130
    out = capsys.readouterr().out
    assert "not complete, and so not compared: engineering/mine; the same command goes on" in out
    assert "accuracy by" not in out
    (tmp_path / "second").touch()
    assert main(command) == 0
    assert "accuracy by task" in capsys.readouterr().out


def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--corpus", "--docs", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "name the folder of a corpus" in capsys.readouterr().err


def test_a_run_pairs_each_copy_with_its_clean_document(tmp_path: Path) -> None:
    docs, rows, totals = tmp_path / "docs", [], {}
    for at in range(12):
        for how in ("", "scan/"):
            name = f"{how}d{at}"
            (docs / how).mkdir(parents=True, exist_ok=True)
            (docs / f"{name}.txt").write_text(f"Total: {100 + at}.00\n" if not how or at % 2 else "smudge\n")
            row = {"id": name, "total": f"{100 + at}.00"}
            rows.append(row | ({"twin_of": f"d{at}", "degradation": "scan"} if how else {}))
    spec = "{fields: {total: money}, metrics: [accuracy], statistics: {bootstrap: 500}}"
    made = run(docs, spec, rows, tmp_path / "out", options=SweepOptions(ExtractOptions(jobs=0)))
    [found] = made.twins
    assert found.systems == ("rules", "rules/scan") and dict(found.slice) == {"degradation": "scan"}
    assert found.values == (1.0, 0.5) and found.difference == -0.5 and found.documents == 12
    lines = (tmp_path / "out/rules/predictions.jsonl").read_text().splitlines()
    held = {row["id"]: row["pred"] for row in map(json.loads, lines)}
    for system, prefix in (("rules", ""), ("rules/scan", "scan/")):
        totals[system] = [{"id": f"d{at}", **(held[f"{prefix}d{at}"] or {})} for at in range(12)]
    clean = [row for row in rows if "twin_of" not in row]
    again = score(clean, totals, spec).comparisons[0]
    assert (again.difference, again.interval, again.p) == (found.difference, found.interval, found.p)
