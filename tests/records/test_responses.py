"""Responses of LLM services are read as they were saved."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.judging import score_alone as score

from fieldassay.errors import ProblemsError
from fieldassay.records.envelope import open_rows
from fieldassay.records.keys import SourceOptions
from fieldassay.records.record import Record, Row
from fieldassay.records.source import open_source

SPEC = "fields: {shop: text, total: number}"
OAK: dict[str, Any] = {"shop": "Oak", "total": 5}
TEXT = f"Here it is:\n```json\n{json.dumps(OAK)}\n```"
GOLD = [{"id": "r1", **OAK}, {"id": "r2", "shop": "Elm", "total": 6}]
OPTIONS = SourceOptions(declared=frozenset(OAK))


def chat(**message: Any) -> dict[str, Any]:
    used = {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": None, **message},
        "finish_reason": "stop",
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [choice],
        "usage": used,
    }


def response(*output: dict[str, Any]) -> dict[str, Any]:
    used = {"input_tokens": 40, "output_tokens": 9, "total_tokens": 49}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-4o-mini",
        "error": None,
        "output": list(output),
        "usage": used,
    }


def message(*content: dict[str, Any]) -> dict[str, Any]:
    used = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 30,
        "output_tokens": 9,
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "gpt-4o-mini",
        "content": list(content),
        "stop_reason": "end_turn",
        "usage": used,
    }


def openai_row(body: Any, error: Any = None, name: str = "r1", status: int = 200) -> dict[str, Any]:
    answered = None if body is None else {"status_code": status, "request_id": "q", "body": body}
    return {"id": "batch_req_1", "custom_id": name, "response": answered, "error": error}


def anthropic_row(kind: str, name: str = "r1", **result: Any) -> dict[str, Any]:
    return {"custom_id": name, "result": {"type": kind, **result}}


THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": []}
SAID = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
}
CALL = {"id": "f", "type": "function_call", "call_id": "c", "name": "extract", "arguments": json.dumps(OAK)}
TOOL = {"id": "c1", "type": "function", "function": {"name": "extract", "arguments": json.dumps(OAK)}}
ANSWERED = {
    "chat": chat(content=TEXT),
    "chat, content in parts": chat(content=[{"type": "text", "text": TEXT}]),
    "chat, a tool": chat(tool_calls=[TOOL]),
    "chat, text and a tool": chat(content="I call it.", tool_calls=[TOOL]),
    "chat, a function": chat(function_call=TOOL["function"]),
    "response": response(THOUGHT, SAID),
    "response, a function": response(THOUGHT, CALL),
    "message": message({"type": "text", "text": TEXT}),
    "message, thoughts and a tool": message({"type": "thinking", "thinking": "{}"},
        {"type": "tool_use", "id": "t", "name": "x", "input": OAK}),
    "OpenAI batch": openai_row(chat(content=TEXT)),
    "OpenAI batch of responses": openai_row(response(SAID)),
    "Anthropic batch": anthropic_row("succeeded", message=message({"type": "text", "text": TEXT})),
}  # fmt: skip


def open_one(row: Any, options: SourceOptions = OPTIONS) -> Record:
    [record] = open_rows([("r1", Row(row), "p")], options)
    return record


@pytest.mark.parametrize("name", ANSWERED)
def test_the_answer_and_what_it_used_are_taken_from_a_response(name: str) -> None:
    record = open_one(ANSWERED[name])
    assert (record.data, record.invalid) == (OAK, None)
    assert record.meta.usage == {"model": "gpt-4o-mini", "prompt_tokens": 40, "completion_tokens": 9}


def short(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body without the keys that only name its kind, as some servers and exports write it."""
    return {key: value for key, value in body.items() if key not in ("object", "type", "role")}


SHORT = {
    "OpenAI batch": openai_row(short(chat(content=TEXT))),
    "Anthropic batch": anthropic_row("succeeded", message=short(message({"type": "text", "text": TEXT}))),
}


@pytest.mark.parametrize("name", SHORT)
def test_an_answer_in_a_batch_counts_even_if_its_body_does_not_say_what_it_is(name: str) -> None:
    record = open_one(SHORT[name])
    assert (record.data, record.invalid) == (OAK, None)


