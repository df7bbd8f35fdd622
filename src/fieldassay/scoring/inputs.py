"""What is scored: options, gold and predictions opened, documents chosen, and what is known of them."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.io.json_value import id_text
from fieldassay.io.text.shown import format_count, make_printable
from fieldassay.metrics.estimate import parts_of
from fieldassay.metrics.evidence import ANSWER_COLUMNS, DocumentTable, name_families
from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, document_keys
from fieldassay.options import OptionRecord, Positive, check_names, option_names
from fieldassay.paths import join_path, split_path, value_at
from fieldassay.records.answers.answer import MOST_KEPT
from fieldassay.records.envelope import GOLD_ONLY, META_SHAPES, gold_options, pred_options
from fieldassay.records.files import seen_documents, split_sheet
from fieldassay.records.keys import MAX_LISTED, Positions, SourceOptions
from fieldassay.records.matching import FORMAT, Matching, check_gold, find_duplicates, format_of, match
from fieldassay.records.record import CASE_KEY, NOTHING_BESIDE, PREDICTION_KEY, Record, Repeat, read_number
from fieldassay.records.source import (
    CHUNK,
    Source,
    are_runs,
    name_repeats,
    open_source,
    open_systems,
    split_runs,
    split_variants,
)
from fieldassay.scoring.engine.scopes import canonical_type
from fieldassay.spec.language.model import DataOptions, Options, StatisticsOptions
from fieldassay.spec.language.names import ID_NAMES, TOKEN_KINDS, Table, cost_usd
from fieldassay.spec.plan.compile import read_plan, with_sections
from fieldassay.spec.plan.nodes import Plan

# The options of a scoring run.


class ScoreOptions(OptionRecord, frozen=True):
    """The options of scoring that no spec has; none of them changes the meaning of a judgement.

    `metrics` and `slices` replace the spec's, `gates` come on top of the spec's; metrics named in gates are
    always computed. `evidence` chooses the rows to keep. `limit` takes the first documents only, `batch`
    documents are judged at a time (None: 1,000, or 500 where the evidence of more than 3,000 is kept),
    `workers` processes share the work (None: one, or as many as there are cores from 20,000 documents on).
    """

    metrics: tuple[str, ...] | None = None
    slices: tuple[str, ...] | None = None
    gates: tuple[str, ...] = ()
    evidence: Literal["all", "errors", "none"] = "all"
    workers: Positive | None = 1
    engine: Annotated[
        str,
        Meta(
            pattern="^(local|ray(=.+)?)$",
            description="local, ray or ray=ADDRESS",
            examples=["local", "ray", "ray=ADDRESS"],
        ),
    ] = "local"
    """The place of the work: `local`, `ray` (started on this machine), or `ray=ADDRESS` (a cluster)."""
    batch: Annotated[int, Meta(ge=1, examples=[1000])] | None = None
    limit: Positive | None = None
    only: tuple[str, ...] | None = None
    """The documents that are scored, by id; None: all."""
    fields: tuple[str, ...] | None = None
    """The top-level fields to score; None: all. The spec is restricted to them, so its digest differs."""
    where: tuple[str, ...] = ()
    """Chooses documents by the content of their gold, as in `type=invoice`: by keys of slices."""
    holdout: Annotated[float, Meta(gt=0, lt=1, examples=[0.5])] | None = None
    """The share of documents kept apart for the verdict, by a digest of their ids: the others are scored."""
    verdict: bool = False
    """Whether the documents that `holdout` keeps apart are scored, and the others are not."""
    evidence_folder: Path | None = None
    """Where evidence goes while the run lasts, in parts, instead of being held in memory."""
    keeps_statistics: bool = False
    """Whether the result supports later comparisons, field by field too, even with a single system."""

    def share(self, documents: int) -> tuple[int, int]:
        """Return the workers of so many documents, and the documents that each judges at a time."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = self.workers or (cores if documents >= _MANY_DOCUMENTS else 1)
        is_much = self.evidence != "none" and documents > _FEW_DOCUMENTS
        return workers, self.batch or (500 if is_much else 1000)


_FEW_DOCUMENTS, _MANY_DOCUMENTS = 3_000, 20_000


