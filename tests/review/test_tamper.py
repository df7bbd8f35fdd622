"""A review says what was changed behind its back."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.review.small_review import label, labelled_store, ticking

from fieldassay.errors import ProblemsError
from fieldassay.review.log.journal import Entry, Head, Journal, body_digest, canonical, event_hash
from fieldassay.review.log.schema import COMPARED
from fieldassay.review.log.store import Store
from fieldassay.review.log.verify import verify


def attack(store: Store, change: Callable[[sqlite3.Connection], None]) -> None:
    """Change the database as somebody with the file can, and no trigger in the way."""
    with closing(sqlite3.connect(store.file)) as db:
        for name in ("event_kept", "event_fixed"):
            db.execute(f"DROP TRIGGER {name}")
        change(db)
        db.commit()


def edit_table(db: sqlite3.Connection) -> None:
    db.execute("UPDATE label SET text='9.99' WHERE sheet=4 AND node='total'")


def edit_event(db: sqlite3.Connection) -> None:
    db.execute("UPDATE event SET body=replace(body, '2.00', '9.99') WHERE kind='label' AND sheet=4")


def remove_event(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM event WHERE seq=12")


def cut_off(db: sqlite3.Connection) -> None:
    last = db.execute("SELECT max(seq) FROM event").fetchone()[0]
    db.execute("DELETE FROM event WHERE seq=?", (last,))
    db.execute("UPDATE sheet SET state='held', holder=1, done_by=NULL WHERE id=10")
    db.execute("DELETE FROM finish WHERE sheet=10")


def write_anew(db: sqlite3.Connection) -> None:
    """Change a label, and make every later hash fit again."""
    rows = db.execute("SELECT * FROM event ORDER BY seq").fetchall()
    prev = bytes(32)
    for seq, at, actor, kind, sheet, salt, body, *_ in rows:
        changed = body.replace("2.00", "9.99") if kind == "label" and sheet == 4 else body
        digest = body_digest(salt, changed)
        made = event_hash(prev, (seq, at, actor, kind, sheet), digest)
        db.execute(
            "UPDATE event SET body=?, body_hash=?, prev=?, hash=? WHERE seq=?",
            (changed, digest, prev, made, seq),
        )
        prev = made
    db.execute("UPDATE label SET text='9.99', canonical='9.99' WHERE sheet=4 AND node='total'")
    db.execute("UPDATE region SET text='9.99' WHERE sheet=4 AND node='total'")


@pytest.mark.parametrize(
    ("change", "without_head", "with_head"),
    [
        pytest.param(
            edit_table, "the table label is not what the events say", "the table label", id="table edited"
        ),
        pytest.param(edit_event, "is not the one that was written", "was written", id="event edited"),
        pytest.param(remove_event, "event 12 is missing", "event 12 is missing", id="event removed"),
        pytest.param(cut_off, None, "the log ends at event 26", id="last event cut off"),
        pytest.param(write_anew, None, "the log was written anew", id="all later hashes made anew"),
    ],
)
def test_every_attack_is_seen_with_a_remembered_head_and_most_without(
    tmp_path: Path, change: Callable[[sqlite3.Connection], None], without_head: str | None, with_head: str
) -> None:
    store = labelled_store(tmp_path)
    head = store.head()
    assert verify(store, [head]).is_whole
    attack(store, change)
    alone = verify(store)
    assert alone.is_whole if without_head is None else any(without_head in fault for fault in alone.faults)
    assert any(with_head in fault for fault in verify(store, [head]).faults)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE event SET body='{}' WHERE seq=3",
        "UPDATE event SET actor='other' WHERE seq=3",
        "UPDATE event SET body=NULL, salt=NULL WHERE seq=3",
        "DELETE FROM event WHERE seq=3",
    ],
)
def test_sql_cannot_change_an_event(tmp_path: Path, sql: str) -> None:
    store = labelled_store(tmp_path)
    with (
        closing(sqlite3.connect(store.file)) as db,
        pytest.raises(sqlite3.IntegrityError, match="events are"),
    ):
        db.execute(sql)
    assert verify(store).is_whole


def test_a_clock_that_goes_back_is_an_event(tmp_path: Path) -> None:
    store = labelled_store(tmp_path)
    Store(tmp_path, ticking()).append(Entry("label", label("shop", "x"), "r1", 8))
    with store.reading() as db:
        kinds = [row[0] for row in db.execute("SELECT kind FROM event ORDER BY seq DESC LIMIT 2")]
    assert kinds == ["label", "clock"]
    assert verify(store).is_whole


def everything(file: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        tables = ["event", *COMPARED]
        return [db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


def test_a_flipped_byte_is_seen_or_changes_nothing(tmp_path: Path) -> None:
    seen, missed = flip_bytes(labelled_store(tmp_path / "review", documents=2), tmp_path / "flipped", 150)
    assert missed == []
    assert seen > 10


def flip_bytes(store: Store, folder: Path, rounds: int) -> tuple[int, list[int]]:
    """Return how often a flipped byte of the file was seen, and where it changed something and was not."""
    with closing(sqlite3.connect(store.file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data, before = store.file.read_bytes(), everything(store.file)
    chance = random.Random(14)
    seen, missed = 0, list[int]()
    folder.mkdir()
    for _ in range(rounds):
        at = chance.randrange(len(data))
        flipped = bytes([data[at] ^ (1 << chance.randrange(8))])
        (folder / store.file.name).write_bytes(data[:at] + flipped + data[at + 1 :])
        if not verify(Store(folder)).is_whole:
            seen += 1
        elif not unchanged(folder / store.file.name, before):
            missed.append(at)
        for name in ("-wal", "-shm"):
            (folder / f"{store.file.name}{name}").unlink(missing_ok=True)
    return seen, missed


def unchanged(file: Path, before: list[list[tuple[object, ...]]]) -> bool:
    found = everything(file)
    names = [(name, position) for position, name in enumerate(["event", *COMPARED])]
    return all(
        [row[: len(COMPARED.get(name, row))] for row in found[at]]
        == [row[: len(COMPARED.get(name, row))] for row in before[at]]
        for name, at in names
        if name not in ("sheet", "person")
    )


def test_the_chain_is_the_documented_one(tmp_path: Path) -> None:
    import hashlib
    import json

    store = labelled_store(tmp_path, documents=1)
    prev = bytes(32)
    with store.reading() as db:
        for seq, at, actor, kind, sheet, salt, body, digest, before, made in db.execute(
            "SELECT * FROM event"
        ):
            assert before == prev
            assert digest == hashlib.sha256(salt + body.encode()).digest()
            head = json.dumps([seq, at, actor, kind, sheet, digest.hex()], separators=(",", ":"))
            assert made == hashlib.sha256(prev + head.encode()).digest()
            prev = made
    assert str(store.head()) == f"{seq}:{prev.hex()}"
    assert Head.parse(str(store.head())) == store.head()


def test_equal_data_has_one_canonical_text() -> None:
    assert canonical({"b": "ü", "a": 1.5}) == canonical({"a": 1.5, "b": "ü"}) == '{"a":1.5,"b":"\\u00fc"}'


@pytest.mark.parametrize("text", ["", "3", "3:ab", "x:" + "0" * 64, "3:" + "z" * 64])
def test_a_text_that_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(ProblemsError, match="is no head"):
        Head.parse(text)


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = labelled_store(tmp_path)
    head = store.head()

    def work(journal: Journal) -> None:
        journal.append(Entry("label", label("shop", "x"), "r1", 8))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        store.write(work)
    assert store.head() == head
    assert verify(store, [head]).is_whole
