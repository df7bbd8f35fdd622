"""Values in lists: the items of two reviewers paired by the spec's aligner, each way once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from fieldassay.metrics.evidence import Kind
from fieldassay.review.agreement.answers import ILLEGIBLE_ITEM, SKIPPED_ITEM, Answers, Labeled
from fieldassay.review.agreement.ratings import Floats, Ints
from fieldassay.review.agreement.values import ABSENT, ILLEGIBLE, compare_both_ways
from fieldassay.scoring.engine.coding import Block
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.spec.plan.nodes import Plan

_AT_ONCE = 500


class Couple(Struct, frozen=True):
    """Two sheets of one document, by the position of the document."""

    doc: int
    first: Answers
    second: Answers

    def is_complete(self, path: str) -> bool:
        """Return whether both sheets label the whole list above a field path."""
        top = path.partition("[")[0]
        return self.first.has_whole(top) and self.second.has_whole(top)

    def is_assisted(self, path: str) -> bool:
        """Return whether a reviewer saw a value in the list above a field path."""
        top = path.partition("[")[0]
        return self.first.has_seen(top) or self.second.has_seen(top)


class ItemSums(Struct, eq=False, dict=True):
    """Sums by document of one field in lists: agreeing values and all values, and those found by both.

    Of a list: twice the agreeing pairs of items, and the items of both sides. Each sum is over both ways of
    pairing.
    """

    documents: int
    sums: dict[str, Floats] = field(default_factory=dict)
    confusions: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """The documents of each pair of answers that do not agree, once for each way of pairing."""

    def add(self, name: str, docs: Ints, amounts: Floats) -> None:
        more: Floats = np.bincount(docs, weights=amounts, minlength=self.documents).astype(np.float64)
        self.sums[name] = self.sums[name] + more if name in self.sums else more

    def half(self, name: str) -> Floats:
        """Return half of a sum: its mean over both ways of pairing."""
        return self.sums.get(name, np.zeros(self.documents)) / 2.0


def couples_of(labeled: Labeled) -> list[Couple]:
    """Return every pair of sheets of a document."""
    return [
        Couple(doc, first, second)
        for doc, answers in enumerate(labeled.answers)
        for first, second in combinations(answers, 2)
    ]


class ItemField(NamedTuple):
    """A field in lists, or a list itself; apart for couples of whom one saw a value."""

    path: str
    type: str
    is_assisted: bool


def sum_items(
    plan: Plan, couples: Sequence[Couple], applies: Mapping[str, Masks], size: int
) -> dict[ItemField, ItemSums]:
    """Return the sums of each field in lists and of each list, over documents in number `size`.

    `applies` has masks over the couples.
    """
    found: dict[ItemField, ItemSums] = {}
    for start in range(0, len(couples), _AT_ONCE):
        part = couples[start : start + _AT_ONCE]
        masks = {path: mask[start : start + _AT_ONCE] for path, mask in applies.items()}
        first, second = [one.first.data for one in part], [one.second.data for one in part]
        for gold, pred, is_turned in ((first, second, False), (second, first, True)):
            judged = judge(plan, gold, pred, masks)
            _add_judged(
                judged,
                [Couple(one.doc, one.second, one.first) if is_turned else one for one in part],
                found,
                size,
            )
    return found


def _add_judged(
    judged: Judged, couples: Sequence[Couple], found: dict[ItemField, ItemSums], size: int
) -> None:
    scopes: dict[tuple[int, bool], tuple[str, list[Rows]]] = {}
    for block in judged.blocks:
        if block.kind != Kind.VALUE or block.coded is None or block.pairs.prefix is None:
            continue
        leaf = block.coded.leaf
        for is_assisted in (False, True):
            rows = _judge_rows(block, couples, is_assisted)
            if rows is None:
                continue
            key = ItemField(leaf.path, leaf.type, is_assisted)
            _add_values(rows, found.setdefault(key, ItemSums(size)))
            name = (id(block.pairs.scope), is_assisted)
            scopes.setdefault(name, (block.pairs.prefix.path, []))[1].append(rows)
    for (_, is_assisted), (path, parts) in scopes.items():
        _add_items(parts, found.setdefault(ItemField(path, "list", is_assisted), ItemSums(size)))


class Rows(NamedTuple):
    """The rows of a field in lists: nodes of both sides, document, and whether the two sides agree."""

    first: Ints
    second: Ints
    doc: Ints
    has_first: Masks
    has_second: Masks
    is_agreed: Masks
    texts: tuple[list[str], list[str]]


def _judge_rows(block: Block, couples: Sequence[Couple], is_assisted: bool) -> Rows | None:
    """Return the rows of a block in lists that both label as a whole, without skipped values.

    They are those of couples of whom one saw a value, or those of all others.
    """
    coded, first, second = block.coded, block.gold_code, block.pred_code
    assert coded is not None
    assert first is not None
    assert second is not None
    path = coded.leaf.path
    is_complete = np.array(
        [one.is_complete(path) and one.is_assisted(path) == is_assisted for one in couples], dtype=bool
    )
    is_skipped = np.array([raw == SKIPPED_ITEM for raw in coded.raws] + [False], dtype=bool)
    at = np.flatnonzero(is_complete[block.pairs.doc] & ~is_skipped[first] & ~is_skipped[second])
    if not len(at):
        return None
    first, second = first[at], second[at]
    both = np.flatnonzero((first >= 0) & (second >= 0))
    is_agreed = np.zeros(len(at), dtype=bool)
    is_agreed[both] = compare_both_ways(coded, first[both], second[both])[0] == 0.0
    canonical = coded.column.canonical.tolist()
    names = [
        ILLEGIBLE if raw == ILLEGIBLE_ITEM else text for raw, text in zip(coded.raws, canonical, strict=True)
    ]
    names.append(ABSENT)
    documents = np.array([one.doc for one in couples])
    return Rows(
        block.pairs.gold[at],
        block.pairs.pred[at],
        documents[block.pairs.doc[at]],
        first >= 0,
        second >= 0,
        is_agreed,
        ([names[code] for code in first.tolist()], [names[code] for code in second.tolist()]),
    )


def _add_values(rows: Rows, sums: ItemSums) -> None:
    either, both = rows.has_first | rows.has_second, rows.has_first & rows.has_second
    for name, mask in (("agreed", rows.is_agreed), ("either", either), ("both", both)):
        sums.add(name, rows.doc, mask.astype(np.float64))
    for at in np.flatnonzero(either & ~rows.is_agreed).tolist():
        pair = sorted((rows.texts[0][at], rows.texts[1][at]))
        sums.confusions.setdefault((pair[0], pair[1]), []).append(int(rows.doc[at]))


def _add_items(parts: Sequence[Rows], sums: ItemSums) -> None:
    """Add the items of a list: those with a value, and the pairs in which every value agrees."""
    first, second, doc = (
        np.concatenate([getattr(rows, name) for rows in parts]) for name in ("first", "second", "doc")
    )
    nodes = np.stack([first, second, doc])
    keys, inverse = np.unique(nodes, axis=1, return_inverse=True)
    inverse = inverse.ravel()

    def any_of(masks: Sequence[Masks]) -> Masks:
        found: Masks = np.bincount(inverse, weights=np.concatenate(masks), minlength=keys.shape[1]) > 0
        return found

    has_first, has_second = (
        any_of([rows.has_first for rows in parts]),
        any_of([rows.has_second for rows in parts]),
    )
    differs = any_of([(rows.has_first | rows.has_second) & ~rows.is_agreed for rows in parts])
    sums.add("items", keys[2], has_first.astype(np.float64) + has_second.astype(np.float64))
    sums.add("agreed_items", keys[2], 2.0 * (has_first & has_second & ~differs).astype(np.float64))
