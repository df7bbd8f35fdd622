"""Writes the benchmark's work: invoices with about one value in five perturbed, and ones with long lists.

`python bench/generate.py DIRECTORY [DOCUMENTS] [--written]`. The same numbers come out on every machine: one seeded
generator, and a fixed order of draws. A document has 12 scalars and 10 line items of 5 values. Perturbed
values keep their JSON type or become null; keys and whole items get lost, items are invented, and all items
are shuffled.

The same work as it stands on paper (`--written`) has texts only: amounts as `1,250.00`, and 12 % of the predicted
values in another notation (`€ 1,250.00`, `1.250,00`, `15 March 2025`, `5.0`, upper case, white space).
"""

from __future__ import annotations

import json
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

SEED = 20240607
DOCUMENTS = 2000
LIST_SIZES = (50, 100, 300, 1000)

PERTURBED, NULLED, KEY_LOST = 0.20, 0.12, 0.1
REWRITTEN = 0.12
ITEM_LOST, ITEM_INVENTED = 0.03, 0.03

COMPANIES = (
    "Acme Industrial Supply", "Globex Corporation", "Initech Systems GmbH", "Umbrella Logistics",
    "Stark Components Ltd",
    "Wayne Office Products", "Soylent Foods Inc", "Tyrell Optics", "Cyberdyne Tooling", "Wonka Packaging",
    "Hooli Cloud Services",
    "Vandelay Imports",
)  # fmt: skip
PARTS = (
    "bolt", "washer", "bracket", "gasket", "valve", "cable", "sensor", "panel", "filter", "bearing", "hinge",
    "motor", "relay", "switch",
    "pump", "clamp", "nozzle", "spring", "gear", "flange",
)  # fmt: skip
QUALITIES = (
    "stainless steel", "galvanised", "heavy duty", "low profile", "M8", "M10", "insulated", "high torque",
    "corrosion resistant",
    "twin pack", "industrial", "precision", "flexible", "thermal",
)  # fmt: skip
STREETS = (
    "Main Street", "Oak Avenue", "Harbour Road", "Industrial Park", "Station Lane", "Mill Way",
)  # fmt: skip
TOWNS = (
    "Springfield", "Rotterdam", "Leeds", "Hamburg", "Portland", "Lyon", "Milan", "Austin",
)  # fmt: skip
CURRENCIES = (
    "USD", "EUR", "GBP", "CHF",
)  # fmt: skip
AMOUNTS = ("subtotal", "tax", "total", "unit_price", "amount")
DATES = ("invoice_date", "due_date")
TAX_RATES = (0.0, 0.07, 0.19, 0.2)

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold document, its prediction, and the gold position of every predicted item (None: invented)."""

    gold: Record
    prediction: Record
    origins: tuple[int | None, ...]


def draw_date(rng: Random) -> str:
    """Return an ISO date whose day exists in every month."""
    return f"{rng.randint(2019, 2025)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def draw_item(rng: Random) -> Record:
    """Return a line item."""
    quantity, price = rng.randint(1, 200), round(rng.uniform(0.5, 900), 2)
    letters = rng.choice(string.ascii_uppercase) + rng.choice(string.ascii_uppercase)
    return {
        "sku": f"{letters}-{rng.randint(1000, 9999)}",
        "description": f"{rng.choice(QUALITIES)} {rng.choice(PARTS)}, {rng.choice(QUALITIES)}",
        "quantity": quantity,
        "unit_price": price,
        "amount": round(quantity * price, 2),
    }


def draw_invoice(rng: Random, items: int = 10) -> Record:
    """Return a gold document with that many line items."""
    lines = [draw_item(rng) for _ in range(items)]
    subtotal = round(sum(line["amount"] for line in lines), 2)
    tax = round(subtotal * rng.choice(TAX_RATES), 2)
    return {
        "invoice_number": f"INV-{rng.randint(100_000, 999_999)}",
        "invoice_date": draw_date(rng),
        "due_date": draw_date(rng),
        "vendor_name": rng.choice(COMPANIES),
        "vendor_address": (
            f"{rng.randint(1, 999)} {rng.choice(STREETS)}, {rng.choice(TOWNS)} {rng.randint(10_000, 99_999)}"
        ),
        "vendor_tax_id": f"{rng.choice(['DE', 'GB', 'FR'])}{rng.randint(100_000_000, 999_999_999)}",
        "customer_name": rng.choice(COMPANIES),
        "po_number": f"PO-{rng.randint(10_000, 99_999)}",
        "currency": rng.choice(CURRENCIES),
        "subtotal": subtotal,
        "tax": tax,
        "total": round(subtotal + tax, 2),
        "line_items": lines,
    }


def perturb_number(rng: Random, value: float) -> float:
    """Return a number of the same type with its point moved, a little off, or far off."""
    kind = rng.random()
    if kind < 0.3:
        changed = value * 10
    elif kind < 0.6:
        changed = value + rng.choice([-1, 1, 10])
    else:
        changed = value * rng.uniform(0.5, 1.5)
    return type(value)(round(changed, 2))


def perturb_text(rng: Random, text: str) -> str:
    """Return a text with other case or white space, misread characters, or added or missing words.

    One to three characters are misread, two words are left of it or put about it.
    """
    kind = rng.random()
    if kind < 0.25:
        return text.upper() if rng.random() < 0.5 else "  " + text.lower()
    if kind >= 0.8:
        return " ".join(rng.sample([*text.split(), "ref", "copy"], 2))
    characters = list(text)
    for _ in range(rng.randint(1, 3)):
        position = rng.randrange(len(characters))
        characters[position] = rng.choice(string.ascii_letters + string.digits)
    return "".join(characters)


def perturb_value(rng: Random, value: str | float) -> str | float | None:
    """Return a perturbed value of the same JSON type, or None."""
    if rng.random() < NULLED:
        return None
    return perturb_text(rng, value) if isinstance(value, str) else perturb_number(rng, value)


def perturb_scalars(rng: Random, record: Record) -> Record:
    """Return the record without its lists, each value perturbed or lost with the work's probabilities."""
    perturbed = {}
    for key, value in record.items():
        if isinstance(value, list):
            continue
        if rng.random() >= PERTURBED:
            perturbed[key] = value
        elif rng.random() >= KEY_LOST:
            perturbed[key] = perturb_value(rng, value)
    return perturbed


