"""How runs of a store differ in their headline from the baseline in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from fieldassay.decisions.baseline.baseline import Baseline
from fieldassay.decisions.baseline.file import read_baseline
from fieldassay.decisions.baseline.runs import check_run
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.runs.run import Run


class Change(Struct, frozen=True):
    """The change of one system's headline since the baseline: a paired comparison, or the reason for none."""

    comparison: Comparison | None = None
    reason: str = ""


Changes = Mapping[str, Change]


def find_file_changes(file: Path, runs: Sequence[Run]) -> dict[Path, Changes]:
    """Return the changes of runs against the baseline in a file: by folder and system, that of the headline.

    Raises `ProblemsError` if there is no sound baseline in the file.
    """
    baseline = read_baseline(file)
    return {run.folder: _find(baseline, run) for run in runs if not run.damage}


def _find(baseline: Baseline, run: Run) -> Changes:
    headline = run.headline
    if not headline:
        return {}
    try:
        lines = check_run(run, baseline, [str(_name_headline(headline[0], run.paired.vocabulary.own))])
    except ProblemsError as error:
        return {one.system: Change(reason=error.problems[0].what) for one in headline}
    except (OSError, ValueError) as error:
        return {one.system: Change(reason=str(error)[:300]) for one in headline}
    return {
        one.system: Change(reason=one.why) if one.change is None else Change(one.change.found)
        for one in lines
    }


def _name_headline(headline: Estimate, own: Mapping[str, object]) -> MetricCall:
    """Return the metric of an estimate; `own` are the names that the spec defines itself."""
    if headline.metric in own:
        return MetricCall(headline.metric)
    options = {"regime": headline.regime, "granularity": headline.granularity, **headline.parameters}
    return MetricCall(
        headline.metric, tuple((name, value) for name, value in options.items() if value is not None)
    )
