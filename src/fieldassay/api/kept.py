"""What finished runs can be compared by, read from their folders."""

from __future__ import annotations

from fieldassay.api.run import Run
from fieldassay.errors import Problem, ProblemsError
from fieldassay.metrics.definitions import Vocabulary
from fieldassay.metrics.grammar import parse_metric
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics import Statistic
from fieldassay.plan.expressions import vocabulary_of
from fieldassay.result.pairing import PairedData, list_parts
from fieldassay.result.recorded import Provenance
from fieldassay.result.statistics_file import STATISTICS, read_statistics
from fieldassay.result.typed_json import convert
from fieldassay.spec.parse import read_spec
from fieldassay.store.run_file import check_unchanged


def read_paired(run: Run) -> PairedData:
    """Return what the systems of a run can be compared by. Raises `ProblemsError` if it keeps nothing to compare, or is damaged.

    Everything that depends on the run (metrics, their definitions, slices, bootstrap) is as `run.json` says.
    """
    metrics, also, vocabulary = bind_kept(run)
    if not (run.folder / STATISTICS).is_file():
        raise _refusal(run, "keeps no statistics of its documents", "score it again with --out")
    check_unchanged(run.folder, run.facts, STATISTICS)
    recorded = convert(run.facts, Provenance)
    if recorded.bootstrap is None:
        raise _refusal(run, "does not say how its intervals were drawn", "score it again with this version")
    try:
        systems = read_statistics(run.folder / STATISTICS, list_wanted((*metrics, *also)))
    except (OSError, ValueError) as error:
        raise run.refusal(f"cannot be read ({str(error)[:200]})", STATISTICS) from None
    drawn = recorded.bootstrap
    data = PairedData((), systems, tuple(recorded.slices), drawn.replicates, drawn.seed, drawn.level, vocabulary)
    able = tuple(bound for bound in metrics if data.can_compare(bound))
    return PairedData(able, systems, data.slices, data.replicates, data.seed, data.level, vocabulary)


def bind_kept(run: Run) -> tuple[tuple[BoundMetric, ...], tuple[BoundMetric, ...], Vocabulary]:
    """Return the metrics that a run's systems are compared by, those that were kept besides, and the vocabulary of its spec."""
    kept = convert(run.facts, Provenance).kept
    if kept is None:
        raise _refusal(run, "does not say what its systems can be compared by", "score it again with this version")
    vocabulary = vocabulary_of(read_spec(run.spec))
    try:
        compared, also = (tuple(bind_metric(parse_metric(text), vocabulary) for text in texts) for texts in (kept.compared, kept.also))
    except ValueError as error:
        what = f"was compared by what is no metric of this version ({str(error)[:200]})"
        raise _refusal(run, what, "score it again with this version") from None
    return compared, also, vocabulary


def list_wanted(metrics: tuple[BoundMetric, ...]) -> tuple[Statistic, ...]:
    """Return the statistics that metrics are made of, each once."""
    return tuple(dict.fromkeys(statistic for bound in metrics for statistic in list_parts(bound.recipe)))


def _refusal(run: Run, what: str, remedy: str) -> ProblemsError:
    return ProblemsError([Problem(str(run.folder), what, remedy, "run_folder")])
