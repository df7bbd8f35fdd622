"""How the parts of a reader say that a text cannot be read."""

from __future__ import annotations

from fieldassay.types.column import Reading


class UnreadableError(Exception):
    """A text that means nothing of the wanted type; its message says why. Readers catch it and never let it out."""


def unreadable(text: str, why: object, flags: tuple[str, ...] = ()) -> Reading:
    """Return the reading of a text that cannot be read.

    >>> unreadable("soon", "is not a date").problem
    'is not a date'
    """
    return Reading(text, None, text, flags, str(why))
