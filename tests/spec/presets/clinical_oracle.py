"""The two clinical protocols as worded, apart from the package: plain loops, pairings one by one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

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
