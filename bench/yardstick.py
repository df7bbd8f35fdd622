"""The least that a scorer of records has to do, as a unit of speed that means the same on every machine.

It walks the dicts, compares texts by rapidfuzz and pairs the items of lists by scipy: nothing is read as a
type, and there are no verdicts, reasons or intervals. Speeds are stated as ratios to it, from one run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rapidfuzz import fuzz, process
from scipy.optimize import linear_sum_assignment


def compare_values(gold: Any, pred: Any) -> float:
    """Return the similarity of two values."""
    if isinstance(gold, str) and isinstance(pred, str):
        return fuzz.ratio(gold, pred) / 100
    return float(gold == pred)


def compare_objects(gold: dict[str, Any], pred: dict[str, Any]) -> tuple[float, int]:
    """Return the sum of the similarities of two objects, and the number of values in either."""
    total, count = 0.0, 0
    for key in gold.keys() | pred.keys():
        right, read = gold.get(key), pred.get(key)
        is_list = isinstance(right, list)
        found, values = compare_lists(right, read or []) if is_list else (compare_values(right, read), 1)
        total, count = total + found, count + values
    return total, count


def compare_lists(gold: list[dict[str, Any]], pred: list[dict[str, Any]]) -> tuple[float, int]:
    """Return the same of two lists of objects, paired by the similarity of their texts."""
    texts = [[" ".join(map(str, item.values())) for item in items] for items in (gold, pred)]
    rows, columns = linear_sum_assignment(process.cdist(*texts, scorer=fuzz.ratio), maximize=True)
    total, count = 0.0, sum(map(len, gold)) + sum(map(len, pred))
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        found, values = compare_objects(gold[row], pred[column])
        total, count = total + found, count + values - len(gold[row]) - len(pred[column])
    return total, count


def score_documents(gold: list[dict[str, Any]], pred: list[dict[str, Any]]) -> float:
    """Return the mean over documents of the sum of similarities / number of values."""
    sums = [compare_objects(right, read) for right, read in zip(gold, pred, strict=True)]
    return float(np.mean([total / count for total, count in sums]))
