"""Types of text: normalizers, plain text, identifiers, and values of any type."""

import importlib
import json
import math
import pkgutil
import re
import sys
import unicodedata
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Column, Reader, Reading, json_text, objects

# Normalizers of text fields, one step each, applied in the order of the spec.


class Normalizer:
    """Removes one kind of difference from a text.

    A normalizer is a frozen `Struct` or dataclass whose fields are its options in a spec. It never
    raises on a text.
    """

    @abstractmethod
    def apply(self, text: str) -> str:
        """Return the normalized text."""


class Case(Normalizer, Struct, frozen=True):
    """Ignores letter case; `fold` also equates `ß` with `ss`.

    >>> Case("upper").apply("Straße")
    'STRASSE'
    """

    form: Literal["fold", "lower", "upper"] = "fold"

    def apply(self, text: str) -> str:
        if self.form == "upper":
            return text.upper()
        return text.lower() if self.form == "lower" else text.casefold()


class BareLetters(dict[int, str]):
    """Latin letters without strokes, hooks and ligatures, by code point: what `str.translate` takes.

    A letter "with stroke" in the Unicode Character Database is the letter so named; the others are as in the
    transform Latin-ASCII of CLDR.

    >>> "Łódź, Tromsø, ħ, Þór".translate(BareLetters())
    'Lódź, Tromso, h, THór'
    """

    def __init__(self) -> None:
        pairs = zip("ÆæŒœÞþÐðıȷ", ("AE", "ae", "OE", "oe", "TH", "th", "D", "d", "i", "j"), strict=True)
        super().__init__({ord(letter): bare for letter, bare in pairs})

    def __missing__(self, code: int) -> str:
        named = _LATIN_LETTER.match(unicodedata.name(chr(code), ""))
        is_bare = named is None or unicodedata.decomposition(chr(code)) != ""
        self[code] = chr(code) if is_bare or named is None else unicodedata.lookup(named[1])
        return self[code]


_LATIN_LETTER = re.compile("(LATIN (?:SMALL|CAPITAL) LETTER [A-Z]) WITH ")
BARE_LETTERS = BareLetters()


class Accents(Normalizer, Struct, frozen=True):
    """Decomposes the text, drops combining marks, and folds letters with strokes and ligatures.

    `NFKD` and `NFD` do only the former; `NFD` also keeps compatibility forms (`ﬁ`, `³`).

    >>> Accents().apply("LOSARTÁN ½"), Accents().apply("Łódź"), Accents("NFKD").apply("Łódź")
    ('LOSARTAN 1⁄2', 'Lodz', 'Łodz')
    """

    form: Literal["fold", "NFKD", "NFD"] = "fold"

    def apply(self, text: str) -> str:
        if text.isascii():
            return text
        decomposed = unicodedata.normalize("NFD" if self.form == "NFD" else "NFKD", text)
        plain = "".join([char for char in decomposed if not unicodedata.combining(char)])
        return plain.translate(BARE_LETTERS) if self.form == "fold" else plain


_DIGRAPHS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "AE", "Ö": "OE", "Ü": "UE", "ẞ": "SS"}
_UMLAUT = re.compile("[äöüßÄÖÜẞ]")


class Umlauts(Normalizer, Struct, frozen=True):
    """Writes German umlauts and ß, composed or decomposed, as two letters.

    >>> Umlauts().apply("Müller, Größe"), Umlauts().apply("Öl ÖL")
    ('Mueller, Groesse', 'Oel OEL')
    """

    def apply(self, text: str) -> str:
        if text.isascii():
            return text
        composed = unicodedata.normalize("NFC", text)
        return _UMLAUT.sub(lambda match: _digraph(composed, match.start()), composed)


def _digraph(text: str, position: int) -> str:
    """Return the two letters for the umlaut at a position.

    The second is small unless the next letter (or, at the end, the previous one) is a capital.
    """
    digraph = _DIGRAPHS[text[position]]
    beside = text[position + 1 : position + 2]
    if not beside.isalpha():
        beside = text[position - 1 : position]
    return digraph if digraph[0].islower() or beside.isupper() else digraph.capitalize()


class Unicode(Normalizer, Struct, frozen=True):
    """Converts the text to one Unicode form, so that composed and decomposed letters are equal.

    >>> Unicode().apply("e\\u0301") == "é"
    True
    """

    form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC"

    def apply(self, text: str) -> str:
        return text if text.isascii() else unicodedata.normalize(self.form, text)


