"""The price of tokens: by a table of the spec or an endpoint, then by published prices, else unknown."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fieldassay.extraction.endpoints import published_prices
from fieldassay.extraction.endpoints.published_prices import Price
from fieldassay.io.json_value import Json
from fieldassay.io.workers.program import Worker, WorkerEndedError, WorkerLateError, WorkerStartError
from fieldassay.spec.language.prices import Table, cost_usd

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.endpoint import Endpoint
    from fieldassay.extraction.endpoints.exchange import Usage

ANSWERING = 60.0
"""Seconds that the worker may take for a price."""


def tokens_by_kind(usage: Usage) -> dict[str, float | None]:
    """Return the tokens of a usage by kind of price."""
    return {
        "prompt": usage.prompt_tokens,
        "cached_prompt": usage.cached_prompt_tokens,
        "image": usage.image_tokens,
        "completion": usage.completion_tokens,
        "embedding": usage.embedding_tokens,
    }


class Prices:
    """The prices of a run, and where each came from."""

    def __init__(self, table: Table, endpoints: Mapping[str, Endpoint], *, published: bool = True) -> None:
        self._table, self._endpoints = table, endpoints
        self._published = PublishedPrices() if published else None
        self.sources: dict[str, str] = {}
        """By model: `endpoint`, `spec`, the version of the published prices, or `unknown`."""

    def cost(self, endpoint: str, usage: Usage) -> float | None:
        """Return what tokens cost at an endpoint; None if that is not known, never 0 for it."""
        tokens = tokens_by_kind(usage)
        if all(count is None for count in tokens.values()):
            return None
        configured = self._endpoints.get(endpoint)
        for source, table in (("endpoint", configured and configured.prices), ("spec", self._table)):
            found = cost_usd(table, usage.model, tokens) if table else None
            if found is not None:
                self.sources[usage.model] = source
                return found
        if self._published is None or configured is None or configured.is_local:
            self.sources.setdefault(usage.model, "unknown")
            return None
        found = self._published.cost(configured.url, usage)
        self.sources[usage.model] = self._published.name if found is not None else "unknown"
        return found

    def as_json(self) -> dict[str, Json]:
        """Return what a manifest says of the prices: the table, and the source by model."""
        table: dict[str, Json] = {model: dict(kinds) for model, kinds in self._table.items()}
        return {"table": table, "sources": dict(self.sources)}

    def close(self) -> None:
        """End the program of the published prices."""
        if self._published is not None:
            self._published.close()


class PublishedPrices:
    """The prices of genai-prices, in a worker: importing them takes a second of processor time.

    Nothing is fetched: the prices are those of the installed version.
    """

    def __init__(self) -> None:
        self.name = "genai-prices"
        self._worker: Worker | None = None
        self._flat: dict[tuple[str, str], Mapping[str, float] | None] = {}
        self._guard = threading.Lock()
        self._is_missing = False

    def cost(self, url: str, usage: Usage) -> float | None:
        """Return what tokens cost; None for an unknown model, and where the package is not installed."""
        with self._guard:
            flat = self._flat.get((url, usage.model))
            if flat:
                return cost_usd({usage.model: flat}, usage.model, tokens_by_kind(usage))
            if self._is_missing or (flat is None and (url, usage.model) in self._flat):
                return None
            price = self._ask(url, usage)
            if price.flat or price.usd is None:
                self._flat[url, usage.model] = price.flat
            return price.usd

    def _ask(self, url: str, usage: Usage) -> Price:
        try:
            if self._worker is None:
                self._worker = Worker((published_prices.__name__,))
                self.name = self._worker.call(published_prices.source)
                self._is_missing = not self.name
            if not self._is_missing:
                tokens = tokens_by_kind(usage)
                return self._worker.call(published_prices.price, url, usage.model, tokens, seconds=ANSWERING)
        except (WorkerEndedError, WorkerLateError, WorkerStartError):
            self._is_missing = True
        return Price(None, None)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
