"""Columns of written amounts: texts that differ in their digits alone are read once."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Column, Reader, objects
from fieldassay.values.types.numbers.amounts import PLAIN_LIMIT, Money, Quantity, canonical_number

_LONGEST = 60
_MOST_DIGITS, _MOST_BITS = 14, 46
"""A number of more may be that of a float with noise, which its digits tell."""
_FEWEST = 2
"""Fewer texts of one form are not worth more than their own readings."""
_MASK = bytes(ord("0") if chr(byte).isdigit() else byte for byte in range(128)) + bytes(range(128, 256))
_OTHERS = bytes(byte for byte in range(256) if byte not in b"0123456789\n")
_RUN = re.compile(r"[^0]*0(?:[0.,'’٬\u00a0\u202f ]*0)?[^0]*")
_PROBES = "12345678912345", "98765432198765"


class WrittenForm(Struct, frozen=True):
    """What all texts of one form mean: their digits times a power of ten.

    `sign` is `-` or nothing. `like` is a value of the form with the amount 0, `tail` the end of its canonical
    texts.
    """

    sign: str
    power: int
    like: Any
    tail: str
    flags: tuple[str, ...]

    def read(self, digits: Sequence[str]) -> tuple[list[Any], list[str]]:
        """Return the values and the canonical texts of texts with these digits, one or more each."""
        sign, power, tail = self.sign, self.power, self.tail
        amounts = [Decimal(f"{sign}{run}E{power}") for run in digits]
        whole = len(digits[0]) + power
        if digits[0][0] == "0" or not 0 < whole <= PLAIN_LIMIT:
            written = [canonical_number(amount) + tail for amount in amounts]
        elif power < 0:
            written = [f"{sign}{run[:whole]}.{run[whole:]}".rstrip("0").rstrip(".") + tail for run in digits]
        else:
            written = [f"{sign}{run}{'0' * power}{tail}" for run in digits]
        return _with_amounts(self.like, amounts), written


class FormReader(Reader):
    """A reader of numbers, money or quantities, which reads a column by the forms of its texts.

    The form of a text is what stands around and between its digits. What a form means, two texts of it with
    other digits tell, read in full. Texts in which more than the form counts are read in full themselves:
    ranges, fractions, exponents, other digits than 0 to 9, and long numbers.

    >>> from fieldassay.values.types.numbers.money import MoneyReader
    >>> MoneyReader().read_column(["€ 1.250,00", "€ 3.470,50", "€ 9.000,00"]).canonical.tolist()
    ['1250 EUR', '3470.5 EUR', '9000 EUR']
    """

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        texts = [_written(raw) for raw in raws]
        trimmed, values, canonical = (
            objects([text.strip() for text in texts]),
            *np.empty((2, len(texts)), object),
        )
        flags: dict[int, tuple[str, ...]] = {}
        problems: dict[int, str] = {}
        is_left = np.ones(len(texts), dtype=np.bool_)
        for form, places, digits in _find_forms(self, texts, list(map(type, raws))):
            rows = np.array(places)
            values[rows], canonical[rows] = map(objects, form.read(digits))
            is_left[rows] = False
            if form.flags:
                flags |= dict.fromkeys(places, form.flags)
        for at in np.flatnonzero(is_left).tolist():
            reading = self.read(raws[at])
            trimmed[at], values[at], canonical[at] = reading.text, reading.value, reading.canonical
            if reading.flags:
                flags[at] = reading.flags
            if reading.problem is not None:
                problems[at] = reading.problem
        return Column(trimmed, values, canonical, flags, problems)


def _written(raw: Scalar) -> str:
    """Return the text of a value; nothing for one that no form has."""
    if isinstance(raw, str):
        return "" if "\n" in raw else raw
    return (
        repr(raw)
        if raw.__class__ is float or (raw.__class__ is int and raw.bit_length() <= _MOST_BITS)
        else ""
    )


def _find_forms(
    reader: Reader, texts: Sequence[str], kinds: Sequence[type]
) -> Iterator[tuple[WrittenForm, list[int], list[str]]]:
    """Yield the forms that several texts have, with their positions and their digits."""
    joined = "\n".join(texts).encode("utf-8", "surrogatepass")
    shapes = joined.translate(_MASK).decode("utf-8", "surrogatepass").split("\n")
    digits = joined.translate(None, _OTHERS).decode().split("\n")
    places: defaultdict[tuple[str, bool, type], list[int]] = defaultdict(list)
    for at, (shape, run, kind) in enumerate(zip(shapes, digits, kinds, strict=False)):
        places[shape, run[:1] == "0", kind].append(at)
    for key, positions in places.items():
        if len(positions) >= _FEWEST and (form := find_form(reader, *key)) is not None:
            yield form, positions, [digits[at] for at in positions]


@lru_cache(maxsize=10_000)
def find_form(reader: Reader, shape: str, leads_zero: bool, kind: type = str) -> WrittenForm | None:
    """Return what texts of a shape mean, whose digits are all written 0; None if that depends on the digits.

    `leads_zero` tells texts whose first digit is a zero, which begins no group; `kind` what JSON has them as.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> find_form(NumberReader(), "0,000.00", False).read(["432150"])
    ([Decimal('4321.50')], ['4321.5'])
    """
    count, inner = shape.count("0"), getattr(reader, "inner", reader)
    if any(map(str.isdigit, "".join((*getattr(inner, "strip", ()), *dict(getattr(inner, "signs", ())))))):
        return None
    if len(shape) > _LONGEST or count > _MOST_DIGITS or (leads_zero and count == 1):
        return None
    if _RUN.fullmatch(shape) is None or any(mark.isnumeric() for mark in shape.replace("0", "")):
        return None
    first, second = (_probe(reader, shape, probe[:count], leads_zero, kind) for probe in _PROBES)
    return first if first == second else None


def _probe(reader: Reader, shape: str, digits: str, leads_zero: bool, kind: type) -> WrittenForm | None:
    """Return the form as one text of it has it."""
    digits = "0" + digits[1:] if leads_zero else digits
    left = iter(digits)
    text = "".join(next(left) if mark == "0" else mark for mark in shape)
    reading = reader.read(kind(text))
    value = reading.value
    amount = value.amount if isinstance(value, Money | Quantity) else value
    if not isinstance(amount, Decimal) or reading.text != text.strip():
        return None
    sign, own, power = amount.as_tuple()
    written = canonical_number(amount)
    if "".join(map(str, own)) != digits.lstrip("0") or not reading.canonical.startswith(written):
        return None
    [like] = _with_amounts(value, [Decimal(0)])
    return WrittenForm(
        "-" if sign else "", int(power), like, reading.canonical[len(written) :], reading.flags
    )


def _with_amounts(value: Any, amounts: list[Decimal]) -> list[Any]:
    """Return a value with each of the amounts."""
    if isinstance(value, Money):
        return list(map(Money, amounts, repeat(value.currency)))
    return list(map(Quantity, amounts, repeat(value.unit))) if isinstance(value, Quantity) else amounts
