"""Paths, options, returned records, and what JSON does not have."""

import inspect
import json
import pydoc
import re
import subprocess
import sys
import typing
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from tests.effort import costs_at_most

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.options import REQUIRED, Catalogue, has_options, options_of, undefined_methods
from fieldassay.paths import ITEM, Pattern, field_of, join_path, split_path
from fieldassay.spec.language.model import Call
from fieldassay.spec.language.yaml_text import Places, Report
from fieldassay.spec.plan.build import build_call
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.types.column import Column

#

keys = st.text(max_size=8) | st.sampled_from(["", "a.b", "[0]", 'q"q', "*", "**", "\n", " a", "\ud800", "\\"])
steps = st.lists(keys | st.integers(0, 99) | st.just(ITEM), max_size=6).map(tuple)


@given(steps=steps)
def test_joined_steps_split_back(steps):
    assert split_path(join_path(steps)) == steps


@pytest.mark.parametrize(
    "text",
    ["a..b", ".a", "a.", "a[", "a]", "a[x]", "a[1", 'a["', 'a["x]', "a[0]b", "a.[0]", '"a"', 'a["\\q"]'],
)
def test_what_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="not a"):
        split_path(text)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("", ""),
        ("a", "a"),
        ("a[3]", "a[]"),
        ("a[3][0].b", "a[][].b"),
        ('a["x[3]"][1]', 'a["x[3]"][]'),
        ("a[].b", "a[].b"),
    ],
)
def test_the_field_of_a_value_has_no_indices(path, field):
    assert field_of(path) == field


@given(steps=steps)
def test_a_field_is_its_own_field(steps):
    assert field_of(field_of(join_path(steps))) == field_of(join_path(steps))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**.*_unit", "flow_unit", True),
        ("**.*_unit", "pumps[].flow_unit", True),
        ("**.*_unit", "pumps[3].flow_unit", True),
        ("**.*_unit", "pumps[].unit", False),
        ("**", "", True),
        ("**", "a[].b", True),
        ("*", "a", True),
        ("*", "a.b", False),
        ("*", "a[]", False),
        ("a.*", "a[]", False),
        ("a[].b", "a[7].b", True),
        ("a[1].b", "a[2].b", False),
        ("a.**.z", "a.z", True),
        ("a.**.z", "a.b[].c.z", True),
        ("a.**.b.**.c", "a.b.b.x.c", True),
        ("**.total", "total", True),
        ("**.a.*.b", "a.a.x.b", True),
        ("x*y*z", "xyyz", True),
        ("x*y*z", "xz", False),
        ("ab*ba", "aba", False),
        ('["a*"]', "ab", False),
        ('["a*"]', "a*", True),
    ],
)
def test_patterns_match_whole_paths(pattern, path, matches):
    assert Pattern(pattern).matches(path) is matches


def test_matching_takes_no_time_on_hostile_texts():
    with costs_at_most(160):
        assert not Pattern(".".join(["**", "a*a*a*b"] * 20)).matches(".".join(["a" * 200] * 200))
        assert not Pattern("*a" * 50 + "b").matches("a" * 100_000)
        assert split_path("a." * 50_000 + "b")[-1] == "b"


# The options of catalogue entries: the same for records of msgspec and for frozen dataclasses


class Recorded(Comparator, Struct, frozen=True):
    within: float
    words: tuple[str, ...] = ("a",)

    def compare(self, gold: Column, pred: Column) -> Scores:
        raise NotImplementedError


@dataclass(frozen=True)
class Decorated(Comparator):
    within: float
    words: tuple[str, ...] = field(default_factory=lambda: ("a",))
    made: int = field(default=0, init=False)

    def compare(self, gold: Column, pred: Column) -> Scores:
        raise NotImplementedError


class Incomplete(Comparator, Struct, frozen=True):
    within: float = 0.0


KINDS = [Recorded, Decorated]


