"""Measured tables in the pages of the documentation."""

from __future__ import annotations

from pathlib import Path


def publish(page: Path, begin: str, end: str, table: str) -> None:
    """Write a table into a page, in place of what stands between two comments."""
    text = page.read_text(encoding="utf-8")
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")
