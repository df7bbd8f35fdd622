"""Drafts of a spec from records: what was seen, and what it is guessed to be."""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import list_names
from fieldassay.io.json_value import Scalar
from fieldassay.options import option_names
from fieldassay.paths import ITEM, join_path
from fieldassay.spec.language.model import DataOptions, DocumentType, Field, Spec, freeze_options
from fieldassay.spec.language.names import ID_NAMES
from fieldassay.spec.language.yaml_text import Steps
from fieldassay.values.catalogue import READERS
from fieldassay.values.types.column import Reader, Reading

# The most likely type of a column of values: the first whose reader reads nearly all of them.

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
_DATE = r"^(?:(?=[^\t]*+\t\d+-)[^\t]*?(?:[^\W\d]|\d[^\d\t]++\d++[^\d\t]++\d)|\d{8}\t)"
"""Not a year alone: the number of PO-2024 is one, too."""
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


CANDIDATES = (
    _Candidate("phone", r"^\+", named="phone"),
    _Candidate("boolean", r"(?i)^(?:#|[^\d\t]{2,}\t|[yntfj]\t|\W\t)"),
    _Candidate("email"),
    _Candidate("url", r"(?i)^(?:[^\t]*://|www\.)", named="site"),
    *(_Candidate(kind, _DATE, named="day", never=("code",), refused=refused, remark=remark)
      for kind in ("datetime", "date")
      for refused, remark in ((("calendar",), ""), ((), "? years of another calendar; `calendar` decides"))),
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
    has_plus: bool = False
    """Whether a text begins with a plus: without one the library of phone numbers is not needed."""

    def __post_init__(self) -> None:
        words = set(re.split(r"[\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", self.name[:_LONGEST]).lower()))
        words |= {word.removesuffix("s") for word in words}
        kinds = {kind for kind, vocabulary in _WORDS.items() if words & {*vocabulary.split()}}
        texts = [value for value in self.counts if isinstance(value, str)]
        self.has_plus = any(text.startswith("+") for text in texts)
        kinds |= {kind for mark, kind in (("%", "rate"), ("#", "code")) if mark in self.name}
        self.named = frozenset(kinds | ({"rate"} if any(text.endswith("%") for text in texts) else set()))
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
            or (candidate.type == "phone" and "phone" not in self.named and not self.has_plus)
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


# The contents of gold records at each place, and the key among them that identifies a document.

DEEPEST = 20
_MOST_VALUES, _LONGEST_CELL = 20_000, 200_000
_MOST_BITS = 10_000  # Python writes no integer above 4300 digits
_NULLS = (
    "not_found", "not found", "n/a", "null", "none", "-", "--", "nan", "nil", "not available",
    "not applicable",
)  # fmt: skip
_ID_NAMES = (*ID_NAMES, "_id", "uid")
"""Names of the id for a first spec, which writes them down; scoring does not look for the last by itself."""
_ID_ENDINGS = ("id", "no", "nr", "number", "ref", "reference", "key", "file")


class Sightings(Struct, eq=False):
    """The values at one place: `present` counts the non-empty ones, `scalars` are the first of them."""

    present: int = 0
    lists: int = 0
    objects: int = 0
    scalars: list[Scalar] = field(default_factory=list)
    members: "dict[str, Sightings]" = field(default_factory=dict)
    items: "Sightings | None" = None
    nulls: Counter[str] = field(default_factory=Counter)
    """Texts that mean empty, at all places."""
    depth: int = 0
    most: int = _MOST_VALUES

    def see(self, value: Any) -> None:
        """Add one value; empty ones do not count, texts that mean empty are noted in `nulls`."""
        text = value.strip() if isinstance(value, str) else None
        if text is not None:
            if text.casefold() in _NULLS:
                self.nulls[text] += 1
                return
            if text[:1] in ("[", "{") and len(value) < _LONGEST_CELL:
                with suppress(ValueError, RecursionError):
                    value = json.loads(text)
        if value is None or value != value or value in ([], (), {}) or text == "":
            return
        self.present += 1
        if isinstance(value, Mapping):
            self.objects += 1
            for key, inner in value.items() if self.depth < DEEPEST else ():
                self.member(str(key)).see(inner)
        elif isinstance(value, list | tuple):
            self.lists += 1
            self.items = self.items or Sightings(nulls=self.nulls, depth=self.depth + 1)
            for inner in value if self.depth < DEEPEST else ():
                self.items.see(inner)
        elif len(self.scalars) < self.most and not (
            isinstance(value, int) and value.bit_length() > _MOST_BITS
        ):
            self.scalars.append(value if isinstance(value, str | bool | int | float) else str(value))

    def member(self, key: str) -> "Sightings":
        """Return the sightings under a key; all values are kept of what may identify a document."""
        if key not in self.members:
            most = sys.maxsize if self.depth == 0 and _snake(key) in _ID_NAMES else _MOST_VALUES
            self.members[key] = Sightings(nulls=self.nulls, depth=self.depth + 1, most=most)
        return self.members[key]


