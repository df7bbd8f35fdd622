"""The most likely type of a column of values: the first whose reader reads nearly all of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.options import option_names
from fieldassay.values.types.base import Reader
from fieldassay.values.types.catalogue import READERS
from fieldassay.values.types.column import Reading
from fieldassay.values.types.dates.calendars import is_installed

_MOST_READ, _FIRST_READ, _LONGEST = 1_000, 20, 200
_OPTION = {"phone": "region"} | dict.fromkeys(("number", "money", "quantity", "integer"), "decimal")
_OPTION |= dict.fromkeys(("date", "datetime"), "order")
"""The option that decides what an ambiguous text means."""

_WORDS = {
    "money": """amount price cost balance subtotal total gst vat tax fee paid charge salary revenue betrag
        gesamtbetrag netto brutto mwst ust summe gesamt preis einzelpreis saldo montant prix tva importe
        precio importo prezzo bedrag prijs kwota cena""",
    "count": "count qty quantity quantities pages items rate percent pct units",
    "number": "no number num",
    "code": """id no number num code abn acn sku ref reference account iban zip postcode isbn serial version
        release section chapter clause ip phone tel telephone telefon mobile fax cell""",
    "phone": "phone tel telephone telefon mobile fax cell",
    "day": "date datum day month period expiry",
    "clock": "time zeit uhrzeit hour clock",
    "site": "url website homepage",
}
"""Words in names of fields, by what they name; an `s` behind them does not count."""
_CHECKSUMS = {"iban": 3, "lei": 3, "au.abn": 5, "eu.vat": 5, "isbn": 5, "issn": 5, "ean": 8, "luhn": 8}
"""Checksums with the number of different values that must pass: one in ten passes the last ones by chance."""
_DATE = r"[^\W\d]|\d\D+\d+\D+\d|^\d{8}\t"
_CALENDARS = {
    "buddhist": _DATE,
    "roc": _DATE,
    "japanese": _DATE,
    "persian": r"^[^\t]*(?:[۰-۹]|\b13[4-9]\d\b)",
}
"""Shapes of dates in other calendars: a year from 1400 on is Islamic or, in the digits of Iran, Persian."""
_CODE = r"^(?=[^\t]*\d)[A-Za-z0-9#][A-Za-z0-9#./_{}-]{{0,59}}\t"


class Guess(Struct, frozen=True):
    """A type with the options of its reader, and remarks for the reader of the spec.

    `marks` holds texts by what they show: a decimal sign, a space or an apostrophe in thousands, a currency,
    an order of dates. The key `text` says that numbers or dates are texts.
    """

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)


class _Candidate(Struct, frozen=True):
    """A type, and what must hold where its reader reads more than is meant.

    A `share` of the readings has the `shape`: a pattern of the text (behind `#` for a JSON number), a tab and
    the canonical text. In fields `named` so, any reading will do. Readings with a `refused` flag are none.
    """

    type: str
    shape: str = ""
    share: float = 0.98
    options: Mapping[str, Any] = field(default_factory=dict)
    named: str = ""
    needs: str = ""
    never: frozenset[str] = frozenset()
    refused: tuple[str, ...] = ()
    enough: float = 0.98
    """The share of values that must be readable."""
    least: int = 1
    """The number of different values."""
    distinct: float = 0
    """The number of different values for each value."""
    remark: str = ""


def _dates(kind: str) -> list[_Candidate]:
    base = _Candidate(kind, _DATE, named="day", never=frozenset({"code"}))
    found = [replace(base, refused=("calendar",))]
    for name, shape in _CALENDARS.items():
        if is_installed(name):
            remark = f"years of the {name} calendar, as it seems"
            flags = ("calendar", "ambiguous") if name == "roc" else ("calendar",)
            own = replace(base, shape=shape, options={"calendar": name}, refused=flags, remark=remark)
            found.append(replace(own, named="") if name == "persian" else own)
    return [*found, base]


CANDIDATES = (
    _Candidate("phone", r"^\+", named="phone"),
    _Candidate("boolean", r"(?i)^(?:#|[^\d\t]{2,}\t|[yntfj]\t|\W\t)"),
    _Candidate("email"),
    _Candidate("url", r"(?i)^(?:[^\t]*://|www\.)", named="site"),
    *_dates("datetime"),
    *_dates("date"),
    _Candidate("time", r"^[^\t-]*\d:\d\d[^\t-]*\t", named="clock"),
    _Candidate(
        "money",
        r"(?i)[cd]r\.?\t",
        1e-9,
        {"signs": (("CR", "-"), ("DR", "+"))},
        remark="CR was taken as minus, DR as plus: some banks mean the opposite",
    ),
    _Candidate("money", r" \D\S*$", 0.5),
    _Candidate(
        "money",
        r"^#|[.,]\d\d\)?\t",
        0.5,
        needs="money",
        never=frozenset({"count", "number"}),
        remark="money because of its name; make it `number` if it is not",
    ),
    _Candidate("integer", r"^#?[+-]?\d+\t", 1),
    _Candidate("number"),
    _Candidate("quantity", r" \D\S*$", 0.5),
    *(
        _Candidate(
            "id",
            r"^(?=\D*\d)[A-Za-z0-9](?:[A-Za-z0-9]|[ ./-](?=[A-Za-z0-9])){6,50}\t",
            1,
            {"checksum": name},
            refused=("invalid_checksum", "other_length"),
            enough=1,
            least=least,
            remark="every value passes the checksum",
        )
        for name, least in _CHECKSUMS.items()
    ),
    _Candidate("id", _CODE.format(" "), needs="code"),
    _Candidate("id", _CODE.format(""), distinct=0.5),
)
"""The types of a first spec, in the order in which they are tried; enum and text are what remains."""


def guess_type(name: str, values: Sequence[Scalar], locale: str | None = None) -> Guess:
    """Return the type that reads at least 98% of the values, else text (or any, for mixed kinds).

    >>> guess = guess_type("invoice_date", ["13/01/2024", "02/03/2024"])
    >>> guess.type, guess.options
    ('date', {'order': 'dmy'})
    """
    if not values:
        return Guess("text", remarks=("never filled, so the type is not known",))
    kinds = {type(value) for value in values}
    if bool in kinds and len(kinds) > 1:
        return Guess("any", remarks=(f"{'texts' if str in kinds else 'numbers'} beside true and false",))
    remarks: tuple[str, ...] = ("numbers and texts mixed",) if str in kinds and len(kinds) > 1 else ()
    every = Counter(value.strip() if isinstance(value, str) else value for value in values)
    texts = sorted(map(str, every))
    if max(map(len, texts)) > _LONGEST:
        return Guess("text", remarks=remarks)
    column = _Column(_named(name), dict(every.most_common(_MOST_READ)), len(every) / len(values), locale)
    total, marks, unread = sum(column.counts.values()), dict[str, list[str]](), ""
    for candidate in filter(column.admits, CANDIDATES):
        if remarks and candidate.type not in ("number", "money"):
            continue
        readings, missed = column.read(candidate)
        read = sum(map(column.counts.__getitem__, readings))
        if read < 0.5 * total or not column.has_shape(candidate, readings, read):
            continue
        options, doubts, marks = column.style(candidate, readings)
        if read >= candidate.enough * total:
            remarks += tuple(filter(None, (candidate.remark, doubts)))
            return Guess(candidate.type, options, remarks, marks)
        unread = unread or f"{candidate.type} would leave some unread, e.g. {str(missed)[:40]!r}"
    is_few = 2 <= len(texts) <= min(12, len(values) / 5) and len(values) >= 20 and min(every.values()) >= 2
    if (
        is_few
        and not remarks
        and max(map(len, texts)) <= 40
        and len({*map(str.casefold, texts)}) == len(texts)
    ):
        return Guess("enum", {"values": tuple(texts)})
    return Guess("text", remarks=remarks or tuple(filter(None, (unread,))), marks=marks)


def _named(name: str) -> frozenset[str]:
    """Return what the words of a field's name say: `unitPrice` is money."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name[:_LONGEST]).lower()
    words = set(re.split(r"[\W_]+", spaced))
    words |= {word.removesuffix("s") for word in words}
    return frozenset(kind for kind, known in _WORDS.items() if not words.isdisjoint(known.split()))


