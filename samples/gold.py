"""The gold records of the sample: 28 invoices, 24 receipts and 20 bank statements."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

from facts import (
    AUSTRALIAN,
    BANKS,
    CUSTOMERS,
    FOREIGN,
    GOODS,
    MOVEMENTS,
    TAGS,
    Business,
    draw_abn,
    draw_digits,
)

Record = dict[str, Any]
INVOICES, RECEIPTS, STATEMENTS = 28, 24, 20
FIRST_DAY = date(2024, 7, 1)


def draw_day(rng: Random) -> date:
    """Return a day of the Australian financial year 2024-25."""
    return FIRST_DAY + timedelta(days=rng.randrange(330))


def draw_line(rng: Random, description: str, cents: int, sku_share: float) -> Record:
    """Return a line item of that price; `sku_share` is how often it has an article number."""
    is_measured = description.endswith((" kg", " hour", "electrician"))
    quantity = rng.choice([0.5, 1.5, 2.5, 3, 4.5]) if is_measured else rng.choice([1, 1, 2, 3, 4, 5, 10, 12])
    line: Record = {
        "description": description,
        "quantity": quantity,
        "unit_price": cents / 100,
        "amount": round(quantity * cents) / 100,
    }
    if rng.random() < sku_share:
        line["sku"] = draw_digits(rng, f"{rng.choice('ABKLSTX')}{rng.choice('BDORSZ')}-####")
    return line


def draw_lines(rng: Random, business: Business, count: int, sku_share: float) -> list[Record]:
    """Return line items of different goods of the business's trade."""
    goods = rng.sample(sorted(GOODS[business.trade].items()), count)
    return [draw_line(rng, description, cents, sku_share) for description, cents in goods]


def draw_totals(lines: list[Record], tax_percent: int) -> Record:
    """Return subtotal, tax and total of the lines; without a tax the tax is null."""
    cents = round(sum(line["amount"] for line in lines) * 100)
    tax = round(cents * tax_percent / 100)
    return {
        "subtotal": cents / 100,
        "gst_amount": tax / 100 if tax_percent else None,
        "total_amount": (cents + tax) / 100,
    }


def describe_sender(business: Business) -> Record:
    """Return what every document says of the business that sent it; only Australian ones have an ABN."""
    rng = Random(business.name)
    return {
        "supplier_name": business.name,
        "supplier_address": business.street,
        "business_abn": draw_abn(rng) if business.currency == "AUD" else None,
        "contact_phone": draw_digits(rng, business.phone),
        "contact_email": f"{rng.choice(['accounts', 'hello', 'billing'])}@{business.domain}",
    }


def thin_out(rng: Random, record: Record, keys: tuple[str, ...]) -> Record:
    """Return the record with some of these keys null or missing, as in real documents."""
    for key in keys:
        fate = rng.random()
        if fate < 0.12:
            record[key] = None
        elif fate < 0.24:
            record.pop(key, None)
    return record


def draw_invoice(rng: Random, number: int) -> Record:
    """Return an invoice."""
    business, customer = rng.choice(AUSTRALIAN + AUSTRALIAN + FOREIGN), rng.choice(CUSTOMERS)
    day, terms = draw_day(rng), rng.choice([7, 14, 30, 45])
    lines = draw_lines(rng, business, rng.randint(2, 6), 0.8)
    record = {
        "id": f"inv-{number:03d}",
        "document_type": "invoice",
        **describe_sender(business),
        "invoice_number": draw_digits(rng, rng.choice(["INV-#####", "####/25", "SO######"])),
        "invoice_date": day.isoformat(),
        "due_date": (day + timedelta(days=terms)).isoformat(),
        "payment_terms": f"{terms} days",
        "status": rng.choice(["open", "open", "paid", "overdue"]),
        "currency": business.currency,
        **draw_totals(lines, business.tax),
        "is_gst_included": bool(business.tax),
        "payer_name": customer.name,
        "payer_address": customer.address,
        "lines": lines,
        "tags": rng.sample(TAGS, rng.randint(1, 3)),
    }
    return thin_out(
        rng,
        record,
        ("due_date", "payment_terms", "contact_email", "supplier_address", "payer_address", "tags"),
    )


def draw_receipt(rng: Random, number: int) -> Record:
    """Return a till receipt: paid, mostly without a payer and without article numbers."""
    business = rng.choice(AUSTRALIAN + AUSTRALIAN + FOREIGN[1:])
    lines = draw_lines(rng, business, rng.randint(1, 4), 0.2)
    record = {
        "id": f"rcp-{number:03d}",
        "document_type": "receipt",
        **describe_sender(business),
        "invoice_number": draw_digits(rng, rng.choice(["R####", "TXN-######"])),
        "invoice_date": draw_day(rng).isoformat(),
        "status": "paid",
        "currency": business.currency,
        **draw_totals(lines, business.tax),
        "is_gst_included": bool(business.tax),
        "payer_name": None,
        "lines": lines,
        "tags": rng.sample(TAGS, rng.randint(0, 2)) or None,
    }
    return thin_out(rng, record, ("contact_phone", "contact_email", "subtotal", "is_gst_included"))


def draw_statement(rng: Random, number: int) -> Record:
    """Return a bank statement of one month; the last one is of a dormant account without transactions."""
    bank, holder = rng.choice(BANKS), rng.choice(CUSTOMERS)
    first = draw_day(rng).replace(day=1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    count = 0 if number == STATEMENTS else rng.randint(3, 7)
    record = {
        "id": f"stm-{number:03d}",
        "document_type": "bank statement",
        **describe_sender(bank),
        "currency": bank.currency,
        "payer_name": holder.name,
        "payer_address": holder.address,
        "account": {
            "bsb": draw_digits(rng, "9##-###"),
            "number": draw_digits(rng, "0### #####"),
            "holder": holder.name,
        },
        "statement_period": f"{first.isoformat()}/{last.isoformat()}",
        "transactions": draw_transactions(rng, first, last, count),
    }
    return thin_out(rng, record, ("contact_phone", "contact_email", "payer_address"))


def draw_transactions(rng: Random, first: date, last: date, count: int) -> list[Record]:
    """Return transactions in the order of their days, with the running balance."""
    days = sorted(rng.randrange((last - first).days + 1) for _ in range(count))
    balance, rows = rng.randint(350_000, 1_900_000), []
    for day in days:
        description = rng.choice(sorted(MOVEMENTS))
        cents = rng.randint(*MOVEMENTS[description])
        balance += cents
        rows.append(
            {
                "date": (first + timedelta(days=day)).isoformat(),
                "description": description,
                "amount": cents / 100,
                "balance": balance / 100,
            }
        )
    return rows


def draw_gold(rng: Random) -> list[Record]:
    """Return the 72 gold records; one receipt has an empty list of lines, since the paper is torn."""
    receipts = [draw_receipt(rng, number) for number in range(1, RECEIPTS + 1)]
    receipts[-1]["lines"] = []
    invoices = [draw_invoice(rng, number) for number in range(1, INVOICES + 1)]
    invoices[-1]["tags"] = []
    return [*invoices, *receipts, *(draw_statement(rng, number) for number in range(1, STATEMENTS + 1))]
