"""Lists with too many pairs of items to compare: equal items are paired first, and the rest is compared.

Where a similarity is 0 or 1, or equal keys decide, no pairing has a larger total. Elsewhere one may: an item
that has an equal can be worth more as the partner of another, and several pairings can have one total. So
lists that are short enough are never split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.scoring.engine.candidates import MOST_PAIRS, Index, Members, is_wanted
from fieldassay.scoring.engine.coding import CodedList, content_keys
from fieldassay.values.aligners.sequence import Sequence

_EQUAL = 1 - 1e-6
"""The least floor of an aligner under which only equal values can be paired."""
Part = tuple[Index, Index]
"""Gold and predicted items, of which any may be paired with any."""


class TooLong(Struct, frozen=True):
    """Two lists of document number `doc` of the batch that have too many pairs of items."""

    doc: int
    path: str
    why: str


def split_long(
    coded: CodedList, gold: Members, pred: Members, pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]]
) -> tuple[dict[int, list[Part]], list[TooLong]]:
    """Return the parts of each pair of lists with more than `MOST_PAIRS` pairs of items, by its position.

    Items of different parts are not paired. Pairs of lists that no part makes short enough have none.
    """
    found: dict[int, list[Part]] = {}
    too_long = []
    for at in np.flatnonzero(gold.size[pairs[0]] * pred.size[pairs[1]] > MOST_PAIRS).tolist():
        items = gold.under(pairs[0][at]), pred.under(pairs[1][at])
        parts = _split(coded, *items)
        found[at] = parts
        if _count(parts) > MOST_PAIRS:
            found[at] = []
            keys = ", ".join(coded.place.node.aligner.key_fields)
            left = (sum(len(part[side]) for part in parts if _count([part]) > 1) for side in (0, 1))
            why = (
                f"{len(items[0]):,} gold items and {len(items[1]):,} predicted items are too many to pair by "
                f"{keys or 'similarity'}, since {' and '.join(f'{size:,}' for size in left)} are left when "
                f"equal {'keys' if keys else 'items'} are paired first"
            )
            doc = int(coded.place.items.gold.doc[items[0][0]])
            too_long.append(TooLong(doc, coded.place.node.path, why))
    return found, too_long


def _count(parts: list[Part]) -> int:
    return sum(len(gold) * len(pred) for gold, pred in parts)


def _split(coded: CodedList, gold: Index, pred: Index) -> list[Part]:
    """Return the parts of two lists; of an aligner that may not pair equal items, both as they are."""
    aligner = coded.place.node.aligner
    if isinstance(aligner, Sequence):
        return _trimmed(coded, gold, pred)
    if not aligner.maximizes_total:
        return [(gold, pred)]
    is_sure = _pairs_only_equal(coded)
    parts = [(gold, pred)]
    if aligner.key_fields:
        parts = [*_matched(coded, gold, pred, True)] if is_sure else _equal_first(coded, gold, pred, True)
    if _count(parts) > MOST_PAIRS:
        parts = [part for long in parts for part in _equal_first(coded, *long)]
    return parts[:-1] if is_sure and not aligner.key_fields else parts


def _pairs_only_equal(coded: CodedList) -> bool:
    """Return whether only items with equal keys can be paired, or without keys only equal items."""
    node, items, floor = coded.place.node, coded.items, coded.place.node.aligner.floor
    keys = node.aligner.key_fields
    if floor is None or items.odd or any(is_wanted(inner.place.node, node, keys) for inner in items.lists):
        return False
    leaves = [
        leaf.is_exact and leaf.accepted is None and all(above.excuse is None for above in place.ancestors)
        for leaf, place in zip(items.leaves, items.scope.leaves, strict=True)
        if is_wanted(leaf.leaf, node, keys)
    ]
    return all(leaves) and (floor >= _EQUAL if keys else len(leaves) == 1)


def _equal_first(coded: CodedList, gold: Index, pred: Index, by_key: bool = False) -> list[Part]:
    """Return equal items as pairs, the first with the first, and the rest as one part.

    `by_key`: items with equal keys that stand once on either side.
    """
    pairs: list[Part] = []
    rest = [gold[:0]], [pred[:0]]
    for ours, theirs in _matched(coded, gold, pred, by_key):
        shared = min(len(ours), len(theirs)) if not by_key or len(ours) == len(theirs) == 1 else 0
        pairs += [(ours[[at]], theirs[[at]]) for at in range(shared)]
        rest[0].append(ours[shared:])
        rest[1].append(theirs[shared:])
    return [*pairs, (np.concatenate(rest[0]), np.concatenate(rest[1]))]


def _matched(coded: CodedList, gold: Index, pred: Index, by_key: bool) -> list[Part]:
    """Return the items of both sides that are equal, or have equal keys, in order; one side may have none."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for side, nodes in enumerate((gold, pred)):
        for node, content in zip(nodes.tolist(), _contents(coded, nodes, side, by_key), strict=True):
            found.setdefault(content, ([], []))[side].append(node)
    return [(np.array(ours, np.intp), np.array(theirs, np.intp)) for ours, theirs in found.values()]


def _contents(coded: CodedList, nodes: Index, side: int, by_key: bool = False) -> list[str]:
    node = coded.place.node
    keys = node.aligner.key_fields if by_key else ()
    contents = content_keys(coded.items, ("gold", "pred")[side], lambda of: is_wanted(of, node, keys))
    return list(map(repr, contents(nodes)))


def _trimmed(coded: CodedList, gold: Index, pred: Index) -> list[Part]:
    """Return equal items at the beginning and the end as pairs, and what is between as one part."""
    ours, theirs = _contents(coded, gold, 0), _contents(coded, pred, 1)
    shared = min(len(ours), len(theirs))
    first = next((at for at in range(shared) if ours[at] != theirs[at]), shared)
    last = next((at for at in range(shared - first) if ours[-1 - at] != theirs[-1 - at]), shared - first)
    pairs = [(gold[[at]], pred[[at]]) for at in (*range(first), *range(-last, 0))]
    return [*pairs, (gold[first : len(gold) - last], pred[first : len(pred) - last])]
