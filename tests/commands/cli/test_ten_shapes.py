"""Ten data sets in ten shapes give the true number, computed apart, with the paths alone."""

import json
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter
from command_runs import Ran

Run = Callable[..., Ran]
Row = dict[str, Any]

VENDORS = ("Oak & Sons", "Elm Trading GmbH", "Pine, Inc.", "Ash Paper", "Birch Büromöbel")
FIELDS = ("vendor", "day", "net", "rate", "total", "po")


def invoices() -> list[Row]:
    """Return the gold of eighteen invoices: texts, dates, amounts, rates, and numbers that some lack."""
    rows = []
    for at in range(18):
        net, rate = Decimal(1234567 + 8191 * at) / 100, Decimal((19, 7)[at % 2]) / 100
        rows.append(
            {
                "key": f"INV-2025/{at + 1:03d}",
                "vendor": VENDORS[at % 5],
                "day": date(2025, 1, 9) + timedelta(days=17 * at),
                "net": net,
                "rate": rate,
                "total": round(net * (1 + rate), 2),
                "po": None if at % 3 == 0 else f"PO-{4100 + 37 * at}",
                "lines": [
                    {
                        "item": f"Part {at}{chr(65 + n)}",
                        "count": n + 2,
                        "amount": Decimal(975 + 50 * at + n) / 100,
                    }
                    for n in range(1 + at % 3)
                ],
            }
        )
    return rows


def answers() -> list[Row]:
    """Return invoices with planted errors: each is another value, or none where gold has one."""
    rows = invoices()
    for at, name, value in (
        (1, "vendor", "Oak"),
        (2, "day", date(2024, 2, 12)),
        (4, "total", Decimal("1.00")),
        (5, "total", None),
        (7, "po", "PO-1"),
        (7, "rate", Decimal("0.19") - Decimal("0.14")),
        (11, "net", Decimal("99999.99")),
        (13, "po", None),
        (16, "vendor", None),
    ):
        rows[at] = {**rows[at], name: value}
    return rows


def truth(names: Sequence[str] = FIELDS, lines: Sequence[str] = ()) -> float:
    """Return the mean over documents of the share of right values, of those that either side has."""
    shares = []
    for gold, pred in zip(invoices(), answers(), strict=True):
        pairs = [(gold[name], pred[name]) for name in names]
        pairs += [
            (ours[name], theirs[name])
            for ours, theirs in zip(gold["lines"], pred["lines"], strict=True)
            for name in lines
        ]
        filled = [(ours, theirs) for ours, theirs in pairs if (ours, theirs) != (None, None)]
        shares.append(sum(ours == theirs for ours, theirs in filled) / len(filled))
    return sum(shares) / len(shares)


def put(name: str, text: str) -> str:
    """Write a file below the current folder, and return its name."""
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def jsonl(rows: Sequence[Any]) -> str:
    return "".join(f"{json.dumps(row, default=str, ensure_ascii=False)}\n" for row in rows)


def table(rows: Sequence[Row], delimiter: str = ",") -> str:
    return pl.DataFrame(rows).write_csv(separator=delimiter)


def german(number: Decimal | None) -> str | None:
    return None if number is None else f"{number:,.2f}".translate(str.maketrans(",.", ".,")) + " €"


def percent(rate: Decimal | None) -> str | None:
    return None if rate is None else f"{100 * rate:.0f}%"


def stem(row: Row) -> str:
    return str(row["key"]).replace("/", "_")


def answer(row: Row) -> Row:
    """Return an answer under the names that a model chose itself."""
    return {
        "invoice_number": row["key"], "vendor_name": row["vendor"], "invoice_date": row["day"],
        "net_amount": german(row["net"]), "vat_rate": percent(row["rate"]), "total_due": german(row["total"]),
        "purchase_order": row["po"],
    }  # fmt: skip


