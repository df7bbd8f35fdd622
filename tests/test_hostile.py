"""Hostile records through the front doors: a row or a clear problem, in bounded time, no traceback."""

import copy
import math
import random
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from tests.effort import characters, costs_at_most, few_examples
from tests.judging import result_of
from tests.strategies_records import TEXT_COMPARATORS, VALUES, chances, name_of

from fieldassay.errors import FieldassayError, ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.scoring import provenance
from fieldassay.scoring.score import score

pytestmark = pytest.mark.slow

MILLION = 1_000_000
T = TypeVar("T")


def within(work: Callable[[], T], most: float = 1000) -> T:
    """Return the value of the work, or fail where it takes more processor time.

    A work that never ends does not hold the tests up.
    """
    done: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            raised.append(error)

    with costs_at_most(most) as is_over:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive() and not is_over():
            thread.join(0.5)
    if raised:
        raise raised[0]
    return done[0]


def outcome_of(field: Any, gold: Any, pred: Any) -> str:
    """Return the outcome of the only value of a record."""
    spec = {"fields": {"v": field}, "metrics": ["accuracy"]}
    evidence = within(lambda: result_of(spec, [{"v": gold}], [{"v": pred}])).evidence
    return str(evidence.filter(kind="value")["outcome"][0])


FIELDS: dict[str, Any] = {
    **{kind: {"type": kind, **({"values": ["paid"]} if kind == "enum" else {})} for kind in VALUES},
    **{f"text-{name_of(call)}": {"type": "text", "compare": call} for call in TEXT_COMPARATORS},
    "any": "any",
    "list": {"type": "list", "items": {"type": "text", "compare": "levenshtein"}},
    "split-list": {"type": "list", "items": "text", "separator": "|", "compare": "sequence"},
}
LONG = ("ab" * characters(MILLION), "ac" * characters(MILLION))
ODD = {
    "nan": math.nan,
    "infinity": -math.inf,
    "large-integer": 10**4000,
    "tiny-float": 5e-324,
    "nul-bytes": "a\0b\0",
    "lone-surrogate": "a\ud800b",
    "bidi-controls": "\u202eabc\u202c\u2066x\u2069",
    "zero-width": "\u200b\ufeff",
    "combining-marks": "a" + "\u0301" * 5000,
    "digits-of-many-scripts": "١٢٣४५६７８９",
    "open-brackets": "[" * 50_000,
    "json-of-depth": "[" * 5000 + "]" * 5000,
    "punctuation": "-,./: " * 5000,
    "numbers": "1," * 50_000,
}


EACH = {f"a {name}": field for name, field in FIELDS.items()}
WHOLE = {"fields": EACH, "metrics": ["accuracy"]}


def outcomes_of(gold: Any, pred: Any) -> set[str]:
    """Return the outcomes of one value in a field of each type."""
    [gold], [pred] = ([dict.fromkeys(EACH, value)] for value in (gold, pred))
    rows = within(lambda: result_of(WHOLE, [gold], [pred])).evidence.filter(kind="value")
    assert {name.partition("[")[0] for name in rows["field"]} == {*EACH}
    return {*rows["outcome"]}


def test_a_text_of_millions_of_characters_is_judged() -> None:
    assert outcomes_of(*LONG) <= {"mismatch", "missing", "partial", "match", "failed"}
    assert outcomes_of("x", LONG[1]) | outcomes_of(LONG[0], "x") <= {
        "mismatch",
        "missing",
        "partial",
        "spurious",
    }


def test_odd_values_are_right_against_themselves_and_wrong_against_others() -> None:
    odd, plain = (
        [dict.fromkeys(EACH, value) for value in (*values,)] for values in (ODD.values(), ["zzz"] * len(ODD))
    )
    same, other, turned = (
        within(lambda pair=pair: result_of(WHOLE, *pair)) for pair in ((odd, odd), (odd, plain), (plain, odd))
    )
    assert {*same.evidence.filter(kind="value")["outcome"]} <= {"match", "absent"}
    for result in (other, turned):
        assert not {*result.evidence.filter(kind="value")["outcome"]} & {"match", "partial"}
        assert result.value("accuracy") is not None


@pytest.mark.parametrize("name", ["text", "number", "any", "id", "money"])
def test_an_integer_of_5000_digits_is_judged(name: str) -> None:
    assert outcome_of(FIELDS[name], 10**5000, 10**5000) == "match"
    assert outcome_of(FIELDS[name], 1, 10**5000) == "mismatch"


