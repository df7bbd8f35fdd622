"""Values as codes, their blocks, and how they compare."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import sha256
from itertools import compress, count
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import Kind, Outcome
from fieldassay.scoring.engine.scopes import (
    ABSENT,
    Acceptance,
    Codes,
    Ints,
    LeafPlace,
    ListPlace,
    Masks,
    ObjectPlace,
    Scope,
    find_accepted,
    leaf_content,
    list_content,
    plain_leaf,
)
from fieldassay.spec.language.model import thaw
from fieldassay.spec.plan.nodes import Leaf, ListNode
from fieldassay.values.types.column import Column, Reading

# Reading by distinct value: a leaf's raw values as codes into one column of readings.

_MOST_BITS = 10_000
"""Larger integers are written by Decimal, since str() refuses more than 4,300 digits."""


class Coded(Struct, frozen=True, eq=False):
    """The values of one leaf place.

    `gold` and `pred` index the u distinct readings in `column`, -1 without a value. `meaning` (u positions)
    is equal for two distinct raw values if and only if they mean the same. `is_opaque` marks values withheld
    from comparators: unreadable values, null as a value, other kinds of JSON. `is_container` marks objects
    and lists where a scalar is declared. `raws` are the distinct values as given.
    """

    leaf: Leaf
    gold: Codes
    pred: Codes
    raws: list[Any]
    column: Column
    meaning: Codes
    is_opaque: Masks
    is_container: Masks
    is_exact: bool
    """True if values with different meanings always score 0."""
    accepted: Acceptance | None = None
    """The values accepted beside gold, by code; a gold value with variations of its own has its own code."""
    spared: Acceptance | None = None
    """A mask of the predictions (by code) accepted at gold nodes without a value."""

    def meanings(self, side: str) -> Codes:
        """Return the meaning at each node of a side, -1 without a value."""
        codes: Codes = getattr(self, side)
        return np.where(codes >= 0, self.meaning[codes], -1) if len(self.meaning) else codes


class WrongKindValues(Struct, frozen=True, eq=False):
    """Values of another kind where a container is declared.

    Equal numbers stand for equal JSON texts, -1 for none.
    """

    gold: Codes
    pred: Codes
    texts: tuple[str, ...]
    place: ObjectPlace | ListPlace


def code_wrong_kinds(place: ObjectPlace | ListPlace) -> WrongKindValues | None:
    """Return the values of another kind at a container's place.

    None if there are none, or if other branches of a tree judge them.
    """
    if place.is_grown or not (place.gold.wrong or place.pred.wrong):
        return None
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    sides = []
    for kinds in (place.gold, place.pred):
        codes = np.full(len(kinds.codes), -1, dtype=np.intp)
        for node, value in kinds.wrong.items():
            codes[node] = numbers[odd_text(value)]
        sides.append(codes)
    return WrongKindValues(sides[0], sides[1], tuple(numbers), place)


def odd_text(value: Any) -> str:
    """Return the text to compare for a value of another kind: its trimmed text, or its JSON text."""
    return value.strip() if isinstance(value, str) else json_text(value)


def code(place: LeafPlace) -> Coded:
    """Return the place's values as codes; each distinct raw value is read once."""
    leaf = place.node
    values = (
        [only_item(value) for value in place.gold + place.pred]
        if leaf.takes_only_item
        else place.gold + place.pred
    )
    raws, codes, kinds = _distinct(values, leaf, place.is_grown and leaf.null_is_value and not leaf.is_list)
    raws, codes = _without_empty(raws, codes, leaf, kinds)
    column, is_container = _read(raws, leaf, kinds)
    hollow = leaf.find_empty(column)
    if hollow is not None and hollow.any():
        filled, codes = _without(hollow, codes)
        raws, column, is_container = (
            [raws[at] for at in filled.tolist()],
            column.take(filled),
            is_container[filled],
        )
    is_opaque = is_container.copy()
    is_opaque[list(column.problems)] = True
    meaning = _meanings(raws, column, is_opaque)
    accepted = spared = None
    n = len(place.gold)
    noted = [
        node
        for node in place.accepted
        if codes[node] >= 0 and not (place.is_grown and is_container[codes[node]])
    ]
    amended = [node for node in place.amended if codes[node] >= 0 and node not in noted]
    if place.accepted or leaf.accepted:
        accepted, spared = _accepted(place, (raws, column, is_container), noted, codes[amended].tolist())
    if noted or amended:  # each has a code of its own
        own, count_of_raws = [*noted, *amended], len(raws)
        each = np.append(np.arange(count_of_raws), codes[own])
        codes = codes.copy()
        codes[own] = count_of_raws + np.arange(len(own))
        raws = [raws[at] for at in each.tolist()]
        column = column.take(each)
        meaning, is_opaque, is_container = meaning[each], is_opaque[each], is_container[each]
        flags = dict(column.flags)
        for node in amended:
            at = int(codes[node])
            raws[at], flags[at] = place.amended[node], (*flags.get(at, ()), "accepted_variation")
        column = replace(column, flags=flags)
    return Coded(
        leaf,
        codes[:n],
        codes[n:],
        raws,
        column,
        meaning,
        is_opaque,
        is_container,
        leaf.comparator.is_exact_on(column),
        accepted,
        spared,
    )


