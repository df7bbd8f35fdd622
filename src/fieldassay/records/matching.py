"""The matching of predictions with gold: by id, by name, in a form that the user chose."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import PurePath
from unicodedata import normalize
from urllib.parse import unquote

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError, list_names, nearest, problem
from fieldassay.io.json_value import id_text
from fieldassay.io.text.shown import clip, format_count
from fieldassay.records.keys import (
    ID_FORMS,
    MAX_LISTED,
    NUMBER,
    Positions,
    cap_problems,
    drop_endings,
    number_of,
    stem_of,
)
from fieldassay.records.record import Batch, Record, Repeat, Row
from fieldassay.records.source import Source

# Names joined with the ids of gold.

WAYS: tuple[Callable[[PurePath], str], ...] = (
    PurePath.as_posix,
    lambda path: path.name,
    lambda path: path.with_suffix("").as_posix() if path.name else "",
    lambda path: path.stem,
)
"""The names by which a document is found in gold, the surest first."""
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\W_]+(?=\d)")
FORMAT = "format"
"""The slice of documents by the ending of their names."""
_PLACES = {"{reading}": "(?P<reading>[^/]+)", "*": "[^/]*"}
_FORMAT = re.compile(r"(?<=[^./])\.(?!json)([0-9]{0,4}[A-Za-z][A-Za-z0-9]{0,4})(?:\.(?:json|jsonl|gz|zst))?$")
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
    match = _FORMAT.search(name)
    return match[1].lower() if match else ""


def join_names(
    names: Sequence[str], ids: Sequence[str], pattern: str | None = None, *, may_be_part: bool = True
) -> Joined:
    """Return which gold id each name belongs to; several names may belong to one.

    A name belongs to the id that is its path, its last part, or either without the suffix, in whichever form
    of Unicode: the surest of these that an id has. Where none does, letters and digits alone are compared,
    then numbers, each where they are unique on both sides. At last, an id may stand in the name as a part of
    it, without the ending that all ids share, as `case_1_expected` in `case_1_standard.pdf`, if that is clear
    for all names or all of gold that are left. A `pattern` says all this instead: `NAME=GOLD` with `{id}` on
    both sides, `*` for any characters, and `{reading}`. Of several ids that fit, the longest counts.

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
        forms = {name: way(PurePath(normalize("NFC", name))) for name in names if name not in owners}
        owners |= {
            name: wanted[own] for name, own in forms.items() if own in wanted and wanted[own] not in earlier
        }
    if owners:
        rest = (
            Joined()
            if len(owners) in (len(names), len(ids)) or not may_be_part
            else _by_part(names, ids, owners)
        )
        return Joined({**owners, **rest.owners}, note=rest.note)
    joined = (_by_fold(names, ids, *way) for way in _LOOSE_WAYS)
    return next((joining for joining in joined if joining.owners), None) or (
        _by_part(names, ids) if may_be_part else Joined()
    )


def _letters_and_digits(text: str) -> str:
    """Return what is compared of an id that is no number; a sign between two digits stays, whatever it is."""
    folded = _BETWEEN_DIGITS.sub("\0", normalize("NFKC", unquote(text)).casefold())
    return (
        "" if NUMBER.fullmatch(text) else "".join(char for char in folded if char.isalnum() or char == "\0")
    )


def _plain_number(text: str) -> str:
    return number_of(text) if NUMBER.fullmatch(text) else ""


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
    return Joined(owners, note=_describe_owners(owners, f" by its {noun}"))


def _describe_owners(owners: Mapping[str, str], how: str = "") -> str:
    """Return a sentence on names that are taken for other ids; empty for none."""
    if not owners:
        return ""
    name, own = next(iter(owners.items()))
    more = f", and {len(owners) - 1:,} more so" if len(owners) > 1 else ""
    return f"{name} is matched to gold's {own}{how}{more}"


def _shared_ending(names: Sequence[str]) -> int:
    """Return the length of what several names end in, from a mark on."""
    first = names[0] if len(names) > 1 else ""
    ends = (first[at:] for at in range(len(first)))
    shared = next((end for end in ends if all(name.endswith(end) for name in names)), "")
    ending = re.search(r"[^A-Za-z0-9].*", shared)
    return len(ending[0]) if ending else 0


