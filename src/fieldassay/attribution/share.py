"""Shares of the wrong values that are due to each stage, from counts per document: the formulas alone.

A gold value that is not in the text was lost by reading, or is missed by the search; one that is found may be
there by chance. With the chance c and the missed share v, Rogan and Gladen's estimator corrects the share of
lost values: q' = (q - v) / (1 - c - v) among wrong values, p' alike among all. What would not be wrong if
nothing were lost is Levin's attributable fraction, (q' - p') / (1 - p'), the same as q' (RR - 1) / RR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.stats.intervals import FEW_DOCUMENTS, BootstrapSettings, are_too_few, percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

Floats: TypeAlias = npt.NDArray[np.float64]
_Over: TypeAlias = dict[str, str]
Stage: TypeAlias = Literal["reading", "model", "decoding", "post", "gold", "runtime"]

STAGES: tuple[Stage, ...] = ("reading", "model", "decoding", "post", "gold", "runtime")

COUNTS = (
    "values",  # values with gold that an earlier stage did not take, with a text that may lose them
    "absent",  # of these, those that are not in the text
    "wrong",
    "wrong_absent",
    "kept",  # values with a text that cannot have lost them
    "kept_wrong",
    "chance",  # foreign values found in the text
    "foreign",  # foreign values looked for
    "missed",  # values not found, of those that reading is known to have read
    "perfect",  # values that reading is known to have read
    "unknown",  # wrong values whose presence in a text is not known
    "decoding",
    "post",
    "gold",
    "runtime",
    "all_wrong",  # all wrong values with gold: the denominator of the whole
)
"""What is counted in each document, for each field."""
AT = {name: position for position, name in enumerate(COUNTS)}

LEAST_POWER = 0.3
"""The least 1 - c - v with which presence tells anything."""
LEAST_TRIED = 10
"""Values that a field needs for a chance, or a missed share, of its own; else those of its type count."""
_BLOCK = 4096


class Share(Struct, frozen=True):
    """The share of the wrong values of a field, or of all, that is due to a stage; None where `why` says."""

    stage: Stage
    value: float | None
    interval: tuple[float, float] | None = None
    why: str = ""
    marks: tuple[str, ...] = ()


class Rates(Struct, frozen=True):
    """The quantities behind the share of a field: chance and missed share, lost shares, their ratio."""

    chance: float | None
    missed: float | None
    chance_over: str
    """Whose values gave the chance: those of the `field`, or of all fields of its `type`."""
    missed_over: str
    foreign: int
    perfect: int
    lost: float | None
    """p': the share of values that reading lost."""
    wrong_lost: float | None
    """q': the same among wrong values."""
    risk_ratio: float | None
    naive: float | None
    """q: the share of the wrong values that are not in the text."""


class FieldShares(Struct, frozen=True):
    """The shares of one field, or, without a name, of all fields whose share of reading is defined."""

    field: str | None
    wrong: int
    covered: int
    """Wrong values that the shares are of."""
    documents: int
    shares: tuple[Share, ...]
    rates: Rates | None = None

    def share(self, stage: str) -> Share:
        """Return the share of a stage."""
        return next(one for one in self.shares if one.stage == stage)


def replicate_sums(counts: Floats, documents: Sequence[str], draw: BootstrapSettings) -> Floats:
    """Return the sums of counts (documents x columns) under the replicates: columns x replicates."""
    sums = np.zeros((counts.shape[1], draw.replicates))
    table = weight_table(np.float64)
    for start in range(0, len(documents), _BLOCK):
        block = slice(start, start + _BLOCK)
        drawn = weights(document_keys(documents[block], draw.seed), 0, draw.replicates, table)
        sums += counts[block].T @ drawn.astype(np.float64, copy=False)
    return sums


def replicate_interval(part: Floats, whole: Floats, draw: BootstrapSettings) -> tuple[float, float] | None:
    """Return the interval of a ratio of sums under the replicates; None for too few of them."""
    if not draw.replicates or are_too_few(draw.replicates, draw.level):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(whole > 0, part / whole, np.nan)
    low, high, _ = percentile_intervals(ratios[None, :], draw.level)
    return (float(low[0]), float(high[0])) if np.isfinite(low[0]) else None