def only_item(value: Any) -> Any:
    """Return the only value of a list of one; anything else unchanged.

    >>> only_item(["Lima"]), only_item(["Lima", "Quito"]), only_item([["Lima"]])
    ('Lima', ['Lima', 'Quito'], [['Lima']])
    """
    return (
        value[0]
        if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict | list)
        else value
    )


def _accepted(
    place: LeafPlace, read_values: tuple[list[Any], Column, Masks], noted: list[int], amended: list[int]
) -> tuple[Acceptance, Acceptance | None]:
    """Return the values accepted beside gold's values, and where gold has none.

    Gold values with variations of their own come after all known ones, then the amended predictions, given
    by the codes of what they are equal to.
    """
    raws, column, is_container = read_values
    leaf, plain = place.node, plain_leaf(place.node)
    texts = [
        leaf_content(leaf, raw, place.is_grown) if odd else list_content(leaf, text)
        for raw, text, odd in zip(raws, column.canonical, is_container, strict=True)
    ]
    as_given = texts if plain is leaf else [leaf_content(plain, raw, place.is_grown) for raw in raws]
    own = {
        node: [leaf_content(plain, value, place.is_grown) for value in values]
        for node, values in place.accepted.items()
    }
    everywhere = frozenset(leaf_content(leaf, thaw(value), place.is_grown) for value in leaf.accepted)
    texts, as_given = (
        [*listed, *["\0"] * len(noted), *(listed[code] for code in amended)] for listed in (texts, as_given)
    )
    every = find_accepted(np.ones(len(texts), dtype=bool), texts, {}, everywhere)
    each = find_accepted(
        every.gold[:-1],
        as_given,
        {len(raws) + at: own[node] for at, node in enumerate(noted)},
        frozenset(),
    )
    beside = replace(every, pairs=each.pairs, lacking=every.lacking | each.lacking)
    silent = {node: listed for node, listed in own.items() if node not in noted}
    if not silent:
        return beside, None
    return beside, find_accepted(np.zeros(len(place.gold), dtype=bool), as_given, silent, frozenset())


def _distinct(
    values: list[Any], leaf: Leaf, keeps_hollow: bool = False
) -> tuple[list[Any], Codes, set[type]]:
    """Return the distinct values, the code of each value, and the types of the distinct values.

    The code is -1 for None, ABSENT and, unless kept, empty containers.
    """
    nothing = {type(None), ABSENT.__class__}
    kinds = set(map(type, values))
    some = kinds - nothing
    is_null_value = leaf.null_is_value and type(None) in kinds
    if len(some) > 1 or not some <= {str, int, float, bool} or is_null_value or leaf.is_empty_if_other:
        order, codes = _numbered([_key(value, leaf, keeps_hollow) for value in values])
        raws = [values[at] for at in order.values()]
        return raws, codes, set(map(type, raws))
    numbered = _distinct_floats(values) if kinds <= {float, type(None)} else None
    if numbered is None:
        order, codes = _numbered(values)
        numbered = list(order), codes
    return *numbered, some


