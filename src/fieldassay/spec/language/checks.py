"""The key `checks:` of a spec, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from fieldassay.errors import kind_of
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.calls import FIRST, call_data, parse_call
from fieldassay.spec.language.cursor import Cursor
from fieldassay.spec.language.model import Call
from fieldassay.spec.language.report import Report, Steps

Checks: TypeAlias = tuple[tuple[str, tuple[Call, ...]], ...]

_RELATION = lazy_regex(r"^[^:]*[=<>]")
"""The signs of a relation, absent from names of checks; a text with one means `{holds: …}`."""

_HOW = "write a check, or a list of checks, such as {one_of: [HIGH, LOW]}"


def parse_checks(cursor: Cursor) -> Checks:
    """Return the checks of a spec by path pattern, in order.

    Names, options and patterns are checked at compilation. A list of relations applies to the record.
    """
    found = []
    given = cursor.data.get("checks")
    is_short = (
        isinstance(given, list)
        and given
        and all(isinstance(one, str) and _RELATION.search(one) for one in given)
    )
    for pattern, raw in {".": given}.items() if is_short else cursor.mapping("checks").items():
        steps = (*cursor.steps, "checks", pattern)
        if raw is None or raw == []:
            cursor.report.add(steps, "names no check", _HOW, "missing_key")
            continue
        listed = isinstance(raw, list)
        places = [(*steps, at) if listed else steps for at in range(len(raw) if listed else 1)]
        calls = [
            _parse(item, place, cursor.report)
            for item, place in zip(raw if listed else [raw], places, strict=True)
        ]
        found.append((pattern, tuple(call for call in calls if call is not None)))
    return tuple((pattern, calls) for pattern, calls in found if calls)


def _parse(raw: Any, steps: Steps, report: Report) -> Call | None:
    if not isinstance(raw, str | dict):
        report.add(steps, f"must be a check, not {kind_of(raw)}", _HOW, "wrong_kind")
        return None
    if isinstance(raw, str) and _RELATION.search(raw):
        return Call("holds", ((FIRST, " ".join(raw.split())),))
    try:
        return parse_call(raw)
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy)
        return None


def checks_data(checks: Sequence[tuple[str, tuple[Call, ...]]]) -> dict[str, Any]:
    """Return the checks in the spec language; the inverse of `parse_checks`.

    >>> record = Call("not_empty"), Call("kind", (("", "object"),))
    >>> checks_data([("total", (Call("number"),)), (".", record)])
    {'total': 'number', '.': ['not_empty', {'kind': 'object'}]}
    """
    return {
        pattern: call_data(calls[0]) if len(calls) == 1 else list(map(call_data, calls))
        for pattern, calls in checks
    }
