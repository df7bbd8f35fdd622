"""Aligners: which item of the gold list meets which predicted one."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

# The interface of aligners.

Positions = npt.NDArray[np.integer[Any]]


class Aligner:
    """Pairs gold items with predicted items by a matrix of similarities.

    An aligner is a frozen `Struct` or dataclass whose fields are its options in a spec.
    """

    needs_similarity: ClassVar[bool] = True
    """False if the pairing depends on positions only, so that candidate pairs are not compared."""
    uses_order: ClassVar[bool] = False
    """True if the order of the items has a meaning: items are then neither sorted nor dropped when empty."""
    maximizes_total: ClassVar[bool] = False
    """True if the pairing maximizes the total similarity over pairs that reach `floor`."""

    @property
    def floor(self) -> float | None:
        """Return the least similarity of a pair; 0 means above 0, None allows all pairs."""
        return None

    @property
    def key_fields(self) -> tuple[str, ...]:
        """Return the item fields whose similarity decides; empty means all."""
        return ()

    @property
    def filled_fields(self) -> tuple[str, ...]:
        """Return the item fields that, between equal keys, count only if both sides have them."""
        return ()

    @property
    def pairs_keyless(self) -> bool:
        """Return whether items without a key have equal keys.

        Otherwise they pair only if they are alike in all other fields.
        """
        return False

    @abstractmethod
    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        """Return the paired (gold, predicted) positions, each at most once.

        `similarity` is an m x n matrix with values in [0, 1].
        """


# The minimum similarity of a pair.

_SLACK = 1e-9


def checked_threshold(least: float | str | None) -> None:
    """Raise ValueError unless the threshold is None or a number from 0 to 1."""
    if least is not None and not (isinstance(least, int | float) and 0 <= least <= 1):
        raise ValueError(f"min_similarity must be a number from 0 to 1, not {least!r}")


def least_floor(least: float) -> float | None:
    """Return the floor of a threshold, slightly below it because of rounding errors; None for 0.

    Means of exact scores carry rounding errors.
    """
    return least - _SLACK if least > 0 else None


# The pairing with the largest total similarity.

Matrix = npt.NDArray[np.float64]

_LARGEST_BIASED = 64
_TIE = 1e-9


class Assignment(Aligner, Struct, frozen=True):
    """Pairs items one-to-one with the largest sum of similarities.

    Uses the Kuhn-Munkres algorithm (`scipy.optimize.linear_sum_assignment`). `min_similarity` restricts the
    pairs: by default a similarity above 0, a number for at least that similarity, `none` for all pairs. Among
    pairings whose totals differ by less than 1e-9, the one that keeps the order of the items is taken (lists
    of at most 64 items; longer ones: scipy's choice). Raises ValueError for NaN.

    >>> Assignment().pair(np.array([[0.2, 0.9], [0.8, 0.7]]))
    (array([0, 1]), array([1, 0]))
    """

    maximizes_total: ClassVar[bool] = True

    min_similarity: float | Literal["none"] | None = None

    def __post_init__(self) -> None:
        if self.min_similarity != "none":
            checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return (
            0.0
            if self.min_similarity is None
            else None
            if self.min_similarity == "none"
            else least_floor(self.min_similarity)
        )

    def pair(self, similarity: Matrix) -> tuple[Positions, Positions]:
        floor = self.floor
        if floor == 0:
            gold, pred = assign(similarity)
            keep = similarity[gold, pred] > 0
            return (gold, pred) if keep.all() else (gold[keep], pred[keep])
        return assign_at_least(similarity, floor)


def assign(similarity: Matrix) -> tuple[Positions, Positions]:
    """Return the (gold, predicted) positions of the pairing with the largest total.

    It has as many pairs as the shorter side has items.
    """
    m, n = similarity.shape
    if m == 1 and n == 1 and similarity[0, 0] == similarity[0, 0]:
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    biased = similarity + _order_bias(m, n) if m and n and max(m, n) <= _LARGEST_BIASED else similarity
    try:
        gold, pred = load_solver()(biased, maximize=True)
    except ValueError as error:
        raise ValueError("the matrix of similarities holds NaN or infinite values") from error
    return gold, pred


@cache
def load_solver() -> Callable[..., tuple[Positions, Positions]]:
    """Return `scipy.optimize.linear_sum_assignment`, from the compiled module that it is in.

    To import `scipy.optimize`, which is around it, takes .4 s; that is done where the module is elsewhere.
    """
    import scipy

    spec = PathFinder.find_spec("_lsap", [f"{folder}/optimize" for folder in scipy.__path__])
    if spec is not None and spec.loader is not None:
        with suppress(ImportError, AttributeError):
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module.linear_sum_assignment  # type: ignore[no-any-return]
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment  # type: ignore[no-any-return]


def assign_at_least(similarity: Matrix, floor: float | None) -> tuple[Positions, Positions]:
    """Return the best pairing among pairs with a similarity of at least `floor` (None: all pairs).

    Raises ValueError for NaN.
    """
    if floor is None:
        return assign(similarity)
    # An excluded pair adds nothing to the total, as if left unpaired, and is dropped afterwards.
    gold, pred = assign(np.where(similarity < floor, 0.0, similarity))
    keep = similarity[gold, pred] >= floor
    return gold[keep], pred[keep]


@lru_cache(maxsize=1024)
def _order_bias(m: int, n: int) -> Matrix:
    """Return a penalty of -(i - j)^2, scaled to decide ties only: its sum over a pairing is below 1e-9.

    The sum is largest for the order-keeping pairing, since the square is convex.
    """
    distance = np.arange(m, dtype=np.float64)[:, None] - np.arange(n, dtype=np.float64)[None, :]
    bias: Matrix = -(_TIE / (min(m, n) * max(m, n) ** 2)) * distance**2
    bias.setflags(write=False)
    return bias


# Pairing by the fields that identify an item.


class Key(Aligner, Struct, frozen=True):
    """Pairs items with equal key fields; the matrix holds the similarities of the key fields only.

    Pairs of at least `min_similarity` (1.0: equal keys) are assigned one-to-one with the largest total. Among
    equal keys the items most alike as a whole are paired: a field absent on both sides counts by the list's
    `combine`, one in `filled` only where both sides have it. Two items without a key pair if they are alike
    in all other fields (`keyless: alike`), or as equal keys do (`equal`).

    >>> Key(("sku",)).pair(np.array([[0.9, 0.0], [0.0, 1.0]]))
    (array([1]), array([1]))
    """

    maximizes_total: ClassVar[bool] = True

    fields: tuple[str, ...]
    min_similarity: float = 1.0
    keyless: Literal["alike", "equal"] = "alike"
    filled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError("fields must name at least one field of the items")
        checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return least_floor(self.min_similarity)

    @property
    def key_fields(self) -> tuple[str, ...]:
        return self.fields

    @property
    def filled_fields(self) -> tuple[str, ...]:
        return self.filled

    @property
    def pairs_keyless(self) -> bool:
        return self.keyless == "equal"

    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        return assign_at_least(similarity, self.floor)


# Pairing of the values of maps.


class MapKeys(Aligner, Struct, frozen=True):
    """Pairs the values of equal keys; the matrix is 1 where two keys are equal, else 0.

    >>> MapKeys().pair(np.array([[0.0, 1.0], [0.0, 0.0]]))
    (array([0]), array([1]))
    """

    needs_similarity: ClassVar[bool] = False

    def pair(self, similarity: npt.NDArray[np.floating[Any]]) -> tuple[Positions, Positions]:
        rows, columns = np.nonzero(similarity == 1)
        return rows, columns


# Pairing by position.


class Ordered(Aligner, Struct, frozen=True):
    """Pairs items at equal positions; the rest of the longer list stays unpaired.

    >>> Ordered().pair(np.zeros((2, 3)))
    (array([0, 1]), array([0, 1]))
    """

    needs_similarity: ClassVar[bool] = False
    uses_order: ClassVar[bool] = True

    def pair(self, similarity: npt.NDArray[np.float64]) -> tuple[Positions, Positions]:
        positions = np.arange(min(similarity.shape))
        return positions, positions


# The pairing that keeps the order of both lists.


class SequenceAligner(Aligner, Struct, frozen=True):
    """Pairs items without crossings, with the largest sum of similarities.

    This is Needleman-Wunsch without gap cost. `min_similarity` is the least similarity of a pair; by default
    anything above 0. Among equal pairings the earliest items are paired. A pair of similarity 0 is never
    made. Raises ValueError for NaN. Time and memory are m x n.

    >>> SequenceAligner().pair(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    (array([0, 2]), array([1, 2]))
    """

    uses_order: ClassVar[bool] = True

    min_similarity: float | None = None

    def __post_init__(self) -> None:
        checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return 0.0 if self.min_similarity is None else least_floor(self.min_similarity)

    def pair(self, similarity: Matrix) -> tuple[Positions, Positions]:
        if np.isnan(similarity).any():
            raise ValueError("the matrix of similarities holds NaN")
        floor = self.floor
        allowed = np.where(similarity < floor, 0.0, similarity) if floor else similarity
        m, n = allowed.shape
        totals = np.zeros((m + 1, n + 1))
        for row in range(m):
            best = np.maximum(totals[row, 1:], totals[row, :-1] + allowed[row])
            np.maximum.accumulate(best, out=totals[row + 1, 1:])
        return _trace(totals, allowed)


def _trace(totals: Matrix, similarity: Matrix) -> tuple[Positions, Positions]:
    row, column = similarity.shape
    gold: list[int] = []
    pred: list[int] = []
    while row and column:
        here = totals[row, column]
        if here == totals[row - 1, column]:
            row -= 1
        elif here == totals[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            gold.append(row)
            pred.append(column)
    return np.array(gold[::-1], dtype=np.intp), np.array(pred[::-1], dtype=np.intp)
