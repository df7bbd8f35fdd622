"""Writes the receipts of the sample as printed, and the recorded answers of `atlas` to them.

`python samples/make_documents.py DIR` writes DIR/documents, DIR/examples (the first six, with their records)
and DIR/recorded; the same bytes on every run.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.documents.sources import load
from fieldassay.extraction.endpoints.exchange import request_key
from fieldassay.extraction.strategy import Task
from fieldassay.extraction.systems import read_systems
from fieldassay.spec.language.parse import read_spec

SAMPLE = Path(__file__).parents[1] / "src" / "fieldassay" / "scoring" / "sample"
WIDTH = 46
EXAMPLES = 6


def render(record: dict[str, Any]) -> str:
    """Return a receipt as a till prints it: the shop, the goods, the amounts."""
    lines = [center(record["supplier_name"]), center(record["supplier_address"])]
    if record.get("business_abn"):
        lines.append(center(f"ABN {record['business_abn']}"))
    lines += [center(text) for key in ("contact_phone", "contact_email") if (text := record.get(key))]
    lines += ["", f"RECEIPT {record['invoice_number']}".ljust(WIDTH - 16) + f"Date {day(record)}".rjust(16)]
    if record.get("payer_name"):
        lines.append(f"Customer: {record['payer_name']}")
    lines += ["", "Qty  Item".ljust(WIDTH - 18) + "Price".rjust(8) + "Amount".rjust(10), "-" * WIDTH]
    lines += [item(line) for line in record.get("lines") or ()]
    lines += ["-" * WIDTH]
    if record.get("subtotal") is not None:
        lines.append(amount("Subtotal", record["subtotal"]))
    if record.get("gst_amount") is not None:
        lines.append(amount("GST" if record["currency"] == "AUD" else "VAT", record["gst_amount"]))
    lines.append(amount(f"TOTAL {record['currency']}", record.get("total_amount")))
    lines += ["", center("PAID - THANK YOU" if record.get("status") == "paid" else "NOT PAID")]
    if record.get("tags"):
        lines.append(f"Ref: {', '.join(record['tags'])}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def center(text: str | None) -> str:
    """Return a text in the middle of a line."""
    return (text or "").center(WIDTH)


def day(record: dict[str, Any]) -> str:
    """Return the date as the country of the shop writes it."""
    year, month, number = record["invoice_date"].split("-")
    return f"{month}/{number}/{year}" if record["currency"] == "USD" else f"{number}/{month}/{year}"


def item(line: dict[str, Any]) -> str:
    """Return the line of an item."""
    count = "" if line.get("quantity") is None else f"{line['quantity']:g}"
    price = "" if line.get("unit_price") is None else f"{line['unit_price']:.2f}"
    total = "" if line.get("amount") is None else f"{line['amount']:.2f}"
    return f"{count:<4} {(line.get('description') or '')[: WIDTH - 24]:<{WIDTH - 23}}{price:>8}{total:>10}"


def amount(name: str, value: float | None) -> str:
    """Return a line with an amount at its end."""
    return name.ljust(WIDTH - 12) + ("" if value is None else f"{value:.2f}").rjust(12)


def read(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the sample that are receipts."""
    rows = (json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["id"].startswith("rcp-")]


def record(folder: Path) -> list[bytes]:
    """Return the journal in which `atlas` has answered the request of every receipt."""
    systems = read_systems(SAMPLE / "systems.yaml")
    strategy, url = systems.systems["atlas"].strategy, systems.endpoints["recorded"].chat_url
    task = Task(read_spec(SAMPLE / "spec.yaml"))
    lines = []
    for row in read("atlas.jsonl"):
        name = f"{row['id']}.txt"
        if not (folder / name).exists():
            continue
        steps = strategy.extract(load(folder / name, name=row["id"]), task)
        (request,) = next(steps)
        steps.close()
        text = row.get("raw") or json.dumps(row["prediction"], ensure_ascii=False)
        usage = {
            "prompt_tokens": request.expected_tokens,
            "completion_tokens": row["usage"]["completion_tokens"],
        }
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {
            "kind": "answer",
            "key": request_key(url, request),
            "document": row["id"],
            "attempts": 1,
            "possibly_billed": 0,
            "model_ms": row["timing"]["duration_ms"],
            "first_byte_ms": None,
            "wait_ms": 0.0,
            "ended": 0,
            "status": 200,
            "request_id": "",
            "body": {"model": row["usage"]["model"], "choices": [choice], "usage": usage},
        }
        payload = msgspec.json.encode(answer)
        lines.append(b"%08x %s\n" % (zlib.crc32(payload), payload))
    return lines


def main(out: Path) -> None:
    """Write both folders."""
    documents, examples, recorded = out / "documents", out / "examples", out / "recorded"
    for folder in (documents, examples, recorded):
        folder.mkdir(parents=True, exist_ok=True)
    gold = read("gold.jsonl")
    for at, row in enumerate(gold):
        folder = examples if at < EXAMPLES else documents
        (folder / f"{row['id']}.txt").write_text(render(row), encoding="utf-8")
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in gold[:EXAMPLES])
    (examples / "gold.jsonl").write_text(rows, encoding="utf-8")
    (recorded / "journal.jsonl").write_bytes(b"".join(record(documents)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
