"""The key that is shown does what it shows, and nothing typed anywhere is done without being in gold."""

import re

import pytest
from tests.review.receipts import form_of
from tests.review.web.desk import opened

from fieldassay.review.sheets.make import GOLD

SPEC = """
fields:
  kind: {type: enum, values: [invoice, credit note, reminder]}
  size: {type: enum, values: ["10", "1", "2"]}
  paid: boolean
  settled: {type: boolean, true: [settled], false: [due]}
  day: date
  count: number
  total: money
  flow: {type: quantity, canonical: m3/h}
  shop: text
  numbers: {type: list, items: number, compare: bag}
  lines: {items: {fields: {sku: text, kind: {type: enum, values: [new, old]}, tags: {type: list, items: text}}}}
"""
GIVEN = {
    "kind": "reminder", "size": "2", "paid": True, "settled": "due", "day": "2025-03-01", "count": 7, "total": "5.00",
    "flow": "5 m3/h", "shop": "Oak", "numbers": [1, 2], "lines": [{"sku": "A", "kind": "old", "tags": ["u"]}],
}  # fmt: skip
CHARACTERS = [chr(code) for code in range(32, 127)]
SHOWN = [*(name for name in GIVEN if name != "lines"), "lines[0].sku", "lines[0].kind", "lines[0].tags[0]"]
BLIND = [*(name for name in GIVEN if name != "lines"), "lines"]

RESET = """async (node) => {
  for (const row of desk.byNode.values()) { row.draft = null; row.typed = ""; }
  await saver.settle();
  for (const row of [...desk.byNode.values()]) if (row.label) { desk.say(row, { state: "open" }); }
  await saver.settle();
  if (node === "lines" && desk.items("lines").length) await desk.setItems("lines", []);
  for (const box of document.querySelectorAll("dialog[open]")) box.close();
  document.querySelectorAll(".note-input").forEach((one) => one.remove());
  document.activeElement.blur();
  desk.at = null;
  desk.go(desk.byNode.get(node));
}"""


@pytest.mark.parametrize("is_shown", [True, False], ids=["shown", "blind"])
@pytest.mark.parametrize(
    "characters", ["1c .", pytest.param("".join(CHARACTERS), marks=pytest.mark.full)], ids=["some", "all"]
)
def test_any_first_key_in_any_widget_is_in_gold_or_is_not_done(browser, tmp_path, characters, is_shown):
    """After the key and Enter a value is open, not readable and marked so, or a label that the spec reads."""
    rows = [{"id": "a", **GIVEN}] if is_shown else [{"id": "a"}]
    wrong = []
    with opened(browser, tmp_path, rows, SPEC, shares=GOLD) as desk:
        form = form_of(desk.site.room.store)
        for node in SHOWN if is_shown else BLIND:
            for char in characters:
                desk.page.evaluate(RESET, node)
                assert desk.at == node
                desk.press(char)
                desk.press("Enter")
                desk.page.evaluate("saver.settle()")
                if node == "lines":
                    desk.until("desk.byNode.get('lines')?.pending === undefined")
                    desk.page.evaluate("saver.settle()")
                seen = desk.page.evaluate(
                    "[...desk.byNode.values()].map((row) => [row.node, row.label, Boolean(row.isUnreadable), "
                    "desk.open.has(row.node), row.draft])"
                )
                for place, label, is_bad, _, _ in seen:
                    if label is None or label["state"] != "value":
                        continue
                    field = re.sub(r"\[\d+\]", "[]", place)
                    reading = form.read(field, label["text"])
                    if field in form.lists or reading is None or (reading.problem is not None) != is_bad:
                        wrong.append((node, char, place, label, is_bad))
        assert wrong == []


LETTERS = {"kind": ("c", "credit note"), "paid": ("n", "no"), "size": ("2", "2"), "settled": ("d", "due")}


@pytest.mark.parametrize("is_shown", [True, False], ids=["shown", "blind"])
def test_a_first_letter_chooses_and_the_rest_of_the_word_goes_nowhere_else(browser, tmp_path, is_shown):
    rows = [{"id": "a", **GIVEN}] if is_shown else [{"id": "a"}]
    with opened(browser, tmp_path, rows, SPEC, shares=GOLD) as desk:
        for node, (letter, choice) in LETTERS.items():
            desk.page.evaluate(RESET, node)
            desk.press(letter)
            assert desk.labels()[node] == ("value", choice)
            desk.page.evaluate(RESET, node)
            desk.page.keyboard.type(choice)
            desk.press("Enter")
            assert desk.labels() == {node: ("value", choice)}
        desk.page.evaluate(RESET, "size")
        desk.page.keyboard.type("1")
        assert "Which one: 10, 1?" in desk.text("#told")
        desk.press("Enter")
        assert desk.labels() == {"size": ("value", "1")}


