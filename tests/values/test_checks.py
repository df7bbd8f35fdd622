"""Checks: relations, data, and in specs."""

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doc_pages import blocks
from tests.doc_tables import rows
from tests.judging import problems

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.paths import Pattern, join_path
from fieldassay.records.record import Meta, Record
from fieldassay.reports.content.run.parts import render_terminal, report_parts
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import render_markdown
from fieldassay.runs.files import VIOLATIONS, make_folder, read_violations
from fieldassay.scoring.checking import check_records, shown_value
from fieldassay.scoring.explain import validate
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.spec.language.model import Call, Field, Spec, freeze_options
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import compile_plan, digest_of, read_plan
from fieldassay.spec.presets import catalogue

# Checks in specs, of entries, and their page

# The key `checks:`: read, written, inherited, compiled; every problem at once

FORMS = {
    "name": ("number", [Call("number")]),
    "first option": ("{one_of: [HIGH, 1, true]}", [Call("one_of", (("", ("HIGH", 1, True)),))]),
    "options": ("{range: {least: 0, null: allowed}}", [Call("range", (("least", 0), ("null", "allowed")))]),
    "text": ('"pattern: a:b"', [Call("pattern", (("", "a:b"),))]),
    "list": ("[number, {range: {most: 5}}]", [Call("number"), Call("range", (("most", 5),))]),
    "list of one": ("[number]", [Call("number")]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_path_has_one_check_or_a_list(form):
    text, calls = FORMS[form]
    assert read_spec(f'fields: {{a: text}}\nchecks: {{"**.x": {text}}}').checks == (("**.x", tuple(calls)),)


OPTIONS = {
    "number": [{}, {"null": "allowed"}],
    "unit_format": [
        {},
        {"allowed": ["m3/h"]},
        {"allowed": {"flow": ["m3/h", "kg/h"], "pressure": ["bar"]}, "kind": "flow"},
        {"forbidden": []},
    ],
    "has_keys": [{"keys": ["a", "odd.key"]}],
    "one_of": [{"values": ["HIGH", "", "no", "1", 1, 1.5, None, False]}],
    "pattern": [{"regex": r"[A-Z]{2}\d+ # \"x\""}, {"regex": "é\n|\t", "null": "allowed"}],
    "kind": [{"kinds": ["text", "null"]}],
    "not_empty": [{}],
    "range": [{"least": 0}, {"least": -1.5, "most": 10**20}],
    "length": [{"least": 1, "most": 3}],
}
PATHS = [
    "",
    ".",
    "total",
    "**.*_unit",
    "a[].b",
    'x["odd.key"]',
    "**",
    "*",
    "a.b",
    "lines[3]",
    '["true"]',
    "1",
]


@st.composite
def calls(draw):
    name = draw(st.sampled_from(sorted(OPTIONS)))
    return Call(name, freeze_options(draw(st.sampled_from(OPTIONS[name]))))


CHECKS = st.dictionaries(
    st.sampled_from(PATHS), st.lists(calls(), min_size=1, max_size=3).map(tuple), max_size=5
)


@given(checks=CHECKS)
def test_a_spec_with_checks_is_written_and_read_back_equal_and_compiles(checks):
    spec = Spec("s", (Field("a"),), checks=tuple(checks.items()))
    again = read_spec(write_spec(spec))
    assert again == spec
    plan = compile_plan(again)
    assert [(planned.path, planned.name) for planned in plan.checks] == [
        (path, call.name) for path, made in spec.checks for call in made
    ]


BAD = """
fields: {a: mony}
metrics: [acuracy]
checks:
  "..": number
  a: [nmber, {range: {}}, {range: {leest: 1}}, {kind: txt}]
  b: {pattern: "(a)\\\\1"}
  c: []
  d: [[number]]
  e: {unit_format: {allowed: {flow: [m3/h]}, kind: flo}}
  f: {one_of: [{a: 1}]}
  g: {number: {null: perhaps}}
  h: has_keys
  i: 3
  j: {number: {}, range: {least: 0}}
"""
SAID = {
    "$.fields.a": "did you mean 'money'",
    "$.metrics[0]": "did you mean 'accuracy'",
    '$.checks[".."]': "not a path",
    "$.checks.a[0]": "unknown check 'nmber'; did you mean 'number'",
    "$.checks.a[1]": "has no bound",
    "$.checks.a[2].range.leest": "did you mean 'least'",
    "$.checks.a[3]": "unknown kind 'txt'",
    "$.checks.b": "not supported",
    "$.checks.c": "names no check",
    "$.checks.d[0]": "must be a check, not a list",
    "$.checks.e": "did you mean 'flow'",
    "$.checks.f": "cannot be",
    "$.checks.g.number.null": "cannot be the text 'perhaps'",
    "$.checks.h": "needs the option 'keys'",
    "$.checks.i": "must be a check, not the number 3",
    "$.checks.j": "must have one key",
}


def test_all_problems_come_at_once_each_at_its_line():
    told = problems(BAD)
    lacking = [
        place
        for place, said in SAID.items()
        if not any(f": {place}" in line and said in line for line in told)
    ]
    assert lacking == []
    assert all(line.split(":")[1].isdigit() for line in told)


@pytest.mark.parametrize("value", ["5", "[number]", "number"])
def test_checks_that_are_no_mapping_are_a_problem(value):
    with pytest.raises(ProblemsError, match="must be a mapping"):
        read_spec(f"fields: {{a: text}}\nchecks: {value}")


def test_a_pattern_that_is_none_is_a_problem_for_specs_made_in_python_too():
    with pytest.raises(ProblemsError, match="not a path"):
        compile_plan(Spec("s", (Field("a"),), checks=(("a..b", (Call("number"),)),)))


@pytest.fixture
def preset(monkeypatch):
    text = "fields: {total: number}\nchecks: {total: number, unit: unit_format}\n"
    monkeypatch.setattr("fieldassay.spec.language.parse.preset_names", lambda: ("own",))
    monkeypatch.setattr("fieldassay.spec.language.parse.preset_text", lambda name, *_: text)
    return catalogue


@pytest.mark.parametrize(
    ("own", "paths"),
    [
        ("", ["total", "unit"]),
        ("checks: {unit: not_empty}", ["total", "unit"]),
        ("checks: {unit: not_empty}\nreplace: checks", ["unit"]),
        ("checks: {}", []),
    ],
    ids=["inherited", "changed", "replaced", "none"],
)
def test_checks_come_from_the_protocol_unless_the_spec_has_its_own(preset, own, paths):
    spec = read_spec(f"protocol: own\n{own}")
    assert [path for path, _ in spec.checks] == paths
    assert read_spec(write_spec(spec)) == spec


def test_the_digest_covers_checks_and_their_order():
    specs = [
        Spec("s", (Field("a"),), checks=checks)
        for checks in ((), (("a", (Call("number"),)), ("b", (Call("not_empty"),))))
    ]
    turned = Spec("s", (Field("a"),), checks=specs[1].checks[::-1])
    assert len({digest_of(spec) for spec in (*specs, turned)}) == 3


IDLE = {
    "a path that the spec does not declare": (
        "fields: {total: number}\nchecks: {totl: number}",
        ["number at totl"],
    ),
    "a declared field that no prediction has": (
        "fields: {total: number, tax: number}\nchecks: {tax: number}",
        [],
    ),
    "a field of items that no prediction has": (
        "fields: {rows: {items: {fields: {n: number}}}}\nchecks: {'rows[].n': number}",
        [],
    ),
    "wherever it is, in a tree": ("type: any\nchecks: {'**.unit': unit_format}", []),
    "one place of a tree": ("type: any\nchecks: {flow.unit: unit_format}", ["unit_format at flow.unit"]),
    "what the protocol checks": ("protocol: engineering-extractor", []),
}


@pytest.mark.parametrize(("spec", "named"), IDLE.values(), ids=IDLE)
def test_a_check_that_saw_no_value_is_named_if_its_path_may_be_misspelled(spec, named):
    found = validate(spec, predictions={"a": [{"id": 1, "total": 5, "extraction": {"total": 5}}]})
    told = [note for note in found.notes if "no prediction has a value for these checks" in note]
    assert [name for name in named if not any(name in note for note in told)] == []
    assert bool(told) is bool(named)


# Where a path pattern fits in a record: the same places as matching every path one by one

RECORD = {
    "flow": {"unit": "m3/h", "head_unit": "m", "value": 5},
    "pumps": [{"unit": "bar"}, {"unit": "Pa", "parts": [{"unit": "K"}]}, []],
    "odd.key": {"unit": "x"},
    "unit": None,
}
CASES = {
    "": [""],
    "**": ["", "flow", "flow.unit", "flow.head_unit", "flow.value", "pumps", "pumps[0]", "pumps[0].unit",
        "pumps[1]", "pumps[1].unit",
           "pumps[1].parts", "pumps[1].parts[0]", "pumps[1].parts[0].unit", "pumps[2]", '["odd.key"]',
           '["odd.key"].unit', "unit"],
    "unit": ["unit"],
    "flow.unit": ["flow.unit"],
    "flow.none": [],
    "flow[]": [],
    "pumps[].unit": ["pumps[0].unit", "pumps[1].unit"],
    "pumps[1].unit": ["pumps[1].unit"],
    "pumps[7]": [],
    "pumps": ["pumps"],
    "*": ["flow", "pumps", '["odd.key"]', "unit"],
    "*.unit": ["flow.unit", '["odd.key"].unit'],
    "**.unit": ["flow.unit", "pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit", '["odd.key"].unit',
        "unit"],
    "**.**.unit": ["flow.unit", "pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit",
        '["odd.key"].unit', "unit"],
    "pumps.**.unit": ["pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit"],
    "**.*_unit": ["flow.head_unit"],
    '["odd.key"].*': ['["odd.key"].unit'],
    "flow.**": ["flow", "flow.unit", "flow.head_unit", "flow.value"],
}  # fmt: skip


@pytest.mark.parametrize("pattern", CASES)
def test_a_pattern_finds_each_place_once_in_the_order_of_the_data(pattern):
    assert [join_path(steps) for steps, _ in Pattern(pattern).find(RECORD)] == CASES[pattern]


KEYS = st.sampled_from(["a", "b", "ab", "a_unit", "x.y", ""])
TREES = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PARTS = st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "*_unit", '["x.y"]', "[]", "[1]"]), max_size=4)