def corrected(sums: Floats) -> dict[str, Floats]:
    """Return the corrected quantities of sums whose first axis is `COUNTS`; NaN where they are undefined.

    >>> sums = np.zeros(len(COUNTS))
    >>> for name, count in {"values": 100, "absent": 20, "wrong": 20, "wrong_absent": 10}.items():
    ...     sums[AT[name]] = count
    >>> sums[AT["foreign"]] = sums[AT["perfect"]] = 50
    >>> float(corrected(sums)["due"])  # (.5 - .2) / (1 - .2) of 20
    7.5
    """
    at = {name: sums[position] for name, position in AT.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        is_lossy = at["values"] > 0
        chance, missed = at["chance"] / at["foreign"], at["missed"] / at["perfect"]
        power = 1.0 - chance - missed
        lost = np.where(is_lossy, (at["absent"] - missed * at["values"]) / power, 0.0)
        wrong_lost = np.where(is_lossy, (at["wrong_absent"] - missed * at["wrong"]) / power, 0.0)
        total, wrong = at["values"] + at["kept"], at["wrong"] + at["kept_wrong"]
        p, q = lost / total, wrong_lost / wrong
        due = np.where(wrong > 0, wrong * (q - p) / (1.0 - p), 0.0)
        ratio = q * (1.0 - p) / (p * (1.0 - q))
    return {
        "chance": chance, "missed": missed, "power": power, "p": p, "q": q, "due": due, "ratio": ratio,
        "wrong": wrong, "naive": at["wrong_absent"] / np.where(wrong > 0, wrong, np.nan),
    }  # fmt: skip


def undefined(sums: Floats) -> dict[str, npt.NDArray[np.bool_]]:
    """Return where each reason leaves the share of reading of sums (first axis: `COUNTS`) undefined."""
    at = {name: sums[position] for name, position in AT.items()}
    found, is_lossy = corrected(sums), at["values"] > 0
    has_rates = is_lossy & (at["foreign"] > 0) & (at["perfect"] > 0)
    is_strong = found["power"] >= LEAST_POWER - 1e-12
    return {
        "unknown": ~is_lossy & (at["kept"] == 0) & (at["unknown"] > 0),
        "no chance": is_lossy & (at["foreign"] == 0),
        "no twins": is_lossy & (at["foreign"] > 0) & (at["perfect"] == 0),
        "weak": has_rates & ~is_strong,
        "unread": has_rates & is_strong & ~(found["p"] < 1.0),
    }


def _is_undefined(sums: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.stack(list(undefined(sums).values())).any(axis=0))


def undefined_reason(sums: Floats) -> str:
    """Return why the share of reading of a field is undefined; the empty text if it is defined."""
    reason = next((reason for reason, is_so in undefined(sums).items() if is_so), "")
    rates = corrected(sums) if reason == "weak" else {"chance": 0.0, "missed": 0.0}
    return {
        "": "",
        "unknown": "it is not known whether its values are in a text that was sent",
        "no chance": "no other document of its type has another value, to measure chance",
        "no twins": "no value is known to have been read: give twins",
        "weak": f"presence tells too little: {float(rates['chance']):.0%} of foreign values are in the text, "
        f"and {float(rates['missed']):.0%} of the values that were read are not found",
        "unread": "no value of it was read",
    }[reason]


def estimate_shares(
    counts: Floats, documents: Sequence[str], fields: Sequence[tuple[str, str]], draw: BootstrapSettings
) -> tuple[FieldShares, tuple[FieldShares, ...]]:
    """Return the shares of all fields together, and of each: counts are documents x fields x `COUNTS`.

    `fields` are names with types. The whole is the sum of the fields: errors of a field that is hard to read
    and hard for the model do not count as lost by reading because of other fields.
    """
    size = len(COUNTS)
    points = counts.sum(axis=0)
    drawn = replicate_sums(counts.reshape(len(documents), -1), documents, draw)
    replicates = drawn.reshape(len(fields), size, draw.replicates)
    over = _share_rates(points, replicates, fields)
    has = (counts[:, :, AT["all_wrong"]] > 0) | (counts[:, :, AT["values"]] + counts[:, :, AT["kept"]] > 0)
    reasons = [undefined_reason(point) for point in points]
    each = tuple(
        _field_shares(name, points[at], replicates[at], (reasons[at], over[at], int(has[:, at].sum())), draw)
        for at, (name, _) in enumerate(fields)
    )
    return _whole(points, replicates, reasons, draw, int(has.any(axis=1).sum())), each


def _share_rates(points: Floats, replicates: Floats, fields: Sequence[tuple[str, str]]) -> list[_Over]:
    """Give fields with few values behind a rate the rate of all fields of their type; return whose it is."""
    types = np.array([kind for _, kind in fields])
    over = [dict[str, str]() for _ in fields]
    for hits, tried in (("chance", "foreign"), ("missed", "perfect")):
        columns = [AT[hits], AT[tried]]
        few = points[:, AT[tried]] < LEAST_TRIED
        pooled = {
            kind: [array[types == kind][:, columns].sum(axis=0) for array in (points, replicates)]
            for kind in dict.fromkeys(types.tolist())
        }
        for at, (_, kind) in enumerate(fields):
            over[at][hits] = "type" if few[at] else "field"
            if few[at]:
                points[at, columns], replicates[at, columns] = pooled[kind]
    return over


def _field_shares(
    name: str, point: Floats, replicates: Floats, known: tuple[str, _Over, int], draw: BootstrapSettings
) -> FieldShares:
    reason, over, documents = known
    found = corrected(point)
    rates = Rates(
        _number(found["chance"]), _number(found["missed"]), over["chance"], over["missed"],
        int(point[AT["foreign"]]), int(point[AT["perfect"]]),
        _number(found["p"]), _number(found["q"]), _number(found["ratio"]), _number(found["naive"]),
    )  # fmt: skip
    wrong = int(point[AT["all_wrong"]])
    open_ = float(point[AT["unknown"]]) + (float(found["wrong"]) if reason else 0.0)
    unknown = _is_undefined(replicates)
    drawn = _parts(replicates, unknown | bool(reason))
    drawn["covered"] = np.where(unknown, np.nan, drawn["covered"])
    shares = _stages(_parts(point, bool(reason)), drawn, reason, documents, draw)
    return FieldShares(name, wrong, wrong - int(open_), documents, shares, rates)


def _whole(
    points: Floats, replicates: Floats, reasons: Sequence[str], draw: BootstrapSettings, documents: int
) -> FieldShares:
    without = [bool(reason) for reason in reasons]
    point = _sum_parts(points, without)
    drawn = _sum_parts(
        replicates, [_is_undefined(one) | is_out for one, is_out in zip(replicates, without, strict=True)]
    )
    reason = _common(reasons) if all(without) else ""
    wrong = int(points[:, AT["all_wrong"]].sum())
    covered = int(point["covered"])
    return FieldShares(None, wrong, covered, documents, _stages(point, drawn, reason, documents, draw))


def _common(reasons: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(reasons))
    return distinct[0] if len(distinct) == 1 else "no field has a defined share"


def _sum_parts(sums: Floats, is_out: Sequence[Any]) -> dict[str, Any]:
    parts = [_parts(one, is_one_out) for one, is_one_out in zip(sums, is_out, strict=True)]
    return {name: sum(part[name] for part in parts) for name in parts[0]} if parts else {}


def _parts(sums: Floats, is_out: Any) -> dict[str, Any]:
    """Return the wrong values by stage, and those that the shares cover; where it is out, none of reading."""
    base = np.where(is_out, 0.0, sums[AT["wrong"]] + sums[AT["kept_wrong"]])
    reading = np.where(base > 0, corrected(sums)["due"], 0.0)
    observed = {name: sums[AT[name]] for name in ("decoding", "post", "gold", "runtime")}
    return {
        "reading": reading, "model": base - reading, **observed,
        "covered": base + sum(observed.values()), "all": sums[AT["all_wrong"]],
    }  # fmt: skip


def _stages(
    point: dict[str, Any], drawn: dict[str, Any], reason: str, documents: int, draw: BootstrapSettings
) -> tuple[Share, ...]:
    marks = ("few_documents",) if documents < FEW_DOCUMENTS else ()
    if not point or float(point["all" if reason else "covered"]) <= 0:
        return tuple(Share(stage, None, None, reason or "no value is wrong") for stage in STAGES)
    if not reason and float(point["reading"]) < -1e-9:
        reason = "wrong values are not lost more often than right ones (RR < 1)"
    whole = "all" if reason else "covered"
    found = []
    for stage in STAGES:
        if stage in ("reading", "model") and reason:
            found.append(Share(stage, None, None, reason))
            continue
        value = float(point[stage]) / float(point[whole])
        ends = replicate_interval(drawn[stage], drawn[whole], draw)
        interval = None if ends is None else (_clipped(ends[0]), _clipped(ends[1]))
        found.append(Share(stage, _clipped(value), interval, "", marks))
    return tuple(found)


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
