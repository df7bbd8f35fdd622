"""Answers in every protocol, whole and streamed, are read where their text is, with their tokens."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.effort import costs_at_most
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, channels, drive, questions

from fieldassay.extraction.endpoints.answers import join_events, join_parts, parse, read_message
from fieldassay.extraction.endpoints.driver import DriveOptions
from fieldassay.extraction.endpoints.exchange import Request
from fieldassay.extraction.endpoints.outcome import judge_response, read_answer

RECORD = '{"supplier": "Oak Ltd", "total": "1,250.00"}'
HALVES = (RECORD[:17], RECORD[17:])
USAGE = {"prompt_tokens": 300, "completion_tokens": 30}
ITS_USAGE = {"input_tokens": 300, "output_tokens": 30}
CALL = {"name": "record", "arguments": RECORD}
COUNTS = {"prompt_eval_count": 300, "eval_count": 30}
META = {"promptTokenCount": 300, "candidatesTokenCount": 30}
BLOCKS = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": RECORD}]


def chat(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **more}], "usage": USAGE}


WHOLE: dict[str, Any] = {
    "chat": chat({"content": RECORD}),
    "chat, parts": chat({"content": [{"type": "text", "text": HALVES[0]}, {"type": "text", "text": HALVES[1]}]}),
    "chat, a tool call": chat({"content": None, "tool_calls": [{"id": "1", "function": CALL}]}),
    "chat, prose and a tool call": chat({"content": "I record:", "tool_calls": [{"function": CALL}]}),
    "chat, a function call": chat({"content": "", "function_call": CALL}),
    "chat, halves in two tool calls": chat({
        "tool_calls": [
            {"function": {"name": "record", "arguments": '{"supplier": "Oak Ltd"}'}},
            {"function": {"name": "record", "arguments": '{"total": "1,250.00"}'}},
        ]
    }),
    "chat, the second choice first": {
        "choices": [{"index": 1, "message": {"content": "{}"}}, {"index": 0, "message": {"content": RECORD}}],
        "usage": USAGE,
    },
    "completion": {"choices": [{"text": RECORD, "finish_reason": "stop"}], "usage": USAGE},
    "Anthropic": {"type": "message", "content": BLOCKS, "stop_reason": "end_turn", "usage": ITS_USAGE},
    "Anthropic, a tool": {
        "content": [{"type": "tool_use", "name": "record", "input": json.loads(RECORD)}], "usage": ITS_USAGE,
    },
    "Anthropic, cached": {
        "content": BLOCKS,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 90,
            "output_tokens": 30},
    },
    "responses": {
        "object": "response",
        "status": "completed",
        "text": {"format": {"type": "text"}},
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": RECORD}]},
        ],
        "usage": ITS_USAGE,
    },
    "responses, a function": {"output": [{"type": "function_call", **CALL}], "usage": ITS_USAGE},
    "Gemini": {
        "candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": RECORD}]}, "finishReason": "STOP"}],
        "usageMetadata": META,
    },
    "Gemini, a function": {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "r", "args": json.loads(RECORD)}}]}}],
        "usageMetadata": META,
    },
    "Ollama, chat": {"message": {"content": RECORD, "thinking": "hm"}, "done": True, **COUNTS},
    "Ollama, generate": {"response": RECORD, "done": True, "done_reason": "stop", **COUNTS},
    "Bedrock": {
        "output": {"message": {"content": [{"text": RECORD}]}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 300, "outputTokens": 30},
    },
    "Cohere": {"message": {"content": [{"type": "text", "text": RECORD}]}, "usage": {"tokens": ITS_USAGE}},
    "llama.cpp": {"content": RECORD, "stop": True, "tokens_evaluated": 300, "tokens_predicted": 30},
}  # fmt: skip
STREAMED: dict[str, list[Any]] = {
    "chat": [
        *({"choices": [{"index": 0, "delta": {"role": "assistant", "content": half}}]} for half in HALVES),
        {"choices": [], "usage": USAGE},
    ],
    "chat, a tool call": [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "record", "arguments": ""}}]}}]},
        *({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": half}}]}}]} for half in HALVES),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}], "usage": USAGE},
    ],
    "chat, a tool call without an index": [
        *({"choices": [{"delta": {"tool_calls": [{"function": {"arguments": half}}]}}]} for half in HALVES),
        {"choices": [], "usage": USAGE},
    ],
    "chat, a function call": [
        *({"choices": [{"index": 0, "delta": {"function_call": {"arguments": half}}}]} for half in HALVES),
        {"choices": [], "usage": USAGE},
    ],
    "completion": [*({"choices": [{"index": 0, "text": half}]} for half in HALVES), {"usage": USAGE}],
    "Anthropic": [
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 300, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "{"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": half}} for half in HALVES),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 30}},
        {"type": "message_stop"},
    ],
    "Anthropic, a tool": [
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 300}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "input": {}}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": half}} for half in HALVES),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}},
    ],
    "responses": [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_text.delta", "delta": HALVES[0]},
        {"type": "response.completed", "response": WHOLE["responses"]},
    ],
    "Gemini": [
        {"candidates": [{"content": {"parts": [{"text": HALVES[0]}], "role": "model"}}]},
        {"candidates": [{"content": {"parts": [{"text": HALVES[1]}]}, "finishReason": "STOP"}], "usageMetadata": META},
    ],
    "Ollama": [
        *({"message": {"role": "assistant", "content": half}, "done": False} for half in HALVES),
        {"message": {"role": "assistant", "content": ""}, "done": True, **COUNTS},
    ],
}  # fmt: skip
FORMS: dict[str, Callable[[list[Any]], bytes]] = {
    "events": lambda events: (
        b"\n\n".join(b"data: " + json.dumps(one).encode() for one in [*events, 0][:-1])
        + b"\n\ndata: [DONE]\n\n"
    ),
    "lines": lambda events: b"\n".join(json.dumps(one).encode() for one in events),
}


def read(body: Any, **asked: Any) -> Any:
    return read_answer({"body": body, "status": 200}, Request("chat", "e", asked), reused=False)


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE.keys())
def test_an_answer_is_read_in_every_protocol(body: dict[str, Any]) -> None:
    found = read(body)
    assert (found.failure, json.loads(found.text)) == (None, json.loads(RECORD))
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (300, 30)


@pytest.mark.parametrize("events", STREAMED.values(), ids=STREAMED.keys())
def test_a_stream_is_read_in_every_protocol(events: list[Any]) -> None:
    for body in (join_events(FORMS["events"](events)), join_parts(events)):
        found = read(body)
        assert (found.failure, json.loads(found.text)) == (None, json.loads(RECORD))
        assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (300, 30)
    assert join_events(FORMS["events"](events[:1]).removesuffix(b"data: [DONE]\n\n")) is None


def test_a_long_stream_is_joined_in_a_time_that_its_length_allows() -> None:
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "abcdefgh"}}]}\n'
    with costs_at_most(80):
        assert len(read(join_events(event * 100_000 + b"data: [DONE]")).text) == 800_000


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (chat({"content": ""}), "the answer is empty: there is no text at choices[0].message.content"),
        ({"candidates": [{"content": {"parts": []}}]}, "the answer is empty: there is no text at candidates[0].content.parts"),
        ({"content": [{"type": "thinking", "thinking": "hm"}]}, "the answer is empty; the server put 2 characters into thinking"),
        ({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}, "the content filter refused"),
        ({"choices": []}, "the answer has no choices"),
        ({"result": "x", "id": 1}, "the answer has no text at a known place, but result, id"),
    ],
    ids=["chat", "Gemini", "Anthropic", "Gemini's filter", "no choices", "unknown"],
)  # fmt: skip
def test_an_answer_without_text_says_where_it_was_looked_for(body: dict[str, Any], message: str) -> None:
    assert read(body).failure.message == message


TWO = [{"function": {"name": "r", "arguments": f'{{"total": {at}}}'}} for at in (1, 2)]


def test_calls_with_the_same_keys_are_not_joined() -> None:
    assert read(chat({"tool_calls": TWO})).text == '{"total": 1}\n{"total": 2}'


@pytest.mark.parametrize(
    ("given", "count", "is_implausible"),
    [(300, 300, False), (300.0, 300, False), ("300", 300, False), (None, None, False), (0, 0, False),
     (10**30, None, True), (1e30, None, True), (-1, None, True), (300.5, None, True), (True, None, True),
     ("many", None, True), (401, None, True), (float("nan"), None, True), ("9" * 5000, None, True)],
)  # fmt: skip
def test_a_count_of_tokens_is_a_whole_number_up_to_a_bound_or_dropped(
    given: Any, count: int | None, is_implausible: bool
) -> None:
    body = {**chat({"content": "{}"}), "usage": {"prompt_tokens": 9, "completion_tokens": given}}
    found = read(body, max_tokens=100)
    assert (found.usage.completion_tokens, found.is_usage_implausible) == (count, is_implausible)
    assert found.usage.prompt_tokens == 9


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({**WHOLE["chat"], "x": float("-inf"), "y": [float("nan")]}).encode(),
        json.dumps(chat({"content": '{"a": "é"}'}), ensure_ascii=False).encode("latin-1"),
        b"\xef\xbb\xbf" + json.dumps(WHOLE["chat"]).encode(),
        json.dumps(WHOLE["chat"]).replace("300", "1e400").encode(),
    ],
    ids=["no numbers", "Latin-1", "a mark of the order of bytes", "a number without bound"],
)  # fmt: skip
def test_an_envelope_beside_the_standard_is_read(raw: bytes) -> None:
    assert read(parse(raw)).failure is None


@pytest.mark.parametrize(
    "body", ["", "null", "[]", '"text"', '{"result": {}}', "{]}", '{"a":' * 300 + "1" + "}" * 300]
)
def test_an_answer_that_came_whole_is_never_asked_for_twice(body: str, tmp_path: Path) -> None:
    with ScriptedServer(lambda hit: Reply(body=body)) as server:
        found, _ = drive(questions(2), tmp_path, channels(server.url))
    assert len(server.hits) == 2 and {one.value.failure.kind for one in found.values()} == {"wrong_content"}
    assert {one.value.possibly_billed for one in found.values()} == {0}


def test_an_answer_with_a_dropped_count_costs_what_was_expected_and_its_price_is_unknown(
    tmp_path: Path,
) -> None:
    body = {**chat({"content": "{}"}), "usage": {"prompt_tokens": 1, "completion_tokens": 10**30}}
    options = DriveOptions(price=lambda endpoint, usage: usage.completion_tokens or 0, max_cost_usd=2500)
    with ScriptedServer(lambda hit: Reply(body=body)) as server:
        found, summary = drive(questions(5), tmp_path, channels(server.url, max_in_flight=1), options)
    assert {one.cost_usd for one in found.values()} == {None} and len(found) == 2
    assert summary.stop is not None and summary.stop.kind == "budget"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>Sorry &amp; bye", "403: Attention Required! | Cloudflare Sorry & bye"),
        ("a < b and c > d", "403: a < b and c > d"),
    ],
)  # fmt: skip
def test_a_page_loses_its_tags(page: str, said: str) -> None:
    assert judge_response(403, {}, page).message == said


def test_no_part_of_an_answer_breaks_its_reader() -> None:
    odd = [None, 5, True, "x", [], {}, [None], [[]], {"index": "a"}, [{"index": None}], {"content": 5}]
    for name in (
        "choices",
        "candidates",
        "message",
        "content",
        "output",
        "usage",
        "error",
        "delta",
        "response",
    ):
        for value in odd:
            joined = join_parts([{name: value}, {name: "x"}, {name: value}, {name: [value]}])
            for body in ({name: value}, {name: [value, {"message": value, "tool_calls": value}]}, joined):
                judge_response(200, {}, body)
                read_message(body)
                read(body)
