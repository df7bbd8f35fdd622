"""Diagnoses from the document: the value of another field or item, a split list, a duplicate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.evidence import FLAG, Outcome
from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.folding import Flags
from fieldassay.values.diagnosis.value_rows import Ints, Scales, ValueRows

Codes = npt.NDArray[np.int64]


_SLOT_BITS = 22
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def find_candidates(wrong: ValueRows, gold: ValueRows) -> Codes:
    """Return the rows of gold, in order, whose text may be predicted in the same document.

    All that are predicted are included, others by chance.
    """
    if not len(gold):
        return np.zeros(0, dtype=np.int64)
    predicted = np.zeros(1 << _SLOT_BITS, dtype=np.bool_)
    predicted[_slots(wrong)] = True
    return np.flatnonzero(predicted[_slots(gold)])


def _slots(rows: ValueRows) -> Codes:
    hashes = np.fromiter(map(hash, rows.canonical.tolist()), dtype=np.int64, count=len(rows)).view(np.uint64)
    hashes ^= rows.doc.astype(np.uint64)
    hashes *= _SPREAD
    hashes >>= np.uint64(64 - _SLOT_BITS)
    return hashes.view(np.int64)


def name_other_fields(
    wrong: ValueRows, codes: Codes, gold: ValueRows, gold_codes: Codes
) -> tuple[Ints, Flags]:
    """Return the first other field with the predicted value in gold, or -1; and whether it is the only."""
    scale = int(codes.max()) + 1
    fields = int(max(wrong.field.max(), gold.field.max(initial=0))) + 1
    places = np.sort((gold.doc.astype(np.int64) * scale + gold_codes) * fields + gold.field)
    places = places[np.diff(places, prepend=-1) != 0]
    keys, found = np.divmod(places, fields)
    wanted = wrong.doc.astype(np.int64) * scale + codes
    first, stop = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    padded = np.concatenate([found, [-1]])
    own = padded[np.minimum(first, len(found))] == wrong.field
    first = first + (own & (first < stop))
    others = np.where(first < stop, padded[np.minimum(first, len(found))], -1).astype(np.int32)
    return others, ~own & (stop - first == 1)


def compare_items(wrong: ValueRows, codes: Codes, gold: ValueRows, gold_codes: Codes) -> tuple[Flags, Flags]:
    """Return masks of repeated predictions, and of predictions of another item of their list.

    A prediction is repeated if its value occurs more often than in gold. A gold item that no wrong row was
    compared with counts as matched by its equal.
    """
    listed = np.flatnonzero(gold.item >= 0)
    items, item_codes = gold.take(listed), gold_codes[listed]
    fields = int(max(wrong.field.max(), items.field.max(initial=0))) + 1
    positions = Scales(fields, int(max(wrong.item.max(), items.item.max(initial=0))) + 2)
    compared = wrong.take(np.flatnonzero(wrong.item >= 0))
    with_wrong = set(positions.combine(compared, compared.item.astype(np.int64)).tolist())
    places = positions.combine(items, items.item.astype(np.int64)).tolist()
    taken = np.fromiter(map(with_wrong.__contains__, places), bool, len(places))
    texts = Scales(fields, int(codes.max()) + 1)
    lists, list_codes = texts.combine(wrong, codes), texts.combine(items, item_codes)
    distinct, inverse = np.unique(lists, return_inverse=True)
    spot = np.minimum(np.searchsorted(distinct, list_codes), len(distinct) - 1)
    is_wanted = distinct[spot] == list_codes
    in_gold = np.bincount(spot[is_wanted], minlength=len(distinct))[inverse]
    matched = np.bincount(spot[is_wanted & ~taken], minlength=len(distinct))[inverse]
    total = matched + _number_repeats(inverse) + 1
    return (total > in_gold) & (total > 1), in_gold > 0


def _number_repeats(groups: npt.NDArray[np.intp]) -> Codes:
    """Return, for every row, the number of earlier rows of its group."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.arange(len(groups)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(groups)]])))
    numbered = np.empty(len(groups), dtype=np.int64)
    numbered[order] = ranks
    return numbered


