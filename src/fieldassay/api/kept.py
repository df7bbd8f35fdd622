"""What finished runs can be compared by, read from their folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldassay.api.folder import read_run
from fieldassay.errors import Problem, ProblemsError
from fieldassay.metrics.grammar import parse_metric
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics import Statistic
from fieldassay.plan.expressions import vocabulary_of
from fieldassay.result.pairing import PairedData, list_parts
from fieldassay.result.statistics_file import STATISTICS, read_statistics
from fieldassay.spec.parse import read_spec
from fieldassay.store.run_file import check_unchanged


def read_paired(folder: Path) -> PairedData:
    """Return what the systems of a run folder can be compared by. Raises `ProblemsError` if it is no run, or keeps nothing to compare.

    Everything that depends on the run (metrics, their definitions, slices, bootstrap) is as `run.json` says.
    """
    facts = read_run(folder)
    metrics, also = bind_kept(facts, str(folder))
    wanted = list_wanted((*metrics, *also))
    try:
        systems = read_statistics(folder / STATISTICS, wanted)
        check_unchanged(folder, facts, STATISTICS)
    except FileNotFoundError:
        raise ProblemsError([_refusal(folder, "keeps no statistics of its documents", "score it again with --out")]) from None
    except (OSError, ValueError) as error:
        raise ProblemsError([_refusal(folder, f"{STATISTICS} cannot be read ({error})", "score it again")]) from None
    return assemble(facts, metrics, systems)


def bind_kept(facts: Mapping[str, Any], where: str) -> tuple[tuple[BoundMetric, ...], tuple[BoundMetric, ...]]:
    """Return the metrics that a run's systems are compared by, and those that were kept besides. Raises `ProblemsError` if `run.json` is damaged."""
    try:
        vocabulary = vocabulary_of(read_spec(facts["spec"]["text"]))
        kept = facts["kept"]
        return (
            tuple(bind_metric(parse_metric(text), vocabulary) for text in kept["compared"]),
            tuple(bind_metric(parse_metric(text), vocabulary) for text in kept["also"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        what = f"does not say what its systems can be compared by ({type(error).__name__}: {str(error)[:200]})"
        raise ProblemsError([_refusal(Path(where), what, "score it again with this version")]) from None


def list_wanted(metrics: tuple[BoundMetric, ...]) -> tuple[Statistic, ...]:
    """Return the statistics that metrics are made of, each once."""
    return tuple(dict.fromkeys(statistic for bound in metrics for statistic in list_parts(bound.recipe)))


def assemble(facts: Mapping[str, Any], metrics: tuple[BoundMetric, ...], systems: Any) -> PairedData:
    """Return the data of a run whose statistics were read; metrics of which something was not kept are left out."""
    vocabulary = vocabulary_of(read_spec(facts["spec"]["text"]))
    drawn = facts["bootstrap"]
    data = PairedData((), systems, tuple(facts["slices"]), drawn["replicates"], drawn["seed"], drawn["level"], vocabulary)
    able = tuple(bound for bound in metrics if data.can_compare(bound))
    return PairedData(able, systems, data.slices, data.replicates, data.seed, data.level, vocabulary)


def _refusal(folder: Path, what: str, remedy: str) -> Problem:
    return Problem(str(folder), what, remedy, "run_folder")