def written(parts):
    return "".join(part if part.startswith("[") or not at else f".{part}" for at, part in enumerate(parts))


def everywhere(value, steps=()):
    yield steps, value
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, inner in members:
        yield from everywhere(inner, (*steps, step))


@given(record=TREES, parts=PARTS)
def test_found_places_are_those_whose_paths_match(record, parts):
    pattern = Pattern(written(parts))
    assert list(pattern.find(record)) == [
        (steps, value) for steps, value in everywhere(record) if pattern.matches_steps(steps)
    ]


def test_many_stars_in_a_deep_record_take_little_time():
    record = {}
    for _ in range(400):
        record = {"a": record}
    assert len(list(Pattern("**.a.**.a.**.a.**.b").find(record))) == 0
    assert len(list(Pattern("**.a.**.a.**").find(record))) == 399


# Checks across fields: relations over the values of a record

FIELDS = """
  lines: {items: {fields: {qty: number, price: money, amount: money}}}
  pages: {items: {fields: {total: money, lines: {items: {fields: {amount: money}}}}}}
  net: money
  tax: money
  gross: money
  total: {type: money, names: [sum_total]}
  date: date
  due: date
  currency: text
  payee: text
  weight: quantity
  n: integer
"""
HOLDS, FAILS, SILENT = (1, 0, 0), (1, 1, 0), (0, 0, 1)