@pytest.mark.parametrize("kind", KINDS)
def test_options_are_what_the_constructor_takes_with_its_defaults(kind: type[Comparator]) -> None:
    assert [(one.name, one.default) for one in options_of(kind)] == [("within", REQUIRED), ("words", ("a",))]
    assert undefined_methods(kind) == () and has_options(kind) and not has_options("text")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("given", "told"), [({"within": 0.5}, ""), ({}, "needs the option 'within'")])
def test_a_spec_builds_both(kind: type[Comparator], given: dict[str, object], told: str) -> None:
    report = Report(Places("spec.yaml"))
    catalogue = Catalogue("comparator", {"own": f"{__name__}:{kind.__name__}"})
    built = build_call(Call("own", tuple(given.items())), catalogue, (), report)
    assert isinstance(built, kind) != bool(told)
    assert [told in problem.what for problem in report.problems] == [True] * bool(told)


def test_a_class_without_its_methods_is_refused_before_it_is_called() -> None:
    report = Report(Places("spec.yaml"))
    catalogue = Catalogue("comparator", {"own": f"{__name__}:Incomplete"})
    assert build_call(Call("own"), catalogue, (), report) is None
    (problem,) = report.problems
    assert "defines no 'compare'" in problem.remedy, problem


# What the package gives a caller: names that can be asked about, records that are short and stay as they are

NAMES = [name for name in fa.__all__ if name != "__version__"]
JOBS = fa.ExtractOptions(jobs=0)
SPEC = {"fields": {f"f{at}": "number" for at in range(12)}, "slices": ["kind"]}


@pytest.mark.parametrize("name", NAMES)
def test_help_signatures_and_annotations_can_be_asked_for(name: str) -> None:
    value = getattr(fa, name)
    assert pydoc.render_doc(value) and inspect.signature(value)
    members = [member for key, member in inspect.getmembers(value, inspect.isfunction) if key[0] != "_"]
    for asked in (value, *members):
        typing.get_type_hints(asked)


def test_dir_and_help_of_the_package_are_the_public_names() -> None:
    assert set(dir(fa)) == set(fa.__all__)
    # In a process of its own: pydoc parses whole files, and what it took (half a gigabyte) would stay.
    told = subprocess.run(
        [sys.executable, "-m", "pydoc", "fieldassay"], capture_output=True, text=True, check=True
    )
    assert {name for name in NAMES if name not in told.stdout} == set()


@pytest.fixture(scope="module")
def returned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    gold = [{"id": at, "kind": str(at % 9), **{f"f{n}": at for n in range(12)}} for at in range(60)]
    sure = [row | {"f1": 7, "confidence": {f"f{n}": n / 12 for n in range(12)}} for row in gold]
    folder = tmp_path_factory.mktemp("returned")
    result = fa.score(gold, {"a": gold, "b": sure}, SPEC, bootstrap=200)
    run, file = result.save(folder / "run"), folder / "baseline.json"
    return {
        "result": result, "run": run, "estimate": result.estimates[0], "comparison": result.comparisons[0],
        "diff": fa.diff(f"{run.folder}:a", f"{run.folder}:b"), "gate": fa.gate(result, gates=["accuracy > 0.5"] * 50),
        "calibrate": fa.calibrate(result, system="b"), "baseline": fa.set_baseline(run, file),
        "attribution": fa.attribute(run, systems="b"), "spec": fa.read_spec(SPEC), "plan": fa.read_plan(SPEC),
        "validation": fa.validate(SPEC, gold), "document": fa.explain_document("7", run=run),
        "extraction": fa.extract(_letters(folder), "fields: {a: number}", folder / "out", read, JOBS),
    }  # fmt: skip


def _letters(folder: Path) -> Path:
    letters = folder / "letters"
    letters.mkdir()
    for at in range(20):
        (letters / f"{at}.txt").write_text(f"a {at}")
    return letters


def read(document: Any) -> dict[str, Any]:
    return {"a": document["pages"][0][2:]}


