"""Measures how fast documents are loaded: pages of digital PDFs, rows of workbooks, recognized pages, memory.

And how fast the strategy `rules` extracts from documents of one crowded page.

`python bench/documents.py [--ocr]` prints a table; each measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import io
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

SENTENCE = "The quick brown fox jumps over a dog"


def letter() -> str:
    """Return a page of some 140 words, as of a letter or an invoice."""
    from tests.documents.making import column, text

    rows = "".join(text(x, 400 + 14 * at, f"{at * x}.50") for at in range(12) for x in (72, 200, 300, 400))
    return column(72, 80, [SENTENCE] * 10) + rows


def dense() -> str:
    """Return a page of some 640 words in two columns."""
    from tests.documents.making import column

    return column(72, 60, [SENTENCE] * 40, 16) + column(330, 60, [SENTENCE] * 40, 16)


def pdf(page: Callable[[], str], count: int) -> tuple[str, bytes, int]:
    from tests.documents.making import make_pdf

    return "a.pdf", make_pdf([page()] * count), count


FIELDS = {
    **dict.fromkeys(("supplier", "buyer", "address"), "text"), **dict.fromkeys(("number", "order"), "id"),
    **dict.fromkeys(("date", "due_date"), "date"), **dict.fromkeys(("total", "net", "tax"), "money"),
    "phone": "phone", "email": "email", "status": {"type": "enum", "values": ["paid", "open"]},
    "lines": {"items": {"fields": {"item": "text", "count": "integer", "price": "money", "amount": "money"}}},
}  # fmt: skip
"""The fields of a spec for crowded pages: most words may be a value of several."""


def crowded(number: int) -> bytes:
    """Return a document of a page of 640 words, every second one with digits."""
    from tests.documents.making import column, make_pdf

    lines = [f"Pump P-{at}{number} of 0{at % 9 + 1}.03.2024 at {at}.50 is {3 * at}.25" for at in range(80)]
    return make_pdf([column(72, 30, lines[:40], 16) + column(330, 30, lines[40:], 16)])


def extract(name: str, count: int = 20) -> None:
    """Print how many documents of a page the strategy `rules` reads in a second, once they are loaded."""
    from fieldassay.documents.sources import load_bytes
    from fieldassay.extraction.strategies.rules.strategy import Rules
    from fieldassay.extraction.strategy import Task
    from fieldassay.spec.language.parse import read_spec

    task, rules = Task(read_spec({"fields": FIELDS})), Rules()
    documents = [load_bytes(crowded(number), f"{number}.pdf") for number in range(count + 1)]
    for _ in rules.extract(documents[-1], task):  # what is made once
        pass
    start, wall = time.process_time(), time.perf_counter()
    for document in documents[:-1]:
        for _ in rules.extract(document, task):
            pass
    report(name, count, time.process_time() - start, time.perf_counter() - wall)


def workbook() -> tuple[str, bytes, int]:
    import xlsxwriter

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        money, sheet = book.add_format({"num_format": "#,##0.00"}), book.add_worksheet()
        for row in range(5000):
            sheet.write_row(row, 0, [f"item {row}", row])
            sheet.write_number(row, 2, row * 1.5, money)
    return "a.xlsx", stream.getvalue(), 5000


RULES = "rules, pages of 640 words"

WORK: dict[str, tuple[Callable[[], tuple[str, bytes, int]], str]] = {
    "PDF, pages of 140 words": (lambda: pdf(letter, 100), "auto"),
    "PDF, pages of 640 words": (lambda: pdf(dense, 50), "auto"),
    "PDF of 3,000 pages of 140 words": (lambda: pdf(letter, 3000), "auto"),
    "Excel, rows of 3 cells": (workbook, "auto"),
    "recognized pages of 140 words": (lambda: pdf(letter, 3), "always"),
}


def measure(name: str) -> None:
    from fieldassay.documents.sources import LoadOptions, load_bytes

    if name == RULES:
        return extract(name)
    make, ocr = WORK[name]
    file, data, count = make()
    options = LoadOptions(ocr=ocr)  # type: ignore[arg-type]
    load_bytes(*pdf(letter, 1)[1::-1], options)  # libraries and models
    start, wall = time.process_time(), time.perf_counter()
    load_bytes(data, file, options)
    report(name, count, time.process_time() - start, time.perf_counter() - wall)


def report(name: str, count: int, spent: float, wall: float) -> None:
    """Print a row of the table."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:<34} {count / spent:>10,.1f} /s of processor {count / wall:>10,.1f} /s {memory:>7,.0f} MB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ocr", action="store_true", help="recognized pages too")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    for name in (*WORK, RULES):
        if given.ocr or "recognized" not in name:
            subprocess.run([sys.executable, __file__, "--measure", name], check=True)


if __name__ == "__main__":
    main()