FAILED = {
    "OpenAI batch, another body": (
        openai_row({"text": "x"}),
        "error: its body is not a known kind of response",
    ),
    "Anthropic batch, no message": (anthropic_row("succeeded"), "error: no response"),
    "Anthropic batch, nothing said": (anthropic_row("succeeded", message=message()), "empty answer"),
    "OpenAI batch, refused": (
        openai_row({"error": {"message": "too long", "type": "x"}}, status=400),
        "error: too long",
    ),
    "OpenAI batch, expired": (
        openai_row(None, {"code": "batch_expired", "message": "not executed in time"}),
        "error: not executed in time",
    ),
    "Anthropic batch, errored": (
        anthropic_row(
            "errored",
            error={
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "max_tokens: too large"},
            },
        ),
        "error: max_tokens: too large",
    ),
    "Anthropic batch, expired": (anthropic_row("expired"), "error: expired"),
    "chat, refused": (chat(refusal="I cannot help with that."), "error: I cannot help with that."),
    "response, failed": ({**response(), "error": {"code": "server_error", "message": "boom"}}, "error: boom"),
    "chat, nothing": (chat(), "empty answer"),
}


PARTS = [{"text": '{"shop": "Elm"}', "thought": True}, {"text": TEXT}]
GEMINI = {
    "candidates": [{"content": {"parts": PARTS}}],
    "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 9},
}
CALLED = {
    "candidates": [{"content": {"parts": [{"functionCall": {"name": "x", "args": OAK}}]}}],
    "usageMetadata": GEMINI["usageMetadata"],
}
BLOCKS = [{"reasoningContent": {"reasoningText": {"text": "{}"}}}, {"text": TEXT}]
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": BLOCKS}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 40, "outputTokens": 9},
}
TOOL_USE = {
    "output": {"message": {"content": [{"toolUse": {"name": "x", "input": OAK}}]}},
    "stopReason": "tool_use",
    "usage": CONVERSE["usage"],
}
COUNTS = {"prompt_eval_count": 40, "eval_count": 9, "done": True}
OTHERS: dict[str, Any] = {
    "Gemini": GEMINI, "Gemini, a function": CALLED, "Converse": CONVERSE, "Converse, a tool": TOOL_USE,
    "Ollama chat": {"message": {"role": "assistant", "content": TEXT, "thinking": "{}"}, **COUNTS},
    "Ollama chat, a tool": {"message": {"content": "", "tool_calls": [{"function": {"arguments": OAK}}]},
        **COUNTS},
    "Ollama generate": {"response": TEXT, **COUNTS},
    "Azure batch": {"custom_id": "r1", "response": {"body": short(chat(content=TEXT)), "status_code": 200},
        "error": None},
    "Gemini batch": {"key": "r1", "response": GEMINI},
    "Vertex batch": {"id": "r1", "status": "", "processed_time": "x", "request": {}, "response": GEMINI},
    **{f"Bedrock batch, {kind}": {"recordId": "r1", "modelInput": {}, "modelOutput": body}
       for kind, body in {"Converse": CONVERSE, "Anthropic": message({"type": "text", "text": TEXT}),
           "Llama": {"generation": TEXT, "prompt_token_count": 40, "generation_token_count": 9},
           "Titan": {"inputTextTokenCount": 40, "results": [{"tokenCount": 9, "outputText": TEXT}]},
       }.items()},
}  # fmt: skip
LOST = {"status_code": 400, "request_id": "q", "body": None}
FAILED |= {
    f"OpenAI batch, {name}": ({"id": "b", "custom_id": "r1", **row}, f"error: {said}")
    for name, row, said in (
        ("no body and an object", {"response": LOST, "error": {"message": "too long"}}, "too long"),
        ("no body and a text", {"response": LOST, "error": "too long"}, "too long"),
        ("no response and a text", {"response": None, "error": "too long"}, "too long"),
        ("an error alone", {"error": "too long"}, "too long"),
        ("a status alone", {"response": {"status_code": 500, "body": chat(content=TEXT)}}, "status 500"),
        ("an error beside an answer", {**openai_row(chat(content=TEXT)), "error": {"code": "x"}}, "x"),
    )
} | {
    "Gemini batch": ({"key": "r1", "error": {"code": 3, "message": "bad"}}, "error: bad"),
    "Gemini batch, blocked": ({"key": "r1", "response": {"promptFeedback": {"blockReason": "SAFETY"}}},
        "error: SAFETY"),
    "Vertex batch": ({"id": "r1", "status": "Bad Request", "request": {}, "response": {}},
        "error: Bad Request"),
    "Bedrock batch": ({"recordId": "r1", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "bad"}},
        "error: bad"),
}  # fmt: skip
META: dict[str, Any] = {"shop": {"confidence": 0.9, "citation": []}, "total": {"confidence": 0.8}}
FIELDS = {
    "shop": {"type": "string", "valueString": "Oak", "content": "Oak", "confidence": 0.9},
    "total": {"type": "number", "valueNumber": 5, "text": "5", "confidence": 0.8},
}
CITED = {name: {"value": OAK[name], "citations": [{"confidence": META[name]["confidence"]}]} for name in OAK}
EXTRACTED: dict[str, Any] = {
    "LlamaExtract": {"data": OAK, "extraction_metadata": {"field_metadata": META}},
    "Extend": {"object": "extract_run", "id": "exr_1", "output": {"value": OAK, "metadata": {
        "shop": {"logprobsConfidence": 0.9, "ocrConfidence": 1}, "total": {"ocrConfidence": 0.8}}}},
    "Reducto": {"job_id": "j", "result": CITED, "usage": {"num_pages": 1}},
    "Azure": {"status": "succeeded", "analyzeResult": {"documents": [{"docType": "x", "fields": FIELDS}]}},
    "Azure 2.1": {"analyzeResult": {"documentResults": [{"docType": "x", "fields": FIELDS}]}},
    "Datalab": {"extraction_schema_json": json.dumps({**OAK, "total_citations": ["/page/0"]}), "markdown": ""},
}  # fmt: skip


