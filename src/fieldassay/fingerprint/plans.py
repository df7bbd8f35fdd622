"""The foundations of a plan's numbers, as digests: the spec, the formulas and the models."""

from __future__ import annotations

from typing import Any

from fieldassay.comparators.base import Comparator
from fieldassay.fingerprint.frozen import Part, part_of
from fieldassay.fingerprint.specs import freeze_formulas, freeze_spec
from fieldassay.options import options_of
from fieldassay.plan.nodes import Plan, list_leaves

_MODEL_FACTS = ("name", "backend", "digest")


def freeze_plan(plan: Plan) -> dict[str, Part]:
    """Return the foundations of a baseline except the gold data: `spec`, `formulas` and `models`."""
    used = [{key: facts[key] for key in _MODEL_FACTS if key in facts} for facts in models(plan)]
    return {
        "spec": freeze_spec(plan.spec),
        "formulas": freeze_formulas(plan.spec),
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
