"""`metrics.json`: the estimates of a result, written and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.result.estimate import Estimate
from fieldassay.result.result import Result

SCHEMA_VERSION = 1

_PARTS = {"run": dict, "estimates": list, "counts": dict}


def metrics_json(result: Result) -> bytes:
    """Return the result's estimates as UTF-8 JSON, one estimate a line, numbers in full precision; never NaN (ValueError).

    >>> print(metrics_json(Result((), run={"seed": 0}, counts={"documents": 0})).decode(), end="")
    {"schema_version": 1, "run": {"seed": 0}, "estimates": [], "counts": {"documents": 0}}
    """
    lines = ",\n".join(_write(estimate.to_dict()) for estimate in result.estimates)
    estimates = f"[\n{lines}\n]" if lines else "[]"
    text = f'{{"schema_version": {SCHEMA_VERSION}, "run": {_write(result.run)}, "estimates": {estimates}, "counts": {_write(result.counts)}}}\n'
    return text.encode("utf-8", "backslashreplace")


def read_metrics(data: bytes, where: str = "metrics.json") -> Result:
    """Return the result that `metrics_json` wrote, without documents and evidence. Raises ProblemsError for anything else."""
    try:
        parts = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _complaint(where, f"not JSON ({error})", "not_json") from None
    if not isinstance(parts, dict) or parts.get("schema_version") != SCHEMA_VERSION:
        raise _complaint(where, f"not a metrics file of schema version {SCHEMA_VERSION}", "bad_metrics_file")
    for name, kind in _PARTS.items():
        if not isinstance(parts.get(name), kind):
            raise _complaint(f"{where}: $.{name}", "missing or of the wrong kind", "bad_metrics_file")
    estimates = tuple(_read_estimate(item, f"{where}: $.estimates[{place}]") for place, item in enumerate(parts["estimates"]))
    return Result(estimates, run=parts["run"], counts=parts["counts"])


def _read_estimate(item: Any, where: str) -> Estimate:
    try:
        return Estimate.from_dict(item)
    except (TypeError, KeyError, ValueError, IndexError) as error:
        raise _complaint(where, f"not an estimate ({error})", "bad_metrics_file") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _complaint(where: str, what: str, kind: str) -> ProblemsError:
    return ProblemsError([Problem(where, what, "write it again with `fieldassay score --out DIR`", kind)])


def _write(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
