"""What each check accepts and refuses, its page, and checks of a spec before anything is scored."""

import dataclasses
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doc_pages import TEXTS, blocks
from tests.effort import costs_at_most

from fieldassay.commands.cli.main import main
from fieldassay.records.record import Meta, Record
from fieldassay.scoring.checking import check_records
from fieldassay.scoring.explain import validate
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.catalogue import CHECKS

# What each check accepts and refuses, at its boundaries and for hostile values.

NAN, INF = math.nan, math.inf
HUGE = 10**400
DEEP = []
for _ in range(5000):
    DEEP = [DEEP]

UNITS = {"allowed": (("flow", ("m3/h", "Nm3/h")), ("pressure", ("bar",)))}
ALLOWED = {"null": "allowed"}

# check, options, accepted values, refused values
CASES = {
    "unit_format": ("unit_format", {}, ["m3/h", "", "anything", "m3/h\n"],
        ["m^3/h", "°C", "m²", "m³/h", "m³ h⁻¹", 5, None, True, ["m3/h"]]),
    "unit_format null": ("unit_format", ALLOWED, [None, "K"], ["°C", 0]),
    "unit_format list": ("unit_format", {"allowed": ("m3/h", "K")}, ["m3/h", "K"],
        ["m3/H", " m3/h", "m3/h ", "m3/h\n", "k", "", "m³/h"]),
    "unit_format kinds": ("unit_format", UNITS, ["m3/h", "Nm3/h", "bar"], ["mbar", "flow"]),
    "unit_format kind": ("unit_format", {**UNITS, "kind": "flow"}, ["m3/h", "Nm3/h"], ["bar"]),
    "unit_format own": ("unit_format", {"forbidden": ("per", "µ")}, ["m³/h", "°C"], ["m3 per hour", "µg/m3"]),
    "unit_format none": ("unit_format", {"forbidden": ()}, ["m³/h", "^°²³"], [None]),
    "number": ("number", {}, [0, -1, 850.5, 1e308, HUGE, -0.0],
        [True, False, None, "5", "5.000", NAN, INF, -INF, [5], {"value": 5}]),
    "number null": ("number", ALLOWED, [None, 1], [NAN, "", []]),
    "has_keys": ("has_keys", {"keys": ("value", "unit")}, [{"value": None, "unit": "", "x": 1}],
        [{}, {"value": 1}, None, [], "value unit", 5]),
    "has_keys null": ("has_keys", {"keys": ("a",), **ALLOWED}, [None, {"a": 1}], [{}, []]),
    "one_of": ("one_of", {"values": ("HIGH", "MEDIUM", "LOW")}, ["HIGH", "LOW"],
        ["high", "HIGH ", "", None, ["HIGH"], {"HIGH": 1}, 1]),
    "one_of kinds": ("one_of", {"values": (1, "true", None)}, [1, 1.0, "true", None],
        [True, "1", "null", 2, 1.5, NAN]),
    "one_of boolean": ("one_of", {"values": (True, 0)}, [True, 0, 0.0, -0.0], [False, 1, "true"]),
    "one_of null": ("one_of", {"values": ("a",), **ALLOWED}, ["a", None], ["b"]),
    "pattern": ("pattern", {"regex": "[0-9]{2,7}-[0-9]{2}-[0-9]"}, ["108-88-3"],
        ["108-88-33", " 108-88-3", "108-88-3\n", "", None, 108883]),
    "pattern either": ("pattern", {"regex": "a|b+"}, ["a", "b", "bbb"], ["ab", "a\n", "c"]),
    "pattern null": ("pattern", {"regex": "x", **ALLOWED}, ["x", None], ["y"]),
    "pattern unicode": ("pattern", {"regex": "[äö].\ufffd"}, ["ä😀\ud800", "öx\udfff"], ["äx", "a😀\ud800"]),
    "pattern ends": ("pattern", {"regex": ""}, [""], ["\n", " "]),
    "holds": ("holds", {"relation": "a + b == c"},
        [{"a": 1, "b": 2.5, "c": 3.5}, {"a": 1, "c": NAN}, {}, None, 5], [{"a": 1, "b": 2, "c": 4}]),
    "holds within": ("holds", {"relation": "sum(l[].n) <= t", "within": 1},
        [{"l": [{"n": 2}], "t": 1}, {"l": []}], [{"l": [{"n": 3}], "t": 1}]),
    "kind text": ("kind", {"kinds": ("text",)}, ["", "5"], [5, None, True, [], {}]),
    "kind number": ("kind", {"kinds": ("number",)}, [5, 0.5, HUGE], [True, "5", None]),
    "kind several": ("kind", {"kinds": ("list", "null", "boolean")}, [[], None, False], [{}, 0, ""]),
    "kind object": ("kind", {"kinds": ("object",)}, [{}], [[], None]),
    "not_empty": ("not_empty", {}, [0, False, "x", [None], {"a": None}, NAN, "\u200b"],
        [None, "", " \t\n", "\u00a0", [], {}]),
    "range": ("range", {"least": 0, "most": 100}, [0, 100, 0.0, 99.999, -0.0],
        [-1e-300, 100.0000001, HUGE, -HUGE, NAN, INF, True, "5", None]),
    "range least": ("range", {"least": 0.5}, [0.5, 1, HUGE], [0.4999, -HUGE]),
    "range most": ("range", {"most": 10**30}, [10**30, -5], [10**30 + 1, HUGE]),
    "range null": ("range", {"least": 0, **ALLOWED}, [None, 0], [-1, NAN]),
    "length": ("length", {"least": 1, "most": 2}, ["a", "ab", [1], {"a": 1, "b": 2}, "😀"],
        ["", "abc", [], [1, 2, 3], {}, 12, None, True]),
    "length most": ("length", {"most": 0}, ["", [], {}], [" ", [None], None]),
    "length null": ("length", {"least": 1, **ALLOWED}, [None, "a"], [""]),
}  # fmt: skip
HOSTILE = [
    "x" * 10_000_000,
    "\0" * 1000,
    "\u202e\ud800",
    "a" * 9_999 + "!",
    DEEP,
    {"a": DEEP},
    NAN,
    INF,
    HUGE,
    ["°"] * 100_000,
    {"": {}},
]


