"""The keys of trees: which of them are fields of their own, and which fold into one field of their object."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.paths import ITEM, KEY, Step, join_path, split_path
from fieldassay.records.matching import Matching, batches
from fieldassay.records.source import Source
from fieldassay.scoring.engine.schema_inference import is_folded
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.spec.plan.renaming import apply_aliases

MOST_KEYS = 1000
"""So many different keys of an object of a tree are all fields of their own."""

FEW_DOCUMENTS = 10
"""Of more keys, those in fewer documents than this fold."""

_BATCH = 2000
Steps: TypeAlias = tuple[Step, ...]


def fold_keys(plan: Plan, read_documents: Callable[[], Iterable[Sequence[Any]]]) -> Plan:
    """Return the plan with the objects of its trees that have too many keys for a field each.

    `read_documents` yields the contents of each document, of all sides together: keys are counted over all of
    them, so that neither the order nor the partition of documents shows. It is called once for each pass:
    objects below folded keys are counted in a further one, all together.
    """
    if not _has_trees(plan.root):
        return plan
    folds: dict[Steps, frozenset[str]] = {}
    while True:
        census = _Census(folds)
        for contents in read_documents():
            census.add(plan.root, contents)
        crowded = census.find_crowded()
        if not crowded:
            break
        folds |= crowded
    return replace(plan, folds={join_path(steps): kept for steps, kept in folds.items()}) if folds else plan


def fold_keys_of_matching(plan: Plan, matching: Matching) -> Plan:
    """Return the plan with folded keys, counted over gold and all predictions."""

    def read_documents() -> Iterator[list[Any]]:
        for batch in batches(matching, _BATCH):
            for records in zip(batch.gold, *batch.predictions.values(), strict=True):
                yield [record.data for record in records if record is not None]

    return fold_keys(plan, read_documents)


def fold_keys_of_sources(plan: Plan, sources: Collection[Source]) -> Plan:
    """Return the plan with folded keys, counted over the records of all sources."""

    def read_documents() -> Iterator[list[Any]]:
        for source in sources:
            yield from ([record.data] for record in source)

    return fold_keys(plan, read_documents)


def _has_trees(node: Node) -> bool:
    below = (
        node.children if isinstance(node, ObjectNode) else (node.items,) if isinstance(node, ListNode) else ()
    )
    return isinstance(node, AnyNode) or any(map(_has_trees, below))


class _Census(Struct):
    """Counts the documents with each key, by the steps to its object."""

    folds: Mapping[Steps, frozenset[str]]
    counts: defaultdict[Steps, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, root: Node, records: Sequence[Any]) -> None:
        """Count one document: its record in gold and in all predictions."""
        seen: defaultdict[Steps, set[str]] = defaultdict(set)
        for data in records:
            self._walk(root, data, seen)
        for steps, keys in seen.items():
            self.counts[steps].update(keys)

    def find_crowded(self) -> dict[Steps, frozenset[str]]:
        """Return the objects with too many keys, and those that remain fields.

        Objects below others of them are not among them: they are not counted whole.
        """
        crowded = {steps: counts for steps, counts in self.counts.items() if len(counts) > MOST_KEYS}
        return {
            steps: frozenset(key for key, documents in counts.items() if documents >= FEW_DOCUMENTS)
            for steps, counts in crowded.items()
            if not any(steps[:end] in crowded for end in range(len(steps)))
        }

    def _walk(self, node: Node, value: Any, seen: defaultdict[Steps, set[str]]) -> None:
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

    def _tree(self, node: AnyNode, steps: Steps, value: Any, seen: defaultdict[Steps, set[str]]) -> None:
        if value.__class__ is list:
            for item in value:
                self._tree(node, (*steps, ITEM), item, seen)
        elif value.__class__ is dict:
            kept = self.folds.get(steps)
            if kept is None:
                seen[steps].update(value)
                if len(seen[steps]) > MOST_KEYS or len(self.counts[steps]) > MOST_KEYS:
                    return
            for key, inner in value.items():
                if inner.__class__ is dict or inner.__class__ is list:
                    folds = kept is not None and is_folded(node, steps, key, kept)
                    self._tree(node, (*steps, KEY if folds else key), inner, seen)
