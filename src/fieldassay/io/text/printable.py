"""Text in valid UTF-8."""

from __future__ import annotations


def make_printable(text: str) -> str:
    r"""Return the text with lone surrogates, which UTF-8 cannot encode, as escapes.

    >>> print(make_printable("a\udc80"))
    a\udc80
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
