"""Lists and objects written as Python writes them: what pandas makes of a column of lists."""

from __future__ import annotations

import ast
import re
from typing import Any

from fieldassay.io.json_value import Json
from fieldassay.regex import lazy_regex

LONGEST = 500_000
"""Characters of a longer text are not looked at; it bounds the memory."""

_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"(?:'(?:[^'\\\n]|{_ESCAPE})*+'|\"(?:[^\"\\\n]|{_ESCAPE})*+\")"
_TEXT = _STRING.replace("*+'", "*+'?").replace('*+\\"', '*+\\"?')  # without its end: the rest, in one step
_NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[-+]?\d++)?(?![\w.])"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|True\b|False\b|None\b|nan\b)"
_LITERAL = lazy_regex(rf"(?:{_STRING}(?!\s*['\"])|{_SCALAR}|[\s\[\](){{}},:])*+")
_ARRAY = lazy_regex(rf"\[\s*+{_SCALAR}(?:\s++{_SCALAR})++\s*+\]")
_CALLS = lazy_regex(
    rf"(?P<text>{_TEXT})|\b(?:(?:decimal\.)?Decimal|np\.\w+|(?:pd\.)?Timestamp|UUID)\((?P<value>{_SCALAR})\)"
)
_NAN = lazy_regex(rf"(?P<text>{_TEXT})|\bnan\b")


def read_literal(text: str) -> list[Json] | dict[str, Json] | None:
    """Return the list or object of a Python literal, None if the text is none; nothing is evaluated.

    Tuples, sets (sorted) and arrays of numpy are lists; `nan` is null. A number in the call of its type
    (`Decimal('1.50')`, `np.float64(1.5)`) is what stands in it.

    >>> read_literal("[{'sku': 'A', 'n': None}, (1, 2.5)]"), read_literal("['x' 'y']")
    ([{'sku': 'A', 'n': None}, [1, 2.5]], ['x', 'y'])
    >>> read_literal("[open('x')]") is None, read_literal("[nan, {'y', 'x'}]")
    (True, [None, ['x', 'y']])
    """
    if len(text) > LONGEST:
        return None
    if _ARRAY.fullmatch(text):
        text = f"[{', '.join(re.findall(_SCALAR.replace(_STRING, _TEXT), text))}]"
    text = _CALLS.sub(lambda call: call["text"] or call["value"], text)
    if not _LITERAL.fullmatch(text):
        return None
    text = _NAN.sub(lambda nan: nan["text"] or "None", text)
    try:
        value = _plain(ast.literal_eval(text.strip()))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list | dict) else None


def _plain(value: Any) -> Json:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, dict):
        raise TypeError
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in (sorted(value) if isinstance(value, set) else value)]
    return value  # type: ignore[no-any-return]
