"""Random records of business documents, many of them hostile."""

from __future__ import annotations

import random
from typing import Any

from tests.spec.presets.business_oracle import FIELDS, is_list_kind

EMPTY: tuple[Any, ...] = (
    None,
    "",
    "  ",
    "NOT_FOUND",
    " not_found ",
    "Not_Found",
    [],
    {},
    [None, ""],
    ["NOT_FOUND"],
    {"a": None},
)
ODD: tuple[Any, ...] = (
    "|",
    "| |",
    "NOT_FOUND | NOT_FOUND",
    "a||b",
    "$",
    "()",
    "%",
    ",",
    "!!!",
    "…—“”",
    "\u00a0",
    "N/A",
    "-",
    "--5",
    ".",
    "5.",
    "-.5",
    "1.2.3",
    "1e5",
    "\u0661\u0662\u0663",
    "\u221250",
    "ＡＢＣ",
    "Straße",
    "STRASSE",
    "İ",
    "é",
    "e\u0301",
    "\u202e12",
    "x" * 3000,
    "9" * 300,
    "\x00",
    "a\tb",
    0,
    -0.0,
    1,
    12,
    99.99,
    100,
    -5,
    1.0,
    2025,
    1e21,
    True,
    False,
    ["5"],
    {"amount": 5},
    [["a"], "b"],
    "a | $50.00 | 15/03/2025",
    ["a | b", "c"],
)
POOLS: dict[str, tuple[Any, ...]] = {
    "document type": (
        "INVOICE",
        "Tax Invoice",
        "tax_invoice",
        "RECEIPT",
        "receipt",
        "BANK_STATEMENT",
        "bank statement",
        "quote",
        "letter",
        "credit card statement",
        "tax  invoice",
    ),
    "numeric id": (
        "06 082 698 025",
        "06082698025",
        "06-082-698-025",
        "06082698026",
        "ABN 06 082 698 025",
        6082698025,
        "abc",
        "(abc)",
    ),
    "text": (
        "Acme Corp",
        "ACME, Corp.",
        "acme corp pty ltd",
        "Acme Corp Pty",
        "Acme Corp Pty Ltd Australia",
        "Ltd Pty Corp Acme Australia",
        "123 Main St | Sydney NSW 2000",
        "123 Main St Sydney NSW 2000",
        "Sydney NSW 123 Main St",
        "Aussie Office Supplies Corporation Pty Ltd",
        "Aussie Office Supplies Pty Ltd",
        "O'Neil",
    ),
    "phone": (
        "02 9374 4000",
        "(02) 9374-4000",
        "0293744001",
        "02 9374 4111",
        "02 9374 1111",
        "9374 4000",
        "+61 2 9374 4000",
        "none",
        "1111111111",
    ),
    "date": (
        "04/05/2025",
        "05/04/2025",
        "2025-05-04",
        "4/5/2025",
        "15/03/2025",
        "15 March 2025",
        "03/2025",
        "March",
        "01/05/2025 - 31/05/2025",
        "1 to 31/05/2025",
    ),
    "boolean": (
        "true",
        "TRUE",
        "1",
        "yes",
        "Y",
        "false",
        "0",
        "No",
        "n",
        "(yes)",
        "maybe",
        "t",
        True,
        False,
        1,
        0,
    ),
    "money": (
        "$100.00",
        "100",
        "$101.00",
        "$101.01",
        "$99",
        "$98.99",
        "AUD 100.00",
        "(100)",
        "-100",
        "0",
        "$0.01",
        "$0.02",
        "$0.00",
        "n/a",
        "1,234.56",
        "1234.56",
        "12.50-",
        100,
    ),
    "list": (
        "red pen | ink",
        "ink|red pen",
        "pen | paper | ink",
        "Ink",
        "a, b | c",
        "ab | c",
        "2 | 1",
        "1 | 2 | 12",
        "$5.00 | $6.50",
        "5.00 | 6.50",
        ["Red Pen", "INK"],
        [1, 2],
        [2.5],
    ),
    "transaction dates": (
        "01/05/2025 | 02/05/2025",
        "01/05/2025|02/05/2025",
        "1 May 2025 | 2 May 2025",
        "01 May | 02 May",
        "01/05/25 | 03/05/25",
        "2025-05-01 | 2025-05-02",
        "01/05 | | 02/05",
        "May | 2",
        ["01/05/2025", "02/05/2025"],
        "05/01/2025 | 05/02/2025",
        "NOT_FOUND | 02/05/2025",
        "1-May-2025 | 2-September-2025",
    ),
    "transaction texts": (
        "EFTPOS | Salary",
        "eftpos|SALARY",
        "Salary | EFTPOS",
        "EFTPOS | | Salary",
        "EFTPOS | NOT_FOUND | Salary",
        "a, b | c",
        "ab | c",
        ["EFTPOS", None, "Salary"],
    ),
    "transaction amounts": (
        "$50.00 | $75.25 | $99.99",
        "$50.00 | $75.25 | $100.00",
        "50 | 75.25 | 99.99",
        "$50.00 |  | $99.99",
        "$50.00 | NOT_FOUND | $100.00",
        "$50.00 | $75.25",
        "$49.00 | $75.25 | n/a",
        ["$50.00", None, 99.99],
        [50, 75.25, 100],
        "CR 50.00 | 75.25 DR | (100)",
    ),
}


def make_records(
    seed: int, count: int, columns: tuple[str, ...] = tuple(FIELDS)
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Gold and predictions; every tenth document has no prediction."""
    draw = random.Random(seed)
    gold, pred = [], []
    for number in range(count):
        name = f"image_{number:04}.png"
        kinds = {column: FIELDS[column][0] for column in columns}
        given = {column: _value(draw, kind, 0.05) for column, kind in kinds.items() if draw.random() > 0.05}
        if draw.random() < 0.8:
            given["DOCUMENT_TYPE"] = draw.choice(
                ("INVOICE", "tax invoice", "receipt", "bank statement", "BANK_STATEMENT")
            )
        gold.append({"image_file": name, **given})
        if number % 10 != 9:
            found = {
                column: given.get(column) if draw.random() < 0.25 else _value(draw, kind, 0.15)
                for column, kind in kinds.items()
            }
            pred.append({"image_file": name, **found, "processing_time": round(draw.uniform(1, 20), 3)})
    return gold, pred


def _value(draw: random.Random, kind: str, oddness: float) -> Any:
    luck = draw.random()
    if luck < 0.15:
        return draw.choice(EMPTY)
    if luck < 0.15 + oddness:
        return draw.choice(ODD)
    if kind != "text" or draw.random() < 0.5:
        return (
            draw.choice(POOLS[kind]) if not is_list_kind(kind) or draw.random() < 0.7 else _joined(draw, kind)
        )
    words = [
        "acme",
        "corp",
        "pty",
        "ltd",
        "australia",
        "sydney",
        "main",
        "st",
        "|",
        "2000",
        "nsw,",
        "(office)",
    ]
    return " ".join(draw.choices(words, k=draw.randint(1, 7)))


def _joined(draw: random.Random, kind: str) -> str:
    pools = {
        "list": ["ink", "pen", "red-pen", "paper", "1", "12", "2", "$5.00", "5.00", "NOT_FOUND"],
        "transaction texts": ["EFTPOS", "eftpos", "Salary", "Rent", ""],
    }
    pool = pools.get(kind) or [
        part for value in POOLS[kind] if isinstance(value, str) for part in value.split("|")
    ]
    return draw.choice(("|", " | ", "| ")).join(draw.choices(pool, k=draw.randint(1, 5)))
