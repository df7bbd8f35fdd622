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
        desk.page.click("text=Reset all keys")
        desk.press("Escape")
        go(desk, "day")
        desk.press("a")
        assert desk.labels()["day"] == ("absent", None)


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
