"""The record among the objects of a raw answer, outside of thoughts.

It is the one with most declared keys, then most readable values, then the last.
"""

import json
from pathlib import Path

import pytest
from tests.judging import score_alone as score

from fieldassay.records.answers.answer import parse_answer
from fieldassay.scoring.inputs import ScoreOptions

DECLARED = frozenset({"shop", "date", "total"})
SPEC = "fields: {shop: text, date: date, total: money}"
OAK = {"shop": "Oak & Sons", "date": "2025-03-04", "total": "1250.00"}
RECORD = json.dumps(OAK)
TEMPLATE = '{"shop": "extracted value", "date": "extracted value", "total": "extracted value"}'
TABLE = "| field | value |\n|---|---|\n| shop | {Oak & Sons} |\n| total | [1250.00] |\n"
DRAFT = '{"shop": "Oak", "total": 12}'


def calling(arguments: object) -> str:
    return json.dumps({"name": "extract_invoice", "arguments": arguments})


NOISE = {
    "echoed template": f"You asked for:\n{TEMPLATE}\n\nThis is the invoice:\n{RECORD}",
    "echoed template in a fence": f"Format:\n```json\n{TEMPLATE}\n```\nResult:\n```json\n{RECORD}\n```",
    "echoed template in a fence, the answer without": f"```json\n{TEMPLATE}\n```\n{RECORD}",
    "thoughts as an object before": f'{{"thoughts": "the shop is Oak"}}\n{RECORD}',
    "thoughts as an object after": f'{RECORD}\n{{"confidence": 0.9, "notes": "total was hard to read"}}',
    "think": f"<think>The format is {TEMPLATE}, so {DRAFT}?</think>\n{RECORD}",
    "think, without its opening": f"The format is {TEMPLATE}. Is it {DRAFT}?\n</think>\n\n{RECORD}",
    "think, with a broken draft": f'The format is {{"shop": "…", "date\n</think>\n{RECORD}',
    "thinking": f"<thinking>{DRAFT}</thinking>{RECORD}",
    "reasoning": f"<reasoning>\n{TEMPLATE}\n</reasoning>\n```json\n{RECORD}\n```",
    "unused tokens": f"<unused94>thought\nI fill {TEMPLATE}<unused95>{RECORD}",
    "unused tokens, an answer in a fence": (
        f"<unused94>thought\nI fill {TEMPLATE}<unused95>```json\n{RECORD}\n```"
    ),
    "THINK in brackets": f"[THINK]{TEMPLATE}[/THINK]{RECORD}",
    "kimi": f"◁think▷{TEMPLATE}◁/think▷{RECORD}",
    "channels": (
        "<|channel|>analysis<|message|>So "
        f"{TEMPLATE}<|end|><|start|>assistant<|channel|>final<|message|>{RECORD}<|return|>"
    ),
    "channels without their marks": f"analysisWe fill {TEMPLATE}.assistantfinal{RECORD}",
    "thoughts after the answer": f"{RECORD}\n<think>Let me check: {TEMPLATE}</think>",
    "two candidates": f"First reading: {DRAFT}\nAfter a second look: {RECORD}",
    "two complete candidates": f"{json.dumps({**OAK, 'total': '12.00'})}\nCorrection:\n{RECORD}",
    "tool call": calling(OAK),
    "tool call with text": calling(RECORD),
    "tool call in a tag": f"<tool_call>\n{calling(OAK)}\n</tool_call>",
    "tool calls": json.dumps(
        {
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "extract", "arguments": RECORD}}
            ]
        }
    ),
    "list of tool calls": f"[TOOL_CALLS][{calling(OAK)}]",
    "parameters": json.dumps({"name": "extract", "parameters": OAK}),
    "input": json.dumps({"type": "tool_use", "name": "extract", "input": OAK}),
    "table before": f"{TABLE}\n{RECORD}",
    "table after": f"```json\n{RECORD}\n```\n{TABLE}",
    "braces in prose": f"In the form {{shop: …}} this is {RECORD}",
    "nested objects of the same names": f'The shop: {{"shop": "x"}}. {RECORD}',
    "answer in a JSON text": json.dumps(f"Here:\n```json\n{RECORD}\n```"),
}


