"""Records in another object, and keys of records in another style."""

import json
from typing import Any

import pytest
from tests.judging import score_alone as score

from fieldassay.errors import NothingEvaluatedError

SPEC = "fields: {shop: text, unit_price: money, lines: {items: {fields: {sku: id}}}}"
OAK: dict[str, Any] = {"shop": "Oak", "unit_price": "5", "lines": [{"sku": "A"}]}
GOLD = [{"id": "r1", **OAK}, {"id": "r2", **OAK}]
TAKEN_OFF = "m: 1 of 2 answers hold their record inside another object; read it there (r1)"
WRAPPED: dict[str, Any] = {
    "a key": {"output": OAK},
    "two keys": {"result": {"data": OAK}},
    "three keys": {"a": {"b": {"c": OAK}}},
    "a schema": {"type": "object", "properties": OAK},
    "a status beside": {"status": "ok", "data": OAK, "took": {"ms": 5}},
    "a text": {"output": json.dumps(OAK)},
}
LEFT: dict[str, Any] = {
    "two objects": {"first": OAK, "second": OAK},
    "a declared key beside": {"shop": "Elm", "data": OAK},
    "a list": {"output": [OAK]},
    "four keys": {"a": {"b": {"c": {"d": OAK}}}},
    "a declared key in another style beside": {"Shop": "Elm", "data": OAK},
}


@pytest.mark.parametrize("form", ["row", "text", "prose", "value"])
@pytest.mark.parametrize("name", [*WRAPPED, *LEFT])
def test_the_only_object_with_declared_keys_in_one_without_is_the_record(name: str, form: str) -> None:
    answer = (WRAPPED | LEFT)[name]
    text = json.dumps(answer)
    rows = {"row": answer, "text": {"raw": text}, "prose": {"raw": f"Here it is: {text}."}}
    records = {"r1": answer, "r2": OAK} if form == "value" else [{"id": "r1", **rows[form]}, GOLD[1]]
    result = score(GOLD, {"m": records}, SPEC)
    is_taken = name in WRAPPED
    assert result.value("accuracy") == (1.0 if is_taken else pytest.approx(0.5, abs=0.01))
    assert result.counts["systems"]["m"]["repairs"].get("wrapped", 0) == is_taken
    assert (TAKEN_OFF in result.warnings) == is_taken
    if name == "two objects":
        assert any("declared keys stand under 'first', 'second'" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("beside", "metric", "value"),
    [
        ({"latency_ms": 1500}, "latency_mean", 1500),
        ({"duration_s": "1.5"}, "latency_mean", 1500),
        ({"processing_time": 1.5}, "latency_mean", 1500),
        ({"timing": {"duration_ms": 7}, "latency_ms": 1500}, "latency_mean", 7),
        ({"latency_ms": -1}, "latency_mean", None),
        ({"latency": 3}, "latency_mean", None),  # of which unit, nothing tells
        ({"cost_usd": 0.25, "model": "m"}, "cost_usd", 0.25),
        ({"usage": {"cost_usd": 0.5}, "cost_usd": 0.25}, "cost_usd", 0.5),
    ],
)
@pytest.mark.parametrize("key", ["prediction", "output"])
def test_what_stands_beside_a_record_is_used(
    key: str, beside: dict[str, Any], metric: str, value: float | None
) -> None:
    rows = [{"id": row["id"], key: OAK, **beside} for row in GOLD]
    result = score(GOLD, {"m": rows}, SPEC, metrics=("accuracy", metric))
    assert (result.value("accuracy"), result.value(metric)) == (1.0, value)


STYLED = {"Shop": "Oak", "unitPrice": "5", "LINES": [{"SKU": "A"}]}


@pytest.mark.parametrize("form", ["row", "text in a field", "wrapped"])
@pytest.mark.parametrize("side", ["gold", "m"])
def test_keys_in_another_style_are_named_and_taken_only_if_told(side: str, form: str) -> None:
    lines = json.dumps(STYLED["LINES"]) + ","
    rows = {"row": STYLED, "text in a field": {**STYLED, "LINES": lines}, "wrapped": {"out": STYLED}}
    if side == "gold" and form == "wrapped":
        return
    other = [{"id": "r1", **rows[form]}]
    given = (other, {"m": GOLD[:1]}) if side == "gold" else (GOLD[:1], {"m": other})
    if side == "gold":  # which may have no value in any field: said, and judged
        said = "; ".join(score(*given, SPEC).warnings)
    else:
        with pytest.raises(NothingEvaluatedError) as refused:
            score(*given, SPEC)
        said = str(refused.value)
    named = "'Shop' is 'shop': `shop: {names: [Shop]}`, 'unitPrice' is 'unit_price': `unit_price: {names: [unitPrice]}`"
    assert f"{named}), or set `data: {{names: loose}}`" in said
    options = {"names": "loose"}
    for loose in (score(*given, SPEC, **options), score(*given, f"data: {{names: loose}}\n{SPEC}")):
        assert loose.value("accuracy") == 1.0


def test_two_keys_alike_are_taken_for_no_field() -> None:
    rows = [{"id": "r1", "SHOP": "Oak", "Shop": "Oak"}]
    options = {"names": "loose"}
    with pytest.raises(NothingEvaluatedError, match="so `names: loose` cannot choose"):
        score(GOLD[:1], {"m": rows}, SPEC, **options)
