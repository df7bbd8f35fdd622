"""The doors of Python: names, keywords, documents, start-up."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from command_runs import write_tiny
from msgspec.structs import fields
from test_golden import list_keys

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import COMMANDS, commands, main
from fieldassay.commands.extract import name_documents
from fieldassay.documents.sources import DocumentFile
from fieldassay.errors import ProblemsError
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.spec.language.model import DataOptions, StatisticsOptions

# The content of `import fieldassay`: that of the command line, with nothing loaded before its use

SPEC = """
name: receipts
fields: {total: {type: money, currency: AUD}, shop: text}
checks: {shop: [not_empty]}
gates: [accuracy >= 0.5]
slices: [type]
"""
GOLD = [{"id": f"r{n}", "type": "ab"[n % 2], "total": f"{n}.00", "shop": "Oak"} for n in range(12)]
SYSTEMS = {
    "llama": [{"id": f"r{n}", "total": n, "shop": "Oak"} for n in range(12)],
    "qwen": [{"id": f"r{n}", "total": n % 9, "shop": "Oak" if n % 4 else ""} for n in range(12)],
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC)
    for name, rows in {"gold": GOLD, **SYSTEMS}.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_bytes())


@pytest.mark.parametrize("evidence", ["all", "errors", "none"])
@pytest.mark.parametrize("has_checks", [True, False], ids=["checks", "no checks"])
def test_a_run_saved_from_python_is_the_one_that_the_command_line_writes(
    files: Path, evidence: str, has_checks: bool
) -> None:
    spec = SPEC if has_checks else SPEC.replace("checks: {shop: [not_empty]}\n", "")
    (files / "spec.yaml").write_text(spec)
    paths = {name: f"{name}.jsonl" for name in SYSTEMS}
    command = [f"--pred={name}={path}" for name, path in paths.items()]
    options = ["--evidence", evidence, "--bootstrap", "100", "--gate", "accuracy >= 0.4"]
    assert (
        main(
            [
                "score",
                "--spec",
                "spec.yaml",
                "--gold",
                "gold.jsonl",
                *command,
                *options,
                "--out",
                "typed",
                "-q",
            ]
        )
        == 0
    )
    result = fa.score(
        "gold.jsonl", paths, "spec.yaml", evidence=evidence, bootstrap=100, gates=["accuracy >= 0.4"]
    )
    run = result.save("saved")
    assert sorted(path.name for path in run.folder.iterdir()) == sorted(
        path.name for path in (files / "typed").iterdir()
    )
    for name in ("metrics.json", "gates.json", "comparisons.json", "violations.jsonl"):
        if (run.folder / name).is_file():
            assert (run.folder / name).read_bytes() == (files / "typed" / name).read_bytes(), name
    typed, saved = read(files / "typed", "run.json"), read(run.folder, "run.json")
    assert json.dumps(list_keys(typed)) == json.dumps(list_keys(saved))
    differing = {name for name in typed if typed[name] != saved[name]}
    assert differing <= {"id", "command", "started", "timings", "files", "sha256"}
    if evidence != "none":
        there, here = fa.open_run("typed").evidence, run.evidence
        assert there.collect().equals(here.collect())


def test_data_in_memory_is_saved_without_digests_of_files(files: Path) -> None:
    (files / "gold").write_text("a file with the label of data in memory")
    run = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0).save(files / "runs", in_store=True)
    assert set((run.file.inputs.sha256 or {}).values()) == {None}
    assert fa.open_run("latest", store=files / "runs").id == run.id


def test_evidence_in_a_folder_of_the_users_is_saved_with_the_run(files: Path) -> None:
    (files / "parts").mkdir()
    result = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0, evidence_folder=files / "parts")
    assert result.save("run").evidence.collect()["system"].n_unique() == 2


@pytest.mark.parametrize("kind", ["part-*", "violations-*"])
def test_evidence_that_is_gone_is_missed_and_never_saved_as_none(files: Path, kind: str) -> None:
    (files / "parts").mkdir()
    result = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0, evidence_folder=files / "parts")
    next((files / "parts").glob(kind)).unlink()
    with pytest.raises(fa.ProblemsError, match=r"is gone, and with it judged values"):
        result.save("run")
    assert not Path("run").exists()


def test_saving_applies_the_umask_and_never_sets_it(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the whole process: files of other threads would get the wrong permissions."""
    result, before = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0), os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", lambda mask: pytest.fail("was set"))
            run = result.save("run")
            fa.report(run, "html", "page.html")
    finally:
        assert os.umask(before) == 0o027
    assert run.folder.stat().st_mode & 0o777 == 0o750
    assert {path.stat().st_mode & 0o777 for path in [Path("page.html"), *run.folder.iterdir()]} == {0o640}


