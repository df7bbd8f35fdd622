"""The field types and the text normalizers, by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

READERS = Catalogue(
    "reader",
    {
        "text": "fieldassay.types.text:TextReader",
        "id": "fieldassay.types.ids:IdReader",
        "enum": "fieldassay.types.enums:EnumReader",
        "boolean": "fieldassay.types.booleans:BooleanReader",
        "integer": "fieldassay.types.numbers.numbers:IntegerReader",
        "number": "fieldassay.types.numbers.numbers:NumberReader",
        "money": "fieldassay.types.numbers.money:MoneyReader",
        "quantity": "fieldassay.types.numbers.quantities:QuantityReader",
        "unit": "fieldassay.types.numbers.quantities:UnitReader",
        "date": "fieldassay.types.dates.dates:DateReader",
        "datetime": "fieldassay.types.dates.datetimes:DateTimeReader",
        "time": "fieldassay.types.dates.times:TimeReader",
        "duration": "fieldassay.types.dates.durations:DurationReader",
        "phone": "fieldassay.types.phones:PhoneReader",
        "email": "fieldassay.types.addresses:EmailReader",
        "url": "fieldassay.types.addresses:UrlReader",
        "any": "fieldassay.types.anything:AnyReader",
    },
)
"""Readers of the leaf types."""

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "accents": "fieldassay.types.normalizers:Accents",
        "case": "fieldassay.types.normalizers:Case",
        "decimal_comma": "fieldassay.types.normalizers:DecimalComma",
        "leading_zero": "fieldassay.types.normalizers:LeadingZero",
        "digits": "fieldassay.types.normalizers:Digits",
        "ftfy": "fieldassay.types.normalizers:Ftfy",
        "punctuation": "fieldassay.types.normalizers:Punctuation",
        "remove": "fieldassay.types.normalizers:Remove",
        "separators": "fieldassay.types.normalizers:Separators",
        "umlauts": "fieldassay.types.normalizers:Umlauts",
        "unicode": "fieldassay.types.normalizers:Unicode",
        "white_space": "fieldassay.types.normalizers:WhiteSpace",
    },
)
"""The normalizers for `normalize:`."""
