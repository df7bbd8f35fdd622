"""docs/embeddings.md is true."""

from dataclasses import fields
from pathlib import Path

import pytest
from tests.doc_tables import rows

from fieldassay.values.comparators.embedding.comparator import Embedding
from fieldassay.values.comparators.embedding.model_settings import FAMILIES
from fieldassay.values.types.column import Reading

PAGE = Path(__file__).parents[3] / "docs" / "embeddings.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", rows(PAGE, "Embedding similarity"), ids=lambda row: row["prediction"])
def test_every_documented_example_is_true(row):
    gold, pred = (Reading(text, text, text) for text in (row["gold"], row["prediction"]))
    score, reason = Embedding().compare_one(gold, pred)
    assert (round(score, 4), reason) == (float(row["score"]), row["reason"])


def test_the_page_names_every_option_key_and_model_type():
    keys = {row["key"] for row in rows(PAGE, "What the identity says")}
    assert set(Embedding().identity()) | {"device"} == keys
    assert [
        name for name in (*(field.name for field in fields(Embedding)), *FAMILIES) if f"`{name}`" not in TEXT
    ] == []
