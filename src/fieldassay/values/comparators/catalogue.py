"""The comparators by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

COMPARATORS = Catalogue(
    "comparator",
    {
        "anls": "fieldassay.values.comparators.edit:Anls",
        "bag": "fieldassay.values.comparators.lists:Bag",
        "bare_number": "fieldassay.values.comparators.bare_numbers:BareNumber",
        "by_kind": "fieldassay.values.comparators.by_kind:ByKind",
        "by_position": "fieldassay.values.comparators.lists:ByPosition",
        "cascade": "fieldassay.values.comparators.cascade:Cascade",
        "contained_items": "fieldassay.values.comparators.lists:ContainedItems",
        "contains": "fieldassay.values.comparators.exact:Contains",
        "date": "fieldassay.values.comparators.dates:CalendarDate",
        "date_components": "fieldassay.values.comparators.date_text:DateComponents",
        "date_parts": "fieldassay.values.comparators.date_text:DateParts",
        "digits": "fieldassay.values.comparators.exact:Digits",
        "exact": "fieldassay.values.comparators.exact:Exact",
        "indel": "fieldassay.values.comparators.edit:Indel",
        "iou": "fieldassay.values.comparators.lists:SetIou",
        "jaro_winkler": "fieldassay.values.comparators.edit:JaroWinkler",
        "levenshtein": "fieldassay.values.comparators.edit:Levenshtein",
        "money": "fieldassay.values.comparators.money:MoneyAmount",
        "number": "fieldassay.values.comparators.numbers:Number",
        "overlap": "fieldassay.values.comparators.lists:SetOverlap",
        "phone_digits": "fieldassay.values.comparators.phones:PhoneDigits",
        "quantity": "fieldassay.values.comparators.quantities:QuantityAmount",
        "range": "fieldassay.values.comparators.numbers:Range",
        "ratcliff": "fieldassay.values.comparators.ratcliff:Ratcliff",
        "sequence": "fieldassay.values.comparators.lists:Sequence",
        "soft_coverage": "fieldassay.values.comparators.coverage:SoftCoverage",
        "synonyms": "fieldassay.values.comparators.synonyms:Synonyms",
        "token_set": "fieldassay.values.comparators.words:TokenSet",
        "words": "fieldassay.values.comparators.words:Words",
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
