"""The documents that have gold, under the ids of gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from msgspec.structs import replace

from fieldassay.documents.sources import DocumentFile
from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.text.shown import format_count


def with_gold_ids(
    files: Sequence[DocumentFile], ids: Sequence[str]
) -> tuple[tuple[DocumentFile, ...], tuple[str, ...]]:
    """Return the documents that have gold, under the ids of gold, and remarks on the others.

    A document is that of the gold id that is its path, its name, or either without the suffix: the first of
    these that is an id. Of two documents with one id, that with the earlier of these has it.

    Raises `ProblemsError` where no document has gold, several have the same in the same way, or one has two
    ids of gold.

    >>> from pathlib import Path
    >>> found, notes = with_gold_ids([DocumentFile(name, Path(name)) for name in ("a.md", "b/a.txt")], ["a"])
    >>> [(file.id, str(file.path)) for file in found], notes
    ([('a', 'a.md')], ('1 document (such as b/a.txt) without gold: left out',))
    """
    wanted = set(ids)
    found: dict[str, DocumentFile] = {}
    left = list(files)
    for way in _WAYS:
        named: dict[str, list[DocumentFile]] = {}
        for file in left:
            name = way(PurePath(file.id))
            if name in wanted and name not in found:
                named.setdefault(name, []).append(file)
        _refuse_twins(named)
        found |= {name: replace(own, id=name) for name, (own,) in named.items()}
        taken = {own.id for (own,) in named.values()}
        left = [file for file in left if file.id not in taken]
    without = [file.id for file in left]
    if not found:
        remedy = f"name documents after the ids of gold, such as {ids[0]!r}" if ids else "give gold"
        what = f"no document has gold; the first document is {files[0].id!r}"
        raise problem("--docs", what, remedy, "no_gold")
    notes = []
    if without:
        notes.append(f"{_some(without)} without gold: left out")
    missing = [name for name in ids if name not in found]
    _refuse_second_ids(missing, found)
    if missing:
        notes.append(f"{_some(missing)} of gold without a document: their fields count as missing")
    return tuple(found[name] for name in ids if name in found), tuple(notes)


_WAYS: tuple[Callable[[PurePath], str], ...] = (
    PurePath.as_posix,
    lambda path: path.name,
    lambda path: path.with_suffix("").as_posix(),
    lambda path: path.stem,
)
"""The names by which a document is found in gold, the surest first."""


def _refuse_twins(named: Mapping[str, Sequence[DocumentFile]]) -> None:
    remedy = "leave one out, or give gold the paths of the documents as ids"
    problems = [
        Problem(
            "--docs", f"{', '.join(file.id for file in own)} are all gold's {name!r}", remedy, "duplicate"
        )
        for name, own in named.items()
        if len(own) > 1
    ]
    if problems:
        raise ProblemsError(problems)


def _refuse_second_ids(missing: Sequence[str], found: Mapping[str, DocumentFile]) -> None:
    """Raise `ProblemsError` for ids of gold that are those of a document but for its suffix."""
    bare = {name.removesuffix(file.path.suffix): name for name, file in found.items() if file.length is None}
    remedy = "leave one out of gold, or give gold the paths of the documents as ids"
    problems = [
        Problem("--gold", f"{name!r} and {bare[name]!r} are both {found[bare[name]].id}", remedy, "duplicate")
        for name in missing
        if name in bare
    ]
    if problems:
        raise ProblemsError(problems)


def _some(names: Sequence[str]) -> str:
    return f"{format_count(len(names), 'document')} (such as {names[0]})"
