"""The journal of answers, and keys that never enter it."""

import base64
import errno
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most
from tests.extraction.endpoints.kills import predictions, two_questions
from tests.extraction.endpoints.scripted_server import (
    CANARY,
    Hit,
    Reply,
    ScriptedServer,
    ask,
    channels,
    completion,
    drive,
    echo,
    one_question,
    questions,
)

from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints import driver
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.endpoint import Endpoint, MissingKeyError, SecretKey, read_key
from fieldassay.extraction.endpoints.exchange import (
    NAME,
    Job,
    Journal,
    JournalError,
    ReadJournal,
    Request,
    lines_of,
    request_key,
)
from fieldassay.io.effort import check_time

# A journal keeps what was written, cuts a torn end, names damage, and has one writer

KEYS = [f"{at:064x}" for at in range(9)]


def filled(folder: Path, answers: int = 5) -> Path:
    with Journal(folder) as journal:
        for at in range(answers):
            journal.write("send", {"key": KEYS[at], "document": f"d{at}"})
            journal.write("answer", {"key": KEYS[at], "document": f"d{at}", "text": "é\n" * at})
    return folder / NAME


def test_what_was_written_is_found_by_its_key(tmp_path: Path) -> None:
    filled(tmp_path)
    with Journal(tmp_path) as journal:
        assert len(journal.index) == 5 and journal.cut_bytes == 0
        assert (journal.find(KEYS[3]) or {})["text"] == "é\n" * 3 and journal.find(KEYS[7]) is None
        journal.write("answer", {"key": KEYS[7], "text": "new"})
        assert (journal.find(KEYS[7]) or {})["text"] == "new"


@pytest.mark.parametrize("end", [1, 5, 20, 60])
def test_a_torn_last_line_is_cut_off_and_its_request_is_open_again(end: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes()[:-end])
    with Journal(tmp_path) as journal:
        assert journal.cut_bytes > 0 and KEYS[4] not in journal.index and KEYS[3] in journal.index
        assert journal.index.unsettled(KEYS[4]) == (1, 1)
    assert [line["kind"] for line in lines_of(path)] == ["send", "answer"] * 4 + ["send"]


@pytest.mark.parametrize("at", [3, 150, 400])
def test_damage_before_the_end_is_an_error_that_names_the_line(at: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    line = data[:at].count(b"\n") + 1
    with pytest.raises(JournalError, match=rf"journal\.jsonl:{line}: the line is damaged"):
        Journal(tmp_path)
    assert path.read_bytes() == data


def test_a_journal_has_one_writer_and_many_readers(tmp_path: Path) -> None:
    filled(tmp_path)
    with Journal(tmp_path):
        said = subprocess.run(
            [sys.executable, "-c", "import sys; from pathlib import Path; from fieldassay.extraction.endpoints.exchange import *; "
             "print(len(ReadJournal(Path(sys.argv[1]) / NAME).index)); Journal(Path(sys.argv[1]))", str(tmp_path)],
            capture_output=True, text=True,
        )  # fmt: skip
    assert said.stdout == "5\n" and "another process writes this extraction" in said.stderr


def test_a_file_system_without_locks_is_said_and_no_other_writer_is_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.warns(UserWarning, match=r"journal\.jsonl: cannot be locked \(No locks available\)"),
        Journal(tmp_path),
    ):
        pass


def test_a_disk_that_is_full_leaves_a_journal_that_is_sound(tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys; from pathlib import Path; from fieldassay.extraction.endpoints.exchange import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with Journal(Path(sys.argv[1])) as journal:\n"
        "    for at in range(99): journal.write('answer', {'key': '%064x' % at, 'text': 'x' * 50})\n"
    )
    said = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert "cannot be written (File too large)" in said.stderr
    with Journal(tmp_path) as journal:
        assert journal.cut_bytes == 0 and len(journal.index) > 3


def test_a_journal_of_many_answers_is_indexed_without_holding_them(tmp_path: Path) -> None:
    text = "x" * 6000
    with Journal(tmp_path) as journal:
        for at in range(2000):
            journal.write("answer", {"key": f"{at:064x}", "text": text})
    found = ReadJournal(tmp_path / NAME)
    assert len(found.index) == 2000 and (found.find(f"{1234:064x}") or {})["text"] == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values), st.randoms())
