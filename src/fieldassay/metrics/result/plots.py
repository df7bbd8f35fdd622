"""Charts of a result for a notebook, drawn by Altair from the tables of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fieldassay.errors import MissingExtraError, install_line
from fieldassay.io.text.shown import DataFrame

Table = Callable[[], DataFrame]


class Plots:
    """The charts of a result. Each is an `altair.Chart`, which you may change, show or save.

    Raises `MissingExtraError` without Altair.
    """

    def __init__(self, by_field: Table, headline: Table, by_confidence: Table) -> None:
        try:
            import altair
        except ImportError:
            raise MissingExtraError(f"charts need Altair: {install_line('plot')}") from None
        self._altair = altair
        self._by_field, self._headline, self._by_confidence = by_field, headline, by_confidence

    def fields(self) -> Any:
        """Return the accuracy of each field by system, with its interval. Needs all evidence."""
        return self._intervals(self._by_field(), "field", "accuracy", "system")

    def ranking(self) -> Any:
        """Return the main metric of each system with its interval, the best system first."""
        return self._intervals(self._headline(), "system", "value", None)

    def calibration(self) -> Any:
        """Return how often the values of each tenth of confidence are right, by system. Needs all evidence.

        Raises `ValueError` where no value has a confidence from 0 to 1.
        """
        alt, table = self._altair, self._by_confidence()
        if table.is_empty():
            raise ValueError("no value has a confidence from 0 to 1")
        scale = alt.Scale(domain=[0, 1])
        points = alt.Chart(table).encode(
            x=alt.X("confidence", scale=scale), y=alt.Y("right", scale=scale), color="system"
        )
        corners = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])).encode(x="x:Q", y="y:Q")
        return (
            corners.mark_line(color="gray") + points.mark_line() + points.mark_circle().encode(size="values")
        )

    def _intervals(self, table: Any, row: str, value: str, color: str | None) -> Any:
        """Return a point with its interval for each row of a table, beside one another by color."""
        alt = self._altair
        chart = alt.Chart(table).encode(y=alt.Y(row, sort="-x" if color is None else None))
        if color is not None:
            chart = chart.encode(color=color, yOffset=color)
        points = chart.mark_point(filled=True).encode(x=alt.X(value).title(value))
        return points + chart.mark_rule().encode(x="low", x2="high")