def counts(rule, record, at=".", spec=f"fields:{FIELDS}"):
    """Return how often the rule was judged, was violated, and did not apply."""
    found = validate(
        f"{spec}\nnull_values: [N/A]\nchecks: {{'{at}': {{holds: '{rule}'}}}}",
        predictions={"a": [{"id": 1, **record}]},
    )
    assert found.problems == ()
    (count,) = found.counts
    return count.values, count.violations, count.not_applicable


def lines(*amounts):
    return {"lines": [{"amount": amount} for amount in amounts]}


RELATIONS_CASES: list[tuple[str, dict[str, Any], tuple[int, int, int]]] = [
    ("sum(lines[].amount) == total", {**lines("1.10", 2.2), "total": "3.30"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines(*["0.10"] * 3), "total": 0.3}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("1.10", 2.2), "total": "3.31"}, FAILS),
    ("sum(lines[].amount) == total", {**lines("1.234,50 €"), "total": "EUR 1234.50"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("33.33", "33.33", "33.33"), "total": 100}, FAILS),
    ("sum(lines[].amount) == total within 0.01", {**lines("33.33", "33.33", "33.33"), "total": 100}, HOLDS),
    ("sum(lines[].amount) == total", {"lines": [{"amount": 1}, {"amount": ""}, {}], "total": 1}, HOLDS),
    ("sum(lines[].amount) == total", {"lines": [{"amount": 1}, {"qty": 2}], "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {"lines": [], "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1", "one"), "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1"), "total": "N/A"}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1"), "sum_total": "1"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("EUR 1"), "total": "USD 1"}, SILENT),
    ("sum(lines[].amount) == total", {"lines": "none", "total": 1}, SILENT),
    ("sum(lines[].qty * lines[].price) == total", {"lines": [{"qty": 2, "price": "1.5"}, {"qty": 1, "price": 4}], "total": 7}, HOLDS),
    ("count(lines[]) == n", {**lines(1, 2), "n": 2}, HOLDS),
    ("max(lines[].amount) <= total", {**lines(1, 5), "total": 4}, FAILS),
    ("min(lines[].amount) > 0", lines(1, 5), HOLDS),
    ("sum(lines[].amount) + tax == gross", {**lines(1, 2), "tax": 1, "gross": 4}, HOLDS),
    ("lines[].qty * lines[].price == lines[].amount", {"lines": [{"qty": 3, "price": "0.333", "amount": "1.00"}, {"qty": 2, "price": 1, "amount": 3}, {"qty": 2, "price": 1}]}, (2, 1, 1)),
    ("lines[].amount <= total", {**lines(1, 5), "total": 4}, (2, 1, 0)),
    ("sum(pages[].lines[].amount) == pages[].total", {"pages": [{"total": 3, **lines(1, 2)}, {"total": 3, **lines(4)}]}, (2, 1, 0)),
    ("sum(pages[].lines[].amount) == total", {"pages": [lines(1, 2), lines(4)], "total": 7}, HOLDS),
    ("lines[].amount / sum(lines[].amount) <= 0.5", lines(1, 3), (2, 1, 0)),
    ("net + tax == gross", {"net": "100.00", "tax": "10", "gross": "110.00"}, HOLDS),
    ("net + tax == gross", {"net": 100.004, "tax": 10, "gross": 110}, FAILS),
    ("net * 1.1 == gross", {"net": "99.99", "gross": "109.99"}, HOLDS),
    ("(net + tax) / 2 == gross - 1", {"net": 1, "tax": 3, "gross": 3}, HOLDS),
    ("net - -tax == gross", {"net": 1, "tax": 3, "gross": 4}, HOLDS),
    ("net / tax == gross", {"net": 1, "tax": 0, "gross": 4}, SILENT),
    ("net != tax", {"net": "1.001", "tax": "1.00"}, HOLDS),
    ("net >= tax", {"net": "0.999", "tax": 1}, FAILS),
    ("net >= tax within 0.01", {"net": "0.999", "tax": 1}, HOLDS),
    ("net < tax", {"net": 1, "tax": 1}, FAILS),
    ("due >= date", {"due": "4 March 2025", "date": "2025-03-05"}, FAILS),
    ("due >= date", {"due": "2025-03-05", "date": "5 March 2025"}, HOLDS),
    ("due >= date", {"due": "2025-03", "date": "2025-03-05"}, SILENT),
    ("due == date within 30", {"due": "2025-03-31", "date": "2025-03-05"}, HOLDS),
    ("currency == payee", {"currency": "EUR", "payee": " EUR "}, HOLDS),
    ("currency != payee", {"currency": "EUR", "payee": "EUR"}, FAILS),
    ("currency < payee", {"currency": "EUR", "payee": "EUR"}, SILENT),
    ("weight < 10", {"weight": "5 kg"}, HOLDS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "record", "wanted"),
    RELATIONS_CASES,
    ids=[f"{rule}-{number}" for number, (rule, _, _) in enumerate(RELATIONS_CASES)],
)
def test_a_relation_is_judged_by_the_types_of_the_fields(rule, record, wanted):
    assert counts(rule, record) == wanted


