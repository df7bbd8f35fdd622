"""Plain data as YAML: blocks outside, one line where it fits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_WIDTH = 110
_LONGEST_KEY = 1000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_/.%+-]*(?: [A-Za-z0-9_/.%+=<>()-]+)*", re.ASCII)
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
_BLOCKS = {"fields", "gates", "prices", "aliases", "checks"}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

Place = tuple[str, ...]


def emit_yaml(data: Mapping[str, Any], comments: Mapping[Place, str]) -> str:
    """Return a mapping as a YAML document; a comment stands above the key at its place.

    >>> print(emit_yaml({"a": [1, "yes"], "fields": {"b": "x"}}, {("fields", "b"): "seen"}), end="")
    a: [1, "yes"]
    fields:
      # seen
      b: x
    """
    return "".join(f"{line}\n" for line in _block(data, comments, ()))


def _block(data: Mapping[str, Any], comments: Mapping[Place, str], place: Place) -> list[str]:
    indent = "  " * len(place)
    lines: list[str] = []
    for key, value in data.items():
        inner = (*place, key)
        lines += [f"{indent}# {part}" for part in _comment_lines(comments.get(inner, ""))]
        name, flow = _key(key, indent), emit_flow(value)
        if not _is_long(key, value, len(name) + len(flow), comments, inner):
            lines.append(f"{name}: {flow}")
        elif isinstance(value, Mapping):
            lines += [f"{name}:", *_block(value, comments, inner)]
        else:
            lines += [f"{name}:", *(f"{indent}  - {emit_flow(item)}" for item in value)]
    return lines


def _is_long(key: str, value: Any, width: int, comments: Mapping[Place, str], place: Place) -> bool:
    if not isinstance(value, Mapping | list) or not value:
        return False
    return (
        key in _BLOCKS or width > _WIDTH or "fields" in value or any(len(at) > len(place) and at[: len(place)] == place for at in comments)
    )


def _comment_lines(comment: str) -> list[str]:
    return ["".join(char if char.isprintable() else "?" for char in line) for line in comment.split("\n") if line]


def _key(key: str, indent: str) -> str:
    """Return the text before the colon; YAML reads a key of more than 1024 characters only if it is announced."""
    text = _text(key)
    return f"{indent}{text}" if len(text) < _LONGEST_KEY else f"{indent}? {text}\n{indent}"


def emit_flow(value: Any) -> str:
    """Return a value on one line.

    >>> emit_flow({"type": "list", "items": ["a b", 1.5, None, True]})
    '{type: list, items: [a b, 1.5, null, true]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow_key(str(key))}: {emit_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(emit_flow, value)) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return str(value) if isinstance(value, int) else _text(str(value))


def _flow_key(key: str) -> str:
    text = _text(key)
    return text if len(text) < _LONGEST_KEY else f"? {text} "


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
