"""The table of the formats of reports: their writers and their file names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from fieldassay.errors import nearest, problem


class Format(NamedTuple):
    """A format of reports: the function that makes it (`module:name`), and its file in a run folder.

    The function takes a run (`Reported`) and `ReportOptions`, and yields text portion by portion.
    """

    maker: str
    file: str

    def make(self, reported: Any, options: Any) -> Iterable[str]:
        """Return the text of a report, portion by portion."""
        module, _, name = self.maker.partition(":")
        render: Callable[[Any, Any], Iterable[str]] = getattr(importlib.import_module(module), name)
        return render(reported, options)


FORMATS: dict[str, Format] = {
    "table": Format("fieldassay.reports.report:render_table_report", "report.txt"),
    "junit": Format("fieldassay.reports.ci.outputs:render_junit", "junit.xml"),
    "markdown": Format("fieldassay.reports.report:render_markdown_report", "report.md"),
    "github": Format("fieldassay.reports.ci.outputs:render_step_summary", "summary.md"),
    "annotations": Format("fieldassay.reports.ci.outputs:render_annotations", "annotations.txt"),
    "comment": Format("fieldassay.reports.ci.outputs:render_comment", "comment.md"),
    "html": Format("fieldassay.reports.html.page:render_html_report", "report.html"),
}
"""The formats by name; a further one is one more line here."""


def find_format(name: str) -> Format:
    """Return the format of a name. Raises `ProblemsError` with the nearest name.

    >>> find_format("junit").file
    'junit.xml'
    """
    if name not in FORMATS:
        raise problem(
            "format", f"no report is called {name[:100]!r}", nearest(name[:100], FORMATS), "unknown_name"
        )
    return FORMATS[name]
