"""Shards: documents in batches, what comes of them, and the workers that judge them."""

from __future__ import annotations

import io
import operator
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.io.files.tables import write_parquet
from fieldassay.io.json_value import fold_null_values, is_empty_text
from fieldassay.io.text.shown import clip
from fieldassay.io.workers.program import run_ray
from fieldassay.metrics.evidence import (
    COST,
    COST_OF_CAUSE,
    COST_OF_FIELD,
    COST_SIZE,
    FLAG,
    BatchEvidence,
    DocumentTable,
    Outcome,
)
from fieldassay.metrics.fold import Costs, FoldPlan, Partial, find_costs, fold, fold_repeats, merge
from fieldassay.paths import field_of, plain_path
from fieldassay.records.matching import Matching, batches
from fieldassay.records.record import Batch, Record, Repeat
from fieldassay.scoring.checking import CLAIM, NUMBER, Sink, Tallies, check_records, join_tallies, open_sink
from fieldassay.scoring.engine.assemble import Identity, assemble
from fieldassay.scoring.engine.flatten import Undeclared
from fieldassay.scoring.engine.judge import (
    Judged,
    hold_votes,
    is_at_or_under,
    judge,
    judge_reviewed,
    mark_critical,
    mark_failed,
    mark_unreadable,
)
from fieldassay.scoring.engine.lists import MOST_PAIRS, count_pairs
from fieldassay.scoring.engine.scopes import Masks, applicability
from fieldassay.scoring.fit import GOLD, Fill, Misplaced, count_misplaced, fills_of, merge_fills
from fieldassay.scoring.inputs import document_table, document_types
from fieldassay.scoring.provenance import digest_part
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl


# Remarks for the user on how readable the scored answers were.

_LONGEST = 60

_REMARKS: Mapping[str, str] = {
    "several_blocks": "hold several objects; read the one that fits the spec best",
    "fields_apart": "spread their fields over several objects; only one was read: put them into one",
    "truncated": "were cut off; judged up to there",
    "wrapped": "hold their record inside another object; read it there",
    "several_wrapped": (
        "hold several objects that could be the record; name its key: `data: {pred_key: KEY}`"
    ),
    "json_in_text": "give lists or objects as text; read from the text",
    "one_text": "give one text instead of a list; read as one item: give a list, or set `separator`",
    "inside_thinking": "hold their record in a <think> block that never closes; read it there",
    "value_object": "give each value with its confidence; read both",
    "without_json": "hold values that JSON lacks, such as bytes; judged as wrong JSON type",
    "confidence_beside": "have keys FIELD_confidence; read as the confidences of those fields",
    "confidence_in_words": "give confidences in words, such as 'high'; ignored: give numbers",
}
"""The remarks on repairs that choose the answer object or provide a confidence."""


MOST_NAMED = 3
NAMED = (
    "fields_apart",
    "truncated",
    "without_json",
    "json_in_text",
    "one_text",
    "wrapped",
    "several_wrapped",
)
"""Repairs whose first documents are named, since their answers need a look or a new extraction."""


def remark_repairs(
    system: str,
    answers: int,
    repairs: Mapping[str, int],
    first: Mapping[str, Sequence[str]],
    noun: str = "answers",
) -> list[str]:
    """Return a sentence for each noteworthy kind of repair; `first` has the first documents of `NAMED`.

    >>> remark_repairs("m", 60, {"truncated": 2, "trailing_comma": 3}, {"truncated": ["a", "b"]})
    ['m: 2 of 60 answers were cut off; judged up to there (a, b)']
    """
    return [
        f"{system}: {repairs[name]:,} of {answers:,} {noun} "
        f"{remark}{_listed(first.get(name, ()), repairs[name])}"
        for name, remark in _REMARKS.items()
        if repairs.get(name)
    ]


def _listed(documents: Sequence[str], count: int) -> str:
    more = f" and {count - MOST_NAMED:,} more" if count > MOST_NAMED else ""
    return (
        f" ({', '.join(clip(name, _LONGEST) for name in documents[:MOST_NAMED])}{more})" if documents else ""
    )


# The status of each document: scored, or the one reason for not being scored.

CLASSES = ("scored", "missing", "invalid", "error", "timeout", "failed")
"""The classes of documents; together they are those that were attempted."""

_BY_CLAIM = {"timeout": "is_timeout", "error": "has_error", "invalid": "is_invalid"}


