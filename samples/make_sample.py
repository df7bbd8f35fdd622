"""Writes the sample that ships with fieldassay: gold.jsonl and the answers of three invented systems.

`python samples/make_sample.py [DIRECTORY]`, by hand, when the sample shall change. Every run writes the same bytes.
Prints the true accuracy of each system: right values / values in gold or prediction, mean over documents, as known from
how the answers were made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from gold import Record, draw_gold
from systems import ATLAS, BIRCH, CEDAR, Reader, draw_confidence, plain, read_record, walk

SHIPPED = Path(__file__).parents[1] / "src" / "fieldassay" / "scoring" / "sample"
SEED = 2025
MODELS = {"atlas": "atlas-large-2", "birch": "birch-ocr-7", "cedar": "cedar-mini-1"}
DURATION = {"atlas": (2400, 9000), "birch": (180, 650), "cedar": (500, 2100)}
MISSING = {"cedar": ("inv-011", "rcp-017", "stm-006"), "birch": ("rcp-009",)}
FAILED = {
    ("cedar", "inv-019"): "timeout after 30 s",
    ("cedar", "stm-013"): "timeout after 30 s",
    ("cedar", "rcp-004"): "HTTP 503 from the model server",
}
INVALID = {"cedar": ("inv-005", "rcp-021")}
RAW = {
    "atlas": (
        "inv-002",
        "inv-008",
        "inv-015",
        "inv-023",
        "rcp-003",
        "rcp-012",
        "rcp-020",
        "stm-004",
        "stm-016",
    ),
    "cedar": ("inv-014", "stm-010"),
}


def count_leaves(value: Any) -> int:
    """Return the number of values that are not empty in a record or a part of it."""
    if isinstance(value, dict):
        return sum(count_leaves(inner) for key, inner in value.items() if key != "id")
    if isinstance(value, list):
        return sum(map(count_leaves, value))
    return int(value is not None)


def wrap(rng: Random, text: str) -> str:
    """Return an answer as a talkative model writes it: prose around it, a code fence, or a trailing comma."""
    fence = f"```json\n{text}\n```"
    return rng.choice(
        [
            f"Here is the extracted data:\n\n{fence}\n\nLet me know if you need anything else.",
            fence,
            f"Sure! The document reads as follows.\n{text}",
            f"{text[:-1]},}}",
        ]
    )


def describe_call(rng: Random, reader: Reader, gold: Record) -> Record:
    """Return duration and token counts of one call."""
    size, (low, high) = len(json.dumps(gold)), DURATION[reader.name]
    is_model = reader.name != "birch"
    return {
        "timing": {"duration_ms": round(low + (high - low) * rng.random() ** 2 + size / 4, 1)},
        "usage": {
            "model": MODELS[reader.name],
            "prompt_tokens": 640 + size // 3 + rng.randint(0, 80) if is_model else 0,
            "completion_tokens": size // 3 + rng.randint(0, 40) if is_model else 0,
        },
    }


def answer(rng: Random, reader: Reader, gold: Record) -> tuple[Record | None, float]:
    """Return the line that a system writes for a document (None: no line) and its true accuracy there."""
    tree = read_record(rng, reader, gold)
    leaves, call, doc = list(walk(tree)), describe_call(rng, reader, gold), gold["id"]
    confidence = {path: draw_confidence(rng, reader, mark) for path, mark in leaves}
    text = json.dumps(plain(tree), ensure_ascii=False)
    wrapped = wrap(rng, text)
    if doc in MISSING.get(reader.name, ()):
        return None, 0.0
    if (reader.name, doc) in FAILED:
        return {"id": doc, "error": FAILED[reader.name, doc], "timing": {"duration_ms": 30000.0}}, 0.0
    if doc in INVALID.get(reader.name, ()):
        return {
            "id": doc,
            "raw": "I'm sorry, the image is too blurry to read the amounts on it.",
            **call,
        }, 0.0
    extra = sum(mark.is_extra for _, mark in leaves)
    accuracy = sum(mark.is_right for _, mark in leaves) / (count_leaves(gold) + extra)
    content = {"raw": wrapped} if doc in RAW.get(reader.name, ()) else {"prediction": plain(tree)}
    return {"id": doc, **content, **call, "confidence": confidence}, accuracy


def write_lines(path: Path, records: list[Record]) -> None:
    """Write records as JSON lines."""
    path.write_text(
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
        encoding="utf-8",
        newline="\n",
    )


def write_sample(directory: Path) -> dict[str, float]:
    """Write the four data files and return the true accuracy by system."""
    gold = draw_gold(Random(SEED))
    write_lines(directory / "gold.jsonl", gold)
    accuracies = {}
    for reader in (ATLAS, BIRCH, CEDAR):
        rng = Random(f"{SEED} {reader.name}")
        answers = [answer(rng, reader, record) for record in gold]
        write_lines(directory / f"{reader.name}.jsonl", [line for line, _ in answers if line is not None])
        accuracies[reader.name] = round(sum(accuracy for _, accuracy in answers) / len(answers), 4)
    return accuracies


if __name__ == "__main__":
    accuracies = write_sample(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
    sys.stdout.write(json.dumps(accuracies) + "\n")
