"""The specs under `examples/` compile, and read values as their comments say."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldassay.api.scoring import score
from fieldassay.plan.compile import read_plan

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_spec_compiles_and_is_in_the_readme(path: Path) -> None:
    assert read_plan(path).fields
    assert f"examples/{path.parent.name}/spec.yaml" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("gold", "pred"), [("60.000", "60,000"), ("24,000", 24000), ("*46000", "46.000"), ("Rp.62.000", "Rp 62.000")])
def test_cord_reads_points_and_commas_as_thousands(gold: str, pred: str | int) -> None:
    result = score([{"id": 1, "TotalPrice": gold}], [{"id": 1, "TotalPrice": pred}], EXAMPLES / "cord" / "spec.yaml")
    assert result.value("accuracy") == 1.0


def test_finrag_takes_spellings_of_one_unit_for_the_same() -> None:
    gold = {"main_question": "67571.0", "currency": "USD", "unit": "millions", "year": 2023, "duration": "12"}
    pred = {"main_question": "67,571", "currency": "$", "unit": "in millions", "year": "2023", "duration": "12 months"}
    records = [[{"source_identifier": "a", "answers": [answer]}] for answer in (gold, pred)]
    assert score(*records, EXAMPLES / "finrag" / "spec.yaml").value("accuracy") == 1.0
