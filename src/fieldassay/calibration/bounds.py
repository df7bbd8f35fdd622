"""Tests of a risk from documents whose values are partly wrong: exact binomial, Gaffke's, and betting.

Gaffke, N.: Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable, 2005; Learned-Miller, E. and Thomas, P.: A new confidence interval for the mean of a bounded random
variable, 2019, arXiv 1905.06208. That Gaffke's bound holds for every bounded variable is conjectured.

Waudby-Smith, I. and Ramdas, A.: Estimating means of bounded random variables by betting, 2020,
arXiv 2010.09686. That bound is proven.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.calibration.binomial import chance_of_errors, clopper_pearson_lower, clopper_pearson_upper
from fieldassay.calibration.bins import Floats
from fieldassay.calibration.result import Bound

Complexes = npt.NDArray[np.complex128]

FRACTIONS = (0.25, 0.5, 0.75, 1.0 - 1e-9)
"""Bets, as fractions of the largest that cannot lose more than all."""


class Losses(Struct, frozen=True, eq=False):
    """The errors of documents: shares `wrong` of their values out of `whole`, of `count` documents alike.

    The risk is the sum of `wrong` over the sum of `whole`. For accepted values `whole` is the share accepted;
    where all values count it is 1. `is_single`: no counted document has more than one value.
    """

    wrong: Floats
    whole: Floats
    count: Floats
    is_single: bool

    @property
    def size(self) -> float:
        """Return the number of documents, each counted by its share."""
        return float(self.whole @ self.count)

    def without_errors(self) -> Losses:
        """Return what the losses would be if nothing were wrong."""
        return replace(self, wrong=np.zeros_like(self.wrong))


def risk_p_value(losses: Losses, risk: float, bound: Bound) -> float:
    """Return the p value of the hypothesis that the risk is above `risk`.

    Documents of one value each have the exact binomial test whatever the bound.

    >>> clean = Losses(np.array([0.0]), np.array([1.0]), np.array([299.0]), False)
    >>> round(risk_p_value(clean, 0.01, Bound.GAFFKE), 6) == round(0.99**299, 6)
    True
    >>> one_of_two = Losses(np.array([0.0, 0.5]), np.array([1.0, 1.0]), np.array([398.0, 2.0]), False)
    >>> round(risk_p_value(one_of_two, 0.01, Bound.GAFFKE), 4)
    0.0683
    """
    if losses.is_single:
        errors, n = int(losses.wrong @ losses.count), int(losses.size)
        return chance_of_errors(errors, n, risk)
    gains = losses.wrong - risk * losses.whole
    if bound is Bound.BETTING:
        return _betting_p_value(gains / (1.0 - risk), losses.count)
    return _sum_above_zero(np.append(gains, 1.0 - risk), np.append(losses.count, 1.0))


def lower_p_value(losses: Losses, risk: float) -> float:
    """Return Gaffke's p value of the hypothesis that the risk is at most `risk`: how surely it is above.

    >>> all_wrong = Losses(np.array([1.0]), np.array([1.0]), np.array([2.0]), True)
    >>> round(lower_p_value(all_wrong, 0.1), 6)
    0.01
    """
    gains = losses.wrong - risk * losses.whole
    return _sum_above_zero(np.append(-gains, risk), np.append(losses.count, 1.0))


def risk_upper(losses: Losses, delta: float, bound: Bound) -> float:
    """Return the upper bound of the risk at 1 - delta: the least risk whose p value is at most delta."""
    if losses.is_single:
        return clopper_pearson_upper(int(losses.wrong @ losses.count), int(losses.size), delta)
    return _invert(lambda risk: risk_p_value(losses, risk, bound) - delta)


def risk_lower(losses: Losses, delta: float) -> float:
    """Return the lower bound of the risk at 1 - delta, 0 without errors."""
    if losses.is_single:
        return clopper_pearson_lower(int(losses.wrong @ losses.count), int(losses.size), delta)
    if not losses.wrong.any():
        return 0.0
    return _invert(lambda risk: delta - lower_p_value(losses, risk))


def _betting_p_value(losses: Floats, count: Floats) -> float:
    """Return 1 / wealth of bets of constant `FRACTIONS` against `losses`, the mean of their wealths.

    Constant bets make it independent of the order of documents ("diversified Kelly", section 5 of the paper).
    """
    wealth = np.array([np.log1p(-fraction * losses) @ count for fraction in FRACTIONS])
    most = float(wealth.max())
    mean = most + float(np.log(np.exp(wealth - most).mean()))
    return float(np.exp(-max(0.0, mean)))


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

    def line(u: Floats, bend: float) -> tuple[Complexes, Complexes]:
        """Return the logarithm of the integrand and the direction of the line."""
        points: Complexes = saddle + room * (bend * (np.cosh(u) - 1.0) + 1j * np.sinh(u))
        logarithms: Complexes = np.log(1.0 - factors[:, None] * points)
        height: Complexes = -(count @ logarithms) - np.log(points)
        direction: Complexes = bend * np.sinh(u) + 1j * np.cosh(u)
        return height, direction

    bend = min((most_bend, -most_bend), key=lambda one: float(line(_AWAY, one)[0][0].real))
    peak, total = float(line(np.zeros(1), bend)[0][0].real), 0.0
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


_AWAY = np.array([2.0])
_STEP, _BEND, _AT_ONCE, _MOST_STEPS, _NEGLIGIBLE = 0.125, 0.7, 64, 4096, 1e-16


def _find_saddle(factors: Floats, count: Floats) -> tuple[float, float]:
    """Return the minimum of M(s) / s between 0 and the pole of M, and its distance from the nearer end."""
    low, high = 0.0, 1.0 / float(factors.max())
    pole = high
    for _ in range(200):
        middle = 0.5 * (low + high)
        slope = float(count @ (factors / (1.0 - factors * middle))) - 1.0 / middle
        low, high = (low, middle) if slope > 0.0 else (middle, high)
        if high - low <= 1e-9 * min(middle, pole - middle):
            break
    saddle = 0.5 * (low + high)
    return saddle, min(saddle, pole - saddle)


def _invert(excess: Callable[[float], float]) -> float:
    """Return where a falling function of a risk becomes 0, at the least 0 and at the most 1."""
    from scipy.optimize import brentq

    low, high = 1e-9, 1.0 - 1e-9
    if excess(low) <= 0.0:
        return 0.0
    return 1.0 if excess(high) > 0.0 else float(brentq(excess, low, high, xtol=1e-9, rtol=1e-9))
