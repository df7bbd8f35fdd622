"""Readers: laws, options, locales and their pages."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from babel.dates import format_date, format_datetime
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.metrics.evidence import FLAGS
from fieldassay.options import with_options
from fieldassay.values.types.closed_sets import BooleanReader, EnumReader
from fieldassay.values.types.column import Column, Reader, Reading
from fieldassay.values.types.contacts import EmailReader, PhoneReader, UrlReader
from fieldassay.values.types.dates.dates import DateReader, DateTimeReader
from fieldassay.values.types.dates.names import LANGUAGES
from fieldassay.values.types.dates.times import DurationReader, TimeReader
from fieldassay.values.types.lists import ListReader
from fieldassay.values.types.locales import find_locale
from fieldassay.values.types.text import AnyReader, IdReader, TextReader

# Laws that every reader of this package keeps

READERS: list[Reader] = [
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
    *READERS,
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


def name(reader: Reader) -> str:
    return str(reader)[:60]


@pytest.mark.parametrize("reader", ALL, ids=name)
@given(raw=SCALARS)
def test_any_scalar_has_a_reading(reader: Reader, raw: Any) -> None:
    reading = reader.read(raw)
    assert isinstance(reading.text, str)
    assert isinstance(reading.canonical, str)
    assert (reading.value is None) == (reading.problem is not None)
    assert reading.problem is None or reading.canonical == reading.text
    assert set(reading.flags) <= {*FLAGS}
    assert all(token and rule for token, rule in reader.tokens(raw))


@pytest.mark.parametrize("reader", READERS, ids=name)
@given(raw=SCALARS)
def test_a_canonical_text_reads_back_to_itself(reader: Reader, raw: Any) -> None:
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
def test_a_column_is_the_readings_of_its_values(reader: Reader, raws: list[Any]) -> None:
    column = reader.read_column(raws)
    assert len(column) == len(raws)
    assert [repr(column.reading(index)) for index in range(len(raws))] == [
        repr(reader.read(raw)) for raw in raws
    ]


@pytest.mark.parametrize("reader", ALL, ids=name)
@pytest.mark.parametrize(
    "raw", HOSTILE, ids=lambda raw: "huge-integer" if isinstance(raw, int) else ascii(raw[:8])
)
def test_hostile_values_are_read_at_once(reader: Reader, raw: Any) -> None:
    with costs_at_most(100):
        assert isinstance(reader.read(raw), Reading)


@pytest.mark.parametrize("reader", ALL, ids=name)
def test_a_reader_is_a_frozen_hashable_value(reader: Reader) -> None:
    assert hash(reader) == hash(with_options(reader))


LOCALES = [*LANGUAGES, "en_US", "en_AU", "pt_BR", "ja_JP", "ko_KR", "zh_Hans_CN", "vi_VN"]


@pytest.mark.parametrize("locale", LOCALES)
@given(day=st.dates(dt.date(1950, 1, 1), dt.date(2099, 12, 31)))
def test_a_date_as_its_locale_writes_it_reads_back(locale: str, day: dt.date) -> None:
    reader = DateReader(locale=locale)
    for length in ("medium", "long", "full"):
        assert reader.read(format_date(day, length, locale=locale)).canonical == day.isoformat()
    if 1969 <= day.year <= 2068:
        assert reader.read(format_date(day, "short", locale=locale)).canonical == day.isoformat()


@pytest.mark.parametrize("locale", ["en_US", "en_AU", "fr", "es", "sv", "pl", "tr", "nl"])
@given(moment=st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2060, 1, 1)))
def test_a_point_in_time_as_its_locale_writes_it_reads_back(locale: str, moment: dt.datetime) -> None:
    text = format_datetime(moment, "medium", locale=locale)
    assert DateTimeReader(locale=locale).read(text).canonical == moment.replace(microsecond=0).isoformat()


@given(moment=st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9000, 1, 1)), hours=st.integers(-12, 14))
def test_one_instant_has_one_canonical_text(moment: dt.datetime, hours: int) -> None:
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
def test_a_list_holds_the_readings_of_its_items(items: list[Any], keep_empty: bool) -> None:
    reader = ListReader(DateReader(), keep_empty=keep_empty)
    column = reader.read_column([["2024"], items, []])
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
