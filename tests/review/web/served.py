"""A real server of a review on a port of this machine, and requests to it as a browser sends them."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fieldassay.review.log import Store
from fieldassay.review.web import guard
from fieldassay.review.web.guard import Site
from fieldassay.review.web.routes import ReviewRoom, make_ticket
from fieldassay.review.web.serve import LOOPBACK, listen, make_app, make_server, open_room


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A running server; `ask` sends what a page of it would send, `more` replaces headers (None: leaves out)."""

    room: ReviewRoom
    port: int
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def ticket_link(self) -> str:
        return f"{self.origin}/enter?ticket={make_ticket(self.room)}"

    def session(self, alias: str) -> str:
        """Return the token of a session of a person."""
        if alias not in self.tokens:
            row = self.room.db.execute("SELECT id FROM person WHERE alias=?", (alias,)).fetchone()
            self.tokens[alias] = self.room.write(
                lambda journal: guard.begin_session(journal.db, row[0], self.room.clock())
            )
        return self.tokens[alias]

    def ask(
        self, method: str, path: str, body: Any = None, who: str | None = None, **more: str | None
    ) -> Answer:
        headers: dict[str, str | None] = {
            "Host": f"{LOOPBACK}:{self.port}", "Origin": self.origin, "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
        }  # fmt: skip
        if who is not None:
            headers["Cookie"] = f"{self.room.cookie}={self.session(who)}"
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=600)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        found = Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.close()
        return found


@contextmanager
def served(store: Store) -> Iterator[Served]:
    """Yield the server of a review, on a free port."""
    listener = listen(LOOPBACK, 0)
    port = listener.getsockname()[1]
    site = Site(frozenset({f"{LOOPBACK}:{port}"}))
    with open_room(store, f"fieldassay-{port}") as room:
        server = make_server(make_app(room, site))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Served(room, port)
        finally:
            server.should_exit = True
            thread.join(600)
