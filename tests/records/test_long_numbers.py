"""Numbers longer than Python converts are values that cannot be read, never a traceback."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.judging import score_alone as score

from fieldassay.errors import ProblemsError

SPEC = "fields: {shop: text, total: number}"
GOLD = [{"id": "1", "shop": "a", "total": 5}]
LONG = {
    "within the limit": 10**4200,
    "beyond it": 10**5000,
    "negative": -(10**5000),
    "a decimal": Decimal("1E+999999999999"),
}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("key", ["total", "shop", "confidence", "other"])
def test_a_long_number_in_python_is_no_error(key: str, value: Any) -> None:
    result = score(GOLD, [{"id": "1", "shop": "a", "total": 5} | {key: value}], SPEC)
    assert result.value("accuracy") == (0.5 if key in ("total", "shop") else 1.0)


@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize("value", [10**4200, 10**5000], ids=["within the limit", "beyond it"])
def test_a_long_count_of_tokens_is_unknown(name: str, value: int) -> None:
    result = score(
        GOLD,
        [{**GOLD[0], "usage": {"model": "m", name: value}}],
        SPEC + "\nprices: {m: {prompt: 1, completion: 1}}",
    )
    assert result.value("accuracy") == 1.0


@pytest.mark.parametrize("digits", [4200, 5000])
@pytest.mark.parametrize(
    "form",
    [
        '{{"id": "1", "shop": "a", "total": {0}}}',
        '{{"id": "1", "raw": "x {{\\"shop\\": \\"a\\", \\"total\\": {0},}}"}}',
    ],
)
def test_a_long_number_in_a_file_is_a_wrong_value(form: str, digits: int, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(form.format("9" * digits), "utf-8")
    assert score(GOLD, {"m": str(path)}, SPEC).value("accuracy") == 0.5


@pytest.mark.parametrize(
    "spec",
    [
        "fields: {total: {type: number, weight: %s}}",
        "fields: {total: {type: number, tolerance: {absolute: %s}}}",
        "{fields: {total: number}, gates: ['accuracy >= %s']}",
        '{"fields": {"total": {"type": "number", "accepted": [%s]}}}',
    ],
    ids=["weight", "tolerance", "gate", "JSON"],
)
def test_a_long_number_in_a_spec_is_a_problem(spec: str) -> None:
    with pytest.raises(ProblemsError):
        score(GOLD, GOLD, spec % ("9" * 5000))
