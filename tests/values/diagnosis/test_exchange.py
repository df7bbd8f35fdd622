"""Two fields that hold each other's value: the exchange is the main reason, whatever else holds."""

from __future__ import annotations

import pytest

from fieldassay import score


@pytest.mark.parametrize(
    ("gold", "types"),
    [
        ({"issued": "2025-05-14", "due": "2025-06-14"}, "date"),
        ({"net": "118.00", "gross": "119.00"}, "money"),
        ({"seller": "A1007", "buyer": "A1070"}, "id"),
    ],
    ids=["dates a month apart", "amounts of one digit", "numbers of the same digits"],
)
def test_the_main_reason_of_exchanged_values_is_the_exchange(gold: dict[str, str], types: str) -> None:
    pred = dict(zip(gold, reversed(gold.values()), strict=True))
    result = score([{"id": 1, **gold}], [{"id": 1, **pred}], {"fields": dict.fromkeys(gold, types)})
    assert result.evidence is not None
    assert [names[0] for names in result.evidence["diagnoses"]] == ["value_of_another_field"] * 2
