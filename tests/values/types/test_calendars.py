"""Calendars of dates: a spec's and a field's, the library that two of them need, and diagnosis."""

import subprocess
import sys

import pytest

from fieldassay import explain_values, read_plan
from fieldassay.errors import ProblemsError
from fieldassay.values.types.catalogue import READERS

LOCALES = [None, "en_US", "en_GB", "de_DE", "fr_FR", "tr_TR", "zh_TW", "ja_JP", "ar_EG", "th_TH", "fa_IR"]


@pytest.mark.parametrize("type_", ["date", "datetime"])
def test_a_spec_names_the_calendar_of_its_fields(type_):
    time = " 14:30" * (type_ == "datetime")
    pair = "2024-03-15" + time, "15/03/2567" + time
    assert explain_values(*pair, type_, {"calendar": "buddhist"})[0].outcome == "match"
    assert explain_values(*pair, type_, {"locale": "th_TH"})[0].outcome == "match"
    own = {"type": type_, "calendar": "gregorian"}
    assert explain_values(*pair, own, {"calendar": "buddhist"})[0].diagnoses[0] == "other_calendar"


@pytest.mark.parametrize(
    "place", ["calendar: lunar\nfields: {d: date}", "fields: {d: {type: date, calendar: lunar}}"]
)
def test_an_unknown_calendar_is_refused(place):
    with pytest.raises(ProblemsError, match=r"lunar.*gregorian"):
        read_plan(place)


def test_a_calendar_whose_library_is_missing_says_what_to_install():
    code = (
        "import sys; sys.modules.update(hijridate=None, convertdate=None)\n"
        "from fieldassay.values.types.dates.dates import DateReader as D\n"
        "print(D(locale='fa_IR', calendar='gregorian').read('1403/01/01').flags)\n"
        "for one in ({'locale': 'fa_IR'}, {'calendar': 'islamic'}):\n"
        "    try: D(**one)\n    except Exception as error: print(type(error).__name__, error)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert told[0] == "('calendar',)"
    assert all("MissingExtraError" in line and "fieldassay[calendars]" in line for line in told[1:3])


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("text", ["2024-03-15", "15.03.2024", "2024/3/15", "15/03/2024", "20240315"])
def test_a_gregorian_date_stays_one_everywhere(locale, text):
    assert READERS.load("date")(locale=locale).read(text).canonical == "2024-03-15"


@pytest.mark.parametrize("locale", [one for one in LOCALES if one != "ja_JP"])
@pytest.mark.parametrize("text", ["R6.6.16", "H1 2024", "T4 2024", "S5.3.2024", "15/O3/2024", "1445 هـ"])
def test_letters_are_no_eras_outside_japan(locale, text):
    assert READERS.load("date")(locale=locale).read(text).value is None
