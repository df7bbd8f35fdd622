"""Gates on the best of several equal systems, and gates that are looked at while documents keep coming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rates import Rate, count
from worlds import TRIAL, Floats

from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.verdicts import Verdict
from fieldassay.metrics.uncertainty.bootstrap import sequence_interval
from fieldassay.scoring.score import score

PART = "The best of several systems, and many looks"
TRUTH = 0.88
FIELDS = ("number", "total")
BEST: Mapping[str, tuple[int, int, bool]] = {
    f"best of {systems} {'alike' if is_alike else 'independent'}, {documents} documents": (
        systems,
        documents,
        is_alike,
    )
    for systems, documents in ((3, 60), (6, 200), (12, 60), (12, 200), (30, 60))
    for is_alike in (False, True)
}
LOOKS = (10, 49)


def _right(rng: np.random.Generator, systems: int, documents: int, *, is_alike: bool) -> Floats:
    """Return which values of which systems are right; systems that are alike err in the same documents."""
    shape = (systems, documents, len(FIELDS))
    hard = rng.random(documents) < 1 - TRUTH
    own = rng.random(shape) < TRUTH
    return np.where(is_alike & (rng.random(shape) < 0.7), ~hard[:, None], own)


def _predict(gold: list[dict[str, Any]], right: Floats) -> dict[str, list[dict[str, Any]]]:
    return {
        f"{system:03}": [
            {"id": one["id"], **dict(zip(FIELDS, row, strict=True))}
            for one, row in zip(gold, rows.tolist(), strict=True)
        ]
        for system, rows in enumerate(right)
    }


def _passes(gold: list[dict[str, Any]], right: Floats, gates: list[str]) -> Floats:
    """Return which gates pass, systems x gates."""
    spec = {
        "fields": dict.fromkeys(FIELDS, "boolean"),
        "statistics": {"compare": []},
        "metrics": ["accuracy"],
    }
    result = score(gold, _predict(gold, right), spec, gates=tuple(gates), evidence="none")
    decisions = decide_result(result, list(map(parse_gate, gates)))
    return np.array([[one.verdict is Verdict.PASS for one in each.outcomes] for each in decisions])


def measure_best(trials: int, seed: int, names: tuple[str, ...] = tuple(BEST)) -> Iterator[Rate]:
    """Yield how often any of several systems at exactly a gate's value passes it."""
    for name in names:
        systems, documents, is_alike = BEST[name]
        rng, best, alone = np.random.default_rng(seed), [], []
        for first in range(0, trials, 10):
            own = range(first, min(first + 10, trials))
            gold = [
                {"id": f"{trial:04}-{at:04}", TRIAL: f"{trial:04}", **dict.fromkeys(FIELDS, True)}
                for trial in own
                for at in range(documents)
            ]
            parts = [_right(rng, systems, documents, is_alike=is_alike) for _ in own]
            gates = [
                f"lower(accuracy{{{TRIAL}={trial:04}}}) >= {TRUTH}{end}"
                for trial in own
                for end in (" for the best system", "")
            ]
            found = _passes(gold, np.concatenate(parts, axis=1), gates).any(axis=0)
            best += found[::2].tolist()
            alone += found[1::2].tolist()
        yield count(PART, f"{name}, all at the gate's value: one passes", best, most=0.05)
        yield count(PART, f"{name}, the same without `for the best system`", alone)


def measure_looks(trials: int, seed: int, looks: tuple[int, ...] = LOOKS) -> Iterator[Rate]:
    """Yield how often an interval excludes the truth at some look, up to 500 documents."""
    for number in looks:
        ends = np.linspace(500 / number, 500, number).astype(int).tolist()
        rng, passes, shown = np.random.default_rng(seed), [], []
        for _ in range(trials):
            before, now = _right(rng, 2, 500, is_alike=False).mean(axis=2)
            lows = [sequence_interval(now[:end], np.ones(end)).low for end in ends]
            changes = [sequence_interval((now - before + 1.0)[:end], np.full(end, 2.0)) for end in ends]
            passes.append(max(lows) >= TRUTH)
            shown.append(any(not low <= 0.5 <= high for low, high in changes))
        what = f"{number} looks up to 500 documents"
        yield count(PART, f"{what}, at the gate's value: passes `at any look`", passes, most=0.05)
        yield count(PART, f"{what}, two equal systems: a change is shown `at any look`", shown, most=0.05)
        once = [
            trial for first in range(0, trials, 20) for trial in _once(rng, min(20, trials - first), ends)
        ]
        yield count(PART, f"{what}, at the gate's value: passes a gate of one look", once)


def _once(rng: np.random.Generator, systems: int, ends: list[int]) -> list[bool]:
    """Return for each system whether the lower bound of a single look is above the truth at any of them."""
    gold = [
        {
            "id": f"{at:04}",
            "tags": [f"l{look:02}" for look, end in enumerate(ends) if at < end],
            **dict.fromkeys(FIELDS, True),
        }
        for at in range(500)
    ]
    spec = {
        "fields": dict.fromkeys(FIELDS, "boolean"),
        "statistics": {"compare": []},
        "metrics": ["accuracy"],
    }
    right = _right(rng, systems, 500, is_alike=False)
    result = score(gold, _predict(gold, right), spec, slices=("tag",), evidence="none")
    found = [(one.system, one.interval) for one in result.estimates if one.slice]
    above = {name for name, interval in found if interval is not None and interval[0] >= TRUTH}
    return [name in above for name in result.systems]
