"""Bootstrap intervals over documents or families, and whether documents that share a value are alike."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.io.workers.blas_threads import one_blas_thread

# Bootstrap weights: Exp(1) draws by seed, document id and replicate; also of an unseen document.
# Exponential weights are those of Rubin's Bayesian bootstrap (1981). Unlike Poisson counts they drop no
# document, so that a few with an error keep some weight in every replicate.

STEP_BITS = 4
"""Weights are whole numbers of 2^-4 documents, so that sums under them are exact."""

STEPS = 1 << STEP_BITS

DRAWS_PER_WORD = 4

_POISSON = (24109, 48219, 60273, 64292, 65296, 65497, 65531, 65535)
"""round(65536 * P(X <= k)) for k = 0 .. 7: a 16-bit draw u gives the number of thresholds that are <= u."""

_UNSEEN = np.uint64(0x48414C5645530001)
"""Keeps the weights of the unseen document apart from those of documents."""
_UNSEEN_STEPS = 2.0**24

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)


def document_keys(documents: Sequence[str], seed: int) -> npt.NDArray[np.uint64]:
    """Return a 64-bit key for each document: BLAKE2b of seed and id.

    The seed is 8 bytes, little-endian, modulo 2^64; the id is in UTF-8.

    >>> [hex(key) for key in document_keys(["a", "b"], 0)]
    ['0x2a2ad578af9eb97b', '0xa4b126c9693d4f70']
    """
    prefix = (seed % 2**64).to_bytes(8, "little")
    digests = [
        hashlib.blake2b(prefix + name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in documents
    ]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


@lru_cache(maxsize=4)
def weight_table(dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
    """Return the quantiles of Exp(1) at 16 bits, in steps of 1/16: the weight of each of 65,536 draws.

    The mean is 1 and the variance 1 (both within 0.001); the largest weight is 11.8.

    >>> table = weight_table() / STEPS
    >>> round(float(table.mean()), 3), round(float(table.var()), 2), float(table.max())
    (1.0, 1.0, 11.8125)
    """
    shares = (np.arange(65536) + 0.5) / 65536
    table: npt.NDArray[np.generic] = np.rint(-np.log1p(-shares) * STEPS).astype(dtype)
    table.flags.writeable = False
    return table


def count_table(dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
    """Return the quantiles of Poisson(1) at 16 bits: how often a replicate holds a document, 0 to 8 times.

    For what needs documents that a replicate leaves out; each probability is within 2^-17 of the exact one.

    >>> float(count_table().mean()), int(count_table().max())
    (1.0, 8)
    """
    return np.searchsorted(_POISSON, np.arange(65536), side="right").astype(dtype)


def draw_words(keys: npt.NDArray[np.uint64], first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return words `first` to `first + count - 1` of each key's sequence (SplitMix64), documents x words."""
    steps = np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GOLDEN
    words = keys[:, None] + steps[None, :]
    shifted = np.empty_like(words)
    for shift, factor in ((30, _MIX_A), (27, _MIX_B)):
        np.right_shift(words, np.uint64(shift), out=shifted)
        words ^= shifted
        words *= factor
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


