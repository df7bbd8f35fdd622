"""Diagnoses of equal letters and digits: case, white space and punctuation, accents, Unicode form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.regex import lazy_regex
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.embedded import find_digit_runs, judge_embedded
from fieldassay.values.diagnosis.folding import (
    Flags,
    compose,
    equal,
    fold_case,
    holds,
    pick,
    squeeze,
    strip_accents,
    unify_forms,
)

Bits = npt.NDArray[np.int64]

_HAS_DIGIT = lazy_regex("[0-9]").search


def diagnose_surface(gold: list[str], pred: list[str], is_number_in_words: bool) -> Bits:
    """Return the surface diagnoses of pairs whose match keys are equal.

    Exact rules come first; if none holds alone (case and punctuation both differ, say) it is `other_format`.
    If `is_number_in_words` is true, a sign between two digits carries meaning: `1.5 mg` and `15 mg` differ in
    a separator, not only in punctuation.
    """
    differ = ~equal(gold, pred)
    bits = np.where(differ & equal(fold_case(gold), fold_case(pred)), BIT["case_only"], 0)
    loose = differ & equal(squeeze(gold), squeeze(pred))
    suspects = holds(_HAS_DIGIT, gold) if is_number_in_words else np.zeros(len(gold), dtype=np.bool_)
    meaning = _judge_numbers(gold, pred, suspects & (bits == 0))
    bits[loose & (meaning == 0)] |= BIT["white_space_or_punctuation"]
    exotic = np.flatnonzero(~(holds(str.isascii, gold) & holds(str.isascii, pred)))
    forms = _diagnose_forms(pick(gold, exotic), pick(pred, exotic))
    # A ligature folds to its letters, but that is not a difference of case.
    bits[exotic] = (
        np.where(forms & BIT["unicode_form"], bits[exotic] & ~BIT["case_only"], bits[exotic]) | forms
    )
    bits |= np.maximum(meaning, 0)
    bits[differ & (bits == 0) & (meaning == 0)] |= BIT["other_format"]
    return bits


def _diagnose_forms(gold: list[str], pred: list[str]) -> Bits:
    composed = compose(gold), compose(pred)
    is_form = ~equal(gold, pred) & equal(unify_forms(gold), unify_forms(pred))
    is_accent = ~equal(*composed) & equal(strip_accents(composed[0]), strip_accents(composed[1]))
    return np.asarray(
        np.where(is_form, BIT["unicode_form"], 0) | np.where(is_accent, BIT["accents_only"], 0),
        dtype=np.int64,
    )


def _judge_numbers(gold: list[str], pred: list[str], suspects: Flags) -> Bits:
    """Return 0 for numbers split alike in both texts, else the bits of the difference (-1: no name)."""
    found = np.zeros(len(gold), dtype=np.int64)
    for row in np.flatnonzero(suspects).tolist():
        if find_digit_runs(gold[row]) != find_digit_runs(pred[row]):
            found[row] = judge_embedded(gold[row], pred[row])
    return found
