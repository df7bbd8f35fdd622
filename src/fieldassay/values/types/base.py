"""The interface of readers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.io.text.settled import is_settled, settle
from fieldassay.values.types.column import Column, Reading

SETTLED = "unicode"
"""The flag of a text that `settle` changed."""


def _read_settled(read: Callable[[Any, Any], Reading]) -> Callable[[Any, Any], Reading]:
    @wraps(read)
    def read_settled(reader: Reader, raw: Scalar) -> Reading:
        is_plain = not isinstance(raw, str) or raw.isascii() or reader.is_exact
        plain = raw if is_plain else settle(str(raw))
        reading = read(reader, plain)
        return reading if plain is raw or plain == raw else replace(reading, flags=(*reading.flags, SETTLED))

    return read_settled


def _are_settled(raws: Sequence[Scalar]) -> bool:
    kinds = set(map(type, raws))
    texts: Any = (
        raws if kinds == {str} else [raw for raw in raws if raw.__class__ is str] if str in kinds else ()
    )
    return is_settled("\n".join(texts))


def _read_column_settled(read: Callable[[Any, Any], Column]) -> Callable[[Any, Any], Column]:
    @wraps(read)
    def read_column_settled(reader: Reader, raws: Sequence[Scalar]) -> Column:
        if reader.is_exact or _are_settled(raws):
            return read(reader, raws)
        plain = [settle(raw) if raw.__class__ is str and not raw.isascii() else raw for raw in raws]
        column = read(reader, plain)
        flags = {
            at: (*column.flags.get(at, ()), SETTLED)
            for at, (one, raw) in enumerate(zip(plain, raws, strict=True))
            if one is not raw and one != raw
        }
        return replace(column, flags={**column.flags, **flags}) if flags else column

    return read_column_settled


Token: TypeAlias = tuple[str, str]
"""A part of a text, and the rule that reads it, in words."""
NO_RULE = "no rule"
"""The rule of a part that nothing reads."""


class Reader:
    """Turns the raw values of a field into typed values.

    A reader is a frozen `Struct` or dataclass whose fields are its options in a spec, under the same names.
    It is pure and never raises on a scalar: an unreadable one gives a `Reading` with `value=None` and a
    `problem` in words. Empty values never reach it. Texts reach it composed (NFC) and without characters that
    nobody can see; a reading for which that changed something is flagged `unicode`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Settle the Unicode of texts before a subclass reads them, whatever its type."""
        super().__init_subclass__(**options)
        for name, settled in (("read", _read_settled), ("read_column", _read_column_settled)):
            if name in cls.__dict__:
                setattr(cls, name, settled(cls.__dict__[name]))

    @property
    def is_exact(self) -> bool:
        """Return whether texts are read with the Unicode that they have."""
        return False

    @abstractmethod
    def read(self, raw: Scalar) -> Reading:
        """Return the reading of a raw value."""

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        """Return the readings of the raw values; override it where a column can be read faster."""
        return Column.of([self.read(raw) for raw in raws])

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:  # noqa: ARG002 - subclasses use it
        """Return the parts of a raw text with the rules that read them; none for a type of one part."""
        return ()

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:  # noqa: ARG002 - subclasses use it
        """Return a mask of the readings that amount to no value; None if there are none."""
        return None
