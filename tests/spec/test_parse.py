"""Specs are parsed, and written again."""

import copy
import json
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import BaseModel
from pydantic import Field as PydanticField
from tests.effort import costs_at_most
from tests.judging import problems
from tests.strategies_spec import specs

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.spec.language import parse
from fieldassay.spec.language.model import Accept, Call, Field, Spec
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import emit_yaml, write_spec
from fieldassay.spec.language.yaml_text import read_preset, read_yaml
from fieldassay.spec.presets import catalogue


def field(definition):
    return read_spec({"fields": {"x": definition}}).fields[0]


SHORT_FORMS = [
    ("id", {"type": "id"}),
    ({"compare": {"anls": {"threshold": 0.5}}}, {"compare": {"name": "anls", "threshold": 0.5}}),
    ({"compare": "words"}, {"compare": {"words": None}}),
    ({"items": "date"}, {"type": "list", "items": {"type": "date"}}),
    ({"type": "list"}, {"type": "list", "items": "text"}),
    ({"fields": {"a": "id"}}, {"type": "object", "fields": {"a": {"type": "id"}}}),
    ({"fields": {"**.*_unit": "unit"}}, {"type": "any", "fields": {"**.*_unit": "unit"}}),
    ({"items": "id", "align": "key: sku"}, {"items": "id", "align": {"key": {"fields": ["sku"]}}}),
    (
        {"items": "id", "align": {"key": ["sku", "day"]}},
        {"items": "id", "align": {"key": {"fields": ["sku", "day"]}}},
    ),
    ({"accept": 0.5}, {"accept": ">= 0.5"}),
    ({"normalize": "case"}, {"normalize": ["case"]}),
    ({"accepted": "a"}, {"accepted": ["a"]}),
    ({"applies_to": "invoice"}, {"applies_to": ["invoice"]}),
    ({"null_values": "-"}, {"null_values": ["-"]}),
]


@pytest.mark.parametrize(("short", "long"), SHORT_FORMS, ids=lambda form: json.dumps(form))
def test_a_short_form_means_the_long_one(short, long):
    assert field(short) == field(long)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"accept": "> 0.5"}, Field("x", accept=Accept(0.5, True))),
        (
            {"normalize": ["case", {"punctuation": {"mode": "space"}}]},
            Field("x", normalize=(Call("case"), Call("punctuation", (("mode", "space"),)))),
        ),
        ({"type": "money", "currency": "AUD"}, Field("x", "money", (("currency", "AUD"),))),
        (
            {"critical": True, "weight": 2, "null": "value"},
            Field("x", critical=True, weight=2.0, null="value"),
        ),
    ],
    ids=["accept above", "normalize", "options", "flags"],
)
def test_a_definition_is_read(definition, expected):
    assert field(definition) == expected