def weights(
    keys: npt.NDArray[np.uint64], first: int, count: int, table: npt.NDArray[np.generic]
) -> npt.NDArray[np.generic]:
    """Return the weights of `table` in replicates `first` to `first + count - 1`, documents x replicates.

    `first` is a multiple of 4: a word gives four draws, its low 16 bits first.

    >>> weights(document_keys(["a", "b"], 0), 0, 6, count_table())
    array([[0, 1, 3, 2, 0, 0],
           [0, 1, 0, 2, 2, 2]], dtype=uint8)
    """
    words = draw_words(keys, first // DRAWS_PER_WORD, -(-count // DRAWS_PER_WORD))
    draws = words.astype("<u8", copy=False).view("<u2")
    drawn_weights: npt.NDArray[np.generic] = np.take(table, draws, mode="clip")
    return drawn_weights[:, :count]


def unseen_weights(seed: int, replicates: int) -> npt.NDArray[np.float64]:
    """Return the weight of the unseen document in each replicate, with the sign of what it is.

    Laplace(1): the weight is that of any document, Exp(1), and a coin says whether it is right (positive) or
    wrong. The draws are the quantiles in random order, since with independent ones the bound of a perfect run
    moves with the seed. They are in steps of 2^-24: the last bits of a logarithm differ between processors.

    >>> weight = unseen_weights(0, 2000)
    >>> round(float(np.abs(weight).mean()), 2), int((weight > 0).sum()), round(float(weight.max()), 1)
    (1.0, 1000, 7.6)
    """
    order = np.argsort(draw_words(document_keys([""], seed) ^ _UNSEEN, 0, replicates)[0], kind="stable")
    share = (order + 0.5) / max(replicates, 1)
    magnitude = np.rint(-np.log1p(-np.abs(2.0 * share - 1.0)) * _UNSEEN_STEPS) / _UNSEEN_STEPS
    signed_weights: npt.NDArray[np.float64] = np.copysign(magnitude, share - 0.5)
    return signed_weights


def contraharmonic_mean(sizes: npt.NDArray[np.float64]) -> float:
    """Return sum of squares / sum of sizes that are not negative; 0 without any.

    The size of the document that a value is in, on average: that of the unseen document.

    >>> contraharmonic_mean(np.array([1.0, 0.0, 3.0]))
    2.5
    """
    total = float(sizes.sum())
    return float((sizes**2).sum()) / total if total else 0.0


_WEIGHTS = 1 << 22
"""Weights drawn at once, which bounds the memory of many documents."""


def weigh(
    columns: npt.NDArray[np.float64], names: Sequence[str], seed: int, replicates: int
) -> npt.NDArray[np.float64]:
    """Return the sums of columns (columns x documents) in every replicate; those of one name weigh the same.

    >>> weigh(np.array([[1.0, 2.0]]), ["a", "b"], 0, 4).round(2).tolist()
    [[1.06, 2.12, 3.62, 5.88]]
    """
    keys, table = document_keys(names, seed), weight_table(np.float64)
    width, parts = max(4, _WEIGHTS // max(1, len(names)) // 4 * 4), [np.zeros((len(columns), 0))]
    for first in range(0, replicates, width):
        document_weights = weights(keys, first, min(width, replicates - first), table)
        parts.append(columns @ document_weights.astype(np.float64, copy=False) / STEPS)
    return np.concatenate(parts, axis=1)


def add_families(values: npt.NDArray[np.float64], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the values (documents first) of what is drawn as a whole: those of one name are added up.

    >>> add_families(np.array([1.0, 2.0, 4.0]), ["acme", "other", "acme"])
    array([5., 2.])
    """
    place = np.unique(names, return_inverse=True)[1]
    count = int(place.max(initial=-1)) + 1
    if count == len(values):
        return values
    added = np.zeros((count, *values.shape[1:]))
    np.add.at(added, place, values)
    return added


# Bootstrap sums of integer columns: exact matrix products under bootstrap weights.

_NARROW, _WIDE = 2.0**24, 53
"""Whole numbers below 2^24 are exact in float32, those of up to 53 bits in float64."""

_MOST_DOCUMENTS = 1 << 12
"""The documents of one product: few enough for 32 bits of each value in float64."""

_BLOCK = 1 << 18
"""The number of weights per block, small enough for the processor's cache."""

Ints = npt.NDArray[np.int64]


@one_blas_thread()
def draw_sums(
    columns: Ints,
    keys: npt.NDArray[np.uint64],
    replicates: int | range,
    subsets: Sequence[Ints],
    *,
    bits: Sequence[int] = (),
    table: npt.NDArray[np.generic] | None = None,
) -> list[Ints]:
    """Return the sums of the columns under every replicate's weights, for each subset of documents.

    The sums are columns x replicates, int64; `columns` is columns x documents, `keys` those of the documents;
    a subset is an array of their positions. Sums are exact. Weights are counted in steps of 1/16: the sums of
    a column are 16 times as large as the column's, unless it has `bits` for fractions (4 or more; 0 for each
    by default), the last four of which are rounded away, so that the sums have the unit of the column.
    Another `table` of weights is taken as it is. A range of replicates begins with a multiple of 4.
    """
    draws = range(replicates) if isinstance(replicates, int) else replicates
    sums = [np.zeros((len(columns), len(draws)), np.int64) for _ in subsets]
    floats = (weight_table() if table is None else table).astype(np.float32)
    fractions = np.array([count >= STEP_BITS for count in bits] or [False] * len(columns), bool)
    for start in range(0, len(keys), _MOST_DOCUMENTS):
        part = slice(start, min(start + _MOST_DOCUMENTS, len(keys)))
        chosen = [subset[(subset >= start) & (subset < part.stop)] - start for subset in subsets]
        values = columns[:, part]
        if fractions.any():
            values = np.where(fractions[:, None], (values + (1 << STEP_BITS - 1)) >> STEP_BITS, values)
        _add_sums(values, keys[part], floats, chosen, sums, draws.start)
    return sums


def _add_sums(
    columns: Ints,
    keys: npt.NDArray[np.uint64],
    table: npt.NDArray[np.float32],
    subsets: Sequence[Ints],
    sums: list[Ints],
    start: int,
) -> None:
    """Add the sums of some documents to `sums`."""
    are_all = [len(subset) == len(keys) for subset in subsets]
    largest = int(table.max())
    products = [
        _Product(columns if is_all else columns[:, subset], largest)
        for subset, is_all in zip(subsets, are_all, strict=True)
    ]
    replicates = sums[0].shape[1] if sums else 0
    width = max(4, _BLOCK // max(1, len(keys)) // 4 * 4)
    for first in range(0, replicates, width):
        block = weights(keys, start + first, min(width, replicates - first), table)
        for product, subset, is_all, total in zip(products, subsets, are_all, sums, strict=True):
            product.add(block if is_all else block[subset], total[:, first : first + width])


class _Product:
    """Columns prepared for exact products: shifted, and split where float64 cannot hold the sums."""

    def __init__(self, columns: Ints, largest: int) -> None:
        """Sort the columns into limbs, each without the zeros at its end; columns of zeros have none."""
        rows = np.flatnonzero(columns.any(axis=1))
        every = np.bitwise_or.reduce(columns[rows], axis=1) if len(rows) else np.zeros(0, np.int64)
        shifts = np.array([(int(value) & -int(value)).bit_length() - 1 for value in every], np.int64)
        values = columns[rows] >> shifts[:, None]
        is_narrow = _bounds(values, largest) < _NARROW
        self.limbs: list[tuple[Ints, Ints, npt.NDArray[np.floating]]] = []
        """The rows that each limb is added to, their shifts, and the limb."""
        if is_narrow.any():
            self.limbs.append((rows[is_narrow], shifts[is_narrow], values[is_narrow].astype(np.float32)))
        rows, shifts, values = rows[~is_narrow], shifts[~is_narrow], values[~is_narrow]
        width = _WIDE - (largest * columns.shape[1]).bit_length()
        while len(rows):
            is_large = _bounds(values, largest) >= 2.0**_WIDE
            high = values[is_large] >> width
            values[is_large] &= (1 << width) - 1
            self.limbs.append((rows, shifts, values.astype(np.float64)))
            values, rows, shifts = high, rows[is_large], shifts[is_large] + width

    def add(self, block: npt.NDArray[np.generic], total: Ints) -> None:
        """Add the sums under a block of weights to `total`.

        The block is documents x replicates, `total` is columns x replicates.
        """
        for rows, shifts, values in self.limbs:
            product = (values @ block.astype(values.dtype, copy=False)).astype(np.int64)
            total[rows] += product << shifts[:, None]


def _bounds(values: Ints, largest: int) -> npt.NDArray[np.float64]:
    """Return the largest absolute sums under weights up to `largest`, rounded up."""
    bounds: npt.NDArray[np.float64] = np.abs(values).sum(axis=1, dtype=np.float64) * (largest * (1 + 1e-9))
    return bounds


# Intervals around one number: percentiles of replicates, order statistics.

FEW_DOCUMENTS = 20
"""Below this many documents the interval of a metric without bounds is marked: it may be too narrow."""

FEW_FAMILIES = 8
"""Below this many families of several documents there is no interval: too few to say how they differ."""


class BootstrapSettings(Struct, frozen=True):
    """The replicates of intervals over documents, the seed of their weights, and their level."""

    replicates: int = 2000
    seed: int = 0
    level: float = 0.95


def are_too_few(replicates: int, level: float) -> bool:
    """Return whether replicates are too few for percentiles at a level: under 20 expected beyond a bound.

    >>> are_too_few(799, 0.95), are_too_few(800, 0.95), are_too_few(2000, 0.99)
    (True, False, True)
    """
    return replicates * (1.0 - level) / 2.0 < 20.0 - 1e-9


def are_few_families(names: Sequence[str]) -> bool:
    """Return whether documents are in too few families for an interval; `names` are those of each document.

    >>> are_few_families(["acme", "other", "acme"]), are_few_families(["a", "b", "c"])
    (True, False)
    """
    return len(set(names)) < min(FEW_FAMILIES, len(names))


def say_too_few_families(families: int) -> str:
    """Return the reason why so few families have no interval, and what to do.

    >>> say_too_few_families(3)
    '3 families are too few for an interval: 8 or more are needed'
    """
    subject = "1 family is" if families == 1 else f"{families} families are"
    return f"{subject} too few for an interval: {FEW_FAMILIES} or more are needed"


def say_too_few(level: float) -> str:
    """Return the reason why an interval from too few replicates decides nothing, and what to do.

    >>> say_too_few(0.99)
    'too few bootstrap replicates to decide by: score again with at least 4,000 (--bootstrap 4000)'
    """
    least = max(2000, math.ceil(40.0 / (1.0 - level) - 1e-6))
    again = f"score again with at least {least:,} (--bootstrap {least})"
    return f"too few bootstrap replicates to decide by: {again}"


class Interval(NamedTuple):
    """A lower and an upper bound."""

    low: float
    high: float


class Percentiles(NamedTuple):
    """Percentile intervals of m metrics: bounds (NaN without a defined replicate), and undefined ones."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    dropped: npt.NDArray[np.int64]


def percentile_intervals(replicates: npt.NDArray[np.float64], level: float) -> Percentiles:
    """Return the percentile bootstrap intervals of m metrics from m x r replicates; NaN is counted apart.

    Quantiles interpolate linearly between order statistics.

    >>> percentile_intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.0, np.nan, np.nan, np.nan]]), 0.5)
    Percentiles(low=array([1. , 1.5]), high=array([3. , 2.5]), dropped=array([0, 3]))
    """
    dropped = np.isnan(replicates).sum(axis=1)
    low, high = np.full((2, len(replicates)), np.nan)
    tail = (1.0 - level) / 2.0
    for undefined in sorted(set(dropped.tolist())):
        count, rows = replicates.shape[1] - undefined, np.flatnonzero(dropped == undefined)
        if count:
            chosen = replicates if len(rows) == len(replicates) else replicates[rows]
            positions = [share * (count - 1) for share in (tail, 1.0 - tail)]
            pairs = [
                (math.floor(position), min(math.floor(position) + 1, count - 1)) for position in positions
            ]
            ordered = np.partition(chosen, sorted({at for pair in pairs for at in pair}), axis=1)
            low[rows], high[rows] = (
                ordered[:, below] + (ordered[:, above] - ordered[:, below]) * (position - below)
                for position, (below, above) in zip(positions, pairs, strict=True)
            )
    return Percentiles(low, high, dropped)


def quantile_interval(ordered: npt.NDArray[np.float64], share: float, level: float) -> Interval | None:
    """Return the order-statistic interval of a quantile of ascending values; None if n cannot bound it.

    It assumes no distribution: the number of values below the true quantile is binomial(n, share).

    >>> quantile_interval(np.arange(1.0, 101.0), 0.5, 0.95)
    Interval(low=40.0, high=61.0)
    >>> quantile_interval(np.arange(5.0), 0.99, 0.95) is None
    True
    """
    n = len(ordered)
    tail = (1.0 - level) / 2.0
    counts, below = _binomial_below(n, share)
    under = counts[below <= tail]
    over = counts[below >= 1.0 - tail]
    if not len(under) or not len(over) or over[0] >= n:
        return None
    return Interval(float(ordered[under[-1]]), float(ordered[over[0]]))


BEYOND = 1e300
"""A quantile beyond all values: among those of the unseen documents."""


def quantile_replicates(
    ordered: npt.NDArray[np.float64],
    owners: npt.NDArray[np.uint64],
    share: float,
    unseen: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return a quantile of ascending values in every replicate, without and with an unseen owner.

    Values of one owner are drawn together. Those of the unseen owner are all beyond one end, by a coin.
    Percentiles of these are the values at which the interval of the share below them ends at `share`
    (Woodruff 1952).

    >>> _, ends = quantile_replicates(np.arange(4.0), document_keys("aabb", 0), 0.5, unseen_weights(0, 800))
    >>> sorted(set(ends.tolist()))
    [-1e+300, 0.0, 1.0, 2.0, 3.0, 1e+300]
    """
    keys, place = np.unique(owners, return_inverse=True)
    ends = np.concatenate([[-BEYOND], ordered, [BEYOND]])
    mass = contraharmonic_mean(np.bincount(place).astype(np.float64)) * np.abs(unseen)
    width, parts = max(4, _BLOCK // len(owners) // 4 * 4), []
    for first in range(0, len(unseen), width):
        part = slice(first, min(first + width, len(unseen)))
        owner_weights = weights(keys, first, part.stop - first, weight_table())[place]
        below = np.cumsum(owner_weights, axis=0, dtype=np.int64) / STEPS
        with_unseen = share * (below[-1] + mass[part]) - np.where(unseen[part] > 0, mass[part], 0.0)
        reached = np.stack([share * below[-1], with_unseen])
        parts.append(ends[np.where(reached > 0, 1 + (below[:, None] < reached).sum(axis=0), 0)])
    return np.concatenate(parts, axis=1)


def _binomial_below(n: int, share: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return counts k around the mean of binomial(n, share), less than 1e-15 outside, and each P(X <= k)."""
    reach = 12.0 * math.sqrt(n * share * (1.0 - share)) + 40.0
    first, last = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    counts = np.arange(first, last + 1)
    ratios = np.log((n - counts[:-1]) / (counts[:-1] + 1.0)) + math.log(share / (1.0 - share))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    mass = np.exp(logs - logs.max())
    return counts, np.cumsum(mass) / mass.sum()


# Confidence sequences: intervals of a mean that hold at every look at documents that keep coming.

BETS = 0.95 * 0.5 ** np.arange(10)
"""Ten bets against a value, each half of the one before: large for few documents, small for many."""

_HALVINGS = 40


def sequence_interval(
    part: npt.NDArray[np.float64], whole: npt.NDArray[np.float64], level: float = 0.95
) -> Interval:
    """Return the interval of sum(part) / sum(whole), 0 <= part <= whole, that holds at every look.

    Each entry is a document, or a family of documents. The chance that the true ratio is ever outside, at
    whatever looks, is at most 1 - level: someone who bets against the truth has more than 2 / (1 - level)
    times the money at any time that seldom (Ville 1939; Waudby-Smith and Ramdas 2024). A mean of bets that
    are fixed in advance does not depend on the sequence of the documents. Where sizes (`whole`) differ, the
    largest one so far counts as the largest there is. Without any size the interval is (0, 1).

    >>> low, high = sequence_interval(np.ones(100), np.ones(100))
    >>> round(low, 3), high
    (0.94, 1.0)
    """
    low, high = (_lowest(side, whole, (1.0 - level) / 2.0) for side in (part, whole - part))
    return Interval(low, 1.0 - high)


def _lowest(part: npt.NDArray[np.float64], whole: npt.NDArray[np.float64], alpha: float) -> float:
    """Return the largest value that the bets against it refuse, 0 for none."""
    pairs, counts = np.unique(np.stack([part, whole]), axis=1, return_counts=True)
    low, high, largest = 0.0, 1.0, pairs[1].max(initial=0.0)
    for _ in range(_HALVINGS if largest > 0.0 else 0):
        middle = (low + high) / 2.0
        gains = np.log1p(BETS[:, None] * (pairs[0] - middle * pairs[1]) / (middle * largest)) @ counts
        is_refused = np.logaddexp.reduce(gains) - np.log(len(BETS)) >= -np.log(alpha)
        low, high = (middle, high) if is_refused else (low, middle)
    return low


Floats = npt.NDArray[np.float64]

WIDER = 1.2
"""From so many times the width of an interval on, families are told of."""

PERMUTATIONS = 1999
LEVEL = 0.05
_MOST_KEYS = 20


class Likeness(NamedTuple):
    """How much documents of one value of a key are alike: the intraclass correlation, with its interval.

    An interval over documents would be `wider` times as wide over families by the key.
    """

    key: str
    correlation: float
    interval: Interval
    wider: float


def find_likeness(
    scores: Mapping[str, Floats], keys: Mapping[str, Sequence[str]], seed: int = 0
) -> Likeness | None:
    """Return the key by whose values documents are most alike, if intervals over documents are too narrow.

    `scores` has those of each system, `keys` what `name_families` names each document. A key counts if it has
    at least 8 values, with two documents each on average; fewer values, as of a currency, tell kinds.
    Documents are exchanged between values at random: chance alone is told of as a likeness by any key in at
    most 5% of runs.

    >>> by_vendor = np.repeat([0.2, 0.9, 1.0, 0.8, 0.3, 0.9, 1.0, 1.0], 6)
    >>> likeness = find_likeness({"a": by_vendor}, {"vendor": [str(at // 6) for at in range(48)]})
    >>> likeness.key, likeness.correlation, round(likeness.wider, 1)
    ('vendor', 1.0, 2.4)
    """
    usable: dict[bytes, tuple[str, npt.NDArray[np.intp]]] = {}
    for key, values in keys.items():
        _, first, place = np.unique(values, return_index=True, return_inverse=True)
        named = Counter(value for value in values if not value.startswith("\0"))
        if FEW_FAMILIES <= len(named) <= named.total() / 2 and len(usable) < _MOST_KEYS:
            usable.setdefault(first[place].tobytes(), (key, place))
    limit, likenesses = LEVEL / max(1, len(usable) * len(scores)), []
    for own in scores.values():
        errors = own - own.mean() if len(own) else own
        spread = float(errors @ errors)
        for key, place in usable.values() if spread > 0.0 else ():
            between = float((np.bincount(place, errors) ** 2).sum())
            wider = math.sqrt(between / spread)
            if wider > WIDER and _chance(errors, place, between, limit, seed) <= limit:
                likenesses.append(_measure(key, errors, place, wider))
    return max(likenesses, key=lambda likeness: likeness.wider, default=None)


def _chance(errors: Floats, place: npt.NDArray[np.intp], between: float, limit: float, seed: int) -> float:
    """Return how often documents exchanged at random are as alike; 1 as soon as it is above the limit."""
    rng, as_alike = np.random.default_rng(seed), 1
    for _ in range(PERMUTATIONS):
        as_alike += float((np.bincount(place, rng.permutation(errors)) ** 2).sum()) >= between * (1 - 1e-9)
        if as_alike > limit * (PERMUTATIONS + 1):
            return 1.0
    return as_alike / (PERMUTATIONS + 1)


def _measure(key: str, errors: Floats, place: npt.NDArray[np.intp], wider: float) -> Likeness:
    """Return the intraclass correlation of one-way analysis of variance, with the interval of F (Searle)."""
    from scipy.special import fdtri

    sizes, sums = np.bincount(place), np.bincount(place, errors)
    n, k = len(errors), len(sizes)
    size = (n - float(sizes @ sizes) / n) / (k - 1)
    among = float((sums**2 / sizes).sum())
    within = max(float(errors @ errors) - among, 0.0) / (n - k)
    ratio = (among / (k - 1)) / within if within > 1e-12 * among else math.inf

    def share(of: float) -> float:
        return 1.0 if math.isinf(of) else float(np.clip((of - 1.0) / (of + size - 1.0), 0.0, 1.0))

    low, high = (ratio / float(fdtri(k - 1, n - k, part)) for part in (0.975, 0.025))
    return Likeness(key, share(ratio), Interval(share(low), share(high)), wider)