def test_the_order_of_keys_does_not_change_what_a_request_is(body: dict[str, object], chance: object) -> None:
    def shuffled(value: object) -> object:
        if isinstance(value, dict):
            names = list(value)
            chance.shuffle(names)  # type: ignore[attr-defined]
            return {name: shuffled(value[name]) for name in names}
        return [shuffled(one) for one in value] if isinstance(value, list) else value

    one, two = (Request("chat", "x", made) for made in (body, shuffled(body)))  # type: ignore[arg-type]
    assert request_key("u", one) == request_key("u", two)
    assert request_key("u", one) != request_key("v", one)
    assert request_key("u", one) != request_key("u", Request("chat", "x", body, repeat=1))  # type: ignore[arg-type]


def two_question_jobs() -> list[Job[list[str | None]]]:
    return [Job(f"doc-{at}", lambda at=at: two_questions(f"doc-{at}")) for at in range(6)]


def test_any_prefix_of_a_journal_resumes_to_the_same_end(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        whole, _ = drive(two_question_jobs(), tmp_path / "whole", channels(server.url))
        data = (tmp_path / "whole" / NAME).read_bytes()
        for at in range(0, len(data), len(data) // 12):
            folder = tmp_path / f"prefix-{at}"
            folder.mkdir()
            (folder / NAME).write_bytes(data[:at])
            answered = sum(line["kind"] == "answer" for line in lines_of(folder / NAME))
            server.hits.clear()
            again, _ = drive(two_question_jobs(), folder, channels(server.url))
            assert predictions(again) == predictions(whole)
            assert len(server.hits) == 18 - answered


def test_equal_requests_of_several_documents_are_made_once(tmp_path: Path) -> None:
    jobs = [Job(f"doc-{at}", lambda: two_questions("the same")) for at in range(5)]
    with ScriptedServer() as server:
        found, summary = drive(jobs, tmp_path, channels(server.url))
        assert len(server.hits) == 3 and len(found) == 5
    assert sum(one.reused for one in found.values()) == 4 == summary.progress.reused


def test_failures_of_a_kind_are_asked_again_and_old_answers_stay(tmp_path: Path) -> None:

    def cut_at_first(hit: Hit) -> Reply:
        is_cut = hit.number == 0 and "doc-3" in hit.body["messages"][0]["content"]
        return Reply(body=completion("{", finish_reason="length")) if is_cut else echo(hit)

    def jobs() -> list[Job[object]]:
        return [Job(f"doc-{at}", lambda at=at: one_question(f"about doc-{at}")) for at in range(5)]

    with ScriptedServer(cut_at_first) as server:
        first, _ = drive(jobs(), tmp_path, channels(server.url))
        same, _ = drive(jobs(), tmp_path, channels(server.url))
        assert same["doc-3"].value.failure.kind == "truncated" and len(server.hits) == 5
        mended, _ = drive(
            jobs(), tmp_path, channels(server.url), DriveOptions(retry=frozenset({"truncated"}))
        )
        assert len(server.hits) == 6
        keys = {hit.headers["idempotency-key"] for hit in server.hits}
        again, _ = drive(jobs(), tmp_path, channels(server.url))
        assert len(server.hits) == 6 and len(keys) == 6
    assert first["doc-3"].failure is not None and mended["doc-3"].value.failure is None
    assert mended["doc-3"].retried and not mended["doc-1"].retried
    assert again["doc-3"].value.text == mended["doc-3"].value.text and again["doc-3"].retried
    assert sum(line["kind"] == "answer" for line in lines_of(tmp_path / NAME)) == 6


def test_an_interrupt_waits_for_answers_in_flight_and_writes_them(tmp_path: Path) -> None:
    from tests.extraction.endpoints.scripted_server import Reply, echo

    def slow(hit: Hit) -> Reply:
        return Reply(body=echo(hit).body, delay_s=0.3)

    with ScriptedServer(slow) as server:
        to = channels(server.url, max_in_flight=4)
        with (
            Journal(tmp_path) as journal,
            pytest.raises(KeyboardInterrupt),
            Drive(questions(50), journal, to) as run,
        ):
            for _ in run:
                raise KeyboardInterrupt
        sent = len(server.hits)
        assert sent < 50
        kinds = [line["kind"] for line in lines_of(tmp_path / NAME)]
        assert kinds.count("send") == kinds.count("answer") == sent and kinds[-1] == "end"
        assert list(lines_of(tmp_path / NAME))[-1]["reason"] == "interrupted"
        found, _ = drive(questions(50), tmp_path, channels(server.url))
        assert len(found) == 50 and len(server.hits) == 50


def test_a_limit_of_time_lets_what_is_in_flight_end(tmp_path: Path) -> None:
    from tests.extraction.endpoints.scripted_server import Reply, echo

    with ScriptedServer(lambda hit: Reply(body=echo(hit).body, delay_s=0.1)) as server:
        to = channels(server.url, max_in_flight=1)
        found, summary = drive(questions(500), tmp_path, to, DriveOptions(max_time_s=5.0))
        assert summary.stop is not None and summary.stop.kind == "time" and 0 < len(found) < 100
        assert len(server.hits) == len(found)


@pytest.mark.parametrize("in_flight", [64, 256])
def test_as_many_requests_are_in_flight_as_the_window_lets(in_flight: int, tmp_path: Path) -> None:
    from tests.extraction.endpoints.scripted_server import Reply, echo

    def slow(hit: Hit) -> Reply:
        return Reply(body=echo(hit).body, delay_s=0.5)

    with ScriptedServer(slow) as server:
        found, summary = drive(
            questions(4 * in_flight), tmp_path, channels(server.url, max_in_flight=in_flight)
        )
    assert len(found) == 4 * in_flight and set(server.billed.values()) == {1}
    assert 20 < server.most_in_flight <= in_flight and summary.progress.failed == 0


def test_threads_of_a_run_end_with_it(tmp_path: Path) -> None:

    with ScriptedServer() as server:
        before = threading.active_count()
        drive(questions(30), tmp_path, channels(server.url, max_in_flight=16))
        until = time.monotonic() + 600
        while threading.active_count() > before and time.monotonic() < until:
            time.sleep(0.05)
        assert threading.active_count() <= before


def test_a_strategy_that_fails_or_takes_too_long_fails_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken():  # type: ignore[no-untyped-def]
        yield (ask("x"),)
        raise KeyError("total")

    def elsewhere():  # type: ignore[no-untyped-def]
        yield (Request("chat", "nowhere", {}),)

    def endless():  # type: ignore[no-untyped-def]
        yield (ask("y"),)
        while True:
            check_time()

    monkeypatch.setattr(driver, "_MOST_SECONDS", 0.2)
    with ScriptedServer() as server:
        jobs = [
            Job("a", broken),
            Job("b", elsewhere),
            Job("c", lambda: two_questions("c")),
            Job("d", endless),
        ]
        found, summary = drive(jobs, tmp_path, channels(server.url))
    kinds = {one.id: one.failure and (one.failure.kind, one.failure.stage) for one in found.values()}
    wrong = {
        "a": ("exception", "strategy"),
        "b": ("exception", "strategy"),
        "d": ("loader_timeout", "strategy"),
    }
    assert kinds == {**wrong, "c": None}
    assert summary.stop is None and found["a"].usage.calls == 1
    assert json.dumps("KeyError")[1:-1] in (tmp_path / NAME).read_text()


def test_importing_endpoints_imports_no_client() -> None:
    program = (
        "import sys, pkgutil, importlib, fieldassay.extraction.endpoints as e\n"
        "for one in pkgutil.iter_modules(e.__path__): importlib.import_module('fieldassay.extraction.endpoints.' + one.name)\n"
        "print([name for name in ('httpx2', 'genai_prices', 'numpy') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout == "[]\n", said.stderr


# A key is read from private places only, and stands in nothing that is written

SPELLINGS = {
    "as it is": CANARY,
    "in a URL": quote(CANARY, safe=""),
    "in a form": quote_plus(CANARY),
    "in a URL, twice": quote(quote(CANARY, safe=""), safe=""),
    "JSON escapes": "".join(f"\\u{ord(one):04x}" for one in CANARY),
    "one JSON escape, upper case": CANARY.replace("-", "\\u002D"),
    "JSON in JSON": json.dumps(json.dumps(CANARY.replace("/", "\\/"))),
    "escaped slash": CANARY.replace("/", "\\/"),
    "HTML": CANARY.replace("+", "&#43;"),
    "over two lines": CANARY[:9] + "\n  " + CANARY[9:],
    "over two lines in JSON": json.dumps(CANARY[:9] + "\n" + CANARY[9:]),
    "hexadecimal": CANARY.encode().hex(),
} | {
    f"base64 after {before!r}": base64.b64encode((before + CANARY + after).encode()).decode()
    for before, after in [("", ""), ("u:", ""), ("Bearer ", " x"), ("abc", "yy")]
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_key_is_removed_however_a_server_spelled_it(text: str) -> None:
    cleaned = SecretKey(CANARY).removed_from(f"refused: '{text}'.")
    assert "[key removed]" in cleaned
    for piece in (CANARY[3:12], "314159", base64.b64encode(CANARY.encode()).decode()[4:16]):
        assert piece not in cleaned


MASKED = {
    "stars": ("sk-canary***9265", 0),
    "many stars": ("sk-" + "*" * 40 + "9265", 0),
    "dots": ("sk-canary/+...9265", 0),
    "an ellipsis": ("sk-canary…", 0),
    "begin only": ("sk-canary**** is wrong", 1),
    "end only": ("****9265 is wrong", 1),
    "letters": ("sk-caXXXXXXXX9265", 0),
    "a word in brackets": ("sk-cana[redacted]9265", 0),
}


@pytest.mark.parametrize(("text", "words"), MASKED.values(), ids=MASKED.keys())
def test_what_a_server_shows_of_a_masked_key_is_removed(text: str, words: int) -> None:
    cleaned = SecretKey("sk-canary/+31415-9265").removed_from(f"Incorrect key: {text}. See …")
    assert "[key removed]" in cleaned and cleaned.endswith(". See …")
    assert "9265" not in cleaned and "sk-ca" not in cleaned
    assert ("is wrong" in cleaned) == bool(words)


MASKS = ("Total ***", "sk-...", "a...b", "____", "the end…", "[1]", "x****5")


@pytest.mark.parametrize(
    ("key", "text", "cleaned"),
    [
        *(pytest.param("sk-canary/+31415-9265", text, text, id=f"a mask: {text}") for text in MASKS),
        pytest.param(
            *("EMPTY", *["The glass is EMPTY"] * 2), id="a placeholder, as that would change answers"
        ),
        pytest.param(
            "to be\\\\or nt",
            "x to be\\\\or nt to%20be\\n%5Cor nt",
            "x [key removed] [key removed]",
            id="a secret with blanks and backslashes",
        ),
    ],
)
def test_a_key_is_removed_and_what_is_none_stays(key: str, text: str, cleaned: str) -> None:
    assert SecretKey(key).removed_from(text) == cleaned


def test_a_key_does_not_print() -> None:
    assert CANARY not in repr(SecretKey(CANARY)) + str(SecretKey(CANARY))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.org/v1", "unencrypted"),
        ("https://user:secret@example.org/v1", "password"),
        ("https://example.org/v1?api-key=abc", "holds a key"),
        ("example.org/v1", "scheme"),
    ],
)
def test_an_address_that_would_give_something_away_is_refused(url: str, said: str) -> None:
    with pytest.raises(ProblemsError, match=said):
        Endpoint("openai", url)


def test_a_query_without_a_secret_is_kept() -> None:
    url = Endpoint("azure", "https://example.org/v1?api-version=1").chat_url
    assert url == "https://example.org/v1/chat/completions?api-version=1"


def test_a_key_comes_from_the_environment() -> None:
    assert read_key(Endpoint("x", "https://x.org/v1", "X_KEY"), {"X_KEY": CANARY}).value == CANARY
    with pytest.raises(MissingKeyError, match="export X_KEY"):
        read_key(Endpoint("x", "https://x.org/v1", "X_KEY"), {})


_GAPS = ("", "", "\n", " ", "\\n", "\\r", "\\t", "\\\n", "\\n\\n\\t")


def _forms(one: str) -> list[str]:
    code = ord(one)
    return [
        *(stroke + one for stroke in ("", "", "\\", "\\\\")),
        f"\\u{code:04x}",
        f"%{code:02X}",
        f"&#x{code:x};",
    ]


@given(st.data(), st.sampled_from(["nrtab", "abXYZ09-_nrt", "ux0nt"]))
def test_a_key_is_removed_however_letters_and_line_ends_mix(data: st.DataObject, alphabet: str) -> None:
    key = data.draw(st.text(alphabet, min_size=8, max_size=8))
    text = "".join(data.draw(st.sampled_from([a + b for a in _forms(one) for b in _GAPS])) for one in key)
    text = data.draw(st.sampled_from(["", "n", "\\n"])) + text
    any_way = r"(?:\\[nrt]|\\?\s)*".join(
        rf"(?:\\*{re.escape(one)}|\\+u{ord(one):04x}|%{ord(one):02X}|&#x{ord(one):x};)" for one in key
    )
    assert not re.search(any_way, SecretKey(key).removed_from(text))


@pytest.mark.parametrize("key", ["nabcdefgh", "sk-ttrn-nn", "trn-nrt-98"])
@pytest.mark.parametrize("unit", ["\\", "\\n", "\\t", "sk-\\t", "n\\n", "\\n ", "trn\\n", "nn"])
def test_a_key_is_looked_for_in_time(key: str, unit: str) -> None:
    with costs_at_most(20):
        SecretKey(key).removed_from("sk-" + unit * 50_000)
