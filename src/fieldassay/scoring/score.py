"""Scores of predictions against gold, and samples of documents."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError, problem
from fieldassay.io.files.whole_files import OUTER_LINK, WRITTEN_FILE, WRITTEN_FOLDER
from fieldassay.io.json_value import id_text
from fieldassay.io.text.shown import Brief, clip, format_count
from fieldassay.metrics.catalogue.definitions import DEFAULT, select_metrics
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.comparisons.systems import (
    check_reference,
    compare_partials,
    remark_comparisons,
    with_compared,
    with_kept,
)
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.evidence import evidence_schema
from fieldassay.metrics.fold import FoldPlan, Partial, estimates
from fieldassay.metrics.repeats import Repeats
from fieldassay.metrics.result.documents import scan_documents
from fieldassay.metrics.result.result import WITHOUT, Lazy, Result, find_ungated
from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, find_likeness
from fieldassay.paths import join_path, split_path
from fieldassay.records.keys import Positions, cap_problems
from fieldassay.records.matching import BY_POSITION, FORMAT, JOINED, Matching, unknown_document
from fieldassay.scoring.checking import CHECK_METRICS, Tallies, count_checks, join_tallies, name_idle
from fieldassay.scoring.fit import (
    GOLD,
    count_fill,
    describe_ambiguity,
    describe_fit,
    describe_misplaced,
    find_misfits,
    fold_keys_of_matching,
    merge_fills,
)
from fieldassay.scoring.inputs import (
    CHOSEN,
    Records,
    ScoreOptions,
    drop_absent_fields,
    hold_out,
    list_candidates,
    name_part,
    open_inputs,
    warn_of_seen,
    with_keywords,
)
from fieldassay.scoring.provenance import digest_rows, freeze_plan, provenance
from fieldassay.scoring.shards import (
    EvidenceRows,
    Progress,
    ShardResults,
    Work,
    count_classes,
    join_results,
    remark_repairs,
    run_shards,
)
from fieldassay.spec.language.names import ID_NAMES
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.yaml_text import Places, Report
from fieldassay.spec.plan.compile import check_expressions, gate_metrics, restrict, vocabulary_of
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl


# The shipped sample: where its files are.

SYSTEMS = ("atlas", "birch", "cedar")


class Sample(Brief, Struct, frozen=True):
    """The paths of the sample's files."""

    gold: Path
    predictions: dict[str, Path]
    spec: Path


class PrintedReceipts(Struct, frozen=True):
    """Receipts of the sample as printed, two systems that read them, and the answers that one gave."""

    documents: Path
    gold: tuple[dict[str, Any], ...]
    spec: Path
    systems: Path
    recorded: Path


