"""The most likely type of a column of values: the first whose reader reads nearly all of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_MOST_WORDS, _LEAST_TIMES = 12, 5
"""So many different words may an enum have, each seen so often at least: anything else is an open set."""
_OPTION = {
    "date": "order", "datetime": "order", "phone": "region",
    "integer": "decimal", "number": "decimal", "money": "decimal", "quantity": "decimal",
}  # fmt: skip
"""The option that decides what an ambiguous text means."""

_WORDS = {
    "money": """amount price cost balance subtotal total gst vat tax fee paid charge salary revenue betrag
        gesamtbetrag netto brutto mwst ust summe gesamt preis einzelpreis saldo montant prix tva importe
        precio importo prezzo bedrag prijs kwota cena""",
    "count": "count qty quantity quantities pages items units",
    "rate": "rate percent percentage pct share ratio satz prozent taux tasa tipo aliquota",
    "number": "no number num",
    "code": """id no number num code abn acn sku ref reference account iban zip postcode isbn serial version
        release section chapter clause ip""",
    "phone": "phone tel telephone telefon mobile fax cell",
    "day": "date datum day month period expiry",
    "clock": "uhrzeit clock",
    "time": "time zeit uhrzeit hour clock",
    "site": "url website homepage",
}
"""Words in names of fields, by what they name; an `s` behind them does not count."""
_CHECKSUMS = {"iban": 3, "lei": 3, "au.abn": 5, "eu.vat": 5, "isbn": 5, "issn": 5, "ean": 8, "luhn": 8}
"""Checksums with the number of different values that must pass: one in ten passes the last ones by chance."""
_DATE = r"^(?:[^\t]*(?:[^\W\d]|\d[^\d\t]+\d+[^\d\t]+\d)|\d{8}\t)"
_PERSIAN = r"^[^\t]*(?:[۰-۹]|\b13[4-9]\d\b)"
"""From 1400 on, a year in other digits than those of Iran may be Islamic."""
_CHECKABLE = r"^(?=\D*\d)[A-Za-z0-9](?:[A-Za-z0-9]|[ ./-](?=[A-Za-z0-9])){6,50}\t"
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
    remark: str = ""
    named: str = ""
    needs: str = ""
    never: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    enough: float = 0.98
    """The share of the values that must be readable."""
    least: int = 1
    """The number of different values."""
    distinct: float = 0
    """The share of different values."""


def _dates(kind: str) -> Iterator[_Candidate]:
    date = _Candidate(kind, _DATE, named="day", never=("code",))
    yield replace(date, refused=("calendar",))
    for name in filter(is_installed, ("buddhist", "roc", "japanese", "persian")):
        remark, shape = f"years of the {name} calendar, as it seems", _PERSIAN if name == "persian" else _DATE
        refused = ("calendar", "ambiguous") if name == "roc" else ("calendar",)
        yield _Candidate(kind, shape, 0.98, {"calendar": name}, remark, never=("code",), refused=refused)
    yield date


CANDIDATES = (
    _Candidate("phone", r"^\+", named="phone"),
    _Candidate("boolean", r"(?i)^(?:#|[^\d\t]{2,}\t|[yntfj]\t|\W\t)"),
    _Candidate("email"),
    _Candidate("url", r"(?i)^(?:[^\t]*://|www\.)", named="site"),
    *_dates("datetime"),
    *_dates("date"),
    _Candidate("time", r"^[^\t-]*\d:\d\d[^\t-]*\t", named="clock"),
    _Candidate("money", r"(?i)[cd]r\.?\t", 1e-9, {"signs": (("CR", "-"), ("DR", "+"))},
               "CR was taken as minus, DR as plus: some banks mean the opposite"),
    _Candidate("number", r"%\s*\t", 1, needs="rate"),
    _Candidate("number", r"\t(?:0|1|0?\.\d+)$", 1, {"percent": "fraction"}, "a share: 19% is 0.19",
               needs="rate"),
    _Candidate("number", named="rate", needs="rate"),
    _Candidate("money", r" \D\S*$", 0.5),
    _Candidate("money", r"^#|[.,]\d\d\)?\t", 0.5, needs="money", never=("count", "number"),
               remark="money because of its name; make it `number` if it is not"),
    _Candidate("integer", r"^#?[+-]?\d+\t", 1),
    _Candidate("number"),
    _Candidate("quantity", r" \D\S*$", 0.5),
    *(_Candidate("id", _CHECKABLE, 1, {"checksum": name}, "every value passes the checksum",
                 refused=("invalid_checksum", "other_length"), enough=1, least=least)
      for name, least in _CHECKSUMS.items()),
    _Candidate("id", _CODE.format(" "), needs="code"),
    _Candidate("id", _CODE.format(""), distinct=0.5),
)  # fmt: skip
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
    if len(max(texts, key=len)) > _LONGEST:
        return Guess("text", remarks=remarks)
    column = _Column(name, dict(every.most_common(_MOST_READ)), len(every) / len(values), locale)
    marks, unread = dict[str, list[str]](), ""
    for candidate in filter(column.admits, CANDIDATES):
        readings, missed = column.read(candidate)
        if readings:
            options, doubt, marks = column.style(candidate, readings)
            if column.count(readings) >= candidate.enough * column.count(column.counts):
                unfit = f"{missed[:40]!r} does not fit" if missed else ""
                remarks += tuple(filter(None, (candidate.remark, doubt, unfit)))
                return Guess(candidate.type, options, remarks, marks)
            unread = unread or f"{candidate.type} would leave some unread, e.g. {missed[:40]!r}"
    is_few = 2 <= len(texts) <= _MOST_WORDS and min(every.values()) >= _LEAST_TIMES and not remarks
    are_words = all(map(str.isalpha, texts)) and len({*map(str.casefold, texts)}) == len(texts)
    if is_few and are_words:
        return Guess("enum", {"values": tuple(texts)})
    return Guess("text", remarks=remarks or tuple(filter(None, (unread,))), marks=marks)


class _Column(Struct):
    """The different values of a column with their counts, and what its name says."""

    name: str
    counts: dict[Scalar, int]
    distinct: float
    locale: str | None
    named: frozenset[str] = frozenset()
    is_code: bool = False
    """Whether digits look like identifiers: leading zeros, many digits, a typical name."""
    is_mixed: bool = False

    def __post_init__(self) -> None:
        words = set(re.split(r"[\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", self.name[:_LONGEST]).lower()))
        words |= {word.removesuffix("s") for word in words}
        kinds = {kind for kind, known in _WORDS.items() if words & {*known.split()}}
        self.named = frozenset(kinds | ({"rate"} if "%" in self.name else set()))
        texts = [value for value in self.counts if isinstance(value, str)]
        digits = [len(text) for text in texts if text.isdigit()]
        self.is_mixed = 0 < len(texts) < len(self.counts)
        is_long = 2 * len(digits) > len(texts) and 2 * sum(length >= 8 for length in digits) > len(digits)
        is_named = bool(texts) and not self.named.isdisjoint(("code", "phone")) and "count" not in self.named
        is_padded = any(re.match(r"\D*0\d", text) for text in texts)
        self.is_code = is_named or is_padded or (is_long and not self.is_mixed)

    def admits(self, candidate: _Candidate) -> bool:
        return not (
            (self.is_code and candidate.type in ("integer", "number", "quantity"))
            or (self.is_mixed and candidate.type not in ("number", "money"))
            or (candidate.needs and candidate.needs not in self.named)
            or (candidate.named not in self.named and not self.named.isdisjoint(candidate.never))
            or self.distinct < candidate.distinct
            or len(self.counts) < candidate.least
        )

    def count(self, values: Iterable[Scalar]) -> int:
        return sum(map(self.counts.__getitem__, values))

    def reader(self, kind: str, options: Mapping[str, Any]) -> Reader:
        entry = READERS.load(kind)
        own = {"locale": self.locale} if self.locale is not None and "locale" in option_names(entry) else {}
        reader: Reader = entry(**own, **options)
        return reader

    def read(self, candidate: _Candidate) -> tuple[dict[Scalar, Reading], str]:
        """Return the readings of the readable values, and an unreadable one.

        There are no readings if most values are unreadable, or too few have the shape.
        """
        reader, readings = self.reader(candidate.type, candidate.options), dict[Scalar, Reading]()
        shaped, missed = list[Scalar](), list[str]()
        for value in self.counts:
            reading, mark = reader.read(value), "" if isinstance(value, str) else "#"
            if reading.value is None or {*candidate.refused, *("coerced",) * len(mark)} & {*reading.flags}:
                missed.append(str(value))
                if len(missed) == _FIRST_READ > len(readings):
                    break
                continue
            readings[value] = reading
            if re.search(candidate.shape, f"{mark}{reading.text}\t{reading.canonical}"):
                shaped.append(value)
        read = self.count(readings)
        is_shaped = candidate.named in self.named or self.count(shaped) >= candidate.share * read
        return readings if is_shaped and 2 * read >= self.count(self.counts) else {}, (missed or [""])[0]

    def style(
        self, candidate: _Candidate, readings: Mapping[Scalar, Reading]
    ) -> tuple[dict[str, Any], str, dict[str, list[str]]]:
        """Return the options that leave the fewest values ambiguous, what stays doubtful, and the marks.

        A sign is decimal if the number is another one without it.
        """
        kind, options, marks = candidate.type, dict(candidate.options), defaultdict[str, list[str]](list)
        texts = [value for value in readings if isinstance(value, str)]
        doubts = {text: None for text in texts if "ambiguous" in readings[text].flags}
        option = _OPTION.get(kind)
        if texts and option in ("order", "decimal"):
            marks["text"] = []
        if option == "order":
            readers = [self.reader(kind, {**options, "order": order}) for order in ("dmy", "mdy")]
            day, month = (
                {text for text in texts if "ambiguous" in reader.read(text).flags} for reader in readers
            )
            for order, fewer, more in (("dmy", day, month), ("mdy", month, day)):
                if fewer < more:
                    options["order"], marks[order] = order, []
        elif option == "decimal" and self.named.isdisjoint(("day", "time")):
            reader = self.reader(kind, options)
            for text in texts:
                for sign in ",." if text not in doubts else "":
                    plain = re.sub(rf"(?<=\d)[{sign}](?=\d)", "", text)
                    if plain != text and reader.read(plain).canonical != readings[text].canonical:
                        marks[sign] += [text] * self.counts[text]
                for mark in re.findall(r"\d([ \u00a0\u202f\u2009'’])\d{3}(?!\d)", text):
                    marks["'" if mark in "'’" else " "].append(text)
                if currency := getattr(readings[text].value, "currency", None):
                    marks[currency].append(text)
            for sign in ",.":
                if self.count(text for text in doubts if sign in text) > len(marks.get(sign, ())):
                    marks.pop(sign, None)
            if "," in marks and "." not in marks and self.locale is None:
                options["decimal"] = ","
        is_open = doubts and option and option not in options and self.locale is None
        return options, f"? {next(iter(doubts))!r} is ambiguous; `{option}` decides" if is_open else "", marks
