"""`fieldassay.Judge`: the judgement of one pair of records, for optimizers, tests and notebooks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter
from threading import Lock
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.io.text.shown import Brief, clip, format_pair
from fieldassay.metrics.evidence import JudgedValue, Kind
from fieldassay.metrics.fold import FoldPlan
from fieldassay.metrics.result.documents import score_documents
from fieldassay.metrics.statistics.columns import DocumentColumns
from fieldassay.paths import is_within
from fieldassay.records.envelope import gold_options, pred_options
from fieldassay.records.keys import SourceOptions
from fieldassay.records.matching import check_gold
from fieldassay.records.record import Batch, Record, to_rows
from fieldassay.records.rows import find_ids
from fieldassay.records.source import Source, open_source
from fieldassay.scoring.engine.assemble import Identity, assemble, list_values
from fieldassay.scoring.engine.coding import json_text
from fieldassay.scoring.fit import fold_keys
from fieldassay.scoring.inputs import ScoreOptions, document_table, drop_absent_fields, survey_tree
from fieldassay.scoring.score import fold_plan
from fieldassay.scoring.shards import GoldBatch, portions
from fieldassay.spec.language.model import Spec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan

# A judgement: the values of one record, and what to say about them.

MOST_SENTENCES = 12
"""Sentences of feedback on one record; the last one counts the rest."""
_LONGEST_PATH, _LONGEST_VALUE = 80, 60


class Judgement(Brief, Struct, frozen=True):
    """The judgement of one record.

    `score` is the score that `fieldassay.score` gives the document: the metric that the spec names for it,
    else accuracy; None if there is nothing to judge. `values` are all values on either side. `problem` says
    why an answer could not be read; it is judged as an empty one.
    """

    score: float | None
    values: tuple[JudgedValue, ...]
    lone_items: tuple[str, ...] = ()
    """The places of items that only one side has, of more than one value."""
    problem: str | None = None

    @property
    def is_perfect(self) -> bool:
        """Return whether there are values, and all of them are right."""
        return _are_right([value for value in self.values if value.outcome != "failed"])

    @property
    def passed(self) -> bool:
        """Return whether all critical values are right, and without critical ones whether all values are."""
        critical = [value for value in self.values if value.is_critical]
        return _are_right(critical) if critical else self.is_perfect

    @property
    def wrong(self) -> tuple[JudgedValue, ...]:
        """Return the values whose outcome is neither `match` nor `failed`."""
        return tuple(value for value in self.values if value.outcome not in ("match", "failed"))

    @property
    def feedback(self) -> tuple[str, ...]:
        """Return what is wrong, in sentences for a person or a model, those that cost most first.

        >>> judge = Judge("fields: {total: money, day: date}")
        >>> wrong = judge({"total": "5.55"}, {"total": 5.6, "day": "1 May 2024"}).feedback
        >>> for sentence in wrong:
        ...     print(sentence)
        total: gold 5.55, predicted 5.6 (the value was rounded)
        day: predicted "1 May 2024", but gold has no value
        """
        groups: defaultdict[str, list[JudgedValue]] = defaultdict(list)
        for value in self.wrong:
            own = (item for item in self.lone_items if is_within(value.path, item))
            is_one_sided = value.outcome in ("missing", "spurious")
            groups[next(own, value.path) if is_one_sided else value.path].append(value)
        ranked = sorted(groups.items(), key=lambda group: _total(group[1]), reverse=True)
        said = [_say(place, values) for place, values in ranked]
        if self.problem is not None:
            said.insert(0, f"the answer could not be read: {self.problem}")
        if len(said) > MOST_SENTENCES:
            said = [*said[: MOST_SENTENCES - 1], f"{len(said) - MOST_SENTENCES + 1} more are wrong"]
        return tuple(said)

    @property
    def explanation(self) -> str:
        """Return the sentences of feedback as one text, or that everything is right."""
        return "\n".join(self.feedback) or "everything is right"

    def by_field(self) -> dict[str, float]:
        """Return the mean score of the values of each field.

        >>> judge = Judge("fields: {total: money, lines: {type: list, items: {fields: {sku: id}}}}")
        >>> gold = {"total": 5, "lines": [{"sku": "a"}, {"sku": "b"}]}
        >>> judge(gold, {"total": 5, "lines": [{"sku": "a"}]}).by_field()
        {'total': 1.0, 'lines[].sku': 0.5}
        """
        scores: defaultdict[str, list[float]] = defaultdict(list)
        for value in self.values:
            if value.score is not None:
                scores[value.field].append(value.score)
        return {field: sum(own) / len(own) for field, own in scores.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as plain data."""
        data = {name: getattr(self, name) for name in ("score", "passed", "is_perfect", "problem")}
        return {**data, "values": list(map(asdict, self.values)), "feedback": list(self.feedback)}


