"""JSON values: their types, blanks, and texts that are settled."""

import json
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias, Union

from msgspec import Struct

# One Unicode form for all texts: composed, and without characters that nobody can see.

LONGEST_NULL = 200
"""The maximum of characters in a null value."""
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d") | {
    "--",
    "---",
    "\u2014\u2014",
}
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 16, whole."""


def settle(text: str) -> str:
    """Return a text in form NFC without default-ignorable characters.

    >>> settle("Cafe\\u0301 1\\u00ad000\\u200b") == "Café 1000"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", _IGNORABLE.sub("", text))


def is_settled(text: str) -> bool:
    """Return whether `settle` changes neither the text nor any part of it."""
    return text.isascii() or (unicodedata.is_normalized("NFC", text) and not _IGNORABLE.search(text))


def is_empty_text(text: str, null_values: frozenset[str] = frozenset(), is_exact: bool = False) -> bool:
    """Return whether nothing in a text can be seen, or it is one of the null values, which are casefolded.

    If it is exact, characters that nobody can see count.

    >>> is_empty_text(" \\u200b"), is_empty_text("N/A", frozenset({"n/a"})), is_empty_text("0")
    (True, True, False)
    """
    if not text or text.isspace():
        return True
    is_plain = is_exact or text.isascii()
    if is_plain and not null_values:
        return False
    plain = (text if is_plain else settle(text)).strip()
    return not plain or (len(plain) <= LONGEST_NULL and plain.casefold() in null_values)


def fold_null_values(texts: tuple[str, ...]) -> frozenset[str]:
    """Return null values as `is_empty_text` takes them; a dash stands for dashes of any width.

    >>> "–" in fold_null_values(("-",)), "–" in fold_null_values(("N/A",))
    (True, False)
    """
    folded = frozenset(settle(text).strip().casefold() for text in texts)
    return folded | _DASHES if folded & _DASHES else folded


# Parsed JSON: its types, and whether a value is empty.

Scalar: TypeAlias = Union[str, int, float, bool]
Json: TypeAlias = Union[str, int, float, bool, list["Json"], dict[str, "Json"], None]


def id_text(value: Any) -> str | None:
    """Return the id that a value means: trimmed text, or the digits of a whole number; None if it is no id.

    >>> id_text(" a.png "), id_text(7), id_text(7.0), id_text(True), id_text("")
    ('a.png', '7', '7', None, None)
    """
    if isinstance(value, str):
        return value.strip("\ufeff\0 \t\r\n\u00a0") or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value) if abs(value) < 10**100 else None


def is_blank(value: Json) -> bool:
    """Return whether a value is empty: null, white space, or a list or an object of such values only.

    >>> is_blank([{"a": None}, " "]), is_blank(0)
    (True, False)
    """
    if isinstance(value, dict | list):
        return all(map(is_blank, value.values() if isinstance(value, dict) else value))
    return value is None or (isinstance(value, str) and is_empty_text(value))


def read_given(text: str | None) -> Any:
    """Return the value of a text of evidence, None without one; one that is no JSON stands for itself.

    >>> read_given('"5"'), read_given("5"), read_given("inf"), read_given('["a", NaN]')
    ('5', 5, 'inf', ['a', 'NaN'])
    """
    try:
        return None if text is None else json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def as_kind(text: str, like: Any) -> Any:
    """Return a text as JSON of the kind that stood there before, if it can be written so; else the text.

    >>> as_kind("7.50", Decimal(5)), as_kind("true", False), as_kind("n/a", Decimal(5))
    (Decimal('7.50'), True, 'n/a')
    """
    kinds: tuple[type[Any], ...] = (type(like),) if isinstance(like, bool | list | dict) else ()
    if isinstance(like, int | float | Decimal) and not kinds:
        kinds = (Decimal,)
    try:
        value = json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, kinds) else text


def record_data(record: Struct) -> dict[str, Any]:
    """Return the fields of a record by name, records among them at any depth too; tuples are lists.

    >>> class Point(Struct):
    ...     at: tuple[int, int]
    >>> record_data(Point((1, 2)))
    {'at': [1, 2]}
    """
    return {name: _data(getattr(record, name)) for name in record.__struct_fields__}


def _data(value: Any) -> Any:
    if isinstance(value, Struct):
        return record_data(value)
    if isinstance(value, Mapping):
        return {key: _data(member) for key, member in value.items()}
    return [_data(member) for member in value] if isinstance(value, list | tuple) else value


WRITTEN = {"format": "fieldassay"}
"""The member by which an object that fieldassay writes is known: a folder of gold is read without it."""


def json_text(data: Any) -> str:
    """Return data as `--json` prints it; objects have the member `WRITTEN` where they have no other `format`.

    Raises `ValueError` for numbers that JSON does not have.

    >>> is_written(json.loads(json_text({"total": 5})))
    True
    """
    return json_line({**WRITTEN, **data} if isinstance(data, dict) else data, indent=1) + "\n"


def is_written(data: Any) -> bool:
    """Return whether data are what fieldassay wrote, no record of anybody."""
    return isinstance(data, dict) and str(data.get("format", "")).startswith(WRITTEN["format"])


def json_line(data: Any, indent: int | None = None) -> str:
    r"""Return data as JSON in which control characters and direction marks are escapes.

    Raises `ValueError` for numbers that JSON does not have.

    >>> print(json_line(["\x1b", "\u202e", "é"]))
    ["\u001b", "\u202e", "é"]
    """
    text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
    return text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    return char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1]
