"""What a server does wrong has a kind; what may have been billed is counted; a key stands nowhere."""

import base64
import gzip
import hashlib
import json
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.extraction.endpoints.scripted_server import (
    CANARY,
    Hit,
    Reply,
    Script,
    ScriptedServer,
    ask,
    channels,
    completion,
    drive,
    echo,
    error,
    gpt_5,
    questions,
)  # fmt: skip

from fieldassay.extraction.endpoints import client
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.exchange import (
    NAME,
    Attachment,
    Job,
    Journal,
    ModelAnswer,
    Request,
    lines_of,
)
from fieldassay.extraction.endpoints.outcome import read_answer


def first(reply: Reply, times: int = 1) -> Script:
    """Return a script that does something wrong at the first requests with a body, and then answers."""
    return lambda hit: reply if hit.number < times else echo(hit)


def always(reply: Reply) -> Script:
    return lambda hit: reply


NOW = {"retry-after": "0"}


def streamed(*texts: str, end: str = "data: [DONE]") -> Reply:
    """Return a reply of server-sent events, and comments among them."""
    deltas = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    events = ({"model": "m"}, *deltas, {"choices": [], "usage": {"prompt_tokens": 100}})
    body = "\n\n".join([": wait", *(f"data: {json.dumps(event)}" for event in events), end])
    return Reply(body=body, headers={"content-type": "text/event-stream"})


MENDED: dict[str, tuple[Script, int, int]] = {
    "429 with Retry-After": (first(Reply(429, error("slow down"), {"retry-after": "0.3"}), 3), 4, 0),
    "503": (first(Reply(503, "busy", NOW)), 2, 0),
    "529": (first(Reply(529, error("overloaded"), NOW)), 2, 0),
    "reset before the answer": (first(Reply(end="reset_before")), 2, 1),
    "reset after it was made": (first(Reply(end="reset_after")), 2, 1),
    "half a body": (first(Reply(end="half_body")), 2, 1),
    "half JSON, whole body": (first(Reply(body='{"choices": [{"mess')), 2, 1),
    "500": (first(Reply(500, error("oops"), NOW), 2), 3, 2),
    "HTML with status 200": (first(Reply(body="<html>hello", headers={"content-type": "text/html"})), 2, 1),
    "200 with an error that says 429": (first(Reply(body=error("slow", code=429), headers=NOW)), 2, 0),
    "an end by error": (
        first(
            Reply(body=completion('{"a": ', finish_reason="error", error={"code": 502, "message": "died"}))
        ),
        2,
        1,
    ),
    "an end by an error that says 429": (
        first(Reply(body=completion("", finish_reason="error", error={"code": 429}), headers=NOW)),
        2,
        0,
    ),
    "an end for want of resources": (
        first(Reply(body=completion('{"a": 1}', finish_reason="insufficient_system_resource"))),
        2,
        1,
    ),
    "a stream": (always(streamed('{"echo": ', '"question 0"}')), 1, 0),
    "a stream that breaks off": (first(streamed('{"echo": ', end="data: {")), 2, 1),
    "a stream of something else": (first(streamed(end='data: {"choices": [{"delta": "x"}]}')), 2, 1),
    "a stream without its end": (first(streamed('{"echo": ', end="")), 2, 1),
    "a stream with an error": (
        first(streamed('{"ec', end='data: {"error": {"message": "upstream died"}}')),
        2,
        1,
    ),
    "200 with an error": (first(Reply(body=error("upstream failed"))), 2, 1),
}


@pytest.mark.parametrize(("script", "attempts", "maybe"), MENDED.values(), ids=MENDED.keys())
def test_a_fault_that_passes_is_tried_again_and_counted(
    script: Script, attempts: int, maybe: int, tmp_path: Path
) -> None:
    with ScriptedServer(script) as server:
        found, summary = drive(questions(1), tmp_path, channels(server.url, deadline_s=600))
    answer = found["doc-0"].value
    assert (answer.failure, answer.text, summary.stop) == (None, '{"echo": "question 0"}', None)
    assert (answer.usage.attempts, answer.possibly_billed) == (attempts, maybe)
    assert summary.progress.possibly_billed == maybe


