"""A program that answers questions about published prices: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

_KINDS = {"input_mtok": "prompt", "cache_read_mtok": "cached_prompt", "output_mtok": "completion"}


def main() -> None:
    """Answer until the input ends; the first line names the source, or is empty without the package."""
    try:
        import genai_prices
    except ImportError:
        return
    sys.stdout.write(json.dumps({"name": f"genai-prices {genai_prices.__version__}"}) + "\n")
    for line in iter(sys.stdin.readline, ""):
        sys.stdout.flush()
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cost of tokens, and the prices per million if they depend on nothing else."""
    import genai_prices

    tokens = question["tokens"]
    usage = genai_prices.Usage(
        input_tokens=tokens.get("prompt") or 0,
        cache_read_tokens=tokens.get("cached_prompt") or 0,
        output_tokens=tokens.get("completion") or 0,
    )
    try:
        found = genai_prices.calc_price(usage, question["model"], provider_api_url=question["url"])
    except LookupError:
        return {"usd": None, "flat": None}
    return {"usd": float(found.total_price), "flat": _flat(found.model)}


def _flat(model: Any) -> dict[str, float] | None:
    """Return prices that depend neither on the size of the prompt nor on the time, None if they do."""
    prices = model.prices
    if isinstance(prices, list):
        return None
    found = {}
    for name, kind in _KINDS.items():
        value = getattr(prices, name, None)
        if value is not None:
            try:
                found[kind] = float(value)
            except TypeError:
                return None
    return found if {"prompt", "completion"} <= found.keys() else None


if __name__ == "__main__":
    main()
