"""An endpoint: the address of a server of models, and what it may be asked at once. Never its key."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.json_value import Json

_SECRET_PARAMETERS = ("key", "token", "secret", "sig", "signature", "password", "auth")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server: `url` ends before `/chat/completions`.

    The key is not part of it: `key_env` names the variable of the environment that holds it, `key_file` a
    file that only its owner can read.

    >>> Endpoint("local", "http://127.0.0.1:8000/v1").chat_url
    'http://127.0.0.1:8000/v1/chat/completions'
    """

    name: str
    url: str
    key_env: str = ""
    key_file: str = ""
    max_in_flight: int = 64
    timeout_s: float = 120.0
    """The longest time of one attempt, from sending to the last byte."""
    deadline_s: float = 600.0
    """The longest time of a request with all its attempts and the waiting between them."""
    max_answer_mb: float = 64.0
    """The largest answer in megabytes, as it arrives and unpacked; a larger one is broken off."""
    prices: Mapping[str, Mapping[str, float]] | None = None
    """USD per million tokens by model and kind, before those of the spec; `*` is every other model."""

    def __post_init__(self) -> None:
        problems = [Problem(f"endpoint {self.name!r}", *found) for found in _problems(self)]
        if problems:
            raise ProblemsError(problems)

    @property
    def chat_url(self) -> str:
        """The address of chat completions."""
        base, _, query = self.url.partition("?")
        return base.rstrip("/") + "/chat/completions" + (f"?{query}" if query else "")

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return _is_loopback(urlsplit(self.url).hostname or "")

    def as_json(self) -> dict[str, Json]:
        """Return the configuration as written to a journal: the address and the limits."""
        return {"url": self.url, "key_env": self.key_env, "max_in_flight": self.max_in_flight}


def _problems(endpoint: Endpoint) -> list[tuple[str, str, str]]:
    """Return what is wrong: problem, remedy and kind of each."""
    found = []
    parts = urlsplit(endpoint.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        found.append((f"{parts.scheme or 'no'} scheme in the URL", "write https://…", "wrong_url"))
    elif parts.scheme == "http" and not _is_loopback(parts.hostname):
        found.append(("documents would be sent unencrypted", "write https://…", "wrong_url"))
    if parts.username or parts.password:
        found.append(("the URL holds a password", "name a variable with `key_env`", "secret_in_url"))
    for name, _ in parse_qsl(parts.query):
        if any(word in name.casefold().replace("-", "_").split("_") for word in _SECRET_PARAMETERS):
            found.append((f"the URL holds a key ({name})", "name a variable with `key_env`", "secret_in_url"))
    if endpoint.max_in_flight < 1:
        found.append(("max_in_flight must be 1 or more", "write a positive number", "out_of_range"))
    if min(endpoint.timeout_s, endpoint.deadline_s) <= 0:
        found.append(("a time limit must be positive", "write seconds", "out_of_range"))
    if endpoint.max_answer_mb <= 0:
        found.append(("max_answer_mb must be positive", "write megabytes", "out_of_range"))
    return found


def _is_loopback(host: str) -> bool:
    """Return whether a host name is this machine.

    >>> _is_loopback("127.0.0.1"), _is_loopback("::1"), _is_loopback("example.org")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
