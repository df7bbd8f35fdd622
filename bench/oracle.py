"""The true scores of the benchmark's predictions, with items paired as generated, not by an aligner.

`python bench/oracle.py [DOCUMENTS]` prints them as JSON. A default score that is far from these numbers
misleads.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from generate import DOCUMENTS, Pair, draw_documents

Leaves = dict[Hashable, Any]


def flatten(record: dict[str, Any], places: Iterable[Hashable]) -> Leaves:
    """Return the non-null values by place; `places` names the items of the record's list."""
    leaves: Leaves = {
        key: value for key, value in record.items() if key != "line_items" and value is not None
    }
    for place, line in zip(places, record["line_items"], strict=True):
        leaves |= {(place, key): value for key, value in line.items() if value is not None}
    return leaves


def fold_case(value: Any) -> Any:
    """Return a text without outer white space and case; anything else unchanged."""
    return value.strip().casefold() if isinstance(value, str) else value


def true_scores(
    pairs: Iterable[Pair], normalize: Callable[[Any], Any] = lambda value: value
) -> dict[str, float]:
    """Return pooled precision, recall, F1, and `accuracy`: mean of right values / values on either side.

    The mean is over documents.
    """
    right = gold_total = predicted_total = 0
    accuracies = []
    for pair in pairs:
        gold = flatten(pair.gold, range(len(pair.gold["line_items"])))
        predicted = flatten(
            pair.prediction,
            (f"new {j}" if origin is None else origin for j, origin in enumerate(pair.origins)),
        )
        hits = sum(
            1
            for place, value in predicted.items()
            if place in gold and normalize(gold[place]) == normalize(value)
        )
        right, gold_total, predicted_total = (
            right + hits,
            gold_total + len(gold),
            predicted_total + len(predicted),
        )
        accuracies.append(hits / len(gold.keys() | predicted.keys()))
    return {
        "precision": right / predicted_total,
        "recall": right / gold_total,
        "f1": 2 * right / (predicted_total + gold_total),
        "accuracy": sum(accuracies) / len(accuracies),
    }


def main() -> None:
    """Print the true scores, strict and without regard to case and outer white space."""
    pairs = list(draw_documents(int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS))
    print(json.dumps({"strict": true_scores(pairs), "casefold": true_scores(pairs, fold_case)}, indent=1))


if __name__ == "__main__":
    main()