def classify(evidence: BatchEvidence, table: DocumentTable) -> Counter[str]:
    """Return how many documents of one batch of one system are in each class.

    Each document is in exactly one: `missing` (no prediction), `timeout`, `error`, `invalid` (the answer
    cannot be read), `failed` (the answer was read, but some value of it could not be judged), or `scored`.
    """
    left = np.ones(len(table.documents), dtype=bool)
    classes: Counter[str] = Counter()
    failed = np.zeros(len(left), dtype=bool)
    failed[evidence.doc[evidence.outcome == Outcome.FAILED]] = True
    masks = {
        "missing": ~table.claims["has_prediction"],
        **{name: table.claims[claim] for name, claim in _BY_CLAIM.items()},
        "failed": failed,
    }
    for name, mask in masks.items():
        classes[name] = int((left & mask).sum())
        left &= ~mask
    classes["scored"] = int(left.sum())
    return classes


def count_classes(classes: Mapping[str, int]) -> dict[str, int]:
    """Return the number of documents attempted, and of each class.

    >>> count_classes(Counter(scored=3, missing=1))
    {'attempted': 4, 'scored': 3, 'missing': 1, 'invalid': 0, 'error': 0, 'timeout': 0, 'failed': 0}
    """
    return {
        "attempted": sum(classes.get(name, 0) for name in CLASSES),
        **{name: classes.get(name, 0) for name in CLASSES},
    }


# The results of some documents of a run, a batch's or a shard's; they join exactly, in document order.

Frame: TypeAlias = "EvidenceRows | bytes | Path"
"""The evidence of a batch: judged, packed, or in a file."""

_MOST_JUDGED = 4
"""So many batches are held as they are judged; of more, all are packed."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class EvidenceRows(Struct, frozen=True):
    """The evidence of a judged batch, of which a table is made on demand."""

    evidence: BatchEvidence
    only_errors: bool
    find_costs: Callable[[], Costs]
    runs: int = 1
    """The runs of the system, which share what an error costs."""

    def table(self) -> pl.DataFrame:
        """Return the table of the rows, or of those that are neither right nor absent."""
        import polars as pl

        assert self.evidence.table is not None
        frame = self.evidence.table()
        of_rows = self.find_costs()
        costs = pl.Series(COST, of_rows.shares / self.runs, nan_to_null=True)
        frame = frame.insert_column(frame.columns.index("other_field") + 1, costs)
        more = {COST_SIZE: of_rows.sizes, COST_OF_CAUSE: of_rows.of_cause, COST_OF_FIELD: of_rows.of_field}
        frame = frame.with_columns(
            pl.Series(name, values / self.runs, nan_to_null=True)
            for name, values in more.items()
            if values is not None
        )
        return frame.filter(~pl.col("outcome").is_in(["match", "absent"])) if self.only_errors else frame

    def pack(self) -> bytes:
        """Return the table as Parquet, a tenth of its size."""
        packed = io.BytesIO()
        self.table().write_parquet(packed)
        return packed.getvalue()


class ShardResults(Struct, frozen=True, eq=False):
    """The results of some documents.

    `frames` are evidence tables, in order: their batches where the work is local, or (where the work names a
    folder) their files.
    """

    partials: Mapping[str, Partial]
    """By system; what follows by system is by run where a system has repeated runs."""
    frames: tuple[Frame, ...]
    fills: Mapping[str, Fill]
    """Each side's values in the declared fields and beside them; gold under the empty name."""
    claims: Mapping[str, Counter[str]]
    """By system, the number of documents for which each claim of the document table is true."""
    untyped: int
    documents: int
    excluded: Counter[str]
    """Gold values in fields that do not apply to their documents, by field."""
    unreviewed: Counter[str]
    """Fields of gold that nobody was asked about, and the documents that have any."""
    grouped: frozenset[str]
    """Slice keys under which any document had a value."""
    without: Mapping[str, Counter[str]]
    """By system, how many documents had no value for each slice key."""
    tallies: Mapping[str, Tallies]
    """By system, the results of the spec's checks on predictions."""
    classes: Mapping[str, Counter[str]]
    """By system, the number of documents by status."""
    repairs: Mapping[str, Counter[str]]
    """By system, and for gold, the number of records by repair made before reading."""
    repaired: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By system, and for gold, the first documents of some of these repairs."""
    labels: tuple[npt.NDArray[np.uint8], ...]
    """The digests of the gold records, part by part."""
    too_long: tuple[Problem, ...]
    """Documents with a list that is too long to be judged."""
    unreadable: Mapping[tuple[str, str, bool], tuple[int, str]]
    """The number of gold values that cannot be read, and the first document, by field and its type."""
    misplaced: Misplaced
    invalid: Mapping[str, tuple[int, str, str]]
    """By system, the number of answers that cannot be read, and the first document with its reason."""
    violations: Mapping[str, tuple[bytes | Path, ...]] = {}
    """By system, the violations of the spec's checks as lines of JSON, or (in a folder) their files."""


