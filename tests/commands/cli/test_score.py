"""`fieldassay score`: what it prints, what it writes, and how it ends."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command_runs import GOLD, PRED, Files, Ran, spawn

Run = Callable[..., Ran]
FAST = ("--bootstrap", "50")


def test_json_is_the_metrics_file_and_the_recommendation(run: Run, files: Files, tmp_path: Path) -> None:
    data = json.loads(run("score", *files.inputs, *FAST, "--json", "--out", tmp_path / "run").out)
    assert data.pop("recommendation")["answer"] == "3 documents are too few to recommend a system"
    assert data == json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    assert list(data) == ["format", "schema_version", "run", "estimates", "counts"]
    assert len(data["run"]["inputs"]["sha256"]) == 2 and all(data["run"]["inputs"]["sha256"].values())


def test_warnings_that_json_has_no_place_for_go_to_standard_error(run: Run, files: Files) -> None:
    files.write("llama.jsonl", [{**row, "answer": 1} for row in GOLD])
    ran = run("score", *files.inputs, *FAST, "--json")
    assert "warning: llama: keys that the spec lacks are ignored: answer" in ran.err
    assert "warning:" not in ran.out


def test_quiet_leaves_json_and_the_least(run: Run, files: Files) -> None:
    ran = run("score", *files.inputs, *FAST, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_markdown_has_the_same_numbers_as_the_terminal(run: Run, files: Files, tmp_path: Path) -> None:
    table = run("score", *files.inputs, *FAST, "--report", f"markdown={tmp_path / 'r.md'}").out
    row = next(line.split() for line in table.splitlines() if line.startswith("accuracy, n = "))
    assert f"| 1 | llama | {row[4]}\u00a0{row[5]}\u00a0" in (tmp_path / "r.md").read_text()


def test_run_folder_has_all_files_and_nothing_else(run: Run, files: Files, tmp_path: Path) -> None:
    ran = run("score", *files.inputs, *FAST, "--out", tmp_path / "deep" / "run")
    assert ran.code == 0 and "written to" in ran.err
    found = sorted(path.name for path in (tmp_path / "deep").rglob("*"))
    assert found == [
        "documents.parquet",
        "evidence.parquet",
        "metrics.json",
        "run",
        "run.json",
        "statistics.parquet",
    ]
    facts = json.loads((tmp_path / "deep" / "run" / "run.json").read_text())
    assert (
        facts["counts"]["documents"] == 3 and facts["spec"]["digest"] and facts["command"][0] == "fieldassay"
    )
    assert pl.read_parquet(tmp_path / "deep" / "run" / "documents.parquet")["doc"].to_list() == [
        "d1",
        "d2",
        "d3",
    ]


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_metrics_file_is_the_same_bytes_however_it_is_computed(
    run: Run, files: Files, tmp_path: Path, workers: str
) -> None:
    files.write("gold.jsonl", [{**row, "id": f"{row['id']}-{copy}"} for copy in range(67) for row in GOLD])
    files.write(
        "llama.jsonl", [{**row, "id": f"{row['id']}-{copy}"} for copy in range(67) for row in reversed(PRED)]
    )
    written = []
    for name, count, batch in (("first", "1", "1000"), ("second", workers, "37")):
        assert (
            run(
                "score",
                *files.inputs,
                *FAST,
                "--out",
                tmp_path / name,
                "--workers",
                count,
                "--batch",
                batch,
            ).code
            == 0
        )
        written.append((tmp_path / name / "metrics.json").read_bytes())
    assert written[0] == written[1]
    assert len(pl.read_parquet(tmp_path / "second" / "evidence.parquet")) == len(
        pl.read_parquet(tmp_path / "first" / "evidence.parquet")
    )


@pytest.mark.parametrize(
    ("thresholds", "code", "said"),
    [
        (["accuracy=0.1"], 0, ""),
        (["accuracy >= 0.01"], 0, ""),
        (["accuracy>=0.999"], 1, "needed at least 99.9%"),
        (["lower(accuracy) >= 0.999"], 1, "lower(accuracy) >= 0.999: "),
        (["accuracy >> 0.9"], 2, "at column 11; write a gate, such as accuracy >= 0.9"),
        (["accuracy = many"], 2, "at column 12"),
        (["accuracy=1"], 1, "failed: llama: accuracy is 70.8%"),
        (["accuracy=0.1", "f1=0.99"], 1, "failed: llama: f1 is 7"),
        (["field_accuracy[total]=0.6"], 0, ""),
        (
            ["field_accuracy[total]=0.7"],
            1,
            "failed: llama: field_accuracy[total] is 66.7%, needed at least 70% (n = 3)",
        ),
        (["field_accuracy[nothing]=0"], 2, "unknown field 'nothing'"),
        (["accuracy{kind=a}=0.99"], 1, "failed: llama: accuracy{kind=a}"),
        (["accuracy{kind=zzz}=0"], 1, "undefined"),
        (["acuracy=0.5"], 2, "did you mean 'accuracy'?"),
        (["accuracy"], 2, "write a gate, such as accuracy >= 0.9"),
        (["accuracy=nan"], 2, "at column 10"),
        (["accuracy=90%"], 2, "a threshold is a fraction, not a percentage; write accuracy=0.9"),
        (["accuracy >= 97.5 %"], 2, "write accuracy >= 0.975"),
        (["total=0.9"], 2, "for the field write field_accuracy[total]"),
        (["total=90%"], 2, "for the field write field_accuracy[total]"),
        (["hr=0.1"], 2, "better when lower"),
    ],
)
def test_threshold_passes_only_if_every_system_reaches_it(
    run: Run, files: Files, thresholds: list[str], code: int, said: str
) -> None:
    arguments = [part for text in thresholds for part in ("--gate", text)]
    ran = run("score", *files.inputs, *FAST, "--quiet", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


def test_chosen_metrics_and_slices_are_shown(run: Run, files: Files) -> None:
    ran = run(
        "score",
        *files.inputs,
        *FAST,
        "--metrics",
        "f1(granularity=slot), perfect_documents",
        "--slice",
        "kind",
    )
    assert "f1(granularity=slot)" in ran.out and "perfect_documents" in ran.out
    assert "by kind" in ran.out
    assert "\naccuracy" not in ran.out


@pytest.mark.parametrize("kind", ["folder with other files", "file", "current folder"])
def test_what_is_not_a_run_is_left_alone(
    run: Run, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    target = tmp_path / "mine"
    if kind == "file":
        target.write_text("precious")
    else:
        target.mkdir()
        (target / "precious.txt").write_text("precious")
    if kind == "current folder":
        monkeypatch.chdir(target)
    ran = run("score", *files.inputs, *FAST, "--out", "." if kind == "current folder" else target)
    assert ran.code == 2
    assert (target if kind == "file" else target / "precious.txt").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "mine"]


def test_a_run_and_an_empty_folder_are_replaced(run: Run, files: Files, tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.mkdir()
    assert run("score", *files.inputs, *FAST, "--out", target).code == 0
    (target / "notes.txt").touch()
    assert run("score", *files.inputs, *FAST, "--out", target, "--evidence", "none").code == 0
    own = ["documents.parquet", "metrics.json", "run.json", "statistics.parquet"]
    assert sorted(path.name for path in target.iterdir()) == sorted(
        [*own, "notes.txt"]
    )  # what is not the run's own stays
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "run"]


def test_a_run_without_evidence_holds_no_value_of_an_answer(run: Run, files: Files, tmp_path: Path) -> None:
    """Unreadable and cut-off answers, errors and violations quote values; the reason without them stays."""
    answers = ["Here: SECRET", '{"a": "SECRET", "b": 1,']
    rows = [{"id": row["id"], "raw": text} for row, text in zip(GOLD, answers, strict=False)]
    files.write("llama.jsonl", [*rows, {**GOLD[-1], "error": "SECRET"}])
    spec, target = tmp_path / "data" / "spec.yaml", tmp_path / "run"
    spec.write_text('{fields: {a: text, b: text}, checks: {a: [{pattern: "[a-z]+"}]}}')
    run(
        "score",
        *files.inputs,
        *FAST,
        "--spec",
        spec,
        "--out",
        target,
        "--evidence",
        "none",
        "--report",
        "html",
    )
    tables = "".join(str(pl.read_parquet(one).to_dicts()) for one in target.glob("*.parquet"))
    others = b"".join(one.read_bytes() for one in target.iterdir())
    assert "SECRET" not in tables and b"SECRET" not in others
    assert "'no JSON in the answer'" in tables and b"violates pattern" in others


def test_a_failing_run_keeps_the_earlier_one_and_leaves_nothing(
    run: Run, files: Files, tmp_path: Path
) -> None:
    target = tmp_path / "a" / "run"
    assert run("score", *files.inputs, *FAST, "--out", target).code == 0
    before = (target / "metrics.json").read_bytes()
    assert run("score", *files.inputs, "--pred", "nowhere.jsonl", "--out", target).code == 2
    assert (target / "metrics.json").read_bytes() == before
    assert run("score", *files.inputs, "--pred", "nowhere.jsonl", "--out", tmp_path / "b" / "run").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "data"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["run"]


def hear_interrupts() -> None:
    """Take Ctrl-C, which a job in the background ignores."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.slow
