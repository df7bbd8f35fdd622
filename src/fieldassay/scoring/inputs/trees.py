"""Records that are trees without declared fields: their keys of data, and the keys named in the spec."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.io.text.shown import format_count
from fieldassay.paths import Pattern
from fieldassay.records.envelope import GOLD_ONLY, META_SHAPES
from fieldassay.records.sources.source import CHUNK, Source
from fieldassay.spec.plan.nodes import AnyNode, Plan


def data_names(plan: Plan) -> frozenset[str]:
    """Return the keys that are data in gold, but would be metadata beside declared fields.

    Of a tree, all of it is data but its id.
    """
    return frozenset(META_SHAPES.keys() - GOLD_ONLY) if "" in plan.slots else frozenset()


def survey_tree(gold: Source) -> tuple[Source, frozenset[str]]:
    """Return gold with notes on keys taken as metadata, and the keys of `data_names` in its trees.

    Those are data in predictions too, and so are those of `GOLD_ONLY` that no gold record has: predictions
    have no use for them as metadata.
    """
    found: set[str] = set()
    taken: Counter[str] = Counter()
    for start in range(0, len(gold), CHUNK):
        for record in gold.fetch(range(start, min(start + CHUNK, len(gold)))):
            found |= META_SHAPES.keys() & (record.data or {}).keys()
            taken.update(
                {
                    "critical_fields": bool(record.meta.critical_paths),
                    "illegible_fields": bool(record.meta.illegible_paths),
                    "acceptable_variations": bool(record.meta.accepted_values),
                }
            )
    remedy = "put the tree under a key of its own and name it with --gold-key, if it is data"
    notes = [
        Problem(
            gold.label,
            f"{key} is taken as metadata in {format_count(count, 'gold record')}",
            remedy,
            "metadata",
        )
        for key, count in taken.items()
        if count and gold.options.key_of({}) is None
    ]
    if gold.options.key_of({}) is None:
        found |= {key for key in GOLD_ONLY if not taken[key]}
    return replace(gold, notes=(*gold.notes, *notes)), frozenset(found)


def named_keys(plan: Plan) -> frozenset[str]:
    """Return the top-level keys in the path patterns and checks of a spec without declared fields."""
    trees = [child for child in plan.root.children if isinstance(child, AnyNode) and not child.path]
    if not trees:
        return frozenset()
    patterns = [Pattern(path) for tree in trees for path, _ in tree.patterns] + [
        planned.pattern for planned in plan.checks
    ]
    named = [pattern.parts[0] for pattern in patterns if pattern.parts]
    named += [
        key
        for planned in plan.checks
        if not planned.pattern.parts
        for key in getattr(planned.check, "keys", ())
    ]
    return frozenset(key for key in named if isinstance(key, str))