@pytest.mark.parametrize("name", NOISE)
def test_the_record_is_found_among_other_objects(name: str) -> None:
    assert parse_answer(NOISE[name], declared=DECLARED).data == OAK


CUT = {
    "after a template": (f"Format: {TEMPLATE}\nResult:\n" + RECORD[:41],
        {"shop": "Oak & Sons"}),
    "after a template in fences": (f"```json\n{TEMPLATE}\n```\n```json\n{RECORD[:35]}",
        {"shop": "Oak & Sons"}),
    "repeating the answer": (f"{RECORD}\n{RECORD[:40]}", OAK),
    "other than the answer, without a declared key": (f'{RECORD}\n{{"notes": "the total is ha', OAK),
    "before its first key": (f'{RECORD}\n{{"sh', OAK),
}  # fmt: skip


@pytest.mark.parametrize("name", CUT)
def test_a_last_object_that_is_cut_off_is_the_answer_unless_it_only_repeats(name: str) -> None:
    text, expected = CUT[name]
    assert parse_answer(text, declared=DECLARED).data == expected


WITHIN = {
    "never closed": f"<think>The invoice is {RECORD}",
    "never closed, after prose": f"Let me see. <thinking>It says {RECORD}. But",
}


@pytest.mark.parametrize("name", WITHIN)
def test_an_answer_in_a_thought_that_is_never_closed_is_used_and_recorded(name: str) -> None:
    answer = parse_answer(WITHIN[name], declared=DECLARED)
    assert (answer.data, answer.repairs[0]) == (OAK, "inside_thinking")


