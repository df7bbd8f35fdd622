"""What goes wrong with one value: ways to write it otherwise, and ways to get it wrong."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from random import Random
from typing import Any, Final
from unicodedata import combining, normalize

LOST: Final = object()
"""Stands for a value that the system left out."""

KINDS = {
    "invoice_date": "date", "due_date": "date", "date": "date", "statement_period": "period", "payment_terms": "duration",
    "subtotal": "money", "gst_amount": "money", "total_amount": "money", "unit_price": "money", "amount": "money", "balance": "money",
    "quantity": "number", "is_gst_included": "boolean", "status": "status", "document_type": "type", "contact_phone": "phone",
    "business_abn": "digits", "bsb": "digits", "number": "digits", "invoice_number": "code", "sku": "code", "currency": "currency",
}  # fmt: skip
"""Kind of value by key; every other key holds text."""

CONFUSIONS = {
    "0": "O",
    "O": "0",
    "1": "l",
    "l": "1",
    "5": "S",
    "S": "5",
    "8": "B",
    "B": "8",
    "m": "rn",
    "2": "Z",
    "I": "1",
}
STATUS_WORDS = {"open": "unpaid", "paid": "PAID", "overdue": "past due"}
TYPE_WORDS = {"invoice": "tax invoice", "receipt": "till receipt", "bank statement": "account statement"}


def kind_of(key: str) -> str:
    """Return the kind of value that a key holds."""
    return KINDS.get(key, "text")


def spell_date(text: str) -> str:
    """Return an ISO date with the name of its month.

    >>> spell_date("2025-03-05")
    '5 March 2025'
    """
    day = date.fromisoformat(text)
    return f"{day.day} {day:%B} {day.year}"


def slash_date(text: str) -> str:
    """Return an ISO date with day, month and year between slashes.

    >>> slash_date("2025-03-05")
    '05/03/2025'
    """
    return f"{date.fromisoformat(text):%d/%m/%Y}"


def rewrite(key: str, value: Any, sign: str) -> Any:
    """Return the same value in another form, or the value itself where only one form is usual; `sign` goes before money."""
    match kind_of(key):
        case "date":
            return spell_date(value)
        case "period":
            return " to ".join(map(spell_date, value.split("/")))
        case "money":
            return f"-{sign}{-value:,.2f}" if value < 0 else f"{sign}{value:,.2f}"
        case "number":
            return str(value)
        case "boolean":
            return "yes" if value else "no"
        case "status":
            return STATUS_WORDS[value]
        case "type":
            return TYPE_WORDS[value]
        case "digits":
            return value.replace(" ", "")
    return value


def print_as_seen(key: str, value: Any) -> Any:
    """Return the value as it is printed on the page, which is all that OCR can give: texts, days before months, thousands with commas."""
    match kind_of(key):
        case "date":
            return slash_date(value)
        case "period":
            return " - ".join(map(slash_date, value.split("/")))
        case "money":
            return f"{value:,.2f}"
        case "number":
            return str(value)
    return value


def confuse(rng: Random, text: str) -> str:
    """Return the text with one character misread as a similar one; unchanged if it has none that is easily misread."""
    places = [place for place, mark in enumerate(text) if mark in CONFUSIONS]
    if not places:
        return text
    place = rng.choice(places)
    return text[:place] + CONFUSIONS[text[place]] + text[place + 1 :]


def transpose(rng: Random, text: str) -> str:
    """Return the text with two different neighboring digits exchanged; unchanged if it has none."""
    places = [
        i
        for i, (left, right) in enumerate(pairwise(text))
        if left.isdigit() and right.isdigit() and left != right
    ]
    if not places:
        return text
    place = rng.choice(places)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def drop_accents(text: str) -> str:
    """Return the text without accents.

    >>> drop_accents("José")
    'Jose'
    """
    return "".join(mark for mark in normalize("NFD", text) if not combining(mark))


def swap_day_and_month(text: str) -> str:
    """Return an ISO date with day and month exchanged where that is a date, unchanged otherwise.

    >>> swap_day_and_month("2025-03-05"), swap_day_and_month("2025-03-15")
    ('2025-05-03', '2025-03-15')
    """
    year, month, day = text.split("-")
    return f"{year}-{day}-{month}" if int(day) <= 12 else text


def misread(rng: Random, key: str, value: Any) -> Any:
    """Return the value as OCR gets it wrong, in the form it is printed in; the same value where it offers no occasion."""
    kind = kind_of(key)
    printed = print_as_seen(key, value)
    if kind == "date" and rng.random() < 0.5:
        return slash_date(swap_day_and_month(value))
    if kind == "money" and rng.random() < 0.4:
        return (
            printed.replace(".", "")
            if rng.random() < 0.6
            else printed.replace(",", "").replace(".", ",") + "0"
        )
    if kind in ("date", "period", "money", "digits", "phone"):
        return transpose(rng, printed) if rng.random() < 0.6 else confuse(rng, printed)
    if kind in ("boolean", "status", "type"):
        return LOST
    stripped = drop_accents(printed)
    return stripped if stripped != printed else confuse(rng, printed)


def slip(rng: Random, key: str, value: Any) -> Any:
    """Return the value as a careful model gets it wrong now and then: rounded, a day off, a word short, two digits exchanged, left out."""
    match kind_of(key):
        case "date":
            return (date.fromisoformat(value) + timedelta(days=rng.choice([-1, 1]))).isoformat()
        case "money":
            return round(value, 1) if rng.random() < 0.5 else round(value)
        case "text":
            return value.rpartition(" ")[0] or LOST
        case "digits" | "code" | "phone":
            return transpose(rng, value)
    return LOST


def blunder(rng: Random, key: str, value: Any, record: dict[str, Any]) -> Any:
    """Return the value as a careless model gets it wrong: taken from another field, cut short, rounded, guessed."""
    match kind_of(key):
        case "date":
            return record.get("due_date" if key == "invoice_date" else "invoice_date") or value[:8] + "01"
        case "money":
            confused = record.get("subtotal") if key == "total_amount" and rng.random() < 0.5 else None
            return confused or round(value * rng.choice([1, 1.1, 10, -1]))
        case "number":
            return value + rng.choice([1, -1, 10])
        case "boolean":
            return not value
        case "status":
            return {"open": "paid", "paid": "open", "overdue": "open"}[value]
        case "type":
            return "receipt" if value == "invoice" else "invoice"
        case "duration":
            return "60 days"
        case "currency":
            return "AUD" if value == "USD" else "USD"
        case "text":
            other = record.get("payer_name" if key == "supplier_name" else "supplier_name")
            return (
                other
                if key.endswith("_name") and other and rng.random() < 0.6
                else value[: max(3, len(value) * 2 // 3)].rstrip()
            )
    return transpose(rng, str(value)) if rng.random() < 0.5 else str(value)[:-2]
