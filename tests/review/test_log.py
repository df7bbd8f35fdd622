"""The log of a review."""

import io
import json
import os
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doc_pages import blocks
from msgspec.structs import replace
from tests.review.receipts import SPEC, prediction, take
from tests.review.small_review import count_events, first_events, label, labelled_store, ticking
from tests.review.test_draw import policy
from tests.review.test_promotion_of_review import fill

from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.policy import Basis, write_policy
from fieldassay.errors import ProblemsError
from fieldassay.review.log import (
    FILE,
    ReviewEvent,
    Store,
    check_place,
    create_store,
    read_facts,
)
from fieldassay.review.sheets.sheets import Person
from fieldassay.review.web.guard import list_people

# A review is made whole or not at all, and one server writes to it


def test_a_second_review_in_the_same_folder_is_refused(tmp_path):
    create_store(tmp_path, first_events())
    with pytest.raises(ProblemsError, match="holds a review already"):
        create_store(tmp_path, first_events())


def test_a_review_that_could_not_be_made_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyError):
        create_store(tmp_path, [*first_events(), ReviewEvent("no such kind", {}, "command")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(100), b"text"])
def test_another_file_in_its_place_is_no_review(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with (
        pytest.raises(ProblemsError, match="is not the database of a review"),
        Store(tmp_path).reading() as db,
    ):
        read_facts(db)
    with pytest.raises(ProblemsError, match="is not a review"):
        count_events(Store(tmp_path / "elsewhere"))


@pytest.mark.parametrize("version", [2, 99])
def test_a_review_of_another_version_is_refused(tmp_path, version):
    store = create_store(tmp_path, first_events())
    with closing(sqlite3.connect(store.file)) as db:
        db.execute(f"PRAGMA user_version={version}")
    with pytest.raises(ProblemsError, match="install the release"):
        count_events(store)


def test_a_network_file_system_is_refused(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\nother /elsewhere nfs rw 0 0\n")
    with pytest.raises(ProblemsError, match=r"network file system \(nfs4\)"):
        check_place(tmp_path / "review", mounts)
    check_place(tmp_path.parent, mounts)


def test_a_second_server_is_refused_until_the_first_ends(tmp_path):
    store = labelled_store(tmp_path)
    with (
        store.serving(),
        pytest.raises(ProblemsError, match="another server has this review"),
        store.serving(),
    ):
        pass
    with store.serving():
        pass


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE event SET body='{}' WHERE seq=3",
        "UPDATE event SET actor='other'",
        "DELETE FROM event WHERE seq=3",
    ],
)
def test_events_are_only_added(tmp_path, sql):
    store = labelled_store(tmp_path)
    with pytest.raises(sqlite3.IntegrityError, match="events are"):
        store.write(lambda log: log.db.execute(sql))
    assert count_events(store) == 27


def test_a_transaction_that_fails_leaves_nothing(tmp_path):
    store = labelled_store(tmp_path)
    before = store.append(ReviewEvent("label", label("shop", "one"), "r1", 8))

    def fail(log):
        log.append(ReviewEvent("label", label("shop", "never"), "r1", 8))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        store.write(fail)
    assert store.append(ReviewEvent("label", label("total", "2.00"), "r1", 8)) == before + 1
    with store.reading() as db:
        assert db.execute("SELECT text FROM label WHERE sheet=8 AND node='shop'").fetchone() == ("one",)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_review_is_for_its_owner_alone(tmp_path):
    store = create_store(tmp_path / "new", first_events(), ticking())
    store.append(ReviewEvent("close", {"closed": True}, "command"))
    with store.reading() as db:
        db.execute("SELECT 1")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}


# The commands of the page on reviews run: those that need labels of people have some


def commands(block):
    """Return the commands of a block that are shown without their output, as words; servers are not asked."""
    found = (shlex.split(line)[1:] for line in block.splitlines())
    return [words for words in found if words[1] != "open" and (words[1] != "team" or "add" in words)]


def label_all(store):
    with store.reading() as db:
        people = [Person(at, one["alias"], one["role"]) for at, one in enumerate(list_people(db), 1)]
    for person in people[:2]:
        while (number := take(store, person)) is not None:
            fill(store, person, number, {})


def test_the_commands_of_the_page_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    def run(words):
        words, target = (words[:-2], words[-1]) if words[-2] == ">" else (words, None)
        if words[:2] == ["review", "team"]:
            monkeypatch.setattr("sys.stdin", io.StringIO("a long password\n"))
            words = [*words, "--password-stdin"]
        code = main(words)
        shown = capsys.readouterr()
        assert code == 0, (words, shown)
        assert target is None or shown.out.count("\n") > 10
        return shown.out

    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC)
    Path("corrected.yaml").write_text(SPEC.replace("paid: boolean", "paid: text"))
    rows = [prediction(at, id=f"inv-{at}", confidence={"total": 0.95, "shop": 0.5}) for at in range(1, 13)]
    Path("llama.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("gold.jsonl").write_text(json.dumps(prediction(7, id="inv-7", total="7")) + "\n")
    Path("scans").mkdir()
    for row in rows:
        Path("scans", f"{row['id']}.txt").write_text(f"{row['shop']}: {row['total']}")
    score = ["score", "--spec", "spec.yaml", "--gold", "llama.jsonl", "--pred", "a=llama.jsonl", "--pred"]
    run([*score, "llama.jsonl", "--bootstrap", "0", "--out", "runs/a"])
    write_policy(Path("policy.json"), replace(policy(), basis=Basis("runs/a", 1, 1, "")))

    alone, again, team = map(commands, blocks("docs/review.md", "sh"))
    for words in team[:5]:
        run(words)
    label_all(Store(Path("invoices-1")))
    told = "".join(run(words) for words in team[5:])
    for line in ("16 of 16 done", "4 documents labeled twice", "gold.jsonl.before keeps the earlier gold"):
        assert line in told
    for name in ("receipts-1", "invoices-2"):
        shutil.copytree("invoices-1", name)
    for words in again + alone:
        run(words)
