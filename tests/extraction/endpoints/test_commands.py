"""Programs and Python functions answer requests; one that dies, hangs or babbles fails alone."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.extraction.endpoints.driving import CANARY, drive

from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.channel import Channel
from fieldassay.extraction.endpoints.command import CommandChannel, FunctionChannel
from fieldassay.extraction.endpoints.exchange import Answer, Request
from fieldassay.extraction.endpoints.jobs import Job

PROGRAM = """
import json, os, sys, time
out = os.fdopen(3, "w")
print("hello, I print to standard output")
for line in sys.stdin:
    text = json.loads(line)["text"]
    if text == "die":
        print("no memory", file=sys.stderr); os._exit(7)
    if text == "hang":
        time.sleep(600)
    if text == "babble":
        print(json.dumps({"result": 0}), file=out)
    if text == "long":
        print(json.dumps({"result": "x" * 60_000_000}), file=out, flush=True); continue
    if text == "nonsense":
        print("not json", file=out, flush=True); continue
    if text == "wrong":
        print(json.dumps({"error": "no total"}), file=out, flush=True); continue
    answer = {"result": {"pid": os.getpid(), "text": text}, "usage": {"prompt_tokens": 7, "model": "own"}}
    print(json.dumps(answer), file=out, flush=True)
"""


def job(at: int, text: str) -> Job[Answer]:
    def steps() -> Generator[tuple[Request, ...], tuple[Answer, ...], Answer]:
        (answer,) = yield (Request("call", "own", {"text": text, "at": at}),)
        return answer

    return Job(f"{at}-{text}", steps)


def command(folder: Path, **options: Any) -> dict[str, Channel]:
    program = folder / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    return {"own": CommandChannel([sys.executable, str(program)], **options)}


def test_a_command_stays_and_answers_one_request_after_the_other(tmp_path: Path) -> None:
    jobs = [job(at, "x") for at in range(6)]
    found, _ = drive(jobs, tmp_path / "out", command(tmp_path))
    pids = {one.value.text.split('"pid":')[1].split(",")[0] for one in found.values()}
    assert len(found) == 6 and len(pids) == 1
    assert found["0-x"].usage.prompt_tokens == 7 and found["0-x"].usage.model == "own"
    again, _ = drive(jobs, tmp_path / "out", command(tmp_path))
    assert all(one.reused for one in again.values())
    assert {key: one.value.text for key, one in again.items()} == {
        key: one.value.text for key, one in found.items()
    }


@pytest.mark.parametrize(
    ("text", "kind", "said", "seconds"),
    [
        ("long", "too_large_answer", "more than 50 MB", 600),
        ("die", "command_died", "exit code 7", 600),
        ("hang", "command_timeout", "within 1.5 s", 1.5),
        ("nonsense", "command_answer", "not json", 600),
        ("wrong", "command_error", "no total", 600),
    ],
)
def test_a_command_that_fails_fails_one_document(
    text: str, kind: str, said: str, seconds: float, tmp_path: Path
) -> None:
    jobs = [job(0, "a"), job(1, text), job(2, "b")]
    found, summary = drive(jobs, tmp_path / "out", command(tmp_path, timeout_s=seconds, max_answer_mb=50))
    failure = found[f"1-{text}"].value.failure
    assert failure.kind == kind and said in failure.message and summary.stop is None
    assert found["0-a"].value.failure is None and found["2-b"].value.failure is None
    if text == "die":
        assert "no memory" in failure.message


def test_a_command_that_writes_two_lines_does_not_answer_the_next_document(tmp_path: Path) -> None:
    found, _ = drive([job(0, "babble"), job(1, "b"), job(2, "c")], tmp_path / "out", command(tmp_path))
    assert found["0-babble"].value.text == "0"
    assert found["1-b"].value.failure.kind == "command_answer"
    assert '"text":"c"' in found["2-c"].value.text


def test_an_answer_of_many_megabytes_arrives_whole(tmp_path: Path) -> None:
    found, _ = drive([job(0, "long"), job(1, "b")], tmp_path / "out", command(tmp_path))
    assert len(found["0-long"].value.text) == 60_000_002
    assert '"text":"b"' in found["1-b"].value.text


def test_a_command_that_always_dies_stops_the_run(tmp_path: Path) -> None:
    found, summary = drive([job(at, "die") for at in range(20)], tmp_path / "out", command(tmp_path))
    assert summary.stop is not None and summary.stop.kind == "unreachable" and len(found) == 9


def test_a_command_that_is_not_there_is_said_before_the_run() -> None:
    with pytest.raises(ProblemsError, match="no program 'no-such-program'"):
        CommandChannel(["no-such-program"])


def test_an_exception_of_a_function_fails_one_document_and_its_traceback_is_on_record(tmp_path: Path) -> None:
    def own(body: Any) -> Any:
        return {"double": 2 * body["at"]} if body["text"] == "x" else {}["total"]

    channel: dict[str, Channel] = {"own": FunctionChannel(own, "own-1")}
    found, _ = drive([job(2, "x"), job(3, "y")], tmp_path, channel)
    assert found["2-x"].value.text == '{"double":4}'
    assert found["3-y"].value.failure.kind == "exception" and "total" in found["3-y"].value.failure.message
    assert "KeyError" in (tmp_path / "journal.jsonl").read_text()


def test_a_program_or_function_that_shows_a_key_shows_it_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_API_KEY", CANARY)

    def own(body: Any) -> Any:
        raise RuntimeError(f"no access with {os.environ['OWN_API_KEY']}")

    def broken() -> Generator[tuple[Request, ...], tuple[Answer, ...], Answer]:
        raise RuntimeError(f"no access with {CANARY}")
        yield ()

    program = [sys.executable, "-c", "import os, sys; sys.exit(os.environ['OWN_API_KEY'])"]
    found: dict[str, Any] = {}
    channels: list[dict[str, Channel]] = [
        {"own": FunctionChannel(own, "1")},
        {"own": CommandChannel(program)},
    ]
    for at, channel in enumerate(channels):
        found |= drive([job(at, "x"), Job(f"s{at}", broken)], tmp_path / str(at), channel)[0]
    kinds = sorted((one.failure or one.value.failure).kind for one in found.values())
    assert kinds == ["command_died", "exception", "exception", "exception"]
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert CANARY[3:12] not in repr(found) + written and written.count("[key removed]") >= 4
