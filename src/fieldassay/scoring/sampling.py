"""The shipped sample: where its files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.io.returned import Brief

SYSTEMS = ("atlas", "birch", "cedar")


class Sample(Brief, Struct, frozen=True):
    """The paths of the sample's files."""

    gold: Path
    predictions: dict[str, Path]
    spec: Path


class PrintedReceipts(Struct, frozen=True):
    """Receipts of the sample as printed, two systems that read them, and the answers that one gave."""

    documents: Path
    gold: tuple[dict[str, Any], ...]
    spec: Path
    systems: Path
    recorded: Path


def printed_receipts() -> PrintedReceipts:
    """Return the printed receipts of the sample, with their gold.

    >>> len(printed_receipts().gold)
    18
    """
    folder = Path(__file__).parent / "sample"
    documents = folder / "documents"
    names = {path.stem for path in documents.iterdir()}
    rows = map(json.loads, (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    gold = tuple(row for row in rows if row["id"] in names)
    return PrintedReceipts(
        documents, gold, folder / "spec.yaml", folder / "systems.yaml", folder / "recorded"
    )


def sample() -> Sample:
    """Return the shipped sample: 72 invented documents and the predictions of three invented systems.

    >>> sample().gold.name, list(sample().predictions)
    ('gold.jsonl', ['atlas', 'birch', 'cedar'])
    """
    folder = Path(__file__).parent / "sample"
    predictions = {system: folder / f"{system}.jsonl" for system in SYSTEMS}
    return Sample(folder / "gold.jsonl", predictions, folder / "spec.yaml")
