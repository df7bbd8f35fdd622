"""Documents are read by a library or a function in place of the loaders; what none reads has its right name."""

import io
import json
import sys
import types
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fieldassay.commands.extract import ExtractOptions, estimate_extraction, extract
from fieldassay.documents.loaders import readers
from fieldassay.documents.sources import LoadOptions, find_kind, load_bytes
from fieldassay.documents.transcript import Box, DocumentError, page_text
from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.extraction.systems import read_systems

OWN = """
def words(path):
    left = {"width": 100, "height": 50, "words": [[50, 10, 80, 20, "5.00"], [10, 10, 40, 20, "Total"]]}
    return {"pages": [left, "name | price\\n---|---\\nBolt | 2.50"]}
def text(path):
    return open(path).read().replace("x", "\\f")
def number(path):
    return 5
def page(path):
    return {"pages": [{"words": 1}]}
def fails(path):
    raise RuntimeError("no\\nidea")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_reader", raising=False)
    (tmp_path / "own_reader.py").write_text(OWN)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Total: 7.00x12")
    (tmp_path / "spec.yaml").write_text("fieldassay: 1\nname: t\nfields: {total: money}\n")
    return tmp_path


def read(data: bytes, name: str, reader: str) -> list[str]:
    return [page_text(page).text for page in load_bytes(data, name, LoadOptions(reader=reader)).pages]


def test_a_function_gives_texts_or_words_with_boxes(place: Path) -> None:
    found = load_bytes(b"x", "a.txt", LoadOptions(reader="own_reader:words"))
    first, second = map(page_text, found.pages)
    assert (first.text, first.spans[0].box) == ("Total 5.00", Box(10, 10, 40, 20))
    assert (second.text, second.spans[0].box, found.kind) == ("name | price\nBolt | 2.50", None, "other")
    assert read(b"one x two", "a.txt", "own_reader:text") == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("number", "returned int; return a text, or {'pages': […]}"),
        ("page", "page 1 of the reader own_reader:page is neither text nor words"),
        ("fails", "the reader own_reader:fails fails on it (RuntimeError: no idea)"),
    ],
)
def test_what_a_function_does_wrong_is_the_failure_of_its_document(place: Path, name: str, said: str) -> None:
    with pytest.raises(DocumentError) as error:
        read(b"x", "a.txt", f"own_reader:{name}")
    assert error.value.kind == "unreadable" and said in str(error.value)


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_system_reads_with_its_own_reader_and_a_changed_one_reads_anew(place: Path, jobs: int) -> None:
    systems = {"plain": {"strategy": "rules"}, "own": {"strategy": "rules", "reader": "own_reader:words"}}
    (place / "systems.json").write_text(json.dumps({"systems": systems}))

    def row(name: str) -> Any:
        made = extract("docs", "spec.yaml", f"out-{name}", f"systems.json#{name}", ExtractOptions(jobs=jobs))
        assert made.is_complete
        return json.loads(made.predictions.read_text())

    assert row("plain")["pred"]["total"] == "7.00"
    found = row("own")
    assert found["pred"]["total"] == "5.00" and found["evidence"]["total"]["box"] == [50, 10, 80, 20], found
    # longer, as Python takes the bytecode of a file of the same second and size for that of this one
    (place / "own_reader.py").write_text(OWN.replace("5.00", "6.50") + "# changed\n")
    sys.modules.pop("own_reader")
    assert row("own")["pred"]["total"] == "6.50"
    estimate = estimate_extraction("docs", "spec.yaml", "systems.json#own", ExtractOptions(jobs=jobs))
    assert (estimate.documents, estimate.failed) == (1, 0)


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ("pdfplumer", "did you mean 'pdfplumber'?, or write MODULE:FUNCTION"),
        ("os.system", "or write MODULE:FUNCTION"),
        ({"a": 1}, "must be a text"),
    ],
)
def test_a_reader_that_is_none_has_its_place(reader: Any, said: str) -> None:
    with pytest.raises(ProblemsError, match=r"\$.systems.a.reader") as error:
        read_systems({"systems": {"a": {"strategy": "rules", "reader": reader}}})
    assert said in str(error.value)


def test_a_reader_that_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[docling\]'"):
        readers.check_reader("docling")
    with pytest.raises(ProblemsError, match="cannot be imported"):
        readers.check_reader("no_such_module:read")


def test_words_of_pdfplumber_have_boxes() -> None:
    pytest.importorskip("pdfplumber")
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    held = io.BytesIO()
    page = canvas.Canvas(held, pagesize=(300, 200))
    page.drawString(60, 150, "Total 1,250.00")
    page.save()
    text = page_text(load_bytes(held.getvalue(), "a.pdf", LoadOptions(reader="pdfplumber")).pages[0])
    assert text.text == "Total 1,250.00" and text.spans[1].box is not None
    assert 85 < text.spans[1].box.left < 95 and 35 < text.spans[1].box.top < 50
    with pytest.raises(DocumentError, match="is not a PDF"):
        read(b"a text", "a.txt", "pdfplumber")


def test_markitdown_gives_text_and_tables() -> None:
    pytest.importorskip("markitdown")
    table = b"<p>Total 5</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert read(table, "a.html", "markitdown") == ["Total 5\na | b\n1 | 2"]


class Rectangle(SimpleNamespace):
    """A box as docling-core has it, with its origin at the bottom."""

    def to_top_left_origin(self, height: float) -> "Rectangle":
        return Rectangle(l=self.l, r=self.r, t=height - self.t, b=height - self.b)


def test_texts_and_tables_of_docling_have_pages_and_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes of docling stand for themselves here: the library takes gigabytes."""
    box = Rectangle(l=60, t=760, r=200, b=745)
    cell = SimpleNamespace(
        start_row_offset_idx=0, start_col_offset_idx=0, text="Bolt", row_span=1, col_span=1, bbox=box
    )
    items = [
        SimpleNamespace(text="Invoice 7", prov=[SimpleNamespace(page_no=2, bbox=box)]),
        SimpleNamespace(text="", data=SimpleNamespace(table_cells=[cell]), prov=[SimpleNamespace(page_no=2, bbox=box)]),
        SimpleNamespace(text="no place", prov=[]),
    ]  # fmt: skip
    pages = {1: SimpleNamespace(size=SimpleNamespace(width=600, height=800))}
    pages[2] = pages[1]
    made = SimpleNamespace(pages=pages, iterate_items=lambda: [(item, 0) for item in items])
    converter = SimpleNamespace(convert=lambda stream, max_num_pages: SimpleNamespace(document=made))
    for name, held in (
        ("docling", {}),
        ("docling.datamodel", {}),
        ("docling.datamodel.base_models", {"DocumentStream": SimpleNamespace}),
        ("docling.document_converter", {"DocumentConverter": lambda: converter}),
    ):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        vars(sys.modules[name]).update(held)
    found = load_bytes(b"%PDF-1.7", "a.pdf", LoadOptions(reader="docling"))
    assert [page_text(page).text for page in found.pages] == ["no place", "Invoice 7\nBolt"]
    assert {span.box for span in page_text(found.pages[1]).spans} == {Box(60, 40, 200, 55)}
    assert found.pages[1].height == 800 and found.pages[0].lines[0].box is None


