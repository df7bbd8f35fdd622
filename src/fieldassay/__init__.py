"""fieldassay: how good structured data extraction from documents is, field by field, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["__version__", "score"]

if TYPE_CHECKING:
    from fieldassay.api.scoring import score as score


def __getattr__(name: str) -> object:
    """Load the front door on first use, so that importing the package loads nothing heavy."""
    if name == "score":
        from fieldassay.api.scoring import score

        return score
    raise AttributeError(f"module 'fieldassay' has no attribute {name!r}")
