"""The corpus that ships: what is in it, that its gold stands where it says, and runs of it."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldassay import ExtractOptions, SweepOptions, run, score
from fieldassay.commands.cli.main import main
from fieldassay.commands.run import run_corpus
from fieldassay.decisions.gate import decide_result
from fieldassay.documents.corpus.manifest import SHIPPED, read_corpus
from fieldassay.documents.sources import LoadOptions, load
from fieldassay.metrics.estimate import Estimate
from fieldassay.reports.content.runs import render_corpus
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.sweep import CorpusRun

# A part of the shipped corpus, as a corpus of its own.


def shorten_corpus(folder: Path, is_in: Callable[[dict[str, Any]], bool]) -> Path:
    """Return a folder with the documents that are in, and with their tasks."""
    corpus = json.loads((SHIPPED / "corpus.json").read_text(encoding="utf-8"))
    corpus["documents"] = [one for one in corpus["documents"] if is_in(one)]
    ids = {one["id"] for one in corpus["documents"]}
    tasks = {one["task"] for one in corpus["documents"]}
    corpus["tasks"] = {name: files for name, files in corpus["tasks"].items() if name in tasks}
    for one in corpus["documents"]:
        (folder / one["file"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHIPPED / one["file"], folder / one["file"])
    for files in corpus["tasks"].values():
        shutil.copyfile(SHIPPED / files["spec"], folder / files["spec"])
        rows = (SHIPPED / files["gold"]).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [row for row in rows if not ids.isdisjoint(map(str, json.loads(row).values()))]
        (folder / files["gold"]).write_text("".join(kept), encoding="utf-8")
    (folder / "corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    return folder


# The corpus that ships: what is in it, and that its gold stands where it says.

SHIP = read_corpus(SHIPPED)
ORIGINALS = [one for one in SHIP.documents if one.twin_of is None]
TWINS = [one for one in SHIP.documents if one.twin_of is not None]
PLACED = [one for one in ORIGINALS if one.kind == "pdf" and one.degradation is None]
UNREAD = {"case_pdf_004_embedded_images"}
"""Documents whose gold stands in a picture on a digital page, which no loader reads."""


def gold_rows(folder: Path) -> dict[str, dict]:
    rows = {}
    for task in SHIP.tasks.values():
        for line in (folder / task.gold).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            name = next(row[key] for key in ("test_case_id", "image_file", "doc_id", "id") if key in row)
            rows[name] = row
    return rows


def test_seventy_documents_and_fifteen_twins_in_nine_tasks() -> None:
    assert len(SHIP.documents) >= 70 and len(SHIP.tasks) == 9
    assert sum(one.twin_of is not None for one in SHIP.documents) >= 15
    assert max(value.page or 0 for one in SHIP.documents for value in one.values) == 40
    form = next(one for one in SHIP.documents if one.id == "form_369")
    assert len(form.values) == 369
    assert len(next(one for one in SHIP.documents if one.id == "valves_900").values) == 900 * 6


@pytest.mark.parametrize("one", PLACED, ids=lambda one: one.id)
def test_the_text_of_a_value_stands_in_its_box(one) -> None:
    if one.id in UNREAD:
        pytest.skip("stands in a picture")
    pages = load(SHIPPED / one.file, LoadOptions(ocr="off")).pages
    for value in one.values:
        if value.box is None:
            continue
        page = pages[value.page - 1]
        left, top, right, bottom = (
            share * side for share, side in zip(value.box, (page.width, page.height) * 2, strict=True)
        )
        words = [word for line in page.lines for word in line.words if word.box]
        cells = [cell for table in page.tables for cell in table.cells if cell.box]
        inside = "".join(
            piece.text
            for piece in (*words, *cells)
            if min(piece.box.right, right) > max(piece.box.left, left)
            and min(piece.box.bottom, bottom) - max(piece.box.top, top) > 0.3 * (bottom - top)
        )
        assert re.sub(r"\s", "", value.text) in re.sub(r"\s", "", inside), value


def test_a_twin_has_the_gold_of_its_original_and_says_so() -> None:
    rows, known = gold_rows(SHIPPED), {one.id: one for one in ORIGINALS}
    beside = {"test_case_id", "image_file", "doc_id", "id", "tags", "twin_of", "degradation"}
    for twin in TWINS:
        row, clean = rows[twin.id], rows[twin.twin_of]
        assert row["twin_of"] == twin.twin_of and row["degradation"] == twin.degradation
        assert {key: value for key, value in row.items() if key not in beside} == {
            key: value for key, value in clean.items() if key not in beside
        }
        assert twin.text == known[twin.twin_of].text
        assert [value.path for value in twin.values] == [value.path for value in known[twin.twin_of].values]


def test_ids_differ_and_files_are_there() -> None:
    assert max(Counter(one.id for one in SHIP.documents).values()) == 1
    assert all((SHIPPED / one.file).is_file() for one in SHIP.documents)
    assert gold_rows(SHIPPED).keys() == {one.id for one in SHIP.documents}


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 4_000_000


ENGINEERING = SHIPPED / SHIP.tasks["engineering"].spec


def test_the_corpus_asks_for_units_in_ascii_and_fails_an_extractor_that_writes_superscripts_and_degrees() -> (
    None
):
    cases = (SHIPPED / SHIP.tasks["engineering"].gold).read_text(encoding="utf-8").splitlines()
    gold = [json.loads(case) for case in cases]

    def answers(case: str) -> dict:
        row = json.loads(case)
        return {"id": row["test_case_id"], "extraction": row["expected_extraction"]}

    written = [answers(case.replace("m3", "m³").replace("degC", "°C")) for case in cases]
    systems = {"asked": [answers(case) for case in cases], "as written": written}
    result = score(gold, systems, ENGINEERING, bootstrap=0, compare=())
    assert result.value("overall_accuracy", system="asked") == 1.0
    assert result.value("check_violations", system="asked") == 0
    assert result.value("pooled_unit_accuracy", system="as written") < 0.15
    assert result.value("check_violations", system="as written") > 100
    decisions = {one.system: one.answer.value for one in decide_result(result)}
    assert decisions == {"asked": "GO", "as written": "NO-GO"}
    rows = result.evidence.filter(
        (result.evidence["system"] == "as written") & (result.evidence["score"] < 1)
    )
    assert set(rows.filter(rows["type"] == "unit")["diagnoses"].explode()) == {"unit_spelling"}


@pytest.mark.parametrize("missing", ["question_type", "priority"])
def test_a_question_without_its_type_or_priority_costs_and_is_named(missing: str) -> None:
    cases = (SHIPPED / SHIP.tasks["engineering"].gold).read_text(encoding="utf-8").splitlines()
    case = next(json.loads(one) for one in cases if "questions_embedded" in one)
    told = json.loads(json.dumps(case["expected_extraction"]))
    for question in told["customer_specific_questions"]:
        assert question.pop(missing)
    answer = {"id": case["test_case_id"], "extraction": told}
    result = score([case], {"s": [answer]}, ENGINEERING, bootstrap=0)
    assert result.value("complete_accuracy") < 1.0
    assert (result.value("errors_missing"), result.value("check_violations")) == (2, 2)


# `fieldassay run --corpus`: every task scored by its own spec, and all of them in one table.

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
        (["--dry-run"], "--dry-run does not go with --corpus"),
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
