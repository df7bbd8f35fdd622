"""JSON Schemas and Pydantic models as specs: unions, maps, titles, wrappers, wrong or large schemas."""

import copy
import json
from decimal import Decimal
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic import Field as PydanticField

from fieldassay.errors import ProblemsError
from fieldassay.scoring.score import score
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import parse_spec, read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import plan_of, read_plan

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


def paths(model: object, name: str) -> dict[str, str]:
    return {info.path: info.type for info in read_plan(model).fields if info.path.startswith(f"{name}")}


def test_a_map_of_typed_values_is_a_map() -> None:
    assert paths(Rates, "rates") == {"rates": "map", "rates.*": "number"}
    assert paths(Nested, "more") == {"more": "map", "more.*": "map", "more.*.*": "number"}
    assert paths(Nested, "prices")["prices[].*.net"] == "number"
    assert paths(Nested, "prices")["prices[].*.valid[]"] == "number"


def test_a_number_in_a_map_equals_the_same_number_in_a_text() -> None:
    result = score(
        [{"id": "a", "rates": {"usd": 0.57, "odd.key": 2}}],
        {"m": [{"id": "a", "rates": {"usd": "0.57", "odd.key": "2.0"}}]},
        Rates,
    )
    assert result.value("accuracy") == 1


def test_a_record_may_be_a_map() -> None:
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
def test_patterns_of_keys_become_globs_where_they_can(schema: dict, found: dict) -> None:
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
def test_a_union_of_models_has_the_fields_of_all(name: str) -> None:
    field = next(field for field in read_spec(Payment).fields if field.name == name)
    types = {inner.name: inner.type for inner in field.fields}
    assert types == {"kind": "enum", "amount": "number", "number": "text", "mark": "any", "iban": "text"}
    named = {inner.name: inner for inner in field.fields}
    assert named["kind"].options == (("values", ("card", "bank")),)
    assert named["mark"].description == "the choices of the schema differ: integer, list"


def test_choices_beside_properties_keep_the_properties() -> None:
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


def test_a_title_that_repeats_the_name_is_left_out_and_another_is_the_description() -> None:
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
def test_what_requests_wrap_around_a_schema_is_taken_off(wrapped: dict) -> None:
    spec = read_spec(wrapped)
    assert (spec.name, [(field.name, field.type) for field in spec.fields]) == (
        "invoice",
        [("total", "number")],
    )


def test_a_problem_inside_a_wrapper_is_placed_in_it() -> None:
    wrapped = {
        "name": "invoice",
        "input_schema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Nothing"}}},
    }
    assert "$.input_schema.properties.x: " in problems(wrapped)[0]


def problems(source: object) -> list[str]:
    with pytest.raises(ProblemsError) as caught:
        read_plan(source)
    return [str(problem) for problem in caught.value.problems]


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
def test_a_keyword_that_holds_another_kind_is_a_problem_at_its_place(schema: dict, said: str) -> None:
    assert any(said in problem for problem in problems(schema)), problems(schema)


def doubling(levels: int, keyword: str) -> dict:
    """Return a schema whose definitions refer to the next one twice."""

    def twice(name: str) -> dict:
        reference = {"$ref": f"#/$defs/{name}"}
        return (
            {keyword: [reference, reference]}
            if keyword != "properties"
            else {"properties": {"x": reference, "y": reference}}
        )

    defs: dict = {f"d{level}": twice(f"d{level + 1}") for level in range(levels)}
    return {"$defs": {**defs, f"d{levels}": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/d0"}}}


@pytest.mark.parametrize("keyword", ["properties", "allOf", "anyOf", "oneOf"])
def test_references_that_double_are_refused_where_they_grow_too_large(keyword: str) -> None:
    found = problems(doubling(40, keyword))
    assert len(found) == 1 and "parts once its references are followed" in found[0]


def test_a_schema_may_refer_to_one_definition_often() -> None:
    schema = {"$defs": {"D": TOTAL}, "properties": {f"x{n}": {"$ref": "#/$defs/D"} for n in range(1000)}}
    assert len(read_spec(schema).fields) == 1000


def test_definitions_that_nest_too_deeply_are_refused() -> None:
    defs = {f"d{level}": {"properties": {"x": {"$ref": f"#/$defs/d{level + 1}"}}} for level in range(500)}
    assert (
        "deeper than 100 levels"
        in problems({"$defs": {**defs, "d500": {}}, "properties": {"a": {"$ref": "#/$defs/d0"}}})[0]
    )


def test_a_long_description_counts_each_time_it_is_referred_to() -> None:
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
def mutated(draw: st.DrawFn) -> object:
    """Return a JSON Schema in which a few parts are replaced, removed or added."""
    whole = {"root": copy.deepcopy(draw(st.sampled_from(SEEDS)))}
    for _ in range(draw(st.integers(1, 4))):
        places = [(parent, key) for parent, key in members(whole)]
        parent, key = draw(st.sampled_from(places))
        inner = parent[key]
        if isinstance(inner, dict) and draw(st.booleans()):
            inner[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        else:
            parent[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return whole["root"]


def members(data: object) -> list[tuple]:
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place for key, inner in list(pairs) for place in ((data, key), *members(inner))]


@given(data=mutated())
def test_whatever_a_schema_holds_it_is_a_spec_or_a_clear_problem(data: object) -> None:
    try:
        parsed = parse_spec(data)
        assert isinstance(parsed.spec, Spec)
        plan_of(parsed)
    except ProblemsError as error:
        assert all(problem.what for problem in error.problems)
    else:
        assert read_spec(write_spec(parsed.spec)) == parsed.spec
