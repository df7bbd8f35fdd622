"""The keys of trees: which of them are fields of their own, and which fold into one field of their object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.paths import ITEM, KEY, Step, join_path, split_path
from fieldassay.records.matching import Matching, batches
from fieldassay.scoring.engine.schema_inference import digest_key, is_folded
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.spec.plan.renaming import apply_aliases

MOST_KEYS = 1000
"""So many different keys of an object of a tree are all fields of their own."""

FEW_DOCUMENTS = 10
"""Of more keys, those in fewer documents than this fold."""

_BATCH = 2000
_PENDING = 1 << 20
Steps: TypeAlias = tuple[Step, ...]
Kept: TypeAlias = frozenset[int]


def fold_keys(plan: Plan, matching: Matching) -> Plan:
    """Return the plan with the objects of its trees that have too many keys for a field each.

    Keys are counted over gold and all predictions, so that neither the order nor the partition of documents
    shows. Objects below folded keys are counted in a further pass, all together.
    """
    if not _has_trees(plan.root):
        return plan
    folds: dict[Steps, Kept] = {}
    while True:
        census = _Census(folds)
        for batch in batches(matching, _BATCH):
            sides = (batch.gold, *batch.predictions.values())
            for records in zip(*sides, strict=True):
                census.add(plan.root, [record.data for record in records if record is not None])
            census.settle()
        crowded = census.find_crowded()
        if not crowded:
            break
        folds |= crowded
    return replace(plan, folds={join_path(steps): kept for steps, kept in folds.items()}) if folds else plan


def _has_trees(node: Node) -> bool:
    below = (
        node.children if isinstance(node, ObjectNode) else (node.items,) if isinstance(node, ListNode) else ()
    )
    return isinstance(node, AnyNode) or any(map(_has_trees, below))


class _Counts(Struct):
    """In how many documents each key of an object is, by the key's digest."""

    digests: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    documents: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    pending: list[Counter[str]] = field(default_factory=list)

    def add(self, counts: Counter[str]) -> None:
        self.pending.append(counts)
        if sum(map(len, self.pending)) > max(_PENDING, len(self.digests)):
            self.settle()

    def settle(self) -> None:
        """Add up what is pending."""
        sizes = [len(counts) for counts in self.pending]
        keys = (digest_key(key) for counts in self.pending for key in counts)
        own = np.fromiter(keys, np.uint64, sum(sizes))
        given = np.fromiter(
            (each for counts in self.pending for each in counts.values()), np.int64, sum(sizes)
        )
        self.digests, places = np.unique(np.concatenate([self.digests, own]), return_inverse=True)
        weights = np.concatenate([self.documents, given])
        self.documents = np.bincount(places, weights=weights, minlength=len(self.digests)).astype(np.int64)
        self.pending = []


class _Census(Struct):
    """Counts the documents with each key, by the steps to its object."""

    folds: Mapping[Steps, Kept]
    few: dict[Steps, Counter[str]] = field(default_factory=dict)
    many: dict[Steps, _Counts] = field(default_factory=dict)

    def add(self, root: Node, records: Sequence[Any]) -> None:
        """Count one document: its record in gold and in all predictions."""
        seen: dict[Steps, set[str]] = {}
        for data in records:
            self._walk(root, data, seen)
        for steps, keys in seen.items():
            self.few.setdefault(steps, Counter()).update(keys)

    def settle(self) -> None:
        """Take the objects with many keys apart, whose keys are held as digests."""
        crowded = [
            steps for steps, counts in self.few.items() if steps in self.many or len(counts) > MOST_KEYS
        ]
        for steps in crowded:
            self.many.setdefault(steps, _Counts()).add(self.few.pop(steps))

    def find_crowded(self) -> dict[Steps, Kept]:
        """Return the objects with too many keys, and the digests of those that remain fields.

        Objects below others of them are not among them: they are not counted whole.
        """
        found = {}
        for steps, counts in self.many.items():
            if not any(steps[:end] in self.many for end in range(len(steps))):
                counts.settle()
                found[steps] = frozenset(counts.digests[counts.documents >= FEW_DOCUMENTS].tolist())
        return found

    def _walk(self, node: Node, value: Any, seen: dict[Steps, set[str]]) -> None:
        if isinstance(node, AnyNode):
            self._tree(node, split_path(node.path), value, seen)
        elif isinstance(node, ObjectNode) and isinstance(value, dict):
            value = apply_aliases(value, node.other_names) if node.other_names else value
            for child in node.children:
                self._walk(child, value.get(child.name) if child.path else value, seen)
        elif isinstance(node, ListNode) and not isinstance(node.items, Leaf):
            own = dict if node.is_map else list
            held: Any = value if isinstance(value, own) else own()
            for item in held.values() if node.is_map else held:
                self._walk(node.items, item, seen)

    def _tree(self, node: AnyNode, steps: Steps, value: Any, seen: dict[Steps, set[str]]) -> None:
        if value.__class__ is list:
            for item in value:
                self._tree(node, (*steps, ITEM), item, seen)
        elif value.__class__ is dict:
            kept = self.folds.get(steps)
            if kept is None:
                keys = seen.setdefault(steps, set())
                keys.update(value)
                if steps in self.many or len(keys) > MOST_KEYS:
                    return
            for key, inner in value.items():
                if inner.__class__ is dict or inner.__class__ is list:
                    folds = kept is not None and is_folded(node, steps, key, kept)
                    self._tree(node, (*steps, KEY if folds else key), inner, seen)
