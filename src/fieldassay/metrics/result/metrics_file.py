"""`metrics.json`: the estimates of a result, written and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.typed_json import AGAIN, SCHEMA_VERSION, Form, check_part, read_typed
from fieldassay.io.json_value import json_line
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.recorded import Counts, Provenance
from fieldassay.metrics.result.repeats import Repeats
from fieldassay.metrics.result.result import Result
from fieldassay.public import public

_FORM = Form("a metrics file", "bad_metrics_file")
_MOST_LISTED = 20


class _File(msgspec.Struct):
    """The content of a metrics file."""

    run: dict[str, Any]
    estimates: tuple[Estimate, ...]
    counts: dict[str, Any]
    repeats: tuple[Repeats, ...] = ()


@public
def metrics_json(result: Result) -> bytes:
    """Return the result's estimates as UTF-8 JSON, one estimate a line, numbers in full precision.

    NaN raises ValueError.

    >>> print(metrics_json(Result((), run={"seed": 0})).decode(), end="")
    {"format": "fieldassay", "schema_version": 1, "run": {"seed": 0}, "estimates": [], "counts": {}}
    """
    lines = ",\n".join(_write(estimate.to_dict()) for estimate in result.estimates)
    estimates = f"[\n{lines}\n]" if lines else "[]"
    text = (
        f'{{"format": "fieldassay", "schema_version": {SCHEMA_VERSION}, "run": {_write(result.run)}, '
        f'"estimates": {estimates}, "counts": {_write(result.counts)}{_write_repeats(result)}}}\n'
    )
    return text.encode("utf-8", "backslashreplace")


@public
def read_metrics(data: bytes, where: str = "metrics.json") -> Result:
    """Return the result written by `metrics_json`, without documents and evidence.

    Raises `ProblemsError` for anything else.
    """
    found = read_typed(data, _File, _FORM, where)
    problems = [
        Problem(f"{where}: $.estimates[{place}].interval", "its ends are not in order", AGAIN, _FORM.kind)
        for place, one in enumerate(found.estimates)
        if one.interval is not None and one.interval[0] > one.interval[1]
    ]
    if problems:
        raise ProblemsError(problems[:_MOST_LISTED])
    for text in check_part(found.run, Provenance, _FORM, f"{where}: $.run").metrics:
        try:
            parse_metric(text)
        except ValueError as error:
            raise problem(f"{where}: $.run.metrics", f"{error}", AGAIN, _FORM.kind) from None
    check_part(found.counts, Counts, _FORM, f"{where}: $.counts")
    return Result(found.estimates, run=found.run, counts=found.counts, repeats=found.repeats)


def _write_repeats(result: Result) -> str:
    if not result.repeats:
        return ""
    lines = ",\n".join(_write(one.to_dict()) for one in result.repeats)
    return f', "repeats": [\n{lines}\n]'


def _write(value: Mapping[str, Any]) -> str:
    return json_line(value)