_NAMES = {".": "decimal_point", "-": "minus_sign", "/": "slash", "%": "percent"}


@cache
def _marks() -> tuple[str, ...]:
    return tuple(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "P")


@lru_cache(maxsize=64)
def _punctuation(keep: frozenset[str]) -> re.Pattern[str]:
    plain = "".join(re.escape(mark) for mark in _marks() if mark not in keep and _NAMES.get(mark) not in keep)
    patterns = [f"[{plain}]"] if plain else []
    if "decimal_point" in keep and "." not in keep:
        patterns.append(r"(?<!\d)\.|\.(?!\d)")
    if "minus_sign" in keep and "-" not in keep:
        patterns.append(r"(?<=[^\W_])-|-(?!\d)")
    if "slash" in keep and "/" not in keep:
        patterns.append(r"(?<!\d)/|/(?!\d)")
    return re.compile("|".join(patterns) or r"(?!)")


class Punctuation(Normalizer, Struct, frozen=True):
    """Deletes punctuation (every Unicode category P), or replaces each mark by a space.

    `keep` lists exceptions: `decimal_point` (a point between two digits), `minus_sign` (a `-` before a digit
    with no letter or digit before it, nor a digit and spaces: `70 -100` is a range), `slash` (between two
    digits, without the spaces around it), `percent`
    (`%`, a word of its own among spaces), or single characters. The context is that of the original text.

    >>> Punctuation("space", ("decimal_point", "minus_sign")).apply("1-2 tab. (0.5), -3")
    '1 2 tab   0.5   -3'
    >>> Punctuation("space", ("slash", "percent")).apply("1 / 2 tab/día al 5%")
    '1/2 tab día al 5 % '
    >>> Punctuation().apply("O'Neil, Inc.")
    'ONeil Inc'
    """

    mode: Literal["delete", "space"] = "delete"
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [
            exception for exception in self.keep if len(exception) != 1 and exception not in _NAMES.values()
        ]
        if unknown:
            raise ValueError(f"keep cannot be {unknown[0]!r}; {nearest(unknown[0], tuple(_NAMES.values()))}")

    def apply(self, text: str) -> str:
        if "slash" in self.keep:
            text = _SPACED_SLASH.sub("/", text)
        if "minus_sign" in self.keep:
            text = _SPACED_DASH.sub("-", text)
        text = _punctuation(frozenset(self.keep)).sub(" " if self.mode == "space" else "", text)
        return text.replace("%", " % ") if "percent" in self.keep and self.mode == "space" else text


_SPACED_SLASH = re.compile(r"(?<=\d)\s*/\s*(?=\d)")
_SPACED_DASH = re.compile(r"(?<=\d)\s+-\s*(?=\d)")


_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


class DecimalComma(Normalizer, Struct, frozen=True):
    """Replaces a comma between two digits by a point.

    >>> DecimalComma().apply("5,0 mg, cada 8 h")
    '5.0 mg, cada 8 h'
    """

    def apply(self, text: str) -> str:
        return _DECIMAL_COMMA.sub(".", text)


_BARE_POINT = re.compile(r"(?<![\w.,])[.,](?=\d)")


class LeadingZero(Normalizer, Struct, frozen=True):
    """Writes the 0 of a number that begins with its decimal point or comma.

    >>> LeadingZero().apply(".5 mg (,25), -.5, h.5")
    '0.5 mg (0.25), -0.5, h.5'
    """

    def apply(self, text: str) -> str:
        return _BARE_POINT.sub("0.", text)


class WhiteSpace(Normalizer, Struct, frozen=True):
    """Collapses each run of white space to one space and trims (`collapse`), or removes it all (`remove`).

    >>> WhiteSpace().apply(" a \\t b "), WhiteSpace("remove").apply(" a b ")
    ('a b', 'ab')
    """

    form: Literal["collapse", "remove"] = "collapse"

    def apply(self, text: str) -> str:
        return (" " if self.form == "collapse" else "").join(text.split())


class Separators(Normalizer, Struct, frozen=True):
    """Replaces each of the given characters by a space.

    >>> Separators("|/").apply("a|b/c")
    'a b c'
    """

    characters: str = "|"

    def apply(self, text: str) -> str:
        return text.translate({ord(char): " " for char in self.characters})