def test_what_cannot_be_read_is_marked_asked_about_at_the_end_and_left_out_of_gold(browser, tmp_path):
    with opened(browser, tmp_path, [{"id": "a"}], "fields: {day: date, shop: text}", shares=GOLD) as desk:
        desk.page.keyboard.type("31.02.2014")
        desk.press("Enter")
        desk.page.keyboard.type("Oak")
        desk.press("Enter")
        desk.saved()
        assert desk.text("[data-row=day] .mark-state") == "not readable"
        desk.press("Control+Enter")
        desk.page.wait_for_selector("#unreadable[open]")
        assert "31.02.2014" in desk.text("#unreadable")
        desk.page.click("text=Look again")
        desk.until("desk.at.node === 'day'")
        assert store_states(desk.site) == ["held"]
        desk.press("Control+Enter")
        desk.page.click("text=Finish anyway")
        desk.page.wait_for_selector("body[data-screen=queue][data-ready='yes']")
        assert store_states(desk.site) == ["done"]


def test_a_date_may_be_picked_from_a_calendar(browser, tmp_path):
    rows, spec = [{"id": "a", "day": "03/15/2025", "shop": "Oak"}], "fields: {day: date, shop: text}"
    with opened(browser, tmp_path, rows, spec, shares=GOLD) as desk:
        desk.until("document.querySelector('.choices input[type=date]')?.value === '2025-03-15'")
        desk.page.fill(".choices input[type=date]", "2025-04-02")
        assert desk.page.evaluate("document.activeElement.ariaLabel") == "day"
        desk.press("Enter")
        assert desk.labels()["day"] == ("value", "2025-04-02")
        desk.until("desk.at.node === 'shop'")
        assert desk.page.query_selector(".choices input[type=date]") is None and desk.axe() == []


def store_states(site):
    return [row[0] for row in site.room.db.execute("SELECT state FROM sheet ORDER BY id")]


def test_what_was_typed_is_kept_however_its_field_is_left(browser, tmp_path):
    names = "abcde"
    spec = "fields: {" + ", ".join(f"{name}: text" for name in names) + "}"
    rows = [{"id": "x", **dict.fromkeys(names, "old")}]
    with opened(browser, tmp_path, rows, spec, shares=GOLD) as desk:
        desk.press("F2")
        desk.page.keyboard.type("one")
        desk.press("ArrowDown")
        desk.press("Enter")
        desk.press("F2")
        desk.page.keyboard.type("three")
        desk.page.click("[data-row=e] input")
        desk.page.keyboard.type("five")
        desk.page.click("[data-row=d] input")
        desk.press("Control+A", "Backspace")
        desk.page.click("text=Finish >> nth=0")
        desk.until("document.querySelector('#told').textContent.includes('1 open')")
        desk.errors.clear()  # the browser notes the refusal
        assert {name: text for name, (_, text) in desk.labels().items()} == {
            "a": "one", "b": "old", "c": "three", "e": "oldfive",
        }  # fmt: skip


def test_a_list_is_one_widget_and_so_is_one_in_a_row(browser, tmp_path):
    spec = "fields: {lines: {items: {fields: {sku: text, tags: {type: list, items: text}}}}}"
    rows = [{"id": "a"}, {"id": "b", "lines": [{"sku": "A"}]}, {"id": "c", "lines": [{"sku": "ghost"}]}]
    with opened(browser, tmp_path, rows, spec, shares=GOLD) as desk:
        assert desk.page.locator("#values > .row").count() == 0
        assert desk.page.locator("#values > .grid").count() == 1
        desk.press("Enter")
        assert "Insert adds a row" in desk.text("#told")
        desk.page.keyboard.type("P")
        desk.until("desk.at.node === 'lines[0].sku'")
        desk.page.keyboard.type("-1")
        desk.press("Enter")
        desk.page.evaluate("desk.addItem('lines[0].tags')")
        desk.until("desk.at.node === 'lines[0].tags[0]'")
        desk.page.keyboard.type("u")
        desk.press("Insert")
        desk.until("desk.at.node === 'lines[0].tags[1]'")
        desk.page.keyboard.type("v")
        desk.press("Enter")
        assert desk.labels() == {
            "lines[0].sku": ("value", "P-1"), "lines[0].tags[0]": ("value", "u"), "lines[0].tags[1]": ("value", "v"),
        }  # fmt: skip
        desk.press("Control+Enter")
        desk.on_sheet(2)
        desk.press("Enter")
        assert desk.at == "lines[0].tags"
        desk.press("F4")
        desk.saved()
        desk.press("Control+Enter")
        desk.on_sheet(3)
        desk.press("Delete")
        desk.until("desk.byNode.get('lines')?.label?.state === 'absent'")
        assert desk.at == "lines"
        desk.saved()
        desk.press("Control+Enter")
        desk.page.wait_for_selector("body[data-screen=queue][data-ready='yes']")
        assert store_states(desk.site) == ["done", "done", "done"]
