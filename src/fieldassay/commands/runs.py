"""Runs as functions: opened, compared, decided, reported; agreement and attribution."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from fieldassay.attribution.attribute import AttributeOptions, Attribution, attribute_run
from fieldassay.decisions.baseline import (
    Baseline,
    BaselineRequest,
    ChangeLine,
    check_run,
    demand_basis,
    make_baseline,
    read_baseline,
    read_before,
    write_baseline,
)
from fieldassay.decisions.calibration.policy import Calibrated, CalibrationOptions
from fieldassay.decisions.calibration.policy import calibrate as calibrate_run
from fieldassay.decisions.diff.diff import Diff, DiffOptions, diff_runs
from fieldassay.decisions.gate import GateRequest, decide, decide_result
from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.tables import Agreement
from fieldassay.metrics.result.verdicts import DecisionPage
from fieldassay.options import choose
from fieldassay.public import public
from fieldassay.records.keys import cap_problems
from fieldassay.records.labels_file import check_texts, is_labels_file, is_labels_line, read_labels
from fieldassay.records.matching import batches
from fieldassay.reports.formats import find_format
from fieldassay.reports.report import (
    ReportOptions,
    read_reported,
    render_report,
    report_scored,
    write_report,
)
from fieldassay.review.agreement import Answers, measure_agreement
from fieldassay.runs.files import find_run
from fieldassay.runs.run import Run
from fieldassay.runs.value_sources import document_of_run
from fieldassay.scoring.explain import DocumentExplanation, choose_field
from fieldassay.scoring.explain import explain_document as explain
from fieldassay.scoring.inputs import (
    Records,
    ScoreOptions,
    drop_absent_fields,
    open_inputs,
    system_name,
    with_keywords,
)
from fieldassay.spec.plan.nodes import Plan, single_values

# Operations on finished runs, named as the commands: open, compare, calibrate, decide and report.

Reference: TypeAlias = Run | str | os.PathLike[str]
"""A run: itself, the path of its folder, or as a text its folder, id, name or `latest`."""

STORE = "runs"
"""The store of runs where no other is named."""


@public
def open_run(reference: str | os.PathLike[str], store: str | os.PathLike[str] = STORE) -> Run:
    """Return the run in a folder, or that of a store by its id or name (or the beginning of it) or `latest`.

    Its parts are read when they are asked for. Raises `ProblemsError` where there is no such run.

    >>> import fieldassay as fa
    >>> result = fa.score([{"id": 1, "total": 5}], [{"id": 1, "total": 4}], "fields: {total: number}")
    >>> run = result.save(getfixture("tmp_path") / "run")
    >>> fa.open_run(run.folder).documents["score"].to_list()
    [0.0]
    """
    return Run.open(_folder(reference, store))


@public
def diff(*runs: Reference, store: str | os.PathLike[str] = STORE, **options: Any) -> Diff:
    """Return a comparison of the systems of runs, the first before the second; more than two are ranked.

    A run that is given as text may end in `:SYSTEM`. `options` are those of `DiffOptions`. Raises
    `ProblemsError` for runs that cannot be found, and for runs that differ in spec, formulas, models or gold.

    >>> import fieldassay as fa
    >>> gold, folder = [{"id": n, "total": n} for n in range(20)], getfixture("tmp_path")
    >>> zeros, spec = [{"id": n, "total": 0} for n in range(20)], "fields: {total: number}"
    >>> before = fa.score(gold, {"m": zeros}, spec).save(folder / "before")
    >>> after = fa.score(gold, {"m": gold}, spec).save(folder / "after")
    >>> changes = fa.diff(before, after, metrics=["accuracy"]).changes
    >>> changes.count("fixed"), changes.count("broken")
    (19, 0)
    """
    return diff_runs(
        *[os.fspath(run) for run in runs], options=choose(DiffOptions(runs=Path(store)), options, "diff")
    )


@public
def calibrate(run: Reference | Result, store: str | os.PathLike[str] = STORE, **options: Any) -> Calibrated:
    """Return the calibration of a system's confidences, and the thresholds above which values need no review.

    They are in `page`; `make_policy` makes a policy of them. `options` are those of `CalibrationOptions`.
    Raises `ProblemsError` for a run that did not keep all judged values, and for an ambiguous system.

    >>> import fieldassay as fa
    >>> spec, gold = "fields: {total: number}", [{"id": n, "total": 5} for n in range(100)]
    >>> sure = [{"id": n, "total": 5, "confidence": {"total": 0.9}} for n in range(90)]
    >>> unsure = [{"id": n, "total": 6, "confidence": {"total": 0.4}} for n in range(90, 100)]
    >>> result = fa.score(gold, sure + unsure, spec)
    >>> fa.calibrate(result).page.system
    'prediction'
    """
    return calibrate_run(
        run if isinstance(run, Result) else _folder(run, store),
        choose(CalibrationOptions(), options, "calibrate"),
    )


@public
def gate(
    *runs: Reference | Result, gates: str | os.PathLike[str] | Sequence[str] | None = None, **options: Any
) -> DecisionPage:
    """Return GO or NO-GO on runs or a result, with value, threshold, verdict and evidence of each gate.

    `gates` are the path of a gates file, or a list of gates as texts; they replace those of the specs.
    `options` are `protocol`, `records`, `system`, `baseline` and `store`. Raises `ProblemsError` for any
    invalid file.

    >>> import fieldassay as fa
    >>> result = fa.score([{"id": 1, "total": 5}], [{"id": 1, "total": 4}], "fields: {total: number}")
    >>> fa.gate(result, gates=["accuracy >= 0.9"]).answer.value
    'NO-GO'
    """
    if not runs:
        raise problem("gate", "no run is given", "give one or more, or a result", "missing_option")
    store = options.pop("store", STORE)
    paths = {name: Path(options[name]) for name in ("records", "baseline") if options.get(name) is not None}
    gate_source = (
        Path(gates) if isinstance(gates, str | os.PathLike) else None if gates is None else tuple(gates)
    )
    request = choose(GateRequest((), gate_source), {**options, **paths}, "gate")
    sources = tuple(Run.of(run) if isinstance(run, Result) else _folder(run, store) for run in runs)
    if request.baseline is not None:
        demand_basis(
            request.baseline, (source if isinstance(source, Run) else Run.open(source) for source in sources)
        )
    return decide(replace(request, runs=sources))


@public
def set_baseline(run: Reference, file: str | os.PathLike[str], reason: str = "", **options: Any) -> Baseline:
    """Make a run the baseline in a file, and return the baseline; the file keeps the history of those before.

    `options` are `systems`, `metrics`, `freezes` and `store`. Raises `ProblemsError` for an
    unsuitable run, and if a frozen baseline is replaced without a reason.

    >>> import fieldassay as fa
    >>> gold, folder = [{"id": n, "total": n} for n in range(5)], getfixture("tmp_path")
    >>> run = fa.score(gold, {"m": gold}, "fields: {total: number}", bootstrap=200).save(folder / "run")
    >>> fa.set_baseline(run, folder / "baseline.json", reason="prompt 7").reason
    'prompt 7'
    """
    store, path = options.pop("store", STORE), Path(file)
    source_run = Run.open(_folder(run, store))
    request = choose(BaselineRequest(reason=reason), options, "set_baseline")
    baseline = make_baseline(source_run, request, datetime.now(UTC), read_before(path))
    write_baseline(path, baseline)
    return baseline


@public
def check_baseline(
    run: Reference,
    file: str | os.PathLike[str],
    metrics: Sequence[str] = (),
    store: str | os.PathLike[str] = STORE,
) -> list[ChangeLine]:
    """Return the change of each metric of each system of a run since the baseline in a file.

    The metrics are those named, else those that the baseline shows. Raises `ProblemsError` for a run that
    differs from the baseline in spec, formulas or models, has none of its gold, or, if it is frozen, other
    gold.

    >>> import fieldassay as fa
    >>> gold, folder = [{"id": n, "total": n} for n in range(5)], getfixture("tmp_path")
    >>> run = fa.score(gold, {"m": gold}, "fields: {total: number}", bootstrap=200).save(folder / "run")
    >>> baseline = fa.set_baseline(run, folder / "baseline.json")
    >>> [line.change.difference for line in fa.check_baseline(run, folder / "baseline.json", ["accuracy"])]
    [0.0]
    """
    return check_run(Run.open(_folder(run, store)), read_baseline(Path(file)), metrics)


@public
def report(
    run: Reference | Result,
    shape: str = "html",
    target: str | os.PathLike[str] | None = None,
    documents: str | os.PathLike[str] | None = None,
) -> str:
    """Return a report of a run, or of a result in memory, and write it to `target` if that is given.

    The formats are those of `fieldassay report --format`: `html`, `markdown`, `table`, `junit` and others.
    With `documents`, a folder of the documents that were extracted, an HTML report shows where wrong
    values were read. Raises `ProblemsError` for an unknown format, for a damaged run, and for a target that
    is an input or a part of a run.

    >>> import fieldassay as fa
    >>> spec = "{name: receipts, fields: {total: number}}"
    >>> result = fa.score([{"id": 1, "total": 5}], [{"id": 1, "total": 5}], spec)
    >>> print(fa.report(result, "markdown").splitlines()[0])
    # receipts: 1 document, 1 system
    """
    find_format(shape)
    if isinstance(run, Result):
        reported = report_scored(run, None, decide_result(run))
    else:
        reported = read_reported(_folder(run, STORE))
    options = ReportOptions(documents=None if documents is None else Path(documents))
    if target is not None:
        write_report(reported, shape, Path(target), options)
        return Path(target).read_text(encoding="utf-8")
    return "".join(render_report(reported, shape, options))


def _folder(run: Reference | Result, store: str | os.PathLike[str]) -> Path:
    if isinstance(run, Result):
        raise problem("run", "is a result in memory", "save it first, and give the run", "wrong_kind")
    return find_run(run, Path(store)) if isinstance(run, str) else Path(run)


@public
def explain_document(
    document: str, field: str | None = None, run: Run | None = None, **data: Any
) -> DocumentExplanation:
    """Return how a document was judged: all of its values, or those of one field.

    It is a document of a `run`, or of `gold`, `predictions` and `spec` as for `score`. Raises `ProblemsError`
    with the nearest id for an unknown document, and with the nearest path for an unknown field.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": "a", "total": "5.00", "shop": "A"}], [{"id": "a", "total": 6, "shop": "A"}]
    >>> spec = "fields: {total: number, shop: text}"
    >>> explanation = fa.explain_document("a", "total", gold=gold, predictions=answers, spec=spec)
    >>> [(step.gold.raw, step.pred.raw, step.outcome) for step in explanation.steps]
    [('"5.00"', '6', 'mismatch')]
    """
    if run is not None:
        plan, explanation = run.plan, document_of_run(run, document)
    else:
        missing = [name for name in ("gold", "predictions", "spec") if name not in data]
        if missing:
            remedy = "give a run, or gold, predictions and a spec"
            raise problem("explain_document", f"has no {', '.join(missing)}", remedy, "missing_option")
        gold, predictions, spec = (data.pop(name) for name in ("gold", "predictions", "spec"))
        plan, options = with_keywords(spec, ScoreOptions(), data)
        matching = open_inputs(plan, gold, predictions, options.where)
        explanation = explain(drop_absent_fields(plan, matching.gold), matching, document)
    return explanation if field is None else choose_field(plan, explanation, field)


# How far reviewers agree, by the comparators of a spec.


@public
def agreement(
    labels: Mapping[str, Records] | Sequence[Records],
    spec: Any,
    **keywords: Any,
) -> Agreement:
    """Return how far the reviewers of some documents agree, field by field.

    `labels` are the labels of several reviewers: paths of labels files or of files of records, or records as
    for `score`; a mapping names the reviewers of plain records, else the file does. `spec` and
    `keywords` are as for `score`. Raises `ProblemsError` with everything that is wrong with the inputs,
    `NothingEvaluatedError` if no document is labeled twice.

    >>> import fieldassay as fa
    >>> ada = [{"id": 1, "total": "1,250.00"}, {"id": 2, "total": "7"}, {"id": 3}]
    >>> bob = [{"id": 1, "total": "1250"}, {"id": 2, "total": "1"}, {"id": 3}]
    >>> agreement = fa.agreement({"ada": ada, "bob": bob}, "fields: {total: number}", bootstrap=0)
    >>> round(agreement.value("observed", "total"), 3), round(agreement.value("alpha", "total"), 3)
    (0.667, 0.615)
    """
    plan, _ = with_keywords(spec, ScoreOptions(), keywords)
    return measure_agreement(plan, list(_read_all(plan, _named(labels))))


def _named(labels: Mapping[str, Records] | Sequence[Records]) -> list[tuple[str, Records]]:
    """Return the inputs with the names of their reviewers; equal names are numbered."""
    if isinstance(labels, Mapping):
        return list(labels.items())
    names = [system_name(records) if isinstance(records, str | Path) else "reviewer" for records in labels]
    often, numbers = Counter(names), defaultdict[str, Iterator[int]](lambda: count(1))
    names = [f"{name} {next(numbers[name])}" if often[name] > 1 else name for name in names]
    return list(zip(names, labels, strict=True))


def _read_all(plan: Plan, inputs: Iterable[tuple[str, Records]]) -> Iterator[Answers]:
    """Yield all answers. Raises `ProblemsError` with the problems of all inputs."""
    problems: list[Problem] = []
    sources: dict[tuple[str, str, int], str] = {}
    files: set[Path] = set()
    for name, records in inputs:
        where = str(records) if isinstance(records, str | Path) else name
        if isinstance(records, str | Path) and str(records) != "-":
            path = Path(records).resolve()
            if path in files:
                problems.append(Problem(where, "is given twice", "give each file once", "labels_file"))
                continue
            files.add(path)
        try:
            answers = list(_read(plan, name, records))
        except ProblemsError as error:
            problems += error.problems
            continue
        for answer in answers:
            key = (answer.document, answer.reviewer, answer.slot)
            if sources.setdefault(key, where) != where:
                what = f"{answer.reviewer!r} has labeled {answer.document!r} in {sources[key]} already"
                problems.append(Problem(where, what, "give each file once", "labels_file"))
        yield from answers
    if problems:
        raise ProblemsError(problems)


def _read(plan: Plan, name: str, records: Records) -> Iterator[Answers]:
    path = Path(records) if isinstance(records, str | Path) and str(records) != "-" else None
    if path is not None and path.is_file() and is_labels_file(path):
        sheets = read_labels(path)
        if problems := list(check_texts(sheets, single_values(plan), str(path))):
            raise ProblemsError(cap_problems(problems))
        yield from map(Answers.of_sheet, sheets)
        return
    matching = open_inputs(plan, records, {})
    for record in chain.from_iterable(batch.gold for batch in batches(matching)):
        data = record.data or {}
        if path is not None and is_labels_line({"id": record.id, **data}) and "labels" not in plan.slots:
            read_labels(path)  # says which of its lines are none
        meta = record.meta
        yield Answers.of_record(record.id, name, data, meta.illegible_paths, meta.unreviewed_paths)


# `fieldassay.attribute`: which stage is to blame for the wrong values of a run.


@public
def attribute(run: Reference, store: str = STORE, **options: Any) -> Attribution:
    """Return the stage that each wrong value of a run comes from, and the share of each stage with intervals.

    `options` are those of `AttributeOptions`. Raises `ProblemsError` for a run that did not keep all judged
    values.

    >>> import fieldassay as fa, json, pathlib
    >>> folder = pathlib.Path(getfixture("tmp_path"))
    >>> rows = [{"id": n, "pred": {"total": 1}, "transcript": f"Total {n}.00"} for n in range(2, 22)]
    >>> _ = (folder / "p.jsonl").write_text("\\n".join(map(json.dumps, rows)))
    >>> gold = [{"id": n, "total": n} for n in range(2, 22)]
    >>> result = fa.score(gold, {"m": folder / "p.jsonl"}, "fields: {total: number}", pred_key="pred")
    >>> dict(fa.attribute(result.save(folder / "run")).counts("m"))
    {'model_invented': 20}
    """
    opened = run if isinstance(run, Run) else Run.open(_folder(str(run), store))
    return attribute_run(opened, choose(AttributeOptions(), options, "attribute"))