def sight(records: Iterable[Mapping[str, Any]]) -> tuple[Sightings, int]:
    """Return the sightings in the records, and the number of records.

    >>> seen, count = sight([{"a": "x"}, {"a": None, "b": [1, 2]}])
    >>> count, seen.members["a"].present, seen.members["b"].items.scalars
    (2, 1, [1, 2])
    """
    root, count = Sightings(), 0
    for record in records:
        count += 1
        for key, value in record.items():
            root.member(str(key)).see(value)
    return root, count


def has_id_name(key: str) -> bool:
    """Return whether a key is a usual name of an id, in any spelling.

    >>> has_id_name("docId"), has_id_name("Image File"), has_id_name("vendor_tax_id")
    (True, True, False)
    """
    return _snake(key) in _ID_NAMES


def find_document_id(root: Sightings, count: int, otherwise: str = "position") -> tuple[str | None, str]:
    """Return the key with a usual name that is filled and unique in all records, or None; and the reason.

    `otherwise` is the way documents match without an id. A key with another name is never taken, whatever its
    values, since it may be an extracted field.
    """
    likely = [
        key for key in root.members if has_id_name(key) or _snake(key).rpartition("_")[2] in _ID_ENDINGS
    ]
    distinct = {
        key: len({str(value).strip() for value in root.members[key].scalars if not isinstance(value, bool)})
        for key in likely
    }
    unique = [key for key in likely if distinct[key] == count == root.members[key].present]
    named = sorted(filter(has_id_name, likely), key=lambda key: _ID_NAMES.index(_snake(key)))
    for key in named:
        if key in unique:
            return key, f"the usual name of an id, in {count} of {count} documents, all different"
    if not named:
        hints = [
            f"; if {key} identifies a document, write `data: {{id_key: {key}}}` and remove the field"
            for key in unique
        ]
        why = f"no key has a usual name of one, so documents are matched by {otherwise}"
        return None, "".join((f"no id: {why}", *hints[:1]))
    key, seen = named[0], root.members[named[0]]
    why = f"is not different in each document ({distinct[key]} different of {count})"
    if seen.present < count:
        why = f"is empty in {count - seen.present} of {count} documents"
    elif len(seen.scalars) < count:
        why = "is neither a text nor a number in some documents"
    return None, f"no id: {key} {why}, so it is read as a field; correct it, or name the id"


