"""The fast verdict on numbers is the exact one, at the limit too."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.values.comparators.comparator_cases import build

from fieldassay.values.comparators.closeness import DIFFERENT, EQUAL, WITHIN, number_codes
from fieldassay.values.comparators.tolerance import Tolerance, printed_unit, tolerance_of
from fieldassay.values.types.column import Column, Reading, objects

NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10_000, max_value=10_000)
WIDE = st.builds(
    lambda digits, power: Decimal(digits).scaleb(power),
    st.integers(-(10**18), 10**18),
    st.integers(-330, 320),
)
SHARES = st.sampled_from([Decimal(share) for share in ("0", "0.001", "0.01", "0.02", "0.1", "1", "3")])
TOLERANCES = st.builds(
    Tolerance,
    relative=SHARES,
    absolute=st.none() | SHARES,
    zero=st.none() | SHARES,
    scale=st.sampled_from(["gold", "at_least_one"]),
)


def fraction_verdict(gold, pred, tolerance):
    """The definition, in exact fractions."""
    g, distance = Fraction(gold), abs(Fraction(pred) - Fraction(gold))
    if not distance:
        return EQUAL
    size = abs(g) if tolerance.scale == "gold" else max(abs(g), 1)
    limits = [Fraction(tolerance.relative) * size]
    limits += [] if tolerance.absolute is None else [Fraction(tolerance.absolute)]
    limits += [] if tolerance.zero is None or g else [Fraction(tolerance.zero)]
    return WITHIN if distance <= max(limits) else DIFFERENT


def fast_verdicts(pairs, tolerance):
    gold, pred = (objects([pair[side] for pair in pairs]) for side in (0, 1))
    return number_codes(gold, pred, objects([str(value) for value in gold]), tolerance).tolist()


@given(
    pairs=st.lists(st.tuples(NUMBERS, NUMBERS) | st.tuples(WIDE, WIDE), min_size=1, max_size=8),
    tolerance=TOLERANCES,
)
@example(
    pairs=[(Decimal("1e-400"), Decimal("2e-400")), (Decimal("1e400"), Decimal("1.01e400"))],
    tolerance=Tolerance(relative=Decimal("0.01")),
)
@example(
    pairs=[(Decimal("1e-400"), Decimal("0.01"))],
    tolerance=Tolerance(relative=Decimal(0), zero=Decimal("0.01")),
)
def test_any_numbers_get_the_exact_verdict(pairs, tolerance):
    assert fast_verdicts(pairs, tolerance) == [fraction_verdict(*pair, tolerance) for pair in pairs]


@given(
    gold=NUMBERS | WIDE,
    share=SHARES,
    sign=st.sampled_from([-1, 1]),
    nudge=st.sampled_from(["0", "1e-30", "-1e-30", "1e-12", "-1e-12"]),
)
def test_numbers_at_the_limit_get_the_exact_verdict(gold, share, sign, nudge):
    tolerance = Tolerance(relative=share)
    pred = gold + sign * abs(gold) * share * (1 + Decimal(nudge))
    assert fast_verdicts([(gold, pred)], tolerance) == [fraction_verdict(gold, pred, tolerance)]


@given(cents=st.integers(1, 10**7), percent=st.integers(1, 50))
def test_floats_mean_their_shortest_text_at_the_limit(cents, percent):
    gold = Decimal(cents) / 100
    limit, beyond = gold + gold * percent / 100, gold + gold * percent / 100 + Decimal("0.0001")
    tolerance = Tolerance(relative=Decimal(percent) / 100)
    assert fast_verdicts([(float(gold), float(limit)), (float(gold), float(beyond))], tolerance) == [
        WITHIN,
        DIFFERENT,
    ]


@pytest.mark.parametrize(
    ("gold", "pred", "share", "is_right"),
    [
        ("5.0", "5.1", "0.02", True),
        ("5.0", "5.11", "0.02", False),
        ("100", "101", "0.01", True),
        ("100", "99", "0.01", True),
        ("0.3", "0.1", "0.6", False),
    ],
)
@pytest.mark.parametrize("number", [Decimal, float])
def test_the_limit_itself_is_accepted(number, gold, pred, share, is_right):
    verdict = fast_verdicts([(number(gold), number(pred))], tolerance_of(share))
    assert verdict == [WITHIN if is_right else DIFFERENT]


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,234.50", "1234.5", "0.01"),
        ("1.234,50 EUR", "1234.5", "0.01"),
        ("5.000", "5000", "1"),
        ("5.000", "5", "0.001"),
        ("5000", "5000", "1"),
        ("1,5E+03", "1500", "100"),
        ("8.5e-02", "0.085", "0.001"),
        ("12 %", "0.12", "0.01"),
        ("0.00", "0", "0.01"),
        ("0", "0", "1"),
        ("-7.0", "-7", "0.1"),
        ("1 234 567", "1234567", "1"),
        ("room 4, 20.5 kg", "20.5", "0.1"),
        ("twenty", "20.50", "0.01"),
        ("", "20", "1"),
        ("9" * 100_000, "20", "1"),
    ],
)
def test_the_last_printed_place_is_found(text, number, unit):
    assert printed_unit(text, Decimal(number)) == Decimal(unit)


def test_ulp_looks_at_the_text_of_gold():
    comparator = build({"number": {"tolerance": {"ulp": 1}}})
    cases = {
        ("2.50", "2.51"): 1.0,
        ("2.50", "2.6"): 0.0,
        ("2.5", "2.6"): 1.0,
        ("2", "3"): 1.0,
        ("2", "3.1"): 0.0,
    }
    for (gold, pred), score in cases.items():
        readings = [Reading(text, Decimal(text), str(Decimal(text).normalize())) for text in (gold, pred)]
        assert comparator.compare_one(*readings)[0] == score, (gold, pred)


@pytest.mark.parametrize("value", [True, None, "x", float("nan"), Decimal("NaN"), Decimal("sNaN")], ids=repr)
def test_what_is_no_number_is_never_near_one(value):
    gold = Column.of([Reading("1", 1, "1")] * 2)
    pred = Column(objects(["?", "1.001"]), objects([value, 1.001]), objects(["?", "1.001"]))
    scores = build({"number": {"tolerance": 0.5}}).compare(gold, pred)
    assert (scores.score.tolist(), scores.reason.tolist()) == ([0.0, 1.0], [3, 2])


def test_infinities_are_near_themselves_only():
    infinite = Decimal("Infinity")
    assert fast_verdicts(
        [(infinite, infinite), (infinite, -infinite), (Decimal(1), infinite)], Tolerance(relative=Decimal(9))
    ) == [
        EQUAL,
        DIFFERENT,
        DIFFERENT,
    ]


@pytest.mark.parametrize(
    "option",
    [
        "0.01",
        0.01,
        Decimal("0.01"),
        {"relative": 0.01},
        (("relative", "0.01"),),
        Tolerance(relative=Decimal("0.01")),
    ],
    ids=repr,
)
def test_every_way_to_write_a_tolerance_means_the_same(option):
    assert build({"number": {"tolerance": option}}) == build({"number": {"tolerance": {"relative": "0.01"}}})


def test_mixed_kinds_of_numbers_share_a_column():
    gold, pred = (
        objects([1, 2.5, Decimal(3), "4.0", 10**400]),
        objects([1.0, Decimal("2.5"), "3", 4, 10**400 + 1]),
    )
    codes = number_codes(gold, pred, objects(["1", "2.5", "3", "4.0", "1"]), Tolerance())
    assert codes.tolist() == [EQUAL, EQUAL, EQUAL, EQUAL, DIFFERENT]
    assert codes.dtype == np.int16