def build(name, options):
    return CHECKS.load(name)(**options)


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        pytest.param(*case[:2], value, id=f"{label}-{value!r:.30}")
        for label, case in CASES.items()
        for value in case[2]
    ],
)
def test_what_is_accepted_has_no_fault(name, options, value):
    assert list(build(name, options).faults(value)) == []


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        pytest.param(*case[:2], value, id=f"{label}-{value!r:.30}")
        for label, case in CASES.items()
        for value in case[3]
    ],
)
def test_what_is_refused_has_a_fault_with_words(name, options, value):
    faults = build(name, options).faults(value)
    assert faults and all(fault.message for fault in faults)


def test_every_check_has_cases():
    assert {case[0] for case in CASES.values()} == set(CHECKS.entries)


@pytest.mark.parametrize("case", CASES)
def test_hostile_values_take_little_time_and_short_messages(case):
    check = build(*CASES[case][:2])
    with costs_at_most(100):
        for value in HOSTILE:
            assert all(len(fault.message) < 1000 for fault in check.faults(value))


@pytest.mark.parametrize("regex", ["(a+)+b", "(a|aa)*c", "(.*)*x", "([a-z]+)*[0-9]", "(a?){25}a{25}"])
def test_patterns_that_make_backtracking_engines_hang_are_matched_in_linear_time(regex):
    check = build("pattern", {"regex": regex})
    with costs_at_most(100):
        assert check.faults("a" * 9_999 + "!")