def _numbered(keys: list[Any]) -> tuple[dict[Any, int], Codes]:
    """Return the position of the first of each key, and the number of each key in the order of these.

    None and ABSENT have the number -1.
    """
    order: dict[Any, int] = {None: -1, ABSENT: -1}
    first = np.fromiter(map(order.setdefault, keys, count()), dtype=np.intp, count=len(keys))
    del order[None], order[ABSENT]
    numbers = np.full(len(first) + 1, -1)
    np.cumsum(first == np.arange(len(first)), out=numbers[:-1])
    numbers[:-1] -= 1
    return order, numbers[first]


def _distinct_floats(values: list[Any]) -> tuple[list[Any], Codes] | None:
    """Return the same for floats and None; None for floats that need their texts.

    These are non-finite floats and the negative zero.
    """
    floats = np.array(values, dtype=np.float64)
    is_none = np.isnan(floats)
    if (
        any(values[at] is not None for at in np.flatnonzero(is_none).tolist())
        or np.isinf(floats).any()
        or (np.signbit(floats) & (floats == 0)).any()
    ):
        return None
    distinct, inverse = np.unique(floats[~is_none], return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[~is_none] = inverse
    return distinct.tolist(), codes


def _key(value: Any, leaf: Leaf, keeps_hollow: bool) -> tuple[str, Any] | None:
    if (
        value is ABSENT
        or (value is None and not leaf.null_is_value)
        or (leaf.is_empty_if_other and not isinstance(value, list))
    ):
        return None
    if isinstance(value, (dict, list)):
        return ("json", json_text(value)) if keeps_hollow or not _is_hollow(value, leaf) else None
    return (value.__class__.__name__, value)


def _is_hollow(value: Any, leaf: Leaf) -> bool:
    """Return whether a container holds only empty values."""
    if isinstance(value, dict):
        return all(_is_hollow(member, leaf) for member in value.values())
    if isinstance(value, list):
        return all(_is_hollow(member, leaf) for member in value)
    return value is None or (isinstance(value, str) and leaf.is_empty(value))


def json_text(value: Any) -> str:
    """Return the value as JSON text, keys in their order.

    Values outside JSON (NaN, Infinity, other types) are plain text.
    """
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return str(Decimal(value))
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return make_printable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
    except (TypeError, ValueError, RecursionError):
        return repr(value) if isinstance(value, (str, dict, list)) else str(value)


def _says_nothing(text: str, leaf: Leaf) -> bool:
    """Return whether a text is empty; a text of several items is empty if each of them is."""
    if leaf.is_empty(text) or not leaf.is_list or leaf.separator is None:
        return leaf.is_empty(text)
    return all(map(leaf.is_empty, text.split(leaf.separator)))


def _without_empty(raws: list[Any], codes: Codes, leaf: Leaf, kinds: set[type]) -> tuple[list[Any], Codes]:
    if (
        leaf.blank_is_value
        or str not in kinds
        or (
            kinds == {str}
            and not leaf.null_values
            and leaf.separator is None
            and all(raws)
            and True not in map(str.isspace, raws)
            and ("".join(raws).isascii() or True not in map(leaf.is_empty, raws))
        )
    ):
        return raws, codes
    empty = [index for index, raw in enumerate(raws) if raw.__class__ is str and _says_nothing(raw, leaf)]
    if not empty:
        return raws, codes
    is_empty = np.zeros(len(raws), dtype=bool)
    is_empty[empty] = True
    filled, codes = _without(is_empty, codes)
    return [raws[at] for at in filled.tolist()], codes


def _without(empty: Masks, codes: Codes) -> tuple[Codes, Codes]:
    """Return the positions of the non-empty distinct values, and the codes renumbered (-1: empty)."""
    keep = np.append(~empty, False)
    renumbered = np.where(keep, np.cumsum(keep) - 1, -1)  # the last one: code -1 stays -1
    return np.flatnonzero(keep), renumbered[codes]


def _read(raws: list[Any], leaf: Leaf, kinds: set[type]) -> tuple[Column, Masks]:
    if kinds <= {str, int, float, bool} or (leaf.is_list and dict not in kinds and type(None) not in kinds):
        return leaf.reader.read_column(raws), np.zeros(len(raws), dtype=bool)
    native = [index for index, raw in enumerate(raws) if not _is_foreign(raw, leaf)]
    column = leaf.reader.read_column([raws[index] for index in native])
    merged = [_foreign(raw) for raw in raws]
    for position, index in enumerate(native):
        merged[index] = column.reading(position)
    is_container = np.fromiter(
        (isinstance(raw, (dict, list)) and _is_foreign(raw, leaf) for raw in raws),
        dtype=bool,
        count=len(raws),
    )
    return Column.of(merged), is_container


def _is_foreign(raw: Any, leaf: Leaf) -> bool:
    if isinstance(raw, list):
        return not leaf.is_list
    return not isinstance(raw, (str, int, float, bool))


def _foreign(raw: Any) -> Reading:
    """Return the reading of a value withheld from the leaf's reader."""
    text = "null" if raw is None else json_text(raw)
    word = (
        "null"
        if raw is None
        else "an object"
        if isinstance(raw, dict)
        else "a list"
        if isinstance(raw, list)
        else type(raw).__name__
    )
    return Reading(text, None, text, problem=f"is {word}")


def _meanings(raws: list[Any], column: Column, is_opaque: Masks) -> Codes:
    """Return the meaning of each distinct value: the position of the first that means the same."""
    meaning = np.arange(len(raws))
    if column.write is not None:  # floats, which mean the same only if they are equal
        return meaning
    keys: list[Any] = column.meanings()
    if is_opaque.any():
        keys = [
            ("opaque", key) if is_no_value else key for key, is_no_value in zip(keys, is_opaque, strict=True)
        ]
    # Texts that are read as they are differ from each other.
    others = {key for key, raw in zip(keys, raws, strict=True) if key is not raw}
    at = list(compress(range(len(keys)), map(others.__contains__, keys))) if others else []
    first: dict[Any, int] = {}
    meaning[at] = [first.setdefault(keys[position], position) for position in at]
    return meaning


ContentKeys = Callable[[Codes], list[Any]]
_LONGEST_KEY = 1_000
"""The sort keys of nodes."""


class CodedScope(Struct, eq=False):
    """A scope after reading.

    It holds the coded leaves and lists in the scope's order, the values of another kind, and the values under
    each node.
    """

    scope: Scope
    leaves: list[Coded]
    lists: "list[CodedList]"
    odd: list[WrongKindValues]
    gold_leaves: npt.NDArray[np.int64]
    pred_leaves: npt.NDArray[np.int64]


class CodedList(Struct, eq=False):
    """A list place after reading, with the scope of its items."""

    place: ListPlace
    items: CodedScope
    gold_active: Masks
    pred_active: Masks


def _texts_at(coded: Coded, codes: Codes) -> list[Any]:
    """Return the canonical texts of codes, empty for -1."""
    texts = np.full(len(codes), "", dtype=object)
    texts[codes >= 0] = coded.column.take(codes[codes >= 0]).canonical
    return texts.tolist()


def _short(text: str) -> str:
    """Return a text, with a digest for the end of a long one: each list around it escapes it again."""
    cut = _LONGEST_KEY
    return (
        text if len(text) <= cut else text[:cut] + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    )


def content_keys(scope: CodedScope, side: str, wanted: Callable[[Leaf | ListNode], bool]) -> ContentKeys:
    """Return a function from nodes to sort keys of their content in the wanted fields, alike in any batch."""
    leaves = [coded for coded in scope.leaves if wanted(coded.leaf)]
    lists_of = [
        (inner, content_keys(inner.items, side, bool)) for inner in scope.lists if wanted(inner.place.node)
    ]

    def list_keys(nodes: Codes) -> list[Any]:
        columns: list[list[Any]] = [_texts_at(coded, getattr(coded, side)[nodes]) for coded in leaves]
        for odd in scope.odd:
            columns.append([odd.texts[code] if code >= 0 else "" for code in getattr(odd, side)[nodes]])
        for inner, inner_keys in lists_of:  # the items of a node are in a row
            parent = getattr(inner.place.items, side).parent
            starts, stops = (np.searchsorted(parent, nodes, end).tolist() for end in ("left", "right"))
            ordered = list if inner.place.node.aligner.uses_order else sorted
            columns.append(
                [_short(repr(ordered(inner_keys(items)))) for items in map(np.arange, starts, stops)]
            )
        return [list(texts) for texts in zip(*columns, strict=True)] if columns else [[]] * len(nodes)

    return list_keys


# Blocks of evidence: the rows of one field over one scope's pairs, before assembly.

Nodes = npt.NDArray[np.intp]


class Pairs(Struct, frozen=True, eq=False):
    """The p resolved pairs of a scope: nodes of both sides, -1 for a missing one, with their document.

    `is_hidden` marks pairs without rows of their own, because a node above them was judged as a whole;
    `is_under` marks pairs below a container whose prediction has another kind of JSON. None: no pair.
    """

    scope: Scope
    gold: Nodes
    pred: Nodes
    doc: Ints
    is_hidden: Masks | None = None
    is_under: Masks | None = None
    prefix: "Prefix | None" = None
    is_lone: Masks | None = None
    """A mask of the pairs in a list, or below a container, that only one side has. None: no pair."""
    is_excused: Masks | None = None
    """A mask of the pairs below a prediction accepted in place of gold's. None: no pair."""

    def __len__(self) -> int:
        return len(self.gold)

    def take(self, at: npt.NDArray[Any]) -> "Pairs":
        """Return the pairs at the positions."""
        hidden = None if self.is_hidden is None else self.is_hidden[at]
        under = None if self.is_under is None else self.is_under[at]
        lone = None if self.is_lone is None else self.is_lone[at]
        excused = None if self.is_excused is None else self.is_excused[at]
        return Pairs(
            self.scope, self.gold[at], self.pred[at], self.doc[at], hidden, under, self.prefix, lone, excused
        )


class Prefix(Struct, frozen=True, eq=False):
    """The start of the paths of a scope's nodes: the scope above, the list's path and that of its items."""

    above: "Prefix | None"
    scope: Scope
    path: str
    items: str


class Block(Struct, frozen=True, eq=False):
    """n rows of one field.

    `gold_code` and `pred_code` index the coded values (-1: none); `reason` indexes the batch's reasons. Rows
    of containers have no codes: the values to be shown are in `gold_raws` and `pred_raws` by row.
    """

    field: int
    kind: Kind
    pairs: Pairs
    outcome: npt.NDArray[np.int8]
    score: npt.NDArray[np.float64]
    reason: Ints
    flags: npt.NDArray[np.int64]
    coded: Coded | None = None
    gold_code: Codes | None = None
    pred_code: Codes | None = None
    extras: Mapping[str, npt.NDArray[np.float64]] = default(default_factory=dict)
    gold_raws: Mapping[int, Any] = default(default_factory=dict)
    pred_raws: Mapping[int, Any] = default(default_factory=dict)
    critical: Masks | None = None
    """A mask of the critical rows; None: as the field."""

    def __len__(self) -> int:
        return len(self.outcome)

    def take(self, at: npt.NDArray[Any], field: int) -> "Block":
        """Return the rows at the positions, as rows of a field."""
        place = (
            {int(row): position for position, row in enumerate(at.tolist())}
            if self.gold_raws or self.pred_raws
            else {}
        )
        return replace(
            self,
            field=field,
            pairs=self.pairs.take(at),
            outcome=self.outcome[at],
            score=self.score[at],
            reason=self.reason[at],
            flags=self.flags[at],
            gold_code=None if self.gold_code is None else self.gold_code[at],
            pred_code=None if self.pred_code is None else self.pred_code[at],
            extras={name: values[at] for name, values in self.extras.items()},
            gold_raws={place[row]: raw for row, raw in self.gold_raws.items() if row in place},
            pred_raws={place[row]: raw for row, raw in self.pred_raws.items() if row in place},
            critical=None if self.critical is None else self.critical[at],
        )


def present_rows(block: Block, side: str) -> Masks:
    """Return which rows have a node on one side."""
    codes: Codes | None = getattr(block, f"{side}_code")
    if codes is not None:
        return codes >= 0
    has_node: Masks = getattr(block.pairs, side) >= 0
    lacks = (Outcome.SPURIOUS, Outcome.ABSENT) if side == "gold" else (Outcome.MISSING, Outcome.ABSENT)
    return has_node & ~np.isin(block.outcome, lacks)


def relative_path(path: str, prefix: Prefix | None) -> str:
    """Return the part of a field path below its scope's items."""
    return make_printable(path if prefix is None else path.removeprefix(prefix.items))


class Reasons(Struct, eq=False):
    """The reason names of a batch, by position, in order of first use."""

    names: list[str] = default(default_factory=list)
    known: dict[str, int] = default(default_factory=dict)
    listed: dict[tuple[str, ...], Ints] = default(default_factory=dict)

    def position(self, name: str) -> int:
        """Return the position of the reason."""
        if name not in self.known:
            self.known[name] = len(self.names)
            self.names.append(name)
        return self.known[name]

    def positions(self, names: tuple[str, ...]) -> Ints:
        """Return the positions of the reasons."""
        if names not in self.listed:
            self.listed[names] = np.array([self.position(name) for name in names], dtype=np.int32)
        return self.listed[names]


# Comparison of codes: pairs with equal meanings are settled, all others compared in one call.

ACCEPTED, TOO_LONG = -1, -2
"""Reason codes of the engine: the prediction is an accepted value; the two values are too long to compare."""


class Compared(Struct, frozen=True, eq=False):
    """Similarities of pairs of codes.

    `reason` indexes the comparator's reasons (0 equal, 1 different), or is ACCEPTED or TOO_LONG.
    """

    score: npt.NDArray[np.float64]
    reason: npt.NDArray[np.int16]
    extras: Mapping[str, npt.NDArray[np.float64]]


def compare_codes(coded: Coded, gold: Codes, pred: Codes) -> Compared:
    """Return the similarities of the readings `gold[i]` and `pred[i]` (codes, all present).

    Values withheld from comparators (unreadable ones and the like) are equal if they mean the same, else
    different.
    """
    comparator = coded.leaf.comparator
    equal = coded.meaning[gold] == coded.meaning[pred]
    score = equal.astype(np.float64)
    reason = (~equal).astype(np.int16)
    extras = {name: score.copy() for name in comparator.extra_names}
    if not coded.is_exact:
        open_pairs = ~(coded.is_opaque[gold] | coded.is_opaque[pred])
        if comparator.skips_equal:
            open_pairs &= ~equal
        at = open_pairs.nonzero()[0]
        if len(at):
            _compare_open(coded, (gold, pred, at), (score, reason, extras))
    if coded.accepted is not None:
        accepted = coded.accepted.of(gold, pred) & (score < 1.0)
        score[accepted], reason[accepted] = 1.0, ACCEPTED
        for values in extras.values():
            values[accepted] = 1.0
    return Compared(score, reason, extras)


def _compare_open(
    coded: Coded,
    pairs: tuple[Codes, Codes, npt.NDArray[np.intp]],
    into: tuple[npt.NDArray[np.float64], npt.NDArray[np.int16], dict[str, npt.NDArray[np.float64]]],
) -> None:
    """Compare the pairs at the given positions, each distinct pair once if that is cheaper."""
    comparator = coded.leaf.comparator
    gold, pred, at = pairs
    score, reason, extras = into
    codes = np.stack([gold[at], pred[at]])
    spread: Any = slice(None)
    if comparator.is_expensive:
        codes, spread = distinct_pairs(codes, len(coded.meaning))
    scores = comparator.compare_at(coded.column, codes[0], codes[1])
    field_scores = scores.score[spread]
    reason[at] = scores.reason[spread]
    if not comparator.can_fail:
        too_long = np.isnan(field_scores)
        field_scores, reason[at[too_long]] = np.where(too_long, 0.0, field_scores), TOO_LONG
    score[at] = field_scores
    for name, values in scores.extras.items():
        worth = values[spread] if comparator.can_fail else np.nan_to_num(values[spread], nan=0.0)
        extras.setdefault(name, np.full(len(gold), np.nan))[at] = worth


def distinct_pairs(codes: Codes, size: int) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return the distinct columns of a 2 x n array of codes below `size`, and the index of each column."""
    if codes.shape[1] == 1:
        return codes, np.zeros(1, dtype=np.intp)
    keys, inverse = np.unique(codes[0].astype(np.int64) * size + codes[1], return_inverse=True)
    return np.stack([keys // size, keys % size]), inverse
