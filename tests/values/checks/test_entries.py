"""What each check accepts and refuses, at its boundaries and for hostile values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most

from fieldassay.values.catalogue import CHECKS

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


def test_each_missing_key_is_a_fault_of_its_own_and_repeated_keys_are_one():
    faults = build("has_keys", {"keys": ("a", "b", "a", "c")}).faults({"b": None})
    assert [fault.key for fault in faults] == ["a", "c"]


def test_an_object_that_is_none_is_one_fault():
    assert [fault.key for fault in build("has_keys", {"keys": ("a", "b")}).faults([])] == [None]


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
