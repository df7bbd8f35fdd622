"""How runs of a store differ in their headline from the baseline in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fieldassay.api.baseline_runs import check_run, read_kept
from fieldassay.api.run_changes import Change, Changes, name_headline
from fieldassay.api.runs import headline_of
from fieldassay.errors import ProblemsError
from fieldassay.store.baseline import Baseline
from fieldassay.store.baseline_file import read_baseline
from fieldassay.store.listing import StoredRun


def find_file_changes(file: Path, runs: Sequence[StoredRun]) -> dict[Path, Changes]:
    """Return the changes of runs against the baseline in a file, as `find_changes` does against a run.

    Raises `ProblemsError` if there is no sound baseline in the file.
    """
    baseline = read_baseline(file)
    return {run.path: _find(baseline, run) for run in runs if not run.damage}


def _find(baseline: Baseline, run: StoredRun) -> Changes:
    headline = headline_of(run)
    if not headline:
        return {}
    try:
        kept = read_kept(run.path)
        lines = check_run(kept, baseline, [str(name_headline(headline[0], kept.data.vocabulary.own))])
    except ProblemsError as error:
        return {one.system: Change(reason=error.problems[0].what) for one in headline}
    except (OSError, ValueError) as error:
        return {one.system: Change(reason=str(error)[:300]) for one in headline}
    return {one.system: Change(reason=one.why) if one.change is None else Change(one.change.found) for one in lines}