class Remove(Normalizer, Struct, frozen=True):
    """Deletes each of the given characters.

    >>> Remove(", $%()").apply("$ 1,234.50 (10%)")
    '1234.5010'
    """

    characters: str

    def apply(self, text: str) -> str:
        return text.translate({ord(char): None for char in self.characters})


class DigitsOnly(Normalizer, Struct, frozen=True):
    """Keeps only the decimal digits of any script, written as ASCII digits.

    >>> DigitsOnly().apply("ABN 06 082-٣")
    '060823'
    """

    def apply(self, text: str) -> str:
        if text.isascii():
            return "".join(filter(str.isdigit, text))
        return "".join([str(unicodedata.decimal(char)) for char in text if char.isdecimal()])


# Text, and the text of other values.

_RUN = re.compile(r"\s\s|[^\S ]")
_ASCII_RUNS = ("  ", *"\t\n\v\f\r\x1c\x1d\x1e\x1f")


def whole_number(raw: Scalar) -> int | None:
    """Return the integer of a JSON number; None for text, booleans and fractions.

    A float counts only below 2^53, where it is exact: spreadsheets and data frames turn integers into floats.

    >>> whole_number(7), whole_number(7.0), whole_number(7.5), whole_number(True)
    (7, 7, None, None)
    """
    if isinstance(raw, bool | str):
        return None
    if isinstance(raw, int):
        return raw
    return int(raw) if math.isfinite(raw) and raw == int(raw) and abs(raw) < 2**53 else None


def coerced(raw: Any) -> tuple[str, ...]:
    """Return the flag of a value other than text that was read as text."""
    return () if isinstance(raw, str) else ("coerced",)


def _has_runs(text: str) -> bool:
    return any(run in text for run in _ASCII_RUNS) if text.isascii() else _RUN.search(text) is not None


class TextReader(Reader, Struct, frozen=True):
    """Reads text: trimmed, each run of white space as one blank, then normalized in the given order.

    Letter case is ignored: the canonical text is folded, the value keeps its letters. Case counts with
    `case: exact`, white space inside of the text with `white_space: exact`, and Unicode form with
    `unicode: exact`; accents count unless a normalizer removes them. A text of which the normalizers leave
    nothing is a value, no value (`nothing_left: empty`), or unreadable (`nothing_left: unreadable`).

    >>> from fieldassay.values.types.text import Accents, Case
    >>> reading = TextReader((Accents(),)).read(" Losartán \\n 50 mg")
    >>> reading.value, reading.canonical
    ('Losartan 50 mg', 'losartan 50 mg')
    >>> TextReader((Accents(), Case("upper")), case="exact").read("Losartán").canonical
    'LOSARTAN'
    """

    normalize: tuple[Normalizer, ...] = ()
    nothing_left: Literal["value", "empty", "unreadable"] = "value"
    white_space: Literal["collapse", "exact"] = "collapse"
    unicode: Literal["settled", "exact"] = "settled"
    case: Literal["ignore", "exact"] = "ignore"

    @property
    def is_exact(self) -> bool:
        return self.unicode == "exact"

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:
        return None if self.nothing_left != "empty" else np.asarray(column.canonical == "", dtype=np.bool_)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        value = self._normalized(text)
        if not value and self.nothing_left == "unreadable":
            return Reading(text, None, value, coerced(raw), "says nothing")
        return Reading(text, value, value if self.case == "exact" else value.casefold(), coerced(raw))

    def read_settled(self, raws: Sequence[Scalar]) -> Column:
        if self.normalize or self.nothing_left == "unreadable":
            return Column.of(list(map(self.read, raws)))
        if set(map(type, raws)) <= {str}:
            plain, flags = [raw.strip() for raw in raws], {}  # type: ignore[union-attr]
        else:
            plain = [json_text(raw) for raw in raws]
            flags = {index: ("coerced",) for index, raw in enumerate(raws) if not isinstance(raw, str)}
        texts = values = objects(plain)
        if self.white_space == "collapse" and _has_runs("\0".join(plain)):
            values = objects([" ".join(text.split()) for text in plain])
        canonical = values if self.case == "exact" else objects([text.casefold() for text in values])
        return Column(texts, values, canonical, flags)

    def _normalized(self, text: str) -> str:
        text = text if self.white_space == "exact" else " ".join(text.split())
        for normalizer in self.normalize:
            text = normalizer.apply(text)
        return text


