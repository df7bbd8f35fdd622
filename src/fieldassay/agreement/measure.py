"""The agreement of all fields, from the answers of reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from fieldassay.agreement.answers import Labeled
from fieldassay.agreement.coefficients import (
    FAILED,
    NO_PAIRS,
    Undefined,
    agree,
    share_of_pairs,
    units_compared,
)
from fieldassay.agreement.items import ItemField, ItemSums, couples_of, sum_items
from fieldassay.agreement.ratings import Compared, Floats, Ratings
from fieldassay.agreement.resampling import Resampled, Weights, ratio
from fieldassay.agreement.values import FieldRatings, rate_values
from fieldassay.engine.scopes import Masks
from fieldassay.plan.nodes import AnyNode, ListNode, Node, ObjectNode, Plan
from fieldassay.result.agreement import MEASURES, Confusion, FieldAgreement, Measure
from fieldassay.stats.intervals import FEW_DOCUMENTS, BootstrapSettings, are_too_few

MOST_CONFUSIONS = 20

IN_LIST = Undefined("items of a list are paired by their content, so there is no agreement by chance")


class Measured(Struct, frozen=True, eq=False):
    """The agreement overall and by field, and a mask of the documents with two independent answers."""

    overall: Mapping[str, Measure]
    fields: tuple[FieldAgreement, ...]
    is_independent: Masks


class _Part(Struct, frozen=True, eq=False):
    """One field: its agreement, and the sums by document of agreeing and of all values."""

    found: FieldAgreement
    agreed: Floats
    all: Floats
    agreed_assisted: Floats
    assisted: Floats


def measure_agreement(
    plan: Plan, labeled: Labeled, applies: Mapping[str, Masks], resampling: BootstrapSettings
) -> Measured:
    """Return the agreement of the answers to each document.

    `applies` has masks over all answers, document by document, for fields of only some document types.
    """
    bootstrap = _Bootstrap(labeled.documents, resampling)
    parts = [_of_values(one, bootstrap) for one in rate_values(plan, labeled, applies)]
    if _has_lists(plan.root):
        couples = couples_of(labeled)
        masks = _of_couples(labeled, applies)
        parts += _of_items(sum_items(plan, couples, masks, len(labeled.documents)), bootstrap)
    order = {info.path: at for at, info in reversed(list(enumerate(plan.fields)))}
    parts.sort(key=lambda part: (order.get(part.found.field, len(order)), part.found.field))
    nothing = np.zeros(len(labeled.documents))
    sums = [
        sum((getattr(part, name) for part in parts), nothing)
        for name in ("agreed", "all", "agreed_assisted", "assisted")
    ]
    overall = {"observed": bootstrap.ratio(sums[0], sums[1])}
    if sums[3].any():
        overall["assisted"] = bootstrap.ratio(sums[2], sums[3])
    return Measured(overall, tuple(part.found for part in parts), sums[1] > 0)


def _has_lists(node: Node) -> bool:
    if isinstance(node, ObjectNode):
        return any(map(_has_lists, node.children))
    return isinstance(node, ListNode | AnyNode)


def _of_couples(labeled: Labeled, applies: Mapping[str, Masks]) -> dict[str, Masks]:
    """Return the masks of pairs of answers: a field applies if it does to both."""
    starts = np.cumsum([0, *map(len, labeled.answers)])
    places = np.array(
        [
            (start + one, start + two)
            for start, answers in zip(starts.tolist(), labeled.answers, strict=False)
            for one, two in combinations(range(len(answers)), 2)
        ],
        dtype=np.intp,
    ).reshape(-1, 2)
    return {path: mask[places[:, 0]] & mask[places[:, 1]] for path, mask in applies.items()}


class _Bootstrap:
    """Makes measures of sums by document."""

    def __init__(self, documents: Sequence[str], resampling: BootstrapSettings) -> None:
        self.weights = Weights.draw(documents, resampling.replicates, resampling.seed)
        self.resampling = resampling

    def ratio(self, part: Floats, whole: Floats) -> Measure:
        """Return a ratio of sums by document as a measure."""
        if not whole.any():
            return Measure(None, 0, 0, reason=NO_PAIRS.reason)
        return self.measure(ratio(part, whole, self.weights), whole)

    def measure(self, found: Resampled | Undefined, whole: Floats, is_sampled: bool = False) -> Measure:
        """Return a measure; `whole` are the values behind it by document."""
        n, documents = round(float(whole.sum())), int(np.count_nonzero(whole))
        if isinstance(found, Undefined):
            return Measure(None, n, documents, reason=found.reason)
        level, replicates = self.resampling.level, self.resampling.replicates
        interval = found.interval(level)
        named = {
            "few": documents < FEW_DOCUMENTS,
            "few_replicates": interval is not None and are_too_few(replicates, level),
            "sampled": is_sampled,
            f"undefined_replicates={found.dropped}": found.dropped > 0,
        }
        return Measure(
            found.value, n, documents, interval, tuple(name for name, holds in named.items() if holds)
        )


def _of_values(given: FieldRatings, bootstrap: _Bootstrap) -> _Part:
    ratings = given.ratings
    pairs = ratings.compare()
    whole = units_compared(ratings)
    found = agree(ratings, pairs, bootstrap.weights)
    measures = {
        name: bootstrap.measure(one, whole, found.is_sampled and name != "observed")
        for name, one in found.named().items()
    }
    measures |= _presence(ratings, pairs, bootstrap)
    agreed_assisted, assisted = _assisted(given)
    if assisted.any():
        measures["assisted"] = bootstrap.ratio(agreed_assisted, assisted)
    has_failed = pairs.has_failed
    agreed = np.zeros_like(whole) if has_failed else share_of_pairs(ratings, pairs, 1.0 - pairs.strict)
    at = np.flatnonzero(pairs.strict > 0)
    counts = Counter(zip(pairs.first[at].tolist(), pairs.second[at].tolist(), strict=True))
    texts = ratings.texts
    confused = Counter({(texts[one], texts[two]): count for (one, two), count in counts.items()})
    field = FieldAgreement(given.field, given.type, _ordered(measures), *_confusions(confused))
    return _Part(field, agreed, np.zeros_like(whole) if has_failed else whole, agreed_assisted, assisted)


def _presence(ratings: Ratings, pairs: Compared, bootstrap: _Bootstrap) -> dict[str, Measure]:
    """Return the agreement on whether there is a value, and that on values which both found."""
    illegible = len(ratings.texts) - 1
    absent = illegible - 1
    is_same = (pairs.first == absent) == (pairs.second == absent)
    both = (pairs.first < absent) & (pairs.second < absent)
    presence = share_of_pairs(ratings, pairs, is_same.astype(np.float64))
    found = share_of_pairs(ratings, pairs, both.astype(np.float64))
    agreed = share_of_pairs(ratings, pairs, both * (1.0 - pairs.strict))
    given = bootstrap.measure(FAILED, found) if pairs.has_failed else bootstrap.ratio(agreed, found)
    return {"presence": bootstrap.ratio(presence, units_compared(ratings)), "both_found": given}


def _assisted(given: FieldRatings) -> tuple[Floats, Floats]:
    """Return the agreeing pairs of answers of which one had seen a value, and all of them, by document."""
    agreed, whole = np.zeros((2, given.ratings.documents))
    for one, two in combinations(range(given.codes.shape[1]), 2):
        is_given = (given.codes[:, one] >= 0) & (given.codes[:, two] >= 0)
        at = np.flatnonzero(is_given & ~(given.is_independent[:, one] & given.is_independent[:, two]))
        pair = np.sort(given.codes[at][:, [one, two]], axis=1)
        agreed[at] += given.ratings.measure(pair[:, 0], pair[:, 1])[0] == 0.0
        whole[at] += 1.0
    return agreed, whole


def _of_items(found: Mapping[ItemField, ItemSums], bootstrap: _Bootstrap) -> list[_Part]:
    """Return the fields in lists, and the lists; each sum is over both ways, so half of it counts."""
    names = dict.fromkeys((key.path, key.type) for key in found)
    return [_of_list(path, kind, found, bootstrap) for path, kind in names]


def _of_list(path: str, kind: str, found: Mapping[ItemField, ItemSums], bootstrap: _Bootstrap) -> _Part:
    size = len(bootstrap.weights.table)
    alone = found.get(ItemField(path, kind, False)) or ItemSums(size)
    helped = found.get(ItemField(path, kind, True)) or ItemSums(size)
    is_list = kind == "list"
    part, whole = ("agreed_items", "items") if is_list else ("agreed", "either")
    sums = [one.half(name) for one in (alone, helped) for name in (part, whole)]
    main = bootstrap.ratio(sums[0], sums[1])
    measures = {"item_f1" if is_list else "observed": main}
    if not is_list:
        measures["both_found"] = bootstrap.ratio(sums[0], alone.half("both"))
        measures |= {name: bootstrap.measure(IN_LIST, sums[1]) for name in ("alpha", "alpha_soft", "ac1")}
    if sums[3].any():
        measures["assisted"] = bootstrap.ratio(sums[2], sums[3])
    counts = Counter({pair: (count + 1) // 2 for pair, count in alone.confusions.items()})
    field = FieldAgreement(path, kind, _ordered(measures), *_confusions(counts))
    nothing = np.zeros(size)
    return _Part(field, *((nothing,) * 4 if is_list else sums))


def _ordered(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    return {name: measures[name] for name in MEASURES if name in measures}


def _confusions(counts: Counter[tuple[str, str]]) -> tuple[tuple[Confusion, ...], int]:
    """Return the most frequent pairs of answers that do not agree, and the number of all."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    listed = tuple(Confusion(*pair, count) for pair, count in ordered[:MOST_CONFUSIONS])
    return listed, sum(counts.values())