def with_keywords(spec: Any, options: ScoreOptions, keywords: Mapping[str, Any]) -> tuple[Plan, ScoreOptions]:
    """Return the plan of a spec, and the options, with those that are given in place of theirs.

    Raises `ProblemsError` for each name that is no option, and for each value that is none.

    >>> spec, keywords = "fields: {total: money}", {"seed": 1, "metrics": "f1"}
    >>> plan, options = with_keywords(spec, ScoreOptions(), keywords)
    >>> plan.spec.statistics.seed, options.metrics
    (1, ('f1',))
    """
    plan, own = read_plan(spec), option_names(ScoreOptions)
    check_names(keywords, (*own, *option_names(DataOptions), *option_names(StatisticsOptions)), "score")
    keywords_set = {name: value for name, value in keywords.items() if value is not None}
    sections = {name: value for name, value in keywords_set.items() if name not in own}
    return with_sections(plan, **sections), replace(
        options, **{name: keywords_set[name] for name in own if name in keywords_set}
    )


# Metadata of documents beside the judgements: timing, tokens, cost, failures, values for slices.

UNWRAPPED = frozenset(
    {
        "code_fence",
        "prose_around",
        "tool_call",
        "list_of_one",
        "list_item",
        "wrapped",
        "several_wrapped",
        "json_in_text",
        "one_text",
        "value_object",
        "confidence_beside",
        "confidence_in_words",
    }
)
"""Wrappings removed from an answer without changing it: recorded, but no repairs."""

TOKENS = ("prompt_tokens", "completion_tokens", "embedding_tokens")


def document_types(plan: Plan, gold: Sequence[Record]) -> list[str | None]:
    """Return the canonical type of each gold document, None for types unknown to the spec."""
    declared = plan.spec.document_type
    if declared is None:
        return [None] * len(gold)
    return [canonical_type(plan, value_at(record.data, declared.field)) for record in gold]


def document_table(
    plan: Plan,
    gold: Sequence[Record],
    predictions: Sequence[Record | None],
    types: Sequence[str | None],
    slices: Sequence[str],
    cluster: str | None = None,
) -> DocumentTable:
    """Return the table of one batch's documents of one system; `slices` are the keys for grouping them.

    `cluster` names the family of each document, which gold alone says.
    """
    ids = tuple(record.id for record in gold)
    groups = {key: read_slice(key, gold, types, predictions) for key in slices}
    if cluster is not None:
        groups[cluster] = list_families(cluster, gold, types)
    groups["repairs"] = tuple(record.meta.repairs if record is not None else () for record in predictions)
    problems = tuple(_problem(record) for record in predictions)
    starts = tuple("" if record is None else record.start for record in predictions)
    texts = dict(zip(ANSWER_COLUMNS, (problems, starts), strict=True))
    return DocumentTable(ids, _numbers(plan.spec.prices, predictions), _claims(predictions), groups, texts)


def _problem(record: Record | None) -> str:
    """Return the reason for an unreadable answer, shortened; empty for a readable one or none at all."""
    if record is None or (record.data is not None and not record.meta.error):
        return ""
    return (record.meta.error or record.invalid or "no readable answer")[:MOST_KEPT]


def _numbers(prices: Options, predictions: Sequence[Record | None]) -> dict[str, npt.NDArray[np.float64]]:
    numbers = {"duration_ms": _column(predictions, lambda record: record.meta.duration_ms)}
    if not any(record.meta.usage for record in predictions if record is not None):
        return numbers | {
            name: np.full(len(predictions), np.nan) for name in (*TOKENS, "total_tokens", "cost_usd")
        }
    for name in TOKENS:
        numbers[name] = _column(predictions, lambda record, name=name: _amount(record.meta.usage.get(name)))  # type: ignore[misc]
    numbers["total_tokens"] = _column(predictions, lambda record: total_tokens(record.meta.usage))
    table = {model: dict(kinds) for model, kinds in prices}
    numbers["cost_usd"] = _column(predictions, lambda record: _cost(table, record.meta.usage))
    return numbers


