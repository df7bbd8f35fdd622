"""Several systems over the same documents: extracted, scored, compared; effects of a matrix; the choice held out."""

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_runs import Ran, write_inputs
from tests.extraction.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion

from fieldassay.commands.cli.main import main

Run = Callable[..., Ran]
SPEC = "name: totals\nfields: {total: money, buyer: text}\nprices: {big: {prompt: 10, completion: 10}, small: {prompt: 1, completion: 1}}\nstatistics: {bootstrap: 800}\n"
DOCUMENTS = 8


def answer(hit: Hit) -> Reply:
    """The model `big` reads everything; `small` never finds the buyer."""
    text = json.dumps(hit.body["messages"])
    total, buyer = re.search(r"Total: ([0-9.]+)", text), re.search(r"Buyer: (\w+)", text)
    assert total and buyer
    found = {"total": total[1], "buyer": buyer[1] if hit.body["model"] == "big" else None}
    return Reply(body=completion(json.dumps(found), 2000))


@pytest.fixture
def place(tmp_path: Path, server: ScriptedServer) -> Path:
    return lay_out(tmp_path, server)


def lay_out(tmp_path: Path, server: ScriptedServer) -> Path:
    (tmp_path / "docs" / "2025").mkdir(parents=True)
    gold = []
    for at in range(DOCUMENTS):
        (tmp_path / "docs" / "2025" / f"inv{at}.txt").write_text(
            f"Invoice\nBuyer: Buyer{at}\nTotal: {at}.50\n"
        )
        gold.append({"id": f"inv{at}", "total": f"{at}.50", "buyer": f"Buyer{at}"})
    (tmp_path / "docs" / "2025" / "other.txt").write_text("a document without gold")
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (tmp_path / "spec.yaml").write_text(SPEC)
    base = {"strategy": "prompted", "endpoint": "local", "model": "big"}
    systems = {
        "endpoints": {"local": {"url": server.url}},
        "systems": {"rules": {"strategy": "rules"}, "base": base},
        "matrix": {"base": {"model": ["small", "big"], "quotes": ["none", "flag"]}},
    }
    (tmp_path / "systems.json").write_text(json.dumps(systems))
    return tmp_path


def sweep(run: Run, place: Path, *more: Any) -> Ran:
    inputs = ("--docs", place / "docs", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl")
    return run("run", place / "systems.json", *inputs, *("--out", place / "out", "--jobs", 0), *more)


@dataclass(frozen=True)
class Swept:
    """A sweep over all systems, its server, and what was billed."""

    place: Path
    server: ScriptedServer
    err: str
    billed: int


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swept]:
    def run(*arguments: Any) -> Ran:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = main([str(argument) for argument in arguments])
        return Ran(code, out.getvalue(), err.getvalue())

    with ScriptedServer(answer) as server:
        place = lay_out(tmp_path_factory.mktemp("swept"), server)
        ran = sweep(run, place)
        assert ran.code == 0, ran
        yield Swept(place, server, ran.err, sum(server.billed.values()))


def test_systems_are_extracted_scored_and_compared(swept: Swept) -> None:
    assert "1 document (such as 2025/other.txt) without gold: left out" in swept.err
    place = swept.place
    told = json.loads((place / "out" / "sweep.json").read_text())
    assert list(told["systems"]) == [
        "rules",
        *(f"base_model={model}_quotes={quotes}" for model in ("small", "big") for quotes in ("none", "flag")),
    ]
    assert all(one["documents"]["predicted"] == DOCUMENTS for one in told["systems"].values())
    estimates = json.loads((place / "out" / "run" / "metrics.json").read_text())["estimates"]
    values = {
        one["system"]: one["value"] for one in estimates if one["metric"] == "accuracy" and not one["field"]
    }
    assert values["base_model=big_quotes=none"] == 1.0
    assert values["base_model=small_quotes=none"] == 0.5
    assert (place / "out" / "run" / "report.html").is_file()


def test_the_effect_of_a_factor_is_averaged_over_the_others(swept: Swept) -> None:
    effects = json.loads((swept.place / "out" / "sweep.json").read_text())["effects"]
    found = {one["factor"]: one for one in effects}
    model, quotes = found["model"], found["quotes"]
    assert (model["level"], model["against"]) == ("big", "small")
    assert model["comparison"]["difference"] == pytest.approx(0.5)
    assert (model["comparison"]["documents"], model["comparison"]["verdict"]) == (DOCUMENTS, "better")
    assert model["cost_usd"] == pytest.approx(9 * 2020 / 1e6, rel=1e-5)
    assert quotes["comparison"]["difference"] == pytest.approx(0.0)


def test_requests_that_systems_share_are_sent_once_and_never_again(run: Run, swept: Swept) -> None:
    assert swept.billed == len(swept.server.billed), "no request twice"
    assert (sweep(run, swept.place).code, sum(swept.server.billed.values())) == (0, swept.billed)