@dataclass(frozen=True)
class Final:
    kind: str
    attempts: int = 1
    maybe: int = 0
    billed: int = 0
    timeout_s: float = 600.0
    deadline_s: float = 600.0
    max_answer_mb: float = 64.0


ZIPPED = gzip.compress(json.dumps(completion("x" * 200_000)).encode())
SMALL = Final("too_large_answer", billed=1, max_answer_mb=0.1)
LARGE: dict[str, tuple[Script, Final]] = {
    "a long text": (always(Reply(body=completion("x" * 200_000))), SMALL),
    "a packed text": (always(Reply(body=ZIPPED, headers={"content-encoding": "gzip"})), SMALL),
    "an error": (always(Reply(500, "x" * 200_000)), replace(SMALL, billed=0)),
    "interim responses": (always(Reply(before=b"HTTP/1.1 102 Processing\r\n\r\n" * 5_000)), SMALL),
    "headers": (always(Reply(headers={f"x-{at}": "x" * 1000 for at in range(120)})), SMALL),
    "characters of a record": (
        always(Reply(body=completion("x" * 1_000_001, finish_reason="length"))),
        replace(SMALL, max_answer_mb=64.0),
    ),
    "values": (always(Reply(body=f"[{'1,' * 3_000_000}1]")), replace(SMALL, max_answer_mb=64.0)),
    "events": (always(Reply(body="data: {}\n" * 2_100_000)), replace(SMALL, max_answer_mb=64.0)),
}
LASTING: dict[str, tuple[Script, Final]] = {
    **LARGE,
    "reset after every answer": (always(Reply(end="reset_after")), Final("reset", 3, 3, 3)),
    "500 for ever": (always(Reply(500, "oops", NOW)), Final("server_error", 3, 3)),
    "half JSON for ever": (always(Reply(body='{"choi')), Final("half_answer", 3, 3, 3)),
    "429 for ever": (
        always(Reply(429, "", {"retry-after": "1.5"})),
        Final("rate_limited", 2, deadline_s=2.9),
    ),
    "context": (
        always(Reply(400, error("maximum context length is 4096", code="context_length_exceeded"))),
        Final("context_length"),
    ),
    "context, llama.cpp": (
        always(Reply(400, error("too large", type="exceed_context_size_error", code=400))),
        Final("context_length"),
    ),
    "filter": (always(Reply(400, error("content management policy"))), Final("refused")),
    "image": (always(Reply(400, error("could not decode the image"))), Final("bad_request")),
    "payload": (always(Reply(413, "")), Final("too_large")),
    "cut": (
        always(Reply(body=completion('{"a": "b', finish_reason="length"))),
        Final("truncated", billed=1),
    ),
    **{
        f"end {end}": (always(Reply(body=completion('{"a": "b', finish_reason=end))), Final(kind, billed=1))
        for end, kind in (
            ("MAX_TOKENS", "truncated"),
            ("model_length", "truncated"),
            ("max_output_tokens", "truncated"),
            ("SAFETY", "refused"),
            ("refusal", "refused"),
        )
    },
    "refusal": (
        always(Reply(body=completion("", message={"content": None, "refusal": "I can't"}))),
        Final("refused", billed=1),
    ),
    "filtered": (
        always(Reply(body=completion("x", finish_reason="content_filter"))),
        Final("refused", billed=1),
    ),
    "nothing": (always(Reply(body=completion("  "))), Final("empty", billed=1)),
    "white space": (
        always(Reply(body=completion('{"a":' + " \n" * 400, finish_reason="length"))),
        Final("whitespace_loop", billed=1),
    ),
    "drip": (always(Reply(drip_s=0.05)), Final("read_timeout", 3, 3, 3, timeout_s=1.0)),
    "hang": (always(Reply(end="hang")), Final("read_timeout", 3, 3, 3, timeout_s=1.0)),
}


@pytest.mark.parametrize(("script", "final"), LASTING.values(), ids=LASTING.keys())
def test_a_fault_that_lasts_is_the_failure_of_its_document(
    script: Script, final: Final, tmp_path: Path
) -> None:
    with ScriptedServer(script) as server:
        limits = {name: getattr(final, name) for name in ("timeout_s", "deadline_s", "max_answer_mb")}
        found, summary = drive(questions(1), tmp_path, channels(server.url, **limits))
        again, _ = drive(questions(1), tmp_path, channels(server.url, **limits))
    answer = found["doc-0"].value
    assert answer.failure.kind == final.kind and summary.stop is None
    assert (answer.usage.attempts, answer.possibly_billed) == (final.attempts, final.maybe)
    assert sum(server.billed.values()) == final.billed and len(server.hits) == final.attempts
    assert again["doc-0"].value.failure == answer.failure


