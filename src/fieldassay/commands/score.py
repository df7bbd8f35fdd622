"""`fieldassay.score`: a result that can be saved as the run that the command line writes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import FieldassayError, NothingEvaluatedError, problem
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.result import Result, find_headline
from fieldassay.metrics.result.verdicts import Decision
from fieldassay.public import public
from fieldassay.scoring.fit import is_silent
from fieldassay.scoring.inputs import Records, ScoreOptions, with_keywords
from fieldassay.scoring.provenance import digest_inputs
from fieldassay.scoring.score import score as score_records
from fieldassay.scoring.shards import Progress

if TYPE_CHECKING:
    from fieldassay.commands.init import Draft
    from fieldassay.runs.files import RunFolder
    from fieldassay.runs.run import Run


@public
def score(
    gold: Records,
    predictions: Mapping[str, Records] | Records,
    spec: Any = None,
    options: ScoreOptions | None = None,
    progress: Progress | None = None,
    *,
    baseline: str | Path | None = None,
    **keywords: Any,
) -> Result:
    """Return the scores of predictions against gold by a spec; `Result.save` writes them as a run.

    `gold` and each system's predictions may be a path, a list of objects, a mapping from id to object, or a
    data frame; `predictions` is one of these, or a mapping from system to one. `spec` is a path, the text of
    a spec, a mapping, a Pydantic model or a compiled plan. Without one it is guessed from gold, and a warning
    of the result says how each field is read; gates and baselines need a written one. `keywords` are options
    of `ScoreOptions`, or options of the sections `data:` and `statistics:`, which replace those of the spec.
    `progress` is called with the number of documents done so far. Regression gates compare with the
    `baseline` in a file; a frozen one refuses another spec or gold.

    Raises `ProblemsError` with everything that is wrong with the inputs, `NothingEvaluatedError` if no
    document is in both, or none has a declared field.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": 1, "total": "5.00"}], [{"id": 1, "total": 5}]
    >>> result = fa.score(gold, {"llama": answers}, "fields: {total: number}", bootstrap=200)
    >>> result.value("accuracy")
    1.0
    """
    if _is_record(gold):
        gold, predictions = {_RECORD_ID: gold}, _wrap_predictions(predictions)
    draft = None if spec is not None else _draft(gold, predictions, baseline, options, keywords)
    plan, options = with_keywords(spec if draft is None else draft.plan, options or ScoreOptions(), keywords)
    options = replace(options, keeps_statistics=True)
    place = None if baseline is None else Path(baseline)
    request = ScoreRequest(
        gold, predictions, plan, options, baseline=place, watch=partial(nullcontext, progress)
    )
    scored = score_request(request, options)
    result = scored.result
    if draft is not None:
        result = replace(result, warnings=(draft.guess, *result.warnings))
    writer = _Writer(scored.started, scored.seconds, options, place)
    return replace(result, writer=writer)


def _is_record(data: Any) -> bool:
    """Return whether a value is itself one record, and no mapping from ids or systems to records."""
    if isinstance(data, Mapping):
        return bool(data) and not all(map(_may_be_record, data.values()))
    return hasattr(data, "model_dump") or hasattr(data, "__dataclass_fields__")


_RECORD_ID = "record"
"""The id of a record that is scored alone."""


def _wrap_predictions(predictions: Any) -> dict[str, Records]:
    """Return the prediction of each system for a single record; a file is as it is."""
    is_by_system = isinstance(predictions, Mapping) and not _is_record(predictions)
    systems = predictions if is_by_system else {"prediction": predictions}
    return {
        name: {_RECORD_ID: prediction} if _is_record(prediction) or _may_be_record(prediction) else prediction
        for name, prediction in systems.items()
    }


def _may_be_record(value: Any) -> bool:
    """Return whether a value can be a record: an object, or an answer as text with an object in it."""
    is_object = isinstance(value, Mapping) or hasattr(value, "model_dump")
    return is_object or hasattr(value, "__dataclass_fields__") or (isinstance(value, str) and "{" in value)


def _draft(
    gold: Records,
    predictions: Mapping[str, Records] | Records,
    baseline: str | Path | None,
    options: ScoreOptions | None,
    keywords: Mapping[str, Any],
) -> Draft:
    """Return the spec that gold and predictions suggest.

    Raises `ProblemsError` where a decision would stand on it.
    """
    from fieldassay.commands.init import keeping, spec_from_gold

    if baseline is not None or keywords.get("gates") or (options is not None and options.gates):
        what = "gates and baselines need a written spec: a guess may change with the data"
        raise problem(
            "spec", what, f"write it with `{keeping(gold, predictions)}`, then name it", "missing_spec"
        )
    return spec_from_gold(gold, predictions=predictions, sections=keywords)


class _Writer(Struct, frozen=True, eq=False):
    """Writes a result into a folder, or under a name of its own into a store of runs, and returns the run.

    It holds what the record says of the scoring, and none of the records that were scored.
    """

    started: datetime
    seconds: float
    options: ScoreOptions
    baseline: Path | None

    def __call__(self, result: Result, place: Path, in_store: bool) -> Run:
        from fieldassay.runs.files import make_folder, make_stored
        from fieldassay.runs.run import Run

        decisions = decide_scored(result, self.options, self.baseline)
        with make_stored(place) if in_store else make_folder(place) as folder:
            write_run(Scored(result, self.started, self.seconds), decisions, (), self.options, folder)
            folder.commit()
        return Run.open(folder.target if in_store else place)


class InterruptedRunError(FieldassayError):
    """The user stopped the run."""

    exit_code = 130


class ScoreRequest(Struct, frozen=True, eq=False):
    """What to score, how, and its target: the folder `out`, or a new folder in the store of runs `store`."""

    gold: Any
    predictions: Any
    spec: Any
    options: ScoreOptions
    out: Path | None = None
    store: Path | None = None
    keeps_rows: bool = True
    """Whether evidence is wanted even if no folder keeps it."""
    baseline: Path | None = None
    """The baseline that regression gates are measured against; a frozen one is held to without a gate."""
    command: tuple[str, ...] = ()
    watch: Callable[[], AbstractContextManager[Progress | None]] = nullcontext
    tell: Callable[[str], None] = lambda text: None  # noqa: ARG005


class Scored(Struct, frozen=True, eq=False):
    """A result with the digests of its inputs, when it was made, and how long that took."""

    result: Result
    started: datetime
    seconds: float


@contextmanager
def run_scoring(request: ScoreRequest) -> Iterator[Run]:
    """Yield the finished run; its folder, if requested, is complete by then.

    Evidence outside a folder is gone after the block.
    """
    with ExitStack() as stack:
        folder = _open_folder(request, stack)
        is_kept = folder is not None or request.keeps_rows
        rows = (
            folder.parts
            if folder is not None
            else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fieldassay-")))
        )
        options = replace(
            request.options,
            keeps_statistics=folder is not None
            or request.baseline is not None
            or request.options.keeps_statistics,
        )
        options = replace(options, evidence_folder=rows, evidence=options.evidence if is_kept else "none")
        try:
            yield _finish(request, options, folder)
        except KeyboardInterrupt:
            raise InterruptedRunError(_what_is_kept(request, folder)) from None


def score_request(request: ScoreRequest, options: ScoreOptions) -> Scored:
    """Return the result of a request, with the digests of its inputs.

    Raises `ProblemsError` if its baseline is frozen and stands on anything else.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    with request.watch() as progress:
        result = _with_digests(
            score_records(request.gold, request.predictions, request.spec, options, progress), request
        )
    if request.baseline is not None:
        from fieldassay.decisions.baseline import demand_basis
        from fieldassay.runs.run import Run

        demand_basis(request.baseline, [Run.of(result)])
    return Scored(result, started, time.perf_counter() - clock)


