"""The work of one shard of documents: read, judge and fold batch by batch; its results merge exactly."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.io.files.parquet import write_parquet
from fieldassay.io.text.settled import fold_null_values, is_empty_text
from fieldassay.metrics.evidence import FLAG, DocumentTable, Evidence
from fieldassay.metrics.fold import FoldPlan, Partial, fold, fold_repeats
from fieldassay.paths import field_of, plain_path
from fieldassay.records.matching import Matching, batches
from fieldassay.records.record import Batch, Repeat
from fieldassay.scoring.engine.applicability import applicability
from fieldassay.scoring.engine.assemble import Identity, assemble
from fieldassay.scoring.engine.candidates import MOST_PAIRS, count_pairs
from fieldassay.scoring.engine.critical import is_at_or_under, mark_critical
from fieldassay.scoring.engine.flatten import Undeclared
from fieldassay.scoring.engine.illegible import judge_reviewed, mark_failed
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.repeats import hold_votes
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.scoring.inputs.document_metadata import document_table, document_types
from fieldassay.scoring.provenance.labels import digest_part
from fieldassay.scoring.shards.answer_remarks import MOST_NAMED, NAMED
from fieldassay.scoring.shards.document_status import classify
from fieldassay.scoring.shards.outcomes import Done, Frame, HeldRows, join_outcomes
from fieldassay.scoring.validation.checking import CLAIM, NUMBER, Sink, Tallies, check_records, open_sink
from fieldassay.scoring.validation.fit import GOLD, fills_of
from fieldassay.spec.plan.nodes import Plan

Progress = Callable[[int], None]
_NONE: frozenset[str] = frozenset()
_REMEDY = "pair its items with `align: ordered`, or split the document"
TOO_LONG = "too_many_items"
"""The reason of rows that were not judged since their list is too long."""


class Work(Struct, frozen=True, eq=False):
    """One shard: its documents, the plan for judging, and the rows to keep. It pickles."""

    plan: Plan
    folding: FoldPlan
    matching: Matching
    batch: int
    evidence: Literal["all", "errors", "none"]
    number: int = 0
    folder: Path | None = None
    is_local: bool = True
    """True if the outcome stays in this process, so that evidence tables can be made on demand."""


class JudgedBatch(Struct, frozen=True, eq=False):
    """One batch of one system after judging, or of one of its repeated runs, whose `name` then differs."""

    name: str
    evidence: Evidence
    documents: DocumentTable
    undeclared: Undeclared
    untyped: int
    excluded: Counter[str]
    tallies: Tallies
    too_long: tuple[Problem, ...]


def portions(plan: Plan, batch: Batch) -> Iterator[Batch]:
    """Yield the batch, cut wherever its lists have more candidate pairs than fit into memory at once."""
    gold = [record.data or {} for record in batch.gold]
    pairs = np.zeros(len(gold), dtype=np.int64)
    for predictions in batch.predictions.values():
        pred = [record.data or {} if record is not None else {} for record in predictions]
        pairs = np.maximum(pairs, count_pairs(plan.root, gold, pred))
    number = (np.cumsum(pairs) - 1) // MOST_PAIRS
    cuts = (
        np.flatnonzero(np.diff(number, prepend=number[:1]))
        if pairs.sum() > MOST_PAIRS
        else np.zeros(0, dtype=np.intp)
    )
    for at in np.split(np.arange(len(gold)), cuts):
        here = slice(int(at[0]), int(at[-1]) + 1)
        cut = {system: records[here] for system, records in batch.predictions.items()}
        yield batch if not len(cuts) else Batch(batch.ids[here], batch.gold[here], cut, batch.repeats)


def judge_batch(
    plan: Plan, batch: Batch, slices: tuple[str, ...], sink: Sink | None = None
) -> Iterator[JudgedBatch]:
    """Yield the judged batch of each system, in the order of the predictions.

    `sink` receives each violation of the spec's checks.
    """
    types = document_types(plan, batch.gold)
    untyped = types.count(None) if plan.spec.document_type is not None else 0
    applies = applicability(plan, types)
    excluded = count_excluded(plan, batch, applies)
    critical = [_plain_paths(record.meta.critical_paths) for record in batch.gold]
    illegible = [_plain_paths(record.meta.illegible_paths) for record in batch.gold]
    unreviewed = [_plain_paths(record.meta.unreviewed_paths) for record in batch.gold]
    accepted = [record.meta.accepted_values for record in batch.gold]
    gold = [record.data or {} for record in batch.gold]
    for name, predictions in batch.predictions.items():
        repeat = batch.repeats.get(name)
        system = name if repeat is None else repeat.system
        pred = [(record.data or {}) if record is not None else {} for record in predictions]
        judged = judge_reviewed(
            partial(judge, plan, applies=applies, accepted=accepted), gold, pred, unreviewed
        )
        judged = mark_failed(mark_failed(judged, _long_places(judged, len(gold)), TOO_LONG), illegible)
        judged = mark_critical(judged, critical)
        confidences = [record.meta.confidence if record is not None else None for record in predictions]
        identity = Identity(system, batch.ids, 0 if repeat is None else repeat.number)
        evidence = assemble(plan, judged, identity, confidences)
        checked = check_records(plan, name, predictions, sink)
        table = document_table(plan, batch.gold, predictions, types, slices)
        if plan.checks:
            numbers, claims = (
                {**table.numbers, NUMBER: checked.counts},
                {**table.claims, CLAIM: checked.claims},
            )
            table = replace(table, numbers=numbers, claims=claims)
        evidence.flags[table.claims["is_repaired"][evidence.doc]] |= FLAG["repaired"]
        too_long = _name_long(name, batch, judged)
        yield JudgedBatch(
            name, evidence, table, judged.undeclared, untyped, excluded, checked.tallies, too_long
        )


def _plain_paths(paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(plain_path, paths)) if paths else _NONE


def _long_places(judged: Judged, documents: int) -> list[frozenset[str]]:
    """Return the outermost list of each list that is too long, by document."""
    places: list[frozenset[str]] = [_NONE] * documents
    for path, pair in judged.too_long:
        places[pair.doc] |= {path}
    return places


def _name_long(system: str, batch: Batch, judged: Judged) -> tuple[Problem, ...]:
    """Return a remark for each document of a system with a list that is too long."""
    why = {pair.doc: f"{pair.path} is not judged: {pair.why}" for _, pair in reversed(judged.too_long)}
    return tuple(
        Problem(f"document {batch.ids[doc]!r} of {system}", why[doc], _REMEDY, "list_too_long")
        for doc in sorted(why)
    )


def do_work(work: Work, progress: Progress | None = None) -> Done:
    """Return the results of the shard's documents."""
    with open_sink(work.plan, work.folder, work.number, work.matching.predictions) as sink:
        done = join_outcomes(_do(work, progress, sink))
        return done if sink is None else replace(done, violations=sink.kept())