def _by_part(names: Sequence[str], ids: Sequence[str], earlier: Mapping[str, str] = {}) -> Joined:
    """Return the names in which the ids of gold stand without their common ending, if that is clear.

    `earlier` are the ids of some names, which no other name has then.
    """
    cut = _shared_ending(ids)
    cores: dict[str, list[str]] = defaultdict(list)
    for own in ids:
        cores[own[: len(own) - cut]].append(own)
    lengths = sorted({len(core) for core in cores} - {0})
    stems = {name: PurePath(name).stem for name in names if name not in earlier}
    fits = {
        name: [own for core in _parts(stem, lengths) if core in cores for own in cores[core]]
        for name, stem in stems.items()
    }
    end = _shared_ending(list(stems.values()))
    whole = {name: cores.get(stem[: len(stem) - end], []) for name, stem in stems.items()}
    if end and all(len(own) == 1 for own in whole.values()):  # `a_raw` and `a_b_raw` of `a` and `a_b`
        fits = whole
    owners = {name: own[0] for name, own in fits.items() if own}
    is_sure = all(len(own) <= 1 for own in fits.values()) and not find_twins({**earlier, **owners})
    left = len({*ids} - {*earlier.values(), *owners.values()})
    if not owners or not is_sure or (left and len(owners) < len(stems)):
        return Joined()
    return Joined(owners, note=_describe_owners(owners))


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


def find_pattern(names: Sequence[str], ids: Sequence[str]) -> str:
    """Return a pattern by which each name belongs to an id, with readings where needed; empty for none.

    >>> find_pattern(["page_1_raw.txt", "page_1_layout.txt"], ["page_1"])
    '{id}_{reading}.txt'
    """
    endings = {PurePath(name).suffix for name in names}
    ending = min(endings) if len(endings) == 1 else ".*"
    cut = _shared_ending(ids)
    right = f"={{id}}{ids[0][-cut:]}" if cut else ""
    for place, sign in product(("*", "{reading}"), "_-. "):
        for left in (f"{{id}}{sign}{place}", f"{place}{sign}{{id}}", f"*{sign}{{id}}{sign}{place}"):
            pattern = f"{left}{ending}{right}"
            joined = _by_pattern(names if _by_pattern(names[:1], ids, pattern).owners else (), ids, pattern)
            if len(joined.owners) == len(names) and not find_twins(joined.owners, joined.readings):
                return pattern
    return ""


def _by_pattern(names: Sequence[str], ids: Sequence[str], pattern: str) -> Joined:
    left, _, right = pattern.partition("=")
    cores: dict[str, set[str]] = defaultdict(set)
    for own in ids:
        for core in _splits(own, right or "{id}"):
            cores[core].add(own)
        if len(cores) > _MOST_CORES:
            raise problem(pattern, "fits gold ids in too many ways", _EXAMPLE, "invalid")
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
        raise problem(pattern, "must hold {id} exactly once", _EXAMPLE, "invalid")
    if len(name) > _LONGEST_NAME:
        return
    before, after = map(_regex, pattern.split("{id}"))
    ends = {at for at in range(len(name) + 1) if re.fullmatch(after, name[at:])}
    for start in range(len(name)):
        if re.fullmatch(before, name[:start]):
            candidates = ends if lengths is None else ends.intersection(start + length for length in lengths)
            yield from (name[start:end] for end in candidates if end > start and "/" not in name[start:end])


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
            name
            for name, form in zip(names, formats, strict=True)
            if "" in formats or formats.count(form) > 1
        ]
        twins += [alike] if len(names) > 1 and alike else []
    return twins


# The matching of predictions with gold records: by id, exactly or in a form chosen by the user.


