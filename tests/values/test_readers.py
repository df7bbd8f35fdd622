"""Readers: laws, options, locales, their pages, and words in and around values."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest
from babel.dates import format_date, format_datetime
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from tests.doc_tables import rows
from tests.effort import costs_at_most
from tests.values.record_words import SIGNS_PAGE, render_signs

from fieldassay import explain_values, score, validate
from fieldassay.errors import ProblemsError
from fieldassay.metrics.evidence import FLAGS
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.catalogue import NORMALIZERS, READERS
from fieldassay.values.types.closed_sets import BooleanReader, EnumReader, ListReader
from fieldassay.values.types.column import Column, Reader, Reading
from fieldassay.values.types.contacts import EmailReader, PhoneReader, UrlReader
from fieldassay.values.types.dates.dates import DateReader, DateTimeReader
from fieldassay.values.types.dates.names import LANGUAGES
from fieldassay.values.types.dates.times import DurationReader, TimeReader
from fieldassay.values.types.locales import find_locale
from fieldassay.values.types.text import AnyReader, IdReader, Punctuation, TextReader

# Readers: laws, options, locales and their pages.

# Laws that every reader of this package keeps

SHOWN_READERS: list[Reader] = [
    TextReader(),
    IdReader(), IdReader(checksum="eu.vat"), IdReader(checksum="isbn"), IdReader(checksum="ean"),
    EnumReader(), EnumReader(("paid", "open"), (("open", ("due",)),)), BooleanReader(),
    DateReader(), DateReader(order="mdy"), DateReader(locale="de"), DateTimeReader(), TimeReader(),
    DateReader(locale="th_TH"), DateReader(calendar="persian"), DateReader(calendar="islamic"),
    DateReader(calendar="roc"), DateTimeReader(calendar="japanese"),
    DurationReader(), DurationReader(unit="day", locale="de"),
    PhoneReader(), PhoneReader("AU"), EmailReader(), UrlReader(),
]  # fmt: skip
ALL: list[Reader] = [
    *SHOWN_READERS,
    AnyReader(),
    ListReader(DateReader(), separator="|"),
    ListReader(TextReader(), keep_empty=True),
]
PIECES = """2025 03 15 1 31 99 march mär mar. to - / . , : T Z h pm 10:00 +02:00 P 1Y M PT from de ' @ a.com
    http:// www. + ext #5 ( ) ½ ０ ٣ 年 2567 1403 1445 113 R6. 令和 民國
    พ.ศ. هـ ه.ش فروردین رمضان"""
FRAGMENTS = st.lists(st.sampled_from([*PIECES.split(), " ", "\x00"]), max_size=9).map("".join)
SCALARS = st.one_of(
    st.text(alphabet=st.characters(codec=None), max_size=40),
    FRAGMENTS,
    st.integers(),
    st.floats(),
    st.booleans(),
)
HOSTILE = [
    "x" * 1_000_000,
    "1" * 1_000_000,
    "1 " * 500_000,
    "-" * 1_000_000,
    "@." * 500_000,
    "http://" + "a." * 300_000,
    "(" * 1_000_000,
    "\ud800",
    "\u202e2025",
    10**6000,
]


def name(reader):
    return str(reader)[:60]


@pytest.mark.parametrize("reader", ALL, ids=name)
@given(raw=SCALARS)
def test_any_scalar_has_a_reading(reader, raw):
    reading = reader.read(raw)
    assert isinstance(reading.text, str)
    assert isinstance(reading.canonical, str)
    assert (reading.value is None) == (reading.problem is not None)
    assert reading.problem is None or reading.canonical == reading.text
    assert set(reading.flags) <= {*FLAGS}


@pytest.mark.parametrize("reader", SHOWN_READERS, ids=name)
@given(raw=SCALARS)
def test_a_canonical_text_reads_back_to_itself(reader, raw):
    reading = reader.read(raw)
    if reading.problem is None:
        assert reader.read(reading.canonical).canonical == reading.canonical


@pytest.mark.parametrize("reader", [reader for reader in ALL if not isinstance(reader, ListReader)], ids=name)
@given(
    raws=st.lists(
        SCALARS | st.sampled_from(["2025-03-15", " 2025-03-15", "03/04/2025", 1, 1.0, True, "1", 0.0, -0.0]),
        max_size=12,
    )
)
def test_a_column_is_the_readings_of_its_values(reader, raws):
    column = reader.read_column(raws)
    assert len(column) == len(raws)
    assert [repr(column.reading(index)) for index in range(len(raws))] == [
        repr(reader.read(raw)) for raw in raws
    ]


def test_values_of_a_closed_set_that_python_takes_for_equal_are_different_words():
    number, answer = EnumReader((1, 0)), EnumReader((True, False))
    assert number == answer
    assert [number.read(text).value for text in ("1", "true")] == ["1", None]
    assert [answer.read(text).value for text in ("1", "true")] == [None, "true"]


@pytest.mark.parametrize("reader", ALL, ids=name)
def test_hostile_values_are_read_at_once(reader):
    for raw in HOSTILE:
        with costs_at_most(100):
            assert isinstance(reader.read(raw), Reading), ascii(raw)[:80]


LOCALES = [*LANGUAGES, "en_US", "en_AU", "pt_BR", "ja_JP", "ko_KR", "zh_Hans_CN", "vi_VN"]


@pytest.mark.parametrize("locale", LOCALES)
@given(day=st.dates(dt.date(1950, 1, 1), dt.date(2099, 12, 31)))
def test_a_date_as_its_locale_writes_it_reads_back(locale, day):
    reader = DateReader(locale=locale)
    for length in ("medium", "long", "full"):
        assert reader.read(format_date(day, length, locale=locale)).canonical == day.isoformat()
    if 1969 <= day.year <= 2068:
        assert reader.read(format_date(day, "short", locale=locale)).canonical == day.isoformat()


@pytest.mark.parametrize("locale", ["en_US", "en_AU", "fr", "es", "sv", "pl", "tr", "nl"])
@given(moment=st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2060, 1, 1)))
def test_a_point_in_time_as_its_locale_writes_it_reads_back(locale, moment):
    text = format_datetime(moment, "medium", locale=locale)
    assert DateTimeReader(locale=locale).read(text).canonical == moment.replace(microsecond=0).isoformat()


@given(moment=st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9000, 1, 1)), hours=st.integers(-12, 14))
def test_one_instant_has_one_canonical_text(moment, hours):
    aware = moment.replace(tzinfo=dt.UTC)
    elsewhere = aware.astimezone(dt.timezone(dt.timedelta(hours=hours)))
    assert (
        DateTimeReader().read(elsewhere.isoformat()).canonical
        == DateTimeReader().read(aware.isoformat()).canonical
    )


@given(
    items=st.lists(
        st.sampled_from(["2025-03-15", "15 March 2025", "soon", "", None, {"a": 1}, 2025, 2025.0]), max_size=8
    ),
    keep_empty=st.booleans(),
)
def test_a_list_holds_the_readings_of_its_items(items, keep_empty):
    column = ListReader(DateReader(), keep_empty=keep_empty).read_column([["2024"], items, []])
    value = column.values[1]
    assert isinstance(value, Column)
    kept = [item for item in items if keep_empty or item]
    assert len(value) == len(kept)
    for index, item in enumerate(kept):
        if item and not isinstance(item, dict):
            assert value.reading(index) == DateReader().read(item)
        else:
            assert value.reading(index).problem is not None
    assert json.loads(column.canonical[1]) == list(value.canonical)
    assert list(column.values[0].canonical) == ["2024"]


# Names of locales, as systems and people write them

RESOLVED = {
    "zh_CN": "zh_Hans_CN", "zh_TW": "zh_Hant_TW", "zh-hant-tw": "zh_Hant_TW", "zh": "zh", "sr_RS": "sr_Cyrl_RS",
    "sr_RS@latin": "sr_Latn_RS", "sh_RS": "sr_Latn_RS", "sh": "sr_Latn", "pa_IN": "pa_Guru_IN", "no": "no",
    "no_NO": "nb_NO", "nn-NO": "nn_NO", "bs_BA": "bs_Latn_BA", "iw_IL": "he_IL", "iw": "he", "tl": "fil",
    "en_us": "en_US", "DE-DE": "de_DE", "de_DE@euro": "de_DE", "en_GB.UTF-8": "en_GB", "en_UK": "en_GB",
    "deu_DE": "de_DE", "pt-BR": "pt_BR", "es_419": "es_419",
}  # fmt: skip
REFUSED = {
    "xx_YY": "en_AU", "german": "'de'", "fr_FRA": "'fr_FR'", "C.UTF-8": "en_AU", "": "en_AU", "../de": "en_AU",
}  # fmt: skip


@pytest.mark.parametrize(("name", "resolved"), RESOLVED.items())
def test_a_name_is_resolved_as_cldr_does(name, resolved):
    assert str(find_locale(name)) == resolved


@pytest.mark.parametrize(("name", "proposed"), REFUSED.items())
def test_an_unknown_name_is_refused_with_the_nearest(name, proposed):
    with pytest.raises(ProblemsError, match=f"unknown locale '{name}'.*{proposed}"):
        find_locale(name)


@pytest.mark.parametrize("type_", ["number", "money", "date", "duration", "quantity", "phone"])
@pytest.mark.parametrize("name", ["zh_TW", "iw_IL", "no_NO", "de_de@euro"])
def test_every_type_and_a_spec_take_the_same_names(name, type_):
    gold, fields = {"a": {"v": "5"}}, {"v": type_, "w": {"type": type_, "locale": name}}
    assert score(gold, {"s": gold}, {"locale": name, "fields": fields}).value("accuracy") == 1


# Words in and around values.

# Words and marks around values: those of a field's options, and those that everybody writes

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
    assert render_signs() == SIGNS_PAGE.read_text(encoding="utf-8"), "run python tests/values/record_words.py"


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


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("date", "15/03/2567", "`calendar`"), ("date", "1445-09-05", "`calendar`"), ("date", "15/03/2024", None),
        ({"type": "money", "strip": ["CR", "DR"]}, "5 CR", "`signs`"), ({"type": "money", "strip": ["CR"]}, "5 CR", None),
    ],
)  # fmt: skip
def test_validate_counts_what_another_option_would_read_otherwise(field, value, hint):
    found = validate({"fields": {"v": field}}, [{"id": 1, "v": value}]).surveys[""].findings["v"]
    assert (found.ambiguous, [example.why[-99:].count(hint) for example in found.ambiguous_examples]) == (
        (1, [1]) if hint else (0, [])
    )


def test_a_word_for_a_sign_is_no_scale_where_a_unit_may_stand_beside():
    field = {"type": "money", "signs": {"CR": "-"}, "unit_field": "currency"}
    assert explain_values("5 CR", "-5", field)[0].outcome == "match"
    assert explain_values("5 million CR", "-5000000", field)[0].outcome == "match"


# Normalizers do what their examples say, and both published normalizations can be written with them

NORMALIZERS_PAGE = Path(__file__).with_name("examples") / "normalizers.md"


def made(entry):
    name, options = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
    kind = NORMALIZERS.load(name)
    if not isinstance(options, dict):  # {case: upper}: the first option
        return kind(options)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in options.items()})


def reader(text):
    return TextReader(tuple(made(entry) for entry in YAML(typ="safe").load(text)), case="exact")


def published(position):
    blocks = re.findall(
        r"```yaml\nnormalize:\n(.*?)```", NORMALIZERS_PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    return reader(blocks[position])


@pytest.mark.parametrize(
    "row", rows(NORMALIZERS_PAGE, "Examples"), ids=lambda row: f"{row['normalize']}-{row['text']}"
)
def test_a_normalizer_does_what_its_example_says(row):
    assert reader(row["normalize"]).read(row["text"]).canonical == row["normalized"]


@pytest.mark.parametrize(
    ("position", "row"),
    [(0, row) for row in rows(NORMALIZERS_PAGE, "Clinical examples")]
    + [(1, row) for row in rows(NORMALIZERS_PAGE, "Business examples")],
    ids=lambda value: value["text"] if isinstance(value, dict) else str(value),
)
def test_a_published_normalization_is_reproduced(position, row):
    assert published(position).read(row["text"]).canonical == row["normalized"]


IDEMPOTENT = [
    "accents",
    "case",
    "decimal_comma",
    "digits",
    "leading_zero",
    "separators",
    "umlauts",
    "unicode",
    "white_space",
    {"remove": {"characters": "a,"}},
]
IDEMPOTENT += [
    {"case": {"form": "lower"}},
    {"punctuation": {"mode": "delete"}},
    {"punctuation": {"mode": "space"}},
    {"white_space": {"form": "remove"}},
]


@pytest.mark.parametrize("entry", IDEMPOTENT, ids=str)
@given(text=st.text(max_size=30))
def test_a_normalizer_applied_twice_changes_nothing_more(entry, text):
    normalizer = made(entry)
    once = normalizer.apply(text)
    assert normalizer.apply(once) == once


@given(text=st.text(alphabet=st.characters(codec=None), max_size=60))
def test_no_text_stops_the_published_normalizations(text):
    assert all(isinstance(published(position).read(text).canonical, str) for position in (0, 1))


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ({"normalize": [{"case": {"form": "title"}}]}, "'fold', 'lower' or 'upper'"),
        ({"normalize": [{"unicode": {"form": "NFX"}}]}, "'NFC', 'NFD', 'NFKC' or 'NFKD'"),
        ({"normalize": [{"punctuation": {"mode": "keep"}}]}, "'delete' or 'space'"),
        ({"normalize": [{"punctuation": {"keep": ["point"]}}]}, "one of: .*slash"),
        ({"case": "fold"}, "'ignore' or 'exact'"),
        ({"type": "number", "percent": "ratio"}, "'as_is' or 'fraction'"),
        ({"type": "number", "decimal": ";"}, "'.' or ','"),
        ({"type": "date", "calendar": "mayan"}, "'gregorian'"),
    ],
    ids=str,
)
def test_an_unknown_choice_is_refused_with_the_valid_ones(field, choices):
    with pytest.raises(ProblemsError, match=choices):
        read_plan({"fields": {"v": {"type": "text", **field}}})


def test_long_text_is_normalized_in_linear_time():
    assert len(Punctuation("space", ("decimal_point", "minus_sign")).apply("1.-" * 300_000)) == 900_000