@pytest.mark.parametrize("name", [*OTHERS, *EXTRACTED])
def test_results_of_other_services_need_no_option_beside_an_id(name: str, tmp_path: Path) -> None:
    row = {"doc_id": "r1", **EXTRACTED[name]} if name in EXTRACTED else OTHERS[name]
    row = row if "batch" in name else {"doc_id": "r1", **row}
    result = score(GOLD[:1], {"m": written(tmp_path / "p.jsonl", [row])}, SPEC)
    assert (result.value("accuracy"), result.counts["systems"]["m"]["error"]) == (1.0, 0)
    assert any("holds responses of the kind" in note for note in result.notes)
    record = open_one(row, SourceOptions(declared=frozenset(OAK), scalars=dict.fromkeys(OAK)))
    if name in OTHERS and name != "Azure batch":
        assert (record.meta.usage["prompt_tokens"], record.meta.usage["completion_tokens"]) == (40, 9)
    if name in EXTRACTED and name != "Datalab":
        assert record.meta.confidence == {"shop": 0.9, "total": 0.8}


def extraction(kind: str, text: str, **attributes: Any) -> dict[str, Any]:
    placed = {"char_interval": {"start_pos": 0, "end_pos": 3}, "alignment_status": "match_exact"}
    numbers = {"extraction_index": 1, "group_index": 0, "description": None}
    own = {"extraction_class": kind, "extraction_text": text, "attributes": attributes or None}
    return {**own, **placed, **numbers}


def annotated(name: str, *extractions: dict[str, Any]) -> dict[str, Any]:
    return {"extractions": list(extractions), "text": "the text", "document_id": name}


def pages(name: str, *answers: Any, **page: Any) -> dict[str, Any]:
    document = {"file": f"{name}.pdf", "document_hash": "a1", "valid": True, "format": "pdf", "page_count": 2}
    found = [
        {"page_no": at, "extracted_data": answer, "raw_text": None, "errors": [], **page}
        for at, answer in enumerate(answers, 1)
    ]
    return {"input": document, "status": "success", "errors": [], "pages": found}


def case_of(name: str, output: Any, provider: str = "openai:gpt-4o-mini", at: int = 0) -> dict[str, Any]:
    case = {"vars": {"doc_id": name, "text": "x"}, "assert": [], "options": {}, "metadata": {}}
    used = {"total": 49, "prompt": 40, "completion": 9}
    return {"id": "25ac9f41", "promptIdx": at, "testIdx": 0, "testCase": case, "vars": case["vars"],
        "promptId": "b0", "prompt": {"raw": "x", "label": "x"}, "provider": {"id": provider, "label": ""},
        "response": {"output": output, "tokenUsage": used, "cached": False}, "success": False, "score": 0,
        "error": "Expected output to be better", "latencyMs": 1500, "namedScores": {}, "cost": 0,
        "gradingResult": None, "metadata": {}, "failureReason": 1}  # fmt: skip


