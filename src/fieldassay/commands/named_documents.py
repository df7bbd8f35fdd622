"""Which document is that of which gold record: by its name, by a pattern of names, and in which reading."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.sources import DocumentFile
from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.io.text.shown import format_count

OPTION = "--match-docs"
_WAYS: tuple[Callable[[PurePath], str], ...] = (
    PurePath.as_posix,
    lambda path: path.name,
    lambda path: path.with_suffix("").as_posix(),
    lambda path: path.stem,
)
"""The names by which a document is found in gold, the surest first."""
_PLACES = {"{id}": "(?P<id>[^/]+?)", "{reading}": "(?P<reading>[^/]+)", "*": "[^/]*"}


class NamedDocuments(Struct, frozen=True):
    """The documents that have gold, under its ids, by their reading, and remarks on the others."""

    readings: Mapping[str, tuple[DocumentFile, ...]]
    """A single reading has no name."""
    notes: tuple[str, ...] = ()


def name_documents(
    files: Sequence[DocumentFile], ids: Sequence[str], pattern: str | None = None
) -> NamedDocuments:
    """Return the documents that have gold, under the ids of gold.

    A document is that of the gold id that is its path, its name, or either without the suffix: the first of
    these that is an id. Of two documents with one id, that with the earlier of these has it. Where none has
    one, an id without the ending that all ids share may stand in the name, as `case_1_expected` does in
    `case_1_standard.pdf`, if that is so for all of gold or for all documents. Folders that hold documents of
    the same names, which are those of gold, are readings of them. A `pattern` says all this instead:
    `DOCUMENT=GOLD` with `{id}` on both sides, `*` for any characters, and `{reading}`.

    Raises `ProblemsError` where no document has gold, several have the same in the same way, or one has two
    ids of gold.

    >>> from pathlib import Path
    >>> found = name_documents([DocumentFile(name, Path(name)) for name in ("a.md", "b/a.txt")], ["a"])
    >>> [(file.id, str(file.path)) for file in found.readings[""]], found.notes
    ([('a', 'a.md')], ('1 document (such as b/a.txt) without gold: left out',))
    """
    if pattern is not None:
        return _by_pattern(files, ids, pattern)
    readings = _readings(files, ids)
    if not readings:
        found, notes = _by_name(files, ids)
        return NamedDocuments({"": found}, notes)
    named = {name: _by_name(own, ids) for name, own in readings.items()}
    said = f"{list_names(list(readings), 8)} hold the same documents: each is compared as a reading of them"
    others = (note for _, notes in named.values() for note in notes)
    return NamedDocuments({name: own for name, (own, _) in named.items()}, (said, *dict.fromkeys(others)))


def _by_name(
    files: Sequence[DocumentFile], ids: Sequence[str]
) -> tuple[tuple[DocumentFile, ...], tuple[str, ...]]:
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
    notes = []
    if not found:
        found, note = _by_part(files, ids)
        taken = {str(file.path) for file in found.values()}
        left = [file for file in files if str(file.path) not in taken]
        notes.append(note)
    return tuple(found[name] for name in ids if name in found), (*notes, *_remarks(left, found, ids))


def _remarks(
    left: Sequence[DocumentFile], found: Mapping[str, DocumentFile], ids: Sequence[str]
) -> tuple[str, ...]:
    notes = []
    if left:
        notes.append(f"{_some([file.id for file in left])} without gold: left out")
    missing = [name for name in ids if name not in found]
    _refuse_second_ids(missing, found)
    if missing:
        notes.append(f"{_some(missing)} of gold without a document: their fields count as missing")
    return tuple(notes)


def _by_part(files: Sequence[DocumentFile], ids: Sequence[str]) -> tuple[dict[str, DocumentFile], str]:
    """Return the documents in whose names the ids of gold stand without their common ending, and say so."""
    first = ids[0] if len(ids) > 1 else ""
    ends = (first[at:] for at in range(len(first)))
    shared = next((end for end in ends if all(name.endswith(end) for name in ids)), "")
    ending = re.search(r"[^A-Za-z0-9].*", shared)
    cut = len(ending[0]) if ending else 0
    cores = {name: re.compile(rf"(?<![^\W_]){re.escape(name[: len(name) - cut])}(?![^\W_])") for name in ids}
    fits = {
        file.id: [name for name, core in cores.items() if core.search(PurePath(file.id).stem)]
        for file in files
    }
    named: defaultdict[str, list[DocumentFile]] = defaultdict(list)
    for file in files:
        for name in fits[file.id]:
            named[name].append(file)
    is_sure = all(len(one) <= 1 for one in fits.values()) and all(len(one) == 1 for one in named.values())
    if not named or not is_sure or (len(named) < len(ids) and not all(fits.values())):
        remedy = (
            f"name documents after the ids of gold, such as {ids[0]!r}, or give {OPTION}"
            if ids
            else "give gold"
        )
        what = f"no document has gold; the first document is {files[0].id!r}"
        raise problem("--docs", what, remedy, "no_gold")
    found = {name: replace(own[0], id=name) for name, own in named.items()}
    name, own = next(iter(named.items()))
    more = f", and {len(named) - 1:,} more so" if len(named) > 1 else ""
    return found, f"{own[0].id} is taken for gold's {name}{more}; {OPTION} says otherwise"


def _by_pattern(files: Sequence[DocumentFile], ids: Sequence[str], pattern: str) -> NamedDocuments:
    left, _, right = pattern.partition("=")
    document, gold = _regex(left), _regex(right or "{id}")
    keys = {found["id"]: name for name in ids if (found := gold.fullmatch(name))}
    named: dict[str, dict[str, list[DocumentFile]]] = {}
    others = []
    for file in files:
        found = document.fullmatch(file.id if "/" in left else PurePath(file.id).name)
        if found is None or found["id"] not in keys:
            others.append(file)
            continue
        reading = found.groupdict().get("reading") or ""
        named.setdefault(reading, {}).setdefault(keys[found["id"]], []).append(file)
    if not named:
        what = (
            f"fits no document and gold id; the first are {files[0].id!r} and {ids[0]!r}"
            if ids
            else "fits no gold"
        )
        raise problem(f"{OPTION} {pattern}", what, "write it as in `{id}_scan.pdf={id}_expected`", "no_gold")
    notes: list[str] = []
    readings = {}
    for reading, own in named.items():
        _refuse_twins(own)
        found_here = {name: replace(file, id=name) for name, (file,) in own.items()}
        readings[reading] = tuple(found_here[name] for name in ids if name in found_here)
        notes += _remarks([], found_here, ids)
    return NamedDocuments(readings, tuple(dict.fromkeys([*notes, *_remarks(others, {}, [])])))


def _regex(pattern: str) -> re.Pattern[str]:
    if pattern.count("{id}") != 1 or pattern.count("{reading}") > 1:
        what = f"{pattern!r} does not have {{id}} once"
        raise problem(OPTION, what, "write it as in `{id}_scan.pdf={id}_expected`", "invalid")
    parts = re.split(r"(\{id\}|\{reading\}|\*)", pattern)
    return re.compile("".join(_PLACES.get(part, re.escape(part)) for part in parts))


def _readings(files: Sequence[DocumentFile], ids: Sequence[str]) -> dict[str, list[DocumentFile]]:
    """Return the documents by their folders, where all hold the same names; nothing where they do not."""
    folders: dict[str, list[DocumentFile]] = {}
    for file in files:
        folders.setdefault(PurePath(file.id).parent.as_posix(), []).append(file)
    stems = [sorted(PurePath(file.id).stem for file in own) for own in folders.values()]
    paths = {way(PurePath(file.id)) for file in files for way in (_WAYS[0], _WAYS[2])}
    is_same = (
        len(folders) > 1 and all(one == stems[0] for one in stems) and len(set(stems[0])) == len(stems[0])
    )
    return folders if is_same and "." not in folders and paths.isdisjoint(ids) else {}


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
