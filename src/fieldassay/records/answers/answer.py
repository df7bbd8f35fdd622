"""Raw answers to records: the JSON in a text, and which of several objects is the record."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Json
from fieldassay.records.answers.mend import (
    FENCE,
    MAX_LENGTH,
    Span,
    find_enclosing,
    find_spans,
    mend_json,
    rewrite,
)
from fieldassay.records.record import TOO_DEEP, Row, decode_json, is_too_deep
from fieldassay.spec.language.names import fold_key
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode

# The number of an object's values that a spec's fields can read. It tells the record from templates, scores
# and remarks with the same keys.

MOST_READ = 200
"""Values of one list that are looked at."""

LONGEST_VALUE = 200
"""Longer texts are never placeholders."""

_TAKES_SCORES = frozenset({"any", "boolean", "duration", "integer", "list", "money", "number", "quantity"})
"""Types with values that may be a number between 0 and 1, or true and false."""

_WORD = (
    r"(?:an? |the |your )?(?:extracted |actual |field )?"
    r"(?:amount|array|bool|boolean|date|datetime|decimal|float|int|integer|list"
    r"|name|none|null|number|object|str|string|text|value)(?: here)?"
)
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|\{\{[^{}]*\}\}|\[[^\[\]]*\]|[\s.…_?*x-]+|placeholder|to "
    r"?do|tbd|y{2,4}[-/.]mm[-/.]dd"
    rf"|{_WORD}(?: ?(?:\||or|/|,) ?{_WORD})*",
    re.IGNORECASE,
)


def count_readable(value: Json, fields: ObjectNode | None, wrap: str | None = None) -> int:
    """Return the number of fields with a value in the object readable by their types, without placeholders.

    The fields of objects in it count like its own; a list counts as one value, if most of its items do. A
    top-level list is treated as the value of the key `wrap`. A number between 0 and 1 is no text: it is a
    score.
    """
    if fields is None:
        return 0
    if isinstance(value, list) and wrap is not None:
        value = {wrap: value}
    if not isinstance(value, dict):
        return 0
    count = 0
    for child, names in fields.keyed():
        member = (
            value
            if not child.path
            else next((value[name] for name in names if value.get(name) is not None), None)
        )
        count += (
            count_readable(member, child) if isinstance(child, ObjectNode) else _is_readable(member, child)
        )
    return count


def _is_readable(value: Json, node: Node) -> bool:
    """Return whether a value is there and most of it can be read."""
    judged = list(islice(_read_all(value, node), MOST_READ))
    return 2 * sum(judged) > len(judged)


def _read_all(value: Any, node: Node | None) -> Iterator[bool]:
    """Yield for each single value whether it can be read; empty ones are passed over."""
    if isinstance(value, list):
        items = node.items if isinstance(node, ListNode) else node
        for item in value:
            yield from _read_all(item, items)
    elif isinstance(value, dict):
        children = (
            dict.fromkeys(value, node.items)
            if isinstance(node, ListNode) and node.is_map
            else {child.name: child for child in node.children}
            if isinstance(node, ObjectNode)
            else {}
        )
        for key, member in value.items():
            yield from _read_all(member, children.get(key))
    elif value is not None and not (isinstance(value, str) and not value.strip()):
        yield _is_value(value, node)


def _is_value(value: str | float | bool, node: Node | None) -> bool:
    node = node.items if isinstance(node, ListNode) else node  # one value in place of a list
    if isinstance(value, str) and _is_placeholder(value, node):
        return False
    if not isinstance(node, Leaf):
        return not isinstance(node, ListNode | ObjectNode)
    if not isinstance(value, str) and 0 <= value <= 1 and node.type not in _TAKES_SCORES:
        return False
    return node.is_list or node.reader.read(value).value is not None


def _is_placeholder(text: str, node: Node | None) -> bool:
    if len(text) > LONGEST_VALUE:
        return False
    text = text.strip()
    if isinstance(node, Leaf) and text.casefold() in node.null_values:
        return True
    is_name = node is not None and "_".join(text.casefold().split()) == node.name.casefold() != ""
    return is_name or _PLACEHOLDER.fullmatch(text) is not None


# Records inside tool calls and other objects with which some models answer.

WRAPPERS = (
    "tool_calls", "tool_call", "function_call", "function", "arguments", "parameters", "input", "args",
    "action_input", "tool_input",
)  # fmt: skip
"""Keys of a tool call whose value is the tool's arguments, or another such object."""

