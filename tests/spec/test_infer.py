"""First specs from gold, and their locales."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.spec.drafts import find_document_id, infer_seen, sight
from fieldassay.spec.language.model import Field
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf

#


def infer(records, name="records"):
    root, count = sight(records)
    return infer_seen(root, count, name, find_document_id(root, count))


def inferred(name, values):
    return infer(
        [{"doc_id": f"d{position}", name: value} for position, value in enumerate(values)]
    ).spec.fields[0]


COLUMNS = [
    ("supplier", ["Acme Pty Ltd", "Foo & Sons", "Nice things"], "text"),
    ("invoice_no", ["INV-001", "INV-002", "INV-003"], "id"),
    ("account", ["00123", "00124", "99125"], "id"),
    ("account_number", ["12345678", "12345679", "22345678"], "id"),
    ("paid", ["yes", "no", "yes"], "boolean"),
    ("skonto", ["ja", "nein", "ja"], "boolean"),
    ("Netto", ["989,96", "1.308,84", "807,39"], "money"),
    ("montant TVA", ["189,96", "308,84", "87,39"], "money"),
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
    ("fee", [*(f"${n}.50" for n in range(45)), *["$ to be agreed 1"] * 5], "text"),
    ("plz", ["01067", "80331"], "id"),
    ("nr", [15, "017"], "text"),
    ("jahr", ["2021", "2022"], "integer"),
    ("years", ["2010-2015", "2012-2016"], "id"),
    ("order_no", ["2024-01-05", "2024-02-17"], "id"),
    ("release_date", ["2024-01-05", "2024-02-17"], "date"),
    ("version", ["1.10", "1.2"], "id"),
    ("number_of_items", ["3", "12"], "integer"),
    ("rate", ["12.5%", "7 %"], "number"),
    ("change", ["(1,234.50)", "99.10"], "number"),
    ("bp", ["120/80 mmHg", "135/90 mmHg"], "quantity"),
    ("t", ["20±5 °C", "37±1 °C"], "quantity"),
    ("fecha", ["3 de enero de 2024", "12 de marzo de 2023"], "date"),
    ("日付", ["2024年3月15日", "2023年12月1日"], "date"),
    ("合計", ["¥12,300", "¥980"], "money"),
    ("montant", ["1 234,50 kr", "80,00 kr"], "money"),
    ("expiry", ["10/2026", "03/2027"], "date"),
    ("telefon", ["030/1234567", "040/7654321"], "phone"),
    ("tel", ["Tel. 02 9123 1234", "02 9123 1235 ext. 4"], "phone"),
    ("contact", ["Ana Ruiz <ana@b.org>", "c@d.com"], "email"),
    ("website", ["example.org", "shop.example.com"], "url"),
    ("file_name", ["scan1.png", "scan2.png"], "id"),
    ("ok", ["sí", "no"], "boolean"),
    ("sex", ["M", "F"], "text"),
    ("chapter", ["V", "X"], "text"),
    ("open", ["08:00-12:00", "09:00-17:30"], "text"),
    ("uhrzeit", ["9:30 Uhr", "17:05 Uhr"], "time"),
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
        (["١٣/٠٣/١٤٤٥", "١٢/٠٣/١٤٤٥"], "dmy"),
    ],
    ids=str,
)
def test_the_order_of_dates_comes_from_unambiguous_ones(values, order):
    assert dict(inferred("day", values).options).get("order") == order


def test_a_checksum_is_named_when_all_values_pass():
    values = ["51824753556", "83914571673", "53004085616", "33102417032", "48123123124"]
    assert inferred("abn", values).options == (("checksum", "au.abn"),)
    assert inferred("abn", [*values[:4], "11111111111"]).options == ()


CHECKSUMS = [
    ("iban", ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606"], "iban"),
    (
        "account",
        ["DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "FR14 2004 1010 0505 0001 3M02 606"],
        "iban",
    ),
    ("account", ["DE89370400440532013000"] * 9, None),
    ("iban", ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02607"], None),
    ("card", [f"41111111111111{n}" for n in ("11", "29", "37", "45", "52", "60", "78", "86")], "luhn"),
    ("card", [f"41111111111111{n}" for n in ("11", "29", "37", "45", "52", "60", "78")], None),
    ("book", ["9780306406157", "9783161484100", "9781861972712", "9780131103627", "9780262033848"], "isbn"),
]


@pytest.mark.parametrize(
    ("name", "values", "checksum"), CHECKSUMS, ids=[f"{case[0]}-{case[2]}" for case in CHECKSUMS]
)
def test_a_checksum_needs_every_value_and_enough_different_ones(name, values, checksum):
    assert dict(inferred(name, values).options).get("checksum") == checksum


def test_delimited_cells_are_lists_of_what_they_hold():
    assert inferred("amounts", ["$1.00 | $2.50", "$3.00"]) == Field(
        "amounts", "list", items=Field("", "money"), separator="|"
    )


def test_id_nulls_and_document_type_are_found():
    rows = [
        {
            "image_file": f"{n}.png",
            "document_type": "invoice" if n % 2 else "receipt",
            "x": "NOT_FOUND" if n else "N/A",
        }
        for n in range(30)
    ]
    spec = infer(rows).spec
    assert spec.data.id_key == ("image_file",) and spec.null_values == ("N/A", "NOT_FOUND")
    assert spec.document_type.field == "document_type" and [
        name for name, _ in spec.document_type.aliases
    ] == ["invoice", "receipt"]
    assert [field.name for field in spec.fields] == ["document_type", "x"]


IDS = [
    ("a usual name", [{"id": "a", "x": 1}, {"id": "b", "x": 1}], ("id",)),
    ("a usual name in other letters", [{"docId": "a"}, {"docId": "b"}], ("docId",)),
    ("extracted values that differ",
     [{"vendor_tax_id": f"INV-{n}", "total": "10.00", "vendor": "Oak"} for n in range(3)], ()),
    ("extracted numbers that differ", [{"invoice_number": f"INV-{n}"} for n in range(3)], ()),
    ("a usual name twice", [{"id": "a"}, {"id": "a"}], ()),
    ("a usual name twice, another once", [{"id": "a", "file": "1"}, {"id": "a", "file": "2"}], ("file",)),
    ("a usual name that is not always there", [{"id": "a"}, {"id": None}], ()),
    ("a usual name of truth values", [{"id": True}, {"id": False}], ()),
    ("twice after very many", [{"id": n % 20_500} for n in range(20_501)], ()),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "ids"), [case[1:] for case in IDS], ids=[case[0] for case in IDS])
def test_only_a_usual_name_with_values_that_all_differ_is_the_id_and_no_other_field_is_lost(rows, ids):
    spec = infer(rows).spec
    assert spec.data.id_key == ids
    assert {field.name for field in spec.fields} == rows[0].keys() - set(ids)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{"id": "a", "x": 1}],
            "the usual name of an id, in 1 of 1 documents, all different\ndata: {id_key: id}",
        ),
        (
            [{"a": "x"}, {"a": "x"}],
            "no id: no key has a usual name of one, so documents are matched by position\n",
        ),
        (
            [{"invoice_no": "x"}, {"invoice_no": "y"}],
            "if invoice_no identifies a document, write `data: {id_key: invoice_no}` and remove the field",
        ),
        ([{"id": "a"}, {"id": "a"}], "no id: id is not different in each document (1 different of 2)"),
    ],
    ids=["id", "none", "candidate", "twice"],
)
def test_a_comment_says_what_was_decided_about_the_id_and_why(rows, said):
    found = infer(rows)
    assert said in write_spec(found.spec, found.comments)


@pytest.mark.parametrize(
    ("values", "locale"),
    [(["1.234,56", "12,50"], "de_DE"), (["1,234.56", "12.50"], None), (["1.234,56", "1,234.56"], None)],
    ids=str,
)
def test_a_locale_needs_evidence(values, locale):
    assert infer([{"id": f"r{n}", "price": value} for n, value in enumerate(values)]).spec.locale == locale


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("no", ["INV-1", None], '1 of 2 documents; e.g. "INV-1"'),
        ("fee", [f"${n}.50" if n % 10 else "$ to be agreed 1" for n in range(50)],
         "money would leave some unread, e.g. '$ to be agreed 1'"),
        ("day", ["01/02/2024", "03/04/2024"], "? '01/02/2024' is ambiguous; `order` decides"),
        ("x", ["12.345", "67.890"], "? '12.345' is ambiguous; `decimal` decides"),
        ("phone", ["02 9123 1234"], "? '02 9123 1234' is ambiguous; `region` decides"),
        ("day", ["2024-01-02"] * 99 + ["soon"], "'soon' does not fit"),
    ],
    ids=["seen", "unread", "day or month", "thousands or decimals", "country", "one does not fit"],
)  # fmt: skip
def test_comments_say_what_was_seen_and_what_is_left_open(name, values, said):
    found = infer([{"id": f"r{at}", name: value} for at, value in enumerate(values)])
    assert said in found.comments[("fields", name)]


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
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
records = st.lists(
    st.dictionaries(st.sampled_from(["id", "total", "day", "phone", "tags", "odd.key"]), values, max_size=5),
    max_size=8,
)


@given(rows=records)
def test_whatever_the_records_hold_the_inferred_spec_compiles_and_reads_back(rows):
    found = infer(rows, "s")
    text = write_spec(found.spec, found.comments)
    if found.spec.fields:
        assert read_spec(text) == found.spec
        assert read_plan(text).slots == tuple(field.name for field in found.spec.fields)


@given(column=st.lists(texts | st.integers(-99, 99) | st.floats(-9, 9), min_size=1, max_size=30))
def test_an_inferred_type_reads_its_own_gold(column):
    field = inferred("value", column)
    is_value = field.type not in ("any", "list", "object")
    leaf = read_plan({"fields": {"value": _definition(field) if is_value else "text"}}).root.children[0]
    assert isinstance(leaf, Leaf)
    filled = [
        value for value in column if not isinstance(value, str) or (value.strip() and value != "NOT_FOUND")
    ]
    unread = [value for value in filled if is_value and leaf.reader.read(value).value is None]
    assert len(unread) <= 0.02 * len(filled)


def _definition(field):
    return {
        "type": field.type,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in field.options},
    }


def test_a_deep_record_is_a_tree_at_its_end():
    record = value = {}
    for _ in range(300):
        value["a"] = {}
        value = value["a"]
    value["a"] = 1
    assert infer([record]).spec.fields[0].type == "object"


OPTIONS = [
    (["15/03/2567", "16/12/2566"], "date", {}),
    (["113/03/15", "99/12/31"], "id", {}),
    (["2024-03-15", "2023-11-30"], "date", {}),
    (["1445/09/05", "1403/01/01"], "date", {}),
    (["108.43 CR", "5.00 Dr."], "money", {"signs": (("CR", "-"), ("DR", "+"))}),
    (["SELECTED", "NOT_SELECTED", "SELECTED"], "boolean", {}),
    (["1.234,50", "99,10", "7.123"], "number", {}),
]


@pytest.mark.parametrize(("values", "kind", "options"), OPTIONS, ids=str)
def test_dates_signs_and_boxes_are_proposed_where_the_data_show_them(values, kind, options):
    found = inferred("x", values)
    assert (found.type, {name: value for name, value in found.options if name != "order"}) == (kind, options)


# What `init` takes for the locale: numbers decide, and nothing that only looks like one

SAMPLES = [
    ("germany", {"datum": ["15.03.2025", "16.03.2025"], "betrag": ["1.234,56", "80,00"]}, "de_DE"),
    ("germany one decimal", {"a": ["15.03.2025", "16.03.2025", "17.03.2025"], "b": ["1,5", "2,5", "80,00"]},
     "de_DE"),
    ("austria", {"Rechnungsdatum": ["5.3.2025", "16.3.2025"], "Summe": ["€ 1.234,56", "EUR 99,90"]}, "de_DE"),
    ("switzerland", {"Datum": ["15.03.2025", "01.04.2025"], "Total": ["CHF 1'234.50", "99.90"]}, "de_CH"),
    ("poland", {"data": ["15.03.2025", "1.04.2025"], "kwota": ["1\u00a0234,56 zł", "80,00 zł"]}, "pl_PL"),
    ("russia", {"дата": ["15.03.2025", "01.04.2025"], "сумма": ["1\u00a0234,56", "80,00 ₽"]}, "ru_RU"),
    ("sweden", {"datum": ["2025-03-15", "2025-04-01"], "belopp": ["1 234,50 kr", "80,00 kr"]}, None),
    ("norway", {"dato": ["15.03.2025", "1.4.2025"], "beløp": ["kr 1\u202f234,50", "80,00"]}, None),
    ("finland, times with points", {"aika": ["15.3.2025 10.30", "1.4.2025 9.15"], "hinta": ["12,50", "3,20"]},
     "de_DE"),
    ("australia", {"date": ["15/03/2025"], "total": ["1,234.50"]}, "en_GB"),
    ("america", {"date": ["03/15/2025"], "total": ["$1,234.50"]}, "en_US"),
    ("dotted dates only", {"datum": ["15.03.2025", "16.03.2025"]}, None),
    ("dates without a year", {"tag": ["15.03.", "16.03."], "betrag": ["1,50", "2,75"]}, "de_DE"),
    ("address beside prices", {"host": ["10.0.0.12", "10.0.0.13"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("versions beside prices", {"version": ["1.25", "2.10"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("versions of three parts", {"built_with": ["1.25", "2.10.3", "2.11.0"], "preis": ["1,50", "2,75"]},
     "de_DE"),
    ("phones", {"x": ["030.123.45.67", "040.765.43.21"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("times", {"zeit": ["10.30", "11.45"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("ranges of hours", {"open": ["10.30-12.00", "8.15-9.45"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("codes", {"nr": ["A1.25", "B7.50"], "preis": ["1,50", "2,75"]}, "de_DE"),
    ("both ways", {"a": ["1.234,56"], "b": ["1,234.56"]}, None),
]  # fmt: skip


def drafted(columns):
    count = max(map(len, columns.values()))
    rows = [
        {"id": f"r{n}", **{name: values[n % len(values)] for name, values in columns.items()}}
        for n in range(count)
    ]
    return infer(rows)


@pytest.mark.parametrize(
    ("columns", "locale"), [case[1:] for case in SAMPLES], ids=[case[0] for case in SAMPLES]
)
def test_numbers_decide_the_locale_and_dates_are_no_numbers(columns, locale):
    assert drafted(columns).spec.locale == locale


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["80,00", "x"], "1 number has a decimal comma;"),
        (["80,00", "1,5"], "2 numbers have a decimal comma;"),
        (["1,50 | 2,75"], "2 numbers have a decimal comma;"),
    ],
    ids=["one", "two", "two in a list"],
)
def test_the_remark_counts_the_numbers(values, said):
    assert drafted({"b": values}).comments[("locale",)].startswith(said)


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"], ids=["space", "no-break", "narrow"])
def test_spaces_between_thousands_give_a_decimal_comma_and_no_locale(space):
    found = drafted(
        {
            "date": ["15/03/2025", "16/04/2025"],
            "montant": [f"1{space}234,56 €", "80,00 €"],
            "n": ["7", "8"],
            "vendeur": ["A, B", "C"],
        }
    )
    fields = {one.name: dict(one.options) for one in found.spec.fields}
    assert found.spec.locale is None
    assert {name: options.get("decimal") for name, options in fields.items()} == {
        "date": None,
        "montant": ",",
        "n": None,
        "vendeur": None,
    }
    assert "2 numbers have a decimal comma, and spaces between thousands" in found.comments[("fields",)]
    gold = [{"id": "r0", "date": "15/03/2025", "montant": f"1{space}234,56 €", "n": "7", "vendeur": "A, B"}]
    assert (
        score(gold, {"m": [{**gold[0], "montant": 1234.56}]}, write_spec(found.spec)).value("accuracy") == 1.0
    )
