"""From the first page to gold: what is to be done is said, the page is at the value, and the end says what comes next."""

import json
import random
import shlex

import pytest
from tests.judging import score_alone
from tests.review.receipts import add
from tests.review.web.desk import READY, at_desk, opened
from tests.review.web.served import served

from fieldassay.commands.cli.main import main
from fieldassay.review.sheets.make import GOLD, ReviewRequest, make_review

SPEC = """
name: bills
fields:
  supplier: text
  kind: {type: enum, values: [invoice, credit note]}
  day: {type: date, order: dmy}
  due: {type: date, order: dmy}
  number: id
  net: money
  tax: money
  total: money
"""
FIELDS = ("supplier", "kind", "day", "due", "number", "net", "tax", "total")


def write_documents(folder, count):
    """Write the texts of bills, and return what stands on them; nothing is due on every fifth."""
    folder.mkdir()
    chance, truth = random.Random(7), []
    for at in range(count):
        net, tax = chance.randrange(1_000, 90_000), chance.randrange(100, 9_000)
        row = {
            "supplier": f"{chance.choice(['Oak', 'Elm', 'Ash'])} {chance.choice(['Trading', 'Works'])} {at}",
            "kind": chance.choice(["invoice", "credit note"]),
            "day": f"{chance.randrange(1, 28):02}/0{chance.randrange(1, 9)}/2025",
            "due": None if at % 5 == 0 else f"{chance.randrange(1, 28):02}/11/2025",
            "number": f"R-{chance.randrange(10_000, 99_999)}",
            "net": f"{net / 100:.2f}", "tax": f"{tax / 100:.2f}", "total": f"{(net + tax) / 100:.2f}",
        }  # fmt: skip
        lines = [f"{name.title():<12}{text}" for name, text in row.items() if text is not None]
        (folder / f"d{at:02}.txt").write_text("\n\n".join(lines))
        truth.append({"id": f"d{at:02}", **row})
    return truth


def predict(truth):
    """Return a model that misses 12 % of the suppliers, and is wrong in 5 % of the rest."""
    chance, found = random.Random(3), []
    missed = set(random.Random(1).sample(range(len(truth)), round(0.12 * len(truth))))
    for at, row in enumerate(truth):
        one = dict(row)
        if at in missed:
            one["supplier"] = None
        for name in ("number", "net", "tax", "total"):
            if chance.random() < 0.05:
                one[name] = f"{row[name][:-1]}{(int(row[name][-1]) + 1) % 10}"
        if one["due"] is not None and chance.random() < 0.05:
            one["due"] = None
        found.append(one)
    return found


def true_accuracy(truth, answers):
    """Return the mean over documents of the share of right values, counted by hand: no value on both sides is none."""
    shares = []
    for row, answer in zip(truth, answers, strict=True):
        filled = [name for name in FIELDS if row[name] is not None or answer[name] is not None]
        shares.append(sum(row[name] == answer[name] for name in filled) / len(filled))
    return sum(shares) / len(shares)


def by_keyboard(desk, node, text, shown):
    if text is None:
        desk.press("F4")
    elif shown == text:
        desk.press("Enter")
    elif node == "kind":
        desk.press("1" if text == "invoice" else "2")
    else:
        if shown:
            desk.press("F2")
        desk.page.keyboard.type(text)
        desk.press("Enter")


def by_touch(desk, node, text, shown):
    if text is None:
        desk.page.tap(".act:has-text('Absent')")
    elif shown != text and node == "kind":
        desk.page.tap(f".choice:has-text('{text}')")
    else:
        if shown != text:
            desk.page.tap(f"[data-row='{node}'] input[type=text]")
            desk.page.fill(f"[data-row='{node}'] input[type=text]", text)
        desk.page.tap(".act:has-text('Take')")


