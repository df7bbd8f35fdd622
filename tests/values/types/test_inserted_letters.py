"""A letter put anywhere into a date, time, duration or phone number is never passed over, and gives no other value.

Where it does, the word that it makes is on a list: `14:05h`, `15e mars`, `marzo` for `marz`.
"""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import pytest
from babel import Locale
from tests.effort import is_full

from fieldassay.values.types.column import Reader
from fieldassay.values.types.contacts import PhoneReader
from fieldassay.values.types.dates.dates import DateReader, DateTimeReader
from fieldassay.values.types.dates.names import LANGUAGES, fold, locale_data, names, names_of
from fieldassay.values.types.dates.times import DurationReader, TimeReader, unit_words

VALUES = {
    "date": """2024-03-15; 2024-03; 2024; 20240315; 15/03/2024; 15.03.2024; 15-03-24; 15 03 2024; 15 March 2024; March 15, 2024;
        15th of March, 2024; Mar 15 2024; 15MAR2024; Friday, 15 March 2024; 15. März 2024; 15 de marzo de 2024; 1er mars 2024;
        2024年3月15日; 1-15 March 2024; 2024-01-01/2024-01-31""",
    "datetime": """2024-03-15T14:05:00; 2024-03-15 14:05; 2024-03-15T14:05:00Z; 2024-03-15T14:05:00+02:00; 20240315T140500Z;
        2024-03-15T14:05:00.25; 15/03/2024 2:05 pm; 15/03/2024 14:05; 15.03.2024 14.05 Uhr; le 15 mars 2024 à 14h05;
        15 March 2024 at 2 pm; Mar 15, 2024, 2:05:00 PM; 14:05 15 March 2024; Fri, 15 Mar 2024 14:05:00 +0000;
        Fri Mar 15 14:05:00 2024; 15. März 2024 um 14:05; 15 de marzo de 2024 a las 14:05; 2024年3月15日 14:05;
        2024-03-15 14:05 UTC+2; 15MAR2024 14:05""",
    "time": """14:05; 14:05:00; 2:05 pm; 2.05 PM; 2 p. m.; 12 am; 14h05; 14 h; 14.05 Uhr; 14 Uhr; 14.05; 1405; 1405 hrs; 14:05:30.5;
        14:05+02:00; 14:05Z; 14:05 UTC+2; noon; 9:30; 09:30 GMT""",
    "duration": """PT1H30M; P1Y2M; P2W; -PT5M; PT0.5S; 1 h 30 min; 1h30; 90 minutes; 90 min.; 1.5 hours; 01:30:00; 2 weeks and 3 days;
        1 hour, 30 minutes; 500 ms; 2 Stunden; 3 jours; 30 días; 12 tygodni; 1 Jahr 2 Monate; 5d""",
    "phone": """(02) 9374 4000; +61 2 9374 4000; 0011 61 2 9374 4000; 02 9374 4000 ext. 12; Tel: 02 9374 4000; 1800 123 456; +61293744000;
        0412 345 678; +61 412 345 678; +1 201 555 0123; +1-800-FLOWERS; +49 30 123456; +49 (0)30 123456; +49 30 123456 Fax;
        +44 20 7183 8750; +33 1 42 68 53 00; +61 2 9374 4000 x12; tel:+61-2-9374-4000; +39 06 6982; 9374 4000""",
}  # fmt: skip
READERS: dict[str, list[Reader]] = {
    "date": [
        DateReader(),
        DateReader(locale="en_AU"),
        DateReader(locale="fr_FR"),
        DateReader(locale="lt_LT"),
    ],
    "datetime": [DateTimeReader(), DateTimeReader(locale="de_DE"), DateTimeReader(locale="zh_Hans_CN")],
    "time": [TimeReader()],
    "duration": [DurationReader(), DurationReader(locale="en_AU"), DurationReader(locale="it_IT")],
    "phone": [PhoneReader("AU"), PhoneReader("DE")],
}
WORDS = {
    "date": "年 г del e ere °",  # 2024年, 2024г, 15e mars, 1º
    "time": "t h m a p z",  # T14:05, 14:05 h, 14h05m, 9:30a, UTC
    "duration": "h m s d p t yt",  # P5D, PT1H
    "phone": "x extn",
}  # fmt: skip
"""The words that a letter may make, besides names of months, weekdays and units, and labels."""


def is_allowed(kind: str, reader: Any, changed: str, place: int) -> bool:
    """Return whether the word around the place of a text is known."""
    folded = [fold(char) for char in changed]
    start = end = place
    while start and folded[start - 1].isalpha():
        start -= 1
    while end < len(folded) and (folded[end].isalpha() or end == place):
        end += 1
    word = "".join(folded[start:end])
    if kind == "duration":
        return word in WORDS[kind].split() or (len(word) > 1 and word in unit_words(None)[0])
    if kind in ("date", "datetime"):
        known, own = names(reader.locale), names_of(locale_data(reader.locale or "en")).phrases
        is_phrase = word in own or (len(word) > 1 and word in known.phrases)
        is_name = is_phrase or word in known.months or word in known.weekdays
        return (
            is_name or word in WORDS["date"].split() or (kind == "datetime" and word in WORDS["time"].split())
        )
    return word in WORDS[kind].split()


def letters() -> list[str]:
    """Return all ASCII letters, look-alikes of digits, and one letter of each script and case in the locales."""
    found = dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    found |= dict.fromkeys("ОоЗз٥۵öØøłßıſªºŒ年月日時万億一〇Iｌｏ㎏ª")
    kinds: dict[tuple[str, str], str] = {}
    for one in (
        *LANGUAGES,
        "zh",
        "ja",
        "ko",
        "ar",
        "fa",
        "he",
        "th",
        "hi",
        "bn",
        "ta",
        "te",
        "ka",
        "hy",
        "am",
        "km",
        "my",
    ):
        data = Locale.parse(one)
        for name in (*data.months["format"]["wide"].values(), *data.days["format"]["wide"].values()):
            for char in f"{name}{name.upper()}":
                if char.isalpha():
                    kinds.setdefault((unicodedata.name(char).split()[0], unicodedata.category(char)), char)
    return [char for char in (*found, *kinds.values()) if char.isalpha()]


Case = tuple[Reader, str, int, str]


def cases(kind: str) -> list[Case]:
    """Return all readers, values, places in them and letters."""
    inserted = letters()
    return [
        (reader, text, place, letter)
        for reader in READERS[kind]
        for text in map(str.strip, VALUES[kind].split(";"))
        for place in range(len(text) + 1)
        for letter in inserted
    ]


def is_silent(case: Case) -> bool:
    """Return whether a value with the letter is read, the same or another one, without a further flag."""
    reader, text, place, letter = case
    plain, changed = reader.read(text), reader.read(f"{text[:place]}{letter}{text[place:]}")
    assert plain.value is not None
    return changed.value is not None and set(changed.flags) <= set(plain.flags)


@pytest.mark.parametrize("kind", VALUES)
def test_an_inserted_letter_is_never_passed_over_in_silence(kind: str) -> None:
    found = cases(kind)
    assert len({text for _, text, _, _ in found}) == 20
    drawn = found if is_full() else random.Random(40).sample(found, 2000)
    silent = filter(is_silent, drawn)
    changed = [(one, f"{text[:place]}{letter}{text[place:]}", place) for one, text, place, letter in silent]
    assert [case for case in changed if not is_allowed(kind, *case)] == []