class _Column(Struct, frozen=True):
    """The different values of a column with their counts, and what its name says."""

    named: frozenset[str]
    counts: dict[Scalar, int]
    distinct: float
    locale: str | None

    def admits(self, candidate: _Candidate) -> bool:
        """Return whether a candidate is to be tried: digits that look like identifiers are no numbers."""
        texts = [value for value in self.counts if isinstance(value, str)]
        digits = [len(text) for text in texts if text.isdigit()]
        is_code = texts and (
            ("code" in self.named and "count" not in self.named)
            or any(re.match(r"\D*0\d", text) for text in texts)
            or (
                len(texts) == len(self.counts)
                and 2 * len(digits) > len(texts)
                and 2 * sum(length >= 8 for length in digits) > len(digits)
            )
        )
        return not (
            (is_code and candidate.type in ("integer", "number", "quantity"))
            or (candidate.needs and candidate.needs not in self.named)
            or (candidate.named not in self.named and not candidate.never.isdisjoint(self.named))
            or self.distinct < candidate.distinct
            or len(self.counts) < candidate.least
        )

    def reader(self, kind: str, options: Mapping[str, Any]) -> Reader:
        """Return the reader of a type, in the locale."""
        entry = READERS.load(kind)
        own = {"locale": self.locale} if self.locale is not None and "locale" in option_names(entry) else {}
        reader: Reader = entry(**own, **options)
        return reader

    def read(self, candidate: _Candidate) -> tuple[dict[Scalar, Reading], Scalar]:
        """Return the readings of readable values, none if few of the first are; and an unreadable value."""
        reader, missed = self.reader(candidate.type, candidate.options), list[Scalar]()
        readings: dict[Scalar, Reading] = {}
        for value in self.counts:
            reading = reader.read(value)
            refused = candidate.refused if isinstance(value, str) else (*candidate.refused, "coerced")
            if reading.value is not None and not set(refused) & {*reading.flags}:
                readings[value] = reading
                continue
            missed.append(value)
            if len(missed) == _FIRST_READ > len(readings):
                return {}, value
        return readings, missed[0] if missed else ""

    def has_shape(self, candidate: _Candidate, readings: Mapping[Scalar, Reading], read: int) -> bool:
        """Return whether enough readings have the shape, or the name of the field suffices."""
        shaped = 0
        for value, reading in readings.items():
            text = f"{'' if isinstance(value, str) else '#'}{reading.text}\t{reading.canonical}"
            shaped += self.counts[value] if re.search(candidate.shape, text) else 0
        return shaped >= candidate.share * read or candidate.named in self.named

    def style(
        self, candidate: _Candidate, readings: Mapping[Scalar, Reading]
    ) -> tuple[dict[str, Any], str, dict[str, list[str]]]:
        """Return the options that leave the fewest values ambiguous, what stays doubtful, and the marks.

        A sign is decimal if the number is another one without it.
        """
        options, marks = dict(candidate.options), defaultdict[str, list[str]](list)
        kind, option = candidate.type, _OPTION.get(candidate.type)
        texts = [value for value in readings if isinstance(value, str)]
        doubts = [text for text in texts if "ambiguous" in readings[text].flags]
        if texts and option in ("order", "decimal"):
            marks["text"] = []
        if option == "order":
            day, month = (
                {text for text in texts if "ambiguous" in reader.read(text).flags}
                for reader in (self.reader(kind, {**options, "order": order}) for order in ("dmy", "mdy"))
            )
            for order, fewer, more in (("dmy", day, month), ("mdy", month, day)):
                if fewer < more:
                    options["order"], marks[order] = order, []
        elif option == "decimal" and self.named.isdisjoint(("day", "clock")):
            reader = self.reader(kind, options)
            for text in texts:
                for sign in ",." if "ambiguous" not in readings[text].flags else "":
                    plain = re.sub(rf"(?<=\d)[{sign}](?=\d)", "", text)
                    if plain != text and reader.read(plain).canonical != readings[text].canonical:
                        marks[sign] += [text] * self.counts[text]
                thousands = re.search(r"\d([ \u00a0\u202f\u2009'’])\d{3}(?!\d)", text)
                currency = getattr(readings[text].value, "currency", None)
                if thousands is not None:
                    marks["'" if thousands[1] in "'’" else " "].append(text)
                if currency is not None:
                    marks[currency].append(text)
            for sign in ",.":
                if sum(self.counts[text] for text in doubts if sign in text) > len(marks.get(sign, ())):
                    marks.pop(sign, None)
            if "," in marks and "." not in marks and self.locale is None:
                options["decimal"] = ","
        is_open = doubts and option and option not in options and self.locale is None
        return options, f"? {doubts[0]!r} is ambiguous; `{option}` decides" if is_open else "", marks
