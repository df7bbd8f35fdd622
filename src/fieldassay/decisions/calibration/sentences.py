"""What a certificate says, and what more labels would bring, in words."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.decisions.calibration.planning import describe_chance, find_enough
from fieldassay.decisions.calibration.result import Certificate, Expected, Promise, PromiseKind
from fieldassay.metrics.notation import format_share

SHARES = {
    PromiseKind.RESIDUAL: "values in the output that are wrong after review",
    PromiseKind.VALUE: "accepted values that are wrong, every document counted once",
    PromiseKind.DOCUMENT: "documents accepted as a whole that have an error",
}
"""What each promise limits."""
NAMES = {
    PromiseKind.RESIDUAL: "after review",
    PromiseKind.VALUE: "accepted values",
    PromiseKind.DOCUMENT: "accepted documents",
}


def describe_promises(certificates: Sequence[Certificate], promise: Promise) -> list[str]:
    """Return a sentence for each kind of promise; kinds that say the same have one together."""
    kinds: dict[str, list[str]] = {}
    for one in certificates:
        kinds.setdefault(describe_certificate(one, promise), []).append(NAMES[one.kind])
    return [f"{', '.join(names)}: {sentence}" for sentence, names in kinds.items()]


def describe_certificate(one: Certificate, promise: Promise) -> str:
    """Return what a certificate promises of how many values, or why nothing is certified.

    >>> numbers = (0.94, 300, 300, 4, 0.02, 0.05, 0.05, 149, 0.54, 0.01)
    >>> print(describe_certificate(Certificate(("n",), PromiseKind.RESIDUAL, *numbers), Promise(0.02)))
    of 100 values in the output at most 2 are wrong if everything below 0.94 is reviewed: 54% pass unseen
    """
    if one.threshold is None:
        return f"not certified: {one.reason}"
    many, most = _out_of(promise.risk)
    passed = f"{format_share(one.coverage, 0)} pass unseen"
    if one.kind is PromiseKind.RESIDUAL:
        limit = f"of {many} values in the output at most {most} wrong"
        return f"{limit} if everything below {one.threshold:.6g} is reviewed: {passed}"
    if one.kind is PromiseKind.DOCUMENT:
        limit = f"of {many} documents whose values all reach {one.threshold:.6g} at most {most} in error"
        return f"{limit}: {format_share(one.coverage, 0)} of all values stand in them and pass unseen"
    limit = f"of {many} values from {one.threshold:.6g} on at most {most} wrong, every document counted once"
    return f"{limit}: {passed}; {describe_by_value(one)}"


def describe_by_value(one: Certificate) -> str:
    """Return the share of wrong values with every value counted once, which is no promise."""
    assert one.observed_risk is not None
    seen = f"counted by value {format_share(one.observed_risk, 2)} of them are wrong here"
    if one.interval is None:
        return seen
    low, high = (format_share(bound, 2) for bound in one.interval)
    return f"{seen} ({low} to {high}, no promise)"


def describe_more(one: Certificate) -> str:
    """Return what more labels would bring; empty where nothing is known of that."""
    if not one.expected:
        return ""
    enough = find_enough(one.expected) if one.threshold is None else None
    return describe_expected(enough or one.expected[-1])


def describe_expected(one: Expected) -> str:
    """Return what so many labels are expected to certify.

    >>> describe_expected(Expected(600, 0.9, 0.58, 0.51, 0.64))
    '600: nearly sure, 58% (51% to 64%)'
    """
    chance = describe_chance(one.chance)
    if not one.accepted:
        return f"{one.labels:,}: {chance}"
    shares = [format_share(share, 0) for share in (one.accepted, one.low, one.high)]
    return f"{one.labels:,}: {chance}, {shares[0]} ({shares[1]} to {shares[2]})"


def _out_of(risk: float) -> tuple[str, str]:
    """Return a risk as a count out of a round number: 2 of 100.

    >>> _out_of(0.02), _out_of(0.01), _out_of(0.005)
    (('100', '2 are'), ('100', '1 is'), ('1,000', '5 are'))
    """
    for many in (100, 1_000, 10_000, 1_000_000):
        most = round(risk * many)
        if most >= 1 and abs(risk * many - most) < 1e-6:
            break
    return f"{many:,}", f"{most:,} {'is' if most == 1 else 'are'}"
