"""Ids of rows, found, trimmed or numbered where a source has none, and names joined with the ids of gold."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.errors import Problem, problem
from fieldassay.io.json_value import id_text
from fieldassay.records.decode import decode_json
from fieldassay.records.record import PREDICTION_KEY
from fieldassay.records.responses import ID_KEYS, names_of_id
from fieldassay.regex import lazy_regex

_ENDINGS = lazy_regex(
    r"(?<=[^.])\.(?:jsonl?|csv|tsv|parquet|xls[xm]?|pdf|png|jpe?g|jp2|tiff?|gif|bmp|webp|heic|svg"
    r"|txt|text|md|html?|xml|hocr|ya?ml|toml|docx?|odt|ods|rtf|pptx?"
    r"|eml|msg|gz|gzip|zstd?|zip)$",
    re.IGNORECASE,
)
"""Endings of documents, images, texts, data files and packed files."""

MAX_ID = 1000
MAX_LISTED = 20
_INDEX = lazy_regex(r"\[?(-?[0-9]{1,9})(?:\](?=[.\[]|$)|(?=\.|$))\.?")

_NUMBER = lazy_regex(r"[+-]?[0-9]{1,25}(?:\.[0-9]{0,25})?(?:[eE][+-]?[0-9]{1,2})?")
"""Numbers as a spreadsheet writes them; longer ones are no amounts, and stay as they are."""

Positions = npt.NDArray[np.int64]


class Index(Struct, frozen=True, eq=False):
    """The ids of a source, the positions of their rows (`kept`), and the problems met on the way."""

    ids: tuple[str, ...]
    kept: Positions
    is_numbered: bool
    problems: tuple[Problem, ...]


def find_id(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the id of a row under the first of the names that it has; a dotted name may lead into objects.

    >>> find_id({"meta": {"id": 4}}, ["doc_id", "meta.id"])
    '4'
    """
    for name in names_of_id(row, names) if not row.keys().isdisjoint(ID_KEYS) else names:
        found = id_text(row.get(name))
        if found is None and "." in name:
            found = id_text(locate(row, name)[1])
        if found is not None:
            return found
    return id_text(row.get("id")) if PREDICTION_KEY in row else None


def locate(row: Any, key: str) -> tuple[bool, Any]:
    """Return whether a row has a value under an exact key or a path, and the value.

    The longest matching key counts at each level. An item of a list is named by its position, from 0 or
    (negative) from the end: `choices[0].text` or `choices.0.text`. A text that is JSON is what it holds.

    >>> locate({"raw": {"org/model-8.1": "x"}}, "raw.org/model-8.1")
    (True, 'x')
    >>> locate({"choices": [{"text": "x"}]}, "choices[0].text")
    (True, 'x')
    >>> locate({"truth": '{"fields": {"total": 5}}'}, "truth.fields")
    (True, {'total': 5})
    """
    if isinstance(row, str):
        row = decode_json(row.encode("utf-8", "replace")).value
    if isinstance(row, list):
        found = _INDEX.match(key)
        position = int(found[1]) if found else len(row)
        if found is None or not -len(row) <= position < len(row):
            return False, None
        return (True, row[position]) if found.end() == len(key) else locate(row[position], key[found.end() :])
    if not isinstance(row, Mapping):
        return False, None
    if key in row:
        return True, row[key]
    for cut in reversed([found.start() for found in re.finditer(r"[.\[]", key[:1000])]):
        if key[:cut] in row:
            has, value = locate(row[key[:cut]], key[cut:].removeprefix("."))
            if has:
                return has, value
    return False, None


def deepest(row: Any, key: str) -> tuple[str, Any]:
    """Return the longest beginning of a path that a row has, and the value there.

    >>> deepest({"response": {"body": {"id": 1}}}, "response.body.text")
    ('response.body', {'id': 1})
    """
    for cut in reversed([found.start() for found in re.finditer(r"[.\[]", key[:1000])]):
        has, value = locate(row, key[:cut])
        if has:
            return key[:cut], value
    return "", row


def base_name(name: str) -> str:
    """Return an id without the folders before it.

    >>> base_name("scans/2025/a.pdf"), base_name("C:\\\\scans\\\\a.pdf")
    ('a.pdf', 'a.pdf')
    """
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def stem_of(name: str) -> str:
    """Return an id without folders and without endings of documents, images, texts, data and packed files.

    >>> stem_of("out/d2.pdf.json"), stem_of("v1.2"), stem_of("inv.smith.PDF")
    ('d2', 'v1.2', 'inv.smith')
    """
    return drop_endings(base_name(name))


def drop_endings(name: str) -> str:
    """Return an id without the endings of documents and files, however many there are."""
    while (shorter := _ENDINGS.sub("", name)) != name:
        name = shorter
    return name


