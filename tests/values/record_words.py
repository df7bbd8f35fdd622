"""Writes the words of dates and the signs of currencies from Unicode CLDR, as Babel has it: `python tests/values/record_words.py`."""

import pickle
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from babel import Locale
from babel.localedata import locale_identifiers, resolve_locale_filename
from babel.numbers import get_territory_currencies

from fieldassay.values.types.dates import names, times
from fieldassay.values.types.numbers import currencies

SIGNS_PAGE = Path(currencies.__file__).with_name("currency_signs.py")
NO_SIGNS = ("$bn", "$a", "ރ", "ر", "元")
"""Billions of dollars, dollars with one letter behind, and single letters."""
SIGNS_HEAD = '''"""Signs of currencies that mean one currency in all locales: reading them from Babel takes seconds.

Written by `tests/values/record_words.py` from Unicode CLDR (Unicode License V3) as Babel 2.18
has it, for currencies that are tender today; without short words that are spelled in large and small letters.
"""

SIGNS = """
'''


def render_signs() -> str:
    """Return the module; a sign without spaces, in small letters and without a final point."""
    found = defaultdict(set)
    locales = [Locale.parse(name) for name in sorted(locale_identifiers())]
    tender = {code for one in locales if one.territory for code in get_territory_currencies(one.territory)}
    for one in locales:
        for code, sign in one.currency_symbols.items():
            found[currencies.folded_sign(sign)].add(code)
    by_code = defaultdict(list)
    for sign, meant in sorted(found.items()):
        [code, *others] = sorted(meant)
        is_doubtful = (len(sign) < 4 and sign.isalpha() and sign.upper() != sign) or sign in NO_SIGNS
        is_doubtful |= " " in sign or sign in map(str.lower, currencies.GENERIC)
        if sign and not others and code in tender and sign.upper() != code and not is_doubtful:
            by_code[code].append(sign)
    lines = (f"{code}: {' '.join(signs)}" for code, signs in sorted(by_code.items()))
    return SIGNS_HEAD + textwrap.indent("\n".join(lines), "    ") + '\n"""\n'


Meaning = TypeVar("Meaning", int, str)
WORDS_PAGE = Path(names.__file__).with_name("common_words.py")

WORDS_HEAD = '''"""Words of dates and durations in all `LANGUAGES`, folded: reading them from Babel takes half a second.

Written by `tests/values/record_words.py` from Unicode CLDR (Unicode License V3) as Babel 2.18
has it; a space inside a word is an underscore.
"""
'''


def render_words() -> str:
    """Return the module with the words of all languages; an earlier language wins where two disagree."""
    every = {one: names.names_of(names.locale_data(one)) for one in names.LANGUAGES}
    units, ambiguous = _merged(times.words_of(names.locale_data(one)) for one in names.LANGUAGES)
    months = {one: _grouped(words.months, range(1, 13)) for one, words in every.items()}
    parts = {
        "MONTHS": _by_language(months),
        "WEEKDAYS": _by_language(
            {one: _grouped(words.days, range(7), words.weekdays) for one, words in every.items()}
        ),
        "PHRASES": '"""\n' + "\n".join(_lines_of_phrases(every)) + '\n"""',
        "ZONES": _plain(_zones()),
        "UNITS": _by_meaning(units, (*times.SECONDS, *times.MONTHS)),
        "AMBIGUOUS_UNITS": _plain(ambiguous),
    }
    return WORDS_HEAD + "".join(f"\n{name} = {text}\n" for name, text in parts.items())


def _grouped(words: Mapping[str, int], numbers: Iterable[int], every: Iterable[str] = ()) -> str:
    """Return the words of each number, from the first to the last, with those that all of them have."""
    groups = (
        " ".join(
            sorted({*(word for word, own in words.items() if own == number), *(set(every) - words.keys())})
        )
        for number in numbers
    )
    return _filled(" / ".join(groups))


def _by_language(texts: dict[str, str]) -> str:
    return "{\n" + "".join(f'    "{one}": """\n{text}\n""",\n' for one, text in texts.items()) + "}"


def _lines_of_phrases(every: dict[str, names.Names]) -> Iterator[str]:
    for one, words in every.items():
        places = ", ".join(
            f"{left} {phrase.replace(' ', '_')} {right}"
            for phrase, found in sorted(words.phrases.items())
            for left, right, _ in found
        )
        if places:
            yield f"{one} {places}"


def _zones() -> Iterator[str]:
    """Yield the Latin short names of time zones: of all locales, of two letters those of `LANGUAGES` alone."""
    for one in locale_identifiers():
        shortest = 2 if one.split("_")[0] in names.LANGUAGES else 3
        data = pickle.loads(
            Path(resolve_locale_filename(one)).read_bytes()
        )  # Babel keeps what it loads: 400 MB
        for zone in data.get("meta_zones", {}).values():
            for name in zone.get("short", {}).values():
                word = names.fold(name)
                if word.isascii() and word.isalpha() and len(word) >= shortest:
                    yield word


def _merged(languages: Iterable[Iterable[tuple[str, Meaning]]]) -> tuple[dict[str, Meaning], set[str]]:
    first: dict[str, Meaning] = {}
    pairs = [pair for language in languages for pair in language]
    return first, {word for word, meaning in pairs if first.setdefault(word, meaning) != meaning}


def _plain(words: Iterable[str]) -> str:
    return f'"""\n{_wrapped(words)}\n"""'


def _by_meaning(words: dict[str, Meaning], meanings: Iterable[Meaning]) -> str:
    groups = (
        f'    {meaning!r}: """\n{_wrapped(word for word, own in words.items() if own == meaning)}\n""",\n'
        for meaning in meanings
    )
    return "{\n" + "".join(groups).replace("'", '"') + "}"


def _wrapped(words: Iterable[str]) -> str:
    return _filled(" ".join(sorted({word.replace(" ", "_") for word in words})))


def _filled(plain: str) -> str:
    return textwrap.indent(textwrap.fill(plain, 100, break_on_hyphens=False), "    ")


if __name__ == "__main__":
    SIGNS_PAGE.write_text(render_signs(), encoding="utf-8")
    WORDS_PAGE.write_text(render_words(), encoding="utf-8")
