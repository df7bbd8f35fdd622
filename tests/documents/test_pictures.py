"""Pictures, texts and geometry."""

import io
import json
import subprocess
import sys
from math import cos, radians, sin
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from tests.documents.making import HEIGHT, WIDTH, image, make_pdf, text
from tests.effort import costs_at_most

from fieldassay.documents.loaders.image import join_ideographs, open_pictures
from fieldassay.documents.pages import PageRegion, PictureOptions, render_page, render_pages
from fieldassay.documents.sources import (
    DEFAULTS,
    DocumentFile,
    DocumentPool,
    LoadOptions,
    find_kind,
    list_documents,
    load,
    load_bytes,
)
from fieldassay.documents.transcript import (
    Box,
    DocumentError,
    Transcript,
    Word,
    page_text,
    round_all,
)

# Images and scans: recognition, turned pages, pages of a TIFF, limits, pictures of pages

LINES = ["Invoice 2024-17", "The quick brown fox jumps over", "Total 1.234,50 EUR", "Date 31.05.2024"]


def picture(mode: str = "L") -> Image.Image:
    """Return a picture of a few lines, 150 dots an inch."""
    made = Image.new(mode, (760, 360), "white")
    canvas, font = ImageDraw.Draw(made), ImageFont.load_default(30)
    for at, line in enumerate(LINES):
        canvas.text((60, 40 + 70 * at), line, fill="black", font=font)
    return made


