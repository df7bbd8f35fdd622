"""Which document is that of which gold record: by its name, by a pattern of names, and in which reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.sources import DocumentFile
from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.records.matching import (
    WAYS,
    Joined,
    describe_leftovers,
    describe_near,
    find_twins,
    format_of,
    join_names,
)

OPTION = "--match-docs"


class NamedDocuments(Struct, frozen=True):
    """The documents that have gold, by their reading, and remarks on the others."""

    readings: Mapping[str, tuple[DocumentFile, ...]]
    """A single reading has no name. A document has the id of its gold, or its own where several share it."""
    notes: tuple[str, ...] = ()


def name_documents(
    files: Sequence[DocumentFile], ids: Sequence[str], pattern: str | None = None
) -> NamedDocuments:
    """Return the documents that have gold, under the ids of gold.

    Names belong to gold as `join_names` says. Documents of several formats may have one gold: each is a
    result of its own. Folders that hold documents of the same names and format, which are those of gold, are
    readings of them.

    Raises `ProblemsError` where no document has gold, several of one format have the same, or one has two ids
    of gold.

    >>> from pathlib import Path
    >>> found = name_documents([DocumentFile(name, Path(name)) for name in ("a.md", "b/a.txt")], ["a"])
    >>> [(file.id, str(file.path)) for file in found.readings[""]], found.notes
    ([('a', 'a.md')], ('1 document (such as b/a.txt) without gold: left out',))
    """
    names = [file.id for file in files]
    folders = _readings(names, ids) if pattern is None else {}
    parts = [join_names(own, ids, pattern) for own in folders.values() or [names]]
    owners = {name: own for part in parts for name, own in part.owners.items()}
    readings = {name: reading for reading, own in folders.items() for name in own}
    joined = Joined(owners, {**readings, **parts[0].readings}, parts[0].note)
    if not owners:
        raise _nothing(names, ids, pattern)
    _refuse_twins(joined)
    is_shared = len({(own, joined.readings.get(name)) for name, own in owners.items()}) < len(owners)
    found: dict[str, list[DocumentFile]] = {}
    order = {own: at for at, own in enumerate(ids)}
    for file in sorted(
        (file for file in files if file.id in owners), key=lambda file: order[owners[file.id]]
    ):
        own = owners[file.id]
        one = replace(file, gold=own) if is_shared else replace(file, id=own)
        found.setdefault(joined.readings.get(file.id, ""), []).append(one)
    return NamedDocuments(
        {
            name: tuple(found[name])
            for name in dict.fromkeys(joined.readings.get(name, "") for name in owners)
        },
        tuple(_remarks(names, ids, joined, list(folders), is_shared=is_shared)),
    )


def _remarks(
    names: Sequence[str], ids: Sequence[str], joined: Joined, folders: Sequence[str], *, is_shared: bool
) -> list[str]:
    notes = []
    if folders:
        notes.append(
            f"{list_names(folders, 8)} hold the same documents: each is compared as a reading of them"
        )
    if joined.note:
        notes.append(f"{joined.note}; {OPTION} says otherwise")
    if is_shared:
        formats = list_names(sorted({format_of(name) for name in joined.owners}), 8)
        notes.append(f"several documents have one gold record ({formats}): each is a result of its own")
    left = [name for name in names if name not in joined.owners]
    owned = {*joined.owners.values()}
    missing = [name for name in ids if name not in owned]
    _refuse_second_ids(missing, joined.owners)
    return notes + describe_leftovers(left, missing)


def _nothing(names: Sequence[str], ids: Sequence[str], pattern: str | None) -> ProblemsError:
    if pattern is None:
        near = describe_near(names, ids)
        such = (
            f"name documents after the ids of gold, such as {ids[0]!r}, or give {OPTION}"
            if ids
            else "give gold"
        )
        what = f"no document has gold; the first document is {names[0]!r}"
        return problem("--docs", what, "; ".join((*near, such)), "no_gold")
    first = (
        f"fits no document and gold id; the first are {names[0]!r} and {ids[0]!r}" if ids else "fits no gold"
    )
    return problem(f"{OPTION} {pattern}", first, "write it as in `{id}_scan.pdf={id}_expected`", "no_gold")


def _readings(names: Sequence[str], ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the documents by folder, where all hold the same names and a format; else nothing."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(PurePath(name).parent.as_posix(), []).append(name)
    stems = [sorted(PurePath(name).stem for name in own) for own in folders.values()]
    formats = [{format_of(name) for name in own} for own in folders.values()]
    paths = {way(PurePath(name)) for name in names for way in (WAYS[0], WAYS[2])}
    is_same = (
        len(folders) > 1
        and all(one == stems[0] for one in stems)
        and len(set(stems[0])) == len(stems[0])
        and len(set().union(*formats)) < sum(map(len, formats))
    )
    return folders if is_same and "." not in folders and paths.isdisjoint(ids) else {}


def _refuse_twins(joined: Joined) -> None:
    remedy = "leave one out, or give gold the paths of the documents as ids"
    problems = [
        Problem("--docs", f"{', '.join(own)} are all gold's {joined.owners[own[0]]!r}", remedy, "duplicate")
        for own in find_twins(joined.owners, joined.readings)
    ]
    if problems:
        raise ProblemsError(problems)


def _refuse_second_ids(missing: Sequence[str], owners: Mapping[str, str]) -> None:
    """Raise `ProblemsError` for ids of gold that are those of a document but for its suffix."""
    bare = {own.removesuffix(PurePath(name).suffix): (own, name) for name, own in owners.items()}
    remedy = "leave one out of gold, or give gold the paths of the documents as ids"
    problems = [
        Problem("--gold", f"{own!r} and {bare[own][0]!r} are both {bare[own][1]}", remedy, "duplicate")
        for own in missing
        if own in bare
    ]
    if problems:
        raise ProblemsError(problems)