def workbook_with_a_title() -> tuple[str, str, float]:
    book = xlsxwriter.Workbook("gold.xlsx")
    sheet = book.add_worksheet("Gold 2025")
    sheet.write_row(0, 0, ["Invoice gold – checked by Anna"])
    sheet.write_row(2, 0, ["Invoice No.", "Vendor", "Date", "Net", "VAT %", "Total", "PO #"])
    day, share, money = (book.add_format({"num_format": form}) for form in ("dd/mm/yyyy", "0%", "#,##0.00"))
    forms = (None, None, day, money, share, money, None)
    for at, row in enumerate(invoices(), 3):
        for column, (name, form) in enumerate(zip(("key", *FIELDS), forms, strict=True)):
            sheet.write(at, column, row[name], form)
    book.close()
    for at, row in enumerate(answers()):
        text = json.dumps(answer(row), default=str)
        put(f"answers/{stem(row)}.json", f"Here it is:\n```json\n{text}\n```\n" if at == 3 else text)
    return "gold.xlsx", "answers", truth()


def folder_of_responses() -> tuple[str, str, float]:
    gold = [{"id": row["key"], **{name: row[name] for name in FIELDS}} for row in invoices()]
    for row in answers():
        message = {
            "role": "assistant",
            "content": json.dumps({name: row[name] for name in FIELDS}, default=str),
        }
        body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o-mini", "choices": [
            {"index": 0, "finish_reason": "stop", "message": message}
        ], "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980}}  # fmt: skip
        put(f"responses/{stem(row)}.json", json.dumps(body))
    return put("gold.csv", table(gold)), "responses", truth()


def dump_of_pandas() -> tuple[str, str, float]:
    gold, pred = (
        pl.DataFrame(
            [
                {"": at, "doc_id": stem(row), **{n: None if row[n] is None else str(row[n]) for n in FIELDS}}
                for at, row in enumerate(rows)
            ]
        )
        for rows in (invoices(), answers())
    )
    gold.write_csv("gold.csv")
    rows = [{key: "NaN" if value is None else value for key, value in row.items()} for row in pred.to_dicts()]
    return "gold.csv", put("pred.csv", table(rows)), truth()


def table_of_items() -> tuple[str, str, float]:
    rows = [
        {"invoice_id": row["key"], "vendor": row["vendor"], "total": row["total"], **line}
        for row in invoices()
        for line in row["lines"]
    ]
    pred = [
        {"invoice_id": row["key"], "vendor": row["vendor"], "total": row["total"], "items": [
            {"description": line["item"], "quantity": line["count"], "line_total": german(line["amount"])}
            for line in row["lines"]
        ]}
        for row in answers()
    ]  # fmt: skip
    names = ("vendor", "total"), ("item", "count", "amount")
    return put("gold.csv", table(rows)), put("pred.jsonl", jsonl(pred)), truth(*names)


def export_of_a_database() -> tuple[str, str, float]:
    gold = [
        {"DOCUMENT_ID": f"{at:010d}", "VENDOR_NAME": row["vendor"], "INVOICE_DATE": f"{row['day']} 00:00:00",
         "NET": row["net"], "VAT_RATE": row["rate"], "TOTAL": row["total"], "PO_NUMBER": row["po"] or "NULL"}
        for at, row in enumerate(invoices())
    ]  # fmt: skip
    pred = [
        {"documentId": at, "vendorName": row["vendor"], "invoiceDate": row["day"], "net": row["net"],
         "vatRate": percent(row["rate"]), "total": row["total"], "poNumber": row["po"]}
        for at, row in enumerate(answers())
    ]  # fmt: skip
    return put("gold.tsv", table(gold, "\t")), put("pred.jsonl", jsonl(pred)), truth()


def file_of_a_batch() -> tuple[str, str, float]:
    gold = [{"id": row["key"], **{name: row[name] for name in FIELDS}} for row in invoices()]
    pred = [
        {"id": f"batch_req_{at}", "custom_id": row["key"], "error": None, "response": {
            "status_code": 200, "request_id": f"r{at}", "body": {"object": "chat.completion", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": json.dumps(answer(row), default=str)}}
            ]}}}
        for at, row in enumerate(answers())
    ]  # fmt: skip
    return put("gold.jsonl", jsonl(gold)), put("batch.jsonl", jsonl(pred)), truth()


