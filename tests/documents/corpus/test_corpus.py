"""The corpus that ships: what is in it, that its gold stands where it says, and runs of it."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bench.corpus.manifest import SHIPPED, read_corpus
from bench.corpus.marks import build_gold

import fieldassay
from fieldassay.documents.sources import LoadOptions, load
from fieldassay.documents.transcript import DocumentError, page_text

# The corpus that ships: what is in it, and that its gold stands where it says.

SHIP = read_corpus(SHIPPED)
ORIGINALS = [one for one in SHIP.documents if one.twin_of is None]
TWINS = [one for one in SHIP.documents if one.twin_of is not None]
PLACED = [one for one in ORIGINALS if one.kind == "pdf" and not (one.degradation or one.refused)]
LANGUAGES = [one for one in ORIGINALS if one.task in ("german", "french", "damaged")]
PICTURES = {"case_pdf_004_embedded_images"}
"""Documents whose gold stands in a picture on a digital page, which is recognized."""


def gold_rows(folder: Path) -> dict[str, dict]:
    rows = {}
    for task in SHIP.tasks.values():
        for line in (folder / task.gold).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            name = next(row[key] for key in ("test_case_id", "image_file", "doc_id", "id") if key in row)
            rows[name] = row
    return rows


def test_ninety_documents_and_fifteen_twins_in_twelve_tasks() -> None:
    assert len(SHIP.documents) >= 90 and len(SHIP.tasks) == 12
    assert sum(one.twin_of is not None for one in SHIP.documents) >= 15
    assert max(value.page or 0 for one in SHIP.documents for value in one.values) == 40
    assert len(next(one for one in SHIP.documents if one.id == "form_369").values) == 369
    assert len(next(one for one in SHIP.documents if one.id == "valves_900").values) == 900 * 6


@pytest.mark.parametrize("one", PLACED, ids=lambda one: one.id)
def test_the_text_of_a_value_stands_in_its_box(one) -> None:
    pages = load(SHIPPED / one.file, LoadOptions(ocr="auto" if one.id in PICTURES else "off")).pages
    for value in one.values:
        if value.box is None:
            continue
        page = pages[value.page - 1]
        left, top, right, bottom = (
            share * side for share, side in zip(value.box, (page.width, page.height) * 2, strict=True)
        )
        words = [word for line in page.lines for word in line.words if word.box]
        cells = [cell for table in page.tables for cell in table.cells if cell.box]
        inside = "".join(
            piece.text
            for piece in (*words, *cells)
            if min(piece.box.right, right) > max(piece.box.left, left)
            and min(piece.box.bottom, bottom) - max(piece.box.top, top) > 0.3 * (bottom - top)
        )
        assert re.sub(r"\s", "", value.text) in re.sub(r"\s", "", inside), value


@pytest.mark.parametrize("one", LANGUAGES, ids=lambda one: one.id)
def test_what_other_languages_and_damage_leave_is_read_or_refused_for_its_reason(one) -> None:
    try:
        found = load(SHIPPED / one.file, LoadOptions(ocr="off"))
    except DocumentError as refused:
        assert refused.kind == one.refused
        return
    told = [page_text(page).text for page in found.pages]
    text, written = (re.sub(r"\s", "", whole) for whole in ("".join(told), (SHIPPED / one.text).read_text()))
    assert one.refused is None and found.notes == ()
    assert all(re.sub(r"\s", "", value.text) in text for value in one.values) and one.values
    assert Counter(text) >= Counter(char for char in written if char.isalpha() and not char.isascii())


@pytest.mark.parametrize("task", ["german", "french", "damaged"])
def test_gold_of_another_language_is_read_by_its_locale_and_what_nobody_can_read_is_not_scored(task) -> None:
    """What stands on the pages, as predictions, is gold."""
    paths, own = SHIP.tasks[task], [one for one in SHIP.documents if one.task == task]
    texts = [{"id": one.id, **build_gold([(value.path, value.text) for value in one.values])} for one in own]
    result = fieldassay.score(SHIPPED / paths.gold, texts, SHIPPED / paths.spec)
    assert result.value("accuracy") == 1.0


def test_a_twin_has_the_gold_of_its_original_and_says_so() -> None:
    rows, known = gold_rows(SHIPPED), {one.id: one for one in ORIGINALS}
    beside = {"test_case_id", "image_file", "doc_id", "id", "tags", "twin_of", "degradation"}
    for twin in TWINS:
        row, clean = rows[twin.id], rows[twin.twin_of]
        assert row["twin_of"] == twin.twin_of and row["degradation"] == twin.degradation
        assert {key: value for key, value in row.items() if key not in beside} == {
            key: value for key, value in clean.items() if key not in beside
        }
        assert twin.text == known[twin.twin_of].text
        assert [value.path for value in twin.values] == [value.path for value in known[twin.twin_of].values]


def test_ids_differ_and_files_are_there() -> None:
    assert max(Counter(one.id for one in SHIP.documents).values()) == 1
    assert all((SHIPPED / one.file).is_file() for one in SHIP.documents)
    assert gold_rows(SHIPPED).keys() == {one.id for one in SHIP.documents}


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 4_000_000
