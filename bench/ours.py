"""Times fieldassay on the benchmark's work: parsed records in memory to estimates.

Evidence, intervals and optimal alignment are included.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

Records = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Timing:
    """The best of several rounds, and the scores that came out."""

    documents: int
    seconds: float
    scores: dict[str, float | None]
    version: str


def load_records(work: Path, count: int) -> tuple[Records, Records]:
    """Return gold and predicted records of the first documents, each with its position as `id`."""
    sides = []
    for name in ("gold.jsonl", "pred.jsonl"):
        lines = (work / name).read_text().splitlines()[:count]
        sides.append([{"id": str(place), **json.loads(line)} for place, line in enumerate(lines)])
    return sides[0], sides[1]


def load_list(work: Path, items: int) -> tuple[Records, Records]:
    """Return gold and prediction of the one document with a list of that many items."""
    document = json.loads((work / f"list_{items}.json").read_text())
    return [{"id": "0", **document["gold"]}], [{"id": "0", **document["pred"]}]


def score_once(gold: Records, predicted: Records, spec: Path) -> dict[str, float | None]:
    """Return the overall estimates by metric."""
    import fieldassay

    result = fieldassay.score(gold=gold, predictions={"bench": predicted}, spec=spec)
    return {
        estimate.metric: estimate.value
        for estimate in result.estimates
        if estimate.field is None and not estimate.slice
    }


def time_judge(gold: Records, predicted: Records, rounds: int, spec: Path) -> Timing:
    """Return the best of `rounds` of judging one pair a call, after the first call."""
    import fieldassay

    judge = fieldassay.Judge(spec)
    judge(gold[0], predicted[0])
    seconds, scores = [], [0.0]
    for _ in range(rounds):
        start = time.perf_counter()
        scores = [judge(*pair).score or 0.0 for pair in zip(gold, predicted, strict=True)]
        seconds.append(time.perf_counter() - start)
    mean = sum(scores) / len(scores)
    return Timing(len(gold), min(seconds), {"accuracy": mean}, version("fieldassay"))


def time_ours(gold: Records, predicted: Records, rounds: int, spec: Path) -> Timing:
    """Return the best of `rounds`, after a warm-up on two documents that pays for imports."""
    score_once(gold[:2], predicted[:2], spec)
    seconds, scores = [], {}
    for _ in range(rounds):
        start = time.perf_counter()
        scores = score_once(gold, predicted, spec)
        seconds.append(time.perf_counter() - start)
    return Timing(len(gold), min(seconds), scores, version("fieldassay"))
