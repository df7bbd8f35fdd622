"""Opening gold and predictions: paths, frames, lists and mappings, as sources that are matched by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from fieldassay.api.options import InputOptions
from fieldassay.errors import Problem, ProblemsError
from fieldassay.plan.nodes import Leaf, Plan
from fieldassay.records.matching import Matching, match
from fieldassay.records.memory import hold_records
from fieldassay.records.options import SourceOptions
from fieldassay.records.source import Source, open_source, open_systems

Records: TypeAlias = Any
"""A path, `-`, a list of objects, a mapping from id to object, a Polars or pandas frame."""


def gold_options(plan: Plan, inputs: InputOptions) -> SourceOptions:
    """Return how to read gold under a plan."""
    declared = frozenset(plan.slots)
    nested = frozenset(child.name for child in plan.root.children if not isinstance(child, Leaf) or child.is_list)
    names = inputs.id_names or plan.spec.id or None
    return SourceOptions(id_names=names, data_key=inputs.gold_key, wrap=inputs.wrap, declared=declared, nested=nested, is_gold=True)


def open_inputs(plan: Plan, gold: Records, predictions: Mapping[str, Records] | Records, inputs: InputOptions) -> Matching:
    """Return gold and every system's predictions, matched by id. Raises `ProblemsError` with everything that is wrong with any of them."""
    options = gold_options(plan, inputs)
    pred_options = replace(options, is_gold=False, data_key=inputs.pred_key, systems_key=inputs.systems_key)
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    opened: Source | None = None
    try:
        opened = _open(gold, options, "gold")
    except ProblemsError as error:
        problems += error.problems
    for name, records in _named(predictions).items():
        try:
            found = _open_predictions(name, records, pred_options)
        except ProblemsError as error:
            problems += error.problems
            continue
        problems += [
            Problem(str(name), f"system {other!r} is given twice", "name them apart", "duplicate") for other in found if other in sources
        ]
        sources |= found
    if problems or opened is None:
        raise ProblemsError(problems)
    return match(opened, sources)


def _named(predictions: Mapping[str, Records] | Records) -> dict[str, Records]:
    """Return the predictions by system; a single source is named after its file, or `prediction`."""
    if isinstance(predictions, Mapping):
        return dict(predictions)
    if isinstance(predictions, (str, Path)):
        return {system_name(predictions): predictions}
    return {"prediction": predictions}


def system_name(path: str | Path) -> str:
    """Return the name of the system that a file of predictions without a name is taken to be of.

    >>> system_name("out/llama.jsonl.gz")
    'llama'
    """
    return "stdin" if str(path) == "-" else Path(path).name.split(".")[0] or str(path)


def _open(records: Records, options: SourceOptions, label: str) -> Source:
    if isinstance(records, (str, Path)):
        return open_source(records, options)
    return hold_records(records, options, label)


def _open_predictions(name: str, records: Records, options: SourceOptions) -> dict[str, Source]:
    if options.systems_key is None:
        return {name: _open(records, options, name)}
    if not isinstance(records, (str, Path)):
        remedy = "give a mapping from system to records instead"
        raise ProblemsError([Problem(name, "a key of systems needs a file", remedy, "systems_key")])
    return open_systems(records, options)
