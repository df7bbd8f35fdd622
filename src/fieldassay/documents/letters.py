"""Whether the letters of a text can be those of a language: the map of a font may name wrong ones."""

import re
from collections import Counter
from functools import lru_cache
from math import sqrt
from string import ascii_lowercase
from typing import Literal
from unicodedata import category, name

_WORD = re.compile(r"\b[^\W\d_]{3,}\b")
_PLAIN = re.compile(r"[ -~\t\r\n\u00a0-\u024f\u2000-\u2bff]*+")
_LETTERS = re.compile(r"[^\W\d_]+")
_FREQUENT = "eainorst" + "оеаинтср" + "αοιετσνη"
_USUAL, _UNUSUAL, _STRANGE = 0.65, 0.45, 0.3
"""The share of those letters among all: about what it is in the languages of Europe, less than in any of
them unless the text is short, and about what it is where letters are exchanged at random."""
_FEWEST, _ENOUGH = 12, 60
"""Letters that are judged at all, and letters that need no comparison."""
_ALPHABETS = frozenset(
    ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HEBREW", "ARABIC", "DEVANAGARI")
)
_KANA = frozenset(("HIRAGANA", "KATAKANA"))
_FIRST_EASTERN = "\u2e80"
_STANDARDS = (("euc_kr", 0xFE), ("gb2312", 0xD7), ("big5", 0xC6), ("euc_jp", 0xCF))
"""National sets of characters, and the last row of those in general use."""
_MOST_RARE = {"HANGUL": 0.05, "CJK": 0.3}
"""The share of rare characters in a text of a language, at most."""

Judgement = Literal["sound", "doubtful", "wrong"]


def is_code(char: str) -> bool:
    """Return whether a character is a code that stands for none: private, unassigned, control, U+FFFD."""
    return char == "\ufffd" or category(char) in ("Co", "Cn", "Cc")


def is_usual(text: str) -> bool:
    """Return whether nothing about the letters of a page asks for a look at each of its fonts."""
    small = text.lower().encode("utf-8", "surrogatepass")
    letters, frequent = (
        len(small) - len(small.translate(None, alphabet.encode()))
        for alphabet in (ascii_lowercase, _FREQUENT[:8])
    )
    return is_plain(text) and frequent >= (_USUAL - 0.05) * letters


def is_plain(text: str) -> bool:
    """Return whether a text has no other characters than Latin letters, digits, signs and white space."""
    return _PLAIN.fullmatch(text) is not None


def judge_letters(text: str) -> Judgement:
    """Return whether the letters of a text are those of a language, to be compared, or of none.

    >>> judge_letters("Total amount due by March"), judge_letters("Upubm bnpvou evf cz Nbsdi")
    ('sound', 'doubtful')
    >>> judge_letters("Пoлная суммa"), judge_letters("묾푷 뷁쉟 해킹"), judge_letters("3D프린터 PAV해킹")
    ('wrong', 'wrong', 'sound')
    """
    share, count = _share(text)
    is_strange = count >= _ENOUGH and share < _STRANGE
    if is_strange or (not text.isascii() and (_mixes_scripts(text) or _is_rare(text))):
        return "wrong"
    is_unusual = count >= _FEWEST and share < min(_UNUSUAL, _USUAL - 1.1 / sqrt(count))
    return "doubtful" if is_unusual else "sound"


def _share(text: str) -> tuple[float, int]:
    """Return the share of frequent letters in the different words of a text, and the number of letters."""
    counts = Counter("".join(set(_WORD.findall(text.lower()))))
    count = sum(number for char, number in counts.items() if "a" <= char <= "z" or "α" <= char <= "ԯ")
    return sum(counts[char] for char in _FREQUENT) / max(count, 1), count


def _mixes_scripts(text: str) -> bool:
    """Return whether words, two and a tenth at least, hold letters of scripts that no language mixes.

    A single Greek letter is a sign, as in units.
    """
    runs = [run for run in _LETTERS.findall(text) if not run.isascii()]
    mixed = 0
    for run in runs:
        scripts = Counter(map(_script, run))
        alphabets = scripts.keys() & _ALPHABETS
        mixed += len(alphabets) - (scripts["GREEK"] == 1) > 1 or (
            "HANGUL" in scripts and bool(scripts.keys() & _KANA)
        )
    return mixed >= 2 and 10 * mixed >= len(runs)


def _is_rare(text: str) -> bool:
    """Return whether more syllables of Hangul or ideographs than in any text are out of general use."""
    rare, whole = Counter[str](), Counter[str]()
    for char, count in Counter(text).items():
        script = _script(char) if char >= _FIRST_EASTERN else ""
        if script in _MOST_RARE:
            whole[script] += count
            rare[script] += count * (not _is_common(char))
    return any(
        rare[script] >= 2 and rare[script] > most * whole[script] for script, most in _MOST_RARE.items()
    )


@lru_cache(maxsize=1 << 14)
def _script(char: str) -> str:
    return name(char, "").partition(" ")[0]


@lru_cache(maxsize=1 << 14)
def _is_common(char: str) -> bool:
    for standard, last in _STANDARDS:
        code = char.encode(standard, "ignore")
        if len(code) == 2 and code[0] <= last:
            return True
    return False
