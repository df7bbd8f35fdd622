"""Specs as texts: written, large, and on their pages."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.effort import costs_at_most

import fieldassay.spec
from fieldassay.errors import ProblemsError, nearest
from fieldassay.metrics.catalogue.grammar import MOST_STEPS
from fieldassay.scoring.score import score
from fieldassay.spec.language.names import FIELD_KEYS, SPEC_KEYS, type_names
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.catalogue import ALIGNERS

# Specs are read and checked in time that grows with their size: calls are counted, since clocks differ

WORDS = "{type: money, tolerance: {relative: 0.01}, weight: 2, description: with tax}"


def names(count: int) -> list[str]:
    return [f"field_{number}" for number in range(count)]


def mapping(count: int, definition: str = "text") -> str:
    return "".join(f"  {name}: {definition}\n" for name in names(count))


SPECS: dict[str, Callable[[int], Any]] = {
    "yaml": lambda count: f"fields:\n{mapping(count)}",
    "yaml with options": lambda count: f"fields:\n{mapping(count, WORDS)}",
    "yaml on one line": lambda count: "{fields: {" + ", ".join(f"{name}: id" for name in names(count)) + "}}",
    "json": lambda count: json.dumps({"fields": dict.fromkeys(names(count), "id")}),
    "mapping": lambda count: {"fields": dict.fromkeys(names(count), "date")},
    "schema": lambda count: {"properties": {name: {"type": ["number", "null"]} for name in names(count)}},
    "unknown types": lambda count: f"fields:\n{mapping(count, 'mony')}",
    "unknown options": lambda count: f"fields:\n{mapping(count, '{type: money, tolernce: 1}')}",
    "unknown keys": lambda count: "fields: {a: text}\n" + "".join(f"{name}: text\n" for name in names(count)),
    "other names": lambda count: f"fields:\n{mapping(count, '{names: [a, b]}')}",
    "metrics": lambda count: (
        f"fields:\n{mapping(count)}metrics: [{', '.join(f'field_accuracy[{name}]' for name in names(count))}]"
    ),
    "gates": lambda count: (
        f"fields:\n{mapping(count)}gates:\n"
        + "".join(f"  - field_accuracy[{name}] >= 0.5\n" for name in names(count))
    ),
    "metrics of unknown fields": lambda count: (
        f"fields:\n{mapping(count)}metrics: [{', '.join(f'f1[{name}x]' for name in names(count))}]"
    ),
    "types that stand for each other": lambda count: {
        "types": {
            name: {"type": after}
            for name, after in zip(names(count), [*names(count)[1:], "text"], strict=True)
        },
        "fields": dict.fromkeys(names(count), "field_0"),
    },
    "types of documents": lambda count: {
        "document_type": {"field": "kind", "aliases": {name: [] for name in names(count)}},
        "fields": {name: {"type": "text", "applies_to": ["field_0"]} for name in names(count)},
    },
    "trees": lambda count: {
        "fields": {name: {"type": "any", "fields": {f"{name}.*": "number"}} for name in names(count)}
    },
    "patterns": lambda count: {"type": "any", "fields": {f"**.{name}": "number" for name in names(count)}},
    "checks": lambda count: {
        "fields": dict.fromkeys(names(count), "text"),
        "checks": dict.fromkeys(names(count), "not_empty"),
    },
    "values of an enum": lambda count: {"fields": {"a": {"type": "enum", "values": names(count)}}},
}


def calls(source: Any) -> int:
    """Return how many functions are called to read and check a spec."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        read_plan(source)
    except ProblemsError as error:
        str(error)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", SPECS)
def test_twice_the_fields_take_about_twice_the_work(kind: str) -> None:
    make = SPECS[kind]
    calls(make(3))
    small, large = calls(make(40)), calls(make(160))
    assert large <= 4.6 * small


@pytest.mark.parametrize("size", [500, 20_000])
def test_the_nearest_of_very_many_names_is_found_and_few_are_listed(size: int) -> None:
    assert nearest("field_17x", names(size)).startswith("did you mean 'field_17")
    assert nearest("zzzzzzzz", names(size)).endswith(f" and {size - 100:,} more")


