"""Where a result comes from: versions, digests, seed and inputs."""

from __future__ import annotations

import os
import re
import sys
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from fieldassay.metrics.fold import FoldPlan
from fieldassay.records.matching import Matching
from fieldassay.scoring.provenance.plans import models
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.nodes import Plan

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
_ENDING = ".dist-info"


def provenance(plan: Plan, folding: FoldPlan, matching: Matching) -> dict[str, Any]:
    """Return the provenance of the numbers.

    That is the resolved spec and its digest, versions, metrics, the bootstrap's seed, inputs, encoders.
    """
    return {
        "spec": {"name": plan.spec.name, "digest": plan.digest, "text": write_spec(plan.spec)},
        "metrics": [str(call) for call in folding.metrics],
        "score": plan.spec.score,
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
            **(
                {
                    "repeats": {
                        system: list(names)
                        for system, names in matching.systems.items()
                        if names[0] in matching.repeats
                    }
                }
                if matching.repeats
                else {}
            ),
        },
        "models": models(plan),
        "versions": {"python": sys.version.split()[0], **{name: _version(name) for name in PACKAGES}},
    }


@lru_cache(maxsize=64)
def _version(name: str) -> str:
    """Return the version of an installed package, by the name of its folder if that says it."""
    known = _installed().get(name.replace("-", "_"))
    if known is not None:
        return known
    from importlib.metadata import PackageNotFoundError, version  # takes long, so only where it is needed

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


@cache
def _installed() -> dict[str, str]:
    """Return the versions in the names of folders such as `numpy-2.1.0.dist-info`; the first of a package."""
    names = chain.from_iterable(map(_list_names, sys.path))
    folders = [name.removesuffix(_ENDING).partition("-") for name in names if name.endswith(_ENDING)]
    return {re.sub(r"[-_.]+", "_", name).lower(): version for name, _, version in reversed(folders)}


def _list_names(place: str) -> list[str]:
    """Return the names in a place of modules; none where there is no folder, or none that can be read."""
    try:
        return os.listdir(place or ".")  # noqa: PTH208
    except (OSError, ValueError):
        return []
