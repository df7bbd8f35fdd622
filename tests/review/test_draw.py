"""Which values a review asks about: draws, audits, variants, and rulings on what two people say."""

import json
import sqlite3
from collections import Counter

import pytest
from msgspec.structs import replace
from tests.review.receipts import NONE, SPEC, add, form_of, make_receipts, prediction, say, take

from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.certificate import (
    Certificate,
    Guarantee,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from fieldassay.decisions.calibration.policy import ReviewPolicy
from fieldassay.errors import ProblemsError
from fieldassay.review import export
from fieldassay.review.export import settled_sheets
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import (
    ReviewRequest,
    Shares,
    make_review,
    make_suspicious_review,
)
from fieldassay.review.sheets.sheets import Person, RefusedError
from fieldassay.review.status import ReviewedValue, wrong_of
from fieldassay.runs.run import Run
from fieldassay.spec.plan.compile import read_plan

# The draw of a review: what is asked, and what is shown, depends on seed, document and path alone.

FIELDS = ("kind", "shop", "total", "day", "paid", "due", "lines")


def asked(store, where="1"):
    with store.reading() as db:
        db.row_factory = sqlite3.Row
        rows = db.execute(
            "SELECT asked.*, document.name FROM asked JOIN document ON document=id WHERE "
            f"{where} ORDER BY document, place"
        )
        return [dict(row) for row in rows]


def policy():
    """Return a policy that accepts totals and shops above 0.9."""
    certificate = Certificate(("total", "shop"), 0.9)
    return ReviewPolicy("llama", Guarantee(), certificate, digests={"spec": read_plan(SPEC).digest})


def test_without_a_policy_every_predicted_value_is_asked_and_shown(tmp_path):
    rows = asked(make_receipts(tmp_path))
    assert Counter(row["shown"] for row in rows) == {"prediction": 27}
    assert [row["node"] for row in rows[:9]] == [
        "kind", "shop", "total", "day", "paid", "lines[0].sku", "lines[0].amount", "lines[1].sku",
        "lines[1].amount",
    ]  # fmt: skip


def test_the_policy_decides_what_is_flagged_audited_and_accepted(tmp_path):
    rows = [
        prediction(number, confidence={"total": 0.95, "shop": 0.5, "kind": 0.99}) for number in range(1, 41)
    ]
    made = make_review(
        tmp_path,
        ReviewRequest(
            predictions={"llama": rows}, policy=policy(), spec=SPEC, shares=replace(NONE, audited=0.5)
        ),
    )
    found = asked(made.store, "field IN ('total', 'shop')")
    audits = [row for row in found if row["node"] == "total"]
    assert 8 < len(audits) < 32
    assert {(row["shown"], row["given"], row["reason"], row["probability"]) for row in audits} == {
        ("nothing", None, "random audit", 0.5)
    }
    assert {row["shown"] for row in found if row["node"] == "shop"} == {"prediction"}


def test_without_predictions_every_field_is_asked(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("Total 5.00")
    made = make_review(tmp_path / "review", ReviewRequest(SPEC, documents=folder, shares=NONE))
    assert tuple(row["node"] for row in asked(made.store)) == FIELDS


def test_sheets_come_by_their_worth_and_audits_among_them(tmp_path):
    rows = [
        prediction(number, confidence={"shop": 0.99, "total": (number % 10) / 10 if number % 2 else 0.95})
        for number in range(1, 61)
    ]
    only = "fields: {shop: text, total: money}"
    chosen = replace(policy(), digests={"spec": read_plan(only).digest})
    shares = replace(NONE, audited=0.3)
    store = make_review(tmp_path, ReviewRequest(only, {"llama": rows}, chosen, shares=shares)).store
    with store.reading() as db:
        order = db.execute(
            "SELECT sheet.margin, max(asked.shown='prediction') FROM sheet JOIN asked USING(document) "
            "GROUP BY sheet.id ORDER BY sheet.margin DESC, sheet.id"
        ).fetchall()
    flagged = [place for place, (_, is_flagged) in enumerate(order) if is_flagged]
    audits = [place for place, (_, is_flagged) in enumerate(order) if not is_flagged]
    assert len(flagged) == 24
    assert min(audits) < len(order) / 3
    assert max(audits) > len(order) / 2


def test_gold_that_all_systems_contradict_is_asked_blind(tmp_path):
    gold = [prediction(number) for number in range(1, 6)]
    answers = [prediction(number) for number in range(1, 6)]
    gold[2]["total"] = "999.00"
    for name, rows in (("gold", gold), ("a", answers), ("b", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "spec.yaml").write_text(SPEC)
    preds = [word for name in "ab" for word in ("--pred", str(tmp_path / f"{name}.jsonl"))]
    files = ["--spec", str(tmp_path / "spec.yaml"), "--gold", str(tmp_path / "gold.jsonl"), *preds]
    assert main(["score", *files, "--out", str(tmp_path / "run"), "--bootstrap", "0", "-q"]) == 0
    made = make_suspicious_review(tmp_path / "review", Run.open(tmp_path / "run"), ReviewRequest(shares=NONE))
    [row] = asked(made.store)
    assert (row["name"], row["node"], row["shown"], row["given"]) == ("doc-003", "total", "nothing", None)
    assert (row["predicted"], row["truth"]) == ('"31.50"', '"999.00"')


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (ReviewRequest(SPEC), "there is nothing to review"),
        (ReviewRequest(SPEC, {"a": [prediction(1)], "b": [prediction(1)]}), "predictions of several systems"),
        (ReviewRequest(SPEC, {"a": [prediction(1)]}, gold=[prediction(9)]), "has no document of the review"),
        (ReviewRequest(SPEC, {"other": [prediction(1)]}, policy()), "the policy is for the system 'llama'"),
    ],
    ids=["nothing", "two systems", "foreign gold", "foreign policy"],
)
def test_what_cannot_be_meant_is_refused(tmp_path, request_, told):
    with pytest.raises(ProblemsError, match=told):
        make_review(tmp_path, request_)
    assert not list(tmp_path.iterdir())


def test_documents_without_a_file_are_told(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("a")
    with pytest.raises(ProblemsError, match="no file for 1 document: 'doc-002'"):
        make_receipts(tmp_path / "review", 2, documents=folder)


# The share of wrong values among the accepted, from audits by inverse probability weights.


@pytest.mark.parametrize("wrong", [0, 5])
def test_audits_alike_have_the_exact_binomial_interval(wrong):
    found = wrong_of([ReviewedValue(f"d{at}", at >= wrong, 0.03) for at in range(100)])
    assert (found.share, found.n) == (wrong / 100, 100)
    bounds = (clopper_pearson_lower(wrong, 100, 0.025), clopper_pearson_upper(wrong, 100, 0.025))
    assert found.interval == pytest.approx(bounds, abs=1e-6)


# A review of predictions that hold a document once per variant, beside the reading that each comes from.

VARIANT_SPEC = "fields: {shop: text}"
VARIANTS = ("corrected", "layout", "raw")


def row(page, variant, shop=None):
    return {"id": page, "variant": variant, "pred": {"shop": shop or f"{page} {variant}"}}


def rows(pages=("p1", "p2"), variants=VARIANTS):
    return [row(page, variant) for variant in variants for page in pages]


def readings(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def review(folder, preds, documents=None, **more):
    return make_review(folder, ReviewRequest(VARIANT_SPEC, preds, documents=documents, shares=NONE, **more))


def paths(made):
    with made.store.reading() as db:
        return dict(db.execute("SELECT name, path FROM document"))


def problem_of(folder, *given):
    with pytest.raises(ProblemsError) as caught:
        review(folder, *given)
    return str(caught.value)


def test_a_variant_is_named_as_score_names_it(tmp_path):
    made = review(tmp_path / "r", {"m/raw": rows()})
    assert {one["name"]: one["given"] for one in asked(made.store)} == {"p1": "p1 raw", "p2": "p2 raw"}


@pytest.mark.parametrize(
    ("preds", "remedy"),
    [
        ({"m": rows()}, "--pred m/corrected=FILE"),
        ({"a": rows(), "b": rows()}, "--pred a/corrected=FILE"),
        ({"a": rows(variants=["raw"]), "b": rows(variants=["raw"])}, "--pred a=FILE"),
        ({"m": rows(variants=["1st OCR", "2nd OCR"])}, "--pred 'm/1st OCR=FILE'"),
        ({"m": [rows(variants=["raw"])] * 2}, "a file with the rows of that run alone"),
        ({"m": [*rows(), row("p1", "raw")]}, "keep one record per document and variant"),
    ],
)
def test_what_cannot_be_one_review_is_refused_with_what_to_do(tmp_path, preds, remedy):
    assert remedy in problem_of(tmp_path / "r", preds)


def test_documents_in_the_folder_of_another_variant_are_told(tmp_path):
    documents = readings(tmp_path / "ocr", ["raw/p1.txt", "raw/p2.txt", "layout/p1.txt", "layout/p2.txt"])
    told = "no folder is named after the variant of 2 documents (p1, p2)"
    for folder, is_told in (("raw", False), ("layout", True)):
        made = review(tmp_path / f"r-{folder}", {"m/raw": rows()}, documents / folder)
        assert any(told in note for note in made.notes) is is_told


def test_an_id_that_is_a_path_is_that_file_whatever_the_variant(tmp_path):
    documents = readings(tmp_path / "in", ["scan/1.txt", "mail/1.txt"])
    made = review(tmp_path / "r", {"m": rows(["scan/1.txt", "mail/1.txt"], ["scan"])}, documents)
    assert paths(made) == {name: name for name in ("scan/1.txt", "mail/1.txt")}


def test_readings_without_a_variant_are_refused_by_name(tmp_path):
    documents = readings(tmp_path / "ocr", ["raw/p1.txt", "layout/p1.txt"])
    told = problem_of(tmp_path / "r", {"m": [{"id": "p1", "shop": "A"}]}, documents)
    assert "2 files for the document 'p1' (layout/p1.txt, raw/p1.txt)" in told
    assert "give --documents the folder of one of them" in told


def test_a_variant_that_some_documents_lack_says_which_are_left_out(tmp_path):
    documents = readings(tmp_path / "ocr", [f"{name}/p{n}.txt" for n in (1, 2, 3) for name in VARIANTS])
    preds = [*rows(), row("p3", "layout")]
    made = review(tmp_path / "r", {"m/raw": preds}, documents)
    assert sorted(paths(made)) == ["p1", "p2"]
    assert any("1 document (p3) without a prediction of m/raw" in note for note in made.notes)


def test_records_of_several_variants_are_shown_beside_their_own_readings(tmp_path):
    documents = readings(tmp_path / "ocr", [f"{name}/p{n}.txt" for n in (1, 2) for name in VARIANTS])
    made = review(tmp_path / "r", {"m": [row("p1", "raw"), row("p2", "layout")]}, documents)
    assert paths(made) == {"p1": "raw/p1.txt", "p2": "layout/p2.txt"}
    assert any("several variants (raw, layout)" in note for note in made.notes)


# Where two sheets differ, a third person rules; what the spec takes for the same never comes there.

FIRST = {"kind": "receipt", "shop": "Corner Cafe", "total": "$1,250.00", "day": "03/04/2025", "paid": "yes"}
SECOND = {"kind": "Receipt", "shop": "Corner Café", "total": "1250", "day": "3 April 2025", "paid": "no"}


def labeled_twice(
    folder,
    lines=(["A-1"], ["A-1"]),
    shop=FIRST["shop"],
):
    """Return a review of one document labeled by two people, and a third person."""
    store = make_receipts(folder, 1, Shares(1.0, 0.0, 0.0))
    form = form_of(store)
    for name, answers, listed in (("anna", FIRST | {"shop": shop}, lines[0]), ("ben", SECOND, lines[1])):
        person = add(store, name, "reviewer")
        sheet = take(store, person)
        for node, text in answers.items():
            say(store, person, sheet, node, text)
        rows = [None] * len(listed)
        store.write(lambda log, p=person, s=sheet, r=rows: sheets.save_items(log, form, p, s, "lines", r))
        for at, sku in enumerate(listed):
            say(store, person, sheet, f"lines[{at}].sku", sku)
        store.write(lambda log, p=person, s=sheet: sheets.finish(log, form, p, s))
    return store, add(store, "cleo", "adjudicator")


def rule(store, person, node, choice, text=""):
    given = {"node": node, "choice": choice, "text": text, "note": ""}
    return store.write(lambda log: export.rule(log, form_of(store), person, 1, given))


def test_a_third_person_rules_and_the_document_is_settled(tmp_path):
    store, cleo = labeled_twice(tmp_path, (["A-1", "B-2"], ["A-1"]))
    with store.reading() as db:
        seen = export.view(db, form_of(store), cleo, 1)
        assert export.list_open(db, form_of(store), cleo) == [{"id": 1, "name": "doc-001", "open": 3}]
    assert not any(alias in str(seen) for alias in ("r1", "r2", "anna", "ben"))
    shown = {one["node"]: [side["text"] for side in one["options"]] for one in seen["differences"]}
    assert rule(store, cleo, "paid", ("first", "second")[shown["paid"].index("no")]) == ["shop", "lines"]
    assert rule(store, cleo, "shop", "other", "Corner Caffè") == ["lines"]
    rows = [len(side["rows"]) for side in seen["differences"][2]["options"]]
    assert rule(store, cleo, "lines", ("first", "second")[rows.index(2)]) == []
    with store.reading() as db:
        assert {row[0] for row in db.execute("SELECT state FROM sheet")} == {"adjudicated"}
    [sheet] = settled_sheets(store)
    assert {path: (label.text, label.origin) for path, label in sheet.labels.items()} == {
        "kind": ("Receipt", "blind"), "shop": ("Corner Caffè", "adjudicated"), "total": ("1250", "blind"),
        "day": ("03/04/2025", "blind"), "paid": ("no", "adjudicated"), "lines": (None, "adjudicated"),
        "lines[0].sku": ("A-1", "adjudicated"), "lines[1].sku": ("B-2", "adjudicated"),
    }  # fmt: skip


def test_what_waits_or_nobody_can_know_is_left_out_of_what_is_settled(tmp_path):
    store, cleo = labeled_twice(tmp_path)
    rule(store, cleo, "shop", "guideline")
    [sheet] = settled_sheets(store)
    assert not {"shop", "paid"} & sheet.labels.keys()
    assert {"kind", "total", "lines[0].sku"} <= sheet.labels.keys()


def test_who_labeled_a_document_does_not_rule_on_it(tmp_path):
    store, _ = labeled_twice(tmp_path)
    anna = Person(1, "r1", "adjudicator")
    with store.reading() as db, pytest.raises(RefusedError, match="labeled neither sheet"):
        export.view(db, form_of(store), anna, 1)
    with pytest.raises(RefusedError, match="labeled neither sheet"):
        rule(store, anna, "shop", "first")
    with store.reading() as db:
        assert export.list_open(db, form_of(store), anna) == []


@pytest.mark.parametrize(
    ("node", "choice", "text"),
    [("total", "first", ""), ("shop", "third", ""), ("shop", "other", " "), ("nowhere", "first", "")],
)
def test_what_cannot_be_ruled_is_refused(tmp_path, node, choice, text):
    store, cleo = labeled_twice(tmp_path)
    with pytest.raises(RefusedError):
        rule(store, cleo, node, choice, text)
