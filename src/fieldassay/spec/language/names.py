"""Names in a spec: of types, fields, templates, renamed keys and prices."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct, field

from fieldassay.errors import kind_of, nearest
from fieldassay.options import Catalogue
from fieldassay.spec.language.yaml_text import Report, Steps
from fieldassay.values.catalogue import ALIGNERS, COMPARATORS, NORMALIZERS, READERS

# The names usable in a spec, and the messages for unknown ones.

CONTAINERS = ("list", "map", "object", "any")
"""Types with other fields inside."""

CATALOGUES: dict[str, Catalogue] = {"compare": COMPARATORS, "normalize": NORMALIZERS, "align": ALIGNERS}
"""The catalogue of the names under these keys of a field."""

FIELD_KEYS = (
    "type", "names", "compare", "normalize", "accept", "weight", "critical", "accepted", "applies_to", "null",
    "null_values", "unreadable_gold", "blank", "items", "align", "combine", "empty_items", "other_kind",
    "separator", "distinct", "fields", "extra", "description", "labels", "find", "unit_field",
)  # fmt: skip
"""Keys of a field with one meaning for all types; any other key is an option of its reader or comparator."""

SPEC_KEYS = (
    "fieldassay", "name", "version", "description", "citation", "protocol", "null_values", "locale",
    "calendar", "unreadable_gold", "extra", "document_type", "types", "type", "align", "fields", "data",
    "statistics", "absent_fields", "checks", "definitions", "score", "metrics", "gates", "slices", "prices",
)  # fmt: skip
"""Keys of a spec."""

MOVED = {
    ("id",): "id_key", ("names",): "names", ("data", "gold"): "gold_key", ("data", "pred"): "pred_key",
}  # fmt: skip
"""The place of an old key, and the key of `data:` to write today."""


ID_NAMES = (
    "id", "doc_id", "document_id", "image_file", "filename", "image_name", "file", "source_identifier",
    "test_case_id", "case_id", "file_name", "uuid",
)  # fmt: skip
"""Names of a document's id if neither the spec nor the user names one; the first in a row counts."""


def is_type(name: object) -> bool:
    """Return whether a name is a valid type of a field."""
    return name in CONTAINERS or name in READERS


@cache
def type_names() -> tuple[str, ...]:
    """Return every valid type of a field."""
    return tuple(sorted({*READERS.names(), *CONTAINERS}))