def test_a_result_that_was_read_cannot_be_saved_again(files: Path) -> None:
    run = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0).save("run")
    with pytest.raises(ValueError, match="saved already"):
        run.result.save("other")


def test_reports_of_runs_and_results_are_the_same(files: Path) -> None:
    result = fa.score(GOLD, SYSTEMS, SPEC.replace("checks: {shop: [not_empty]}\n", ""), bootstrap=100)
    run = result.save("run")
    assert (
        fa.report(result, "markdown")
        == fa.report(run, "markdown")
        == fa.report("run", "markdown", files / "page.md")
    )
    assert (files / "page.md").read_text() == fa.report(run, "markdown")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda run: fa.diff(run, run, metric=["f1"]), "no option 'metric'; did you mean 'metrics'"),
        (lambda run: fa.calibrate(run, field="total"), "no option 'field'; did you mean 'fields'"),
        (lambda run: fa.gate(run, baselines="x"), "no option 'baselines'; did you mean 'baseline'"),
        (lambda run: fa.report(run, "markdwn"), "did you mean 'markdown'"),
        (lambda run: fa.open_run("nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_told_with_the_nearest_name(files: Path, call: Any, said: str) -> None:
    run = fa.score(GOLD, SYSTEMS, SPEC, bootstrap=0).save("run")
    with pytest.raises(fa.ProblemsError, match=said):
        call(run)


@pytest.mark.parametrize("gold", [GOLD[1:], {row["id"]: row for row in GOLD[1:]}], ids=["rows", "by id"])
def test_a_mapping_with_the_ids_of_gold_is_the_records_of_one_system(gold: Any) -> None:
    by_id = {row["id"]: {"total": row["total"], "shop": row["shop"]} for row in SYSTEMS["qwen"]}
    assert list(score(gold, by_id, SPEC).systems) == ["prediction"]
    assert score(gold, by_id, SPEC).value("accuracy") == score(gold, {"qwen": by_id}, SPEC).value("accuracy")
    assert list(score(gold, {"r0": by_id, "r1": by_id}, SPEC).systems) == ["r0", "r1"]
    in_fields = {"shop": {"total": 1, "shop": "A"}, 7: {"total": 2, "shop": "B"}}
    half_right = {7: in_fields[7], " shop": {"total": 1, "shop": "C"}}
    assert score(in_fields, half_right, SPEC).value("accuracy") == 0.75


@pytest.mark.parametrize("name", ["", 7, None])
def test_a_system_without_a_name_is_refused(name: Any) -> None:
    with pytest.raises(ProblemsError, match=f"a system is named {name!r}; name it by a text"):
        score(GOLD, {name: SYSTEMS["qwen"]}, SPEC)


@pytest.mark.slow
def test_importing_the_package_loads_its_version_alone_and_names_stand_beside_folders_of_the_same_name() -> (
    None
):
    code = (
        "import sys, fieldassay as fa; print([name for name in sys.modules if name.startswith('fieldassay.')]); "
        "import fieldassay.reports.report; print([name for name in fa.__all__[1:] if "
        "getattr(fa, name).__name__ != name])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "['fieldassay.version']\n[]\n"


@pytest.mark.parametrize("name", [name for name in fa.__all__ if name != "__version__"])
def test_public_names_are_what_they_say_with_an_example(name: str) -> None:
    found = getattr(fa, name)
    assert found.__name__ == name
    if name in (
        "score",
        "open_run",
        "diff",
        "calibrate",
        "gate",
        "report",
        "set_baseline",
        "check_baseline",
        "explain_document",
    ):
        assert ">>> " in (found.__doc__ or "")


# Options of `score` as keywords: the same as in the options objects

KEYWORDS_SPEC = "fields: {shop: text, total: money}"
KEYWORDS_GOLD = [
    {"id": "a", "gold": {"shop": "Oak", "total": 1}, "kind": "x"},
    {"id": "b", "gold": {"shop": "Elm", "total": 2}, "kind": "y"},
]
PRED = [
    {"id": "a", "answer": {"shop": "Oak", "total": 9}},
    {"id": "b", "answer": {"shop": "Elm", "total": 2}},
]


def test_no_name_is_an_option_of_two_classes() -> None:
    names = [part.name for kind in (ScoreOptions, DataOptions, StatisticsOptions) for part in fields(kind)]
    assert len(names) == len(set(names))


def test_every_keyword_that_is_no_option_is_named_with_the_nearest() -> None:
    with pytest.raises(ProblemsError) as caught:
        score(KEYWORDS_GOLD, PRED, KEYWORDS_SPEC, predkey="answer", metrcs=["f1"])
    assert str(caught.value).splitlines() == [
        "score: no option 'predkey'; did you mean 'pred_key'?",
        "score: no option 'metrcs'; did you mean 'metrics'?",
    ]


# Which document is that of which gold record: names, patterns, readings, and what is refused


def named(documents: str, ids: str, pattern: str | None = None) -> dict[str, dict[str, str]]:
    """Return the path of each gold id's document, by reading."""
    files = [DocumentFile(name, Path(name)) for name in documents.split()]
    found = name_documents(files, ids.split(), pattern).readings
    return {reading: {file.id: str(file.path) for file in own} for reading, own in found.items()}


CASES = [
    ("the same names", "a.pdf b/c.pdf", "a b/c.pdf", None, {"a": "a.pdf", "b/c.pdf": "b/c.pdf"}),
    ("gold with an ending of its own", "x/case_1_standard.pdf x/case_2_ocr.pdf", "case_1_expected case_2_expected",
     None, {"case_1_expected": "x/case_1_standard.pdf", "case_2_expected": "x/case_2_ocr.pdf"}),
    ("ids that begin others", "a_raw.txt a_b_raw.txt ab_raw.txt", "a a_b ab", None, {"a": "a_raw.txt", "a_b": "a_b_raw.txt", "ab": "ab_raw.txt"}),
    ("another form of Unicode", "e\u0301.pdf b.pdf", "\u00e9 b", None, {"\u00e9": "e\u0301.pdf", "b": "b.pdf"}),
    ("documents with a beginning", "scan-a1.png scan-a10.png", "a1 a10", None, {"a1": "scan-a1.png", "a10": "scan-a10.png"}),
    ("a pattern", "d/c_1_s.pdf d/c_2_s.pdf", "1_gold 2_gold", "c_{id}_*.pdf={id}_gold", {"1_gold": "d/c_1_s.pdf", "2_gold": "d/c_2_s.pdf"}),
    ("a pattern with folders", "d/1.pdf e/1.pdf", "1", "e/{id}.pdf", {"1": "e/1.pdf"}),
    ("a pattern, and ids with its signs", "c_1_a_b.pdf c_10_a.pdf", "c_1 c_10", "{id}_*={id}", {"c_1": "c_1_a_b.pdf", "c_10": "c_10_a.pdf"}),
    ("a pattern on both sides", "c_1_a.pdf", "c_1_x_y", "{id}_*={id}_x_*", {"c_1_x_y": "c_1_a.pdf"}),
    ("formats of one case", "pdf/c_1_a.pdf docx/c_1_b.docx pdf/c_2_a.pdf", "c_1_expected c_2_expected", None,
     {"pdf/c_1_a.pdf": "pdf/c_1_a.pdf", "docx/c_1_b.docx": "docx/c_1_b.docx", "pdf/c_2_a.pdf": "pdf/c_2_a.pdf"}),
    ("exact names, and longer ones", "a.pdf x/b_scan.pdf c.png", "a b c", None, {"a": "a.pdf", "b": "x/b_scan.pdf", "c": "c.png"}),
    ("a longer name of an id that has its own", "a.pdf a_b.pdf", "a b", None, {"a": "a.pdf"}),
    ("formats of one name", "pdf/a.pdf docx/a.docx", "a", None, {"pdf/a.pdf": "pdf/a.pdf", "docx/a.docx": "docx/a.docx"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("documents", "ids", "pattern", "found"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_documents_meet_their_gold(
    documents: str, ids: str, pattern: str | None, found: dict[str, str]
) -> None:
    assert named(documents, ids, pattern) == {"": found}


def test_folders_with_the_same_names_are_readings() -> None:
    parts = {at: {"p_0": f"p_0_{at}.txt", "p_1": f"p_1_{at}.txt"} for at in ("raw", "layout_2")}
    assert (
        named("p_0_raw.txt p_0_layout_2.txt p_1_raw.txt p_1_layout_2.txt", "p_0 p_1", "{id}_{reading}.txt")
        == parts
    )
    readings = {at: {"p0": f"{at}/p0.txt", "p1": f"{at}/p1.txt"} for at in ("corrected", "raw")}
    documents = "corrected/p0.txt raw/p0.txt corrected/p1.txt raw/p1.txt"
    assert named(documents, "p0 p1") == readings == named(documents, "p0 p1", "{reading}/{id}.txt")


REFUSED = [
    ("names with nothing in common", "a.pdf", "b", None, "no document has gold"),
    ("an id in two names", "x1.pdf", "1", None, "no document has gold"),
    ("two ids in one name", "page_1_of_2.pdf", "1 2", None, "no document has gold"),
    ("readings in names", "p_1_raw.txt p_1_b_c.txt p_2_raw.txt", "p_1 p_2", None, "give --match-docs '{id}_{reading}.txt'"),
    ("readings before ids", "s-1-a.pdf s-1-b.pdf", "1_x 3_x", None, "give --match-docs '[*]-{id}-{reading}.pdf={id}_x'"),
    ("longer names of ids in others", "a_b_x.pdf a_y.pdf", "a a_b", None, "give --match-docs '{id}_[*].pdf'"),
    ("readings that differ", "a/p0.txt b/p0.txt b/p1.txt", "p0", None, "are all gold's 'p0'"),
    ("a pattern that fits none", "a.pdf", "a", "b_{id}.pdf", "fits no document"),
    ("a pattern without an id", "a.pdf", "a", "b.pdf", "must hold {id} exactly once"),
    ("a pattern that fits two", "a_1.pdf a_2.pdf", "a", "{id}_*.pdf", "are all gold's 'a'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("documents", "ids", "pattern", "told"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED]
)
def test_what_is_not_sure_is_refused(documents: str, ids: str, pattern: str | None, told: str) -> None:
    with pytest.raises(ProblemsError, match=told.replace("{", r"\{")):
        named(documents, ids, pattern)


# What a short run imports: no library that it has no use for

ALWAYS = {"fieldassay", "msgspec", "numpy", "typing_extensions"}
COMMAND_NEEDS = ALWAYS | {"ruamel", "click", "rich", "rapidfuzz", "polars", "threadpoolctl"}
"""The command also reads a spec in YAML, diagnoses wrong values, and counts them in a table."""
TOLD = """
import importlib.metadata, sys
installed = importlib.metadata.packages_distributions()
names = {name.partition(".")[0] for name in sys.modules}
print(sum(name.startswith("fieldassay") for name in sys.modules), *sorted(names & set(installed)), file=sys.stderr)
"""
COMMAND = """
import sys
from fieldassay.commands.cli.main import main
sys.argv[0] = "fieldassay"
assert main(sys.argv[1:]) == 0
"""
DATED = (
    "fields: {total: {type: money, currency: AUD}, name: text, on: date, lines: {type: list, items: text}}"
)


def imported(code: str, *arguments: str) -> tuple[int, set[str]]:
    """Return how many modules of the package a program imports, and which libraries."""
    ran = subprocess.run(
        [sys.executable, "-c", code + TOLD, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    count, *names = ran.stderr.split()
    return int(count), {name for name in names if not name.startswith("_")}


@pytest.mark.slow
def test_a_small_score_imports_few_libraries(tmp_path: Path) -> None:
    files = write_tiny(tmp_path)
    (tmp_path / "spec.yaml").write_text(DATED, encoding="utf-8")
    dated = [{"id": at, "total": "5.00", "name": "Oak", "on": f"{at} March 2025"} for at in (1, 2, 3)]
    files.write("gold.jsonl", dated)
    files.write("llama.jsonl", [{**row, "name": "Ash", "total": "5.10"} for row in dated])
    _, libraries = imported(COMMAND, "score", *files.inputs)
    assert libraries <= COMMAND_NEEDS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_has_the_first_sentence_of_each_command(name: str) -> None:
    context = click.Context(commands)
    command = commands.get_command(context, name)
    assert commands.summary_of(context, name) == command.get_short_help_str(1000)