def test_interrupted_run_leaves_no_output(run: Run, files: Files, tmp_path: Path, is_new: bool) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    if not is_new:
        assert run("score", *files.inputs, *FAST, "--out", folder / "run").code == 0
    process = spawn(
        "score", *files.inputs, "--pred", "late=-", "--out", folder / "run",
        stdin=subprocess.PIPE, preexec_fn=hear_interrupts,
    )  # fmt: skip
    process.stdin.write(b" " * 1_000_000)  # more than a pipe holds: it is being read
    assert [path.name for path in folder.iterdir() if path.name.startswith(".run.partial")]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert err.startswith(b"interrupted; ") and b"Traceback" not in err
    assert [path.name for path in folder.iterdir()] == ([] if is_new else ["run"])


@pytest.mark.slow
def test_closed_pipe_is_quiet(files: Files) -> None:
    read, write = os.pipe()
    os.close(read)
    process = spawn("score", *files.inputs, *FAST, stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0
    assert b"Traceback" not in err and b"Exception" not in err


def test_a_run_inside_of_gold_does_not_change_the_next_score(run: Run, files: Files) -> None:
    gold = files.folder / "gold"
    gold.mkdir()
    for row in GOLD:
        (gold / f"{row['id']}.json").write_text(json.dumps(row))
    inputs = ["-s", files.folder / "spec.yaml", "--gold", gold, "--pred", files.folder / "llama.jsonl"]
    counts = []
    for name in ("first", "second"):
        ran = run("score", *inputs, "--bootstrap", "0", "--out", gold / name)
        assert ran.code == 0, ran.err
        counts.append(json.loads((gold / name / "metrics.json").read_text())["counts"]["documents"])
        assert ("1 folder that fieldassay wrote left out: first" in ran.out + ran.err) == (name == "second")
    assert counts[0] == counts[1]
