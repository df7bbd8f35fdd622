"""The entries that a spec may name (types, comparators, aligners, checks, diagnoses); where they stand."""

from typing import Final

from fieldassay.options import Catalogue

# The field types and the text normalizers, by name.

READERS = Catalogue(
    "reader",
    {
        "text": "fieldassay.values.types.text:TextReader",
        "id": "fieldassay.values.types.text:IdReader",
        "enum": "fieldassay.values.types.closed_sets:EnumReader",
        "boolean": "fieldassay.values.types.closed_sets:BooleanReader",
        "integer": "fieldassay.values.types.numbers.numbers:IntegerReader",
        "number": "fieldassay.values.types.numbers.numbers:NumberReader",
        "money": "fieldassay.values.types.numbers.money:MoneyReader",
        "quantity": "fieldassay.values.types.numbers.numbers:QuantityReader",
        "unit": "fieldassay.values.types.numbers.numbers:UnitReader",
        "date": "fieldassay.values.types.dates.dates:DateReader",
        "datetime": "fieldassay.values.types.dates.dates:DateTimeReader",
        "time": "fieldassay.values.types.dates.times:TimeReader",
        "duration": "fieldassay.values.types.dates.times:DurationReader",
        "phone": "fieldassay.values.types.contacts:PhoneReader",
        "email": "fieldassay.values.types.contacts:EmailReader",
        "url": "fieldassay.values.types.contacts:UrlReader",
        "any": "fieldassay.values.types.text:AnyReader",
    },
)
"""Readers of the leaf types."""

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "accents": "fieldassay.values.types.text:Accents",
        "case": "fieldassay.values.types.text:Case",
        "decimal_comma": "fieldassay.values.types.text:DecimalComma",
        "leading_zero": "fieldassay.values.types.text:LeadingZero",
        "digits": "fieldassay.values.types.text:DigitsOnly",
        "punctuation": "fieldassay.values.types.text:Punctuation",
        "remove": "fieldassay.values.types.text:Remove",
        "separators": "fieldassay.values.types.text:Separators",
        "umlauts": "fieldassay.values.types.text:Umlauts",
        "unicode": "fieldassay.values.types.text:Unicode",
        "white_space": "fieldassay.values.types.text:WhiteSpace",
    },
)
"""The normalizers for `normalize:`."""


# The comparators by name.

COMPARATORS = Catalogue(
    "comparator",
    {
        "anls": "fieldassay.values.comparators.texts:Anls",
        "bag": "fieldassay.values.comparators.lists:Bag",
        "bare_number": "fieldassay.values.comparators.numbers:BareNumber",
        "by_kind": "fieldassay.values.comparators.base:ByKind",
        "by_position": "fieldassay.values.comparators.lists:ByPosition",
        "cascade": "fieldassay.values.comparators.base:Cascade",
        "contained_items": "fieldassay.values.comparators.lists:ContainedItems",
        "contains": "fieldassay.values.comparators.base:Contains",
        "date": "fieldassay.values.comparators.dates:CalendarDate",
        "date_components": "fieldassay.values.comparators.dates:DateComponents",
        "date_parts": "fieldassay.values.comparators.dates:DateParts",
        "digits": "fieldassay.values.comparators.base:Digits",
        "exact": "fieldassay.values.comparators.base:Exact",
        "indel": "fieldassay.values.comparators.texts:Indel",
        "iou": "fieldassay.values.comparators.lists:SetIou",
        "jaro_winkler": "fieldassay.values.comparators.texts:JaroWinkler",
        "levenshtein": "fieldassay.values.comparators.texts:Levenshtein",
        "money": "fieldassay.values.comparators.numbers:MoneyAmount",
        "number": "fieldassay.values.comparators.numbers:NumberComparator",
        "overlap": "fieldassay.values.comparators.lists:SetOverlap",
        "phone_digits": "fieldassay.values.comparators.texts:PhoneDigits",
        "quantity": "fieldassay.values.comparators.numbers:QuantityAmount",
        "range": "fieldassay.values.comparators.numbers:Range",
        "ratcliff": "fieldassay.values.comparators.texts:Ratcliff",
        "sequence": "fieldassay.values.comparators.lists:Sequence",
        "soft_coverage": "fieldassay.values.comparators.lists:SoftCoverage",
        "synonyms": "fieldassay.values.comparators.base:Synonyms",
        "token_set": "fieldassay.values.comparators.texts:TokenSet",
        "words": "fieldassay.values.comparators.texts:Words",
    },
)

DEFAULTS: dict[str, str] = {
    "any": "exact",
    "boolean": "exact",
    "date": "date",
    "datetime": "exact",
    "duration": "exact",
    "email": "exact",
    "enum": "exact",
    "id": "exact",
    "integer": "number",
    "money": "money",
    "number": "number",
    "phone": "exact",
    "quantity": "quantity",
    "text": "exact",
    "time": "exact",
    "unit": "exact",
    "url": "exact",
}
"""The default comparator of each type."""


# The aligners by the names that a spec uses.

ALIGNERS: Final = Catalogue(
    "aligner",
    {
        "ordered": "fieldassay.values.aligners:Ordered",
        "sequence": "fieldassay.values.aligners:SequenceAligner",
        "assignment": "fieldassay.values.aligners:Assignment",
        "key": "fieldassay.values.aligners:Key",
    },
)


# The checks by name.

CHECKS = Catalogue(
    "check",
    {
        "has_keys": "fieldassay.values.checks.texts:HasKeys",
        "holds": "fieldassay.values.checks.relations:Holds",
        "kind": "fieldassay.values.checks.texts:IsKind",
        "length": "fieldassay.values.checks.texts:HasLength",
        "not_empty": "fieldassay.values.checks.texts:NotEmpty",
        "number": "fieldassay.values.checks.texts:IsNumber",
        "one_of": "fieldassay.values.checks.texts:OneOf",
        "pattern": "fieldassay.values.checks.texts:Matches",
        "range": "fieldassay.values.checks.texts:InRange",
        "unit_format": "fieldassay.values.checks.texts:UnitFormat",
    },
)


# The names of the diagnoses, in order of precedence.

DIAGNOSES: tuple[str, ...] = (
    "case_only",
    "white_space_or_punctuation",
    "accents_only",
    "unicode_form",
    "other_format",
    "separator",
    "sign",
    "percent",
    "rounding",
    "unit_spelling",
    "unit_conversion",
    "wrong_unit",
    "currency",
    "day_month_exchanged",
    "two_digit_year",
    "other_calendar",
    "value_of_another_field",
    "off_by_one",
    "digits_transposed",
    "one_digit_wrong",
    "ocr_confusion",
    "truncated",
    "extended",
    "word_order",
    "abbreviation",
    "synonym",
    "value_of_another_item",
    "list_split_or_joined",
    "duplicate_item",
    "wrong_kind",
    "near",
    "unreadable",
    "missing",
    "spurious",
    "different",
)
"""Bit i of a set of diagnoses is `DIAGNOSES[i]`. The lowest set bit is the main diagnosis."""

BIT: dict[str, int] = {name: 1 << position for position, name in enumerate(DIAGNOSES)}


def diagnosis_names(bits: int) -> tuple[str, ...]:
    """Return the names of the set bits, the main diagnosis first.

    >>> diagnosis_names(BIT["near"] | BIT["one_digit_wrong"])
    ('one_digit_wrong', 'near')
    """
    return tuple(name for name, bit in BIT.items() if bits & bit)
