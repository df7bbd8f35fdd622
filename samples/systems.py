"""The three invented systems: what each makes of a gold record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from facts import MOVEMENTS, draw_digits
from slips import LOST, blunder, misread, print_as_seen, rewrite, slip

Record = dict[str, Any]
LISTS = ("lines", "transactions")


@dataclass(frozen=True, slots=True)
class Mark:
    """A predicted value, and whether it is right; `is_extra` if gold has no such value."""

    value: Any
    is_right: bool
    is_extra: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """A system: how often it errs, what it does then, and how sure of itself it is."""

    name: str
    read: Callable[[Random, str, Any, Record], Mark]
    spoil_items: Callable[[Random, str, list[Record]], list[Record]]
    invent: Callable[[Random, Record], Record]
    confidence_right: tuple[float, float]
    confidence_wrong: tuple[float, float]


def mark_if(changed: Any, value: Any, form: Any) -> Mark:
    """Return the mark of a spoiled value; a spoiling that changed nothing is right."""
    return Mark(form, True) if changed in (form, value) else Mark(changed, False)


def read_as_atlas(rng: Random, key: str, value: Any, record: Record) -> Mark:
    """Return a value as the strong model gives it: mostly right, at times in another form, seldom left out or cut."""
    fate = rng.random()
    if fate < 0.018:
        return Mark(LOST, False)
    if fate < 0.048:
        return mark_if(slip(rng, key, value), value, value)
    sign = "$" if record["currency"] != "EUR" else ""
    return Mark(rewrite(key, value, sign), True) if fate < 0.17 else Mark(value, True)


def read_as_birch(rng: Random, key: str, value: Any, _record: Record) -> Mark:
    """Return a value as OCR and rules give it: as printed, with misread characters, exchanged days and months, lost points."""
    fate = rng.random()
    if fate < 0.045:
        return Mark(LOST, False)
    form = print_as_seen(key, value)
    return mark_if(misread(rng, key, value), value, form) if fate < 0.185 else Mark(form, True)


def read_as_cedar(rng: Random, key: str, value: Any, record: Record) -> Mark:
    """Return a value as the small model gives it: often left out, cut, rounded or taken from another field."""
    fate = rng.random()
    if fate < 0.06:
        return Mark(LOST, False)
    return mark_if(blunder(rng, key, value, record), value, value) if fate < 0.18 else Mark(value, True)


def keep_items(rng: Random, _name: str, items: list[Record]) -> list[Record]:
    """Return the items, seldom without the last one."""
    return items[:-1] if len(items) > 4 and rng.random() < 0.1 else items


def is_marked(mark: Mark, kind: type) -> bool:
    """Return True if the mark holds a present value of that type."""
    return mark.value is not LOST and isinstance(mark.value, kind)


def shuffle_items(rng: Random, name: str, items: list[Record]) -> list[Record]:
    """Return the items as a page layout that was misread has them: two merged, one split in two, line items in another order."""
    rows = [dict(item) for item in items]
    if len(rows) > 2 and rng.random() < 0.15 and all(is_marked(row["description"], str) for row in rows[:2]):
        second = rows.pop(1)
        rows[0]["description"] = Mark(f"{rows[0]['description'].value} {second['description'].value}", False)
    if rows and rng.random() < 0.15 and is_marked(rows[-1]["description"], str):
        head, _, tail = rows[-1]["description"].value.rpartition(" ")
        if head:
            rows[-1]["description"] = Mark(head, False)
            rows.append({"description": Mark(tail, False, is_extra=True)})
    if name == "lines" and rng.random() < 0.35:
        rng.shuffle(rows)
    return rows


def invent_items(rng: Random, name: str, items: list[Record]) -> list[Record]:
    """Return the items, at times without some of them or with one that is not on the page."""
    rows = [item for item in items if rng.random() > 0.05]
    if items and rng.random() < 0.3:
        text = (
            rng.choice(["Shipping and handling", "Service fee", "Discount"])
            if name == "lines"
            else rng.choice(sorted(MOVEMENTS))
        )
        extra = {"description": text, "amount": rng.randint(300, 9000) / 100}
        rows.append({key: Mark(value, False, is_extra=True) for key, value in extra.items()})
    return rows


def invent_nothing(_rng: Random, _record: Record) -> Record:
    """Return no values beside gold's."""
    return {}