def saved(made: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    stream = io.BytesIO()
    made.save(stream, kind, **more)
    return stream.getvalue()


@pytest.fixture(scope="module")
def pool() -> object:
    with DocumentPool(1) as made:
        yield made


def loaded(pool: DocumentPool, data: bytes, name: str) -> Transcript:
    return pool.submit(load_bytes, data, name).result()


TURNS = [
    pytest.param(0, id="upright"),
    pytest.param(1, id="on its side", marks=pytest.mark.slow),
    pytest.param(2, id="upside down", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("quarters", TURNS)
def test_a_picture_is_recognized_within_the_limits_of_a_worker(quarters: int, pool: DocumentPool) -> None:
    found = loaded(pool, saved(picture().rotate(-90 * quarters, expand=True), dpi=(150, 150)), "a.png")
    page = found.pages[0]
    assert found.notes == ("ocr",)
    assert [line.text for line in page.lines] == LINES
    assert all(
        word.confidence is not None and word.confidence > 0.8 for line in page.lines for word in line.words
    )
    start = page_text(page).text.index("Total")
    box = page_text(page).box(start, start + 5)
    upright = Box(60 * 0.48, 180 * 0.48, 140 * 0.48, 216 * 0.48)
    wide, high = 760 * 0.48, 360 * 0.48
    expected = {
        0: upright,
        1: Box(high - upright.bottom, upright.left, high - upright.top, upright.right),
        2: Box(wide - upright.right, high - upright.bottom, wide - upright.left, high - upright.top),
    }[quarters]
    for side in ("left", "top", "right", "bottom"):
        assert abs(getattr(box, side) - getattr(expected, side)) < 12


ROWS = [("Invoice date", "2025-03-05"), ("Customer", "Oak Ltd"), ("Subtotal", "1,250.00"), ("VAT 19 %", "237.50"),
        ("Total due", "1,487.50"), ("Bolt M8", "12.00"), ("Washer", "3.25"), ("Delivery", "19.90")]  # fmt: skip


def slanted(degrees: float) -> dict[str, object]:
    """Return the words of a page of labels at its left and values at its right, turned about its corner."""
    sine, cosine = sin(radians(degrees)), cos(radians(degrees))
    words = []
    for row, texts in enumerate(ROWS):
        for left, text_ in zip((0.0, 480.0), texts, strict=True):
            for part in text_.split():
                ends = [(left, 22.0 * row), (left + 6 * len(part), 22.0 * row + 12)]
                corners = [
                    (x * cosine - y * sine + 60, x * sine + y * cosine + 80) for x, _ in ends for _, y in ends
                ]
                xs, ys = zip(*corners, strict=True)
                words.append([min(xs), min(ys), max(xs), max(ys), part])
                left += 6 * len(part) + 4
    return {"id": "a", "pages": [{"width": 640, "height": 640, "words": words}]}


@pytest.mark.parametrize("degrees", [-7, -4, -2, -1, -0.5, 0, 0.5, 1, 2, 4, 7])
def test_the_rows_of_a_page_that_lies_askew_are_those_of_a_straight_one(degrees: float) -> None:
    made = slanted(degrees)
    (page,) = load_bytes(json.dumps(made).encode(), "a").pages
    assert page_text(page).text.split("\n") == [f"{label}   {value}" for label, value in ROWS]
    boxes = {tuple(word[:4]) for word in made["pages"][0]["words"]}
    assert {tuple(word.box.__getattribute__(side) for side in ("left", "top", "right", "bottom"))
            for line in page.lines for word in line.words} == boxes  # fmt: skip


@pytest.mark.slow
def test_a_scan_that_lies_askew_is_read_by_its_rows(pool: DocumentPool) -> None:
    made = Image.new("L", (1000, 520), "white")
    for at, row in enumerate(ROWS):
        for x, part in zip((60, 760), row, strict=True):
            ImageDraw.Draw(made).text((x, 40 + 55 * at), part, fill="black", font=ImageFont.load_default(30))
    turned = made.rotate(-5, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC)
    found = loaded(pool, saved(turned, dpi=(150, 150)), "a.png")
    assert page_text(found.pages[0]).text.split("\n") == [f"{label}   {value}" for label, value in ROWS]


def test_rows_of_single_words_do_not_make_a_level_page_askew() -> None:
    words = [[50, 100 + 12 * at, 90, 110 + 12 * at, f"Item{at}"] for at in range(6)]
    words += [[300, 100 + 12 * at, 340, 110 + 12 * at, f"{10 + at}.00"] for at in range(1, 7)]
    (page,) = load_bytes(
        json.dumps({"id": "a", "pages": [{"width": 400, "height": 400, "words": words}]}).encode(), "a"
    ).pages
    assert [line.text for line in page.lines][:3] == ["Item0", "Item1 11.00", "Item2 12.00"]


def test_many_choices_are_read_in_time() -> None:
    with costs_at_most(60):
        load_bytes(b"<select multiple>" + b"<option selected>x" * 20_000 + b"</select>", "a.html")


def test_ideographs_of_a_recognized_line_are_one_word() -> None:
    cells = [(0, "合"), (12, "计"), (24, "："), (60, "12.50"), (100, "元"), (112, "整")]
    words = [Word(part, Box(left, 0, left + 11, 12), confidence=0.5) for left, part in cells]
    assert [word.text for word in join_ideographs(words)] == ["合计：", "12.50", "元整"]


@pytest.mark.slow
def test_a_scanned_page_of_a_pdf_is_recognized_beside_a_digital_one(pool: DocumentPool) -> None:
    made = picture()
    scan = f"q {made.width * 0.48} 0 0 {made.height * 0.48} 72 400 cm /Im Do Q"
    data = make_pdf(
        [text(72, 100, "A digital page"), scan],
        extra=[image(made.tobytes(), made.width, made.height)],
        resources="/XObject << /Im 4 0 R >>",
    )
    found = loaded(pool, data, "a.pdf")
    assert [line.text for line in found.pages[0].lines] == ["A digital page"]
    assert [line.text for line in found.pages[1].lines] == LINES
    assert [line.source for line in (found.pages[0].lines[0], found.pages[1].lines[0])] == ["text", "ocr"]
    assert load_bytes(data, "a.pdf", LoadOptions(ocr="off")).notes == ("unread_page",)


@pytest.mark.slow
def test_a_scan_with_a_digital_stamp_is_recognized_around_the_stamp(pool: DocumentPool) -> None:
    made = Image.new("L", (760, 720), "white")
    made.paste(picture())
    scan = (
        f"q {made.width * 0.8} 0 0 {made.height * 0.8} 0 100 cm /Im Do Q 1 1 1 rg 60 40 300 40 re f 0 0 0 rg"
    )
    stamp = text(72, 740, "Envelope 1234-ABCD") + text(72, 150, "unseen", more="3 Tr")
    more = {"extra": [image(made.tobytes(), *made.size)], "resources": "/XObject << /Im 4 0 R >>"}
    data = make_pdf([scan + stamp], **more)  # type: ignore[arg-type]
    assert load_bytes(data, "a.pdf", LoadOptions(ocr="off")).notes[-1] == "unread_page"
    page = loaded(pool, data, "a.pdf").pages[0]
    assert [line.text for line in page.lines if line.source == "ocr"] == LINES
    assert [line.text for line in page.lines if line.source == "text"] == ["unseen", "Envelope 1234-ABCD"]
    assert not page.lines[0].words[0].visible


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "under", "rotate", "read"),
    [(0.48, "", 0, True), (0.48, "Total due", 0, True), (0.48, "", 90, True), (0.08, "", 0, False)],
    ids=["a table", "a stamp on text", "a page on its side", "an ornament"],
)
def test_a_picture_on_a_digital_page_is_read_in_its_place_or_noted(
    pool: DocumentPool, share: float, under: str, rotate: int, read: bool
) -> None:
    made = picture()
    wide, high = made.width * share, made.height * share
    around = text(72, 100, "Before the picture") + text(72, 700, "Behind it") + text(300, 300, under)
    data = make_pdf(
        [f"{around} q {wide} 0 0 {high} 72 400 cm /Im Do Q {text(300, 300, under)}"],
        f"/Rotate {rotate}",
        [image(made.tobytes(), *made.size)],
        "/XObject << /Im 4 0 R >>",
    )
    alone = load_bytes(data, "a.pdf", LoadOptions(ocr="off"))
    sides = (round(high), round(wide)) if rotate else (round(wide), round(high))
    assert alone.notes == ((f"picture: page 1, {sides[0]} x {sides[1]} points",) if read else ())
    found = loaded(pool, data, "a.pdf")
    lines = [line.text for line in found.pages[0].lines]
    told = " ".join(word.text for line in found.pages[0].lines for word in line.words)
    assert all(part in told for part in ("Before the picture", "Behind it", under, *(LINES if read else ())))
    assert found.notes == (("ocr",) if read else ())
    if not rotate:
        assert lines[0] == "Before the picture" and lines[-1] == "Behind it"


def sizes(data: bytes) -> list[tuple[int, int]]:
    return [made.size for made, _ in open_pictures(data, DEFAULTS)]


def test_a_picture_is_turned_as_its_camera_says() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert sizes(saved(Image.new("RGB", (40, 30)), "JPEG", exif=exif.tobytes())) == [(30, 40)]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_a_picture_of_any_mode_is_flattened(mode: str) -> None:
    assert sizes(saved(Image.new(mode, (8, 4)))) == [(8, 4)]


BAD = {
    "too many pixels": (saved(Image.new("1", (2000, 2000))), LoadOptions(max_pixels=1000), "too_large"),
    "cut short": (saved(picture("RGB"), "JPEG")[:900], DEFAULTS, "unreadable"),
    "damaged": (saved(picture())[:60] + b"x" * 60, DEFAULTS, "unreadable"),
    "without recognition": (saved(picture()), LoadOptions(ocr="off"), "no_text"),
}


@pytest.mark.parametrize(("data", "options", "kind"), BAD.values(), ids=BAD.keys())
def test_a_bad_picture_fails_with_its_kind(data: bytes, options: LoadOptions, kind: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, "a.png", options)
    assert caught.value.kind == kind


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_pages_are_rendered(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf([text(72, 100, "Total"), text(72, 300, "second")]))
    (tmp_path / "a.png").write_bytes(saved(picture(), dpi=(150, 150)))
    (tmp_path / "a.md").write_text("x")
    files = {name: DocumentFile(name, tmp_path / name) for name in ("a.pdf", "a.png", "a.md")}
    assert _opened(render_page(files["a.pdf"], 2, PictureOptions(dpi=72))).size == (WIDTH, HEIGHT)
    assert max(_opened(render_page(files["a.pdf"], 1, PictureOptions(dpi=600, max_side=500))).size) == 500
    assert _opened(render_page(files["a.png"], 1)).size == (760, 360)
    for name, number in (("a.md", 1), ("a.pdf", 9), ("a.pdf", 0), ("a.png", 2)):
        with pytest.raises(DocumentError) as caught:
            render_page(files[name], number)
        assert caught.value.kind == "no_image"


# one black square on a white page, 100 points wide and high at (200, 300) of the page as it is displayed
_SQUARE = Box(200, 300, 300, 400)


def _with_square(width: int, height: int, box: Box) -> Image.Image:
    made = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(made).rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill="black")
    return made


