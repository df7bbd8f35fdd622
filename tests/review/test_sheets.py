"""Sheets of a review: drawn, asked, and of one variant."""

import json
import random
from datetime import timedelta
from typing import Any

import pytest
from tests.review.receipts import NOW, SPEC, add, form_of, make_receipts, prediction, say, take

from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.certificate import Certificate, Guarantee
from fieldassay.decisions.calibration.policy import ReviewPolicy
from fieldassay.errors import ProblemsError
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review.export import list_sheets
from fieldassay.review.log import ReviewEvent, Store
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.sheets.sheets import LEASE, RefusedError
from fieldassay.review.status import (
    ReviewedValue,
    bound_residual,
    close_review,
    read_status,
    render_status,
)
from fieldassay.spec.plan.compile import read_plan

# Sheets in the hands of people: nobody gets what is not theirs, nothing shown is more than it says


def view(store, person, sheet):
    with store.reading() as db:
        return sheets.view(db, form_of(store), person, sheet)


def open_nodes(store, sheet):
    with store.reading() as db:
        return sheets.open_nodes(db, form_of(store), sheet)


def finish(store, person, sheet):
    return store.write(lambda journal: sheets.finish(journal, form_of(store), person, sheet))


def label_all(store, person, sheet):
    """Label everything that is open, as it is given, absent where nothing is."""
    given = {one["node"]: one["given"] for one in view(store, person, sheet)["asked"]}  # type: ignore[attr-defined]
    for node in open_nodes(store, sheet):
        text = given[node]
        say(store, person, sheet, node, text) if text else say(store, person, sheet, node, state="absent")


def labels(store):
    with store.reading() as db:
        [sheet] = list(list_sheets(db, form_of(store)))
    return {path: (label.state, label.text, label.origin) for path, label in sheet.labels.items()}


@pytest.fixture
def held(tmp_path):
    """Return a review of one document, a person, and the sheet that this person holds."""
    store = make_receipts(tmp_path, 1)
    me = add(store)
    return store, me, take(store, me)


def test_a_sheet_is_claimed_once_and_kept(tmp_path):
    store = make_receipts(tmp_path)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    first = take(store, anna)
    assert take(store, anna) == first
    assert take(store, ben) not in (None, first)


def test_a_sheet_claimed_while_the_clock_was_ahead_is_not_held_until_then(tmp_path):
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    assert take(store, anna, NOW + timedelta(days=365)) == 1
    assert take(store, ben, NOW) == 1


def test_a_sheet_whose_lease_ended_goes_to_the_next_and_its_labels_begin_anew(tmp_path):
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    sheet = take(store, anna)
    say(store, anna, sheet, "shop", "Anna's")
    assert take(store, ben, NOW + LEASE - timedelta(seconds=1)) is None
    assert take(store, ben, NOW + LEASE + timedelta(seconds=1)) == sheet
    assert "Anna's" not in json.dumps(view(store, ben, sheet))
    with pytest.raises(RefusedError, match="not yours"):
        say(store, anna, sheet, "shop", "Anna's")


def test_nobody_labels_both_sheets_of_a_document_unless_alone(tmp_path):
    store = make_receipts(tmp_path / "team", 1, Shares(1.0, 0.0, 0.0))
    anna, ben, cleo = (add(store, name, "reviewer") for name in ("anna", "ben", "cleo"))
    first = take(store, anna)
    label_all(store, anna, first)
    finish(store, anna, first)
    assert take(store, anna) is None
    assert take(store, ben) not in (None, first)
    assert take(store, cleo) is None

    alone = make_receipts(tmp_path / "alone", 1, Shares(1.0, 0.0, 0.0))
    me = add(alone)
    for _ in range(2):
        sheet = take(alone, me)
        label_all(alone, me, sheet)
        finish(alone, me, sheet)
    assert take(alone, me) is None


def test_a_declined_sheet_does_not_come_back(tmp_path):
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    sheet = take(store, anna)
    store.write(lambda journal: sheets.decline(journal, anna, sheet, "not my language"))
    assert take(store, anna) is None
    assert take(store, ben) == sheet


def test_an_update_of_what_was_not_seen_is_refused(held):
    store, me, sheet = held
    seq = say(store, me, sheet, "shop", "A")
    with pytest.raises(RefusedError, match="labeled elsewhere"):
        say(store, me, sheet, "shop", "B")
    say(store, me, sheet, "shop", "B", expects=seq)


