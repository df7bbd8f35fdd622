"""Three-way merge of labels into one gold record, by path: base, theirs (gold now), ours (labels)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec import field as default

from fieldassay.paths import Step, field_of, join_path, split_path, value_at
from fieldassay.records.labels_file import Label
from fieldassay.review.promotion.literals import Number

ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS = "illegible_fields", "unreviewed_fields"
ILLEGIBLE, UNREVIEWED = "(illegible)", "(not reviewed)"


class Nothing:
    """The type of NOTHING: no value at a place."""

    def __repr__(self) -> str:
        return "(absent)"


NOTHING: Final = Nothing()

Same: TypeAlias = Callable[[str, Any, Any], bool]
"""From the path of a field and two values to whether they mean the same."""


class UnmergeableError(Exception):
    """A label that cannot be merged; its text is the reason."""


class Change(Struct, frozen=True):
    """One value of gold that a label confirms or changes; NOTHING is no value."""

    path: str
    before: Any
    after: Any
    label: Label
    is_changed: bool


class Conflict(Struct, frozen=True):
    """A place at which a label cannot be merged, and the reason."""

    path: str
    why: str


class Merged(Struct):
    """A gold record with labels merged in: `record` is new, with its illegible and unreviewed fields."""

    record: dict[str, Any]
    changes: list[Change] = default(default_factory=list)
    conflicts: list[Conflict] = default(default_factory=list)


def same_text(_path: str, one: Any, two: Any) -> bool:
    """Return whether two values are written alike, numbers and texts compared as text.

    >>> same_text("total", Number("5"), "5"), same_text("total", "5.00", "5")
    (True, False)
    """
    if isinstance(one, str) and isinstance(two, str):
        return str(one).strip() == str(two).strip()
    if isinstance(one, bool) or isinstance(two, bool):
        return bool(_text_of(one) == _text_of(two))
    return bool(type(one) is type(two) and one == two)


def _text_of(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool) else value


def merge(
    base: Mapping[str, Any], theirs: Mapping[str, Any], labels: Mapping[str, Label], same: Same = same_text
) -> Merged:
    """Return gold with labels: at each labeled place gold must be what it was, or what the label says.

    `base` is gold as it was when the labels were made, `theirs` gold now; labels that are `skipped` say
    nothing, but for one in a list that is labeled as a whole: that place is unreviewed.

    >>> found = merge({"total": "5"}, {"total": "5"}, {"total": Label("value", "6")})
    >>> found.record, found.conflicts
    ({'total': '6'}, [])
    >>> merge({"total": "5"}, {"total": "7"}, {"total": Label("value", "6")}).conflicts[0].why
    "gold was '5', is '7', and the label is '6'"
    """
    merged = Merged(json_copy(theirs))
    for path in _units(labels, (base, theirs)):
        try:
            ours = _wanted(path, labels, (theirs, base), same)
            now, old = (_Place.of(side, path) for side in (theirs, base))
            is_changed = not now.equals(ours, path, same)
            if is_changed and not now.equals(old, path, same):
                raise UnmergeableError(f"gold was {old}, is {now}, and the label is {ours}")
            if is_changed:
                ours.put(merged.record, path)
        except UnmergeableError as error:
            merged.conflicts.append(Conflict(path, str(error)))
            continue
        after = ours.told if is_changed else now.told
        merged.changes.append(Change(path, now.told, after, labels[path], is_changed))
    return merged


class _Place(Struct, frozen=True):
    """The content of a place: a value, and the illegible and the unreviewed places at it or below it."""

    value: Any
    illegible: frozenset[str] = frozenset()
    unreviewed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> _Place:
        keys = (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS)
        beside = [frozenset(filter(partial(_is_below, path), named_places(record, key))) for key in keys]
        return cls(filled_at(record, path), *beside)

    @property
    def told(self) -> Any:
        if self.value is not NOTHING:
            return self.value
        return ILLEGIBLE if self.illegible else UNREVIEWED if self.unreviewed else NOTHING

    def equals(self, other: _Place, path: str, same: Same) -> bool:
        is_beside_same = (self.illegible, self.unreviewed) == (other.illegible, other.unreviewed)
        return is_beside_same and _is_same(field_of(path), self.value, other.value, same)

    def put(self, record: dict[str, Any], path: str) -> None:
        """Write the content into a record. Raises UnmergeableError if it has no such place."""
        above = next((one for one in named_places(record, UNREVIEWED_FIELDS) if is_inside(path, one)), None)
        if above is not None:
            raise UnmergeableError(f"{UNREVIEWED_FIELDS} names {above}: name what is not reviewed in it")
        _put(record, path, self.value)
        for key, new in ((ILLEGIBLE_FIELDS, self.illegible), (UNREVIEWED_FIELDS, self.unreviewed)):
            left = {one for one in named_places(record, key) if not _is_below(path, one)} | new
            if left:
                record[key] = sorted(left)
            else:
                record.pop(key, None)

    def __str__(self) -> str:
        return shown(self.told)


def _is_below(path: str, other: str) -> bool:
    return other == path or is_inside(other, path)


def is_inside(path: str, above: str) -> bool:
    """Return whether a path is below another one."""
    return path.startswith((f"{above}.", f"{above}["))


def named_places(record: Mapping[str, Any], key: str) -> set[str]:
    """Return the places that a gold record names under a key, in a list or as a text."""
    given = record.get(key) or ()
    return {str(one).strip() for one in (given.split("|") if isinstance(given, str) else given)}


def _units(labels: Mapping[str, Label], sides: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    """Yield the places that are merged as one: values, whole lists, and containers that are not there."""
    whole: set[str] = set()
    for path, label in labels.items():
        is_container = label.state == "value" and label.text is None
        if is_container and _is_list(path, labels, sides):
            whole.add(path)
    for path, label in labels.items():
        steps = split_path(path)
        is_below = any(join_path(steps[:end]) in whole for end in range(1, len(steps)))
        if label.state == "skipped" or is_below:
            continue
        if label.state != "value" or label.text is not None or path in whole:
            yield path


def _is_list(path: str, labels: Mapping[str, Label], sides: tuple[Mapping[str, Any], ...]) -> bool:
    return any(isinstance(filled_at(side, path), list) for side in sides) or any(
        other.startswith(f"{path}[") for other in labels
    )


def _wanted(
    path: str, labels: Mapping[str, Label], sides: tuple[Mapping[str, Any], Mapping[str, Any]], same: Same
) -> _Place:
    """Return the content that a label stands for, in the JSON kind that gold has there."""
    label = labels[path]
    _check_list_length(path, sides)
    if label.state == "illegible":
        return _Place(NOTHING, frozenset([path]))
    if label.state == "absent":
        return _Place(NOTHING)
    old = next((found for side in sides if (found := filled_at(side, path)) is not NOTHING), NOTHING)
    if label.text is not None:
        return _Place(as_kind(label.text, old))
    return _whole_list(path, labels, old if isinstance(old, list) else [], same)


def _check_list_length(path: str, sides: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    steps = split_path(path)
    for at, step in enumerate(steps):
        if isinstance(step, int):
            held = [filled_at(side, join_path(steps[:at])) for side in sides]
            lengths = [len(one) if isinstance(one, list) else 0 for one in held]
            if lengths[0] != lengths[1] or step >= lengths[0]:
                raise UnmergeableError("the list has other items than when it was labeled: label it whole")


def _whole_list(path: str, labels: Mapping[str, Label], old: list[Any], same: Same) -> _Place:
    """Return the labeled items; what means the same keeps its writing, and keys that no label names stay."""
    depth = len(split_path(path))
    inside = {
        split_path(one)[depth:]: label
        for one, label in labels.items()
        if _is_below(path, one) and one != path
    }
    rank = {number: at for at, number in enumerate(sorted({_index(steps[0]) for steps in inside}))}
    items: list[Any] = [NOTHING for _ in rank]
    beside: dict[str, set[str]] = {"illegible": set(), "skipped": set()}
    for steps, label in inside.items():
        at = rank[_index(steps[0])]
        if label.state in beside:
            beside[label.state].add(join_path([*split_path(path), at, *steps[1:]]))
        elif label.state == "value" and label.text is not None:
            items[at] = _grown(items[at], steps[1:], label.text)
    named = {step for steps in inside for step in steps if isinstance(step, str)}
    extra = sorted({key for item in old if isinstance(item, dict) for key in item} - named)
    if extra and len(items) != len(old):
        raise UnmergeableError(f"items in gold have keys that no label names ({', '.join(extra)[:100]})")
    kept = [*old, *[NOTHING] * len(items)]
    like = _Likeness(named, same)
    made = [
        like.of(f"{field_of(path)}[]", {} if one is NOTHING else one, kept[at])
        for at, one in enumerate(items)
    ]
    return _Place(made or NOTHING, *map(frozenset, beside.values()))


def _index(step: Step) -> int:
    if not isinstance(step, int):
        raise UnmergeableError(f"{step!r} is no item of a list")
    return step


def _grown(tree: Any, steps: tuple[Step, ...], text: str) -> Any:
    """Return a tree with a text at a place; items are appended in the order of the labels."""
    if not steps:
        return text
    if isinstance(steps[0], int):
        items = tree if isinstance(tree, list) else []
        return [*items, _grown(NOTHING, steps[1:], text)]
    members: dict[str, Any] = tree if isinstance(tree, dict) else {}
    return {**members, steps[0]: _grown(members.get(steps[0], NOTHING), steps[1:], text)}


class _Likeness(Struct, frozen=True):
    """Writes labeled values as gold has written them, where they mean the same; keeps keys not `named`."""

    named: set[str]
    same: Same

    def of(self, path: str, new: Any, old: Any) -> Any:
        if isinstance(new, dict) and isinstance(old, dict):
            kept = {key: value for key, value in old.items() if key in new or key not in self.named}
            return {
                key: self.of(f"{path}.{key}", new[key], kept.get(key, NOTHING)) if key in new else kept[key]
                for key in {**kept, **new}
            }
        if isinstance(new, list):
            known = [*(old if isinstance(old, list) else []), *[NOTHING] * len(new)]
            return [self.of(f"{path}[]", one, known[at]) for at, one in enumerate(new)]
        if isinstance(new, str):
            typed = as_kind(new, old)
            return old if old is not NOTHING and self.same(path, old, typed) else typed
        return new


def as_kind(text: str, like: Any) -> Any:
    """Return a text as JSON of the kind that stood there before, if it can be written so; else the text.

    >>> as_kind("7", Number("5")), type(as_kind("7", Number("5"))).__name__, as_kind("n/a", Number("5"))
    ('7', 'Number', 'n/a')
    """
    if isinstance(like, Number) and _is_number(text):
        return Number(text.strip())
    if isinstance(like, bool) and text.strip() in ("true", "false"):
        return text.strip() == "true"
    if isinstance(like, list):
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return found if isinstance(found, list) else text
    return text


def _is_number(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=str), int | float) and text.strip() not in (
            "true",
            "false",
        )
    except ValueError:
        return False


def filled_at(record: Mapping[str, Any], path: str | Iterable[Step]) -> Any:
    """Return the value at a path; NOTHING where there is none, and for null and empty texts."""
    value = value_at(record, path)
    is_blank = value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})
    return NOTHING if is_blank else value


def _put(record: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a path; NOTHING removes it. Raises UnmergeableError if there is no such place."""
    *above, last = split_path(path)
    node: Any = record
    for step, following in zip(above, [*above, last][1:], strict=True):
        if isinstance(node, dict) and isinstance(step, str):
            if node.get(step) is None:
                if value is NOTHING:
                    return
                node[step] = [] if isinstance(following, int) else {}
            node = node[step]
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            raise UnmergeableError(f"gold has no such place: {join_path(above)} is no list or object")
    if isinstance(node, dict) and isinstance(last, str):
        if value is NOTHING:
            node.pop(last, None)
        else:
            node[last] = value
    elif isinstance(node, list) and isinstance(last, int) and last < len(node):
        node[last] = None if value is NOTHING else value
    else:
        raise UnmergeableError("gold has no such place")


def _is_same(path: str, one: Any, two: Any, same: Same) -> bool:
    if one is NOTHING or two is NOTHING:
        return one is two
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(
            _is_same(f"{path}[]", a, b, same) for a, b in zip(one, two, strict=True)
        )
    if isinstance(one, dict) and isinstance(two, dict):
        filled = [
            {key for key in side if filled_at(side, join_path([key])) is not NOTHING} for side in (one, two)
        ]
        return filled[0] == filled[1] and all(
            _is_same(f"{path}.{key}", one[key], two[key], same) for key in filled[0]
        )
    return same(path, one, two)


def shown(value: Any) -> str:
    """Return a value as text for a message."""
    if value is NOTHING:
        return "absent"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else repr(str(value))
    return text if len(text) <= 60 else f"{text[:59]}…"


def json_copy(value: Any) -> Any:
    """Return a copy of parsed JSON."""
    if isinstance(value, Mapping):
        return {key: json_copy(inner) for key, inner in value.items()}
    return [json_copy(inner) for inner in value] if isinstance(value, list) else value
