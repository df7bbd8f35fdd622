"""Checks in specs, of entries, and their page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.errors import ProblemsError
from fieldassay.paths import Pattern, join_path
from fieldassay.scoring.validation.validate import validate
from fieldassay.spec.language.freeze import freeze_options
from fieldassay.spec.language.model import Call, Field, Spec
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import compile_plan, read_plan
from fieldassay.spec.plan.describe import describe_checks
from fieldassay.spec.plan.digest import digest_of
from fieldassay.spec.presets import catalogue

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
    with pytest.raises(ProblemsError) as refusal:
        read_plan(BAD)
    told = [str(problem) for problem in refusal.value.problems]
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
    [("", ["total", "unit"]), ("checks: {unit: not_empty}", ["unit"]), ("checks: {}", [])],
    ids=["inherited", "replaced", "none"],
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


def test_checks_are_described_with_their_options():
    plan = read_plan("fields: {a: text}\nchecks: {.: {has_keys: [a]}, b: [number, {unit_format: [K]}]}")
    assert describe_checks(plan) == [
        {"at": ".", "check": "has_keys(keys=[a])"},
        {"at": "b", "check": "number"},
        {"at": "b", "check": "unit_format(allowed=[K])"},
    ]


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
    told = [note for note in found.notes if "could look at" in note]
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


def test_the_value_comes_with_its_place():
    assert [value for _, value in Pattern("pumps[].unit").find(RECORD)] == ["bar", "Pa"]


@pytest.mark.parametrize("record", [None, 5, "flow", [], {}])
def test_a_record_without_members_is_found_by_its_own_pattern_only(record):
    assert list(Pattern("").find(record)) == [((), record)]
    assert list(Pattern("flow").find(record)) == []


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
