"""The key of an endpoint: read from the environment or a private file, and removed from all output."""

from __future__ import annotations

import base64
import hashlib
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from fieldassay.errors import FieldassayError
from fieldassay.extraction.endpoints.endpoint import Endpoint
from fieldassay.io.json_value import Json
from fieldassay.regex import lazy_regex

REMOVED = "[key removed]"
_SECRET_NAME = lazy_regex(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.I)
_MASK = lazy_regex(r"(?:[*•·●…]|\.{3,}|[xX#_]{4,}|\[[^\]\s]{1,20}\])+")
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
class Key:
    """A key that does not print."""

    value: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """The first characters of the key's digest: tells accounts apart without telling the key."""
        return hashlib.sha256(self.value.encode()).hexdigest()[:12] if self.value else "no key"

    @property
    def is_secret(self) -> bool:
        """Whether the key is long enough to be one."""
        return len(self.value) >= SHORTEST_SECRET

    def removed_from(self, text: str) -> str:
        """Return a text without the key, however a server spelled it.

        >>> Key("sk-canary-1234").removed_from('"no such key: sk-canary\\\\u002d1234, c2stY2FuYXJ5LTEyMzQ="')
        '"no such key: [key removed], [key removed]="'
        """
        if not self.is_secret or len(text) <= MOST_SHOWN:
            return text
        return self._without_masked(self._spellings.sub(REMOVED, text))

    def _without_masked(self, text: str) -> str:
        """Return a text without the begin and the end of the key around a mask."""
        pieces, done = [], 0
        for mask in _MASK.finditer(text):
            start, end = mask.span()
            before, after = (
                text[max(done, start - len(self.value)) : start],
                text[end : end + len(self.value)],
            )
            left = next((n for n in range(len(before), 0, -1) if self.value.startswith(before[-n:])), 0)
            right = next((n for n in range(len(after), 0, -1) if self.value.endswith(after[:n])), 0)
            if left + right >= MOST_SHOWN:
                pieces += [text[done : start - left], REMOVED]
                done = end + right
        return "".join([*pieces, text[done:]])

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
                piece = "".join(_behind_gap(one, *between) for one in part)
                plain += f"(?>{piece})" if part[0] in "nrt" and part[-1] not in "ux%&" else piece
        doubled = re.escape(quote(quote(self.value, safe=""), safe=""))
        return re.compile(
            "|".join([plain, doubled, *_base64(self.value), self.value.encode().hex()]), re.DOTALL
        )


def _behind_gap(one: str, line_end: str, blank: str) -> str:
    """Return a pattern of a character behind a gap, or in it: `\\n` ends a line or is the letter."""
    behind = rf"(?:{line_end}|{blank})*+{_character(one)}"
    others, itself = (line_end.replace("nrt", letters) for letters in ("nrt".replace(one, ""), one))
    return rf"(?:{behind}|(?:{others}|{blank})*+{itself})" if one in "nrt" else behind


def _character(one: str) -> str:
    """Return a pattern of a character: itself, with any backslashes, as JSON, URL or HTML have it."""
    code = ord(one)
    hexadecimal = "".join(f"[{digit}{digit.upper()}]" for digit in f"{code:04x}")
    short = "".join(f"[{digit}{digit.upper()}]" for digit in f"{code:02x}")
    coded = rf"%{short}|&#x0*+{short};|&#0*+{code};"
    return rf"(?:\\*+(?:(?<=\\)u{hexadecimal}|(?<=\\)x{short}|{re.escape(one)})|{coded})"


def _base64(text: str) -> list[str]:
    """Return patterns of the base64 forms of a text, without the characters that depend on its neighbors."""
    found = []
    for before in range(3):
        raw = b"\0" * before + text.encode()
        first, last = (0, 2, 3)[before], len(raw) * 8 // 6
        core = re.escape(base64.b64encode(raw).decode()[first:last])
        core = core.replace("/", "[/_]").replace(r"\+", r"[+\-]")
        found.append(core + (r"[\w+/\-]?" if len(raw) * 8 % 6 else ""))
    return found


def read_key(endpoint: Endpoint, environment: Mapping[str, str]) -> Key:
    """Return the key of an endpoint, empty if it asks for none. Raises `MissingKeyError`."""
    if endpoint.key_file:
        return Key(_read_private(Path(endpoint.key_file)))
    if not endpoint.key_env:
        return Key("")
    value = environment.get(endpoint.key_env, "").strip()
    if not value:
        raise MissingKeyError(
            f"endpoint {endpoint.name!r}: no key in the variable {endpoint.key_env}; "
            f"run `export {endpoint.key_env}=…`, or name a file with the key: `key_file`"
        )
    return Key(_checked(value, endpoint.key_env))


def remove_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return a text without the values of variables whose names say that they are secret.

    >>> remove_secrets("bad key: abcdefgh1", {"MY_API_KEY": "abcdefgh1", "HOME": "bad"})
    'bad key: [key removed]'
    """
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and value.isascii() and value.isprintable():
            text = Key(value).removed_from(text)
    return text


def _read_private(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise MissingKeyError(f"{path}: the key cannot be read ({type(error).__name__})") from None
    if stat.S_IMODE(mode) & 0o077:
        raise MissingKeyError(f"{path}: others can read the key; run `chmod 600 {path}`")
    if not text:
        raise MissingKeyError(f"{path}: no key in the file; write the key alone into it")
    return _checked(text, str(path))


def _checked(value: str, where: str) -> str:
    """Return a key that a header can carry."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise MissingKeyError(f"{where}: the key has blanks or characters that a key cannot have")
    return value
