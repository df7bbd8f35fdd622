"""The aligners by the names that a spec uses."""

from __future__ import annotations

from typing import Final

from fieldassay.registry import Catalogue

ALIGNERS: Final = Catalogue(
    "aligner",
    {
        "ordered": "fieldassay.aligners.ordered:Ordered",
        "sequence": "fieldassay.aligners.sequence:Sequence",
        "assignment": "fieldassay.aligners.assignment:Assignment",
        "key": "fieldassay.aligners.key:Key",
    },
)