def test_a_system_that_stopped_is_not_compared(run: Run, place: Path, server: ScriptedServer) -> None:
    server.script = lambda hit: (
        Reply(status=404, body={"error": {"message": "no such model", "code": "model_not_found"}})
        if hit.body["model"] == "small"
        else answer(hit)
    )
    ran = sweep(run, place)
    assert (ran.code, "incomplete, so not compared: base_model=small_quotes=none" in ran.out) == (
        3,
        True,
    ), ran
    estimates = json.loads((place / "out" / "run" / "metrics.json").read_text())["estimates"]
    assert {one["system"] for one in estimates} == {
        "rules",
        "base_model=big_quotes=none",
        "base_model=big_quotes=flag",
    }


def test_the_first_failure_of_each_kind_is_told_and_nothing_is_better_than_no_answer(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "vendor_table.py").write_text(
        'def extract(document):\n    raise ValueError("no key for vendor table")\n'
    )
    monkeypatch.syspath_prepend(str(place))
    systems = {
        "rules": {"strategy": "rules"},
        "mine": {"strategy": "function", "call": "vendor_table:extract"},
    }
    (place / "systems.json").write_text(json.dumps({"systems": systems}))
    out = " ".join(sweep(run, place).out.split())
    assert f"mine failed: {DOCUMENTS} exception" in out
    assert re.search(r"exception, such as \S*inv\d(\.txt)?: ValueError: no key for vendor table", out)
    assert "mine answered none of the documents, and is left out" in out
    assert "better than mine" not in out


def test_a_dry_run_sends_nothing(run: Run, place: Path, server: ScriptedServer) -> None:
    ran = sweep(run, place, "--dry-run", "--system", "base_model=big_quotes=none")
    assert (ran.code, server.hits, f"{DOCUMENTS} calls" in ran.out) == (0, [], True), ran
    assert not (place / "out").exists()


def test_an_unknown_system_is_named(run: Run, place: Path) -> None:
    ran = sweep(run, place, "--system", "rules", "--system", "bass")
    assert (ran.code, "no system 'bass'" in ran.err) == (2, True), ran


