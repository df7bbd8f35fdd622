"""Texts that stand in place of lists and objects: in cells, in fields, in gold and in predictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judging import score_alone as score

from fieldassay.commands.init import spec_from_gold
from fieldassay.scoring.inputs.options import InputOptions, ScoreOptions

SPEC = """
fields:
  lines: {items: {fields: {sku: id, amount: money}}}
  tags: {items: text}
  party: {fields: {name: text, city: text}}
  marks: {type: list, compare: iou, items: text}
"""
ROW: dict[str, Any] = {
    "id": "r1",
    "lines": [{"sku": "A", "amount": 10.5}],
    "tags": ["x", "it's"],
    "party": {"name": "Oak", "city": None},
    "marks": ["x", "y\u00a0z"],
}
FULL_WIDTH = str.maketrans("[]{},:", "［］｛｝，：")
FORMS: dict[str, tuple[Callable[[Any], str], str]] = {
    "a Python literal": (repr, "python_literal"),
    "a Python literal with a tag behind": (lambda value: f"{value!r}</lines>", "python_literal"),
    "a tuple": (lambda value: repr(tuple(value) if isinstance(value, list) else value), "python_literal"),
    "Decimal": (lambda value: repr(value).replace("10.5", "Decimal('10.5')"), "python_literal"),
    "a fence": (lambda value: f"```json\n{json.dumps(value)}\n```", "code_fence"),
    "a trailing comma": (lambda value: f"{json.dumps(value)[:-1]},{json.dumps(value)[-1]}", "trailing_comma"),
    "a tag behind": (lambda value: json.dumps(value) + "\n</lines>", "prose_around"),
    "in a tag": (lambda value: f"<a>{json.dumps(value)}</a>", "prose_around"),
    "escaped quotes": (lambda value: json.dumps(value).replace('"', '\\"'), "escaped_quotes"),
    "encoded twice": (lambda value: json.dumps(json.dumps(value)), "double_encoded"),
    "an invisible character before": (lambda value: "\u200b" + json.dumps(value), "prose_around"),
    "full-width punctuation": (lambda value: json.dumps(value).translate(FULL_WIDTH), "full_width"),
    "entities": (lambda value: json.dumps(value).replace('"', "&quot;"), "html_entities"),
    "a quotation": (lambda value: "> " + json.dumps(value, indent=1).replace("\n", "\n> "), "line_marks"),
}


@pytest.mark.parametrize("field", ["lines", "tags", "party", "marks"])
@pytest.mark.parametrize("name", FORMS)
def test_a_text_is_read_as_the_list_or_object_in_gold_and_predictions_and_said(name: str, field: str) -> None:
    form, repair = FORMS[name]
    text = {**ROW, field: form(ROW[field])}
    predicted = score([ROW], {"m": [text]}, SPEC)
    assert predicted.value("accuracy") == 1.0
    assert {"json_in_text", repair} & set(predicted.counts["systems"]["m"]["repairs"])
    gold = score([text], {"m": [ROW]}, SPEC)
    assert gold.value("accuracy") == 1.0
    assert any(
        warning.startswith("gold: 1 of 1 records had texts in place of lists") and "(r1)" in warning
        for warning in gold.warnings
    )
    assert gold.counts["gold"]["repairs"]["json_in_text"] == 1


CUT = ('[{"sku": "A", "amount": 10.5}', '["x", "it\'s"', "['x', \"it's\"")


@pytest.mark.parametrize(("field", "text"), list(zip(("lines", "tags", "tags"), CUT, strict=True)))
def test_a_cut_text_is_completed_in_a_prediction_and_never_in_gold(field: str, text: str) -> None:
    result = score([ROW], {"m": [{**ROW, field: text}]}, SPEC)
    assert result.value("accuracy") == 1.0 and result.counts["systems"]["m"]["repairs"]["truncated"] == 1
    assert score([{**ROW, field: text}], {"m": [ROW]}, SPEC).value("accuracy") != 1.0


@pytest.mark.parametrize(
    "text", ["- x\n- y", "x; y", "[sic] so it is", "[redacted]", "['x'] and ['y']", "[open('x')]", "[x, y"]
)
def test_a_text_that_may_be_none_stays_one_item_and_is_warned_of(text: str) -> None:
    told = "gave a text in place of a list of texts, which counts as one item"
    for gold, pred, side in ((ROW, {**ROW, "tags": text}, "m"), ({**ROW, "tags": text}, ROW, "gold")):
        warnings = score([gold], {"m": [pred]}, SPEC).warnings
        assert any(
            line.startswith(f"{side}: 1 of 1") and told in line and "(r1)" in line for line in warnings
        )
    rows = score([{**ROW, "tags": [text]}], {"m": [{**ROW, "tags": text}]}, SPEC)
    assert rows.value("accuracy") == 1.0


def test_what_pandas_writes_of_a_column_of_lists_is_read_and_drafted_as_lists(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    fields = ("lines", "tags", "party", "marks")
    pl.DataFrame([{"id": "r1", **{name: repr(ROW[name]) for name in fields}}]).write_csv(path)
    for gold, pred in ((str(path), [ROW]), ([ROW], str(path))):
        assert score(gold, {"m": pred}, SPEC).value("accuracy") == 1.0
    draft = spec_from_gold(str(path)).text
    assert draft.count("type: list") == 3 and draft.count("type: object") == 2


def test_a_path_goes_on_through_json_text(tmp_path: Path) -> None:
    answers = {
        "r1": json.dumps({"output": {"shop": "Oak", "total": 5}}),
        "r2": json.dumps({"shop": "Elm", "total": 6}),
        "r3": '```json\n{"shop": "Ash", "total": 7}\n```',
        "r4": "I cannot read it.",
    }
    gold = [
        {"id": name, "truth": json.dumps({"gt_parse": {"shop": shop, "total": 5 + at}})}
        for at, (name, shop) in enumerate(zip(answers, ["Oak", "Elm", "Ash", "Fir"], strict=True))
    ]
    options = ScoreOptions(inputs=InputOptions(gold_key="truth.gt_parse", pred_key="answer.output"))
    spec = "fields: {shop: text, total: number}"
    rows = [{"id": name, "answer": answer} for name, answer in answers.items()]
    result = score(gold, {"m": rows}, spec, options)
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (0.75, 1)