def test_a_relation_may_stand_under_the_items_that_it_is_about():
    record = {"lines": [{"qty": 2, "price": 2, "amount": 4}, {"qty": 2, "price": 2, "amount": 5}]}
    assert counts("qty * price == amount", record, at="lines[]") == (2, 1, 0)


def test_a_relation_reads_a_tree_as_its_values_are():
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": 1}, {"n": 2.5}], "total": 3.5}, spec="type: any")
        == HOLDS
    )
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": 1}, {"n": "2.5"}], "total": 3.5}, spec="type: any")
        == SILENT
    )
    typed = 'type: any\nfields: {"**.n": money, "**": any}'
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": "$1.00"}, {"n": "2.5"}], "total": 3.5}, spec=typed)
        == HOLDS
    )


def test_a_violation_says_what_both_sides_are_and_where():
    spec = f"fields:{FIELDS}checks: ['sum(lines[].amount) == total', 'lines[].amount > 0']"
    found = validate(
        spec, predictions={"a": [{"id": "d", **lines(-1, 2), "total": "5.00"}]}, lists_violations=True
    )
    assert [(one["path"], one["check"], one["message"], one["value"]) for one in found.violations] == [
        (
            "total",
            "sum(lines[].amount) == total",
            "does not hold: sum(lines[].amount) is 1, and total is 5.00",
            '"5.00"',
        ),
        ("lines[0].amount", "lines[].amount > 0", "does not hold: lines[].amount is -1, and 0 is 0", '"-1"'),
    ]


