"""Regular expressions that are compiled at their first use: most inputs need few of those that are loaded."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


class _LazyRegex(Generic[AnyStr]):
    """A pattern that takes its methods from the compiled one, once one of them is asked for."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by copy and pickle, also before there is a text
            raise AttributeError(name)
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first used; only then raises `re.error` if it is none.

    Call its methods: functions of `re` do not take it for a pattern.

    >>> lazy_regex(r"[a-z]+", re.IGNORECASE).fullmatch("Oak").group()
    'Oak'
    """
    return cast("re.Pattern[AnyStr]", _LazyRegex(text, flags))
