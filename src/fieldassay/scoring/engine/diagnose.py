"""Diagnoses of rows: by the outcome, the two values, and the other values of the document."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.evidence import FLAG, Kind, Outcome
from fieldassay.paths import is_item_path, is_unit_key
from fieldassay.scoring.engine.coding import Block, Coded, Nodes, distinct_pairs
from fieldassay.scoring.engine.judge import Judged
from fieldassay.scoring.engine.scopes import Codes, Ints
from fieldassay.values.catalogue import BIT
from fieldassay.values.diagnosis.values import NUMBER_TYPES, Rows32, Scales, ValueRows, diagnose_pairs
from fieldassay.values.diagnosis.wording import SHORTEST_TELLING, cut, find_parts
from fieldassay.values.diagnosis.writing import Flags, diagnose_unit_texts

# Diagnoses from the document: the value of another field or item, a split list, a duplicate.

WideCodes = npt.NDArray[np.int64]


def name_other_fields(
    wrong: ValueRows, codes: WideCodes, gold: ValueRows, gold_codes: WideCodes
) -> tuple[Rows32, Flags]:
    """Return the first other field with the predicted value in gold, or -1; and whether it is the only."""
    scale = int(codes.max()) + 1
    fields = int(max(wrong.field.max(), gold.field.max(initial=0))) + 1
    places = np.sort((gold.doc.astype(np.int64) * scale + gold_codes) * fields + gold.field)
    places = places[np.diff(places, prepend=-1) != 0]
    keys, field_of_place = np.divmod(places, fields)
    wanted = wrong.doc.astype(np.int64) * scale + codes
    first, stop = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    padded = np.concatenate([field_of_place, [-1]])
    own = padded[np.minimum(first, len(field_of_place))] == wrong.field
    first = first + (own & (first < stop))
    others = np.where(first < stop, padded[np.minimum(first, len(field_of_place))], -1).astype(np.int32)
    return others, ~own & (stop - first == 1)


def compare_items(
    wrong: ValueRows, codes: WideCodes, gold: ValueRows, gold_codes: WideCodes
) -> tuple[Flags, Flags]:
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
    is_compared = np.fromiter(map(with_wrong.__contains__, places), bool, len(places))
    texts = Scales(fields, int(codes.max()) + 1)
    lists, list_codes = texts.combine(wrong, codes), texts.combine(items, item_codes)
    distinct, inverse = np.unique(lists, return_inverse=True)
    spot = np.minimum(np.searchsorted(distinct, list_codes), len(distinct) - 1)
    is_wanted = distinct[spot] == list_codes
    in_gold = np.bincount(spot[is_wanted], minlength=len(distinct))[inverse]
    matched = np.bincount(spot[is_wanted & ~is_compared], minlength=len(distinct))[inverse]
    order = np.argsort(inverse, kind="stable")
    ordered = inverse[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.arange(len(inverse)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(inverse)]])))
    numbered = np.empty(len(inverse), dtype=np.int64)
    numbered[order] = ranks
    total = matched + numbered + 1
    return (total > in_gold) & (total > 1), in_gold > 0


_Place = tuple[int, int]


def find_cut_items(
    wrong: ValueRows, gold: ValueRows, are_items: Flags, are_texts: Flags
) -> npt.NDArray[np.intp]:
    """Return the wrong rows that join gold items of their list, or are one part of a split gold item.

    Parts are separated by commas, semicolons, bars, strokes, plus signs, ampersands, line breaks or words for
    `and` and `or`; without any of these, by spaces. A join has at least two parts, all of them gold items; of
    a split at least two parts must be predicted. Texts of objects in a list (`are_texts`) are joined as whole
    texts: see `find_parts`.
    """
    rows = np.flatnonzero((are_items | are_texts)[wrong.field])
    if not rows.size:
        return rows
    predicted: dict[_Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, doc, field, text in _walk(wrong, rows):
        predicted[doc, field][text].append(row)
    places = wrong.doc[rows].astype(np.int64) << 32 | wrong.field[rows]
    listed = np.flatnonzero((are_items | are_texts)[gold.field])
    near = listed[np.isin(gold.doc[listed].astype(np.int64) << 32 | gold.field[listed], places)]
    true: dict[_Place, set[str]] = defaultdict(set)
    for _, doc, field, text in _walk(gold, near):
        true[doc, field].add(text)
    cut_rows: list[int] = []
    for place, texts in predicted.items():
        rows_of = _joined_rows if are_texts[place[1]] else _cut_rows
        cut_rows.extend(rows_of(texts, true.get(place, set())))
    return np.array(sorted(cut_rows), dtype=np.intp)


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


def _joined_rows(predicted: dict[str, list[int]], true: set[str]) -> Iterator[int]:
    if len(predicted) * len(true) > _MOST_JOINED:
        return
    for text, rows in predicted.items():
        if find_parts(text, true):
            yield from rows
    for text in true if len(predicted) > 1 else ():
        yield from (row for part in find_parts(text, predicted) for row in predicted[part])


_MOST_JOINED = 100_000


Bits = npt.NDArray[np.int64]

_TWO_DIGITS = re.compile("-?[1-9][0-9]")
TRIVIAL = frozenset({"true", "false", "yes", "none", "null", "nil", "n/a"})


class RowDiagnoses(Struct, frozen=True, eq=False):
    """Diagnoses of the wrong rows.

    `bits` are the diagnoses, `other_field` is the field whose value was predicted (-1: none).
    """

    bits: Bits
    other_field: Rows32


def diagnose_context(
    wrong: ValueRows,
    gold: ValueRows,
    are_items: npt.NDArray[np.bool_],
    are_numbers: npt.NDArray[np.bool_] | None = None,
    are_texts: npt.NDArray[np.bool_] | None = None,
) -> RowDiagnoses:
    """Return the diagnoses of n wrong or spurious predictions from the rest of their documents.

    `wrong.canonical` are predicted texts, `wrong.item` is the position of the gold item each was compared
    with, -1 if there is none. `gold` are all gold values of these documents. `are_items[field]` is true if
    the field's values are themselves the items of a list (`codes[]`, not `lines[].amount`): only they can be
    duplicates. They can be split or joined, as can texts of objects in a list (`are_texts`).
    `are_numbers[field]` is true for fields of numbers: a whole number from 10 to 99 is the value of another
    field only if exactly one other field of the document has it, and that is a field of numbers too.

    >>> wrong = ValueRows(np.int32([0]), np.int32([1]), np.int32([-1]), np.array(["ACME"], dtype=object))
    >>> gold = [np.int32([0, 0]), np.int32([0, 1]), np.int32([-1, -1]), np.array(["ACME", "Bolt"], object)]
    >>> findings = diagnose_context(wrong, ValueRows(*gold), np.array([False, False]))
    >>> findings.bits.tolist() == [BIT["value_of_another_field"]], findings.other_field.tolist()
    (True, [0])
    """
    bits, other = np.zeros(len(wrong), dtype=np.int64), np.full(len(wrong), -1, dtype=np.int32)
    if not len(wrong):
        return RowDiagnoses(bits, other)
    texts = wrong.canonical.tolist()
    code_of = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    codes = np.fromiter(map(code_of.__getitem__, texts), dtype=np.int64, count=len(texts))
    all_codes = np.fromiter(
        map(code_of.get, gold.canonical.tolist(), repeat(-1)), dtype=np.int64, count=len(gold)
    )
    is_known = all_codes >= 0
    in_gold, known_codes = gold.take(np.flatnonzero(is_known)), all_codes[is_known]
    named, is_only = name_other_fields(wrong, codes, in_gold, known_codes)
    other = np.where(
        _are_telling_numbers(wrong, named, is_only, are_numbers), named, _only_telling(named, texts, -1)
    )
    bits[other >= 0] |= BIT["value_of_another_field"]
    is_item = are_items[wrong.field]
    repeated, is_another = compare_items(wrong, codes, in_gold, known_codes)
    bits[repeated & is_item] |= BIT["duplicate_item"]
    is_another = np.where(is_item, is_another & ~repeated, _only_telling(is_another, texts, False))
    bits[is_another] |= BIT["value_of_another_item"]
    are_parts = np.zeros_like(are_items) if are_texts is None else are_texts
    bits[find_cut_items(wrong, gold, are_items, are_parts)] |= BIT["list_split_or_joined"]
    return RowDiagnoses(bits, other)


def _are_telling_numbers(
    wrong: ValueRows, named: Rows32, is_only: npt.NDArray[np.bool_], are_numbers: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    """Return a mask of short numbers that identify their field: two digits, one field, both numbers.

    The number must be in exactly one other field, with numbers on both sides.

    Numbers from 0 to 9 are counts and codes that occur anywhere.
    """
    if are_numbers is None:
        return np.zeros(len(wrong), dtype=bool)
    is_telling = is_only & (named >= 0) & are_numbers[wrong.field] & are_numbers[named]
    for row in np.flatnonzero(is_telling).tolist():
        is_telling[row] = _TWO_DIGITS.fullmatch(wrong.canonical[row]) is not None
    return is_telling


def _only_telling(findings: npt.NDArray[Any], texts: list[str], nothing: int) -> npt.NDArray[Any]:
    """Return the findings without those for short or trivial texts."""
    findings = findings.copy()
    for row in np.flatnonzero(findings != nothing).tolist():
        if len(texts[row]) < SHORTEST_TELLING or texts[row].casefold() in TRIVIAL:
            findings[row] = nothing
    return findings


def diagnose_outcomes(outcome: npt.NDArray[np.int8], flags: npt.NDArray[np.int64]) -> Bits:
    """Return the diagnoses from outcome and flags: `missing`, `spurious`, `wrong_kind`, `duplicate_item`.

    >>> bits = diagnose_outcomes(np.int8([Outcome.MISSING, Outcome.MATCH]), np.int64([0, 0]))
    >>> bits.tolist() == [BIT["missing"], 0]
    True
    """
    is_wrong = _ARE_WRONG[outcome]
    of_flags = np.where(flags & (FLAG["wrong_kind"] | FLAG["under_wrong_kind"]) != 0, BIT["wrong_kind"], 0)
    of_flags |= np.where(flags & FLAG["duplicate_item"] != 0, BIT["duplicate_item"], 0)
    return np.asarray(_OF_OUTCOME[outcome] | np.where(is_wrong, of_flags, 0), dtype=np.int64)


_ARE_WRONG = np.isin(list(Outcome), [Outcome.MATCH, Outcome.ABSENT, Outcome.FAILED], invert=True)
_OF_OUTCOME = np.zeros(len(Outcome), np.int64)
_OF_OUTCOME[[Outcome.MISSING, Outcome.SPURIOUS]] = BIT["missing"], BIT["spurious"]


# The diagnoses of each row, by its outcome, its two values, and the other values of its document.

_NONE = np.zeros(0, np.int64)
_MATCH, _SPURIOUS = int(Outcome.MATCH), int(Outcome.SPURIOUS)
_ARE_PREDICTED_WRONG = np.isin(list(Outcome), [Outcome.MISMATCH, Outcome.PARTIAL, Outcome.SPURIOUS])
"""A mask of the outcomes."""
_DOUBTFUL = {"components_exchanged": "day_month_exchanged"}
"""Reasons by which a comparator accepts values of possibly different meaning, and their diagnoses."""


class Diagnosed(Struct, frozen=True, eq=False):
    """The diagnoses of a block's rows.

    They are bit sets, with the field whose gold value each prediction is (-1: none; None: none in any row).
    """

    bits: Bits
    other_field: Ints | None = None


def diagnose(judged: Judged) -> list[Diagnosed]:
    """Return the diagnoses of every block, in order.

    Rows that are right, absent or failed have none, except for a doubtful reason, and a letter case that the
    field forgives.
    """
    blocks = judged.blocks
    outcome = np.concatenate([np.zeros(0, np.int8), *(block.outcome for block in blocks)])
    reason = np.concatenate([np.zeros(0, np.int32), *(block.reason for block in blocks)])
    own = diagnose_outcomes(outcome, np.concatenate([_NONE, *(block.flags for block in blocks)]))
    for name, diagnosis in _DOUBTFUL.items():
        if name in judged.reasons.known:
            is_doubtful = (outcome == _MATCH) & (reason == judged.reasons.position(name))
            own[is_doubtful] |= BIT[diagnosis]
    edges = [0, *accumulate(map(len, blocks))]
    bits = [own[start:stop] for start, stop in pairwise(edges)]
    wrong_rows = _ARE_PREDICTED_WRONG[outcome].nonzero()[0]
    cuts = pairwise(np.searchsorted(wrong_rows, edges).tolist())
    wrong = [wrong_rows[first:end] - start for (first, end), start in zip(cuts, edges, strict=False)]
    for block, part, rows in zip(blocks, bits, wrong, strict=True):
        if block.kind == Kind.VALUE and len(rows):
            _diagnose_values(block, judged.fields[block.field].path, part, rows)
        if block.coded is not None and block.coded.leaf.type == "text":
            part[_find_forgiven_case(block)] |= BIT["case_only"]
    chosen = [at for at, block in enumerate(blocks) if block.kind == Kind.VALUE and block.coded is not None]
    others: list[Ints | None] = [None] * len(blocks)
    if any(len(wrong[at]) for at in chosen):
        order, rank = _ranks(judged)
        fields = [judged.fields[at] for at in order]
        of_values = [blocks[at] for at in chosen]
        gold = _rows(of_values, list(map(_present, of_values)), "gold", rank)
        predicted = _rows(of_values, [wrong[at] for at in chosen], "pred", rank)
        are_inner = ("[" in info.path and not is_item_path(info.path) for info in fields)
        pairs = zip(are_inner, fields, strict=True)
        findings = diagnose_context(
            predicted,
            gold,
            np.array([is_item_path(info.path) for info in fields], dtype=bool),
            np.array([info.type in NUMBER_TYPES for info in fields], dtype=bool),
            np.array([is_inner and info.type in ("text", "id") for is_inner, info in pairs], dtype=bool),
        )
        named = np.append(order, -1)[findings.other_field].astype(np.int32)
        start = 0
        for at in chosen:
            rows = wrong[at]
            part_rows = slice(start, start + len(rows))
            start += len(rows)
            bits[at][rows] |= findings.bits[part_rows]
            joined = rows[findings.bits[part_rows] & BIT["list_split_or_joined"] != 0]
            bits[at][joined] &= ~(BIT["extended"] | BIT["truncated"])  # the join says why
            others[at] = np.full(len(bits[at]), -1, dtype=np.int32)
            others[at][rows] = named[part_rows]  # type: ignore[index]
    return [Diagnosed(*pair) for pair in zip(bits, others, strict=True)]


def _ranks(judged: Judged) -> tuple[Codes, Codes]:
    """Return the fields in an order that no other document changes, and the place of each field in it.

    Fields of trees come by their paths, behind those of the plan: they are numbered as they appear.
    """
    grown = range(judged.planned, len(judged.fields))
    order = np.array([*range(judged.planned), *sorted(grown, key=lambda at: judged.fields[at].path)])
    return order, np.argsort(order)


def _diagnose_values(block: Block, path: str, bits: Bits, wrong: Nodes) -> None:
    """Add the diagnoses of a block's wrong predictions by the two values."""
    if block.coded is None:
        bits[wrong] |= BIT["wrong_kind"]
        return
    assert block.gold_code is not None and block.pred_code is not None
    at = wrong[block.outcome[wrong] != _SPURIOUS]
    if not len(at):
        return
    pairs, spread = distinct_pairs(
        np.stack([block.gold_code[at], block.pred_code[at]]), len(block.coded.raws)
    )
    kinds = block.coded.is_container
    diagnoses = np.where(kinds[pairs[0]] | kinds[pairs[1]], np.int64(BIT["wrong_kind"]), np.int64(0))
    scalar = np.flatnonzero(diagnoses == 0)
    diagnoses[scalar] = _diagnose_scalars(block.coded, path, pairs[:, scalar])
    bits[at] |= diagnoses[spread]


