"""`fieldassay report`, and `score --report`."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import scored_runs
from command_runs import Files, Ran, spawn
from scored_runs import replace_file

from fieldassay.io.files.whole_files import digest_file

Run = Callable[..., Ran]
FAST = ("--bootstrap", "50")
DATA = ("--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "llama.jsonl", *FAST)
GATES = "gates: [accuracy >= 0.99, regression(accuracy) > -0.01]\n"


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a run, scored from its own folder so that places of gold are relative to it."""
    monkeypatch.chdir(scored_runs.linked(scored_runs.scored(spec_end=GATES, code=1), tmp_path / "data"))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return Path("run")


OWN = ("junit", "markdown", "github", "annotations", "comment")
STARTS = {
    "junit": "<?xml", "markdown": "# tiny", "github": "## NO-GO llama: tiny", "annotations": "::error title=",
    "comment": "<!-- fieldassay:report -->\n"
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_a_report_goes_to_standard_output_or_to_a_file(run: Run, scored: Path, name: str) -> None:
    printed = run("report", scored, "--format", name)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith(STARTS[name])
    written = run("report", scored, "--format", name, "--out", "there.txt")
    assert (written.code, written.out) == (0, "")
    assert Path("there.txt").read_text(encoding="utf-8") == printed.out


def test_annotations_name_the_document(run: Run, scored: Path) -> None:
    assert "::error title=d3 by llama::" in run("report", scored, "--format", "annotations").out


def test_a_step_summary_is_appended_to_what_github_names(
    run: Run, scored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    done = run("report", scored, "--format", "github")
    assert (done.code, done.out) == (0, "")
    assert Path("summary").read_text().startswith("before\n## NO-GO llama: tiny")
    assert run("report", scored, "--format", "github", "--out", "own.md").code == 0
    assert (
        Path("own.md").read_text().startswith("## NO-GO")
        and Path("summary").read_text().count("## NO-GO") == 1
    )


def test_a_step_summary_that_cannot_be_written_is_said(
    run: Run, scored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder")
    done = run("report", scored, "--format", "github")
    assert done.code == 2 and "cannot be written" in done.err


def test_the_name_of_a_comment_can_be_chosen(run: Run, scored: Path) -> None:
    assert run("report", scored, "--format", "comment", "--name", "a -->").out.startswith(
        "<!-- fieldassay:a -->\n"
    )


def test_what_was_fixed_and_broken_since_an_earlier_run_is_told(run: Run, scored: Path) -> None:
    rows = [json.loads(line) for line in Path("llama.jsonl").read_text().splitlines()]
    rows[0]["name"], rows[2]["total"] = "Adda | <b>", 7
    Files(Path()).write("next.jsonl", rows)
    data = ("--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "llama=next.jsonl", *FAST)
    assert run("score", *data, "--out", "next", "--quiet").code == 1
    for name in ("comment", "github"):
        page = run("report", "next", "--against", "run", "--format", name).out
        assert "## run → next: 3 documents" in page and "- 1 value fixed, 1 broken, " in page
        assert r"| d1 | name | Ada | Ada | Adda \| &lt;b&gt; |" in page
        assert re.search(r'\| d3 \| total \| "7" \| seven \| 7 \| .* \(critical\) \|', page)


def test_a_run_of_other_systems_or_other_gold_is_no_earlier_run(run: Run, scored: Path) -> None:
    data = ("--spec", "spec.yaml", "--gold", "gold.jsonl", *FAST, "--quiet")
    assert run("score", *data, "--pred", "a=llama.jsonl", "--pred", "b=llama.jsonl", "--out", "two").code == 1
    done = run("report", "two", "--against", "run", "--format", "comment")
    assert done.code == 2 and "has none of the systems a, b" in done.err
    gold = Path("gold.jsonl")
    replace_file(gold, "".join(gold.read_text().splitlines(keepends=True)[:2]))
    assert run("score", *data, "--pred", "llama.jsonl", "--out", "less").code in (0, 1)
    done = run("report", "less", "--against", "run", "--format", "comment")
    assert done.code == 2 and "gold" in done.err


@pytest.mark.parametrize(
    "damage",
    [
        '{"schema_version": 2}',
        "[",
        '{"schema_version": 1, "decisions": [{"system": "llama", "gates": [{}]}]}',
    ],
)
def test_a_damaged_file_of_gates_is_said(run: Run, scored: Path, damage: str) -> None:
    replace_file(scored / "gates.json", damage)
    done = run("report", scored, "--format", "comment")
    assert done.code == 2 and done.err.startswith(str(scored / "gates.json"))


def record_again(folder: Path, name: str) -> None:
    """Make a changed file of a run one that the run could have written."""
    facts = json.loads((folder / "run.json").read_text())
    facts["sha256"][name] = digest_file(folder / name)
    replace_file(folder / "run.json", json.dumps(facts))


@pytest.mark.parametrize("change", ["removed", "made to pass"])
def test_a_gate_is_decided_by_the_estimates_whatever_the_file_of_gates_says(
    run: Run, scored: Path, change: str
) -> None:
    file = scored / "gates.json"
    if change == "removed":
        file.unlink()
    else:
        data = json.loads(file.read_text())
        data["decisions"][0]["gates"][0] |= {"verdict": "PASS", "value": 1.0, "rule": "all is well"}
        replace_file(file, json.dumps(data))
    out = run("report", scored, "--format", "comment").out
    assert "## NO-GO llama: tiny" in out and "all is well" not in out and "1 undecided" in out


def test_what_only_the_run_could_know_of_a_baseline_is_taken_from_its_file_of_gates(
    run: Run, scored: Path
) -> None:
    file = scored / "gates.json"
    data = json.loads(file.read_text())
    data["decisions"][0]["gates"][1] |= {
        "verdict": "FAIL",
        "value": -0.25,
        "interval": [-0.3, -0.2],
        "rule": "it lost too much",
    }
    replace_file(file, json.dumps(data))
    record_again(scored, "gates.json")
    out = run("report", scored, "--format", "comment").out
    row = next(line for line in out.splitlines() if "it lost too much" in line)
    assert row.startswith("| ❌ FAIL | llama | regression(accuracy)") and "| −25.0\u00a0points |" in row
    assert "2 failed" in out


def test_a_regression_that_was_made_to_pass_by_hand_is_not_taken_for_one(run: Run, scored: Path) -> None:
    file = scored / "gates.json"
    data = json.loads(file.read_text())
    data["decisions"][0]["gates"][1] |= {
        "verdict": "PASS",
        "value": 0.0,
        "interval": [0.0, 0.0],
        "rule": "all is well",
    }
    replace_file(file, json.dumps(data))
    out = run("report", scored, "--format", "comment").out
    assert "all is well" not in out and "1 undecided" in out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("removed", "evidence.parquet: is missing"),
        ("of another run", "is damaged: evidence.parquet is not as the run wrote it"),
    ],
)
def test_judged_values_that_are_not_those_of_the_run_are_not_reported(
    run: Run, scored: Path, change: str, told: str
) -> None:
    file = scored / "evidence.parquet"
    if change == "removed":
        file.unlink()
    else:
        replace_file(file, file.read_bytes() + b" ")
    shutil.copytree(scored, "copy")
    for command in (
        ("report", scored, "--format", "junit"),
        ("report", scored, "-o", "all.csv"),
        ("diff", "copy", scored),
    ):
        done = run(*command)
        assert done.code == 2 and told in done.err


def test_score_writes_reports_into_its_folder_and_to_files(run: Run, scored: Path) -> None:
    done = run(
        "score",
        *DATA,
        "--out",
        "new",
        "--report",
        "junit",
        "--report",
        "comment=pr.md",
        "--report",
        "github",
        "--quiet",
    )
    assert done.code == 1
    assert {"junit.xml", "summary.md", "run.json"} <= {path.name for path in Path("new").iterdir()}
    assert Path("pr.md").read_text() == run("report", "new", "--format", "comment").out
    assert (Path("new") / "junit.xml").read_text() == run("report", "new", "--format", "junit").out
    again = run("score", *DATA, "--out", "new")
    assert again.code == 1 and "kept in new, not part of the run: junit.xml, summary.md" in again.err
    assert (Path("new") / "junit.xml").exists()


@pytest.fixture
def opener(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """Return the environment of a browser, and the file that it writes the opened addresses to."""
    opened, program = tmp_path / "opened", tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {opened}\necho noise\n')
    program.chmod(0o755)
    return {"BROWSER": f"{program} %s"}, opened


@pytest.mark.skipif(os.name == "nt", reason="the browser of the test is a shell script")
@pytest.mark.parametrize(
    ("command", "page"),
    [
        (("report", "run", "--open"), "run/report.html"),
        (("report", "run", "--open", "-o", "r.html"), "r.html"),
        (("score", *DATA, "--out", "new", "--open"), "new/report.html"),
        (("score", *DATA, "--report", "html=r.html", "--open", "--quiet", "--exit-zero"), "r.html"),
    ],
    ids=["run", "file", "score", "score to a file"],
)
def test_open_opens_the_html_report_in_the_browser(
    scored: Path, opener: tuple[dict[str, str], Path], programs: Path, command: tuple[str, ...], page: str
) -> None:
    environment, opened = opener
    out, _ = spawn(*command, programs=programs, environment=environment).communicate()
    assert opened.read_text().split() == [Path(page).resolve().as_uri()]
    assert "<html" in Path(page).read_text() and b"noise" not in out
