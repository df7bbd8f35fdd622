"""JSON Schemas and Pydantic models as specs, and specs as texts: written, large, and on their pages."""

import copy
import json
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic import Field as PydanticField
from tests.effort import costs_at_most
from tests.judging import problems

import fieldassay.spec
from fieldassay.errors import ProblemsError, nearest
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import parse_spec, read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import plan_of, read_plan

# JSON Schemas and Pydantic models as specs: unions, maps, titles, wrappers, wrong or large schemas.

TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}}


class Rates(BaseModel):
    rates: dict[str, Decimal]
    notes: dict[str, str] = {}


class Price(BaseModel):
    net: Decimal
    valid: list[Decimal] = []


class Nested(BaseModel):
    more: dict[str, dict[str, Decimal]]
    prices: list[dict[str, Price]]


def paths(model, name):
    return {info.path: info.type for info in read_plan(model).fields if info.path.startswith(f"{name}")}


def test_a_map_of_typed_values_is_a_map():
    assert paths(Rates, "rates") == {"rates": "map", "rates.*": "number"}
    assert paths(Nested, "more") == {"more": "map", "more.*": "map", "more.*.*": "number"}
    assert paths(Nested, "prices")["prices[].*.net"] == "number"
    assert paths(Nested, "prices")["prices[].*.valid[]"] == "number"


def test_a_record_may_be_a_map():
    spec = read_spec({"type": "object", "additionalProperties": {"type": "number"}})
    assert [(field.name, field.type, [text for text, _ in field.patterns]) for field in spec.fields] == [
        ("", "any", ["*"])
    ]


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"^S_": {"type": "number"}, "_unit$": {"type": "string"}}, {"x.S_*": "number", "x.*_unit": "text"}),
        ({"^[A-Z]{3}$": {"type": "number"}}, {"x.*": "number"}),
        ({"^[A-Z]{3}$": {"type": "number"}, "[0-9]": {"type": "string"}}, {}),
        ({"a*b": {"type": "object", "properties": {"c*d": {"type": "number"}}}}, {'x.*["c*d"]': "number"}),
    ],
    ids=json.dumps,
)
def test_patterns_of_keys_become_globs_where_they_can(schema, found):
    field = read_spec({"properties": {"x": {"type": "object", "patternProperties": schema}}}).fields[0]
    assert {text: inner.type for text, inner in field.patterns} == found


class Card(BaseModel):
    kind: Literal["card"]
    amount: Decimal
    number: str
    mark: int


class Bank(BaseModel):
    kind: Literal["bank"]
    amount: int
    iban: str
    mark: list[str]


class Payment(BaseModel):
    paid_by: Annotated[Card | Bank, PydanticField(discriminator="kind")]
    plain: Card | Bank | None = None


@pytest.mark.parametrize("name", ["paid_by", "plain"])
def test_a_union_of_models_has_the_fields_of_all(name):
    field = next(field for field in read_spec(Payment).fields if field.name == name)
    types = {inner.name: inner.type for inner in field.fields}
    assert types == {"kind": "enum", "amount": "number", "number": "text", "mark": "any", "iban": "text"}
    named = {inner.name: inner for inner in field.fields}
    assert named["kind"].options == (("values", ("card", "bank")),)
    assert named["mark"].description == "the choices of the schema differ: integer, list"


