"""With the documents of its extractions, a page shows where wrong values were read."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from documents.pdfs import make_pdf, text
from PIL import Image
from tests.reports.html.opened_report import OpenReport
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay.commands.cli.main import main
from fieldassay.documents.transcript import Box
from fieldassay.errors import ProblemsError
from fieldassay.reports.html.crops import Crops, Place
from fieldassay.runs.value_sources import ExtractedDocument

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEC = "fieldassay: 1\nname: receipts\nfields: {total: {type: money, currency: EUR}}\n"


def call(*arguments: Any) -> None:
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with three documents, what `rules` extracted of them, and a run: two totals are wrong."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    gold = [{"id": f"r{number}.pdf", "total": total} for number, total in ((1, 70), (2, 60), (3, 99))]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    docs = tmp_path / "docs & more"
    docs.mkdir()
    for number in (1, 2, 3):
        pages = [text(72, 100, "Corner Store"), text(72, 100, "Invoice") + text(72, 130, "Total 60.00")]
        (docs / f"r{number}.pdf").write_bytes(make_pdf(pages))
    call("extract", "--docs", docs, "--spec", tmp_path / "spec.yaml", "--out", tmp_path / "out", "--quiet")
    given = ("--spec", tmp_path / "spec.yaml", "--gold", tmp_path / "gold.jsonl")
    pred = f"rules={tmp_path / 'out'}"
    call("score", *given, "--pred", pred, "--bootstrap", 0, "--out", tmp_path / "run", "--quiet")
    return tmp_path


def crops_of(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the crops of a report with documents by document id, and its blocks."""
    page = place / "report.html"
    call("report", place / "run", "--out", page, "--documents", place / "docs & more")
    blocks = read_blocks(page.read_text(encoding="utf-8"))
    rows, ids = blocks["rows-0"], blocks["documents"]["ids"]
    column = rows["columns"].get("crop", -1)
    codes = column if isinstance(column, list) else [column] * rows["rows"]
    places = rows["columns"]["doc"]
    places = places if isinstance(places, list) else [places] * rows["rows"]
    held = blocks.get("crops-0", [])
    return {ids[at]: held[code] for at, code in zip(places, codes, strict=True) if code >= 0}, blocks


def test_a_wrong_value_has_a_picture_of_its_place_and_its_document_a_link(place: Path) -> None:
    found, blocks = crops_of(place)
    assert sorted(found) == ["r1.pdf", "r3.pdf"]
    page, width, height, data = found["r1.pdf"]
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert page == 2 and picture.size == (width, height)
    assert 60 < width < 250 and picture.convert("L").getextrema()[0] < 100
    links = {blocks["documents"]["ids"][int(at)]: link for at, link in blocks["documents"]["links"].items()}
    assert links == {f"r{number}.pdf": f"./docs%20%26%20more/r{number}.pdf" for number in (1, 2, 3)}


def test_without_documents_the_page_has_neither_and_is_the_same_each_time(place: Path) -> None:
    pages = []
    for _ in range(2):
        call("report", place / "run", "--out", place / "report.html")
        pages.append((place / "report.html").read_bytes())
    blocks = read_blocks(pages[0].decode())
    assert pages[0] == pages[1]
    assert "links" not in blocks["documents"] and "crops-0" not in blocks
    assert "crop" not in blocks["rows-0"]["columns"]


def test_with_documents_the_page_is_the_same_each_time(place: Path) -> None:
    pages = []
    for _ in range(2):
        crops_of(place)
        pages.append((place / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_page_says_why_a_picture_is_missing(place: Path) -> None:
    docs = place / "docs & more"
    (docs / "r1.pdf").unlink()
    (docs / "r3.pdf").write_bytes(make_pdf([text(72, 100, "Another"), text(72, 130, "document")]))
    found, _ = crops_of(place)
    assert found["r1.pdf"] == f"the document is not in {docs}"
    assert found["r3.pdf"] == "the document has changed since it was extracted"


def test_documents_of_a_sweep_are_found_by_the_ids_of_gold(place: Path) -> None:
    (place / "nested" / "2025").mkdir(parents=True)
    for number in (1, 2, 3):
        data = (place / "docs & more" / f"r{number}.pdf").read_bytes()
        (place / "nested" / "2025" / f"r{number}.pdf").write_bytes(data + b"\n%% %d\n" % number)
        (place / "nested" / "2025" / f"r{number}.txt").write_text(f"another document {number}")
    gold = [{"id": f"2025/r{number}.pdf", "total": 70} for number in (1, 2, 3)]
    (place / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    given = ("--docs", place / "nested", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl")
    call("run", *given, "--out", place / "sweep", "--bootstrap", 0, "--quiet", "--jobs", 0)
    found = ExtractedDocument("r2", place / "sweep" / "rules")
    with Crops(place / "nested", place) as pictures:
        [made] = pictures.make([Place(found, 2, Box(72, 120, 130, 140))])
        assert isinstance(made, tuple), made
        assert pictures.link(["r2"]) is None  # two documents could be meant
        assert pictures.link(["r2.pdf"]) == "./nested/2025/r2.pdf"


def test_pictures_beyond_the_limit_of_bytes_are_left_out_and_said_to_be(place: Path) -> None:
    source = ExtractedDocument("r1.pdf", place / "out"), ExtractedDocument("r3.pdf", place / "out")
    places = [Place(document, 2, Box(72, 120, 130, 140)) for document in source]
    with Crops(place / "docs & more", place) as whole:
        first, second = whole.make(places)
    assert isinstance(first, tuple) and isinstance(second, tuple)
    with Crops(place / "docs & more", place, len(base64.b64decode(first[3])) + 10) as bounded:
        kept, left_out = bounded.make(places)
        assert kept == first
        assert isinstance(left_out, str) and left_out.startswith("left out: the pictures of this file have")
        assert bounded.make(places) == [left_out, left_out]


def test_documents_go_with_a_page_only(place: Path) -> None:
    with pytest.raises(ProblemsError, match="choose the format html"):
        fa.report(place / "run", "markdown", documents=place / "docs & more")
    page = fa.report(place / "run", documents=place / "docs & more")
    assert "crops-0" in read_blocks(page)


def test_a_folder_without_documents_is_an_error(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "empty").mkdir()
    out = str(place / "report.html")
    assert main(["report", str(place / "run"), "--out", out, "--documents", str(place / "empty")]) == 2
    assert "holds no document" in capsys.readouterr().err
    assert not Path(out).exists()


def test_the_picture_is_seen_under_the_policy_of_the_page(place: Path, browser: Browser) -> None:
    crops_of(place)
    with OpenReport.opened(browser, place / "report.html") as opened:
        opened.show("documents?doc=r1.pdf")
        picture = opened.page.locator("img.crop")
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }") > 40
        assert "page 2, “60.00”" in str(picture.get_attribute("alt"))
        link = opened.page.locator("a:has(img.crop)")
        assert link.get_attribute("href") == "./docs%20%26%20more/r1.pdf#page=2"
        assert opened.page.get_by_text("open the document").count() == 1
        assert opened.complaints == [] and opened.outside() == [] and opened.check_access() == []
        assert opened.overflow() <= 0