def test_the_deadline_covers_what_is_done_with_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse_slowly(raw: bytes) -> Any:
        time.sleep(1.2)
        return json.loads(raw)

    monkeypatch.setattr(client, "parse", parse_slowly)
    with ScriptedServer(echo) as server:
        found, _ = drive(questions(1), tmp_path, channels(server.url, timeout_s=1.0))
    answer = found["doc-0"].value
    assert (answer.failure.kind, answer.usage.attempts, answer.text) == ("read_timeout", 1, None)


STOPPING: dict[str, tuple[Script, str]] = {
    "401": (always(Reply(401, error(f"Incorrect API key provided: {CANARY}"))), "auth"),
    "403": (always(Reply(403, "no")), "auth"),
    "402": (always(Reply(402, "")), "quota"),
    "429 without money": (
        always(Reply(429, error("You exceeded your current quota", code="insufficient_quota"))),
        "quota",
    ),
    "429 until tomorrow": (always(Reply(429, "", {"retry-after": "7200"})), "rate_limited"),
    "404": (always(Reply(404, error("The model `m` does not exist"))), "no_such_model"),
    "redirect": (always(Reply(308, "", {"location": "https://elsewhere.example"})), "redirected"),
    "400 without money": (always(Reply(400, error("insufficient balance"))), "quota"),
}


@pytest.mark.parametrize(("script", "kind"), STOPPING.values(), ids=STOPPING.keys())
def test_a_failure_that_all_requests_would_meet_stops_the_run(
    script: Script, kind: str, tmp_path: Path
) -> None:
    def after_three(hit: Hit) -> Reply:
        return echo(hit) if hit.body["messages"][0]["content"] < "question 3" else script(hit)

    with ScriptedServer(after_three) as server:
        found, summary = drive(questions(9), tmp_path, channels(server.url, max_in_flight=1))
        assert summary.stop is not None and summary.stop.kind == kind
        assert sorted(found) == ["doc-0", "doc-1", "doc-2"] and len(server.hits) == 4
        server.script = echo
        found, summary = drive(questions(9), tmp_path, channels(server.url, max_in_flight=1))
        assert summary.stop is None and len(found) == 9 and len(server.hits) == 10


