"""The options of a scoring run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from fieldassay.options import OptionRecord, Positive, check_names, option_names
from fieldassay.spec.language.sections import DataOptions, StatisticsOptions
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan
from fieldassay.spec.plan.restrict import with_sections


class ScoreOptions(OptionRecord, frozen=True):
    """The options of scoring that no spec has; none of them changes the meaning of a judgement.

    `metrics` and `slices` replace the spec's, `gates` come on top of the spec's; metrics named in gates are
    always computed. `evidence` chooses the rows to keep. `limit` takes the first documents only, `batch`
    documents are judged at a time, `workers` processes share the work.
    """

    metrics: tuple[str, ...] | None = None
    slices: tuple[str, ...] | None = None
    gates: tuple[str, ...] = ()
    evidence: Literal["all", "errors", "none"] = "all"
    workers: Positive = 1
    engine: Annotated[
        str,
        Meta(
            pattern="^(local|ray(=.+)?)$",
            description="local, ray or ray=ADDRESS",
            examples=["local", "ray", "ray=ADDRESS"],
        ),
    ] = "local"
    """The place of the work: `local`, `ray` (started on this machine), or `ray=ADDRESS` (a cluster)."""
    batch: Annotated[int, Meta(ge=1, examples=[2000])] = 2000
    limit: Positive | None = None
    only: tuple[str, ...] | None = None
    """The documents that are scored, by id; None: all."""
    fields: tuple[str, ...] | None = None
    """The top-level fields to score; None: all. The spec is restricted to them, so its digest differs."""
    where: tuple[str, ...] = ()
    """Chooses documents by the content of their gold, as in `type=invoice`: by keys of slices."""
    evidence_folder: Path | None = None
    """Where evidence goes while the run lasts, in parts, instead of being held in memory."""
    keeps_statistics: bool = False
    """Whether the result supports later comparisons, field by field too, even with a single system."""


def with_keywords(spec: Any, options: ScoreOptions, keywords: Mapping[str, Any]) -> tuple[Plan, ScoreOptions]:
    """Return the plan of a spec, and the options, with those that are given in place of theirs.

    Raises `ProblemsError` for each name that is no option, and for each value that is none.

    >>> spec, given = "fields: {total: money}", {"seed": 1, "metrics": "f1"}
    >>> plan, options = with_keywords(spec, ScoreOptions(), given)
    >>> plan.spec.statistics.seed, options.metrics
    (1, ('f1',))
    """
    plan, own = read_plan(spec), option_names(ScoreOptions)
    check_names(keywords, (*own, *option_names(DataOptions), *option_names(StatisticsOptions)), "score")
    asked = {name: value for name, value in keywords.items() if value is not None}
    sections = {name: value for name, value in asked.items() if name not in own}
    return with_sections(plan, **sections), replace(
        options, **{name: asked[name] for name in own if name in asked}
    )
