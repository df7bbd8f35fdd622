"""Entry matching as worded on its page, apart from the package: difflib, scipy and plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class Page:
    """What the protocol says of one page: how many entries each side has, and the q of each matched pair."""

    gold: int
    predicted: int
    quality: tuple[float, ...]


def name_of(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return "" if name is None else str(name).strip().lower()


def pages_of(entry: Any) -> set[int]:
    pages = entry.get("pages") if isinstance(entry, dict) else None
    return {int(page) for page in pages if page is not None} if isinstance(pages, list) else set()


def distance(gold: Any, predicted: Any, is_mean: bool) -> float:
    by_name = 1 - SequenceMatcher(None, name_of(gold), name_of(predicted), autojunk=False).ratio()
    either = pages_of(gold) | pages_of(predicted)
    by_pages = 1 - len(pages_of(gold) & pages_of(predicted)) / len(either) if either else 0.0
    return (by_name + by_pages) / 2 if is_mean else by_name * by_pages


def match_page(gold: Any, predicted: Any, is_mean: bool = False) -> Page:
    gold = gold if isinstance(gold, list) else []
    predicted = predicted if isinstance(predicted, list) else []
    matrix = np.array([[distance(one, other, is_mean) for other in predicted] for one in gold]).reshape(
        len(gold), len(predicted)
    )
    rows, columns = linear_sum_assignment(matrix)
    return Page(len(gold), len(predicted), tuple(1 - matrix[rows, columns]))


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def harmonic(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def figures(gold: int, predicted: int, total: float, matched: int) -> dict[str, float | None]:
    imq, imq_predicted = share(total, gold), share(total, predicted)
    precision, recall = share(matched, predicted), share(matched, gold)
    return {
        "imq": imq,
        "imq_predicted": imq_predicted,
        "imq_f1": harmonic(imq, imq_predicted),
        "average_matching_quality": share(total, matched),
        "matching_precision": precision,
        "matching_recall": recall,
        "matching_f1": harmonic(precision, recall),
    }


def page_figures(page: Page) -> dict[str, float | None]:
    return figures(page.gold, page.predicted, sum(page.quality), len(page.quality))


def all_figures(pages: Sequence[Page]) -> dict[str, float | None]:
    """Return the pooled figures, and the means over pages under `macro_`."""
    pooled = figures(
        sum(page.gold for page in pages),
        sum(page.predicted for page in pages),
        sum(sum(page.quality) for page in pages),
        sum(len(page.quality) for page in pages),
    )
    each = [page_figures(page) for page in pages]
    known = {name: [found[name] for found in each if found[name] is not None] for name in pooled}
    return pooled | {
        f"macro_{name}": float(np.mean(values)) if values else None for name, values in known.items()
    }


def curve(pages: Sequence[Page], threshold: float) -> float | None:
    """Return F(t), an entry without a partner having q = 0."""
    entries = sum(page.gold for page in pages)
    reached = (
        entries if threshold <= 0 else sum(q >= threshold - 1e-9 for page in pages for q in page.quality)
    )
    return share(reached, entries)
