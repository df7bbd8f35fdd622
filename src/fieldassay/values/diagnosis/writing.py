"""Diagnoses of how a value is written: folded texts, their digits, numbers, amounts and measures."""

import operator
import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.catalogue import BIT
from fieldassay.values.types.column import Column, lengths
from fieldassay.values.types.numbers.units import canonical_unit, conversion
from fieldassay.values.types.text import BARE_LETTERS

# Text folding by the list: a whole list is joined, folded in one pass in C, and split again.

Flags = npt.NDArray[np.bool_]

_END = "\0"
_UNKNOWN, _KEPT, _PUNCTUATION, _MARK = 0, 1, 2, 3
_MINUS = "\N{MINUS SIGN}"
# Code 0 ends a text.
_ASCII_PUNCTUATION = bytes(code for code in range(1, 128) if unicodedata.category(chr(code))[0] in "PZC")
_CONFUSABLE = bytes.maketrans(b"oOQDlI|iSsBZzGbgq", b"00001111558226699")
_CONFUSABLE_PAIRS = ((b"rn", b"m"), (b"cl", b"d"), (b"vv", b"w"))


class _Classes:
    """The class of every code point (kept, punctuation, mark), computed on first use."""

    def __init__(self) -> None:
        self.table = np.zeros(0x110000, dtype=np.uint8)
        self.table[0] = _KEPT

    def of(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
        classes = self.table[codes]
        if not classes.all():
            for code in set(codes[classes == _UNKNOWN].tolist()):
                self.table[code] = _class_of(chr(code))
            classes = self.table[codes]
        return classes


def _class_of(character: str) -> int:
    major = unicodedata.category(character)[0]
    if major == "M":
        return _MARK
    return _PUNCTUATION if major in "PZC" or character == _MINUS else _KEPT


_classes = _Classes()


def fold(texts: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """Return every text changed by a function that works character by character.

    The function is called once, on the joined texts.

    >>> fold(["Ab", "", "C"], str.casefold)
    ['ab', '', 'c']
    """
    if not texts:
        return []
    joined = _END.join(texts)
    if joined.count(_END) != len(texts) - 1:
        return [change(text) for text in texts]
    return change(joined).split(_END)


def fold_case(texts: Sequence[str]) -> list[str]:
    """Return the texts casefolded.

    >>> fold_case(["Straße"])
    ['strasse']
    """
    return fold(texts, str.casefold)


def match_keys(texts: Sequence[str]) -> list[str]:
    """Return the texts reduced to match keys; symbols stay.

    Case, accents, compatibility forms, white space, punctuation and invisible characters are removed.

    >>> match_keys(["Ação, Ltd.", "5 m³", "<5"])
    ['acaoltd', '5m3', '<5']
    """
    return fold(texts, _match_key)


def squeeze(texts: Sequence[str]) -> list[str]:
    """Return the texts without white space, punctuation and invisible characters.

    >>> squeeze(["A-1, b"])
    ['A1b']
    """
    return fold(texts, lambda joined: _without(joined, _PUNCTUATION))


def strip_accents(texts: Sequence[str]) -> list[str]:
    """Return the texts without combining marks, strokes and ligatures.

    >>> strip_accents(["Ação", "Tromsø"])
    ['Acao', 'Tromso']
    """
    return fold(
        texts,
        lambda joined: _without(unicodedata.normalize("NFD", joined), _MARK).translate(BARE_LETTERS),
    )


def compose(texts: Sequence[str]) -> list[str]:
    """Return the texts in normalization form NFC."""
    return fold(texts, lambda joined: unicodedata.normalize("NFC", joined))


def unify_forms(texts: Sequence[str]) -> list[str]:
    """Return the texts in normalization form NFKC.

    >>> unify_forms(["ﬁne", "m³"])
    ['fine', 'm3']
    """
    return fold(texts, lambda joined: unicodedata.normalize("NFKC", joined))


def fold_confusable(texts: Sequence[str]) -> list[str]:
    """Return the texts with one character for every class of characters that OCR confuses.

    >>> fold_confusable(["INV-1O5", "lNV-I0S", "rnodern"])
    ['1NV-105', '1NV-105', 'm0dem']
    """
    return fold(texts, _without_confusables)


def equal(left: Sequence[object], right: Sequence[object]) -> Flags:
    """Return a mask of equal elements of two sequences of equal length."""
    return np.fromiter(map(operator.eq, left, right), dtype=np.bool_, count=len(left))


def contained(wholes: Sequence[str], parts: Sequence[str]) -> Flags:
    """Return a mask of the wholes that contain their parts.

    >>> contained(["abc", "ab"], ["b", "abc"]).tolist()
    [True, False]
    """
    return np.fromiter(map(operator.contains, wholes, parts), dtype=np.bool_, count=len(wholes))


def holds(claim: Callable[[Any], object], values: Sequence[Any]) -> Flags:
    """Return a mask of the values for which the claim holds."""
    return np.fromiter(map(claim, values), dtype=np.bool_, count=len(values))


def code_sums(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the sum of the code points of every text, equal for texts with the same characters in any order.

    >>> code_sums(["ab", "ba", ""]).tolist()
    [195, 195, 0]
    """
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    totals = np.concatenate([[0], np.cumsum(codes, dtype=np.int64)])
    return np.asarray(np.diff(totals[np.concatenate([[0], np.cumsum(lengths(texts))])]))


def pick(texts: Sequence[str], rows: npt.NDArray[np.intp]) -> list[str]:
    """Return the texts at the rows, which are distinct and ascending."""
    if rows.size < 2 or rows.size == len(texts):
        return list(texts) if rows.size == len(texts) else [texts[row] for row in rows.tolist()]
    return list(operator.itemgetter(*rows.tolist())(texts))


def _match_key(joined: str) -> str:
    if joined.isascii():
        return joined.encode("ascii").lower().translate(None, _ASCII_PUNCTUATION).decode("ascii")
    folded = unicodedata.normalize("NFKD", joined).translate(BARE_LETTERS).casefold()
    return _without(folded, _PUNCTUATION, _MARK)


def _without(joined: str, *unwanted: int) -> str:
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_wanted = np.ones(4, dtype=np.bool_)
    is_wanted[list(unwanted)] = False
    wanted = codes[is_wanted[_classes.of(codes)]]
    return wanted.tobytes().decode("utf-32-le", "surrogatepass")


def _without_confusables(joined: str) -> str:
    # Bytes below 128 occur in UTF-8 only as themselves, so ASCII classes can be folded on the bytes.
    encoded = joined.encode("utf-8", "surrogatepass")
    for pair, single in _CONFUSABLE_PAIRS:
        encoded = encoded.replace(pair, single)
    return encoded.translate(_CONFUSABLE).decode("utf-8", "surrogatepass")


# Numbers written inside texts, without a locale: all possible values.

MAX_WRITTEN = 200
"""The maximum of characters in a text searched for numbers."""

_POINT_FIRST = r"(?:(?<![\w.,])[.,])?"
"""The decimal sign of a number without a whole part, such as `.5`; that of `No.5` is none."""
_DIGIT_RUN = re.compile(rf"{_POINT_FIRST}[0-9]+")
_NUMBER = re.compile(rf"{_POINT_FIRST}[0-9]+(?:[.,][0-9]+)*")
_WHOLE = re.compile(
    r"([-+\N{MINUS SIGN}]?)\s?([0-9]+(?:[.,' \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}][0-9]+)*)\s?(%?)"
)
_SCIENTIFIC = re.compile(r"[-+\N{MINUS SIGN}]?[0-9]+(?:[.,][0-9]+)?[eE][-+\N{MINUS SIGN}]?[0-9]{1,3}")
_GROUPED = re.compile(r"[0-9]{1,3}(?:(.)[0-9]{3})(?:\1[0-9]{3})*")


def find_digit_runs(text: str) -> list[str]:
    """Return the runs of digits, in order; a decimal sign that begins a number belongs to it.

    >>> find_digit_runs("1-2 of 30.5"), find_digit_runs("No.5, .5 mg")
    (['1', '2', '30', '5'], ['5', '.5'])
    """
    return _DIGIT_RUN.findall(text)


def number_candidates(written: str) -> tuple[Decimal, ...]:
    """Return the possible values of digits with separators, the likelier first; none if not a number.

    The separators are points, commas, spaces and apostrophes.

    >>> number_candidates("1,500.5"), number_candidates("1,500")
    ((Decimal('1500.5'),), (Decimal('1500'), Decimal('1.500')))
    >>> number_candidates("1.2.3"), number_candidates("007"), number_candidates(".5")
    ((), (), (Decimal('0.5'),))
    """
    last = max((index for index, character in enumerate(written) if not character.isdigit()), default=-1)
    whole, sign, fraction = (
        (written, "", "") if last < 0 else (written[:last], written[last], written[last + 1 :])
    )
    if not sign:
        return _whole_number(written)
    if sign not in ".,":
        return _whole_number(written)
    as_fraction = tuple(Decimal(f"{value}.{fraction}") for value in _whole_number(whole or "0", sign))
    as_whole = _whole_number(written)
    return as_whole + as_fraction if sign == "," else as_fraction + as_whole


def whole_candidates(text: str) -> tuple[Decimal, ...]:
    """Return the possible values of a text that is one number; none if it is no plain number.

    A percent sign divides by 100.

    >>> whole_candidates("-12.5"), whole_candidates("5%"), whole_candidates("5 kg"), whole_candidates("1,5e3")
    ((Decimal('-12.5'),), (Decimal('0.05'),), (), (Decimal('1.5E+3'),))
    """
    if len(text) > MAX_WRITTEN:
        return ()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        return (Decimal(text.replace(",", ".").replace("\N{MINUS SIGN}", "-")),)
    match = _WHOLE.fullmatch(text)
    if match is None:
        return ()
    sign, written, percent = match.groups()
    values = number_candidates(written)
    if percent:
        values = tuple(value.scaleb(-2) for value in values)
    return tuple(value.copy_negate() for value in values) if sign not in ("", "+") else values


def judge_embedded(gold: str, pred: str) -> int:
    """Return the difference of the numbers in two texts with equal match keys.

    0: they differ only in white space, or not in numbers; the bit of `other_format`: the same numbers,
    written differently; the bit of `separator`: a number times a power of ten; -1: the digits are split into
    different numbers.
    """
    if "".join(gold.split()).casefold() == "".join(pred.split()).casefold():
        return 0
    if max(len(gold), len(pred)) > MAX_WRITTEN:
        return -1
    pairs = list(zip(_NUMBER.findall(gold), _NUMBER.findall(pred), strict=False))
    if len(pairs) != len(_NUMBER.findall(gold)) or len(pairs) != len(_NUMBER.findall(pred)):
        return -1
    verdicts = {
        _judge_pair(number_candidates(left), number_candidates(right), left == right) for left, right in pairs
    }
    if -1 in verdicts:
        return -1
    return BIT["separator"] if BIT["separator"] in verdicts else BIT["other_format"]


def is_power_of_ten_apart(left: Decimal, right: Decimal) -> bool:
    """Return True if left is right times a power of ten other than 1, exactly.

    >>> is_power_of_ten_apart(Decimal("12.50"), Decimal(1250)), is_power_of_ten_apart(Decimal(1), Decimal(13))
    (True, False)
    """
    return left != right and bool(left) and bool(right) and _significant(left) == _significant(right)


def _significant(value: Decimal) -> tuple[int, str]:
    sign, digits, _ = value.as_tuple()
    return sign, "".join(map(str, digits)).strip("0")


def _judge_pair(left: tuple[Decimal, ...], right: tuple[Decimal, ...], is_same: bool) -> int:
    if is_same or set(left) & set(right):
        return BIT["other_format"]
    if left and right and is_power_of_ten_apart(left[0], right[0]):
        return BIT["separator"]
    return -1


def _whole_number(written: str, decimal_sign: str = "") -> tuple[Decimal, ...]:
    """Return the integer of plain or grouped digits, else None; leading zeros make a code."""
    if len(written) > 1 and written[0] == "0":
        return ()
    if written.isdecimal():
        return (Decimal(written),)
    grouped = _GROUPED.fullmatch(written)
    if grouped is None or grouped[1] == decimal_sign:
        return ()
    return (Decimal(written.replace(grouped[1], "")),)


# Diagnoses by position: one digit wrong, two digits exchanged.

MAX_COMPARED = 64
"""The maximum of characters for a comparison by position."""

_SIGNS = np.array([ord(sign) for sign in ".,:/- '"], dtype=np.uint32)


def diagnose_digits(gold: list[str], pred: list[str]) -> npt.NDArray[np.int64]:
    """Return `one_digit_wrong` and `digits_transposed` for pairs of texts of equal length.

    One digit: exactly one position differs and has a digit on both sides. Transposed: exactly two positions
    differ, with the same two digits exchanged, adjacent or with one separator between them.
    """
    bits = np.zeros(len(gold), dtype=np.int64)
    size = lengths(gold)
    rows = np.flatnonzero((size == lengths(pred)) & (size > 0) & (size <= MAX_COMPARED))
    if not rows.size:
        return bits
    left, right = _codes(pick(gold, rows)), _codes(pick(pred, rows))
    differ = left != right
    count = np.count_nonzero(differ, axis=1)
    each = np.arange(rows.size)
    first, last = differ.argmax(axis=1), left.shape[1] - 1 - differ[:, ::-1].argmax(axis=1)
    digits = _are_digits(left[each, first]) & _are_digits(right[each, first])
    exchanged = (left[each, first] == right[each, last]) & (left[each, last] == right[each, first])
    is_close = (last - first == 1) | (
        (last - first == 2) & np.isin(left[each, np.minimum(first + 1, left.shape[1] - 1)], _SIGNS)
    )
    bits[rows[(count == 1) & digits]] = BIT["one_digit_wrong"]
    bits[rows[(count == 2) & digits & exchanged & is_close]] = BIT["digits_transposed"]
    return bits


def _codes(texts: list[str]) -> npt.NDArray[np.uint32]:
    table = np.array(texts, dtype=np.str_)
    return table.view(np.uint32).reshape(len(texts), -1)


def _are_digits(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    return (codes >= ord("0")) & (codes <= ord("9"))


# Diagnoses of equal letters and digits: case, white space and punctuation, accents, Unicode form.

Bits = npt.NDArray[np.int64]

_HAS_DIGIT = re.compile("[0-9]").search


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
    bits = np.zeros(len(gold), dtype=np.int64)
    for row in np.flatnonzero(suspects).tolist():
        if find_digit_runs(gold[row]) != find_digit_runs(pred[row]):
            bits[row] = judge_embedded(gold[row], pred[row])
    return bits


# Diagnoses of different numbers: a misread separator, a sign, a percent, a rounding, a digit.

Floats = npt.NDArray[np.float64]

_EXACT = Context(prec=400, Emin=-999999, Emax=999999)
_WRITTEN = re.compile(r"[0-9]+(?:[.,' ][0-9]+)*")
_MAX_WRITTEN = 100
_TINIEST_CUT = 2


class Amounts(Struct, frozen=True, eq=False):
    """Numbers with the texts they were read from and their canonical texts.

    Values are int, float or Decimal; anything else is ignored.
    """

    values: list[Any]
    texts: list[str]
    plain: list[str]

    def take(self, rows: npt.NDArray[np.int64]) -> "Amounts":
        """Return the amounts at the rows."""
        return Amounts(
            [self.values[row] for row in rows.tolist()], pick(self.texts, rows), pick(self.plain, rows)
        )


def diagnose_amounts(type_name: str, gold: Amounts, pred: Amounts) -> Bits:
    """Return the diagnoses of pairs of amounts of one unit or currency; none for equal amounts."""
    left, right = floats(gold.values), floats(pred.values)
    bits = _diagnose_scale(type_name, gold, pred, (left, right))
    with np.errstate(invalid="ignore", over="ignore"):
        bits[(left == -right) & (left != 0) & np.isfinite(left)] |= BIT["sign"]
        gap = np.abs(left - right) * (1 - 1e-9)
        coarse = (gap <= 0.5) & ((left == np.floor(left)) | (right == np.floor(right)))
        tenths = (gap <= 0.05) & (_is_whole(left * 10) | _is_whole(right * 10))
        close = np.flatnonzero(
            np.asarray((gap > 0) & (np.abs(left) < 1e30) & (coarse | tenths | (gap <= 0.005)))
        )
    for row in close.tolist():
        if _is_rounded(gold.values[row], gold.texts[row], pred.values[row], pred.texts[row]):
            bits[row] |= BIT["rounding"]
    return bits | _diagnose_writing(gold, pred)


def floats(values: Sequence[Any]) -> Floats:
    """Return the values as float64; NaN for anything but a number, and beyond float64."""
    try:
        return np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def exact(value: Any) -> Decimal:
    """Return the number as a Decimal, a float by its shortest text."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _diagnose_scale(type_name: str, gold: Amounts, pred: Amounts, approximate: tuple[Floats, Floats]) -> Bits:
    left, right = approximate
    bits = np.zeros(len(left), dtype=np.int64)
    with np.errstate(all="ignore"):
        power = np.log10(right / left)
        nearest = np.rint(power)
        rows = np.flatnonzero(np.isfinite(power) & (nearest != 0) & (np.abs(power - nearest) < 1e-9))
    for row in rows.tolist():
        if is_power_of_ten_apart(exact(gold.values[row]), exact(pred.values[row])):
            is_fraction = (
                type_name in ("number", "text", "any", "quantity")
                and min(abs(left[row]), abs(right[row])) <= 1
            )
            has_sign = "%" in gold.texts[row] or "%" in pred.texts[row]
            is_percent = abs(nearest[row]) == 2 and (has_sign or is_fraction)
            bits[row] = BIT["percent"] if is_percent else BIT["separator"]
    return bits


def _is_whole(values: Floats) -> Flags:
    return np.abs(values - np.rint(values)) <= 1e-6


def _is_rounded(gold: Any, gold_text: str, pred: Any, pred_text: str) -> bool:
    left, right = exact(gold), exact(pred)
    gold_decimals, pred_decimals = printed_decimals(gold_text, left), printed_decimals(pred_text, right)
    if gold_decimals == pred_decimals:
        return False
    (fine, coarse, decimals) = (
        (left, right, pred_decimals) if pred_decimals < gold_decimals else (right, left, gold_decimals)
    )
    step = Decimal(1).scaleb(-decimals)
    try:
        return any(fine.quantize(step, mode, _EXACT) == coarse for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN))
    except InvalidOperation:
        return False


def printed_decimals(text: str, value: Decimal) -> int:
    """Return the number of decimals of the value as printed in the text, else its own.

    >>> printed = [("$1,234.50", "1234.5"), ("1,234", "1234"), ("x", "0.5")]
    >>> [printed_decimals(text, Decimal(value)) for text, value in printed]
    [2, 0, 1]
    """
    exponent = value.as_tuple().exponent
    own = max(0, -exponent) if isinstance(exponent, int) else 0
    match = _WRITTEN.search(text[:_MAX_WRITTEN])
    if match is None:
        return own
    last = max(match[0].rfind("."), match[0].rfind(","))
    decimals = len(match[0]) - last - 1 if last >= 0 else 0
    digits = Decimal("".join(filter(str.isdecimal, match[0])))
    return decimals if digits.scaleb(-decimals, _EXACT) == abs(value) else own


def _diagnose_writing(gold: Amounts, pred: Amounts) -> Bits:
    """Return the diagnoses from the digits of the two amounts, first written plainly, then as given."""
    left, right = fold(gold.plain, _without_minus), fold(pred.plain, _without_minus)
    bits = diagnose_digits(left, right)
    printed = np.flatnonzero(bits == 0)
    bits[printed] |= diagnose_digits(pick(gold.texts, printed), pick(pred.texts, printed))
    differ = ~equal(left, right)
    for row in np.flatnonzero(differ & contained(left, right)).tolist():
        bits[row] |= BIT["truncated"] if _is_cut(left[row], right[row]) else 0
    for row in np.flatnonzero(differ & contained(right, left)).tolist():
        bits[row] |= BIT["extended"] if _is_cut(right[row], left[row]) else 0
    return bits


def _is_cut(whole: str, part: str) -> bool:
    return len(part) >= _TINIEST_CUT and (whole.startswith(part) or whole.endswith(part))


def _without_minus(joined: str) -> str:
    return joined.replace("-", "")


# Diagnoses of different amounts of money or quantities: the currency, the unit, or the amount.

Rows = npt.NDArray[np.int64]

SAME_QUANTITY = 1e-3
"""The relative difference, of the larger, within which quantities are the same: conversions are rounded."""

_HOW_WRITTEN = sum(
    BIT[name] for name in ("case_only", "white_space_or_punctuation", "accents_only", "unicode_form")
)
_NUMBER_IN_FRONT = re.compile(r"[-+\u2212\u00b10-9.,'\s]+")


def diagnose_money(gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of different amounts of money.

    `currency` requires two different ISO codes, or equal amounts with one code missing. Amounts of two
    currencies are not compared.
    """
    values = gold.values.tolist(), pred.values.tolist()
    codes = [[value.currency for value in side] for side in values]
    named = [
        np.fromiter((code is not None and code.isalpha() for code in side), dtype=np.bool_, count=len(side))
        for side in codes
    ]
    amounts = [[value.amount for value in side] for side in values]
    differ = ~equal(*codes)
    contradict = differ & named[0] & named[1]
    bits = np.where(contradict | (differ & equal(*amounts)), BIT["currency"], 0)
    rows = np.flatnonzero(~contradict)
    if rows.size:
        bits[rows] |= diagnose_amounts(
            "money", _amounts(gold, amounts[0], rows), _amounts(pred, amounts[1], rows)
        )
    return bits


def diagnose_quantities(gold: Column, pred: Column) -> Bits:
    """Return the diagnoses of pairs of different quantities, compared after conversion.

    `wrong_unit` is another unit, or none, unless the two are the same quantity.
    """
    values = gold.values.tolist(), pred.values.tolist()
    units = [[value.unit for value in side] for side in values]
    amounts = [[value.amount for value in side] for side in values]
    is_same = equal(*units)
    bits = np.zeros(len(gold), dtype=np.int64)
    rows = np.flatnonzero(is_same)
    if rows.size:
        bits[rows] = diagnose_amounts(
            "quantity", _amounts(gold, amounts[0], rows), _amounts(pred, amounts[1], rows)
        )
    rows = np.flatnonzero(~is_same)
    if rows.size:
        converted = _are_same_quantity([[side[row] for row in rows.tolist()] for side in (*units, *amounts)])
        bits[rows] = np.where(converted, BIT["unit_conversion"], BIT["wrong_unit"])
    return bits


def diagnose_unit_texts(gold: Column, pred: Column, text_bits: Bits) -> Bits:
    """Return the diagnoses of pairs of texts under a key that names a unit.

    Two known units differ in spelling or in meaning. `text_bits` are the diagnoses from the texts alone. They
    stay for all other pairs, and for two spellings of one unit those about the writing stay too.
    """
    bits = text_bits.copy()
    for row, values in enumerate(zip(gold.values.tolist(), pred.values.tolist(), strict=True)):
        if not all(isinstance(value, str) for value in values):
            continue
        units = canonical_unit(gold.texts[row].strip()), canonical_unit(pred.texts[row].strip())
        if None not in units:
            is_same = units[0] == units[1]
            bits[row] = (bits[row] & _HOW_WRITTEN) | BIT["unit_spelling"] if is_same else BIT["wrong_unit"]
    return bits


def are_units_spelled_otherwise(gold: Column, pred: Column) -> Flags:
    """Return a mask of texts that differ after the number in front."""
    return ~equal(
        *(
            [_NUMBER_IN_FRONT.sub("", text, count=1).strip() for text in side.texts.tolist()]
            for side in (gold, pred)
        )
    )


def _amounts(column: Column, values: list[Any], rows: Rows) -> Amounts:
    plain = [text.partition(" ")[0] for text in column.canonical[rows].tolist()]
    return Amounts([values[row] for row in rows.tolist()], column.texts[rows].tolist(), plain)


def _numbers(amount: Any) -> tuple[Any, ...]:
    """Return the numbers of an amount: the ends of a range, a number twice."""
    return (
        amount
        if isinstance(amount, tuple)
        else tuple(getattr(amount, end, amount) for end in ("low", "high"))
    )


def _are_same_quantity(sides: list[list[Any]]) -> Flags:
    """Return a mask of equal quantities.

    The sides are the units of gold and of the prediction, then their amounts.
    """
    units, (gold, pred) = list(zip(sides[0], sides[1], strict=True)), sides[2:]
    steps = {pair: (conversion(*pair) if None not in pair else None) or (None, None) for pair in set(units)}
    factor, offset = floats([steps[pair][0] for pair in units]), floats([steps[pair][1] for pair in units])
    numbers = [list(map(_numbers, side)) for side in (gold, pred)]
    same: Flags = lengths(numbers[0]) == lengths(numbers[1])
    for place in range(max(map(len, numbers[0]))):
        left, right = (floats([amount[min(place, len(amount) - 1)] for amount in side]) for side in numbers)
        with np.errstate(invalid="ignore", over="ignore"):
            left = left * factor + offset
            same &= np.abs(left - right) <= SAME_QUANTITY * np.maximum(np.abs(left), np.abs(right))
    return same