# Identifiers: texts in which every character counts.

_MOST_CHARACTERS = 200
_COUNTRY, _GTIN, _FEWEST_DIGITS = 2, 13, 5
_LONGEST_HINT = 200
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}(?:\.[a-z0-9_]{1,40}){0,2}")


class IdReader(Reader, Struct, frozen=True):
    """Reads identifiers as text: trimmed, white space collapsed, otherwise unchanged (`000123` is not `123`).

    `checksum` names a number format of python-stdnum (`au.abn`, `iban`, `isbn`). Separators that the format
    ignores are then ignored, and a value that fails the check stays comparable and is flagged
    `invalid_checksum`. With `ean` and `isbn` the number counts, not its length: a bar code is read with 13
    digits, an ISBN-10 as its ISBN-13, flagged `other_length`.

    >>> IdReader().read(" INV  0012 ").canonical
    'INV 0012'
    >>> reading = IdReader(checksum="au.abn").read("06 082 698 025")
    >>> reading.canonical, reading.flags
    ('06082698025', ('invalid_checksum',))
    """

    checksum: str | None = None
    case_sensitive: bool = True
    normalize: tuple[Normalizer, ...] = ()

    def __post_init__(self) -> None:
        if self.checksum is not None and _module(self.checksum) is None:
            hint = nearest(self.checksum, checksum_names())
            raise ValueError(
                f"unknown checksum {self.checksum!r}; "
                f"{hint if len(hint) < _LONGEST_HINT else 'name a module of python-stdnum, such as au.abn'}"
            )

    def read(self, raw: Scalar) -> Reading:
        number = whole_number(raw)
        text = json_text(raw)
        plain = " ".join((text if number is None else json_text(number)).split())
        for normalizer in self.normalize:
            plain = normalizer.apply(plain)
        flags = coerced(raw)
        if self.checksum is not None:
            module = _module(self.checksum)
            written, is_valid = _checked(module, plain)
            label = _LABEL.match(plain)
            if not is_valid and label and (bare := _checked(module, plain[label.end() :]))[1]:
                written, is_valid = bare
            plain = _in_usual_form(self.checksum, written)
            is_valid |= plain != written
            flags = (*("other_length",) * (plain != written), *("invalid_checksum",) * (not is_valid), *flags)
        canonical = plain if self.case_sensitive else plain.casefold()
        return Reading(text, canonical, canonical, flags)

    def read_settled(self, raws: Sequence[Scalar]) -> Column:
        if self.checksum is not None or self.normalize or not set(map(type, raws)) <= {str}:
            return Column.of(list(map(self.read, raws)))
        raw_texts: list[str] = list(raws)  # type: ignore[arg-type]
        texts, plain = raw_texts.copy(), raw_texts.copy()
        for at in _find_spaced(raw_texts):
            texts[at], plain[at] = raw_texts[at].strip(), " ".join(raw_texts[at].split())
        canonical = objects(plain if self.case_sensitive else [text.casefold() for text in plain])
        return Column(objects(texts), canonical, canonical)


def _find_spaced(texts: Sequence[str]) -> Iterable[int]:
    """Return the positions of the texts with white space, and perhaps those of the first and the last."""
    joined = "\0".join(texts)
    if joined.count("\0") != len(texts) - 1:
        return range(len(texts))
    *words, _ = ["", *joined.split()]
    return {0, len(texts) - 1, *accumulate(word.count("\0") for word in words)}