def decide_scored(result: Result, options: ScoreOptions, baseline: Path | None) -> tuple[Decision, ...]:
    """Return a decision for each system by the gates of the spec and of the options; () without any."""
    if not (options.gates or result.run.get("gates")):
        return ()
    from fieldassay.decisions.gate import decide_result

    return decide_result(result, [parse_gate(text) for text in options.gates], baseline)


def write_run(
    scored: Scored,
    decisions: tuple[Decision, ...],
    command: tuple[str, ...],
    options: ScoreOptions,
    folder: RunFolder,
) -> None:
    """Write a result into a run folder that is to be committed."""
    if decisions:
        from fieldassay.runs.files import write_decisions

        write_decisions(decisions, folder.staging)
    recorded = {"command": list(command), **_facts(scored, options)}
    folder.write(scored.result, recorded)


def _open_folder(request: ScoreRequest, stack: ExitStack) -> RunFolder | None:
    from fieldassay.runs.files import make_folder, make_stored

    if request.store is not None:
        return stack.enter_context(make_stored(request.store))
    return None if request.out is None else stack.enter_context(make_folder(request.out))


def _finish(request: ScoreRequest, options: ScoreOptions, folder: RunFolder | None) -> Run:
    from fieldassay.runs.files import scan_evidence, scan_parts
    from fieldassay.runs.run import Run

    scored = score_request(request, options)
    result = scored.result
    if is_silent(result):
        raise NothingEvaluatedError(
            "nothing was evaluated: all fields are empty in gold and in every prediction"
        )
    decisions = decide_scored(result, options, request.baseline)
    if folder is None:
        return Run.of(result, scan_parts(result.parts), decisions, kept=options.evidence)
    write_run(scored, decisions, request.command, options, folder)
    folder.commit()
    place = request.out or folder.target
    if folder.foreign:
        request.tell(
            f"kept in {place}, not part of the run: "
            f"{', '.join(folder.foreign[:10])}{', …' if len(folder.foreign) > 10 else ''}"
        )
    return Run.of(result, scan_evidence(folder.target), decisions, place, options.evidence)