def guess_noise(rng: Random, _record: Record) -> Record:
    """Return, seldom, a telephone number that OCR found in a page footer."""
    return {"contact_phone": draw_digits(rng, "(02) 5550 ####")} if rng.random() < 0.25 else {}


def guess_fields(rng: Random, record: Record) -> Record:
    """Return made-up values that a small model likes to add; only those that gold lacks will be used."""
    guesses = {
        "contact_email": "info@example.com",
        "payment_terms": "30 days",
        "payer_name": record["supplier_name"],
        "due_date": record.get("invoice_date"),
        "business_abn": "12 345 678 901",
        "gst_amount": 0.0,
        "tags": ["misc"],
    }
    return {key: value for key, value in guesses.items() if value is not None and rng.random() < 0.5}


ATLAS = Reader("atlas", read_as_atlas, keep_items, invent_nothing, (0.9, 1.0), (0.7, 0.99))
BIRCH = Reader("birch", read_as_birch, shuffle_items, guess_noise, (0.6, 0.97), (0.35, 0.9))
CEDAR = Reader("cedar", read_as_cedar, invent_items, guess_fields, (0.85, 1.0), (0.75, 1.0))


def read_record(rng: Random, reader: Reader, gold: Record) -> Record:
    """Return the system's reading of a gold record: the same tree with marks for leaves."""
    tree: Record = {}
    for key, value in gold.items():
        if key == "id" or value is None:
            continue
        tree[key] = read_value(rng, reader, key, value, gold)
    extras = reader.invent(rng, gold)
    tree |= {key: mark_extra(value) for key, value in extras.items() if gold.get(key) is None}
    return tree


def mark_extra(value: Any) -> Any:
    """Return a made-up value, or list of values, as marks."""
    return (
        [Mark(inner, False, True) for inner in value]
        if isinstance(value, list)
        else Mark(value, False, is_extra=True)
    )


def read_value(rng: Random, reader: Reader, key: str, value: Any, gold: Record) -> Any:
    """Return the reading of one value, object or list of a gold record."""
    if isinstance(value, dict):
        return {name: read_value(rng, reader, name, inner, gold) for name, inner in value.items()}
    if key in LISTS:
        items = [
            {name: reader.read(rng, name, inner, gold) for name, inner in item.items()} for item in value
        ]
        return reader.spoil_items(rng, key, items)
    if isinstance(value, list):
        return [reader.read(rng, key, inner, gold) for inner in value]
    return reader.read(rng, key, value, gold)


def walk(tree: Any, path: str = "") -> Iterator[tuple[str, Mark]]:
    """Yield path and mark of every leaf that is present; positions are those of the written lists, without the lost values."""
    if isinstance(tree, Mark):
        if tree.value is not LOST:
            yield path, tree
    elif isinstance(tree, dict):
        for key, inner in tree.items():
            yield from walk(inner, f"{path}.{key}" if path else key)
    else:
        for place, inner in enumerate(
            inner for inner in tree if not (isinstance(inner, Mark) and inner.value is LOST)
        ):
            yield from walk(inner, f"{path}[{place}]")


def plain(tree: Any) -> Any:
    """Return the tree with values for marks, without the lost ones."""
    if isinstance(tree, Mark):
        return tree.value
    if isinstance(tree, dict):
        written = {key: plain(inner) for key, inner in tree.items()}
        return {key: value for key, value in written.items() if value is not LOST}
    return [value for value in map(plain, tree) if value is not LOST]


def draw_confidence(rng: Random, reader: Reader, mark: Mark) -> float:
    """Return the system's own confidence in a value: higher for right ones, but not as much as it should be."""
    low, high = reader.confidence_right if mark.is_right else reader.confidence_wrong
    return round(low + (high - low) * rng.random() ** 0.7, 2)