def _are_right(values: Sequence[JudgedValue]) -> bool:
    return bool(values) and all(value.outcome == "match" for value in values)


def _total(values: Sequence[JudgedValue]) -> tuple[bool, float]:
    costs = [value.cost for value in values]
    return any(is_critical for is_critical, _ in costs), sum(lost for _, lost in costs)


def _say(place: str, values: Sequence[JudgedValue]) -> str:
    """Return a sentence on a wrong value, or on all values of an item without a partner."""
    from fieldassay.reports.wording import DIAGNOSES, describe

    value, path = values[0], clip(place, _LONGEST_PATH)
    if place != value.path:
        is_gold = value.outcome == "missing"
        shown = ", ".join(_show(value.gold if is_gold else value.predicted) for value in values[:4])
        return (
            f"{path}: the item is missing from the prediction ({shown})"
            if is_gold
            else f"{path}: the predicted item has no counterpart in gold ({shown})"
        )
    if value.outcome == "missing":
        return f"{path}: the prediction has no value, gold is {_show(value.gold)}"
    if value.outcome == "spurious":
        return f"{path}: predicted {_show(value.predicted)}, but gold has no value"
    gold, pred = format_pair(json_text(value.gold), json_text(value.predicted), _LONGEST_VALUE)
    return f"{path}: gold {gold}, predicted {pred} ({describe(DIAGNOSES, value.diagnoses[0])})"


def _show(value: Any) -> str:
    return clip(json_text(value), _LONGEST_VALUE)


# The judge: a spec, compiled once, and how it reads both sides.

_BATCH = 500
"""Pairs judged at a time."""
_guessing = Lock()


class Bench(Struct, frozen=True, eq=False):
    """A plan with the metric of a document's score, and how gold and predictions are read by it."""

    plan: Plan
    folding: FoldPlan
    of_gold: SourceOptions
    of_pred: SourceOptions

    @classmethod
    def of(cls, plan: Plan) -> "Bench":
        """Return the bench of a plan."""
        return cls(plan, fold_plan(plan, ScoreOptions()), gold_options(plan), pred_options(plan))