def _do(work: Work, progress: Progress | None, sink: Sink | None) -> Iterator[Done]:
    """Yield the results of each system of each batch of the shard; those of all systems are the first's."""
    parts = chain.from_iterable(portions(work.plan, batch) for batch in batches(work.matching, work.batch))
    number = 0
    for batch in parts:
        waiting: list[JudgedBatch] = []
        for position, judged in enumerate(judge_batch(work.plan, batch, work.folding.slice_keys, sink)):
            partials = _fold(work, batch.repeats.get(judged.name), judged, waiting)
            yield _settle(work, batch, judged, partials, (number, position == 0))
            number += 1
        if progress is not None:
            progress(len(batch.ids))


def _settle(
    work: Work, batch: Batch, judged: JudgedBatch, partials: Mapping[str, Partial], place: tuple[int, bool]
) -> Done:
    """Return the results of a judged batch, and if it is the first of its documents, those of gold."""
    number, is_first = place
    system, table = judged.name, judged.documents
    of_gold, of_system = fills_of(work.plan, judged.evidence, judged.undeclared)
    repairs = {system: table.groups["repairs"]}
    if is_first:
        repairs[GOLD] = tuple(record.meta.repairs for record in batch.gold)
    return Done(
        partials=partials,
        frames=_kept(work, judged.evidence, number),
        fills={system: of_system, GOLD: of_gold} if is_first else {system: of_system},
        claims={system: Counter({name: int(mask.sum()) for name, mask in table.claims.items()})},
        untyped=judged.untyped if is_first else 0,
        documents=len(batch.ids) if is_first else 0,
        excluded=judged.excluded if is_first else Counter(),
        unreviewed=_count_unreviewed(work.plan, batch) if is_first else Counter(),
        grouped=frozenset(key for key, names in table.groups.items() if any(names)),
        without={system: Counter(_count_without(table, work.folding.slice_keys))},
        tallies={system: judged.tallies},
        classes={system: Counter(classify(judged.evidence, table))},
        repairs={name: Counter(chain.from_iterable(done)) for name, done in repairs.items()},
        repaired={name: _name_repaired(batch, done) for name, done in repairs.items()},
        labels=(digest_part(work.plan, batch.gold),) if is_first else (),
        too_long=judged.too_long,
        unreadable=_find_unreadable(judged.evidence, batch) if is_first else {},
        invalid=_find_invalid(system, table),
    )