def total_tokens(usage: Mapping[str, Any]) -> float | None:
    """Return the tokens of one document: the sum of the known kinds, else the given total, else None.

    >>> total_tokens({"prompt_tokens": 900, "completion_tokens": 80})
    980.0
    >>> total_tokens({"total_tokens": 5}), total_tokens({})
    (5.0, None)
    """
    used = [count for name in TOKENS if (count := _amount(usage.get(name))) is not None]
    return sum(used) if used else _amount(usage.get("total_tokens"))


def _cost(prices: Table, usage: Mapping[str, Any]) -> float | None:
    """Return the cost of one document: its tokens by the table, else what its row says, else None.

    >>> _cost({"m": {"prompt": 2.0}}, {"model": "m", "prompt_tokens": 500_000, "cost_usd": 7})
    1.0
    >>> _cost({}, {"model": "m", "prompt_tokens": 500_000, "cost_usd": 0.25}), _cost({}, {"prompt_tokens": 5})
    (0.25, None)
    """
    tokens = {kind: _amount(usage.get(f"{kind}_tokens")) for kind in TOKEN_KINDS}
    priced = cost_usd(prices, str(usage.get("model")), tokens)
    return _amount(usage.get("cost_usd")) if priced is None else priced


def _amount(value: Any) -> float | None:
    number = None if value is None or isinstance(value, str) else read_number(value)
    return number if number is not None and number >= 0 else None


def _column(
    records: Sequence[Record | None], take: Callable[[Record], float | None]
) -> npt.NDArray[np.float64]:
    values = (None if record is None else take(record) for record in records)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _claims(predictions: Sequence[Record | None]) -> dict[str, npt.NDArray[np.bool_]]:
    claims: dict[str, Callable[[Record | None], bool]] = {
        "has_prediction": lambda record: record is not None,
        "is_invalid": lambda record: record is not None and record.data is None and not record.meta.error,
        "has_error": lambda record: (
            record is not None and bool(record.meta.error) and not _is_timeout(record)
        ),
        "is_timeout": lambda record: record is not None and _is_timeout(record),
        "is_unparsed": lambda record: (
            record is not None
            and (record.meta.parse_success is False or (record.data is None and not record.meta.error))
        ),
        "is_repaired": lambda record: (
            record is not None and record.data is not None and bool(set(record.meta.repairs) - UNWRAPPED)
        ),
    }
    odd = [
        at
        for at, record in enumerate(predictions)
        if record is None or record.data is None or record.meta is not NOTHING_BESIDE
    ]
    masks = {name: np.full(len(predictions), name == "has_prediction") for name in claims}
    for name, claim in claims.items() if odd else ():
        masks[name][odd] = [claim(predictions[at]) for at in odd]
    return masks


def _is_timeout(record: Record) -> bool:
    error = (record.meta.error or "").casefold()
    return "timeout" in error or "timed out" in error


def read_slice(
    key: str,
    gold: Sequence[Record],
    types: Sequence[str | None],
    predictions: Sequence[Record | None] = (),
) -> tuple[tuple[str, ...], ...]:
    """Return each document's values of a slice key: type, fact beside gold or prediction, or gold value."""
    try:
        steps = split_path(key)
    except ValueError:  # a key beside the data, which any text can be
        steps = (key,)
    name = str(steps[0]) if len(steps) == 1 else key

    def read(gold: Record, kind: str | None, prediction: Record | None) -> tuple[str, ...]:
        if key in ("tag", "tags"):
            return tuple(dict.fromkeys(gold.meta.tags + (prediction.meta.tags if prediction else ())))
        if key == "variant":
            variant = gold.meta.variant or (prediction.meta.variant if prediction else None)
            return (variant,) if variant else ()
        if key == "type" and kind:
            return (kind,)
        attribute = _attribute(gold, prediction, name)
        if attribute or key == "type":
            return attribute
        value = value_at(gold.data, steps)
        if value is None and key == FORMAT:
            value = format_of(gold.id)
        text = str(value) if isinstance(value, bool) else id_text(value)
        return () if text is None else (text,)

    return tuple(map(read, gold, types, predictions or [None] * len(gold)))


