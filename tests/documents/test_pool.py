"""Loading in processes: limits, deaths, order of work, transcripts on disk, and documents made wrong."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from tests.documents.making import make_docx, make_pdf, p, text
from tests.fuzz.documents import run, seeds

from fieldassay.documents.sources import (
    DEFAULTS,
    DocumentFile,
    DocumentPool,
    Limits,
    LoadOptions,
    list_documents,
    load,
    load_bytes,
    load_file,
)
from fieldassay.documents.transcript import (
    DocumentError,
    Transcript,
    TranscriptStore,
    decode_transcript,
    encode,
    page_text,
)
from fieldassay.errors import ProblemsError
from fieldassay.io.workers.program import WorkerStartError, beat

# Loading in processes: limits, deaths, order of work, and transcripts on disk.


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(600)


def fill_memory() -> int:
    return len(bytearray(4 << 30))


def abort_for_memory() -> None:
    held = []
    while True:
        try:
            held.append(b"x" * (1 << 26))
        except MemoryError:
            os.abort()


def fail() -> None:
    raise ZeroDivisionError("within the loader")


def refuse() -> None:
    raise DocumentError("encrypted", "has a password", 3)


@pytest.fixture(scope="module")
def pool() -> Iterator[DocumentPool]:
    with DocumentPool(1) as made:
        yield made


def work_for_long() -> str:
    ends = time.monotonic() + 7.0
    while time.monotonic() < ends:
        time.sleep(0.05)
        beat()
    return "done"


def work_a_little() -> str:
    time.sleep(0.05)
    return "done"


FAILURES = {
    "dies": (die, "loader_crash", "SIGSEGV"),
    "takes all memory": (fill_memory, "too_large", "memory"),
    "aborts for want of memory": (abort_for_memory, "too_large", "memory"),
    "aborts": (os.abort, "loader_crash", "SIGABRT"),
    "fails": (fail, "loader_crash", "ZeroDivisionError: within the loader"),
    "refuses": (refuse, "encrypted", "has a password"),
}


@pytest.mark.parametrize(("function", "kind", "told"), FAILURES.values(), ids=FAILURES.keys())
def test_a_document_that_ruins_its_loader_fails_alone(
    function: object, kind: str, told: str, pool: DocumentPool, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("still here")
    with pytest.raises(DocumentError, match=told) as caught:
        pool.submit(function).result()  # type: ignore[arg-type]
    assert caught.value.kind == kind
    assert caught.value.page == (3 if kind == "encrypted" else None)
    assert pool.submit(load, tmp_path / "a.txt").result().pages[0].lines[0].text == "still here"


def environment() -> dict[str, str]:
    return dict(os.environ)


def test_each_worker_computes_in_one_thread(pool: DocumentPool) -> None:
    found = pool.submit(environment).result()
    assert {found[f"{name}_NUM_THREADS"] for name in ("OPENBLAS", "OMP", "MKL")} == {"1"}


def group() -> int:
    return os.getpgid(0)


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_a_terminal_does_not_interrupt_workers() -> None:
    with DocumentPool(1) as pool:  # a terminal sends Ctrl-C to all processes of its group
        assert pool.submit(group).result() != group()


@pytest.mark.parametrize(
    ("program", "told"), [("/bin/false", "exit code 1"), ("/no/such/python", "No such file")]
)
def test_workers_that_cannot_start_are_an_error_of_the_call_and_of_no_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, told: str
) -> None:
    (tmp_path / "a.txt").write_text("Total 5")
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(WorkerStartError, match=told), DocumentPool(1) as pool:
        list(pool.load_all(list_documents(tmp_path).files))


def test_the_limit_of_time_begins_anew_with_every_recognized_page() -> None:
    with DocumentPool(1, Limits(seconds=6.0)) as pool:
        assert pool.submit(work_for_long).result() == "done"
        with pytest.raises(DocumentError, match="took longer than 6 s") as caught:
            pool.submit(hang).result()
        assert caught.value.kind == "loader_timeout"
        assert pool.submit(work_a_little).result() == "done"


def test_an_interrupt_does_not_wait_for_the_documents_in_hand() -> None:
    with pytest.raises(KeyboardInterrupt), DocumentPool(1, Limits(seconds=500)) as pool:
        pool.submit(work_a_little).result()
        hanging = pool.submit(hang)
        raise KeyboardInterrupt
    with pytest.raises((DocumentError, CancelledError)):
        hanging.result(timeout=60)


@pytest.mark.parametrize("workers", [0, 2])
def test_every_document_has_a_transcript_or_its_reason(workers: int, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for number in range(5):
        (tmp_path / "sub" / f"{number}.txt").write_text(f"text {number}")
    (tmp_path / "bad.pdf").write_bytes(b"nothing")
    (tmp_path / "good.pdf").write_bytes(make_pdf([text(72, 72, "digital")]))
    (tmp_path / ".hidden.txt").write_text("x")
    (tmp_path / "program.exe").write_bytes(b"MZ")
    found = list_documents(tmp_path)
    assert [path.name for path in found.skipped] == ["program.exe"]
    with DocumentPool(workers) as pool:
        loaded = {file.id: outcome for file, outcome in pool.load_all(found.files, LoadOptions(ocr="off"))}
    assert sorted(loaded) == sorted(["bad.pdf", "good.pdf", *(f"sub/{number}.txt" for number in range(5))])
    bad = loaded.pop("bad.pdf")
    assert isinstance(bad, DocumentError) and bad.kind == "unreadable"
    assert all(isinstance(one, Transcript) and one.id == name for name, one in loaded.items())


def test_a_transcript_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    store = TranscriptStore(tmp_path / "transcripts")
    made = load_bytes(make_pdf([text(72, 72, "Grüße, 12 €")]), "a.pdf", LoadOptions(ocr="off"))
    store.write(made)
    assert store.read(made.sha256) == made == decode_transcript(encode(made))
    assert store.find(made.sha256, made.loader, "other") is not None
    assert store.find(made.sha256, {**made.loader, "version": 0}, "a.pdf") is None
    store.path(made.sha256).write_bytes(b"damaged")
    assert store.find(made.sha256, made.loader, "a.pdf") is None


def test_a_stored_transcript_is_used_again(tmp_path: Path) -> None:
    store = TranscriptStore(tmp_path / "store")
    (tmp_path / "a.txt").write_text("some text")
    files = [DocumentFile("a.txt", tmp_path / "a.txt")]
    with DocumentPool(0) as pool:
        ((_, first),) = pool.load_all(files, store=store)
        assert isinstance(first, Transcript)
        changed = Transcript(
            first.id, first.sha256, first.kind, first.pages, first.loader, ("from the store",)
        )
        store.write(changed)
        ((_, again),) = pool.load_all(files, store=store)
        ((_, fresh),) = pool.load_all(files, LoadOptions(dpi=100), store)
    assert again == changed
    assert isinstance(fresh, Transcript) and fresh.notes == ()


WORDS = '{"id": "r%d", "pages": [{"width": 100, "height": 100, "words": [[60, 10, 90, 20, "12.00"], [5, 11, 40, 21, "Total"]]}]}\n'


def test_lines_of_recognized_words_are_documents(tmp_path: Path) -> None:
    (tmp_path / "ocr.jsonl").write_text(WORDS % 1 + "\n" + WORDS % 2)
    with DocumentPool(0) as pool:
        loaded = {
            file.id: outcome for file, outcome in pool.load_all(list_documents(tmp_path / "ocr.jsonl").files)
        }
    assert list(loaded) == ["r1", "r2"]
    assert all(
        isinstance(one, Transcript) and one.pages[0].lines[0].text == "Total 12.00" for one in loaded.values()
    )


LISTS = {"nothing": "", "no words": '{"id": 1}\n', "no JSON": "{\n"}


@pytest.mark.parametrize("content", LISTS.values(), ids=LISTS.keys())
def test_a_file_without_documents_is_told(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(ProblemsError):
        list_documents(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("name", "id", "kind"),
    [("a.csv", "a", "csv"), ("a.csv", "scan.pdf", "csv"), ("a.md", "a", "markdown")],
    ids=["id without a suffix", "id with another suffix", "markdown"],
)
def test_the_name_of_the_file_tells_its_kind_not_its_id(
    tmp_path: Path, name: str, id: str, kind: str
) -> None:
    (tmp_path / name).write_text("item;price\nBolt;2,50\n")
    file = DocumentFile(id, tmp_path / name)
    store = TranscriptStore(tmp_path / "store")
    for _ in range(2):  # loaded, then found
        found = decode_transcript(load_file(file, DEFAULTS, store))
        assert (found.id, found.kind) == (id, kind)
    assert load(tmp_path / name, name=id).kind == kind


# Documents made wrong fail with a kind, and nothing that a document names is fetched.


def test_documents_made_wrong_end_in_a_transcript_or_a_kind_of_failure() -> None:
    outcomes = list(run(4 * len(seeds()), seed=7))
    assert not [outcome for outcome in outcomes if outcome[2].startswith("DEFECT")]


@pytest.fixture
def address() -> Iterator[tuple[str, list[object]]]:
    """Yield the address of a server, and who has called it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        called: list[object] = []

        def listen() -> None:
            while True:
                try:
                    called.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x", called


