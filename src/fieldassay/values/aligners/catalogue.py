"""The aligners by the names that a spec uses."""

from __future__ import annotations

from typing import Final

from fieldassay.registry import Catalogue

ALIGNERS: Final = Catalogue(
    "aligner",
    {
        "ordered": "fieldassay.values.aligners.ordered:Ordered",
        "sequence": "fieldassay.values.aligners.sequence:Sequence",
        "assignment": "fieldassay.values.aligners.assignment:Assignment",
        "key": "fieldassay.values.aligners.key:Key",
    },
)