def suggest(unmatched: Sequence[str], missing: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (id, gold id, what they share) for ids that are one missing gold id in one of the loose ways.

    >>> list(suggest(["scans/A.PNG", "b", "007"], ["a.png", "c", "7"]))
    [('scans/A.PNG', 'a.png', 'letters and digits'), ('007', '7', 'number')]
    """
    near: dict[str, tuple[str, str]] = {}
    for part, fold, noun in _LOOSE_WAYS:
        for name, own in _by_fold(unmatched, missing, part, fold, noun).owners.items():
            near.setdefault(name, (own, noun))
    return ((name, *near[name]) for name in unmatched if name in near)


def describe_near(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return a sentence for each of some names that is a gold id in one of the loose ways.

    >>> describe_near(["a/IMAGE_001.PNG"], ["image_001.png"])
    ["'a/IMAGE_001.PNG' may be gold's 'image_001.png' (same letters and digits)"]
    """
    suggestions = islice(suggest(names, ids), MAX_LISTED)
    return [f"{name!r} may be gold's {other!r} (same {noun})" for name, other, noun in suggestions]


def describe_leftovers(names: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Return what is said of documents without gold, and of gold without a document."""

    def count(of: Sequence[str]) -> str:
        return f"{format_count(len(of), 'document')} (such as {of[0]})"

    near = "; ".join(describe_near(names, missing)[:3])
    said = [f"{count(names)} without gold: left out{f'; {near}' if near else ''}"] if names else []
    return said + (
        [f"{count(missing)} of gold without a document: their fields count as missing"] if missing else []
    )


JOINED = "joined_by_name"
"""The kind of the note that ids were joined by parts of names."""
_TWINS = "keep one of each format, or give gold the ids of the predictions"
BY_POSITION = "by_position"
"""The kind of the note that records without ids were matched by position."""
MOST_BYTES = 1 << 25
"""Bytes of files that are read at a time, if more than one document."""


class Matching(Struct, frozen=True, eq=False):
    """Gold and, by system, the place of its prediction of each document.

    `positions[system][i]` is the position in the system's source of the prediction of gold record i, or -1 if
    there is none; `missing` counts those. `unmatched` are ids of predictions without gold. `notes` are for
    the user. It pickles; sources of files reopen by path.
    """

    gold: Source
    predictions: Mapping[str, Source]
    positions: Mapping[str, Positions]
    missing: Mapping[str, int]
    unmatched: Mapping[str, tuple[str, ...]]
    notes: tuple[Problem, ...] = ()
    is_shared: bool = False
    """Whether a gold record belongs to several documents."""
    repeats: Mapping[str, Repeat] = field(default_factory=dict)
    """Of which system a prediction is a repeated run, by its name among the predictions."""

    @property
    def sources(self) -> dict[str, Source]:
        """Return gold under the empty name, and the predictions by their names."""
        return {"": self.gold, **self.predictions}

    @property
    def systems(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of each system's predictions: its own, or those of its repeated runs."""
        systems: dict[str, tuple[str, ...]] = {}
        for name in self.predictions:
            system = self.repeats[name].system if name in self.repeats else name
            systems[system] = (*systems.get(system, ()), name)
        return systems

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def ids(self) -> Sequence[str]:
        """Return the ids of the documents, in gold order."""
        return self.gold.ids

    def take(self, chosen: Positions) -> "Matching":
        """Return the matching of the chosen documents only, with no more of the sources than they need."""
        sources: dict[str, Source] = {}
        positions: dict[str, Positions] = {}
        for system, where in self.positions.items():
            here = where[chosen]
            has_prediction = here >= 0
            sources[system] = self.predictions[system].take(here[has_prediction])
            positions[system] = np.where(has_prediction, np.cumsum(has_prediction) - 1, -1)
        missing = {system: int((where < 0).sum()) for system, where in positions.items()}
        return replace(
            self,
            gold=self.gold.take(chosen),
            predictions=sources,
            positions=positions,
            missing=missing,
            unmatched={},
            notes=(),
        )


def match(
    gold: Source, predictions: Mapping[str, Source], form: str = "exact", chosen: Positions | None = None
) -> Matching:
    """Return the matching of predictions with gold records.

    Ids match exactly (they were trimmed on reading), in another of `ID_FORMS`, or by a pattern of
    `join_names`, which also joins ids of which none matches exactly. Where no side has ids, and the numbers
    of rows agree, rows match by position. Where several predictions of a system are of one gold record, in
    several formats, each is a document, under its own id. `chosen` are the gold records to judge (None: all);
    predictions of the others are left out, and are not unmatched. Raises `ProblemsError` for duplicate ids
    and for ids of one side that are the same in that form, and `NothingEvaluatedError` if a system shares no
    id with gold.
    """
    same = {name: name for name in gold.ids}  # one text in memory for all sides
    predictions = {
        system: replace(source, ids=tuple(same.get(name, name) for name in source.ids))
        for system, source in predictions.items()
    }
    problems = [
        problem for source in (gold, *predictions.values()) for problem in find_duplicates(source, form)
    ]
    problems += [problem for source in predictions.values() for problem in _compare_numbering(gold, source)]
    if problems:
        raise ProblemsError(problems)
    joined = {system: join_ids(gold, source, form) for system, source in predictions.items()}
    is_shared = any(joining.is_shared for joining in joined.values())
    gold, chosen = _share(gold, joined.values(), chosen) if is_shared else (gold, chosen)
    place_of = {name: position for position, name in enumerate(gold.ids)}
    positions: dict[str, Positions] = {}
    unmatched: dict[str, tuple[str, ...]] = {}
    for system, source in predictions.items():
        where = np.full(len(gold), -1, dtype=np.int64)
        strangers, owners = [], joined[system].owners
        for position, name in enumerate(source.ids):
            own = owners.get(name)
            if own is None:
                strangers.append(name)
            else:
                where[place_of[name if is_shared else own]] = position
        positions[system], unmatched[system] = where, tuple(strangers)
    missing = {system: int((where < 0).sum()) for system, where in positions.items()}
    whole = Matching(gold, dict(predictions), positions, missing, unmatched, is_shared=is_shared)
    part = whole if chosen is None else replace(whole.take(chosen), unmatched=unmatched)
    notes = [note for system, source in predictions.items() for note in _describe(part, system, source)]
    notes += [
        Problem(source.label, joined[system].note, "change this with `data: {match_ids: …}`", JOINED)
        for system, source in predictions.items()
        if joined[system].note
    ]
    return replace(part, notes=(*gold.notes, *notes))


def join_ids(gold: Source, source: Source, form: str) -> Joined:
    """Return the gold ids of the predictions of a system. Raises `ProblemsError` for twins of one id."""
    if form in ID_FORMS:
        folded = ID_FORMS[form]
        ids = {folded(name): name for name in gold.ids}
        own = [source.ids] if source.gold_ids() is source.ids else [source.ids, source.gold_ids()]
        pairs = ((name, folded(key)) for keys in own for name, key in zip(source.ids, keys, strict=True))
        joined = Joined({name: ids[key] for name, key in pairs if key in ids}, is_shared=len(own) > 1)
    if form not in ID_FORMS or (form == "exact" and not joined.owners and not source.is_numbered):
        joined = join_names(source.ids, gold.ids, None if form == "exact" else form)
        joined = joined if joined.owners or form != "exact" else _join_by_key(gold, source)
        if joined.owners and form == "exact" and not joined.note:
            name, other = next(iter(joined.owners.items()))
            joined = replace(
                joined, note=f"no id equals a gold id; {name} is matched to gold's {other} by its name"
            )
    if len({*joined.owners.values()}) == len(joined.owners):
        return joined
    twins = [
        Problem(
            source.label,
            f"{', '.join(names)} are all gold's {joined.owners[names[0]]!r}",
            _TWINS,
            "duplicate_id",
        )
        for names in find_twins(joined.owners)
    ]
    if twins:
        raise ProblemsError(cap_problems(twins))
    return replace(joined, is_shared=True)


def _join_by_key(gold: Source, source: Source) -> Joined:
    """Return the predictions that have an id of gold under one key, a different one in most of them."""
    values: dict[str, dict[str, str]] = {}
    for record in source:
        for key, value in (record.data or {}).items():
            if (text := id_text(value)) is not None:
                values.setdefault(key, {})[record.id] = text
    candidates = []
    distinct = ((key, texts) for key, texts in values.items() if len({*texts.values()}) == len(texts))
    for key, texts in distinct:
        named = join_names([*texts.values()], gold.ids, may_be_part=False).owners
        owners = {name: named[text] for name, text in texts.items() if text in named}
        if 2 * len(owners) > len(source):
            sentence = _describe_owners(owners, f", which is its {key}")
            candidates.append(Joined(owners, note=f"no id equals a gold id; {sentence}"))
    return candidates[0] if len(candidates) == 1 else Joined()


def _share(
    gold: Source, joined: Iterable[Joined], chosen: Positions | None
) -> tuple[Source, Positions | None]:
    """Return gold once for each document that it belongs to, under the document's id, and what is chosen."""
    documents: dict[str, dict[str, None]] = {name: {} for name in gold.ids}
    for joining in joined:
        for name, own in joining.owners.items():
            documents[own][name] = None
    pairs = [(at, name) for at, own in enumerate(gold.ids) for name in sorted(documents[own]) or [own]]
    places = np.array([at for at, _ in pairs], dtype=np.int64)
    gold = replace(gold.take(places), ids=tuple(name for _, name in pairs))
    return gold, None if chosen is None else np.flatnonzero(np.isin(places, chosen))


def find_duplicates(source: Source, form: str = "exact") -> list[Problem]:
    """Return a problem with its places for each id that repeats, or is the same as another in a form.

    Of predictions, ids that are the same in a form may be of several formats of one document.
    """
    drop = ID_FORMS.get(form, str)
    if len(set(map(drop, source.ids))) == len(source.ids):
        return []
    twins = find_twins({name: drop(name) for name in source.ids if not source.options.is_gold})
    alike = {name for names in twins for name in names}
    first: dict[str, int] = {}
    problems: list[Problem] = []
    for position, name in enumerate(source.ids):
        before = first.setdefault(drop(name) if source.options.is_gold or name in alike else name, position)
        if before == position:
            continue
        other, where = source.ids[before], source.place(before)
        if other == name:
            what = f"duplicate id {name!r}, first in {where}"
            remedy = _remedy(source, before, position) if len(problems) < MAX_LISTED else ""
        else:
            what = f"the ids {other!r} (in {where}) and {name!r} are the same by {form}"
            remedy = "rename one, or match ids exactly"
        problems.append(Problem(source.place(position), what, remedy, "duplicate_id"))
    return cap_problems(problems)


def _remedy(source: Source, first: int, second: int) -> str:
    """Return the remedy for two records with one id: predictions may differ by variant, gold may not."""
    variants = [record.meta.variant for record in source.fetch([first, second])]
    if None in variants and source.rows.kind == "table" and not source.options.group:
        return "keep one record per document; if the rows are items of one record: `data: {group: true}`"
    if None in variants:
        return "keep one record per document"
    if source.options.is_gold:
        return (
            "keep one gold record per document, which serves every variant; score variants with gold "
            "of their own one at a time"
        )
    return "keep one record per document and variant"


def batches(matching: Matching, size: int = 1000, positions: Sequence[int] | None = None) -> Iterator[Batch]:
    """Yield the documents (or those at the positions) in gold order, `size` or fewer at a time.

    Batches are smaller where the files of documents are large. Raises `ProblemsError` with every gold record
    of a batch that cannot be read.
    """
    order = np.arange(len(matching)) if positions is None else np.array(sorted(positions), dtype=np.int64)
    sizes = matching.gold.rows.bytes(order)  # of files; 0 for data in memory
    for system, source in matching.predictions.items():
        where = matching.positions[system][order]
        sizes[where >= 0] += source.rows.bytes(where[where >= 0])
    bytes_so_far = np.cumsum(sizes)
    start = 0
    while start < len(order):
        before = bytes_so_far[start - 1] if start else 0
        end = max(
            start + 1, min(start + size, int(np.searchsorted(bytes_so_far, before + MOST_BYTES, "right")))
        )
        yield _read_batch(matching, order[start:end].tolist())
        start = end


def _read_batch(matching: Matching, chosen: Sequence[int]) -> Batch:
    gold = matching.gold.fetch(chosen)
    check_gold(gold)
    rows: dict[tuple[int, tuple[int, ...]], list[Row]] = {}  # systems in one file are decoded once
    predictions: dict[str, tuple[Record | None, ...]] = {}
    for system, source in matching.predictions.items():
        where = matching.positions[system][np.asarray(chosen, dtype=np.int64)]
        positions = tuple(where[where >= 0].tolist())
        key = (id(source.rows), positions)
        if key not in rows:
            rows[key] = source.rows.read(positions)
        records = iter(source.open(positions, rows[key]))
        predictions[system] = tuple(next(records) if position >= 0 else None for position in where.tolist())
    return Batch(tuple(record.id for record in gold), tuple(gold), predictions, matching.repeats)


def check_gold(records: Sequence[Record]) -> None:
    """Raise `ProblemsError` with every gold record that cannot be read."""
    broken = [
        Problem(record.place, record.invalid, "correct the gold record", "bad_gold")
        for record in records
        if record.invalid is not None
    ]
    if broken:
        raise ProblemsError(cap_problems(broken))


def _compare_numbering(gold: Source, source: Source) -> list[Problem]:
    if not gold.is_numbered and not source.is_numbered:
        return []
    if not len(source):
        return [Problem(source.label, "has no records", "give at least one record", "empty_input")]
    if gold.is_numbered != source.is_numbered and len(gold):
        lacking, other = (gold, source) if gold.is_numbered else (source, gold)
        names = ", ".join(other.options.names[:8])
        what = f"{_describe_form(lacking)}has no ids, {other.label} has (such as {other.ids[0]!r})"
        return [
            Problem(
                lacking.label,
                what,
                f"add an id (looked for: {names}), or name the key that holds it",
                "no_id",
            )
        ]
    if len(gold) != len(source):
        what = f"has {len(source):,} records without ids, {gold.label} has {len(gold):,}"
        return [
            Problem(
                source.label,
                what,
                "add ids: records can be matched by position only if there are equally many",
                "no_id",
            )
        ]
    return []


def _describe_form(source: Source) -> str:
    """Return what a source without ids holds, if it is one object, or no objects."""
    value = source.rows.read([0])[0].value if len(source) else {}
    if isinstance(value, dict):
        keys = list_names([repr(clip(key, 60)) for key in value], 5) or "none"
        return f"holds one object with the keys {keys}; it " if len(source) == 1 else ""
    return f"holds {'lists' if isinstance(value, list) else 'plain values'} in place of objects; it "


def _describe(part: Matching, system: str, source: Source) -> list[Problem]:
    """Return the notes for the user on the predictions `source` of a system.

    Raises `NothingEvaluatedError` if none has gold, judged or not.
    """
    gold, where, strangers = part.gold, part.positions[system], part.unmatched[system]
    notes = list(source.notes)
    absent = np.flatnonzero(where < 0)
    hints = [
        (
            f"{name!r} may be gold's {other!r} (same {noun})",
            next(
                (form for form, fold in ID_FORMS.items() if form != "exact" and fold(name) == fold(other)),
                None,
            ),
        )
        for name, other, noun in islice(
            suggest(strangers, [gold.ids[position] for position in absent.tolist()]), MAX_LISTED
        )
    ]
    if len(strangers) == len(source):
        _refuse(gold, system, source, [hint for hint, _ in hints])
    if source.is_numbered:
        notes.append(
            Problem(
                source.label,
                "no record has an id, so records were matched by position",
                "add ids to both sides",
                BY_POSITION,
            )
        )
    if strangers:
        such = list_names([*map(repr, strangers)], 5)
        what = f"{len(strangers):,} of {len(source):,} predictions have no gold (such as {such})"
        notes.append(
            Problem(
                source.label,
                f"{what} and are left out",
                "; ".join(hint for hint, _ in hints[:3]),
                "unmatched",
            )
        )
    if len(absent):
        what = f"{system} has no prediction for {len(absent):,} of {len(where):,} documents"
        what = f"{what} (such as {gold.ids[int(absent[0])]!r})"
        notes.append(Problem(source.label, what, "they count as empty", "missing"))
    same = "if they are the same document"
    return notes + [
        Problem(
            source.label,
            hint,
            f"make the ids equal {same}" + (f", or write `data: {{match_ids: {form}}}`" if form else ""),
            "near_id",
        )
        for hint, form in hints
    ]


def _refuse(gold: Source, system: str, source: Source, hints: Sequence[str]) -> None:
    ours = ", ".join(map(repr, gold.ids[:3])) or "none"
    theirs = ", ".join(map(repr, source.ids[:3])) or "none"
    advice = f" {'. '.join(hints[:3])}." if hints else ""
    raise NothingEvaluatedError(
        f"no prediction by {system} has the id of a gold document: {gold.label} has {ours}; {source.label} "
        f"has {theirs}.{advice}"
    )


def unknown_document(document: str, ids: Iterable[str], where: str) -> ProblemsError:
    """Return the error for an id that no document has."""
    some = list(ids)
    remedy = nearest(document[:200], some)
    if remedy.startswith("one of") and len(some) > 5:
        remedy = f"ids look like: {', '.join(some[:5])} …"
    return problem(where, f"no document has the id {document[:200]!r}", remedy, "unknown_document")
