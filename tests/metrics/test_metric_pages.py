"""The pages of the documentation have every metric, parameter and mark."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_tables import rows

from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.grammar import FUNCTIONS
from fieldassay.metrics.catalogue.selection import list_groups

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "metrics.md"
HEADINGS = (
    "Accuracy",
    "Precision, recall, F1",
    "Presence",
    "Types",
    "Items",
    "Columns",
    "Counts",
    "Latency and cost",
    "Repeated runs",
)
DOCUMENTED = {row["metric"]: row for heading in HEADINGS for row in rows(PAGE, heading)}


def test_the_page_lists_exactly_the_catalogue() -> None:
    assert set(DOCUMENTED) == set(list_metrics())


@pytest.mark.parametrize("name", list_metrics())
def test_the_page_tells_direction_and_parameters(name: str) -> None:
    metric, row = list_metrics()[name], DOCUMENTED[name]
    assert row["better"] == metric.better
    told = {text.split(" ")[0] for text in row["parameters"].split(", ") if text}
    assert told == {parameter.name for parameter in metric.parameters}


def test_the_page_names_groups_functions_and_parameters() -> None:
    text = PAGE.read_text(encoding="utf-8")
    parameters = {parameter.name for metric in list_metrics().values() for parameter in metric.parameters}
    chosen = (
        parameter
        for metric in list_metrics().values()
        for parameter in metric.parameters
        if not parameter.is_many
    )
    choices = {
        choice for parameter in chosen for choice in parameter.choices
    }  # flags are on the page of the evidence
    for name in {*list_groups(), *FUNCTIONS, *parameters, *choices} - {"extras"}:
        assert f"`{name}`" in text, name


@pytest.mark.parametrize(
    "mark", ["few_documents", "few_replicates", "order_statistics", "undefined_replicates=K"]
)
def test_every_mark_is_explained(mark: str) -> None:
    assert f"`{mark}`" in (DOCS / "statistics.md").read_text(encoding="utf-8")
