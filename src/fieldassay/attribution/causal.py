"""What reruns say: values that a better stage would have got right, and Shapley shares of the stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from msgspec import Struct

from fieldassay.attribution.reruns import AGAIN, FREE, PASSES, PERFECT, PERFECT_FREE, Judged
from fieldassay.attribution.share import Floats, Sample, replicate_sums, unseen_size
from fieldassay.json_value import record_data
from fieldassay.stats.intervals import BootstrapSettings

Key = tuple[str, str]
"""A document and the path of a gold value."""


class Number(Struct, frozen=True):
    """A share with its interval; None where `why` says."""

    value: float | None
    interval: tuple[float, float] | None = None
    why: str = ""


class PassCounts(Struct, frozen=True):
    """What became of the values of a run in one pass."""

    name: str
    documents: int
    values: int
    fixed: int
    """Wrong in the run, right in the pass."""
    same: int
    """Wrong in both, the same value."""
    other: int
    """Wrong in both, another value: unstable."""
    broken: int
    """Right in the run, wrong in the pass: luck, or harm."""
    share: Number
    """Of the wrong values: those fixed, less those that are fixed when nothing changes."""


class Causal(Struct, frozen=True):
    """What reruns of a system say."""

    system: str
    documents: int
    values: int
    wrong: int
    passes: tuple[PassCounts, ...]
    shapley: Mapping[str, Number]
    """Of the loss of accuracy, by stage."""
    left_out: int = 0
    """Documents of the run without the texts that are needed."""
    stopped: str = ""
    """Why passes are missing; empty if all were made."""

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return record_data(self)


class Value(Struct, frozen=True):
    """A value that gold has, as the run has it."""

    is_right: bool
    pred: str | None
    is_spoiled: bool
    """Whether the raw answer had it right, and the prediction has it wrong."""
    is_present: bool
    """Whether it is in the text that was sent, or of a type that is not copied."""


def measure(
    system: str, values: Mapping[Key, Value], judged: Judged, draw: BootstrapSettings, left_out: int = 0
) -> Causal:
    """Return what the passes say of the values of a run: those that every document of the passes has."""
    again = judged.right.get(AGAIN, {})
    kept = {key: one for key, one in values.items() if key in again}
    documents = sorted({name for name, _ in kept})
    passes = tuple(_count(name, kept, judged, draw) for name in PASSES if name in judged.right)
    wrong = sum(not one.is_right for one in kept.values())
    return Causal(
        system, len(documents), len(kept), wrong, passes, _shapley(kept, judged, documents, draw), left_out
    )


def _count(name: str, values: Mapping[Key, Value], judged: Judged, draw: BootstrapSettings) -> PassCounts:
    right, pred = judged.right[name], judged.pred[name]
    again = judged.right[AGAIN]
    found = {key: one for key, one in values.items() if key in right}
    wrong = [key for key, one in found.items() if not one.is_right]
    fixed = [key for key in wrong if right[key]]
    rest = [key for key in wrong if not right[key]]
    same = sum(pred[key] == found[key].pred for key in rest)
    broken = sum(one.is_right and not right[key] for key, one in found.items())
    rows = [
        (key[0], float(right[key]) - float(again[key]) if name != AGAIN else float(right[key]))
        for key in wrong
    ]
    share = _mean(rows, draw)
    documents = len({name for name, _ in found})
    return PassCounts(name, documents, len(found), len(fixed), same, len(rest) - same, broken, share)


def _mean(rows: Sequence[tuple[str, float]], draw: BootstrapSettings) -> Number:
    """Return the mean over values, with its interval over documents."""
    if not rows:
        return Number(None, None, "no value is wrong")
    documents = sorted({name for name, _ in rows})
    index = {name: at for at, name in enumerate(documents)}
    counts = np.zeros((len(documents), 2))
    for name, one in rows:
        counts[index[name]] += (one, 1.0)
    return _number(counts, documents, draw)


def _number(counts: Floats, documents: Sequence[str], draw: BootstrapSettings) -> Number:
    """Return the ratio of two counts of documents, with its interval over documents."""
    part, whole = replicate_sums(counts, documents, draw)
    if not whole[0] > 0:
        return Number(None, None, "nothing is lost")
    value = float(part[0] / whole[0])
    interval = Sample(whole, unseen_size(counts[:, 1]), draw).interval(part, part)
    return Number(value, interval and (min(interval[0], value), max(interval[1], value)))


def _shapley(
    values: Mapping[Key, Value], judged: Judged, documents: Sequence[str], draw: BootstrapSettings
) -> Mapping[str, Number]:
    """Return the Shapley value of each stage in the game of accuracy, as a share of what all stages lose.

    M(S) is the accuracy with the stages of S perfect. Of a perfect model the text decides: what is in it is
    right. What post-processing spoils stays spoiled unless it is perfect too.
    """
    if not {AGAIN, PERFECT} <= judged.right.keys() or not documents:
        return {}
    stages = ["reading", "model", "post"]
    if {FREE, PERFECT_FREE} <= judged.right.keys():
        stages.append("decoding")
    index = {name: at for at, name in enumerate(documents)}
    columns: dict[frozenset[str], Floats] = {}
    for size in range(len(stages) + 1):
        for chosen in combinations(stages, size):
            column = np.zeros(len(documents))
            for key, one in values.items():
                column[index[key[0]]] += _is_right(key, one, frozenset(chosen), judged)
            columns[frozenset(chosen)] = column
    lost = columns[frozenset(stages)] - columns[frozenset()]
    found = {}
    for stage in stages:
        gained = shapley_value(stage, stages, columns.__getitem__)
        counts = np.stack([gained, lost], axis=1)
        found[stage] = _number(counts, documents, draw)
    return found


def shapley_value(stage: str, stages: Sequence[str], worth: Callable[[frozenset[str]], Any]) -> Any:
    """Return the mean gain of making a stage perfect, over all orders in which stages are made perfect.

    >>> shapley_value("a", ["a", "b"], lambda stages: {0: 0.0, 1: 0.2, 2: 1.0}[len(stages)])
    0.5
    """
    others = [one for one in stages if one != stage]
    total: Any = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(stages))
        for chosen in combinations(others, size):
            total = total + weight * (worth(frozenset({*chosen, stage})) - worth(frozenset(chosen)))
    return total


def _is_right(key: Key, one: Value, perfect: frozenset[str], judged: Judged) -> float:
    """Return whether a value is right with some stages perfect; of what is asked once more, the mean."""
    is_mended = "post" in perfect and one.is_spoiled
    if "model" in perfect:
        is_there = "reading" in perfect or one.is_present
        return float(is_there and (is_mended or not one.is_spoiled))
    if not perfect & {"reading", "decoding"}:
        return (float(one.is_right or is_mended) + float(judged.right[AGAIN][key] or is_mended)) / 2
    name = _PASS_OF[perfect & {"reading", "decoding"}]
    return float(judged.right[name].get(key, judged.right[AGAIN][key]) or is_mended)


_PASS_OF = {
    frozenset({"reading"}): PERFECT,
    frozenset({"decoding"}): FREE,
    frozenset({"reading", "decoding"}): PERFECT_FREE,
}
