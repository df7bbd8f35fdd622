"""Messages and their attachments, in both formats."""

from __future__ import annotations

from email.message import EmailMessage

import pytest
from tests.documents.offices import make_docx, p
from tests.documents.pdfs import make_pdf, text
from tests.effort import costs_at_most

from fieldassay.documents.layout.text import page_text
from fieldassay.documents.load import load_bytes
from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import DocumentError, Transcript

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
        message("<p>other</p>", invoice_pdf=PDF, list_csv=b"a;b\n1;2\n", offer_docx=make_docx(p("Offer")))
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
    assert found.notes == ("unread_attachment",)
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
    assert "unread_attachment" in found.notes
    assert len(found.pages) == 6


def test_a_message_of_outlook_says_how_to_save_it() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "__properties_version1.0".encode("utf-16-le")
    for name in ("a.msg", "a.bin"):
        with pytest.raises(DocumentError, match=r"is a message of Outlook; save it as \.eml or PDF"):
            loaded(data, name)


_CONTINUED = "".join(f"; x*{number}*=a{number}" for number in range(8_000))
_PEOPLE = ", ".join(f"P{number} <p{number}@example.com>" for number in range(20_000))


@pytest.mark.parametrize(
    "headers",
    [
        f"Content-Type: text/plain{_CONTINUED}",
        f"Content-Type: text/plain{_CONTINUED.replace('; ', chr(10) + ' ;')}; charset=utf-8",
        f"Cc: {_PEOPLE}",
        "Cc: " + '"a" ' * 40_000,
    ],
)
def test_long_headers_are_read_in_time_and_told_of(headers: str) -> None:
    head = "From: a@example.com\nTo: b@example.com\nSubject: Order\n"
    part = f"--b\nContent-Disposition: attachment{_CONTINUED}; filename=a.txt\n\nattached\n"
    inner = f"--b\nContent-Type: message/rfc822\n\n{head}{headers}\n\nTotal\n"
    for data, names in (
        (f"{head}{headers}\n\nTotal\n", [""]),
        (
            f"{head}Content-Type: multipart/mixed; boundary=b\n\n{part}{inner}--b--\n",
            ["", "a.txt", "attachment 2.eml"],
        ),
    ):
        with costs_at_most(60):
            read = loaded(data.encode())
        assert read.notes == ("long_header",)
        assert [page.name for page in read.pages] == names
        lines = page_text(read.pages[-1]).text.split("\n")
        assert [*lines[:2], *lines[-2:]] == [
            "From: a@example.com",
            "To: b@example.com",
            "Subject: Order",
            "Total",
        ]
