"""What two results must share to be compared: spec, formulas, models, and gold of the same documents."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import ProblemsError
from fieldassay.metrics.estimate import PARTS, RunPart, parts_of
from fieldassay.metrics.result.documents import DocumentStatistics
from fieldassay.scoring.provenance import describe_changes, describe_documents, freeze_recorded

_DIGITS = 12
_OTHERS = {
    "spec": "another spec",
    "formulas": "other formulas",
    "models": "other models",
    "gold": "other gold",
}


class ResultBasis(Struct, frozen=True, eq=False):
    """What the numbers of a run or of a baseline stand on.

    `digests` are those of the `PARTS`, `gold` those of each document by its id. `read` returns the content of
    the parts but gold, as far as it is known; `limits` are what restricts the documents.
    """

    digests: Mapping[str, str]
    gold: Mapping[str, str]
    read: Callable[[], Mapping[str, Any]]
    limits: tuple[RunPart, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the parts that are not recorded."""
        return tuple(part for part in PARTS if part not in self.digests or (part == "gold" and not self.gold))


class BasisDifference(Struct, frozen=True, eq=False):
    """How a basis differs from an earlier one.

    `parts` are those that differ, `rows` the places of the documents with the same gold in both, `reason`
    says in words what the earlier one stands on, `documents` what became of its documents.
    """

    parts: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    reason: str = ""
    documents: str = ""


def basis_of_run(facts: Mapping[str, Any], system: DocumentStatistics) -> ResultBasis:
    """Return the basis of a run from the facts of `run.json` and the statistics of one of its systems."""
    recorded = facts.get("digests")
    digests = recorded if isinstance(recorded, Mapping) else {}
    gold = () if system.gold is None else (row.tobytes().hex() for row in system.gold)

    def read() -> Mapping[str, Any]:
        try:
            parts = freeze_recorded(facts["spec"]["text"], facts["models"])
        except (ProblemsError, LookupError, TypeError, ValueError, AttributeError):
            return {}
        return {name: part.content for name, part in parts.items()}

    return ResultBasis(
        {part: digests[part] for part in PARTS if isinstance(digests.get(part), str)},
        dict(zip(system.documents, gold, strict=False)),
        read,
        parts_of(facts),
    )


def compare_bases(before: ResultBasis, now: ResultBasis, key: Callable[[str], str] = str) -> BasisDifference:
    """Return how a basis differs from an earlier one; `key` makes an id now that of the earlier one."""
    gone = dict(before.gold)
    rows: list[int] = []
    added: list[str] = []
    changed: list[str] = []
    for at, (name, digest) in enumerate(now.gold.items()):
        known = gone.pop(key(name), None)
        if known is None:
            added.append(name)
        elif known != digest:
            changed.append(name)
        else:
            rows.append(at)
    documents = describe_documents(added, list(gone), changed)
    differing = {part for part in PARTS if before.digests.get(part) != now.digests.get(part)}
    parts = tuple(part for part in PARTS if part in differing or (part == "gold" and documents))
    return BasisDifference(
        parts, np.array(rows, np.int64), _describe(before, now, parts, documents) if parts else "", documents
    )


def _describe(before: ResultBasis, now: ResultBasis, parts: tuple[str, ...], documents: str) -> str:
    first, second = (before.read(), now.read()) if set(parts) - {"gold"} else ({}, {})
    other = " (or the specs declare other fields of it)" if "spec" in parts and documents else ""
    details = {"gold": documents + other}
    details |= {part: describe_changes(first[part], second[part]) for part in first.keys() & second.keys()}
    told = [
        f"{_OTHERS[part]} ({part} digest {before.digests.get(part, 'unknown')[:_DIGITS]} there, "
        f"{now.digests.get(part, 'unknown')[:_DIGITS]} here"
        f"{': ' if details.get(part) else ''}{details.get(part, '')})"
        for part in parts
    ]
    return ", ".join(told) + "".join(f", and the run has {limit}" for limit in now.limits)
