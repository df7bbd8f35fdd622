"""Random clinical documents and predictions, hostile values among them, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.spec.presets.clinical_oracle import Item, Kind

NAMES: dict[str, list[Any]] = {
    "medications": [
        "METFORMINA", "Metformina.", "metformina ", "LOSARTÁN", "losartan", "Losarta\u0301n", "ASPIRINA 100",
        "ASPIRINA-100", "A\u00a0B", "a b",
        "", "-", "  ", None, "…", 12, 12.5, True,
    ],
    "results": ["Glucosa", "GLUCOSA", "glucosa:", "Colesterol (HDL)", "colesterol hdl", "Na+", "Na", "", None,
        "--", 7],
}  # fmt: skip
"""The first three of each are one name."""

VALUES: list[Any] = [
    "5,0", "5.1", "5.11", "5.0", "-5", "- 5", "A-5", "5-", "1-2 TABLETAS", "12 TABLETAS", "1 2 tabletas",
    ". 5", ".5", "5", "1,000,5", "1.000.5",
    "½", "1/2", "1⁄2", "ﬁn", "fin", "٥", "٥,٥", "5٫5", "µg", "μg", "1e3", "1000", "1E+03", "1020",
    "1020.0001", "1e-3", "<5", "5 mg/dL",
    "5 mg dl", "％", "%", "", "-", "—", None, [], {}, " ", "\u00a0", "\u200b", "５，０", "–5", "−5", "+5",
    "0", "0.0", "-0", "inf", "NaN", "ß",
    "SS", "ss", "İ", "i", 5, 5.0, 5.1, 1e-7, True, False, 0, "true", "normal", "NORMAL.", "70-100", "70 100",
    "70–100", 10**20, "1e9999",
    "2e9999", "🜁", "a\u0000b", "\ud800",
]  # fmt: skip
NO_LISTS: list[Any] = [None, "", "ninguno", 5, True, {}, [], [{}], [None, ""], [None]]
ERRORS: list[Any] = ["boom", "timeout", "Timeout after 30 s", None, "", True, False, {"message": "x"}]


@dataclass(frozen=True)
class Maker:
    """Makes records of one kind."""

    kind: Kind
    draw: Random

    def documents(self, size: int) -> tuple[list[Item], dict[str, Item]]:
        """Gold records, and predictions by id; some documents have none."""
        gold = [self._gold(f"d{number}") for number in range(size)]
        kept = [record for record in gold if self.draw.random() < 0.95]
        self.draw.shuffle(kept)
        return gold, {record["doc_id"]: self._prediction(record) for record in kept}

    def _gold(self, doc: str) -> Item:
        return (
            {"doc_id": doc, self.kind.items: self._items()} if self.draw.random() < 0.98 else {"doc_id": doc}
        )

    def _prediction(self, gold: Item) -> Item:
        items = self._changed(gold.get(self.kind.items)) if self.draw.random() < 0.8 else self._items()
        record = {"doc_id": gold["doc_id"], self.kind.items: items}
        if self.draw.random() < 0.08:
            record["error"] = self.draw.choice(ERRORS)
        if self.draw.random() < 0.08:
            record["parse_success"] = self.draw.choice([True, False, None])
        return record

    def _items(self) -> Any:
        if self.draw.random() < 0.06:
            return self.draw.choice([*NO_LISTS, self._item()])
        return [self._item() for _ in range(self.draw.randrange(6))]

    def _item(self) -> Any:
        if self.draw.random() < 0.03:
            return self.draw.choice([None, {}, {"otro": 1}, {self.kind.name: "."}])
        values = self.draw.sample(VALUES, 4) if self.draw.random() < 0.6 else VALUES
        item = {field: self.draw.choice(values) for field in self.kind.fields if self.draw.random() < 0.85}
        if self.draw.random() < 0.95:
            names = NAMES[self.kind.items]
            item[self.kind.name] = self.draw.choice(names if self.draw.random() < 0.5 else names[:3])
        return item

    def _changed(self, items: Any) -> Any:
        """The items with some values changed, some left out, some repeated, in another order."""
        if not isinstance(items, list):
            return items
        changed = [self._changed_item(item) for item in items if self.draw.random() < 0.85]
        changed += [item for item in changed if self.draw.random() < 0.1]
        self.draw.shuffle(changed)
        return changed

    def _changed_item(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        found = dict(item)
        for field in self.kind.fields:
            if self.draw.random() < 0.25:
                found[field] = self.draw.choice(VALUES)
            elif self.draw.random() < 0.2 and isinstance(found.get(field), str):
                found[field] = found[field].lower() + self.draw.choice([".", " ", ";"])
        return found