@pytest.mark.parametrize(
    ("text", "line", "where", "said"),
    [
        (
            "fields:\n  TOTAL:\n    type: mony\n",
            3,
            "$.fields.TOTAL.type",
            "unknown type 'mony'; did you mean 'money'?",
        ),
        ("fields:\n  a: mony\n", 2, "$.fields.a.type", "did you mean 'money'?"),
        (
            "fields:\n  a: {compare: wrods}\n",
            2,
            "$.fields.a.compare",
            "unknown comparator 'wrods'; did you mean 'words'?",
        ),
        (
            "fields:\n  a: {normalize: [cse]}\n",
            2,
            "$.fields.a.normalize[0]",
            "unknown normalizer 'cse'; did you mean 'case'?",
        ),
        (
            "fields:\n  a: {items: id, align: orderd}\n",
            2,
            "$.fields.a.align",
            "unknown aligner 'orderd'; did you mean 'ordered'?",
        ),
        ("feilds: {}\nfields: {a: id}", 1, "$.feilds", "unknown key 'feilds'; did you mean 'fields'?"),
        (
            "fields: {a: {weight: heavy}}",
            1,
            "$.fields.a.weight",
            "must be a number of at least 0, not the text 'heavy'",
        ),
        ("fields: {a: {weight: -1}}", 1, "$.fields.a.weight", "at least 0"),
        ("fields: {a: {weight: .nan}}", 1, "$.fields.a.weight", "at least 0"),
        ("fields: {a: {critical: maybe}}", 1, "$.fields.a.critical", "must be true or false"),
        ("fields: {a: {accept: 2}}", 1, "$.fields.a.accept", "from 0 to 1"),
        ("fields: {a: {accept: '< 0.5'}}", 1, "$.fields.a.accept", "from 0 to 1"),
        ("fields: {a: {null: maybe}}", 1, "$.fields.a.null", "cannot be 'maybe'; one of: empty, value"),
        ("fields: {a: {type: text, items: id}}", 1, "$.fields.a.items", "does not apply to the type 'text'"),
        ("fields: {a: {type: object}}", 1, "$.fields.a.fields", "an object must say which fields it has"),
        ("fields: {a: {fields: {'**.[x': id}}}", 1, "$.fields.a.fields", "not a path"),
        ("fields: {a: id, '**.b': id}", 1, "$.fields", "names and path patterns"),
        ("fields: {o: {fields: {a: id, '**.b': id}}}", 1, "$.fields.o.fields", "names and path patterns"),
        ("fields:\n  a: id\n  a: text\n", 2, "$.fields.a", "is there twice (again on line 3)"),
        (r'fields: {"\ud800": id}', 1, "$.fields", "half of a character"),
        (r'fields: {a: {type: text, regex: "\udc00"}}', 1, "$.fields.a.regex", "half of a character"),
        ("fields: {a: 3}", 1, "$.fields.a", "must be a type or a mapping, not the number 3"),
        ("fields: {a: {compare: {a: 1, b: 2}}}", 1, "$.fields.a.compare", "must have one key"),
        ("fieldassay: 2\nfields: {a: id}", 1, "$.fieldassay", "unknown version"),
        ("locale: xx_QQ\nfields: {a: id}", 1, "$.locale", "unknown locale"),
        ("protocol: nope\nfields: {a: id}", 1, "$.protocol", "unknown protocol 'nope'"),
        ("prices: {m: {promt: 1}}\nfields: {a: id}", 1, "$.prices.m.promt", "did you mean 'prompt'?"),
        ("document_type: {aliases: {a: [b]}}\nfields: {a: id}", 1, "$.document_type.field", "which field"),
        ('document_type: {field: ""}\nfields: {a: id}', 1, "$.document_type.field", "which field"),
        (
            "document_type: {field: k, aliases: {a: [x], b: [X]}}\nfields: {a: id}",
            1,
            "$.document_type.aliases.b",
            "already stands for 'a'",
        ),
    ],
)
def test_a_problem_names_place_line_and_remedy(text, line, where, said, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    found = problems(path)
    assert any(problem.startswith(f"{path}:{line}: {where}") and said in problem for problem in found), found


def test_all_problems_come_at_once_in_the_order_of_lines():
    found = problems("idd: x\nfields:\n  a: {type: mony, weight: x}\n  b: {compare: wrods}\nlocale: qq_QQ\n")
    assert [problem.split(":")[1] for problem in found] == ["1", "3", "3", "4", "5"]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("spec.json", '{"fields": {\n"TOTAL": {"type":\n"mony"}}}', ":2: $.fields.TOTAL.type"),
    ],
)
def test_json_has_lines_too(name, text, where, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert problems(path)[0].startswith(f"{path}{where}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "name: n\nfields:\n  t: {type: money, currency: AUD}\n"),
        ("a.yml", "name: n\nfields: {t: {type: money, currency: AUD}}\n"),
        ("a.json", '\ufeff{"name": "n", "fields": {"t": {"type": "money", "currency": "AUD"}}}'),
    ],
)
def test_every_format_gives_the_same_spec(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    expected = (Field("t", "money", (("currency", "AUD"),)),)
    assert read_spec(path).fields == read_spec(str(path)).fields == expected


@pytest.mark.parametrize(
    "text",
    [
        "a: [1",
        "a: b: c",
        "[" * 1000 + "]" * 1000,
        "".join(f"{' ' * depth}a:\n" for depth in range(1000)),
        '{"a":' * 1000 + "1" + "}" * 1000,
        "a: &a [x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
        + "".join(f"{chr(c + 1)}: &{chr(c + 1)} [{', '.join(['*' + chr(c)] * 9)}]\n" for c in range(98, 110)),
        "a: &a [*a]",
        "? [1]\n: 2",
        "a: !!python/object:os.system x",
        "a: \0",
        "a: \ud800\n: :",
        "- 1",
        "just words",
        "",
        "x" * 5_000_000,
        "fields: 3",
        "fields: {}",
        "a: " + "9" * 5000,
        '{"a": ' + "9" * 5000 + "}",
        "%YAML 9.9\n---\na: 1",
        "a: 1\n---\nb: 2",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_is_a_clear_problem(text):
    with costs_at_most(300):
        found = problems(text)
        assert found and all(len(problem) < 1000 and "Traceback" not in problem for problem in found)


@pytest.mark.parametrize(
    "source",
    [
        3,
        None,
        {"fields": {"a": {"accepted": 10**6000}}},
        b"x",
        ["a"],
        object(),
        "no_such_module_x:Model",
        "json:dumps",
        "nothing.yaml",
        "a.csv.yaml",
    ],
    ids=lambda source: type(source).__name__,
)
def test_what_is_no_source_is_a_problem(source):
    assert problems(source)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"name: \xe9"], ids=repr)
def test_a_file_that_is_not_utf8_is_a_problem(content, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes(content)
    assert "UTF-8" in problems(path)[0]


def test_rules_per_type_fill_what_fields_leave_open():
    text = """
    types:
      money: {currency: AUD, accept: 0.9}
      cell: {type: money, tolerance: 0.01}
    fields:
      a: money
      b: {type: money, currency: EUR}
      c: {type: list, items: cell}
    """
    a, b, c = read_spec(text).fields
    assert (a.options, a.accept) == ((("currency", "AUD"),), Accept(0.9))
    assert b.options == (("currency", "EUR"),)
    assert c.items == Field("", "money", (("currency", "AUD"), ("tolerance", 0.01)), accept=Accept(0.9))


def test_a_type_that_stands_for_itself_is_a_problem():
    assert any(
        "refers to itself" in problem
        for problem in problems("types: {a: {type: b}, b: {type: a}}\nfields: {x: a}")
    )


@pytest.fixture
def preset(monkeypatch):
    text = (
        "name: p\ndata: {id_key: image}\nmetrics: [accuracy]\ngates: [accuracy >= 0.8, f1 >= .5]\nslices: [kind]\n"
        "types: {text: {compare: words}}\nfields: {A: {type: text, weight: 3}, B: money}\n"
    )
    for module in (catalogue, parse):
        monkeypatch.setattr(module, "preset_names", lambda: ("p",))
        monkeypatch.setattr(module, "preset_text", lambda name: text, raising=True)


A = Field("A", "text", compare=Call("words"), weight=3.0)
B = Field("B", "money")
NEW = Field("NEW", "text", compare=Call("words"))


@pytest.mark.parametrize(
    ("own", "fields"),
    [
        ("fields: {A: {critical: true}, NEW: text}", (replace(A, critical=True), B, NEW)),
        ("fields: {A: {critical: true}}\nreplace: fields", (replace(A, critical=True),)),
        ("fields: {A: id}", (replace(A, type="id", compare=None), B)),
        ("fields: {A: {compare: exact}}", (replace(A, compare=Call("exact")), B)),
        ("fields: {A: {weight: 1}}\nreplace: all", (Field("A", "text"),)),
        ("types: {text: {case: exact}}", (replace(A, options=(("case", "exact"),)), B)),
        (
            "types: {text: {case: exact}}\nreplace: [types]",
            (replace(A, options=(("case", "exact"),), compare=None), B),
        ),
        (
            "types: {own: {type: text, compare: exact}}\nfields: {NEW: own}",
            (A, B, replace(NEW, compare=Call("exact"))),
        ),
    ],
)
def test_a_spec_changes_what_it_names_of_its_protocol(preset, own, fields):
    spec = read_spec(f"name: mine\nprotocol: p\n{own}")
    assert spec.fields == fields
    assert read_spec(write_spec(spec)) == spec
    if "all" not in own:
        assert (spec.protocol, spec.data.id_key, spec.metrics) == ("p", ("image",), ("accuracy",))


def test_lists_of_a_protocol_grow_and_gates_on_the_same_figure_are_one(preset):
    spec = read_spec("protocol: p\nmetrics: [f1]\ngates: accuracy >= 0.9\nslices: []")
    assert (spec.metrics, spec.gates, spec.slices) == (
        ("f1", "accuracy"),
        ("accuracy >= 0.9", "f1 >= .5"),
        (),
    )
    assert read_spec("protocol: p\nmetrics: [f1]\nreplace: [metrics]").metrics == ("f1",)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("protocol: p\nreplace: [fields, nope]", "cannot be 'nope'"),
        ("fields: {a: id}\nreplace: all", "there is no protocol"),
        ("protocol: p\nreplace: [[fields]]", "must be a text"),
    ],
)
def test_what_cannot_be_replaced_is_refused(preset, text, what):
    with pytest.raises(ProblemsError, match=what):
        read_spec(text)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: str = PydanticField(json_schema_extra={"x-fieldassay": "id"})
    amount: Decimal | None = None