REFUSED: dict[str, tuple[Callable[[Hit], Reply], str, str]] = {
    "model, DeepSeek": (always(Reply(400, error("Model Not Exist"))), "bad_request", "`model: …`"),
    "model, OpenRouter": (
        lambda hit: Reply(
            400, {"error": {"message": "oak is not a valid model ID"}, "user": f"u{hit.number}7"}
        ),
        "bad_request",
        "`model: …`",
    ),
    "model, quoted": (
        lambda hit: Reply(422, error(f"unknown deployment in {hit.body['messages'][0]['content']!r}")),
        "bad_request",
        "`model: …`",
    ),
    "role": (always(Reply(400, error("System role not supported"))), "bad_request", "without `[system]`"),
    "roles": (
        always(Reply(400, {"message": "Conversation roles must alternate user/assistant/user/..."})),
        "bad_request",
        "without `[system]`",
    ),
    "grammar": (
        always(Reply(400, error("Failed to parse grammar"))),
        "unsupported_parameter",
        "`decode: {format: json_object}`",
    ),
    "format": (
        always(Reply(400, {"error": "cannot unmarshal string into Go struct field ChatRequest.format"})),
        "unsupported_parameter",
        "`decode: {format: json_object}`",
    ),
    "parameter": (
        always(Reply(400, error("Unsupported parameter: 'logprobs'", code="unsupported_parameter"))),
        "unsupported_parameter",
        "`decode: {logprobs: false}`",
    ),
    "images": (
        always(Reply(400, error("this model does not support image input"))),
        "bad_request",
        "`input: text`",
    ),
    "something new": (
        lambda hit: Reply(451, error(f"Nope {hit.number}9 for 'é {hit.number}'")),
        "bad_request",
        "",
    ),
    "an unknown protocol": (always(Reply(body={"result": "no"})), "wrong_content", "result"),
    "nothing at all": (always(Reply(body="null")), "wrong_content", "not a JSON object"),
    "a filter": (always(Reply(400, error("content management policy"))), "refused", ""),
}


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize(("refuse", "kind", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_what_three_documents_meet_before_any_is_answered_stops_the_run_with_the_line_to_change(
    refuse: Callable[[Hit], Reply], kind: str, line: str, in_flight: int, tmp_path: Path
) -> None:
    with ScriptedServer(refuse) as server:
        found, summary = drive(questions(9), tmp_path, channels(server.url, max_in_flight=in_flight))
        assert summary.stop is not None and summary.stop.kind == kind, summary
        assert line in summary.stop.message and f"--retry {kind}" in summary.stop.message
        assert 3 <= len(server.hits) < 3 + in_flight and len(found) <= 1 + in_flight
        server.script = echo
        again = DriveOptions(retry=frozenset({kind}))
        found, summary = drive(questions(9), tmp_path, channels(server.url), again)
    assert summary.stop is None and {one.failure for one in found.values()} == {None}


OWN: dict[str, Callable[[Hit], Reply]] = {
    "after a success": lambda hit: echo(hit) if "question 0" in str(hit.body) else REFUSED["role"][0](hit),
    "too long for the context": always(Reply(400, error("maximum context length is 4096"))),
    "each something else": lambda hit: Reply(400, error("bad " + "abcdefghi"[int(str(hit.body)[-5]) :] * 3)),
}


@pytest.mark.parametrize("script", OWN.values(), ids=OWN.keys())
def test_what_may_be_the_fault_of_documents_does_not_stop_a_run(
    script: Callable[[Hit], Reply], tmp_path: Path
) -> None:
    with ScriptedServer(script) as server:
        found, summary = drive(questions(9), tmp_path, channels(server.url, max_in_flight=1))
    assert (summary.stop, len(found), len(server.hits)) == (None, 9, 9)


def test_the_parts_of_one_document_are_one_document(tmp_path: Path) -> None:
    def parts() -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
        (*_, answer) = yield tuple(ask(f"part {at}") for at in range(5))
        return answer

    jobs = [Job(name, parts) for name in ("doc", "doc\t1")]
    with ScriptedServer(always(Reply(400, error("Model Not Exist")))) as server:
        found, summary = drive(jobs, tmp_path, channels(server.url, max_in_flight=1))
    assert summary.stop is None and len(found) == 2


@pytest.mark.parametrize("in_flight", [1, 8])
@pytest.mark.parametrize("is_open", [True, False], ids=["left open", "written"])
def test_what_a_model_refuses_is_left_out_of_all_its_requests_where_nobody_wrote_it(
    is_open: bool, in_flight: int, tmp_path: Path
) -> None:
    body = {**ask("a question").body, "max_tokens": 9, "temperature": 0}
    open_ones = ("temperature",) * is_open
    requests = [Request("chat", "scripted", {**body, "seed": at}, optional=open_ones) for at in range(9)]
    jobs = [one(request, f"doc-{at}") for at, request in enumerate(requests)]
    with ScriptedServer(gpt_5) as server:
        found, summary = drive(jobs, tmp_path, channels(server.url, max_in_flight=in_flight))
        replayed, _ = drive(jobs, tmp_path, channels(server.url, max_in_flight=in_flight))
    if is_open:
        assert not summary.progress.possibly_billed and len(found) == sum(server.billed.values()) == 9
        answers = [one.value for one in (*found.values(), *replayed.values())]
        assert {(answer.failure, answer.left_out) for answer in answers} == {(None, ("temperature",))}
        keys = {one.headers["idempotency-key"] for one in server.hits}
        assert summary.stop is None and len(keys) == len(server.hits) <= 9 + 2 * in_flight
    else:
        assert summary.stop is not None and "write `decode: {temperature: null}`" in summary.stop.message


def test_a_server_that_is_not_there_stops_the_run(tmp_path: Path) -> None:
    limits = {"deadline_s": 1.0, "max_in_flight": 2}
    found, summary = drive(questions(3), tmp_path, channels("http://127.0.0.1:9/v1", **limits))
    assert not found and summary.stop is not None and summary.stop.kind == "unreachable"
    assert "connect" in summary.stop.message


SHORT = "the server counts 40 tokens of about 200 in the prompt, and may have cut it"


@pytest.mark.parametrize(
    ("text", "finish", "kind", "message"),
    [
        pytest.param('{"total": "5.00"}', "stop", None, "", id="an answer that can be used"),
        pytest.param("", "stop", "input_truncated", f"the answer is empty; {SHORT}", id="no answer"),
        pytest.param(
            " \n" * 200,
            "stop",
            "input_truncated",
            f"the answer is mostly white space; {SHORT}",
            id="white space",
        ),
        pytest.param(
            '{"total',
            "length",
            "truncated",
            f"the answer ended at the limit of 20 tokens; {SHORT}",
            id="half of one",
        ),
        pytest.param("", "content_filter", "refused", "the content filter refused", id="a filter"),
    ],
)
def test_a_small_count_of_prompt_tokens_makes_only_an_answer_without_use_a_failure(
    tmp_path: Path, text: str, finish: str, kind: str | None, message: str
) -> None:
    def long() -> Any:
        (answer,) = yield (ask("a long document", expected_tokens=200),)
        return answer

    with ScriptedServer(lambda _: Reply(body=completion(text, 40, finish_reason=finish))) as server:
        found, _ = drive([Job("doc", long)], tmp_path, channels(server.url))
    answer = found["doc"].value
    assert answer.text == text and answer.is_prompt_short
    failure = answer.failure
    assert (None if failure is None else failure.kind, "" if failure is None else failure.message) == (
        kind,
        message,
    )


@pytest.mark.parametrize(
    ("usage", "prompt", "is_short"),
    [
        pytest.param({"cached_tokens": 150}, 190, False, id="cached ones beside the prompt"),
        pytest.param({"cached_tokens": 30}, 40, True, id="cached ones in the prompt"),
        pytest.param({"cached_tokens": 30, "total": 90}, 70, True, id="cached ones beside it by the total"),
        pytest.param({}, 40, True, id="none"),
    ],
)
def test_cached_tokens_count_as_tokens_of_the_prompt(
    usage: dict[str, int], prompt: int, is_short: bool
) -> None:
    body = completion("{}", 40)
    body["usage"] |= {"prompt_tokens_details": {"cached_tokens": usage.get("cached_tokens")}}
    body["usage"] |= {"total_tokens": usage["total"]} if "total" in usage else {}
    answer = read_answer(
        {"body": body, "status": 200}, Request("chat", "e", {}, expected_tokens=200), reused=False
    )
    assert (answer.usage.prompt_tokens, answer.is_prompt_short, answer.failure) == (prompt, is_short, None)


@pytest.mark.parametrize(
    ("message", "end", "text", "failure"),
    [
        ({"content": '{"a": 1}'}, "length", '{"a": 1}', None),
        ({"content": None, "reasoning_content": "x" * 66}, "stop", None,
            "the answer is empty; the server put 66 characters into reasoning_content"),
        ({"content": "", "reasoning": "hm"}, "length", "",
            "the answer ended at the limit of 20 tokens; the server put 2 characters into reasoning"),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"a": "é"}}}]}, "tool_calls", '{"a": "é"}', None),
    ],
    ids=["whole at the limit", "thoughts alone", "thoughts up to the limit", "arguments as an object"],
)  # fmt: skip
def test_a_whole_answer_counts_wherever_it_stands_and_an_empty_one_says_where_text_is(
    message: dict[str, Any], end: str, text: str | None, failure: str | None
) -> None:
    line = {"body": completion("", message=message, finish_reason=end), "status": 200}
    answer = read_answer(line, Request("chat", "e", {}), reused=False)
    assert (answer.text, answer.failure and answer.failure.message) == (text, failure)


