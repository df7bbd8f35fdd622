"""Names in a spec: of types, fields, templates, renamed keys and prices."""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct, field

from fieldassay.errors import kind_of, nearest
from fieldassay.options import Catalogue, option_names
from fieldassay.paths import Pattern
from fieldassay.spec.language.yaml_text import Report, Steps
from fieldassay.values.catalogue import ALIGNERS, COMPARATORS, NORMALIZERS, READERS

# The names usable in a spec, and the messages for unknown ones.

CONTAINERS = ("list", "map", "object", "any")
"""Types with other fields inside."""

CATALOGUES: dict[str, Catalogue] = {"compare": COMPARATORS, "normalize": NORMALIZERS, "align": ALIGNERS}
"""The catalogue of the names under these keys of a field."""

FIELD_KEYS = (
    "type", "names", "compare", "normalize", "accept", "weight", "critical", "accepted", "applies_to", "null",
    "null_values", "unreadable_gold", "blank", "items", "align", "combine", "both_empty", "empty_items",
    "other_kind", "separator", "distinct", "fields", "extra", "description", "labels", "find", "unit_field",
)  # fmt: skip
"""Keys of a field with one meaning for all types; any other key is an option of its reader or comparator."""

SPEC_KEYS = (
    "fieldassay", "name", "version", "description", "citation", "protocol", "replace", "null_values",
    "locale", "calendar", "unreadable_gold", "extra", "document_type", "types", "type", "align", "fields",
    "data", "statistics", "absent_fields", "checks", "definitions", "score", "metrics", "gates", "slices",
    "prices",
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

_OWN = ("fieldassay", "kind", "name", "version", "citation", "protocol", "replace")
"""Keys that a spec does not take from its protocol."""
ADDED = (
    "data", "statistics", "document_type", "types", "fields", "checks", "definitions", "metrics", "gates",
    "slices", "prices",
)  # fmt: skip
"""Keys under which a spec adds to its protocol; what `replace` lists of them takes the protocol's place."""
_PATH = re.compile(r"\*|\[\]|\w\.\w")
"""What makes a name a path or a pattern, beside the patterns of a protocol."""
_OF_ANY_TYPE = ("names", "applies_to", "weight", "critical", "description", "labels", "find")
"""Keys of a protocol's field that stay where a spec gives it another type."""


class Templates(Struct, frozen=True):
    """Definitions that fields build on: `types` by name, each with the rules of its base types."""

    types: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Return every valid type name of a field."""
        return tuple(sorted({*type_names(), *self.types}))

    def __contains__(self, name: object) -> bool:
        return name in self.types or is_type(name)

    def expanded(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a field's definition on top of the rules of its type; the field's own keys win."""
        name = raw.get("type", _implied_type(raw))
        rules = self.types.get(name) if isinstance(name, str) else None
        return raw if rules is None else {**over_rules(raw, rules, name), "type": rules.get("type", name)}


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
            remedy = f"add `type:` with one of: {', '.join(type_names())}"
            report.add(
                (*steps, name), f"the type {name!r} is not built in, and names none", remedy, "missing_key"
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
        if isinstance(name, str) and name in chain and types[name].get("type", name) != name:
            report.add(
                (*steps, name, "type"),
                f"the type {name!r} refers to itself",
                "name a built-in type",
                "cycle",
            )
            joined[name] = {**types[name], "type": "text"}
        for link in reversed(chain):
            if link not in joined:
                target = types[link].get("type", link)
                below = joined.get(target, {}) if isinstance(target, str) else {}
                joined[link] = {**over_rules(types[link], below, target), "type": below.get("type", target)}
    return joined


def _implied_type(raw: Mapping[str, Any]) -> str:
    return "list" if "items" in raw else "object" if "fields" in raw else "text"


def over_rules(own: Mapping[str, Any], rules: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return a definition's keys on top of the rules of its type, whose name is `kind`.

    Where it names a comparator of its own, the options of the other one go. Where it has an option of the
    other one's comparator, that option goes. Fields, items and values inside are joined, too.

    >>> over_rules({"compare": "exact"}, {"type": "money", "currency": "EUR", "tolerance": 1}, "money")
    {'type': 'money', 'currency': 'EUR', 'compare': 'exact'}
    >>> over_rules({"tolerance": 1}, {"compare": {"cascade": ["exact", {"number": 0}]}}, "text")
    {'compare': {'cascade': ['exact', 'number']}, 'tolerance': 1}
    >>> over_rules({"items": {"tolerance": 1}}, {"items": "money", "separator": "|"}, "list")
    {'items': {'type': 'money', 'tolerance': 1}, 'separator': '|'}
    """
    both = own.keys() & rules.keys()
    inner = {key: _over_definition(own[key], rules[key]) for key in both & {"items", "values"}}
    if "fields" in both:
        inner["fields"] = _over_definitions(own["fields"], rules["fields"])
    name = rules.get("type", kind)
    if "compare" in own and isinstance(name, str) and name in READERS:
        allowed = {*FIELD_KEYS, *option_names(READERS.load(name))}
        rules = {key: value for key, value in rules.items() if key in allowed}
    if "compare" in rules and "compare" not in own:
        rules = {**rules, "compare": without_options(rules["compare"], option_keys(own))}
    return {**rules, **own, **inner}


def without_options(raw: Any, names: Collection[str]) -> Any:
    """Return a comparator as a spec has it, without these options, nor those inside it."""
    if isinstance(raw, str) and ":" in raw:
        name, _, value = raw.partition(":")
        raw = {name.strip(): value.strip()}
    if isinstance(raw, list):
        return [without_options(comparator, names) for comparator in raw]
    if not isinstance(raw, dict):
        return raw
    rest = {}
    for key, value in raw.items():
        options = option_names(COMPARATORS.load(key)) if key in COMPARATORS else ()
        is_first_option = not isinstance(value, dict) and options[:1] and options[0] in names
        if key not in names:
            rest[key] = {} if is_first_option else without_options(value, names)
    bare = [key for key, value in rest.items() if value == {} and key in COMPARATORS]
    return bare[0] if len(bare) == len(rest) == 1 else rest


def over_protocol(
    data: Mapping[str, Any], protocol: Mapping[str, Any], replaced: Collection[str] = ()
) -> dict[str, Any]:
    """Return a spec's data on top of those of its protocol, key by key.

    What the spec says of a field, a type, a metric, a gate … takes the place of what the protocol says of the
    same one, and the protocol's others stay, unless their key is one of `replaced`; of `all` nothing stays.
    Another score is also the first metric, if the spec lists none.

    >>> own = {"fields": {"due": "date"}, "gates": ["accuracy >= .9"]}
    >>> over_protocol(own, {"fields": {"total": "money"}, "gates": ["accuracy >= .8", "f1 >= .8"]})
    {'fields': {'total': 'money', 'due': 'date'}, 'gates': ['accuracy >= .9', 'f1 >= .8']}
    >>> over_protocol({"score": "f1"}, {"score": "accuracy", "metrics": ["accuracy"]})
    {'score': 'f1', 'metrics': ['f1', 'accuracy']}
    """
    own = {key: value for key, value in data.items() if value is not None}
    if "all" in replaced:
        return own
    if isinstance(own.get("score"), str) and "metrics" not in own:
        own["metrics"] = [own["score"]]
    fields, is_tree = own.get("fields"), _is_tree(protocol.get("fields"))
    is_apart = (
        "fields" in replaced
        or own.get("type", protocol.get("type")) != protocol.get("type")
        or (is_tree and isinstance(fields, dict) and not any(map(_PATH.search, fields)))
    )
    dropped = {*_OWN, *replaced, *(("fields", "type", "align") if is_apart else ())}
    merged = {key: value for key, value in protocol.items() if key not in dropped}
    if "fields" in replaced:  # the rules of the protocol's fields stay for those of their names
        own["fields"] = _over_definitions(own.get("fields"), protocol.get("fields"), only_own=True)
    return merged | {
        key: _over_key(key, value, merged[key]) if key in merged and key in ADDED else value
        for key, value in own.items()
    }


def _over_key(key: str, own: Any, below: Any) -> Any:
    """Return what a spec says under a key on top of what its protocol says there; nothing leaves nothing."""
    if not own:
        return own
    if key in ("fields", "types"):
        return _over_definitions(own, below, of_types=key == "types")
    if key == "gates" and isinstance(own, dict):  # what is said of all gates
        return {**own, "rules": _over_key(key, own["rules"], below) if "rules" in own else below}
    if key in ("metrics", "gates", "slices"):
        own, below = ([texts] if isinstance(texts, str) else texts for texts in (own, below))
        if not isinstance(own, list):
            return own
        said = {_without_threshold(str(text)) for text in own}
        return [*own, *(text for text in below if _without_threshold(text) not in said)]
    if key == "document_type":
        own, below = (
            {"field": definition} if isinstance(definition, str) else definition
            for definition in (own, below)
        )
    if not isinstance(own, dict):
        return own
    inner = {
        name: {**below[name], **value}
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return {**below, **own, **inner}


def _without_threshold(text: str) -> str:
    """Return a gate without its number and what it allows for; a metric or a slice as it is.

    >>> _without_threshold("f1{type=invoice}  >= 0.8 if present")
    'f1{type=invoice}>=ifpresent'
    """
    plain = re.sub(r" (?:for the best system|at any look)\b", "", text)
    return re.sub(r"([<>=]=?) *+[-+0-9.][-+0-9.eE]*+", r"\1", plain).replace(" ", "")


def _over_definitions(own: Any, below: Any, *, of_types: bool = False, only_own: bool = False) -> Any:
    """Return definitions by name on top of the protocol's.

    Patterns stand before the protocol's patterns; a new one builds on the first of those that cover it.
    """
    if not isinstance(own, dict) or not isinstance(below, dict):
        return own
    joined = {
        name: _over_definition(
            raw,
            below.get(name) or _find_pattern(name, raw, below),
            name if of_types and is_type(name) else None,
        )
        for name, raw in own.items()
    }
    if only_own:
        return joined
    rest = {name: raw for name, raw in below.items() if name not in own}
    return {**joined, **rest} if _is_tree(below) else {**below, **joined}


def _find_pattern(name: str, raw: Any, patterns: Mapping[str, Any]) -> Any:
    """Return the definition of the first pattern that covers a pattern for values; None: there is none."""
    if not _is_tree(patterns) or _implied_type(as_definition(raw) or {}) != "text":
        return None
    with suppress(ValueError):  # of a pattern that is none, which is noted where it is read
        return next((below for text, below in patterns.items() if Pattern(text).matches(name)), None)
    return None


def _is_tree(fields: Any) -> bool:
    """Return whether definitions are those of path patterns."""
    return isinstance(fields, dict) and any("*" in name for name in fields)


def _over_definition(raw: Any, below: Any, kind: str | None = None) -> Any:
    """Return a definition on top of the protocol's definition of that name.

    A comparator or an aligner of the same name keeps the options that are not given. Of a field of another
    type only what says which field it is stays: its names, where it applies, its weight.
    """
    own, base = as_definition(raw), as_definition(below)
    if own is None or base is None:
        return raw
    kind = base.get("type", kind or _implied_type(base))
    if own.get("type", kind) != kind:
        return {**{key: base[key] for key in _OF_ANY_TYPE if key in base}, **own}
    calls = {
        key: {name: below[name] | options for name, options in raw.items()}
        for key, raw in own.items()
        if key in ("compare", "align") and _is_call_of(below := base.get(key), raw)
    }
    return {**over_rules(own, base, kind), **calls}


def _is_call_of(below: Any, own: Any) -> bool:
    """Return whether both are calls with options of one comparator or aligner.

    >>> [_is_call_of({"words": {"contained": 0.9}}, own) for own in ({"words": {"threshold": 0.5}}, "words")]
    [True, False]
    """
    calls = [call for call in (below, own) if isinstance(call, dict) and len(call) == 1]
    are_open = all(isinstance(options, dict) for call in calls for options in call.values())
    return are_open and len(calls) == 2 and [*below] == [*own]


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
    present = {own for name, own in names if name in value}
    keys: dict[str, list[str]] = {}
    for key in value:
        if len(owners := fields.get(fold_key(key), ())) == 1:
            keys.setdefault(min(owners), []).append(key)
    key_of = {own: alike[0] for own, alike in keys.items() if len(alike) == 1 and own not in present}
    rest = {key: member for key, member in value.items() if key not in key_of.values()}
    return rest | {own: value[key] for own, key in key_of.items()} if key_of else value


def apply_aliases(value: dict[str, Any], others: OtherNames) -> dict[str, Any]:
    """Return the object with every field under its own name.

    The field's own key counts first, then the first other key that is not null, then one that is null.

    >>> others = (("name", ("speaker", "who")), ("pages", ("ref_pages",)))
    >>> apply_aliases({"who": "Dupont", "pages": [1]}, others)
    {'pages': [1], 'name': 'Dupont'}
    """
    for name, keys in others:
        if value.get(name) is None and (alike := [key for key in keys if key in value]):
            first = next((key for key in alike if value[key] is not None), alike[0])
            empty = {key for key in alike if value[key] is None}
            rest = {key: member for key, member in value.items() if key not in (name, first, *empty)}
            value = rest | {name: value[first]}
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
    prices = table.get(model, table.get("*"))
    used = {kind: count for kind, count in tokens.items() if count is not None}
    counted = {kind: count for kind, count in used.items() if kind not in INSIDE_PROMPT}
    if prices is None or not counted or any(kind not in prices for kind, count in counted.items() if count):
        return None
    total = sum(float(prices.get(kind, 0.0)) * count for kind, count in counted.items())
    left = counted.get("prompt", 0.0)
    for kind in INSIDE_PROMPT:
        inside = min(used.get(kind, 0.0), left)
        if inside and kind in prices:
            total += (float(prices[kind]) - float(prices["prompt"])) * inside
            left -= inside
    return total / 1_000_000
