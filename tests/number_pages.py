"""The examples of the numeric types, and how a row of them is checked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doc_tables import rows
from ruamel.yaml import YAML

from fieldassay.spec.language.model import freeze
from fieldassay.values.types.column import Column, Reader
from fieldassay.values.types.numbers.amounts import decimal_of

PAGES = Path(__file__).parent / "values" / "examples"
LONG = (
    ("", "9", 10_000_000, ""),
    ("", "1,", 5_000_000, ""),
    ("", " ", 10_000_000, "x"),
    ("1", " ", 10_000_000, "x"),
    ("", "(", 10_000_000, ""),
    ("", "m", 10_000_000, ""),
    ("5 ", "kg/", 3_000_000, ""),
    ("", "1/", 5_000_000, ""),
    ("", "\u0663", 5_000_000, ""),
    ("1.5 x 10^", "9", 1_000_000, ""),
)
ODD = ("\x00", "\ud800", "\u202e5", "5 \ud800")


def hostile() -> Iterator[str]:
    """Yield texts that a reader must refuse or read at once; one of the long ones exists at a time."""
    yield from (before + unit * times + after for before, unit, times, after in LONG)
    yield from ODD


def examples(page: str) -> list[dict[str, str]]:
    """Return the rows of a page."""
    return rows(PAGES / f"{page}.md", "Examples")


def options(text: str) -> dict[str, Any]:
    given = YAML(typ="safe").load("{" + text + "}") or {}
    return {name: freeze(value) for name, value in given.items()}


def check(kind: type[Reader], row: dict[str, str]) -> None:
    """Assert that the reader does with a row's raw value what the row says."""
    reading = kind(**options(row["options"])).read(json.loads(row["raw"]))
    remark = row["problem or flags"]
    if row["canonical"]:
        assert (reading.problem, reading.canonical, ", ".join(reading.flags)) == (
            None,
            row["canonical"],
            remark,
        ), row
        assert reading.value is not None
    else:
        assert (reading.value, reading.problem) == (None, remark), row


def plain(value: Any) -> Any:
    """Return a number value as a Decimal, whatever it is held as; other values as they are."""
    return decimal_of(value) if isinstance(value, (int, float)) else value


def assert_same(fast: Column, slow: Column) -> None:
    """Assert that two columns say the same."""
    assert list(fast.texts) == list(slow.texts)
    assert list(fast.canonical) == list(slow.canonical)
    assert list(map(plain, fast.values)) == list(map(plain, slow.values))
    assert (dict(fast.flags), dict(fast.problems)) == (dict(slow.flags), dict(slow.problems))
