"""Random specs with matching records: small alphabets for ties, and values of every kind anywhere."""

import random
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

VALUES: dict[str, list[Any]] = {
    "text": ["red", "red pen", "Red", "blue", " blue ", "pen 12", "naïve", "blau", 12, True],
    "id": ["000123", "123", "AB-1", "AB-2", "ab-1", "INV 0012", " INV  0012", 123],
    "enum": ["paid", "open", "due", "Unpaid", "void"],
    "boolean": [True, False, "yes", "no", "Y", 1, "maybe"],
    "integer": [1, 2, "3", 3.0, "1,000", "about 7", -1],
    "number": [1, 1.5, "1.50", "(5)", "1.234,56", "1,234.56", "5.000", "12 pcs", -0.0],
    "money": ["$5", "5 AUD", "€5", 5, "5.05", "1,234.50", "5%", "free"],
    "quantity": ["5 kg", "5000 g", "5 lb", "5", "1-2 m", "heavy"],
    "unit": ["m3/h", "m³/h", "kg", "lb", "furlongs?"],
    "date": ["2024-03-04", "04/03/2024", "03/04/2024", "4 March 2024", "March 2024", "2024", "soon",
        "31/02/2024"],
    "datetime": ["2024-03-04T09:00", "2024-03-04T09:00Z", "2024-03-04T10:00+01:00", "2024-03-04", "later"],
    "time": ["09:00", "9 am", "09:00Z", "9:00 pm", "noonish"],
    "duration": ["1 h", "60 min", "PT1H", "3600", "long"],
    "phone": ["+61 2 9374 4000", "(02) 9374 4000", "0293744000", "n/a?"],
    "email": ["a@x.org", "A@x.org", "a@X.ORG", "not an address"],
    "url": ["https://x.org", "http://x.org/", "x.org", "::"],
}  # fmt: skip
"""Values of each type as documents and models write them; every list ends with some that cannot be read."""

ANYTHING = [
    None,
    "",
    "  ",
    "N/A",
    0,
    7,
    False,
    "see page 2",
    [],
    {},
    [None],
    ["red"],
    ["red", "blue"],
    {"a": "red"},
    [["x"]],
    '["red"]',
    '{"a": 1}',
]
"""What stands in a place where something else should."""

NO_ITEMS = [None, "", "  ", "N/A", 0, 7, False, "see page 2", [], {}]
"""The same for lists of objects or lists, without anything that makes an item of another kind."""

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "id": [{}, {"case_sensitive": False}],
    "enum": [{"values": ["paid", "open"], "aliases": {"open": ["due", "unpaid"]}}],
    "number": [{}, {"tolerance": 0.1}],
    "money": [{}, {"currency": "AUD"}, {"tolerance": {"absolute": 0.1}}],
    "date": [{}, {"order": "mdy"}, {"days": 1}],
    "phone": [{"region": "AU"}],
}
TEXT_COMPARATORS: list[Any] = [
    "exact", "digits", "contains", "indel", "levenshtein", "jaro_winkler", "ratcliff", "anls", "words",
    "token_set", "phone_digits", "number",
    "range", "date_parts", "bare_number", {"synonyms": {"words": {"a": ["b"], "5": ["five"]}}},
    {"cascade": {"steps": ["exact", "levenshtein"]}},
]  # fmt: skip
LIST_COMPARATORS = ["iou", "overlap", "bag", "by_position", "sequence", "contained_items", "soft_coverage"]
TYPED_COMPARATORS = {
    "date": ["date", "date_components"], "money": ["money"], "quantity": ["quantity"],
    "number": ["number", "range"],
}  # fmt: skip
OF_ANY_KIND = ["by_kind"]
"""Comparators only of values of any kind."""


def name_of(call: Any) -> str:
    """Return the name of a comparator as a spec writes it."""
    return call if isinstance(call, str) else next(iter(call))


NOTHING = [None, "", "  ", "N/A", [], {}]
"""What is nothing, wherever it stands."""

COVERED = {
    *map(name_of, TEXT_COMPARATORS),
    *LIST_COMPARATORS,
    *(name for names in TYPED_COMPARATORS.values() for name in names),
    *OF_ANY_KIND,
}


@dataclass(frozen=True)
class Tastes:
    """What random specs and records may have: `fuzz` is the share of places that hold anything at all."""

    fuzz: float = 0.1
    aligners: tuple[str, ...] = ("assignment",)
    trees: bool = True
    odd_items: bool = True
    """Containers of another kind as items of lists, and inside them."""
    distinct: bool = True


def items_of(field: dict[str, Any]) -> dict[str, Any]:
    """Return the field of a list's items."""
    items = field["items"]
    return items if isinstance(items, dict) else {"type": items}


def is_container(field: dict[str, Any]) -> bool:
    """Return whether a field is an object, or a list that is judged item by item."""
    return field["type"] == "object" or (field["type"] == "list" and "compare" not in field)