def _fold(
    work: Work, repeat: Repeat | None, judged: JudgedBatch, waiting: list[JudgedBatch]
) -> dict[str, Partial]:
    """Return the sums of a system; repeated runs wait until the last of them, which folds them together."""
    if repeat is None:
        return {judged.name: fold(work.folding, judged.evidence, judged.documents)}
    waiting.append(judged)
    if repeat.number < repeat.runs:
        return {}
    votes = hold_votes(work.plan, [run.evidence for run in waiting])
    pairs = [(run.evidence, run.documents) for run in waiting]
    waiting.clear()
    return {repeat.system: fold_repeats(work.folding, repeat.system, pairs, votes)}


def _name_repaired(batch: Batch, done: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the first documents of the repairs in `NAMED`."""
    return {
        repair: tuple(
            islice((name for name, each in zip(batch.ids, done, strict=True) if repair in each), MOST_NAMED)
        )
        for repair in NAMED
        if any(done)
    }


def _find_invalid(system: str, table: DocumentTable) -> dict[str, tuple[int, str, str]]:
    """Return the number of answers that cannot be read, and the first document with one and its reason."""
    at = np.flatnonzero(table.claims["is_invalid"])
    if not len(at):
        return {}
    return {system: (len(at), table.documents[at[0]], table.texts["answer_problem"][at[0]])}


def _find_unreadable(evidence: Evidence, batch: Batch) -> dict[tuple[str, str], tuple[int, str]]:
    """Return by field the number of gold values that cannot be read, and the first document with one."""
    at = np.flatnonzero(evidence.flags & FLAG["unreadable_gold"])
    fields = evidence.field[at]
    return {
        (info.path, info.type): (
            int((fields == number).sum()),
            batch.ids[evidence.doc[at[fields == number]].min()],
        )
        for number, info in enumerate(evidence.fields)
        if number in fields
    }


def _count_unreviewed(plan: Plan, batch: Batch) -> Counter[str]:
    """Return how many fields and keys of maps and trees were never reviewed, and of how many documents."""
    known = {info.path for info in plan.fields}
    keyed = frozenset(info.path for info in plan.fields if info.type in ("any", "map"))
    found = [
        len(
            {
                path
                for path in _plain_paths(record.meta.unreviewed_paths)
                if "" in known or field_of(path) in known or is_at_or_under(path, keyed)
            }
        )
        for record in batch.gold
    ]
    return Counter(fields=sum(found), documents=sum(map(bool, found)))


def _count_without(documents: DocumentTable, keys: Sequence[str]) -> dict[str, int]:
    """Return how many documents have no value for each slice key."""
    return {key: sum(map(operator.not_, documents.groups.get(key, ()))) for key in keys}


def count_excluded(plan: Plan, batch: Batch, applies: Mapping[str, Masks]) -> Counter[str]:
    """Return the counts of gold values of top-level fields that do not apply to the document's type."""
    nulls = fold_null_values(plan.spec.null_values)
    return Counter(
        child.path
        for child in plan.root.children
        if child.path in applies
        for record, is_judged in zip(batch.gold, applies[child.path].tolist(), strict=True)
        if not is_judged and _is_given((record.data or {}).get(child.name), nulls)
    )


def _is_given(value: object, nulls: frozenset[str]) -> bool:
    """Return whether a value is more than nothing; `nulls` are the casefolded texts that mean nothing."""
    return not is_empty_text(value, nulls) if isinstance(value, str) else value not in (None, [], {})


def _kept(work: Work, evidence: Evidence, number: int) -> tuple[Frame, ...]:
    if work.evidence == "none" or not len(evidence):
        return ()
    rows = HeldRows(evidence, work.evidence == "errors")
    if work.folder is None:
        return (rows if work.is_local else rows.table(),)
    path = work.folder / f"part-{work.number:05}-{number:05}.parquet"
    write_parquet(rows.table(), path)
    return (path,)
