"""Answers of reviewers as codes, and the distances between answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import document_keys

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]
Measure: TypeAlias = Callable[[Ints, Ints], tuple[Floats, Floats]]
"""From two arrays of answers to their strict and soft distances, 0 to 1; symmetric."""

MOST_COMPARED = 1500
"""Of more distinct answers only a sample of pairs is compared for chance agreement."""

SAMPLED_PAIRS = 100_000


class Compared(NamedTuple):
    """The pairs of answers to one unit, once each: unit, first and second answer, both distances."""

    units: Ints
    first: Ints
    second: Ints
    strict: Floats
    soft: Floats

    @property
    def has_failed(self) -> bool:
        """Return whether some pair could not be compared."""
        return bool(np.isnan(self.strict).any() or np.isnan(self.soft).any())


class Ratings(Struct, frozen=True, eq=False):
    """The answers to n units of d documents by r reviewers: `codes` is n x r, -1 for no answer.

    `doc` is the document of each unit, ascending. `category` gives the meaning of each answer: answers with
    one meaning are at distance 0. `texts` are the answers as text; categories and answers are in an order
    that depends on nothing but their texts, and each row of codes is in ascending order.
    """

    doc: Ints
    codes: Ints
    category: Ints
    texts: tuple[str, ...]
    documents: int
    measure: Measure

    @classmethod
    def of(cls, doc: Ints, codes: Ints, measure: Measure, texts: tuple[str, ...], documents: int) -> Ratings:
        """Return ratings in which every answer is a category of its own.

        >>> ratings = Ratings.of(np.array([0]), np.array([[1, 0]]), differ, ("a", "b"), 1)
        >>> ratings.codes.tolist()
        [[0, 1]]
        """
        return cls(doc, np.sort(codes, axis=1), np.arange(len(texts)), texts, documents, measure)

    @property
    def answers(self) -> Ints:
        """Return how many answers each unit has."""
        counts: Ints = (self.codes >= 0).sum(axis=1)
        return counts

    def compare(self) -> Compared:
        """Return all pairs of answers to one unit, with their distances."""
        found = [_both(self.codes, one, two) for one, two in combinations(range(self.codes.shape[1]), 2)]
        units, first, second = (
            np.concatenate([np.zeros(0, np.intp), *(pair[part] for pair in found)]) for part in range(3)
        )
        order = np.lexsort((second, first, units))
        units, first, second = units[order], first[order], second[order]
        return Compared(units, first, second, *self.measure(first, second))


def _both(codes: Ints, one: int, two: int) -> tuple[Ints, Ints, Ints]:
    """Return the units with an answer in both columns, and the two answers."""
    at = np.flatnonzero((codes[:, one] >= 0) & (codes[:, two] >= 0))
    return at, codes[at, one], codes[at, two]


def differ(first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return nominal distances: 0 for the same answer, else 1."""
    distance = (first != second).astype(np.float64)
    return distance, distance


class Spread(Struct, frozen=True, eq=False, dict=True):
    """The distances between all q answers: a q x q matrix, or those of a fixed sample of pairs.

    `strict` and `soft` are q x q, or s x q: row k has the distance of each answer to the one k + 1 places
    after it, in an order by hash, the last followed by the first.
    """

    strict: Floats
    soft: Floats
    order: Ints | None = None
    """The order by hash of a sample; None: all pairs were compared."""

    @property
    def is_sampled(self) -> bool:
        return self.order is not None

    @cached_property
    def has_failed(self) -> bool:
        """Return whether some pair of answers could not be compared."""
        return bool(np.isnan(self.strict).any() or np.isnan(self.soft).any())

    def expected(self, counts: Floats, is_soft: bool) -> Floats:
        """Return the sum of the distances of all ordered pairs of ratings, for r x q counts of answers.

        Of a sample it is the sum of the sampled pairs of different answers, scaled to all of them.
        """
        distance = self.soft if is_soft else self.strict
        if self.order is None:
            whole: Floats = np.einsum("ra,ra->r", counts @ distance, counts)
            return whole
        held = counts[:, self.order]
        apart = counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)
        seen = _window_products(held, len(distance))
        found = seen - _products(held, 1.0 - distance)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimated: Floats = apart * np.where(seen > 0, found / seen, np.nan)
        return estimated

    def acceptance(self, places: Ints) -> float:
        """Return the sum of the weights 1 - strict distance over all ordered pairs of some answers."""
        q = len(places)
        if self.order is None:
            return float((1.0 - self.strict[np.ix_(places, places)]).sum())
        return q + (1.0 - float(self.strict.mean())) * q * (q - 1)


def _window_products(held: Floats, width: int) -> Floats:
    """Return by row the sum of the products of each number and the `width` ones after it, in a circle."""
    ends = np.cumsum(np.concatenate([held, held[:, :width]], axis=1), axis=1)
    sums: Floats = (held * (ends[:, width:] - ends[:, : held.shape[1]])).sum(axis=1)
    return sums


def _products(held: Floats, weight: Floats) -> Floats:
    """Return by row the sum of weight[k, i] times number i times the number k + 1 places after it."""
    sums = np.zeros(len(held))
    for shift, row in enumerate(weight, 1):
        at = np.flatnonzero(row)
        sums += (held[:, at] * held[:, (at + shift) % held.shape[1]]) @ row[at]
    return sums


def spread_of(ratings: Ratings, seed: int = 0) -> Spread:
    """Return the distances between all answers of the ratings, or of a sample if they are too many."""
    q = len(ratings.texts)
    if q <= MOST_COMPARED:
        first, second = np.triu_indices(q, 1)
        strict, soft = np.zeros((2, q, q))
        for whole, half in zip((strict, soft), ratings.measure(first, second), strict=True):
            whole[first, second] = whole[second, first] = half
        return Spread(strict, soft)
    order = np.argsort(document_keys(ratings.texts, seed), kind="stable")
    shifts = max(1, SAMPLED_PAIRS // q)
    first = np.tile(order, shifts)
    second = np.concatenate([np.roll(order, -shift) for shift in range(1, shifts + 1)])
    strict, soft = (part.reshape(shifts, q) for part in ratings.measure(first, second))
    return Spread(strict, soft, order)
