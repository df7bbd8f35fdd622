"""Alternative keys of fields in records."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

OtherNames: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The alternative keys of each field, in order of preference."""


def fold_key(key: str) -> str:
    """Return a key without case and separators.

    >>> fold_key("Invoice-Date") == fold_key("invoiceDate") == fold_key("INVOICE_DATE")
    True
    """
    return "".join(filter(str.isalnum, key.casefold()))


def loosen(value: dict[str, Any], names: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Return the object with a field's name in place of a key that differs by case or separators only.

    `names` are the names of fields, each with the field's own. Not where the object has a name of the field,
    where two of its keys would be one field, or one key two fields.

    >>> loosen({"Vendor": "Oak", "TAX": 1, "Tax": 2}, [("vendor", "vendor"), ("tax", "tax")])
    {'TAX': 1, 'Tax': 2, 'vendor': 'Oak'}
    """
    fields: dict[str, set[str]] = {}
    for name, own in names:
        fields.setdefault(fold_key(name), set()).add(own)
    taken = {own for name, own in names if name in value}
    keys: dict[str, list[str]] = {}
    for key in value:
        if len(owners := fields.get(fold_key(key), ())) == 1:
            keys.setdefault(min(owners), []).append(key)
    found = {own: alike[0] for own, alike in keys.items() if len(alike) == 1 and own not in taken}
    rest = {key: member for key, member in value.items() if key not in found.values()}
    return rest | {own: value[key] for own, key in found.items()} if found else value


def apply_aliases(value: dict[str, Any], others: OtherNames) -> dict[str, Any]:
    """Return the object with every field under its own name.

    The field's own key counts first, then the first other key that is not null.

    >>> others = (("name", ("speaker", "who")), ("pages", ("ref_pages",)))
    >>> apply_aliases({"who": "Dupont", "pages": [1]}, others)
    {'pages': [1], 'name': 'Dupont'}
    """
    for name, keys in others:
        if value.get(name) is None:
            found = next((key for key in keys if value.get(key) is not None), None)
            if found is not None:
                value = {key: member for key, member in value.items() if key not in (name, found)} | {
                    name: value[found]
                }
    return value
