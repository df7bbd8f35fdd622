"""How often something happened in simulated trials, and whether that agrees with what is promised."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SURPRISE = 0.001
"""A promise counts as broken only if keeping it would give so extreme a count less often than this."""


@dataclass(frozen=True)
class Rate:
    """What was counted in how many trials, and between which two shares it is promised to be."""

    part: str
    what: str
    count: int
    trials: int
    least: float = 0.0
    most: float = 1.0

    @property
    def share(self) -> float:
        """Return how often it happened."""
        return self.count / self.trials

    @property
    def is_kept(self) -> bool:
        """Return whether the count agrees with the promise, as far as a count of so many trials can tell."""
        too_few = binomial_at_most(self.count, self.trials, self.least)
        too_many = binomial_at_most(self.trials - self.count, self.trials, 1.0 - self.most)
        return min(too_few, too_many) >= SURPRISE

    @property
    def promise(self) -> str:
        """Return the promised shares in words."""
        low, high = f"{100 * self.least:.3g}%", f"{100 * self.most:.3g}%"
        if self.least <= 0 and self.most >= 1:
            return "nothing"
        return (
            f"at most {high}"
            if self.least <= 0
            else f"at least {low}"
            if self.most >= 1
            else f"{low} to {high}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as JSON data."""
        head = {
            "part": self.part,
            "what": self.what,
            "count": self.count,
            "trials": self.trials,
            "share": self.share,
        }
        return head | {"least": self.least, "most": self.most, "is_kept": self.is_kept}


def count(part: str, what: str, happened: Iterable[bool], least: float = 0.0, most: float = 1.0) -> Rate:
    """Return the rate of what did or did not happen, trial by trial."""
    found = [bool(one) for one in happened]
    return Rate(part, what, sum(found), len(found), least, most)


def binomial_at_most(count: int, trials: int, share: float) -> float:
    """Return P(X <= count) of a binomial count of so many trials.

    >>> binomial_at_most(0, 2, 0.5), binomial_at_most(5, 5, 0.1), binomial_at_most(3, 10, 0.0)
    (0.25, 1.0, 1.0)
    """
    if count >= trials or share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    logs = [
        _log_choose(trials, k) + k * math.log(share) + (trials - k) * math.log1p(-share)
        for k in range(count + 1)
    ]
    return min(1.0, math.fsum(math.exp(one) for one in logs))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def summarize(rates: Iterable[Rate]) -> str:
    """Return one Markdown table: a row for each part, with its worlds and those that keep what is promised."""
    groups: dict[str, list[Rate]] = {}
    for rate in (one for one in rates if one.promise != "nothing"):
        groups.setdefault(rate.part, []).append(rate)
    lines = ["| simulated | worlds | kept in |", "|---|---:|---:|"]
    lines += [
        f"| {part} | {len(found)} | {sum(rate.is_kept for rate in found)} |" for part, found in groups.items()
    ]
    return "\n".join(lines) + "\n"


def write_table(rates: Iterable[Rate]) -> str:
    """Return the rates as Markdown tables, one for each part."""
    lines: list[str] = []
    part = None
    for rate in rates:
        if rate.part != part:
            part = rate.part
            lines += [
                "",
                f"**{part}**",
                "",
                "| simulated | measured | promised | kept |",
                "|---|---:|---|---|",
            ]
        said = f"{100 * rate.share:.1f}% of {rate.trials:,}"
        kept = "" if rate.promise == "nothing" else "yes" if rate.is_kept else "**no**"
        lines.append(f"| {rate.what} | {said} | {rate.promise} | {kept} |")
    return "\n".join(lines).strip() + "\n"