def printed_receipts() -> PrintedReceipts:
    """Return the printed receipts of the sample, with their gold.

    >>> len(printed_receipts().gold)
    18
    """
    folder = Path(__file__).parent / "sample"
    documents = folder / "documents"
    names = {path.stem for path in documents.iterdir()}
    rows = map(json.loads, (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    gold = tuple(row for row in rows if row["id"] in names)
    return PrintedReceipts(
        documents, gold, folder / "spec.yaml", folder / "systems.yaml", folder / "recorded"
    )


def sample() -> Sample:
    """Return the shipped sample: 72 invented documents and the predictions of three invented systems.

    >>> sample().gold.name, list(sample().predictions)
    ('gold.jsonl', ['atlas', 'birch', 'cedar'])
    """
    folder = Path(__file__).parent / "sample"
    predictions = {system: folder / f"{system}.jsonl" for system in SYSTEMS}
    return Sample(folder / "gold.jsonl", predictions, folder / "spec.yaml")


# The front door: scores predictions against gold.

_SHOWN = (BY_POSITION, JOINED, "unmatched", WRITTEN_FOLDER, WRITTEN_FILE, OUTER_LINK)
"""The kinds of notes on the inputs that are warnings."""
_NAMES = {"list": "a list", "object": "an object", "item": "an object"}
CLAIMS = {"invalid": "is_invalid", "error": "has_error", "timeout": "is_timeout", "repaired": "is_repaired"}
"""The names in a result's counts of the claims of the document table."""


def score(
    gold: Records,
    predictions: Mapping[str, Records] | Records,
    spec: Any,
    options: ScoreOptions | None = None,
    progress: Progress | None = None,
    **keywords: Any,
) -> Result:
    """Return the estimates of the quality of predictions, judged against gold by a spec.

    `gold` and each system's predictions may be a path, a list of objects, a mapping from id to object, or a
    data frame; `predictions` is one of these, or a mapping from system to one. `spec` is a path, the text of
    a spec, a mapping, a Pydantic model or a compiled plan. `keywords` are options of
    `ScoreOptions` by name, or of the spec's `data:` and `statistics:`, in place of those there. Raises
    `ProblemsError` with all problems of the inputs, `NothingEvaluatedError` if no document is in both, or
    none has a declared field.

    >>> result = score([{"id": 1, "total": "5.00"}], [{"id": 1, "total": 5}], "fields: {total: number}")
    >>> result.value("accuracy")
    1.0
    """
    plan, options = with_keywords(spec, options or ScoreOptions(), keywords)
    whole, statistics = plan, plan.spec.statistics
    if options.fields is not None:
        plan = restrict(plan, options.fields)
    folding = fold_plan(plan, options)
    matching = open_inputs(whole, gold, predictions, options.where, plan.slots)
    if matching.is_shared:
        slices = plan.spec.slices if options.slices is None else options.slices
        folding = fold_plan(plan, replace(options, slices=tuple(dict.fromkeys((*slices, FORMAT)))))
    frozen = {name: part.digest for name, part in freeze_plan(plan).items()}
    plan = drop_absent_fields(plan, matching.gold)
    if options.only is not None:
        matching = _take(matching, _find_documents(matching, options.only))
    if options.holdout is not None:
        part = hold_out(whole, matching.gold, options)
        matching = _take(matching, part.positions, part.note)
    elif options.verdict:
        raise problem("verdict", "needs holdout", "write --holdout 0.5 --verdict", "missing_option")
    if options.limit is not None:
        matching = _take(matching, np.arange(min(options.limit, len(matching))))
    if not len(matching) or not matching.predictions:
        raise NothingEvaluatedError("nothing to evaluate: there is no gold document, or no prediction file")
    check_reference(statistics.reference, matching.systems)
    gates = [parse_gate(text) for text in (*plan.spec.gates, *options.gates)]
    is_drawn = any(gate.function == "regression" or gate.is_for_best or gate.is_for_looks for gate in gates)
    keeps_statistics = options.keeps_statistics or is_drawn or bool(gates and len(matching.systems) > 2)
    if len(matching.systems) > 1 or keeps_statistics:
        folding = with_compared(folding, statistics.compare)
    elif statistics.compare is not None:
        with_compared(folding, statistics.compare)  # refuses what is no metric
    if keeps_statistics:
        folding = with_kept(
            folding, [call for gate in gates for call in gate_metrics(gate, folding.vocabulary)]
        )
    return _score(_Run(fold_keys_of_matching(plan, matching), folding, matching, options, frozen), progress)


def _take(matching: Matching, chosen: Positions, *notes: Problem) -> Matching:
    """Return the matching of the chosen documents, with the notes on this choice and those before."""
    before = (note for note in matching.notes if note.kind == CHOSEN)
    return replace(matching.take(chosen), notes=(*before, *notes))


def _find_documents(matching: Matching, ids: Sequence[str]) -> Positions:
    """Return the positions of the documents with these ids; raise `ProblemsError` for unknown ids.

    The positions are in gold order.
    """
    places = {name: position for position, name in enumerate(matching.ids)}
    wanted = dict.fromkeys(name.strip() for name in ids)
    unknown = [
        problem
        for name in wanted
        if name not in places
        for problem in unknown_document(name, places, matching.gold.label).problems
    ]
    if unknown:
        raise ProblemsError(unknown)
    return np.array(sorted(places[name] for name in wanted), dtype=np.int64)


def fold_plan(plan: Plan, options: ScoreOptions) -> FoldPlan:
    """Return the metrics and slices to compute: the options', else the spec's, else the defaults.

    `default` among the options' means the spec's. Those of gates and the score are always included.
    """
    names = _name_metrics(plan, options) or (DEFAULT,)
    if options.metrics and DEFAULT not in options.metrics and plan.spec.score:
        names = (*names, plan.spec.score)
    try:
        vocabulary = vocabulary_of(plan.spec)
        calls = select_metrics(names, vocabulary)
        gated = [
            call
            for text in (*plan.spec.gates, *options.gates)
            for call in gate_metrics(parse_gate(text), vocabulary)
        ]
    except ValueError as error:
        raise problem("metrics", str(error), kind="unknown_name") from None
    report = Report(Places("options"))
    check_expressions(replace(plan.spec, metrics=options.metrics or (), gates=options.gates), report)
    report.raise_any()
    calls = tuple(dict.fromkeys((*calls, *gated)))
    slices = plan.spec.slices if options.slices is None else options.slices
    statistics = plan.spec.statistics
    for key in (*slices, statistics.cluster or ""):
        try:
            split_path(key if "{family}" not in key else "")
        except ValueError as error:
            remedy = f"a key is written {join_path([key])[:80]}, one in an object vendor.name"
            raise problem("slices" if key in slices else "cluster", str(error), remedy, "invalid") from None
    return FoldPlan(
        calls,
        tuple(slices),
        statistics.bootstrap,
        statistics.seed,
        statistics.level,
        vocabulary=vocabulary,
        score=plan.spec.score,
        correction=statistics.correction,
        cluster=statistics.cluster,
    )


def _name_metrics(plan: Plan, options: ScoreOptions) -> tuple[str, ...]:
    """Return the metrics that the options name, with the spec's own for `default`, else the spec's."""
    own = plan.spec.metrics
    named = ((own or (text,)) if text == DEFAULT else (text,) for text in options.metrics or ())
    return own if options.metrics is None else tuple(chain.from_iterable(named))


class _Run(Struct, frozen=True, eq=False):
    plan: Plan
    folding: FoldPlan
    matching: Matching
    options: ScoreOptions
    frozen: Mapping[str, str]
    """The digests of everything that decides the numbers, except gold."""


def _score(run: _Run, progress: Progress | None) -> Result:
    options = run.options
    workers, batch = options.share(len(run.matching))
    whole = Work(run.plan, run.folding, run.matching, batch, options.evidence, 0, options.evidence_folder)
    with closing(run_shards(whole, workers, options.engine, progress)) as parts:
        results = join_results(parts)
    undeclared = {name: fill.undeclared for name, fill in results.fills.items()}
    apart = [name for name, fill in results.fills.items() if fill.is_apart(run.plan)]
    misfits = find_misfits(run.plan, run.matching.sources, undeclared, apart)
    if misfits:
        raise NothingEvaluatedError("\n".join(misfits))
    return _result(run, results)


def _result(run: _Run, results: ShardResults) -> Result:
    systems = list(run.matching.systems)
    partials = {system: results.partials[system] for system in systems}
    all_estimates = _distinct(
        estimate for system in systems for estimate in estimates(run.folding, partials[system])
    )
    mends = _find_mends(run, results, all_estimates)
    paired, compared = compare_partials(
        run.folding, partials, run.plan.spec.statistics.reference or systems[0]
    )
    gold, holdout = np.concatenate(results.labels), name_part(run.options, run.folding.seed)
    if paired is not None:
        ids = list(run.matching.ids)
        own = gold[sorted(range(len(ids)), key=ids.__getitem__)]  # as the statistics
        paired = replace(paired, systems=tuple(replace(scores, gold=own) for scores in paired.systems))
    scan = partial(scan_documents, [(name, sums.without_sums()) for name, sums in partials.items()])
    is_held = run.options.evidence != "none" and run.options.evidence_folder is None
    result = Result(
        all_estimates,
        Lazy(lambda: scan().collect()),
        Lazy(partial(_evidence, results.frames)) if is_held else None,
        {
            **provenance(run.plan, run.folding, run.matching),
            **({"holdout": holdout} if holdout is not None else {}),
            "asked": list(_name_metrics(run.plan, run.options)),
            "digests": {**run.frozen, "gold": digest_rows(gold)},
        },
        _counts(run, results, mends),
        tuple(str(note) for note in run.matching.notes if note.kind not in _SHOWN),
        (
            *(str(note) for note in run.matching.notes if note.kind in _SHOWN),
            *_warnings(run, results),
            *describe_fit(
                run.plan, run.matching, results.fills, (*run.folding.slices, run.folding.cluster or "")
            ),
            *describe_ambiguity(run.plan, results.fills),
            *(
                f"{system}: no value of {path} is right; if the spec is the cause, write {line}"
                for system, lines in mends.items()
                for path, line in lines.items()
            ),
            *remark_comparisons(paired),
            *_warn_of_families(run, partials),
            *_warn_of_key(run, all_estimates),
            *warn_of_seen(run.matching),
        ),
        checks=count_checks(run.plan, _tallies(run, results)),
        parts=tuple(frame for frame in results.frames if isinstance(frame, Path)),
        violations=tuple(part for name in run.matching.predictions for part in results.violations[name])
        if run.plan.checks
        else None,
        comparisons=compared.comparisons,
        rankings=compared.rankings,
        field_comparisons=compared.by_field,
        has_right_values=run.options.evidence == "all",
        paired=paired,
        scan_documents=scan,
        repeats=tuple(
            Repeats(system, repeated.repeats, repeated.flaky)
            for system, repeated in partials.items()
            if repeated.repeats > 1
        ),
    )
    return replace(result, warnings=(*result.warnings, *_warn_of_ungated(run, result)))


def _warn_of_key(run: _Run, all_estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """Return the warning on a field that holds the id of the document in gold and in all answers."""
    key = next((name for name in run.plan.spec.data.id_key or ID_NAMES if name in run.plan.slots), "")
    own = [
        estimate.value
        for estimate in all_estimates
        if estimate.metric == "field_accuracy" and estimate.field == join_path((key,))
    ]
    gold, rows = run.matching.gold, run.matching.gold.head()
    ids = [id_text((record.data or {}).get(key)) for record in gold.open(range(len(rows)), rows)]
    if not own or any(value != 1 for value in own) or ids != [*gold.ids[: len(rows)]]:
        return ()
    what = f"the field {key!r} holds the id of the document in gold and in all answers, so it is always right"
    return (f"{what}: remove it, if records are matched by it",)


_MOST_COMPARED = 2000
"""So many documents are looked at for families."""


def _warn_of_families(run: _Run, partials: Mapping[str, Partial]) -> tuple[str, ...]:
    """Return the warning that documents come in families that the spec does not name, if they do."""
    gold = run.matching.gold
    if run.folding.cluster is not None or not run.folding.replicates or len(gold) < 2 * FEW_FAMILIES:
        return ()
    records = gold.fetch(range(min(_MOST_COMPARED, len(gold))))
    place = {record.id: at for at, record in enumerate(records)}
    scores = {}
    for system, partial_ in partials.items():
        scores[system] = np.full(len(records), np.nan)
        for part in partial_.documents:
            chosen = [at for at, name in enumerate(part.documents) if name in place]
            scores[system][[place[part.documents[at]] for at in chosen]] = part.values["score"][chosen]
    is_judged = ~np.any([np.isnan(values) for values in scores.values()], axis=0)
    values = list_candidates(
        run.plan, [record for record, is_known in zip(records, is_judged, strict=True) if is_known]
    )
    likeness = find_likeness({name: own[is_judged] for name, own in scores.items()}, values, run.folding.seed)
    if likeness is None:
        return ()
    low, high = (f"{bound:.2f}" for bound in likeness.interval)
    key = likeness.key if likeness.key.isidentifier() else json.dumps(likeness.key, ensure_ascii=False)
    return (
        f"documents are not independent: those with the same `{clip(likeness.key, 60)}` are alike "
        f"(intraclass correlation {likeness.correlation:.2f}, {low} to {high}), and the intervals should be "
        f"{likeness.wider:.1f} times as wide; write `statistics: {{cluster: {key}}}`",
    )


def _find_mends(
    run: _Run, results: ShardResults, all_estimates: Sequence[Estimate]
) -> dict[str, dict[str, str]]:
    """Return by system the fields without a right value, and the line of the spec under which most are."""
    filled = {
        info.path for info, count in zip(run.plan.fields, results.fills[GOLD].values, strict=True) if count
    }
    zeros: dict[str, set[str]] = {}
    for estimate in all_estimates:
        if (
            estimate.metric == "field_accuracy"
            and estimate.value == 0
            and not estimate.slice
            and estimate.field in filled
        ):
            zeros.setdefault(estimate.system, set()).add(estimate.field)
    if not zeros:
        return {}
    from fieldassay.scoring.proposals import propose, sample_pairs  # 30 ms, which few scores need

    pairs = sample_pairs(run.matching)
    mends: dict[str, dict[str, str]] = {}
    for system, paths in zeros.items():
        for proposal in propose(run.plan.spec, {system: pairs[run.matching.systems[system][0]]}):
            if proposal.changes and any(path.startswith(proposal.path) for path in paths):
                mends.setdefault(system, {})[proposal.path] = proposal.line(run.plan.spec)
    return mends


def _warn_of_ungated(run: _Run, result: Result) -> tuple[str, ...]:
    gates = tuple(parse_gate(text) for text in (*run.plan.spec.gates, *run.options.gates))
    remarks = {
        system: [str(remark) for remark in find_ungated(gates, result, system)] for system in result.systems
    }
    return tuple(f"{system}: {said}" for system, ungated in remarks.items() for said in ungated)


def _distinct(all_estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return each estimate once: a gate may name a field or slice of a metric that is computed anyway."""
    distinct: dict[Any, Estimate] = {}
    for estimate in all_estimates:
        options = (estimate.regime, estimate.granularity, tuple(sorted(estimate.parameters.items())))
        distinct.setdefault(
            (estimate.metric, estimate.system, estimate.field, tuple(estimate.slice.items()), options),
            estimate,
        )
    return tuple(distinct.values())


def _evidence(frames: Sequence[Any]) -> pl.DataFrame:
    """Return the evidence held in memory as one table."""
    import polars as pl

    tables = [
        frame.table() if isinstance(frame, EvidenceRows) else pl.read_parquet(io.BytesIO(frame))
        for frame in frames
    ]
    return pl.concat(tables, how="diagonal") if tables else pl.DataFrame(schema=evidence_schema())


def _tallies(run: _Run, results: ShardResults) -> dict[str, Tallies]:
    return {
        system: join_tallies([results.tallies.get(name, {}) for name in names])
        for system, names in run.matching.systems.items()
    }


def _counts(run: _Run, results: ShardResults, mends: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the counts of evaluated and of not evaluated documents, by system.

    Those of a system with repeated runs are over all its runs: a document with five runs counts five times.
    """
    counts: dict[str, Any] = {
        "documents": len(run.matching),
        "gold": count_fill(results.fills[GOLD])
        | ({"repairs": dict(results.repairs[GOLD].most_common())} if results.repairs[GOLD] else {}),
        **({"unreviewed": dict(results.unreviewed)} if results.unreviewed["fields"] else {}),
        **({} if run.folding.cluster is None else {"families": _count_families(run, results)}),
        "systems": {},
    }
    for system, names in run.matching.systems.items():
        claims = _sum(results.claims.get(name) for name in names)
        fill = merge_fills({GOLD: results.fills[name]} for name in names)[GOLD]
        counts["systems"][system] = {
            "documents": len(run.matching),
            **({"repeats": len(names)} if len(names) > 1 else {}),
            "missing": len(run.matching) * len(names) - claims["has_prediction"],
            "unmatched": sum(len(run.matching.unmatched.get(name, ())) for name in names),
            **{name: claims[claim] for name, claim in CLAIMS.items()},
            **count_fill(fill),
            "repairs": dict(_sum(results.repairs.get(name) for name in names).most_common()),
            **_count_without(run, results, names),
            "classes": count_classes(_sum(results.classes.get(name) for name in names)),
            **({"mends": mends[system]} if system in mends else {}),
        }
        if run.plan.checks:
            tallies = {system: _tallies(run, results)[system]}
            counts["systems"][system]["checks"] = [
                count.to_dict() for count in count_checks(run.plan, tallies)
            ]
    return counts


def _count_families(run: _Run, results: ShardResults) -> dict[str, Any]:
    """Return how many families the documents are in, and how many have none and are one of their own."""
    cluster, parts = run.folding.cluster or "", next(iter(results.partials.values())).documents
    groups = Counter(group for part in parts for group in part.groups[cluster])
    single = groups.pop((), 0)
    return {"cluster": cluster, "families": len(groups) + single, "alone": single}


def _sum(counts: Iterable[Counter[str] | None]) -> Counter[str]:
    return sum((count for count in counts if count is not None), Counter())


def _count_without(run: _Run, results: ShardResults, names: Sequence[str]) -> dict[str, Any]:
    """Return how many documents have no value for a slice key, where there are any."""
    without = _sum(results.without.get(name) for name in names)
    return {WITHOUT: {key: without[key] for key in run.folding.slice_keys if without[key]}} if without else {}


def _warnings(run: _Run, results: ShardResults) -> tuple[str, ...]:
    warnings = []
    if results.untyped:
        key = run.plan.spec.document_type.field if run.plan.spec.document_type else ""
        warnings.append(
            f"{results.untyped} gold documents have no known document type in {key!r}: all their fields count"
        )
    if results.excluded:
        named = ", ".join(f"{path} ({count})" for path, count in results.excluded.most_common(5))
        warnings.append(
            f"ignored, since the field does not apply to the document's type: {named}; see `applies_to`"
        )
    if fields := results.unreviewed["fields"]:
        documents = format_count(results.unreviewed["documents"], "document")
        warnings.append(
            f"ignored, since nobody reviewed them: {format_count(fields, 'field')} in {documents}"
        )
    if run.folding.cluster is not None and (single := _count_families(run, results)["alone"]):
        which = "no document has" if single == len(run.matching) else f"{single:,} documents have no"
        warnings.append(f"{which} family by `cluster: {run.folding.cluster}`; each is one of its own")
    empty = [key for key in run.folding.slice_keys if key not in results.grouped]
    protocol = run.plan.spec.protocol if empty and run.options.slices is None else None
    published = () if protocol is None else read_spec({"protocol": protocol}).slices
    warnings += [f"no document has a value for the slice {key!r}" for key in empty if key not in published]
    lacking = [top.name for top in run.plan.spec.fields if top.name not in run.plan.slots]
    if lacking:
        warnings.append(f"ignored, since no gold record has them: {', '.join(lacking[:20])}")
    unreadable = [
        _name_unreadable(run.matching.gold.label, *field, *counted)
        for field, counted in sorted(results.unreadable.items())
    ]
    is_whole = run.options.fields is None  # else paths of other fields are no places here
    misplaced = describe_misplaced(run.matching.gold.label, results.misplaced if is_whole else {})
    warnings += map(str, cap_problems([*misplaced, *unreadable, *results.too_long]))
    warnings += name_idle(run.plan, _tallies(run, results))
    if not run.plan.checks and any(bound.metric.group == CHECK_METRICS for bound in run.folding.bound):
        warnings.append("the spec has no `checks:`, so there is nothing to check")
    gold = len(run.matching)
    warnings += remark_repairs("gold", gold, results.repairs[GOLD], results.repaired[GOLD], "records")
    for system in run.matching.predictions:
        answers = results.claims[system]["has_prediction"]
        if system in results.invalid:
            count, first, why = results.invalid[system]
            example = f"{clip(first)}: {clip(why.split(': ')[0], 60)}"
            warnings.append(f"{system}: {count:,} of {answers:,} answers are unreadable ({example})")
        warnings += remark_repairs(system, answers, results.repairs[system], results.repaired[system])
    return tuple(warnings)


def _name_unreadable(gold: str, path: str, kind: str, left_out: bool, count: int, first: str) -> Problem:
    """Return what is wrong with values of gold that cannot be read as their types."""
    remedy = "correct gold: `fieldassay score --check`"
    if left_out and path.endswith("[]"):
        remedy = f"declare what gold holds, such as `{path[:-2]}: {{type: list, items: text}}`"
    return Problem(
        gold,
        f"{count:,} value{'s' * (count > 1)} of {path!r} cannot be read as {_NAMES.get(kind, kind)} "
        f"(first in {first!r}){', and nothing of them counts' if left_out else ''}",
        remedy,
    )