def evaluated(*rows: dict[str, Any]) -> dict[str, Any]:
    prompt = {"raw": "x", "label": "x", "id": "b0", "provider": "openai:gpt-4o-mini", "metrics": {}}
    summary = {"version": 3, "timestamp": "x", "prompts": [prompt], "results": list(rows), "stats": {}}
    return {"evalId": "eval-1", "results": summary, "config": {"tests": [{"vars": {}}]}, "metadata": {}}


def event(kind: str, name: str, **data: Any) -> dict[str, Any]:
    made = {"created_by": "", "created_at": "x"}
    return {"run_id": "r", "event_id": 1, "sample_id": name, "type": kind, "data": data, **made}


def trace(name: str, output: Any) -> dict[str, Any]:
    return {"id": f"t-{name}", "timestamp": "x", "name": "extract", "metadata": {"doc_id": name}, "input": "x",
        "output": output, "userId": None, "tags": [], "public": False, "bookmarked": False, "latency": 1.5}  # fmt: skip


def observation(name: str, output: str) -> dict[str, Any]:
    used = {"usage_details": {"input": 40, "output": 9}, "provided_model_name": "gpt-4o-mini", "latency": 1.5}
    return {"id": f"o-{name}", "trace_id": "t", "type": "GENERATION", "level": "DEFAULT", "status_message": "",
        "metadata": {}, "input": json.dumps({"doc_id": name}), "output": output, **used}  # fmt: skip


def sample(name: str, answer: str, epoch: int = 1) -> dict[str, Any]:
    used = {"input_tokens": 40, "output_tokens": 9, "total_tokens": 49}
    output = {"model": "gpt-4o-mini", "choices": [], "completion": answer, "usage": used}
    return {"id": name, "epoch": epoch, "input": TEXT, "target": "", "messages": [], "output": output,
        "scores": {}, "metadata": {}, "total_time": 1.5}  # fmt: skip


def logged(*samples: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "stats": {}, "samples": list(samples)}


WORDS = json.dumps({"shop": "Elm", "total": 7})
HEAD = {"spec": {"completion_fns": ["gpt-4o"], "eval_name": "x.dev.v0", "run_id": "r"}}
EXPORTS: dict[str, Any] = {
    "LangExtract": [
        annotated("r1", extraction("shop", "Oak", note="x"), extraction("total", "5"), extraction("shop", "Oak")),
        annotated("r2", extraction("invoice", "Elm, 7", shop="Elm", total="7")),
    ],
    "Docling": [
        pages("r1", {"shop": "Oak", "total": None}, {"shop": "", "total": 5}), pages("r2", None, raw_text=WORDS)
    ],
    "promptfoo": evaluated(case_of("r1", OAK), case_of("r2", WORDS)),
    "promptfoo, rows": [case_of("r1", OAK), case_of("r2", WORDS)],
    "OpenAI Evals": [
        HEAD, event("sampling", "r1", prompt="x", sampled=[TEXT]), event("match", "r1", correct=True),
        event("sampling", "r2", prompt="x", sampled=[WORDS]), {"final_report": {"accuracy": 1.0}},
    ],
    "Langfuse traces": [trace("r1", OAK), trace("r2", WORDS)],
    "Langfuse observations": [observation("r1", TEXT), observation("r2", WORDS)],
    "Langfuse by its interface": {"data": [trace("r1", OAK), trace("r2", WORDS)], "meta": {"page": 1}},
    "Inspect": logged(sample("r1", TEXT), sample("r2", WORDS)),
}  # fmt: skip


@pytest.mark.parametrize("id_line", ["", "data: {id_key: id}\n"], ids=["no id", "id"])
@pytest.mark.parametrize("name", EXPORTS)
def test_what_frameworks_save_scores_as_the_records_in_it_do(name: str, id_line: str, tmp_path: Path) -> None:
    saved = EXPORTS[name]
    path = tmp_path / ("p.jsonl" if isinstance(saved, list) else "p.json")
    path.write_text(
        "\n".join(map(json.dumps, saved)) if isinstance(saved, list) else json.dumps(saved), "utf-8"
    )
    result = score(
        GOLD,
        {"m": str(path), "plain": [{"id": "r1", **OAK}, {"id": "r2", **json.loads(WORDS)}]},
        id_line + SPEC,
    )
    assert result.value("accuracy", "m") == result.value("accuracy", "plain") == 0.75
    assert result.counts["systems"]["m"]["error"] == 0
    assert any("holds responses of the kind" in note for note in result.notes)