def perturb(rng: Random, gold: Record) -> Pair:
    """Return the document with a prediction for it."""
    prediction = perturb_scalars(rng, gold)
    read: list[tuple[int | None, Record]] = [
        (place, perturb_scalars(rng, line)) for place, line in enumerate(gold["line_items"])
    ]
    rows = [row for row in read if rng.random() > ITEM_LOST]
    invented = sum(rng.random() < ITEM_INVENTED for _ in rows)
    rows += [(None, draw_item(rng)) for _ in range(invented)]
    rng.shuffle(rows)
    prediction["line_items"] = [line for _, line in rows]
    return Pair(gold, prediction, tuple(origin for origin, _ in rows))


def draw_documents(count: int = DOCUMENTS) -> Iterator[Pair]:
    """Yield the documents of the work, in order; the first ones do not depend on `count`."""
    rng = Random(SEED)
    for _ in range(count):
        yield perturb(rng, draw_invoice(rng))


def draw_long_list(items: int) -> Pair:
    """Return one document with that many line items."""
    rng = Random(items)
    return perturb(rng, draw_invoice(rng, items))


def write_amount(value: float) -> str:
    """Return an amount as an invoice has it: grouped, with two decimals."""
    return f"{value:,.2f}"


def write_record(rng: Random, record: Record, rewritten: float = 0.0) -> Record:
    """Return the record with texts only, a part of them in another notation."""
    written: Record = {}
    for key, value in record.items():
        if isinstance(value, list):
            written[key] = [write_record(rng, line, rewritten) for line in value]
        elif value is None:
            written[key] = None
        else:
            text = write_amount(value) if isinstance(value, float) else str(value)
            written[key] = rewrite(rng, key, text) if rng.random() < rewritten else text
    return written


def rewrite(rng: Random, key: str, text: str) -> str:
    """Return a text in another notation of the same value."""
    if key in AMOUNTS:
        german = text.translate(str.maketrans(",.", ".,"))
        return rng.choice([f"€ {text}", german, f"{german} €", f"EUR {text}", text.replace(",", "")])
    if key in DATES:
        day = write_day(text)
        return text if day is None else rng.choice(day)
    if key == "quantity":
        return f"{text}.0"
    return rng.choice([text.upper(), f" {text} ", text.replace(" ", "  ")])


def write_day(text: str) -> list[str] | None:
    """Return the notations of an ISO date; None if the text is none."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return [f"{day:%d %B %Y}", f"{day:%B %d, %Y}", f"{day:%d.%m.%Y}", f"{day:%Y/%m/%d}"]


def draw_written_documents(count: int = DOCUMENTS) -> Iterator[Pair]:
    """Yield the same documents as texts, 12 % of the predicted values in another notation."""
    rng = Random(SEED)
    for pair in draw_documents(count):
        yield Pair(write_record(rng, pair.gold), write_record(rng, pair.prediction, REWRITTEN), pair.origins)


def write_work(directory: Path, count: int = DOCUMENTS) -> None:
    """Write gold.jsonl, pred.jsonl and one list_<items>.json per size."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "gold.jsonl").open("w") as gold, (directory / "pred.jsonl").open("w") as predictions:
        for pair in draw_documents(count):
            gold.write(json.dumps(pair.gold) + "\n")
            predictions.write(json.dumps(pair.prediction) + "\n")
    for items in LIST_SIZES:
        pair = draw_long_list(items)
        (directory / f"list_{items}.json").write_text(
            json.dumps({"gold": pair.gold, "pred": pair.prediction})
        )


if __name__ == "__main__":
    write_work(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else DOCUMENTS)
