"""Rows, places and keys of the sheet in a real browser: moved and resized, changed."""

import json

import pytest
from tests.review.receipts import prediction
from tests.review.web.desk import opened
from tests.review.web.test_sheet_browser import BLIND


def go(desk, node):
    desk.page.evaluate(f"desk.go(desk.byNode.get({json.dumps(node)}))")


@pytest.mark.parametrize("typed", ["12.50", "12.50 USD"])
def test_a_currency_of_the_spec_is_put_behind_the_amount(browser, tmp_path, typed):
    spec = "{locale: en_AU, fields: {total: {type: money, currency: USD}, flow: {type: quantity, canonical: m3/h}}}"
    with opened(browser, tmp_path, [{"id": "a", "total": "1"}], spec, shares=BLIND) as desk:
        assert desk.page.evaluate("desk.form.get('total').endings") == ["USD", "AUD"]
        desk.page.keyboard.type(typed)
        desk.press("Alt+1")
        desk.until("document.querySelector('#reading').textContent === '= 12.5 USD'")
        desk.press("Alt+2")
        assert desk.page.input_value("[data-row=total] input") == "12.50 AUD"
        desk.press("Alt+1", "Enter")
        assert desk.at == "flow"
        desk.page.keyboard.type("5")
        desk.page.click("text=m3/h")
        desk.until("document.querySelector('#reading').textContent === '= 5 m3/h'")
        assert desk.labels() == {"total": ("value", "12.50 USD")}


def test_single_keys_are_changed_and_taken_back(browser, tmp_path):
    with opened(browser, tmp_path, [prediction(1)]) as desk:
        desk.press("?")
        desk.page.click("text=Change single keys")
        desk.page.fill("#letter-absent", "x")
        desk.press("Tab")
        assert desk.text("#letters-told") == "x: absent"
        desk.page.fill("#letter-skip", "x")
        desk.press("Tab")
        assert desk.text("#letters-told") == "x is the key for: absent"
        assert desk.page.input_value("#letter-skip") == "s"
        desk.page.fill("#letter-skip", "4")
        desk.press("Tab")
        assert "digits take choices" in desk.text("#letters-told")
        assert "F4 x" in desk.text("#keys table")
        assert desk.axe() == []
        desk.press("Escape")
        go(desk, "shop")
        desk.press("x")
        assert desk.labels() == {"shop": ("absent", None)}
        desk.page.reload()
        desk.on_sheet()
        go(desk, "total")
        desk.press("x")
        assert desk.labels()["total"] == ("absent", None)
        desk.press("?")
        desk.page.click("text=Change single keys")
        desk.page.click("text=Take back all changes")
        desk.press("Escape")
        go(desk, "day")
        desk.press("a")
        assert desk.labels()["day"] == ("absent", None)


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Shop 1 Pty Ltd\n\nDate 03/04/2025\nTotal 11.50\n")
    return folder


def region_of(desk, node):
    desk.saved()
    [(*box, text)] = desk.site.room.db.execute(
        "SELECT x0, y0, x1, y1, text FROM region WHERE node=?", (node,)
    ).fetchall()
    return box, text


def test_the_outline_is_moved_and_resized_by_keyboard(browser, tmp_path, documents):
    with opened(browser, tmp_path, [prediction(1)], documents=documents) as desk:
        go(desk, "total")
        desk.page.wait_for_selector(".region.active")
        desk.press("Enter")
        before, text = region_of(desk, "total")
        assert text == "11.50"
        go(desk, "total")
        desk.page.wait_for_selector(".region.active")
        desk.press("F6", *["ArrowRight"] * 3)
        after, _ = region_of(desk, "total")
        assert [round(b - a, 3) for a, b in zip(before, after, strict=True)] == [0.012, 0, 0.012, 0]
        assert desk.page.evaluate("document.activeElement.matches('.region.active')")
        assert desk.axe() == []
        desk.press(*["Shift+ArrowLeft"] * 2)
        smaller, _ = region_of(desk, "total")
        assert [round(b - a, 3) for a, b in zip(after, smaller, strict=True)] == [0, 0, -0.008, 0]
        desk.press("F6")
        assert desk.page.evaluate("document.activeElement === desk.at.box")
        assert desk.labels()["total"] == ("value", "11.50")
        desk.press("Control+z")
        desk.saved()
        assert region_of(desk, "total")[0] != smaller