class Maker:
    """Makes fields and values; the same random numbers make the same ones."""

    def __init__(self, chance: random.Random, tastes: Tastes = Tastes()) -> None:
        self.chance, self.tastes, self.aligners = chance, tastes, tastes.aligners
        self.inside = 0  # of how many lists the place is that gets a value

    def spec(self, depth: int = 2) -> dict[str, Any]:
        """Return a spec of one to three fields."""
        pick = self.chance.choice
        return {
            "null_values": ["N/A"],
            "unreadable_gold": pick(["text", "text", "failed"]),
            "locale": pick(["en_AU", "de_DE"]),
            "fields": {
                name: self.field(depth) for name in ("alpha", "beta", "gamma")[: self.chance.randint(1, 3)]
            },
        }

    def field(self, depth: int) -> dict[str, Any]:
        """Return a field with at most `depth` lists or objects inside each other."""
        kinds = ["leaf", "list", "list", "object", "whole", *(["tree"] if self.tastes.trees else [])]
        kind = self.chance.choice(kinds if depth else ["leaf"])
        if kind == "list":
            return self._list(depth)
        if kind == "object":
            extra = self.chance.choice(["ignore", "spurious"])
            return {"type": "object", "extra": extra, "fields": self.members(depth - 1)}
        if kind == "whole":
            return {
                "type": "list",
                "items": self.chance.choice(["text", "number", "date"]),
                "compare": self.chance.choice(LIST_COMPARATORS),
            }
        if kind == "tree":
            return {
                "type": "any",
                "align": self.chance.choice(["ordered", *(name for name in self.aligners if name != "key")]),
            }
        return self.leaf()

    def members(self, depth: int) -> dict[str, Any]:
        """Return the fields of an object."""
        return {name: self.field(depth) for name in ("a", "b", "c")[: self.chance.randint(1, 3)]}

    def leaf(self) -> dict[str, Any]:
        """Return a field of any type of value."""
        kind = self.chance.choice([*VALUES, "text", "number"])
        field = {
            "type": kind,
            **self.chance.choice(OPTIONS.get(kind, [{}])),
            "weight": self.chance.choice([1, 1, 0.5, 3]),
        }
        if kind == "text" and self.chance.random() < 0.7:
            field["compare"] = self.chance.choice(TEXT_COMPARATORS)
        if self.chance.random() < 0.15:
            field["null"] = "value"
        if self.chance.random() < 0.15:
            field["accepted"] = [self.chance.choice(VALUES[kind])]
        return field

    def _list(self, depth: int) -> dict[str, Any]:
        items = (
            self.field(depth - 1)
            if self.chance.random() < 0.4
            else {"type": "object", "fields": self.members(depth - 1)}
        )
        aligner = self.chance.choice(self.aligners)
        if aligner == "key" and not items.get("fields"):
            aligner = "assignment"
        if aligner == "key":
            aligner = {"key": next(iter(items["fields"]))}
        return {
            "type": "list",
            "items": items,
            "align": aligner,
            "combine": self.chance.choice(["mean", "mean", "weighted", "product"]),
            "distinct": self.tastes.distinct and self.chance.random() < 0.15,
        }

    def record(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return a record of the spec's fields."""
        return self._members(spec["fields"])

    def _members(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(field) for name, field in fields.items() if self.chance.random() < 0.9}

    def value(self, field: dict[str, Any]) -> Any:
        """Return a value for a field."""
        chance = self.chance
        if chance.random() < self.tastes.fuzz:
            return chance.choice(self._oddities(field))
        if field["type"] == "list":
            items = items_of(field)
            self.inside += 1
            found = [self._item(items) for _ in range(chance.choice([0, 1, 2, 3, 3]))]
            self.inside -= 1
            return found
        if field["type"] == "object":
            return self._members(field["fields"])
        if field["type"] == "any":
            return self.tree(2)
        return chance.choice(VALUES[field["type"]])

    def _oddities(self, field: dict[str, Any]) -> list[Any]:
        if self.tastes.odd_items or not is_container(field):
            return ANYTHING
        if self.inside:
            return NOTHING
        return NO_ITEMS if field["type"] == "list" and is_container(items_of(field)) else ANYTHING

    def _item(self, items: dict[str, Any]) -> Any:
        """Return an item, of the kind that its field declares unless anything goes."""
        value = self.value(items)
        if self.tastes.odd_items or not is_container(items):
            return value
        wanted = dict if items["type"] == "object" else list
        return value if isinstance(value, wanted) else wanted()

    def tree(self, depth: int) -> Any:
        """Return any JSON value."""
        chance = self.chance
        kind = chance.choice(["scalar", "list", "object"]) if depth else "scalar"
        if kind == "list":
            return [self.tree(depth - 1) for _ in range(chance.randint(0, 3))]
        if kind == "object":
            return {
                name: self.tree(depth - 1)
                for name in chance.sample(["a", "b", "odd.key", "x y"], chance.randint(0, 3))
            }
        return chance.choice(["red", "blue", 1, 1.0, True, None, ""])

    def prediction(self, field: dict[str, Any], gold: Any) -> Any:
        """Return what a model could make of a gold value: most of it right, some of it elsewhere."""
        chance = self.chance
        if chance.random() < 0.15:
            return self.value(field)
        if field["type"] == "list" and isinstance(gold, list):
            items = items_of(field)
            self.inside += 1
            found = [self.prediction(items, item) for item in gold if chance.random() < 0.85]
            chance.shuffle(found)
            more = [] if chance.random() < 0.7 else [self._item(items)]
            self.inside -= 1
            is_free = self.tastes.odd_items or not is_container(items)
            return [item for item in found if is_free or isinstance(item, (dict, list))] + more
        if field["type"] == "object" and isinstance(gold, dict):
            return {
                name: self.prediction(field["fields"].get(name, {"type": "any"}), value)
                for name, value in gold.items()
            }
        return gold

    def answer(self, spec: dict[str, Any], gold: dict[str, Any]) -> dict[str, Any]:
        """Return a predicted record for a gold record."""
        return {
            name: self.prediction(spec["fields"][name], value)
            for name, value in gold.items()
            if self.chance.random() < 0.95
        }


chances = st.integers(0, 2**32 - 1).map(random.Random)
"""Random numbers to make cases of."""
