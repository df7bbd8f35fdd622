"""Predictions given once per variant: one source in which ids repeat, as one system per variant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from fieldassay.errors import Problem
from fieldassay.records.ids import MAX_LISTED
from fieldassay.records.source import CHUNK, Source


def split_variants(system: str, source: Source) -> dict[str, Source]:
    """Return the predictions of each variant as a system of its own, named SYSTEM/VARIANT, in order of appearance.

    That is, where ids repeat, and no id repeats within a variant; any other source is returned whole, under its own name. Predictions
    that name no variant stay with the system itself.
    """
    ids = source.ids()
    if source.is_numbered or len(set(ids)) == len(ids):
        return {system: source}
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    for position, variant in enumerate(_variants(source)):
        places[variant].append(position)
    if any(len({ids[position] for position in found}) < len(found) for found in places.values()):
        return {system: source}
    parts = {
        system if variant is None else f"{system}/{variant}": source.take(np.array(found, dtype=np.int64))
        for variant, found in places.items()
    }
    first, *others = parts
    shown = ", ".join(list(parts)[:MAX_LISTED]) + (f" and {len(parts) - MAX_LISTED} more" if len(parts) > MAX_LISTED else "")
    note = Problem(source.label, f"has ids once per variant, so each variant is a system: {shown}", kind="variants")
    return {first: replace(parts[first], notes=(*source.notes, note))} | {name: replace(parts[name], notes=()) for name in others}


def _variants(source: Source) -> list[str | None]:
    found: list[str | None] = []
    for start in range(0, len(source), CHUNK):
        records = source.fetch(range(start, min(start + CHUNK, len(source))))
        found += [record.meta.variant for record in records]
    return found
