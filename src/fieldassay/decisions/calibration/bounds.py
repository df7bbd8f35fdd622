"""Tests of a risk from documents whose values are partly wrong: Gaffke's, and a proven one by betting.

Gaffke, N.: Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable, 2005; Learned-Miller, E. and Thomas, P.: A new confidence interval for the mean of a bounded random
variable, 2019, arXiv 1905.06208. That Gaffke's bound holds for every bounded variable is conjectured.

Waudby-Smith, I. and Ramdas, A.: Estimating means of bounded random variables by betting, 2020,
arXiv 2010.09686. That bound is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log1p

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.decisions.calibration.binomial import (
    chance_of_errors,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from fieldassay.decisions.calibration.bins import Floats

Complexes = npt.NDArray[np.complex128]


class Losses(Struct, frozen=True, eq=False):
    """The errors of documents: `wrong` is what each loses, `whole` what it weighs, of `count` alike.

    The risk is the sum of `wrong` over the sum of `whole`. Betting takes them in their order.
    """

    wrong: Floats
    whole: Floats
    count: Floats

    @property
    def size(self) -> float:
        """Return the number of documents, each counted by what it weighs."""
        return float(self.whole @ self.count)

    @property
    def is_yes_no(self) -> bool:
        """Return whether every document counts fully, and is right or wrong as a whole."""
        return bool(np.all((self.wrong == 0.0) | (self.wrong == 1.0)) and np.all(self.whole == 1.0))

    def count_errors(self) -> int:
        """Return the number of documents with an error."""
        return round(float(self.count[self.wrong > 0.0].sum()))


def risk_p_value(losses: Losses, risk: float, *, is_proven: bool = False) -> float:
    """Return the p value of the hypothesis that the risk is above `risk`.

    Documents that are right or wrong as a whole have the exact binomial test; others Gaffke's, or the proven
    one by betting.

    >>> clean = Losses(np.array([0.0]), np.array([1.0]), np.array([299.0]))
    >>> round(risk_p_value(clean, 0.01), 6) == round(0.99**299, 6)
    True
    >>> one_of_two = Losses(np.array([0.0, 0.5]), np.array([1.0, 1.0]), np.array([398.0, 2.0]))
    >>> round(risk_p_value(one_of_two, 0.01), 4), round(risk_p_value(one_of_two, 0.01, is_proven=True), 4)
    (0.0683, 0.0273)
    """
    if losses.is_yes_no:
        return chance_of_errors(losses.count_errors(), round(losses.size), risk)
    gains = losses.wrong - risk * losses.whole
    if is_proven:
        return _betting_p_value(np.repeat(gains + risk, losses.count.astype(np.int64)), risk)
    return _sum_above_zero(np.append(gains, 1.0 - risk), np.append(losses.count, 1.0))


def lower_p_value(losses: Losses, risk: float, *, is_proven: bool = False) -> float:
    """Return the p value of the hypothesis that the risk is at most `risk`: how surely it is above.

    >>> all_wrong = Losses(np.array([1.0]), np.array([1.0]), np.array([2.0]))
    >>> round(lower_p_value(all_wrong, 0.1), 6)
    0.01
    """
    gains = losses.wrong - risk * losses.whole
    if is_proven:
        return _betting_p_value(1.0 - np.repeat(gains + risk, losses.count.astype(np.int64)), 1.0 - risk)
    return _sum_above_zero(np.append(-gains, risk), np.append(losses.count, 1.0))


def risk_upper(losses: Losses, delta: float, *, is_proven: bool = False) -> float:
    """Return the upper bound of the risk at 1 - delta: the least risk whose p value is at most delta."""
    if losses.is_yes_no:
        return clopper_pearson_upper(losses.count_errors(), round(losses.size), delta)
    return _invert(lambda risk: _log_odds(risk_p_value(losses, risk, is_proven=is_proven)) - _log_odds(delta))


def risk_lower(losses: Losses, delta: float, *, is_proven: bool = False) -> float:
    """Return the lower bound of the risk at 1 - delta, 0 without errors."""
    if losses.is_yes_no:
        return clopper_pearson_lower(losses.count_errors(), round(losses.size), delta)
    if not losses.wrong.any():
        return 0.0
    return _invert(
        lambda risk: _log_odds(delta) - _log_odds(lower_p_value(losses, risk, is_proven=is_proven))
    )


def _log_odds(p: float) -> float:
    """Return the logarithm of the odds, nearly linear in a risk, so that few p values find a bound."""
    return log(max(p, 1e-300)) - log1p(-min(p, 1.0 - 1e-16))


_MOST_AT_STAKE = 0.9
"""The share of the wealth that a bet can lose at the most."""


def _betting_p_value(losses: Floats, mean: float) -> float:
    """Return 1 / the best wealth of bets that `losses`, from 0 to 1 and in a fixed order, are below `mean`.

    Each bet is made from the mean and the variance of the losses before it (the paper's approximate growth
    rate), so that the wealth is a martingale if the true mean is `mean`, and exceeds x with probability 1 / x
    at the most, at whatever time (Ville).
    """
    before = np.arange(len(losses)) + 0.5
    known = (0.5 * mean + np.append(0.0, np.cumsum(losses)[:-1])) / before
    known[0] = 0.5 * mean
    squares = np.append(0.0, np.cumsum((losses - known) ** 2)[:-1])
    spread = (0.125 * mean + squares) / before
    gap = np.maximum(mean - known, 0.0)
    bets = np.minimum(gap / (spread + gap**2 + 1e-12), _MOST_AT_STAKE / (1.0 - mean))
    wealth = np.cumsum(np.log1p(bets * (mean - losses)))
    return float(np.exp(-max(0.0, float(wealth.max()))))


def _sum_above_zero(factors: Floats, count: Floats) -> float:
    """Return P(sum of factor x gamma(count) > 0) for independent gamma variables; some factor is above 0."""
    is_used = (factors != 0.0) & (count > 0.0)
    factors, count = factors[is_used], count[is_used]
    if not (factors < 0.0).any():
        return 1.0
    if factors @ count > 0.0:
        return max(0.0, 1.0 - _upper_tail(-factors, count))
    return _upper_tail(factors, count)


def _upper_tail(factors: Floats, count: Floats) -> float:
    """Return P(sum > 0) of factors of both signs, for a sum with a mean of at most 0.

    The inversion integral of the moment generating function through its saddle point (Lugannani and Rice
    1980), along a hyperbola that opens to the side where the integrand falls, by the trapezoid rule: the
    error falls exponentially with the step, so that the result is exact but for rounding.
    """
    saddle, room = _find_saddle(factors, count)
    terms = count * (factors / (1.0 - factors * saddle)) ** 2
    width = min(1.0, 4.0 / (room * float(np.sqrt(terms.sum() + saddle**-2.0))))
    step, most_bend = _STEP * width, _BEND * width

    def line(u: Floats, bend: float | Floats) -> tuple[Complexes, Complexes]:
        """Return the logarithm of the integrand and the direction of the line."""
        points: Complexes = saddle + room * (bend * (np.cosh(u) - 1.0) + 1j * np.sinh(u))
        logarithms: Complexes = np.log(1.0 - factors[:, None] * points)
        height: Complexes = -(count @ logarithms) - np.log(points)
        direction: Complexes = bend * np.sinh(u) + 1j * np.cosh(u)
        return height, direction

    peak, one_side, other_side = line(_AWAY, most_bend * _SIDES)[0].real.tolist()
    bend, total = most_bend if one_side <= other_side else -most_bend, 0.0
    for start in range(0, _MOST_STEPS, _AT_ONCE):
        u: Floats = step * np.arange(start, start + _AT_ONCE, dtype=np.float64)
        height, direction = line(u, bend)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond the end, where nothing is added
            values = np.exp(height - peak) * direction
        is_over = np.abs(values) < _NEGLIGIBLE
        end = int(is_over.argmax()) if is_over.any() else _AT_ONCE
        total += float(values[:end].imag.sum()) - (0.5 * float(values[0].imag) if start == 0 else 0.0)
        if end < _AT_ONCE:
            break
    return float(min(1.0, np.exp(peak) * room * step * total / np.pi))


_AWAY, _SIDES = np.array([0.0, 2.0, 2.0]), np.array([0.0, 1.0, -1.0])
_STEP, _BEND, _AT_ONCE, _MOST_STEPS, _NEGLIGIBLE = 0.125, 0.7, 40, 4096, 1e-16


def _find_saddle(factors: Floats, count: Floats) -> tuple[float, float]:
    """Return the minimum of M(s) / s between 0 and the pole of M, and its distance from the nearer end."""
    pole = 1.0 / float(factors.max())
    low, high, saddle = 0.0, pole, 0.5 * pole
    for _ in range(200):
        terms = factors / (1.0 - factors * saddle)
        slope = float(count @ terms) - 1.0 / saddle
        low, high = (low, saddle) if slope > 0.0 else (saddle, high)
        step = saddle - slope / (float(count @ terms**2) + saddle**-2.0)
        moved = step if low < step < high else 0.5 * (low + high)
        if abs(moved - saddle) <= 1e-9 * min(moved, pole - moved):
            break
        saddle = moved
    return saddle, min(saddle, pole - saddle)


def _invert(excess: Callable[[float], float]) -> float:
    """Return where a falling function of a risk becomes 0, at the least 0 and at the most 1."""
    from scipy.optimize import brentq

    low, high = 1e-9, 1.0 - 1e-9
    if excess(low) <= 0.0:
        return 0.0
    return 1.0 if excess(high) > 0.0 else float(brentq(excess, low, high, xtol=1e-9, rtol=1e-9))
