"""Published prices of models, those of the installed genai-prices."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_KINDS = {"input_mtok": "prompt", "cache_read_mtok": "cached_prompt", "output_mtok": "completion"}


class Price(Struct, frozen=True):
    """What tokens cost in US dollars, and the prices per million where they are fixed; None: unknown."""

    usd: float | None
    flat: dict[str, float] | None


def source() -> str:
    """Return the name and version of the package; empty where it is not installed."""
    try:
        import genai_prices
    except ImportError:
        return ""
    return f"genai-prices {genai_prices.__version__}"


def price(url: str, model: str, tokens: Mapping[str, float | None]) -> Price:
    """Return the cost of tokens by kind at the server of a URL."""
    import genai_prices

    usage = genai_prices.Usage(
        input_tokens=tokens.get("prompt") or 0,
        cache_read_tokens=tokens.get("cached_prompt") or 0,
        output_tokens=tokens.get("completion") or 0,
    )
    try:
        cost = genai_prices.calc_price(usage, model, provider_api_url=url)
    except LookupError:
        return Price(None, None)
    return Price(float(cost.total_price), _flat(cost.model))


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
