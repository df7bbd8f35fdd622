"""The interface of comparators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.values.types.column import Column, Indices, Reading


class Scores(Struct, frozen=True, eq=False):
    """The similarities of n pairs.

    `score` is float64 in [0, 1], but cosines can be negative; NaN means not judged. `reason` is int16,
    positions in the comparator's `reasons`. `extras` are further float64 columns by name (coverage,
    specificity …) for statistics.
    """

    score: npt.NDArray[np.float64]
    reason: npt.NDArray[np.int16]
    extras: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)


class Comparator:
    """Compares two present, readable, typed values, gold first.

    A comparator is a frozen `Struct` or dataclass whose fields are its options in a spec. It is
    pure, works on whole columns, and gives two values with equal canonical texts 1.0 with reason 0, which is
    always `equal`.
    """

    reasons: ClassVar[tuple[str, ...]] = ("equal", "different")
    accept: ClassVar[float] = 1.0
    """The default acceptance threshold: the least score of a match."""
    by_canonical: ClassVar[bool] = False
    """True if unequal canonical texts always score 0 with reason 1, without a call."""
    skips_equal: ClassVar[bool] = True
    """False if equal values must be compared too, because of `extras`."""
    is_expensive: ClassVar[bool] = False
    """True if a comparison costs more than the search for repeated pairs (about 100 ns)."""

    can_fail: ClassVar[bool] = False
    """The meaning of a NaN score.

    True: a judge could not be reached; the row fails and leaves every denominator. False: the two values are
    too long to be compared; that counts as wrong, since no prediction may remove gold from a denominator.
    """

    extra_names: ClassVar[tuple[str, ...]] = ()
    """The names of the `extras`; a pair settled without the comparator has its score in each."""

    @abstractmethod
    def compare(self, gold: Column, pred: Column) -> Scores:
        """Return the similarities of `gold[i]` and `pred[i]` for every i.

        Both columns have the same length, which may be 0.
        """

    def is_exact_on(self, column: Column) -> bool:  # noqa: ARG002 - subclasses use it
        """Return whether unequal canonical texts here always score 0 with reason 1, without a comparison."""
        return self.by_canonical

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        """Return the similarities of `column[gold[i]]` and `column[pred[i]]`, the same as by `compare`.

        A comparator overrides this to prepare each value only once.
        """
        return self.compare(column.take(gold), column.take(pred))

    def compare_one(self, gold: Reading, pred: Reading) -> tuple[float, str]:
        """Return the score of one pair and the reason's name."""
        scores = self.compare(Column.of([gold]), Column.of([pred]))
        return float(scores.score[0]), self.reasons[int(scores.reason[0])]