def packed(**entries: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return held.getvalue()


OPEN = "application/vnd.oasis.opendocument."
FOREIGN = {
    "a.odt": (packed(mimetype=f"{OPEN}text"), "is an OpenDocument text; save it as .docx or .pdf, or read it with `reader: docling`"),
    "a.ods": (packed(mimetype=f"{OPEN}spreadsheet"), "is an OpenDocument spreadsheet; save it as .xlsx"),
    "a.odp": (packed(mimetype=f"{OPEN}presentation", content="x"), "is an OpenDocument presentation; save it as .pdf"),
    "a.epub": (packed(mimetype="application/epub+zip"), "is an EPUB book; save it as .pdf"),
    "a.pptx": (packed(**{"ppt/presentation.xml": "x"}), "is a presentation; save it as .pdf, or read it with `reader: markitdown` or `reader: docling`"),
    "a.pages": (packed(**{"Index/Document.iwa": "x"}), "is a document of Apple's iWork"),
    "a.rtf": (b"{\\rtf1 x}", "is an RTF document"),
    "a.heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1", "is a picture in the format HEIC; save it as .jpg"),
    "a.jpg": (b"\0\0\0\x18ftypmif1\0\0\0\0heic", "is a picture in the format HEIC; save it as .jpg"),
    "a.avif": (b"\0\0\0\x18ftypavif\0\0\0\0mif1", "is a picture in the format AVIF; save it as .jpg"),
    "a.jp2": (b"\0\0\0\x0cjP  \r\n\x87\n", "is a picture in the format JPEG 2000; save it as .png"),
    "b.heic": (b"no picture", "is named like a HEIC file, but is damaged or something else"),
    "a.zip": (packed(content="x"), "is a zip archive; unpack it"),
    "b.odt": (packed(mimetype="x" * 1000), "is a zip archive; unpack it"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_what_no_loader_reads_is_refused_by_its_right_name(name: str) -> None:
    data, said = FOREIGN[name]
    with pytest.raises(DocumentError) as error:
        find_kind(name, data)
    assert str(error.value).startswith(said) and error.value.kind == "unreadable"
