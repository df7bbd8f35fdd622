"""The foundations of a plan's numbers, as digests: the spec, the formulas and the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fieldassay.options import options_of
from fieldassay.scoring.provenance.frozen import Part, part_of
from fieldassay.scoring.provenance.specs import freeze_formulas, freeze_spec
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.source import RecordedSpec
from fieldassay.spec.plan.nodes import Plan, list_leaves
from fieldassay.values.comparators.base import Comparator

_MODEL_FACTS = ("name", "backend", "digest")


def freeze_plan(plan: Plan) -> dict[str, Part]:
    """Return the basis of a plan's numbers except the gold data: `spec`, `formulas` and `models`."""
    return _freeze(plan.spec, models(plan))


def freeze_recorded(text: str, models: Iterable[Mapping[str, Any]]) -> dict[str, Part]:
    """Return the same of the text of a recorded spec and the recorded models.

    Raises `ProblemsError` for a text that is no spec of this version.
    """
    return _freeze(read_spec(RecordedSpec(text)), models)


def _freeze(spec: Spec, models: Iterable[Mapping[str, Any]]) -> dict[str, Part]:
    used = [{key: facts[key] for key in _MODEL_FACTS if key in facts} for facts in models]
    return {
        "spec": freeze_spec(spec),
        "formulas": freeze_formulas(spec),
        "models": part_of(sorted(used, key=str)),
    }


def models(plan: Plan) -> list[dict[str, Any]]:
    """Return the identity of every model that a comparator of the plan runs, each once."""
    found: list[dict[str, Any]] = []
    for leaf in list_leaves(plan.root):
        for comparator in _nested(leaf.comparator):
            identity = getattr(comparator, "identity", None)
            if identity is not None and (told := dict(identity())) not in found:
                found.append(told)
    return found


def _nested(comparator: Comparator) -> list[Comparator]:
    """Return a comparator and those it is made of."""
    found = [comparator]
    for option in options_of(type(comparator)):
        value = getattr(comparator, option.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Comparator):
                found += _nested(inner)
    return found
