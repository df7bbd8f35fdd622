"""The options of a scoring run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest


class InputOptions(Struct, frozen=True):
    """The places of records inside their files: see `fieldassay.records.options.SourceOptions`.

    `where` chooses documents by the content of their gold, as in `type=invoice`: one of the values of each
    key named, under the keys of slices. `match_ids` is the form of ids used for comparing those of both
    sides: `exact`, `name`, `stem` or `number` (`fieldassay.records.ids.ID_FORMS`). `group` makes the rows of
    one id in a table the items of one record. `names` is `loose` where case and separators of keys do not
    count.
    """

    gold_key: str | None = None
    pred_key: str | None = None
    systems_key: str | None = None
    id_names: tuple[str, ...] | None = None
    wrap: str | None = None
    match_ids: str = "exact"
    names: str = "exact"
    encoding: str | None = None
    group: bool = False
    unpacked: int | None = None
    where: tuple[str, ...] = ()


class ScoreOptions(Struct, frozen=True):
    """The options of scoring; none of them changes the meaning of a judgement.

    `metrics` and `slices` replace the spec's, `gates` come on top of the spec's; metrics named in gates are
    always computed. `replicates` (0: no intervals), `seed` and `level` are those of the bootstrap. `evidence`
    chooses the rows to keep. `limit` takes the first documents only, `batch` documents are judged at a time,
    `workers` processes share the work. Of several systems, each is compared with `reference` (None: the first
    one) by the metrics `compare` (None: the usual ones), with p values adjusted by `correction`.
    """

    metrics: tuple[str, ...] | None = None
    slices: tuple[str, ...] | None = None
    gates: tuple[str, ...] = ()
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    evidence: Literal["all", "errors", "none"] = "all"
    workers: int = 1
    engine: str = "local"
    """The place of the work: `local`, `ray` (started on this machine), or `ray=ADDRESS` (a cluster)."""
    batch: int = 2000
    limit: int | None = None
    only: tuple[str, ...] | None = None
    """The documents that are scored, by id; None: all."""
    fields: tuple[str, ...] | None = None
    """The top-level fields to score; None: all. The spec is restricted to them, so its digest differs."""
    inputs: InputOptions = InputOptions()
    evidence_folder: Path | None = None
    """Where evidence goes while the run lasts, in parts, instead of being held in memory."""
    reference: str | None = None
    compare: tuple[str, ...] | None = None
    correction: Literal["min_p", "holm"] = "min_p"
    keeps_statistics: bool = False
    """Whether the result supports later comparisons, field by field too, even with a single system."""


def with_keywords(options: ScoreOptions, keywords: Mapping[str, Any]) -> ScoreOptions:
    """Return the options, of both classes, with the given ones replaced; a single text stands for a list.

    Raises `ProblemsError` for each name that is no option.

    >>> found = with_keywords(ScoreOptions(seed=1), {"pred_key": "answer", "metrics": "f1", "replicates": 0})
    >>> found.seed, found.replicates, found.metrics, found.inputs.pred_key
    (1, 0, ('f1',), 'answer')
    """
    if not keywords:
        return options
    of_score, of_inputs = ScoreOptions.__annotations__, InputOptions.__annotations__
    known = of_score | of_inputs
    unknown = [
        Problem("score", f"no option {name!r}", nearest(name, known), "unknown_name")
        for name in keywords
        if name not in known
    ]
    if unknown:
        raise ProblemsError(unknown)
    given = {
        name: _listed(value) if known[name].startswith("tuple") else value for name, value in keywords.items()
    }
    changed = replace(options, **{name: value for name, value in given.items() if name in of_score})
    return replace(
        changed,
        inputs=replace(changed.inputs, **{name: value for name, value in given.items() if name in of_inputs}),
    )


def _listed(value: Any) -> Any:
    """Return a text as a tuple of one, other sequences as tuples."""
    return value if value is None else (value,) if isinstance(value, str) else tuple(value)
