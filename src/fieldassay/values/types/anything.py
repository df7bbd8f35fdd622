"""Values of any kind, where a spec declares none."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.normalizers import Normalizer
from fieldassay.values.types.text import json_text


class AnyReader(Reader, Struct, frozen=True):
    """Reads any scalar unchanged; the canonical text is JSON: kinds differ, except that 1 equals 1.0.

    Texts are trimmed unless `trim` is false, then normalized in the given order.

    >>> [AnyReader().read(raw).canonical for raw in ("1", 1, 1.0, True)]
    ['"1"', '1', '1', 'true']
    """

    normalize: tuple[Normalizer, ...] = ()
    trim: bool = True

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, str):
            value = text if self.trim else raw
            for normalizer in self.normalize:
                value = normalizer.apply(value)
            return Reading(text, value, json.dumps(value, ensure_ascii=False))
        return Reading(text, raw, text if isinstance(raw, bool) else _number_text(raw))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)


def _number_text(number: int | float) -> str:
    if isinstance(number, float) and not math.isfinite(number):
        return json_text(number)
    exact = Decimal(number) if isinstance(number, int) else Decimal(repr(number))
    sign, digits, exponent = exact.as_tuple()
    shown = "".join(map(str, digits))
    kept = shown.rstrip("0")
    if not kept:
        return "0"
    power = int(exponent) + len(shown) - len(kept)
    exponent_text = "" if power == 0 else f"e{power}"
    plain = -20 <= power <= 20
    text = f"{Decimal((0, tuple(map(int, kept)), power)):f}" if plain else kept + exponent_text
    return f"-{text}" if sign else text