def list_families(
    cluster: str, gold: Sequence[Record], types: Sequence[str | None]
) -> tuple[tuple[str, ...], ...]:
    """Return the family of each document by a key, or by a pattern of ids; () if it has none.

    `{family}` is as long as the pattern allows, `*` stands for any characters; matching takes linear time.
    """
    if "{family}" not in cluster:
        return read_slice(cluster, gold, types)
    import polars as pl

    before, after = (".*?".join(map(re.escape, part.split("*"))) for part in cluster.split("{family}"))
    ids = pl.Series([make_printable(record.id) for record in gold], dtype=pl.String)
    families = ids.str.extract(f"(?s)^{before}(.+){after}$")
    return tuple(() if name is None else (name,) for name in families.to_list())


def name_units(cluster: str | None, gold: Sequence[Record], types: Sequence[str | None]) -> tuple[str, ...]:
    """Return what each document is drawn with: the name of its family, or its id where nothing is grouped."""
    families = None if cluster is None else list_families(cluster, gold, types)
    return name_families([record.id for record in gold], families)


_LONGEST_VALUE = 60
"""Longer texts are no names of vendors, templates or folders."""

_MOST_KEYS = 100
"""So many keys are looked at: those that most documents have."""


def list_candidates(plan: Plan, gold: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """Return the paths of keys that may name families, with each document's value: texts, and parts of ids.

    Fields of a type that tells kinds or amounts are none. A document without a value is one of its own.
    """
    types = {leaf.path: leaf.type for leaf in plan.fields}
    declared = plan.spec.document_type
    refused = {path for path, kind in types.items() if kind not in ("text", "id")}
    refused |= {"type", declared.field if declared else "type", *(plan.spec.data.id_key or ID_NAMES)}
    sources = [source for record in gold for source in (record.data or {}, record.meta.attributes) if source]
    often = Counter(chain.from_iterable(sources))

    def count_values(key: str) -> int:
        texts = [str(value) for source in sources if (value := source.get(key)).__class__ in (str, int)]
        return len({text.strip() for text in texts if len(text) <= _LONGEST_VALUE})

    # Values of their own in more than half of the documents are no families.
    keys = sorted(often.keys() - refused, key=lambda key: (-often[key], key))[:_MOST_KEYS]
    shared = (join_path([key]) for key in keys if FEW_FAMILIES <= count_values(key) <= len(gold) / 2)
    patterns = (f"{{family}}{sign}*" for sign in "/_-" if any(sign in record.id for record in gold))
    return {key: name_units(key, gold, [None] * len(gold)) for key in (*shared, *patterns)}


def _attribute(gold: Record, prediction: Record | None, key: str) -> tuple[str, ...]:
    for record in (gold, prediction):
        if record is not None and key in record.meta.attributes:
            return (record.meta.attributes[key],)
        if record is not None and key in record.meta.labels:
            return record.meta.labels[key]
    return ()


# The choice of documents to judge: those whose gold has the chosen values under keys of slices.

CHOSEN = "chosen"
"""The kind of the note on the chosen documents."""


class Choice(Struct, frozen=True):
    """The chosen documents in gold order, and the note on them."""

    positions: Positions
    note: Problem


def parse_conditions(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values wanted by key. Raises `ProblemsError` for each text that is not KEY=VALUE.

    >>> parse_conditions(["type=invoice", "type=receipt", "difficulty=hard"])
    {'type': ('invoice', 'receipt'), 'difficulty': ('hard',)}
    """
    conditions: dict[str, dict[str, None]] = {}
    problems = []
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if key and value:
            conditions.setdefault(key, {})[value] = None
        else:
            problems.append(
                Problem(
                    "where",
                    f"{text[:200]!r} is not a condition",
                    "write KEY=VALUE, as in type=invoice",
                    "where",
                )
            )
    if problems:
        raise ProblemsError(problems)
    return {key: tuple(values) for key, values in conditions.items()}


def choose_documents(plan: Plan, gold: Source, texts: Sequence[str]) -> Choice | None:
    """Return the documents whose gold has, under each key, one of its chosen values; None without a choice.

    A key is one that results can be sliced by; predictions have no say. Raises `ProblemsError` for a key that
    no gold document has, for a value that none has under its key, and if no document has all of them.
    """
    wanted = parse_conditions(texts)
    if not wanted:
        return None
    whole = replace(gold, options=replace(gold.options, left_out=frozenset()))
    masks = {key: np.zeros(len(gold), dtype=bool) for key in wanted}
    seen: dict[str, Counter[str]] = {key: Counter() for key in wanted}
    for start, records in _read(whole):
        types = document_types(plan, records)
        for key, values in wanted.items():
            slices = read_slice(key, records, types)
            seen[key].update(value for document_values in slices for value in document_values)
            masks[key][start : start + len(records)] = [
                not set(values).isdisjoint(document_values) for document_values in slices
            ]
    problems = [
        problem
        for key, values in wanted.items()
        for problem in _find_unknown(plan, whole, key, values, seen[key])
    ]
    said = " and ".join(" or ".join(f"{key}={value}" for value in values) for key, values in wanted.items())
    chosen = np.flatnonzero(np.logical_and.reduce(list(masks.values())))
    if not problems and not len(chosen):
        problems.append(
            Problem(gold.label, f"no document has {said}", "leave out one of these conditions", "where")
        )
    if problems:
        raise ProblemsError(problems)
    return Choice(chosen, Problem("gold", f"{len(chosen):,} of {len(gold):,} documents: {said}", kind=CHOSEN))


def hold_out(plan: Plan, gold: Source, options: ScoreOptions) -> Choice:
    """Return the documents for choosing, or those that `holdout` keeps apart for the verdict.

    A digest of seed and id decides, or of the family under `cluster`, so that a document stays where it is
    when gold grows. Raises `ProblemsError` where there is no such document.
    """
    statistics, names = plan.spec.statistics, gold.ids
    if statistics.cluster is not None:
        whole = replace(gold, options=replace(gold.options, left_out=frozenset()))
        names = [
            name
            for _, records in _read(whole)
            for name in name_units(statistics.cluster, records, document_types(plan, records))
        ]
    keys = document_keys([f"holdout {name}" for name in names], statistics.seed)
    chosen = np.flatnonzero((keys / 2.0**64 < (options.holdout or 0.0)) == options.verdict)
    [said] = parts_of({"holdout": name_part(options, statistics.seed)})
    if not len(chosen):
        raise problem(
            "holdout",
            f"none of {format_count(len(names), 'document')} is in {said.words}",
            "take another share or seed, or score without it",
            "holdout",
        )
    return Choice(
        chosen, Problem("gold", f"{len(chosen):,} of {len(names):,} documents: {said}", kind=CHOSEN)
    )


def name_part(options: ScoreOptions, seed: int) -> str | None:
    """Return the part that is scored by `holdout`, as its options on a command line; None for the whole."""
    part = f"{options.holdout} --seed {seed}{' --verdict' if options.verdict else ''}"
    return None if options.holdout is None else part


def find_seen(matching: Matching) -> dict[str, Positions]:
    """Return by system the documents that it was shown as examples or tuned on, where that is known."""
    shown = {system: seen_documents(source.label) for system, source in matching.predictions.items()}
    return {
        system: np.flatnonzero([name in seen for name in matching.ids])
        for system, seen in shown.items()
        if seen and not seen.isdisjoint(matching.ids)
    }


def warn_of_seen(matching: Matching) -> tuple[str, ...]:
    """Return a warning for each system that was tuned on some of the documents."""
    return tuple(
        f"{system} was tuned on {len(seen):,} of {format_count(len(matching), 'document')} (examples of its "
        "prompt, or `tuned_on`), which flatter it, or count as missing; score it on other documents"
        for system, seen in find_seen(matching).items()
    )


def _read(gold: Source) -> Iterator[tuple[int, list[Record]]]:
    """Yield the gold records in portions, each with the position of its first record.

    Raises `ProblemsError` for unreadable ones.
    """
    start = 0
    for records in gold.batches():
        check_gold(records)
        yield start, records
        start += len(records)


def _find_unknown(
    plan: Plan, gold: Source, key: str, values: Sequence[str], seen: Counter[str]
) -> list[Problem]:
    """Return a problem for a key in no document, or for each value in none, with the alternatives."""
    if not seen:
        return [
            Problem(
                gold.label,
                f"no document has the key {key[:100]!r} of where",
                f"its keys: {_list(_keys(plan, gold))}",
                "where",
            )
        ]
    listed = _list([f"{value} ({count:,})" for value, count in seen.most_common()])
    return [
        Problem(gold.label, f"no document has {key}={value[:100]}", f"its values: {listed}", "where")
        for value in values
        if value not in seen
    ]


def _keys(plan: Plan, gold: Source) -> list[str]:
    """Return the keys under which the first gold documents have a value, in order of appearance."""
    keys: dict[str, None] = {}
    for record in gold.fetch(range(min(CHUNK, len(gold)))):
        meta = record.meta
        named = {
            "type": plan.spec.document_type is not None,
            "variant": meta.variant is not None,
            "tag": bool(meta.tags),
        }
        keys |= dict.fromkeys(
            [*(key for key, is_there in named.items() if is_there), *meta.attributes, *meta.labels]
        )
        keys |= dict.fromkeys(
            key for key, value in (record.data or {}).items() if isinstance(value, str | int | float)
        )
    return list(keys)


def _list(names: Sequence[str]) -> str:
    return list_names([name[:100] for name in names], MAX_LISTED) or "none"


# Opening gold and predictions: paths, frames, lists and mappings, as sources that are matched by id.

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
    others = dict(plan.root.other_names)
    left_out = frozenset(
        key
        for name in plan.slots
        if wanted is not None and name not in wanted
        for key in (name, *others.get(name, ()))
    )
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
    if opened is not None and _are_documents(predictions, opened.ids):
        predictions = {"prediction": predictions}
    for name, records in name_systems(predictions).items():
        try:
            opened_sources, own = _open_system(name, records, of_predictions)
        except ProblemsError as error:
            problems += error.problems
            continue
        problems += _find_repeated(name, opened_sources, sources)
        sources |= opened_sources
        repeats |= own
    if problems or opened is None:
        raise ProblemsError(problems)
    matching = match(opened, sources, plan.spec.data.match_ids, None if chosen is None else chosen.positions)
    matching = replace(matching, repeats=repeats) if repeats else matching
    return matching if chosen is None else replace(matching, notes=(chosen.note, *matching.notes))


def _are_documents(predictions: Mapping[str, Records] | Records, ids: Sequence[str]) -> bool:
    """Return whether a mapping has a record for each id of gold, and not the records of each system."""
    if not isinstance(predictions, Mapping) or not all(
        isinstance(records, Mapping) for records in predictions.values()
    ):
        return False
    gold_ids = set(ids)
    return _has_record(predictions, gold_ids) and not any(
        _has_record(records, gold_ids) for records in predictions.values()
    )


def _has_record(records: Mapping[Any, Any], gold_ids: Collection[str]) -> bool:
    """Return whether a mapping has a record under a known id; a field of that name has another value."""
    return any(isinstance(record, Mapping) and id_text(name) in gold_ids for name, record in records.items())


def open_gold(plan: Plan, gold: Records) -> Source:
    """Return gold alone. Raises `ProblemsError` where it cannot be read."""
    return open_source(gold, gold_options(plan), "gold")


def gold_ids(plan: Plan, gold: Records) -> tuple[str, ...]:
    """Return the ids of gold in their order. Raises `ProblemsError` where it cannot be read."""
    return tuple(open_gold(plan, gold).ids)


def gold_values(plan: Plan, gold: Records, name: str) -> dict[str, str]:
    """Return what gold records have under a name, declared or not, by id; records without it are left out."""
    records = open_gold(plan, gold)
    values = ((record.id, (record.data or {}).get(name)) for record in records)
    return {id_: str(value) for id_, value in values if value}


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
            opened, _ = _open_system(name, records, options)
        except ProblemsError as error:
            problems += error.problems
            continue
        problems += [problem for source in opened.values() for problem in find_duplicates(source)]
        problems += _find_repeated(name, opened, sources)
        sources |= opened
    if problems:
        raise ProblemsError(problems)
    return sources


def _find_repeated(name: str, opened: Mapping[str, Source], sources: Mapping[str, Source]) -> list[Problem]:
    return [
        Problem(str(name), f"system {other!r} is given twice", "name them apart", "duplicate")
        for other in opened
        if other in sources
    ]


def drop_absent_fields(plan: Plan, gold: Source) -> Plan:
    """Return the plan without top-level fields absent from all gold, if the spec skips those; else the plan.

    Digest and spec stay those of the whole plan.
    """
    if not plan.spec.skips_absent_fields:
        return plan
    present: set[str] = set()
    wanted = set(plan.slots)
    for batch in gold.batches():
        for record in batch:
            present |= wanted & (record.data or {}).keys()
        if present == wanted:
            return plan
    children = tuple(child for child in plan.root.children if child.name in present)
    slots = tuple(name for name in plan.slots if name in present)
    numbers = {name: number for number, name in enumerate(slots)}
    fields = tuple(replace(info, slot=numbers.get(plan.slots[info.slot], -1)) for info in plan.fields)
    absent = (child for child in plan.root.children if child.name not in present)
    skipped = frozenset(name for child in absent for name in (child.name, *getattr(child, "unit_fields", ())))
    root = replace(plan.root, children=children, skipped=skipped)
    return replace(plan, root=root, fields=fields, slots=slots)


def name_systems(predictions: Mapping[str, Records] | Records) -> dict[str, Records]:
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
    _check_name(name)
    if not are_runs(records):
        opened = _open_predictions(name, records, options)
        runs = {system: parts for system, source in opened.items() if (parts := split_runs(system, source))}
    elif len(records) == 1:
        return _open_system(name, records[0], options)
    else:
        runs = {name: _open_runs(name, records, options)}
        opened = {name: runs[name][0]}
    named: dict[str, Source] = {}
    repeats: dict[str, Repeat] = {}
    for system, source in opened.items():
        _check_name(system)
        if system not in runs:
            named[system] = source
            continue
        for repeat, part in zip(name_repeats(system, len(runs[system])), runs[system], strict=True):
            named[repeat.name], repeats[repeat.name] = part, repeat
    return named, repeats


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        remedy = "name it by a text, or documents by their ids in gold"
        raise problem("predictions", f"a system is named {name!r}", remedy, "unclear_system")


def _open_runs(name: str, records: Sequence[Records], options: SourceOptions) -> list[Source]:
    """Return the sources of the repeated runs of a system; raise `ProblemsError` with all problems of all."""
    problems: list[Problem] = []
    sources: list[Source] = []
    for number, part in enumerate(records, 1):
        label = f"{name}, run {number}"
        if options.systems_key is not None:
            remedy = "give the file of one run at a time"
            problems.append(Problem(label, "a key of systems, and several runs", remedy, "systems_key"))
            continue
        try:
            variants = split_variants(name, open_source(part, options, label))
        except ProblemsError as error:
            problems += error.problems
            continue
        if len(variants) > 1:
            what = f"has several variants ({', '.join(variants)}), and cannot be one run of {name}"
            problems.append(Problem(label, what, "give the runs of one variant", "variants"))
        sources += variants.values()
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
        for system, opened_source in opened.items()
        for part, source in split_variants(system, opened_source).items()
    }


def survey_tree(gold: Source) -> tuple[Source, frozenset[str]]:
    """Return gold with notes on keys taken as metadata, and the keys of `data_names` in its trees.

    Those are data in predictions too, and so are those of `GOLD_ONLY` that no gold record has: predictions
    have no use for them as metadata.
    """
    data_keys: set[str] = set()
    metadata_counts: Counter[str] = Counter()
    for record in gold:
        data_keys |= {*META_SHAPES, PREDICTION_KEY, CASE_KEY} & (record.data or {}).keys()
        metadata_counts.update(
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
        for key, count in metadata_counts.items()
        if count and gold.options.key_of({}) is None
    ]
    if gold.options.key_of({}) is None:
        data_keys |= {key for key in GOLD_ONLY if not metadata_counts[key]}
    return replace(gold, notes=(*gold.notes, *notes)), frozenset(data_keys)
