"""Pages of documents: read once for all who wait, failed once, and only of the file the review was made with."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import add, make_receipts
from tests.review.web.served import served
from tests.review.web.test_bombs import png

from fieldassay.commands.cli.main import main
from fieldassay.documents.pool import DocumentPool
from fieldassay.documents.sources import list_documents
from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.review.web.page_words import read_pages
from fieldassay.review.web.room import Pages
from fieldassay.review.web.serve import open_room

pytest.importorskip("starlette")
pytest.importorskip("pypdfium2")


class CountingPool(DocumentPool):
    """A pool that counts what it is given to do, and does it when `may_run` is set."""

    def __init__(self) -> None:
        super().__init__(0)
        self.count = 0
        self.may_run = threading.Event()
        self.may_run.set()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        self.count += 1
        return super().submit(self._when_it_may, function, *arguments)

    def _when_it_may(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.may_run.wait(600)
        return function(*arguments)


def test_an_expensive_failure_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    name = "a.png"
    (tmp_path / name).write_bytes(png())
    with CountingPool() as pool:
        pages = Pages(tmp_path, pool)
        for _ in range(3):
            with pytest.raises(RefusedError, match="this document "):
                pages.draw(name, 1)
        assert pool.count == 1
        os.utime(tmp_path / name, ns=(1, 1))
        with pytest.raises(RefusedError):
            pages.draw(name, 1)
        assert pool.count == 2


def test_a_document_is_read_once_for_all_who_wait_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Total 11.50\n")
    with CountingPool() as pool, ThreadPoolExecutor(4) as threads:
        pages = Pages(tmp_path, pool)
        pool.may_run.clear()
        started = threading.Barrier(5)
        waiting = [threads.submit(lambda: started.wait(600) >= 0 and pages.read("a.txt")) for _ in range(4)]
        started.wait(600)
        time.sleep(0.2)
        pool.may_run.set()
        assert {one.result(600)[0]["words"][0][0] for one in waiting} == {"Total"}
        pages.read("a.txt")
        assert pool.count == 1


def test_a_file_that_is_another_one_now_is_not_shown(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Total 11.50\n")
    store = make_receipts(tmp_path / "review", 1, documents=folder)
    add(store)
    (folder / "doc-001.txt").write_text("Total 99.50\n")
    with served(store) as alone:
        alone.ask("POST", "/api/claim", {}, "r1")
        answer = alone.ask("GET", "/api/pages/1", None, "r1")
    assert answer.status == 404
    assert "is not the file that the review was made with" in answer.data["problem"]


def test_documents_that_were_moved_are_named_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Total 11.50\n")
    store = make_receipts(tmp_path / "review", 1, documents=folder)
    moved = folder.rename(tmp_path / "moved")
    assert main(["review", "open", str(store.folder), "--no-browser"]) == 2
    assert "documents are not there; say with --documents where they are now" in capsys.readouterr().err
    with open_room(store, "a cookie", documents=moved) as room:
        assert room.pages.read("doc-001.txt")[0]["words"][0][0] == "Total"


RIGHT_TO_LEFT = {
    "words": ("שלום עולם 12", ["12", "עולם", "שלום"]),
    "a run from left to right": ("מחיר ACME Pty Ltd 12", ["12", "ACME", "Pty", "Ltd", "מחיר"]),
    "digits within the run": ("מחיר ACME 3 Ltd", ["ACME", "3", "Ltd", "מחיר"]),
    "Arabic": ("متجر الرياض 5", ["5", "الرياض", "متجر"]),
    "from left to right": ("Total שלום עולם", ["Total", "שלום", "עולם"]),
}


@pytest.mark.parametrize(("text", "seen"), RIGHT_TO_LEFT.values(), ids=RIGHT_TO_LEFT)
def test_a_line_of_text_from_right_to_left_begins_at_the_right(
    tmp_path: Path, text: str, seen: list[str]
) -> None:
    (tmp_path / "a.txt").write_text(f"{text}\nTotal 5.00\n", encoding="utf-8")
    [page] = json.loads(read_pages(list_documents(tmp_path).files[0]))
    line = [word for word in page["words"] if word[2] < 0.5][: len(seen)]
    assert [word[0] for word in line] == text.split()
    assert [word[0] for word in sorted(line, key=lambda word: word[1])] == seen
    ends = sorted(line, key=lambda word: word[1])
    assert all(one[3] <= other[1] for one, other in itertools.pairwise(ends))
    assert all(0 <= word[1] < word[3] <= 1 for word in line)
