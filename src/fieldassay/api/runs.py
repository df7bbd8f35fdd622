"""Runs in a store at the front door: their headline, and what is needed to score their predictions again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldassay.api.digests import digest_input
from fieldassay.api.options import InputOptions, ScoreOptions
from fieldassay.api.run import Run
from fieldassay.errors import Problem, ProblemsError
from fieldassay.reports.headline import find_headline
from fieldassay.result.estimate import Estimate
from fieldassay.result.typed_json import convert
from fieldassay.spec.source import RecordedSpec
from fieldassay.store.listing import StoredRun

RECORDED = ("metrics", "slices", "compare", "reference", "replicates", "seed", "level", "limit", "only", "fields")
"""The options of scoring that a run keeps, since they decide what is computed."""


def headline_of(run: StoredRun) -> tuple[Estimate, ...]:
    """Return the headline of a stored run, as its record has it, else from its estimates; () for a damaged run."""
    if run.damage:
        return ()
    try:
        kept = run.facts.get("headline")
        return convert(kept, tuple[Estimate, ...]) if kept is not None else find_headline(Run(run.path, run.facts).estimates)
    except ProblemsError:
        return ()


def recorded_options(options: ScoreOptions) -> dict[str, Any]:
    """Return the options of a run that its record keeps."""
    found = {name: getattr(options, name) for name in RECORDED}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a finished run was made from: paths of gold and, by system, predictions, how they are read, the spec's text, and the options."""

    id: str
    gold: str
    predictions: Mapping[str, str]
    inputs: InputOptions
    spec: RecordedSpec
    options: Mapping[str, Any]


def read_recipe(folder: Path, *, needs_gold: bool = True) -> Recipe:
    """Return what a run was made from, if its files are there as they were: predictions, and gold unless other gold takes its place.

    Raises `ProblemsError` naming each file that has changed, is gone, or was standard input.
    """
    run = Run.open(folder)
    inputs, options = run.inputs, run.facts.get("options")
    if inputs.given is None or inputs.sha256 is None or options is None:
        what = "does not say how its inputs were given, as runs of this version do"
        raise ProblemsError([Problem(str(folder), what, "give --gold and --pred", "damaged_run")])
    given, digests = inputs.given, inputs.sha256
    found = Recipe(
        str(run.facts.get("id") or ""),
        given.gold,
        given.predictions,
        run.input_options,
        run.spec,
        {name: options.get(name) for name in RECORDED},
    )
    labels = dict.fromkeys([*found.predictions.values(), *([found.gold] if needs_gold else [])])
    problems = [problem for label in labels if (problem := _find_change(label, digests.get(label))) is not None]
    if problems:
        raise ProblemsError(problems)
    return found


def _find_change(label: str, digest: str | None) -> Problem | None:
    if digest is None:
        what = "was read from a stream, which cannot be read again"
        return Problem(label, what, "save it to a file, and score that with --gold and --pred", "changed_file")
    try:
        now = digest_input(label)
    except OSError as error:
        return Problem(label, f"cannot be read ({error.strerror or error})", "see who may read it", "changed_file")
    if now is None:
        what = "is not there; the path is as it was given to the run"
        return Problem(label, what, "put it back, or run this in the folder where the run was scored", "changed_file")
    if now != digest:
        what = f"has changed since the run: its SHA-256 was {digest[:12]}, is now {now[:12]}"
        return Problem(label, what, "restore it, or score the new file with --gold and --pred", "changed_file")
    return None
