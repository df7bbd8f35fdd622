"""The compiled plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.scoring.explain import explain_values
from fieldassay.scoring.score import score
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.language.parse import parse_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import describe

# Options of a field reach the comparators inside its comparator

STEPS = {"cascade": {"steps": ["exact", "bare_number"]}}


@pytest.mark.parametrize(
    ("definition", "compared"),
    [
        ({"compare": STEPS, "tolerance": 0.5}, "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])"),
        (
            {"compare": {"cascade": ["exact", "bare_number"]}, "tolerance": 0.5},
            "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])",
        ),
        (
            {
                "compare": {"cascade": {"steps": ["exact", {"bare_number": {"tolerance": 0.1}}]}},
                "tolerance": 0.5,
            },
            None,
        ),
        (
            {"type": "list", "compare": {"by_position": {"items": STEPS}}, "tolerance": 0},
            "by_position(items=cascade(steps=[exact, bare_number(tolerance=relative 0)]))",
        ),
        ({"type": "list", "compare": {"by_position": {"items": "exact"}}, "tolerance": 0}, None),
        ({"compare": STEPS, "tolerence": 0.5}, None),
    ],
)
def test_an_option_goes_to_whoever_has_it_and_to_nobody_else(
    definition: dict[str, object], compared: str | None
) -> None:
    if compared is None:
        with pytest.raises(ProblemsError, match="no option"):
            read_plan({"fields": {"x": definition}})
    else:
        assert describe(read_plan({"fields": {"x": definition}}))[0]["compared"] == compared


def test_an_option_with_a_wrong_value_is_a_problem_of_the_comparator() -> None:
    with pytest.raises(ProblemsError, match="tolerance"):
        read_plan({"fields": {"x": {"compare": STEPS, "tolerance": "much"}}})


def test_the_option_counts() -> None:
    values = [
        explain_values("100", "105", {"compare": STEPS, "tolerance": tolerance})[0].score
        for tolerance in (0.04, 0.05)
    ]
    assert values == [0.0, 1.0]


# Fields that records may hold under other keys (`names:`)

SPEC = """
fields:
  total: {type: integer, names: [sum, amount]}
  vendor: {names: [seller], fields: {name: {type: text, names: [called]}}}
  lines: {type: list, names: [rows], items: {fields: {sku: {type: id, names: [code]}}}}
"""
GOLD = [{"id": 1, "total": 5, "vendor": {"name": "Ada"}, "lines": [{"sku": "x"}, {"sku": "y"}]}]


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        pytest.param({"a": 1}, {"a": 1}, id="own"),
        pytest.param({"b": 1}, {"a": 1}, id="other"),
        pytest.param({"c": 2, "b": 1}, {"c": 2, "a": 1}, id="the-first-listed-counts"),
        pytest.param({"a": None, "c": 2}, {"a": 2}, id="null-gives-way"),
        pytest.param({"b": None, "c": 2}, {"a": 2}, id="a-null-other-is-passed-over"),
        pytest.param({"b": None}, {"a": None}, id="a-null-other-alone-is-the-field"),
        pytest.param({"a": 0, "b": 1}, {"a": 0, "b": 1}, id="own-counts-first"),
        pytest.param({"a": [], "b": 1}, {"a": [], "b": 1}, id="empty-is-not-null"),
        pytest.param({}, {}, id="neither"),
    ],
)
def test_which_key_counts(record: dict[str, Any], wanted: dict[str, Any]) -> None:
    given = dict(record)
    assert apply_aliases(record, (("a", ("b", "c")),)) == wanted
    assert record == given


def test_fields_are_found_under_their_other_names_at_every_level() -> None:
    pred = [{"id": 1, "amount": 5, "seller": {"called": "Ada"}, "rows": [{"code": "y"}, {"code": "x"}]}]
    result = score(GOLD, pred, SPEC)
    assert result.value("accuracy") == 1.0
    assert result.warnings == ()


def test_gold_may_use_other_names_and_absent_fields_are_seen_under_them() -> None:
    gold = [{"id": 1, "sum": 5, "seller": {"called": "Ada"}}]
    result = score(gold, GOLD, f"absent_fields: skip\n{SPEC}")
    assert result.value("accuracy") == 1.0
    assert result.warnings[0] == "fields that no gold record has are not judged: lines"


@pytest.mark.parametrize("extra", ["ignore", "spurious"])
def test_a_skipped_field_and_its_unit_are_neither_judged_nor_undeclared(extra: str) -> None:
    weight = "weight: {type: quantity, unit_field: weight_unit}"
    spec = f"{{fields: {{sum: number, {weight}}}, absent_fields: skip, extra: {extra}}}"
    result = score([{"id": 1, "sum": 5}], [{"id": 1, "sum": 5, "weight": 3, "weight_unit": "kg"}], spec)
    assert result.value("accuracy") == 1.0
    assert result.warnings == ("fields that no gold record has are not judged: weight",)


def test_other_names_are_no_undeclared_keys_and_a_second_one_is() -> None:
    result = score(GOLD, [{**GOLD[0], "sum": 6}], f"extra: spurious\n{SPEC}")
    spurious = result.evidence.filter(result.evidence["outcome"] == "spurious")
    assert spurious["field"].to_list() == ["sum"]


def test_a_column_of_a_table_may_hold_a_list_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "pred.csv"
    path.write_text(
        'id,amount,seller.called,rows\n1,5,Ada,"[{""code"": ""x""}, {""code"": ""y""}]"\n', encoding="utf-8"
    )
    assert score(GOLD, path, SPEC).value("accuracy") == 1.0


def test_a_data_key_and_a_raw_answer_are_read_under_other_names_too() -> None:
    answer = json.dumps({"sum": 5, "seller": {"name": "Ada"}, "rows": [{"sku": "x"}, {"code": "y"}]})
    assert score(GOLD, [{"id": 1, "raw": f"Here: {answer}"}], SPEC).value("accuracy") == 1.0


def test_names_are_written_and_read_back() -> None:
    spec = parse_spec(SPEC).spec
    assert spec.fields[0].names == ("sum", "amount")
    assert parse_spec(write_spec(spec)).spec == spec


def test_names_decide_the_digest() -> None:
    assert read_plan("fields: {a: text}").digest != read_plan("fields: {a: {type: text, names: [b]}}").digest


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            "fields: {a: {type: text, names: [b]}, b: text}",
            "the field 'b' is declared twice",
            id="of-another-field",
        ),
        pytest.param(
            "fields: {a: {type: text, names: [c]}, b: {type: text, names: [c]}}",
            "the field 'c' is declared twice",
            id="of-two",
        ),
        pytest.param(
            "fields: {a: {type: list, items: {type: text, names: [b]}}}",
            "'names' does not apply to the items",
            id="of-items",
        ),
        pytest.param(
            'fields: {a: {fields: {"**.x": {type: text, names: [b]}}}}',
            "'names' does not apply",
            id="of-a-pattern",
        ),
        pytest.param("fields: {a: {type: text, names: [[b]]}}", "must be a text, not a list", id="a-list"),
    ],
)
def test_names_that_make_no_sense_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ProblemsError) as refused:
        read_plan(spec)
    assert message in str(refused.value)
