"""The frozen parts of a spec: the part that decides the scores, and the formulas over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.scoring.provenance.frozen import Part, part_of
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.source import RecordedSpec
from fieldassay.spec.plan.digest import scoring_data
from fieldassay.spec.plan.expressions import field_paths


def recorded_spec(run: Mapping[str, Any]) -> Spec | None:
    """Return the spec in the provenance of a result; None where there is none, or none that can be read."""
    recorded = run.get("spec")
    text = recorded.get("text") if isinstance(recorded, Mapping) else None
    try:
        return read_spec(RecordedSpec(text)) if isinstance(text, str) and text else None
    except ProblemsError:
        return None


def recorded_paths(run: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths of all fields of a result's spec in their order; () where it cannot be read."""
    spec = recorded_spec(run)
    return () if spec is None else field_paths(spec)


def freeze_spec(spec: Spec) -> Part:
    """Return the scoring-relevant part of a spec; its digest is that of `spec.plan.digest.digest_of`.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> freeze_spec(read_spec("fields: {total: {type: money, description: with tax}}")).content
    {'fieldassay': 1, 'fields': {'total': 'money'}}
    """
    return part_of(scoring_data(spec))


def freeze_formulas(spec: Spec) -> Part:
    """Return the formulas of a spec: metrics, its own ones, the one scoring a document, and the prices.

    The order of metrics, and white space in formulas, have no part in it. Gates and slices are no formulas:
    they judge and group numbers.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> spec = read_spec({"fields": {"total": "money"}, "metrics": ["f1", "accuracy"]})
    >>> freeze_formulas(spec).content["metrics"]
    ['accuracy', 'f1']
    """
    prices = {model: {kind: float(price) for kind, price in kinds} for model, kinds in spec.prices}
    content: dict[str, Any] = {
        "metrics": sorted({_squeeze(text) for text in spec.metrics}),
        "prices": prices,
        "score": spec.score,
    }
    return part_of({**content, "definitions": {one.name: _definition(one) for one in spec.definitions}})


def _definition(definition: Definition) -> dict[str, Any]:
    facts = {key: getattr(definition, key) for key in ("better", "unit", "scope")}
    return {
        "formula": _squeeze(definition.formula),
        **{key: value for key, value in facts.items() if value is not None},
    }


def _squeeze(text: str) -> str:
    return " ".join(text.split())
