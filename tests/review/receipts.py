"""A review of a few invented receipts, small enough to be read, with every kind of field."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fieldassay.review.log import Store
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.sheets.sheets import LabelAnswer, Person, ReviewForm, claim, read_form, save_label
from fieldassay.review.web import guard

SPEC = """
name: receipts
locale: en_AU
document_type: {field: kind, aliases: {receipt: [till receipt], invoice: []}}
fields:
  kind: {type: enum, values: [receipt, invoice]}
  shop: text
  total: {type: money, currency: AUD}
  day: {type: date, applies_to: [receipt]}
  paid: boolean
  due: {type: date, applies_to: [invoice]}
  lines:
    type: list
    items: {type: object, fields: {sku: id, amount: {type: money, currency: AUD}}}
"""
NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
NONE = Shares(0.0, 0.0, 0.0)


def prediction(number: int, **more: Any) -> dict[str, Any]:
    row = {
        "id": f"doc-{number:03d}",
        "kind": "receipt",
        "shop": f"Shop {number}",
        "total": f"{number}1.50",
        "day": "03/04/2025",
        "paid": "yes",
        "lines": [{"sku": "A-1", "amount": "1.00"}, {"sku": "B-2", "amount": "2.00"}],
    }
    return row | more


def make_receipts(folder: Path, count: int = 3, shares: Shares = NONE, **more: Any) -> Store:
    """Return a new review of so many receipts."""
    rows = [prediction(number) for number in range(1, count + 1)]
    return make_review(folder, ReviewRequest(SPEC, {"llama": rows}, shares=shares, **more)).store


def add(store: Store, name: str = "me", role: str = guard.EVERYTHING, password: str | None = None) -> Person:
    return store.write(lambda journal: guard.add_person(journal, name, role, password))


def form_of(store: Store) -> ReviewForm:
    return read_form(store)[0]


def take(store: Store, person: Person, now: datetime = NOW) -> int | None:
    return store.write(lambda journal: claim(journal, person, now))


def say(store: Store, person: Person, sheet: int, node: str, text: str | None = None, **more: Any) -> int:
    state = more.pop("state", "value")
    answer = LabelAnswer(node, state, text, **more)
    return store.write(lambda journal: save_label(journal, form_of(store), person, sheet, answer))
