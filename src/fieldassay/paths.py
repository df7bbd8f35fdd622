"""Paths in a record: `lines[3].amount` is one value, `lines[].amount` a field, `**.*_unit` a pattern.

The field of the values of a map is `rates.*`: a pattern of its values, such as `rates.EUR`.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

Step: TypeAlias = str | int
"""A key, the index of an item, or `ITEM` for every item."""

ITEM: Final = -1
"""The step written `[]`: any item of a list."""


class AnyKey(str):
    """The step written `*`: any key of a map. A key that is a star itself is quoted."""

    __slots__ = ()


KEY: Final = AnyKey("*")

_INDEX = re.compile(r"\[[0-9]+\]", re.ASCII)
_TOKEN = re.compile(
    r'(?P<dot>\.)|\[(?P<index>[0-9]{0,18})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]|(?P<key>[^.\[\]"]+)',
    re.ASCII | re.DOTALL,
)
_NEEDS_QUOTES = re.compile(r'[.\[\]"\x00-\x1f\x7f]|^\s|\s$|^\*?$')


def split_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path; the empty text is the record itself.

    Raises ValueError for an invalid path.

    >>> split_path('lines[3].amount'), split_path('lines[]["odd.key"]')
    (('lines', 3, 'amount'), ('lines', -1, 'odd.key'))
    """
    return tuple(step for step, _ in _tokens(text))


def join_path(steps: Iterable[Step]) -> str:
    """Return the text of a path; `split_path` returns the same steps.

    Keys that a plain path cannot hold are quoted.

    >>> join_path(["lines", 3, "amount"]), join_path(["a", "odd.key", ITEM])
    ('lines[3].amount', 'a["odd.key"][]')
    """
    parts: list[str] = []
    for step in steps:
        if isinstance(step, int):
            parts.append("[]" if step == ITEM else f"[{step}]")
        elif not isinstance(step, AnyKey) and _NEEDS_QUOTES.search(step):
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
        else:
            parts.append(f".{step}" if parts else step)
    return "".join(parts)


def value_at(data: Any, path: str | Iterable[Step], missing: Any = None) -> Any:
    """Return the value at a concrete path of plain data, `missing` if there is none.

    >>> value_at({"a": {"b": [1, 2]}}, "a.b[1]"), value_at({"a": [1]}, ("a", 1), "none")
    (2, 'none')
    """
    for step in split_path(path) if isinstance(path, str) else path:
        keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if step not in keys:
            return missing
        data = data[step]
    return data


