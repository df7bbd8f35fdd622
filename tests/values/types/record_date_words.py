"""Writes `values/types/dates/common_words.py` from the installed Babel: `python tests/values/types/record_date_words.py`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from fieldassay.values.types.dates import durations, names

Meaning = TypeVar("Meaning", int, str)
PAGE = Path(names.__file__).with_name("common_words.py")

HEAD = '''"""Words of dates and durations in all `LANGUAGES`, folded: reading them from Babel takes half a second.

Written by `tests/values/types/record_date_words.py` from Unicode CLDR (Unicode License V3) as Babel has it; a
space inside a word is an underscore.
"""

from __future__ import annotations
'''


def render_words() -> str:
    """Return the module with the words of all languages; an earlier language wins where two disagree."""
    months, clashing = _merged(
        names.names_of(names.locale_data(one)).months.items() for one in names.LANGUAGES
    )
    units, ambiguous = _merged(durations.words_of(names.locale_data(one)) for one in names.LANGUAGES)
    every = [names.names_of(names.locale_data(one)) for one in names.LANGUAGES]
    parts = {
        "MONTHS": _by_meaning(months, range(1, 13)),
        "CLASHING_MONTHS": _plain(clashing),
        "WEEKDAYS": _plain(word for one in every for word in one.weekdays),
        "FILLERS": _plain(word for one in every for word in one.fillers),
        "UNITS": _by_meaning(units, (*durations.SECONDS, *durations.MONTHS)),
        "AMBIGUOUS_UNITS": _plain(ambiguous),
    }
    return HEAD + "".join(f"\n{name} = {text}\n" for name, text in parts.items())


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
    plain = " ".join(sorted({word.replace(" ", "_") for word in words}))
    return textwrap.indent(textwrap.fill(plain, 100, break_on_hyphens=False), "    ")


if __name__ == "__main__":
    PAGE.write_text(render_words(), encoding="utf-8")
