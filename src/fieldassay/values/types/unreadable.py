"""The signal for unreadable text inside a reader."""

from __future__ import annotations

from fieldassay.values.types.column import Reading


class UnreadableError(Exception):
    """A text without a meaning of the wanted type; the message says why.

    Readers catch it; it never leaves them.
    """


def unreadable(text: str, why: object, flags: tuple[str, ...] = ()) -> Reading:
    """Return the reading of an unreadable text.

    >>> unreadable("soon", "is not a date").problem
    'is not a date'
    """
    return Reading(text, None, text, flags, str(why))