TWICE = range(1, 60)
DOUBLING = {
    "sums": "definitions: {d0: accuracy" + "".join(f", d{n}: 'd{n - 1} + d{n - 1}'" for n in TWICE) + "}",
    "products of gates": (
        "definitions: {d0: f1"
        + "".join(f", d{n}: 'd{n - 1} * d{n - 1}'" for n in TWICE)
        + "}\ngates: ['d40 >= 0.1']"
    ),
    "in threes, the last one first": (
        "definitions: {"
        + "".join(f"d{n}: 'd{n - 1} - d{n - 1} / d{n - 1}', " for n in reversed(TWICE))
        + "d0: f1}"
    ),
    "means by document": (
        "definitions: {d0: accuracy"
        + "".join(f", d{n}: 'document_mean(d{n - 1}, over=d{n - 1})'" for n in TWICE)
        + "}"
    ),
    "types": (
        "types: {t0: {type: object, fields: {a: text}}"
        + "".join(f", t{n}: {{type: object, fields: {{a: t{n - 1}, b: t{n - 1}}}}}" for n in TWICE)
        + "}"
    ),
    "types of lists": (
        "types: {t0: {type: list, items: text}"
        + "".join(f", t{n}: {{type: list, items: {{fields: {{a: t{n - 1}, b: t{n - 1}}}}}}}" for n in TWICE)
        + "}"
    ),
    "many just below the bound of each": (
        f"definitions: {{base: '{' + '.join(['accuracy'] * 250)}'"
        + "".join(f", d{n}: 'base + {n}'" for n in range(1000))
        + "}"
    ),
    "one long sum": f"definitions: {{base: '{' + '.join(['accuracy'] * 900)}'}}",
    "long sums of long sums": (
        "definitions: {d0: accuracy"
        + "".join(f", d{n}: 'd{n - 1}{' + accuracy' * 30}'" for n in range(1, 18))
        + "}"
    ),
    "a type within itself": "types: {t59: {type: object, fields: {a: t59, b: text}}}",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_with_each_line_is_refused_quickly(name: str) -> None:
    last = "t59" if name.startswith(("types", "a type")) else "text"
    with costs_at_most(300), pytest.raises(ProblemsError, match=r"more than|within itself|deep"):
        read_plan(f"{DOUBLING[name]}\nfields: {{x: {last}}}")


def test_a_formula_as_long_as_it_may_be_is_computed() -> None:
    spec = f"fields: {{x: text}}\ndefinitions: {{long: '{' + '.join(['accuracy'] * MOST_STEPS)}'}}"
    assert score([{"id": 1, "x": "a"}], {"s": [{"id": 1, "x": "a"}]}, spec).value("long") == MOST_STEPS


@pytest.mark.parametrize("sign", "+-*/")
def test_definitions_stand_on_one_another_where_they_are_few(sign: str) -> None:
    lines = "".join(f", d{n}: 'd{n - 1} {sign} d{n - 1}'" for n in range(1, 10))
    assert read_plan(f"fields: {{x: text}}\ndefinitions: {{d0: accuracy{lines}}}\nmetrics: [d9]")


#

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("spec.md", "aligners.md")}
EXAMPLES = [
    (name, text) for name, page in PAGES.items() for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
]


@pytest.mark.parametrize(
    ("page", "text"), EXAMPLES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(EXAMPLES)]
)
def test_every_example_compiles(page, text):
    whole = text if re.search(r"^(fields|type):", text, re.MULTILINE) else f"fields:\n  x: text\n{text}"
    assert read_plan(whole).fields


@pytest.mark.parametrize("name", [*SPEC_KEYS, *FIELD_KEYS, *type_names()])
def test_every_key_and_type_is_on_the_page_of_the_spec(name):
    assert f"`{name}`" in PAGES["spec.md"]


@pytest.mark.parametrize("name", ALIGNERS.names())
def test_every_aligner_is_on_its_page(name):
    assert f"| `{name}` |" in PAGES["aligners.md"]


def test_every_kind_of_problem_is_on_the_page_of_the_spec():
    sources = [*Path(fieldassay.spec.__path__[0]).rglob("*.py")]
    used = {
        kind
        for path in sources
        for kind in re.findall(
            r'"([a-z_]+)"\)+(?: from error)?$', path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    known = set(re.findall(r"`([a-z_]+)`", PAGES["spec.md"].split("## Problems")[1]))
    kinds = {
        kind
        for kind in used
        if kind.startswith(
            ("unknown_", "invalid", "missing_", "misplaced", "duplicate", "wrong_", "too_", "mixed_")
        )
    }
    assert len(kinds) >= 10
    assert kinds <= known
