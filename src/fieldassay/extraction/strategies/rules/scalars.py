"""Values that stand once in a document: the best candidate of each field by labels, none used twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Found
from fieldassay.extraction.strategies.rules.candidates import (
    Candidate,
    all_candidates,
    candidates,
    exact_label,
    label_fit,
    words_like,
)
from fieldassay.extraction.strategies.rules.choice import Choice, Features, Model, fit
from fieldassay.extraction.strategies.rules.rows import Sheet

if TYPE_CHECKING:
    from fieldassay.io.json_value import Json
    from fieldassay.spec.plan.nodes import Leaf

PRIOR: Mapping[str, float] = {
    "exact_left": 3.0, "label_left": 2.5, "exact_above": 2.0, "label_above": 1.5, "extra_words": -1.0,
    "segment": 0.4, "only": 2.4, "decimals": 0.3, "none": 2.0,
}  # fmt: skip
"""The weights without examples."""

_RARE = frozenset({"email", "phone", "url", "date", "datetime", "duration"})
"""Types whose only candidate in a document is the value even without a label."""

_BANDS = 5
_NEVER = 1e6
"""The cost of a place that a field has no candidate for."""


class ScalarRule(Struct, frozen=True):
    """How one field is chosen."""

    steps: Steps
    leaf: Leaf
    labels: tuple[tuple[str, ...], ...]
    model: Model = Model(PRIOR)
    learned: bool = False

    def alternatives(self, found: Sequence[Candidate]) -> list[Features]:
        """Return the features of each candidate, and those of no value at the end."""
        near = words_like(found[0].sheet, self.labels) if found else set()
        is_only = self.leaf.type in _RARE and len({one.canonical for one in found}) == 1
        listed: list[Features] = [self._features(one, near, is_only) for one in found]
        if self.learned:
            counts = Counter(one.canonical for one in found)
            values = [_amount(self.leaf, one) for one in found]
            top = max((value for value in values if value is not None), default=None)
            listed = [
                {**features, **_words(one, value is not None and value == top, counts)}
                for features, one, value in zip(listed, found, values, strict=True)
            ]
        return [*listed, {"none": 1.0}]

    def _features(self, one: Candidate, near: set[str], is_only: bool) -> Features:
        """Return the features that are not 0; the words of `near` are those of the labels."""
        features: dict[str, float] = {}
        if not near.isdisjoint(one.left):
            fit, exact = label_fit(self.labels, one.left), exact_label(self.labels, one.left)
            features["label_left"], features["exact_left"] = fit, exact
            features["extra_words"] = float(fit == 1.0 and not exact)
        if not near.isdisjoint(one.above):
            features["label_above"] = label_fit(self.labels, one.above)
            features["exact_above"] = exact_label(self.labels, one.above)
        if one.is_segment:
            features["segment"] = 1.0
        if is_only:
            features["only"] = 1.0
        if self.leaf.type == "money" and "." in one.text[-3:]:
            features["decimals"] = 1.0
        return {name: value for name, value in features.items() if value}


def _words(one: Candidate, is_largest: bool, counts: Counter[str]) -> dict[str, float]:
    """Return the features whose weights only examples can give: words beside, above, and the place."""
    rows = one.sheet.rows
    line = one.line
    last = one.left[-2:]
    after = line.lower[one.end : one.end + 1]
    row_above = rows[one.row - 1].lower if one.row else ()
    return {
        f"left {last[-1] if last else ''}": 1.0,
        f"two left {' '.join(last)}": 1.0,
        f"all left {' '.join(one.left)}": 1.0,
        **{f"in left {word}": 1.0 for word in set(one.left)},
        f"right {after[0] if after else ''}": 1.0,
        f"above {' '.join(one.above[-2:])}": 1.0,
        **{f"row above {word}": 0.5 for word in set(row_above) if word.isalpha()},
        f"band {one.row * _BANDS // max(1, len(rows))}": 1.0,
        f"row {min(one.row, 4)}": 1.0,
        f"row from the end {min(len(rows) - one.row, 4)}": 1.0,
        "largest": float(is_largest),
        f"repeated {min(counts[one.canonical], 3)}": 1.0,
        f"words {min(one.end - one.first, 6)}": 1.0,
        "ends the row": float(one.end == len(line.tokens)),
        "begins the row": float(one.first == 0),
        f"kind {line.tokens[one.first].kind}": 1.0,
    }


def _amount(leaf: Leaf, one: Candidate) -> float | None:
    if leaf.type not in ("money", "number", "integer", "quantity"):
        return None
    number = one.canonical.split(" ")[0]
    try:
        return float(number)
    except ValueError:
        return None


def learn(rule: ScalarRule, shown: Sequence[tuple[Sheet, Json]]) -> ScalarRule:
    """Return the rule with weights from documents and the values that their records have."""
    ready = replace(rule, learned=True)
    choices = []
    for sheet, value in shown:
        found = candidates(sheet, rule.leaf.type, rule.leaf.reader)
        if value is None or isinstance(value, dict | list) or not str(value).strip():
            right = frozenset({len(found)})
        else:
            canonical = rule.leaf.reader.read(value).canonical
            right = frozenset(
                at for at, one in enumerate(found) if rule.leaf.reader.read(one.text).canonical == canonical
            )
        choices.append(Choice(ready.alternatives(found), right))
    return replace(ready, model=fit(choices, PRIOR))


def extract_scalars(sheet: Sheet, rules: Sequence[ScalarRule]) -> dict[Steps, Found]:
    """Return the value of each field that has one: together the most probable, no place used twice."""
    offers = []
    everything = all_candidates(sheet, (rule.leaf for rule in rules))
    for rule, found in zip(rules, everything, strict=True):
        offers.append((rule, found, _by_value(found, rule.model.probabilities(rule.alternatives(found)))))
    chosen = _assign([(found, chances) for _, found, chances in offers])
    values: dict[Steps, Found] = {}
    for (rule, found, chances), at in zip(offers, chosen, strict=True):
        if at is not None:
            one = found[at]
            text = sheet.search.text_at(one.place)
            values[rule.steps] = Found(
                " ".join(text.split()), min(1.0, chances[at]), one.place, "found", text
            )
    return values


def _by_value(found: Sequence[Candidate], chances: Sequence[float]) -> list[float]:
    """Return the probability of each candidate's value; of equal ones the likeliest place comes first."""
    sums: dict[str, float] = {}
    for one, chance in zip(found, chances, strict=False):
        sums[one.canonical] = sums.get(one.canonical, 0.0) + chance
    shared = [
        sums[one.canonical] * (1 - 1e-6 * (1 - chance)) for one, chance in zip(found, chances, strict=False)
    ]
    return [*shared, chances[-1]]


def _assign(offers: Sequence[tuple[Sequence[Candidate], Sequence[float]]]) -> list[int | None]:
    """Return which candidate each field takes, or none: the product of the probabilities is the greatest."""
    import math

    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not offers:
        return []
    places = sorted({(one.row, one.first) for found, _ in offers for one in found})
    columns = {place: at for at, place in enumerate(places)}
    cost = np.full((len(offers), len(places) + len(offers)), _NEVER)
    best: dict[tuple[int, int], int] = {}
    for number, (found, chances) in enumerate(offers):
        costs = {chance: -math.log(max(chance, 1e-12)) for chance in set(chances)}
        row: dict[int, float] = {}
        for at, one in enumerate(found):
            column, own = columns[one.row, one.first], costs[chances[at]]
            if own < row.get(column, _NEVER):
                row[column] = own
                best[number, column] = at
        cost[number, list(row)] = list(row.values())
        cost[number, len(places) + number] = costs[chances[-1]]
    _, taken = linear_sum_assignment(cost)
    return [best.get((number, int(column))) for number, column in enumerate(taken)]
