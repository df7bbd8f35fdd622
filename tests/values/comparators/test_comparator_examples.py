"""The tables of docs/comparators.md are true, and complete."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tests.values.comparators.comparator_cases import LISTS, build, list_reading, reading

from fieldassay.options import options_of
from fieldassay.values.catalogue import COMPARATORS, DEFAULTS

PAGE = (Path(__file__).parents[3] / "docs" / "comparators.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0].strip(): part for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]}
HEADER = "| gold | prediction | options | score | reason |"


def rows(name):
    table = SECTIONS[name].split(HEADER)[1].strip().splitlines()[1:]
    for line in table:
        if not line.startswith("|"):
            return
        yield tuple(cell.strip().strip("`") for cell in line.strip("|").split(" |"))


EXAMPLES = [(name, *row) for name in SECTIONS for row in rows(name)]


def typed(name, options, text):
    if name in LISTS and (name != "soft_coverage" or ";" in text):
        kind = next(iter(options["items"])) if isinstance(options.get("items"), dict) else "text"
        return list_reading([item.strip() for item in text.split(";")], kind)
    return reading(name, text)


@pytest.mark.parametrize(
    ("name", "gold", "pred", "options", "score", "reason"), EXAMPLES, ids=lambda cell: cell[:40]
)
def test_every_documented_example_is_true(name, gold, pred, options, score, reason):
    given = (YAML(typ="safe").load(options) or {}) if options else {}
    comparator = build({name: given})
    value, why = comparator.compare_one(typed(name, given, gold), typed(name, given, pred))
    assert (round(value, 4), why) == (float(score), reason)


def test_every_comparator_has_a_section():
    assert sorted(SECTIONS) == sorted(COMPARATORS.entries)


@pytest.mark.parametrize("name", sorted(COMPARATORS.entries))
def test_a_section_names_every_option_and_reason(name):
    text = SECTIONS[name]
    shared = PAGE.split("## Lists as one value")[1].split("### ")[0] if name in LISTS else ""
    kind = COMPARATORS.load(name)
    wanted = [entry.name for entry in options_of(kind)] + list(kind.reasons)
    assert [word for word in wanted if f"`{word}`" not in text + shared] == []


def test_every_default_is_in_the_catalogue():
    assert set(DEFAULTS.values()) <= set(COMPARATORS.entries)