@pytest.mark.parametrize(
    ("node", "text", "told"),
    [
        ("due", "1/2/2025", "not asked"),
        ("lines[7].sku", "x", "not asked"),
        ("lines[0", "x", "not asked"),
        ("shop", " ", "empty text is not a value"),
        ("shop", "x" * 20_001, "no such label"),
    ],
)
def test_only_what_is_asked_can_be_labeled(held, node, text, told):
    store, me, sheet = held
    with pytest.raises(RefusedError, match=told):
        say(store, me, sheet, node, text)


def test_a_sheet_is_finished_only_without_open_values(held):
    store, me, sheet = held
    with pytest.raises(RefusedError, match="9 open: kind, shop"):
        finish(store, me, sheet)
    label_all(store, me, sheet)
    finish(store, me, sheet)


def test_the_origin_of_a_label_is_by_its_meaning_not_by_clicks(held):
    store, me, sheet = held
    say(store, me, sheet, "total", "$11.50")
    say(store, me, sheet, "day", "4 March 2025")
    say(store, me, sheet, "shop", state="illegible")
    label_all(store, me, sheet)
    finish(store, me, sheet)
    found = labels(store)
    assert found["total"] == ("value", "$11.50", "confirmed")
    assert found["day"] == ("value", "4 March 2025", "corrected")
    assert found["shop"] == ("illegible", None, "corrected")
    assert found["paid"] == ("value", "yes", "confirmed")


def test_items_keep_their_labels_while_others_come_and_go(tmp_path):
    store = make_receipts(tmp_path, 1, Shares(1.0, 0.0, 0.0))
    me, form = add(store), form_of(store)
    sheet = take(store, me)

    def put(*nodes):
        return store.write(lambda log: sheets.save_items(log, form, me, sheet, "lines", nodes))

    assert put(None, None) == ["lines[0]", "lines[1]"]
    say(store, me, sheet, "lines[0].sku", "first")
    say(store, me, sheet, "lines[1].sku", "second")
    assert put("lines[1]", None, "lines[0]") == ["lines[1]", "lines[2]", "lines[0]"]
    say(store, me, sheet, "lines[2].sku", "between")
    put("lines[2]", "lines[0]")
    with pytest.raises(RefusedError, match="no such items"):
        put("lines[2]", "lines[2]")
    with pytest.raises(RefusedError, match="no such items"):
        put("lines[9]")
    label_all(store, me, sheet)
    finish(store, me, sheet)
    found = labels(store)
    assert [(path, label[1]) for path, label in found.items() if path.startswith("lines")] == [
        ("lines", None),
        ("lines[0].sku", "between"),
        ("lines[1].sku", "first"),
    ]


def test_a_finished_sheet_can_be_taken_up_again(tmp_path):
    store = make_receipts(tmp_path, 2)
    me = add(store)
    first = take(store, me)
    label_all(store, me, first)
    finish(store, me, first)
    second = take(store, me)
    store.write(lambda journal: sheets.undo_finish(journal, me, first))
    assert view(store, me, first)["state"] == "held"
    assert take(store, me) == first
    label_all(store, me, first)
    finish(store, me, first)
    assert take(store, me) == second


@pytest.mark.parametrize(
    "shares", [Shares(1.0, 0.0, 0.0), Shares(0.0, 0.6, 1.0, 3)], ids=["double", "single"]
)
def test_a_sheet_holds_nothing_that_must_not_be_seen(tmp_path, shares):
    rows = [prediction(1, shop="Zyzzyva", total="98765.43")]
    store = make_receipts(tmp_path, 1, shares, gold=rows)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    for person in (anna, ben):
        sheet = take(store, person)
        if sheet is None:
            continue
        text = json.dumps(view(store, person, sheet))
        with store.reading() as db:
            hidden = db.execute("SELECT predicted, truth, reason FROM asked WHERE shown='nothing'").fetchall()
            given = {row[0] for row in db.execute("SELECT given FROM asked")}
        secrets = {str(json.loads(one)) for row in hidden for one in row[:2] if one is not None}
        for secret in secrets - given - {"receipt", "yes"}:
            assert json.dumps(secret) not in text
        for word in (
            "audit",
            "withheld",
            "reason",
            "margin",
            "probability",
            "confidence",
            "shown",
        ):
            assert word not in text
        say(store, person, sheet, "shop", f"label of {person.alias}")
    with pytest.raises(RefusedError, match="not yours"):
        view(store, add(store, "eve", "lead"), 1)


def test_a_closed_review_takes_no_label(held):
    store, me, sheet = held
    store.append(ReviewEvent("close", {"closed": True}, "command"))
    with pytest.raises(RefusedError, match="closed"):
        say(store, me, sheet, "shop", "x")
    with pytest.raises(RefusedError, match="closed"):
        take(store, me)


# A review makes gold, unless it is an audit: then all is on the sheet, once, and nothing is hidden

