"""Gold and predictions against a spec, without a score."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError, list_names
from fieldassay.io.text.shown import Brief, clip
from fieldassay.metrics.catalogue.definitions import DEFAULT_METRICS
from fieldassay.metrics.result.result import CheckCount
from fieldassay.paths import join_path
from fieldassay.public import public
from fieldassay.records.source import Source
from fieldassay.scoring.checking import Findings, name_idle
from fieldassay.scoring.fit import (
    DataProfile,
    describe_empty,
    describe_misplaced,
    describe_mixed,
    find_misfits,
    fold_keys_of_matching,
    fold_keys_of_sources,
    survey,
    survey_data,
    survey_predictions,
)
from fieldassay.scoring.inputs import Records, ScoreOptions, open_inputs, open_predictions, with_keywords
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import parse_spec, read_spec
from fieldassay.spec.language.write import emit_flow, spec_data
from fieldassay.spec.language.yaml_text import Steps
from fieldassay.spec.plan.compile import plan_of
from fieldassay.spec.plan.nodes import ObjectNode, Plan, describe, describe_checks


class Validation(Brief, Struct, frozen=True, eq=False):
    """The findings. `fields` are rows of `spec.plan.describe`; `documents` is None without data."""

    problems: tuple[Problem, ...]
    fields: tuple[dict[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    documents: int | None = None
    surveys: Mapping[str, DataProfile] = default(default_factory=dict)
    """The content of each side; gold under the empty name, then the systems."""
    missing: Mapping[str, int] = default(default_factory=dict)
    unmatched: Mapping[str, tuple[str, ...]] = default(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """The warnings of scoring: sides without values in any declared field."""
    checks: tuple[dict[str, str], ...] = ()
    """The rows of `fieldassay.spec.plan.nodes.describe_checks`."""
    counts: tuple[CheckCount, ...] = ()
    """How often predictions violate each check."""
    violations: tuple[dict[str, Any], ...] = ()
    """All violations, if requested."""
    protocol: str | None = None
    changes: tuple[str, ...] = ()
    """What the spec changes of its protocol, a line for each key."""

    def to_dict(self) -> dict[str, Any]:
        """Return the validation as plain data."""
        problems = [
            {"where": problem.where, "what": problem.what, "remedy": problem.remedy, "kind": problem.kind}
            for problem in self.problems
        ]
        return {
            "problems": problems,
            "fields": list(self.fields),
            "metrics": list(self.metrics),
            "protocol": self.protocol,
            "changes": list(self.changes),
            "documents": self.documents,
            "gold": survey_data(self.surveys[""]) if "" in self.surveys else None,
            "predictions": {
                name: {
                    "records": survey.records,
                    "missing": self.missing.get(name, 0),
                    "unmatched": list(self.unmatched.get(name, ())),
                    **survey_data(survey),
                }
                for name, survey in self.surveys.items()
                if name
            },
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "checks": list(self.checks),
            "check_counts": [{"system": count.system, **count.to_dict()} for count in self.counts],
            "violations": list(self.violations),
        }


@public
def validate(
    spec: Any,
    gold: Records | None = None,
    predictions: Mapping[str, Records] | None = None,
    *,
    lists_violations: bool = False,
    **keywords: Any,
) -> Validation:
    """Return the problems of a spec and of data, and the effect of the spec; user mistakes do not raise.

    Predictions need no gold. `lists_violations`: every violation of a check is kept, not only counted.
    `keywords` are as for `score`.

    >>> found = validate("fields: {total: number}", [{"id": 1, "total": "5"}, {"id": 2, "total": "five"}])
    >>> [(example.document, example.value) for example in found.surveys[""].findings["total"].examples]
    [('2', '"five"')]
    >>> print(validate("fields: {total: mony}").problems[0].what)
    unknown type 'mony'
    """
    problems: list[Problem] = []
    plan, is_sound = _read(spec, problems)
    plan, options = with_keywords(plan, ScoreOptions(), keywords)
    found = _of_spec(plan) if is_sound else Validation(())
    findings = Findings(plan, violations=[] if lists_violations else None)
    given = predictions or {}
    if gold is not None:
        found = _of_data(found, gold, given, options.where, findings, problems)
    elif given:
        found = _of_predictions(found, given, options.where, findings, problems)
    notes = (*found.notes, *(name_idle(plan, findings.tallies) if findings.tallies else ()))
    return replace(
        found,
        problems=tuple(problems),
        notes=notes,
        counts=findings.counts(),
        violations=tuple(findings.violations or ()),
    )


def _of_spec(plan: Plan) -> Validation:
    """Return the validation of a sound spec alone."""
    name = plan.spec.protocol
    changes = () if name is None else tuple(list_changes(plan.spec, read_spec({"protocol": name})))
    return Validation(
        (),
        tuple(describe(plan)),
        tuple(plan.spec.metrics or DEFAULT_METRICS),
        checks=tuple(describe_checks(plan)),
        protocol=name,
        changes=changes,
    )


_UNCOMPARED = ("name", "protocol", "replace", "version", "citation", "description")


def list_changes(spec: Spec, protocol: Spec) -> Iterator[str]:
    """Yield a line for each key in which a spec differs from a protocol; equal changes of fields are one.

    >>> spec, protocol = (read_spec({"fields": fields}) for fields in ({"a": "id", "b": "id"}, {"a": "text"}))
    >>> list(list_changes(spec, protocol))
    ['fields.a: text → id', 'fields.b: added id']
    """
    own, below = (
        {key: value for key, value in spec_data(one).items() if key not in _UNCOMPARED}
        for one in (spec, protocol)
    )
    of_fields: dict[tuple[Steps, str], list[str]] = {}
    for steps, told in _differences(below, own, ()):
        if steps[0] == "fields" and len(steps) > 2:
            of_fields.setdefault((steps[2:], told), []).append(str(steps[1]))
        else:
            yield f"{join_path(steps)}: {told}"
    for (steps, told), names in of_fields.items():
        yield f"fields.{list_names(names, 5)}.{join_path(steps)}: {told}"


def _differences(below: Any, own: Any, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield each place in which two specs as plain data differ, and how."""
    if len(steps) < 2 and dict in (type(below), type(own)):
        below, own = below or {}, own or {}
    if steps and steps[0] in ("metrics", "gates", "slices"):
        before, after = below or [], own or []
        yield from ((steps, f"added {text}") for text in after if text not in before)
        yield from ((steps, f"left out {text}") for text in before if text not in after)
    elif isinstance(below, dict) and isinstance(own, dict):
        for key in dict.fromkeys((*below, *own)):
            if steps[-1:] == ("fields",) and below and key not in below:
                yield (*steps, key), f"added {_compare_with_nearest(own[key], below)}"
            else:
                yield from _differences(below.get(key), own.get(key), (*steps, key))
    elif (
        steps[-1] == "steps" and isinstance(below, list) and isinstance(own, list) and len(below) == len(own)
    ):
        for place, both in enumerate(zip(below, own, strict=True)):
            yield from _differences(*both, (*steps, place))
    elif below != own:
        before, after = _clip_both(*map(emit_flow, (below, own)))
        is_new = f"added {after}" if below is None else f"left out {before}"
        yield steps, is_new if None in (below, own) else f"{before} → {after}"