NODES: list[Any] = [
    None,
    True,
    0,
    -1.5,
    "",
    "junk",
    "NaN",
    [],
    {},
    ["junk"],
    {"junk": 1},
    [[]],
    [{}],
    [None],
    math.nan,
    "[1, 2",
    '{"a": 1}',
]
RECORD = {
    "a": "x",
    "n": 12.5,
    "on": "2024-03-04",
    "o": {"p": {"q": "deep"}, "r": True},
    "tags": ["x", "y"],
    "lines": [{"sku": "1", "n": 1, "parts": [{"id": "7"}, {"id": "8"}]}, {"sku": "2", "n": 2, "parts": []}],
    "t": {"any": [1, {"b": None}]},
}
PART = {"type": "object", "fields": {"id": "id"}}
LINE = {"type": "object", "fields": {"sku": "id", "n": "money", "parts": {"type": "list", "items": PART}}}
SPEC = {
    "fields": {
        "a": "text",
        "n": "number",
        "on": "date",
        "o": {"type": "object", "fields": {"p": {"type": "object", "fields": {"q": "text"}}, "r": "boolean"}},
        "tags": {"type": "list", "items": "text"},
        "lines": {"type": "list", "items": LINE},
        "t": "any",
    }
}


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every node of a record."""
    if path:
        yield path
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, child in inner:
        yield from places(child, (*path, step))


def replaced(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the record with another value at a path."""
    record = copy.deepcopy(RECORD)
    node: Any = record
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return record


def check_numbers(result: Result) -> None:
    """Assert that every ratio is undefined or between 0 and 1."""
    for estimate in result.estimates:
        assert estimate.value is None or math.isfinite(estimate.value)
        assert estimate.value is None or estimate.unit != "ratio" or 0 <= estimate.value <= 1


def test_any_kind_of_json_may_stand_anywhere() -> None:
    odd = [replaced(path, value) for path in places(RECORD) for value in NODES]
    good = [RECORD] * len(odd)
    for gold, pred in ((good, odd), (odd, good), (odd, odd)):
        check_numbers(within(lambda gold=gold, pred=pred: result_of(SPEC, gold, pred)))


@settings(few_examples(), derandomize=True)
@given(chances)
def test_any_kinds_of_json_may_stand_anywhere_together(chance: random.Random) -> None:
    def fuzz(node: Any) -> Any:
        if chance.random() < 0.15:
            return copy.deepcopy(chance.choice(NODES))
        if isinstance(node, dict):
            return {name: fuzz(value) for name, value in node.items()}
        return [fuzz(value) for value in node] if isinstance(node, list) else node

    gold, pred = ([{name: fuzz(value) for name, value in RECORD.items()} for _ in range(4)] for _ in range(2))
    check_numbers(result_of(SPEC, gold, pred))


def nested(depth: int, kind: str) -> Any:
    """Return lists or objects inside each other."""
    value: Any = "x"
    for _ in range(depth):
        value = [value] if kind == "list" else {"a": value}
    return value


@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("field", ["text", "any", "number"])
def test_deep_nesting_is_a_problem_of_gold_and_an_invalid_prediction(kind: str, field: str) -> None:
    spec = {"fields": {"v": field}}
    with pytest.raises(ProblemsError, match="deep"):
        within(lambda: result_of(spec, [{"v": nested(1000, kind)}], [{"v": "x"}]))
    pred = {"1": {"v": nested(1000, kind)}, "2": {"v": "x"}}
    result = within(lambda: score({"1": {"v": "x"}, "2": {"v": "x"}}, {"s": pred}, spec))
    assert (result.counts["systems"]["s"]["invalid"], result.value("recall")) == (1, 0.5)


@pytest.mark.parametrize("kind", ["list", "object"])
def test_nesting_up_to_the_limit_is_judged(kind: str) -> None:
    record = {"v": nested(90, kind)}
    assert within(lambda: result_of({"fields": {"v": "any"}}, [record], [record])).value("f1") == 1.0


@pytest.mark.parametrize(
    "key", ["odd.key", "x[0]", " ", 'quo"te', "new\nline", "\u202e", "**", "lines[]", "a\0b", "__", "0"]
)
def test_odd_keys_are_judged(key: str) -> None:
    spec = {"fields": {"o": {"type": "object", "fields": {"x": "text", key: "text"}}, "t": "any"}}
    gold = {"o": {"x": "1", key: "2"}, "t": {key: {key: 1}}}
    pred = {"o": {"x": "1", key: "3"}, "t": {key: {key: 1}}}
    assert within(lambda: result_of(spec, [gold], [pred])).value("f1") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("gold", "pred", "spec"),
    [
        pytest.param([], [], {"fields": {"a": "text"}}, id="no-documents"),
        pytest.param(
            [{"id": "1", "a": "x"}], [{"id": "2", "a": "x"}], {"fields": {"a": "text"}}, id="no-common-id"
        ),
        pytest.param(
            [{"id": "1", "a": "x"}],
            [{"id": "1", "a": "x"}],
            {"fields": {"a": "text", "n": "numbre"}},
            id="unknown-type",
        ),
        pytest.param(
            [{"id": "1", "a": "x"}, {"id": "1", "a": "y"}],
            [{"id": "1", "a": "x"}],
            {"fields": {"a": "text"}},
            id="repeated-id",
        ),
        pytest.param(7, [{"id": "1"}], {"fields": {"a": "text"}}, id="gold-is-a-number"),
        pytest.param([{"id": "1"}], [{"id": "1"}], "fields: [", id="broken-spec"),
        pytest.param([{"id": "1"}], [{"id": "1"}], {"fields": {}}, id="spec-without-fields"),
    ],
)
def test_what_cannot_be_scored_is_one_clear_problem(gold: Any, pred: Any, spec: Any) -> None:
    with pytest.raises(FieldassayError) as raised:
        within(lambda: score(gold, {"s": pred}, spec))
    assert str(raised.value)
    assert "Traceback" not in str(raised.value)


