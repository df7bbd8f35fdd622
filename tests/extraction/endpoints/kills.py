"""Kills a run of 200 documents at random moments, lets it go on, and counts what was lost and what was paid twice.

`python -m tests.extraction.endpoints.kills 1000` does so a thousand times and prints what it found.
"""

import argparse
import contextlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.extraction.endpoints.scripted_server import (
    Hit,
    Reply,
    ScriptedServer,
    ask,
    channels,
    completion,
    drive,
)

from fieldassay.extraction.endpoints.client import import_client
from fieldassay.extraction.endpoints.exchange import (
    NAME,
    Finished,
    Job,
    ModelAnswer,
    ReadJournal,
    Request,
    lines_of,
)

DOCUMENTS, IN_FLIGHT = 200, 16


def slowly(hit: Hit) -> Reply:
    """Answer with what was asked after 2 to 30 ms, cut at every tenth."""
    text = hit.body["messages"][0]["content"]
    number = sum(text.encode())
    finish = "length" if number % 10 == 0 else "stop"
    body = completion(json.dumps({"of": text}), prompt_tokens=len(text), finish_reason=finish)
    return Reply(body=body, delay_s=0.002 + number % 29 / 1000)


def two_questions(name: str) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], list[str | None]]:
    """Ask, and ask about the answer in two requests at once."""
    (one,) = yield (ask(f"{name}: what?"),)
    two, three = yield ask(f"{name}: sure of {one.text}?"), ask(f"{name}: where is {one.text}?")
    return [
        one.text,
        two.text,
        three.text,
        *(a.failure.kind if a.failure else None for a in (one, two, three)),
    ]


def predictions(found: dict[str, Finished[list[str | None]]]) -> str:
    """Return what a run predicts, without its times and without what a kill rightly adds: attempts."""
    rows = []
    for one in sorted(found.values(), key=lambda one: one.id):
        tokens = [one.usage.prompt_tokens, one.usage.completion_tokens, one.usage.calls]
        rows.append(json.dumps([one.id, one.value, one.failure and one.failure.kind, tokens, one.model]))
    return "\n".join(rows)


def run(url: str, folder: Path) -> str:
    """Drive the documents to their end; return the predictions."""
    jobs = [Job(f"doc-{at}", lambda at=at: two_questions(f"doc-{at}")) for at in range(DOCUMENTS)]
    found, summary = drive(jobs, folder, channels(url, max_in_flight=IN_FLIGHT))
    assert summary.stop is None
    return predictions(found)


def nursery() -> None:
    """Start a run in a fork for every line of the input, which saves the imports: `url folder`."""
    import_client()
    for line in sys.stdin:
        url, folder = line.split()
        child = os.fork()
        if child == 0:
            run(url, Path(folder))
            os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


@dataclass
class Found:
    """What the kills did."""

    kills: int = 0
    runs: int = 0
    lost: int = 0
    """Answers that were in the journal and are not any more, or that were asked for again though recorded."""
    repeats: int = 0
    most_repeats: int = 0
    """The most answers of one run that were made more than once, and how many were in flight at its kills."""
    unexplained: int = 0
    """Answers made again that were not in flight at a kill."""
    different: int = 0


def survive(kills: int, seed: int = 0) -> Found:
    """Kill runs until there were so many kills; return what was found."""
    found, chance = Found(), random.Random(seed)
    program = [sys.executable, "-c", "from tests.extraction.endpoints.kills import nursery; nursery()"]
    with ScriptedServer(slowly) as server, tempfile.TemporaryDirectory() as scratch:
        unbroken = run(server.url, Path(scratch) / "unbroken")
        children = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while found.kills < kills:
            folder = Path(scratch) / f"run-{found.runs}"
            server.billed.clear()
            in_flight = _break_and_resume(server.url, folder, children, chance, found, kills)
            _judge(server, folder, in_flight, unbroken, found)
            shutil.rmtree(folder)
        children.stdin.close()
        children.wait(20)
    return found


def _break_and_resume(
    url: str, folder: Path, children: subprocess.Popen[str], chance: random.Random, found: Found, kills: int
) -> Counter[str]:
    """Run, kill and run again until the end; return how often each request was in flight at a kill."""
    in_flight: Counter[str] = Counter()
    before = b""
    while True:
        children.stdin.write(f"{url} {folder}\n")
        children.stdin.flush()
        child = int(children.stdout.readline())
        if found.kills < kills:
            has_ended = _wait_for_growth(folder / NAME, chance.randrange(200_000), children.stdout)
            time.sleep(chance.uniform(0.0, 0.01))
            with contextlib.suppress(ProcessLookupError):
                has_ended or os.kill(child, signal.SIGKILL)
        if int(children.stdout.readline()) == 0:
            return in_flight
        found.kills += 1
        path = folder / NAME
        if path.exists():
            now = path.read_bytes()
            found.lost += not now.startswith(before)
            journal = ReadJournal(path)
            before = now[: journal.sound_bytes]
            sent = {line["key"] for line in lines_of(path) if line["kind"] == "send"}
            in_flight.update(key for key in sent if key not in journal.index)
            journal.close()


def _wait_for_growth(path: Path, size: int, ends: IO[str]) -> bool:
    """Wait until a journal grew by so many bytes (a run writes some 700,000); return whether the run ended before."""
    begun = path.stat().st_size if path.exists() else 0
    while (path.stat().st_size if path.exists() else 0) < begun + size:
        if select.select([ends], [], [], 0.001)[0]:
            return True
    return False


def _judge(
    server: ScriptedServer, folder: Path, in_flight: Counter[str], unbroken: str, found: Found
) -> None:
    answers = Counter(line["key"] for line in lines_of(folder / NAME) if line["kind"] == "answer")
    found.runs += 1
    found.lost += sum(count - 1 for count in answers.values()) + (len(answers) != 3 * DOCUMENTS)
    repeats = sum(count - 1 for count in server.billed.values())
    found.repeats += repeats
    found.most_repeats = max(found.most_repeats, repeats)
    found.unexplained += max(0, repeats - sum(in_flight.values()))
    found.different += run(server.url, folder) != unbroken


def main() -> None:
    """Kill as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    found = survive(options.kills, options.seed)
    print(f"{found} in {time.monotonic() - began:.0f} s")
    sys.exit(bool(found.lost or found.unexplained or found.different))


if __name__ == "__main__":
    main()
