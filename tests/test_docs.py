"""The documentation names everything, and its examples run."""

import ast
import doctest
import re
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from doc_pages import DOCS, FENCE, FILES, ROOT, TEXTS, blocks
from docs import rooms
from docs.consoles import run_page

from fieldassay import score
from fieldassay.attribution.labels import LABELS
from fieldassay.commands.cli.main import COMMANDS
from fieldassay.decisions.calibration.policy import ReviewReason
from fieldassay.decisions.diff.diff import DiffOptions
from fieldassay.errors import FieldassayError
from fieldassay.extraction.systems import EXTRACTORS
from fieldassay.metrics.catalogue import grammar
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import DEFAULT, list_groups
from fieldassay.metrics.catalogue.grammar import GATE_FUNCTIONS
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.evidence import FLAGS, Kind, Outcome, evidence_schema
from fieldassay.metrics.result import verdicts
from fieldassay.metrics.result.documents import STATISTICS
from fieldassay.metrics.result.verdicts import GateAnswer, Verdict
from fieldassay.options import option_names
from fieldassay.reports.formats import FORMATS
from fieldassay.reports.html.page import VIEWS
from fieldassay.runs import run
from fieldassay.runs.files import COMPARISONS, DOCUMENTS, EVIDENCE, GATES, METRICS, RUN, VIOLATIONS
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import sample
from fieldassay.scoring.shards import CLASSES
from fieldassay.spec.language.model import DataOptions, DocumentType, Field, Spec, StatisticsOptions
from fieldassay.spec.language.names import FIELD_KEYS, SPEC_KEYS, type_names
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.presets.catalogue import preset_names
from fieldassay.values.catalogue import ALIGNERS, CHECKS, COMPARATORS, DIAGNOSES, NORMALIZERS, READERS
from fieldassay.values.types.closed_sets import ListReader

# The documentation names everything there is, and its links lead somewhere

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MACHINE = re.compile(r"(?<![\w.~/])/(?:work|home|root|Users|tmp|opt|var|mnt)/\w")