def _find_forgiven_case(block: Block) -> Nodes:
    """Return the matches of a block of texts that are equal by letter case forgiven alone."""
    assert block.coded is not None and block.gold_code is not None and block.pred_code is not None
    at = np.flatnonzero((block.outcome == _MATCH) & (block.gold_code != block.pred_code))
    gold, pred = (block.coded.column.take(codes[at]) for codes in (block.gold_code, block.pred_code))
    is_forgiven: Flags = (gold.canonical == pred.canonical) & (gold.values != pred.values)
    return at[is_forgiven]


def _diagnose_scalars(coded: Coded, path: str, pairs: Codes) -> Bits:
    """Return the diagnoses of pairs of single values.

    A null opposite a value counts as no value.
    """
    gold, pred = (coded.column.take(side) for side in pairs)
    diagnoses = diagnose_pairs(coded.leaf.type, gold, pred)
    if coded.leaf.type in ("text", "any") and is_unit_key(path):
        diagnoses = diagnose_unit_texts(gold, pred, diagnoses)
    if coded.leaf.null_is_value:
        is_null = np.fromiter((raw is None for raw in coded.raws), dtype=bool, count=len(coded.raws))
        diagnoses = np.where(
            is_null[pairs[1]], BIT["missing"], np.where(is_null[pairs[0]], BIT["spurious"], diagnoses)
        )
    return diagnoses


def _present(block: Block) -> Nodes:
    assert block.gold_code is not None
    return (block.gold_code >= 0).nonzero()[0]


def _rows(blocks: Sequence[Block], chosen: Sequence[Nodes], side: str, rank: Codes) -> ValueRows:
    """Return the chosen rows of all blocks: the values of one side, and their gold items; fields by rank."""
    sizes = list(map(len, chosen))
    docs, items, texts = [], [], []
    for block, rows in zip(blocks, chosen, strict=True):
        assert block.coded is not None
        docs.append(block.pairs.doc[rows])
        items.append(block.pairs.gold[rows])
        texts.append(block.coded.column.canonical[getattr(block, f"{side}_code")[rows]])
    are_listed = np.repeat([block.pairs.prefix is not None for block in blocks], sizes)
    return ValueRows(
        np.concatenate(docs),
        np.repeat(rank[[block.field for block in blocks]], sizes).astype(np.int32),
        np.where(are_listed, np.concatenate(items), -1).astype(np.int32),
        np.concatenate(texts),
    )
