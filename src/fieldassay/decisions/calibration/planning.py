"""What a number of labels is likely to certify: the certification itself, on documents drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fieldassay.decisions.calibration.binomial import needed_labels
from fieldassay.decisions.calibration.bins import Bools, Floats
from fieldassay.decisions.calibration.certify import certify
from fieldassay.decisions.calibration.labels import Labels
from fieldassay.decisions.calibration.result import Expected, LabelPlan, PlanRow, Promise, PromiseKind

ERRORS = (0, 1, 2, 3)
MULTIPLES = (1.0, 1.5, 2.0, 3.0, 5.0)
"""Numbers of labels before there are any, as multiples of the least."""
MORE = (1.25, 1.5, 2.0, 3.0)
"""Numbers of labels, as multiples of those at hand; beyond thrice nothing is said."""
DRAWS, FEW_DRAWS, SEED, LIKELY = 100, 40, 0, 0.8
MANY_VALUES, MOST_VALUES = 400_000, 1 << 15
"""Values of all draws together, as far as `FEW_DRAWS` allow; labeled values that a plan is made from."""

WORDS = ((0.25, "unlikely"), (0.6, "as likely as not"), (0.9, "likely"), (1.01, "nearly sure"))


def describe_chance(chance: float) -> str:
    """Return how likely something is, in four steps: a plan errs by 0.1 on average and by 0.3 at times.

    >>> [describe_chance(chance) for chance in (0.2, 0.5, 0.8, 0.95)]
    ['unlikely', 'as likely as not', 'likely', 'nearly sure']
    """
    return next(word for limit, word in WORDS if chance < limit)


def split_delta(promise: Promise, families: int) -> float:
    """Return the level for each of several thresholds, so that all promises hold together (Bonferroni).

    >>> round(split_delta(Promise(confidence=0.95), 5), 6)
    0.01
    """
    return (1.0 - promise.confidence) / max(1, families)


def expect(labels: Labels, promise: Promise, delta: float, documents: int) -> Expected:
    """Return what so many documents like the labeled ones are expected to certify."""
    chance = np.random.default_rng((SEED, documents))
    values = documents * len(labels.confidence) // labels.documents
    draws = min(DRAWS, max(FEW_DRAWS, MANY_VALUES // values))
    return _expect(lambda: labels.resample(documents, chance), promise, delta, documents, draws)


def _expect(
    draw: Callable[[], Labels], promise: Promise, delta: float, documents: int, draws: int
) -> Expected:
    """Return the shares that pass in draws, which end as soon as they cannot be `LIKELY` any more."""
    shares: list[float] = []
    while len(shares) < draws and shares.count(0.0) <= draws * (1.0 - LIKELY):
        drawn = draw()
        last = certify(drawn, promise, delta).last
        shares.append(0.0 if last is None else drawn.share(drawn.count_from(last.threshold)))
    low, high = np.quantile(shares, (0.1, 0.9)).tolist()
    chance = 1.0 - shares.count(0.0) / len(shares)
    return Expected(documents, chance, float(np.mean(shares)), low, high)


def expect_more(
    labels: Labels, promise: Promise, delta: float, *, is_certified: bool
) -> tuple[Expected, ...]:
    """Return what more labels are expected to certify: twice as many; else the least that is likely to do.

    Without a certificate numbers up to thrice the labels are looked at, from the largest down, as long as
    they certify in 4 cases out of 5. Empty where labels are too few to draw from, or too many.
    """
    if not labels.reach >= 20 or len(labels.confidence) > MOST_VALUES:
        return ()
    if is_certified:
        return (expect(labels, promise, delta, 2 * labels.documents),)
    found: list[Expected] = []
    for times in reversed(MORE):
        found.append(expect(labels, promise, delta, _round_up(times * labels.documents)))
        if found[-1].chance < LIKELY:
            break
    return tuple(reversed(found))


def find_enough(expected: tuple[Expected, ...]) -> Expected | None:
    """Return the least number of labels that certifies in 4 cases out of 5."""
    return next((one for one in expected if one.chance >= LIKELY), None)


def _round_up(labels: float) -> int:
    return int(-(-labels // 50) * 50)


World = Callable[[np.random.Generator, tuple[int, int], float], tuple[Floats, Bools]]


def _calibrated(chance: np.random.Generator, shape: tuple[int, int], error: float) -> tuple[Floats, Bools]:
    confidence = chance.beta(8.0, 8.0 * error / (1.0 - error), shape)
    return confidence, chance.random(shape) >= confidence


def _bad_documents(chance: np.random.Generator, shape: tuple[int, int], error: float) -> tuple[Floats, Bools]:
    """Return confidences that know nothing of the documents that hold half of the errors."""
    confidence, is_wrong = _calibrated(chance, shape, error / 2.0)
    is_bad = chance.random((shape[0], 1)) < error
    return confidence, is_wrong | (is_bad & (chance.random(shape) < 0.5))


def _sharp(chance: np.random.Generator, shape: tuple[int, int], error: float) -> tuple[Floats, Bools]:
    is_wrong = chance.random(shape) < error
    return np.where(is_wrong, chance.beta(2.0, 2.0, shape), chance.beta(12.0, 0.6, shape)), is_wrong


WORLDS: dict[str, World] = {
    "confidences tell well": _sharp,
    "confidences are calibrated": _calibrated,
    "some documents are bad": _bad_documents,
}
"""How confidences may be, where no labels say how they are."""


def draw_world(
    world: World, chance: np.random.Generator, shape: tuple[int, int], error: float, kind: PromiseKind
) -> Labels:
    """Return labeled documents of a world: `shape` is documents and values of each."""
    confidence, is_wrong = world(chance, shape, error)
    documents, values = shape
    if kind is PromiseKind.DOCUMENT:
        sizes = np.full(documents, float(values))
        return Labels(
            np.arange(documents), confidence.min(axis=1), np.logical_not(is_wrong.any(axis=1)), sizes
        )
    return Labels(
        np.repeat(np.arange(documents), values), confidence.ravel(), np.logical_not(is_wrong).ravel()
    )


def plan_labels(
    promise: Promise, families: int = 1, values: int = 4, accuracy: float = 0.95, draws: int = FEW_DRAWS
) -> LabelPlan:
    """Return what numbers of labels are likely to certify before there are any.

    `needed` is exact. Everything else depends on how well confidences tell right from wrong, so each number
    of labels has an expectation for each of `WORLDS`, with so many values a document and so many of them
    right.

    >>> plan = plan_labels(Promise(0.05), draws=4)
    >>> plan.needed, [row.labels for row in plan.rows], len(plan.rows[0].expected) == len(plan.worlds)
    ((59, 93, 124, 153), [59, 89, 118, 177, 295], True)
    """
    delta = split_delta(promise, families)
    needed = tuple(needed_labels(promise.risk, delta, errors) for errors in ERRORS)
    rows = tuple(
        PlanRow(labels, tuple(_expect_worlds(labels, promise, delta, (values, accuracy), draws)))
        for labels in (int(np.ceil(needed[0] * multiple)) for multiple in MULTIPLES)
    )
    return LabelPlan(promise, families, delta, needed, values, accuracy, tuple(WORLDS), rows, draws)


def _expect_worlds(
    labels: int, promise: Promise, delta: float, system: tuple[int, float], draws: int
) -> Iterator[Expected]:
    values, accuracy = system
    for world in WORLDS.values():
        chance = np.random.default_rng((SEED, labels))

        def draw(world: World = world, chance: np.random.Generator = chance) -> Labels:
            return draw_world(world, chance, (labels, values), 1.0 - accuracy, promise.kind)

        yield _expect(draw, promise, delta, labels, draws)