def peak_memory() -> int:
    """Return the most memory that this process has held, in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("shape", "count"),
    [
        ("equal", 1000),
        ("nothing-in-common", 1000),
        ("reversed", 3000),
        pytest.param("equal", 3000, marks=pytest.mark.full),
        pytest.param("nothing-in-common", 3000, marks=pytest.mark.full),
    ],
)
def test_thousands_of_items_are_paired_with_as_many(shape: str, count: int) -> None:
    """For 3000 about a second and 0.5 GB; 9 million candidate pairs of 3 fields are compared at once."""
    items = [{"a": f"s{at}", "n": at % 50, "b": "same"} for at in range(count)]
    gold = items if shape != "equal" else items[:1] * count
    pred = (
        gold[::-1]
        if shape != "nothing-in-common"
        else [{"a": f"x{at}", "n": -at - 1, "b": "other"} for at in range(count)]
    )
    spec = {
        "fields": {
            "l": {
                "type": "list",
                "items": {"type": "object", "fields": {"a": "text", "n": "number", "b": "text"}},
            }
        }
    }
    before = peak_memory()
    result = within(lambda: result_of(spec, [{"l": gold}], [{"l": pred}], evidence="none"))
    assert result.value("f1") == (0.0 if shape == "nothing-in-common" else 1.0)
    assert peak_memory() - before < 2_000_000_000 * (count / 3000) ** 2


@pytest.mark.parametrize(("align", "wrong"), [("ordered", 1), ("sequence", 0), ("assignment", 0)])
def test_200_000_values_are_judged(align: str, wrong: int) -> None:
    spec = {"fields": {"l": {"type": "list", "align": align, "items": "number"}}}
    values = list(range(characters(200_000)))
    result = within(
        lambda: result_of(
            spec, [{"l": values}], [{"l": [*values[:-1], -1]}], evidence="none", metrics=("presence",)
        ),
        len(values) / 200,  # of what grows with the square, 20,000 take more
    )
    assert (result.value("correct"), result.value("wrong")) == (len(values) - 1, wrong)


def test_names_that_utf_8_cannot_hold_are_written_as_escapes() -> None:
    gold = [{"id": "a\udc80", "t\udc80": "x\udc80", "l": [{"k\udc80": "1"}]}]
    pred = [{"id": "a\udc80", "t\udc80": "y\udc80", "l": [{"k\udc80": "2"}]}]
    result = score(gold, {"s\udc81": pred}, {"fields": {"**": "text"}})
    rows = (
        result.evidence.filter(result.evidence["field"] == "t\\udc80")
        .select("system", "doc", "gold_path", "gold", "pred")
        .rows()
    )
    assert rows == [("s\\udc81", "a\\udc80", "t\\udc80", '"x\\udc80"', '"y\\udc80"')]
    assert result.documents.select("system", "doc").rows() == [("s\\udc81", "a\\udc80")]


@pytest.mark.parametrize(
    "place", ["x" * 5000, "/nowhere", __file__, ""], ids=["too long", "none", "a file", "here"]
)
def test_a_place_of_modules_that_cannot_be_read_hides_no_version(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [place, *sys.path])
    monkeypatch.setattr(provenance, "_version", provenance._version.__wrapped__)
    monkeypatch.setattr(provenance, "_installed", provenance._installed.__wrapped__)
    found = score([{"id": 1, "total": 5}], [{"id": 1, "total": 5}], "fields: {total: number}", bootstrap=0)
    assert found.run["versions"]["numpy"] == version("numpy")


@pytest.mark.parametrize("spec", ["type: any", "fields: {lines: any}"])
def test_lists_in_lists_take_time_by_their_depth(spec: str) -> None:
    lists: list[Any] = [1, 2]
    for _ in range(90):
        lists = [[inner] for inner in lists]
    gold = [{"lines": [{"s": "q", "t": 1}, {"s": "r", "t": 1}]}]
    pred = [{"lines": [{"t": 1, "w": inner} for inner in lists]}]
    with costs_at_most(100):
        assert result_of(spec, gold, pred).estimates
