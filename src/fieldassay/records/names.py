"""The gold record that a document or a prediction is of, by its name: as it is, in part, or by a pattern."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct, field

from fieldassay.errors import problem
from fieldassay.regex import lazy_regex

WAYS: tuple[Callable[[PurePath], str], ...] = (
    PurePath.as_posix,
    lambda path: path.name,
    lambda path: path.with_suffix("").as_posix() if path.name else "",
    lambda path: path.stem,
)
"""The names by which a document is found in gold, the surest first."""
FORMAT = "format"
"""The slice of documents by the ending of their names."""
_PLACES = {"{reading}": "(?P<reading>[^/]+)", "*": "[^/]*"}
_FORMAT = lazy_regex(r"(?<=[^./])\.(?!json)([0-9]{0,4}[A-Za-z][A-Za-z0-9]{0,4})(?:\.(?:json|jsonl|gz|zst))?$")
_EXAMPLE = "write it as in `{id}_scan.pdf={id}_expected`"


class Joined(Struct, frozen=True):
    """The ids of gold by the names of what belongs to them, the readings by name, and a remark."""

    owners: Mapping[str, str] = field(default_factory=dict)
    readings: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    is_shared: bool = False
    """Whether several names belong to one id, each a document of its own."""


def format_of(name: str) -> str:
    """Return the format of a document by its name, empty for none.

    >>> format_of("pdf/case_1.PDF"), format_of("a.docx.json"), format_of("a.json"), format_of("1.0")
    ('pdf', 'docx', '', '')
    """
    found = _FORMAT.search(name)
    return found[1].lower() if found else ""


def join_names(names: Sequence[str], ids: Sequence[str], pattern: str | None = None) -> Joined:
    """Return which gold id each name belongs to; several names may belong to one.

    A name belongs to the id that is its path, its last part, or either without the suffix: the surest of
    these that an id has. Where none does, an id may stand in the name as a part of it, without the ending
    that all ids share, as `case_1_expected` in `case_1_standard.pdf`, if that is clear for all names or all
    of gold. A `pattern` says all this instead: `NAME=GOLD` with `{id}` on both sides, `*` for any characters,
    and `{reading}`. Of several ids that fit, the longest counts.

    >>> join_names(["case_1_a.pdf", "case_10_b.pdf"], ["case_1", "case_10"]).owners
    {'case_1_a.pdf': 'case_1', 'case_10_b.pdf': 'case_10'}
    >>> join_names(["page_01_raw.txt"], ["page_01"], "{id}_{reading}.txt").readings
    {'page_01_raw.txt': 'raw'}
    """
    if pattern is not None:
        return _by_pattern(names, ids, pattern)
    wanted = set(ids)
    owners: dict[str, str] = {}
    for way in WAYS:
        earlier = set(owners.values())
        found = {name: way(PurePath(name)) for name in names if name not in owners}
        owners |= {name: own for name, own in found.items() if own in wanted and own not in earlier}
    return Joined(owners) if owners else _by_part(names, ids)


def _by_part(names: Sequence[str], ids: Sequence[str]) -> Joined:
    """Return the names in which the ids of gold stand without their common ending, if that is clear."""
    first = ids[0] if len(ids) > 1 else ""
    ends = (first[at:] for at in range(len(first)))
    shared = next((end for end in ends if all(name.endswith(end) for name in ids)), "")
    ending = re.search(r"[^A-Za-z0-9].*", shared)
    cut = len(ending[0]) if ending else 0
    cores = {name: re.compile(rf"(?<![^\W_]){re.escape(name[: len(name) - cut])}(?![^\W_])") for name in ids}
    stems = {name: PurePath(name).stem for name in names}
    fits = {name: [own for own, core in cores.items() if core.search(stem)] for name, stem in stems.items()}
    owners = {name: own[0] for name, own in fits.items() if own}
    is_sure = all(len(own) <= 1 for own in fits.values()) and not find_twins(owners)
    if not owners or not is_sure or (len({*owners.values()}) < len(ids) and len(owners) < len(names)):
        return Joined()
    name, own = next(iter(owners.items()))
    more = f", and {len(owners) - 1:,} more so" if len(owners) > 1 else ""
    return Joined(owners, note=f"{name} is taken for gold's {own}{more}")


def _by_pattern(names: Sequence[str], ids: Sequence[str], pattern: str) -> Joined:
    left, _, right = pattern.partition("=")
    cores: dict[str, set[str]] = defaultdict(set)
    for own in ids:
        for core in _splits(own, right or "{id}"):
            cores[core].add(own)
    owners: dict[str, str] = {}
    readings: dict[str, str] = {}
    for name in names:
        text = name if "/" in left else PurePath(name).name
        core = max(
            (core for core in _splits(text, left) if len(cores.get(core, ())) == 1), key=len, default=""
        )
        if not core:
            continue
        (owners[name],) = cores[core]
        said = re.fullmatch(_regex(left.replace("{id}", "\0")).replace("\0", re.escape(core)), text)
        if "{reading}" in left and said:
            readings[name] = said["reading"]
    return Joined(owners, readings)


def _splits(name: str, pattern: str) -> Iterator[str]:
    """Yield every text that `{id}` of a pattern can stand for in a name."""
    if pattern.count("{id}") != 1 or pattern.count("{reading}") > 1:
        raise problem(pattern, "does not have {id} once", _EXAMPLE, "invalid")
    before, after = map(_regex, pattern.split("{id}"))
    ends = [at for at in range(len(name) + 1) if re.fullmatch(after, name[at:])]
    for start in range(len(name)):
        if re.fullmatch(before, name[:start]):
            yield from (name[start:end] for end in ends if end > start and "/" not in name[start:end])


def _regex(pattern: str) -> str:
    parts = re.split(r"(\{reading\}|\*)", pattern)
    return "".join(_PLACES.get(part, part if part == "\0" else re.escape(part)) for part in parts)


def find_twins(owners: Mapping[str, str], readings: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return the names of one gold id and one reading that no format tells apart."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, own in owners.items():
        groups[own, (readings or {}).get(name, "")].append(name)
    twins = []
    for names in groups.values():
        formats = [format_of(name) for name in names]
        alike = [
            name for name, one in zip(names, formats, strict=True) if "" in formats or formats.count(one) > 1
        ]
        twins += [alike] if len(names) > 1 and alike else []
    return twins