def test_extractions_of_a_class_are_the_items_of_a_list_and_their_attributes_its_fields() -> None:
    spec = "fields: {tags: {type: list, items: text}, lines: {type: list, items: {fields: {sku: id, lines: text}}}}"
    gold = {"tags": ["a", "a"], "lines": [{"sku": "A1", "lines": "2 A1"}, {"sku": "B7", "lines": "B7"}]}
    tags = [extraction("tags", "a"), extraction("tags", "a")]
    lines = [extraction("lines", text, sku=sku) for sku, text in (("A1", "2 A1"), ("B7", "B7"))]
    result = score([{"id": "r1", **gold}], {"m": [annotated("r1", *tags, *lines)]}, spec)
    assert (result.value("accuracy", "m"), result.counts["systems"]["m"]["undeclared"]) == (1.0, {})


def test_two_values_of_a_class_are_no_value_of_a_field_that_has_one() -> None:
    row = annotated("r1", extraction("shop", "Oak"), extraction("shop", "Elm"), extraction("total", "5"))
    assert score(GOLD[:1], {"m": [row]}, SPEC).value("accuracy", "m") == 0.5


SEVERAL = {
    "providers": (
        evaluated(
            *(case_of(name, OAK, provider, at) for at, provider in enumerate("ab") for name in ("r1", "r2"))
        ),
        ["m/a 0", "m/b 1"],
    ),
    "epochs": (logged(*(sample(name, TEXT, epoch) for epoch in (1, 2) for name in ("r1", "r2"))), ["m"]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_providers_are_systems_and_epochs_are_runs(name: str, tmp_path: Path) -> None:
    saved, systems = SEVERAL[name]
    (tmp_path / "p.json").write_text(json.dumps(saved), "utf-8")
    result = score(GOLD, {"m": str(tmp_path / "p.json")}, SPEC)
    assert list(result.systems) == systems
    assert {result.value("accuracy", system) for system in systems} == {0.5}


@pytest.mark.parametrize(
    "row",
    [case_of("r1", OAK), trace("r1", OAK), sample("r1", TEXT)],
    ids=["promptfoo", "Langfuse", "Inspect"],
)
def test_the_time_that_an_answer_took_is_known(row: dict[str, Any]) -> None:
    assert open_one(row).meta.duration_ms == 1500


def test_a_packed_log_of_inspect_is_read_as_its_samples(tmp_path: Path) -> None:
    path = tmp_path / "p.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", "{}")
        for row in logged(sample("r2", WORDS), sample("r1", TEXT))["samples"]:
            archive.writestr(f"samples/{row['id']}_epoch_1.json", json.dumps(row))
    source = open_source(path)
    assert list(source.ids) == ["r1", "r2"] and source.place(0) == f"{path}/samples/r1_epoch_1.json"
    accuracy = score(GOLD, {"m": [sample("r1", TEXT), sample("r2", WORDS)]}, SPEC).value("accuracy")
    assert score(GOLD, {"m": path}, SPEC).value("accuracy") == accuracy
    whole = path.read_bytes()
    flags = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 1) + 8
    for broken in (
        whole.replace(b"samples/r1", b"samples/r9", 1),
        whole[:flags] + b"\x01" + whole[flags + 1 :],  # says that it is encrypted
    ):
        path.write_bytes(broken)
        with pytest.raises(ProblemsError, match="cannot be unpacked"):
            open_source(path)


