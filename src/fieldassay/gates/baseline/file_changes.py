"""How runs of a store differ in their headline from the baseline in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fieldassay.diffs.run_changes import Change, Changes, name_headline
from fieldassay.errors import ProblemsError
from fieldassay.gates.baseline.baseline import Baseline
from fieldassay.gates.baseline.file import read_baseline
from fieldassay.gates.baseline.runs import check_run
from fieldassay.runs.run import Run


def find_file_changes(file: Path, runs: Sequence[Run]) -> dict[Path, Changes]:
    """Return the changes of runs against the baseline in a file, as `find_changes` does against a run.

    Raises `ProblemsError` if there is no sound baseline in the file.
    """
    baseline = read_baseline(file)
    return {run.folder: _find(baseline, run) for run in runs if not run.damage}


def _find(baseline: Baseline, run: Run) -> Changes:
    headline = run.headline
    if not headline:
        return {}
    try:
        lines = check_run(run, baseline, [str(name_headline(headline[0], run.paired.vocabulary.own))])
    except ProblemsError as error:
        return {one.system: Change(reason=error.problems[0].what) for one in headline}
    except (OSError, ValueError) as error:
        return {one.system: Change(reason=str(error)[:300]) for one in headline}
    return {
        one.system: Change(reason=one.why) if one.change is None else Change(one.change.found)
        for one in lines
    }
