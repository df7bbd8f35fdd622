"""The agreement of all fields, from the answers of reviewers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from fieldassay.metrics.result.agreement import MEASURES, Confusion, FieldAgreement, Measure
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings, are_too_few
from fieldassay.review.agreement.answers import Labeled
from fieldassay.review.agreement.coefficients import (
    FAILED,
    NO_PAIRS,
    Undefined,
    agree,
    by_document,
    share_of_pairs,
    units_compared,
)
from fieldassay.review.agreement.items import ItemField, ItemSums, couples_of, sum_items
from fieldassay.review.agreement.ratings import Compared, Floats, Ratings
from fieldassay.review.agreement.resampling import Resampled, Weights, ratio
from fieldassay.review.agreement.values import FieldRatings, rate_values
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.scoring.fit import fold_keys
from fieldassay.spec.plan.nodes import AnyNode, ListNode, Node, ObjectNode, Plan

MOST_CONFUSIONS = 20

IN_LIST = Undefined("items of a list are paired by their content, so there is no agreement by chance")
PAIRED = Undefined("items are paired where this value is alike, so what both found agrees by construction")


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
    plan = fold_keys(plan, lambda: ([sheet.data for sheet in answers] for answers in labeled.answers))
    bootstrap = _Bootstrap(labeled.documents, resampling)
    parts = [_of_values(one, bootstrap) for one in rate_values(plan, labeled, applies)]
    if _has_lists(plan.root):
        couples = couples_of(labeled)
        masks = _of_couples(labeled, applies)
        found = sum_items(plan, couples, masks, len(labeled.documents))
        for path, kind in dict.fromkeys((key.path, key.type) for key in found):
            parts.append(_of_list(path, kind, found, bootstrap, _is_paired_by_value(plan.root, path)))
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
        self.documents = documents
        self.weights = Weights.draw(documents, resampling.replicates, resampling.seed)
        self.resampling = resampling

    def ratio(self, part: Floats, whole: Floats, values: Floats | None = None) -> Measure:
        """Return a ratio of sums by document as a measure.

        `values` are the values behind it by document; None: as many as the denominator.
        """
        if not whole.any():
            return Measure(None, 0, 0, reason=NO_PAIRS.reason)
        return self.measure(ratio(part, whole, self.weights), whole if values is None else values)

    def measure(self, found: Resampled | Undefined, values: Floats, is_sampled: bool = False) -> Measure:
        """Return a measure; `values` are the values behind it by document."""
        n, documents = round(float(values.sum())), int(np.count_nonzero(values))
        if isinstance(found, Undefined):
            return Measure(None, n, documents, reason=found.reason)
        level, replicates = self.resampling.level, self.resampling.replicates
        interval = found.interval(level)
        named = {
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
    confused: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(pairs.strict > 0).tolist():
        texts = (ratings.texts[pairs.first[at]], ratings.texts[pairs.second[at]])
        confused.setdefault(texts, []).append(int(ratings.doc[pairs.units[at]]))
    field = FieldAgreement(
        given.field, given.type, _ordered(measures), *_confusions(confused, bootstrap.documents)
    )
    return _Part(field, agreed, np.zeros_like(whole) if has_failed else whole, agreed_assisted, assisted)


def _presence(ratings: Ratings, pairs: Compared, bootstrap: _Bootstrap) -> dict[str, Measure]:
    """Return the agreement on whether there is a value, and that on values which both found."""
    illegible = len(ratings.texts) - 1
    absent = illegible - 1
    is_same = (pairs.first == absent) == (pairs.second == absent)
    both = (pairs.first < absent) & (pairs.second < absent)
    alike, every, found, agreed = (
        by_document(ratings, pairs.units, amounts.astype(np.float64))
        for amounts in (is_same, np.ones(len(both)), both, both * (1.0 - pairs.strict))
    )
    units = np.unique(pairs.units[both])
    values = by_document(ratings, units, np.ones(len(units)))
    given = bootstrap.measure(FAILED, values) if pairs.has_failed else bootstrap.ratio(agreed, found, values)
    return {"presence": bootstrap.ratio(alike, every, units_compared(ratings)), "both_found": given}


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


def _is_paired_by_value(node: Node, path: str) -> bool:
    """Return whether a field alone decides which items of a list are paired: as a key, or as the only one."""
    if isinstance(node, ObjectNode):
        return any(_is_paired_by_value(child, path) for child in node.children)
    if isinstance(node, ListNode):
        members = node.items.children if isinstance(node.items, ObjectNode) else (node.items,)
        keys = [one for one in members if one.name in node.aligner.key_fields]
        deciding = keys or (members if len(members) == 1 else ())
        is_deciding = node.aligner.floor is not None and any(one.path == path for one in deciding)
        return is_deciding or _is_paired_by_value(node.items, path)
    return isinstance(node, AnyNode) and path.endswith("[]") and node.aligner.floor is not None


def _of_list(
    path: str,
    kind: str,
    found: Mapping[ItemField, ItemSums],
    bootstrap: _Bootstrap,
    is_paired_by_value: bool,
) -> _Part:
    """Return a field in lists, or a list; each sum is over both ways of pairing, so half of it counts."""
    size = len(bootstrap.weights.table)
    alone = found.get(ItemField(path, kind, False)) or ItemSums(size)
    helped = found.get(ItemField(path, kind, True)) or ItemSums(size)
    is_list = kind == "list"
    part, whole = ("agreed_items", "items") if is_list else ("agreed", "either")
    sums = [one.half(name) for one in (alone, helped) for name in (part, whole)]
    main = bootstrap.ratio(sums[0], sums[1])
    measures = {"item_f1" if is_list else "observed": main}
    if not is_list:
        both = alone.half("both")
        measures["both_found"] = (
            bootstrap.measure(PAIRED, both) if is_paired_by_value else bootstrap.ratio(sums[0], both)
        )
        measures |= {name: bootstrap.measure(IN_LIST, sums[1]) for name in ("alpha", "alpha_soft", "ac1")}
    if sums[3].any():
        measures["assisted"] = bootstrap.ratio(sums[2], sums[3])
    once = {pair: sorted(documents)[::2] for pair, documents in alone.confusions.items()}
    field = FieldAgreement(path, kind, _ordered(measures), *_confusions(once, bootstrap.documents))
    nothing = np.zeros(size)
    return _Part(field, *((nothing,) * 4 if is_list else sums))


def _ordered(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    return {name: measures[name] for name in MEASURES if name in measures}


def _confusions(
    found: Mapping[tuple[str, str], Sequence[int]], documents: Sequence[str]
) -> tuple[tuple[Confusion, ...], int]:
    """Return the most frequent pairs of answers that do not agree, and the number of all.

    `found` has the document of each of them by its position.
    """
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_CONFUSIONS]
    listed = tuple(
        Confusion(*pair, len(at), tuple(documents[one] for one in sorted(set(at)))) for pair, at in ordered
    )
    return listed, sum(map(len, found.values()))
