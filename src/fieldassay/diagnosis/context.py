"""What kind of wrong, seen in the document: the value of another field or item, a split list, a duplicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.diagnosis.catalogue import BIT
from fieldassay.diagnosis.list_cuts import find_cut_items
from fieldassay.diagnosis.occurrences import compare_items, find_candidates, name_other_fields
from fieldassay.diagnosis.value_rows import Ints, ValueRows
from fieldassay.evidence import FLAG, Outcome

Bits = npt.NDArray[np.int64]

_TWO_DIGITS = re.compile("-?[1-9][0-9]")
SHORTEST_TELLING = 3
"""Shorter canonical texts occur everywhere in a document: they are nobody's value."""
TRIVIAL = frozenset({"true", "false", "yes", "none", "null", "nil", "n/a"})


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Diagnoses of the wrong rows: `bits`, and `other_field`, the field whose value the prediction is (-1 if it is none)."""

    bits: Bits
    other_field: Ints


def diagnose_context(
    wrong: ValueRows, gold: ValueRows, are_items: npt.NDArray[np.bool_], are_numbers: npt.NDArray[np.bool_] | None = None
) -> Findings:
    """Return what the document says of n predicted values that are wrong or spurious.

    `wrong.canonical` are predicted texts, and `wrong.item` is the position of the gold item that they were compared with, -1 if there is none.
    `gold` are all gold values of these documents. `are_items[field]` is true if the field's values are themselves the items of a list
    (`codes[]`, not `lines[].amount`): only they can be duplicates, split or joined. `are_numbers[field]` is true if they are numbers: a whole one
    from 10 to 99 is another field's value if exactly one other field of the document has it, a field of numbers too.

    >>> wrong = ValueRows(np.int32([0]), np.int32([1]), np.int32([-1]), np.array(["ACME"], dtype=object))
    >>> gold = ValueRows(np.int32([0, 0]), np.int32([0, 1]), np.int32([-1, -1]), np.array(["ACME", "Bolt"], dtype=object))
    >>> findings = diagnose_context(wrong, gold, np.array([False, False]))
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
    known_codes = np.fromiter(map(code_of.get, known.canonical.tolist(), repeat(-1)), dtype=np.int64, count=len(known))
    known, known_codes = known.take(np.flatnonzero(known_codes >= 0)), known_codes[known_codes >= 0]
    named, is_only = name_other_fields(wrong, codes, known, known_codes)
    other = np.where(_are_telling_numbers(wrong, named, is_only, are_numbers), named, _only_telling(named, texts, -1))
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
    """Return which short numbers tell where they are from: two digits, in one other field alone, and numbers on both sides.

    0 to 9 are counts and codes that stand anywhere.
    """
    if are_numbers is None:
        return np.zeros(len(wrong), dtype=bool)
    found = is_only & (named >= 0) & are_numbers[wrong.field] & are_numbers[named]
    for row in np.flatnonzero(found).tolist():
        found[row] = _TWO_DIGITS.fullmatch(wrong.canonical[row]) is not None
    return found


def _only_telling(found: npt.NDArray[Any], texts: list[str], nothing: int) -> npt.NDArray[Any]:
    """Return the findings without those of short or trivial texts."""
    found = found.copy()
    for row in np.flatnonzero(found != nothing).tolist():
        if len(texts[row]) < SHORTEST_TELLING or texts[row].casefold() in TRIVIAL:
            found[row] = nothing
    return found


def diagnose_outcomes(outcome: npt.NDArray[np.int8], flags: npt.NDArray[np.int64]) -> Bits:
    """Return what evidence rows are by their outcome and flags alone: `missing`, `spurious`, `wrong_kind`, `duplicate_item`.

    >>> diagnose_outcomes(np.int8([Outcome.MISSING, Outcome.MATCH]), np.int64([0, 0])).tolist() == [BIT["missing"], 0]
    True
    """
    bits = np.where(outcome == Outcome.MISSING, BIT["missing"], 0) | np.where(outcome == Outcome.SPURIOUS, BIT["spurious"], 0)
    is_wrong = (outcome != Outcome.MATCH) & (outcome != Outcome.ABSENT) & (outcome != Outcome.FAILED)
    bits |= np.where(is_wrong & (flags & (FLAG["wrong_kind"] | FLAG["under_wrong_kind"]) != 0), BIT["wrong_kind"], 0)
    return np.asarray(bits | np.where(is_wrong & (flags & FLAG["duplicate_item"] != 0), BIT["duplicate_item"], 0), dtype=np.int64)