@pytest.mark.parametrize(("vendor", "code"), [("Acme", 2), ("Bolt", 0)])
def test_an_example_of_a_vendor_that_is_scored_is_an_error(
    run: Run, place: Path, server: ScriptedServer, vendor: str, code: int
) -> None:
    gold = [json.loads(line) | {"vendor": "Acme"} for line in (place / "gold.jsonl").read_text().splitlines()]
    (place / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    (place / "train").mkdir()
    (place / "train" / "x.txt").write_text("Buyer: Zoe\nTotal: 77.00")
    example = {"id": "x", "total": "77.00", "buyer": "Zoe", "vendor": vendor}
    (place / "train.jsonl").write_text(json.dumps(example) + "\n")
    held = json.loads((place / "systems.json").read_text())
    held["systems"] = {"base": held["systems"]["base"]}
    held["systems"]["base"]["examples"] = {"from": "train.jsonl", "docs": "train", "k": 1, "group": "vendor"}
    del held["matrix"]
    (place / "systems.json").write_text(json.dumps(held))
    ran = sweep(run, place)
    assert (ran.code, "is of the group 'Acme', which is scored too" in ran.err) == (code, code == 2), ran
    assert bool(server.hits) == (code == 0)


def test_documents_without_any_gold_are_an_error(run: Run, place: Path) -> None:
    (place / "gold.jsonl").write_text('{"id": "somebody", "total": "1", "buyer": "x"}\n')
    ran = sweep(run, place)
    assert (ran.code, "no document has gold" in ran.err) == (2, True), ran


def lay(place: Path, *names: str) -> None:
    for name in names:
        (place / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "docs" / name).write_text("Invoice\nBuyer: Eve\nTotal: 9.99\n")


def test_two_documents_of_one_gold_record_are_an_error(run: Run, place: Path, server: ScriptedServer) -> None:
    lay(place, "2025/inv0.md", "2026/inv1.txt")
    ran = sweep(run, place)
    assert (ran.code, len(server.hits)) == (2, 0), ran
    assert "2025/inv1.txt, 2026/inv1.txt are all gold's 'inv1'" in ran.err and "inv0.md" not in ran.err


def open_file(document: dict[str, Any]) -> dict[str, Any]:
    """A system that opens the file of a document itself."""
    value, unit = Path(document["path"]).read_text().split()
    return {"flow": {"value": int(value), "unit": unit, "min_value": None}}


def test_a_case_in_several_formats_is_several_results_of_one_run_and_score_has_its_numbers(
    run: Run, tmp_path: Path
) -> None:
    """The files are no real ones of their formats: whoever opens them here is the system alone."""
    endings = {"pdf": "standard", "docx": "table_heavy", "xlsx": "merged_cells", "csv": "semicolon_sep"}
    tree = tmp_path / "test_documents"
    for folder in (*endings, "ground_truth"):
        (tree / folder).mkdir(parents=True)
    for at in range(1, 4):
        flow = {"value": at, "unit": "m3/h", "min_value": None}
        case = {"test_case_id": f"case_00{at}", "difficulty": "easy", "expected_extraction": {"flow": flow}}
        (tree / f"ground_truth/case_00{at}_expected.json").write_text(json.dumps(case))
        for ending, kind in endings.items():
            (tree / ending / f"case_00{at}_{kind}.{ending}").write_text(f"{at + (ending == 'csv')} m3/h")
    system = {"strategy": "function", "call": f"{__name__}:open_file", "input": "file"}
    (tmp_path / "systems.json").write_text(json.dumps({"systems": {"agent": system}}))
    given = ("--protocol", "engineering-extractor", "--gold", tree / "ground_truth")
    ran = run("run", tmp_path / "systems.json", "--docs", tree, "--out", tmp_path / "out", *given)
    assert "several documents share a gold record (csv, docx, pdf, xlsx)" in ran.err, ran
    run("score", "-p", f"agent={tmp_path}/out/agent/predictions.jsonl", "--out", tmp_path / "again", *given)
    found, again = (
        json.loads((tmp_path / name / "metrics.json").read_text())["estimates"]
        for name in ("out/run", "again")
    )
    assert found == again
    values = {
        one["slice"].get("format"): (one["documents"], one["value"])
        for one in found
        if one["metric"] == "value_parsing_accuracy" and {*one["slice"]} <= {"format"}
    }
    assert values == {None: (12, 0.75), "csv": (3, 0.0), **dict.fromkeys(("pdf", "docx", "xlsx"), (3, 1.0))}


def test_a_document_that_has_the_path_of_gold_goes_before_one_with_its_name(run: Run, place: Path) -> None:
    (place / "gold.jsonl").write_text('{"id": "inv0", "total": "9.99", "buyer": "Eve"}\n')
    lay(place, "inv0.txt")
    ran = sweep(run, place, "--system", "rules")
    assert ran.code == 0, ran
    assert json.loads((place / "out/rules/predictions.jsonl").read_text())["pred"]["total"] == "9.99"


def test_no_system_is_asked_before_all_can_be(run: Run, place: Path, server: ScriptedServer) -> None:
    held = json.loads((place / "systems.json").read_text())
    held["systems"] |= {
        "own": {"strategy": "command", "run": ["no-such-program"]},
        "shown": {**held["systems"]["base"], "examples": {"from": "nope.jsonl", "docs": "docs"}},
    }
    (place / "systems.json").write_text(json.dumps(held))
    ran = sweep(run, place)
    assert (ran.code, len(server.hits), (place / "out").exists()) == (2, 0, False), ran
    assert "no-such-program" in ran.err and "nope.jsonl" in ran.err


def test_what_a_sweep_wrote_into_the_folder_of_documents_is_no_document(run: Run, place: Path) -> None:
    given = ("--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--jobs", 0)
    for _ in range(2):
        ran = run("run", "--docs", place / "docs", *given, "--out", place / "docs" / "sweep")
        assert ran.code == 0, ran
    assert "1 document (such as 2025/other.txt) without gold" in ran.err


def test_readings_of_documents_are_compared_as_a_factor(run: Run, tmp_path: Path) -> None:
    for reading, total in (("corrected", "5"), ("raw", "6")):
        (tmp_path / "docs" / reading).mkdir(parents=True)
        for page in range(3):
            (tmp_path / "docs" / reading / f"case_{page}_scan.txt").write_text(f"Total {total}")
    (tmp_path / "gold").mkdir()
    for page in range(3):
        (tmp_path / "gold" / f"case_{page}_expected.json").write_text('{"total": "5"}')
    (tmp_path / "spec.yaml").write_text("fields: {total: {type: number, labels: [Total]}}")
    given = ("--docs", tmp_path / "docs", "--spec", tmp_path / "spec.yaml", "--gold", tmp_path / "gold")
    ran = run("run", *map(str, given), "--out", str(tmp_path / "out"))
    assert ran.code == 0 and "corrected, raw hold the same documents" in ran.err
    assert "case_0_scan.txt is matched to gold's case_0_expected, and 2 more so" in ran.err
    assert "reading: raw against corrected: −100.0 points of accuracy" in ran.out


def test_a_no_go_exits_as_it_does_elsewhere(run: Run, tmp_path: Path) -> None:
    gated = "{fields: {total: money}, gates: [accuracy >= 0.5]}"
    (tmp_path / "1.txt").write_text("Total: 5.00")
    inputs = "--docs", tmp_path / "1.txt", *write_inputs(tmp_path, gated, [{"id": "1", "total": 7}], [])[:4]
    assert run("run", *inputs, "--out", tmp_path / "out").code == 1
