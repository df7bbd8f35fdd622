"""Number formats of locales, and the convention that decides where the text alone does not."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.values.types.locales import find_locale


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
        if decimal not in (".", ","):
            raise problem(
                "decimal", f"{decimal!r} is not a decimal separator", "give '.' or ','", "invalid_option"
            )
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