class Judge:
    """Judges one pair of records at a time, by the engine and with the numbers of `fieldassay.score`.

    `spec` is anything that `score` takes: a path, the text of a spec, a mapping, a Pydantic model or a
    compiled plan. It is compiled once; the judge pickles, and threads may share it. Without a spec, one is
    guessed from the first pair or batch of pairs. One record may show that a text is a date, but rarely which
    part is the day: write a spec where the number matters.

    >>> judge = Judge("fields: {total: {type: money, critical: true}, paid: boolean}")
    >>> judgement = judge({"total": "5.50", "paid": True}, 'Here it is: ```json {"total": 5.5}```')
    >>> judgement.score, judgement.passed, judgement.is_perfect, judgement.feedback
    (0.5, True, False, ('paid: the prediction has no value, gold is true',))
    """

    def __init__(self, spec: Any = None) -> None:
        self._bench = None if spec is None else Bench.of(read_plan(spec))

    @property
    def spec(self) -> Spec | None:
        """Return the spec, or None before one is guessed."""
        return None if self._bench is None else self._bench.plan.spec

    def __call__(self, gold: Any, pred: Any) -> Judgement:
        """Return the judgement of a prediction: a dict, a Pydantic object, or the text of an answer.

        None stands for no prediction. Raises `ProblemsError` if gold cannot be read.
        """
        return self.many([(gold, pred)])[0]

    def many(self, pairs: Iterable[tuple[Any, Any]]) -> list[Judgement]:
        """Return the judgements of pairs of gold and prediction, in their order."""
        pairs = list(pairs)
        bench = self._settle(pairs)
        judgements: list[Judgement] = []
        opened = (_open(bench, gold, pred) for gold, pred in pairs)
        for plan, same in groupby(opened, attrgetter("plan")):
            while part := list(islice(same, _BATCH)):
                judgements += _judge(bench, plan, part)
        return judgements

    def _settle(self, pairs: Sequence[tuple[Any, Any]]) -> Bench:
        """Return the bench; without a spec, that of the spec that the first pairs suggest."""
        with _guessing:
            if self._bench is None:
                from fieldassay.commands.init import spec_from_gold

                gold, predictions = map(list, zip(*pairs, strict=True))
                self._bench = Bench.of(spec_from_gold(gold, predictions=predictions).plan)
            return self._bench


class _Opened(Struct, frozen=True):
    """A pair as read, with the plan that fits it."""

    plan: Plan
    gold: Record
    pred: Record | None


def _open(bench: Bench, gold: Any, pred: Any) -> _Opened:
    """Return a pair as `fieldassay.score` reads one, whatever the ids of the two."""
    source, of_pred = _source_of(gold, bench.of_gold, "gold"), bench.of_pred
    if source.options.is_tree:
        source, as_data = survey_tree(source)
        of_pred = replace(of_pred, declared=of_pred.declared | as_data)
    [right] = records = source.fetch([0])
    check_gold(records)
    answer = None if pred is None else _source_of(pred, of_pred, "prediction").fetch([0])[0]
    plan = drop_absent_fields(bench.plan, source)
    sides = [record.data for record in (right, answer) if record is not None]
    return _Opened(fold_keys(plan, lambda: [sides]), right, answer)


def _source_of(record: Any, options: SourceOptions, label: str) -> Source:
    """Return the source of a record, under its own id or without one."""
    [name] = find_ids(to_rows([record]), options.names)
    return open_source({"record" if name is None else name: record}, options, label)


def _judge(bench: Bench, plan: Plan, pairs: Sequence[_Opened]) -> Iterator[Judgement]:
    ids = tuple(map(str, range(len(pairs))))
    whole = Batch(ids, tuple(pair.gold for pair in pairs), {"": tuple(pair.pred for pair in pairs)})
    for batch in portions(plan, whole):
        yield from _judge_portion(bench, plan, batch)


def _judge_portion(bench: Bench, plan: Plan, batch: Batch) -> Iterator[Judgement]:
    right, answers = GoldBatch.of(plan, batch.gold), batch.predictions[""]
    judged = right.judge(answers)
    confidences = [None if record is None else record.meta.confidence for record in answers]
    evidence = assemble(plan, judged, Identity("", batch.ids), confidences)
    columns = DocumentColumns(evidence, document_table(plan, batch.gold, answers, right.types, ()))
    folding = bench.folding
    scores = score_documents(folding.bound, folding.score_of if folding.score else None, columns)
    values: list[list[JudgedValue]] = [[] for _ in answers]
    lone: list[list[str]] = [[] for _ in answers]
    for doc, kind, value in list_values(judged, (Kind.VALUE, Kind.ITEM)):
        if kind == Kind.VALUE:
            values[doc].append(value)
        elif value.outcome in ("missing", "spurious"):
            lone[doc].append(value.path)
    for at, (score, answer) in enumerate(zip(scores.tolist(), answers, strict=True)):
        yield Judgement(
            None if np.isnan(score) else score,
            tuple(values[at]),
            tuple(place for place in lone[at] if all(value.path != place for value in values[at])),
            None if answer is None or answer.data is not None else answer.invalid or "no readable answer",
        )
