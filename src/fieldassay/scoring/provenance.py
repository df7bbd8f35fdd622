"""Where a result comes from: versions, digests, seed and inputs."""

from __future__ import annotations

import dataclasses
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fieldassay.comparators.base import Comparator
from fieldassay.engine.fold import FoldPlan
from fieldassay.plan.nodes import Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.records.matching import Matching
from fieldassay.spec.write import write_spec

PACKAGES = (
    "fieldassay",
    "numpy",
    "polars",
    "rapidfuzz",
    "scipy",
    "babel",
    "pint",
    "phonenumbers",
    "python-stdnum",
    "json-repair",
)


def provenance(plan: Plan, folding: FoldPlan, matching: Matching) -> dict[str, Any]:
    """Return what computed the numbers: the resolved spec and its digest, versions, metrics, the bootstrap's seed, inputs, encoders."""
    return {
        "spec": {"name": plan.spec.name, "digest": plan.digest, "text": write_spec(plan.spec)},
        "metrics": [str(call) for call in folding.metrics],
        "definitions": [definition.name for definition in plan.spec.definitions],
        "kept": {
            "compared": [str(call) for call in folding.compared],
            "also": [str(call) for call in folding.also_kept],
        },
        "slices": list(folding.slices),
        "gates": list(plan.spec.gates),
        "bootstrap": {"replicates": folding.replicates, "seed": folding.seed, "level": folding.level},
        "inputs": {
            "gold": matching.gold.label,
            "predictions": {name: source.label for name, source in matching.predictions.items()},
        },
        "models": models(plan),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def models(plan: Plan) -> list[dict[str, Any]]:
    """Return the identity of every model that a comparator of the plan runs, each once."""
    found: list[dict[str, Any]] = []
    for leaf in leaves(plan.root):
        for comparator in _nested(leaf.comparator):
            identity = getattr(comparator, "identity", None)
            if identity is not None and (told := dict(identity())) not in found:
                found.append(told)
    return found


def _nested(comparator: Comparator) -> list[Comparator]:
    """Return a comparator and those it is made of."""
    found = [comparator]
    for field in dataclasses.fields(comparator):  # type: ignore[arg-type]
        value = getattr(comparator, field.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Comparator):
                found += _nested(inner)
    return found


def leaves(node: Node) -> list[Leaf]:
    """Return the leaves under a node, in order."""
    if isinstance(node, Leaf):
        return [node]
    if isinstance(node, ObjectNode):
        return [leaf for child in node.children for leaf in leaves(child)]
    if isinstance(node, ListNode):
        return leaves(node.items)
    return [template for _, template in node.patterns if isinstance(template, Leaf)]


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
