"""Exact binomial bounds of a risk, and the labels that they take."""

from __future__ import annotations

_SLACK = 1.0 + 1e-12
MOST_LABELS = 1 << 40


def clopper_pearson_upper(errors: int, n: int, delta: float) -> float:
    """Return the Clopper-Pearson (1934) one-sided upper bound of a proportion at 1 - delta; 1 for n = 0.

    >>> round(clopper_pearson_upper(0, 299, 0.05), 6), round(clopper_pearson_upper(1, 10, 0.05), 4)
    (0.009969, 0.3942)
    """
    from scipy.special import betaincinv

    return 1.0 if errors >= n else float(betaincinv(errors + 1, n - errors, 1.0 - delta))


def clopper_pearson_lower(errors: int, n: int, delta: float) -> float:
    """Return the one-sided lower bound of a proportion at the level 1 - delta; 0 without errors.

    >>> round(clopper_pearson_lower(1, 10, 0.05), 6)
    0.005116
    """
    from scipy.special import betaincinv

    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, delta))


def passes(errors: int, n: int, risk: float, delta: float) -> bool:
    """Return whether so many errors among n labels show, at level 1 - delta, that the risk is at most `risk`.

    Equivalent to a Clopper-Pearson upper bound of at most `risk`.
    """
    return chance_of_errors(errors, n, risk) <= delta * _SLACK if errors < n else False


def chance_of_errors(errors: int, n: int, risk: float) -> float:
    """Return the probability that n labels have at most so many errors.

    >>> round(chance_of_errors(0, 299, 0.001), 3)
    0.741
    """
    from scipy.special import bdtr

    return 1.0 if errors >= n else float(bdtr(float(errors), n, risk))


def needed_labels(risk: float, delta: float, errors: int = 0) -> int:
    """Return the least number of accepted labels that can be certified with so many errors among them.

    Without errors it is ceil(ln(delta) / ln(1 - risk)).

    >>> [needed_labels(0.01, 0.05, errors) for errors in range(4)]
    [299, 473, 628, 773]
    """
    low, high = errors, max(2, 2 * (errors + 1))
    while not passes(errors, high, risk, delta) and high < MOST_LABELS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(errors, middle, risk, delta) else (middle, high)
    return high


def allowed_errors(n: int, risk: float, delta: float) -> int:
    """Return the most errors with which n labels can be certified, -1 if not even without any.

    >>> [allowed_errors(n, 0.01, 0.05) for n in (298, 299, 627, 628)]
    [-1, 0, 1, 2]
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle, n, risk, delta) else (low, middle)
    return low