def test_validate_finds_gold_for_which_a_relation_does_not_hold():
    spec = f"fields:{FIELDS}checks: {{'.': ['net + tax == gross', has_keys: [net]], net: number}}"
    found = validate(spec, [{"id": 1, "net": 1, "tax": 1, "gross": 3}])
    assert [(one.system, one.check, one.violations) for one in found.counts] == [
        ("gold", "net + tax == gross", 1)
    ]
    assert [note for note in found.notes if "no prediction" in note] == []


WRONG = {
    "sum(lines[].amonut) == total": "has no field 'lines[].amonut'; did you mean 'amount'",
    "sum(lines.amount) == total": "has no list to run over",
    "lines.amount == total": "it is a list: write its items with `[]`",
    "sum(lines[].amount) = total": "cannot be read at character 20",
    "sum(lines[].amount)": "unknown check",
    "avg(lines[].amount) == total": "unknown function 'avg'",
    "net + == gross": "cannot be read at character 6",
    "net + tax ==": "ends too early",
    "(net + tax == gross": "close the bracket",
    "net == gross within": "ends too early",
    "net == gross gross": "end the relation here",
    "net + currency == gross": "currency has the type 'text', with which nothing can be computed",
    "sum(lines[].amount + pages[].total) == net": "looks at the items of two lists at once",
    "lines[].amount == pages[].total": "looks at the items of two lists at once",
    "sum(lines[].amount / sum(lines[].amount)) == 1": "holds another function",
    "(" * 60 + "net" + ")" * 60 + " == 1": "levels deep",
    "net == " + "1 + " * 300 + "1": "characters",
    "__import__('os').system('x') == 1": "cannot be read at character",
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_is_wrong_with_a_relation_is_said(rule):
    assert WRONG[rule] in "\n".join(problems(f"fields:{FIELDS}checks: {{'.': [{json.dumps(rule)}]}}"))


def test_a_relation_cannot_stand_under_a_star():
    with pytest.raises(ProblemsError, match="under a pattern with a star"):
        read_plan({"fields": {"a": "number"}, "checks": {"**": ["a == 1"]}})


@pytest.mark.parametrize(
    "checks",
    [
        ["a > 0"],
        {".": "a > 0"},
        {".": ["a > 0", "number"]},
        {".": {"holds": {"relation": "a > 0", "within": 0.5}}},
    ],
)
def test_relations_are_written_as_they_were_read(checks):
    spec = read_spec({"fields": {"a": "number"}, "checks": checks})
    assert read_spec(write_spec(spec)).checks == spec.checks


@given(st.lists(st.decimals(-10_000, 10_000, places=2), min_size=1, max_size=8), st.integers(-2, 2))
def test_sums_are_exact_to_the_cent(amounts, cents):
    total = sum(amounts, Decimal(0)) + Decimal(cents) / 100
    assert counts("sum(lines[].amount) == total", {**lines(*map(str, amounts)), "total": str(total)}) == (
        HOLDS if cents == 0 else FAILS
    )


EXAMPLES = Path(__file__).with_name("examples") / "checks.md"
PAGE = blocks(EXAMPLES, "yaml")[0].partition("checks:")[0]
ROWS = [tuple(row.values()) for row in rows(EXAMPLES, "Across fields")]
OUTCOMES = {"holds": HOLDS, "violated": FAILS, "does not apply": SILENT}


@pytest.mark.parametrize(("rule", "record", "outcome"), ROWS, ids=[f"{row[0]}-{row[2]}" for row in ROWS])
def test_the_examples_come_out_as_they_say(rule, record, outcome):
    found = validate(f"{PAGE}checks: ['{rule}']", predictions={"a": [{"id": 1, **json.loads(record)}]})
    (count,) = found.counts
    assert (count.values, count.violations, count.not_applicable) == OUTCOMES[outcome]


# Checks over predictions: violations, counts, metrics, table, files, for any batches and workers

SPEC = """
name: flows
type: any
checks:
  .: {has_keys: [flow, notes]}
  flow: {has_keys: [value, unit]}
  flow.value: number
  flow.unit: {unit_format: {allowed: [m3/h]}}
  "**.*unit": unit_format
  "questions[].priority": {one_of: [HIGH, LOW]}
"""
GOOD = {"flow": {"value": 1, "unit": "m3/h"}, "notes": []}
RECORDS = {
    "sound": (GOOD, []),
    "text for a number": (
        {**GOOD, "flow": {"value": "1", "unit": "m3/h"}},
        [("flow.value", "number", '"1"')],
    ),
    "two keys": (
        {"flow": {}},
        [("notes", "has_keys", None), ("flow.value", "has_keys", None), ("flow.unit", "has_keys", None)],
    ),
    "no object": ({**GOOD, "flow": None}, [("flow", "has_keys", "null")]),
    "specific before general": (
        {**GOOD, "flow": {"value": 1, "unit": "m³/h"}},
        [("flow.unit", "unit_format", '"m³/h"')],
    ),
    "specific alone": ({**GOOD, "flow": {"value": 1, "unit": "kg"}}, [("flow.unit", "unit_format", '"kg"')]),
    "general": (
        {**GOOD, "a": [{"head_unit": "kg"}, {"head_unit": "°C"}]},
        [("a[1].head_unit", "unit_format", '"°C"')],
    ),
    "items": (
        {**GOOD, "questions": [{"priority": "LOW"}, {"priority": "low"}, {}, {"priority": {}}]},
        [("questions[1].priority", "one_of", '"low"'), ("questions[3].priority", "one_of", "{0 keys}")],
    ),
    "empty": ({}, [("flow", "has_keys", None), ("notes", "has_keys", None)]),
}


def record(data, name="d"):
    return Record(name, data, Meta(), f"p:{name}")


@pytest.mark.parametrize("case", RECORDS)
def test_a_record_has_the_violations_that_its_values_earn(case):
    data, wanted = RECORDS[case]
    found = []
    checked = check_records(
        read_plan(SPEC), "a", [record(data)], lambda system, violation: found.append((system, violation))
    )
    assert [(one.path, one.check, one.value) for _, one in found] == wanted
    assert checked.counts.tolist() == [len(wanted)] and {system for system, _ in found} <= {"a"}


def gold(count):
    return [{"id": f"d{number}", **GOOD} for number in range(count)]


def predictions(count):
    draw = random.Random(7)
    return [{"id": f"d{number}", **draw.choice(list(RECORDS.values()))[0]} for number in range(count)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(evidence_folder=tmp_path_factory.mktemp("whole"))


def run(**options):
    given = {"llama": predictions(450), "qwen": predictions(449)[::-1]}
    result = score(gold(450), given, f"{SPEC}metrics: [checks]", bootstrap=0, **options)
    return result, b"".join(read_violations(result.violations))


def test_the_list_of_violations_holds_as_many_as_the_metrics_and_the_documents_say(whole):
    result, listed = whole
    rows = [json.loads(line) for line in listed.decode().splitlines()]
    assert set(rows[0]) == {"system", "doc", "path", "check", "message", "value", "at"}
    for system in ("llama", "qwen"):
        own = [row for row in rows if row["system"] == system]
        table = result.documents.filter(result.documents["system"] == system)
        counted = [count for count in result.checks if count.system == system]
        assert (
            len(own)
            == result.value("check_violations", system)
            == table["check_violations"].sum()
            == sum(one.violations for one in counted)
        )
        assert (
            len({row["doc"] for row in own})
            == result.value("documents_with_violations", system)
            == table["has_violations"].sum()
        )
        for count in counted:
            alike = [row for row in own if (row["at"], row["check"]) == (count.at, count.check)]
            assert (count.violations, count.documents) == (len(alike), len({row["doc"] for row in alike}))
            assert len(count.examples) <= 3


def test_a_run_folder_has_the_violations_and_says_how_many(tmp_path):
    with make_folder(tmp_path / "run") as folder:
        result = score(
            gold(3), [{"id": "d0", "flow": {}}], SPEC, ScoreOptions(evidence_folder=folder.parts), bootstrap=0
        )
        folder.write(result, {"evidence": "all"})
        folder.commit()
    assert len((tmp_path / "run" / VIOLATIONS).read_text().splitlines()) == 3
    counts = json.loads((tmp_path / "run" / "run.json").read_text())["counts"]["systems"]["prediction"][
        "checks"
    ]
    assert [count["violations"] for count in counts] == [1, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("width", [40, 72, 100, 200])
def test_the_terminal_report_lists_violated_checks_with_an_example(width):
    result = score(
        gold(2), [{"id": "d0", "flow": {"value": "x|\x1b[31m", "unit": "m³/h"}}], SPEC, bootstrap=0
    )
    text = render_terminal(summarize(result), Screen(width))
    assert "Checks that predictions violate" in text and "unit_format" in text and "\x1b[31m" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "m³/h" in text.partition("Checks that")[2]


def test_the_markdown_report_lists_violated_checks_of_each_system():
    given = {"a": [{"id": "d0", "flow": {}}], "b": gold(1)}
    text = render_markdown(report_parts(summarize(score(gold(1), given, SPEC, bootstrap=0))))
    assert "## Checks that predictions violate" in text
    assert "| has\\_keys | a | flow | 2 | 1 | 1 | d0: flow.value is missing |" in text


HOSTILE = {
    "long text": "°" * 3_000_000,
    "nul and bidi": "\0\u202e°",
    "surrogate": "\ud800°",
    "long number": 10**5000,
    "nan": float("nan"),
    "long key": {"x" * 500_000 + "_unit": "°"},
    "many items": [{"unit": "°"}] * 5_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_predictions_are_counted_and_listed_briefly(case, tmp_path):
    value = HOSTILE[case]
    data = {"flow": {"value": value, "unit": value}, "more": value, "notes": 1}
    result = score(
        gold(1),
        [{"id": "d0", **data}],
        SPEC,
        ScoreOptions(evidence="errors", evidence_folder=tmp_path),
        bootstrap=0,
    )
    rows = [json.loads(line) for line in b"".join(read_violations(result.violations)).splitlines()]
    assert sum(count.violations for count in result.checks) == len(rows) > 0
    assert all(len(row["value"]) < 500 and len(row["message"]) < 200 for row in rows)
    assert len(render_terminal(summarize(result), Screen(100))) < 20_000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ("x" * 201, '"' + "x" * 200 + '…"'),
        ({"a": 1}, "{1 key}"),
        ([], "[0 items]"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_values_are_shown_as_json_text_and_containers_by_their_size(value, shown):
    assert shown_value(value) == shown
