"""Measures of confidence: bins, bounds and scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay.decisions.calibration.certificate import (
    Losses,
    allowed_errors,
    chance_of_errors,
    lower_p_value,
    passes,
    risk_p_value,
    risk_upper,
)
from fieldassay.decisions.calibration.observations import (
    AreaStanding,
    Observations,
    auroc,
    calibration_error,
    cut_bins,
    discriminate,
    list_bins,
    select,
)

# Reliability bins and calibration error: the cuts, and worked examples

confidences = st.lists(st.integers(0, 30).map(lambda number: number / 30), min_size=1, max_size=300)

CUTS = {
    "one value": ([0.5], [0]),
    "19 values": ([0.1] * 19, [0]),
    "39 values": (sorted(np.linspace(0, 1, 39)), [0]),
    "40 values": (sorted(np.linspace(0, 1, 40)), [0, 20]),
    "100 values": (sorted(np.linspace(0, 1, 100)), [0, 20, 40, 60, 80]),
    "1000 values": (sorted(np.linspace(0, 1, 1000)), list(range(0, 1000, 100))),
    "a tie over the border": ([0.1] * 15 + [0.5] * 10 + [0.9] * 25, [0, 25]),
    "a tie at the end": ([0.1] * 25 + [0.9] * 15, [0]),
    "all equal": ([0.9] * 500, [0]),
}


@pytest.mark.parametrize("case", CUTS)
def test_bins_are_of_equal_size_as_far_as_ties_allow(case: str) -> None:
    ordered, starts = CUTS[case]
    assert cut_bins(np.array(ordered)).tolist() == starts


@given(confidences)
def test_no_bin_splits_a_tie_or_is_too_small(values: list[float]) -> None:
    ordered = np.sort(values)
    starts = cut_bins(ordered)
    sizes = np.diff(np.append(starts, len(ordered)))
    assert 1 <= len(starts) <= 10
    assert all(ordered[start - 1] < ordered[start] for start in starts[1:])
    assert sizes.min() >= min(20, len(ordered))


def test_the_calibration_error_is_that_worked_by_hand() -> None:
    # bin 1: 0.2 and 0.4, one of two right: |0.5 - 0.3| = 0.2; bin 2: 0.7, 0.8, 0.9, two of three right:
    # |0.6667 - 0.8| = 0.1333
    ordered, is_right = np.array([0.2, 0.4, 0.7, 0.8, 0.9]), np.array([False, True, True, False, True])
    assert calibration_error(ordered, is_right, np.array([0, 2])) == pytest.approx(
        (2 * 0.2 + 3 * (0.8 - 2 / 3)) / 5
    )
    bins = list_bins(ordered, is_right, np.array([0, 2]))
    assert [(one.low, one.high, one.n) for one in bins] == [(0.2, 0.4, 2), (0.7, 0.9, 3)]
    assert [one.confidence for one in bins] == pytest.approx([0.3, 0.8])
    assert [one.accuracy for one in bins] == pytest.approx([0.5, 2 / 3])


# Bounds of a risk from documents with several values: by hand, against the exact binomial, and their order


def losses(*documents: tuple[float, float, int]) -> Losses:
    """Return the losses of documents: (share wrong, share accepted, how many) each."""
    wrong, whole, count = (np.array(column, float) for column in zip(*documents, strict=True))
    return Losses(wrong, whole, count)


BY_HAND = [
    # one of two wrong, at most half: P(at most 1 of 2) = 3/4, the exact binomial
    ("one of two", losses((0, 1, 1), (1, 1, 1)), 0.5, 0.75),
    ("two clean", losses((0, 1, 2)), 0.5, 0.25),
    # half of its values accepted, clean: P(0.5 G2 > 0.25 G1) = 0.5 / 0.75
    ("half accepted", losses((0, 0.5, 1)), 0.5, 2 / 3),
    # half of its values wrong, at most a quarter: P(0.25 G1 + 0.75 G2 > 0)
    ("half wrong", losses((0.5, 1, 1)), 0.25, 1.0),
]


@pytest.mark.parametrize(("name", "given_", "risk", "gaffke"), BY_HAND)
def test_p_values_by_hand(name: str, given_: Losses, risk: float, gaffke: float) -> None:
    assert risk_p_value(given_, risk) == pytest.approx(gaffke, rel=1e-9)


def test_the_lower_p_value_by_hand() -> None:
    # both wrong, at most a tenth: 0.1^2; one of two at most half: P(0.5 G1 + 0.5 G3 > 0.5 G2) = 3/4
    assert lower_p_value(losses((1, 1, 2)), 0.1) == pytest.approx(0.01)
    assert lower_p_value(losses((0, 1, 1), (1, 1, 1)), 0.5) == pytest.approx(0.75)


@given(st.integers(1, 100_000), st.floats(0, 3), st.floats(1e-5, 0.9))
def test_gaffke_is_clopper_pearson_for_documents_all_right_or_all_wrong(
    n: int, times: float, risk: float
) -> None:
    errors = min(n, int(n * risk * times))
    yes_no = losses((0, 1, n - errors), (1, 1, errors))
    assert risk_p_value(yes_no, risk) == pytest.approx(chance_of_errors(errors, n, risk), rel=1e-5, abs=1e-9)


def test_the_inversion_is_the_probability_that_simulation_gives() -> None:
    generator = np.random.default_rng(3)
    wrong = np.round(generator.beta(0.3, 3, 30), 2)
    whole = np.maximum(wrong, np.round(generator.random(30), 2))
    drawn = generator.exponential(size=(50_000, 31))
    simulated = (drawn[:, :30] @ (wrong - 0.3 * whole) + 0.7 * drawn[:, 30] > 0).mean()
    assert risk_p_value(Losses(wrong, whole, np.ones(30)), 0.3) == pytest.approx(simulated, abs=0.006)


DOCUMENTS = st.lists(
    st.integers(1, 6).flatmap(
        lambda values: st.tuples(st.just(values), st.integers(0, values), st.integers(0, values))
    ),
    min_size=1,
    max_size=40,
)


@few_examples()
@given(DOCUMENTS, st.floats(0.01, 0.9))
def test_one_error_more_never_lowers_a_bound(documents: list[tuple[int, int, int]], risk: float) -> None:
    rows = [(min(wrong, accepted), accepted, values) for values, accepted, wrong in documents]
    base = losses(*((wrong / values, accepted / values, 1) for wrong, accepted, values in rows))
    before = risk_p_value(base, risk)
    assert 0.0 <= before <= 1.0
    for place, (wrong, accepted, values) in enumerate(rows):
        if wrong < accepted:
            more = base.wrong.copy()
            more[place] = (wrong + 1) / values
            after = Losses(more, base.whole, base.count)
            assert risk_p_value(after, risk) >= before - 1e-8
            assert risk_upper(after, 0.05) >= risk_upper(base, 0.05) - 1e-6
            break


@given(st.integers(1, 3000), st.floats(0.002, 0.5))
def test_allowed_errors_are_the_most_that_pass(n: int, risk: float) -> None:
    most = allowed_errors(n, risk, 0.05)
    assert most < 0 or passes(most, n, risk, 0.05)
    assert not passes(most + 1, n, risk, 0.05)


# AUROC and the curve: worked by hand, and by the laws they keep

pairs = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=120)


def arrays(values: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([number / 20 for number, _ in values]), np.array([right for _, right in values])


AREAS = {
    "perfect": ([0.9, 0.8, 0.2], [1, 1, 0], 1.0),
    "reversed": ([0.1, 0.8], [1, 0], 0.0),
    "all equal": ([0.5] * 4, [1, 0, 1, 0], 0.5),
    # right 0.9, 0.5, 0.3 against wrong 0.5, 0.2: won 2, 1.5, 1 of 2 each
    "a tie": ([0.9, 0.5, 0.3, 0.5, 0.2], [1, 1, 1, 0, 0], 4.5 / 6),
}


@pytest.mark.parametrize("case", AREAS)
def test_the_area_counts_pairs(case: str) -> None:
    confidence, right, area = AREAS[case]
    assert auroc(np.array(confidence), np.array(right, bool)) == pytest.approx(area)


@pytest.mark.parametrize("right", [True, False])
def test_the_area_is_undefined_without_both_kinds(right: bool) -> None:
    assert auroc(np.array([0.1, 0.9]), np.array([right, right])) is None


def seen(confidence: np.ndarray, is_right: np.ndarray) -> Observations:
    """Return values of documents: one row each."""
    n, values = confidence.shape
    doc, names = np.repeat(np.arange(n, dtype=np.int32), values), tuple(f"d{at}" for at in range(n))
    return Observations(names, ("f",), doc, doc * 0, confidence.ravel(), is_right.ravel())


@pytest.mark.parametrize("wrong", [1, 2, 9])
def test_few_wrong_values_give_no_interval_and_the_reason(wrong: int) -> None:
    found = discriminate(seen(np.linspace(0, 1, 100)[:, None], (np.arange(100) >= wrong)[:, None]))
    assert (found.area, found.interval, found.standing) == (1.0, None, AreaStanding.TOO_FEW)
    assert (
        "too few wrong values to say" in found.sentence and f"they are in {wrong} document" in found.sentence
    )


STANDINGS = [(1.5, AreaStanding.TELLS), (0.0, AreaStanding.USELESS), (-1.5, AreaStanding.UPSIDE_DOWN)]


@pytest.mark.parametrize(("apart", "standing"), STANDINGS)
def test_confidences_are_called_what_they_are(apart: float, standing: AreaStanding) -> None:
    generator = np.random.default_rng(2)
    is_right = generator.random((400, 4)) < 0.9
    found = discriminate(seen(generator.normal(0, 1, (400, 4)) + apart * is_right, is_right))
    assert found.standing is standing
    assert (found.sentence == "") == (standing is AreaStanding.TELLS)


def test_a_field_among_many_takes_more_to_be_called_upside_down() -> None:
    generator = np.random.default_rng(7)
    is_right = generator.random((60, 1)) < 0.7
    values = seen(generator.normal(0, 1, (60, 1)) - 0.7 * is_right, is_right)
    assert discriminate(values).standing is AreaStanding.UPSIDE_DOWN
    assert discriminate(values, fields=40).standing is not AreaStanding.UPSIDE_DOWN


def test_the_curve_is_that_worked_by_hand() -> None:
    # from the top: 0.9 right, then 0.7 right and 0.7 wrong, then 0.4 wrong
    found = select(np.array([0.7, 0.9, 0.4, 0.7]), np.array([True, True, False, False]))
    assert [(point.threshold, point.accepted, point.errors) for point in found.points] == [
        (0.9, 1, 0),
        (0.7, 3, 1),
        (0.4, 4, 2),
    ]
    assert [point.selective_risk for point in found.points] == pytest.approx([0, 1 / 3, 0.5])
    assert [point.joint_risk for point in found.points] == pytest.approx([0, 0.25, 0.5])


@given(pairs)
def test_only_the_order_of_confidences_matters_for_ranking(values: list[tuple[int, bool]]) -> None:
    confidence, is_right = arrays(values)
    before, after = select(confidence, is_right), select(confidence**3 / 2, is_right)
    assert auroc(confidence, is_right) == auroc(confidence**3 / 2, is_right)
    assert [(p.accepted, p.errors) for p in before.points] == [(p.accepted, p.errors) for p in after.points]


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(values: list[tuple[int, bool]], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert select(*arrays(values)) == select(*arrays(shuffled))
    assert auroc(*arrays(values)) == auroc(*arrays(shuffled))
