"""Raw answers of models, in files and in texts."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import score_alone as score

from fieldassay.commands.init import spec_from_gold
from fieldassay.extraction.strategy import leaves_of
from fieldassay.records.answers.answer import parse_answer

# What is read from raw answers, and what is said about it

A = {"a": 1}
CASES = {
    "cut in a text in a fence": (
        '```json\n{"a": 1, "b": "x\n```\nThe "rest" is cut.',
        A,
        ("prose_around", "code_fence", "truncated"),
    ),
    "plain": ('{"a": 1}', A, ()),
    "white space around": (' \n{"a": 1}\t', A, ()),
    "byte order mark": ('\ufeff{"a": 1}', A, ()),
    "empty object": ("{}", {}, ()),
    "fence": ('```json\n{"a": 1}\n```', A, ("code_fence",)),
    "fence without language": ('```\n{"a": 1}\n```', A, ("code_fence",)),
    "fence on one line": ('```json {"a": 1} ```', A, ("code_fence",)),
    "fence in prose": ('Sure:\n```json\n{"a": 1}\n```\nDone.', A, ("prose_around", "code_fence")),
    "unclosed fence": ('```json\n{"a": 1}', A, ("code_fence",)),
    "prose before": ('The answer is {"a": 1}', A, ("prose_around",)),
    "prose after": ('{"a": 1}\n\nNote: {braces} and [brackets].', A, ("prose_around",)),
    "references in prose": ('See [470] and [686]: {"a": 1}', A, ("prose_around",)),
    "empty object in prose": ("Nothing found: {}", {}, ("prose_around",)),
    "fence inside a string": ('{"a": "```x```"} ok', {"a": "```x```"}, ("prose_around",)),
    "braces in a string": ('x {"a": "}{"} y', {"a": "}{"}, ("prose_around",)),
    "several blocks": ('{"a": 2}\n{"a": 1}', A, ("prose_around", "several_blocks")),
    "several fences": ('```\n{"a": 2}\n```\n```\n{"a": 1}\n```', A, ("code_fence", "several_blocks")),
    "empty block first": ('```\n{}\n```\n```\n{"a": 1}\n```', A, ("code_fence",)),
    "empty block last": ('{"a": 1}\nNotes: {}', A, ("prose_around",)),
    "cut in a fence": (
        '```json\n{"a": 1, "b": "x\n```\nThe "rest" is missing.',
        A,
        ("prose_around", "code_fence", "truncated"),
    ),
    "a fence mark in broken JSON": ('{"a": "```x```",}', {"a": "```x```"}, ("trailing_comma",)),
    "thinking": ('<think>{"a": 0}?</think>{"a": 1}', A, ("thinking",)),
    "thinking without its opening": ('so [1] it is.</think> {"a": 1}', A, ("thinking",)),
    "end of thinking in a string": ('x {"a": "</think>"}', {"a": "</think>"}, ("prose_around",)),
    "double encoded": ('"{\\"a\\": 1}"', A, ("double_encoded",)),
    "trailing comma": ('{"a": 1,}', A, ("trailing_comma",)),
    "trailing comma in a list": ('{"a": [1, 2,]}', {"a": [1, 2]}, ("trailing_comma",)),
    "single quotes": ("{'a': 'it\\'s'}", {"a": "it's"}, ("single_quotes",)),
    "double quotes in single": ("{'a': 'say \"x\"'}", {"a": 'say "x"'}, ("single_quotes",)),
    "curly quotes": ("{“a”: “b”}", {"a": "b"}, ("curly_quotes",)),
    "unquoted key": ("{a: 1}", A, ("unquoted_key",)),
    "python literals": (
        "{'a': True, 'b': None}",
        {"a": True, "b": None},
        ("single_quotes", "python_literal"),
    ),
    "line comment": ('{"a": 1 // so\n}', A, ("comment",)),
    "hash comment": ('{"a": 1 # so\n}', A, ("comment",)),
    "block comment": ('{/* so */ "a": 1}', A, ("comment",)),
    "url is no comment": ('{"a": "http://x",}', {"a": "http://x"}, ("trailing_comma",)),
    "thousands separator": ('{"a": 67,571}', {"a": "67,571"}, ("thousands_separator",)),
    "thousands separators": (
        '{"a": 1,234,567.50, "b": 2}',
        {"a": "1,234,567.50", "b": 2},
        ("thousands_separator",),
    ),
    "leading zeros stay": ('{"a": 00012}', {"a": "00012"}, ("bare_value",)),
    "percent stays": ('{"a": 5%}', {"a": "5%"}, ("bare_value",)),
    "currency stays": ('{"a": $5}', {"a": "$5"}, ("bare_value",)),
    "expression stays": ('{"a": 14332 + 5}', {"a": "14332 + 5"}, ("bare_value",)),
    "time stays": (
        '{"a": 2024-01-05T10:30:00Z, "b": 10:30}',
        {"a": "2024-01-05T10:30:00Z", "b": "10:30"},
        ("bare_value",),
    ),
    "address stays": ('{"a": http://x.org/y?z=1}', {"a": "http://x.org/y?z=1"}, ("bare_value",)),
    "python text": ("{u'a': u'b'}", {"a": "b"}, ("single_quotes",)),
    "words stay": ('{"a": 12 months, "b": 1}', {"a": "12 months", "b": 1}, ("bare_value",)),
    "missing comma": ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, ("missing_comma",)),
    "missing comma between items": (
        '{"a": [{"b": 1} {"b": 2}]}',
        {"a": [{"b": 1}, {"b": 2}]},
        ("missing_comma",),
    ),
    "markdown escape": ('{"main\\_question": 1}', {"main_question": 1}, ("markdown_escape",)),
    "windows path": ('{"a": "C:\\Users"}', {"a": "C:\\Users"}, ("bad_escape",)),
    "raw line break in a string": ('{"a": "x\ny"}', {"a": "x\ny"}, ("control_character",)),
    "truncated list": ('{"a": [1, 2', {"a": [1]}, ("truncated",)),
    "truncated string": ('{"a": 1, "b": "1,2', A, ("truncated",)),
    "truncated string that is whole": ('{"a": "xy"', {"a": "xy"}, ("truncated",)),
    "truncated number": ('{"a": 1, "b": 12', A, ("truncated",)),
    "number before the end of a fence": ('```\n{"a": 1\n```', A, ("code_fence", "truncated")),
    "truncated word": ('{"a": 1, "b": Oak Lt', A, ("bare_value", "truncated")),
    "truncated after a literal": ('{"a": true', {"a": True}, ("truncated",)),
    "truncated item": ('{"a": [{"b": 1}, {"b": 2, "c": "x', {"a": [{"b": 1}]}, ("truncated",)),
    "truncated first item": ('{"a": 1, "b": [{"c": 2, "d": "x', A, ("truncated",)),
    "truncated list in an item": (
        '{"a": [{"b": 1, "c": [2, 3',
        {"a": [{"b": 1, "c": [2]}]},
        ("truncated",),
    ),
    "truncated object": ('{"a": {"b": 1, "c": "x', {"a": {"b": 1}}, ("truncated",)),
    "truncated beyond the rules": (
        '{"a": "he said "hi" to", "b": {"c": 2, "d": "1,2',
        {"a": 'he said "hi" to', "b": {"c": 2}},
        ("repaired", "truncated"),
    ),
    "truncated key": ('{"a": 1, "b', A, ("truncated",)),
    "truncated before a value": ('{"a": 1, "b":', A, ("truncated",)),
    "truncated after a comma": ('{"a": 1,', A, ("truncated",)),
    "truncated after an opening bracket": ('{"a": 1, "b": [{', A, ("truncated",)),
    "truncated escape": ('{"a": 1, "b": "x\\u00', A, ("truncated",)),
    "truncated in prose": ('Here: {"a": [1, {"b": 2}', {"a": [1, {"b": 2}]}, ("prose_around", "truncated")),
    "inner object is not the answer": (
        'x {"a": [{"b": 1},],}',
        {"a": [{"b": 1}]},
        ("prose_around", "trailing_comma"),
    ),
    "quotes in a string": (
        '{"a": "he said "hi" to", "b": 2}',
        {"a": 'he said "hi" to', "b": 2},
        ("repaired",),
    ),
    "missing value": ('{"a": }', {"a": ""}, ("repaired",)),
    "duplicate key": ('{"a": 0, "a": 1}', A, ("duplicate_key",)),
    "lone surrogate": ('{"a": "\\ud800"}', {"a": "\ufffd"}, ("lone_surrogate",)),
    "infinity": ('{"a": -Infinity}', {"a": -math.inf}, ("non_finite_number",)),
    "beyond a float": ('{"a": 1e999}', {"a": math.inf}, ("non_finite_number",)),
}
INVALID = {
    "empty": ("", "empty answer"),
    "blank": (" \n ", "empty answer"),
    "null": ("null", "null answer"),
    "prose": ("I cannot read it.", "no JSON in the answer: 'I cannot read it.'"),
    "reference only": ("See [12].", "no JSON in the answer: 'See [12].'"),
    "number": ("42", "top level is a number, expected an object"),
    "boolean": ("true", "top level is a boolean, expected an object"),
    "string": ('"yes"', "no JSON in the answer: 'yes'"),
    "list": ('[{"a": 1}]', "top level is a list, expected an object"),
    "list in prose": ('Items: [{"a": 1}]', "top level is a list, expected an object"),
    "long prose": ("word " * 100, "no JSON in the answer: " + repr(("word " * 100)[:80])),
    "deep": ('{"a":' * 1000 + "1" + "}" * 1000, "nested deeper than 100 levels"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_raw_answer_is_read_and_each_repair_is_named(name: str) -> None:
    text, data, repairs = CASES[name]
    answer = parse_answer(text)
    assert (answer.data, answer.repairs, answer.problem) == (data, repairs, None)


@pytest.mark.parametrize("name", INVALID)
def test_an_answer_without_an_object_is_invalid_with_a_reason(name: str) -> None:
    text, problem = INVALID[name]
    answer = parse_answer(text)
    assert (answer.data, answer.problem) == (None, problem)


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ('[{"a": 1}]', ("array_wrapped",)),
        ('Items: [{"a": 1}]', ("prose_around", "array_wrapped")),
        ('```json\n[{"a": 1}]\n```', ("code_fence", "array_wrapped")),
        ('[{"a": 1}, {"a"', ("truncated", "array_wrapped")),
        ('{"lines": [{"a": 1}]}', ()),
    ],
    ids=["list", "list in prose", "list in a fence", "truncated list", "object"],
)
def test_a_list_is_put_under_the_key_that_is_told(text: str, repairs: tuple[str, ...]) -> None:
    answer = parse_answer(text, wrap="lines")
    assert (answer.data, answer.repairs) == ({"lines": [{"a": 1}]}, repairs)


@pytest.mark.parametrize(
    "text", ['{"a": 1,}', '{"a": [1', "{'a': 1}"], ids=["trailing comma", "truncated", "single quotes"]
)
def test_gold_is_not_mended(text: str) -> None:
    answer = parse_answer(text, may_mend=False)
    assert answer.data is None and str(answer.problem).startswith("the JSON in the answer is broken")


RECORDS = {
    "flat": {"vendor": "Oak", "total": 10},
    "objects": {"vendor": "Oak", "lines": [{"sku": "A", "total": 10}]},
    "object": {"vendor": "Oak", "party": {"vendor": "Elm", "total": 10}, "total": 5},
    "texts": {"vendor": "Oak", "tags": ["x", "y"]},
}
FULL_WIDTH = str.maketrans(":,", "：，")


DISGUISES: dict[str, tuple[Callable[[str], str], str]] = {
    "escaped quotes": (lambda text: text.replace('"', '\\"'), "escaped_quotes"),
    "escaped quotes in prose": (lambda text: f"It is {text} so.".replace('"', '\\"'), "escaped_quotes"),
    "escaped quotes, cut": (lambda text: text.replace('"', '\\"').rstrip("\n}") + ",", "escaped_quotes"),
    "line breaks in words": (lambda text: text.replace("\n", "\\n"), "escaped_space"),
    "an invisible character": (lambda text: "{\u200b" + text[1:], "invisible_character"),
    "full-width colon and comma": (lambda text: text.translate(FULL_WIDTH), "full_width"),
    "full-width braces": (lambda text: f"｛{text[1:-1]}｝", "full_width"),
    "full-width quotes": (lambda text: text.replace('"', "＂"), "full_width"),
    "bold keys": (lambda text: re.sub(r'("\w+"):', r"**\1**:", text), "markup"),
    "line breaks of HTML": (lambda text: text.replace("\n", "<br>"), "markup"),
    "entities": (lambda text: text.replace('"', "&quot;"), "html_entities"),
    "a leading comma": (lambda text: "{," + text[1:], "leading_comma"),
    "an ellipsis": (lambda text: "{ ...," + text[1:], "ellipsis"),
}


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguised_object_is_read_as_a_whole_and_not_an_object_inside_of_it(name: str, record: str) -> None:
    disguise, repair = DISGUISES[name]
    text = disguise(json.dumps(RECORDS[record], indent=1))
    for declared in (frozenset[str](), frozenset({"vendor", "total"})):
        answer = parse_answer(text, declared=declared)
        assert (answer.data, answer.problem) == (RECORDS[record], None)
        assert repair in answer.repairs and "repaired" not in answer.repairs


@pytest.mark.parametrize("record", ["objects", "object"])
def test_an_object_in_one_that_cannot_be_read_is_no_answer_and_the_reason_names_the_outer_one(
    record: str,
) -> None:
    text = "{%" + json.dumps(RECORDS[record])[1:]
    for may_mend in (True, False):
        answer = parse_answer(text, declared=frozenset({"sku", "name"}), may_mend=may_mend)
        assert answer.data is None and str(answer.problem).startswith("the JSON in the answer is broken: '{%")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, min_size=1, max_size=4)
prose = st.text(st.characters(exclude_characters="{}[]`\"'<", exclude_categories=["Cs"]), max_size=40)


@given(objects, st.integers(1, 200))
def test_of_an_object_cut_anywhere_only_whole_values_are_kept(data: dict, cut: int) -> None:
    answer = parse_answer(json.dumps(data)[:-cut] or "{")
    assert answer.data is not None and all(
        one in [*leaves_of(data)] for one in leaves_of(answer.data) if one[1] not in ([], {})
    )


@given(objects, prose, prose, st.booleans(), st.sampled_from([None, 1]))
def test_json_with_prose_around_is_read_exactly(
    data: dict, before: str, after: str, is_ascii: bool, indent: int | None
) -> None:
    text = json.dumps(data, ensure_ascii=is_ascii, indent=indent)
    answer = parse_answer(f"{before} {text} {after}")
    assert (answer.data, answer.problem) == (data, None)
    assert set(answer.repairs) <= {"prose_around"}


@given(st.text(st.sampled_from("{}[]\",:'`\\ab1 \n/#-."), max_size=60))
def test_any_text_is_an_answer_or_a_problem(text: str) -> None:
    answer = parse_answer(text)
    assert (answer.data is None) == (answer.problem is not None)


@given(objects, st.integers(1, 200))
def test_a_cut_answer_keeps_a_prefix_of_its_keys(data: dict, length: int) -> None:
    answer = parse_answer(json.dumps(data)[:length])
    if answer.data is not None and "repaired" not in answer.repairs:
        assert list(answer.data) == list(data)[: len(answer.data)] or "lone_surrogate" in answer.repairs


# Texts that stand in place of lists and objects: in cells, in fields, in gold and in predictions

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
TEXT_VALUES_FULL_WIDTH = str.maketrans("[]{},:", "［］｛｝，：")
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
    "full-width punctuation": (
        lambda value: json.dumps(value).translate(TEXT_VALUES_FULL_WIDTH),
        "full_width",
    ),
    "entities": (lambda value: json.dumps(value).replace('"', "&quot;"), "html_entities"),
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
        warning.startswith("gold: 1 of 1 records give lists or objects as text") and "(r1)" in warning
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
    told = "give one text instead of a list; read as one item"
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
    options = {"gold_key": "truth.gt_parse", "pred_key": "answer.output"}
    spec = "fields: {shop: text, total: number}"
    rows = [{"id": name, "answer": answer} for name, answer in answers.items()]
    result = score(gold, {"m": rows}, spec, **options)
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (0.75, 1)
