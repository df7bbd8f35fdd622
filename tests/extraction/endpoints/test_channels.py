"""Channels: programs, prices, limits and the driver."""

import ast
import os
import sys
import textwrap
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.extraction.endpoints.kills import survive
from tests.extraction.endpoints.scripted_server import (
    CANARY,
    Provider,
    ScriptedServer,
    channels,
    drive,
    questions,
    simulate,
)

from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.client import FairQueue, Window
from fieldassay.extraction.endpoints.command import CommandChannel, FunctionChannel
from fieldassay.extraction.endpoints.driver import DriveOptions
from fieldassay.extraction.endpoints.endpoint import Endpoint, Prices
from fieldassay.extraction.endpoints.exchange import NAME, Channel, Job, ModelAnswer, Request, Usage, lines_of
from fieldassay.extraction.endpoints.outcome import Action
from fieldassay.spec.language.names import cost_usd

# Programs and Python functions answer requests; one that dies, hangs or babbles fails alone

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


def job(at: int, text: str) -> Job[ModelAnswer]:
    def steps() -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
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


def test_a_program_or_function_that_shows_a_key_shows_it_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_API_KEY", CANARY)

    def own(body: Any) -> Any:
        raise RuntimeError(f"no access with {os.environ['OWN_API_KEY']}")

    def broken() -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
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


# A price is that of the endpoint, of the spec, or published; else it is unknown, and never 0

TABLE = {
    "m": {"prompt": 2.0, "cached_prompt": 0.5, "completion": 10.0},
    "old": {"prompt": 2.0, "completion": 10.0},
}


@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("m", {"prompt": 1e6, "completion": 1e5}, 3.0),
        ("m", {"prompt": 1e6, "cached_prompt": 4e5, "completion": 0}, 1.4),
        ("m", {"prompt": 1e6, "cached_prompt": 2e6, "completion": 0}, 0.5),
        ("old", {"prompt": 1e6, "cached_prompt": 4e5, "completion": 0}, 2.0),
        ("old", {"prompt": 1e6, "image": 4e5, "completion": None}, 2.0),
        ("m", {"prompt": 1, "embedding": 5}, None),
        ("m", {"prompt": None, "cached_prompt": 5}, None),
        ("other", {"prompt": 5}, None),
    ],
)
def test_cached_tokens_are_inside_those_of_the_prompt(
    model: str, tokens: dict[str, float | None], cost: float | None
) -> None:
    assert cost_usd(TABLE, model, tokens) == (None if cost is None else pytest.approx(cost))


def test_published_prices_are_those_of_the_package() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    prices = Prices({}, {"openai": Endpoint("openai", "https://api.openai.com/v1")})
    for count in (400_000, 0):
        usage = Usage("gpt-5-mini", 10**6, count, 10**5)
        expected = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=10**6, cache_read_tokens=count, output_tokens=10**5), "gpt-5-mini"
        )
        assert prices.cost("openai", usage) == pytest.approx(float(expected.total_price))
    assert prices.cost("openai", Usage("no-such-model", 5, None, 5)) is None
    assert prices.sources["gpt-5-mini"].startswith("genai-prices ")


def run(tmp_path: Path, limit: float, count: int = 40) -> tuple[int, float, str]:
    prices = Prices({"m": {"prompt": 1000.0, "completion": 1000.0}}, {}, published=False)
    options = DriveOptions(price=prices.cost, max_cost_usd=limit)
    with ScriptedServer() as server:
        found, summary = drive(questions(count), tmp_path, channels(server.url, max_in_flight=8), options)
    return len(found), summary.progress.spent_usd, "" if summary.stop is None else summary.stop.kind


def test_a_limit_of_cost_is_kept_whatever_the_next_request_costs(tmp_path: Path) -> None:
    """A document costs 0.12 USD, and may cost 1.03 USD."""
    done, spent, stop = run(tmp_path, 3.0)
    assert stop == "budget" and spent == pytest.approx(0.12 * done) and 1.8 < spent <= 3.0
    done, spent, stop = run(tmp_path, 100.0)
    assert (done, stop) == (40, "") and spent == pytest.approx(0.12 * 40)


def test_a_limit_of_cost_needs_a_price(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        options = DriveOptions(max_cost_usd=1.0)
        found, summary = drive(questions(2), tmp_path, channels(server.url), options)
    assert not found and not server.hits
    assert summary.stop is not None and "price of m is unknown" in summary.stop.message


# The window finds a limit that nobody tells it; a gate lets in what fits, in order

PROVIDERS = {
    "1 place": Provider(places=1),
    "3 places": Provider(places=3),
    "13 places": Provider(places=13),
    "50 places": Provider(places=50),
    "50 places, no Retry-After": Provider(places=50, tells=False),
    "200 places": Provider(places=200),
    "5 a second": Provider(per_second=5),
    "50 a second, no Retry-After": Provider(per_second=50, tells=False),
    "1 in two seconds": Provider(per_second=0.5),
    "50 places, away for two minutes": Provider(places=50, away=(50, 170)),
}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS.keys())
def test_the_window_finds_the_limit_of_a_provider_and_nobody_starves(provider: Provider) -> None:
    seen = simulate(provider, Window(256), seconds=800)
    assert 0.85 <= seen.answers_per_second / provider.best() <= 1.05
    assert seen.longest_wait < 60 + provider.away[1] - provider.away[0] and seen.refused <= seen.answered