def join_results(parts: Iterable[ShardResults]) -> ShardResults:
    """Return the results of all parts, at least one, which follow one another; two are held at a time."""
    return reduce(_join, parts)


def _join(first: ShardResults, second: ShardResults) -> ShardResults:
    return ShardResults(
        partials=_by_name(first.partials, second.partials, merge),
        frames=_hold(first.frames + second.frames),
        fills=merge_fills([first.fills, second.fills]),
        claims=_add(first.claims, second.claims),
        untyped=first.untyped + second.untyped,
        documents=first.documents + second.documents,
        excluded=_sum(first.excluded, second.excluded),
        unreviewed=_sum(first.unreviewed, second.unreviewed),
        grouped=first.grouped | second.grouped,
        without=_add(first.without, second.without),
        tallies=_by_name(first.tallies, second.tallies, lambda left, right: join_tallies([left, right])),
        classes=_add(first.classes, second.classes),
        repairs=_add(first.repairs, second.repairs),
        repaired=_by_name(first.repaired, second.repaired, _name_first),
        labels=first.labels + second.labels,
        too_long=first.too_long + second.too_long,
        unreadable=_by_name(first.unreadable, second.unreadable, _count_on),
        misplaced=_by_name(first.misplaced, second.misplaced, _count_on),
        invalid=_by_name(first.invalid, second.invalid, _count_on),
        violations=_by_name(first.violations, second.violations, operator.add),
    )


