"""`fieldassay.score`: a result that can be saved as the run that the command line writes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.commands.running import Request, Scored, decide_scored, score_request, write_run
from fieldassay.metrics.result.lazy import Lazy
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.inputs.inputs import Records
from fieldassay.scoring.inputs.options import ScoreOptions, with_keywords
from fieldassay.scoring.shards.shards import Progress
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.runs.run import Run


def score(
    gold: Records,
    predictions: Mapping[str, Records] | Records,
    spec: Any,
    options: ScoreOptions | None = None,
    progress: Progress | None = None,
    *,
    baseline: str | Path | None = None,
    **keywords: Any,
) -> Result:
    """Return how good the predictions are, judged against gold by a spec; `Result.save` writes it as a run.

    `gold` and each system's predictions may be a path, a list of objects, a mapping from id to object, or a
    data frame; `predictions` is one of these, or a mapping from system to one. `spec` is a path, the text of
    a spec, a mapping, a Pydantic model or a compiled plan. `keywords` are options of `ScoreOptions` and
    `InputOptions` by name, in place of those in `options`; the statistics of documents are always kept.
    `progress` is called with each number of documents done. Regression gates compare with the `baseline` in a
    file; spec and gold must be those that a frozen one stands on.

    Raises `ProblemsError` with everything that is wrong with the inputs, `NothingEvaluatedError` if no
    document is in both, or none has a declared field.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": 1, "total": "5.00"}], [{"id": 1, "total": 5}]
    >>> result = fa.score(gold, {"llama": answers}, "fields: {total: number}", replicates=200)
    >>> result.value("accuracy")
    1.0
    """
    options = replace(with_keywords(options or ScoreOptions(), keywords), keeps_statistics=True)
    plan = spec if isinstance(spec, Plan) else read_plan(spec)
    parts = _Parts.make() if plan.checks and options.evidence_folder is None else None
    options = options if parts is None else replace(options, evidence_folder=parts.folder)
    place = None if baseline is None else Path(baseline)
    request = Request(gold, predictions, plan, options, baseline=place, watch=partial(nullcontext, progress))
    scored = score_request(request, options)
    result = scored.result
    if parts is not None and options.evidence != "none":
        result = replace(result, evidence_table=Lazy(parts.read))
    writer = _Writer(scored.started, scored.seconds, options, place, request.record(), parts)
    return replace(result, writer=writer)


class _Parts(Struct, frozen=True, eq=False):
    """A folder with the evidence and the violations of one result in parts; it goes with the result."""

    place: tempfile.TemporaryDirectory[str]

    @classmethod
    def make(cls) -> _Parts:
        return cls(tempfile.TemporaryDirectory(prefix="fieldassay-"))

    @classmethod
    def of(cls, violations: Mapping[str, bytes]) -> _Parts:
        parts = cls.make()
        for name, text in violations.items():
            (parts.folder / name).write_bytes(text)
        return parts

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the violations; the evidence pickles as the result's table."""
        return _Parts.of, ({part.name: part.read_bytes() for part in self.folder.glob("violations-*.jsonl")},)

    @property
    def folder(self) -> Path:
        return Path(self.place.name)

    def read(self) -> pl.DataFrame:
        """Return the evidence; a table without rows if there is none."""
        import polars as pl

        from fieldassay.metrics.evidence import evidence_schema
        from fieldassay.runs.write import scan_parts

        frame = scan_parts(self.folder)
        return pl.DataFrame(schema=evidence_schema()) if frame is None else frame.collect()


class _Writer(Struct, frozen=True, eq=False):
    """Writes a result into a folder, or under a name of its own into a store of runs, and returns the run.

    It holds what the record says of the scoring, and none of the records that were scored.
    """

    started: datetime
    seconds: float
    options: ScoreOptions
    baseline: Path | None
    facts: Mapping[str, Any]
    parts: _Parts | None

    def __call__(self, result: Result, place: Path, in_store: bool) -> Run:
        from fieldassay.runs.run import Run
        from fieldassay.runs.write import make_folder, make_stored

        options = (
            self.options if self.parts is None else replace(self.options, evidence_folder=self.parts.folder)
        )
        decisions = decide_scored(result, options, self.baseline)
        with make_stored(place) if in_store else make_folder(place) as folder:
            write_run(Scored(result, self.started, self.seconds), decisions, self.facts, options, folder)
            folder.commit()
        return Run.open(folder.target if in_store else place)