def number_of(name: str) -> str:
    """Return an id that is a number without leading zeros, zeros behind the point, and exponent.

    >>> number_of("00123"), number_of("123.0"), number_of("1.23E+4"), number_of("v1.0"), number_of("1.50")
    ('123', '123', '12300', 'v1.0', '1.5')
    """
    number = Decimal(name).normalize() if _NUMBER.fullmatch(name) else None
    return name if number is None else f"{number or abs(number):f}"


ID_FORMS: Mapping[str, Callable[[str], str]] = {
    "exact": str,
    "name": base_name,
    "stem": stem_of,
    "number": number_of,
}
"""The forms under which the ids of gold and predictions can be compared."""


def settle_ids(
    found: Sequence[str | None], problems: Sequence[Problem], place: Callable[[int], str]
) -> Index:
    """Return the index of rows by their ids (None: no id found).

    Rows without an id are left out, each a problem, unless no row has one: then rows are numbered `#1`, `#2`
    … in order.
    """
    count = len(found)
    if not any(name is not None for name in found):
        return Index(
            tuple(f"#{number}" for number in range(1, count + 1)),
            np.arange(count, dtype=np.int64),
            True,
            tuple(problems),
        )
    left_out = {
        position: "has no id" if name is None else "its id is too long"
        for position, name in enumerate(found)
        if name is None or len(name) > MAX_ID
    }
    told = {problem.where for problem in problems}
    lost = [
        Problem(place(position), what, "give every record an id", "no_id")
        for position, what in left_out.items()
        if place(position) not in told
    ]
    kept = np.delete(np.arange(count, dtype=np.int64), list(left_out))
    ids = tuple(name for name in found if name is not None and len(name) <= MAX_ID)
    return Index(ids, kept, False, (*problems, *lost))


def cap_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first `MAX_LISTED` problems, and one with the number of the rest."""
    listed = list(problems[:MAX_LISTED])
    if len(problems) > MAX_LISTED:
        last = problems[MAX_LISTED]
        listed.append(
            Problem(
                last.where.rpartition(":")[0] or last.where,
                f"and {len(problems) - MAX_LISTED:,} more",
                kind=last.kind,
            )
        )
    return listed


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
_LONGEST_NAME = 300
"""Characters of a name in which an id is looked for: the time is their square."""
_MOST_CORES = 1_000_000
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

    A name belongs to the id that is its path, its last part, or either without the suffix, in whichever form
    of Unicode: the surest of these that an id has. Where none does, letters and digits alone are compared,
    then numbers, each where they are unique on both sides. At last, an id may stand in the name as a part of
    it, without the ending that all ids share, as `case_1_expected` in `case_1_standard.pdf`, if that is clear
    for all names or all of gold. A `pattern` says all this instead: `NAME=GOLD` with `{id}` on both sides,
    `*` for any characters, and `{reading}`. Of several ids that fit, the longest counts.

    >>> join_names(["case_1_a.pdf", "case_10_b.pdf"], ["case_1", "case_10"]).owners
    {'case_1_a.pdf': 'case_1', 'case_10_b.pdf': 'case_10'}
    >>> join_names(["INV-2025_001.json"], ["INV-2025/001"]).owners
    {'INV-2025_001.json': 'INV-2025/001'}
    >>> join_names(["page_01_raw.txt"], ["page_01"], "{id}_{reading}.txt").readings
    {'page_01_raw.txt': 'raw'}
    """
    if pattern is not None:
        return _by_pattern(names, ids, pattern)
    wanted = {normalize("NFC", own): own for own in ids}
    owners: dict[str, str] = {}
    for way in WAYS:
        earlier = set(owners.values())
        found = {name: way(PurePath(normalize("NFC", name))) for name in names if name not in owners}
        owners |= {
            name: wanted[own] for name, own in found.items() if own in wanted and wanted[own] not in earlier
        }
    if owners:
        return Joined(owners)
    joined = (_by_fold(names, ids, *way) for way in _LOOSE_WAYS)
    return next((one for one in joined if one.owners), None) or _by_part(names, ids)


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))


def _plain_number(text: str) -> str:
    return number_of(text) if _NUMBER.fullmatch(text) else ""


_LOOSE_WAYS: tuple[tuple[Callable[[str], str], Callable[[str], str], str], ...] = (
    (drop_endings, _letters_and_digits, "letters and digits"),
    (stem_of, _letters_and_digits, "letters and digits"),
    (stem_of, _plain_number, "number"),
)
"""The part of a name that is compared where no name is an id, in which form, and what that is called."""


def _by_fold(
    names: Sequence[str],
    ids: Sequence[str],
    part: Callable[[str], str],
    fold: Callable[[str], str],
    noun: str,
) -> Joined:
    """Return the names that are one id in a form, of which no other name and no other id has the same."""
    own: dict[str, list[str]] = defaultdict(list)
    for text in ids:
        own[fold(drop_endings(text))].append(text)
    named: dict[str, list[str]] = defaultdict(list)
    for text in names:
        named[fold(part(text))].append(text)
    same = [form for form in own if form and len(own[form]) == len(named.get(form, ())) == 1]
    owners = {named[form][0]: own[form][0] for form in same}
    return Joined(owners, note=_told(owners, f" by its {noun}"))


