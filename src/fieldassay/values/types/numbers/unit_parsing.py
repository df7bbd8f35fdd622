"""Parsing of unit spellings into canonical symbols with powers, and their canonical text."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from fieldassay.regex import lazy_regex
from fieldassay.values.types.numbers.unit_spellings import (
    ATOMS,
    COMPOUNDS,
    DEGREES,
    NORMALS,
    PERS,
    POWERS_AFTER,
    POWERS_BEFORE,
    PREFIX_WORDS,
    PREFIXED,
    PREFIXES,
    SYMBOLS,
    WORDS,
)

Factors = tuple[tuple[str, int], ...]
"""Canonical symbols with their powers."""

_SUPERSCRIPTS = dict(zip(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"), "0123456789-", strict=True))
_FOLDED = {
    **_SUPERSCRIPTS,
    **dict.fromkeys(map(ord, "\u00b5\u03bc"), "u"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u00b7\u22c5\u2219\u2022\u00d7"), "*"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u202f"), " "),
    **{
        ord("\u2103"): "degC",
        ord("\u2109"): "degF",
        ord("\u2126"): "Ω",
        ord("\u2215"): "/",
        ord("\u2044"): "/",
        ord("\u33a5"): "m3",
        ord("\u33a1"): "m2",
    },
}
_DEGREES = lazy_regex(
    r"(?:[°º˚]|\bdeg(?:\.|rees?)?|\bgrad|\bgrados?|\bdegrés?)[ ]*(celsius|fahrenheit|c|f)(?![a-z])",
    re.IGNORECASE,
)
_STROKE = lazy_regex(rf"[ ]*/[ ]*|(?:^|[ ]+)(?:{'|'.join(sorted(PERS))})[ ]+", re.IGNORECASE)
_POWER = lazy_regex(r"([^\d]*[^\d-])(-?\d)\Z")
_CLOSE = lazy_regex(r"([⁰¹²³⁴⁵⁶⁷⁸⁹])(?=[a-zA-Zµμ°Ω])")
_ODOR_UNITS = lazy_regex(r"\b(?:european )?odou?r[ ]+units?\b", re.IGNORECASE)
_HYPHEN = lazy_regex(r"(?<=[a-zA-Z])-(?=[a-zA-Z])")


def folded(text: str) -> str:
    """Return a unit's text in ASCII where possible.

    Powers follow their symbols, every dot is `*`, degrees are `degC` and `degF`.

    >>> folded("W/m²·K"), folded("° C"), folded("odor units/m³")
    ('W/m2*K', 'degC', 'ou/m3')
    """
    text = _CLOSE.sub(r"\1*", text)
    plain = text.translate(_FOLDED).strip().replace("**", "").replace("^", "")
    if plain[:1] == "[" and plain[-1:] == "]":
        plain = plain[1:-1].strip()
    return _DEGREES.sub(lambda match: DEGREES[match[1].lower()], _ODOR_UNITS.sub("ou", plain))


def taken_apart(unit: str) -> tuple[Factors, Factors] | None:
    """Return the factors above and below the stroke of a folded unit, all powers positive.

    None if a part is unknown.

    >>> taken_apart("mg Nm-3")
    ((('mg', 1),), (('Nm3', 1),))
    """
    above, below = Counter[str](), Counter[str]()
    for place, side in enumerate(_STROKE.split(unit)):
        if place and side[:1] == "(" and side[-1:] == ")":
            side = side[1:-1]
        product = () if (side.strip() in ("1", "") and not place) else _product(side)
        if product is None or (place and not product):
            return None
        for name, power in product:
            (above if (power > 0) == (place == 0) else below)[name] += abs(power)
    return _watt_hours(tuple(sorted(above.items(), key=_order)), above), tuple(
        sorted(below.items(), key=_order)
    )


def _order(factor: tuple[str, int]) -> tuple[str, str]:
    return factor[0].casefold(), factor[0]


def _watt_hours(above: Factors, counts: Counter[str]) -> Factors:
    watt = next((name for name in counts if name[-1:] == "W" and counts[name] == counts["h"] == 1), None)
    if watt is None:
        return above
    return tuple(
        sorted(
            ((name + "h" if name == watt else name, power) for name, power in above if name != "h"),
            key=_order,
        )
    )


def _product(side: str) -> Factors | None:
    """Return the factors of one side of a stroke, with their powers as written."""
    words = _HYPHEN.sub("*", side).replace("*", " ").split()
    found: list[tuple[str, int]] = []
    raised, normal = 1, ""
    for word in words:
        after = POWERS_AFTER.get(word.lower())
        if found and after:
            found[-1] = (found[-1][0], after)
        elif found and word in NORMALS and found[-1] == ("m", 3):
            found[-1] = ("Nm3", 1)
        elif word in NORMALS and word is not words[-1]:
            normal = word
        elif word.lower() in POWERS_BEFORE:
            raised = POWERS_BEFORE[word.lower()]
        else:
            atoms = _atoms(word)
            if atoms is None:
                return None
            if raised != 1:
                atoms, raised = tuple((name, power * raised) for name, power in atoms), 1
            found.extend(atoms)
    return _normalized(found, normal) if raised == 1 else None


def _normalized(found: list[tuple[str, int]], word: str) -> Factors | None:
    """Return the factors, with a normal cubic meter for the plain one if a word says so.

    A lone `N` beside anything else is a newton.
    """
    if not word:
        return tuple(found)
    if ("m", 3) in found:
        found[found.index(("m", 3))] = ("Nm3", 1)
        return tuple(found)
    return (("N", 1), *found) if word == "N" else None


def _atoms(word: str) -> Factors | None:
    """Return the factors of one word: with a power (`m3`, `h-1`) or a compound (`Nm`, `Kubikmeter`)."""
    whole = _looked_up(word) or _looked_up(word.removesuffix("."))
    if whole is not None:
        return tuple((_base(part)) for part in whole.split("*"))
    if word.lower() == "normkubikmeter":
        return (("Nm3", 1),)
    for start, meaning in COMPOUNDS.items():
        if word.lower().startswith(start):
            length = _looked_up(word[len(start) :].lower())
            if length is not None:
                return ((length, meaning),)
    match = _POWER.match(word)
    if match is None or match[2] in ("0", "-0"):
        return None
    power = int(match[2])
    if match[1] in ("Nm", "Sm") and abs(power) == 3:
        return ((match[1] + "3", power // 3),)
    name = _looked_up(match[1])
    if name is None or "*" in name:
        return None
    base, own = _base(name)
    return ((base, own * power),)


def _base(symbol: str) -> tuple[str, int]:
    """Return a canonical symbol and its power: `cm3` is `cm` to the third, `Nm3` is one symbol."""
    match = _POWER.match(symbol)
    return (symbol, 1) if match is None or symbol in ATOMS else (match[1], int(match[2]))


@lru_cache(maxsize=4096)
def _looked_up(name: str) -> str | None:
    """Return the canonical symbol of one symbol or word."""
    if name in SYMBOLS:
        return SYMBOLS[name]
    if name in ATOMS or name in PREFIXED:
        return name
    return _prefixed(name) or _worded(name.lower()) or _direct(name.lower())


def _direct(name: str) -> str | None:
    return name if name in ATOMS or name in PREFIXED else None


def _prefixed(name: str) -> str | None:
    base = SYMBOLS.get(name[1:], name[1:])
    return (
        PREFIXES[name[0]] + base
        if name[:1] in PREFIXES
        and base in PREFIXED
        and (name[1:] == base or base in ("L", "Ohm", "IU", "eq"))
        else None
    )


def _worded(word: str) -> str | None:
    if word in WORDS:
        return WORDS[word]
    for start, prefix in PREFIX_WORDS.items():
        base = WORDS.get(word[len(start) :]) if word.startswith(start) else None
        if base in PREFIXED:
            return f"{prefix}{base}"
    return None


def written(above: Factors, below: Factors) -> str | None:
    """Return the canonical text of a unit; None without factors.

    >>> written((("kJ", 1),), (("K", 1), ("kg", 1)))
    'kJ/(K*kg)'
    """
    if not above and not below:
        return None
    top = "*".join(map(_raised, above)) or "1"
    if not below:
        return top
    bottom = "*".join(map(_raised, below))
    return f"{top}/({bottom})" if len(below) > 1 else f"{top}/{bottom}"


def _raised(factor: tuple[str, int]) -> str:
    name, power = factor
    return name if power == 1 else f"{name}{power}"
