"""The sheet in a real browser: by keyboard alone, nothing lost, nothing shown that must not be."""

import json

import numpy as np
import pytest
from tests.review.receipts import prediction
from tests.review.small_review import count_events
from tests.review.web.desk import opened

from fieldassay.review.sheets.make import Shares

BLIND = Shares(1.0, 0.0, 0.0)


def test_twelve_right_values_take_thirteen_keys(browser, tmp_path):
    names = [f"field_{number}" for number in range(12)]
    spec = "{fields: {" + ", ".join(f"{name}: text" for name in names) + "}}"
    rows = [{"id": f"doc-{number}", **{name: f"value {name}" for name in names}} for number in range(2)]
    with opened(browser, tmp_path, rows, spec) as desk:
        desk.keys = 0
        desk.press(*["Enter"] * 12)
        assert desk.text("#told") == "All values are labeled. Ctrl+Enter finishes the sheet."
        desk.press("Control+Enter")
        desk.page.wait_for_url("**/sheet/2")
        assert desk.keys == 13
        assert len(desk.labels()) == 12
        assert desk.site.room.db.execute("SELECT state FROM sheet WHERE id=1").fetchone() == ("done",)


TYPED = {
    "enum": ("{type: enum, values: [paid, open], aliases: {open: [due]}}", "due", "= open"),
    "boolean": ("boolean", "ja", "= true"),
    "money": ("{type: money, currency: AUD}", "$1,234.50", "= 1234.5 AUD"),
    "number": ("number", "1,5", "= "),
    "integer": ("integer", "12", "= 12"),
    "quantity": ("{type: quantity, canonical: m3/h}", "5 m3/h", "= 5"),
    "date": ("{type: date, order: dmy}", "15/03/2025", "= 2025-03-15"),
    "time": ("time", "9:30 pm", "= 21:30"),
    "duration": ("duration", "30 days", "= P30D"),
    "id": ("id", "AB 12", "= AB"),
    "phone": ("{type: phone, region: AU}", "(02) 9374 4000", "= +61293744000"),
    "email": ("email", "A@B.example", "= a@b.example"),
    "url": ("url", "example.org/a", "= "),
    "text": ("text", "any text", "= any text"),
    "list": ("{type: list, items: text, compare: bag}", "a | b", '= ["a", "b"]'),
    "unreadable": ("number", "twelve o'clock", "Not readable: "),
}


def test_every_type_is_read_live_by_the_spec(browser, tmp_path):
    spec = (
        "{locale: en_AU, fields: {" + ", ".join(f"{name}: {told[0]}" for name, told in TYPED.items()) + "}}"
    )
    with opened(browser, tmp_path, [{"id": "a", "text": "x"}], spec, shares=BLIND) as desk:
        for name, (_, text, reading) in TYPED.items():
            assert desk.at == name
            desk.page.keyboard.type(text)
            desk.until(f"document.querySelector('#reading').textContent.startsWith({json.dumps(reading)})")
            desk.press("Enter")
        labels = desk.labels()
        assert {name: label[1] for name, label in labels.items()} == {
            name: text for name, (_, text, _) in TYPED.items()
        }


def test_an_empty_field_is_never_absent_by_enter(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)], shares=BLIND) as desk:
        desk.press("Enter")
        assert "F4: the document does not have it" in desk.text("#told")
        desk.press("F4", "F8")
        desk.page.keyboard.type("typed, then left")
        desk.press("Escape", "ArrowDown")
        assert desk.labels() == {"kind": ("absent", None), "shop": ("illegible", None)}


def test_choices_are_taken_by_number_and_letters_act_outside_fields_only(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)]) as desk:
        assert desk.at == "kind"
        desk.press("2")
        assert desk.at == "shop"
        desk.press("F2")
        desk.page.keyboard.type("a Jail")
        desk.press("Enter")
        assert desk.at == "total"
        desk.press("j", "k", "a")
        labels = desk.labels()
        assert labels == {
            "kind": ("value", "invoice"), "shop": ("value", "a Jail"), "total": ("absent", None),
        }  # fmt: skip


