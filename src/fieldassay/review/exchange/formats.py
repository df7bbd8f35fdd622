"""The forms in which labels are written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fieldassay.atomic.whole_files import write_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.records.labels_file import Sheet, labels_lines, read_labels
from fieldassay.review.exchange.azure import export_azure, import_azure
from fieldassay.review.exchange.exchanged import Exported, Imported
from fieldassay.review.exchange.label_studio import export_label_studio, import_label_studio
from fieldassay.review.exchange.table import export_table, import_table

_EXPORTS: Mapping[str, Callable[[Sequence[Sheet]], Exported]] = {
    "labels": lambda sheets: Exported({"labels.jsonl": "".join(labels_lines(sheets))}),
    "label-studio": export_label_studio,
    "azure": export_azure,
    "csv": export_table,
}
_IMPORTS: Mapping[str, Callable[[Path, str], Imported]] = {
    "labels": lambda path, _: Imported(read_labels(path)),
    "label-studio": lambda path, _: import_label_studio(path),
    "azure": import_azure,
    "csv": lambda path, _: import_table(path),
}

FORMATS = tuple(_EXPORTS)


def export_labels(sheets: Sequence[Sheet], form: str, target: Path) -> tuple[str, ...]:
    """Write labels in a form, to a file or (`azure`) a new folder; return what the form cannot hold.

    Raises `ProblemsError` for a folder that holds files, and for sheets that the form has no place for.
    """
    found = _EXPORTS[form](sheets)
    if form != "azure":
        [text] = found.files.values()
        write_file(target, [text.encode("utf-8", "backslashreplace")])
        return found.lost
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        what = "is a file, or a folder that holds files"
        raise ProblemsError([Problem(str(target), what, "name a new folder", "export_target")])
    for name, text in found.files.items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, [text.encode("utf-8", "backslashreplace")])
    return found.lost


def import_labels(path: Path, form: str, reviewer: str) -> Imported:
    """Return the labels in a file or folder of a form; `reviewer` is whose they are if the form has no word.

    Raises `ProblemsError` with everything that is wrong with it.
    """
    return _IMPORTS[form](path, reviewer)
