"""Slot filling again, slot by slot, in plain Python from the protocol's words; shares only the encoder."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TEXTS = ("incident_location",)
LISTS = ("perp_individual", "perp_organization", "target", "victim", "weapon")
TYPED = ("incident_type", "incident_date")
SLOTS = {
    **dict.fromkeys(TYPED[:1], "enum"),
    "incident_date": "date",
    **dict.fromkeys(TEXTS, "text"),
    **dict.fromkeys(LISTS, "list"),
}
SIMILARITIES = ("soft_coverage", "soft_specificity", "chamfer", "sf1")

Cosine = Callable[[str, str], float]


def fillers(value: Any) -> list[str]:
    """Return the distinct fillers of a slot: trimmed, NFC, without empty ones."""
    values = value if isinstance(value, list) else [value]
    texts = (unicodedata.normalize("NFC", str(item).strip()) for item in values if item is not None)
    return list(dict.fromkeys(text for text in texts if text))


def compare(slot: str, gold: Any, pred: Any, cosine: Cosine) -> dict[str, float]:
    """Return the four similarities and the score of one slot."""
    given, found = fillers(gold), fillers(pred)
    if not given or not found:
        return dict.fromkeys((*SIMILARITIES, "score"), 1.0 if not given and not found else 0.0)
    if slot in TYPED:
        return {"score": float(given[0].lower() == found[0].lower())}
    coverage = sum(max(cosine(one, other) for other in found) for one in given) / len(given)
    specificity = sum(max(cosine(one, other) for one in given) for other in found) / len(found)
    sf1 = 2 * coverage * specificity / (coverage + specificity) if coverage > 0 and specificity > 0 else 0.0
    return dict(
        zip(SIMILARITIES, (coverage, specificity, (coverage + specificity) / 2, sf1), strict=True)
    ) | {"score": sf1}


def evaluate(
    gold: Sequence[Mapping[str, Any]], pred: Sequence[Mapping[str, Any]], cosine: Cosine, slots: Sequence[str]
) -> dict[str, Any]:
    """Return every number of the protocol over some slots; None where it is undefined."""
    rows = [
        (slot, one.get(slot), other.get(slot))
        for one, other in zip(gold, pred, strict=True)
        for slot in slots
    ]
    judged = [
        (slot, bool(fillers(one)), bool(fillers(other)), compare(slot, one, other, cosine))
        for slot, one, other in rows
    ]
    numbers: dict[str, Any] = {}
    for regime, kept in (("baseline", judged), ("gold_nonempty", [row for row in judged if row[1]])):
        numbers["obs" if regime == "baseline" else "nes"] = mean([row[3]["score"] for row in kept])
        for name in SIMILARITIES:
            numbers[f"{name}(regime={regime})"] = mean([row[3][name] for row in kept if row[0] not in TYPED])
    numbers["eai"] = None if None in (numbers["obs"], numbers["nes"]) else numbers["obs"] - numbers["nes"]
    counts = {
        key: sum((row[1], row[2]) == key for row in judged)
        for key in ((False, False), (False, True), (True, False), (True, True))
    }
    silent, spurious, missing, both = counts.values()
    for (has_gold, has_pred), count in counts.items():
        numbers[
            f"presence_gold_{'nonempty' if has_gold else 'empty'}_pred_{'nonempty' if has_pred else 'empty'}"
        ] = count
    numbers["fda"] = ratio(silent + both, len(judged))
    numbers["hr"] = ratio(spurious, spurious + silent)
    numbers["mr"] = ratio(missing, missing + both)
    numbers["rfa"] = mean([row[3]["score"] for row in judged if row[1] and row[2]])
    return numbers


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def mean(values: Sequence[float]) -> float | None:
    return ratio(sum(values), len(values))