def test_the_refusals_of_one_moment_cut_the_window_once() -> None:
    window = Window(256)
    for _ in range(15):
        window.refused(now=10.0, sent_at=9.0, retry_after_s=3.0)
    assert window.limit == 16 and window.wait(11.0, 1, 0) == 2.0 and window.wait(13.0, 1, 0) == 0


def test_a_late_refusal_does_not_prolong_the_pause() -> None:
    window = Window(256)
    window.refused(now=10.0, sent_at=9.0, retry_after_s=3.0)
    window.refused(now=12.9, sent_at=9.5, retry_after_s=3.0)
    assert window.wait(13.0, 1, 0) == 0


def test_a_gate_lets_in_by_order_of_arrival_and_never_more_than_fits() -> None:
    gate, order, most, guard = FairQueue(Window(3)), [], [0], threading.Lock()

    def pass_through(number: int) -> None:
        assert gate.enter(1, time.monotonic() + 600)
        with guard:
            order.append(number)
            most[0] = max(most[0], gate.inside)
        gate.leave(1)

    assert gate.enter(3, time.monotonic() + 600)
    threads = []
    for number in range(20):
        threads.append(threading.Thread(target=pass_through, args=(number,)))
        threads[-1].start()
        while len(gate._waiting) <= number:
            time.sleep(0.001)
    gate.leave(2)
    for thread in threads:
        thread.join(600)
    assert sorted(order) == list(range(20)) and order[0] in (0, 1) and most[0] <= 3


def test_a_closed_gate_sends_everybody_away() -> None:
    gate, found = FairQueue(Window(1)), []
    assert gate.enter(1, time.monotonic() + 600)
    threads = [threading.Thread(target=lambda: found.append(gate.enter(1, float("inf")))) for _ in range(5)]
    for thread in threads:
        thread.start()
    gate.close()
    for thread in threads:
        thread.join(600)
    assert found == [False] * 5


def test_a_place_that_does_not_come_in_time_is_given_up() -> None:
    gate = FairQueue(Window(1))
    assert gate.enter(1, time.monotonic() + 600) and not gate.enter(1, time.monotonic() + 0.01)


# The driver of requests, and the kinds of failure that it tells


def test_every_document_gets_its_answer_and_the_journal_holds_it(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        found, summary = drive(questions(20), tmp_path, channels(server.url, max_in_flight=4))
    assert {one: found[one].value.text for one in found} == {
        f"doc-{at}": f'{{"echo": "question {at}"}}' for at in range(20)
    }
    assert summary.stop is None and summary.progress.done == 20
    kinds = [line["kind"] for line in lines_of(tmp_path / NAME)]
    assert {kind: kinds.count(kind) for kind in kinds} == {"load": 20, "send": 20, "answer": 20, "end": 1}
    assert server.most_in_flight <= 4 and set(server.billed.values()) == {1}


ROOT = Path(__file__).parents[3]
NAMED_FIRST = {"Failure", "CommandError"}


def kinds() -> Iterator[str]:
    """Yield what stands after an action, or first in a failure, in the source of the package."""
    for path in sorted((ROOT / "src/fieldassay/extraction/endpoints").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                parts, name = node.args, getattr(node.func, "id", "")
                if name in NAMED_FIRST and parts and isinstance(parts[0], ast.Constant):
                    yield str(parts[0].value)
            else:
                parts = node.elts if isinstance(node, ast.Tuple) else []
            first = [part.value if isinstance(part, ast.Constant) else None for part in parts[:2]]
            if len(first) == 2 and first[0] in get_args(Action) and isinstance(first[1], str):
                yield first[1]


def test_every_kind_of_failure_is_documented() -> None:
    page = (ROOT / "docs/extract.md").read_text(encoding="utf-8")
    found = set(kinds()) - {"", *get_args(Action)}
    assert {"auth", "rate_limited", "half_answer", "command_died", "budget", "truncated"} <= found
    assert sorted(kind for kind in found if f"`{kind}`" not in page) == []


# `kill -9` loses no answer, repeats at most what was in flight, and changes no prediction


@pytest.mark.slow
def test_a_run_that_was_killed_at_random_moments_ends_as_an_unbroken_one() -> None:
    found = survive(4, seed=1)
    assert found.kills == 4 and (found.lost, found.unexplained, found.different) == (0, 0, 0)