def test_choices_beside_properties_keep_the_properties():
    schema = {
        "properties": {"a": {"type": "number"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert [(field.name, field.type) for field in read_spec(schema).fields] == [
        ("a", "number"),
        ("b", "text"),
    ]


class Line(BaseModel):
    unit_price: Decimal = PydanticField(title="Price of one")


class Titled(BaseModel):
    invoice_number: str
    line: Line
    lines: list[Line]


def test_a_title_that_repeats_the_name_is_left_out_and_another_is_the_description():
    text = write_spec(read_spec(Titled))
    assert text.count("description") == text.count("description: Price of one") == 2
    assert "name: Titled" in text


RAW = {"type": "object", "properties": {"total": {"type": "number"}}, "additionalProperties": False}
WRAPPED = [
    ("OpenAI response_format", {"type": "json_schema",
     "json_schema": {"name": "invoice", "strict": True, "schema": RAW}}),
    ("OpenAI json_schema", {"name": "invoice", "strict": True, "schema": RAW}),
    ("OpenAI responses", {"text": {"format": {"type": "json_schema", "name": "invoice", "schema": RAW}}}),
    ("OpenAI request", {"model": "m", "messages": [],
     "response_format": {"type": "json_schema", "json_schema": {"name": "invoice", "schema": RAW}}}),
    ("OpenAI tool", {"type": "function",
     "function": {"name": "invoice", "description": "d", "parameters": RAW}}),
    ("OpenAI function", {"name": "invoice", "parameters": RAW}),
    ("Anthropic tool", {"name": "invoice", "description": "d", "input_schema": RAW}),
    ("Anthropic request", {"tools": [{"name": "invoice", "input_schema": RAW}]}),
]  # fmt: skip


@pytest.mark.parametrize("wrapped", [case[1] for case in WRAPPED], ids=[case[0] for case in WRAPPED])
def test_what_requests_wrap_around_a_schema_is_taken_off(wrapped):
    spec = read_spec(wrapped)
    assert (spec.name, [(field.name, field.type) for field in spec.fields]) == (
        "invoice",
        [("total", "number")],
    )


def test_a_problem_inside_a_wrapper_is_placed_in_it():
    wrapped = {
        "name": "invoice",
        "input_schema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Nothing"}}},
    }
    assert "$.input_schema.properties.x: " in problems(wrapped)[0]


WRONG = [
    ({"properties": {"x": {"allOf": [TOTAL, {"properties": "abc"}]}}},
     "$.properties.x.allOf[1].properties: must be a mapping, not the text 'abc'"),
    ({"properties": {"x": {"allOf": [TOTAL], "properties": ["a"]}}},
     "$.properties.x.properties: must be a mapping, not a list"),
    ({"properties": {"x": {"$ref": "#/$defs/D", "properties": 3}}, "$defs": {"D": TOTAL}},
     "$.properties.x.properties: must be a mapping"),
    ({"properties": {"x": {"$ref": "#/$defs/D"}}, "$defs": {"D": {"properties": []}}},
     "$.properties.x.properties: must be a mapping"),
    ({"properties": {"x": {"anyOf": [{"properties": 1}, TOTAL]}}},
     "$.properties.x.anyOf[0].properties: must be a mapping"),
    ({"properties": {"x": {"anyOf": "y"}}}, "$.properties.x.anyOf: must be a list, not the text 'y'"),
    ({"properties": {"x": {"allOf": {}}}}, "$.properties.x.allOf: must be a list"),
    ({"properties": {"x": {"enum": "abc"}}}, "$.properties.x.enum: must be a list"),
    ({"properties": {"x": {"patternProperties": [1]}}},
     "$.properties.x.patternProperties: must be a mapping"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "said"), WRONG, ids=[json.dumps(case[0])[:60] for case in WRONG])
def test_a_keyword_that_holds_another_kind_is_a_problem_at_its_place(schema, said):
    assert any(said in problem for problem in problems(schema)), problems(schema)