def _filled(left: float, bottom: float) -> str:
    return f"0 g {left} {bottom} 100 100 re f"


def _turned_photo() -> bytes:
    """Return a photo of 800 x 600 that EXIF turns clockwise to 600 x 800, with the square upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = _with_square(600, 800, _SQUARE).transpose(Image.Transpose.ROTATE_90)
    return saved(stored, "JPEG", dpi=(72, 72), exif=exif, quality=95)


def _two_frames() -> bytes:
    made = _with_square(612, 792, _SQUARE)
    blank = Image.new("RGB", (612, 792), "white")
    return saved(blank, "TIFF", save_all=True, append_images=[made], dpi=(72, 72))


SQUARES = {
    "PDF": ("a.pdf", make_pdf([_filled(200, 392)]), 1),
    "PDF of several pages": ("a.pdf", make_pdf(["", _filled(200, 392)]), 2),
    "rotated by 90 degrees": ("a.pdf", make_pdf([_filled(300, 200)], "/Rotate 90"), 1),
    "rotated by 180 degrees": ("a.pdf", make_pdf([_filled(312, 300)], "/Rotate 180"), 1),
    "rotated by 270 degrees": ("a.pdf", make_pdf([_filled(212, 492)], "/Rotate 270"), 1),
    "crop box": ("a.pdf", make_pdf([_filled(250, 242)], "/CropBox [50 20 600 642]"), 1),
    "crop box, rotated": ("a.pdf", make_pdf([_filled(350, 220)], "/CropBox [50 20 600 642] /Rotate 90"), 1),
    "image": ("a.png", saved(_with_square(612, 792, _SQUARE), dpi=(72, 72)), 1),
    "photo that EXIF turns": ("a.jpg", _turned_photo(), 1),
    "page of a TIFF": ("a.tif", _two_frames(), 2),
}


@pytest.mark.parametrize("unit", ["points", "shares"])
@pytest.mark.parametrize(("name", "data", "number"), SQUARES.values(), ids=SQUARES.keys())
def test_a_part_of_a_page_is_the_part_that_is_displayed(
    name: str, data: bytes, number: int, unit: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    file = DocumentFile(name, tmp_path / name)
    width, height = _opened(render_page(file, number, PictureOptions(dpi=72))).size
    box = _SQUARE
    region = PageRegion(box.left / width, box.top / height, box.right / width, box.bottom / height)
    crop: Box | PageRegion = box if unit == "points" else region
    exact = _opened(render_page(file, number, PictureOptions(dpi=144, crop=crop))).convert("L")
    assert all(abs(side - (200 if exact.width > 150 else 100)) <= 2 for side in exact.size)
    assert exact.crop((3, 3, exact.width - 3, exact.height - 3)).getextrema()[1] < 30
    wide = _opened(render_page(file, number, PictureOptions(dpi=72, crop=crop, margin=20))).convert("L")
    assert all(abs(side - 140) <= 2 for side in wide.size)
    assert abs(sum(pixel < 128 for pixel in wide.tobytes()) - 10_000) < 300


def test_the_parts_of_a_document_are_rendered_together_and_fail_alone(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf([_filled(200, 392), ""]))
    file = DocumentFile("a.pdf", tmp_path / "a.pdf")
    nowhere = PictureOptions(crop=Box(700, 0, 800, 10))
    parts = [
        (2, PictureOptions(crop=_SQUARE)),
        (3, PictureOptions()),
        (1, nowhere),
        (1, PictureOptions(crop=_SQUARE)),
    ]
    blank, missing, outside, square = render_pages(file, parts)
    assert isinstance(blank, bytes) and _opened(blank).convert("L").getextrema() == (255, 255)
    assert isinstance(missing, DocumentError) and isinstance(outside, DocumentError)
    assert isinstance(square, bytes) and _opened(square).convert("L").getextrema()[0] == 0


def test_a_picture_with_few_colors_is_small(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf([text(72, 100, "Total 12.00")]))
    file = DocumentFile("a.pdf", tmp_path / "a.pdf")
    whole, few = (render_page(file, 1, PictureOptions(colors=colors)) for colors in (None, 16))
    assert len(few) < len(whole) / 2 and len(set(_opened(few).tobytes())) <= 16


def test_recognized_words_are_drawn_at_their_places(tmp_path: Path) -> None:
    words = [[60, 10, 90, 20, "12.00"], [5, 11, 40, 21, "Total"]]
    line = {"id": "r1", "pages": [{"width": 100, "height": 50, "words": words}]}
    (tmp_path / "ocr.jsonl").write_text(json.dumps(line))
    (file,) = list_documents(tmp_path / "ocr.jsonl").files
    drawn = _opened(render_page(file, 1, PictureOptions(dpi=144))).convert("L")
    assert drawn.size == (200, 100)
    assert drawn.crop((120, 20, 180, 40)).getextrema()[0] < 100
    assert drawn.crop((0, 50, 200, 100)).getextrema() == (255, 255)
    part = _opened(render_page(file, 1, PictureOptions(dpi=144, crop=Box(60, 10, 90, 20)))).convert("L")
    assert part.size == (60, 20) and part.getextrema()[0] < 100


# Text, Markdown, CSV and HTML to transcripts, and which kind a file is


def text_of(name: str, data: bytes | str, hidden: bool = False) -> str:
    found = load_bytes(data.encode() if isinstance(data, str) else data, name)
    return "\f".join(page_text(page, hidden).text for page in found.pages)


PLAIN = "Invoice 17\n\nItem          Qty    Price\nBolt M8       10      2.50\nNut           200    12.00\n\nTotal: 14.50\n"


def test_plain_text_keeps_its_lines_and_aligned_columns_are_a_table() -> None:
    assert text_of("a.txt", PLAIN).split("\n") == [
        "Invoice 17", "Item | Qty | Price", "Bolt M8 | 10 | 2.50", "Nut | 200 | 12.00", "Total: 14.50"
    ]  # fmt: skip


CSVS = {
    "semicolons, decimal commas": ("id;amount\n1;1.234,00\n2;3,50\n", "id | amount\n1 | 1.234,00\n2 | 3,50"),
    "quotes and line breaks": ('a,b\n"x, y","two\nlines"\n', "a | b\nx, y | two lines"),
    "tabs": ("a\tb\n1\t2\n", "a | b\n1 | 2"),
    "lines in UTF-8 and in cp1252": (b"Tolu\xe8ne;1\nAc\xc3\xa9tone;2\n", "Toluène | 1\nAcétone | 2"),
    "cp1252": ("Straße;Größe\nÄ;1,5 µm\n".encode("cp1252"), "Straße | Größe\nÄ | 1,5 µm"),
    "utf-16": ("a;b\n1;é\n".encode("utf-16"), "a | b\n1 | é"),
    "one column": ("name\nAda\n", "name\nAda"),
    "delimiter by name": ("sep=;\na;b\n1;2,5\n", "a | b\n1 | 2,5"),
    "ragged": ("a,b,c\n1,2\n", "a | b | c\n1 | 2"),
}


@pytest.mark.parametrize(("data", "expected"), CSVS.values(), ids=CSVS.keys())
def test_delimited_text_is_a_table(data: bytes | str, expected: str) -> None:
    assert text_of("a.csv", data) == expected


def test_markdown_keeps_lines_and_its_tables() -> None:
    text = "# Title\n\nSome *text*\n\n| a | b |\n|---|:-:|\n| 1 | x\\|y |\n\nEnd | not a table\n"
    assert text_of("a.md", text) == "# Title\nSome *text*\na | b\n1 | x|y\nEnd | not a table"


HTMLS = {
    "blocks": ("<html><title>T</title><p>One <b>two</b><br>three<div>four</div>five", "One two\nthree\nfour\nfive"),
    "data table": ("<html><p>a<table><tr><th>k<th>v</tr><tr><td>x<td>1</tr></table>b", "a\nk | v\nx | 1\nb"),
    "layout table": (
        "<html><table><tr><td>left<td><table><tr><td>k<td>v</tr></table></tr></table>", "left\nk | v"
    ),
    "spans": (
        "<html><table><tr><td colspan=2>head<td>c</tr><tr><td rowspan=2>a<td>b<td>c</tr><tr><td>d<td>e</tr></table>",
        "head |  | c\na | b | c\n | d | e",
    ),
    "scripts and styles": ("<html><style>p{}</style><script>alert(1)</script><p>x<noscript>y</noscript>z", "xz"),
    "hidden": ('<html><p>seen<span style="display:none">secret</span><p hidden>more</p>', "seen"),
    "form fields": ('<html><p>Name: <input value="Ada"> <input type=hidden value="x">', "Name: Ada"),
    "entities": ("<html><p>1&nbsp;234,50 &euro; &amp; more", "1 234,50 € & more"),
    "charset": ('<html><meta charset="windows-1252"><p>caf\xe9'.encode("cp1252"), "café"),
    "charset of XML": ('<?xml version="1.0" encoding="gb2312"?><html><p>镕基'.encode("gbk"), "镕基"),
    "UTF-16 named": ('<html><meta charset="utf-16"><p>café 5 €'.encode(), "café 5 €"),
    "formula": (
        "<p>E is <math><mn>2</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup></math> J, <math><mn>1</mn>"
        "<mfrac><mn>1</mn><mn>2</mn></mfrac><annotation>1.5</annotation></math>", "E is 2×10⁻⁶ J, 1 1/2",
    ),
    "choice": ("<p>Pay <select><option>no<option selected>yes</select> by <select><option>May<option>June</select>",
               "Pay yes by May"),
    "several choices": ("<select multiple><option selected>a<option>b</select>", "☒ a ☐ b"),
    "check boxes": ("<p><input type=checkbox checked>I agree <input type=radio>no", "☒ I agree ☐ no"),
    "alternative text": ("<p><img src=a.png alt='Total 9.00'><img src=t.gif width=1 alt=dot>end", "Total 9.00 end"),
    "footnote of a number": ("<p>Net 318<sup>2</sup>, <b>4,512</b><sup>(1)</sup> and 12<sup>a</sup>", "Net 318 ², 4,512 ⁽¹⁾ and 12a"),
    "raised cents": ("<p>$12<sup>99</sup> each, 5<sup>.99</sup>", "$12 ⁹⁹ each, 5.99"),
    "raised cents behind the point": ("<p>CHF 12.<sup>95</sup>", "CHF 12.95"),
    "moved up": ("<p>4,512<span style='position:relative;top:-4px'>1</span> 12<span style='vertical-align:4px'>2</span>", "4,512 ¹ 12 ²"),
    "mark before a number": ("<p><sup>3</sup>24 items", "³ 24 items"),
    "powers": ("<p>5 m<sup>3</sup>/h, 10<sup>-6</sup>, 2×10<sup>6</sup>, s<sup>-1</sup>", "5 m3/h, 10⁻⁶, 2×10⁶, s⁻¹"),
    "formulas and ordinals": ("<p>H<sub>2</sub>O on May 1<sup>st</sup>", "H2O on May 1st"),
    "style of a mark": ("<p>318<span style='vertical-align: super'>2</span>", "318 ²"),
    "preformatted": (
        "<pre>Item          Qty    Price\nBolt          10     2.50\nNut           200    12.00\n\nTotal 14.50</pre>end",
        "Item | Qty | Price\nBolt | 10 | 2.50\nNut | 200 | 12.00\nTotal 14.50\nend",
    ),
    "preformatted by its style": ("<div style='white-space:pre-line'>Ship to:\nOak Ltd</div>", "Ship to:\nOak Ltd"),
    "breaks in preformatted text": ("<pre>one<br>two <b>three</b>\nfour</pre>", "one\ntwo three\nfour"),
    "text area": ("<p>Note<textarea>Dear Sir\nplease pay</textarea>", "Note\nDear Sir\nplease pay"),
    "no external entities": ('<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html><p>a&x;b', "]>\na&x;b"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), HTMLS.values(), ids=HTMLS.keys())
def test_html_reads_as_a_browser_shows_it(data: bytes | str, expected: str) -> None:
    assert text_of("a.html", data) == expected


def test_hidden_html_is_there_when_asked_for() -> None:
    data = b'<html><p>seen <span style="display: none">secret</span></p>'
    assert text_of("a.html", data, hidden=True) == "seen secret"
    assert load_bytes(data, "a.html").notes == ("hidden_text",)


def test_html_names_what_it_does_not_read() -> None:
    data = b"<p>x<img src=a.png><img src=b.png><svg><text>drawn</text></svg><iframe src=c></iframe>"
    assert load_bytes(data, "a.html").notes == (
        "unread_element: 1 iframe", "unread_element: 1 svg", "unread_element: 2 img",
    )  # fmt: skip


def test_preformatted_text_of_many_lines_is_read_in_time_or_refused() -> None:
    with costs_at_most(40):
        load_bytes(b"<pre>" + b"Rent  900.00\n" * 50_000 + b"</pre>", "a.html")
    with costs_at_most(60), pytest.raises(DocumentError, match="750,000 words"):
        load_bytes(b"<pre>" + b"a b c d e f g h i j\n" * 200_000 + b"</pre>", "a.html")


def test_offsets_lead_to_boxes_and_pieces() -> None:
    found = page_text(load_bytes(PLAIN.encode(), "a.txt").pages[0])
    start = found.text.index("12.00")
    (piece,) = found.pieces(start, start + 5)
    assert (piece.table, found.text[piece.start : piece.end]) == (0, "12.00")
    assert found.box(start, start + 5) == piece.box
    start = found.text.index("Total")
    assert [piece.index for piece in found.pieces(start, start + 12)] == [0, 1]
    assert found.box(0, 0) is None


KINDS = {
    "a pdf by another name": ("a.txt", b"%PDF-1.7 x", "pdf"),
    "an image without a suffix": ("a", b"\x89PNG\r\n\x1a\n", "image"),
    "mail without a suffix": ("a", b"From: a@b\nTo: c@d\nSubject: x\n\nhello", "eml"),
    "text like mail": ("a.txt", b"From: a@b\nTo: c@d\nSubject: x\n\nhello", "text"),
    "markup without a suffix": ("a", b"<!DOCTYPE html><p>x", "html"),
}


@pytest.mark.parametrize(("name", "data", "kind"), KINDS.values(), ids=KINDS.keys())
def test_content_goes_before_the_suffix(name: str, data: bytes, kind: str) -> None:
    assert find_kind(name, data) == kind


UNREADABLE = {
    "empty": ("a.txt", b" \n"), "named like a pdf": ("a.pdf", b"hello"), "rtf": ("a.rtf", b"{\\rtf1 x}"),
    "a zip archive": ("a.zip", b"PK\x03\x04 broken"), "an image's name": ("a.png", b"hello"),
    "bytes": ("a.bin", bytes(range(8)) + b"\0" * 900),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_no_loader_reads_is_refused_with_a_sentence(name: str, data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, name)
    assert caught.value.kind == "unreadable"


PAGE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageWidth="800" imageHeight="600">
<TextRegion id="r"><TextLine id="b"><Coords points="100,200 500,200 500,230 100,230"/>
<TextEquiv><Unicode>Abadie (Jean), 105</Unicode></TextEquiv></TextLine>
<TextLine id="a"><Coords points="100,100 300,100 300,130 100,130"/><Word><Coords points="100,100 180,100 180,130 100,130"/>
<TextEquiv><Unicode>Table</Unicode></TextEquiv></Word></TextLine></TextRegion></Page></PcGts>"""
COLUMNS = """<PcGts><Page imageWidth="800" imageHeight="600"><ReadingOrder><OrderedGroup>
<RegionRefIndexed index="10" regionRef="right"/><UnorderedGroupIndexed index="9"><RegionRef regionRef="left"/></UnorderedGroupIndexed>
</OrderedGroup></ReadingOrder>
<TextRegion id="right"><TextLine><Coords points="410,100 545,130"/><TextEquiv><Unicode>Bonnet, 7</Unicode></TextEquiv></TextLine></TextRegion>
<TextRegion id="left"><TextLine><Coords points="100,100 265,130"/><TextEquiv><Unicode>Abadie, 105</Unicode></TextEquiv></TextLine>
<TextLine><Coords points="100,140 220,170"/><TextEquiv><Unicode>Arago, 3</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""
ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="800" HEIGHT="600"><PrintSpace><TextBlock>
<TextLine><String CONTENT="Abadie" HPOS="100" VPOS="200" WIDTH="120" HEIGHT="30"/><SP/>
<String CONTENT="105" HPOS="230" VPOS="200" WIDTH="60" HEIGHT="30"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""


@pytest.mark.parametrize(
    ("xml", "lines"),
    [(PAGE_XML.encode(), ["Table", "Abadie (Jean), 105"]), (ALTO.encode(), ["Abadie 105"]),
     (PAGE_XML.replace("UTF-8", "UTF-16").encode("utf-16"), ["Table", "Abadie (Jean), 105"]),
     (COLUMNS.encode(), ["Abadie, 105", "Arago, 3", "Bonnet, 7"]),
     (PAGE_XML.replace('TextRegion id="r"', "TableRegion><TableCell").replace("TextRegion", "TableCell></TableRegion").encode(),
      ["Table", "Abadie (Jean), 105"])],
    ids=["PAGE", "ALTO", "UTF-16", "columns in reading order", "a table"],
)  # fmt: skip
def test_recognized_text_as_xml_is_read_line_by_line(tmp_path: Path, xml: bytes, lines: list[str]) -> None:
    (tmp_path / "page1.xml").write_bytes(xml)
    (tmp_path / "invoice.xml").write_text("<invoice><total>5</total></invoice>")
    [file] = list_documents(tmp_path).files
    found = load(file.path)
    assert (file.id, found.kind, page_text(found.pages[0]).text.splitlines()) == ("page1.xml", "words", lines)
    assert (found.pages[0].width, found.pages[0].height) == (800, 600)


LINE = '<TextLine id="b"><Coords points="100,200 500,200 500,230 100,230"/>'
UNICODE = "<TextEquiv><Unicode>Abadie (Jean), 105</Unicode></TextEquiv>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LINE, '<TextLine id="b">'),
        (LINE, LINE.replace("100,200 500,200 500,230 100,230", "nan,inf 1e999,x")),
        (LINE, '<TextLine><Coords><Point x="100" y="200"/><Point x="500" y="230"/></Coords>'),
        (LINE, f"{LINE}<Word/>"),
        (UNICODE, '<TextEquiv index="1"><Unicode>x</Unicode></TextEquiv>' + UNICODE.replace("Equiv>", 'Equiv index="0">', 1)),
    ],
    ids=["a line without a place", "no numbers", "points of 2010", "a word without text", "two readings"],
)  # fmt: skip
def test_no_line_of_recognized_text_is_lost(old: str, new: str) -> None:
    assert old in PAGE_XML
    found = load_bytes(PAGE_XML.replace(old, new).encode(), "a.xml")
    assert sorted(word.text for line in found.pages[0].lines for word in line.words) == [
        "(Jean),",
        "105",
        "Abadie",
        "Table",
    ]


def test_tenths_of_millimeters_are_points_and_a_region_without_lines_is_read() -> None:
    (page,) = load_bytes(
        ALTO.replace(
            "<Layout>", "<Description><MeasurementUnit>mm10</MeasurementUnit></Description><Layout>"
        ).encode(),
        "a.xml",
    ).pages
    assert (round(page.width), round(page.lines[0].words[0].box.left, 2)) == (227, 28.35)
    region = '<PcGts><Page imageWidth="9" imageHeight="9"><TextRegion><TextEquiv><Unicode>one\ntwo</Unicode></TextEquiv></TextRegion></Page></PcGts>'
    (page,) = load_bytes(region.encode(), "a.xml").pages
    assert page_text(page).text == "one\ntwo"


@pytest.mark.parametrize(
    "xml",
    [
        PAGE_XML[:-20],
        PAGE_XML.replace('imageWidth="800"', 'imageWidth="1e400"'),
        PAGE_XML.replace('imageHeight="600"', ""),
        ALTO.replace('WIDTH="60" ', ""),
        ALTO.replace("<alto", '<!DOCTYPE alto [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><alto').replace(
            "105", "&c;"
        ),
    ],
    ids=["cut short", "endless", "no height", "no width", "entities"],
)
def test_recognized_text_that_is_damaged_is_refused(xml: str) -> None:
    with pytest.raises(DocumentError, match=r"is damaged XML|has a document type|has no number") as caught:
        load_bytes(xml.encode(), "a.xml")
    assert caught.value.kind == "unreadable"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 100)
    with pytest.raises(DocumentError) as caught:
        load(tmp_path / "a.txt", LoadOptions(max_bytes=99))
    assert caught.value.kind == "too_large"


@pytest.mark.slow
def test_importing_the_package_loads_no_library() -> None:
    code = (
        "import sys, pkgutil, importlib, fieldassay.documents as d\n"
        "for m in pkgutil.walk_packages(d.__path__, 'fieldassay.documents.'): importlib.import_module(m.name)\n"
        "print([m for m in ('pypdfium2', 'lxml', 'PIL', 'numpy', 'rapidocr') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# Boxes: rounding of many numbers at once, and turns


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32)))
def test_any_numbers_are_rounded_as_round_does(values: list[float]) -> None:
    assert list(map(repr, round_all(np.array(values, float)))) == [repr(round(value, 2)) for value in values]
