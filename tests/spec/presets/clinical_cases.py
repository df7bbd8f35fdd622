"""Random clinical records, and the protocol written down a second time."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

# The two clinical protocols as worded, apart from the package: plain loops, pairings one by one.

Item = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """What tells the two protocols apart; `conditional` fields count only where gold has one."""

    items: str
    name: str
    fields: tuple[str, ...]
    conditional: tuple[str, ...]
    numeric: tuple[str, ...]
    recall_weight: Fraction
    measured: tuple[str, ...] = ()
    """Fields whose unit stands elsewhere, so that a percent sign says nothing."""


PRESCRIPTION = Kind(
    "medications",
    "nombre_medicamento",
    ("dosis", "frecuencia", "duracion", "instrucciones"),
    (),
    (),
    Fraction(7, 10),
)
LAB_REPORT = Kind(
    "results",
    "nombre_prueba",
    ("valor", "unidad", "estado", "rango_referencia"),
    ("rango_referencia",),
    ("valor",),
    Fraction(6, 10),
    ("valor", "rango_referencia"),
)


def normalize(value: Any, keeps_percent: bool = True) -> str:
    if value is None or value in ([], {}):
        return ""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
    text = "".join(
        char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)
    ).upper()
    text = "".join(
        "." if char == "," and between(text, place, str.isdecimal) else char  # both neighbors as they were
        for place, char in enumerate(text)
    )
    text = "".join("0." if begins_number(text, place) else char for place, char in enumerate(text))
    while (closer := re.sub(r"(\d) */ *(\d)", r"\1/\2", text)) != text:
        text = closer
    kept = [
        f" {char} "
        if char == "%" and keeps_percent
        else " "
        if unicodedata.category(char)[0] == "P" and not stays(text, place)
        else char
        for place, char in enumerate(text)
    ]
    return " ".join("".join(kept).split())


def normalize_field(item: Item, field: str, kind: Kind) -> str:
    """The text of a field; a result of nothing but punctuation is one all the same."""
    value = item.get(field)
    text = normalize(value, field not in kind.measured)
    is_said = field in kind.numeric and isinstance(value, str) and value.strip()
    return text or ("punctuation" if is_said else "")


def begins_number(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    is_bare = not before.isalnum() and before not in "._,"
    return text[place] in ".," and is_bare and text[place + 1 : place + 2].isdecimal()


def between(text: str, place: int, is_one: Any) -> bool:
    return 0 < place < len(text) - 1 and is_one(text[place - 1]) and is_one(text[place + 1])


def stays(text: str, place: int) -> bool:
    if text[place] in "./":
        return between(text, place, str.isdecimal)
    before = text[place - 1] if place else " "
    return text[place] == "-" and text[place + 1 : place + 2].isdecimal() and not before.isalnum()


def number(text: str) -> Fraction | None:
    found = re.fullmatch(r"([+-]?)(\d+)(?:\.(\d+))?(?:E([+-]?\d{1,4}))?", text)
    if found is None:
        return None
    sign, whole, decimals, power = found.groups()
    value = Fraction(int(whole + (decimals or "")), 10 ** len(decimals or "")) * Fraction(10) ** int(
        power or 0
    )
    return -value if sign == "-" else value


def items_of(record: Item | None, kind: Kind) -> list[Item]:
    """The items of a record that hold anything; a single object stands for a list of itself."""
    found = (record or {}).get(kind.items)
    listed = [found] if isinstance(found, dict) else found if isinstance(found, list) else []
    return [
        item
        for item in listed
        if isinstance(item, dict)
        and any(normalize_field(item, key, kind) for key in (kind.name, *kind.fields))
    ]


def judge_pair(gold: Item, predicted: Item, kind: Kind) -> tuple[int, int]:
    """Right fields and counted fields of a matched pair."""
    right = counted = 0
    for field in kind.fields:
        wanted, found = (normalize_field(item, field, kind) for item in (gold, predicted))
        if field in kind.conditional and not wanted:
            continue
        counted += 1
        right += wanted == found or (field in kind.numeric and is_near(wanted, found))
    return right, counted


def is_near(wanted: str, found: str) -> bool:
    gold, predicted = number(wanted), number(found)
    return (
        gold is not None and predicted is not None and abs(predicted - gold) <= Fraction(2, 100) * abs(gold)
    )


def pairings(size: int, others: int) -> Iterator[list[tuple[int, int]]]:
    """Every way to pair as many as can be paired."""
    if size <= others:
        yield from ([*enumerate(chosen)] for chosen in permutations(range(others), size))
    else:
        yield from (
            [(at, other) for other, at in enumerate(chosen)] for chosen in permutations(range(size), others)
        )


@dataclass(frozen=True)
class Outcome:
    """The score of a document, by the pairing of equal names with most fields right.

    Of several such pairings the one with the fewest counted fields.
    """

    gold: int
    predicted: int
    matched: int
    right: int
    counted: int
    has_named: bool


def judge(gold: Item, predicted: Item | None, kind: Kind) -> Outcome:
    wanted, found = items_of(gold, kind), items_of(predicted, kind)
    matched = right = counted = 0
    for name in {normalize(item.get(kind.name)) for item in wanted}:
        ones = [item for item in wanted if normalize(item.get(kind.name)) == name]
        others = [item for item in found if normalize(item.get(kind.name)) == name]
        worth = [[judge_pair(one, other, kind) for other in others] for one in ones]
        made = [[worth[at][to] for at, to in pairs] for pairs in pairings(len(ones), len(others))]
        sums = [(sum(part[0] for part in pairs), sum(part[1] for part in pairs)) for pairs in made]
        best = max(sums, key=lambda found: (found[0], -found[1]))
        matched, right, counted = matched + min(len(ones), len(others)), right + best[0], counted + best[1]
    has_named = any(normalize(item.get(kind.name)) for item in found)
    return Outcome(len(wanted), len(found), matched, right, counted, has_named)


def is_success(predicted: Item | None, outcome: Outcome) -> bool:
    if predicted is None or predicted.get("error") or predicted.get("parse_success") is False:
        return False
    return outcome.has_named


def share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def document_figures(outcome: Outcome, kind: Kind) -> dict[str, Fraction | None]:
    recall, accuracy = (
        share(outcome.matched, outcome.gold),
        share(outcome.right, outcome.counted) or Fraction(0),
    )
    score = None if recall is None else kind.recall_weight * recall + (1 - kind.recall_weight) * accuracy
    return {
        "recall": recall,
        "accuracy": None if recall is None else accuracy,
        "precision": None if recall is None else share(outcome.matched, outcome.predicted),
        "score": score,
        "pooled_recall": recall,
        "pooled_accuracy": share(outcome.right, outcome.counted),
        "pooled_precision": share(outcome.matched, outcome.predicted),
    }


def mean(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def figures(outcomes: Sequence[Outcome], successes: Sequence[bool], kind: Kind) -> dict[str, Fraction | None]:
    """What all documents together come to."""
    documents = [document_figures(outcome, kind) for outcome in outcomes]
    means = {
        name: mean([document[name] for document in documents])
        for name in ("recall", "accuracy", "precision", "score")
    }
    total = {
        name: sum(getattr(outcome, name) for outcome in outcomes)
        for name in ("gold", "predicted", "matched", "right", "counted")
    }
    return {
        **means,
        "pooled_recall": share(total["matched"], total["gold"]),
        "pooled_accuracy": share(total["right"], total["counted"]),
        "pooled_precision": share(total["matched"], total["predicted"]),
        "spurious": Fraction(total["predicted"] - total["matched"]),
        "without_gold": Fraction(sum(not outcome.gold for outcome in outcomes)),
        "success": Fraction(sum(successes), len(successes)) * 100,
    }


# Random clinical documents and predictions, hostile values among them, from a seed.

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