MAX_CUT = 2000
"""The maximum of characters in a text cut into parts."""

_CUT = lazy_regex(r"[,;|/+&\n]|\s(?:and|und|et|y|e|o|or|oder)\s|\s[-\u2013]\s")

_Place = tuple[int, int]


def find_cut_items(wrong: ValueRows, gold: ValueRows, are_items: Flags) -> npt.NDArray[np.intp]:
    """Return a mask of wrong rows that join gold items of their list, or are one part of a split gold item.

    Parts are separated by commas, semicolons, bars, strokes, plus signs, ampersands, line breaks or words for
    `and` and `or`; without any of these, by spaces. A join has at least two parts, all of them gold items; of
    a split at least two parts must be predicted.
    """
    rows = np.flatnonzero(are_items[wrong.field])
    if not rows.size:
        return rows
    predicted: dict[_Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, doc, field, text in _walk(wrong, rows):
        predicted[doc, field][text].append(row)
    places = wrong.doc[rows].astype(np.int64) << 32 | wrong.field[rows]
    listed = np.flatnonzero(are_items[gold.field])
    near = listed[np.isin(gold.doc[listed].astype(np.int64) << 32 | gold.field[listed], places)]
    true: dict[_Place, set[str]] = defaultdict(set)
    for _, doc, field, text in _walk(gold, near):
        true[doc, field].add(text)
    found: list[int] = []
    for place, texts in predicted.items():
        found.extend(_cut_rows(texts, true.get(place, set())))
    return np.array(sorted(found), dtype=np.intp)


def _walk(values: ValueRows, rows: npt.NDArray[np.intp]) -> Iterator[tuple[int, int, int, str]]:
    return zip(
        rows.tolist(),
        values.doc[rows].tolist(),
        values.field[rows].tolist(),
        values.canonical[rows].tolist(),
        strict=True,
    )


def _cut_rows(predicted: dict[str, list[int]], true: set[str]) -> Iterator[int]:
    for text, rows in predicted.items():
        parts = cut(text)
        if len(parts) > 1 and true.issuperset(parts):
            yield from rows
    if len(predicted) > 1:
        for text in true:
            parts = [part for part in dict.fromkeys(cut(text)) if part in predicted]
            if len(parts) > 1:
                yield from (row for part in parts for row in predicted[part])


def cut(text: str) -> list[str]:
    """Return the parts of a text that may be several items; the whole text if it has no separator.

    >>> cut("red, green and blue"), cut("red green")
    (['red', 'green', 'blue'], ['red', 'green'])
    """
    if len(text) > MAX_CUT:
        return [text]
    parts = [part.strip() for part in _CUT.split(text)]
    return [part for part in parts if part] if len(parts) > 1 else text.split()


Bits = npt.NDArray[np.int64]

_TWO_DIGITS = lazy_regex("-?[1-9][0-9]")
SHORTEST_TELLING = 3
"""The least length of an identifying canonical text; shorter ones occur everywhere in a document."""
TRIVIAL = frozenset({"true", "false", "yes", "none", "null", "nil", "n/a"})


class Findings(Struct, frozen=True, eq=False):
    """Diagnoses of the wrong rows.

    `bits` are the diagnoses, `other_field` is the field whose value was predicted (-1: none).
    """

    bits: Bits
    other_field: Ints


def diagnose_context(
    wrong: ValueRows,
    gold: ValueRows,
    are_items: npt.NDArray[np.bool_],
    are_numbers: npt.NDArray[np.bool_] | None = None,
) -> Findings:
    """Return the diagnoses of n wrong or spurious predictions from the rest of their documents.

    `wrong.canonical` are predicted texts, `wrong.item` is the position of the gold item each was compared
    with, -1 if there is none. `gold` are all gold values of these documents. `are_items[field]` is true if
    the field's values are themselves the items of a list (`codes[]`, not `lines[].amount`): only they can be
    duplicates, split or joined. `are_numbers[field]` is true for fields of numbers: a whole number from 10 to
    99 is the value of another field only if exactly one other field of the document has it, and that is a
    field of numbers too.

    >>> wrong = ValueRows(np.int32([0]), np.int32([1]), np.int32([-1]), np.array(["ACME"], dtype=object))
    >>> gold = [np.int32([0, 0]), np.int32([0, 1]), np.int32([-1, -1]), np.array(["ACME", "Bolt"], object)]
    >>> findings = diagnose_context(wrong, ValueRows(*gold), np.array([False, False]))
    >>> findings.bits.tolist() == [BIT["value_of_another_field"]], findings.other_field.tolist()
    (True, [0])
    """
    bits, other = np.zeros(len(wrong), dtype=np.int64), np.full(len(wrong), -1, dtype=np.int32)
    if not len(wrong):
        return Findings(bits, other)
    texts = wrong.canonical.tolist()
    code_of = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    codes = np.fromiter(map(code_of.__getitem__, texts), dtype=np.int64, count=len(texts))
    known = gold.take(find_candidates(wrong, gold))
    known_codes = np.fromiter(
        map(code_of.get, known.canonical.tolist(), repeat(-1)), dtype=np.int64, count=len(known)
    )
    known, known_codes = known.take(np.flatnonzero(known_codes >= 0)), known_codes[known_codes >= 0]
    named, is_only = name_other_fields(wrong, codes, known, known_codes)
    other = np.where(
        _are_telling_numbers(wrong, named, is_only, are_numbers), named, _only_telling(named, texts, -1)
    )
    bits[other >= 0] |= BIT["value_of_another_field"]
    is_item = are_items[wrong.field]
    repeated, is_another = compare_items(wrong, codes, known, known_codes)
    bits[repeated & is_item] |= BIT["duplicate_item"]
    is_another = np.where(is_item, is_another & ~repeated, _only_telling(is_another, texts, False))
    bits[is_another] |= BIT["value_of_another_item"]
    bits[find_cut_items(wrong, gold, are_items)] |= BIT["list_split_or_joined"]
    return Findings(bits, other)


def _are_telling_numbers(
    wrong: ValueRows, named: Ints, is_only: npt.NDArray[np.bool_], are_numbers: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    """Return a mask of short numbers that identify their field: two digits, one field, both numbers.

    The number must be in exactly one other field, with numbers on both sides.

    Numbers from 0 to 9 are counts and codes that occur anywhere.
    """
    if are_numbers is None:
        return np.zeros(len(wrong), dtype=bool)
    found = is_only & (named >= 0) & are_numbers[wrong.field] & are_numbers[named]
    for row in np.flatnonzero(found).tolist():
        found[row] = _TWO_DIGITS.fullmatch(wrong.canonical[row]) is not None
    return found


def _only_telling(found: npt.NDArray[Any], texts: list[str], nothing: int) -> npt.NDArray[Any]:
    """Return the findings without those for short or trivial texts."""
    found = found.copy()
    for row in np.flatnonzero(found != nothing).tolist():
        if len(texts[row]) < SHORTEST_TELLING or texts[row].casefold() in TRIVIAL:
            found[row] = nothing
    return found


def diagnose_outcomes(outcome: npt.NDArray[np.int8], flags: npt.NDArray[np.int64]) -> Bits:
    """Return the diagnoses from outcome and flags: `missing`, `spurious`, `wrong_kind`, `duplicate_item`.

    >>> bits = diagnose_outcomes(np.int8([Outcome.MISSING, Outcome.MATCH]), np.int64([0, 0]))
    >>> bits.tolist() == [BIT["missing"], 0]
    True
    """
    bits = np.where(outcome == Outcome.MISSING, BIT["missing"], 0) | np.where(
        outcome == Outcome.SPURIOUS, BIT["spurious"], 0
    )
    is_wrong = (outcome != Outcome.MATCH) & (outcome != Outcome.ABSENT) & (outcome != Outcome.FAILED)
    bits |= np.where(
        is_wrong & (flags & (FLAG["wrong_kind"] | FLAG["under_wrong_kind"]) != 0), BIT["wrong_kind"], 0
    )
    return np.asarray(
        bits | np.where(is_wrong & (flags & FLAG["duplicate_item"] != 0), BIT["duplicate_item"], 0),
        dtype=np.int64,
    )