def _hold(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return frames that are no more than may be held."""
    judged = sum(isinstance(frame, EvidenceRows) for frame in frames)
    if judged <= _MOST_JUDGED * (judged == len(frames)):
        return frames
    return tuple(frame.pack() if isinstance(frame, EvidenceRows) else frame for frame in frames)


def _by_name(
    first: Mapping[Key, Value], second: Mapping[Key, Value], join: Callable[[Value, Value], Value]
) -> dict[Key, Value]:
    return {
        **first,
        **{name: join(first[name], value) if name in first else value for name, value in second.items()},
    }


def _add(first: Mapping[str, Counter[str]], second: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
    return _by_name(first, second, _sum)


def _sum(first: Counter[str], second: Counter[str]) -> Counter[str]:
    """Return the sum with its zeros, which the operator of counters drops."""
    whole = Counter(first)
    whole.update(second)
    return whole


def _count_on(first: Any, second: Any) -> Any:
    """Return a count with its first example, and that of later documents added."""
    return (first[0] + second[0], *first[1:])


def _name_first(
    first: Mapping[str, tuple[str, ...]], second: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    return _by_name(first, second, lambda left, right: (left + right)[:MOST_NAMED])


# The work of one shard of documents: read, judge and fold batch by batch; its results merge exactly.

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
    evidence: BatchEvidence
    documents: DocumentTable
    undeclared: Undeclared
    untyped: int
    excluded: Counter[str]
    tallies: Tallies
    too_long: tuple[Problem, ...]


class GoldBatch(Struct, frozen=True, eq=False):
    """Gold records as predictions are judged against them, with what holds for single ones."""

    plan: Plan
    records: Sequence[Record]
    types: list[str | None]
    applies: dict[str, Masks]

    @classmethod
    def of(cls, plan: Plan, records: Sequence[Record]) -> GoldBatch:
        """Return the records of gold, with the types of their documents."""
        types = document_types(plan, records)
        return cls(plan, records, types, applicability(plan, types))

    def judge(self, predictions: Sequence[Record | None]) -> Judged:
        """Return the judgements of the predictions of the same documents."""
        metas = [record.meta for record in self.records]
        judged = judge_reviewed(
            partial(
                judge, self.plan, applies=self.applies, accepted=[meta.accepted_values for meta in metas]
            ),
            [record.data or {} for record in self.records],
            [(record.data or {}) if record is not None else {} for record in predictions],
            [_plain_paths(meta.unreviewed_paths) for meta in metas],
        )
        places: list[frozenset[str]] = [_NONE] * len(metas)
        for path, pair in judged.too_long:
            places[pair.doc] |= {path}
        judged = mark_unreadable(mark_failed(judged, places, TOO_LONG), len(metas))
        judged = mark_failed(judged, [_plain_paths(meta.illegible_paths) for meta in metas])
        return mark_critical(judged, [_plain_paths(meta.critical_paths) for meta in metas])


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
    plan: Plan,
    batch: Batch,
    slices: tuple[str, ...],
    sink: Sink | None = None,
    cluster: str | None = None,
) -> Iterator[JudgedBatch]:
    """Yield the judged batch of each system, in the order of the predictions.

    `sink` receives each violation of the spec's checks.
    """
    right = GoldBatch.of(plan, batch.gold)
    untyped = right.types.count(None) if plan.spec.document_type is not None else 0
    nulls = fold_null_values(plan.spec.null_values)
    excluded = Counter(
        child.path
        for child in plan.root.children
        if child.path in right.applies
        for record, is_judged in zip(batch.gold, right.applies[child.path].tolist(), strict=True)
        if not is_judged and _is_given((record.data or {}).get(child.name), nulls)
    )
    for name, predictions in batch.predictions.items():
        repeat = batch.repeats.get(name)
        system = name if repeat is None else repeat.system
        judged = right.judge(predictions)
        confidences = [record.meta.confidence if record is not None else None for record in predictions]
        identity = Identity(system, batch.ids, 0 if repeat is None else repeat.number)
        evidence = assemble(plan, judged, identity, confidences)
        checked = check_records(plan, name, predictions, sink)
        table = document_table(plan, batch.gold, predictions, right.types, slices, cluster)
        if plan.checks:
            numbers, claims = (
                {**table.numbers, NUMBER: checked.counts},
                {**table.claims, CLAIM: checked.claims},
            )
            table = replace(table, numbers=numbers, claims=claims)
        evidence.flags[table.claims["is_repaired"][evidence.doc]] |= FLAG["repaired"]
        why = {pair.doc: f"{pair.path} is not judged: {pair.why}" for _, pair in reversed(judged.too_long)}
        too_long = tuple(
            Problem(f"document {batch.ids[doc]!r} of {name}", why[doc], _REMEDY, "list_too_long")
            for doc in sorted(why)
        )
        yield JudgedBatch(
            name, evidence, table, judged.undeclared, untyped, excluded, checked.tallies, too_long
        )


def _plain_paths(paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(plain_path, paths)) if paths else _NONE


def do_work(work: Work, progress: Progress | None = None) -> ShardResults:
    """Return the results of the shard's documents."""
    systems, has_values = work.matching.predictions, work.evidence != "none"
    with open_sink(work.plan, work.folder, work.number, systems, has_values=has_values) as sink:
        results = join_results(_do(work, progress, sink))
        return results if sink is None else replace(results, violations=sink.kept())


def _do(work: Work, progress: Progress | None, sink: Sink | None) -> Iterator[ShardResults]:
    """Yield the results of each system of each batch of the shard; those of all systems are the first's."""
    parts = chain.from_iterable(portions(work.plan, batch) for batch in batches(work.matching, work.batch))
    number = 0
    for batch in parts:
        waiting: list[JudgedBatch] = []
        for position, judged in enumerate(
            judge_batch(work.plan, batch, work.folding.slice_keys, sink, work.folding.cluster)
        ):
            reduced = hide_values(judged) if work.evidence == "none" else judged
            partials = _fold(work, batch.repeats.get(reduced.name), reduced, waiting)
            yield _settle(work, batch, reduced, partials, (number, position == 0))
            number += 1
        if progress is not None:
            progress(len(batch.ids))


def hide_values(judged: JudgedBatch) -> JudgedBatch:
    """Return a batch without texts of answers; of an unreadable one the reason stays, without its quote."""
    for tally in judged.tallies.values():
        tally.examples = [violation.hide_value() for violation in tally.examples]
    table = judged.documents
    reasons = zip(table.texts["answer_problem"], table.claims["is_invalid"], strict=True)
    texts = {
        "answer_problem": tuple(why.split(": ")[0] if is_invalid else "" for why, is_invalid in reasons),
        "answer_start": ("",) * len(table.documents),
    }
    return replace(judged, documents=replace(table, texts=texts))


def _settle(
    work: Work, batch: Batch, judged: JudgedBatch, partials: Mapping[str, Partial], place: tuple[int, bool]
) -> ShardResults:
    """Return the results of a judged batch, and if it is the first of its documents, those of gold."""
    number, is_first = place
    system, table = judged.name, judged.documents
    of_gold, of_system = fills_of(work.plan, judged.evidence, judged.undeclared)
    repairs = {system: table.groups["repairs"]}
    if is_first:
        repairs[GOLD] = tuple(record.meta.repairs for record in batch.gold)
    return ShardResults(
        partials=partials,
        frames=_frames(work, judged, number, batch.repeats.get(system)),
        fills={system: of_system, GOLD: of_gold} if is_first else {system: of_system},
        claims={system: Counter({name: int(mask.sum()) for name, mask in table.claims.items()})},
        untyped=judged.untyped if is_first else 0,
        documents=len(batch.ids) if is_first else 0,
        excluded=judged.excluded if is_first else Counter(),
        unreviewed=_count_unreviewed(work.plan, batch) if is_first else Counter(),
        grouped=frozenset(key for key, names in table.groups.items() if any(names)),
        without={
            system: Counter(
                {key: sum(map(operator.not_, table.groups.get(key, ()))) for key in work.folding.slice_keys}
            )
        },
        tallies={system: judged.tallies},
        classes={system: Counter(classify(judged.evidence, table))},
        repairs={name: Counter(chain.from_iterable(of_records)) for name, of_records in repairs.items()},
        repaired={name: _name_repaired(batch, of_records) for name, of_records in repairs.items()},
        labels=(digest_part(work.plan, batch.gold),) if is_first else (),
        too_long=judged.too_long,
        unreadable=_find_unreadable(judged.evidence, batch) if is_first else {},
        misplaced=count_misplaced(work.plan, batch.gold, {}) if is_first else {},
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


def _name_repaired(batch: Batch, repairs: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the first documents of the repairs in `NAMED`."""
    return {
        repair: tuple(
            islice(
                (name for name, each in zip(batch.ids, repairs, strict=True) if repair in each), MOST_NAMED
            )
        )
        for repair in NAMED
        if any(repairs)
    }


def _find_invalid(system: str, table: DocumentTable) -> dict[str, tuple[int, str, str]]:
    """Return the number of answers that cannot be read, and the first document with one and its reason."""
    at = np.flatnonzero(table.claims["is_invalid"])
    if not len(at):
        return {}
    return {system: (len(at), table.documents[at[0]], table.texts["answer_problem"][at[0]])}


def _find_unreadable(evidence: BatchEvidence, batch: Batch) -> dict[tuple[str, str, bool], tuple[int, str]]:
    """Return the number of gold values that cannot be read, and the first document with one.

    They are named by the path and the type of their field, and whether nothing of them counts.
    """
    unreadable = {}
    at = np.flatnonzero(evidence.flags & FLAG["unreadable_gold"])
    keys = np.stack([evidence.field[at], evidence.outcome[at] == int(Outcome.FAILED)], axis=1)
    for number, left_out in np.unique(keys, axis=0).tolist():
        info, docs = evidence.fields[number], evidence.doc[at[(keys == (number, left_out)).all(axis=1)]]
        unreadable[info.path, info.type, bool(left_out)] = len(docs), batch.ids[docs.min()]
    return unreadable


def _count_unreviewed(plan: Plan, batch: Batch) -> Counter[str]:
    """Return how many fields and keys of maps and trees were never reviewed, and of how many documents."""
    declared = {info.path for info in plan.fields}
    keyed = frozenset(info.path for info in plan.fields if info.type in ("any", "map"))
    counts = [
        len(
            {
                path
                for path in _plain_paths(record.meta.unreviewed_paths)
                if "" in declared or field_of(path) in declared or is_at_or_under(path, keyed)
            }
        )
        for record in batch.gold
    ]
    return Counter(fields=sum(counts), documents=sum(map(bool, counts)))


def _is_given(value: object, nulls: frozenset[str]) -> bool:
    """Return whether a value is more than nothing; `nulls` are the casefolded texts that mean nothing."""
    return not is_empty_text(value, nulls) if isinstance(value, str) else value not in (None, [], {})


def _frames(work: Work, judged: JudgedBatch, number: int, repeat: Repeat | None) -> tuple[Frame, ...]:
    evidence = judged.evidence
    if work.evidence == "none" or not len(evidence):
        return ()
    score_of = work.folding.score_of if work.folding.score else None
    runs = 1 if repeat is None else repeat.runs
    rows = EvidenceRows(
        evidence, work.evidence == "errors", partial(find_costs, score_of, evidence, judged.documents), runs
    )
    if work.folder is None:
        return (rows if work.is_local else rows.pack(),)
    path = work.folder / f"part-{work.number:05}-{number:05}.parquet"
    write_parquet(rows.table(), path)
    return (path,)


# Runs the shards of a scoring run, in this process, in others, or on other machines.

SMALLEST_SHARD = 200
"""Fewer documents than this are not worth a process of their own."""

BATCHES = 5
"""Batches of a shard at most: what another process holds until it is merged."""


def run_shards(
    whole: Work, workers: int, engine: str = "local", progress: Progress | None = None
) -> Generator[ShardResults]:
    """Yield the results of each shard of the work, in the order of documents."""
    documents, is_here = len(whole.matching), engine == "local" and workers == 1
    size = documents if is_here else min(-(-documents // (workers * 4)), BATCHES * whole.batch)
    shards = _Shards(whole, max(size, SMALLEST_SHARD))
    works = map(shards.work, range(len(shards)))
    if is_here or (engine == "local" and len(shards) == 1):
        for work in works:
            yield do_work(work, progress)
        return
    for results in _share_ids(whole.matching.ids, _run_apart(whole, works, workers, engine)):
        if progress is not None:
            progress(results.documents)
        yield results


def _share_ids(ids: Sequence[str], parts: Iterable[ShardResults]) -> Iterator[ShardResults]:
    """Yield the results of shards with the ids that are here already in place of the copies that came."""
    start = 0
    for results in parts:
        partials = {}
        for system, sums in results.partials.items():
            own = iter(ids[start : start + results.documents])
            documents = tuple(
                replace(each, documents=tuple(islice(own, len(each.documents)))) for each in sums.documents
            )
            partials[system] = replace(sums, documents=documents)
        start += results.documents
        yield replace(results, partials=partials)


class _Shards(Struct, frozen=True, eq=False):
    """The work of a run in shards of contiguous documents, so that their files are in gold order."""

    whole: Work
    size: int

    def __len__(self) -> int:
        return -(-len(self.whole.matching) // self.size)

    def work(self, number: int) -> Work:
        """Return the work of one shard, with no more of the sources than it needs."""
        if len(self) == 1:
            return self.whole
        documents = np.arange(len(self.whole.matching))[number * self.size : (number + 1) * self.size]
        matching = self.whole.matching.take(documents)
        return replace(self.whole, matching=matching, number=number, is_local=False)


def _run_apart(whole: Work, works: Iterator[Work], workers: int, engine: str) -> Iterator[ShardResults]:
    """Yield the results of shards that other processes judge."""
    engine, _, address = engine.partition("=")
    if engine == "local":
        from fieldassay.io.workers.program import run_pool

        yield from run_pool(do_work, works, workers)
        return

    for away in run_ray(_do_away, works, workers, address or None):
        yield _take_home(away, whole.folder)


class _Away(Struct, frozen=True, eq=False):
    """The results of a shard from another machine, with the content of the files of its evidence."""

    results: ShardResults
    files: Mapping[str, bytes]


def _do_away(work: Work) -> _Away:
    """Return the results of a shard, judged where the folder for evidence is not at hand."""
    if work.folder is None:
        return _Away(do_work(replace(work, is_local=False)), {})
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as place:
        results = do_work(replace(work, folder=Path(place)))
        files = {file.name: file.read_bytes() for file in sorted(Path(place).iterdir())}
    return _Away(replace(results, frames=()), files)


def _take_home(away: _Away, folder: Path | None) -> ShardResults:
    """Return the results of a shard with its evidence in files here."""
    if folder is None:
        return away.results
    for name, content in away.files.items():
        (folder / name).write_bytes(content)
    violations = {
        system: tuple(part if isinstance(part, bytes) else folder / part.name for part in parts)
        for system, parts in away.results.violations.items()
    }
    frames = tuple(folder / name for name in away.files if name.endswith(".parquet"))
    return replace(away.results, frames=frames, violations=violations)
