"""What is loaded for a system is what it looks at, and its time is that of loading what it is sent alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from tests.documents.pdfs import make_pdf, text
from tests.extraction.endpoints.scripted_server import Reply, ScriptedServer, completion

from fieldassay.commands.extract import ExtractOptions
from fieldassay.commands.run import SweepOptions, estimate, run
from fieldassay.documents import pool
from fieldassay.documents.loaders import recognize
from fieldassay.documents.transcript import Box, Word

HOUR_MS = 3_600_000
DOCUMENTS = ("a.png", "b.pdf", "c.pdf")
"""A picture, a scan, and a page with text: the first two are recognized."""
MODEL = {"strategy": "prompted", "endpoint": "local", "model": "m"}
GIVEN: Any = ({"fields": {"total": "money"}}, [{"id": name, "total": "1.50"} for name in DOCUMENTS])


@pytest.fixture
def recognized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Return the pages that were recognized; each takes an hour of the loader's clock."""
    found: list[Any] = []
    word = SimpleNamespace(word=Word("1.50", Box(5, 5, 40, 15)), quarters=0)
    monkeypatch.setattr(recognize, "recognize", lambda page, _: found.append(page) or [word])
    monkeypatch.setattr(
        pool, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + len(found) * HOUR_MS / 1000)
    )
    (tmp_path / "docs").mkdir()
    for name in DOCUMENTS[:2]:
        Image.linear_gradient("L").save(tmp_path / "docs" / name)
    (tmp_path / "docs" / DOCUMENTS[2]).write_bytes(make_pdf([text(72, 72, "Total 1.50")]))
    return found


def load_times(place: Path, systems: dict[str, dict[str, Any]], ocr: Any = "auto") -> list[list[float]]:
    """Return the time of loading of each document by each system, each of which may ask for all of them."""
    options = SweepOptions(ExtractOptions(jobs=0, ocr=ocr))
    with ScriptedServer(lambda _: Reply(body=completion('{"total": "1.50"}'))) as server:
        held = {
            "endpoints": {"local": {"url": server.url}},
            "systems": {name: MODEL | own for name, own in systems.items()},
        }
        assert {one.calls for one in estimate(place / "docs", *GIVEN, held, options).values()} == {3}
        made = run(place / "docs", *GIVEN, place / "out", held, options)
    return [
        [json.loads(line)["timing"]["load_ms"] for line in one.predictions.read_text().splitlines()]
        for one in made.extractions.values()
    ]


SENT: dict[str, tuple[dict[str, Any], str, int, int]] = {
    "images": ({"input": "images"}, "auto", 0, 0),
    "images, always": ({"input": "images"}, "always", 0, 0),
    "images, off": ({"input": "images"}, "off", 0, 0),
    "images, quotes": ({"input": "images", "verify": {"quotes": "require"}}, "auto", 0, 0),
    "images in parts": ({"input": "images", "split": {"pages": 1}}, "auto", 2, 0),
    "images with omissions": ({"input": "images", "verify": {"omissions": "ask"}}, "auto", 2, 0),
    "both": ({"input": "both"}, "auto", 2, 2),
    "text": ({}, "auto", 2, 2),
    "text, always": ({}, "always", 3, 3),
}


@pytest.mark.parametrize("name", SENT)
def test_nothing_is_recognized_that_is_not_looked_at_and_nothing_charged_that_is_not_sent(
    name: str, tmp_path: Path, recognized: list[Any]
) -> None:
    options, ocr, read, charged = SENT[name]
    first, again = (load_times(tmp_path, {"base": options}, ocr)[0] for _ in range(2))
    assert sum(one >= HOUR_MS for one in first) == charged and all(one > 0 for one in first)
    assert again == first and len(recognized) == 3 * read  # twice to estimate, once to extract


def test_systems_of_one_sweep_are_charged_what_each_takes_alone(
    tmp_path: Path, recognized: list[Any]
) -> None:
    read, first, again, both = load_times(
        tmp_path, {f"s{at}": {"input": one} for at, one in enumerate(("text", "images", "images", "both"))}
    )
    assert max(first) < HOUR_MS <= read[0] and again == first
    assert both == pytest.approx([one + other for one, other in zip(read, first, strict=True)])