def test_nothing_is_fetched(address: tuple[str, list[object]]) -> None:
    url, called = address
    html = f'<!DOCTYPE html SYSTEM "{url}"><html><link rel=stylesheet href="{url}"><img src="{url}"><iframe src="{url}"></iframe><p>x'
    entity = f'<!DOCTYPE x [<!ENTITY % a SYSTEM "{url}"> %a;<!ENTITY b SYSTEM "{url}">]>'
    docx = make_docx(p("x"), link=url)
    pdf = make_pdf(
        [text(72, 100, "x")],
        page_entries=f"/AA << /O << /S /URI /URI ({url}) >> >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] "
        f"/A << /S /URI /URI ({url}) >> >>]",
    )
    documents = {
        "a.html": html.encode(),
        "a.docx": docx,
        "a.pdf": pdf,
        "b.html": entity.encode() + b"<html>&b;x",
    }
    for name, data in documents.items():
        try:
            load_bytes(data, name, LoadOptions(ocr="off"))
        except DocumentError as error:
            assert error.kind == "unreadable"
    assert not called


@pytest.mark.parametrize("depth", [200, 256, 260, 2000])
def test_deep_html_is_read_whole(depth: int) -> None:
    page = "<p>Invoice</p>" + "<div>" * depth + "Total: 5" + "</div>" * depth + "<p>IBAN DE1</p>"
    transcript = load_bytes(page.encode(), "a.html", LoadOptions(ocr="off"))
    assert [page_text(each).text.split("\n") for each in transcript.pages] == [
        ["Invoice", "Total: 5", "IBAN DE1"]
    ]


@pytest.mark.parametrize("depth", [2100, 50_000])
@pytest.mark.parametrize("tag", ["div", "span", "b"])
def test_html_deeper_than_its_reader_takes_is_refused_and_never_cut(depth: int, tag: str) -> None:
    page = "<p>Invoice</p>" + f"<{tag}>" * depth + "Total: 5" + f"</{tag}>" * depth + "<p>IBAN DE1</p>"
    mail = f"Subject: x\nContent-Type: text/html; charset=utf-8\n\n{page}"
    for name, data in (("a.html", page), ("a.eml", mail)):
        try:
            pages = load_bytes(data.encode(), name, LoadOptions(ocr="off")).pages
        except DocumentError as error:
            assert "depth" in str(error)
        else:
            assert "IBAN DE1" in page_text(pages[-1]).text