class Invoice(BaseModel):
    """An invoice."""

    number: str
    day: date = PydanticField(description="when it was issued")
    color: Color | None = None
    total: float = PydanticField(
        json_schema_extra={"x-fieldassay": {"type": "money", "currency": "EUR", "weight": 2}}
    )
    paid: bool
    count: int
    lines: list[Line]
    tags: list[str] = []
    more: dict[str, int] = {}


def test_a_pydantic_model_is_a_spec():
    spec = read_spec(Invoice)
    types = {field.name: field.type for field in spec.fields}
    assert spec.name == "Invoice" and spec.description == "An invoice."
    assert types == {
        "number": "text", "day": "date", "color": "enum", "total": "money", "paid": "boolean",
        "count": "integer", "lines": "list",
        "tags": "list", "more": "map",
    }  # fmt: skip
    named = {field.name: field for field in spec.fields}
    assert named["total"].options == (("currency", "EUR"),) and named["total"].weight == 2
    assert named["color"].options == (("values", ("red", "blue")),)
    assert [(field.name, field.type) for field in named["lines"].items.fields] == [
        ("sku", "id"),
        ("amount", "number"),
    ]


def test_a_dotted_name_finds_a_model(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    assert read_spec(f"{Path(__file__).stem}:Line") == read_spec(Line)


SCHEMAS = [
    ({"type": "string"}, "text"),
    ({"type": "string", "format": "date-time"}, "datetime"),
    ({"type": "string", "format": "time"}, "time"),
    ({"type": "string", "format": "duration"}, "duration"),
    ({"type": "string", "format": "email"}, "email"),
    ({"type": "string", "format": "uri"}, "url"),
    ({"type": ["integer", "null"]}, "integer"),
    ({"type": ["integer", "string"]}, "text"),
    ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number"),
    ({"oneOf": [{"$ref": "#/$defs/Day"}, {"type": "null"}]}, "date"),
    ({"allOf": [{"$ref": "#/$defs/Day"}], "title": "T"}, "date"),
    ({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]}, "any"),
    ({"enum": ["a", "b", None]}, "enum"),
    ({"const": "a"}, "enum"),
    ({"enum": [True, False]}, "boolean"),
    ({"type": "object"}, "any"),
    ({"type": "object", "additionalProperties": {"type": "string"}}, "map"),
    ({"type": "object", "additionalProperties": {}}, "any"),
    ({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, "list"),
    ({"type": "array"}, "any"),
    ({"type": "array", "prefixItems": [{"type": "string"}]}, "list"),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}, "object"),
    ({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, "object"),
    ({"type": "ARRAY", "items": {"type": "NUMBER"}}, "list"),
    ({"type": "NUMBER", "nullable": True}, "number"),
    ({"type": ["Integer", "NULL"]}, "integer"),
    ({"type": "decimal"}, "number"),
    ({"type": "int64"}, "integer"),
    ({"type": "str"}, "text"),
    ({"type": "timestamp"}, "datetime"),
    ({"type": "string", "format": "decimal"}, "number"),
    ({"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}, "number"),
    ({"properties": {"a": {"type": "string"}}}, "object"),
    ({"x-fieldassay": "unit", "type": "string"}, "unit"),
    (True, "any"),
    ({}, "any"),
]


NUMBER = {"type": "number"}
TUPLES: list[tuple[Any, Any, Any, bool]] = [
    ({"prefixItems": [NUMBER, NUMBER]}, [13.4, 52.5], ["13.40", 52.5], True),
    ({"prefixItems": [NUMBER, NUMBER]}, [13.4, 52.5], [52.5, 13.4], False),
    ({"items": [NUMBER, NUMBER]}, [13.4, 52.5], [52.5, 13.4], False),
    ({"items": NUMBER, "minItems": 4, "maxItems": 4}, [1, 2, 3, 4], [3, 4, 1, 2], False),
    ({"items": NUMBER}, [1, 2], [2, 1], True),
    ({"prefixItems": [{"type": "string"}, NUMBER]}, ["x", "1,200.00"], ["x", 1200], True),
    ({"prefixItems": [{"type": "string"}, NUMBER]}, ["x", 5], ["5", "x"], False),
    ({"prefixItems": [{"type": "string"}, NUMBER]}, ["x", 5], ["x"], False),
]


@pytest.mark.parametrize(("schema", "gold", "pred", "is_right"), TUPLES)
def test_each_place_of_a_tuple_has_its_type_and_its_order(schema, gold, pred, is_right):
    whole = {"type": "object", "properties": {"t": {"type": "array", **schema}}}
    result = score([{"id": 1, "t": gold}], {"m": [{"id": 1, "t": pred}]}, whole, bootstrap=0)
    assert (result.value("accuracy") == 1.0) == is_right


def test_a_type_that_no_dialect_has_is_refused_by_name():
    with pytest.raises(
        ProblemsError, match=r"properties\.x\.type: 'decimale' is not a type .*did you mean 'decimal'"
    ):
        read_spec({"properties": {"x": {"type": "decimale"}}})


@pytest.mark.parametrize(("schema", "kind"), SCHEMAS, ids=lambda value: json.dumps(value))
def test_a_json_schema_gives_types(schema, kind):
    whole = {
        "properties": {"x": schema},
        "$defs": {"Day": {"type": "string", "format": "date"}},
        "required": ["x"],
    }
    assert read_spec(whole).fields[0].type == kind


@pytest.mark.parametrize(
    ("schema", "where", "said"),
    [
        ({"$ref": "#/$defs/Node"}, "$.properties.x.properties.next", "is recursive"),
        ({"$ref": "#/$defs/Nothing"}, "$.properties.x", "leads nowhere"),
        ({"$ref": "https://example.org/s.json"}, "$.properties.x", "leads nowhere"),
        (
            {"type": "string", "x-fieldassay": {"type": "mony"}},
            "$.properties.x.type",
            "did you mean 'money'?",
        ),
        ({"type": "string", "x-fieldassay": 3}, "$.properties.x.x-fieldassay", "must be a type or a mapping"),
    ],
)
def test_a_problem_of_a_schema_is_placed_in_the_schema(schema, where, said):
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    found = problems({"properties": {"x": schema}, "$defs": {"Node": node}})
    assert any(where in problem and said in problem for problem in found), found


def test_a_recursive_reference_can_be_cut_by_a_key():
    node = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "next": {"$ref": "#/$defs/Node", "x-fieldassay": "any"}},
    }
    spec = read_spec({"properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    assert [field.type for field in spec.fields[0].fields] == ["text", "any"]


@pytest.mark.parametrize("name", [head.name for head in catalogue.preset_heads() if head.kind == "spec"])
def test_the_shared_data_of_a_protocol_are_not_changed_by_those_who_read_them(name):
    from fieldassay.spec.plan.compile import compile_plan

    shared = read_preset(catalogue.preset_text(name), name)
    before = copy.deepcopy(shared)
    assert write_spec(compile_plan(read_spec({"protocol": name, "name": "mine"})).spec)
    assert shared is read_preset(catalogue.preset_text(name), name)
    assert shared == before


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(spec=specs())
def test_a_written_spec_reads_back_equal(spec):
    text = write_spec(spec)
    again = read_spec(text)
    assert again == spec
    assert hash(again) == hash(spec)
    assert write_spec(again) == text


@given(data=st.dictionaries(st.text(max_size=8), trees, max_size=4))
def test_emitted_yaml_is_the_same_data(data):
    assert read_yaml(emit_yaml(data, {}), "x")[0] == (data or None)


@pytest.mark.parametrize(
    "key",
    ["x" * 5000, "a\nb", "\0", "\u2028", "\ufeff", "? a", "- a", "&a", "*a*", "!t", "%d", "@", "`"],
)
def test_hostile_names_survive(key):
    spec = Spec("s", (Field(key, "text", description=key), Field("o", "object", fields=(Field(key),))))
    assert read_spec(write_spec(spec)) == spec
