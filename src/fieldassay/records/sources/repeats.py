"""Repeated runs of one system: several sources under one name, or one source with a run in each record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.records.record import Record, Repeat
from fieldassay.records.sources.source import Source

RUN_KEYS = ("repeat", "run")
"""The keys beside a record that name its run, where ids repeat."""


def name_repeats(system: str, runs: int) -> tuple[Repeat, ...]:
    """Return the runs of a system."""
    return tuple(Repeat(system, number, runs) for number in range(1, runs + 1))


def are_runs(records: Any) -> bool:
    """Return whether the predictions given for a system are several sources rather than one.

    They are a list or a tuple of paths, of lists of records, or of data frames; a list of objects,
    named tuples too, is one source.

    >>> are_runs(["a.jsonl", "b.jsonl"]), are_runs([[{"id": 1}], [{"id": 1}]]), are_runs([{"id": 1}])
    (True, True, False)
    """
    return (
        isinstance(records, list | tuple)
        and bool(records)
        and all(isinstance(one, str | Path | list | tuple) or hasattr(one, "columns") for one in records)
        and not any(hasattr(one, "_fields") for one in records)
    )


def split_runs(system: str, source: Source) -> list[Source] | None:
    """Return the runs in one source with repeated ids and named runs; None for any other source.

    Every record needs `repeat` or `run`, beside its data or in it, and no id may repeat within a run.
    """
    ids = source.ids()
    if source.is_numbered or len(set(ids)) == len(ids):
        return None
    for key in RUN_KEYS:
        places = _places(source, key)
        if (
            places is not None
            and len(places) > 1
            and all(len({ids[position] for position in found}) == len(found) for found in places.values())
        ):
            parts = [source.take(np.array(places[name], np.int64)) for name in sorted(places, key=_order)]
            what = f"has ids once per {key}: {len(parts)} repeated runs of {system}"
            note = Problem(source.label, what, kind="repeats")
            first, *others = (replace(part, notes=()) for part in parts)
            return [replace(first, notes=(*source.notes, note)), *others]
    return None


def _places(source: Source, key: str) -> Mapping[str, Sequence[int]] | None:
    """Return the positions of records by run; None if one names no run."""
    places: dict[str, list[int]] = {}
    for position, record in enumerate(source):
        name = _name_run(record, key, source.options.declared)
        if name is None:
            return None
        places.setdefault(name, []).append(position)
    return places


def _name_run(record: Record, key: str, declared: Collection[str]) -> str | None:
    """Return the run that a record names beside its data, or in it under a key that is no field."""
    beside = record.meta.attributes.get(key)
    if beside is not None or key in declared:
        return beside
    within = (record.data or {}).get(key)
    return str(within) if isinstance(within, str | int) else None


def _order(name: str) -> tuple[int, str]:
    return (int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0, name)
