"""The comparators by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

COMPARATORS = Catalogue(
    "comparator",
    {
        "anls": "fieldassay.comparators.edit:Anls",
        "bag": "fieldassay.comparators.lists:Bag",
        "bare_number": "fieldassay.comparators.bare_numbers:BareNumber",
        "by_kind": "fieldassay.comparators.by_kind:ByKind",
        "by_position": "fieldassay.comparators.lists:ByPosition",
        "cascade": "fieldassay.comparators.cascade:Cascade",
        "contained_items": "fieldassay.comparators.lists:ContainedItems",
        "contains": "fieldassay.comparators.exact:Contains",
        "date": "fieldassay.comparators.dates:CalendarDate",
        "date_components": "fieldassay.comparators.date_text:DateComponents",
        "date_parts": "fieldassay.comparators.date_text:DateParts",
        "digits": "fieldassay.comparators.exact:Digits",
        "exact": "fieldassay.comparators.exact:Exact",
        "indel": "fieldassay.comparators.edit:Indel",
        "iou": "fieldassay.comparators.lists:SetIou",
        "jaro_winkler": "fieldassay.comparators.edit:JaroWinkler",
        "levenshtein": "fieldassay.comparators.edit:Levenshtein",
        "money": "fieldassay.comparators.money:MoneyAmount",
        "number": "fieldassay.comparators.numbers:Number",
        "overlap": "fieldassay.comparators.lists:SetOverlap",
        "phone_digits": "fieldassay.comparators.phones:PhoneDigits",
        "quantity": "fieldassay.comparators.quantities:QuantityAmount",
        "range": "fieldassay.comparators.numbers:Range",
        "ratcliff": "fieldassay.comparators.ratcliff:Ratcliff",
        "sequence": "fieldassay.comparators.lists:Sequence",
        "soft_coverage": "fieldassay.comparators.coverage:SoftCoverage",
        "synonyms": "fieldassay.comparators.synonyms:Synonyms",
        "token_set": "fieldassay.comparators.words:TokenSet",
        "words": "fieldassay.comparators.words:Words",
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