TEXTS = {
    "in valid JSON": ('x {"shop": "a </think> b"}', {"shop": "a </think> b"}),
    "in broken JSON": (
        '{"shop": "a </think> b", "total": {"value": 1},}',
        {"shop": "a </think> b", "total": {"value": 1}},
    ),
    "an opening mark": ('x {"shop": "a <think> b"}', {"shop": "a <think> b"}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_mark_of_thoughts_in_a_value_is_part_of_it(name: str) -> None:
    text, expected = TEXTS[name]
    assert parse_answer(text, declared=DECLARED).data == expected


@pytest.mark.parametrize(
    "text",
    ['{"name": "Oak", "arguments": {"x": 1}}', '{"arguments": {"x": 1}}', '{"input": "a text", "total": 5}'],
    ids=["declared name", "nothing declared inside", "declared beside"],
)
def test_what_only_looks_like_a_tool_call_stays(text: str) -> None:
    assert parse_answer(text, declared=frozenset({"name", "total"})).data == json.loads(text)


GOLD = [{"id": str(number), **OAK} for number in range(3)]


def answers(text: str) -> list[dict[str, str]]:
    return [{"id": row["id"], "raw": text} for row in GOLD]


@pytest.mark.parametrize("name", NOISE)
def test_noise_around_an_answer_changes_no_score(name: str) -> None:
    assert score(GOLD, {"m": answers(NOISE[name])}, SPEC).value("accuracy") == 1.0


def test_the_run_says_how_many_answers_held_several_objects() -> None:
    result = score(GOLD, {"m": [*answers(NOISE["echoed template"])[:2], GOLD[2]]}, SPEC)
    assert result.counts["systems"]["m"]["repairs"] == {"prose_around": 2, "several_blocks": 2}
    assert f"m: 2 of 3 answers {HELD}" in result.warnings


PINE = {"shop": "Pine", "date": "2024-01-02", "total": "7.00"}
HELD = "hold several objects; read the one that fits the spec best"
SEVERAL = f"m: 1 of 1 answers {HELD}"


@pytest.mark.parametrize(
    ("answer", "right", "warned"),
    [
        pytest.param([PINE, OAK], 1.0, True, id="the answer is last"),
        pytest.param([OAK, PINE], 0.0, True, id="the answer is first"),
        pytest.param([OAK, {"shop": "Pine"}], 1.0, True, id="the other has fewer keys"),
        pytest.param([OAK], 1.0, False, id="alone"),
        pytest.param([json.loads(calling(PINE)), json.loads(calling(OAK))], 1.0, True, id="two calls"),
        pytest.param([json.loads(calling(OAK))], 1.0, False, id="one call"),
    ],
)
@pytest.mark.parametrize("form", ["text", "prose", "value", "file"])
def test_a_list_of_records_is_read_alike_as_text_as_json_and_as_a_file(
    answer: object, right: float, warned: bool, form: str, tmp_path: Path
) -> None:
    text = json.dumps(answer)
    (tmp_path / "0.txt").write_text(text)
    forms: dict[str, object] = {
        "text": {"0": text},
        "prose": {"0": f"Here: {text}"},
        "value": {"0": answer},
        "file": tmp_path,
    }
    result = score(GOLD[:1], {"m": forms[form]}, SPEC)
    assert result.value("accuracy") == right
    assert (SEVERAL in result.warnings) == warned


TYPED = """
null_values: [NOT_FOUND]
fields:
  shop: text
  date: date
  total: money
  status: {type: enum, values: [paid, open]}
  lines: {type: list, items: {type: object, fields: {item: text, amount: money}}}
  vendor: {type: object, fields: {name: text, city: text}}
"""
FULL = {
    **OAK,
    "status": "paid",
    "lines": [{"item": "Nails", "amount": "1.50"}, {"item": "Glue", "amount": 2}],
    "vendor": {"name": "Oak & Sons", "city": "Perth"},
}
LIKE_THE_RECORD = {
    "scores": {
        "shop": 0.9,
        "date": 0.95,
        "total": 1,
        "status": 0.7,
        "lines": 0.9,
        "vendor": {"name": 0.9, "city": 0.5},
    },
    "verdicts": dict.fromkeys(FULL, "ok"),
    "true and false": dict.fromkeys(FULL, True),
    "nulls": dict.fromkeys(FULL),
    "null values": dict.fromkeys(FULL, "NOT_FOUND"),
    "dots": dict.fromkeys(FULL, "..."),
    "types in angle brackets": dict.fromkeys(FULL, "<string>"),
    "types": {
        "shop": "string",
        "date": "YYYY-MM-DD",
        "total": 0,
        "status": "paid | open",
        "lines": [],
        "vendor": {},
    },
    "types of items": {
        **dict.fromkeys(FULL, "string or null"),
        "total": 0.0,
        "lines": [{"item": "string", "amount": 0.0}],
        "vendor": {"name": "string", "city": "string"},
    },
    "names of fields": {name: name for name in FULL},
    "blanks": {
        "shop": "",
        "date": "",
        "total": "",
        "status": "",
        "lines": [{"item": "", "amount": ""}],
        "vendor": {"name": "", "city": ""},
    },
}


@pytest.mark.parametrize("form", ["prose", "calls", "list"])
@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("name", LIKE_THE_RECORD)
def test_of_objects_with_the_same_keys_that_with_most_readable_values_counts(
    name: str, after: bool, form: str
) -> None:
    given = [FULL, LIKE_THE_RECORD[name]] if after else [LIKE_THE_RECORD[name], FULL]
    texts = {
        "prose": "Answer:\n" + "\nConfidence:\n".join(map(json.dumps, given)),
        "calls": "\n".join(map(calling, given)),
        "list": json.dumps([json.loads(calling(one)) for one in given]),
    }
    result = score([{"id": "a", **FULL}], {"m": [{"id": "a", "raw": texts[form]}]}, TYPED)
    assert result.value("accuracy") == 1.0
    assert SEVERAL in result.warnings


@pytest.mark.parametrize("name", ["scores", "verdicts", "types"])
def test_of_several_calls_of_tools_in_a_response_that_with_most_readable_values_counts(name: str) -> None:
    calls = [
        {"function": {"name": "extract", "arguments": json.dumps(given)}}
        for given in (FULL, LIKE_THE_RECORD[name])
    ]
    row = {
        "id": "a",
        "answer": {"object": "chat.completion", "choices": [{"message": {"tool_calls": calls}}]},
    }
    result = score([{"id": "a", **FULL}], {"m": [row]}, TYPED, pred_key="answer")
    assert result.value("accuracy") == 1.0
    assert SEVERAL in result.warnings


LAST_OF_EQUALS = {
    "scores of numbers": ("fields: {net: number, gross: number}", {"net": 5, "gross": 6},
        {"net": 0.9, "gross": 0.8}),
    "a correction": (SPEC, OAK, {**OAK, "shop": "Elm"}),
    "a correction with fewer items": (
        "fields: {total: number, lines: {type: list, items: text}}", {"total": 5, "lines": ["a", "a", "b"]},
        {"total": 5, "lines": ["a", "b"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAST_OF_EQUALS)
def test_where_types_cannot_tell_the_last_of_equals_counts(name: str) -> None:
    spec, first, last = LAST_OF_EQUALS[name]
    result = score(
        [{"id": "a", **last}], {"m": [{"id": "a", "raw": f"{json.dumps(first)}\n{json.dumps(last)}"}]}, spec
    )
    assert result.value("accuracy") == 1.0


def test_a_template_of_a_tree_with_a_data_key_gives_way() -> None:
    gold = [{"test_case_id": "a", "expected_extraction": {"flow": 5, "unit": "m3/h"}}]
    raw = (
        '{"extraction": {"flow": 5, "unit": "m3/h"}}\n{"extraction": {"flow": "<number>", "unit": '
        '"<string>"}}'
    )
    assert (
        score(gold, {"m": [{"id": "a", "raw": raw}]}, {"protocol": "engineering-extractor"}).value(
            "overall_accuracy"
        )
        == 1.0
    )


PAGES = {
    "lines of JSON": '{"shop": "Oak & Sons", "date": "2025-03-04"}\n{"total": "1250.00"}',
    "half fences": (
        '```json\n{"shop": "Oak & Sons", "date": "2025-03-04"}\n```\nPage 2:\n```json\n{"total": '
        '"1250.00"}\n```'
    ),
    "a list": '[{"total": "1250.00"}, {"shop": "Oak & Sons", "date": "2025-03-04"}]',
    "calls": calling({"total": "1250.00"}) + calling({"shop": "Oak & Sons", "date": "2025-03-04"}),
}
IN_PARTS = "spread their fields over several objects; only one was read: put them into one"


@pytest.mark.parametrize("name", PAGES)
def test_fields_in_several_objects_are_not_merged_and_the_run_says_so(name: str) -> None:
    result = score(GOLD, {"m": answers(PAGES[name])}, SPEC)
    assert result.value("accuracy") == pytest.approx(2 / 3)
    assert f"m: 3 of 3 answers {IN_PARTS} (0, 1, 2)" in result.warnings


@pytest.mark.parametrize("name", [name for name in NOISE if "draft" not in name])
def test_noise_is_no_part_of_the_record(name: str) -> None:
    assert not any(IN_PARTS in warning for warning in score(GOLD, {"m": answers(NOISE[name])}, SPEC).warnings)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_run_names_the_first_answers_that_were_cut_off(workers: int) -> None:
    gold = [{"id": f"d{number}", **OAK} for number in range(500)]
    cut = {
        3: RECORD[:41],
        5: RECORD[:60],
        250: f"Here: {RECORD[:41]}",
        499: '{"shop": "Oak "and" Sons", "total": "5',
    }
    rows = [{"id": f"d{number}", "raw": cut.get(number, RECORD)} for number in range(500)]
    warnings = score(gold, {"m": rows}, SPEC, ScoreOptions(workers=workers)).warnings
    told = "were cut off; judged up to there"
    assert f"m: 4 of 500 answers {told} (d3, d5, d250 and 1 more)" in warnings
