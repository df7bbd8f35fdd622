"""Predictions given once per variant: one source with repeated ids, as one system per variant."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names
from fieldassay.records.ids import MAX_LISTED, cap_problems
from fieldassay.records.sources.source import Source


def split_variants(system: str, source: Source) -> dict[str, Source]:
    """Return the predictions of each variant as a system named SYSTEM/VARIANT, in order of appearance.

    That is, where ids repeat, every readable record names its variant, and no id repeats within one; any
    other source is returned whole, under its own name. A system that is itself named after one of the
    variants (`model/raw`) has that one alone, whether ids repeat or not. Records that cannot be read, and
    whose variant is unknown, are left out with a note. Raises `ProblemsError` with the places of records
    without a variant where most name theirs.
    """
    ids = source.ids()
    is_repeating = len(set(ids)) < len(ids)
    if source.is_numbered or not (is_repeating or "/" in system):
        return {system: source}
    places, lost = _places(source)
    unnamed = places.pop(None, [])
    own = next((found for variant, found in places.items() if system.endswith(f"/{variant}")), None)
    is_apart = all(len({ids[position] for position in found}) == len(found) for found in places.values())
    if not is_apart or len(unnamed) >= sum(map(len, places.values())) or not (is_repeating or own):
        return {system: source}
    if unnamed:
        what, remedy = "names no variant, as most records here do", "add `variant`, or leave it out"
        raise ProblemsError(
            cap_problems([Problem(source.place(at), what, remedy, "variants") for at in unnamed])
        )
    named = {f"{system}/{variant}": found for variant, found in places.items()}
    if own is not None:
        named = {system: own}
    parts = {name: source.take(np.array(found, dtype=np.int64)) for name, found in named.items()}
    notes = [*source.notes, *cap_problems(lost), *([] if own is not None else [_note(source, list(parts))])]
    first, *others = parts
    return {first: replace(parts[first], notes=tuple(notes))} | {
        name: replace(parts[name], notes=()) for name in others
    }


def _places(source: Source) -> tuple[dict[str | None, list[int]], list[Problem]]:
    """Return the positions of records by variant, and a problem for each unreadable one without a variant."""
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    lost = []
    for position, record in enumerate(source):
        if record.data is None and record.meta.variant is None:
            what = f"cannot be read ({record.invalid}), so its variant cannot be seen, and it is left out"
            lost.append(Problem(record.place, what, "correct the line", "variants"))
        else:
            places[record.meta.variant].append(position)
    return dict(places), lost


def _note(source: Source, names: list[str]) -> Problem:
    what = f"has ids once per variant, so each variant is a system: {list_names(names, MAX_LISTED)}"
    return Problem(source.label, what, kind="variants")
