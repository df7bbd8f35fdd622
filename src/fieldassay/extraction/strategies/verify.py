"""Verification of a record before it is returned: quotes, omissions, and the checks of the spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Found, item_steps
from fieldassay.extraction.places.search import Place
from fieldassay.io.json_value import Json, is_blank
from fieldassay.paths import Step, join_path

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Plan

_MOST_SHOWN = 20
_NULLS = frozenset({"null", "none", "n/a"})


@dataclass(frozen=True, slots=True)
class Verify:
    """What is asked of an answer beside the values."""

    quotes: Literal["none", "flag", "require"] = "none"
    """`flag`: values without a quote in the document keep their class of evidence. `require`: they become
    null."""
    omissions: Literal["none", "ask"] = "none"
    """`ask`: a second request for the fields that are null, and for items that were left out."""
    checks: Literal["none", "reask"] = "none"
    """`reask`: a request with the violations of the spec's `checks:`; its answer counts if it has fewer."""


def unsupported(values: Mapping[Steps, Found]) -> set[Steps]:
    """Return the values that no visible text of the document supports."""
    kinds = ("absent", "hidden", "example")
    return {steps for steps, found in values.items() if found.kind in kinds and not is_blank(found.value)}


def null_texts(values: Mapping[Steps, Found]) -> set[Steps]:
    """Return the values that are a word for null and do not stand in the document."""
    return {
        steps
        for steps, found in values.items()
        if isinstance(found.value, str) and found.value.strip().casefold() in _NULLS and found.place is None
    }


def with_omissions(
    first: Mapping[Steps, Found], second: Mapping[Steps, Found], line_of: Callable[[Place], tuple[int, int]]
) -> dict[Steps, Found]:
    """Return the values of a second answer that the first one lacks: values that were null, and items.

    Items of the second answer at the place of one of the first add only what that one lacks; items without a
    place add nothing.
    """
    known = {_identity(steps, found, line_of) for steps, found in first.items() if not is_blank(found.value)}
    added = {}
    for steps, found in second.items():
        identity = _identity(steps, found, line_of)
        if identity is not None and identity not in known:
            added[steps] = found
    return added


def _identity(steps: Steps, found: Found, line_of: Callable[[Place], tuple[int, int]]) -> object:
    """Return what tells a value apart in two answers: its item's line in place of its index."""
    item = item_steps(steps)
    if item is None:
        return steps
    return None if found.anchor is None else (item[:-1], line_of(found.anchor), steps[len(item) :])


def violations(plan: Plan, record: Mapping[str, Json]) -> list[str]:
    """Return the violations of the spec's checks in a record; of one check the first pattern counts.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> fields = {"net": "money", "gross": "money"}
    >>> plan = read_plan({"fields": fields, "checks": {".": {"holds": "net <= gross"}}})
    >>> violations(plan, {"net": "12.00", "gross": "10.00"})
    ['does not hold: net is 12.00, and gross is 10.00']
    """
    found: list[str] = []
    settled: set[tuple[str, tuple[Step, ...]]] = set()
    for planned in plan.checks:
        matched = [] if not planned.path else list(planned.pattern.find(record))
        for steps, value in matched:
            if (planned.name, steps) in settled or value is None:
                continue
            settled.add((planned.name, steps))
            for fault in planned.check.faults(value):
                at = (*steps, fault.key) if fault.key is not None else steps
                found.append(f"{join_path(at)} {fault.message}".strip())
    return found


def omission_request(missing: Sequence[str]) -> str:
    """Return the message that asks for what an answer left out."""
    listed = "\n".join(f"- {path}" for path in missing[:200])
    return (
        "Read the document once more. Your answer may have left something out. These fields are null:\n"
        f"{listed or '- none'}\n"
        "Answer with the whole JSON object again: fill in what the document says, add items of lists "
        "that are missing, change nothing else, and keep null for what is not there."
    )


def check_request(found: Sequence[str]) -> str:
    """Return the message that shows the violations of an answer."""
    more = [f"- and {len(found) - _MOST_SHOWN} more"] if len(found) > _MOST_SHOWN else []
    listed = "\n".join([*(f"- {one}" for one in found[:_MOST_SHOWN]), *more])
    return (
        f"Your answer breaks rules of the record:\n{listed}\n"
        "Read these values in the document again, and answer with the whole JSON object: "
        "correct what you misread. "
        "Keep what the document says, even if it breaks a rule."
    )


def reask_request(kind: str, problems: Sequence[str]) -> str:
    """Return the message after an answer that cannot be used."""
    why = "it was no JSON object" if kind in ("not_json", "empty") else "; ".join(problems[:_MOST_SHOWN])
    return f"Your answer cannot be used: {why}. Answer with the whole JSON object and nothing else."
