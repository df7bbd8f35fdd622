"""Word, Excel and mail."""

import datetime
import io
import zipfile
from email.message import EmailMessage

import pytest
import xlsxwriter
from tests.documents.making import make_docx, make_pdf, p, r, tbl, tc, text
from tests.effort import costs_at_most

from fieldassay.documents.loaders.xlsx import format_number
from fieldassay.documents.sources import LoadOptions, load_bytes
from fieldassay.documents.transcript import DocumentError, Transcript, page_text

# Word documents: order, changes, hidden text, tables in tables, notes


def text_of(body: str, hidden: bool = False, **parts: str) -> str:
    found = load_bytes(make_docx(body, parts), "a.docx")
    return "\f".join(page_text(page, hidden).text for page in found.pages)


BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent>{0}</w:txbxContent></wps:txbx></mc:Choice>"
    "<mc:Fallback><v:textbox><w:txbxContent>{0}</w:txbxContent></v:textbox></mc:Fallback></mc:AlternateContent></w:r>"
)
CASES = {
    "paragraphs": (p("One ", "two") + p("three"), "One two\nthree"),
    "words in pieces": (p("Inv", "oice"), "Invoice"),
    "tabs and breaks": (p("a", "<w:r><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>"), "a b\nc"),
    "deletion and insertion": (
        p("Total ", '<w:del><w:r><w:delText>100</w:delText></w:r></w:del>', "<w:ins><w:r><w:t>120</w:t></w:r></w:ins>"),
        "Total 120",
    ),
    "moved": (p("<w:moveFrom><w:r><w:t>old</w:t></w:r></w:moveFrom>", "<w:moveTo><w:r><w:t>new</w:t></w:r></w:moveTo>"), "new"),
    "text box": (p("before", BOX.format(p("in the box"))) + p("after"), "before\nin the box\nafter"),
    "hidden": (p("seen ", r("secret", "<w:vanish/>")), "seen"),
    "white": (p("seen ", r("secret", '<w:color w:val="FFFFFF"/>')), "seen"),
    "tiny": (p("seen ", r("secret", '<w:sz w:val="2"/>')), "seen"),
    "footnote of a number": (p("Net 318", r("2", '<w:vertAlign w:val="superscript"/>')), "Net 318 ²"),
    "style of a footnote": (p("Net 318", r("2", '<w:rStyle w:val="FootnoteReference"/>')), "Net 318 ²"),
    "moved up": (p("Net 318", r("2", '<w:position w:val="6"/>')), "Net 318 ²"),
    "power and fraction of a formula": (
        p("<m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup>", " ",
          "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"), "10³ 1/2",
    ),
    "sum over another, with a root and an index": (
        p("<m:oMath><m:f><m:fPr/><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:rad><m:deg/><m:e><m:sSub><m:e><m:r><m:t>x</m:t></m:r></m:e>"
          "<m:sub><m:r><m:t>1</m:t></m:r></m:sub></m:sSub></m:e></m:rad></m:den></m:f></m:oMath>"), "(a+b)/(√x1)",
    ),
    "letters of a symbol font": (
        p(r("5 mA or ", '<w:rFonts w:ascii="Arial"/>'), r("m", '<w:rFonts w:ascii="Symbol"/>'), "m, ",
          r("&#xF0B3;", '<w:rFonts w:ascii="Symbol"/>'), "7 ", r("&#xFC;", '<w:rFonts w:ascii="Wingdings"/>')), "5 mA or μm, ≥7 ✓",
    ),
    "symbols": (p('<w:r><w:sym w:font="Symbol" w:char="F0B0"/><w:sym w:font="Wingdings" w:char="F07A"/></w:r>'), "°\ufffd"),
    "power of a unit": (p("5 m", r("3", '<w:vertAlign w:val="superscript"/>'), "/h"), "5 m3/h"),
    "old check boxes": (
        p('<w:r><w:fldChar><w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData></w:fldChar></w:r>', " yes ",
          '<w:r><w:fldChar><w:ffData><w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox></w:ffData></w:fldChar></w:r>', " no"),
        "☒ yes ☐ no",
    ),
    "old list": (
        p('<w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="cash"/><w:listEntry w:val="card"/>'
          "</w:ddList></w:ffData></w:fldChar></w:r>"), "card",
    ),
    "white on a shaded cell": (tbl(tc(p(r("Head", '<w:color w:val="ffffff"/>'))) + tc("b")), "Head | b"),
    "field": (p("<w:r><w:instrText>PAGE</w:instrText></w:r>", "7"), "7"),
    "check box": (p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', " yes"), "☑ yes"),
    "content control": (f"<w:sdt><w:sdtContent>{p('held')}</w:sdtContent></w:sdt>", "held"),
    "table": (p("a") + tbl(tc("k") + tc("v"), tc("x") + tc("1")) + p("b"), "a\nk | v\nx | 1\nb"),
    "merged cells": (
        tbl(
            tc("head", '<w:gridSpan w:val="2"/>') + tc("c"),
            tc("tall", '<w:vMerge w:val="restart"/>') + tc("1") + tc("2"),
            tc("<w:p/>", "<w:vMerge/>") + tc("3") + tc("4"),
        ),
        "head |  | c\ntall | 1 | 2\n | 3 | 4",
    ),
    "table in a table": (
        tbl(tc("outer") + tc(p("with") + tbl(tc("in") + tc("ner")))), "outer | with\nin | ner",
    ),
    "page break": (p("one") + p('<w:r><w:br w:type="page"/></w:r>', "two"), "one\ftwo"),
    "removed row": (
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr>" + tc("gone") + "</w:tr><w:tr>" + tc("a") + tc("b") + "</w:tr></w:tbl>", "a | b",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES.keys())
def test_a_document_reads_as_word_shows_it(body: str, expected: str) -> None:
    assert text_of(body) == expected


def test_hidden_text_is_there_when_asked_for() -> None:
    assert text_of(CASES["hidden"][0], hidden=True) == "seen secret"


def test_a_document_of_another_kind_in_the_text_is_read_or_named() -> None:
    chunks = {
        "a.htm": b"<p>Invoice 17<table><tr><td>Bolt<td>2.50</table>", "b.rtf": b"{\\rtf1 x}",
        "c.mht": b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p>Total 2.50",
    }  # fmt: skip
    body = p("before") + "".join(f'<w:altChunk id="{name}"/>' for name in chunks) + p("after")
    found = load_bytes(make_docx(body, chunks=chunks), "a.docx")
    assert page_text(found.pages[0]).text == "before\nInvoice 17\nBolt | 2.50\nTotal 2.50\nafter"
    assert found.notes == ("embedded_file: b.rtf (9 bytes)",)


def test_headers_footers_and_footnotes_are_read() -> None:
    notes = p("1 see below")
    assert text_of(
        p("body"), header=p("Letterhead"), footer=p("Page 1"), footnotes=f"<w:footnote>{notes}</w:footnote>"
    ) == ("Letterhead\nbody\nPage 1\n1 see below")


def test_comments_stand_after_the_text() -> None:
    comments = f'<w:comment w:id="0">{p("Temperature: 52 degC")}</w:comment>'
    assert text_of(p("body"), comments=comments) == "body\nTemperature: 52 degC"


def test_notes_say_what_was_found() -> None:
    body = CASES["deletion and insertion"][0] + CASES["hidden"][0]
    assert load_bytes(make_docx(body, {"comments": p("why?")}), "a.docx").notes == (
        "comments", "hidden_text", "tracked_changes"
    )  # fmt: skip


def test_cells_know_how_many_they_span() -> None:
    (table,) = load_bytes(make_docx(CASES["merged cells"][0]), "a.docx").pages[0].tables
    assert [(cell.text, cell.rows, cell.columns) for cell in table.cells][:3] == [
        ("head", 1, 2), ("c", 1, 1), ("tall", 2, 1)
    ]  # fmt: skip


BAD = {
    "deeply nested": (tbl(tc("x")), 500, "unreadable"),
    "nested": (tbl(tc("x")), 70, "too_large"),
    "nothing": ("<w:p/>", 0, "no_text"),
}


@pytest.mark.parametrize(("body", "depth", "kind"), BAD.values(), ids=BAD.keys())
def test_a_bad_document_fails_with_its_kind(body: str, depth: int, kind: str) -> None:
    for _ in range(depth):
        body = tbl(tc(body))
    with pytest.raises(DocumentError) as caught:
        text_of(body)
    assert caught.value.kind == kind


# Workbooks as a person sees them: formats, merged and hidden cells, comments, limits

FORMATS = {
    "thousands": (1234567.891, "#,##0.00", "1,234,567.89"),
    "half up": (2.345, "0.00", "2.35"),
    "no digit": (0.4, "#", ""),
    "optional decimals": (1.5, "0.0##", "1.5"),
    "leading zeros": (42, "00000", "00042"),
    "in parentheses": (-12.5, "#,##0.00;(#,##0.00)", "(12.50)"),
    "minus": (-12.5, "0.0", "-12.5"),
    "zero by name": (0, '0;-0;"none"', "none"),
    "hidden": (5, ";;;", ""),
    "percent": (0.175, "0.0%", "17.5%"),
    "currency after": (99.9, '#,##0.00\\ "€"', "99.90 €"),
    "currency of a locale": (99.9, "[$£-809]#,##0.00", "£99.90"),
    "accounting": (1234.5, '_-* #,##0.00\\ "kr"_-', "1,234.50 kr"),
    "thousands scaled": (1234567, '0.0,"k"', "1234.6k"),
    "scientific": (12345, "0.00E+00", "1.23E+04"),
    "fraction, as it is": (1.25, "# ?/?", "1.25"),
    "condition, as it is": (1500, '[>=1000]0.0,"k";0', "1500"),
    "phone": (5551234, "000-0000", "555-1234"),
    "color": (-3, "0;[Red]-0", "-3"),
    "date": (45351.5, "dd.mm.yyyy", "29.02.2024"),
    "date and time": (45351.75, "d mmm yy h:mm AM/PM", "29 Feb 24 6:00 PM"),
    "minutes": (0.5 + 61 / 86400, "h:mm:ss", "12:01:01"),
    "elapsed": (1.5, "[h]:mm", "36:00"),
    "weekday": (45351, "dddd, mmmm d", "Thursday, February 29"),
    "early": (1, "yyyy-mm-dd", "1900-01-01"),
    "impossible date": (-5, "yyyy-mm-dd", "1899-12-26"),
    "text": (12, "@", "12"),
    "general": (1e15, "General", "1E+15"),
    "general of a language": (45.5, "[$-409]General", "45.5"),
    "sign by name": (-45.5, '[$-409]0.00;[$-409]"-"', "-"),
    "month in Japanese": (45721, "[$-411]mmmm", "3月"),
    "month in Hebrew, after Japanese": (45721, "[$-40D]mmmm", "מרץ"),
    "article number": (4006381333931, "General", "4006381333931"),
    "month in German": (45721, "[$-407]d. mmmm yyyy", "5. März 2025"),
    "weekday in French": (45721, "[$-40C]dddd d mmmm", "mercredi 5 mars"),
    "thousands by their powers": (123456, "##0.0E+0", "123.5E+3"),
    "a small number by its powers": (-0.00012, "##0.0E+0", "-120.0E-6"),
    "rounded to the next power": (999.96, "##0.0E+0", "1.0E+3"),
    "language by its tag": (45721, "[$-pt-BR]mmm/yy", "mar/25"),
    "genitive in Russian": (45721, "[$-FC19]d mmmm", "5 марта"),
    "the system's language": (45721, "[$-F800]dddd", "Wednesday"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "code", "shown"), FORMATS.values(), ids=FORMATS.keys())
def test_a_number_shows_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert format_number(value, code) == shown


def workbook() -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        money, day = (
            book.add_format({"num_format": '#,##0.00 "EUR"'}),
            book.add_format({"num_format": "dd/mm/yyyy"}),
        )
        sheet = book.add_worksheet("Order")
        sheet.merge_range("A1:C1", "Order 17")
        sheet.write_row("A3", ["Item", "Qty", "Price"])
        sheet.write_row("A4", ["Bolt", 10])
        sheet.write_number("C4", 1234.5, money)
        sheet.write_formula("C5", "=SUM(C4:C4)", money, 1234.5)
        sheet.write_datetime("B5", datetime.datetime(2024, 2, 29), day)
        sheet.write_row("A6", ["secret", 1])
        sheet.set_row(5, None, None, {"hidden": True})
        sheet.write("E4", "also secret")
        sheet.set_column("E:E", None, None, {"hidden": True})
        sheet.write_comment("A4", "see drawing")
        sheet.write_rich_string("A7", "rich ", book.add_format({"bold": True}), "text")
        sheet.write_boolean("B7", True)
        sheet.write_rich_string("C7", "318", book.add_format({"font_script": 1}), "2")
        sheet.insert_textbox("G1", "Paid on receipt")
        book.add_worksheet("Notes").write("B2", "second sheet")
        hidden = book.add_worksheet("Prices")
        hidden.write("A1", "hidden sheet")
        hidden.hide()
    return stream.getvalue()


def test_a_workbook_reads_as_a_person_sees_it() -> None:
    found = load_bytes(workbook(), "a.xlsx")
    assert [(page.number, page.name) for page in found.pages] == [(1, "Order"), (2, "Notes"), (3, "Prices")]
    assert page_text(found.pages[0]).text.split("\n") == [
        "Order 17", "Item | Qty | Price", "Bolt | 10 | 1,234.50 EUR", " | 29/02/2024 | 1,234.50 EUR",
        "rich text | TRUE | 318 ²", "Paid on receipt",
    ]  # fmt: skip
    assert [page_text(page).text for page in found.pages[1:]] == ["second sheet", ""]
    assert "secret" in page_text(found.pages[0], hidden=True).text
    assert found.notes == ("comments", "hidden_columns", "hidden_rows", "hidden_sheets")


def test_hidden_rows_and_sheets_are_read_where_a_system_asks_for_them() -> None:
    found = load_bytes(workbook(), "a.xlsx", LoadOptions(reader="hidden"))
    assert [page.name for page in found.pages] == ["Order", "Notes", "Prices"]
    texts = [page_text(page).text for page in found.pages]
    assert "also secret" in texts[0] and texts[2] == "hidden sheet"
    cells = {(cell.row, cell.column): cell for cell in found.pages[0].tables[0].cells}
    assert (cells[0, 0].rows, cells[0, 0].columns) == (1, 3)


def test_the_values_are_those_of_another_reader() -> None:
    from python_calamine import CalamineWorkbook

    expected = (
        CalamineWorkbook.from_filelike(io.BytesIO(workbook()))
        .get_sheet_by_index(0)
        .to_python(skip_empty_area=False)
    )
    cells = load_bytes(workbook(), "a.xlsx").pages[0].tables[0].cells
    texts = {
        (row, column): value
        for row, held in enumerate(expected)
        for column, value in enumerate(held)
        if value != ""
    }
    assert {(cell.row, cell.column) for cell in cells} == set(texts)
    assert all(
        cell.text.replace(" ²", "2") == texts[cell.row, cell.column]
        for cell in cells
        if isinstance(texts[cell.row, cell.column], str)
    )


def changed(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    """Return an archive with one part changed."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            held = source.read(name)
            target.writestr(name, held.replace(old, new) if name == part else held)
    return out.getvalue()


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><workbook'
XLSX_BAD = {
    "too many cells": (workbook(), LoadOptions(max_cells=5), "too_large"),
    "unpacks to too much": (
        changed(workbook(), "xl/styles.xml", b"</styleSheet>", b"<x>" + b" " * 9_000_000 + b"</x></styleSheet>"),
        LoadOptions(max_bytes=5_000_000), "too_large",
    ),
    "entities": (changed(workbook(), "xl/workbook.xml", b"<workbook", ENTITIES), LoadOptions(), "unreadable"),
    "no XML": (changed(workbook(), "xl/workbook.xml", b"<sheets>", b"<sheets"), LoadOptions(), "unreadable"),
    "cut": (workbook()[:-200], LoadOptions(), "unreadable"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "options", "kind"), XLSX_BAD.values(), ids=XLSX_BAD.keys())
def test_a_bad_workbook_fails_with_its_kind(data: bytes, options: LoadOptions, kind: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, "a.xlsx", options)
    assert caught.value.kind == kind


# Messages and their attachments, in both formats

PDF, LOCKED = (
    make_pdf([text(72, 100, "Invoice 17"), text(72, 100, "Terms")]),
    make_pdf([text(9, 9, "x")], password="x"),
)


def message(html: str | None = None, **attachments: bytes) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ada <ada@example.com>", "b@example.com", "Rechnung für Mai"
    made["Date"] = "Mon, 06 May 2024 10:00:00 +0200"
    made.set_content("Dear Bob,\n\nplease find it attached.\n")
    if html is not None:
        made.add_alternative(html, subtype="html")
    for name, data in attachments.items():
        made.add_attachment(
            data, maintype="application", subtype="octet-stream", filename=name.replace("_", ".")
        )
    return made


def loaded(made: EmailMessage | bytes, name: str = "a.eml", options: LoadOptions | None = None) -> Transcript:
    data = made if isinstance(made, bytes) else made.as_bytes()
    return load_bytes(data, name, options or LoadOptions(ocr="off"))


def texts(found: Transcript) -> list[tuple[str, str]]:
    return [(page.name, page_text(page).text) for page in found.pages]


LETTER = (
    "From: Ada <ada@example.com>\nTo: b@example.com\nDate: Mon, 06 May 2024 10:00:00 +0200\n"
    "Subject: Rechnung für Mai\nDear Bob,\nplease find it attached."
)


def test_a_message_is_followed_by_its_attachments() -> None:
    found = loaded(
        message(
            "<p>Dear Bob, please find it attached.</p>",
            invoice_pdf=PDF,
            list_csv=b"a;b\n1;2\n",
            offer_docx=make_docx(p("Offer")),
        )
    )
    assert texts(found) == [
        ("", LETTER), ("invoice.pdf", "Invoice 17"), ("invoice.pdf", "Terms"), ("list.csv", "a | b\n1 | 2"), ("offer.docx", "Offer"),
    ]  # fmt: skip
    assert [page.number for page in found.pages] == [1, 2, 3, 4, 5]


def test_a_message_within_a_message_is_read() -> None:
    outer = message()
    outer.add_attachment(message(invoice_pdf=PDF))
    assert [text.splitlines()[0] for _, text in texts(loaded(outer))] == [
        "From: Ada <ada@example.com>", "From: Ada <ada@example.com>", "Invoice 17", "Terms"
    ]  # fmt: skip


def test_html_is_read_where_there_is_no_plain_text() -> None:
    made = EmailMessage()
    made["Subject"] = "x"
    made.set_content(
        "<p>Total</p><table><tr><td>a<td>1</tr></table><img src='http://127.0.0.1:9/x.png'>", subtype="html"
    )
    assert texts(loaded(made)) == [("", "Subject: x\nTotal\na | 1")]


def test_an_attachment_that_cannot_be_read_is_told_of() -> None:
    found = loaded(message(locked_pdf=LOCKED, tool_exe=b"MZ\0\0" * 99))
    assert found.notes == (
        f"unread_attachment: locked.pdf ({len(LOCKED):,} bytes)", "unread_attachment: tool.exe (396 bytes)",
    )  # fmt: skip
    assert [page.name.partition(" (")[2].partition(",")[0] for page in found.pages[1:]] == [
        "not read: encrypted", "not read: unreadable"
    ]  # fmt: skip


def test_messages_are_not_opened_for_ever() -> None:
    made = message(invoice_pdf=PDF)
    for _ in range(9):
        outer = message()
        outer.add_attachment(made)
        made = outer
    found = loaded(made)
    assert [note.partition(" (")[0] for note in found.notes] == ["unread_attachment: attachment 1.eml"]
    assert len(found.pages) == 6


def test_attachments_within_attachments_are_read_in_time() -> None:
    made: list[tuple[str, bytes]] = [(f"{at}.txt", b"Invoice 12.50") for at in range(12)]
    for _ in range(2):
        inner = bytes(message(**{name.replace(".", "_"): data for name, data in made}))
        made = [(f"{at}.eml", inner) for at in range(12)]
    found = loaded(message(**{name.replace(".", "_"): data for name, data in made}))
    assert sum("not read: too_large" in page.name for page in found.pages) > 10
    assert len(found.pages) < 1100 and any(
        note.startswith("unread_attachment: 11.eml") for note in found.notes
    )


def test_a_message_of_thousands_of_parts_is_refused_before_it_is_read() -> None:
    with costs_at_most(20), pytest.raises(DocumentError, match="5,000 parts"):
        loaded(
            raw(
                b"--x\nContent-Type: text/plain\n\na\n" * 6000 + b"--x--",
                "Content-Type: multipart/mixed; boundary=x",
            )
        )


ROWS = "<table><tr><td>Item<td>Sum</tr><tr><td>Bolt<td>5.00</tr></table>"
FORMS = {
    "the plain form is a stub": ("Use an HTML viewer!", f"<p>Invoice INV-77</p>{ROWS}", "Invoice INV-77\nItem | Sum\nBolt | 5.00"),
    "the other has a table": ("Item\nSum\nBolt\n5.00", ROWS, "Item | Sum\nBolt | 5.00"),
    "the other has a number more": ("Please pay soon, dear Sir", "<p>Please pay 12.50 soon, dear Sir</p>", "Please pay 12.50 soon, dear Sir"),
    "both say the same": ("Dear Bob,\n  see it attached.", "<div>Dear Bob, see it attached.</div>", "Dear Bob,\nsee it attached."),
    "the plain form is empty": (" ", "<p>Total 5.00</p>", "Total 5.00"),
}  # fmt: skip


def test_the_words_of_the_form_that_is_not_read_are_told_of() -> None:
    plain = "Please pay the whole amount within thirty days to the account named in the contract"
    made = EmailMessage()
    made.set_content(plain)
    made.add_alternative(f"<p>{plain} soon", subtype="html")
    found = loaded(made)
    assert found.pages[0].lines[-1].text == plain
    assert found.notes == (f"other_part: text/html ({len(plain) + 9} bytes)",)


@pytest.mark.parametrize(("plain", "html", "expected"), FORMS.values(), ids=FORMS.keys())
def test_the_form_of_a_message_that_says_more_is_read(plain: str, html: str, expected: str) -> None:
    made = EmailMessage()
    made.set_content(plain)
    made.add_alternative(html, subtype="html")
    assert texts(loaded(made)) == [("", expected)]


def raw(body: bytes, *headers: str) -> bytes:
    return "".join(f"{line}\n" for line in ("From: a@b.example", *headers)).encode() + b"\n" + body


CHARSETS = {
    "none named": raw("Gesamt für März: 12,50 €".encode("cp1252")),
    "UTF-8, none named": raw("Gesamt für März: 12,50 €".encode()),
    "ASCII named": raw(
        "Gesamt für März: 12,50 €".encode("cp1252"), "Content-Type: text/plain; charset=us-ascii"
    ),
    "Latin-1 named": raw(
        "Gesamt für März: 12,50 €".encode("cp1252"), "Content-Type: text/plain; charset=iso-8859-1"
    ),
    "UTF-8 named": raw(
        "Gesamt für März: 12,50 €".encode("cp1252"), "Content-Type: text/plain; charset=utf-8"
    ),
    "no encoding named": raw(
        "Gesamt für März: 12,50 €".encode(), "Content-Type: text/plain; charset=x-unknown"
    ),
    "Chinese": raw("镕基 für 100".encode("gb18030"), "Content-Type: text/plain; charset=gb2312"),
    "Japanese": raw("請求書 ①".encode("cp932"), "Content-Type: text/plain; charset=Shift_JIS"),
    "Japanese of a mail": raw(
        b"\x1b$B@A5a=q\x1b(B \x1b$B-!\x1b(B", "Content-Type: text/plain; charset=iso-2022-jp"
    ),
    "Latin-2 named": raw(
        "Gesamt für März: 12,50 €".encode("cp1250"), "Content-Type: text/plain; charset=iso-8859-2"
    ),
    "all of it UTF-16": raw("Gesamt für März: 12,50 €".encode()).decode().encode("utf-16"),
    "a byte of none": raw(
        "Gesamt für März: 12,50 €".encode("cp1252"), "Content-Type: text/plain; charset=windows-1252"
    ),
    "mark of UTF-8": b"\xef\xbb\xbf" + raw("Gesamt für März: 12,50 €".encode()),
}


@pytest.mark.parametrize("data", CHARSETS.values(), ids=CHARSETS.keys())
def test_a_message_is_decoded_as_a_browser_would(data: bytes) -> None:
    assert loaded(data).pages[0].lines[-1].text in ("Gesamt für März: 12,50 €", "镕基 für 100", "請求書 ①")


def test_what_no_encoding_explains_is_noted() -> None:
    page = b"<meta charset=utf-8><p>" + "größer".encode() + b"\n\xff\xfe\x81 here"
    assert "undecodable" in load_bytes(page, "a.html").notes
    assert load_bytes(b"<meta charset=utf-8><p>fine", "a.html").notes == ()


SEALED = "Content-Type: application/pkcs7-mime; smime-type="
REFUSED = {
    "S/MIME": (raw(b"\x30\x80\x06\x09", SEALED + "enveloped-data"), "is encrypted, or signed"),
    "signed as a whole": (raw(b"\x30\x80\x06\x09", SEALED + "signed-data"), "is encrypted, or signed"),
    "PGP/MIME": (
        raw(b"--x\n\nVersion: 1\n--x--\n", "Content-Type: multipart/encrypted; boundary=x"),
        "is encrypted, or signed",
    ),
    "PGP in the text": (raw(b"-----BEGIN PGP MESSAGE-----\nabc\n"), "is encrypted, or signed"),
    "PGP behind a greeting": (raw(b"Hello\n\n-----BEGIN PGP MESSAGE-----\nabc\n"), "is encrypted, or signed"),
    "a mailbox": (
        b"From a Mon Mar  3 10:00:00 2025\n"
        + raw(b"one")
        + b"\n\nFrom b Mon Mar  3 10:00:00 2025\n"
        + raw(b"two"),
        "is a mailbox of 2 messages; save each",
    ),
}


@pytest.mark.parametrize(("data", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_a_message_that_cannot_be_read_whole_says_so(data: bytes, told: str) -> None:
    with pytest.raises(DocumentError, match=told):
        loaded(data)


def test_signatures_are_no_attachments() -> None:
    made = message()
    made.add_attachment(b"0", maintype="application", subtype="pkcs7-signature", filename="smime.p7s")
    assert (len(loaded(made).pages), loaded(made).notes) == (1, ("signature: smime.p7s (1 bytes)",))


def test_sealed_parts_of_a_message_are_failures_that_say_so() -> None:
    made = message(
        smime_p7m=bytes.fromhex("301e06092a864886f70d010702"), notes_asc=b"-----BEGIN PGP MESSAGE-----\nabc\n"
    )
    assert [page.name.partition(" (")[2].partition(",")[0] for page in loaded(made).pages[1:]] == [
        "not read: encrypted"
    ] * 2
    status = b"Content-Type: multipart/report; boundary=x\n\n--x\nContent-Type: message/delivery-status\n\nAction: failed\n\n--x--\n"
    assert texts(loaded(b"From: a@b.example\n" + status))[1] == ("attachment 1.txt", "Action: failed")


def test_pictures_in_a_message_or_a_document_are_named_where_they_are_not_recognized() -> None:
    made = message()
    made.add_related(b"GIF89a", "image", "gif", cid="<1>", filename="logo.gif", disposition="inline")
    assert loaded(made).notes == ("inline_image: logo.gif (6 bytes)",)
    office = io.BytesIO(make_docx(p("see below")))
    with zipfile.ZipFile(office, "a") as archive:
        archive.writestr("word/media/scan.png", b"1234")
        archive.writestr("word/charts/chart1.xml", b"<c/>")
        archive.writestr("word/embeddings/list.docx", make_docx(p("inside")))
    found = load_bytes(office.getvalue(), "a.docx", LoadOptions(ocr="off"))
    assert [(page.name, page_text(page).text) for page in found.pages] == [
        ("", "see below"),
        ("list.docx", "inside"),
    ]
    assert found.notes == ("chart: chart1.xml (4 bytes)", "picture: scan.png (4 bytes)")


def test_a_message_of_outlook_says_how_to_save_it() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "__properties_version1.0".encode("utf-16-le")
    for name in ("a.msg", "a.bin"):
        with pytest.raises(DocumentError, match=r"is a message of Outlook; save it as \.eml or PDF"):
            loaded(data, name)
