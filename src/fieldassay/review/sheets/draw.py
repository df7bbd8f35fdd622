"""The draw of a review: which values are asked, and which of them are shown as predicted.

Everything is drawn by a hash of seed, document and path alone: the order of documents decides nothing, and
the probability of every choice is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from fieldassay.options import OptionRecord


class Showing(StrEnum):
    """What stands in the field of a value before the reviewer answers."""

    PREDICTION = "prediction"
    NOTHING = "nothing"
    CONTEXT = "context"
    """Not asked: shown beside asked values of its item, so that the item can be found on the page."""


class Reason(StrEnum):
    """Why a value is asked, besides the reasons of a review policy."""

    AUDIT = "random audit"
    NOT_PREDICTED = "not predicted"
    DOUBLE = "double review"
    DOUBLE_FLAGGED = "double review, sent to review by the policy"
    NO_PREDICTIONS = "no predictions"
    SUSPICIOUS = "all systems contradict gold"
    CONTEXT = "context"


Share = Annotated[float, Meta(ge=0, le=1, examples=[0.1])]


class Shares(OptionRecord, frozen=True):
    """The shares of an audit, fixed when the review is made.

    `double` of the documents are labeled twice, blind; the prediction is withheld of `withheld` of the values
    that the policy sends to review; `empty` of the fields without a prediction are asked; `audited` of the
    values that the policy accepts are asked nevertheless.
    """

    double: Share = 0.1
    withheld: Share = 0.1
    empty: Share = 0.05
    seed: int = 0
    audited: Share = 0.03

    def is_double(self, document: str) -> bool:
        """Return whether a document is labeled by two people, each blind.

        >>> sum(Shares().is_double(f"doc-{number}") for number in range(10_000))
        987
        """
        return uniform(self.seed, "double", document) < self.double


GOLD = Shares(double=0.0, withheld=0.0, empty=1.0, audited=0.0)
"""Makes gold: everything is asked once, and every prediction shown."""


def uniform(seed: int, purpose: str, document: str, path: str = "") -> float:
    """Return a number in [0, 1) that depends on its arguments alone, as if it were random.

    >>> round(uniform(0, "double", "doc-1"), 4) == round(uniform(0, "double", "doc-1"), 4)
    True
    """
    text = f"review {purpose} {seed} {len(document)} {document} {path}"
    drawn = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(drawn, "little") / 2.0**64


def looked_at(shares: Shares, *, is_flagged: bool, is_in_list: bool) -> float:
    """Return the probability that a predicted value is labeled without its prediction being seen.

    `is_flagged`: the policy sends it to review. Values in lists are not asked one by one where a document is
    labeled twice.

    >>> shares = Shares(double=0.5, withheld=0.2, audited=0.1)
    >>> looked_at(shares, is_flagged=False, is_in_list=False)
    0.55
    >>> looked_at(shares, is_flagged=True, is_in_list=True)
    0.1
    """
    alone = shares.withheld if is_flagged else shares.audited
    return (0.0 if is_in_list else shares.double) + (1.0 - shares.double) * alone


def spread(margins: Sequence[float], place: float) -> float:
    """Return the margin at a place from 0 to 1 among margins in falling order; 0 without any.

    >>> spread([9.0, 5.0, 1.0], 0.5), spread([], 0.5)
    (5.0, 0.0)
    """
    return margins[min(int(place * len(margins)), len(margins) - 1)] if margins else 0.0
