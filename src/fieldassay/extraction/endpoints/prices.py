"""The price of tokens: by a table of the spec or an endpoint, then by published prices, else unknown."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fieldassay.io.json_value import Json
from fieldassay.spec.language.prices import Table, cost_usd

if TYPE_CHECKING:
    import subprocess

    from fieldassay.extraction.endpoints.endpoint import Endpoint
    from fieldassay.extraction.endpoints.exchange import Usage


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
    """The prices of genai-prices, in a process of its own: importing them takes a second of processor time.

    Nothing is fetched: the prices are those of the installed version.
    """

    def __init__(self) -> None:
        self.name = "genai-prices"
        self._process: subprocess.Popen[str] | None = None
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
            answer = self._ask({"url": url, "model": usage.model, "tokens": tokens_by_kind(usage)})
            if answer.get("flat") or answer.get("usd") is None:
                self._flat[url, usage.model] = answer.get("flat")
            found = answer.get("usd")
            return None if found is None else float(found)

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        import subprocess

        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fieldassay.extraction.endpoints.published_prices"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            self.name = (self._exchange(None) or {}).get("name", "")
            self._is_missing = not self.name
        return self._exchange(question) or {}

    def _exchange(self, question: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the next line of the process, after a question if there is one."""
        assert (
            self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        )
        try:
            if question is not None:
                self._process.stdin.write(json.dumps(question) + "\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            return None
        found: dict[str, Any] | None = json.loads(line) if line else None
        return found

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