def leaves_of(value: Any, at: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield each value of a tree that holds no other, with its steps: null, empty lists and objects too.

    >>> list(leaves_of({"a": [1, None, {"b": "x"}], "c": {}}))
    [(('a', 0), 1), (('a', 1), None), (('a', 2, 'b'), 'x'), (('c',), {})]
    """
    if isinstance(value, dict | list) and (value or not at):
        members: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in members:
            yield from leaves_of(inner, (*at, step))
    else:
        yield at, value


def plain_path(text: str) -> str:
    """Return a path as written by `join_path`, whatever its quoting; an invalid path unchanged.

    >>> plain_path('["flow"].value'), plain_path("a..b")
    ('flow.value', 'a..b')
    """
    try:
        return join_path(split_path(text))
    except ValueError:
        return text


def describe_place(gold: str | None, pred: str | None) -> str:
    """Return the place of a value: its path in gold, and that in the prediction where it differs.

    A path alone is gold's; a prediction's index follows the arrow.

    >>> describe_place("lines[1]", "lines[0]"), describe_place("total", "total")
    ('lines[1] ↔ lines[0]', 'total')
    >>> describe_place(None, "lines[0]"), describe_place("lines[0]", None), describe_place(None, "total")
    ('— ↔ lines[0]', 'lines[0]', 'total')
    """
    if pred is None or gold == pred or (gold is None and not _INDEX.search(pred)):
        return gold or pred or ""
    return f"{gold or '—'} ↔ {pred}"


def is_within(path: str, above: str) -> bool:
    """Return whether a path is another one, or below it; the empty path is the whole record.

    >>> is_within("rates.EUR", "rates"), is_within("rates", "rates"), is_within("ratesheet", "rates")
    (True, True, False)
    """
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))


def is_item_path(path: str) -> bool:
    """Return whether a field is that of the items of a list, or of the values of a map.

    >>> [is_item_path(path) for path in ("codes[]", "rates.*", "rates", 'odd["*"]')]
    [True, True, False, False]
    """
    return path.endswith(("[]", ".*")) or path == KEY


def field_of(path: str, maps: Collection[str] = ()) -> str:
    """Return the field of a concrete path; `maps` are the fields of the values of maps.

    >>> field_of("lines[3].amount"), field_of("rates.EUR[0]", {"rates.*"})
    ('lines[].amount', 'rates.*[]')
    """
    if maps:
        steps: list[Step] = []
        for step in split_path(path):
            any_key = isinstance(step, str) and join_path([*steps, KEY]) in maps
            steps.append(ITEM if isinstance(step, int) else KEY if any_key else step)
        return join_path(steps)
    if "[" not in path:
        return path
    if '"' not in path:
        return _INDEX.sub("[]", path)
    return join_path(ITEM if isinstance(step, int) else step for step in split_path(path))


def _tokens(text: str) -> list[tuple[Step, bool]]:
    """Return the steps of a text, each with a mark for quoted ones."""
    steps: list[tuple[Step, bool]] = []
    position, after_dot = 0, False
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or not _continues(token, bool(steps), after_dot):
            raise ValueError(f"not a path: {text[:80]!r}, at character {position + 1}")
        position, after_dot = token.end(), token["dot"] is not None
        if not after_dot:
            steps.append(_step(token))
    if after_dot:
        raise ValueError(f"not a path: {text[:80]!r} ends with a dot")
    return steps


def _continues(token: re.Match[str], has_steps: bool, after_dot: bool) -> bool:
    if token["dot"]:
        return has_steps and not after_dot
    if token["key"]:
        return after_dot or not has_steps
    return not after_dot


def _step(token: re.Match[str]) -> tuple[Step, bool]:
    if token["key"]:
        return (KEY if token["key"] == KEY else token["key"]), False
    if token["quoted"]:
        try:
            return str(json.loads(token["quoted"], strict=False)), True
        except json.JSONDecodeError as error:
            raise ValueError(f"not a quoted key: {token['quoted'][:80]} ({error.msg})") from error
    return (int(token["index"]) if token["index"] else ITEM), False


Part: TypeAlias = str | int | tuple[str, ...] | None
"""A literal key, an index or `ITEM`, the pieces between the stars of a glob, or None for `**`."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of field paths.

    `*` stands for any characters of one key, `**` for any number of steps (including none), `[]` for any
    item. Raises ValueError for an invalid path. Matching takes at most (steps of the pattern) x (steps of the
    path).

    >>> [Pattern("**.*_unit").matches(path) for path in ("flow_unit", "pumps[].head_unit", "pumps[].unit")]
    [True, True, False]
    """

    text: str
    parts: tuple[Part, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(_part(step, quoted) for step, quoted in _tokens(self.text)))

    def matches(self, path: str) -> bool:
        """Return whether the whole path (of a field or a value) matches the pattern."""
        return self.matches_steps(split_path(path))

    def matches_steps(self, steps: Sequence[Step]) -> bool:
        """Return whether the steps of a whole path match the pattern."""
        at, position, star, restart = 0, 0, -1, 0
        while position < len(steps):
            if at < len(self.parts) and self.parts[at] is None:
                star, restart, at = at, position, at + 1
            elif at < len(self.parts) and _fits(self.parts[at], steps[position]):
                at, position = at + 1, position + 1
            elif star >= 0:
                # Only the last `**` needs to take one more step: an earlier one gains nothing.
                restart, at = restart + 1, star + 1
                position = restart
            else:
                return False
        return all(part is None for part in self.parts[at:])

    def find(self, data: Any) -> Iterator[tuple[tuple[Step, ...], Any]]:
        """Yield each matching place of parsed JSON as steps, with its value, once and in document order.

        >>> list(Pattern("**.unit").find({"unit": "K", "flow": {"unit": "m3/h"}}))
        [(('unit',), 'K'), (('flow', 'unit'), 'm3/h')]
        """
        end = len(self.parts)
        open_places: list[tuple[tuple[Step, ...], Any, frozenset[int]]] = [
            ((), data, _reached(self.parts, {0}))
        ]
        while open_places:
            steps, value, reached = open_places.pop()
            if end in reached:
                yield steps, value
            children = [
                ((*steps, step), inner, below)
                for step, inner in self._members(value, reached)
                if (below := _after(self.parts, reached, step))
                and (end in below or isinstance(inner, dict | list))
            ]
            open_places.extend(reversed(children))

    def _members(self, value: Any, reached: frozenset[int]) -> Iterable[tuple[Step, Any]]:
        """Return the members of a container that may match: all, or the one of a plain key."""
        if not isinstance(value, dict):
            return enumerate(value) if isinstance(value, list) else ()
        at = next(iter(reached)) if len(reached) == 1 else len(self.parts)
        key = self.parts[at] if at < len(self.parts) else None
        return value.items() if not isinstance(key, str) else [(key, value[key])] if key in value else ()


@lru_cache(maxsize=4096)
def _after(parts: tuple[Part, ...], reached: frozenset[int], step: Step) -> frozenset[int]:
    """Return the parts of a pattern that may follow one more step."""
    after = {
        at if parts[at] is None else at + 1
        for at in reached
        if at < len(parts) and (parts[at] is None or _fits(parts[at], step))
    }
    return _reached(parts, after) if after else frozenset()


def _reached(parts: tuple[Part, ...], after: set[int]) -> frozenset[int]:
    """Return the positions, and those after every `**` among them, which may stand for no step."""
    for at in sorted(after):
        while at < len(parts) and parts[at] is None:
            at += 1
            after.add(at)
    return frozenset(after)


def _part(step: Step, quoted: bool) -> Part:
    if isinstance(step, int) or quoted or "*" not in step:
        return step
    return None if step == "**" else tuple(step.split("*"))


def _fits(part: Part, step: Step) -> bool:
    if isinstance(part, int):
        return isinstance(step, int) and (part in (ITEM, step))
    if isinstance(step, int) or part is None:
        return False
    return part == step if isinstance(part, str) else _fits_glob(part, step)


@lru_cache(maxsize=4096)
def _fits_glob(pieces: tuple[str, ...], key: str) -> bool:
    first, *middle, last = pieces
    end = len(key) - len(last)
    if end < len(first) or not key.startswith(first) or not key.endswith(last):
        return False
    start = len(first)
    for piece in middle:
        place = key.find(piece, start, end)
        if place < 0:
            return False
        start = place + len(piece)
    return True


def is_unit_key(path: str) -> bool:
    """Return whether the last key of a path names a unit: `unit`, or a name that ends in `_unit`.

    >>> [is_unit_key(path) for path in ("flow.unit", "lines[].price_unit", "units", "unit[]")]
    [True, True, False, False]
    """
    last = split_path(path)[-1] if path else ""
    return isinstance(last, str) and (last == "unit" or last.endswith("_unit"))