DEEPEST = 6

APART = ("fields_apart",)
"""The record's note on an answer with fields of the record in another object too."""


def count_declared(value: Json, declared: frozenset[str], wrap: str | None = None) -> int:
    """Return the number of declared keys at an object's top, or of a list put under the key `wrap`.

    >>> count_declared({"total": 5, "note": "x"}, frozenset({"total", "shop"}))
    1
    """
    if isinstance(value, dict):
        return len(declared & value.keys())
    return int(isinstance(value, list) and wrap is not None and wrap in declared)


def are_apart(best: Json, others: Iterable[Json], declared: frozenset[str]) -> bool:
    """Return whether another object has declared keys, and none of those of the best one, which has some.

    >>> are_apart({"shop": "Oak"}, [{"total": 5}], frozenset({"shop", "total"}))
    True
    """
    keys = declared & best.keys() if isinstance(best, dict) else frozenset()
    if not keys or keys == declared:
        return False
    return any(
        isinstance(other, dict) and count_declared(other, declared) > 0 and keys.isdisjoint(other)
        for other in others
    )


def find_wrapped(value: Json, declared: frozenset[str], depth: int = 3) -> dict[str, Json]:
    """Return the objects with declared keys in an object without any, by their paths; texts are read.

    Case and separators of keys do not count.

    >>> find_wrapped({"status": "ok", "result": {"data": {"Total": 5}}}, frozenset({"total"}))
    {'result.data': {'Total': 5}}
    """
    if not isinstance(value, dict) or not depth or _has_keys(value, declared):
        return {}
    wrapped: dict[str, Json] = {}
    for key, member in value.items():
        if isinstance(member, str) and member.lstrip().startswith("{"):
            member = decode_json(member.encode("utf-8", "replace")).value
        if isinstance(member, dict) and _has_keys(member, declared):
            wrapped[key] = member
        else:
            wrapped |= {
                f"{key}.{at}": inner for at, inner in find_wrapped(member, declared, depth - 1).items()
            }
    return wrapped


def _has_keys(value: dict[str, Json], declared: frozenset[str]) -> bool:
    return not declared.isdisjoint(value) or not _folded(declared).isdisjoint(map(fold_key, value))


@lru_cache(maxsize=16)
def _folded(declared: frozenset[str]) -> frozenset[str]:
    return frozenset(map(fold_key, declared))


def unwrap(
    value: Json, declared: frozenset[str], fields: ObjectNode | None = None
) -> tuple[Json, tuple[str, ...]]:
    """Return the record in a tool call, or the only object with declared keys in an object without any.

    >>> unwrap({"output": {"total": 5}}, frozenset({"total"}))
    ({'total': 5}, ('wrapped',))
    >>> unwrap({"first": {"total": 5}, "second": {"total": 6}}, frozenset({"total"}))[1]
    ('several_wrapped',)
    """
    inner, repairs = unwrap_call(value, declared, fields)
    is_tree = fields is not None and any(not child.path for child in fields.children)
    if repairs or is_tree or not declared:
        return inner, repairs
    wrapped = find_wrapped(value, declared)
    if len(wrapped) > 1:
        return value, ("several_wrapped",)
    return next(((record, ("wrapped",)) for record in wrapped.values()), (value, ()))


