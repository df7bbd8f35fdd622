"""The draw of a review: what is asked, and what is shown, depends on seed, document and path alone."""

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.review.receipts import NONE, SPEC, make_receipts, prediction

from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.certificate import Certificate, Promise
from fieldassay.decisions.calibration.policy import ReviewPolicy
from fieldassay.errors import ProblemsError
from fieldassay.review.log import Store
from fieldassay.review.sheets.make import ReviewRequest, make_review, make_suspicious_review
from fieldassay.review.sheets.sheets import Shares
from fieldassay.runs.run import Run
from fieldassay.spec.plan.compile import read_plan

FIELDS = ("kind", "shop", "total", "day", "paid", "due", "lines")


def asked(store: Store, where: str = "1") -> list[dict[str, Any]]:
    with store.reading() as db:
        db.row_factory = sqlite3.Row
        rows = db.execute(
            "SELECT asked.*, document.name FROM asked JOIN document ON document=id WHERE "
            f"{where} ORDER BY document, place"
        )
        return [dict(row) for row in rows]


def policy() -> ReviewPolicy:
    """Return a policy that accepts totals and shops above 0.9."""
    certificate = Certificate(("total", "shop"), 0.9)
    return ReviewPolicy("llama", Promise(), certificate, digests={"spec": read_plan(SPEC).digest})


def test_without_a_policy_every_predicted_value_is_asked_and_shown(tmp_path: Path) -> None:
    rows = asked(make_receipts(tmp_path))
    assert Counter(row["shown"] for row in rows) == {"prediction": 27}
    assert [row["node"] for row in rows[:9]] == [
        "kind", "shop", "total", "day", "paid", "lines[0].sku", "lines[0].amount", "lines[1].sku",
        "lines[1].amount",
    ]  # fmt: skip


def test_the_policy_decides_what_is_flagged_audited_and_accepted(tmp_path: Path) -> None:
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


def test_shares_are_kept_and_the_order_of_documents_decides_nothing(tmp_path: Path) -> None:
    shares = Shares(double=0.2, withheld=0.3, empty=0.25, seed=7)
    rows = [prediction(number) for number in range(1, 201)]

    def draw(name: str, given: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        made = make_review(tmp_path / name, ReviewRequest(SPEC, {"llama": given}, shares=shares))
        return {(row["name"], row["node"], row["shown"]) for row in asked(made.store)}

    found = draw("forward", rows)
    assert found == draw("backward", rows[::-1])
    double = {name for name, node, _ in found if node == "lines"}
    single = [(node, shown) for name, node, shown in found if name not in double]
    assert 25 <= len(double) <= 55
    assert (
        0.25
        < sum(shown == "nothing" for node, shown in single if node != "due") / (9 * (200 - len(double)))
        < 0.35
    )
    assert not any(node == "due" for node, _ in single), "receipts have no due date"


def test_empty_cells_of_predicted_rows_are_drawn_like_empty_fields(tmp_path: Path) -> None:
    rows = [prediction(1, lines=[{"sku": "A-1"}, {"amount": "2.00"}])]
    store = make_review(tmp_path, ReviewRequest(SPEC, {"llama": rows}, shares=Shares(0.0, 0.0, 1.0))).store
    found = {one["node"]: (one["shown"], one["given"]) for one in asked(store, "reason='not predicted'")}
    blank = ("nothing", None)
    assert found == {"due": blank, "lines[0].amount": blank, "lines[1].sku": blank}


def test_a_document_labeled_twice_shows_nothing_of_any_field(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, shares=Shares(1.0, 0.0, 0.0))
    rows = asked(store)
    assert {(row["shown"], row["given"]) for row in rows} == {("nothing", None)}
    assert tuple(row["node"] for row in rows[:7]) == FIELDS
    with store.reading() as db:
        assert db.execute("SELECT count(*), sum(blind), max(slot) FROM sheet").fetchone() == (6, 6, 1)


def test_without_predictions_every_field_is_asked(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("Total 5.00")
    made = make_review(tmp_path / "review", ReviewRequest(SPEC, documents=folder, shares=NONE))
    assert tuple(row["node"] for row in asked(made.store)) == FIELDS


def test_sheets_come_by_their_worth_and_audits_among_them(tmp_path: Path) -> None:
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


def test_gold_that_all_systems_contradict_is_asked_blind(tmp_path: Path) -> None:
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
def test_what_cannot_be_meant_is_refused(tmp_path: Path, request_: ReviewRequest, told: str) -> None:
    with pytest.raises(ProblemsError, match=told):
        make_review(tmp_path, request_)
    assert not list(tmp_path.iterdir())


def test_documents_without_a_file_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("a")
    with pytest.raises(ProblemsError, match="no file for the document 'doc-002'"):
        make_receipts(tmp_path / "review", 2, documents=folder)
