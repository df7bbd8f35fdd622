"""How runs of a store differ from its baseline in their headline, where the two can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fieldassay.api.diff_grounds import find_ground
from fieldassay.api.diff_references import find_entries
from fieldassay.api.runs import headline_of
from fieldassay.diff.join import join_data, keep_needed
from fieldassay.engine.contest import compare_pairs
from fieldassay.engine.exchange import Arena
from fieldassay.errors import ProblemsError
from fieldassay.metrics.grammar import MetricCall
from fieldassay.metrics.selection import bind_metric
from fieldassay.result.comparison import Comparison
from fieldassay.result.estimate import Estimate
from fieldassay.store.listing import StoredRun, load_run
from fieldassay.store.locate import find_tagged, list_places
from fieldassay.store.tags import BASELINE

_PARTS = ("spec", "formulas", "models", "gold")


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one system's headline since the baseline: the comparison on the same documents, or why there is none."""

    comparison: Comparison | None = None
    reason: str = ""


def find_baseline(store: Path) -> StoredRun | None:
    """Return the run of a store that is tagged `baseline`, None if there is none."""
    folder = find_tagged(BASELINE, list_places(store))
    return None if folder is None else load_run(folder)


def find_changes(baseline: StoredRun, run: StoredRun) -> dict[str, Change]:
    """Return the change of each system's headline against a baseline.

    A system is compared with that of the same name, or, where both runs have one system, with that one. Spec, formulas, models and gold must be
    the same.
    """
    if run.path == baseline.path:
        return {}
    headline = headline_of(run)
    different = _tell_different(baseline, run)
    if different:
        return {one.system: Change(reason=different) for one in headline}
    return {one.system: _find(baseline, run, one) for one in headline}


def _tell_different(baseline: StoredRun, run: StoredRun) -> str:
    """Return which digests differ or are not known, without reading more than the two records."""
    if baseline.damage:
        return "the baseline is damaged"
    before, after = (_digests(one) for one in (baseline, run))
    parts = [part for part in _PARTS if before.get(part) is None or before.get(part) != after.get(part)]
    return f"another {' and '.join(parts)} than the baseline" if parts else ""


def _digests(run: StoredRun) -> Mapping[str, object]:
    digests = run.facts.get("digests")
    return digests if isinstance(digests, dict) else {}


def _find(baseline: StoredRun, run: StoredRun, headline: Estimate) -> Change:
    system = headline.system
    before = baseline.systems[0] if len(baseline.systems) == len(run.systems) == 1 else system
    if before not in baseline.systems:
        return Change(reason="the baseline has no such system")
    try:
        return Change(_compare((baseline, run), (before, system), headline))
    except (ProblemsError, OSError, ValueError) as error:
        return Change(reason=str(error).split("\n")[0][:300])


def _compare(runs: tuple[StoredRun, StoredRun], systems: tuple[str, str], headline: Estimate) -> Comparison:
    entries = find_entries([str(run.path.resolve()) for run in runs], runs[0].path.parent, systems)
    ground = find_ground(entries, is_common=False)
    data = join_data([entry.contestant for entry in entries], ground.documents)
    bound = bind_metric(_call(headline, data.vocabulary.own), data.vocabulary)
    if not data.can_compare(bound):
        raise ValueError(f"the runs did not keep what {headline.metric} is made of")
    pair = (entries[0].contestant.label, entries[1].contestant.label)
    return next(iter(compare_pairs(Arena.open(keep_needed(data, (bound,))), [pair], (bound,))))


def _call(headline: Estimate, own: object) -> MetricCall:
    """Return the metric that an estimate is of."""
    options = dict(headline.parameters)
    if headline.regime is not None:
        options["regime"] = headline.regime
    if headline.granularity is not None:
        options["granularity"] = headline.granularity
    is_own = isinstance(own, Mapping) and headline.metric in own
    return MetricCall(headline.metric, () if is_own else tuple(sorted(options.items())))