NESTED = """
fields:
  shop: text
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {items: {fields: {sku: text, note: text, tags: {type: list, items: text}}}}
"""


def new(folder, spec, rows, *options):
    (folder / "spec.yaml").write_text(spec)
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = ["--spec", str(folder / "spec.yaml"), "--pred", f"m={folder / 'm.jsonl'}"]
    return main(["review", "new", str(folder / "r"), *paths, *options])


def asked(folder, order="name, place"):
    with Store(folder / "r").reading() as db:
        query = f"SELECT name, node, given FROM asked JOIN document ON document.id=document ORDER BY {order}"
        return db.execute(query).fetchall()


def test_every_declared_field_of_every_document_is_asked_once_and_every_prediction_shown(
    tmp_path,
):
    rows: list[dict[str, Any]] = [
        {"id": "a", "shop": "Oak", "lines": [{"sku": "A"}, {"note": "x", "tags": ["u"]}]},
        {"id": "b", "total": "5.00", "place": {"city": "Rome"}},
        {"id": "c"},
    ]
    assert new(tmp_path, NESTED, rows) == 0
    rest = [("total", None), ("place.city", None), ("place.street", None), ("lines", None)]
    assert [one[1:] for one in asked(tmp_path) if one[0] == "c"] == [("shop", None), *rest]
    cells = {one[1:] for one in asked(tmp_path) if one[0] == "a" and one[1].startswith("lines")}
    assert cells == {
        ("lines[0].sku", "A"), ("lines[0].note", None), ("lines[0].tags", None),
        ("lines[1].sku", None), ("lines[1].note", "x"), ("lines[1].tags[0]", "u"),
    }  # fmt: skip
    assert ("b", "place.city", "Rome") in asked(tmp_path)
    with Store(tmp_path / "r").reading() as db:
        assert db.execute("SELECT count(*), sum(blind) FROM sheet").fetchone() == (3, 0)


@pytest.mark.parametrize("option", ["--double", "--withhold", "--empty"])
@pytest.mark.parametrize("mode", [[], ["--mode", "gold"]], ids=["default", "gold"])
def test_shares_of_an_audit_are_refused_elsewhere(tmp_path, option, mode, capsys):
    assert new(tmp_path, SPEC, [prediction(1)], *mode, option, "0.5") == 2
    assert f"{option} goes with --mode audit" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_an_audit_says_of_every_blank_field_that_it_is_left_blank_on_purpose(tmp_path):
    """Whether a prediction was withheld, or there was none, does not show."""
    options = ("--mode", "audit", "--double", "0", "--withhold", "0.5", "--empty", "1")
    assert new(tmp_path, SPEC, [prediction(1)], *options) == 0
    store = Store(tmp_path / "r")
    me = add(store)
    sheet = take(store, me)
    with store.reading() as db:
        found = sheets.view(db, form_of(store), me, sheet)["asked"]
    assert {one["is_left_blank"] for one in found if one["given"] is None} == {True}
    assert {one["is_left_blank"] for one in found if one["given"] is not None} == {False}
    assert 2 < sum(one["is_left_blank"] for one in found) < len(found)


def test_the_next_review_begins_with_the_gold_of_the_last_one(tmp_path):
    """A spec that turned out wrong costs no label."""
    first = tmp_path / "first"
    first.mkdir()
    assert new(first, "fields: {total: text, shop: text}", [{"id": "a", "total": "5.00"}]) == 0
    store = Store(first / "r")
    me = add(store)
    assert take(store, me) == 1
    say(store, me, 1, "total", "6,50")
    say(store, me, 1, "shop", "Oak")
    store.write(lambda log: sheets.finish(log, form_of(store), me, 1))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", str(first / "r"), "--gold", str(gold)]) == 0
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    assert new(tmp_path, "fields: {total: money, shop: text, day: date}", rows) == 0
    assert asked(tmp_path) == [("a", "total", "6,50"), ("a", "shop", "Oak"), ("a", "day", None)]


# What a review says, against simulated reviewers whose habits are known

CONTROLS_SPEC = "{fields: {a: integer, b: integer, c: integer}}"
FIELDS = "abc"
WRONG, MISSED, SLIP = 0.2, 0.4, 0.02
CHANCE = BootstrapSettings(replicates=500)


def documents(count):
    """Return gold, and predictions of which so many are wrong."""
    chance = random.Random(5)
    gold = [
        {"id": f"d{at}", **{name: chance.randrange(10_000, 99_999) for name in FIELDS}} for at in range(count)
    ]
    return gold, [
        {key: value + 1 if key != "id" and chance.random() < WRONG else value for key, value in row.items()}
        for row in gold
    ]