def test_a_repr_is_two_lines_of_a_terminal_at_any_size(returned: dict[str, Any]) -> None:
    assert {name: text for name, value in returned.items() if len(text := repr(value)) > 160} == {}
    assert not any("\n" in repr(value) for value in returned.values())


@pytest.mark.parametrize("name", ["estimate", "comparison", "diff", "extraction"])
def test_what_comes_back_is_imported_from_the_root_and_can_be_in_a_set(
    returned: dict[str, Any], name: str
) -> None:
    assert isinstance(returned[name], getattr(fa, name.capitalize()))
    assert returned[name] in {returned[name]}


def test_counts_and_evidence_cannot_be_changed_under_their_result(returned: dict[str, Any]) -> None:
    result = returned["result"]
    with pytest.raises(TypeError, match="change a copy"):
        result.counts["documents"] = 99
    evidence, rows = result.evidence, len(result.evidence)
    evidence.drop_in_place("gold")
    assert result.evidence.height == rows and "gold" in result.evidence.columns


# Numbers that JSON has no text for, which Python writes all the same, go through every command

BEYOND_JSON_SPEC = """
fields:
  total: number
  name: text
  lines: {type: list, align: assignment, items: {type: object, fields: {sku: text, amount: number}}}
"""
INFINITE, MINUS, NOTHING = float("inf"), float("-inf"), float("nan")
GOLD = [
    {"id": 1, "total": INFINITE, "name": "Oak", "lines": [{"sku": "a", "amount": INFINITE}]},
    {"id": 2, "total": 5, "name": NOTHING, "lines": [{"sku": "b", "amount": 2}]},
]
FIRST = [
    {"id": 1, "total": MINUS, "name": INFINITE, "lines": [{"sku": INFINITE, "amount": NOTHING}]},
    {"id": 2, "total": INFINITE, "name": "Elm", "lines": [{"sku": INFINITE, "amount": 2}]},
]
SECOND = [{"id": 1, "total": 5, "name": "oak"}, {"id": 2, "total": MINUS, "name": "Ash"}]
COMMANDS = {
    "attribute": ["attribute", "run", "-o", "shares.md"],
    "export-values": ["report", "run", "-o", "values.csv"],
    "export-results": ["report", "run", "-o", "results.json"],
    "export-errors": ["report", "run", "--table", "errors", "-o", "errors.md"],
    "explain": ["explain", "run", "1"],
    "report": ["report", "run", "-o", "report.html"],
    "review": [
        "review",
        "new",
        "folder",
        "--spec",
        "spec.yaml",
        "--pred",
        "s=first.jsonl",
        "--gold",
        "gold.jsonl",
    ],
}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(BEYOND_JSON_SPEC)
    for name, rows in (("gold", GOLD), ("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--spec", "spec.yaml", "--gold", "gold.jsonl", "--bootstrap", "0"]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_run_with_infinite_numbers_can_be_used(inputs: list[str], command: list[str]) -> None:
    assert (
        main(["score", *inputs, "--pred", "s=first.jsonl", "--pred", "t=second.jsonl", "--out", "run"]) == 0
    )
    assert main(command) == 0


def test_a_review_may_ask_about_an_object_where_the_field_has_one_value(inputs: list[str]) -> None:
    Path("first.jsonl").write_text('{"id": 1, "total": 5, "name": {"first": "Ada"}}\n')
    command = ["review", "new", "folder", "--spec", "spec.yaml", "--pred", "s=first.jsonl"]
    assert main(command) == 0


# `where`: the documents whose gold has a value are judged, and the run says which

WHERE_SPEC = (
    "name: r\nfields: {kind: text, shop: text, total: money}\ndocument_type: {field: kind, aliases: "
    "{invoice: [tax invoice], receipt: [slip]}}\n"
)
WHERE_GOLD: list[dict[str, Any]] = [
    {"id": "a", "kind": "invoice", "difficulty": "easy", "tags": ["scan"], "shop": "Oak", "total": 1},
    {
        "id": "b",
        "kind": "tax invoice",
        "difficulty": "hard",
        "tags": ["scan", "fax"],
        "shop": "Elm",
        "total": 2,
    },
    {"id": "c", "kind": "receipt", "difficulty": "hard", "shop": "Ash", "total": 3},
    {"id": "d", "kind": "receipt", "difficulty": "easy", "shop": "Fir", "total": 4},
]
PRED = [
    {"id": row["id"], "kind": "invoice", "difficulty": "odd", "shop": row["shop"], "total": 1}
    for row in WHERE_GOLD
]


def scored(*where: str, spec: str = WHERE_SPEC, predictions: Any = PRED, **options: Any) -> Result:
    return score(WHERE_GOLD, {"m": predictions}, spec, bootstrap=0, where=where, **options)


CHOICES = {
    "a gold value, as it is written": (["kind=invoice"], "a"),
    "the type, by its aliases": (["type=invoice"], "ab"),
    "or within a key": (["kind=invoice", "kind=receipt"], "acd"),
    "and between keys": (["type=invoice", "difficulty=hard"], "b"),
    "metadata": (["difficulty=hard"], "bc"),
    "a tag among several": (["tag=scan"], "ab"),
    "a number": (["total=3"], "c"),
    "blanks around": ([" kind = receipt "], "cd"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_documents_are_those_whose_gold_has_the_values(name: str) -> None:
    where, ids = CHOICES[name]
    found = scored(*where)
    assert "".join(found.documents["doc"]) == ids
    assert found.counts["documents"] == len(ids)
    assert f"gold: {len(ids)} of 4 documents: " in found.notes[0]


def test_predictions_of_documents_left_out_are_not_unmatched_and_strangers_still_are() -> None:
    found = scored("type=receipt", predictions=[*PRED[:3], {"id": "z", "shop": "Yew"}])
    assert found.counts["systems"]["m"]["unmatched"] == 1
    assert found.counts["systems"]["m"]["missing"] == 1
    assert [note for note in found.warnings if "no gold" in note] == [
        "m: 1 of 4 predictions have no gold (such as 'z') and are left out"
    ]
    assert any("m has no prediction for 1 of 2 documents (such as 'd')" in note for note in found.notes)


def test_a_field_that_is_not_scored_can_choose_and_limit_takes_the_first_chosen() -> None:
    assert "".join(scored("kind=receipt", fields=("shop",)).documents["doc"]) == "cd"
    assert "".join(scored("kind=receipt", limit=1).documents["doc"]) == "c"


WRONG = {
    "no equals sign": (["kind"], "'kind' is not a condition; write KEY=VALUE"),
    "no value": (["kind="], "'kind=' is not a condition"),
    "key": (
        ["knd=x"],
        "no document has the key 'knd' of where; its keys: type, tag, difficulty, kind, shop, total",
    ),
    "value": (["difficulty=harder"], "no document has difficulty=harder; its values: easy (2), hard (2)"),
    "both": (
        ["kind=invoice", "total=3"],
        "no document has kind=invoice and total=3; leave out one of these conditions",
    ),
    "value of predictions only": (["difficulty=odd"], "no document has difficulty=odd"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_condition_that_no_document_meets_is_an_error_that_lists_what_there_is(name: str) -> None:
    where, told = WRONG[name]
    with pytest.raises(ProblemsError) as caught:
        scored(*where)
    assert told in str(caught.value)
    assert {problem.kind for problem in caught.value.problems} == {"where"}


def test_a_class_name_stands_once():
    source = Path(fa.__file__).parent
    named = re.compile(r"^ *class (\w+)", re.MULTILINE)
    names = Counter(name for path in source.rglob("*.py") for name in named.findall(path.read_text("utf-8")))
    assert [name for name, count in names.items() if count > 1] == []