def _told(owners: Mapping[str, str], how: str = "") -> str:
    """Return a sentence on names that are taken for other ids; empty for none."""
    if not owners:
        return ""
    name, own = next(iter(owners.items()))
    more = f", and {len(owners) - 1:,} more so" if len(owners) > 1 else ""
    return f"{name} is taken for gold's {own}{how}{more}"


def _shared_ending(names: Sequence[str]) -> int:
    """Return the length of what several names end in, from a mark on."""
    first = names[0] if len(names) > 1 else ""
    ends = (first[at:] for at in range(len(first)))
    shared = next((end for end in ends if all(name.endswith(end) for name in names)), "")
    ending = re.search(r"[^A-Za-z0-9].*", shared)
    return len(ending[0]) if ending else 0


def _by_part(names: Sequence[str], ids: Sequence[str]) -> Joined:
    """Return the names in which the ids of gold stand without their common ending, if that is clear."""
    cut = _shared_ending(ids)
    cores: dict[str, list[str]] = defaultdict(list)
    for own in ids:
        cores[own[: len(own) - cut]].append(own)
    lengths = sorted({len(core) for core in cores} - {0})
    stems = {name: PurePath(name).stem for name in names}
    fits = {
        name: [own for core in _parts(stem, lengths) if core in cores for own in cores[core]]
        for name, stem in stems.items()
    }
    end = _shared_ending(list(stems.values()))
    whole = {name: cores.get(stem[: len(stem) - end], []) for name, stem in stems.items()}
    if end and all(len(own) == 1 for own in whole.values()):  # `a_raw` and `a_b_raw` of `a` and `a_b`
        fits = whole
    owners = {name: own[0] for name, own in fits.items() if own}
    is_sure = all(len(own) <= 1 for own in fits.values()) and not find_twins(owners)
    if not owners or not is_sure or (len({*owners.values()}) < len(ids) and len(owners) < len(names)):
        return Joined()
    return Joined(owners, note=_told(owners))


def _parts(stem: str, lengths: Sequence[int]) -> Iterator[str]:
    """Yield the different parts of a name that have one of some lengths, and end where words do."""
    if len(stem) > _LONGEST_NAME:
        return
    is_word = [False, *map(str.isalnum, stem), False]
    starts = [at for at in range(len(stem)) if not is_word[at]]
    ends = {at for at in range(1, len(stem) + 1) if not is_word[at + 1]}
    yield from dict.fromkeys(
        stem[start : start + length] for start in starts for length in lengths if start + length in ends
    )


def _by_pattern(names: Sequence[str], ids: Sequence[str], pattern: str) -> Joined:
    left, _, right = pattern.partition("=")
    cores: dict[str, set[str]] = defaultdict(set)
    for own in ids:
        for core in _splits(own, right or "{id}"):
            cores[core].add(own)
        if len(cores) > _MOST_CORES:
            raise problem(pattern, "fits the ids of gold in too many ways", _EXAMPLE, "invalid")
    lengths = sorted(set(map(len, cores)))
    owners: dict[str, str] = {}
    readings: dict[str, str] = {}
    for name in names:
        text = name if "/" in left else PurePath(name).name
        core = max(
            (core for core in _splits(text, left, lengths) if len(cores.get(core, ())) == 1),
            key=len,
            default="",
        )
        if not core:
            continue
        (owners[name],) = cores[core]
        said = re.fullmatch(re.escape(core).join(map(_regex, left.split("{id}"))), text)
        if "{reading}" in left and said:
            readings[name] = said["reading"]
    return Joined(owners, readings)


def _splits(name: str, pattern: str, lengths: Sequence[int] | None = None) -> Iterator[str]:
    """Yield every text, of some lengths, that `{id}` of a pattern can stand for in a name."""
    if pattern.count("{id}") != 1 or pattern.count("{reading}") > 1:
        raise problem(pattern, "does not have {id} once", _EXAMPLE, "invalid")
    if len(name) > _LONGEST_NAME:
        return
    before, after = map(_regex, pattern.split("{id}"))
    ends = {at for at in range(len(name) + 1) if re.fullmatch(after, name[at:])}
    for start in range(len(name)):
        if re.fullmatch(before, name[:start]):
            known = ends if lengths is None else ends.intersection(start + length for length in lengths)
            yield from (name[start:end] for end in known if end > start and "/" not in name[start:end])


def _regex(pattern: str) -> str:
    parts = re.split(r"(\{reading\}|\*)", pattern)
    return "".join(_PLACES.get(part, re.escape(part)) for part in parts)


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