def drag(desk, selector, dx, dy):
    box = desk.page.locator(selector).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    desk.page.mouse.move(x, y)
    desk.page.mouse.down()
    desk.page.mouse.move(x + dx, y + dy, steps=4)
    desk.page.mouse.up()


HANDLES = {
    "move": [True, True, True, True],
    "nw": [True, True, False, False],
    "ne": [False, True, True, False],
    "sw": [True, False, False, True],
    "se": [False, False, True, True],
}


def test_the_outline_is_moved_and_resized_by_its_handles(browser, tmp_path, documents):
    with opened(browser, tmp_path, [prediction(1)], documents=documents) as desk:
        go(desk, "total")
        desk.page.wait_for_selector(".region.active")
        before = desk.page.evaluate("desk.at.found.box")
        for handle, moved in HANDLES.items():
            drag(desk, f".region.active .handle.{handle}", -9, -7)
            assert desk.page.input_value("[data-row=total] input") == "11.50"
            go(desk, "total")
            desk.press("Enter")
            after, _ = region_of(desk, "total")
            assert [abs(b - a) > 0.001 for a, b in zip(before, after, strict=True)] == moved, handle
            assert all(b <= a + 1e-9 for a, b in zip(before, after, strict=True))
            before = after
            go(desk, "total")
            desk.page.wait_for_selector(".region.active")


def test_moving_the_outline_keeps_a_text_that_is_being_typed(browser, tmp_path, documents):
    with opened(browser, tmp_path, [prediction(1)], documents=documents) as desk:
        go(desk, "total")
        desk.page.wait_for_selector(".region.active")
        desk.press("F2", "End")
        desk.page.keyboard.type(" AUD")
        desk.press("F6", "ArrowLeft", "F6")
        assert desk.page.input_value("[data-row=total] input") == "11.50 AUD"
        desk.press("Enter")
        assert desk.labels() == {"total": ("value", "11.50 AUD")}


WORDS = [[40, 100, 200, 130, "illicit"], [40, 160, 120, 190, "WWWWWWWW"], [40, 220, 300, 250, "合計金額"]]


def test_words_of_another_ocr_are_as_wide_as_their_boxes(browser, tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    page = {"width": 600, "height": 800, "words": WORDS}
    (folder / "words.jsonl").write_text(json.dumps({"id": "doc-001", "pages": [page]}) + "\n")
    with opened(browser, tmp_path, [prediction(1)], documents=folder / "words.jsonl") as desk:
        desk.until(f"document.querySelectorAll('.drawn span').length === {len(WORDS)}")
        boxes = desk.page.evaluate(
            "[...document.querySelectorAll('.drawn span')].map((one) => { const a = one.getBoundingClientRect(),"
            " b = document.querySelector('.paper').getBoundingClientRect();"
            " return [(a.left - b.left) / b.width, (a.right - b.left) / b.width]; })"
        )
    for (x0, _, x1, _, _), (left, right) in zip(WORDS, boxes, strict=True):
        assert (left, right) == (pytest.approx(x0 / 600, abs=0.004), pytest.approx(x1 / 600, abs=0.004))


def test_a_list_of_two_thousand_rows_takes_another_one(browser, tmp_path):
    lines = [{"sku": f"A-{number}", "amount": "1.00"} for number in range(2000)]
    with opened(browser, tmp_path, [prediction(1, lines=lines)]) as desk:
        go(desk, "lines[1999].sku")
        desk.press("Insert")
        desk.until("desk.items('lines').length === 2001 && desk.at.node === 'lines[2000].sku'")
        desk.page.keyboard.type("last")
        desk.press("Enter")
        assert desk.labels() == {"lines[2000].sku": ("value", "last")}


def test_a_value_from_right_to_left_does_not_turn_its_reading(browser, tmp_path):
    text = "متجر الرياض رقم ٥ (a-1)"
    with opened(browser, tmp_path, [prediction(1, shop=text)]) as desk:
        go(desk, "shop")
        desk.until(f"document.querySelector('#reading').textContent === {json.dumps('= ' + text)}")
        assert desk.text("#reading bdi") == text
        ends = desk.page.evaluate(
            "(() => { const whole = document.querySelector('#reading').getBoundingClientRect(),"
            " value = document.querySelector('#reading bdi').getBoundingClientRect();"
            " return [value.left - whole.left, getComputedStyle(desk.at.input).direction]; })()"
        )
        assert ends[0] > 5
        assert ends[1] == "rtl"
