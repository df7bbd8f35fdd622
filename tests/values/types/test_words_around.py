"""Words and marks around values: those of a field's options, and those that everybody writes."""

import pytest
from tests.values.types.record_currency_signs import PAGE, render_signs

from fieldassay import explain_values, score, validate
from fieldassay.errors import ProblemsError
from fieldassay.values.types.catalogue import READERS

SIGNS = {"signs": (("CR", "-"), ("DR", "+"))}
CREDITS = {
    "108.43 CR": "-108.43", "108.43 cr": "-108.43", "50.90Cr": "-50.9", "1,234.56 Dr.": "1234.56", "CR 5": "-5",
    "Cr.5": None, "108.43": "108.43", "-108.43": "-108.43", "-108.43 CR": None, "5 DR CR": None, "1 CR 500": None,
    "5 SCR": None, "5 CRC": None, "CRC 5": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), CREDITS.items())
@pytest.mark.parametrize("type_", ["number", "money"])
def test_a_word_gives_the_sign(text, value, type_):
    read = READERS.load(type_)(**SIGNS).read(text).canonical
    named = {"5 SCR": "5 SCR", "5 CRC": "5 CRC", "CRC 5": "5 CRC"} if type_ == "money" else {}
    assert read == (named.get(text) or value or text)


def test_a_word_of_one_letter_leaves_currencies_alone():
    reader = READERS.load("money")(signs=(("S", "-"), ("H", "+")), locale="de_DE")
    texts = ("162,05 S", "91,01 H", "5 S$", "S$ 5", "5 €S")
    assert [reader.read(text).canonical for text in texts] == ["-162.05", "91.01", "5 SGD", "5 SGD", "-5 EUR"]


def test_signs_of_a_spec_are_read_as_yaml_writes_them():
    field = {"type": "money", "signs": {"CR": "-", "DR": "+"}}
    assert explain_values("108.43 CR", "-108.43", field)[0].outcome == "match"


@pytest.mark.parametrize("signs", [(("CR", "x"),), (("CR", "-"), ("cr", "+")), ((" ", "-"),)])
def test_a_word_without_one_sign_is_refused(signs):
    with pytest.raises(ProblemsError, match="CR: -"):
        READERS.load("money")(signs=signs)


@pytest.mark.parametrize(
    ("text", "value"),
    [("50.90Cr", "50.9"), ("5 cr.", "5"), ("CR 5 dr", "5"), ("5 SCR", "5 SCR"), ("5 CRC", "5 CRC")],
)
def test_marks_are_dropped_in_any_case_but_not_from_words(text, value):
    assert READERS.load("money")(strip=("CR", "DR")).read(text).canonical == value


def test_the_signs_of_currencies_are_written_from_the_installed_babel():
    assert render_signs() == PAGE.read_text(encoding="utf-8"), (
        "run python tests/values/types/record_currency_signs.py"
    )


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("vi_VN", "ngày 15 tháng 3 năm 2024"), ("vi_VN", "15 tháng 3, 2024"), ("he_IL", "15 במרץ 2024"),
        ("iw", "יום שישי, 15 במרץ 2024"), ("am", "15 ማርች 2024"),
    ],
)  # fmt: skip
def test_dates_are_read_as_cldr_writes_them(locale, text):
    assert READERS.load("date")(locale=locale).read(text).canonical == "2024-03-15"


@pytest.mark.parametrize("locale", [None, "en_US", "de_DE", "tr_TR", "pl_PL", "ja_JP", "th_TH"])
def test_words_of_other_languages_stay_unread(locale):
    reader = READERS.load("date")(locale=locale)
    assert [reader.read(text).value for text in ("ngày 15 tháng 3 năm 2024", "15/3 nam 2024")] == [None] * 2


def test_a_score_warns_where_dropped_words_differ():
    gold, pred = {"a": {"v": "108.43 CR"}}, {"a": {"v": "108.43 DR"}}
    warned = {
        strip: " ".join(
            score(gold, {"s": pred}, {"fields": {"v": {"type": "money", "strip": strip.split()}}}).warnings
        )
        for strip in ("CR DR", "DR")
    }
    assert "`signs`" in warned["CR DR"] and "`signs`" not in warned["DR"]


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("date", "15/03/2567", "`calendar`"), ("date", "1445-09-05", "`calendar`"), ("date", "15/03/2024", None),
        ({"type": "money", "strip": ["CR", "DR"]}, "5 CR", "`signs`"), ({"type": "money", "strip": ["CR"]}, "5 CR", None),
    ],
)  # fmt: skip
def test_validate_counts_what_another_option_would_read_otherwise(field, value, hint):
    found = validate({"fields": {"v": field}}, [{"id": 1, "v": value}]).surveys[""].findings["v"]
    assert (found.ambiguous, [example.why[-99:].count(hint) for example in found.unclear]) == (
        (1, [1]) if hint else (0, [])
    )


def test_a_word_for_a_sign_is_no_scale_where_a_unit_may_stand_beside():
    field = {"type": "money", "signs": {"CR": "-"}, "unit_field": "currency"}
    assert explain_values("5 CR", "-5", field)[0].outcome == "match"
    assert explain_values("5 million CR", "-5000000", field)[0].outcome == "match"