def _snake(key: str) -> str:
    return re.sub(r"[\s-]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key[:100].strip())).casefold()


# A first spec from the values of gold data, alone or beside a schema.

Place = tuple[str, ...]

_TYPE_NAMES = ("document_type", "doc_type", "documenttype", "doctype")
_AT_HOME = {
    "PLN": "pl_PL", "RUB": "ru_RU", "CZK": "cs_CZ", "HUF": "hu_HU", "UAH": "uk_UA", "SEK": "sv_SE",
    "NOK": "nb_NO", "DKK": "da_DK", "BRL": "pt_BR", "IDR": "id_ID", "TRY": "tr_TR",
}  # fmt: skip
"""Currencies of one country with a decimal comma, with its locale."""
_MOST_KEYS, _MOST_CHARACTERS, _MOST_TYPES, _MOST_NAMED = 60, 5_000_000, 30, 10


class Inferred(Struct, frozen=True, eq=False):
    """An inferred spec with comments on its places."""

    spec: Spec
    comments: Mapping[Place, str]
    facts: Mapping[Place, str] = field(default_factory=dict)
    """The part of each field's comment that is independent of its type: its count, with an example."""


def infer_seen(
    root: Sightings, count: int, name: str, document_id: tuple[str | None, str], is_beside: bool = False
) -> Inferred:
    """Return a spec that fits the sightings of `count` gold records, with comments.

    Every type reads at least 98% of the values (of the first 20,000 per field the 1,000 most frequent),
    otherwise the field is text. The document's id (with its reason) is no field, unless it stands beside the
    record. A locale is set only if numbers or dates can be read in only one way.
    """
    key, id_reason = document_id
    members = {name: seen for name, seen in root.members.items() if is_beside or name != key}
    walk = _Walk(count)
    fields = walk.fields(members)
    locale, reason = _locale_of(walk.marks)
    if locale is not None:
        walk = _Walk(count, locale)
        fields = walk.fields(members)
    heads: dict[Place, str] = {("data",): id_reason, ("locale",): reason}
    if locale is None:
        heads = {("data",): id_reason, ("fields",): reason}
    if key is None:
        heads[("fields",)] = "\n".join(filter(None, (heads.pop(("data",)), heads.get(("fields",)))))
    nulls = {text.casefold(): text for text, _ in reversed(root.nulls.most_common())}
    ids = () if key is None else (key,)
    kinds = _document_type(members)
    data, empty = DataOptions(id_key=ids), tuple(sorted(nulls.values()))
    spec = Spec(name, fields, data=data, null_values=empty, locale=locale, document_type=kinds)
    return Inferred(spec, {**walk.comments, **heads}, walk.facts)


class _Walk(Struct):
    """Infers fields one by one, with their comments, and the marks of all their values (see `Guess`)."""

    documents: int
    locale: str | None = None
    comments: dict[Place, str] = field(default_factory=dict)
    facts: dict[Place, str] = field(default_factory=dict)
    marks: dict[str, list[str]] = field(default_factory=dict)

    def fields(self, members: Mapping[str, Sightings], place: Place = ()) -> tuple[Field, ...]:
        """Return the fields that fit the sightings of an object's members."""
        fields = []
        for name, seen in members.items():
            at = (*place, "fields", name)
            inferred, remarks = self._shaped(name, seen, at)
            times = "once" if seen.present == 1 else f"{seen.present} times"
            fact = times if place else f"{seen.present} of {self.documents} documents"
            for sample in seen.scalars[:1]:
                text = json.dumps(sample, ensure_ascii=False)
                fact += f"; e.g. {text}" if len(text) <= 50 else f'; e.g. {text[:46]}…"'
            self.facts[at], self.comments[at] = fact, "; ".join((fact, *remarks))
            fields.append(inferred)
        return tuple(fields)

    def _shaped(self, name: str, seen: Sightings, place: Place) -> tuple[Field, tuple[str, ...]]:
        keys, filled, tree = len(seen.members), sum(inner.present for inner in seen.members.values()), ""
        if (seen.lists or seen.objects) and seen.depth >= DEEPEST:
            tree = "nests too deeply to be described"
        elif 0 < seen.objects < seen.present:
            tree = "objects beside other kinds, so it is read as a tree"
        elif seen.objects and (not keys or (keys > _MOST_KEYS and filled < 0.1 * keys * seen.objects)):
            tree = f"{keys} different keys, most of them rare, so it is read as a tree"
        if tree:
            return Field(name, "any"), (tree,)
        if seen.objects:
            return Field(name, "object", fields=self.fields(seen.members, place)), ()
        if seen.items is None:
            return self._value(name, seen.scalars)
        items = seen.items
        remarks = ("some are single values; each counts as a list of one",) if seen.scalars else ()
        if items.objects or items.lists:
            inner, below = self._shaped("", items, (*place, "items"))
        else:
            inner, below = self._guess(name, "", [*items.scalars, *seen.scalars])
        return Field(name, "list", items=inner), (f"{items.present} items", *remarks, *below)

    def _value(self, name: str, values: Sequence[Any]) -> tuple[Field, tuple[str, ...]]:
        texts = [value for value in values if isinstance(value, str)]
        inferred, remarks = self._guess(name, name, values)
        if inferred.type != "text" or not texts:
            return inferred, remarks
        is_small = len(texts) == len(values) and sum(map(len, texts)) <= _MOST_CHARACTERS
        for separator, needed in (("|", 0.2), (";", 0.6)) if is_small else ():
            cells = [text.split(separator) for text in texts if separator in text]
            parts = [part.strip() for text in texts for part in text.split(separator) if part.strip()]
            if len(cells) >= needed * len(texts) and max(map(len, parts), default=0) <= 200:
                items, remarks = self._guess(name, "", parts)
                remarks = (f"lists written with {separator!r}", *remarks)
                return Field(name, "list", items=items, separator=separator), remarks
        if any(map(re.compile("[äöüßÄÖÜẞ]").search, texts)):
            remarks = (*remarks, "`normalize: [umlauts]` would take ü and ue as the same")
        return inferred, remarks

    def _guess(self, name: str, own_name: str, values: Sequence[Any]) -> tuple[Field, tuple[str, ...]]:
        guess = guess_type(name, values, self.locale)
        for mark, texts in guess.marks.items():
            self.marks.setdefault(mark, []).extend(texts)
        return Field(own_name, guess.type, freeze_options(guess.options)), guess.remarks


def _locale_of(marks: Mapping[str, Sequence[str]]) -> tuple[str | None, str]:
    """Return the locale of all numbers and dates, or None, and the reason."""
    points, commas = marks.get(".", ()), marks.get(",", ())
    point, comma = (
        f"{len(texts):,} number{' has' if len(texts) == 1 else 's have'} a decimal {sign}"
        for sign, texts in (("point", points), ("comma", commas))
    )
    homes = [locale for currency, locale in _AT_HOME.items() if currency in marks]
    locale, why = None, ""
    if commas and points:
        why = (
            f"{point} (such as {points[0]}), {comma} (such as {commas[0]}); set `decimal` where it is missing"
        )
    elif commas and " " in marks and len(homes) != 1:
        why = f"{comma}, and spaces between thousands, as in many countries; add `locale:` of your documents"
    elif commas:
        locale, why = homes[0] if len(homes) == 1 else "de_DE", comma
    elif "'" in marks:
        locale, why = "de_CH", f"{point}, and apostrophes between thousands"
    elif points and ("dmy" in marks) != ("mdy" in marks):
        order = "dmy" if "dmy" in marks else "mdy"
        locale, why = {"dmy": "en_GB", "mdy": "en_US"}[order], f"decimal points, dates in the order {order}"
    elif "text" in marks:
        seen = [point] * bool(points)
        seen += [f"dates are in the order {order}" for order in ("dmy", "mdy") if order in marks]
        why = "the data do not show how numbers and dates are written"
        why = f"{', '.join(seen)}: too few to choose one" if seen else why
        why += "; add `locale:` if some are ambiguous"
    if locale is not None:
        return locale, f"{why}; choose the locale of your documents"
    return None, f"no locale: {why}" if why else ""


def _document_type(members: Mapping[str, Sightings]) -> DocumentType | None:
    for key, seen in members.items():
        values = sorted({value.strip() for value in seen.scalars if isinstance(value, str)})
        is_plain = 0 < len(values) == len({*map(str.casefold, values)}) <= _MOST_TYPES
        if is_plain and key.casefold() in _TYPE_NAMES:
            return DocumentType(key, tuple((value, ()) for value in values))
    return None


def with_gold(spec: Spec, inferred: Inferred) -> Inferred:
    """Return a schema's spec completed from gold, with comments.

    Gold gives the id, locale, null values, document type and orders of dates that the schema leaves open.
    Comments list the counts of each field, keys of gold missing from the schema, and fields whose values look
    like another type.
    """
    gold, lacking = inferred.spec, list[str]()
    comments: dict[Place, str] = {at: text for at, text in inferred.comments.items() if len(at) == 1}

    def blend(ours: Field, theirs: Field, place: Place, path: Steps) -> Field:
        if ours.type == theirs.type == "list" and ours.items is not None and theirs.items is not None:
            return replace(ours, items=blend(ours.items, theirs.items, (*place, "items"), (*path, ITEM)))
        if {ours.type, theirs.type} <= {"date", "datetime"}:
            order = [pair for pair in theirs.options if pair[0] == "order"]
            return replace(ours, options=tuple(sorted(dict((*order, *ours.options)).items())))
        if not ours.type == theirs.type == "object":
            return ours
        seen = {inner.name: inner for inner in theirs.fields}
        declared = {name for inner in ours.fields for name in (inner.name, *inner.names)}
        lacking.extend(join_path((*path, name)) for name in seen if name not in declared)
        fields = []
        for inner in ours.fields:
            at, other = (*place, "fields", inner.name), seen.get(inner.name)
            if other is None:
                comments[at] = "not in the gold seen"
            else:
                is_other = inner.type == "text" and other.type not in ("text", "any", "enum", "id")
                remark = f"; gold looks like the type {other.type}" if is_other else ""
                comments[at] = inferred.facts[at] + remark
            fields.append(inner if other is None else blend(inner, other, at, (*path, inner.name)))
        return replace(ours, fields=tuple(fields))

    names = {inner.name for inner in gold.fields}
    own = tuple(inner for inner in spec.fields if inner.name in names or inner.name not in gold.data.id_key)
    fields = blend(Field("", "object", fields=own), Field("", "object", fields=gold.fields), (), ()).fields
    if lacking:
        remark = f"gold has keys that the schema does not have: {list_names(lacking, _MOST_NAMED)}"
        comments[("fields",)] = "\n".join(filter(None, (comments.get(("fields",)), remark)))
    gaps = ("locale", "null_values", "document_type")
    completed = {name: getattr(spec, name) or getattr(gold, name) for name in gaps}
    return Inferred(replace(spec, fields=fields, data=gold.data, **completed), comments)
