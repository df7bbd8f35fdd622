"""PDFs: words, order, tables, what a person sees and what not."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from tests.documents.making import HEIGHT, WIDTH, column, image, make_docx, make_pdf, p, stroke, text

from fieldassay.documents.pages import WHOLE_PAGE, render_pages
from fieldassay.documents.sources import DocumentFile, LoadOptions, load_bytes
from fieldassay.documents.transcript import DocumentError, Page, Transcript, page_text

LEFT = ["The quick brown fox jumps over a dog", "and runs away from it into the woods", "where nobody will ever find it again",
        "until the winter comes with its snow"]  # fmt: skip
RIGHT = ["Meanwhile the lazy dog sleeps all day", "in the warm light of the autumn sun", "and dreams of bones and of long walks",
         "which nobody will take with him today"]  # fmt: skip
NO_OCR = LoadOptions(ocr="off")


def load(stream: str, **more: object) -> Transcript:
    return load_bytes(make_pdf([stream], **more), "a.pdf", NO_OCR)  # type: ignore[arg-type]


def first(stream: str, **more: object) -> Page:
    return load(stream, **more).pages[0]


def test_a_word_goes_on_behind_a_raised_character() -> None:
    page = first(
        "BT /F1 10 Tf 72 700 Td (Flow 5000 m) Tj ET BT /F1 6.5 Tf 129.24 703.5 Td (3) Tj ET "
        "BT /F1 10 Tf 132.85 700 Td (/h at) Tj ET BT /F1 10 Tf 200 688 Td (noon) Tj ET"
    )
    assert page_text(page).text.split() == ["Flow", "5000", "m3/h", "at", "noon"]


def _find(page: Page, quote: str) -> tuple[int, int]:
    start = page_text(page).text.index(quote)
    return start, start + len(quote)


@pytest.mark.parametrize("shift", [0, 7], ids=["rows level", "rows shifted by half a line"])
def test_columns_of_running_text_are_read_one_after_the_other(shift: int) -> None:
    heading, footer = (
        text(72, 60, "A heading that runs over both of the columns of this page and further still"),
        "",
    )
    footer = text(250, 300, "A footer that stands across the gutter")
    page = first(heading + column(72, 100, LEFT) + column(330, 100 + shift, RIGHT) + footer)
    assert [line.text for line in page.lines][1:-1] == LEFT + RIGHT


def test_rows_aligned_in_three_columns_are_a_table() -> None:
    rows = [
        ("Item", "Qty", "Price"),
        ("Bolt M8 galvanized", "10", "2.50"),
        ("Nut", "200", "12.00"),
        ("Washer", "5", "0.10"),
    ]
    stream = text(72, 60, "Your order of last Monday") + "".join(
        text(x, 100 + 14 * at, cell) for at, row in enumerate(rows) for x, cell in zip((72, 300, 400), row, strict=True)
    ) + text(72, 200, "Thank you for your order")  # fmt: skip
    page = first(stream)
    assert page_text(page).text.split("\n") == [
        "Your order of last Monday", *(" | ".join(row) for row in rows), "Thank you for your order"
    ]  # fmt: skip


def _ruled() -> str:
    """Return a table of three columns and rows whose first row is one cell, and whose first column spans two rows."""
    xs = (72, 200, 320, 450)
    across = "".join(stroke(xs[0], y, xs[-1], y) for y in (100, 130, 190)) + stroke(xs[1], 160, xs[-1], 160)
    down = (
        stroke(72, 100, 72, 190)
        + stroke(450, 100, 450, 190)
        + "".join(stroke(x, 130, x, 190) for x in xs[1:3])
    )
    cells = [(80, 120, "Heading of all"), (80, 150, "Pump"), (210, 150, "flow"), (330, 150, "12 m3/h"),
             (210, 180, "head"), (330, 180, "30 m")]  # fmt: skip
    return (
        across
        + down
        + "".join(text(x, y, cell) for x, y, cell in cells)
        + text(72, 80, "Above")
        + text(72, 220, "Below")
    )


def test_a_ruled_table_has_its_merged_cells() -> None:
    page = first(_ruled())
    assert [line.text for line in page.lines] == ["Above", "Below"]
    (table,) = page.tables
    assert table.after == 0
    assert [(c.row, c.column, c.rows, c.columns, c.text) for c in table.cells] == [
        (0, 0, 1, 3, "Heading of all"), (1, 0, 2, 1, "Pump"), (1, 1, 1, 1, "flow"), (1, 2, 1, 1, "12 m3/h"),
        (2, 1, 1, 1, "head"), (2, 2, 1, 1, "30 m"),
    ]  # fmt: skip
    assert page_text(page).text == "Above\nHeading of all\nPump | flow | 12 m3/h\n | head | 30 m\nBelow"


RAISED = {
    "cents": ([(14, 0, "Total $12"), (8, 5, "99")], "Total $12 ⁹⁹"),
    "note": ([(14, 0, "Net profit 318"), (8, 5, "2")], "Net profit 318 ²"),
    "note in brackets": ([(10, 0, "77"), (6, 4, "\\(3\\)")], "77 ⁽³⁾"),
    "power of ten": ([(10, 0, "4 x10"), (6, 4, "-6")], "4 x10⁻⁶"),
    "decimals": ([(20, 0, "12"), (10, 7, ".50")], "12.50"),
    "formula": ([(10, 0, "CO"), (6, -2, "2"), (10, 0, " of 2024")], "CO2 of 2024"),
    "ordinal": ([(10, 0, "May 1"), (6, 4, "st"), (10, 0, " 2024")], "May 1st 2024"),
    "power of ten behind blanks": ([(10, 0, "4 x 10"), (6, 4, "6"), (10, 0, " Pa")], "4 x 10⁶ Pa"),
    "barely smaller": ([(14, 0, "Net profit 318"), (12.2, 5, "2")], "Net profit 318 ²"),
    "as large": ([(14, 0, "Total $12"), (14, 5, "99")], "Total $12 ⁹⁹"),
}


@pytest.mark.parametrize(("runs", "expected"), RAISED.values(), ids=RAISED.keys())
@pytest.mark.parametrize("is_moved", [False, True], ids=["by rise", "by place"])
@pytest.mark.parametrize(
    ("matrix", "rotation"),
    [
        ((1, 0, 72, 600), 0),
        ((0, 1, 300, 100), 0),
        ((0, -1, 200, 700), 0),
        ((1, 0, 72, 600), 90),
        ((0, 1, 300, 100), 90),
    ],
    ids=["level", "up", "down", "level on a turned page", "up on a turned page"],
)
def test_a_number_does_not_take_the_digits_of_a_raised_mark(
    runs: list[tuple[float, float, str]],
    expected: str,
    is_moved: bool,
    matrix: tuple[int, ...],
    rotation: int,
) -> None:
    a, b, left, bottom = matrix
    drawn, x = "", 0.0
    for size, rise, held in runs:
        bare = held.replace("\\", "")
        up = rise if is_moved else 0
        place = f"{a} {b} {-b} {a} {left + a * x - b * up} {bottom + b * x + a * up} Tm {rise - up} Ts"
        drawn += f"BT /F1 {size} Tf {place} ({held}) Tj ET\n"
        x += stringWidth(bare, "Helvetica", size)
    assert page_text(first(drawn, page_entries=f"/Rotate {rotation}")).text == expected


def test_a_word_of_two_fonts_is_one_word() -> None:
    fonts = [
        font_with(HANGUL)[0].replace(b"/Helvetica", b"/A /FontDescriptor 6 0 R"),
        font_with(HANGUL)[1],
        DEEP,
    ]
    drawn = text(72, 100, "2024") + text(72 + stringWidth("2024", "Helvetica", 10), 100, "a").replace(
        "/F1", "/F2"
    )
    page = first(drawn, extra=fonts, resources="/Font << /F1 3 0 R /F2 4 0 R >>")
    assert page_text(page).text == "2024엣"


@pytest.mark.parametrize("offset", [0.3, 0.8, 1.2, -0.6])
def test_characters_drawn_twice_to_look_bold_are_read_once(offset: float) -> None:
    drawn, x = "", 72.0
    for char in "Billing 1,110.00":
        if char != " ":
            drawn += text(x, 100, char, 12) + text(x + offset, 100, char, 12)
        x += stringWidth(char, "Helvetica", 12)
    assert page_text(first(drawn)).text == "Billing 1,110.00"


def test_a_font_with_wide_places_keeps_equal_digits() -> None:
    assert page_text(
        first("-2 Tc " + text(72, 100, "1100.00 2233", 11, "/F1 11 Tf -1.9 Tc"))
    ).text.split() == ["1100.00", "2233"]


@pytest.mark.parametrize(
    ("between", "gap"), [("", 28), ("", 60), ("Second part of the terms and conditions of sale", 30)],
    ids=["a blank line", "a large gap", "a heading across two columns"],
)  # fmt: skip
def test_blocks_of_three_columns_are_read_one_after_the_other(between: str, gap: float) -> None:
    blocks = [
        [
            [f"{name} the supplier shall", "deliver the goods to the", "place named in the order", "and pay all of the costs"]
            for name in names
        ]
        for names in ("ABC", "DEF")
    ]  # fmt: skip
    second = 100 + 3 * 14 + gap + (gap if between else 0)
    drawn = text(60, 100 + 3 * 14 + gap, between) if between else ""
    for top, columns in zip((100, second), blocks, strict=True):
        drawn += "".join(column(60 + 180 * at, top, lines) for at, lines in enumerate(columns))
    first_block, second_block = ([line for lines in columns for line in lines] for columns in blocks)
    lines = [line.text for line in first(drawn).lines]
    assert lines == [*first_block, *([between] if between else []), *second_block]


def font_with(names: dict[str, int]) -> list[bytes]:
    """Return the objects of a font whose map of characters says another code for each character."""
    rows = "".join(f"<{ord(char):02X}> <{code:0{8 if code >> 16 else 4}X}>\n" for char, code in names.items())
    held = (
        "begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
        f"{len(names)} beginbfchar\n{rows}endbfchar endcmap"
    ).encode()
    return [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 5 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(held), held),
    ]


def test_letters_of_a_ligature_are_no_letters_drawn_twice() -> None:
    names = {char: ord(char) for char in "ore1"} | {"L": 0x00660066}
    drawn = text(72, 100, "oLer 11").replace("/F1", "/F2")
    made = load(drawn, extra=font_with(names), resources="/Font << /F1 3 0 R /F2 4 0 R >>")
    assert [line.text for line in made.pages[0].lines] == ["offer 11"]


BROKEN = {"private use": lambda char: 0xE000 + ord(char), "replacement": lambda char: 0xFFFD}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_a_text_layer_of_codes_is_no_text_layer(change: Callable[[str], int]) -> None:
    names = {char: change(char) for char in "Invoice201-45"}
    drawn = text(72, 100, "Invoice 2041-5").replace("/F1", "/F2") + text(72, 130, "x")
    made = {"extra": font_with(names), "resources": "/Font << /F1 3 0 R /F2 4 0 R >>"}
    with pytest.raises(DocumentError, match="recognition"):
        load(drawn, **made)
    bullets = load(text(72, 100, "5").replace("/F1", "/F2") + text(90, 100, "a point of a list"), **made)
    assert bullets.notes == ()


LATIN = "Invoice of March 2041 due within thirty days"
WRONG = {
    "the next letters": (lambda code: code + 1, ()),
    "rare syllables": (lambda code: 0xAC00 + 7 * code, ("broken_text_layer",)),
    "rare ideographs": (lambda code: 0x4E00 + 97 * code, ("broken_text_layer",)),
    "small letters of another script": (
        lambda code: code + (944 if code > 96 else 0),
        ("broken_text_layer",),
    ),
}


def lettered(change: Callable[[int], int]) -> bytes:
    """Return a PDF whose second line has a text layer of changed letters."""
    return make_pdf(
        [text(72, 60, "Oak Limited, Elm Street 5") + text(72, 100, LATIN).replace("/F1", "/F2")],
        extra=font_with({char: change(ord(char)) for char in {*LATIN} - {" "}}),
        resources="/Font << /F1 3 0 R /F2 4 0 R >>",
    )


@pytest.mark.parametrize(("change", "notes"), WRONG.values(), ids=WRONG.keys())
def test_letters_of_no_language_are_noticed(change: Callable[[int], int], notes: tuple[str, ...]) -> None:
    alone = load_bytes(lettered(change), "a.pdf", NO_OCR)
    assert alone.notes == notes
    assert page_text(alone.pages[0]).text.split()[-1] == "".join(chr(change(ord(char))) for char in "days")


@pytest.mark.parametrize("name", ["the next letters", "rare syllables"])
@pytest.mark.slow
def test_letters_of_no_language_are_compared_with_recognition(name: str) -> None:
    compared = load_bytes(lettered(WRONG[name][0]), "a.pdf", LoadOptions(dpi=80))
    assert compared.notes == ("broken_text_layer", "ocr")
    assert page_text(compared.pages[0]).text == f"Oak Limited, Elm Street 5\n{LATIN}"


@pytest.mark.slow
def test_a_text_layer_that_is_read_as_recognition_reads_it_stays() -> None:
    data = make_pdf([text(72, 100, "GmbH kWh MHz PLZ Ltd VAT BLZ PKW LKW dkg mph")])
    found = load_bytes(data, "a.pdf")
    assert found.notes == () and found.pages == load_bytes(data, "a.pdf", NO_OCR).pages


HANGUL = dict(zip("abcdefgh", map(ord, "엣지컴퓨팅클라우"), strict=True))


DEEP = b"<< /Type /FontDescriptor /FontName /A /Flags 32 /FontBBox [0 -700 1000 700] /Ascent 700 /Descent -700 >>"
"""The look of a font whose characters reach as far down as up."""


@pytest.mark.parametrize(("above", "below", "leading"), [(10, 10, 10), (10, 10, 8), (12, 8, 7), (8, 11, 9)])
def test_captions_of_two_scripts_are_read_line_by_line(above: float, below: float, leading: float) -> None:
    """The boxes of the first font reach as far down as up, into the line below."""
    fonts = [
        font_with(HANGUL)[0].replace(b"/Type1 /BaseFont /Helvetica", b"/TrueType /BaseFont /A /FontDescriptor 6 0 R"),
        font_with(HANGUL)[1],
        DEEP,
    ]  # fmt: skip
    drawn = "".join(
        text(x + 9, 100, one, above).replace("/F1", "/F2") + text(x, 100 + leading, other, below)
        for x, one, other in ((72, "abcde", "(Edge Computing)"), (300, "fgh ab", "(Cloud Computing)"))
    )
    page = first(drawn, extra=fonts, resources="/Font << /F1 3 0 R /F2 4 0 R >>")
    assert [line.text for line in page.lines] == [
        "엣지컴퓨팅 클라우 엣지",
        "(Edge Computing) (Cloud Computing)",
    ]


HIDDEN = {
    "render mode 3": text(72, 200, "secret words", more="3 Tr"),
    "white on white": "1 1 1 rg " + text(72, 200, "secret words") + "0 0 0 rg ",
    "tiny": text(72, 200, "secret words", size=0.4),
    "off the page": text(900, 200, "secret words"),
    "under a white box": text(72, 200, "secret words") + "1 1 1 rg 60 550 200 60 re f 0 0 0 rg ",
}


@pytest.mark.parametrize("stream", HIDDEN.values(), ids=HIDDEN.keys())
def test_text_that_no_person_sees_is_hidden(stream: str) -> None:
    found = load(text(72, 100, "What is seen") + stream)
    page = found.pages[0]
    assert page_text(page).text == "What is seen"
    assert sorted(page_text(page, hidden=True).text.split()) == sorted(
        ["What", "is", "seen", "secret", "words"]
    )
    assert found.notes == ("hidden_text",)


def test_visible_text_of_any_look_is_not_hidden() -> None:
    stream = (
        "0 0 0 rg 60 640 300 30 re f 1 1 1 rg " + text(72, 140, "white on black")
        + "0.6 g " + text(72, 200, "gray text . , -") + "0 0 0 rg " + text(72, 240, "small", size=4)
    )  # fmt: skip
    found = load(stream)
    assert found.notes == ()
    assert page_text(found.pages[0]).text == "white on black\ngray text . , -\nsmall"


def test_the_invisible_text_of_a_searchable_scan_is_spared() -> None:
    places = [divmod(at, 61) for at in range(61 * 79)]  # a white page with ink under the words
    pixels = bytes(40 * (x % 2) if y in (19, 20) and 7 <= x < 16 else 255 for y, x in places)
    stream = f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /Im Do Q " + text(72, 200, "recognized before", more="3 Tr")
    found = load(stream, extra=[image(pixels, 61, 79)], resources="/XObject << /Im 4 0 R >>")
    assert page_text(found.pages[0]).text == "recognized before"
    assert found.notes == ()


def with_form(kind: str, **values: object) -> bytes:
    """Return a PDF with a control of a form beside a text."""
    stream = io.BytesIO()
    page = Canvas(stream)
    page.drawString(100, 700, "I agree")
    getattr(page.acroForm, kind)(name="a", x=60, y=695, **values)
    page.save()
    return stream.getvalue()


CONTROLS = {
    "checked": (with_form("checkbox", checked=True), "☒ I agree"),
    "not checked": (with_form("checkbox", checked=False), "☐ I agree"),
    "list": (with_form("choice", value="two", options=["one", "two"], width=30, height=16), "two   I agree"),
}


@pytest.mark.parametrize(("data", "expected"), CONTROLS.values(), ids=CONTROLS.keys())
def test_the_state_of_a_check_box_is_text(data: bytes, expected: str) -> None:
    assert page_text(load_bytes(data, "a.pdf", NO_OCR).pages[0]).text == expected


def with_files(**files: bytes) -> bytes:
    """Return a PDF with files inside."""
    document = PdfDocument(make_pdf([text(72, 100, "see the files")]))
    for name, data in files.items():
        document.new_attachment(name.replace("_", ".")).set_data(data)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def test_files_inside_of_a_pdf_are_read_or_named(tmp_path: Path) -> None:
    inner = make_pdf([text(72, 100, "Invoice 17"), text(72, 100, "Terms")])
    data = with_files(
        list_docx=make_docx(p("Offer")), invoice_pdf=inner, x_xml=b"<total>9</total>", cut_pdf=b"%PDF-"
    )
    found = load_bytes(data, "a.pdf", NO_OCR)
    assert [(page.number, page.name, page_text(page).text) for page in found.pages] == [
        (1, "", "see the files"), (2, "invoice.pdf", "Invoice 17"), (3, "invoice.pdf", "Terms"), (4, "list.docx", "Offer"),
    ]  # fmt: skip
    assert found.notes == ("embedded_file: cut.pdf (5 bytes)", "embedded_file: x.xml (16 bytes)")
    (tmp_path / "a.pdf").write_bytes(data)
    pictures = render_pages(
        DocumentFile("a.pdf", tmp_path / "a.pdf"), [(at, WHOLE_PAGE) for at in (1, 2, 3, 4)]
    )
    assert [isinstance(picture, bytes) for picture in pictures] == [True, True, True, False]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_rotated_page_gives_the_same_text(rotation: int) -> None:
    page = first(_ruled() + column(72, 300, LEFT), page_entries=f"/Rotate {rotation}")
    assert page_text(page).text == page_text(first(_ruled() + column(72, 300, LEFT))).text
    box = page_text(page).box(*_find(page, "Above"))
    upright = rotation in (0, 180)
    assert (page.width, page.height) == ((WIDTH, HEIGHT) if upright else (HEIGHT, WIDTH))
    assert (box.right - box.left > box.bottom - box.top) == upright
    corner = {0: (72, 72), 90: (705, 72), 180: (500, 705), 270: (72, 500)}[rotation]
    assert abs(box.left - corner[0]) < 15 and abs(box.top - corner[1]) < 15


@pytest.mark.parametrize(
    "matrix", ["0 1 -1 0 300 100", "-1 0 0 -1 500 500", "0 -1 1 0 200 700"], ids=["90", "180", "270"]
)
def test_text_that_is_turned_on_its_page_is_read(matrix: str) -> None:
    page = first(f"BT /F1 10 Tf {matrix} Tm 14 TL ({LEFT[0]}) Tj T* ({LEFT[1]}) Tj T* ({LEFT[2]}) Tj ET")
    assert page_text(page).text == "\n".join(LEFT[:3])


def test_the_values_of_form_fields_are_read() -> None:
    look = b"BT /F1 10 Tf 2 4 Td (Ada Lovelace) Tj ET"
    appearance = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 16] /Resources << /Font << /F1 3 0 R >> >> /Length %d >>"
        b"\nstream\n%s\nendstream" % (len(look), look)
    )
    widget = (
        "/Annots [<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada Lovelace) /F 4 /Rect [150 688 350 704] "
        "/AP << /N 4 0 R >> >>]"
    )
    page = first(text(72, 100, "Name:"), extra=[appearance], page_entries=widget)
    assert page_text(page).text == "Name:   Ada Lovelace"


WIDGET = "<< /Type /Annot /Subtype /Widget /F 4 /Rect [150 688 350 704]"
DRAWN = "/DA (/Helv 10 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >>"
BARE = {
    "field": (f"{WIDGET} /FT /Tx /V (Ada Lovelace) >>", "", "Name:   Ada Lovelace"),
    "field of a form": (f"{WIDGET} /FT /Tx /T (a) /V (Ada Lovelace) >>", f"/Fields [5 0 R] {DRAWN}", "Name:   Ada Lovelace"),
    "value of its group": (f"{WIDGET} /Parent 6 0 R >>", "/Fields [6 0 R]", "Name:   Ada Lovelace"),
    "choice": (f"{WIDGET} /FT /Ch /T (a) /Ff 131072 /V (b) /Opt [[(a) (Apple)] [(b) (Pear)]] >>", f"/Fields [5 0 R] {DRAWN}", "Name:   Pear"),
    "check box": (f"{WIDGET} /FT /Btn /T (a) /V /Yes >>", "/Fields [5 0 R]", "Name:   ☒"),
    "lines": (f"{WIDGET} /FT /Tx /V (Elm Street 5\\nOakham) >>".replace("688", "660"), "", "Name:   Elm Street 5\nOakham"),
    "hidden": (f"{WIDGET} /FT /Tx /V (Ada) >>".replace("/F 4", "/F 2"), "", "Name:"),
}  # fmt: skip


@pytest.mark.parametrize(("widget", "form", "expected"), BARE.values(), ids=BARE.keys())
def test_the_value_of_a_field_without_a_look_is_read(widget: str, form: str, expected: str) -> None:
    group = b"<< /FT /Tx /T (a) /V (Ada Lovelace) /Kids [5 0 R] >>"
    data = make_pdf(
        [text(72, 100, "Name:")], "/Annots [5 0 R]", [f"<< {form} >>".encode(), widget.encode(), group]
    )
    if form:
        data = data.replace(b"/Type /Catalog", b"/Type /Catalog /AcroForm 4 0 R")
    assert page_text(load_bytes(data, "a.pdf", NO_OCR).pages[0]).text == expected


def test_places_are_those_of_the_page_as_it_is_cropped() -> None:
    page = first(text(172, 300, "Total"), page_entries="/CropBox [100 200 500 692]")
    assert (page.width, page.height) == (400, 492)
    box = page.lines[0].box
    assert box is not None and abs(box.left - 72) < 2 and abs(box.bottom - 200) < 5


def test_the_words_of_a_crowded_page_have_their_places_and_are_hidden_one_by_one() -> None:
    """The boxes of some thousand words are read together; this page has more."""
    places = [(x, y) for y in range(10, 790, 6) for x in range(5, 605, 12)]
    drawn = [
        text(x, y, f"{at:04}", 4, "3 Tr" if at % 1000 == 7 else "0 Tr") for at, (x, y) in enumerate(places)
    ]
    words = [word for line in first("".join(drawn)).lines for word in line.words]
    assert {word.text for word in words if not word.visible} == {
        f"{at:04}" for at in range(7, len(places), 1000)
    }
    found = {word.text: word.box for word in words}
    assert len(found) == len(places) > 5000
    for at, (x, y) in enumerate(places):
        box = found[f"{at:04}"]
        assert box is not None and abs(box.left - x) < 0.1 and box.top < y < box.bottom


FAILURES = {
    "encrypted": (make_pdf([text(72, 100, "secret")], password="x"), "encrypted"),
    "no page": (make_pdf([]), "unreadable"),
    "damaged": (b"%PDF-1.4\nnothing", "unreadable"),
    "blank page": (make_pdf([""]), "no_text"),
    "only a drawing": (make_pdf([stroke(0, 0, 300, 300)]), "no_text"),
}


@pytest.mark.parametrize(("data", "kind"), FAILURES.values(), ids=FAILURES.keys())
def test_a_pdf_without_text_fails_with_its_kind(data: bytes, kind: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, "a.pdf", NO_OCR)
    assert caught.value.kind == kind


def test_an_owner_password_alone_does_not_keep_readers_out() -> None:
    assert load(text(72, 100, "open"), password="").pages[0].lines[0].text == "open"
