"""The forms in which labels are written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fieldassay.io.files.whole_files import write_file
from fieldassay.records.labels_file import Sheet, labels_lines, read_labels
from fieldassay.review.exchange.exchanged import Exported, Imported
from fieldassay.review.exchange.label_studio import export_label_studio, import_label_studio
from fieldassay.review.exchange.table import export_table, import_table

_EXPORTS: Mapping[str, Callable[[Sequence[Sheet]], Exported]] = {
    "labels": lambda sheets: Exported("".join(labels_lines(sheets))),
    "label-studio": export_label_studio,
    "csv": export_table,
}
_IMPORTS: Mapping[str, Callable[[Path], Imported]] = {
    "labels": lambda path: Imported(read_labels(path)),
    "label-studio": import_label_studio,
    "csv": import_table,
}

FORMATS = tuple(_EXPORTS)


def export_labels(sheets: Sequence[Sheet], form: str, target: Path) -> tuple[str, ...]:
    """Write labels in a form to a file; return what the form cannot hold."""
    found = _EXPORTS[form](sheets)
    write_file(target, [found.text.encode("utf-8", "backslashreplace")])
    return found.lost


def import_labels(path: Path, form: str) -> Imported:
    """Return the labels in a file of a form. Raises `ProblemsError` with everything that is wrong with it."""
    return _IMPORTS[form](path)
