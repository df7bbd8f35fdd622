"""Tables of a run for further work, and suspicious gold values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.attribution.share import Suspicion, suspicious_gold_of_run
from fieldassay.errors import nearest, problem
from fieldassay.io.files.tables import csv_text, show_names
from fieldassay.io.json_value import json_text
from fieldassay.io.text.shown import format_markdown
from fieldassay.runs.run import Run


class Listing(Struct, frozen=True):
    """A table of an export: its title, the names of its columns, and its rows, one value for each column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    extent: str = ""
    """What was looked at, where that is not everything."""

    def write(self, ending: str) -> Iterator[str]:
        """Yield the table as JSON, CSV or Markdown, by the ending of a file."""
        if ending == ".json":
            yield json_text([dict(zip(self.columns, row, strict=True)) for row in self.rows])
            return
        if ending == ".csv":
            yield csv_text([self.columns, *map(show_names, self.rows)])
            return
        lines = [
            map(format_markdown, self.columns),
            ["---"] * len(self.columns),
            *([format_markdown(_plain(one), 300) for one in row] for row in self.rows),
        ]
        extent = f"{self.extent[:1].upper()}{self.extent[1:]}.\n\n" if self.extent else ""
        yield f"# {self.title}\n\n{extent}" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def list_suspicious_gold_of_run(run: Run, system: str | None = None) -> Listing:
    """Return the gold values of a run that all or most of its systems contradict in the same way.

    Raises `ProblemsError` for a run of one system.
    """
    if system is not None:
        what, remedy = "gold is suspicious where all systems agree", "leave out --system"
        raise problem(run.folder, what, remedy, "invalid_option")
    found = suspicious_gold_of_run(run)
    lines = tuple(tuple(asdict(one).values()) for one in found.values)
    return Listing("Suspicious gold", Suspicion.__struct_fields__, lines, found.extent)


def check_system(run: Run, system: str | None) -> None:
    """Raise `ProblemsError` for a system that a run does not have."""
    known = run.result.systems
    if system is not None and system not in known:
        raise problem(run.folder, f"no system {system[:100]!r}", nearest(system[:100], known), "unknown_name")


def _plain(value: Any) -> str:
    return (
        ""
        if value is None
        else str(value).lower()
        if isinstance(value, bool)
        else f"{value:.4g}"
        if isinstance(value, float)
        else str(value)
    )
