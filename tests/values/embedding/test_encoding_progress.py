"""Who watches is told how far encoding is; nobody else is."""

import io
import re
import sys
import time
import warnings

import pytest
from tests.values.embedding.references import SMALL

from fieldassay.commands.cli import progress
from fieldassay.values.comparators.embedding.encoder import report_progress, watch_encoding


def test_who_watches_is_told_of_every_new_text_and_nobody_else_is(tiny, capfd):
    tiny.encode(SMALL[:5])
    told = []
    with watch_encoding(lambda done, total: told.append((done, total))):
        tiny.encode([*SMALL, *SMALL])
        tiny.encode(SMALL)
    tiny.encode(["beyond the block"])
    assert told[-1] == (len(SMALL) - 5, len(SMALL) - 5)
    assert told == sorted(set(told))
    assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _wait_for(terminal, pattern):
    deadline = time.monotonic() + 600
    while (
        not (is_there := re.search(pattern, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())))
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    return is_there is not None


def test_a_terminal_shows_how_many_texts_are_encoded_and_when_they_will_be(monkeypatch):
    terminal = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    with progress.show_progress(is_quiet=False) as add:
        report_progress(100, 2000)
        assert _wait_for(terminal, "100 of 2,000 texts encoded")
        for done in range(200, 700, 100):
            time.sleep(0.05)
            report_progress(done, 2000)
        assert _wait_for(terminal, "600 of 2,000 texts encoded")
        assert _wait_for(terminal, r"600 of 2,000 texts encoded .* \d:\d\d:\d\d left")
        add(7)
        assert _wait_for(terminal, "7 documents scored")


@pytest.mark.parametrize("is_quiet", [False, True], ids=["piped", "quiet"])
def test_nobody_who_is_not_watching_is_shown_anything(is_quiet, monkeypatch):
    stream = Terminal() if is_quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.show_progress(is_quiet) as add:
        report_progress(1, 2)
        assert add is None
        if is_quiet:
            warnings.warn_explicit("the disk is full", UserWarning, "fieldassay", 1)
    assert stream.getvalue() == ""


def test_the_command_line_says_warnings_in_a_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.show_progress(is_quiet=False):
        warnings.warn_explicit("the disk is full", UserWarning, "fieldassay", 1)
    assert sys.stderr.getvalue() == "warning: the disk is full\n"