def unwrap_call(
    value: Json, declared: frozenset[str], fields: ObjectNode | None = None
) -> tuple[Json, tuple[str, ...]]:
    """Return the record in a tool call and the names of the steps to it; otherwise the value, and no steps.

    The record is the object under one of `WRAPPERS` (also as JSON text) with most of the declared keys, if it
    has more of them than the call; of equals the one with most values readable by the types of `fields`, then
    the last.

    >>> unwrap_call({"name": "extract", "arguments": '{"total": 5}'}, frozenset({"total"}))
    ({'total': 5}, ('tool_call',))
    >>> unwrap_call([{"total": 5}, {"total": 6}], frozenset({"total"}))
    ({'total': 6}, ('list_item', 'several_blocks'))
    """
    best, most = value, count_declared(value, declared)
    records: list[Json] = []
    for inner in _inner(value, declared, 0):
        count = count_declared(inner, declared)
        if count and not any(count_declared(other, declared) for other in _inner(inner, declared, 1)):
            records.append(inner)
        is_tied = count == most and best is not value
        if count > most or (
            is_tied and count and count_readable(inner, fields) >= count_readable(best, fields)
        ):
            best, most = inner, count
    if best is value:
        return value, ()
    several = ("several_blocks",) if len(records) > 1 else ()
    step = "tool_call"
    if isinstance(value, list) and any(best is item for item in value):
        step = "list_of_one" if len(value) == 1 else "list_item"
    return best, (step, *several, *(APART if are_apart(best, records, declared) else ()))


def _inner(value: Any, declared: frozenset[str], depth: int) -> Iterable[Json]:
    """Yield the objects under the keys of wrappers, at any depth, in order."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        members: list[Any] = value[:100]
    elif isinstance(value, dict):
        members = [value[key] for key in WRAPPERS if key in value and key not in declared]
    else:
        return
    for member in members:
        if isinstance(member, str) and member.lstrip()[:1] in ("{", "["):
            member = decode_json(member.encode("utf-8", "replace")).value
        if isinstance(member, dict):
            yield member
        yield from _inner(member, declared, depth + 1)


# Raw answers of language models: the JSON in them, and everything that had to be done to read it.

_WORDS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_MARK = re.compile(
    rf"""(?P<open><(?:seed:|antml:)?(?:{_WORDS})>|\[THINK\]|◁think▷|<unused94>(?:thought\b)?"""
    r"""|<\|channel\|>\s?analysis\b"""
    r"""|<\|begin_of_thought\|>|<\|(?:START_THINKING|THINK_START)\|>)"""
    rf"""|(?P<close></(?:seed:|antml:)?(?:{_WORDS})>|\[/THINK\]|◁/think▷|<unused95>|<\|channel\|>\s?final\b"""
    r"""|<\|end_of_thought\|>|<\|(?:END_THINKING|THINK_END)\|>)"""
    r"""|(?P<end><\|end\|>)""",
    re.IGNORECASE,
)
_UNMARKED = re.compile(r"analysis(?=[A-Z\s]).*?assistantfinal", re.DOTALL)
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_KEY_BEFORE = re.compile(r"""["'”＂*;]\s*+[:：]\s*+(?:\\n\s*+)*+(?:\[\s*+)?$""")
_DISGUISED = re.compile("｛|&quot;|&#34;")
"""Punctuation that is part of a word by the rules of mending."""
MAX_MARKS = 1_000


class Thought(Struct, frozen=True):
    """A raw answer without its thoughts (`body`), and the text after a mark without a closing one."""

    body: str
    was_there: bool = False
    unclosed: str = ""


def split_thoughts(text: str) -> Thought:
    """Return the text without the spans between the marks of thoughts.

    A closing mark alone ends a thought that began with the text. Marks within valid JSON, or in the middle of
    a line of a JSON text, are none.

    >>> split_thoughts('<think>{"a": 0}?</think>{"a": 1}').body
    '{"a": 1}'
    >>> split_thoughts('<think>so {"a": 1}')
    Thought(body='', was_there=True, unclosed='so {"a": 1}')
    """
    unmarked = _UNMARKED.match(text)
    if unmarked is not None:
        return Thought(text[unmarked.end() :], True)
    pieces: list[str] = []
    position, opened = 0, -1
    last_bracket = max(text.rfind("{"), text.rfind("["))
    for mark in _marks(text):
        if mark["open"]:
            if opened < 0:
                pieces.append(text[position : mark.start()])
                opened = mark.end()
        elif opened >= 0:
            opened, position = -1, mark.end()
        elif mark["close"] and mark.end() <= last_bracket:
            pieces, position = [], mark.end()
    pieces.append("" if opened >= 0 else text[position:])
    return Thought(
        "\n".join(filter(None, pieces)), opened >= 0 or position > 0, text[opened:] if opened >= 0 else ""
    )


