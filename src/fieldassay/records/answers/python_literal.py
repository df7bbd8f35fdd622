"""Lists and objects written as Python writes them: what pandas makes of a column of lists."""

from __future__ import annotations

import ast
import re

from fieldassay.io.json_value import Json
from fieldassay.regex import lazy_regex

LONGEST = 500_000
"""Characters of a longer text are not looked at; it bounds the memory."""

_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"(?:'(?:[^'\\\n]|{_ESCAPE})*+'|\"(?:[^\"\\\n]|{_ESCAPE})*+\")"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])"
_SCALAR = rf"(?:{_STRING}|{_NUMBER}|True\b|False\b|None\b|nan\b)"
_LITERAL = lazy_regex(rf"(?:{_STRING}(?!\s*['\"])|{_SCALAR}|[\s\[\](){{}},:])*+")
_ARRAY = lazy_regex(rf"\[\s*(?:{_SCALAR}\s+)+{_SCALAR}\s*\]")
_CALLS = lazy_regex(
    rf"(?P<text>{_STRING})|\b(?:(?:decimal\.)?Decimal|np\.\w+|(?:pd\.)?Timestamp|UUID)\((?P<value>{_SCALAR})\)"
)


def read_literal(text: str) -> list[Json] | dict[str, Json] | None:
    """Return the list or object of a Python literal, None if the text is none; nothing is evaluated.

    Tuples, sets and arrays of numpy are lists; `nan` is null. A number in the call of its type
    (`Decimal('1.50')`, `np.float64(1.5)`) is what stands in it.

    >>> read_literal("[{'sku': 'A', 'n': None}, (1, 2.5)]"), read_literal("['x' 'y']")
    ([{'sku': 'A', 'n': None}, [1, 2.5]], ['x', 'y'])
    >>> read_literal("[open('x')]") is None, read_literal("{'a': 1, 'a': 2}") is None
    (True, True)
    """
    if len(text) > LONGEST:
        return None
    if _ARRAY.fullmatch(text):
        text = f"[{', '.join(re.findall(_SCALAR, text))}]"
    text = _CALLS.sub(lambda call: call["text"] or call["value"], text)
    if not _LITERAL.fullmatch(text):
        return None
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list | dict) else None


def _value(node: ast.expr) -> Json:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.UnaryOp(
            op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as value)
        ):
            return -value if isinstance(sign, ast.USub) else value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            names = [
                key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            if len(set(names)) == len(keys):
                return dict(zip(names, map(_value, values), strict=True))
        case ast.Name(id="nan"):
            return None
    raise ValueError