ECHOES: dict[str, Callable[[str], Reply]] = {
    "in an error": lambda key: Reply(400, error(f"bad key {key}, image")),
    "in an error with escapes": lambda key: Reply(
        400, '{"error": {"message": "image ' + "".join(f"\\u{ord(one):04x}" for one in key) + '"}}'
    ),
    "in an answer": lambda key: Reply(body=completion(f"your key is {key}")),
    "in half JSON": lambda key: Reply(body=f'{{"choices": "{key}'),
    "in a header": lambda key: Reply(headers={"x-request-id": key}),
    "in a 500": lambda key: Reply(500, f"trace: Authorization: Bearer {key}"),
    "in a name": lambda key: Reply(body={**completion("x"), key: 1}),
}


@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES.keys())
def test_a_key_stands_in_no_file_and_no_message(
    reply: Callable[[str], Reply], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(always(reply(CANARY))) as server:
        found, summary = drive(questions(2), tmp_path, channels(server.url, deadline_s=6))
        assert server.hits[0].headers["authorization"] == f"Bearer {CANARY}"
    said = repr(found) + repr(summary) + "".join(capfd.readouterr())
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert CANARY[3:12] not in said + written and len(written) > 100


def test_every_attempt_at_a_request_carries_the_same_idempotency_key(tmp_path: Path) -> None:
    with ScriptedServer(first(Reply(end="reset_after"))) as server:
        drive(questions(2), tmp_path, channels(server.url))
    keys = [hit.headers["idempotency-key"] for hit in server.hits]
    assert len(keys) == 4 and len(set(keys)) == 2


def one(request: Request, name: str = "doc") -> Job[ModelAnswer]:
    def steps() -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
        (answer,) = yield (request,)
        return answer

    return Job(name, steps)


def test_an_attachment_takes_the_place_of_its_digest_only_when_it_is_sent(tmp_path: Path) -> None:
    raw = bytes(range(256)) * 400
    digest = hashlib.sha256(raw).hexdigest()
    image = {"type": "image_url", "image_url": {"url": f"sha256:{digest}"}}
    body: Any = {"model": "m", "messages": [{"role": "user", "content": [image]}]}
    request = Request("chat", "scripted", body, (Attachment(digest, "image/png", lambda: raw),))
    with ScriptedServer(always(Reply(body=completion("seen")))) as server:
        found, _ = drive([one(request)], tmp_path, channels(server.url))
        (part,) = server.hits[0].body["messages"][0]["content"]
    assert part["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(raw).decode()
    assert found["doc"].value.text == "seen" and (tmp_path / NAME).stat().st_size < 3000


def broken() -> bytes:
    raise OSError("no such page")


@pytest.mark.parametrize("read", [broken, lambda: b"other bytes"], ids=["broken", "changed"])
def test_an_attachment_that_cannot_be_made_fails_its_document(
    read: Callable[[], bytes], tmp_path: Path
) -> None:
    request = Request("chat", "scripted", {"model": "m"}, (Attachment("0" * 64, "image/png", read),))
    with ScriptedServer() as server:
        found, summary = drive([one(request), *questions(2)], tmp_path, channels(server.url))
        assert len(server.hits) == 2
    assert found["doc"].value.failure.kind == "unreadable" and summary.stop is None and len(found) == 3


def test_halves_of_surrogate_pairs_neither_stop_a_run_nor_a_journal(tmp_path: Path) -> None:
    answer = json.dumps(completion('{"a": "x\ud83d"}'))
    with ScriptedServer(always(Reply(body=answer))) as server:
        for _ in range(2):
            found, _ = drive([one(ask("odd \ud800 text"))], tmp_path, channels(server.url))
        assert len(server.hits) == 1
    assert found["doc"].value.text == '{"a": "x\ufffd"}' and found["doc"].value.failure is None


def test_a_server_that_hangs_does_not_keep_an_interrupted_run(tmp_path: Path) -> None:
    with ScriptedServer(always(Reply(end="hang"))) as server:
        to = channels(server.url, max_in_flight=4)
        options = DriveOptions(grace_s=0.2, on_progress=lambda progress: interrupt(progress.in_flight))
        with (
            Journal(tmp_path) as journal,
            pytest.raises(KeyboardInterrupt),
            Drive(questions(9), journal, to, options) as run,
        ):
            list(run)
    lines = list(lines_of(tmp_path / NAME))
    assert [line["kind"] for line in lines].count("send") == 4 and lines[-1]["reason"] == "interrupted"


def interrupt(in_flight: int) -> None:
    if in_flight >= 4:
        raise KeyboardInterrupt
