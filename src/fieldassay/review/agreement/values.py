"""Values outside lists: the answers of all reviewers as ratings, compared by the spec both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from fieldassay.metrics.evidence import Kind
from fieldassay.review.agreement.answers import Answers, Labeled
from fieldassay.review.agreement.ratings import Floats, Ints, Ratings
from fieldassay.scoring.engine.coding import Block, Coded, compare_codes, json_text
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.spec.plan.nodes import Plan

ABSENT, ILLEGIBLE = "(absent)", "(illegible)"


class FieldRatings(Struct, frozen=True, eq=False):
    """The answers to one field: all of them, and a mask (n x r) of those made without seeing a value.

    `ratings.codes` is of the independent answers alone; `codes` are all of them, one column a sheet.
    """

    field: str
    type: str
    ratings: Ratings
    codes: Ints
    is_independent: Masks


def rate_values(plan: Plan, labeled: Labeled, applies: Mapping[str, Masks]) -> Iterator[FieldRatings]:
    """Yield the ratings of each field that is in no list, in the order of the spec.

    `applies` has masks over all sheets, document by document.
    """
    sheets = [sheet for answers in labeled.answers for sheet in answers]
    judged = judge(plan, [sheet.data for sheet in sheets], [{} for _ in sheets], dict(applies))
    columns = max(map(len, labeled.answers), default=0)
    for field, blocks in _leaves(judged).items():
        yield _rate(field, blocks, (labeled, sheets, columns, applies.get(field)))


def _leaves(judged: Judged) -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {}
    for block in judged.blocks:
        if block.kind == Kind.VALUE and block.coded is not None and "[" not in block.coded.leaf.path:
            found.setdefault(block.coded.leaf.path, []).append(block)
    return found


def _rate(
    field: str,
    blocks: Sequence[Block],
    given: tuple[Labeled, Sequence[Answers], int, Masks | None],
) -> FieldRatings:
    labeled, sheets, columns, applies = given
    coded = blocks[0].coded
    assert coded is not None
    order, rank = _order(coded)
    size = len(order)
    flat = np.full(len(sheets), size, dtype=np.intp)
    for block in blocks:
        codes = block.gold_code
        assert codes is not None
        held = codes >= 0
        flat[block.pairs.doc[held]] = rank[codes[held]]
    states = [sheet.state(field) for sheet in sheets]
    flat[[state == "absent" for state in states]] = size
    flat[[state == "illegible" for state in states]] = size + 1
    flat[[state is None for state in states]] = -1
    if applies is not None:
        flat[~applies] = -1
    seen = np.array([not sheet.is_independent(field) for sheet in sheets], dtype=bool)
    codes = np.full((len(labeled.documents), columns), -1, dtype=np.intp)
    is_independent = np.zeros(codes.shape, dtype=bool)
    start = 0
    for row, answers in enumerate(labeled.answers):
        codes[row, : len(answers)] = flat[start : start + len(answers)]
        is_independent[row, : len(answers)] = ~seen[start : start + len(answers)]
        start += len(answers)
    texts = (*(coded.column.canonical[at] for at in order.tolist()), ABSENT, ILLEGIBLE)
    category = np.append(coded.meaning[order], [len(coded.meaning), len(coded.meaning) + 1])
    ratings = Ratings(
        np.arange(len(codes)),
        np.sort(np.where(is_independent, codes, -1), axis=1),
        _numbered(category),
        tuple(map(str, texts)),
        len(codes),
        partial(_measure, coded, order),
    )
    return FieldRatings(field, coded.leaf.type, ratings, codes, is_independent)


def _numbered(category: Ints) -> Ints:
    """Return categories numbered by their first answer."""
    _, first, inverse = np.unique(category, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[inverse]


def _order(coded: Coded) -> tuple[Ints, Ints]:
    """Return the codes by canonical and raw text, and the place of each code in that order."""
    texts = coded.column.canonical
    keys = [(str(texts[at]), json_text(raw), type(raw).__name__) for at, raw in enumerate(coded.raws)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return order, rank


def _measure(coded: Coded, order: Ints, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return the distances of answers to a field; the last two answers are absent and illegible."""
    strict = (first != second).astype(np.float64)
    soft = strict.copy()
    at = np.flatnonzero((first != second) & (first < len(order)) & (second < len(order)))
    if len(at):
        strict[at], soft[at] = compare_both_ways(coded, order[first[at]], order[second[at]])
    return strict, soft


def compare_both_ways(coded: Coded, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return the strict and the soft distance of pairs of codes: the larger one of both directions.

    NaN where they could not be compared.
    """
    scores = np.stack([compare_codes(coded, first, second).score, compare_codes(coded, second, first).score])
    is_match = coded.leaf.accept.admits(scores).all(axis=0)
    lowest = scores.min(axis=0)
    strict = np.where(np.isnan(lowest), np.nan, (~is_match).astype(np.float64))
    return strict, 1.0 - np.clip(lowest, 0.0, 1.0)
