"""What tokens cost by a table of prices."""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[str, Mapping[str, float]]
"""USD per million tokens by model and kind of token; `*` is every model that is not named."""

INSIDE_PROMPT = ("cached_prompt", "image")
"""Kinds counted among the tokens of the prompt; without a price of their own they have the prompt's."""


def cost_usd(table: Table, model: str, tokens: Mapping[str, float | None]) -> float | None:
    """Return the cost of tokens by kind (`prompt`, `cached_prompt`, `image`, `completion`, `embedding`).

    None if model, price or tokens are unknown.

    >>> cost_usd({"m": {"prompt": 1.0, "completion": 2.0}}, "m", {"prompt": 500_000, "completion": 250_000})
    1.0
    >>> table = {"*": {"prompt": 1.0, "cached_prompt": 0.1, "completion": 2.0}}
    >>> cost_usd(table, "m", {"prompt": 1_000_000, "cached_prompt": 500_000, "completion": 0})
    0.55
    """
    known = table.get(model, table.get("*"))
    used = {kind: count for kind, count in tokens.items() if count is not None}
    counted = {kind: count for kind, count in used.items() if kind not in INSIDE_PROMPT}
    if known is None or not counted or any(kind not in known for kind, count in counted.items() if count):
        return None
    total = sum(float(known.get(kind, 0.0)) * count for kind, count in counted.items())
    left = counted.get("prompt", 0.0)
    for kind in INSIDE_PROMPT:
        inside = min(used.get(kind, 0.0), left)
        if inside and kind in known:
            total += (float(known[kind]) - float(known["prompt"])) * inside
            left -= inside
    return total / 1_000_000