def doubling(levels, keyword):
    """Return a schema whose definitions refer to the next one twice."""

    def twice(name):
        reference = {"$ref": f"#/$defs/{name}"}
        return (
            {keyword: [reference, reference]}
            if keyword != "properties"
            else {"properties": {"x": reference, "y": reference}}
        )

    defs: dict = {f"d{level}": twice(f"d{level + 1}") for level in range(levels)}
    return {"$defs": {**defs, f"d{levels}": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/d0"}}}


@pytest.mark.parametrize("keyword", ["properties", "allOf", "anyOf", "oneOf"])
def test_references_that_double_are_refused_where_they_grow_too_large(keyword):
    found = problems(doubling(40, keyword))
    assert len(found) == 1 and "parts once its references are followed" in found[0]


def test_definitions_that_nest_too_deeply_are_refused():
    defs = {f"d{level}": {"properties": {"x": {"$ref": f"#/$defs/d{level + 1}"}}} for level in range(500)}
    assert (
        "deeper than 100 levels"
        in problems({"$defs": {**defs, "d500": {}}, "properties": {"a": {"$ref": "#/$defs/d0"}}})[0]
    )


def test_a_long_description_counts_each_time_it_is_referred_to():
    long = {"type": "string", "description": "d" * 100_000}
    schema = {"$defs": {"D": long}, "properties": {f"x{n}": {"$ref": "#/$defs/D"} for n in range(1000)}}
    assert "parts once its references are followed" in problems(schema)[0]


class Everything(BaseModel):
    """One of each."""

    rates: Rates
    payment: Payment | None = None
    titled: list[Titled] = []


SEEDS = [
    Everything.model_json_schema(),
    *(case[0] for case in WRONG),
    doubling(3, "allOf"),
    doubling(3, "anyOf"),
    WRAPPED[0][1],
]
VALUES = [
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "x",
    "#/$defs/Rates",
    "#",
    [],
    {},
    [{}],
    {"type": "object"},
    {"$ref": "#"},
    ["a", 1],
    {"properties": 3},
]
KEYS = [
    "type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const",
    "additionalProperties", "patternProperties",
    "x-fieldassay", "title", "description", "format", "prefixItems", "required", "$schema", "fields",
    "compare", "values",
]  # fmt: skip


@st.composite
def mutated(draw):
    """Return a JSON Schema in which a few parts are replaced, removed or added."""
    whole = {"root": copy.deepcopy(draw(st.sampled_from(SEEDS)))}
    for _ in range(draw(st.integers(1, 4))):
        parent, key = draw(st.sampled_from([(parent, key) for parent, key in members(whole)]))
        inner = parent[key]
        if isinstance(inner, dict) and draw(st.booleans()):
            inner[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        else:
            parent[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return whole["root"]


def members(data):
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place for key, inner in list(pairs) for place in ((data, key), *members(inner))]


@given(data=mutated())
def test_whatever_a_schema_holds_it_is_a_spec_or_a_clear_problem(data):
    try:
        parsed = parse_spec(data)
        assert isinstance(parsed.spec, Spec)
        plan_of(parsed)
    except ProblemsError as error:
        assert all(problem.what for problem in error.problems)
    else:
        assert read_spec(write_spec(parsed.spec)) == parsed.spec


# Specs as texts: written, large, and on their pages.

# Specs are read and checked in time that grows with their size: calls are counted, since clocks differ

WORDS = "{type: money, tolerance: {relative: 0.01}, weight: 2, description: with tax}"


def names(count):
    return [f"field_{number}" for number in range(count)]


def mapping(count, definition="text"):
    return "".join(f"  {name}: {definition}\n" for name in names(count))


SPECS: dict[str, Callable[[int], Any]] = {
    "yaml": lambda count: f"fields:\n{mapping(count)}",
    "yaml with options": lambda count: f"fields:\n{mapping(count, WORDS)}",
    "yaml on one line": lambda count: "{fields: {" + ", ".join(f"{name}: id" for name in names(count)) + "}}",
    "json": lambda count: json.dumps({"fields": dict.fromkeys(names(count), "id")}),
    "mapping": lambda count: {"fields": dict.fromkeys(names(count), "date")},
    "schema": lambda count: {"properties": {name: {"type": ["number", "null"]} for name in names(count)}},
    "unknown types": lambda count: f"fields:\n{mapping(count, 'mony')}",
    "unknown options": lambda count: f"fields:\n{mapping(count, '{type: money, tolernce: 1}')}",
    "unknown keys": lambda count: "fields: {a: text}\n" + "".join(f"{name}: text\n" for name in names(count)),
    "other names": lambda count: f"fields:\n{mapping(count, '{names: [a, b]}')}",
    "metrics": lambda count: (
        f"fields:\n{mapping(count)}metrics: [{', '.join(f'field_accuracy[{name}]' for name in names(count))}]"
    ),
    "gates": lambda count: (
        f"fields:\n{mapping(count)}gates:\n"
        + "".join(f"  - field_accuracy[{name}] >= 0.5\n" for name in names(count))
    ),
    "metrics of unknown fields": lambda count: (
        f"fields:\n{mapping(count)}metrics: [{', '.join(f'f1[{name}x]' for name in names(count))}]"
    ),
    "types that stand for each other": lambda count: {
        "types": {
            name: {"type": after}
            for name, after in zip(names(count), [*names(count)[1:], "text"], strict=True)
        },
        "fields": dict.fromkeys(names(count), "field_0"),
    },
    "types of documents": lambda count: {
        "document_type": {"field": "kind", "aliases": {name: [] for name in names(count)}},
        "fields": {name: {"type": "text", "applies_to": ["field_0"]} for name in names(count)},
    },
    "trees": lambda count: {
        "fields": {name: {"type": "any", "fields": {f"{name}.*": "number"}} for name in names(count)}
    },
    "patterns": lambda count: {"type": "any", "fields": {f"**.{name}": "number" for name in names(count)}},
    "checks": lambda count: {
        "fields": dict.fromkeys(names(count), "text"),
        "checks": dict.fromkeys(names(count), "not_empty"),
    },
    "values of an enum": lambda count: {"fields": {"a": {"type": "enum", "values": names(count)}}},
}


def calls(source):
    """Return how many functions are called to read and check a spec."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        read_plan(source)
    except ProblemsError as error:
        str(error)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", SPECS)
def test_twice_the_fields_take_about_twice_the_work(kind):
    make = SPECS[kind]
    calls(make(3))
    small, large = calls(make(40)), calls(make(160))
    assert large <= 4.6 * small


@pytest.mark.parametrize("size", [500, 20_000])
def test_the_nearest_of_very_many_names_is_found_and_few_are_listed(size):
    assert nearest("field_17x", names(size)).startswith("did you mean 'field_17")
    assert nearest("zzzzzzzz", names(size)).endswith(f" and {size - 100:,} more")


TWICE = range(1, 60)
DOUBLING = {
    "sums": "definitions: {d0: accuracy" + "".join(f", d{n}: 'd{n - 1} + d{n - 1}'" for n in TWICE) + "}",
    "products of gates": (
        "definitions: {d0: f1"
        + "".join(f", d{n}: 'd{n - 1} * d{n - 1}'" for n in TWICE)
        + "}\ngates: ['d40 >= 0.1']"
    ),
    "in threes, the last one first": (
        "definitions: {"
        + "".join(f"d{n}: 'd{n - 1} - d{n - 1} / d{n - 1}', " for n in reversed(TWICE))
        + "d0: f1}"
    ),
    "means by document": (
        "definitions: {d0: accuracy"
        + "".join(f", d{n}: 'document_mean(d{n - 1}, over=d{n - 1})'" for n in TWICE)
        + "}"
    ),
    "types": (
        "types: {t0: {type: object, fields: {a: text}}"
        + "".join(f", t{n}: {{type: object, fields: {{a: t{n - 1}, b: t{n - 1}}}}}" for n in TWICE)
        + "}"
    ),
    "types of lists": (
        "types: {t0: {type: list, items: text}"
        + "".join(f", t{n}: {{type: list, items: {{fields: {{a: t{n - 1}, b: t{n - 1}}}}}}}" for n in TWICE)
        + "}"
    ),
    "many just below the bound of each": (
        f"definitions: {{base: '{' + '.join(['accuracy'] * 250)}'"
        + "".join(f", d{n}: 'base + {n}'" for n in range(1000))
        + "}"
    ),
    "one long sum": f"definitions: {{base: '{' + '.join(['accuracy'] * 900)}'}}",
    "long sums of long sums": (
        "definitions: {d0: accuracy"
        + "".join(f", d{n}: 'd{n - 1}{' + accuracy' * 30}'" for n in range(1, 18))
        + "}"
    ),
    "a type within itself": "types: {t59: {type: object, fields: {a: t59, b: text}}}",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_with_each_line_is_refused_quickly(name):
    last = "t59" if name.startswith(("types", "a type")) else "text"
    with costs_at_most(300), pytest.raises(ProblemsError, match=r"more than|within itself|deep"):
        read_plan(f"{DOUBLING[name]}\nfields: {{x: {last}}}")


#

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    name: (DOCS / name).read_text(encoding="utf-8") for name in ("spec.md", "comparators.md", "errors.md")
}
EXAMPLES = [
    (name, text) for name, page in PAGES.items() for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
]


@pytest.mark.parametrize(
    ("page", "text"), EXAMPLES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(EXAMPLES)]
)
def test_every_example_compiles(page, text):
    whole = text if re.search(r"^(fields|type):", text, re.MULTILINE) else f"fields:\n  x: text\n{text}"
    assert read_plan(whole).fields


def test_every_kind_of_problem_of_a_spec_stands_under_its_title():
    sources = [*Path(fieldassay.spec.__path__[0]).rglob("*.py")]
    used = {
        kind
        for path in sources
        for kind in re.findall(
            r'"([a-z_]+)"\)+(?: from error)?$', path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    known = set(re.findall(r"`([a-z_]+)`", PAGES["errors.md"].partition("## Specs")[2].partition("\n## ")[0]))
    kinds = {
        kind
        for kind in used
        if kind.startswith(
            ("unknown_", "invalid", "missing_", "misplaced", "duplicate", "wrong_", "too_", "mixed_")
        )
    }
    assert len(kinds) >= 10
    assert kinds <= known
