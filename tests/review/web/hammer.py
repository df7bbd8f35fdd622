"""Many clients that label at once over HTTP, and a server that may be killed under them."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldassay.review.log import Store
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.web import guard

PASSWORD = "a long password"
FIELDS = tuple(f"field_{number}" for number in range(10))


def make_large(folder: Path, documents: int, clients: int) -> Store:
    """Return a review of so many documents with ten values each, and an account per client."""
    spec = "{fields: {" + ", ".join(f"{name}: text" for name in FIELDS) + "}}"
    rows = [{"id": f"doc-{at:06d}", **dict.fromkeys(FIELDS, f"value {at % 97}")} for at in range(documents)]
    made = make_review(folder, ReviewRequest(spec, {"llama": rows}, shares=Shares(0.0, 0.1, 0.0)))
    for number in range(clients):
        made.store.write(lambda log, n=number: guard.add_person(log, f"client-{n}", "reviewer", PASSWORD))
    return made.store


def review_command(*words: str, largest: int | None = None) -> list[str]:
    """Return a command of `fieldassay review`; files that reach the size `largest` are full to it."""
    command = ["fieldassay.commands.cli.main", "review", *words]
    if largest is None:
        return [sys.executable, "-m", *command]
    limited = f"import resource, runpy, sys; sys.argv[:] = {command!r}; "
    limited += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({largest}, resource.RLIM_INFINITY)); "
    return [sys.executable, "-c", limited + "runpy.run_module(sys.argv[0], run_name='__main__')"]


class Server:
    """The command `review team` as a process of its own; `largest` is the size at which its files are full."""

    def __init__(self, folder: Path, largest: int | None = None) -> None:
        command = review_command("team", str(folder), largest=largest)
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self._process.stdout.readline())
        assert found is not None, "the server did not start"
        self.port, self.pid = int(found[1]), self._process.pid

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(600)


@dataclass
class Client:
    """One reviewer: labels every value with a text of its own, and notes what was acknowledged."""

    number: int
    port: int = 0
    cookie: str = ""
    made: int = 0
    pending: tuple[str, str, dict[str, Any]] | None = None
    acknowledged: list[str] = field(default_factory=list)
    sheets: list[int] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=lambda: {"claim": [], "save": []})
    errors: list[str] = field(default_factory=list)
    connection: http.client.HTTPConnection | None = None

    def sign_in(self, port: int) -> None:
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        answer, headers = self._send(
            "POST", "/sign-in", {"name": f"client-{self.number}", "password": PASSWORD}
        )
        assert "problem" not in answer, answer
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {**headers, "Cookie": self.cookie})
        answer = self.connection.getresponse()
        found = json.loads(answer.read())
        if answer.status >= 400:
            self.errors.append(f"{answer.status} {method} {path}: {found}")
        return found, answer.headers

    def run(self, ends: float) -> None:
        """Label until the time has come, or the server is gone; what was not acknowledged is sent again."""
        try:
            if self.pending is not None:
                self._save(*self.pending)
            while time.monotonic() < ends:
                if not self._sheet(ends):
                    return
        except (OSError, http.client.HTTPException):
            return

    def _sheet(self, ends: float) -> bool:
        begun = time.monotonic()
        sheet = self._send("POST", "/api/claim", {})[0].get("sheet")
        self.times["claim"].append(time.monotonic() - begun)
        if sheet is None:
            return False
        self.sheets.append(sheet)
        for node in self._send("GET", f"/api/sheets/{sheet}")[0]["open"]:
            if time.monotonic() > ends:
                return True
            self.made += 1
            text = f"label {self.number}-{self.made}"
            body = {
                "key": text,
                "node": node,
                "state": "value",
                "text": text,
                "expects": 0,
                "active_ms": 1,
                "keys": 1,
            }
            self.pending = ("PUT", f"/api/sheets/{sheet}/labels", body)
            self._save(*self.pending)
        self._send("POST", f"/api/sheets/{sheet}/finish", {})
        return True

    def _save(self, method: str, path: str, body: dict[str, Any]) -> None:
        begun = time.monotonic()
        answer, _ = self._send(method, path, body)
        self.times["save"].append(time.monotonic() - begun)
        if "seq" in answer:
            self.acknowledged.append(body["text"])
        self.pending = None


def work(clients: list[Client], port: int, seconds: float, killer: Server | None = None) -> None:
    """Let all clients work at once for so long; `killer` is killed then, under their load."""
    for client in clients:
        client.sign_in(port)
    ends = time.monotonic() + seconds + (60 if killer is not None else 0)
    threads = [threading.Thread(target=client.run, args=(ends,)) for client in clients]
    for thread in threads:
        thread.start()
    if killer is not None:
        time.sleep(seconds)
        killer.kill()
    for thread in threads:
        thread.join()


_NOT_LAST = (
    "SELECT sheet, node FROM label WHERE seq IS NOT (SELECT max(seq) FROM event WHERE kind='label' AND "
    "event.sheet=label.sheet AND body->>'node'=label.node) OR text IS NOT (SELECT body->>'text' FROM event "
    "WHERE event.seq=label.seq)"
)


def check(store: Store, clients: list[Client]) -> tuple[int, list[str]]:
    """Return how many labels were acknowledged, and everything that is wrong with the review after that."""
    faults = [error for client in clients for error in client.errors]
    with store.reading() as db:
        faults += [str(told) for (told,) in db.execute("PRAGMA integrity_check") if told != "ok"]
        faults += [f"{node} of sheet {sheet} is not the last label" for sheet, node in db.execute(_NOT_LAST)]
        texts = Counter(
            json.loads(body)["text"] for (body,) in db.execute("SELECT body FROM event WHERE kind='label'")
        )
        twice = db.execute(
            "SELECT sheet FROM event WHERE kind='claim' AND sheet NOT IN (SELECT sheet FROM event WHERE "
            "kind='release' AND body LIKE '%the lease ended%') GROUP BY sheet HAVING count(DISTINCT actor) > 1"
        ).fetchall()  # after a lease that ended, as in a run of hours, a sheet goes to somebody else
    acknowledged = [text for client in clients for text in client.acknowledged]
    faults += [f"{text} was acknowledged and is not there" for text in acknowledged if text not in texts]
    faults += [f"{text} is there {count} times" for text, count in texts.items() if count > 1]
    faults += [f"sheet {sheet} went to two people" for (sheet,) in twice]
    return len(acknowledged), faults
