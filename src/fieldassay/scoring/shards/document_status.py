"""The status of each document: scored, or the one reason for not being scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from fieldassay.metrics.evidence import DocumentTable, Evidence, Outcome

CLASSES = ("scored", "missing", "invalid", "error", "timeout", "failed")
"""The classes of documents; together they are those that were attempted."""

_BY_CLAIM = {"timeout": "is_timeout", "error": "has_error", "invalid": "is_invalid"}


def classify(evidence: Evidence, table: DocumentTable) -> Counter[str]:
    """Return how many documents of one batch of one system are in each class.

    Each document is in exactly one: `missing` (no prediction), `timeout`, `error`, `invalid` (the answer
    cannot be read), `failed` (the answer was read, but some value of it could not be judged), or `scored`.
    """
    left = np.ones(len(table.documents), dtype=bool)
    found: Counter[str] = Counter()
    failed = np.zeros(len(left), dtype=bool)
    failed[evidence.doc[evidence.outcome == Outcome.FAILED]] = True
    masks = {
        "missing": ~table.claims["has_prediction"],
        **{name: table.claims[claim] for name, claim in _BY_CLAIM.items()},
        "failed": failed,
    }
    for name, mask in masks.items():
        found[name] = int((left & mask).sum())
        left &= ~mask
    found["scored"] = int(left.sum())
    return found


def count_classes(found: Mapping[str, int]) -> dict[str, int]:
    """Return the number of documents attempted, and of each class.

    >>> count_classes(Counter(scored=3, missing=1))
    {'attempted': 4, 'scored': 3, 'missing': 1, 'invalid': 0, 'error': 0, 'timeout': 0, 'failed': 0}
    """
    return {
        "attempted": sum(found.get(name, 0) for name in CLASSES),
        **{name: found.get(name, 0) for name in CLASSES},
    }
