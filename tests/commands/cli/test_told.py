"""What commands print: protocols, examples, answers, studies, and commands in messages."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import click
import polars as pl
import pytest
import yaml
from command_runs import Ran
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, completion

import fieldassay
from fieldassay.commands.cli.main import commands
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.options import option_names
from fieldassay.scoring.score import score
from fieldassay.spec.language.model import DataOptions, StatisticsOptions
from fieldassay.spec.language.names import FIELD_KEYS, SPEC_KEYS
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.presets.catalogue import own_copy, preset_heads, preset_names, preset_text
from fieldassay.values.catalogue import ALIGNERS, CHECKS, COMPARATORS, NORMALIZERS, READERS
from fieldassay.values.comparators.numbers import Tolerance

# `fieldassay protocols`: what ships, as it ships, and as the beginning of a spec of one's own.

Runner = Callable[..., Ran]
SPECS = [head.name for head in preset_heads() if head.kind == "spec"]
PUBLISHED = {
    "slot-filling",
    "prescription",
    "lab-report",
    "engineering-extractor",
    "entry-matching",
    "entry-matching-mean",
    "business-documents",
}


def test_the_published_protocols_are_there(run: Runner) -> None:
    assert set(SPECS) >= PUBLISHED
    told = json.loads(run("protocols", "list", "--json").out)
    assert [head["name"] for head in told] == list(preset_names())
    assert all(name in run("protocols", "list").out for name in preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_show_prints_the_file_and_the_head_says_version_source_and_purpose(run: Runner, name: str) -> None:
    assert run("protocols", "show", name).out == preset_text(name)
    head = next(head for head in preset_heads() if head.name == name)
    assert head.version and head.description and head.citation
    assert json.loads(run("protocols", "show", name, "--json").out)["name"] == name


@pytest.mark.parametrize("name", SPECS)
def test_a_protocol_compiles_and_so_does_a_copy_with_the_same_rules(
    run: Runner, name: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    assert run("protocols", "new", name, "--out", str(mine)).code == 0
    assert mine.read_text() == own_copy(name)
    plan, copy = read_plan(preset_text(name)), read_plan(mine)
    assert (plan.digest, plan.spec.definitions, plan.spec.metrics) == (
        copy.digest,
        copy.spec.definitions,
        copy.spec.metrics,
    )
    assert copy.spec.name == f"my-{name}"
    taken = read_plan({"protocol": name})
    assert (taken.digest, taken.spec.metrics) == (plan.digest, plan.spec.metrics)


def test_a_copy_never_replaces_a_file(run: Runner, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("precious")
    found = run("protocols", "new", "slot-filling", "--out", str(mine))
    assert (found.code, mine.read_text()) == (2, "precious")


# The specs under `examples/` compile and read values as commented; the commands of its pages run.

EXAMPLES = Path(__file__).parents[3] / "examples"
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
"""Where the public data sets may be."""

PAGES = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*/README.md"))}
SECTIONS = {"CORD": DATA / "cord-100", "finRAG": DATA / "finrag-2024", "Slot filling": EXAMPLES}
"""Sections of the page of examples with commands, and what they need."""


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_spec_compiles_and_is_in_the_readme(path: Path) -> None:
    assert read_plan(path).fields
    assert f"examples/{path.parent.name}/spec.yaml" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gold", "pred"),
    [("60.000", "60,000"), ("24,000", 24000), ("*46000", "46.000"), ("Rp.62.000", "Rp 62.000")],
)
def test_cord_reads_points_and_commas_as_thousands(gold: str, pred: str | int) -> None:
    rows = [[{"id": 1, key: {"TotalPrice": value}}] for key, value in (("gold", gold), ("pred", pred))]
    assert score(*rows, EXAMPLES / "cord" / "spec.yaml").value("accuracy") == 1.0


def example_commands(text: str) -> list[str]:
    """Return the lines of the shell blocks of a page."""
    return [
        line for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M) for line in block.splitlines()
    ]


def run_all(run: Callable[..., Ran], lines: list[str]) -> None:
    """Run each command; an example may fail a gate at worst. A line `NAME=value` names a value."""
    names: dict[str, str] = {}
    for line in lines:
        words = [names.get(word, word) for word in shlex.split(line)]
        if words[0] == "cd":
            os.chdir(words[1])
        elif len(words) == 1:
            name, value = line.split("=")
            names[f"${name}"] = value
        else:
            ran = run(*words[1:])
            if "pip install" in ran.err:
                pytest.skip(ran.err)
            assert ran.code in (0, 1), f"{line}\n{ran.err}"


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if example_commands(text)])
def test_the_commands_of_an_example_run(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples" / name if "In this folder:" in PAGES[name] else tmp_path)
    run_all(run, example_commands(PAGES[name]))


@pytest.mark.parametrize("name", SECTIONS)
def test_the_commands_of_the_page_of_examples_run(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if not SECTIONS[name].is_dir():
        pytest.skip("the data set is not here")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for path in SECTIONS[name].glob("*.jsonl"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    run_all(
        run,
        example_commands(
            (EXAMPLES / "README.md").read_text(encoding="utf-8").split(f"## {name}\n")[1].split("\n## ")[0]
        ),
    )


# Why an answer could not be judged as it should: in the run, in `explain`, and in the report.

Run = Callable[..., Ran]
SORRY = "I am sorry, I cannot read this document. " * 40
ANSWERS = {
    "sound": {"raw": '{"n": 1}'},
    "sorry": {"raw": SORRY},
    "mended": {"raw": 'Here: {"n": 1,}'},
    "error": {"error": "HTTP 500 from the service"},
    "timeout": {"error": "request timed out after 60 s"},
    "absent": None,
}
TOLD = {
    "sound": [],
    "sorry": [
        "the answer could not be read (no JSON in the answer: 'I am sorry,",
        "the answer begins: I am sorry, I cannot read",
    ],
    "mended": [
        "the answer was repaired (prose_around, trailing_comma)",
        'the answer begins: Here: {"n": 1,}',
    ],
    "error": ["there is an error instead of an answer (HTTP 500 from the service); it counts as empty"],
    "timeout": ["there is a timeout instead of an answer (request timed out after 60 s)"],
    "absent": ["no prediction for this document"],
}


@pytest.fixture
def scored(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text("fields: {n: number}")
    Path("gold.jsonl").write_text("".join(json.dumps({"id": name, "n": 1}) + "\n" for name in ANSWERS))
    Path("pred.jsonl").write_text(
        "".join(json.dumps({"id": name, **answer}) + "\n" for name, answer in ANSWERS.items() if answer)
    )
    ran = run(
        "score",
        "--spec",
        "spec.yaml",
        "--gold",
        "gold.jsonl",
        "--pred",
        "m=pred.jsonl",
        "--out",
        "run",
        "-q",
        "--bootstrap",
        0,
    )
    assert ran.code == 0, ran.err
    return Path("run")


@pytest.mark.parametrize("document", ANSWERS)
def test_explain_says_why_from_the_run_alone(run: Run, scored: Path, document: str) -> None:
    for name in ("gold.jsonl", "pred.jsonl"):
        Path(name).unlink()
    remarks = json.loads(run("explain", scored, document, "--json").out)["remarks"]["m"]
    assert len(remarks) == len(TOLD[document])
    for remark, told in zip(remarks, TOLD[document], strict=True):
        assert remark.startswith(told)
    assert all(len(remark) < 700 for remark in remarks)
    shown = " ".join(run("explain", scored, document).out.split())
    assert all(told.split(" (")[0] in shown for told in TOLD[document])


# Every command that a message, a page or another command prints is one that can be run.

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "src").rglob("*.js"))
PRINTED = re.compile(r"(?:[`:>$]|^|next:)\s*fieldassay (?=[a-z-])([^`\n;)]*)", re.M)
WORD = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")


@cache
def texts(path: Path) -> list[str]:
    """Return the texts of a program, each value that is put into one as X."""
    if path.suffix == ".js":
        return [re.sub(r"\$\{[^}]*\}", "X", path.read_text())]
    nodes = ast.walk(ast.parse(path.read_text()))
    return [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        if isinstance(node, ast.JoinedStr)
        else node.value
        for node in nodes
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]


def printed() -> Iterator[tuple[str, str]]:
    """Yield the commands that programs print, with the program."""
    for path in SOURCES:
        found = {match[1].strip(" .") for text in texts(path) for match in PRINTED.finditer(text)}
        yield from ((f"{path.name}: {line}", line) for line in sorted(found))


def fault_of(line: str) -> str | None:
    """Return what is wrong with a command, None if nothing is: each word is a command, each option its own."""
    command: click.Command = commands
    context = click.Context(commands, info_name="fieldassay", **commands.context_settings)
    for word in WORD.findall(line):
        if isinstance(command, click.Group):
            inner = command.get_command(context, word)
            if inner is None:
                return f"{command.name} has no command {word}"
            command, context = inner, click.Context(inner, parent=context, info_name=word)
        elif word.startswith("-") and len(word) > 1:
            names = {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0].rstrip(",:") not in names:
                return f"{command.name} has no option {word}"
    return None


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in printed()])
def test_a_printed_command_exists_with_its_options(line: str) -> None:
    assert fault_of(line) is None


KEY = re.compile(r"(?:^|[{,] ?)([a-z_]\w*): ")
OF_SYSTEMS = {
    "prompt",
    "reader",
    "input",
    "docs",
    "rules",
    "strategy",
    "key_env",
    "url",
    "decode",
    "format",
    "logprobs",
    "max_tokens",
    "temperature",
}
OF_EXAMPLES = {"fieldassay", "gate", "invoice", "receipt", "system", "meaning"}


def options_of_entries() -> Iterator[str]:
    """Yield the names of types, comparators, normalizers, aligners and checks, and of all their options."""
    for catalogue in (READERS, NORMALIZERS, COMPARATORS, ALIGNERS, CHECKS):
        for name in catalogue.names():
            yield from (name, *option_names(catalogue.load(name)))


def test_every_key_and_every_extra_that_a_text_names_exists() -> None:
    every = [text for path in SOURCES if path.suffix == ".py" for text in texts(path)]
    quoted = [piece for text in every for piece in re.findall(r"`([^`\n]+)`", text)]
    data = {key for piece in quoted for key in re.findall(r"^data: \{(\w+):", piece)} - {"X"}
    assert data <= {*option_names(DataOptions)} and data
    keys = {key for piece in quoted for key in KEY.findall(piece)} - OF_SYSTEMS - OF_EXAMPLES
    sections = {*SPEC_KEYS, *FIELD_KEYS, *option_names(DataOptions), *option_names(StatisticsOptions)}
    of_parts = {
        "field",
        "name",
        "acceptable_variations",
        *Definition.__struct_fields__,
        *option_names(Tolerance),
    }
    assert keys <= {*sections, *of_parts, *options_of_entries()} and len(keys) > 20
    assert not [text for text in every if "'fieldassay[" in text]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    calls = {name for path in SOURCES for name in re.findall(r"install_line\(['\"](\w+)", path.read_text())}
    assert calls <= {*extras, "ocr"} and len(calls) > 4


# Examples and studies run as their pages say.

# The studies under `examples/`, from documents to the figures that their sources publish or that follow by hand


def run_study(run: Callable[..., Ran], tmp_path: Path, name: str, *words: str) -> pl.DataFrame:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / name)
        ran = run("run", "systems.yaml", *words, "--out", "study")
    assert ran.code in (0, 1), ran.err
    return pl.read_parquet(tmp_path / name / "study/run/documents.parquet")


@pytest.mark.full
def test_the_image_accuracy_of_the_guide(run: Callable[..., Ran], tmp_path: Path) -> None:
    words = ("--docs", "documents", "--protocol", "business-documents", "--gold", "ground_truth.csv")
    rows = run_study(run, tmp_path, "study-business", *words)
    image = rows.filter((pl.col("system") == "short") & (pl.col("doc") == "image_001.txt"))
    assert image["score"].item() == pytest.approx((12 + 0.9 + 0) / 14)


@pytest.mark.full
def test_fifteen_readings_meet_five_gold_records(run: Callable[..., Ran], tmp_path: Path) -> None:
    words = ("--docs", "ocr", "--protocol", "entry-matching", "--gold", "gold.jsonl")
    rows = run_study(run, tmp_path, "study-entries", *words)
    assert len(rows) == 15
    assert rows.filter(pl.col("system").str.ends_with("corrected"))["score"].to_list() == [1.0] * 5


@pytest.mark.full
def test_cases_in_folders_by_type_meet_their_case_files(run: Callable[..., Ran], tmp_path: Path) -> None:
    gold = "test_documents/ground_truth"
    rows = run_study(
        run, tmp_path, "study-engineering", "--docs", "test_documents", "--spec", "spec.yaml", "--gold", gold
    )
    assert sorted(rows["doc"]) == ["case_csv_001", "case_unit_001", "case_value_001", "case_value_004"]
    assert rows["has_prediction"].all()


# Rows of what the sources of the protocols ask: each holds by the product, judged by arithmetic of its own

CORPUS = Path(__file__).parents[3] / "samples/corpus"
ROWS = yaml.safe_load(Path(__file__).with_name("study_rows.yaml").read_text(encoding="utf-8"))["rows"]


def rows_with(key: str) -> pytest.MarkDecorator:
    """Return a mark for a test of all rows with a key; a row with `open` is known not to hold yet."""
    rows = [
        pytest.param(
            row,
            id=row["row"],
            marks=pytest.mark.xfail("open" in row, reason=row.get("open", ""), strict=True),
        )
        for row in ROWS
        if key in row
    ]
    return pytest.mark.parametrize("row", rows)


def worked(figure: object) -> float:
    """Return a figure that is written as arithmetic, such as `(12 + 0.9 + 0) / 14`."""
    return float(eval(str(figure), {"__builtins__": {}}))


@pytest.mark.full
@rows_with("figures")
def test_figures_of_a_score(row: dict[str, Any]) -> None:
    result = fieldassay.score(row["gold"], {"m": row["pred"]}, row["spec"])
    figures = {name: worked(figure) for name, figure in row["figures"].items()}
    found = {name: result.value(name) for name in figures}
    assert found == pytest.approx(figures, abs=row.get("within", 1e-6))


@pytest.mark.full
@rows_with("pairs")
def test_scores_of_pairs_of_values(row: dict[str, Any]) -> None:
    plan = fieldassay.read_plan(row["spec"] if isinstance(row["spec"], dict) else CORPUS / row["spec"])
    for field, gold, pred, wanted, *reason in row["pairs"]:
        [found] = fieldassay.explain_field(plan, field, gold, pred)
        assert found.score == pytest.approx(worked(wanted)), (field, gold, pred)
        assert [found.reason][: len(reason)] == reason


@pytest.mark.full
@rows_with("commands")
def test_commands(row: dict[str, Any], programs: Path, tmp_path: Path) -> None:
    if "study" in row:
        shutil.copytree(EXAMPLES / row["study"], tmp_path, dirs_exist_ok=True)
    printed, codes = "", []
    with ScriptedServer(lambda _: Reply(body=completion(row["answer"]))) as server:
        places = {"CORPUS": CORPUS, "URL": server.url}
        for name, text in row.get("files", {}).items():
            (tmp_path / name).write_text(Template(text).safe_substitute(places), encoding="utf-8")
        for command in row["commands"]:
            program, *words = shlex.split(Template(command).safe_substitute(places))
            environment = {**os.environ, "COLUMNS": "200"}
            ran = subprocess.run(
                [programs / program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            printed += ran.stdout + ran.stderr
            codes.append(ran.returncode)
    sent = json.dumps([hit.body for hit in server.hits], ensure_ascii=False)
    assert codes == row.get("exits", [0] * len(codes)), printed
    for place, parts in row["finds"].items():
        text = {"printed": printed, "sent": sent}.get(place) or (tmp_path / place).read_text("utf-8")
        for part in parts:
            assert (part.removeprefix("no: ") in text) is not part.startswith("no: "), (part, text)
