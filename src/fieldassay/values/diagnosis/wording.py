"""Diagnoses of texts: other words, shortenings and misspellings."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.catalogue import BIT
from fieldassay.values.diagnosis.writing import (
    Flags,
    code_sums,
    contained,
    diagnose_digits,
    equal,
    fold_case,
    fold_confusable,
    holds,
    match_keys,
    pick,
)
from fieldassay.values.types.column import lengths

# Abbreviations: initials, shortened words, and customary short forms.

MAX_WORDS = 30
"""The maximum of words in an examined text."""

_PUNCTUATION = ".,;:()[]\"'"
_SMALL_WORDS = frozenset({
    "a", "an", "and", "&", "for", "of", "on", "per", "the", "da", "das", "de", "del", "der", "des", "di",
    "do", "dos", "du", "e", "el", "et", "la", "las", "le", "les", "los", "und", "y",
})  # fmt: skip
_LONGEST_CLIPPING = 4
_FEWEST_DROPPED = 2

_CUSTOMARY = {
    "limited": "ltd", "proprietary": "pty", "corporation": "corp", "incorporated": "inc", "company": "co",
    "public": "p", "liability": "l", "brothers": "bros", "association": "assn assoc",
    "international": "intl int", "national": "natl nat", "department": "dept dpt", "government": "govt gov",
    "university": "univ uni", "institute": "inst", "manufacturing": "mfg", "services": "svcs svc",
    "service": "svc", "management": "mgmt mgt", "administration": "admin", "laboratory": "lab",
    "hospital": "hosp", "street": "st str", "road": "rd", "avenue": "ave av", "boulevard": "blvd bvd",
    "drive": "dr", "lane": "ln", "court": "ct crt", "place": "pl", "square": "sq", "terrace": "tce ter",
    "parade": "pde", "crescent": "cres cr", "highway": "hwy", "parkway": "pkwy", "freeway": "fwy",
    "circuit": "cct", "close": "cl", "corner": "cnr", "building": "bldg", "apartment": "apt", "suite": "ste",
    "floor": "fl flr", "level": "lvl", "mount": "mt", "saint": "st", "fort": "ft", "north": "n nth",
    "south": "s sth", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
    "southwest": "sw", "doctor": "dr", "mister": "mr", "professor": "prof", "senior": "sr snr",
    "junior": "jr jnr", "reverend": "rev", "honorable": "hon", "january": "jan", "february": "feb",
    "march": "mar", "april": "apr", "june": "jun", "july": "jul", "august": "aug", "september": "sep sept",
    "october": "oct", "november": "nov", "december": "dec", "monday": "mon", "tuesday": "tue tues",
    "wednesday": "wed", "thursday": "thu thur thurs", "friday": "fri", "saturday": "sat", "sunday": "sun",
    "quantity": "qty", "amount": "amt", "account": "acct acc ac", "reference": "ref", "invoice": "inv",
    "payment": "pmt pymt", "balance": "bal", "minimum": "min", "maximum": "max", "average": "avg",
    "approximately": "approx", "temperature": "temp", "pressure": "press", "standard": "std",
    "package": "pkg", "piece": "pc", "pieces": "pcs", "dozen": "doz", "minutes": "min mins", "minute": "min",
    "hour": "hr", "hours": "hrs hr", "second": "sec", "seconds": "sec secs", "week": "wk", "weeks": "wks",
    "month": "mo mth", "months": "mos mths", "year": "yr", "years": "yrs", "tablet": "tab",
    "tablets": "tabs tab", "tableta": "tab", "tabletas": "tabs tab", "capsule": "cap", "capsules": "caps cap",
    "cápsula": "cap", "cápsulas": "caps cap", "injection": "inj", "solution": "sol soln",
    "gesellschaft": "ges", "straße": "str", "strasse": "str", "avenida": "av avda", "calle": "c cl",
    "doctora": "dra", "señor": "sr", "señora": "sra", "número": "nro núm", "teléfono": "tel",
    "telephone": "tel", "sociedad": "soc", "compañía": "cía", "kilogram": "kg", "kilograms": "kg kgs",
    "milligram": "mg", "milligrams": "mg", "gram": "g", "grams": "g", "liter": "l", "liters": "l",
    "milliliter": "ml", "milliliters": "ml", "versus": "vs", "and": "&", "attention": "attn", "center": "ctr",
    "centre": "ctr", "electric": "elec", "engineering": "eng engg", "technology": "tech",
    "technologies": "tech", "systems": "sys", "system": "sys", "group": "grp", "holdings": "hldgs",
    "industries": "inds ind", "pacific": "pac",
}  # fmt: skip
_SHORT_FORMS = {word: frozenset(forms.split()) for word, forms in _CUSTOMARY.items()}


def is_abbreviation(longer: str, shorter: str) -> bool:
    """Return True if the shorter text abbreviates the longer one word by word, or is its initials.

    A word may be shortened to a customary form (`Pty` for Proprietary). Among several words it may also be
    shortened to an initial, to its first two to four letters if at least two are dropped, or to any prefix
    with a point behind it. Case is ignored.

    >>> is_abbreviation("Acme Proprietary Limited", "Acme Pty. Ltd.")
    True
    >>> is_abbreviation("Bank of England", "BoE")
    True
    >>> is_abbreviation("Waterloo Street", "Water Street")
    False
    """
    words, forms = longer.casefold().split(), shorter.casefold().split()
    if not words or not forms or max(len(words), len(forms)) > MAX_WORDS:
        return False
    if len(words) == len(forms):
        is_one_of_many = len(words) > 1
        return words != forms and all(
            word == form or _shortens(word, form, is_one_of_many)
            for word, form in zip(words, forms, strict=True)
        )
    return len(words) > len(forms) and _are_initials(words, forms)


def _shortens(word: str, form: str, is_one_of_many: bool) -> bool:
    """Return True if the form is the word or short for it."""
    plain, short = word.strip(_PUNCTUATION), form.strip(_PUNCTUATION)
    if plain == short or short in _SHORT_FORMS.get(plain, ()):
        return True
    if not is_one_of_many or not short.isalpha() or not plain.startswith(short):
        return False
    dropped = len(plain) - len(short)
    return (
        form.endswith(".")
        or len(short) == 1
        or (len(short) <= _LONGEST_CLIPPING and dropped >= _FEWEST_DROPPED)
    )


def _are_initials(words: list[str], forms: list[str]) -> bool:
    letters = "".join(forms).replace(".", "")
    if not 2 <= len(letters) <= len(words) or not letters.isalpha():
        return False
    plain = [word.strip(_PUNCTUATION) for word in words]
    every = "".join(word[:1] for word in plain)
    great = "".join(word[:1] for word in plain if word not in _SMALL_WORDS)
    return letters in (every, great)


# Diagnoses of texts with different letters or digits: OCR, cuts, order, abbreviations, synonyms.

_GROUPS = (
    "yes|y|true|1|on|checked|ja|oui|si|sim",
    "no|n|false|0|off|unchecked|nein|non|não",
    "male|m|man|masculine|masculino|männlich",
    "female|f|woman|feminine|femenino|weiblich",
    "paid|settled|paid in full",
    "unpaid|open|outstanding|due|not paid|owing",
    "cancelled|canceled|void|voided|annulled",
    "approved|authorized|authorised",
    "rejected|declined|denied|refused",
    "completed|complete|done|finished",
    "invoice|tax invoice|bill",
    "receipt|sales receipt|proof of purchase",
    "quote|quotation|estimate",
    "credit note|credit memo|adjustment note",
    "bank statement|account statement|statement of account",
    "positive|reactive",
    "negative|non reactive",
    "bank transfer|wire transfer|eft|direct deposit",
    "cheque|check",
    "cash on delivery|cod",
    "debit|dr|withdrawal",
    "credit|cr|deposit",
    "united states|united states of america|usa|us|u.s.|america",
    "united kingdom|uk|great britain|gb",
    "australia|au|commonwealth of australia",
    "germany|deutschland|de",
    "netherlands|holland|the netherlands",
    "south korea|republic of korea|korea",
    "new south wales|nsw",
    "victoria|vic",
    "queensland|qld",
    "western australia|wa",
    "south australia|sa",
    "australian dollar|aud|a$",
    "us dollar|usd|us$|united states dollar",
    "euro|eur|€",
    "pound sterling|british pound|gbp|£",
    "monthly|every month|per month|once a month",
    "weekly|every week|per week|once a week",
    "daily|every day|per day|once a day|qd",
    "twice a day|twice daily|bid|two times a day",
    "three times a day|three times daily|tid",
    "yearly|annually|annual|every year|per year|per annum",
    "quarterly|every quarter|every three months",
    "by mouth|oral|orally|po|vía oral|oralmente",
    "oxygen|o2",
    "carbon dioxide|co2",
    "carbon monoxide|co",
    "water|h2o",
    "methane|ch4",
    "hydrogen|h2",
    "nitrogen|n2",
    "paracetamol|acetaminophen",
    "attorney|lawyer",
    "car|automobile",
    "mobile|cell|cell phone|mobile phone",
    "zip code|postal code|postcode|zip",
    "surname|last name|family name",
    "first name|given name|forename",
)


@cache
def synonym_groups() -> Mapping[str, frozenset[int]]:
    """Return the synonym groups of each match key.

    >>> synonym_groups()["taxinvoice"] == synonym_groups()["bill"]
    True
    """
    table: dict[str, frozenset[int]] = {}
    for number, group in enumerate(_GROUPS):
        for key in match_keys(group.split("|")):
            table[key] = table.get(key, frozenset()) | {number}
    return MappingProxyType(table)


Bits = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

NEAR = 0.8
"""The least indel similarity of the match keys of near texts."""
MAX_ALIGNED = 4096
"""The maximum of characters for an alignment; longer texts are compared as bags of words."""
_SHORTEST_PART, _SHORTEST_INNER = 3, 4
_MOST_OCCURRENCES = 20
_WORD = re.compile(r"[^\W_]+")
_ELLIPSIS = ".\N{HORIZONTAL ELLIPSIS} "


class Wording(Struct, frozen=True, eq=False):
    """One side of the pairs: the texts and their match keys."""

    texts: list[str]
    keys: list[str]

    def take(self, rows: Rows) -> "Wording":
        """Return the texts at the rows."""
        return Wording(pick(self.texts, rows), pick(self.keys, rows))


def diagnose_wording(gold: Wording, pred: Wording, is_code: bool) -> Bits:
    """Return the diagnoses of pairs with different match keys.

    For codes (ids, phone numbers) the keys are compared instead of the texts, and word rules do not apply.
    """
    left, right = (gold.keys, pred.keys) if is_code else (gold.texts, pred.texts)
    bits = diagnose_digits(left, right)
    bits[equal(fold_confusable(gold.texts), fold_confusable(pred.texts))] |= BIT["ocr_confusion"]
    distance = _distances(gold.keys, pred.keys)
    size, other_size = lengths(gold.keys), lengths(pred.keys)
    gap = np.abs(size - other_size)
    is_shorter = (distance == gap) & (gap >= _FEWEST_DROPPED) & (np.minimum(size, other_size) > 0)
    bits[_are_near(gold, pred, distance)] |= BIT["near"]
    if not is_code:
        left, right = fold_case(gold.texts), fold_case(pred.texts)
        bits |= _diagnose_words((left, right), (gold.keys, pred.keys), np.flatnonzero(size == other_size))
        bits |= _diagnose_synonyms(gold.keys, pred.keys)
        bits |= _diagnose_shortening(gold, pred, np.flatnonzero(is_shorter))
    return bits | np.where(bits & BIT["abbreviation"], 0, _diagnose_cuts(left, right, is_code))


def _distances(gold: list[str], pred: list[str]) -> npt.NDArray[np.int64]:
    """Return the indel distances, or a huge number where either text is too long to align."""
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    distances = np.full(len(gold), np.iinfo(np.int64).max)
    rows = np.flatnonzero((lengths(gold) <= MAX_ALIGNED) & (lengths(pred) <= MAX_ALIGNED))
    if rows.size == len(gold):
        return np.asarray(cpdist(gold, pred, scorer=Indel.distance, dtype=np.int64))
    distances[rows] = cpdist(pick(gold, rows), pick(pred, rows), scorer=Indel.distance, dtype=np.int64)
    return distances


def _are_near(gold: Wording, pred: Wording, distance: npt.NDArray[np.int64]) -> Flags:
    total = lengths(gold.keys) + lengths(pred.keys)
    # 5 * distance <= total is 1 - distance / total >= 0.8 in whole numbers.
    near = distance <= total // round(1 / (1 - NEAR))
    for row in np.flatnonzero(distance == np.iinfo(np.int64).max).tolist():
        left, right = Counter(gold.texts[row].casefold().split()), Counter(pred.texts[row].casefold().split())
        near[row] = 2 * (left & right).total() >= NEAR * (left.total() + right.total())
    return near


def _diagnose_cuts(gold: list[str], pred: list[str], is_code: bool) -> Bits:
    bits = np.zeros(len(gold), dtype=np.int64)
    differ = ~equal(gold, pred)
    left, right = [text.rstrip(_ELLIPSIS) for text in gold], [text.rstrip(_ELLIPSIS) for text in pred]
    for whole, part, name in ((left, right, "truncated"), (right, left, "extended")):
        for row in np.flatnonzero(differ & contained(whole, part)).tolist():
            if _is_part(whole[row], part[row], is_code):
                bits[row] |= BIT[name]
    return bits


def _is_part(whole: str, part: str, is_code: bool) -> bool:
    if len(part) < _SHORTEST_PART or len(part) == len(whole):
        return False
    if whole.startswith(part) or whole.endswith(part):
        return True
    return not is_code and len(part) >= _SHORTEST_INNER and _stands_alone(whole, part)


def _stands_alone(whole: str, part: str) -> bool:
    """Return True if an occurrence of the part, strictly inside the whole, cuts no word.

    Only the first occurrences are examined.
    """
    start = whole.find(part)
    for _ in range(_MOST_OCCURRENCES):
        end = start + len(part)
        if start < 0:
            return False
        cuts_head = whole[start - 1].isalnum() and part[0].isalnum()
        cuts_tail = whole[end].isalnum() and part[-1].isalnum()
        if not cuts_head and not cuts_tail:
            return True
        start = whole.find(part, start + 1)
    return False


def _diagnose_words(
    texts: tuple[list[str], list[str]], keys: tuple[list[str], list[str]], rows: Rows
) -> Bits:
    bits = np.zeros(len(texts[0]), dtype=np.int64)
    same = rows[code_sums(pick(keys[0], rows)) == code_sums(pick(keys[1], rows))]
    for row in same.tolist():
        left, right = _WORD.findall(texts[0][row]), _WORD.findall(texts[1][row])
        if len(left) == len(right) and left != right and sorted(left) == sorted(right):
            bits[row] = BIT["word_order"]
    return bits


def _diagnose_synonyms(gold: list[str], pred: list[str]) -> Bits:
    bits = np.zeros(len(gold), dtype=np.int64)
    groups = synonym_groups()
    for row in np.flatnonzero(holds(groups.__contains__, gold)).tolist():
        if not groups[gold[row]].isdisjoint(groups.get(pred[row], ())):
            bits[row] = BIT["synonym"]
    return bits


def _diagnose_shortening(gold: Wording, pred: Wording, rows: Rows) -> Bits:
    """Return `abbreviation` for pairs with one side made only of letters of the other, in order."""
    bits = np.zeros(len(gold.keys), dtype=np.int64)
    for row in rows.tolist():
        left, right = gold.keys[row], pred.keys[row]
        if left[0] == right[0]:
            longer, shorter = (gold, pred) if len(left) > len(right) else (pred, gold)
            if _may_shorten(
                longer.texts[row], shorter.texts[row], len(shorter.keys[row])
            ) and is_abbreviation(longer.texts[row], shorter.texts[row]):
                bits[row] = BIT["abbreviation"]
    return bits


def _may_shorten(longer: str, shorter: str, letters: int) -> bool:
    """Return False if neither words nor initials can be as many, a quick test that most pairs fail."""
    spaces = longer.count(" ")
    return shorter.count(" ") == spaces or letters <= spaces + 1


# Texts of several items.

MAX_CUT = 2000
"""The maximum of characters in a text cut into parts."""

_CUT = re.compile(r"[,;|/+&\n]|\s(?:and|und|et|y|e|o|or|oder)\s|\s[-\u2013]\s")
_LEAST_COVERED = 0.8
SHORTEST_TELLING = 3
"""The least length of an identifying canonical text; shorter ones occur everywhere in a document."""


def find_parts(whole: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that a text joins, in its order: two or more, four fifths of its letters and digits.

    >>> find_parts("Oak panel, Elm door", ["Elm door", "Oak panel", "Elm"])
    ['Oak panel', 'Elm door']
    >>> find_parts("Oak panel with Elm door and a long remark", ["Elm door", "Oak panel"])
    []
    """
    rest, places = whole if len(whole) <= MAX_CUT else "", dict[str, int]()
    for text in sorted({text for text in texts if text in rest and text != whole}, key=len, reverse=True):
        place = rest.find(text)
        ends = (rest[place - 1 : place], rest[place + len(text) : place + len(text) + 1])
        if len(text) >= SHORTEST_TELLING and place >= 0 and not any(map(str.isalnum, ends)):
            places[text] = place
            rest = f"{rest[:place]}{' ' * len(text)}{rest[place + len(text) :]}"
    left, all_ = (sum(map(str.isalnum, text)) for text in (rest, whole))
    is_joined = len(places) > 1 and left <= (1 - _LEAST_COVERED) * all_
    return sorted(places, key=places.__getitem__) if is_joined else []


def cut(text: str) -> list[str]:
    """Return the parts of a text that may be several items; the whole text if it has no separator.

    >>> cut("red, green and blue"), cut("red green")
    (['red', 'green', 'blue'], ['red', 'green'])
    """
    if len(text) > MAX_CUT:
        return [text]
    parts = [part.strip() for part in _CUT.split(text)]
    return [part for part in parts if part] if len(parts) > 1 else text.split()
