"""Numbers with a range, a currency or a unit, and their canonical texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from math import gcd
from typing import TypeAlias, Union

from msgspec import Struct

Number: TypeAlias = Union[int, float, Decimal]
"""A number value. A finite float has the value of its shortest decimal text: 0.1 is one tenth."""

PLAIN_LIMIT = 40
"""The largest power of ten, either way, written without scientific notation."""

WIDE = Context(prec=200)
"""Precise enough for every readable number."""
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 16, 32, 64})
"""Of shares, and of inches."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """All numbers from `low` to `high`, both included; `low` is never above `high`.

    `is_tolerance` marks a range written as a middle and a margin (20±5). It does not affect equality: 20±5 is
    15 to 25.

    >>> NumberRange(Decimal(15), Decimal(25)) == NumberRange(Decimal(15), Decimal(25), is_tolerance=True)
    True
    """

    low: Decimal
    high: Decimal
    is_tolerance: bool = field(default=False, compare=False)

    @property
    def middle(self) -> Decimal:
        """Return the midpoint."""
        return WIDE.divide(WIDE.add(self.low, self.high), Decimal(2))


AmountValue: TypeAlias = Decimal | NumberRange | tuple[Decimal, ...]
"""A number, a range, or several numbers in their order (`120/80`)."""


def map_amount(change: Callable[[Decimal], Decimal], amount: AmountValue) -> AmountValue:
    """Return an amount with every number in it changed.

    >>> map_amount(Decimal(2).__mul__, (Decimal(60), Decimal(40)))
    (Decimal('120'), Decimal('80'))
    """
    if isinstance(amount, NumberRange):
        return NumberRange(change(amount.low), change(amount.high), amount.is_tolerance)
    return tuple(map(change, amount)) if isinstance(amount, tuple) else change(amount)


class Money(Struct, frozen=True):
    """An amount in a currency.

    The currency is an ISO 4217 code, a symbol shared by several currencies (`$`), or None if unknown.
    """

    amount: Decimal
    currency: str | None = None


class Quantity(Struct, frozen=True):
    """An amount in a canonical unit (see `types.numbers.units`), or without a unit."""

    amount: AmountValue
    unit: str | None = None


def decimal_of(value: Number) -> Decimal:
    """Return a finite number as the decimal of its shortest text.

    >>> decimal_of(0.1)
    Decimal('0.1')
    """
    if isinstance(value, Decimal):
        return value
    return Decimal(value) if isinstance(value, int) else Decimal(repr(value))


def canonical_number(value: Number) -> str:
    """Return the canonical text of a finite number: no exponent, no superfluous zeros, no `-0`.

    Beyond 10^40 and below 10^-40 it is scientific (`1.5E+60`), which bounds its length.

    >>> [canonical_number(number) for number in (Decimal("007.50"), -0.0, 1e22, Decimal("15E+59"))]
    ['7.5', '0', '10000000000000000000000', '1.5E+60']
    """
    number = decimal_of(value)
    if not number:
        return "0"
    power = number.adjusted()
    if abs(power) > PLAIN_LIMIT:
        return _scientific(number, power)
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scientific(number: Decimal, power: int) -> str:
    sign, digits, _ = number.as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    mantissa = f"{shown[0]}.{shown[1:]}" if len(shown) > 1 else shown
    return f"{'-' if sign else ''}{mantissa}E{power:+d}"


def canonical_amount(value: Number | AmountValue) -> str:
    """Return the canonical text of a number, a range or several numbers.

    The first of several has a point, if they would else be a fraction.

    >>> canonical_amount(NumberRange(Decimal("15.0"), Decimal(25), is_tolerance=True))
    '15 to 25'
    >>> canonical_amount((Decimal(120), Decimal(80))), canonical_amount((Decimal(1), Decimal(2)))
    ('120/80', '1.0/2')
    """
    if isinstance(value, tuple):
        first, *others = map(canonical_number, value)
        is_like_fraction = len(value) == 2 and looks_like_fraction(*value)
        return "/".join([f"{first}.0" if is_like_fraction else first, *others])
    if isinstance(value, NumberRange):
        return f"{canonical_number(value.low)} to {canonical_number(value.high)}"
    return canonical_number(value)


def looks_like_fraction(top: Number, bottom: Number) -> bool:
    """Return whether two numbers with a stroke are a fraction: proper, in lowest terms, denominator usual.

    >>> [looks_like_fraction(*pair) for pair in ((3, 4), (5, 10), (120, 80), (1, 7))]
    [True, False, False, False]
    """
    return (
        bottom in _DENOMINATORS and 0 < top < bottom and top == int(top) and gcd(int(top), int(bottom)) == 1
    )


def canonical_money(value: Money) -> str:
    """Return the canonical text of an amount of money.

    >>> canonical_money(Money(Decimal("1234.50"), "AUD")), canonical_money(Money(Decimal(5)))
    ('1234.5 AUD', '5')
    """
    amount = canonical_number(value.amount)
    return amount if value.currency is None else f"{amount} {value.currency}"


def canonical_quantity(value: Quantity) -> str:
    """Return the canonical text of a quantity.

    >>> canonical_quantity(Quantity(Decimal("5000.0"), "m3/h"))
    '5000 m3/h'
    """
    amount = canonical_amount(value.amount)
    return amount if value.unit is None else f"{amount} {value.unit}"
