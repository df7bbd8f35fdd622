"""Calendar values: dates, possibly partial, periods and durations."""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import Decimal

from msgspec import Struct


class Date(Struct, frozen=True):
    """A calendar date at the precision of the document: a day, a month, a year, or a day without a year.

    Its text is ISO 8601: `2025-03-15`, `2025-03`, `2025`, and `--03-15` without a year.

    >>> str(Date(2025, 3)), str(Date(2025, 3, 15)), str(Date(None, 3, 15))
    ('2025-03', '2025-03-15', '--03-15')
    """

    year: int | None
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        if self.year is None:
            return f"--{self.month:02d}-{self.day:02d}"
        text = f"{self.year:04d}"
        if self.month is not None:
            text += f"-{self.month:02d}"
        return text if self.day is None else f"{text}-{self.day:02d}"

    @property
    def is_full(self) -> bool:
        """Return True if year, month and day are all known."""
        return self.year is not None and self.month is not None and self.day is not None

    def first(self) -> dt.date | None:
        """Return the earliest possible day; None without a year.

        >>> Date(2024, 2).first(), Date(2024, 2).last()
        (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
        """
        return None if self.year is None else dt.date(self.year, self.month or 1, self.day or 1)

    def last(self) -> dt.date | None:
        """Return the latest possible day; None without a year."""
        if self.year is None:
            return None
        month = self.month or 12
        return dt.date(self.year, month, self.day or calendar.monthrange(self.year, month)[1])


class Period(Struct, frozen=True):
    """The days from `start` to `end`, both included; either may be partial.

    >>> str(Period(Date(2025, 1), Date(2025, 3)))
    '2025-01/2025-03'
    """

    start: Date
    end: Date

    def __str__(self) -> str:
        return f"{self.start}/{self.end}"

    def first(self) -> dt.date | None:
        """Return the first day; None without a year."""
        return self.start.first()

    def last(self) -> dt.date | None:
        """Return the last day; None without a year."""
        return self.end.last()


class Duration(Struct, frozen=True):
    """A length of time in exact seconds and, separately, whole months, which have no fixed length.

    Both have the same sign. A day is 86400 seconds, a week seven days. Its text is ISO 8601, with seconds
    carried over into larger units and months into years.

    >>> str(Duration(Decimal(5400))), str(Duration(Decimal(0), 14)), str(Duration(Decimal("-0.5")))
    ('PT1H30M', 'P1Y2M', '-PT0.5S')
    """

    seconds: Decimal
    months: int = 0

    def __str__(self) -> str:
        years, months = divmod(abs(self.months), 12)
        whole = int(abs(self.seconds))
        fraction = f"{abs(self.seconds) - whole:f}".partition(".")[2].rstrip("0")
        minutes, seconds = divmod(whole, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        second = f"{seconds}.{fraction}" if fraction else str(seconds)
        dates = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
        times = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n) + (
            f"{second}S" if second != "0" else ""
        )
        if not dates and not times:
            return "PT0S"
        sign = "-" if self.seconds < 0 or self.months < 0 else ""
        return f"{sign}P{dates}" + (f"T{times}" if times else "")
