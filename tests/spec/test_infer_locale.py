"""What `init` takes for the locale: numbers decide, and nothing that only looks like one."""

import pytest

from fieldassay import score
from fieldassay.spec.drafts.guess import guess_type
from fieldassay.spec.drafts.infer import infer
from fieldassay.spec.language.write import write_spec

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


NO_NUMBERS = [
    "15.03.2025",
    "15. 03. 2025",
    "10:30",
    "10.30 Uhr",
    "192.168.10.25",
    "v1.25",
    "2.10.3",
    "030.12.34.56",
    "15.03.",
    "1,2,3",
    "05.03",
]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_not_counted(text):
    assert {",", "."}.isdisjoint(guess_type("x", [text] * 9).marks)


NUMBERS = [
    ("1,5", 1, 0),
    ("80,00", 1, 0),
    ("1.234,56", 1, 0),
    ("-1.234,56 €", 1, 0),
    ("EUR1.234,5", 1, 0),
    ("1'234.50", 0, 1),
    ("(1,234.56)", 0, 1),
]


@pytest.mark.parametrize(("text", "commas", "points"), NUMBERS)
def test_a_number_is_counted_by_its_decimal_sign(text, commas, points):
    marks = guess_type("x", [text]).marks
    assert (len(marks.get(",", ())), len(marks.get(".", ()))) == (commas, points)


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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["13/02/2024", "12/02/2024"], "no locale: dates are in the order dmy, too little to choose one;"),
        (["1,234.50", "2.75"], "no locale: 2 numbers have a decimal point, too little to choose one;"),
        (["12/02/2024"], "no locale: nothing in the data says"),
    ],
    ids=["order", "sign", "nothing"],
)
def test_without_a_locale_the_remark_says_what_was_seen(values, said):
    assert drafted({"x": values}).comments[("fields",)].startswith(said)


def test_a_contradiction_names_a_value_of_each_kind():
    found = drafted({"a": ["1.234,56"], "b": ["1,234.56"]})
    said = found.comments[("fields",)]
    assert (
        "1 number has a decimal point (such as 1,234.56), 1 number has a decimal comma (such as 1.234,56)"
        in said
    )


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
