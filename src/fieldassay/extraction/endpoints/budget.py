"""A limit on what a run may spend: the cost of documents is reserved before they begin."""

from __future__ import annotations

import bisect

from msgspec import Struct, field

from fieldassay.extraction.endpoints.exchange import Request, Usage

FEWEST_KNOWN = 5
"""Documents whose cost must be known before it replaces the estimate."""
GUESSED_COMPLETION_TOKENS = 1000
_BYTES_PER_TOKEN = 3


class Budget(Struct, dict=True):
    """What was spent, and what is reserved for documents that have begun.

    A document reserves the 95th percentile of the costs so far; before that is known, the estimate of its
    requests.

    >>> budget = Budget(1.0)
    >>> budget.admits(1, 0.7), budget.admits(2, 0.7)
    (True, False)
    >>> budget.spend(1, 0.2)
    >>> budget.finish(1, 0.2)
    >>> budget.admits(2, 0.7)
    True
    """

    most_usd: float
    spent: float = 0.0
    _reserved: dict[int, float] = field(default_factory=dict)
    _known: list[float] = field(default_factory=list)

    @property
    def reserved(self) -> float:
        """What is reserved for the documents that have begun."""
        return sum(self._reserved.values())

    def admits(self, document: int, estimate: float) -> bool:
        """Reserve for one more request of a document; return whether it fits."""
        own, need = self._reserved.get(document, 0.0), self.need(document, estimate)
        if self.spent + self.reserved - own + need > self.most_usd:
            return False
        self._reserved[document] = need
        return True

    def need(self, document: int, estimate: float) -> float:
        """Return the reserve of a document that wants to send one more request."""
        own = self._reserved.get(document, 0.0)
        if len(self._known) < FEWEST_KNOWN:
            return own + estimate
        return max(own, self._known[int(0.95 * (len(self._known) - 1))])

    def spend(self, document: int, cost: float) -> None:
        """Move what an answer cost from the reserve to what was spent."""
        self.spent += cost
        if document in self._reserved:
            self._reserved[document] = max(self._reserved[document] - cost, 0.0)

    def finish(self, document: int, cost: float | None) -> None:
        """Free what a document did not need; remember its cost if it was paid now and is known."""
        self._reserved.pop(document, None)
        if cost:
            bisect.insort(self._known, cost)


def expected_usage(request: Request) -> Usage:
    """Return the tokens that a request may use: its estimate of the prompt, its limit of the completion."""
    body = request.body
    limit = body.get("max_completion_tokens") or body.get("max_tokens") or GUESSED_COMPLETION_TOKENS
    prompt = request.expected_tokens or len(str(body)) // _BYTES_PER_TOKEN
    completion = int(limit) if isinstance(limit, int | float) else GUESSED_COMPLETION_TOKENS
    return Usage(str(body.get("model") or ""), prompt_tokens=prompt, completion_tokens=completion)


class CostEstimate(Struct, frozen=True):
    """What an extraction would ask, before anything is sent; costs are None where a price is unknown."""

    documents: int
    failed: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    """At most: what the limit of every answer allows."""
    least_usd: float | None
    most_usd: float | None
