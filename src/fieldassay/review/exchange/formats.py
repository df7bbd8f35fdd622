"""The forms in which labels are written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldassay.errors import problem
from fieldassay.io.files.whole_files import write_file
from fieldassay.records.labels_file import Sheet, labels_lines, read_labels
from fieldassay.review.exchange.exchanged import Exported, Imported
from fieldassay.review.exchange.label_studio import export_label_studio, import_label_studio
from fieldassay.review.exchange.table import export_table, import_table


class LabelsForm(NamedTuple):
    """A form of labels: what it is called, and how it is written and read."""

    name: str
    write: Callable[[Sequence[Sheet]], Exported]
    read: Callable[[Path], Imported]


FORMS: Mapping[str, LabelsForm] = {
    ".jsonl": LabelsForm(
        "a labels file",
        lambda sheets: Exported("".join(labels_lines(sheets))),
        lambda path: Imported(read_labels(path)),
    ),
    ".json": LabelsForm("tasks of Label Studio", export_label_studio, import_label_studio),
    ".csv": LabelsForm("a table", export_table, import_table),
}
"""By the endings of files."""


def export_labels(sheets: Sequence[Sheet], target: Path) -> tuple[str, ...]:
    """Write labels to a file, in the form of its ending; return what the form cannot hold.

    Raises `ProblemsError` for another ending.
    """
    form = FORMS.get(target.suffix.lower())
    if form is None:
        endings = ", ".join(f"{ending} ({one.name})" for ending, one in FORMS.items())
        what, remedy = "the ending is that of no form of labels", f"use one of: {endings}"
        raise problem(target, what, remedy, "unknown_format")
    exported = form.write(sheets)
    write_file(target, [exported.text.encode("utf-8", "backslashreplace")])
    return exported.lost


def import_labels(path: Path) -> Imported:
    """Return the labels in a file, in the form of its ending: any other is that of a labels file.

    Raises `ProblemsError` with everything that is wrong with it.
    """
    return FORMS.get(path.suffix.lower(), FORMS[".jsonl"]).read(path)
