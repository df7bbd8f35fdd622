"""Opening gold and predictions: paths, frames, lists and mappings, as sources that are matched by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.text.shown import format_count
from fieldassay.records.envelope import GOLD_ONLY, META_SHAPES, gold_options, pred_options
from fieldassay.records.files import split_sheet
from fieldassay.records.keys import SourceOptions
from fieldassay.records.matching import Matching, find_duplicates, match
from fieldassay.records.record import CASE_KEY, PREDICTION_KEY, Repeat
from fieldassay.records.source import (
    Source,
    are_runs,
    name_repeats,
    open_source,
    open_systems,
    split_runs,
    split_variants,
)
from fieldassay.scoring.inputs.choosing import Choice, choose_documents
from fieldassay.spec.plan.nodes import Plan

Records: TypeAlias = Any
"""A path, `-`, a list of objects, a mapping from id to object, a Polars or pandas frame."""


def open_inputs(
    plan: Plan,
    gold: Records,
    predictions: Mapping[str, Records] | Records,
    where: Sequence[str] = (),
    wanted: Sequence[str] | None = None,
) -> Matching:
    """Return gold and every system's predictions, matched by id.

    `where` chooses documents (see `choose_documents`), `wanted` are the top-level fields whose data is kept
    (None: all). Raises `ProblemsError` with all problems
    of all of them.
    """
    left_out = _left_out(plan, wanted)
    options = replace(gold_options(plan), left_out=left_out)
    of_predictions = replace(pred_options(plan), left_out=left_out)
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    repeats: dict[str, Repeat] = {}
    opened: Source | None = None
    chosen: Choice | None = None
    try:
        opened = open_source(gold, options, "gold")
        if options.is_tree:
            opened, as_data = survey_tree(opened)
            of_predictions = replace(of_predictions, declared=of_predictions.declared | as_data)
        chosen = choose_documents(plan, opened, where)
    except ProblemsError as error:
        problems += error.problems
    for name, records in _named(predictions).items():
        try:
            found, own = _open_system(name, records, of_predictions)
        except ProblemsError as error:
            problems += error.problems
            continue
        problems += _taken(name, found, sources)
        sources |= found
        repeats |= own
    if problems or opened is None:
        raise ProblemsError(problems)
    matching = match(opened, sources, plan.spec.data.match_ids, None if chosen is None else chosen.positions)
    matching = replace(matching, repeats=repeats) if repeats else matching
    return matching if chosen is None else replace(matching, notes=(chosen.note, *matching.notes))


def _left_out(plan: Plan, wanted: Sequence[str] | None) -> frozenset[str]:
    """Return the keys of unwanted fields in records."""
    others = dict(plan.root.other_names)
    return frozenset(
        key
        for name in plan.slots
        if wanted is not None and name not in wanted
        for key in (name, *others.get(name, ()))
    )


def open_gold(plan: Plan, gold: Records) -> Source:
    """Return gold alone. Raises `ProblemsError` where it cannot be read."""
    return open_source(gold, gold_options(plan), "gold")


def gold_ids(plan: Plan, gold: Records) -> tuple[str, ...]:
    """Return the ids of gold in their order. Raises `ProblemsError` where it cannot be read."""
    return tuple(open_gold(plan, gold).ids)


def gold_values(plan: Plan, gold: Records, name: str) -> dict[str, str]:
    """Return what gold records have under a name, declared or not, by id; records without it are left out."""
    records = open_gold(plan, gold)
    found = ((record.id, (record.data or {}).get(name)) for record in records)
    return {id_: str(value) for id_, value in found if value}


def gold_twins(plan: Plan, gold: Records) -> dict[str, tuple[str, str]]:
    """Return, for each gold record that names its `twin_of`, the id of the other, and the `degradation`."""
    return {
        record.id: (named["twin_of"], named.get("degradation", "degraded"))
        for record in open_gold(plan, gold)
        if "twin_of" in (named := record.meta.attributes)
    }


def open_predictions(plan: Plan, predictions: Mapping[str, Records]) -> dict[str, Source]:
    """Return every system's predictions, all of them, without gold.

    Raises `ProblemsError` with all problems of all of them.
    """
    options = pred_options(plan)
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    for name, records in predictions.items():
        try:
            found, _ = _open_system(name, records, options)
        except ProblemsError as error:
            problems += error.problems
            continue
        problems += [problem for source in found.values() for problem in find_duplicates(source)]
        problems += _taken(name, found, sources)
        sources |= found
    if problems:
        raise ProblemsError(problems)
    return sources


def _taken(name: str, found: Mapping[str, Source], known: Mapping[str, Source]) -> list[Problem]:
    return [
        Problem(str(name), f"system {other!r} is given twice", "name them apart", "duplicate")
        for other in found
        if other in known
    ]


def drop_absent_fields(plan: Plan, matching: Matching) -> Plan:
    """Return the plan without top-level fields absent from all gold, if the spec skips those; else the plan.

    Digest and spec stay those of the whole plan.
    """
    if not plan.spec.skips_absent_fields:
        return plan
    present: set[str] = set()
    wanted = set(plan.slots)
    for batch in matching.gold.batches():
        for record in batch:
            present |= wanted & (record.data or {}).keys()
        if present == wanted:
            return plan
    children = tuple(child for child in plan.root.children if child.name in present)
    slots = tuple(name for name in plan.slots if name in present)
    kept = {name: number for number, name in enumerate(slots)}
    fields = tuple(replace(info, slot=kept.get(plan.slots[info.slot], -1)) for info in plan.fields)
    absent = (child for child in plan.root.children if child.name not in present)
    skipped = frozenset(name for child in absent for name in (child.name, *getattr(child, "unit_fields", ())))
    root = replace(plan.root, children=children, skipped=skipped)
    return replace(plan, root=root, fields=fields, slots=slots)


def _named(predictions: Mapping[str, Records] | Records) -> dict[str, Records]:
    """Return the predictions by system; a single source is named after its file, or `prediction`."""
    if isinstance(predictions, Mapping):
        return dict(predictions)
    if isinstance(predictions, (str, Path)):
        return {system_name(predictions): predictions}
    if are_runs(predictions) and isinstance(predictions[0], str | Path):
        return {system_name(predictions[0]): predictions}
    return {"prediction": predictions}


def system_name(path: str | Path) -> str:
    """Return the name of the system that a file of predictions without a name is taken to be of.

    >>> system_name("out/llama.jsonl.gz"), system_name("results.xlsx#qwen")
    ('llama', 'qwen')
    """
    sheet = split_sheet(path)[1]
    if sheet is not None:
        return sheet
    return "stdin" if str(path) == "-" else Path(path).name.split(".")[0] or str(path)


def _open_system(
    name: str, records: Records, options: SourceOptions
) -> tuple[dict[str, Source], dict[str, Repeat]]:
    """Return the sources of a system by name, and of which system each is a repeated run."""
    if not are_runs(records):
        found = _open_predictions(name, records, options)
        runs = {system: parts for system, one in found.items() if (parts := split_runs(system, one))}
    elif len(records) == 1:
        return _open_system(name, records[0], options)
    else:
        runs = {name: _open_runs(name, records, options)}
        found = {name: runs[name][0]}
    named: dict[str, Source] = {}
    repeats: dict[str, Repeat] = {}
    for system, source in found.items():
        if system not in runs:
            named[system] = source
            continue
        for repeat, part in zip(name_repeats(system, len(runs[system])), runs[system], strict=True):
            named[repeat.name], repeats[repeat.name] = part, repeat
    return named, repeats


def _open_runs(name: str, records: Sequence[Records], options: SourceOptions) -> list[Source]:
    """Return the sources of the repeated runs of a system; raise `ProblemsError` with all problems of all."""
    problems: list[Problem] = []
    sources: list[Source] = []
    for number, one in enumerate(records, 1):
        label = f"{name}, run {number}"
        if options.systems_key is not None:
            remedy = "give the file of one run at a time"
            problems.append(Problem(label, "a key of systems, and several runs", remedy, "systems_key"))
            continue
        try:
            found = split_variants(name, open_source(one, options, label))
        except ProblemsError as error:
            problems += error.problems
            continue
        if len(found) > 1:
            what = f"has several variants ({', '.join(found)}), and cannot be one run of {name}"
            problems.append(Problem(label, what, "give the runs of one variant", "variants"))
        sources += found.values()
    if problems:
        raise ProblemsError(problems)
    return sources


def _open_predictions(name: str, records: Records, options: SourceOptions) -> dict[str, Source]:
    if options.systems_key is None:
        return split_variants(name, open_source(records, options, name))
    if not isinstance(records, (str, Path)):
        remedy = "give a mapping from system to records instead"
        raise problem(name, "a key of systems needs a file", remedy, "systems_key")
    opened = open_systems(records, options)
    return {
        part: source
        for system, found in opened.items()
        for part, source in split_variants(system, found).items()
    }


def survey_tree(gold: Source) -> tuple[Source, frozenset[str]]:
    """Return gold with notes on keys taken as metadata, and the keys of `data_names` in its trees.

    Those are data in predictions too, and so are those of `GOLD_ONLY` that no gold record has: predictions
    have no use for them as metadata.
    """
    found: set[str] = set()
    taken: Counter[str] = Counter()
    for record in gold:
        found |= {*META_SHAPES, PREDICTION_KEY, CASE_KEY} & (record.data or {}).keys()
        taken.update(
            {
                "critical_fields": bool(record.meta.critical_paths),
                "illegible_fields": bool(record.meta.illegible_paths),
                "unreviewed_fields": bool(record.meta.unreviewed_paths),
                "acceptable_variations": bool(record.meta.accepted_values),
            }
        )
    remedy = "if it is data, put the tree under a key of its own and name it: `data: {gold_key: KEY}`"
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
