"""The types that a field can have, and the normalizers of its text, by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

READERS = Catalogue(
    "reader",
    {
        "text": "fieldassay.readers.text:TextReader",
        "id": "fieldassay.readers.ids:IdReader",
        "enum": "fieldassay.readers.enums:EnumReader",
        "boolean": "fieldassay.readers.booleans:BooleanReader",
        "integer": "fieldassay.readers.numbers:IntegerReader",
        "number": "fieldassay.readers.numbers:NumberReader",
        "money": "fieldassay.readers.money:MoneyReader",
        "quantity": "fieldassay.readers.quantities:QuantityReader",
        "unit": "fieldassay.readers.quantities:UnitReader",
        "date": "fieldassay.readers.dates:DateReader",
        "datetime": "fieldassay.readers.datetimes:DateTimeReader",
        "time": "fieldassay.readers.times:TimeReader",
        "duration": "fieldassay.readers.durations:DurationReader",
        "phone": "fieldassay.readers.phones:PhoneReader",
        "email": "fieldassay.readers.addresses:EmailReader",
        "url": "fieldassay.readers.addresses:UrlReader",
        "any": "fieldassay.readers.anything:AnyReader",
    },
)
"""Readers of the leaf types."""

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "accents": "fieldassay.readers.normalizers:Accents",
        "case": "fieldassay.readers.normalizers:Case",
        "decimal_comma": "fieldassay.readers.normalizers:DecimalComma",
        "digits": "fieldassay.readers.normalizers:Digits",
        "ftfy": "fieldassay.readers.normalizers:Ftfy",
        "punctuation": "fieldassay.readers.normalizers:Punctuation",
        "remove": "fieldassay.readers.normalizers:Remove",
        "separators": "fieldassay.readers.normalizers:Separators",
        "umlauts": "fieldassay.readers.normalizers:Umlauts",
        "unicode": "fieldassay.readers.normalizers:Unicode",
        "white_space": "fieldassay.readers.normalizers:WhiteSpace",
    },
)
"""What `normalize:` may list."""