def test_rows_of_a_list_are_added_moved_and_removed_with_their_labels(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)], shares=BLIND) as desk:
        desk.page.evaluate("desk.go(desk.byNode.get('lines'))")
        desk.press("Insert")
        desk.until("desk.at && desk.at.node === 'lines[0].sku'")
        desk.page.keyboard.type("first")
        desk.press("Enter")
        desk.page.keyboard.type("1.00")
        desk.press("Insert")
        desk.until("desk.at && desk.at.node === 'lines[1].sku'")
        desk.page.keyboard.type("second")
        desk.press("Alt+ArrowUp")
        desk.until("desk.sheet.items.lines.join() === 'lines[1],lines[0]'")
        assert {node: text for node, (_, text) in desk.labels().items()} == {
            "lines[0].sku": "first", "lines[0].amount": "1.00", "lines[1].sku": "second",
        }  # fmt: skip
        desk.page.evaluate("desk.byNode.get('lines[1].sku').box.focus()")
        desk.press("Delete")
        desk.until("desk.sheet.items.lines.join() === 'lines[0]'")


def test_without_a_connection_labels_wait_and_are_saved_later(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)]) as desk:
        desk.press("Enter")
        desk.saved()
        desk.page.context.set_offline(True)
        desk.press("Enter", "Enter")
        desk.until("document.querySelector('#saving').textContent.includes('not saved')")
        desk.page.context.set_offline(False)
        desk.saved()
        assert set(desk.labels()) == {"kind", "shop", "total"}
        desk.errors[:] = [one for one in desk.errors if "ERR_INTERNET_DISCONNECTED" not in one]


def test_undo_reaches_over_sheets_and_redo_back(browser, tmp_path):
    spec = "{fields: {shop: text, total: text}}"
    with opened(browser, tmp_path, [prediction(1), prediction(2)], spec) as desk:
        first = int(desk.page.url.rsplit("/", 1)[1])
        desk.press("Enter", "Enter", "Control+Enter")
        desk.until(f"!location.pathname.endsWith('/{first}')")
        desk.on_sheet()
        desk.press("Control+z")
        desk.on_sheet(first)
        desk.until("document.querySelector('#told').textContent === 'Undone.'")
        desk.saved()
        assert set(desk.labels()) == {"shop"}
        desk.press("Control+z")
        desk.saved()
        assert set(desk.labels()) == set()
        desk.press("Control+Shift+z", "Control+Shift+z")
        desk.saved()
        assert desk.labels() == {"shop": ("value", "Shop 1"), "total": ("value", "11.50")}


def test_two_tabs_do_not_overwrite_each_other(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)]) as desk:
        other = desk.page.context.new_page()
        other.goto(desk.page.url)
        other.wait_for_selector("body[data-ready='yes']")
        other.keyboard.press("2")
        desk.until("saver.waiting.length === 0", other)
        desk.press("Enter")
        desk.until("document.querySelector('#told').textContent.includes('labeled elsewhere')")
        assert desk.labels()["kind"] == ("value", "invoice")
        desk.until("document.querySelector('[data-row=kind] input').value === 'invoice'")
        assert other.evaluate("desk.addItem('lines').then((row) => row.node)") == "lines[2].sku"
        assert desk.page.evaluate("desk.addItem('lines').then((row) => row || null)") is None
        assert "rows of this list were added" in desk.text("#told")
        assert desk.page.evaluate("desk.items('lines')") == ["lines[0]", "lines[1]", "lines[2]"]
        desk.errors[:] = [one for one in desk.errors if "409" not in one]


PDFS = {"upright": "", "turned": "/Rotate 90", "cropped": "/CropBox [40 380 440 780]"}


@pytest.mark.parametrize("case", PDFS)
def test_the_outline_covers_the_ink(browser, tmp_path, case):
    """The darkest pixels of the page as it is shown lie in the outline, and few outside."""
    import io

    from PIL import Image
    from tests.documents.making import make_pdf

    folder = tmp_path / "documents"
    folder.mkdir()
    content = "BT /F1 18 Tf 120 500 Td (11.50) Tj ET"
    (folder / "doc-001.pdf").write_bytes(make_pdf([content], PDFS[case]))
    with opened(browser, tmp_path, [prediction(1)], documents=folder) as desk:
        desk.page.evaluate("desk.go(desk.byNode.get('total'))")
        desk.page.wait_for_selector(".region.active")
        desk.page.wait_for_selector(".crop img")
        desk.until("document.querySelector('.paper img').complete")
        picture = desk.page.evaluate("document.querySelector('.paper img').getAttribute('src')")
        data = desk.page.request.get(desk.site.origin + picture).body()
        box = desk.page.evaluate("desk.at.found.box")
    image = Image.open(io.BytesIO(data)).convert("L")
    dark = np.argwhere(np.asarray(image) < 128)[:, ::-1] / image.size
    inside = [box[0] - 0.01 <= x <= box[2] + 0.01 and box[1] - 0.01 <= y <= box[3] + 0.01 for x, y in dark]
    assert len(dark) > 50
    assert all(inside)
    assert (box[2] - box[0]) * (box[3] - box[1]) < 0.1