@pytest.mark.parametrize(
    ("way", "count", "options"),
    [
        pytest.param(by_keyboard, 10, {}, id="by keyboard"),
        pytest.param(by_touch, 4, {"has_touch": True}, id="by touch"),
        pytest.param(by_keyboard, 40, {}, marks=pytest.mark.full, id="by keyboard, all"),
        pytest.param(by_touch, 40, {"has_touch": True}, marks=pytest.mark.full, id="by touch, all"),
    ],
)
def test_gold_made_from_predictions_is_the_truth_and_the_model_is_as_good_as_it_is(
    browser, tmp_path, way, count, options
):
    """A person who sees the page and types what stands there, from the first page to the last."""
    truth = write_documents(tmp_path / "documents", count)
    answers = predict(truth)
    store = make_review(
        tmp_path / "review", ReviewRequest(SPEC, {"m": answers}, documents=tmp_path / "documents")
    ).store
    add(store)
    by_id = {row["id"]: row for row in truth}
    with served(store) as site, at_desk(browser, site, **options) as desk:
        if options:
            desk.page.set_viewport_size({"width": 768, "height": 1024})
        desk.enter()
        desk.page.locator("#start").click()
        for _ in range(count):
            desk.on_sheet()
            row = by_id[desk.text("#document-name")]
            for node in FIELDS:
                desk.until(f"desk.at.node === '{node}'")
                way(desk, node, row[node], desk.page.evaluate("standing(desk.at)"))
            desk.saved()
            before = desk.page.url
            (
                desk.page.locator(".end-of-values button").tap
                if options
                else lambda: desk.press("Control+Enter")
            )()
            desk.page.wait_for_url(lambda url, before=before: url != before)
        desk.page.wait_for_selector(f"{READY}[data-screen=queue]")
        assert desk.text("h1") == "Done"
        assert desk.page.locator("#start").count() == 0
        command = shlex.split(desk.text(".command"))
    command[command.index("--gold") + 1] = str(tmp_path / "gold.jsonl")
    assert main(command[1:]) == 0
    gold = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text().splitlines()]
    assert sorted(gold, key=lambda row: row["id"]) == [
        {key: text for key, text in row.items() if text is not None} for row in truth
    ]
    accuracy = score_alone(gold, answers, SPEC).value("accuracy")
    assert accuracy == pytest.approx(true_accuracy(truth, answers), abs=1e-9)
    assert accuracy < 1.0
    assert score_alone(gold, truth, SPEC).value("accuracy") == 1.0


def test_one_key_takes_the_value_of_the_document_before(browser, tmp_path):
    spec = "{name: bills, fields: {a: text, b: text}}"
    with opened(browser, tmp_path, [{"id": name} for name in "pq"], spec, shares=GOLD) as desk:
        desk.press("F3")
        assert "No earlier document" in desk.text("#told")
        desk.page.keyboard.type("Oak")
        desk.press("Enter", "F4")
        desk.saved()
        desk.press("Control+Enter")
        desk.on_sheet(2)
        assert "As before: Oak" in desk.text(".acts")
        desk.press("F3", "F3")
        desk.saved()
        rows = desk.site.room.db.execute("SELECT node, state, text FROM label WHERE sheet=2").fetchall()
        assert rows == [("a", "value", "Oak"), ("b", "absent", None)]


def test_the_page_goes_to_where_the_value_probably_is(browser, tmp_path):
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "p.txt").write_text(
        "Invoice no. 7\n" + "\n".join(f"line {at}" for at in range(400)) + "\nTotal due 5.00\n"
    )
    spec = "{fields: {invoice_no: id, total: money, other: text}}"
    with opened(browser, tmp_path, [{"id": "p"}], spec, documents=documents, shares=GOLD) as desk:
        desk.until("viewer.hint && viewer.hint.page === 1")
        desk.page.evaluate("desk.go(desk.byNode.get('total'))")
        desk.until(
            "viewer.hint && viewer.hint.page === viewer.pages.length && viewer.number === viewer.pages.length"
        )
        pane, hint = (desk.page.locator(one).bounding_box() for one in ("#page", ".region.hint"))
        assert pane["y"] <= hint["y"] <= pane["y"] + pane["height"]
        desk.page.keyboard.type("5.00")
        desk.press("Enter")
        desk.saved()
        assert desk.site.room.db.execute("SELECT count(*) FROM region").fetchone()[0] == 0, (
            "a guess is no place"
        )


@pytest.mark.parametrize("width", [375, pytest.param(768, marks=pytest.mark.full)])
def test_page_and_field_are_seen_together(browser, tmp_path, width):
    truth = write_documents(tmp_path / "documents", 1)
    with opened(
        browser,
        tmp_path,
        predict(truth),
        SPEC,
        documents=tmp_path / "documents",
        options={"has_touch": True},
        shares=GOLD,
    ) as desk:
        desk.page.set_viewport_size({"width": width, "height": 740})
        for node in FIELDS:
            desk.page.evaluate(f"desk.go(desk.byNode.get('{node}'))")
            desk.until(f"desk.at.node === '{node}'")
            desk.page.wait_for_timeout(100)
            page = desk.page.locator("#page").bounding_box()
            field = desk.page.locator(f"[data-row='{node}'] input[type=text]").bounding_box()
            assert page["y"] >= 0
            assert page["height"] > 150
            assert page["y"] + page["height"] <= field["y"], node
            assert field["y"] + field["height"] <= 740, node
        assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
