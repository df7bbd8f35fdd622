"""Where predicted values occur in gold: joins on document, field and the number of the text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.diagnosis.folding import Flags
from fieldassay.diagnosis.value_rows import Ints, Scales, ValueRows

Codes = npt.NDArray[np.int64]


_SLOT_BITS = 22
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def find_candidates(wrong: ValueRows, gold: ValueRows) -> Codes:
    """Return the rows of gold, in order, whose text may be predicted in the same document: all that are, and some by chance."""
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


def name_other_fields(wrong: ValueRows, codes: Codes, gold: ValueRows, gold_codes: Codes) -> tuple[Ints, Flags]:
    """Return the first field other than its own that has the predicted value in gold, or -1; and whether it is the only field at all."""
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
    """Return which predictions repeat a value more often than gold has it, and which are the value of another item of their own list.

    A gold item that no wrong row was compared with counts as matched by its equal.
    """
    listed = np.flatnonzero(gold.item >= 0)
    items, item_codes = gold.take(listed), gold_codes[listed]
    fields = int(max(wrong.field.max(), items.field.max(initial=0))) + 1
    positions = Scales(fields, int(max(wrong.item.max(), items.item.max(initial=0))) + 2)
    compared = wrong.take(np.flatnonzero(wrong.item >= 0))
    taken = np.isin(positions.combine(items, items.item.astype(np.int64)), positions.combine(compared, compared.item.astype(np.int64)))
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
    """Return for every row how many earlier rows are of its group."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.arange(len(groups)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(groups)]])))
    numbered = np.empty(len(groups), dtype=np.int64)
    numbered[order] = ranks
    return numbered
