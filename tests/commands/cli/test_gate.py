"""`fieldassay gate`, and the gates of `fieldassay score`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Files, Ran
from scored_runs import ONE, scored, write_measured

from fieldassay.commands.cli.main import main

Run = Callable[..., Ran]
FAST = ("--bootstrap", "50")

SPEC = """
name: {name}
fields: {{drug: text}}
definitions:
  {name}_accuracy: {{formula: accuracy * 100, unit: percent}}
  pipeline_success_rate: {{formula: document_mean(100 * (1 - documents_error)), unit: percent}}
metrics: [accuracy, {name}_accuracy, pipeline_success_rate]
"""
RECORDS: dict[str, Any] = {
    "manifest": ["d0", "d1"],
    "reliability": [f"r{number}" for number in range(5)],
    "offline": [
        {
            "backend": "transformers",
            "command": "python demo.py",
            "hardware": "8 cores",
            "latency_seconds": 41.5,
        }
    ],
    "proofs": [
        {"doc_id": f"d{number}", "before": 2, "after": 4, "interpretation": "Finds twice as many."}
        for number in (0, 1)
    ],
}


def write_records(folder: Path, **changes: Any) -> Path:
    path = folder / "records.yaml"
    for number in range(5):
        write_measured(folder, number, {})
    path.write_text(json.dumps({**RECORDS, **changes}), encoding="utf-8")
    return path


def score_run(
    folder: Path,
    name: str,
    wrong: int,
    system: str = "llama",
    documents: int = 20,
    extra: str = "",
    failed: int = 0,
) -> Path:
    (folder / "spec.yaml").write_text(SPEC.format(name=name) + extra, encoding="utf-8")
    rows = [{"id": f"d{number}", "drug": f"x{number}"} for number in range(documents)]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    answers: list[dict[str, Any]] = [
        {**row, "drug": "zzz"} if number < wrong else row for number, row in enumerate(rows)
    ]
    answers = [{"id": row["id"], "error": "boom"} if at < failed else row for at, row in enumerate(answers)]
    (folder / "pred.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    out = folder / f"{name}-{wrong}-{system}-{failed}"
    data = [
        "--spec",
        folder / "spec.yaml",
        "--gold",
        folder / "gold.jsonl",
        "--pred",
        f"{system}={folder / 'pred.jsonl'}",
    ]
    assert main(["score", *map(str, data), "--out", str(out), "--quiet", *FAST]) == 0
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    made = {
        "rx": score_run(folder, "prescription", 3),
        "rx bad": score_run(folder, "prescription", 4),
        "lab": score_run(folder, "lab", 5),
        "lab bad": score_run(folder, "lab", 6),
        "lab of qwen": score_run(folder, "lab", 5, "qwen"),
        "rx good": score_run(folder, "prescription", 1),
        "lab good": score_run(folder, "lab", 3),
        "rx failing": score_run(folder, "prescription", 3, failed=3),
        "lab failing": score_run(folder, "lab", 5, failed=5),
    }
    return made


CLINICAL: dict[str, tuple[tuple[str, str], dict[str, Any], int, str]] = {
    "all exactly at the threshold": (
        ("rx", "lab"),
        {},
        0,
        "GO: 6 gates passed",
    ),
    "prescriptions below": (
        ("rx bad", "lab"),
        {},
        1,
        "prescription_accuracy >= 85 failed: 80.0%, needed at least 85%",
    ),
    "labs below": (("rx", "lab bad"), {}, 1, "lab_accuracy >= 75 failed: 70.0%, needed at least 75%"),
    "pipeline pooled over the runs": (("rx", "lab failing"), {}, 1, "together 35 of 40"),
    "pipeline pooled at the threshold": (("rx failing", "lab"), {}, 0, "together 37 of 40"),
    "four runs": (
        ("rx", "lab"),
        {"reliability": RECORDS["reliability"][1:]},
        1,
        "reliability_runs >= 5 failed: 4, needed at least 5",
    ),
    "nothing offline": (("rx", "lab"), {"offline": []}, 1, "offline_runs >= 1 failed: 0, needed at least 1"),
    "one proof": (
        ("rx", "lab"),
        {"proofs": RECORDS["proofs"][:1] * 2},
        1,
        "proofs >= 2 failed: 1, needed at least 2",
    ),
    "a proof of no document": (("rx", "lab"), {"manifest": ["d0"]}, 1, "'d1' is not in the manifest"),
    "systems of other names": (
        ("rx", "lab of qwen"),
        {},
        0,
        "one decision for all of llama, qwen",
    ),
    "both runs of one kind": (("rx", "rx good"), {}, 4, "2 runs have prescription_accuracy"),
}


@pytest.mark.parametrize("case", CLINICAL)
def test_clinical_decision(run: Run, runs: dict[str, Path], tmp_path: Path, case: str) -> None:
    chosen, changes, code, said = CLINICAL[case]
    records = write_records(tmp_path, **changes)
    ran = run(
        "gate", *(runs[name] for name in chosen), "--protocol", "clinical-decision", "--records", records
    )
    assert ran.code == code, ran.out + ran.err
    assert said in " ".join(ran.out.split())
    assert ("one decision for all" in " ".join(ran.out.split())) == (case == "systems of other names")


def test_without_records_or_a_run_nothing_is_decided(run: Run, runs: dict[str, Path], tmp_path: Path) -> None:
    ran = run("gate", runs["rx good"], runs["lab good"], "--protocol", "clinical-decision")
    assert ran.code == 4 and "reliability_runs comes from a records file: give one" in ran.out
    ran = run("gate", runs["rx"], "--protocol", "clinical-decision", "--records", write_records(tmp_path))
    assert ran.code == 4 and "no metric 'lab_accuracy'" in (shown := " ".join(ran.out.split()))
    assert "Lab accuracy — >= 75 INCONCLUSIVE" in shown


@pytest.mark.parametrize(("name", "begins"), [("page.md", "# clinical-decision: GO"), ("page.json", "{")])
def test_the_page_is_written_where_it_is_asked_for(
    run: Run, runs: dict[str, Path], tmp_path: Path, name: str, begins: str
) -> None:
    target = tmp_path / name
    records = write_records(tmp_path)
    ran = run(
        "gate",
        runs["rx"],
        runs["lab"],
        "--protocol",
        "clinical-decision",
        "--records",
        records,
        "--out",
        target,
    )
    assert ran.code == 0 and f"written to {target}" in ran.err
    assert target.read_text(encoding="utf-8").startswith(begins)
    assert [path.name for path in target.parent.iterdir() if path.name.startswith(".")] == []


def test_the_page_never_replaces_what_is_read(run: Run, runs: dict[str, Path], tmp_path: Path) -> None:
    records = write_records(tmp_path)
    for target in (records, runs["rx"] / "metrics.json", tmp_path):
        assert (
            run(
                "gate", runs["rx"], "--protocol", "clinical-decision", "--records", records, "--out", target
            ).code
            == 2
        )
    assert json.loads(records.read_text()) == RECORDS


WITH_PERFECT = (*ONE, "--pred", "perfect=gold.jsonl")


def test_gates_of_a_file_over_several_systems_are_decided_one_by_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text("gates: [accuracy >= 0.99]", encoding="utf-8")
    arguments = ["gate", scored(WITH_PERFECT) / "run", "--gates", tmp_path / "gates.yaml"]
    ran = run(*arguments, "--json")
    answers = {decision["system"]: decision["answer"] for decision in json.loads(ran.out)["decisions"]}
    assert (ran.code, answers) == (1, {"llama": "NO-GO", "perfect": "GO"})
    assert run(*arguments, "--system", "perfect").code == 0
    assert run(*arguments, "--system", "perfekt").code == 2


@pytest.mark.parametrize(("system", "options", "code"), [
    (None, [], 2), (None, ["--system", "perfect"], 0), ("perfect", [], 0),
    ("llama", ["--system", "perfect"], 2), ("nobody", [], 2),
])  # fmt: skip
def test_records_of_one_system_never_stand_for_another(
    run: Run, tmp_path: Path, system: str | None, options: list[str], code: int
) -> None:
    (tmp_path / "gates.yaml").write_text("gates: [proofs >= 2]", encoding="utf-8")
    records = write_records(tmp_path, **({} if system is None else {"system": system}))
    given = ("--gates", tmp_path / "gates.yaml", "--records", records, *options)
    assert run("gate", scored(WITH_PERFECT) / "run", *given).code == code


def test_without_other_gates_each_run_is_decided_by_its_own_spec(run: Run, tmp_path: Path) -> None:
    first = score_run(tmp_path, "prescription", 1, extra="gates: [prescription_accuracy >= 90]")
    ran = run("gate", first, score_run(tmp_path, "lab", 1, extra="gates: [lab_accuracy >= 90]"))
    assert ran.code == 0 and "llama in" in ran.out


def test_hostile_names_are_shown_harmlessly(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text(
        'name: "a\\u001b[31m|<script>"\ngates: [{gate: accuracy >= 0.1, title: "b\\u202ec | d"}]',
        encoding="utf-8",
    )
    folder = score_run(tmp_path, "prescription", 1, "lla|ma<b>")
    out = run("gate", folder, "--gates", tmp_path / "gates.yaml", "-o", tmp_path / "page.md").out
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert not {"\x1b", "\u202e"} & set(out + page)
    assert "<script>" not in page and "<b>" not in page


SCORED: dict[str, tuple[str, list[str], int, str]] = {
    "passes": ("[accuracy >= 0.5]", [], 0, ""),
    "fails": ("[accuracy >= 0.99]", [], 1, "failed: llama: accuracy is 70.8%"),
    "fails quietly": ("[accuracy >= 0.99]", ["--quiet"], 1, "needed at least 99%"),
    "exits with zero": ("[accuracy >= 0.99]", ["--exit-zero"], 0, "failed: llama"),
    "threshold exits with zero": ("[]", ["--gate", "accuracy=0.99", "--exit-zero"], 0, "failed: llama"),
    "too few": (
        "[lower(accuracy) >= 0.6]",
        ["--bootstrap", "800"],
        0,
        "inconclusive: llama: lower(accuracy) >= 0.6: too close to call: lower bound (95% interval) ",
    ),
    "too few, strict": ("[lower(accuracy) >= 0.6]", ["--strict"], 4, "inconclusive"),
    "passes, strict": ("[accuracy >= 0.5]", ["--strict"], 0, ""),
    "failed before open": ("[lower(accuracy) >= 0.1, accuracy >= 0.99]", ["--strict"], 1, "failed"),
    "metric that is not listed": (
        "[perfect_documents >= 0.9]",
        ["--metrics", "f1"],
        1,
        "failed: llama: perfect_documents is",
    ),
    "empty slice": ("['accuracy{kind=zzz} >= 0']", ["--strict"], 4, "undefined"),
    "empty slice, if present": (
        "['accuracy{kind=zzz} >= 0.9 if present', accuracy >= 0.1]",
        ["--strict"],
        0,
        "",
    ),
    "all skipped": ("['accuracy{kind=zzz} >= 0.9 if present']", ["--strict"], 4, ""),
    "slice with documents": (
        "['accuracy{kind=b} >= 0.99 if present']",
        [],
        1,
        "failed: llama: accuracy{kind=b}",
    ),
    "critical where nothing is": ("['critical_accuracy{kind=zzz} >= 1']", ["--strict"], 4, "undefined"),
    "errors": ("[errors(documents_missing) == 0]", [], 0, ""),
    "better when lower": ("[latency_p95 <= 2000]", ["--strict"], 4, "undefined"),
    "contradiction": ("[accuracy >= 0.5]", ["--strict", "--exit-zero"], 2, "contradict"),
    "a group": ("[presence >= 0.5]", [], 2, "stands for several metrics"),
    "each field": (
        "[field_accuracy >= 0.7]",
        [],
        1,
        "failed: llama: field_accuracy[total] is 66.7%, needed at least 70% (n = 3)",
    ),
    "unknown field": ("['field_accuracy[totl] >= 0.5']", [], 2, "did you mean 'total'?"),
}


@pytest.mark.parametrize("case", SCORED)
def test_gates_of_a_scoring_run(run: Run, files: Files, case: str) -> None:
    gates, options, code, said = SCORED[case]
    spec = files.folder / "spec.yaml"
    spec.write_text(f"{spec.read_text(encoding='utf-8')}gates: {gates}\n", encoding="utf-8")
    whole = () if "--quiet" in options else ("--verbose",)
    ran = run("score", *files.inputs, *FAST, *options, *whole)
    assert ran.code == code, ran.out + ran.err
    assert said in ran.err and "not applied" not in ran.out
    assert ("Gates" in ran.out) == (
        code != 2 and gates != "[]" and "--quiet" not in options
    ) or "--gate" in options


def test_many_systems_are_counted_in_the_report(run: Run, files: Files) -> None:
    spec = files.folder / "spec.yaml"
    spec.write_text(f"{spec.read_text(encoding='utf-8')}gates: [accuracy >= 0.99]\n", encoding="utf-8")
    others = [part for number in range(5) for part in ("--pred", f"s{number}={files.folder / 'gold.jsonl'}")]
    ran = run("score", *files.inputs, *others, *FAST, "--verbose")
    assert ran.code == 1 and "5 of 6" in ran.out and "llama FAIL" in ran.out
