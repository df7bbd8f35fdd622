"""The field types and the text normalizers, by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

READERS = Catalogue(
    "reader",
    {
        "text": "fieldassay.values.types.text:TextReader",
        "id": "fieldassay.values.types.ids:IdReader",
        "enum": "fieldassay.values.types.enums:EnumReader",
        "boolean": "fieldassay.values.types.booleans:BooleanReader",
        "integer": "fieldassay.values.types.numbers.numbers:IntegerReader",
        "number": "fieldassay.values.types.numbers.numbers:NumberReader",
        "money": "fieldassay.values.types.numbers.money:MoneyReader",
        "quantity": "fieldassay.values.types.numbers.quantities:QuantityReader",
        "unit": "fieldassay.values.types.numbers.quantities:UnitReader",
        "date": "fieldassay.values.types.dates.dates:DateReader",
        "datetime": "fieldassay.values.types.dates.datetimes:DateTimeReader",
        "time": "fieldassay.values.types.dates.times:TimeReader",
        "duration": "fieldassay.values.types.dates.durations:DurationReader",
        "phone": "fieldassay.values.types.phones:PhoneReader",
        "email": "fieldassay.values.types.addresses:EmailReader",
        "url": "fieldassay.values.types.addresses:UrlReader",
        "any": "fieldassay.values.types.anything:AnyReader",
    },
)
"""Readers of the leaf types."""

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "accents": "fieldassay.values.types.normalizers:Accents",
        "case": "fieldassay.values.types.normalizers:Case",
        "decimal_comma": "fieldassay.values.types.normalizers:DecimalComma",
        "leading_zero": "fieldassay.values.types.normalizers:LeadingZero",
        "digits": "fieldassay.values.types.normalizers:Digits",
        "ftfy": "fieldassay.values.types.normalizers:Ftfy",
        "punctuation": "fieldassay.values.types.normalizers:Punctuation",
        "remove": "fieldassay.values.types.normalizers:Remove",
        "separators": "fieldassay.values.types.normalizers:Separators",
        "umlauts": "fieldassay.values.types.normalizers:Umlauts",
        "unicode": "fieldassay.values.types.normalizers:Unicode",
        "white_space": "fieldassay.values.types.normalizers:WhiteSpace",
    },
)
"""The normalizers for `normalize:`."""