FAILED |= {
    "Docling, no answer": (pages("r1", None, errors=["out of memory"]), "error: out of memory"),
    "promptfoo, no answer": (case_of("r1", None), "error: Expected output to be better"),
    "Langfuse, no answer": ({**observation("r1", ""), "status_message": "quota"}, "error: quota"),
    "Inspect, no answer": ({**sample("r1", ""), "error": {"message": "refused", "traceback": ""}},
        "error: refused"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_a_failed_request_is_a_failed_answer_with_its_message(name: str) -> None:
    row, invalid = FAILED[name]
    record = open_one(row)
    assert (record.data, record.invalid) == (None, invalid)


LIKE = {
    "a record with pages": {"pages": [1, 2], "total": 5},
    "a record with extractions": {"extractions": [{"shop": "Oak"}], "total": 5},
    "a record of a sample": {"sample_id": "r1", "type": "sampling", "total": 5},
    "a record with a trace": {"trace_id": "t", "output": {"total": 5}},
    "a record with an epoch": {"epoch": 1, "output": {"total": 5}},
    "a record with a custom id": {"custom_id": "r1", "result": {"type": "invoice", "total": 5}},
    "a record with a response": {"custom_id": "r1", "response": {"total": 5}},
    "more keys": {"custom_id": "r1", "result": {"type": "expired"}, "total": 5},
    "a record with a key": {"key": "r1", "response": {"total": 5}},
    "a job": {"job_id": "j", "result": "positive"},
    "a request": {"request": {"a": 1}, "total": 5},
    "an object": {"object": "chat.completion", "total": 5},
    "a role": {"type": "message", "role": "assistant", "total": 5},
}


@pytest.mark.parametrize("name", LIKE)
def test_what_only_resembles_a_response_is_data(name: str) -> None:
    assert open_one(LIKE[name], SourceOptions()).data == LIKE[name]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text(
        "\n".join(map(json.dumps, rows)) if path.suffix == ".jsonl" else json.dumps(rows), "utf-8"
    )
    return str(path)


BATCHES = {
    "OpenAI": [
        openai_row(chat(content=TEXT)),
        openai_row({"error": {"message": "too long"}}, name="r2", status=400),
    ],
    "Anthropic": [
        anthropic_row("succeeded", message=message({"type": "text", "text": TEXT})),
        anthropic_row("expired", name="r2"),
    ],
}


@pytest.mark.parametrize("id_line", ["", "data: {id_key: id}\n"], ids=["no id", "id"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("service", BATCHES)
def test_the_output_of_a_batch_needs_no_option(
    service: str, suffix: str, id_line: str, tmp_path: Path
) -> None:
    result = score(GOLD, {"m": written(tmp_path / f"p{suffix}", BATCHES[service])}, id_line + SPEC)
    assert (result.value("accuracy"), result.counts["systems"]["m"]["error"]) == (0.5, 1)
    assert [note for note in result.notes if f"{service} batch" in note and "'custom_id'" in note]


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_plain_responses_take_their_id_from_what_was_written_beside(suffix: str, tmp_path: Path) -> None:
    path = written(
        tmp_path / f"p{suffix}",
        [{**chat(content=TEXT), "doc_id": "r1"}, {**chat(content="{}"), "doc_id": "r2"}],
    )
    assert score(GOLD, {"m": path}, SPEC).value("accuracy") == 0.5


PATHS = [
    "response.body.choices[0].message.content",
    "response.body.choices.0.message.content",
    "response.body.choices[-1].message.content",
]


@pytest.mark.parametrize("key", PATHS)
def test_a_key_may_lead_into_lists(key: str, tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.jsonl", [openai_row(chat(content=TEXT)), openai_row(chat(content="{}"), name="r2")]
    )
    assert score(GOLD, {"m": path}, SPEC, **{"pred_key": key}).value("accuracy") == 0.5


ITEM_NEEDED = "'response.body.choices' is a list of 1: name an item, such as response.body.choices[0]"
WRONG = {
    "response.body.foo": "'response.body' has the keys choices, created, id, model, object, usage",
    "response.body.choices.message": ITEM_NEEDED,
    "response.body.choices[1].message": ITEM_NEEDED,
    "response.body.model.name": "'response.body.model' is a string",
    "answer": "",
}


@pytest.mark.parametrize("key", WRONG)
def test_a_path_that_no_row_has_is_an_error_that_says_how_far_it_leads(key: str, tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.jsonl", [openai_row(chat(content=TEXT)), openai_row(chat(content=TEXT), name="r2")]
    )
    with pytest.raises(ProblemsError) as caught:
        score(GOLD, {"m": path}, SPEC, pred_key=key)
    [problem] = caught.value.problems
    assert problem.what == f"no key {key!r} (the data key) in the first 2 rows"
    assert WRONG[key] in problem.remedy


@pytest.mark.parametrize(
    "text", [TEXT, json.dumps(OAK), '{"shop": "Oak", "total": 5,}'], ids=["fence", "JSON", "broken"]
)
def test_a_text_where_a_record_should_be_is_a_raw_answer(text: str) -> None:
    assert open_one(text).data == OAK
    assert score(GOLD[:1], {"m": {"r1": text}}, SPEC).value("accuracy") == 1.0