def _with_digests(result: Result, request: ScoreRequest) -> Result:
    """Return the result with the digests and options of its inputs; inputs in memory have no digest."""
    inputs = dict(result.run["inputs"])
    sources = _name_sources(request, inputs)
    names = {"gold": _name(request.gold, inputs["gold"])}
    named = {
        str(name): _name(source, inputs["predictions"].get(name, "")) for name, source in sources.items()
    }
    in_memory = {inputs["predictions"].get(name) for name, source in sources.items() if not _is_path(source)}
    in_memory |= set() if _is_path(request.gold) else {inputs["gold"]}
    labels = dict.fromkeys([inputs["gold"], *inputs["predictions"].values()])
    digests = digest_inputs(label for label in labels if label not in in_memory)
    inputs["sha256"] = {label: digests.get(label) for label in labels}
    inputs["given"] = {**names, "predictions": named}
    return replace(result, run={**result.run, "inputs": inputs})


def _name_sources(request: ScoreRequest, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was given as predictions, by system, or by run where a system has several."""
    repeats: Mapping[str, list[str]] = inputs.get("repeats", {})
    if not isinstance(request.predictions, Mapping):
        if not repeats:
            return dict.fromkeys(inputs["predictions"], request.predictions)
        by_system = dict.fromkeys(repeats, request.predictions)
    else:
        by_system = dict(request.predictions)
    by_run: dict[str, Any] = {}
    for name, source in by_system.items():
        runs = repeats.get(name, [name])
        is_list = isinstance(source, list | tuple) and len(source) == len(runs) and len(runs) > 1
        by_run |= dict(zip(runs, source, strict=True)) if is_list else dict.fromkeys(runs, source)
    return by_run


def _is_path(source: Any) -> bool:
    return isinstance(source, str | Path)


def _name(source: Any, label: str) -> str:
    return str(source) if _is_path(source) else label


def _facts(scored: Scored, options: ScoreOptions) -> dict[str, Any]:
    """Return what `run.json` says besides where the numbers come from."""
    from fieldassay.runs.files import RecordedOptions, describe_git, describe_host

    documents, seconds = int(scored.result.counts.get("documents", 0)), scored.seconds
    recorded = {name: getattr(options, name) for name in RecordedOptions.__struct_fields__}
    return {
        "started": scored.started.isoformat(timespec="seconds"),
        "timings": {
            "started": scored.started.isoformat(timespec="microseconds"),
            "seconds": round(seconds, 3),
            "documents_per_second": round(documents / seconds, 1) if seconds > 0 else None,
        },
        "evidence": options.evidence,
        "limit": options.limit,
        "only": None if options.only is None else list(options.only),
        "where": list(options.where) or None,
        **dict(zip(("workers", "batch"), options.share(documents), strict=True)),
        "options": {
            name: list(value) if isinstance(value, tuple) else value for name, value in recorded.items()
        },
        "git": describe_git(Path()),
        "host": describe_host(),
        "headline": [estimate.to_dict() for estimate in find_headline(scored.result)],
    }


def _what_is_kept(request: ScoreRequest, folder: RunFolder | None) -> str:
    place = request.out or request.store
    if folder is None or place is None:
        return "interrupted; nothing was written"
    if folder.is_committed:
        return f"interrupted; the run in {request.out or folder.target} is complete"
    if request.out is not None and request.out.exists():
        return f"interrupted; what was in {request.out} before is still there, unchanged"
    return f"interrupted; nothing was written to {place}"