def source_nodes(mentioned: str) -> Iterator[ast.AST]:
    """Yield the syntax of the sources that mention something, a regular expression."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(mentioned, text):
            yield from ast.walk(ast.parse(text))


def called_name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def problem_makers() -> dict[str, int]:
    """Return the functions that note or raise a problem, with the position of the kind in their arguments."""
    makers = {"Problem": 3, "JsonFormat": 2}
    for node in source_nodes(r"\bkind\b"):
        names = [argument.arg for argument in node.args.args] if isinstance(node, ast.FunctionDef) else []
        if "kind" in names and any(
            isinstance(call, ast.Call) and called_name(call) in ("Problem", "add") for call in ast.walk(node)
        ):
            makers[node.name] = names.index("kind") - (names[0] == "self")
    return makers


def problem_kinds() -> set[str]:
    makers, kinds = problem_makers(), {"invalid", "unknown_name"}
    for call in source_nodes(rf"\b(?:{'|'.join(makers)})\("):
        if isinstance(call, ast.Call) and called_name(call) in makers:
            position = makers[called_name(call)]
            given = [
                *call.args[position : position + 1],
                *(word.value for word in call.keywords if word.arg in ("kind", "bad", "unwritable")),
            ]
            kinds |= {
                part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)
            }
    return kinds


def error_classes() -> Iterator[type[FieldassayError]]:
    import importlib

    for path in sorted((ROOT / "src").rglob("*.py")):
        if "FieldassayError)" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
            classes = (
                value
                for value in vars(module).values()
                if isinstance(value, type) and issubclass(value, FieldassayError)
            )
            yield from (found for found in classes if found.__module__ == module.__name__)


def lacking(
    page: str, names: Iterator[str] | list[str] | set[str] | tuple[str, ...], form: str = "`{}`"
) -> list[str]:
    text = TEXTS[page]
    return [name for name in sorted(names) if form.format(name) not in text]


PLUGINS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][
    "fieldassay.comparators"
]

RUN_FILES = METRICS, DOCUMENTS, EVIDENCE, VIOLATIONS, COMPARISONS, GATES, STATISTICS, RUN

PARAMETERS = [parameter for metric in list_metrics().values() for parameter in metric.parameters]

NAMED = {
    "comparators": ("docs/comparators.md", COMPARATORS.entries, "| `{}` |"),
    "own plugins": ("docs/comparators.md", PLUGINS, "`{}`"),
    "aligners": ("docs/comparators.md", ALIGNERS.names(), "| `{}` |"),
    "normalizers": ("docs/comparators.md", NORMALIZERS.names(), "| `{}` |"),
    "types": ("docs/spec.md", type_names(), "`{}`"),
    "groups of metrics": ("docs/metrics.md", {*list_groups(), DEFAULT} - {"extras"}, "`{}`"),
    "functions over metrics": ("docs/metrics.md", grammar.FORMULA_FUNCTIONS, "`{}("),
    "parameters of metrics": ("docs/metrics.md", {one.name for one in PARAMETERS}, "`{}`"),
    "values of parameters": (
        "docs/metrics.md",
        {choice for one in PARAMETERS if not one.is_many for choice in one.choices},
        "`{}`",
    ),
    "marks of estimates": (
        "docs/statistics.md",
        ["few_documents", "few_replicates", "order_statistics", "undefined_replicates=K"],
        "`{}`",
    ),
    "diagnoses": ("docs/why-wrong.md", DIAGNOSES, "`{}`"),
    "flags": ("docs/python.md", FLAGS, "| `{}` |"),
    "outcomes": ("docs/python.md", [outcome.name.lower() for outcome in Outcome], "| `{}` |"),
    "labels of wrong values": ("docs/why-wrong.md", LABELS, "| `{}` |"),
    "row kinds": ("docs/python.md", [kind.name.lower() for kind in Kind], "`{}`"),
    "evidence columns": ("docs/python.md", evidence_schema(), "`{}`"),
    "estimate attributes": (
        "docs/python.md",
        list(Estimate.__struct_fields__),
        "| `{}` |",
    ),
    "scoring options": (
        "docs/python.md",
        list(ScoreOptions.__struct_fields__),
        "`{}`",
    ),
    "options of data": ("docs/spec.md", list(DataOptions.__struct_fields__), "`{}`"),
    "options of statistics": ("docs/spec.md", list(StatisticsOptions.__struct_fields__), "`{}`"),
    "spec keys": ("docs/spec.md", SPEC_KEYS, "`{}`"),
    "field keys": ("docs/spec.md", FIELD_KEYS, "`{}`"),
    "report formats": ("docs/reports.md", FORMATS, "| `{}` |"),
    "files of reports": ("docs/reports.md", [found.file for found in FORMATS.values()], "`{}`"),
    "pages of the HTML report": ("docs/reports.md", [label for _, label in VIEWS], "| {} |"),
    "presets": ("docs/spec.md", preset_names(), "{}"),
    "checks": ("docs/metrics.md", CHECKS.entries, "`{}`"),
    "gate functions": ("docs/fail-the-build.md", GATE_FUNCTIONS, "`{}`"),
    "verdicts": ("docs/fail-the-build.md", list(Verdict), "| {} |"),
    "decisions": ("docs/fail-the-build.md", list(GateAnswer), "| {} |"),
    "verdicts of comparisons": ("docs/statistics.md", typing.get_args(verdicts.Outcome), "`{}`"),
    "what becomes of a document": ("docs/compare.md", CLASSES, "| `{}` |"),
    "run statuses": ("docs/compare.md", [run.COMPLETE, run.PARTIAL, run.NOTHING, run.DAMAGED], "| {} |"),
    "files of a run": ("docs/compare.md", RUN_FILES, "`{}`"),
    "files of a run and who reads them": ("docs/architecture.md", RUN_FILES, "| `{}` |"),
    "options of a diff": (
        "docs/python.md",
        list(DiffOptions.__struct_fields__),
        "`{}`",
    ),
    "reasons for a review": ("docs/straight-through.md", list(ReviewReason), "`{}`"),
    "commands": ("docs/cli.md", COMMANDS, "fieldassay {}"),
    "error kinds": ("docs/errors.md", problem_kinds, "`{}`"),
    "exit codes": ("docs/errors.md", ["0", "1", "2", "3", "5", "70", "130"], "| {} |"),
    "exceptions": (
        "docs/errors.md",
        [found.__name__ for found in error_classes() if found.exit_code != 130],
        "`{}`",
    ),
    "entry point groups": (
        "CONTRIBUTING.md",
        [found.group for found in (COMPARATORS, READERS, NORMALIZERS, ALIGNERS, EXTRACTORS)],
        "`{}`",
    ),
    "packages": (
        "docs/architecture.md",
        [path.name for path in (ROOT / "src" / "fieldassay").iterdir() if (path / "__init__.py").exists()],
        "| `{}` |",
    ),
}


@pytest.mark.parametrize("what", NAMED)
def test_every_name_is_documented(what: str) -> None:
    page, names, form = NAMED[what]
    names = names() if callable(names) else names
    assert list(names)
    assert lacking(page, tuple(names), form) == []


@pytest.mark.parametrize("model", [Spec, Field, DocumentType])
def test_every_part_of_a_spec_is_documented(model: type) -> None:
    own_words = {
        "edition": "version", "skips_absent_fields": "absent_fields", "keeps_empty_items": "empty_items",
        "unit_fields": "unit_field",
    }  # fmt: skip
    own_words |= {
        "version": "fieldassay",
        "options": "type",
        "patterns": "fields",
        "field": "document_type",
        "aliases": "document_type",
    }
    names = {own_words.get(name, name) for name in model.__struct_fields__}
    assert lacking("docs/spec.md", names) == []


def test_every_exit_code_of_an_exception_is_documented() -> None:
    codes = {found.exit_code for found in error_classes()}
    assert codes >= {2, 3, 5, 130}
    assert lacking("docs/errors.md", {str(code) for code in codes}, "| {} |") == []


EXAMPLES = ROOT / "tests" / "values" / "examples"


@pytest.mark.parametrize("name", [*READERS.entries, "list"])
def test_the_page_of_types_has_every_option_and_examples_that_are_tested(name: str) -> None:
    chapter = next(part for part in TEXTS["docs/types.md"].split("\n## ") if f"\n### {name}\n" in part)
    section = chapter.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    shown = "".join(re.findall(r"^\| raw \|.*\n.*\n((?:\|.*\n)+)", section, re.MULTILINE)).splitlines()
    held = (EXAMPLES / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert shown and [row for row in shown if row not in held] == []
    kind = READERS.load(name) if name in READERS else ListReader
    assert [option for option in option_names(kind) if f"\n| `{option}` |" not in chapter] == []


def test_the_columns_of_the_tables_are_those_of_a_run() -> None:
    files = sample()
    result = score(files.gold, files.predictions, files.spec, ScoreOptions(limit=5), bootstrap=0)
    assert isinstance(result.evidence, pl.DataFrame)
    assert isinstance(result.documents, pl.DataFrame)
    columns = {*result.evidence.columns, *result.documents.columns} - {"type"}
    assert lacking("docs/python.md", columns) == []
    assert (
        lacking(
            "docs/python.md",
            set(result.evidence["reason"])
            & {"equal", "missing", "spurious", "absent", "unreadable", "present", "paired"},
        )
        == []
    )


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", FILES)
def test_every_link_leads_somewhere(name: str) -> None:
    broken = []
    for target in _LINK.findall(FENCE.sub("", TEXTS[name])):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (FILES[name].parent / path).resolve() if path else FILES[name]
        if not goal.exists() or (anchor and anchor not in anchors(goal.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


def test_the_pages_can_be_read_in_a_day() -> None:
    pages = [text for name, text in TEXTS.items() if name.startswith("docs/")]
    assert (len(pages) <= 30, sum(len(text.split()) for text in pages) <= 45_000) == (True, True)


def test_the_index_has_every_page() -> None:
    listed = {(DOCS / target.partition("#")[0]).resolve() for target in _LINK.findall(TEXTS["docs/index.md"])}
    pages = {name: path for name, path in FILES.items() if DOCS in path.parents and path.name != "index.md"}
    assert [name for name, path in pages.items() if path not in listed] == []


@pytest.mark.parametrize("name", FILES)
def test_no_page_names_the_folders_of_a_machine(name: str) -> None:
    assert _MACHINE.findall(TEXTS[name]) == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_are_named_exist(name: str) -> None:
    spans = re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.py)?)`", TEXTS[name])
    places = (ROOT, ROOT / "src" / "fieldassay")
    assert len(spans) > 10
    assert [span for span in spans if not any((place / span).exists() for place in places)] == []


ROOMS = [name for floor in rooms.floors() for name in floor if rooms.sentence_of(name)]


def test_each_room_says_what_it_is_in_one_sentence_that_the_architecture_has() -> None:
    assert sorted(ROOMS) == sorted(NAMED["packages"][1])
    assert [
        room
        for room in ROOMS
        if f"| `{room}` | {rooms.sentence_of(room)} |" not in TEXTS["docs/architecture.md"]
    ] == []
    assert rooms.draw() == rooms.TARGET.read_text(encoding="utf-8"), (
        "draw it again with: python docs/rooms.py"
    )


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_at_most_twelve_entries(room: str) -> None:
    entries = [path.name for path in (rooms.PACKAGE / room).iterdir() if not path.name.startswith("__")]
    assert (
        len([name for name in entries if name.endswith(".py") or (rooms.PACKAGE / room / name).is_dir()])
        <= 12
    )


# The examples of the documentation run, and print what the pages show

SHOWN = [name for name in FILES if blocks(name, "console")]
"""Pages with commands and their output."""

MARKS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize(
    "name",
    [name for name in FILES if any(body.lstrip().startswith(">>>") for body in blocks(name, "python"))],
)
def test_python_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(body for body in blocks(name, "python") if body.lstrip().startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, name, name, 0)
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=MARKS).run(test, out=said.append)
    assert outcome.failed == 0, "".join(said)


SPECS = {
    f"{name} {number}": body
    for name in FILES
    for number, body in enumerate(blocks(name, "yaml"))
    if body.startswith(("fieldassay:", "fields:", "types:")) and "acme." not in body
}


@pytest.mark.parametrize("name", SPECS)
def test_every_spec_compiles(name: str) -> None:
    assert read_plan(SPECS[name]).fields


@pytest.mark.parametrize("name", SHOWN)
def test_commands_print_what_the_page_shows(name: str, programs: Path) -> None:
    assert run_page(TEXTS[name], programs) == TEXTS[name], (
        "write the page again with: python docs/consoles.py"
    )
