"""The examples on the pages of the field types are what the readers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doc_tables import rows
from ruamel.yaml import YAML

from fieldassay.values.types.base import Reader
from fieldassay.values.types.catalogue import NORMALIZERS, READERS
from fieldassay.values.types.lists import ListReader

PAGES = Path(__file__).parents[3] / "docs" / "fields"
TYPES = (
    "text",
    "id",
    "enum",
    "boolean",
    "date",
    "datetime",
    "time",
    "duration",
    "phone",
    "email",
    "url",
    "list",
    "any",
)


def options(text: str) -> dict[str, Any]:
    """Return what a reader takes for options written as in a spec."""
    given = YAML(typ="safe").load("{" + text + "}") or {}
    made = {name: hashable(value) for name, value in given.items()}
    if "normalize" in given:
        made["normalize"] = tuple(normalizer(entry) for entry in given["normalize"])
    return made


def hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(hashable, value))
    return (
        tuple(sorted((key, hashable(inner)) for key, inner in value.items()))
        if isinstance(value, dict)
        else value
    )


def normalizer(entry: Any) -> Any:
    name, given = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
    return NORMALIZERS.load(name)(**{option: hashable(value) for option, value in given.items()})


def reader(type_name: str, given: str) -> Reader:
    made = options(given)
    if type_name == "list":
        return ListReader(READERS.load(made.pop("items", "text"))(), **made)
    return READERS.load(type_name)(**made)  # type: ignore[no-any-return]


CASES = [(name, row) for name in TYPES for row in rows(PAGES / f"{name}.md", "Examples")]


@pytest.mark.parametrize(
    ("type_name", "row"), CASES, ids=[f"{name}-{row['raw']}-{row['options']}" for name, row in CASES]
)
def test_an_example_reads_as_its_page_says(type_name: str, row: dict[str, str]) -> None:
    reading = reader(type_name, row["options"]).read(json.loads(row["raw"]))
    remark = row["why not / remark"].partition("(")[0].strip()
    if row["canonical"]:
        assert (reading.problem, reading.canonical, ", ".join(reading.flags)) == (
            None,
            row["canonical"],
            remark,
        )
    else:
        assert (reading.value, reading.problem) == (None, row["why not / remark"])


@pytest.mark.parametrize(
    ("type_name", "least"),
    [("date", 80), ("datetime", 15), ("duration", 20), ("phone", 12), ("id", 15), ("url", 15)],
)
def test_a_page_has_enough_examples(type_name: str, least: int) -> None:
    assert sum(name == type_name for name, _ in CASES) >= least
