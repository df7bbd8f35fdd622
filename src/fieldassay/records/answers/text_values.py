"""Texts that stand in place of the lists and objects of a record."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

from fieldassay.io.json_value import Json
from fieldassay.records.answers.answer import REPAIRED, parse_answer
from fieldassay.records.answers.mend import mend_json
from fieldassay.records.answers.python_literal import read_literal
from fieldassay.records.answers.rewrite import INVISIBLE
from fieldassay.records.decode import decode_json
from fieldassay.records.record import Row
from fieldassay.regex import lazy_regex
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode

ONE_TEXT = "one_text"
"""The record's note on a text that looks like a list, and counts as one item."""

_BLANK = rf"[\s{INVISIBLE}]*+"
_IN_TAGS = rf"{_BLANK}(?:<[\w:|-]{{1,40}}>\s*+)*+"
_OPENING = lazy_regex(rf"""{_IN_TAGS}(?:```|(?:["'>+]\s*+)?(?:\\?["']\s*+|\\\s*+)?[\[{{(｛［])""")
_TAGS = lazy_regex(_IN_TAGS)
_TAGS_BEHIND = lazy_regex(r"(?:\s*</[\w:|-]{1,40}>)*\s*")
_QUOTED = lazy_regex(r"""(?:```\w*)?[^\w"'“＂]*(?:["'“＂{]|&quot;|&#34;)""")
_PYTHON = lazy_regex(r"['(]|\\x|None|nan")
_LIST_LIKE = lazy_regex(r"\s*[\[({]|[^\n;|,]*[\n;|,]")
_WRAP = "\0"
_UNCERTAIN = frozenset({"several_blocks", "fields_apart", "inside_thinking", "thinking"})
_NOT_IN_GOLD = frozenset({"truncated", *REPAIRED})


def read_container(text: str, *, is_gold: bool = False, is_prose: bool = False) -> Row | None:
    r"""Return the list or object that a text is from its first character on, or None.

    With `is_prose`, a text may stand there as well: then nothing but marks may surround the list, and its
    items are in quotation marks. Gold is not completed.

    >>> read_container("['x', 'y']"), read_container('```json\n["x",]\n```')
    (Row(value=['x', 'y'], repairs=('python_literal',)),
        Row(value=['x'], repairs=('code_fence', 'trailing_comma')))
    >>> read_container("[sic] so it is", is_prose=True) is None
    True
    """
    if not _OPENING.match(text):
        return None
    end = max(map(text.rfind, "]})`'\"］｝")) + 1
    body = _TAGS.sub("", text[:end] if _TAGS_BEHIND.fullmatch(text, end) else text, 1)
    row = decode_json(body.encode("utf-8", "replace"))
    if not isinstance(row.value, list | dict):
        row = _mended(body)
    done = set(row.repairs)
    is_firm = not is_prose or not (row.repairs and _QUOTED.match(body) is None)
    if not is_firm or done & _UNCERTAIN or (is_gold and done & _NOT_IN_GOLD) or row.value is None:
        return None
    if is_prose and done & {"prose_around", "bare_value"}:
        return None
    around = ("prose_around",) if body.strip() != text.strip() else ()
    return Row(row.value, (*around, *row.repairs))


def _mended(body: str) -> Row:
    literal = read_literal(body) if _PYTHON.search(body) else None
    if literal is not None:
        return Row(literal, ("python_literal",))
    answer = parse_answer(body, wrap=_WRAP)
    if answer.data is not None:
        is_list = answer.repairs[-1:] == ("array_wrapped",)
        return Row(answer.data[_WRAP], answer.repairs[:-1]) if is_list else Row(answer.data, answer.repairs)
    cut = mend_json(body)
    return cut if cut is not None and "truncated" in cut.repairs else Row(None)


def may_have_texts(column: Sequence[Any], node: Node) -> bool:
    """Return whether any of the values at one place has a text in place of a list or an object.

    Quick, since most have none: the values of a place are looked at together.
    """
    kinds = set(map(type, column))
    if str in kinds and (not isinstance(node, Leaf) or node.is_list):
        return True
    if isinstance(node, ListNode) and list in kinds and not isinstance(node.items, Leaf):
        lists = column if kinds == {list} else (value for value in column if value.__class__ is list)
        return may_have_texts([*chain.from_iterable(lists)], node.items)
    if isinstance(node, ListNode) and node.is_map:
        maps = (value.values() for value in column if value.__class__ is dict)
        return may_have_texts([*chain.from_iterable(maps)], node.items)
    if not isinstance(node, ObjectNode):
        return False
    objects = column if kinds == {dict} else [value for value in column if value.__class__ is dict]
    return any(
        may_have_texts(list(map(dict.get, objects, repeat(name))), child) for name, child in _containers(node)
    )


def _containers(node: ObjectNode) -> list[tuple[str, Node]]:
    """Return the lists and objects of an object, by each of their names."""
    others = dict(node.other_names)
    return [
        (name, child)
        for child in node.children
        if isinstance(child, ListNode | ObjectNode) or (isinstance(child, Leaf) and child.is_list)
        for name in (child.name, *others.get(child.name, ()))
    ]


def read_texts(value: Any, node: Node, is_gold: bool, repairs: list[str]) -> Json:
    """Return a value with lists and objects in place of the texts that hold them, and note what was done."""
    if isinstance(value, str) and (not isinstance(node, Leaf) or node.is_list):
        value = _read_text(value, node, is_gold, repairs)
    if isinstance(value, list) and isinstance(node, ListNode) and not isinstance(node.items, Leaf):
        items = [read_texts(item, node.items, is_gold, repairs) for item in value]
        return value if all(map(operator.is_, items, value)) else items
    if isinstance(value, dict) and isinstance(node, ListNode) and node.is_map:
        members = {key: read_texts(inner, node.items, is_gold, repairs) for key, inner in value.items()}
        return value if all(map(operator.is_, members.values(), value.values())) else members
    for name, child in _containers(node) if isinstance(value, dict) and isinstance(node, ObjectNode) else ():
        inner = read_texts(value.get(name), child, is_gold, repairs)
        value = value if inner is value.get(name) else {**value, name: inner}
    return value  # type: ignore[no-any-return]


def _read_text(text: str, node: Node, is_gold: bool, repairs: list[str]) -> Json:
    is_object = isinstance(node, ObjectNode) or (isinstance(node, ListNode) and node.is_map)
    is_prose = not is_object and (isinstance(node, Leaf) or isinstance(getattr(node, "items", None), Leaf))
    row = read_container(text, is_gold=is_gold, is_prose=is_prose)
    if row is None or not isinstance(row.value, dict if is_object else list if is_prose else list | dict):
        if is_prose and getattr(node, "separator", None) is None and _LIST_LIKE.match(text):
            repairs.append(ONE_TEXT)
        return text
    if not (row.repairs or isinstance(node, Leaf)) and text.lstrip()[:1] == ("{" if is_object else "["):
        return text  # the engine reads it, and flags its row
    repairs += ["json_in_text", *row.repairs]
    return row.value
