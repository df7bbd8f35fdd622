"""JSON whose numbers keep their writing, and texts of it in the layout that a file has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct


class Number(str):
    """A JSON number as it is written: `5.00` stays `5.00`."""

    __slots__ = ()


class Layout(Struct, frozen=True):
    """How JSON is written: the separators, the indentation (None: one line), and whether only in ASCII."""

    item: str = ", "
    key: str = ": "
    indent: str | None = None
    is_ascii: bool = False

    def write(self, value: Any, line: str = "\n") -> str:
        """Return parsed JSON in the layout; `line` is the line break and the indentation around it.

        >>> Layout(",", ":").write({"a": [Number("5.00"), None], "b": "é"})
        '{"a":[5.00,null],"b":"é"}'
        """
        return "".join(self._parts(value, line))

    def _parts(self, value: Any, line: str) -> Iterator[str]:
        if isinstance(value, Number):
            yield str(value)
        elif isinstance(value, dict | list) and value:
            yield from self._members(value, line)
        else:
            yield json.dumps(value, ensure_ascii=self.is_ascii)

    def _members(self, value: dict[str, Any] | list[Any], line: str) -> Iterator[str]:
        is_object = isinstance(value, dict)
        inner = "" if self.indent is None else line + self.indent
        item = self.item if self.indent is None else self.item.rstrip()
        yield ("{" if is_object else "[") + inner
        for number, member in enumerate(value):
            if number:
                yield item + inner
            if isinstance(value, dict):
                yield json.dumps(member, ensure_ascii=self.is_ascii) + self.key
                member = value[member]
            yield from self._parts(member, inner or line)
        yield ("" if self.indent is None else line) + ("}" if is_object else "]")


_LAYOUTS = tuple(
    Layout(item, key, indent, is_ascii)
    for indent in (None, "  ", " ", "    ", "\t")
    for item, key in ((", ", ": "), (",", ":"), (",", ": "))
    for is_ascii in (False, True)
)


def find_layout(text: str, value: Any, line: str = "\n") -> Layout | None:
    """Return the layout that writes parsed JSON as it stands in a text; None if there is no such layout.

    >>> text = '{\\n  "a": 1\\n}'
    >>> find_layout(text, json.loads(text))
    Layout(item=', ', key=': ', indent='  ', is_ascii=False)
    """
    return next((layout for layout in _LAYOUTS if layout.write(value, line) == text), None)