def _marks(text: str) -> list[re.Match[str]]:
    marks = [mark for mark, _ in zip(_MARK.finditer(text), range(MAX_MARKS), strict=False)]
    if not marks:
        return []
    spans = [span for span in find_spans(text) if not span.is_inner]
    places = [(span.start, span.end) for span in spans if span.is_valid] + _texts(text, spans)
    return [mark for mark in marks if not any(start < mark.start() < end for start, end in places)]


def _texts(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return the places of texts with a mark in the middle of a line of broken JSON."""
    places = []
    for span in spans:
        for match in _TEXT.finditer(text, span.start, span.end) if not span.is_valid else ():
            mark = _MARK.search(match[0])
            if mark is not None and "\n" not in match[0][max(0, mark.start() - 1) : mark.end() + 1]:
                places.append(match.span())
    return places


MAX_REPAIR = 20_000
"""Most characters of one answer given to json_repair, whose time can grow with the square of the length."""

MOST_KEPT = 500
"""Most characters kept of a raw answer that was repaired or could not be read."""

MAX_MENDED = 8
"""Broken pieces of one answer that are mended at most: the last ones."""

REPAIRED = ("repaired",)
KINDS = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
_NOTHING = frozenset[str]()


class Answer(Struct, frozen=True):
    """The content of a raw answer.

    `data` is None when there is a `problem`; `repairs` are the short names of the repairs, in order, each
    once. `start` is the beginning of the raw answer, where one was read.
    """

    data: dict[str, Json] | None
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    start: str = ""


class _Wanted(Struct, frozen=True):
    """The keys that tell the record: `declared` may stand at its top, a list is put under `wrap`."""

    declared: frozenset[str]
    wrap: str | None
    may_mend: bool = True
    fields: ObjectNode | None = None


class _Block(Struct, frozen=True):
    """A piece of an answer that was read, and how many declared keys it has."""

    span: Span
    row: Row
    record: Json
    """The value, or the record in the call of a tool that it is."""
    declared: int

    @property
    def is_cut(self) -> bool:
        """Return whether the answer ends within it."""
        return not self.span.is_closed


def parse_answer(
    text: str,
    *,
    wrap: str | None = None,
    may_mend: bool = True,
    declared: frozenset[str] = _NOTHING,
    fields: ObjectNode | None = None,
) -> Answer:
    r"""Return the JSON object in a raw answer.

    The whole text as it is, if it is JSON. Otherwise thoughts are set aside, and of all objects in fences and
    in prose the one with most `declared` keys is the answer, of equals the one with most values readable by
    the types of `fields`, then the last; an object cut off by the end of the answer counts before the
    complete ones, if it has a declared key and does not just repeat one of them. If `may_mend`, broken text
    is mended first, by rules that keep every value, then by json_repair. The call of a tool gives way to the
    record in it. A top-level list is put under the key `wrap`, or is no answer. Nothing is ever evaluated,
    and the time is bounded.

    >>> answer = parse_answer('Here it is:\n```json\n{"total": 67,571,}\n```')
    >>> answer.data, answer.repairs
    ({'total': '67,571'}, ('prose_around', 'code_fence', 'thousands_separator', 'trailing_comma'))
    >>> parse_answer("I cannot read this page.").problem
    "no JSON in the answer: 'I cannot read this page.'"
    """
    wanted = _Wanted(declared, wrap, may_mend, fields)
    stripped = text.strip("\ufeff\0 \t\r\n")
    if not stripped:
        return Answer(None, problem="empty answer")
    row = decode_json(stripped.encode("utf-8", "replace"))
    if row.problem is None:
        return _settle_whole(row, wanted)
    if row.problem == TOO_DEEP:
        return Answer(None, problem=TOO_DEEP)
    thought = split_thoughts(stripped)
    body_row = _find(thought.body, wanted)
    if body_row.problem is not None and thought.unclosed:
        within = _find(thought.unclosed, wanted)
        if within.problem is None:
            return shape(
                _unwrapped(replace(within, repairs=("inside_thinking", *within.repairs)), wanted), wrap
            )
    repairs = (
        ("thinking", *body_row.repairs)
        if thought.was_there and body_row.problem is None
        else body_row.repairs
    )
    return shape(_unwrapped(replace(body_row, repairs=repairs), wanted), wrap)


def read_given(
    value: Json,
    *,
    wrap: str | None = None,
    declared: frozenset[str] = _NOTHING,
    fields: ObjectNode | None = None,
) -> Answer:
    """Return the JSON object in an answer given as JSON instead of text, by the rules of `parse_answer`.

    >>> read_given({"name": "extract", "arguments": {"total": 5}}, declared=frozenset({"total"})).data
    {'total': 5}
    """
    return shape(_unwrapped(Row(value), _Wanted(declared, wrap, fields=fields)), wrap)


def shape(row: Row, wrap: str | None) -> Answer:
    """Return the row as an answer: an object unchanged, a list under the key `wrap`, the rest a problem."""
    value = row.value
    repairs = tuple(dict.fromkeys(row.repairs))
    if row.problem is not None:
        return Answer(None, repairs, row.problem)
    if isinstance(value, dict):
        return Answer(value, repairs)
    if value is None:
        return Answer(None, repairs, "null answer")
    if isinstance(value, list) and wrap is not None:
        return Answer({wrap: value}, (*repairs, "array_wrapped"))
    return Answer(None, repairs, f"top level is {KINDS[type(value)]}, expected an object")


def _settle_whole(row: Row, wanted: _Wanted) -> Answer:
    if not isinstance(row.value, str):
        return shape(_unwrapped(row, wanted), wanted.wrap)
    if not re.search(r"[{\[]", row.value):
        return Answer(None, problem=_no_json(row.value))
    inner = parse_answer(
        row.value, wrap=wanted.wrap, may_mend=wanted.may_mend, declared=wanted.declared, fields=wanted.fields
    )
    return Answer(inner.data, ("double_encoded", *inner.repairs), inner.problem)


def _unwrapped(row: Row, wanted: _Wanted) -> Row:
    value, repairs = unwrap(row.value, wanted.declared, wanted.fields)
    return Row(value, (*row.repairs, *repairs), row.problem) if repairs else row


class _Pick(Struct, frozen=True):
    """The answer picked among the pieces of a text, or a row with a problem."""

    row: Row
    declared: int = 0
    enclosing: str | None = None
    """The text of a braced piece around it that could not be read."""
    is_member: bool = False
    """True if it stands behind a key of that piece."""

    def is_sound(self, wanted: _Wanted) -> bool:
        """Return whether nothing about it is a guess."""
        has_keys = self.declared > 0 or not wanted.declared
        is_clean = self.row.problem is None and REPAIRED[0] not in self.row.repairs
        return is_clean and has_keys and self.enclosing is None

    def settle(self) -> Row:
        """Return the row; one out of a piece that could not be read is a repair, or no answer."""
        if self.enclosing is None:
            return self.row
        if self.is_member or self.row.problem is not None or not isinstance(self.row.value, dict):
            return Row(None, problem=f"the JSON in the answer is broken: {_opening(self.enclosing)}")
        return replace(self.row, repairs=(*self.row.repairs, *REPAIRED))


def _find(text: str, wanted: _Wanted) -> Row:
    """Return the answer among the pieces of a text that look like JSON, or a row with a problem.

    Where it is none for certain, the text is read again without the disguises of its punctuation, and then
    from any brace on.
    """
    pick = _pick(text, find_spans(text), wanted)
    is_certain = pick.is_sound(wanted) and not _DISGUISED.search(text)
    if is_certain or not wanted.may_mend or len(text) > MAX_LENGTH:
        return pick.settle()
    is_readable = pick.row.problem is None and pick.enclosing is None
    rewritten, names = rewrite(text)
    for any_brace in (False, True) if names else (True,):
        again = _pick(rewritten, find_spans(rewritten, any_brace=any_brace), wanted)
        if again.is_sound(wanted) and again.declared >= pick.declared:
            return replace(again.row, repairs=(*names, *again.row.repairs))
        if not is_readable and again.declared > 0 and again.enclosing is None and again.row.problem is None:
            return replace(again.row, repairs=(*names, *again.row.repairs))
    return pick.settle()


def _pick(text: str, spans: Sequence[Span], wanted: _Wanted) -> _Pick:
    blocks, problem = _read(text, spans, wanted)
    best = _choose(blocks, wanted)
    if best is None or (not wanted.may_mend and _is_shorter_than_broken(best.span, spans)):
        return _Pick(Row(None, problem=problem or _no_json(text)))
    value = best.row.value
    if (
        isinstance(value, list)
        and wanted.wrap is None
        and value
        and not any(isinstance(item, dict) for item in value)
    ):
        return _Pick(
            Row(None, problem=_no_json(text))
        )  # a bracketed reference such as [12] in prose is no answer
    outer = [block for block in blocks if block.span.rank == 3 and not block.span.is_inner]
    several = ("several_blocks",) if len(outer) > 1 else ()
    apart = APART if are_apart(best.record, (block.record for block in outer), wanted.declared) else ()
    row = Row(value, (*_around(text, best.span, spans), *several, *apart, *best.row.repairs))
    is_member = _KEY_BEFORE.search(text[max(0, best.span.start - 40) : best.span.start]) is not None
    return _Pick(row, best.declared, find_enclosing(text, best.span), is_member)


def _read(text: str, spans: Sequence[Span], wanted: _Wanted) -> tuple[list[_Block], str | None]:
    """Return the readable pieces in order, and the problem of the last unreadable one."""
    top = max((span.rank for span in spans), default=0)
    broken = [span for span in spans if not span.is_valid and span.rank == top][-MAX_MENDED:]
    blocks: list[_Block] = []
    problem, room = None, MAX_REPAIR
    for span in reversed(spans):
        if span.is_valid:
            row = decode_json(text[span.start : span.end].encode("utf-8", "replace"))
        elif span in broken:
            row = _mend(text[span.start : span.end], wanted.may_mend, 0 if span.is_inner else room)
            if row.repairs == REPAIRED and not span.is_closed:
                row = Row(row.value, (*REPAIRED, "truncated"))
            length = span.end - span.start
            room -= (
                length
                if length <= room and not span.is_inner and (row.problem or row.repairs[:1] == REPAIRED)
                else 0
            )
        else:
            continue
        if row.problem is None:
            inner = unwrap(row.value, wanted.declared, wanted.fields)[0]
            blocks.append(_Block(span, row, inner, count_declared(inner, wanted.declared, wanted.wrap)))
        problem = problem or (None if span.is_inner else row.problem)
    return blocks[::-1], problem


def _choose(blocks: Sequence[_Block], wanted: _Wanted) -> _Block | None:
    """Return the best of several pieces: by declared keys, content, values of the right types, then the last.

    An inner one counts only if it has more declared keys.
    """
    best: _Block | None = None
    outer: _Block | None = None
    for block in blocks:
        if block.span.is_inner and outer is not None and block.declared <= outer.declared:
            continue
        outer = outer if block.span.is_inner else block
        if best is None or _is_better(block, best, wanted):
            best = block
    if (
        best is not None
        and outer is not None
        and outer.is_cut
        and best.span.end <= outer.span.start
        and not best.is_cut
    ):
        has_answer = outer.declared > 0 or (best.declared == 0 and bool(outer.row.value))
        if has_answer and not _repeats(outer.row.value, best.row.value):
            return outer
    return best


def _is_better(later: _Block, best: _Block, wanted: _Wanted) -> bool:
    """Return whether a piece is rather the answer than the best of those before it."""
    later_rank, best_rank = (later.declared, later.span.rank), (best.declared, best.span.rank)
    if later_rank != best_rank or not later.declared:
        return later_rank >= best_rank
    return count_readable(later.record, wanted.fields, wanted.wrap) >= count_readable(
        best.record, wanted.fields, wanted.wrap
    )


def _repeats(cut: Json, whole: Json) -> bool:
    """Return whether all content of an object that was cut off is also in a complete one."""
    if isinstance(cut, dict) and isinstance(whole, dict):
        return all(key in whole and _repeats(value, whole[key]) for key, value in cut.items())
    if isinstance(cut, list) and isinstance(whole, list):
        return len(cut) <= len(whole) and all(map(_repeats, cut, whole))
    return cut == whole or (isinstance(cut, str) and isinstance(whole, str) and whole.startswith(cut))


def _is_shorter_than_broken(best: Span, spans: Sequence[Span]) -> bool:
    """Return whether a broken object beside a valid one is longer, so that the intended one is uncertain."""
    return any(
        not span.is_valid and span.rank == 3 and span.end - span.start > best.end - best.start
        for span in spans
    )


_FENCED = re.compile(rf"{FENCE}.*?(?:{FENCE}|\Z)", re.DOTALL)


def _around(text: str, best: Span, spans: Sequence[Span]) -> tuple[str, ...]:
    """Return the names of the text taken off around a piece: prose, a code fence, or both.

    The last fence may be open. Marks within JSON are none.
    """
    outside, at = "", 0
    for span in spans if not best.is_inner else (best,):
        if not span.is_inner or span is best:
            outside += text[at : span.start].replace("\0", "") + ("\0" if span is best else "{}")
            at = span.end
    bare = _FENCED.sub("", outside + text[at:])
    if "\0" in bare:
        return ("prose_around",) if text[: best.start].strip() or text[best.end :].strip() else ()
    return ("prose_around", "code_fence") if bare.strip() else ("code_fence",)


def _mend(piece: str, may_mend: bool, room: int) -> Row:
    """Return the content of a broken piece; `room` is the number of characters left for json_repair."""
    if not may_mend:
        return Row(None, problem=f"the JSON in the answer is broken: {_opening(piece)}")
    return (mend_json(piece) if len(piece) <= MAX_LENGTH else None) or _repair(piece, room)


def _repair(piece: str, room: int) -> Row:
    end = piece.rfind("}" if piece[0] == "{" else "]")
    is_open = end <= 0
    piece = piece if is_open else piece[: end + 1]
    if len(piece) > room:
        return Row(
            None,
            problem=f"the JSON in the answer is broken and too long to repair ({len(piece):,} characters)",
        )
    import json_repair

    try:
        value = json_repair.loads(piece, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, KeyError, AttributeError):
        value = None
    if not isinstance(value, dict | list) or not value or is_too_deep(value):
        return Row(None, problem=f"the JSON in the answer is broken: {_opening(piece)}")
    return Row(_without_last(value) if is_open else value, REPAIRED)


def _without_last(value: Any) -> Any:
    """Return an object or a list without the value at its end, of inner ones without the item at theirs."""
    if isinstance(value, list):
        return value[:-1]
    *others, (key, last) = value.items()
    inner = _without_last(last) if isinstance(last, dict | list) and last else None
    return dict([*others, (key, inner)] if inner else others)


def _no_json(text: str) -> str:
    return f"no JSON in the answer: {_opening(text)}"


def _opening(text: str) -> str:
    shown = " ".join(text[:200].split())
    return ascii(shown[:80]) if not shown.isprintable() else repr(shown[:80])


# Records one level down in their rows: the key above them.

LONGEST_ANSWER = 100_000
"""Longer texts are not looked into."""


def find_misplaced(
    rows: Iterable[Any], declared: frozenset[str], passed_over: Collection[str] = ()
) -> str | None:
    """Return the key under which rows have most of the declared keys, and more than at their top, or None.

    The value under the key is an object or JSON text.

    >>> find_misplaced([{"total": 5, "result": {"shop": "Oak", "total": 5}}], frozenset({"shop", "total"}))
    'result'
    >>> find_misplaced([{"output": '{"shop": "Oak", "total": 5}'}], frozenset({"shop", "total"}))
    'output'
    """
    wanted = declared - {""}
    for row in rows:
        if not isinstance(row, dict):
            continue
        least = max(len(wanted) // 2, len(wanted & row.keys()))
        for key, value in row.items():
            if (
                key not in wanted
                and key not in passed_over
                and any(len(wanted & keys) > least for keys in _keys(value, wanted))
            ):
                return str(key)
    return None


def _keys(value: Any, wanted: frozenset[str]) -> Iterator[set[str]]:
    """Yield the keys of an object, or of the one that a text holds."""
    if isinstance(value, str) and "{" in value and len(value) <= LONGEST_ANSWER:
        value = parse_answer(value, declared=wanted).data
    if isinstance(value, dict):
        yield set(value)
