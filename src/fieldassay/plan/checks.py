"""Compiles the checks of a spec."""

from __future__ import annotations

from fieldassay.checks.catalogue import CHECKS
from fieldassay.checks.holds import Holds
from fieldassay.paths import Pattern
from fieldassay.plan.build import build_call
from fieldassay.plan.nodes import ObjectNode, PlannedCheck
from fieldassay.plan.relations import RECORD, bind_relation
from fieldassay.spec.model import Spec
from fieldassay.spec.report import Report


def compile_checks(spec: Spec, root: ObjectNode, report: Report) -> tuple[PlannedCheck, ...]:
    """Return the checks of a spec, built, in order; what is wrong with any of them is noted."""
    found = []
    for text, calls in spec.checks:
        pattern = _pattern(text, report)
        for position, call in enumerate(calls):
            steps = ("checks", text) if len(calls) == 1 else ("checks", text, position)
            check = build_call(call, CHECKS, steps, report)
            name = call.name
            if isinstance(check, Holds) and pattern is not None:
                name = check.named()
                check = bind_relation(check, root, text, (steps, report))
            if check is not None and pattern is not None:
                found.append(PlannedCheck(text, pattern, name, check))
    return tuple(found)


def _pattern(text: str, report: Report) -> Pattern | None:
    try:
        return Pattern("" if text == RECORD else text)
    except ValueError as error:
        report.add(("checks", text), str(error), 'write a path or a pattern such as "**.*_unit", or "." for the whole record')
        return None