def simulate(store, gold, missed=MISSED):
    """Label all sheets: a shown wrong value is overlooked with that rate, an unseen one typed with few slips."""
    me, form, chance = add(store), form_of(store), random.Random(6)
    truth = {row["id"]: row for row in gold}

    def work(journal):
        while (sheet := sheets.claim(journal, me, NOW)) is not None:
            seen = sheets.view(journal.db, form, me, sheet)
            row = truth[seen["document"]["name"]]
            for one in seen["asked"]:
                right, given = str(row[one["node"]]), one["given"]
                slip = str(int(right) + 7) if chance.random() < SLIP else right
                text = given if given is not None and (given == right or chance.random() < missed) else slip
                answer = sheets.LabelAnswer(
                    one["node"], "value", text, active_ms=2000 if given else 4000, keys=1
                )
                sheets.save_label(journal, form, me, sheet, answer)
            sheets.finish(journal, form, me, sheet)

    store.write(work)


def status_of(store):
    with store.reading() as db:
        return read_status(db, form_of(store), CHANCE)


def test_audits_estimate_the_accuracy_of_accepted_and_reviewed_together(tmp_path):
    gold, answers = documents(600)
    chance = random.Random(8)
    for row, right in zip(answers, gold, strict=True):
        row["confidence"] = {
            name: 0.95 if row[name] == right[name] and chance.random() < 0.9 else 0.5 for name in FIELDS
        }
    certificate = Certificate(tuple(FIELDS), 0.9)
    digests = {"spec": read_plan(CONTROLS_SPEC).digest}
    policy = ReviewPolicy("llama", Guarantee(), certificate, digests=digests)
    request = ReviewRequest(
        CONTROLS_SPEC, {"llama": answers}, policy, gold, shares=Shares(0.1, 0.3, 0.0, audited=0.2)
    )
    store = make_review(tmp_path, request).store
    with pytest.raises(ProblemsError, match="audits are open"):
        close_review(store)
    simulate(store, gold)
    found = status_of(store)
    truth = sum(a[name] == g[name] for a, g in zip(answers, gold, strict=True) for name in FIELDS) / 1800
    assert found.accuracy.interval[0] < truth < found.accuracy.interval[1]
    assert 0 < found.residual < found.residual_upper < 1 - truth
    close_review(store)
    assert status_of(store).is_closed


@pytest.mark.parametrize(("count", "is_told"), [(19, False), (200, True)])
def test_few_labels_say_nothing(tmp_path, count, is_told):
    gold, answers = documents(count)
    shares = Shares(double=1.0, withheld=0.0, empty=0.0)
    store = make_review(tmp_path, ReviewRequest(CONTROLS_SPEC, {"llama": answers}, shares=shares)).store
    simulate(store, gold)
    found, text = status_of(store), render_status(status_of(store))
    assert (found.accuracy.share is not None) == is_told
    assert (found.missed.share, found.accepted.share, found.residual) == (None,) * 3
    assert ("too few labels" in text) == (not is_told)


def test_nothing_is_said_of_what_nobody_answered(tmp_path):
    _, answers = documents(3)
    store = make_review(
        tmp_path, ReviewRequest(CONTROLS_SPEC, {"llama": answers}, shares=Shares(0.0, 0.0, 0.0))
    ).store
    found = status_of(store)
    assert (found.accuracy.share, found.missed.share, found.residual) == (None,) * 3
    assert json.dumps(found.to_dict())
    assert render_status(found).count("unknown") == 3


def draw_values(chance, number, wrong, *, is_accepted):
    name = "a" if is_accepted else "b"
    return [
        ReviewedValue(f"{name}{at}", chance.random() >= wrong, 0.1 if is_accepted else 1.0, is_accepted)
        for at in range(number)
    ]


def test_the_bound_of_the_residual_error_allows_for_all_that_is_uncertain():
    """Nothing wrong in 60 audits is no proof that nothing is wrong among the accepted values."""
    chance = random.Random(1)
    audits, flagged = (
        draw_values(chance, 60, 0.0, is_accepted=True),
        draw_values(chance, 40, 0.0, is_accepted=False),
    )
    missed = [ReviewedValue(f"m{at}", False, 1.0) for at in range(59)]
    value, upper = bound_residual((1000, 800), [*audits, *flagged], missed) or (1.0, 1.0)
    assert value == 0.0
    assert upper > 0.8 * (1 - 0.05 ** (1 / 60)), "as many may be wrong as 60 audits cannot exclude"
    assert bound_residual((1000, 800), audits, missed) is None
    assert bound_residual((1000, 800), [*audits, *flagged], []) is None
    alone, _ = bound_residual((1000, 1000), audits, []) or (1.0, 1.0)
    assert alone == 0.0, "where all is accepted, nothing else is needed"