def checksum_names() -> tuple[str, ...]:
    """Return the valid names for `checksum`: every number format of python-stdnum, such as `au.abn`."""
    import stdnum

    names = [
        module.name.removeprefix("stdnum.") for module in pkgutil.walk_packages(stdnum.__path__, "stdnum.")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # renamed modules of python-stdnum
        return tuple(name.replace("_.", ".") for name in names if _module(name) is not None)


def _module(name: str) -> Any:
    if not _NAME.fullmatch(name):
        return None
    for spelling in (name, name.replace(".", "_.", 1)):  # stdnum calls India's package in_
        try:
            module = importlib.import_module(f"stdnum.{spelling}")
        except ImportError:
            continue
        if hasattr(module, "is_valid"):
            return module
    return None


_HEAD_OFFICE = re.compile(r"(?<=\A.{8})XXX\Z")
_SWISS_TAX = re.compile(r"(?:TVA|IVA|TPV)\Z")
_GREECE = re.compile(r"\AGR")
_CENTURY = re.compile(r"\A(?:19|20)(?=\d{6}-)")
_USUAL = {
    "bic": (_HEAD_OFFICE, ""), "ch.vat": (_SWISS_TAX, "MWST"), "eu.vat": (_GREECE, "EL"),
    "se.personnummer": (_CENTURY, ""),
}  # fmt: skip
"""Of numbers that are written in several ways: the part that is replaced in the usual one, and by what."""
_LABEL = re.compile(r"[^\W\d_]{3,6}(?:[ -]?(?:no|nr|number)\b\.?)?[.:#]? +", re.IGNORECASE)


def _in_usual_form(checksum: str, written: str) -> str:
    """Return a number that is written in several ways in the usual one; any other text unchanged.

    >>> _in_usual_form("ean", "36000291452"), _in_usual_form("isbn", "0306406152")
    ('0036000291452', '9780306406157')
    >>> _in_usual_form("bic", "AGRIFRPPXXX"), _in_usual_form("ro.cf", "RO18547290")
    ('AGRIFRPP', '18547290')
    """
    module, (country, dot, _) = _module(checksum), checksum.partition(".")
    usual = written
    if checksum in ("isbn", "ismn") and module.is_valid(written):
        usual = str(getattr(module, f"to_{checksum}13")(written))
    elif checksum == "ean" and written.isdecimal() and written.isascii() and len(written) > _FEWEST_DIGITS:
        usual = written.lstrip("0").rjust(_GTIN, "0")
    elif checksum == "isil":
        usual = written.upper()
    elif checksum in _USUAL:
        pattern, by = _USUAL[checksum]
        usual = pattern.sub(by, written)
    elif dot and country != "eu" and written.upper().startswith(country.upper()):
        usual = written[len(country) :]
    return usual if usual != written and module.is_valid(usual) else written


def _checked(module: Any, text: str) -> tuple[str, bool]:
    if len(text) > _MOST_CHARACTERS:
        return text, False
    try:
        if not hasattr(module, "compact"):
            compact = text.replace(" ", "").replace("-", "")
            return compact or text, bool(module.is_valid(compact))
        compact = str(module.compact(text))
        is_stable = bool(compact) and str(module.compact(compact)) == compact  # eu.vat drops one PT of PTPT…
        lost = "".join(filter(str.isalnum, text)).upper().removesuffix(compact.upper())
        if len(lost) == _COUNTRY and compact.upper().startswith(lost):  # vatin drops one BE of BE BE…
            return text, False
        return compact if is_stable else text, bool(module.is_valid(text))
    except Exception:  # formats raise anything on hostile text, which is then invalid
        return text, False


# Values of any kind, where a spec declares none.


class AnyReader(Reader, Struct, frozen=True):
    """Reads any scalar unchanged; the canonical text is JSON: kinds differ, except that 1 equals 1.0.

    Texts are trimmed unless `trim` is false, then normalized in the given order.

    >>> [AnyReader().read(raw).canonical for raw in ("1", 1, 1.0, True)]
    ['"1"', '1', '1', 'true']
    """

    normalize: tuple[Normalizer, ...] = ()
    trim: bool = True

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, str):
            value = text if self.trim else raw
            for normalizer in self.normalize:
                value = normalizer.apply(value)
            return Reading(text, value, json.dumps(value, ensure_ascii=False))
        return Reading(text, raw, text if isinstance(raw, bool) else _number_text(raw))


def _number_text(number: int | float) -> str:
    if isinstance(number, float) and not math.isfinite(number):
        return json_text(number)
    exact = Decimal(number) if isinstance(number, int) else Decimal(repr(number))
    sign, digits, exponent = exact.as_tuple()
    shown = "".join(map(str, digits))
    significand = shown.rstrip("0")
    if not significand:
        return "0"
    power = int(exponent) + len(shown) - len(significand)
    exponent_text = "" if power == 0 else f"e{power}"
    plain = -20 <= power <= 20
    text = f"{Decimal((0, tuple(map(int, significand)), power)):f}" if plain else significand + exponent_text
    return f"-{text}" if sign else text
