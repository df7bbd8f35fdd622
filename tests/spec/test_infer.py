import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fieldassay.plan.compile import read_plan
from fieldassay.plan.nodes import Leaf
from fieldassay.spec.infer import infer, infer_spec, render_spec_with_comments
from fieldassay.spec.model import Field
from fieldassay.spec.parse import read_spec


def inferred(name, values):
    return infer_spec([{"doc_id": f"d{position}", name: value} for position, value in enumerate(values)]).fields[0]


COLUMNS = [
    ("supplier", ["Acme Pty Ltd", "Foo & Sons", "Nice things"], "text"),
    ("invoice_no", ["INV-001", "INV-002", "INV-003"], "id"),
    ("account", ["00123", "00124", "99125"], "id"),
    ("account_number", ["12345678", "12345679", "22345678"], "id"),
    ("paid", ["yes", "no", "yes"], "boolean"),
    ("paid", [True, False, None], "boolean"),
    ("qty", [1, 2, 3], "integer"),
    ("qty", ["1", "2", "15"], "integer"),
    ("score", [0.5, 2, 1], "number"),
    ("score", ["0.5", "2.25", "1"], "number"),
    ("total_amount", [10.5, 3.25], "money"),
    ("total_pages", [10, 3], "integer"),
    ("fee", ["$10.50", "$3.25"], "money"),
    ("price", ["10.50", "3.25"], "money"),
    ("x", ["EUR 10", "EUR 1200.50"], "money"),
    ("flow", ["5000 m3/h", "12 m3/h"], "quantity"),
    ("day", ["2024-01-05", "2023-11-30"], "date"),
    ("day", ["5 March 2024", "12 April 2023"], "date"),
    ("at", ["2024-01-05T10:00:00", "2023-11-30T08:30:00"], "datetime"),
    ("at", ["10:00", "08:30"], "time"),
    ("mail", ["a@b.org", "c@d.com"], "email"),
    ("site", ["https://a.org", "https://b.org/x"], "url"),
    ("phone", ["+61 3 9123 4567", "+61 3 9123 4568"], "phone"),
    ("address", ["12 Main Street", "7 Long Road"], "text"),
    ("dose", ["12 tabletas", "2 tabletas"], "text"),
    ("mixed", ["12", 12, "x"], "text"),
    ("mixed", [True, "x", 3], "any"),
    ("mixed", [{"a": 1}, "x"], "any"),
    ("mixed", [{"a": 1}, [1]], "any"),
    ("nested", [{"a": 1}, {"a": 2}], "object"),
    ("tags", [["a"], ["b", "c"]], "list"),
    ("dates", ["2024-01-05 | 2024-01-06", "2024-01-07"], "list"),
    ("cell", ['[{"a": 1}]', "[]"], "list"),
    ("empty", [None, "", "  "], "text"),
    ("long", ["x" * 5000, "1" * 5000], "text"),
]


@pytest.mark.parametrize(("name", "values", "kind"), COLUMNS, ids=lambda value: str(value)[:40])
def test_values_decide_the_type(name, values, kind):
    assert inferred(name, values).type == kind


def test_few_repeated_values_are_an_enum():
    field = inferred("status", ["paid", "open", "due"] * 10)
    assert (field.type, field.options) == ("enum", (("values", ("due", "open", "paid")),))


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["13/01/2024", "02/03/2024"], "dmy"),
        (["01/13/2024", "02/03/2024"], "mdy"),
        (["01/02/2024"] * 2, None),
        (["13/01/2024", "01/13/2024"], None),
    ],
    ids=str,
)
def test_the_order_of_dates_comes_from_unambiguous_ones(values, order):
    assert dict(inferred("day", values).options).get("order") == order


def test_a_checksum_is_named_when_all_values_pass():
    values = ["51824753556", "83914571673", "53004085616", "33102417032", "48123123124"]
    assert inferred("abn", values).options == (("checksum", "au.abn"),)
    assert inferred("abn", [*values[:4], "11111111111"]).options == ()