def unknown(kind: str, name: str, names: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the problem, the remedy and the kind for a name that is none of `names`.

    >>> unknown("type", "mony", ("money", "text"))
    ("unknown type 'mony'", "did you mean 'money'?", 'unknown_name')
    """
    return f"unknown {kind} {name[:100]!r}", nearest(name[:100], names), "unknown_name"


TOKEN_KINDS = ("cached_prompt", "completion", "embedding", "image", "prompt")
"""Kinds of tokens that have a price; those of `cached_prompt` and `image` are counted in `prompt`, too."""


# Rules per type (`types:`), and the parts of a protocol's preset that a spec inherits.

_INHERITED = (
    "data",
    "statistics",
    "null_values",
    "locale",
    "calendar",
    "unreadable_gold",
    "document_type",
    "absent_fields",
    "definitions",
    "score",
    "metrics",
    "gates",
    "slices",
    "prices",
    "description",
    "checks",
)
_JOINED = ("data", "statistics", "definitions")


class Templates(Struct, frozen=True):
    """Definitions that fields build on.

    `types` are by type name, each with the rules of its base types, `fields` by name of a preset's top-level
    field.
    """

    types: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    fields: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Return every valid type name of a field."""
        return tuple(sorted({*type_names(), *self.types}))

    def __contains__(self, name: object) -> bool:
        return name in self.types or is_type(name)

    def expanded(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a field's definition on top of the rules of its type; the field's own keys win."""
        name = raw.get("type", "list" if "items" in raw else "object" if "fields" in raw else "text")
        rules = self.types.get(name) if isinstance(name, str) else None
        return raw if rules is None else {**rules, **raw, "type": rules.get("type", name)}


def as_definition(raw: Any) -> dict[str, Any] | None:
    """Return a field's definition as a mapping (`id` means `{type: id}`).

    None if it is neither a text nor a mapping.
    """
    if isinstance(raw, str):
        return {"type": raw}
    return raw if isinstance(raw, dict) else None


def read_types(raw: Mapping[str, Any], steps: Steps, report: Report) -> dict[str, dict[str, Any]]:
    """Return the rules per type on top of those of its base type.

    A name other than a built-in type must name its base type.
    """
    types: dict[str, dict[str, Any]] = {}
    for name, value in raw.items():
        rules = as_definition(value)
        if rules is None:
            report.add(
                (*steps, name),
                f"must be a mapping, not {kind_of(value)}",
                "write what fields of this type take",
                "wrong_kind",
            )
            continue
        if not is_type(name) and "type" not in rules:
            remedy = f"add `type:` (this is no built-in type) with one of: {', '.join(type_names())}"
            report.add(
                (*steps, name), f"the type {name!r} does not say what it stands for", remedy, "missing_key"
            )
            continue
        types[name] = rules
    return _joined(types, steps, report)


def _joined(types: dict[str, dict[str, Any]], steps: Steps, report: Report) -> dict[str, dict[str, Any]]:
    """Return each type's rules on top of those of its base types.

    A type based on itself is a problem, and is then text.
    """
    joined: dict[str, dict[str, Any]] = {}
    for start in types:
        chain: dict[str, None] = {}
        name: Any = start
        while isinstance(name, str) and name in types and name not in joined and name not in chain:
            chain[name] = None
            name = types[name].get("type", name)
        if name in chain and types[name].get("type", name) != name:
            report.add(
                (*steps, name, "type"),
                f"the type {name!r} stands for itself",
                "name a built-in type",
                "cycle",
            )
            joined[name] = {**types[name], "type": "text"}
        for link in reversed(chain):
            if link not in joined:
                target = types[link].get("type", link)
                below = joined.get(target, {}) if isinstance(target, str) else {}
                joined[link] = {**below, **types[link], "type": below.get("type", target)}
    return joined


def over_preset(data: dict[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec's data on top of a preset's.

    Its own keys win, `types` and the sections are joined, and its own `fields` replace the preset's.
    """
    merged = {key: preset[key] for key in _INHERITED if key in preset}
    merged.update({key: value for key, value in data.items() if value is not None})
    own, given = data.get("types"), preset.get("types", {})
    merged["types"] = {**given, **own} if isinstance(own, dict) else given
    for key in _JOINED:
        if isinstance(data.get(key), dict):
            merged[key] = {**preset.get(key, {}), **data[key]}
    if isinstance(data.get("gates"), dict):
        merged["gates"] = {**({"rules": preset["gates"]} if "gates" in preset else {}), **data["gates"]}
    if "fields" not in data and "type" not in data:
        merged.update({key: preset[key] for key in ("fields", "type", "align") if key in preset})
    return merged


def over_preset_field(raw: dict[str, Any], preset: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a field's definition on top of the preset's field of that name, unless it has its own type."""
    if preset is None or "type" in raw:
        return raw
    return {**preset, **raw}


def option_keys(raw: Mapping[str, Any]) -> list[str]:
    """Return the keys of a definition that are options of its reader or comparator."""
    return [key for key in raw if key not in FIELD_KEYS]


# Alternative keys of fields in records.

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

    The field's own key counts first, then the first other key that is not null, then one that is null.

    >>> others = (("name", ("speaker", "who")), ("pages", ("ref_pages",)))
    >>> apply_aliases({"who": "Dupont", "pages": [1]}, others)
    {'pages': [1], 'name': 'Dupont'}
    """
    for name, keys in others:
        if value.get(name) is None and (alike := [key for key in keys if key in value]):
            found = next((key for key in alike if value[key] is not None), alike[0])
            empty = {key for key in alike if value[key] is None}
            rest = {key: member for key, member in value.items() if key not in (name, found, *empty)}
            value = rest | {name: value[found]}
    return value


# What tokens cost by a table of prices.

Table = Mapping[str, Mapping[str, float]]
"""USD per million tokens by model and kind of token; `*` is every model that is not named."""

INSIDE_PROMPT = ("cached_prompt", "image")
"""Kinds counted among the tokens of the prompt; without a price of their own they have the prompt's."""


def cost_usd(table: Table, model: str, tokens: Mapping[str, float | None]) -> float | None:
    """Return the cost of tokens by kind (`prompt`, `cached_prompt`, `image`, `completion`, `embedding`).

    None if model, price or tokens are unknown.

    >>> cost_usd({"m": {"prompt": 1.0, "completion": 2.0}}, "m", {"prompt": 500_000, "completion": 250_000})
    1.0
    >>> table = {"*": {"prompt": 1.0, "cached_prompt": 0.1, "completion": 2.0}}
    >>> cost_usd(table, "m", {"prompt": 1_000_000, "cached_prompt": 500_000, "completion": 0})
    0.55
    """
    known = table.get(model, table.get("*"))
    used = {kind: count for kind, count in tokens.items() if count is not None}
    counted = {kind: count for kind, count in used.items() if kind not in INSIDE_PROMPT}
    if known is None or not counted or any(kind not in known for kind, count in counted.items() if count):
        return None
    total = sum(float(known.get(kind, 0.0)) * count for kind, count in counted.items())
    left = counted.get("prompt", 0.0)
    for kind in INSIDE_PROMPT:
        inside = min(used.get(kind, 0.0), left)
        if inside and kind in known:
            total += (float(known[kind]) - float(known["prompt"])) * inside
            left -= inside
    return total / 1_000_000