def test_a_pattern_matches_no_text_beyond_its_longest():
    check = build("pattern", {"regex": "a*"})
    assert not check.faults("a" * 10_000)
    assert "10,001 characters" in check.faults("a" * 10_001)[0].message


REFUSED = {
    "unit_format empty text": ("unit_format", {"forbidden": ("",)}, "empty text"),
    "unit_format no such kind": ("unit_format", {**UNITS, "kind": "flwo"}, "did you mean 'flow'"),
    "unit_format kind without kinds": ("unit_format", {"allowed": ("K",), "kind": "flow"}, "as a mapping"),
    "unit_format mixed": ("unit_format", {"allowed": ("K", ("flow", ("m3/h",)))}, "side by side"),
    "unit_format no unit": ("unit_format", {"allowed": (("flow", ()),)}, "no unit"),
    "has_keys none": ("has_keys", {"keys": ()}, "no key"),
    "one_of none": ("one_of", {"values": ()}, "no value"),
    "kind none": ("kind", {"kinds": ()}, "no kind"),
    "kind unknown": ("kind", {"kinds": ("string",)}, "unknown kind"),
    "range none": ("range", {}, "no bound"),
    "range crossed": ("range", {"least": 2, "most": 1}, "least is 2"),
    "range infinite": ("range", {"most": INF}, "finite"),
    "range nan": ("range", {"least": NAN}, "finite"),
    "length none": ("length", {}, "no bound"),
    "length crossed": ("length", {"least": 3, "most": 2}, "least is 3"),
    "length negative": ("length", {"most": -1}, "at least 0"),
    "pattern open": ("pattern", {"regex": "(a"}, "unclosed group"),
    "pattern look-ahead": ("pattern", {"regex": "(?=a)a"}, "not supported"),
    "pattern look-behind": ("pattern", {"regex": "(?<=a)a"}, "not supported"),
    "pattern reference": ("pattern", {"regex": r"(a)\1"}, "not supported"),
    "pattern escape of the frame": ("pattern", {"regex": "a)|(?:b"}, "cannot be read"),
    "pattern comment": ("pattern", {"regex": "(?x)a # b"}, "cannot be read"),
    "pattern too large": ("pattern", {"regex": "((a{500}){500}){500}"}, "size limit"),
    "pattern long": ("pattern", {"regex": "a" * 1001}, "1001 characters"),
    "pattern surrogate": ("pattern", {"regex": "\ud800"}, "lone surrogate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_make_no_sense_are_refused_with_a_remedy(case):
    name, options, said = REFUSED[case]
    with pytest.raises(ValueError, match="; ") as refusal:
        build(name, options)
    assert said in str(refusal.value) and str(refusal.value).startswith(name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(value=JSON, case=st.sampled_from(sorted(CASES)))
def test_any_json_is_judged_without_a_crash_and_the_same_each_time(value, case):
    check = build(*CASES[case][:2])
    assert list(check.faults(value)) == list(check.faults(value))


@given(value=JSON)
def test_the_kinds_divide_all_json(value):
    fitting = [
        kind
        for kind in ("text", "number", "boolean", "list", "object", "null")
        if not build("kind", {"kinds": (kind,)}).faults(value)
    ]
    assert len(fitting) == 1


# The page has every check and option, and the example of an engineering extractor judges as it should.

PLAN = read_plan(blocks(Path(__file__).with_name("examples") / "checks.md", "yaml")[1])
TOP = PLAN.checks[0].check.keys


@pytest.mark.parametrize("name", CHECKS.entries)
def test_the_page_has_every_check_with_its_options(name):
    (row,) = [
        line
        for line in TEXTS["docs/metrics.md"].partition("\n## Checks\n")[2].splitlines()
        if line.startswith(f"| `{name}` |")
    ]
    options = row.split("|")[2]
    assert [
        field.name
        for field in dataclasses.fields(CHECKS.load(name))
        if field.init and f"`{field.name}`" not in options
    ] == []


def violations(**parts):
    found = []
    data = {**{key: {} for key in TOP}, **parts}
    check_records(
        PLAN, "a", [Record("d", data, Meta(), "p:1")], lambda _, one: found.append((one.path, one.check))
    )
    return found


def flow(**parts):
    return {"process_parameters": {"flow_rate": {"value": 5000, "unit": "m3/h", **parts}}}


KINDS = {
    "flow": (lambda unit: flow(unit=unit), "m3/h Nm3/h kg/h l/min", "m3/s mg/m3 m^3/h m³/h NM3/h Nm3/H"),
    "concentration": (
        lambda unit: {"pollutant_characterization": {"pollutant_list": [{"concentration_unit": unit}]}},
        "mg/Nm3 mg/m3 ppm ppb vol% g/h",
        "mg/m³ % kg/h PPM",
    ),
    "temperature": (
        lambda unit: {"process_parameters": {"temperature": {"unit": unit}}},
        "degC K F",
        "°C C degF",
    ),
    "pressure": (
        lambda unit: {"process_parameters": {"pressure": {"unit": unit}}},
        "mbar Pa kPa bar atm",
        "hPa Bar psi",
    ),
    "any other": (lambda unit: {"site_conditions": {"area": {"unit": unit}}}, "m2 m furlong", "m² m^2 °F m³"),
}


@pytest.mark.parametrize(
    ("kind", "unit", "count"),
    [(kind, unit, 0) for kind, case in KINDS.items() for unit in case[1].split()]
    + [(kind, unit, 1) for kind, case in KINDS.items() for unit in case[2].split()],
)
def test_units_of_the_engineering_example_are_held_to_their_kind_once(kind, unit, count):
    assert [check for _, check in violations(**KINDS[kind][0](unit))] == ["unit_format"] * count


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (flow(), []),
        (flow(value=None, unit=None, min_value=None), []),
        (flow(value="5.000"), ["process_parameters.flow_rate.value"]),
        (flow(max_value="5500"), ["process_parameters.flow_rate.max_value"]),
        (flow(value=True), ["process_parameters.flow_rate.value"]),
        (flow(unit=5), ["process_parameters.flow_rate.unit"]),
        ({"process_parameters": {"flow_rate": {}}},
         ["process_parameters.flow_rate.value", "process_parameters.flow_rate.unit"]),
        ({"process_parameters": {"flow_rate": None}}, ["process_parameters.flow_rate"]),
        ({"process_parameters": {}}, []),
        ({"pollutant_characterization": {"pollutant_list": [{"concentration": 1},
         {"concentration": "850,5"}]}},
         ["pollutant_characterization.pollutant_list[1].concentration"]),
        ({"customer_specific_questions": [{"priority": "HIGH"}, {"priority": "high"}, {"priority": None},
         {}]},
         ["customer_specific_questions[1].priority", "customer_specific_questions[2].priority"]),
    ],
)  # fmt: skip
def test_values_of_the_engineering_example_are_judged_as_the_page_says(parts, wanted):
    assert [path for path, _ in violations(**parts)] == wanted


# `fieldassay score --check` with checks: with gold and without.

SPEC = "name: s\nfields: {total: money, unit: text}\nchecks: {total: number, unit: unit_format}\n"
GOLD = [{"id": "a", "total": 5, "unit": "m3/h"}, {"id": "b", "total": 6, "unit": "K"}]
BAD = [{"id": "a", "total": "5", "unit": "m³/h"}, {"id": "c", "total": "7", "unit": "K"}]


@pytest.fixture
def run(tmp_path, capsys):
    def call(*arguments, spec=SPEC, pred=BAD):
        (tmp_path / "spec.yaml").write_text(spec)
        for name, rows in (("gold", GOLD), ("llama", pred)):
            text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        places = {"GOLD": tmp_path / "gold.jsonl", "PRED": tmp_path / "llama.jsonl"}
        capsys.readouterr()
        code = main(
            [
                "score",
                "--check",
                "--spec",
                str(tmp_path / "spec.yaml"),
                *(str(places.get(one, one)) for one in arguments),
            ]
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_violations_without_gold_exit_with_1_and_are_listed_the_worst_first(run):
    code, out, err = run("--pred", "PRED")
    assert (code, err) == (1, "")
    assert out.index("total: number: 2 violations in 2 documents (2 values looked at)") < out.index(
        "unit: unit_format: 1 violation"
    )
    assert "a: unit \"m³/h\" holds '³'" in out and "3 violations of checks, and no other problem." in out


def test_sound_predictions_exit_with_0(run):
    code, out, _ = run("--pred", "PRED", pred=GOLD)
    assert code == 0 and "No prediction violates a check." in out and "No problem found." in out


def test_beside_gold_only_predictions_with_gold_are_checked(run):
    code, out, _ = run("--gold", "GOLD", "--pred", "PRED")
    assert code == 1 and "total: number: 1 violation in 1 document (1 value looked at)" in out


def test_json_lists_every_violation(run):
    pred = [{"id": str(number), "total": "x", "unit": "°C"} for number in range(2500)]
    code, out, _ = run("--pred", "PRED", "--json", pred=pred)
    data = json.loads(out)
    assert code == 1 and len(data["violations"]) == 5000
    assert data["violations"][0] == {
        "system": "llama", "doc": "0", "path": "total", "check": "number",
        "message": "is a text, not a number", "value": '"x"', "at": "total",
    }  # fmt: skip
    assert data["check_counts"][0] == {
        "system": "llama",
        "at": "total",
        "check": "number",
        "values": 2500,
        "violations": 2500,
        "documents": 2500,
    }
    assert data["checks"] == [{"at": "total", "check": "number"}, {"at": "unit", "check": "unit_format"}]
    assert data["predictions"]["llama"]["records"] == 2500 and data["documents"] is None


def test_the_list_for_people_is_capped(run):
    spec = "name: s\nfields: {total: money}\nchecks:\n" + "".join(
        f"  k{number}: number\n" for number in range(30)
    )
    code, out, _ = run(
        "--pred", "PRED", spec=spec, pred=[{"id": "a", **{f"k{number}": "x" for number in range(30)}}]
    )
    assert (
        code == 1 and out.count("1 violation in") == 20 and "and 10 more; --json lists every violation" in out
    )


@pytest.mark.parametrize(
    ("pred", "code", "said"),
    [
        ([*BAD, BAD[0]], 2, "duplicate id 'a'"),
        ("", 2, "is empty"),
        ("{oops\n", 2, "not JSON"),
        ('{"id": "a", "total": 1, "unit": "K"}\n{"id": "b", "total": oops\n', 0, "llama 2 1 … llama: b: "),
        ([{"id": "a", "error": "timeout"}], 0, "llama 1 1"),
    ],
    ids=["duplicate", "empty", "all broken", "one broken", "error"],
)
def test_predictions_without_gold_that_cannot_be_used_are_told(run, pred, code, said):
    found, out, err = run("--pred", "PRED", pred=pred)
    text = " ".join((out + err).split())
    assert found == code and all(part in text for part in said.split(" … "))


def test_problems_of_the_spec_come_first_and_exit_with_2(run):
    code, _, err = run("--pred", "PRED", spec="fields: {total: mony}\nchecks: {total: nmber}\n")
    assert code == 2 and "mony" in err and "nmber" in err and "--gold" not in err


def test_from_python_violations_are_counted_and_listed_only_if_asked_for():
    counted = validate(SPEC, predictions={"llama": BAD})
    assert [count.violations for count in counted.counts] == [2, 1] and counted.violations == ()
    assert len(validate(SPEC, predictions={"llama": BAD}, lists_violations=True).violations) == 3