def test_delimited_cells_are_lists_of_what_they_hold():
    assert inferred("amounts", ["$1.00 | $2.50", "$3.00"]) == Field("amounts", "list", items=Field("", "money"), separator="|")


def test_id_nulls_and_document_type_are_found():
    rows = [
        {"image_file": f"{n}.png", "document_type": "invoice" if n % 2 else "receipt", "x": "NOT_FOUND" if n else "N/A"} for n in range(30)
    ]
    spec = infer_spec(rows)
    assert spec.id == ("image_file",) and spec.null_values == ("N/A", "NOT_FOUND")
    assert spec.document_type.field == "document_type" and [name for name, _ in spec.document_type.aliases] == ["invoice", "receipt"]
    assert [field.name for field in spec.fields] == ["document_type", "x"]


def test_without_an_id_a_comment_says_so():
    text = render_spec_with_comments(infer([{"a": "x"}, {"a": "x"}]))
    assert "name the field that identifies a document\nid: id" in text


@pytest.mark.parametrize(
    ("values", "locale"),
    [(["1.234,56", "12,50"], "de_DE"), (["1,234.56", "12.50"], None), (["1.234,56", "1,234.56"], None)],
    ids=str,
)
def test_a_locale_needs_evidence(values, locale):
    assert infer_spec([{"id": f"r{n}", "price": value} for n, value in enumerate(values)]).locale == locale


def test_comments_say_what_was_seen():
    text = render_spec_with_comments(infer([{"id": "1", "no": "INV-1"}, {"id": "2", "no": None}], "s"))
    assert '# 1 of 2 documents; e.g. "INV-1"\n  "no": id' in text


def test_a_type_that_leaves_values_unread_is_text_and_the_comment_says_why():
    rows = [{"id": f"r{n}", "fee": f"${n}.50" if n % 10 else "$ to be agreed 1"} for n in range(50)]
    found = infer(rows)
    assert found.spec.fields[0].type == "text" and "money would leave some unread" in found.comments[("fields", "fee")]


texts = st.sampled_from(
    [
        "",
        " ",
        "1",
        "1.5",
        "1,5",
        "$2.00",
        "2024-01-02",
        "13/02/2024",
        "yes",
        "x | y",
        "[1",
        '{"a": [1]}',
        "NOT_FOUND",
        "\ud800",
        "\0",
        "٣",
        "1e999",
        "a@b.c",
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6
)
records = st.lists(st.dictionaries(st.sampled_from(["id", "total", "day", "phone", "tags", "odd.key"]), values, max_size=5), max_size=8)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=records)
def test_whatever_the_records_hold_the_inferred_spec_compiles_and_reads_back(rows):
    found = infer(rows, "s")
    text = render_spec_with_comments(found)
    if found.spec.fields:
        assert read_spec(text) == found.spec
        assert read_plan(text).slots == tuple(field.name for field in found.spec.fields)


@settings(max_examples=100, deadline=None)
@given(column=st.lists(texts | st.integers(-99, 99) | st.floats(-9, 9), min_size=1, max_size=30))
def test_an_inferred_type_reads_its_own_gold(column):
    field = inferred("value", column)
    is_value = field.type not in ("any", "list", "object")
    leaf = read_plan({"fields": {"value": _definition(field) if is_value else "text"}}).root.children[0]
    assert isinstance(leaf, Leaf)
    filled = [value for value in column if not isinstance(value, str) or (value.strip() and value != "NOT_FOUND")]
    unread = [value for value in filled if is_value and leaf.reader.read(value).value is None]
    assert len(unread) <= 0.02 * len(filled)


def _definition(field):
    return {"type": field.type, **{name: list(value) if isinstance(value, tuple) else value for name, value in field.options}}


def test_a_deep_record_is_a_tree_at_its_end():
    record = value = {}
    for _ in range(300):
        value["a"] = {}
        value = value["a"]
    value["a"] = 1
    assert infer_spec([record]).fields[0].type == "object"
