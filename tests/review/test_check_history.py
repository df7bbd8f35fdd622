"""The history of gold is checked against the log of the review that wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import NONE, add, make_receipts
from tests.review.test_promotion_of_review import answer, promote, write_gold
from tests.review.test_tamper import attack

from fieldassay.commands.cli.main import main
from fieldassay.review.log.store import Store
from fieldassay.review.promotion.check_history import check_history
from fieldassay.review.promotion.history import history_of


@pytest.fixture
def promoted(tmp_path: Path) -> tuple[Store, Path]:
    """A review that was promoted, and the history of its gold."""
    gold = write_gold(tmp_path, {"id": "doc-001", "shop": "Shop 1", "total": "10.00"})
    store = make_receipts(tmp_path / "review", 1, NONE)
    answer(store, add(store), {"total": "10.00", "shop": "Shop One"})
    assert promote(tmp_path / "review", gold) == 0
    return store, history_of(gold)


def rows_of(history: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in history.read_text().splitlines()]


def write_rows(history: Path, rows: list[dict[str, Any]]) -> None:
    history.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def check(store: Store, history: Path) -> int:
    return main(["review", "verify", str(store.folder), "--history", str(history)])


def test_every_line_names_the_review_and_is_found_in_its_log(
    promoted: tuple[Store, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, history = promoted
    assert {row["review_id"] for row in rows_of(history)} == {store.id()}
    capsys.readouterr()
    assert check(store, history) == 0
    told = capsys.readouterr().out
    assert f"{len(rows_of(history))} lines as the log of this review has them" in told
    assert told.endswith("whole\n")
    assert check_history(store, history).faults == ()


@pytest.mark.parametrize("ending", [b"\r\n", b"\n\n"])
def test_line_ends_and_the_order_of_lines_do_not_matter(promoted: tuple[Store, Path], ending: bytes) -> None:
    store, history = promoted
    history.write_bytes(ending.join(reversed(history.read_bytes().splitlines())) + ending)
    assert check(store, history) == 0


def edit_origin(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"origin": "blind"} for row in rows]


def edit_reviewer(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rows[0] | {"reviewers": ["r9"]}, *rows[1:]]


def remove_line(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[1:]


def add_line(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*rows, rows[0] | {"document": "doc-777"}]


def make_head_up(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*rows, rows[0] | {"review": f"3:{'ab' * 32}"}]


def remove_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"review_id": None, "origin": "blind"} for row in rows]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (edit_origin, "not the lines that a promotion wrote"),
        (edit_reviewer, "not the lines that a promotion wrote"),
        (remove_line, "not the lines that a promotion wrote"),
        (add_line, "not the lines that a promotion wrote"),
        (make_head_up, "the log of the review does not have it"),
        (remove_id, "written by a promotion, and not there"),
        (lambda rows: [], "written by a promotion, and not there"),
    ],
    ids=["origin", "reviewer", "line removed", "line added", "head", "id removed", "all removed"],
)
def test_every_change_of_a_line_by_hand_is_seen(
    promoted: tuple[Store, Path],
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store, history = promoted
    write_rows(history, change(rows_of(history)))
    assert check(store, history) == 1
    found = capsys.readouterr().out
    assert told in found
    assert not found.endswith("whole\n")


def test_a_log_that_was_cut_off_before_the_promotion_is_seen(promoted: tuple[Store, Path]) -> None:
    store, history = promoted
    head = int(rows_of(history)[0]["review"].split(":")[0])
    attack(store, lambda db: db.execute("DELETE FROM event WHERE seq >= ?", (head,)))
    assert any(
        "the log of the review does not have it" in one for one in check_history(store, history).faults
    )


@pytest.mark.parametrize("kept", [{"review_id": None}, {"review": None, "review_id": None}])
def test_a_history_without_a_line_that_can_be_checked_is_no_pass(
    promoted: tuple[Store, Path], tmp_path: Path, kept: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    _, history = promoted
    other = make_receipts(tmp_path / "other", 1, NONE)
    write_rows(history, [row | kept for row in rows_of(history)])
    assert check(other, history) == 1
    assert "no line is known to be of this review" in capsys.readouterr().out


def test_lines_of_two_reviews_are_each_checked_by_their_own(
    promoted: tuple[Store, Path], tmp_path: Path
) -> None:
    store, history = promoted
    other = make_receipts(tmp_path / "other", 1, NONE)
    answer(other, add(other), {"total": "10.00", "shop": "Shop Uno"})
    assert promote(tmp_path / "other", tmp_path / "gold.jsonl") == 0
    first, second = check_history(store, history), check_history(other, history)
    assert (first.faults, second.faults) == ((), ())
    assert first.checked + second.checked == len(rows_of(history))
    assert (first.elsewhere, second.elsewhere) == (second.checked, first.checked)


def test_gold_stays_as_it_is_where_the_log_cannot_take_the_promotion(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, {"id": "doc-001", "shop": "Shop 1"})
    store = make_receipts(tmp_path / "review", 1, NONE)
    answer(store, add(store), {})
    before = gold.read_bytes()
    stop = (
        "CREATE TRIGGER stop BEFORE INSERT ON event WHEN NEW.kind='promote' "
        "BEGIN SELECT RAISE(ABORT, 'stop'); END"
    )
    attack(store, lambda db: db.execute(stop))
    assert promote(tmp_path / "review", gold) != 0
    assert gold.read_bytes() == before
    assert not history_of(gold).exists()


def test_a_file_that_is_no_history_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_receipts(tmp_path / "review", 1, NONE)
    assert check(store, tmp_path / "nothing.jsonl") == 2
    assert "is not there" in capsys.readouterr().err
    (tmp_path / "other.jsonl").write_text("{}\n")
    assert check(store, tmp_path / "other.jsonl") == 2


def test_an_empty_export_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fieldassay.review.sheets.draw import Shares

    store = make_receipts(tmp_path / "review", 1, Shares(1.0, 0.0, 0.0))
    asked = ["review", "export", str(store.folder), "-o", str(tmp_path / "labels.jsonl"), "--settled"]
    assert main(asked) == 0
    assert "no sheet is finished: label with `fieldassay review open" in capsys.readouterr().err
    answer(
        store,
        add(store, "anna", "reviewer"),
        dict.fromkeys(("kind", "shop", "total", "day", "paid", "due", "lines")),
    )
    assert main(asked) == 0
    assert "no document is settled: 1 document waits for a second sheet" in capsys.readouterr().err