def test_a_value_is_found_on_any_of_300_pages(browser, tmp_path):
    from tests.documents.making import make_pdf, text

    folder = tmp_path / "documents"
    folder.mkdir()
    pages = [text(100, 100, f"Page {at} of a long report") for at in range(1, 301)]
    pages[249] += text(100, 300, "Total 11.50")
    (folder / "doc-001.pdf").write_bytes(make_pdf(pages))
    with opened(browser, tmp_path, [prediction(1)], documents=folder) as desk:
        assert desk.text("#page-number") == "1 / 300"
        desk.page.evaluate("desk.go(desk.byNode.get('total'))")
        desk.until("document.querySelector('#page-number').textContent === '250 / 300'")
        desk.page.wait_for_selector(".region.active")
        desk.until("document.querySelector('.paper img').naturalWidth > 0")
        desk.press("]")
        desk.until("document.querySelector('#page-number').textContent === '251 / 300'")


def test_a_page_without_text_is_shown_and_its_values_are_typed(browser, tmp_path):
    from tests.documents.making import make_pdf

    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.pdf").write_bytes(make_pdf(["100 100 300 300 re f"]))
    with opened(browser, tmp_path, [prediction(1)], documents=folder, shares=BLIND) as desk:
        desk.until("document.querySelector('.paper img').naturalWidth > 0")
        assert desk.page.evaluate("viewer.words.get(1)") == []
        desk.page.mouse.click(*desk.page.evaluate(MIDDLE))
        desk.page.evaluate("desk.go(desk.byNode.get('shop'))")
        desk.page.keyboard.type("Shop 1")
        x, y = desk.page.evaluate(MIDDLE)
        desk.page.mouse.move(x, y)
        desk.page.mouse.down()
        desk.page.mouse.move(x + 80, y + 30)
        desk.page.mouse.up()
        desk.press("Enter")
        assert desk.labels() == {"shop": ("value", "Shop 1")}
        [(page, width, text)] = desk.site.room.db.execute("SELECT page, x1 - x0, text FROM region").fetchall()
        assert (page, text) == (1, "")
        assert 0.05 < width < 0.5


MIDDLE = """(() => { const on = document.querySelector('#page').getBoundingClientRect();
    return [(on.left + on.right) / 2, (on.top + on.bottom) / 2]; })()"""
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202egnp\"'`{{7*7}}"


def test_a_form_of_another_port_changes_nothing(browser, tmp_path):
    import http.server
    import threading

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            action = f"{desk.site.origin}/api/sheets/1/release"
            self.wfile.write(
                f"<form method=post enctype=text/plain action='{action}'><input name='{{}}'></form>"
                "<script>document.forms[0].submit()</script>".encode()
            )

        def log_message(self, *_):
            pass

    with opened(browser, tmp_path, [prediction(1)]) as desk:
        server = http.server.HTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        before = count_events(desk.site.room.store)
        tab = desk.page.context.new_page()
        with tab.expect_response(lambda answer: "/api/" in answer.url) as answer:
            tab.goto(f"http://127.0.0.1:{server.server_port}/")
        assert answer.value.status == 403
        assert count_events(desk.site.room.store) == before
        server.shutdown()


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_axe_finds_nothing_on_any_screen(browser, tmp_path, documents, theme):
    options = {"color_scheme": theme}
    with opened(browser, tmp_path, [prediction(1)], documents=documents, options=options) as desk:
        desk.press("Enter")
        assert desk.axe() == []
        desk.press("?")
        assert desk.axe() == []
        desk.press("Escape", *["Enter"] * 9)
        desk.press("Control+Enter")
        desk.page.wait_for_selector("body[data-screen=queue][data-ready='yes']")
        for screen in ("/", "/help", "/sign-in"):
            desk.page.goto(desk.site.origin + screen)
            desk.page.wait_for_selector("body[data-ready='yes']")
            assert desk.axe() == [], screen


def test_at_twice_the_size_nothing_is_out_of_reach(browser, tmp_path, documents):
    options = {"device_scale_factor": 2}
    with opened(browser, tmp_path, [prediction(1)], documents=documents, options=options) as desk:
        desk.page.set_viewport_size({"width": 640, "height": 360})
        assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        desk.press("Enter")
        desk.until(
            "(() => { const box = desk.at.input.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; })()"
        )
