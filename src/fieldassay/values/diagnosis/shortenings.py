"""Abbreviations: initials, shortened words, and customary short forms."""

from __future__ import annotations

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
