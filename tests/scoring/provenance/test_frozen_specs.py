"""The digests of a spec: everything that decides a score or is a formula is in one of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace
from tests.strategies_spec import specs

from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.options import option_names
from fieldassay.scoring.provenance import freeze_formulas, freeze_spec
from fieldassay.spec.language.model import (
    Accept,
    Call,
    DataOptions,
    DocumentType,
    Field,
    Spec,
    StatisticsOptions,
)
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import digest_of

SPEC = """
name: pinned
locale: es
null_values: [NOT_FOUND]
fields:
  dosis: {type: text, critical: true, normalize: [accents, {case: {form: upper}}]}
  total: {type: money, currency: AUD, tolerance: {relative: 0.01}}
  lines: {type: list, align: {key: sku}, items: {type: object, fields: {sku: id, n: number}}}
metrics: [accuracy, "f1(granularity=slot)"]
"""
PINNED_SPEC = "dc82c8c52dae8411ef28b5c4043ab4f9598ec4e2e34f03facbba96f51beee356"
PINNED_FORMULAS = "708566bb081572c4f636a32efd5af58782379060c5de6771daaa74c7c2635ec4"


def test_the_digests_are_the_pinned_ones() -> None:
    spec = read_spec(SPEC)
    assert (freeze_spec(spec).digest, freeze_formulas(spec).digest) == (PINNED_SPEC, PINNED_FORMULAS)


@given(spec=specs())
def test_the_frozen_spec_has_the_digest_of_the_plan(spec: Spec) -> None:
    assert freeze_spec(spec).digest == digest_of(spec)


OTHER: dict[str, Any] = {
    "type": "id",
    "options": (("case_sensitive", False),),
    "compare": Call("words"),
    "normalize": (Call("case"),),
    "accept": Accept(0.5),
    "accepted": ("x",),
    "applies_to": ("invoice",),
    "null_values": ("none",),
    "null": "value",
    "blank": "value",
    "unreadable_gold": "failed",
    "items": Field("", "id"),
    "align": Call("ordered"),
    "combine": "product",
    "other_kind": "empty",
    "separator": "|",
    "fields": (Field("inner"),),
    "patterns": (("**", Field("**", "id")),),
    "extra": "spurious",
    "data": DataOptions(names="loose"),
    "locale": "de",
    "document_type": DocumentType("kind"),
    "metrics": ("f1",),
    "definitions": (Definition("mine", "f1 + 1"),),
    "score": "f1",
    "prices": (("m", (("prompt", 1.0),)),),
    "checks": (("a", (Call("number"),)),),
    "version": 2,
}
"""Another value for spec parts or fields where a larger number, other claim or text `x` will not do."""

NOT_FROZEN = {"statistics", "name", "description", "edition", "citation", "protocol", "gates", "slices"}
FORMULAS = {"metrics", "definitions", "score", "prices"}


def parts(model: Any) -> list[str]:
    return list(model.__struct_fields__)


def other(model: Any, part: str) -> Any:
    value = getattr(model, part)
    if isinstance(value, bool):
        return not value
    return (
        value + 1
        if isinstance(value, float)
        else OTHER.get(part, ("x",) if isinstance(value, tuple) else "x")
    )


FIELD_NOT_FROZEN = ("name", "description", "labels", "find")


@pytest.mark.parametrize("part", [part for part in parts(Field) if part not in FIELD_NOT_FROZEN])
def test_every_part_of_a_field_is_in_the_digest_of_the_spec(part: str) -> None:
    kind = {"items": "list", "fields": "object", "patterns": "any"}.get(part, "text")
    field = Field("a", kind)
    changed = replace(field, **{part: other(field, part)})
    one, two = Spec("s", (field,)), Spec("s", (changed,))
    assert freeze_spec(one).digest != freeze_spec(two).digest, (
        f"does {part!r} decide scores? spec_data() does not write it"
    )
    assert freeze_formulas(one) == freeze_formulas(two)


@pytest.mark.parametrize("part", ["description", "labels", "find"])
def test_what_helps_only_extraction_is_not_in_the_digest_of_the_spec(part: str) -> None:
    field = Field("a")
    changed = replace(field, **{part: other(field, part)})
    assert freeze_spec(Spec("s", (field,))) == freeze_spec(Spec("s", (changed,)))


@pytest.mark.parametrize("part", [part for part in parts(Spec) if part not in NOT_FROZEN])
def test_every_part_of_a_spec_is_in_one_digest(part: str) -> None:
    spec = Spec("s", (Field("a"),))
    changed = replace(spec, **{part: other(spec, part)})
    assert (freeze_spec(spec).digest == freeze_spec(changed).digest) is (part in FORMULAS)
    assert (freeze_formulas(spec).digest == freeze_formulas(changed).digest) is (part not in FORMULAS)


@pytest.mark.parametrize("part", sorted(NOT_FROZEN))
def test_what_decides_no_score_and_is_no_formula_is_in_none(part: str) -> None:
    spec = Spec("s", (Field("a"),))
    lists = dict.fromkeys(("gates", "slices"), ("accuracy >= 0.9",))
    value = {**lists, "statistics": StatisticsOptions(level=0.9)}.get(part, "other")
    changed = replace(spec, **{part: value})
    assert freeze_formulas(spec) == freeze_formulas(changed)
    if part != "protocol":
        assert freeze_spec(spec) == freeze_spec(changed)


@pytest.mark.parametrize("key", option_names(DataOptions))
def test_of_how_data_are_read_only_what_counts_as_a_name_is_in_the_digest(key: str) -> None:
    value = {"group": True, "names": "loose", "match_ids": "stem", "max_unpacked": "8GB"}.get(key, "x")
    spec = Spec("s", (Field("a"),))
    changed = replace(spec, data=DataOptions(**{key: value}))
    assert changed != spec and (freeze_spec(spec) != freeze_spec(changed)) is (key == "names")


FORMULA_CHANGES: dict[str, tuple[Spec, bool]] = {
    "the order of metrics": (Spec("s", (), metrics=("f1", "accuracy")), True),
    "white space": (Spec("s", (), metrics=(" accuracy", "f1 ")), True),
    "one metric twice": (Spec("s", (), metrics=("accuracy", "f1", "f1")), True),
    "a metric less": (Spec("s", (), metrics=("accuracy",)), False),
    "a parameter": (Spec("s", (), metrics=("accuracy", "f1(granularity=slot)")), False),
}


@pytest.mark.parametrize("name", FORMULA_CHANGES)
def test_metrics_are_compared_as_a_set_of_formulas(name: str) -> None:
    changed, is_same = FORMULA_CHANGES[name]
    base = Spec("s", (), metrics=("accuracy", "f1"))
    assert (freeze_formulas(base).digest == freeze_formulas(changed).digest) is is_same


DEFINED = Definition("score", "0.7 * recall + 0.3 * accuracy", unit="percent")
DEFINITION_CHANGES: dict[str, tuple[tuple[Definition, ...], bool]] = {
    "a weight": ((replace(DEFINED, formula="0.6 * recall + 0.4 * accuracy"),), False),
    "the unit": ((replace(DEFINED, unit="ratio"),), False),
    "the name": ((replace(DEFINED, name="mine"),), False),
    "one more": ((DEFINED, Definition("b", "f1")), False),
    "white space": ((replace(DEFINED, formula="0.7 * recall\n  + 0.3 * accuracy"),), True),
    "its description": ((replace(DEFINED, description="as published"),), True),
}


@pytest.mark.parametrize("name", DEFINITION_CHANGES)
def test_a_changed_definition_is_a_changed_formula(name: str) -> None:
    definitions, is_same = DEFINITION_CHANGES[name]
    base, changed = Spec("s", (), definitions=(DEFINED,)), Spec("s", (), definitions=definitions)
    assert (freeze_formulas(base).digest == freeze_formulas(changed).digest) is is_same
    assert freeze_spec(base) == freeze_spec(changed)
