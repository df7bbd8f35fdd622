"""Normalizers of text fields, one step each, applied in the order of the spec."""

from __future__ import annotations

import re
import sys
import unicodedata
from abc import abstractmethod
from functools import cache, lru_cache
from typing import Literal, TypeVar

from msgspec import Struct

from fieldassay.errors import MissingExtraError, nearest
from fieldassay.regex import lazy_regex

_Choice = TypeVar("_Choice", bound=str)


class Normalizer:
    """Removes one kind of difference from a text.

    A normalizer is a frozen `Struct` or dataclass whose fields are its options in a spec. It never
    raises on a text.
    """

    @abstractmethod
    def apply(self, text: str) -> str:
        """Return the normalized text."""


def _check(option: str, given: _Choice, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise ValueError(f"{option} cannot be {given!r}; {nearest(str(given), choices)}")


class Case(Normalizer, Struct, frozen=True):
    """Ignores letter case; `fold` also equates `ß` with `ss`.

    >>> Case("upper").apply("Straße")
    'STRASSE'
    """

    form: Literal["fold", "lower", "upper"] = "fold"

    def __post_init__(self) -> None:
        _check("form", self.form, ("fold", "lower", "upper"))

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


_LATIN_LETTER = lazy_regex("(LATIN (?:SMALL|CAPITAL) LETTER [A-Z]) WITH ")
BARE_LETTERS = BareLetters()


class Accents(Normalizer, Struct, frozen=True):
    """Decomposes the text, drops combining marks, and folds letters with strokes and ligatures.

    `NFKD` and `NFD` do only the former; `NFD` also keeps compatibility forms (`ﬁ`, `³`).

    >>> Accents().apply("LOSARTÁN ½"), Accents().apply("Łódź"), Accents("NFKD").apply("Łódź")
    ('LOSARTAN 1⁄2', 'Lodz', 'Łodz')
    """

    form: Literal["fold", "NFKD", "NFD"] = "fold"

    def __post_init__(self) -> None:
        _check("form", self.form, ("fold", "NFKD", "NFD"))

    def apply(self, text: str) -> str:
        if text.isascii():
            return text
        decomposed = unicodedata.normalize("NFD" if self.form == "NFD" else "NFKD", text)
        plain = "".join([char for char in decomposed if not unicodedata.combining(char)])
        return plain.translate(BARE_LETTERS) if self.form == "fold" else plain


_DIGRAPHS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "AE", "Ö": "OE", "Ü": "UE", "ẞ": "SS"}
_UMLAUT = lazy_regex("[äöüßÄÖÜẞ]")


class Umlauts(Normalizer, Struct, frozen=True):
    """Writes German umlauts and ß, composed or decomposed, as two letters.

    >>> Umlauts().apply("Müller, Größe"), Umlauts().apply("Öl ÖL")
    ('Mueller, Groesse', 'Oel OEL')
    """

    def apply(self, text: str) -> str:
        if text.isascii():
            return text
        composed = unicodedata.normalize("NFC", text)
        return _UMLAUT.sub(lambda found: _digraph(composed, found.start()), composed)


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

    def __post_init__(self) -> None:
        _check("form", self.form, ("NFC", "NFD", "NFKC", "NFKD"))

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
    with no letter or digit before it), `slash` (between two digits, without the spaces around it), `percent`
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
        _check("mode", self.mode, ("delete", "space"))
        for kept in self.keep:
            if len(kept) != 1:
                _check("keep", kept, tuple(_NAMES.values()))

    def apply(self, text: str) -> str:
        if "slash" in self.keep:
            text = _SPACED_SLASH.sub("/", text)
        text = _punctuation(frozenset(self.keep)).sub(" " if self.mode == "space" else "", text)
        return text.replace("%", " % ") if "percent" in self.keep and self.mode == "space" else text


_SPACED_SLASH = lazy_regex(r"(?<=\d)\s*/\s*(?=\d)")


_DECIMAL_COMMA = lazy_regex(r"(?<=\d),(?=\d)")


class DecimalComma(Normalizer, Struct, frozen=True):
    """Replaces a comma between two digits by a point.

    >>> DecimalComma().apply("5,0 mg, cada 8 h")
    '5.0 mg, cada 8 h'
    """

    def apply(self, text: str) -> str:
        return _DECIMAL_COMMA.sub(".", text)


_BARE_POINT = lazy_regex(r"(?<![\w.,])[.,](?=\d)")


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

    def __post_init__(self) -> None:
        _check("form", self.form, ("collapse", "remove"))

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


class Digits(Normalizer, Struct, frozen=True):
    """Keeps only the decimal digits of any script, written as ASCII digits.

    >>> Digits().apply("ABN 06 082-٣")
    '060823'
    """

    def apply(self, text: str) -> str:
        if text.isascii():
            return "".join(filter(str.isdigit, text))
        return "".join([str(unicodedata.decimal(char)) for char in text if char.isdecimal()])


class Ftfy(Normalizer, Struct, frozen=True):
    """Repairs mojibake with the ftfy package, which must be installed separately.

    It also changes correct text (quotes, ligatures, control characters), so it applies only where a spec
    names it.
    """

    def __post_init__(self) -> None:
        from importlib.util import find_spec

        if find_spec("ftfy") is None:
            raise MissingExtraError(
                "the normalizer 'ftfy' needs the package ftfy; install it with: pip install ftfy"
            )

    def apply(self, text: str) -> str:
        from importlib import import_module

        return str(import_module("ftfy").fix_text(text))