def two_languages() -> tuple[str, str, float]:
    gold = [
        {"Rechnungsnummer": row["key"], "Lieferant": row["vendor"], "Datum": row["day"].strftime("%d.%m.%Y"),
         "Nettobetrag": german(row["net"]), "MwSt.-Satz": percent(row["rate"]),
         "Gesamtbetrag": german(row["total"]), "Bestellnummer": row["po"]}
        for row in invoices()
    ]  # fmt: skip
    pred = [
        {"invoice_number": row["key"], "supplier": row["vendor"], "date": row["day"],
         "net": row["net"] and float(row["net"]), "vat": float(row["rate"]),
         "grand_total": row["total"] and float(row["total"]), "order_number": row["po"]}
        for row in answers()
    ]  # fmt: skip
    return put("gold.csv", table(gold, ";")), put("pred.jsonl", jsonl(pred)), truth()


def nested_objects() -> tuple[str, str, float]:
    gold = [
        {"id": row["key"], "seller": {"name": row["vendor"]}, "dates": {"issued": row["day"]},
         "amounts": {"net": str(row["net"]), "total": str(row["total"])}, "lines": [
            {"text": line["item"], "qty": line["count"], "sum": str(line["amount"])} for line in row["lines"]
        ]}
        for row in invoices()
    ]  # fmt: skip
    pred = [
        {"id": row["key"], "vendor": {"legal_name": row["vendor"]}, "dates": {"invoice_date": row["day"]},
         "amounts": {"net_amount": german(row["net"]), "total": german(row["total"])}, "line_items": [
            {"description": line["item"], "quantity": line["count"], "amount": german(line["amount"])}
            for line in row["lines"]
        ]}
        for row in answers()
    ]  # fmt: skip
    names = ("vendor", "day", "net", "total"), ("item", "count", "amount")
    return put("gold.json", json.dumps(gold, default=str)), put("pred.jsonl", jsonl(pred)), truth(*names)


def columns_of_parquet() -> tuple[str, str, float]:
    pl.DataFrame(
        [{"image_file": f"{stem(row)}.png", **{n: row[n] for n in FIELDS}} for row in invoices()]
    ).write_parquet("gold.parquet")
    pl.DataFrame(
        [
            {"image_file": f"scans/{stem(row)}.png.json", "vendor": row["vendor"], "day": str(row["day"]),
             "net": row["net"], "rate": percent(row["rate"]), "total": row["total"], "po": row["po"],
             "latency_ms": 12.5}
            for row in answers()
        ]
    ).write_parquet("pred.parquet")  # fmt: skip
    return "gold.parquet", "pred.parquet", truth()


def answers_with_fences() -> tuple[str, str, float]:
    gold = [{"id": row["key"], **{name: row[name] for name in FIELDS}} for row in invoices()]
    pred = [
        {"file": f"{stem(row)}.pdf", "model": "m", "response": "Sure!\n```json\n"
         + json.dumps({name: row[name] for name in FIELDS}, default=str)[:-1] + ",}\n```"}
        for row in answers()
    ]  # fmt: skip
    return put("gold.jsonl", jsonl(gold)), put("pred.jsonl", jsonl(pred)), truth()


@pytest.mark.parametrize(
    "shape",
    [
        workbook_with_a_title,
        folder_of_responses,
        dump_of_pandas,
        table_of_items,
        export_of_a_database,
        file_of_a_batch,
        two_languages,
        nested_objects,
        columns_of_parquet,
        answers_with_fences,
    ],
)
def test_the_paths_alone_give_the_true_number(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Callable[[], tuple[str, str, float]]
) -> None:
    monkeypatch.chdir(tmp_path)
    gold, pred, true = shape()
    ran = run("score", gold, pred, "--json", "--bootstrap", "0", "--metrics", "accuracy_strict")
    assert ran.code == 0, ran.err
    (found,) = (one["value"] for one in json.loads(ran.out)["estimates"] if one["field"] is None)
    assert found == pytest.approx(true, abs=1e-6), ran.err
