"""An endpoint: its address, credentials and prices."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from fieldassay.errors import FieldassayError, Problem, ProblemsError
from fieldassay.io.json_value import Json
from fieldassay.options import AboveZero, Positive
from fieldassay.spec.language.names import Table, cost_usd

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import Usage


# An endpoint: the address of a server of models, and what it may be asked at once. Never its key.

_SECRET_PARAMETERS = ("key", "token", "secret", "sig", "signature", "password", "auth")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server: `url` ends before `/chat/completions`.

    The key is not part of it: `key_env` names the variable of the environment that holds it.

    >>> Endpoint("local", "http://127.0.0.1:8000/v1").chat_url
    'http://127.0.0.1:8000/v1/chat/completions'
    """

    name: str
    url: str
    key_env: str = ""
    max_in_flight: Positive = 64
    timeout_s: AboveZero = 120.0
    """The longest time of one attempt, from sending to the last byte."""
    deadline_s: AboveZero = 600.0
    """The longest time of a request with all its attempts and the waiting between them."""
    max_answer_mb: AboveZero = 64.0
    """The largest answer in megabytes, as it arrives and unpacked; a larger one is broken off."""
    prices: Mapping[str, Mapping[str, float]] | None = None
    """USD per million tokens by model and kind, before those of the spec; `*` is every other model."""

    def __post_init__(self) -> None:
        problems = [Problem(f"endpoint {self.name!r}", *problem) for problem in _problems(self)]
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
    problems = []
    parts = urlsplit(endpoint.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        problems.append((f"{parts.scheme or 'no'} scheme in the URL", "write https://…", "wrong_url"))
    elif parts.scheme == "http" and not _is_loopback(parts.hostname):
        problems.append(("documents would be sent unencrypted", "write https://…", "wrong_url"))
    if parts.username or parts.password:
        problems.append(("the URL holds a password", "name a variable with `key_env`", "secret_in_url"))
    for name, _ in parse_qsl(parts.query):
        if any(word in name.casefold().replace("-", "_").split("_") for word in _SECRET_PARAMETERS):
            problems.append(
                (f"the URL holds a key ({name})", "name a variable with `key_env`", "secret_in_url")
            )
    return problems


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


# The key of an endpoint: read from the environment, and removed from all output.

REMOVED = "[key removed]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.I)
_MASK = re.compile(r"(?:[*•·●…]|\.{3,}|[xX#_]{4,}|\[[^\]\s]{1,20}\])+")
"""What servers write in place of the middle of a key (`sk-abc***wxyz`)."""
MOST_SHOWN = 4
"""So many characters of a key around a mask are removed with it; fewer tell nothing."""
SHORTEST_SECRET = 8
"""Shorter keys (`EMPTY`, `none`) are placeholders of local servers: removing them would change answers."""
_LINE_END, _BLANK = r"\\[nrt]", r"\\?\s"
_ANY_LINE_END, _ANY_BLANK = (
    r"\\++[nrt]",
    r"\\*+(?:\s|(?<=\\)(?:u00(?:20|5[cC])|x(?:20|5[cC])))|\\++(?=[%&])|%(?:20|5[cC])"
    r"|&#x0*+(?:20|5[cC]);|&#0*+(?:32|92);",
)
"""What may stand between the letters of a key; the second pair, of one that has blanks or backslashes."""


class MissingKeyError(FieldassayError):
    """An endpoint whose key is not where its configuration says."""


@dataclass(frozen=True)
class SecretKey:
    """A key that does not print."""

    value: str = field(repr=False)

    @property
    def is_secret(self) -> bool:
        """Whether the key is long enough to be one."""
        return len(self.value) >= SHORTEST_SECRET

    def removed_from(self, text: str) -> str:
        """Return a text without the key, however a server spelled it.

        >>> SecretKey("sk-canary-1234").removed_from('"no key: sk-canary\\\\u002d1234, c2stY2FuYXJ5LTEyMzQ="')
        '"no key: [key removed], [key removed]="'
        """
        if not self.is_secret or len(text) <= MOST_SHOWN:
            return text
        return self._without_masked(self._spellings.sub(REMOVED, text))

    def _without_masked(self, text: str) -> str:
        """Return a text without the begin and the end of the key around a mask."""
        pieces, position = [], 0
        for mask in _MASK.finditer(text):
            start, end = mask.span()
            before, after = (
                text[max(position, start - len(self.value)) : start],
                text[end : end + len(self.value)],
            )
            left = next((n for n in range(len(before), 0, -1) if self.value.startswith(before[-n:])), 0)
            right = next((n for n in range(len(after), 0, -1) if self.value.endswith(after[:n])), 0)
            if left + right >= MOST_SHOWN:
                pieces += [text[position : start - left], REMOVED]
                position = end + right
        return "".join([*pieces, text[position:]])

    def removed_from_json(self, value: Json) -> Json:
        """Return a JSON value without the key in any of its texts and names."""
        if not self.is_secret:
            return value
        if isinstance(value, str):
            return self.removed_from(value)
        if isinstance(value, list):
            return [self.removed_from_json(item) for item in value]
        if isinstance(value, dict):
            return {self.removed_from(name): self.removed_from_json(item) for name, item in value.items()}
        return value

    @cached_property
    def _spellings(self) -> re.Pattern[str]:
        """The key as it is, with any characters escaped, and in base64 at each of the three offsets.

        Linear: a run of backslashes is read from its begin. Where `\\n` may end a line or be a letter, it is
        tried as both, up to the next character that is neither.
        """
        letters = re.sub(r"[\\\s]", "", self.value)
        is_plain = letters == self.value
        between = (_LINE_END, _BLANK) if is_plain else (_ANY_LINE_END, _ANY_BLANK)
        plain = re.escape(self.value)
        if len(letters) >= MOST_SHOWN:
            is_line_end = is_plain and letters[0] in "nrt"  # read from the begin of all line ends and blanks
            if is_line_end:
                plain = r"(?<!\s)(?<!(?<!\\)\\[nrt])(?:(?<!\\)|(?=[%&\s]))"
            else:
                plain = rf"(?=[\\%&{re.escape(letters[0])}])(?:(?<!\\)|(?=[%&]))(?!\\++[nrt])"
                plain += _character(letters[0])
            for part in re.findall(r"[nrt]{1,8}[^nrt]?|.", letters[not is_line_end :]):
                piece = "".join(_behind_gap(char, *between) for char in part)
                plain += f"(?>{piece})" if part[0] in "nrt" and part[-1] not in "ux%&" else piece
        doubled = re.escape(quote(quote(self.value, safe=""), safe=""))
        base64_patterns = []
        for before in range(3):  # in base64, without the characters that depend on neighbors
            raw = b"\0" * before + self.value.encode()
            first, last = (0, 2, 3)[before], len(raw) * 8 // 6
            core = re.escape(base64.b64encode(raw).decode()[first:last])
            core = core.replace("/", "[/_]").replace(r"\+", r"[+\-]")
            base64_patterns.append(core + (r"[\w+/\-]?" if len(raw) * 8 % 6 else ""))
        return re.compile("|".join([plain, doubled, *base64_patterns, self.value.encode().hex()]), re.DOTALL)


def _behind_gap(char: str, line_end: str, blank: str) -> str:
    """Return a pattern of a character behind a gap, or in it: `\\n` ends a line or is the letter."""
    behind = rf"(?:{line_end}|{blank})*+{_character(char)}"
    others, itself = (line_end.replace("nrt", letters) for letters in ("nrt".replace(char, ""), char))
    return rf"(?:{behind}|(?:{others}|{blank})*+{itself})" if char in "nrt" else behind


def _character(char: str) -> str:
    """Return a pattern of a character: itself, with any backslashes, as JSON, URL or HTML have it."""
    code = ord(char)
    hexadecimal = "".join(f"[{digit}{digit.upper()}]" for digit in f"{code:04x}")
    short = "".join(f"[{digit}{digit.upper()}]" for digit in f"{code:02x}")
    coded = rf"%{short}|&#x0*+{short};|&#0*+{code};"
    return rf"(?:\\*+(?:(?<=\\)u{hexadecimal}|(?<=\\)x{short}|{re.escape(char)})|{coded})"


def read_key(endpoint: Endpoint, environment: Mapping[str, str]) -> SecretKey:
    """Return the key of an endpoint, empty if it asks for none. Raises `MissingKeyError`."""
    if not endpoint.key_env:
        return SecretKey("")
    value = environment.get(endpoint.key_env, "").strip()
    if not value:
        raise MissingKeyError(
            f"endpoint {endpoint.name!r}: no key in the variable {endpoint.key_env}; "
            f"run `export {endpoint.key_env}=…`"
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise MissingKeyError(f"{endpoint.key_env}: the key has blanks or characters that a key cannot have")
    return SecretKey(value)


def remove_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return a text without the values of variables whose names say that they are secret.

    >>> remove_secrets("bad key: abcdefgh1", {"MY_API_KEY": "abcdefgh1", "HOME": "bad"})
    'bad key: [key removed]'
    """
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and value.isascii() and value.isprintable():
            text = SecretKey(value).removed_from(text)
    return text


# The price of tokens: by a table of the spec or an endpoint, then by published prices, else unknown.


class Prices:
    """The prices of a run, and where each came from."""

    def __init__(self, table: Table, endpoints: Mapping[str, Endpoint], *, published: bool = True) -> None:
        self._table, self._endpoints = table, endpoints
        self._is_published = published and find_spec("genai_prices") is not None
        self.sources: dict[str, str] = {}
        """By model: `endpoint`, `spec`, the version of the published prices, or `unknown`."""

    def cost(self, endpoint: str, usage: Usage) -> float | None:
        """Return what tokens cost at an endpoint; None if that is not known, never 0 for it."""
        tokens = {
            "prompt": usage.prompt_tokens,
            "cached_prompt": usage.cached_prompt_tokens,
            "image": usage.image_tokens,
            "completion": usage.completion_tokens,
            "embedding": usage.embedding_tokens,
        }
        if all(count is None for count in tokens.values()):
            return None
        configured = self._endpoints.get(endpoint)
        for source, table in (("endpoint", configured and configured.prices), ("spec", self._table)):
            cost = cost_usd(table, usage.model, tokens) if table else None
            if cost is not None:
                self.sources[usage.model] = source
                return cost
        if not self._is_published or configured is None or configured.is_local:
            self.sources.setdefault(usage.model, "unknown")
            return None
        cost = published_cost(configured.url, usage)
        self.sources[usage.model] = "unknown" if cost is None else f"genai-prices {version('genai-prices')}"
        return cost

    def as_json(self) -> dict[str, Json]:
        """Return what a manifest says of the prices: the table, and the source by model."""
        table: dict[str, Json] = {model: dict(kinds) for model, kinds in self._table.items()}
        return {"table": table, "sources": dict(self.sources)}


def published_cost(url: str, usage: Usage) -> float | None:
    """Return the cost of tokens by the installed genai-prices, None for an unknown model; fetches nothing."""
    import genai_prices

    prompt = usage.prompt_tokens or 0
    counted = genai_prices.Usage(
        input_tokens=prompt,
        cache_read_tokens=min(usage.cached_prompt_tokens or 0, prompt),
        output_tokens=usage.completion_tokens or 0,
    )
    try:
        return float(genai_prices.calc_price(counted, usage.model, provider_api_url=url).total_price)
    except LookupError:
        return None
