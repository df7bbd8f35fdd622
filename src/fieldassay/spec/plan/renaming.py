"""Alternative keys of fields in records."""

from __future__ import annotations

from typing import Any, TypeAlias

OtherNames: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The alternative keys of each field, in order of preference."""


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
