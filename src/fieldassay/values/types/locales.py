"""Locales: how a language and a country write numbers and dates."""

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest, problem

# Locales by the names that people and systems give them.

_SCRIPTS = {"latin": "_Latn", "cyrillic": "_Cyrl"}  # modifiers of glibc that are no matter of taste
_MOST = 100


@lru_cache(maxsize=256)
def find_locale(name: str) -> Any:
    """Return Babel's locale for a name as CLDR resolves it: likely scripts and aliases, in any case.

    What systems put behind a name (`.UTF-8`, `@euro`) is dropped; a country that is not written is not added.

    Raises:
        ProblemsError: If CLDR has no such locale; the remedy proposes the nearest name.

    >>> [str(find_locale(name)) for name in ("zh_CN", "sr-rs@latin", "no_NO", "iw", "en_gb.UTF-8")]
    ['zh_Hans_CN', 'sr_Latn_RS', 'nb_NO', 'he', 'en_GB']
    """
    from babel import Locale, UnknownLocaleError
    from babel.core import get_global

    name = str(name)
    plain, _, modifier = name.partition("@")
    language, *rest = re.split("[-_]", plain.partition(".")[0].strip().lower())
    script = _SCRIPTS.get(modifier.lower(), "")
    # Babel leaves out that Norwegian is Bokmål if nothing else is said.
    for code in (
        language,
        str(get_global("language_aliases").get(language)),
        "nb" if language == "no" else "",
    ):
        try:
            locale = Locale.parse("_".join((code + script, *rest)))
        except (UnknownLocaleError, ValueError, TypeError, AttributeError):
            continue
        return (
            locale
            if rest
            else Locale(locale.language, script=locale.script if "_" in code + script else None)
        )
    raise problem(
        "locale", f"unknown locale {name[:_MOST]!r}", _nearest(language, name[:_MOST]), "invalid_option"
    )


def _nearest(language: str, name: str) -> str:
    """Return the nearest name of the language, which may be written out, or an example of names."""
    from babel import Locale
    from babel.localedata import locale_identifiers

    in_english = {str(english).lower(): code for code, english in Locale("en").languages.items()}
    code = in_english.get(language, language)
    own = [identifier for identifier in locale_identifiers() if identifier.split("_")[0] == code]
    if code in own and code != language:
        return f"did you mean {code!r}?"
    remedy = nearest(name.replace("-", "_"), own) if own else ""
    return (
        remedy
        if remedy.startswith("did")
        else "write a language and a country, such as en_AU, de_DE or zh_CN"
    )


# Number formats of locales, and the convention that decides where the text alone does not.


class Convention(Struct, frozen=True):
    """The meaning of a doubtful separator: decimal if it is `decimal` (None: `.`), else grouping.

    With `groups_first`, a separator before exactly three digits groups wherever possible.
    """

    decimal: str = "."
    groups_first: bool = False


@lru_cache(maxsize=256)
def convention(locale: str | None, decimal: str | None, groups_first: bool = False) -> Convention:
    """Return the convention of a field.

    It is the field's `decimal` option, else that of its locale, else English (or grouping, with
    `groups_first`).

    >>> convention("de_DE", None).decimal, convention("de_DE", ".").decimal, convention(None, None).decimal
    (',', '.', '.')
    """
    if decimal is not None:
        return Convention(decimal)
    if locale is None:
        return Convention(groups_first=groups_first)
    symbols = find_locale(locale).number_symbols
    return Convention(str(symbols.get("latn", {}).get("decimal", ".")))


@lru_cache(maxsize=64)
def territory_currencies(locale: str | None) -> tuple[str, ...]:
    """Return the currencies of the locale's territory; none for a locale without one.

    >>> territory_currencies("en_AU"), territory_currencies("en")
    (('AUD',), ())
    """
    territory = find_locale(locale).territory if locale else None
    if territory is None:
        return ()
    from babel.numbers import get_territory_currencies

    return tuple(get_territory_currencies(territory))
