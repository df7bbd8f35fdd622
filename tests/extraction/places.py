"""Values as documents write them: notations of each type, texts of ten scripts, and the gold of real documents."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from fieldassay.documents.transcript import Line, Page, Word
from fieldassay.extraction.evidence import plan_leaves
from fieldassay.extraction.places import Search
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf

DATA = Path(__file__).parents[3] / "shared" / "data"
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyzäöüéñ", "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыэюя", "hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह",
    "han": "北京橡树贸易有限公司上海榆木科技合同签订日期金额总计单位数量", "kana": "アイウエオカキクケコサシスセソあいうえお",
    "thai": "กขคงจฉชซญดตถทธนบปผฝพฟภมยรลวสหอ", "korean": "가나다라마바사아자차카타파하거너더러머버",
}  # fmt: skip
UNSPACED = frozenset({"han", "kana", "thai"})


def leaf(kind: Any, **spec: Any) -> Leaf:
    """Return a planned field of a type."""
    return plan_leaves(read_plan({"fields": {"v": kind}, **spec}))["v",]


def searched(text: str) -> Search:
    """Return the search in a page with these lines."""
    return Search.of([Page(1, tuple(Line(tuple(map(Word, line.split()))) for line in text.split("\n")))])


def found(text: str, kind: Any, value: Any, **spec: Any) -> list[str]:
    """Return the places of a value in a text, as they are written."""
    search = searched(text)
    return [search.text_at(place) for place in search.places(leaf(kind, **spec), value)]


def grouped(amount: Decimal, group: str, mark: str) -> str:
    return f"{amount:,.2f}".translate(str.maketrans({",": group, ".": mark}))


def written(kind: str, value: Any) -> tuple[str, ...]:
    """Return the notations of a value that documents use."""
    if kind in ("money", "number"):
        forms = [
            grouped(value, group, mark) for group, mark in (",.", ".,", " ,", "’.", ("", "."), ("", ","))
        ]
        if kind == "number":
            return tuple(forms)
        return (
            *forms,
            *(f"{sign}{forms[0]}" for sign in ("$", "€", "EUR ")),
            f"{forms[1]} €",
            f"{forms[0]}EUR",
        )
    if kind == "date":
        month = MONTHS[value.month - 1]
        return (
            value.isoformat(), f"{value.day} {month} {value.year}", f"{value.day} {month[:3]} {value.year}",
            f"{month} {value.day}, {value.year}", f"{value.day:02}.{value.month:02}.{value.year}",
            f"{value.day}/{value.month}/{value.year}", f"{value.month}/{value.day}/{value.year}",
            f"{value.year}年{value.month}月{value.day}日",
        )  # fmt: skip
    if kind == "quantity":
        return f"{value} kg", f"{value}kg", f"{value * 1000} g"
    return (value,)


class Bearer(NamedTuple):
    """A value that stands to the letter in a real document: its type, and the words around it."""

    kind: str
    value: str
    before: str
    after: str


def bearers(name: str) -> Iterator[Bearer]:
    """Yield the amounts and texts of gold that stand in the text of their document to the letter."""
    texts = {
        row["id"]: [word[4] for page in row["pages"] for word in page["words"]] for row in rows(name, "ocr")
    }
    for row in rows(name, "gold"):
        words = texts.get(row["id"], [])
        record = row.get("gold", row)
        flat = [(key, value) for key, value in record.items() if isinstance(value, str) and key != "id"]
        flat += [pair for item in record.get("LineItem", ()) for pair in item.items()]
        for key, value in flat:
            given = value.split()
            at = next((at for at in range(len(words)) if words[at : at + len(given)] == given), None)
            if given and at is not None:
                kind = "text" if key in ("MenuNm", "ItemDescription", "InvoiceNumber") else "money"
                kind = "date" if "Date" in key else kind
                around = (
                    " ".join(words[max(0, at - 40) : at]),
                    " ".join(words[at + len(given) : at + len(given) + 40]),
                )
                yield Bearer(kind, value, *around)


def rows(name: str, part: str) -> list[dict[str, Any]]:
    """Return the lines of a file of real data."""
    return [json.loads(line) for line in (DATA / name / f"{part}.jsonl").open(encoding="utf-8")]


def word(draw: random.Random, script: str, least: int = 3) -> str:
    """Return a word of a script."""
    return "".join(draw.choice(SCRIPTS[script]) for _ in range(draw.randint(least, least + 5)))