def _compare_with_nearest(field: Any, others: Mapping[str, Any]) -> str:
    """Return the keys of a new field that the most similar of other fields does not have, with its name."""
    if not isinstance(field, dict):
        return clip(emit_flow(field), 80)
    new = {
        name: {key: value for key, value in field.items() if other.get(key) != value}
        for name, other in others.items()
        if isinstance(other, dict) and other.keys() <= field.keys()
    }
    nearest = min(new, key=lambda name: len(new[name]), default="")
    if not nearest or len(new[nearest]) == len(field):
        return clip(emit_flow(field), 80)
    own = ", ".join(f"{key}: {clip(emit_flow(value), 80)}" for key, value in new[nearest].items())
    return f"as {nearest}" + (f", with {own}" if own else "")


def _clip_both(before: str, after: str) -> tuple[str, str]:
    """Return two texts clipped to the part around their first difference."""
    differing = (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    is_long = max(len(before), len(after)) > 80
    start = max(0, next(differing, 0) - 30) if is_long else 0
    first, second = (f"{'…' if start else ''}{clip(text[start:], 80)}" for text in (before, after))
    return first, second


def _of_predictions(
    found: Validation,
    given: Mapping[str, Records],
    where: Sequence[str],
    findings: Findings,
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of predictions without gold.

    Where the spec is not sound, their files are only opened.
    """
    if where:
        what = "chooses documents by their gold, which is missing"
        problems.append(Problem("--where", what, "add --gold", "no_gold"))
    try:
        sources = open_predictions(findings.plan, given)
        if problems:
            return found
        plan = fold_keys_of_sources(findings.plan, sources.values())
        surveys = survey_predictions(plan, sources, findings)
    except ProblemsError as error:
        problems += error.problems
        return found
    notes = tuple(str(note) for source in sources.values() for note in source.notes)
    return replace(_with_surveys(found, findings.plan, sources, surveys, problems), notes=notes)


def _of_data(
    found: Validation,
    gold: Records,
    given: Mapping[str, Records],
    where: Sequence[str],
    findings: Findings,
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of gold and predictions.

    Where the spec is not sound, their files are only opened.
    """
    plan = findings.plan
    try:
        matching = open_inputs(plan, gold, given, where)
        found = replace(found, documents=len(matching))
        if problems:
            return found
        surveys = survey(fold_keys_of_matching(plan, matching), matching, findings)
    except ProblemsError as error:
        problems += error.problems
        return found
    except NothingEvaluatedError as error:
        problems.append(Problem("predictions", str(error), "", "no_match"))
        return found
    found = _with_surveys(found, plan, matching.sources, surveys, problems)
    misplaced = describe_misplaced(matching.gold.label, surveys[""].misplaced)
    return replace(
        found,
        warnings=(*found.warnings, *map(str, misplaced)),
        missing=matching.missing,
        unmatched=matching.unmatched,
        notes=(*map(str, matching.notes), *describe_mixed(surveys[""])),
    )


def _with_surveys(
    found: Validation,
    plan: Plan,
    sources: Mapping[str, Source],
    surveys: Mapping[str, DataProfile],
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of all sides, and warnings for those without any declared value.

    Where the spec cannot be for any of them, that is a problem, unless its checks look at predictions alone.
    """
    undeclared = {name: one.undeclared for name, one in surveys.items()}
    empty = [
        name for name, one in surveys.items() if not any(finding.present for finding in one.findings.values())
    ]
    is_checked = found.documents is None and bool(plan.checks)
    misfits = [] if is_checked or "" in plan.slots else find_misfits(plan, sources, undeclared, empty)
    if misfits:
        problems += [Problem("spec", misfit, kind="no_match") for misfit in misfits]
        return replace(found, surveys=surveys)
    warnings = (
        describe_empty(plan, sources[name], name, undeclared[name])
        if undeclared[name]
        else f"{sources[name].label}: no record can be read"
        for name in empty
        if undeclared[name] or surveys[name].invalid == surveys[name].records > 0
    )
    return replace(found, surveys=surveys, warnings=tuple(warnings))


def _read(spec: Any, problems: list[Problem]) -> tuple[Plan, bool]:
    """Return the plan; of an unsound spec one with its names only, so that the data can still be read."""
    try:
        parsed = parse_spec(spec)
    except ProblemsError as error:
        problems += error.problems
        return Plan(Spec("", ()), ObjectNode("", "", -1, ()), (), ()), False
    try:
        return plan_of(parsed), True
    except ProblemsError as error:
        problems += error.problems
        names = tuple(top.name for top in parsed.spec.fields)
        return Plan(parsed.spec, ObjectNode("", "", -1, ()), (), names), False
